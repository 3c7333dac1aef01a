"""Serves the routes of an API: checks before a method is called, its arguments, and its response."""

import inspect
from collections.abc import Callable, Coroutine, Iterator
from functools import cached_property, partial
from typing import Annotated, Any

from fastapi import FastAPI, Header, Request
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic_core import to_json
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response
from starlette.routing import Match
from starlette.types import Scope

from keyplan.web.compat import quick_arguments
from keyplan.web.identity.admission import Admission
from keyplan.web.identity.sessions import only_tls
from keyplan.web.models.paging import Listing, link_to_next
from keyplan.web.models.problems import BadRequest, Problem, Unauthorized
from keyplan.web.models.sending import LimitedRequest, as_sent
from keyplan.web.models.signatures import found, signature_of
from keyplan.web.models.versions import TAGS, etag, not_modified, versions_in
from keyplan.web.routes.document import has_version, responses_of
from keyplan.web.routes.handling import handled
from keyplan.web.system.access import ANYONE, Caller
from keyplan.web.system.api_routes import Api, Route, SetCookie
from keyplan.web.system.observe import Trace
from keyplan.web.system.running import Running
from keyplan.web.system.service import Service
from keyplan.web.system.turns import answered

_IF_MATCH = Header(
    description="The ETag of the version to change, or `*` for any version.",
    alias="If-Match",
    examples=["*"],
    json_schema_extra={"pattern": TAGS},
)
_IF_NONE_MATCH = Header(
    description="The ETag of the version you have. The response is 304 if nothing changed.", alias="If-None-Match"
)
_ONCE = Header(
    description="A key of your choice. A request that is sent again with the same key takes effect once.",
    alias="Idempotency-Key",
    min_length=1,
    max_length=255,
)


def add_routes(app: FastAPI, api: Api) -> None:
    """Put the routes of an API into an application whose `state.running` is the system."""
    for route in api.routes:
        app.router.add_api_route(
            route.path,
            _endpoint(route),
            methods=[route.verb],
            status_code=route.status,
            response_model=None if route.status == 204 else signature_of(route.method).answer,
            responses=responses_of(route),
            summary=route.method.__name__.replace("_", " ").capitalize(),
            description=inspect.getdoc(route.method) or "",
            operation_id=route.method.__name__,
            openapi_extra=None if ANYONE in route.permission.roles else {"security": [{"bearer": []}]},
            route_class_override=_KitRoute,
        )


class _KitRoute(APIRoute):
    """A route that finds the caller and reads the body before FastAPI checks anything."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Whether the route is the one for a request. Most aren't, and their beginning tells it sooner."""
        root, path = scope.get("root_path", ""), scope["path"]
        if path.startswith(root) and not path.startswith(self._beginning, len(root)):
            return Match.NONE, {}
        return super().matches(scope)

    @cached_property
    def _beginning(self) -> str:
        """The path up to its first parameter."""
        return self.path_format.partition("{")[0]

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()
        route: Route = self.endpoint.route  # type: ignore[attr-defined]  # set by _endpoint
        has_body = signature_of(route.method).body is not None
        quick = quick_arguments(self) if route.verb == "GET" else None

        async def known(request: Request) -> Response:
            request = LimitedRequest(request.scope, request.receive)
            running: Running[Any] = request.app.state.running
            trace: Trace = request.scope["keyplan"]
            trace.route = f"/api/{running.system.name}{route.path}"
            own = None if route.rate is None else running.rates.of_route(route.path, trace.address, route.rate)
            request.state.caller = caller = await Admission.of(running).admitted(
                trace.address, request.headers.get("authorization"), partial(_caller, route, running, request), own
            )
            if caller is None and ANYONE not in route.permission.roles:
                raise Unauthorized
            try:
                if has_body:
                    await _read_json(request)
                arguments = None if quick is None else quick(request)
                return await handle(request) if arguments is None else await self.endpoint(request=request, **arguments)
            except (Problem, RequestValidationError):
                if route.behind is not None:
                    await run_in_threadpool(route.behind, running.service(caller, trace.address))
                raise

        return known


async def _caller(route: Route, running: Running[Any], request: Request) -> Caller | None:
    try:
        return await running.identity.caller(request)
    except Unauthorized:
        if route.cookie is None:
            raise
        return None  # a request for new tokens, or to end them, may have an expired one


async def _read_json(request: LimitedRequest) -> None:
    kind = request.headers.get("content-type", "application/json").partition(";")[0].strip().lower()
    if kind != "application/json" and not kind.endswith("+json"):
        raise BadRequest("not-json", "Send the body as JSON, with Content-Type: application/json.")
    await request.json()


def _endpoint(route: Route) -> Callable[..., Coroutine[Any, Any, Response]]:
    """The function that FastAPI calls, with the parameters that it finds in a request."""
    takes = list(_parameters(route))
    signature = signature_of(route.method)

    async def endpoint(request: Request, **values: Any) -> Response:  # noqa: ANN401 - by the signature below
        key = values.pop("idempotency_key", None)
        if_match = values.pop("if_match", None)
        values.pop("if_none_match", None)  # the response is compared with it later
        for name, mark in signature.versions.items():
            values[name] = versions_in(if_match, required=mark.required)
        values = signature.arguments(values)
        payload = None if signature.body is None else values[signature.body[0]]
        work = partial(
            handled,
            request,
            f"{route.verb} {route.path}",
            key,
            payload,
            lambda service: _answer(request, route, service, values),
        )
        running: Running[Any] = request.app.state.running
        if route.hashes:
            return await running.hashing.run(request.scope["keyplan"].address, work)
        # A read of an embedded file doesn't block, and switching to a thread takes longer than most reads.
        caller: Caller | None = request.state.caller
        subject = request.scope["keyplan"].address if caller is None else f"{running.system.name} {caller.sub}"
        return await answered(work, subject=subject, reads=route.verb == "GET", at_once=running.settings.embedded)

    endpoint.__signature__ = inspect.Signature(takes)  # type: ignore[attr-defined]  # FastAPI reads it
    endpoint.__name__ = route.method.__name__
    endpoint.route = route  # type: ignore[attr-defined]  # _KitRoute reads it
    return endpoint


def _parameters(route: Route) -> Iterator[inspect.Parameter]:
    signature = signature_of(route.method)
    yield from signature.in_request()
    if signature.body is not None:
        name, model = signature.body
        yield found(name, as_sent(model))
    if signature.versions:
        yield found("if_match", Annotated[str | None, _IF_MATCH], None)
    if route.verb == "GET" and has_version(route):
        yield found("if_none_match", Annotated[str | None, _IF_NONE_MATCH], None)
    if route.once:
        yield found("idempotency_key", Annotated[str | None, _ONCE], None)


def _answer(request: Request, route: Route, service: Service[Any], values: dict[str, Any]) -> Response:
    result = route.method(service, **values)
    response = result if isinstance(result, Response) else _response(request, route, result)
    if route.cookie is not None:
        _set_cookie(request, response, route.cookie, result)
    return response


def _set_cookie(request: Request, response: Response, cookie: SetCookie, result: object) -> None:
    running: Running[Any] = request.app.state.running
    value = getattr(result, cookie.field, None)
    response.headers["Cache-Control"] = "no-store"  # the body contains a secret, too
    response.set_cookie(
        cookie.name,
        value or "",
        max_age=int(cookie.lasts.total_seconds()) if value else 0,
        path=f"/api/{running.system.name}/",
        secure=only_tls(request, running.settings.base_url),
        httponly=True,
        samesite="strict",
    )


def _response(request: Request, route: Route, result: object) -> Response:
    if route.status == 204:
        return Response(status_code=204)
    headers = {}
    body = to_json(result, by_alias=True)
    version = getattr(result, "version", None)
    if isinstance(version, int):
        headers["ETag"] = etag(version, body)
        if route.verb == "GET" and not_modified(request.headers.get("if-none-match"), headers["ETag"]):
            return Response(status_code=304, headers=headers)
    if isinstance(result, Listing) and (link := link_to_next(request.scope, result)):
        headers["Link"] = link
    return Response(body, route.status, headers, media_type="application/json")
