"""What a field of an entity is beside its type: stamps, versions, ids, counters, secrets, other names."""

import re
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime
from threading import Lock
from typing import Annotated, Literal, TypeAlias
from uuid import UUID

from pydantic import Field, Secret, StringConstraints

from keyplan.design.tables import Case

__all__ = ["Count", "Created", "Id", "Secret", "Ttl", "Updated", "Version", "created", "new_id", "stored", "updated"]

FieldKind: TypeAlias = Literal["plain", "created", "updated", "version", "ttl", "count"]


@dataclass(frozen=True)
class Kind:
    """Marks a field as one that the data layer looks after."""

    kind: FieldKind


@dataclass(frozen=True)
class Stored:
    """The name of the stored attribute, where the document's differs from the table's rule."""

    name: str


@dataclass(frozen=True)
class NoSeparator:
    """Marks a text that never holds the separator, so that keys made of it can be told apart."""


@dataclass(frozen=True)
class OnTop:
    """Marks a field that stands beside the envelope too."""


def on_top() -> OnTop:
    """In a table with an envelope, repeat the field as an attribute, for conditions: `Annotated[str, on_top()]`."""
    return OnTop()


def stored(name: str) -> Stored:
    """The field is stored under this name: `user_id: Annotated[str, stored("UserID")]`."""
    return Stored(name)


Created: TypeAlias = Annotated[datetime, Kind("created")]
"""When the item was created; set by the store unless given."""
Updated: TypeAlias = Annotated[datetime, Kind("updated")]
"""When the item was last changed; set by the store."""
Version: TypeAlias = Annotated[int, Kind("version")]
"""The optimistic lock: raised by each update, which refuses to go ahead on a stale one. Absent counts as 0."""
Ttl: TypeAlias = Annotated[datetime, Kind("ttl")]
"""When DynamoDB may delete the item; stored as the number of seconds that DynamoDB wants."""
Count: TypeAlias = Annotated[int, Kind("count")]
"""A number that other items' writes keep; never written by an update of its own item."""
Id: TypeAlias = Annotated[str, NoSeparator(), StringConstraints(min_length=1, max_length=128, pattern=r"^[^#]+$")]
"""An identifier: any text of up to 128 characters without the separator `#`."""


def _now() -> datetime:
    return datetime.now(UTC)


def created() -> datetime:
    """The default of a `Created` field."""
    stamp: datetime = Field(default_factory=_now)
    return stamp


def updated() -> datetime:
    """The default of an `Updated` field."""
    return created()


_last = 0
_ordering = Lock()


def uuid7() -> str:
    """A UUID version 7: in order of creation, within this process strictly."""
    global _last
    with _ordering:
        # 48 bits of milliseconds and 12 of a counter, as one number that only grows.
        _last = max(_last + 1, time.time_ns() // 1_000_000 << 12)
        stamp = _last
    milliseconds, sequence = stamp >> 12, stamp & 0xFFF
    value = milliseconds << 80 | 0x7 << 76 | sequence << 64 | 0b10 << 62 | secrets.randbits(62)
    return str(UUID(int=value))


_maker: ContextVar[Callable[[], str]] = ContextVar("keyplan_id_maker", default=uuid7)


def make_id() -> str:
    """A new id by the maker that is in force."""
    return _maker.get()()


@contextmanager
def ids_from(maker: Callable[[], str]) -> Iterator[None]:
    """Within the block, new ids come from this maker (for tests)."""
    token = _maker.set(maker)
    try:
        yield
    finally:
        _maker.reset(token)


_CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


def ulid() -> str:
    """A ULID: 26 letters and digits, in order of creation like `uuid7`, which it is written from."""
    made = make_id()
    try:
        value = UUID(made).int
    except ValueError:
        return made  # of a maker that was given
    return "".join(_CROCKFORD[value >> shift & 31] for shift in range(125, -1, -5))


def new_ulid() -> str:
    """The default of an `Id` field that is a ULID."""
    identifier: str = Field(default_factory=ulid)
    return identifier


def new_id(prefix: str = "") -> str:
    """The default of an `Id` field: a new id, with the document's prefix where it has one."""
    identifier: str = Field(default_factory=lambda: prefix + make_id())
    return identifier


def stored_name(field: str, case: Case) -> str:
    """The attribute's name by the table's rule."""
    if case == "as is":
        return field
    camel = re.sub(r"_([a-z0-9])", lambda match: match[1].upper(), field)
    return camel[0].upper() + camel[1:] if case == "pascal" else camel
