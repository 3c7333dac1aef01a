"""What the models of the club's API are made of."""

from datetime import UTC, datetime
from typing import Annotated, TypeAlias

from pydantic import (
    AfterValidator,
    AliasGenerator,
    AwareDatetime,
    ConfigDict,
    Field,
    JsonValue,
    StringConstraints,
    ValidatorFunctionWrapHandler,
    WrapValidator,
)
from pydantic.alias_generators import to_camel

from keyplan.design import Id
from keyplan.web import In, Out

MOST_IMAGE = 10 * 1024 * 1024
_FIRST, _LAST = datetime(1900, 1, 1, tzinfo=UTC), datetime(2200, 1, 1, tzinfo=UTC)


def _moment(value: datetime) -> datetime:
    """A time as it can be stored: to the millisecond."""
    try:
        moment = value.astimezone(UTC)
    except OverflowError as error:
        raise ValueError("this time can not be") from error
    if not _FIRST <= moment < _LAST:
        raise ValueError("a time is between 1900 and 2200")
    return moment.replace(microsecond=moment.microsecond // 1000 * 1000)


def _untouched(value: object, check: ValidatorFunctionWrapHandler) -> object:
    """A document just as it was sent: the blanks at the ends of its texts are a part of it."""
    check(value)
    return value


Moment: TypeAlias = Annotated[AwareDatetime, AfterValidator(_moment)]
Seconds: TypeAlias = Annotated[int, Field(ge=0, le=7_258_118_400, description="Unix timestamp.")]
Document: TypeAlias = Annotated[
    dict[str, JsonValue],
    WrapValidator(_untouched),
    Field(
        description="Tiptap JSON.",
        examples=[{"type": "doc", "content": [{"type": "paragraph", "content": [{"type": "text", "text": "Hallo"}]}]}],
        json_schema_extra={
            "type": "object",
            "properties": {"type": {"const": "doc"}, "content": {"type": "array", "items": {"type": "object"}}},
            "required": ["type"],
            "additionalProperties": False,
        },
    ),
]
Text: TypeAlias = Annotated[str, StringConstraints(max_length=20_000)]
Short: TypeAlias = Annotated[str, StringConstraints(min_length=1, max_length=200)]
Excerpt: TypeAlias = Annotated[str, StringConstraints(max_length=1000)]
Email: TypeAlias = Annotated[str, StringConstraints(pattern=r"^[^@\s]{1,64}@[^@\s.]+(\.[^@\s.]+)+$", max_length=254)]
Phone: TypeAlias = Annotated[str, StringConstraints(pattern=r"^[0-9+()/ .-]{3,40}$")]
Handle: TypeAlias = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9._]{1,30}$")]
People: TypeAlias = Annotated[list[Id], Field(max_length=20)]
Authors: TypeAlias = Annotated[list[Id], Field(max_length=20)]
Age: TypeAlias = Annotated[int, Field(ge=0, le=120)]
SlugText: TypeAlias = Annotated[str, StringConstraints(pattern=r"^[a-z0-9-]{1,128}$")]


class Taken(In):
    """Base of what callers send, by the tables' names."""

    model_config = ConfigDict(alias_generator=to_camel)


class Shown(Out):
    """Base of what callers get, by the tables' names."""

    model_config = ConfigDict(alias_generator=AliasGenerator(serialization_alias=to_camel))
