"""New ids: UUIDs and ULIDs that sort by creation time."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from threading import Lock
from uuid import UUID

from pydantic import Field

_CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

_62_BITS = 2**62 - 1
_last = 0
_ordering = Lock()


def uuid7() -> str:
    """A UUID version 7. Ids sort by creation time, strictly within a process."""
    global _last
    with _ordering:
        # 48 bits of milliseconds and 12 bits of a counter, as one number that only grows.
        _last = max(_last + 1, time.time_ns() // 1_000_000 << 12)
        stamp = _last
    milliseconds, sequence = stamp >> 12, stamp & 0xFFF
    chance = int.from_bytes(os.urandom(8)) & _62_BITS
    digits = f"{milliseconds << 80 | 0x7 << 76 | sequence << 64 | 0b10 << 62 | chance:032x}"
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"  # str(UUID()) takes longer


_maker: ContextVar[Callable[[], str]] = ContextVar("keyplan_id_maker", default=uuid7)


def make_id() -> str:
    """A new id, from the current maker."""
    return _maker.get()()


@contextmanager
def ids_from(maker: Callable[[], str]) -> Iterator[None]:
    """Take new ids from this maker within the block, for tests."""
    token = _maker.set(maker)
    try:
        yield
    finally:
        _maker.reset(token)


def ulid() -> str:
    """A ULID: 26 letters and digits. Made from `uuid7`, so ULIDs sort by creation time too."""
    made = make_id()
    try:
        value = UUID(made).int
    except ValueError:
        return made  # the maker doesn't make UUIDs
    return "".join(_CROCKFORD[value >> shift & 31] for shift in range(125, -1, -5))


@dataclass(frozen=True)
class IdFactory:
    """Makes the default of an id field. A field with this default is set by the server."""

    prefix: str = ""
    as_ulid: bool = False

    def __call__(self) -> str:
        return self.prefix + (ulid() if self.as_ulid else make_id())


def new_id(prefix: str = "") -> str:
    """The default of an `Id` field: a new id, with a prefix if given."""
    identifier: str = Field(default_factory=IdFactory(prefix))
    return identifier


def new_ulid() -> str:
    """The default of an `Id` field that is a ULID."""
    identifier: str = Field(default_factory=IdFactory(as_ulid=True))
    return identifier
