"""What must change together with an item: declared as what follows from it.

Every declaration here is a function of the item: the guards it holds, the items it brings along, the numbers it adds
to elsewhere, what it belongs to. The data layer compares what followed from the old item with what follows from the
new one and puts the difference into the same transaction; `verify` compares what follows with what is stored.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeAlias, TypeVar

from keyplan.design.refusals import Refusal

if TYPE_CHECKING:
    from keyplan.design.entity import Entity
    from keyplan.design.tables import Table
    from keyplan.design.templates import Template

E = TypeVar("E", bound="Entity")
P = TypeVar("P", bound="Entity")
P_co = TypeVar("P_co", bound="Entity", covariant=True)

OnDelete: TypeAlias = Literal["cascade", "refuse", "keep"]


@dataclass(frozen=True)
class Ref(Generic[P_co]):
    """An item, by entity and the values of its primary key."""

    entity: type[P_co]
    values: Mapping[str, object]
    amount: int = 1
    """What a counter adds there."""

    def adding(self, amount: int) -> "Ref[P_co]":
        """For a counter: add so much instead of one."""
        return replace(self, amount=amount)


def ref(entity: type[P], **values: object) -> Ref[P]:
    """The item of this entity with these key values."""
    entity.spec.primary.check_all(values)
    return Ref(entity, values)


Refs: TypeAlias = Ref[Any] | Sequence[Ref[Any]] | None
"""What a method may name: an item, several, or none."""


def named_by(refs: Refs) -> Sequence[Ref[Any]]:
    """The items that a method named."""
    if refs is None:
        return ()
    return (refs,) if isinstance(refs, Ref) else refs


class Unique:
    """A value that only one item may have: kept by a guard item under a key made of the value."""

    def __init__(
        self,
        hash: str,
        range: str | None,
        carries: tuple[str, ...],
        table: "Table | None",
        when: str | None,
        refusal: Refusal | None = None,
    ) -> None:
        self.hash_text = hash
        self.range_text = range
        self.carries = carries
        self.given_table = table
        self.when = when
        self.refusal = refusal
        self.name = ""
        # Filled in when the entity is made.
        self.table: Table
        self.hash: Template
        self.range: Template | None = None

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: object, owner: type[E]) -> "Guard[E]":
        return Guard(owner, self)


@dataclass(frozen=True)
class Guard(Generic[E]):
    """A unique value of an entity, as a way to find its item: `lookup(User.email_guard, email=...)`."""

    entity: type[E]
    unique: Unique


def unique(
    hash: str,
    range: str | None = None,
    *,
    carries: str | tuple[str, ...] = (),
    table: "Table | None" = None,
    when: str | None = None,
    refusal: Refusal | None = None,
) -> Unique:
    """A guard item with this key (the range key is the same text unless given), carrying some of the item's fields.

    With fields that make up the item's primary key in `carries`, the item can be looked up by the value.
    With `when`, the name of a field, only items where it is true hold the guard. `refusal` is what callers are told
    when another item has the value.
    """
    return Unique(hash, range, (carries,) if isinstance(carries, str) else carries, table, when, refusal)


@dataclass
class Derived(Generic[E]):
    """Items that follow from an item."""

    make: "Callable[[E], list[Entity]]"
    kind: Literal["mirror", "derived", "reference"]
    method: Callable[..., object]
    name: str = ""
    entities: "tuple[type[Entity], ...]" = ()
    """What it makes, by the method's annotation; filled in when the design is made."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: object, owner: type[P]) -> "Copies[P]":
        return Copies(owner, self)


@dataclass(frozen=True)
class Copies(Generic[P]):
    """What follows from an entity's items, as a way to find them: `lookup(Season.by_id, season_id=...)`."""

    entity: type[P]
    derived: Derived[Any]


def mirror(make: "Callable[[E], Entity | None]") -> Derived[E]:
    """A copy of the item, whole or partial, under another key: a method that returns it."""

    def items(entity: E) -> "list[Entity]":
        item = make(entity)
        return [] if item is None else [item]

    return Derived(items, "mirror", make, make.__name__)


def derived(make: "Callable[[E], Sequence[Entity]]") -> Derived[E]:
    """Items of other entities that follow from this one: a method that returns them."""
    return Derived(lambda entity: list(make(entity)), "derived", make, make.__name__)


def reference(make: "Callable[[E], Sequence[Entity]]") -> Derived[E]:
    """Items that say what this item uses, kept beside what is used."""
    return Derived(lambda entity: list(make(entity)), "reference", make, make.__name__)


@dataclass
class Counter(Generic[E]):
    """A number on another item that this item adds to while it exists."""

    target: "Callable[[E], Refs]"
    field: str
    floor: int | None
    name: str = ""
    refusal: Refusal | None = None

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name


def counts(
    field: str, *, floor: int | None = None, refusal: Refusal | None = None
) -> "Callable[[Callable[[E], Refs]], Counter[E]]":
    """Add one to a `Count` field of the items that the method names (or more, with `.adding`), while this item exists.

    With a floor, a change that would take the number below it is refused ("not the last one"); `refusal` is what
    callers are told then.
    """

    def declare(target: "Callable[[E], Refs]") -> Counter[E]:
        return Counter(target, field, floor, target.__name__, refusal)

    return declare


@dataclass
class BelongsTo(Generic[E]):
    """The item that this one makes no sense without."""

    parent: "Callable[[E], Refs]"
    on_delete: OnDelete
    count: str | None
    via: str
    over: Mapping[str, tuple[object, ...]]
    name: str = ""
    missing: Refusal | None = None
    in_use: Refusal | None = None
    # Filled in when the design is made: the parent's entity, and which of its key fields is which field here.
    entity: "type[Entity] | None" = None
    fields: Mapping[str, str] = field(default_factory=dict)

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name


def belongs_to(
    *,
    on_delete: OnDelete,
    count: str | None = None,
    via: str = "primary",
    over: Mapping[str, tuple[object, ...]] | None = None,
    missing: Refusal | None = None,
    in_use: Refusal | None = None,
) -> "Callable[[Callable[[E], Refs]], BelongsTo[E]]":
    """The method names the parent, or several. A create checks that they are there.

    When the parent is deleted: `refuse` while there are children (decided on the parent's `Count` field `count`,
    which the children keep), `cascade` to them (found through the placement `via`), or `keep` them. Where the hash key
    of that placement has a field that the parent does not know, `over` gives all its values: one query for each.
    Callers are told `missing` where the parent isn't there, and `in_use` where it can't be deleted.
    """

    def declare(parent: "Callable[[E], Refs]") -> BelongsTo[E]:
        return BelongsTo(parent, on_delete, count, via, over or {}, parent.__name__, missing, in_use)

    return declare
