"""What goes into and out of a system: the bases of its models, and the reading of JSON within limits."""

import re
from datetime import datetime
from typing import Annotated, Any, TypeAlias

import orjson
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    PlainSerializer,
    StringConstraints,
    WithJsonSchema,
    WrapValidator,
)
from starlette.requests import Request

from keyplan.design.formats import timestamp_text
from keyplan.web.models.problems import BadRequest, Unprocessable

_TEXT = r"[^\x00-\x20\x7f\\]"
_HOST = r"[^\x00-\x20\x7f\\/?#@:\[\]]+"
LINK = rf"^(https?://{_HOST}(:[0-9]{{1,5}})?([/?#]{_TEXT}*)?|mailto:{_TEXT}*@{_TEXT}*|/media/{_TEXT}*)$"
"""What a link looks like. There is no name before the host: it would pass for one."""


def _is_link(text: str) -> str:
    if not re.fullmatch(LINK, text):
        raise ValueError("a link begins with https://, http:// or mailto:")
    return text


Link: TypeAlias = Annotated[
    str, StringConstraints(max_length=2048), AfterValidator(_is_link), Field(json_schema_extra={"pattern": LINK})
]
"""A link that a caller gives: to the web, to a mailbox, or to a file of ours. It is never fetched."""


def _in_milliseconds(value: datetime) -> str:
    return timestamp_text(value, "milliseconds")


Time: TypeAlias = Annotated[
    datetime,
    PlainSerializer(_in_milliseconds, return_type=str, when_used="json"),
    WithJsonSchema(
        {
            "type": "string",
            "format": "date-time",
            "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$",
            "examples": ["2026-01-31T12:00:00.000Z"],
        }
    ),
]
"""A time that callers get, as tables have it: UTC, with milliseconds. Pages get the time itself."""
TimeText: TypeAlias = Annotated[str, WithJsonSchema({"type": "string", "format": "date-time"})]
"""A time that is written already, where its width is not the same in every system."""


UserId: TypeAlias = Annotated[
    str,
    StringConstraints(strip_whitespace=False, min_length=1, max_length=128, pattern=r"^[^#]+$"),
    Field(description="The subject of a user's token, as it is."),
]


class In(BaseModel):
    """Base of what callers send: unknown fields are refused."""

    model_config = ConfigDict(extra="forbid", str_strip_whitespace=True)


def as_sent(model: type[In]) -> Any:  # noqa: ANN401 - a type
    """A model that takes JSON by its types: 0 is no boolean, and "1" no number, but a text can be a time."""

    def strictly(value: object, lax: object) -> In:
        return model.model_validate_json(orjson.dumps(_with_integers(value)), strict=True)

    return Annotated[model, WrapValidator(strictly)]


def _with_integers(value: object) -> object:
    """JSON in which whole numbers are integers, however they were written: JSON knows one kind of number."""
    match value:
        case float() if value.is_integer() and abs(value) < 2**53:
            return int(value)
        case list():
            return [_with_integers(each) for each in value]
        case dict():
            return {name: _with_integers(each) for name, each in value.items()}
    return value


class Out(BaseModel):
    """Base of what callers get; made from an entity by `model_validate`."""

    model_config = ConfigDict(from_attributes=True, serialize_by_alias=True)


class FieldProblemOut(BaseModel):
    """What is wrong with one value."""

    pointer: str = Field(description="A JSON pointer into the body; ?name for a query parameter, else the name.")
    code: str
    detail: str


class ProblemOut(BaseModel):
    """What went wrong (RFC 9457)."""

    model_config = ConfigDict(title="Problem")

    type: str
    title: str
    status: int
    code: str = Field(description="Stable, for programs.")
    detail: str = Field(description="For people.")
    request_id: str
    errors: list[FieldProblemOut] | None = None


class LimitedRequest(Request):
    """A request whose JSON is read within limits."""

    async def json(self) -> Any:  # noqa: ANN401 - any JSON
        """The body, or a problem that says what is wrong with it."""
        if not hasattr(self, "_json"):
            body = await self.body()
            try:
                value = orjson.loads(body)
            except orjson.JSONDecodeError as error:
                raise BadRequest("not-json", f"The body is not JSON: {error}.") from error
            check_nesting(value, self.scope.get("keyplan.nesting", 32))
            self._json = value
        return self._json


def check_nesting(value: object, most: int) -> None:
    """Refuse what is nested deeper than anybody needs."""
    level = [value]
    for _ in range(most):
        level = [
            inner
            for each in level
            if isinstance(each, dict | list)
            for inner in (each.values() if isinstance(each, dict) else each)
            if isinstance(inner, dict | list)
        ]
        if not level:
            return
    raise Unprocessable("too-deep", f"The body is nested more than {most} deep.")
