"""What was found out about tables: the entities, their fields and keys, and what isn't sure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias

from keyplan.data import AttributeValue, Item
from keyplan.design import Table

__all__ = ["AttributeValue", "Doubt", "Found", "FoundEntity", "FoundField", "FoundGuard", "FoundKey", "FoundTable"]

Json: TypeAlias = Any  # what `json` reads, and what clients answer


@dataclass(frozen=True)
class Record:
    """An item, with its values: the attributes, and the members of its envelope."""

    item: Item
    values: Mapping[str, AttributeValue]
    beside: frozenset[str] = frozenset()
    """For an item with an envelope: the attributes beside it."""
    inside: tuple[str, ...] = ()
    """The members of its envelope, in their order."""


@dataclass(frozen=True)
class Slot:
    """A value in a template: of a field, in a format such as `:04` or `.lower`, with the text for a missing one."""

    source: str
    format: str = ""
    absent: str = ""

    def text(self, names: Mapping[str, str]) -> str:
        """The slot as a template has it, with the names of fields."""
        return f"{{{names[self.source]}{self.format}{'|' + self.absent if self.absent else ''}}}"


Parts: TypeAlias = tuple[str | Slot, ...]


def template_text(parts: Parts, names: Mapping[str, str]) -> str:
    """A template as a design has it."""
    return "".join(part if isinstance(part, str) else part.text(names) for part in parts)


@dataclass
class FoundField:
    """A field of an entity."""

    name: str
    attribute: str
    """The stored attribute, or the member of the envelope."""
    type: str
    """Its type as Python source, without None."""
    optional: bool = False
    marks: tuple[str, ...] = ()
    """What is said about it besides its type: `stored("PK")`, `on_top()`."""
    default: str | None = None


@dataclass
class FoundKey:
    """An entity's key in the table or an index; `parts` are its attributes' templates."""

    name: str
    index: str | None
    hash: tuple[Parts, ...]
    range: tuple[Parts, ...]
    when: str | None = None

    @property
    def slots(self) -> list[Slot]:
        """The values that it is made of."""
        return [part for parts in (*self.hash, *self.range) for part in parts if isinstance(part, Slot)]


@dataclass
class FoundGuard:
    """A rule of uniqueness, kept by guard items."""

    name: str
    hash: Parts
    range: Parts | None
    carries: tuple[str, ...]
    table: str
    items: int
    """How many guard items were seen."""
    when: str | None = None


@dataclass
class FoundModel:
    """The type of a map whose members are always alike."""

    name: str
    fields: list[FoundField]


@dataclass
class FoundEntity:
    """Items of one kind."""

    name: str
    records: list[Record]
    type: str | None = None
    fields: list[FoundField] = field(default_factory=list)
    keys: list[FoundKey] = field(default_factory=list)
    """The primary key, and the keys in indexes."""
    guards: list[FoundGuard] = field(default_factory=list)
    models: list[FoundModel] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)
    """The name of the field for each source of values."""
    values: dict[str, list[AttributeValue | None]] = field(default_factory=dict)
    """The values of each source, by item."""

    @property
    def primary(self) -> FoundKey:
        return self.keys[0]


@dataclass(frozen=True)
class Doubt:
    """Something that isn't sure, and for how many items. Without values."""

    place: str
    problem: str
    items: int = 0


@dataclass
class FoundTable:
    """A table, with the entities and the guards in it."""

    table: Table
    variable: str
    items: Sequence[Item]
    complete: bool = True
    """Whether all items were read, not a sample."""
    entities: list[FoundEntity] = field(default_factory=list)
    guards: list[list[Record]] = field(default_factory=list)
    """Guard items whose entity is known, by form."""

    @cached_property
    def key_names(self) -> tuple[str, ...]:
        return self.table.key_names


@dataclass
class Found:
    """All tables that are adopted together, and what isn't sure about them."""

    name: str
    tables: list[FoundTable]
    doubts: list[Doubt] = field(default_factory=list)

    @property
    def entities(self) -> list[FoundEntity]:
        return [entity for table in self.tables for entity in table.entities]
