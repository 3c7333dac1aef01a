"""The model of a document: what is written down about a design, in plain values that every form renders."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from keyplan.publish.diagrams import Drawing

Request: TypeAlias = Mapping[str, Any]
Item: TypeAlias = Mapping[str, Any]
"""An item as DynamoDB has it: names of attributes, and values with their types."""
Severity: TypeAlias = Literal["error", "warning", "info"]


@dataclass(frozen=True)
class Remark:
    """What a review found at one place of the design."""

    code: str
    severity: Severity
    place: str
    happens: str
    remedy: str
    accepted: str | None = None
    """Why the design accepts it, if it does."""


@dataclass(frozen=True)
class Use:
    """The capacity that a pattern or a write consumed in a table or an index."""

    table: str
    index: str | None
    reads: float = 0
    """In read units (RCU)."""
    writes: float = 0
    """In write units (WCU)."""


@dataclass(frozen=True)
class Consumption:
    """What one run of a pattern (`posts_by_user`) or of a write (`create Post`) consumed."""

    name: str
    uses: tuple[Use, ...]

    @property
    def reads(self) -> float:
        """Its read units in all tables and indexes."""
        return sum(use.reads for use in self.uses)

    @property
    def writes(self) -> float:
        """Its write units in all tables and indexes."""
        return sum(use.writes for use in self.uses)


@dataclass(frozen=True)
class Sent:
    """A request that the store sends."""

    operation: str
    """The method of boto3's client: `get_item`."""
    request: Request

    @property
    def action(self) -> str:
        """The operation by AWS's name: `GetItem`."""
        return "".join(word.capitalize() for word in self.operation.split("_"))


@dataclass(frozen=True)
class KeyPlace:
    """An attribute of a key: its type, and where an entity's value for it comes from."""

    attribute: str
    type: str
    role: Literal["partition key", "sort key"]
    template: str = ""


@dataclass(frozen=True)
class Held:
    """Items of one kind in a table or an index."""

    name: str
    keys: tuple[KeyPlace, ...]
    when: str = ""
    """Which of them, if not all."""


@dataclass(frozen=True)
class IndexText:
    """An index of a table."""

    name: str
    kind: Literal["global", "local", "vector"]
    keys: tuple[KeyPlace, ...]
    projection: str
    why: str
    holds: tuple[Held, ...]
    patterns: tuple[str, ...]
    """The access patterns that read it."""


@dataclass(frozen=True)
class TableText:
    """A table: how it is keyed and run, and what is in it."""

    name: str
    """As it is declared: `hacktracker-{environment=dev}`."""
    actual: str
    """As it is called in the examples."""
    keys: tuple[KeyPlace, ...]
    settings: tuple[tuple[str, str], ...]
    why: str
    holds: tuple[Held, ...]
    indexes: tuple[IndexText, ...]
    housekeeping: bool
    """Whether it holds what isn't part of the design's own tables: sessions, journals, leases."""
    request: Request
    """The CreateTable request."""


@dataclass(frozen=True)
class AttributeText:
    """An attribute of an item."""

    name: str
    field: str
    """The field of the entity, or nothing for an attribute that only a key has."""
    type: str
    required: bool
    limits: str
    about: str
    example: str


@dataclass(frozen=True)
class ItemType:
    """A kind of item: an entity, or the guard of a unique value."""

    name: str
    kind: str
    """What it is: `entity`, `mirror of Post`, `guard of User`."""
    about: str
    table: str
    keys: tuple[tuple[str, tuple[KeyPlace, ...]], ...]
    """For the table and each index that it is in: its name, and the keys."""
    attributes: tuple[AttributeText, ...]
    facts: tuple[tuple[str, str], ...]
    """What else is declared: what is expected, claimed as unique, refused."""
    example: Item | None


@dataclass(frozen=True)
class Example:
    """How something is run: by the data layer, by boto3, and by the AWS CLI."""

    python: str
    boto3: str
    cli: str


@dataclass(frozen=True)
class PatternText:
    """An access pattern."""

    name: str
    wording: str
    about: str
    parameters: tuple[str, ...]
    operation: str
    table: str
    index: str | None
    key_condition: str
    filter: str
    order: str
    """In which order items come, and whether the read is strongly consistent."""
    facts: tuple[tuple[str, str], ...]
    requests: tuple[Sent, ...]
    example: Example
    cost: Consumption | None


@dataclass(frozen=True)
class Effect:
    """What a write of an item does to other items."""

    kind: str
    name: str
    text: str


@dataclass(frozen=True)
class Touched:
    """One action of a write: on which item, what that item is, and under which condition."""

    action: str
    table: str
    key: str
    what: str
    change: str
    condition: str


@dataclass(frozen=True)
class WriteText:
    """Creating, changing or deleting an item: the requests, and all items that they touch."""

    name: str
    """`create Post`."""
    python: str
    requests: tuple[Sent, ...]
    touched: tuple[Touched, ...]
    cost: Consumption | None


@dataclass(frozen=True)
class Together:
    """What changes together with an entity's items."""

    entity: str
    effects: tuple[Effect, ...]
    writes: tuple[WriteText, ...]


@dataclass(frozen=True)
class DepartureText:
    """Where the design differs from its document."""

    document: str
    here: str
    because: str


@dataclass(frozen=True)
class Document:
    """A design, written down."""

    name: str
    title: str
    module: str
    purpose: str
    facts: tuple[tuple[str, str], ...]
    tables: tuple[TableText, ...]
    items: tuple[ItemType, ...]
    patterns: tuple[PatternText, ...]
    together: tuple[Together, ...]
    departures: tuple[DepartureText, ...]
    remarks: tuple[Remark, ...] | None
    """What a review found; None if none was made."""
    rationale: tuple[tuple[str, str], ...]
    """For a place in the design, why it is as it is."""
    setup: str
    """The Python that the examples begin with."""
    drawings: tuple[Drawing, ...]
    problems: tuple[tuple[str, str], ...] = ()
    """The entities and patterns of which no example can be made, with the reason."""
