"""Problems (RFC 9457): the form in which callers get every error.

A rule raises one of these classes; refusals of the data layer and the design become one. A problem says what was wrong
and what to do. It never contains a key, an index attribute, or a stack trace.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import ClassVar

import orjson
from starlette.responses import Response

MEDIA_TYPE = "application/problem+json"


@dataclass(frozen=True)
class FieldProblem:
    """What is wrong with one value: where it is (a JSON pointer, or `?name`, or `header`), and what to do."""

    pointer: str
    detail: str
    code: str = "invalid"


class Problem(Exception):
    """An error that the caller gets. Subclasses have the status."""

    status: ClassVar[int] = 500

    def __init__(
        self,
        code: str,
        detail: str,
        *,
        errors: Sequence[FieldProblem] = (),
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(detail)
        self.code = code
        self.detail = detail
        self.errors = tuple(errors)
        self.headers = dict(headers or {})


class BadRequest(Problem):
    """The request couldn't be read."""

    status = 400


class Unauthorized(Problem):
    """There is no token, or it isn't valid."""

    status = 401

    def __init__(self, code: str = "no-token", detail: str = "Authentication required: send a bearer token.") -> None:
        challenge = "Bearer" if code == "no-token" else 'Bearer error="invalid_token"'
        super().__init__(code, detail, headers={"WWW-Authenticate": challenge})


class Forbidden(Problem):
    """The caller doesn't have permission."""

    status = 403

    def __init__(self, code: str = "forbidden", detail: str = "You don't have permission to do this.") -> None:
        super().__init__(code, detail)


class Missing(Problem):
    """There is no such thing, or the caller may not know about it."""

    status = 404

    def __init__(self, code: str = "not-found", detail: str = "Not found.") -> None:
        super().__init__(code, detail)


class WrongMethod(Problem):
    """The path doesn't support this method."""

    status = 405


class TooSlow(Problem):
    """The body doesn't arrive. The connection is closed."""

    status = 408

    def __init__(self) -> None:
        super().__init__("body-too-slow", "The body took too long.", headers={"Connection": "close"})


class InConflict(Problem):
    """It can't be done in the current state."""

    status = 409


class Stale(Problem):
    """The item was changed since the caller read it."""

    status = 412

    def __init__(
        self, code: str = "stale-version", detail: str = "This was changed since you loaded it. Load it again."
    ) -> None:
        super().__init__(code, detail)


class ContentTooLarge(Problem):
    """The body or file is larger than allowed."""

    status = 413


class Unprocessable(Problem):
    """A value breaks a rule of the domain."""

    status = 422

    def __init__(self, code: str, detail: str, *, pointer: str | None = None) -> None:
        super().__init__(code, detail, errors=[FieldProblem(pointer, detail, code)] if pointer else [])


class Invalid(Problem):
    """Some values aren't valid. `errors` has each of them."""

    status = 422

    def __init__(self, errors: Sequence[FieldProblem]) -> None:
        code = "required" if errors and all(each.code == "required" for each in errors) else "invalid"
        super().__init__(code, "Some values aren't valid.", errors=errors)


class PreconditionRequired(Problem):
    """A change doesn't say which version it is for."""

    status = 428


class TooManyRequests(Problem):
    """The caller has to slow down."""

    status = 429

    def __init__(self, seconds: int, code: str = "too-many-requests", detail: str = "Too many requests.") -> None:
        wait = "1 second" if seconds == 1 else f"{seconds} seconds"
        super().__init__(code, f"{detail} Try again in {wait}.", headers={"Retry-After": str(seconds)})


class Unavailable(Problem):
    """It can't be done right now, but may be possible later."""

    status = 503

    def __init__(
        self,
        code: str = "unavailable",
        detail: str = "The service is busy. Try again in a moment.",
        *,
        seconds: int = 1,
    ) -> None:
        super().__init__(code, detail, headers={"Retry-After": str(seconds)})


class TimedOut(Unavailable):
    """There was no answer in time. It may still be done."""

    def __init__(self) -> None:
        super().__init__("timeout", "The request timed out. It may still be completed.")


class Unexpected(Problem):
    """An internal error. The log has it, under the request's ID."""

    status = 500

    def __init__(self) -> None:
        super().__init__("internal-error", "Something went wrong on our side.")


def answer(problem: Problem, request_id: str, headers: Mapping[str, str] | None = None) -> Response:
    """The response for a problem."""
    body: dict[str, object] = {
        "type": f"urn:keyplan:problem:{problem.code}",
        "title": HTTPStatus(problem.status).phrase,
        "status": problem.status,
        "code": problem.code,
        "detail": problem.detail,
        "request_id": request_id,
    }
    if problem.errors:
        body["errors"] = [{"pointer": e.pointer, "code": e.code, "detail": e.detail} for e in problem.errors]
    return Response(orjson.dumps(body), problem.status, {**problem.headers, **(headers or {})}, media_type=MEDIA_TYPE)
