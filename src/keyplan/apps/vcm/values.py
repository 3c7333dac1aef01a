"""The values that several tables of the club share: titles, ids, rich text, addresses and training times."""

from datetime import timedelta
from decimal import Decimal
from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, BeforeValidator, Field, JsonValue, StringConstraints

from keyplan.design import Id

Status: TypeAlias = Literal["draft", "published"]
STATUSES: tuple[Status, ...] = ("draft", "published")
Gender: TypeAlias = Literal["men", "woman", "mixed"]
"""As the document spells them."""
Content: TypeAlias = Literal["news", "events", "teams", "members", "sponsors"]
"""What may use a media item; the first three have slugs."""
Collection: TypeAlias = Literal["media", "roles", "locations", "members", "teams", "news", "events", "sponsors"]
"""What is migrated from Payload, in the order in which one needs the other."""

Title: TypeAlias = Annotated[str, StringConstraints(min_length=1, max_length=200)]
Name: TypeAlias = Annotated[str, StringConstraints(min_length=1, max_length=100)]
Images: TypeAlias = Annotated[list[Id], Field(max_length=20)]
"""Media ids. Every image is a reference item in the same transaction, so there are at most so many."""

DEEPEST = 31
"""How deep maps and lists may stand in each other, so that the texts inside are within DynamoDB's 32 levels."""

LONGEST_EVENT = timedelta(days=31)
"""How long an event may last: how far back one that is still running can have begun."""


def depth_of(document: object) -> int:
    """How deep maps and lists stand in each other."""
    level, depth = [document], 0
    while level := [each for each in level if isinstance(each, dict | list)]:
        depth += 1
        level = [inner for each in level for inner in (each.values() if isinstance(each, dict) else each)]
    return depth


def _storable(document: object) -> object:
    """Refuses what nests too deep, and gives numbers as JSON has them: stored fractions are read as Decimal."""
    if depth_of(document) > DEEPEST:
        raise ValueError(f"the document nests more than {DEEPEST} levels deep, which can not be stored")
    return _json_numbers(document)


def _json_numbers(value: object) -> object:
    match value:
        case Decimal():
            return float(value)
        case dict():
            return {name: _json_numbers(each) for name, each in value.items()}
        case list():
            return [_json_numbers(each) for each in value]
    return value


RichText: TypeAlias = Annotated[dict[str, JsonValue], BeforeValidator(_storable)]
"""Tiptap JSON."""


class Address(BaseModel):
    """Where an event is. The names are those of the stored map."""

    name: str | None = None
    street: str | None = None
    postalCode: str | None = None  # noqa: N815 - stored under this name
    city: str | None = None


class Schedule(BaseModel):
    """When and where a team trains: days 0 to 6, wall time in Europe/Berlin. The names are those of the stored map."""

    day: list[Annotated[int, Field(ge=0, le=6)]]
    startTime: Annotated[str, StringConstraints(pattern=r"^([01][0-9]|2[0-3]):[0-5][0-9]$")]  # noqa: N815 - stored so
    endTime: Annotated[str, StringConstraints(pattern=r"^([01][0-9]|2[0-3]):[0-5][0-9]$")]  # noqa: N815 - stored so
    locationId: Id  # noqa: N815 - stored so


MOST_SCHEDULES = 7
Schedules: TypeAlias = Annotated[list[Schedule], Field(max_length=MOST_SCHEDULES)]
Roles: TypeAlias = Annotated[list[Id], Field(max_length=20)]
"""Like images, places and roles are counted where they are used, in the same transaction of at most 100 items."""
