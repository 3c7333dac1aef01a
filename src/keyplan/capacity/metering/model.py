"""What metering finds out: `Metered` for one run of a pattern or write, `MeteredDesign` for all of them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from keyplan.capacity.consumed import TableOrIndex, Units
from keyplan.capacity.traffic.model import WriteKind

WriteName: TypeAlias = tuple[str, WriteKind]
"""A write, by the entity's name and its kind."""


@dataclass(frozen=True)
class Metered:
    """What one run of a pattern or of a write consumed."""

    units: Mapping[TableOrIndex, Units]
    """By table and index."""
    requests: int
    """How many requests it sent."""
    items: int
    """How many items a pattern found, or a write wrote: its own, guards, mirrors, derived items and counters."""
    operations: tuple[str, ...] = ()
    """The operations of DynamoDB that it called, in their order."""

    @property
    def total(self) -> Units:
        """The capacity in all tables and indexes."""
        return sum(self.units.values(), Units())

    @property
    def refused(self) -> Mapping[TableOrIndex, Units]:
        """What the same write consumes if its condition fails: as much of the tables, and nothing of the indexes."""
        return {place: Units(each.reads, each.writes) for place, each in self.units.items() if place.index is None}


@dataclass(frozen=True)
class StoredPart:
    """What an item takes in a table or an index: the item itself, and what comes into being with it."""

    items: float
    size: float
    """In bytes, without what AWS adds for each item and index entry."""


@dataclass(frozen=True)
class MeteredDesign:
    """What every pattern and write of a design consumes, and what the items take."""

    patterns: Mapping[str, Metered]
    missing: Mapping[str, Metered]
    """What each pattern consumes if it finds nothing."""
    writes: Mapping[WriteName, Metered]
    stored: Mapping[str, Mapping[TableOrIndex, StoredPart]]
    """What an item of each entity takes in each table and index, with its guards, mirrors and derived items."""
    sizes: Mapping[str, int]
    """The size of each entity's item in bytes, as it was metered."""
    failures: Mapping[str, str] = field(default_factory=dict)
    """Why a pattern, or a write such as `Post.create`, couldn't be metered."""
