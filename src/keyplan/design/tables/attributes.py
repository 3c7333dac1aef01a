"""Attributes in keys and indexes, with their types, and which attributes an index has."""

from dataclasses import dataclass
from typing import Literal

from keyplan.design.errors import DesignError


@dataclass(frozen=True)
class KeyAttribute:
    """An attribute in a key."""

    name: str
    type: str


def attributes_of(parts: tuple[str, ...], place: str) -> tuple[KeyAttribute, ...]:
    """The attributes in a part of a key, whose names may include a type."""
    attributes = []
    for part in parts:
        name, _, kind = part.partition(":")
        if kind not in ("", "S", "N", "B"):
            raise DesignError("key-type", place, f"{kind!r} isn't a key type", "Use S, N or B.")
        attributes.append(KeyAttribute(name, kind or "S"))
    return tuple(attributes)


@dataclass(frozen=True)
class Projection:
    """The attributes in an index: `ALL`, `KEYS_ONLY`, or `INCLUDE` with names of stored attributes."""

    type: Literal["ALL", "KEYS_ONLY", "INCLUDE"] = "ALL"
    attributes: tuple[str, ...] = ()


ALL = Projection()
KEYS_ONLY = Projection("KEYS_ONLY")


def include(*attributes: str) -> Projection:
    """A projection of the keys and these attributes."""
    return Projection("INCLUDE", attributes)
