"""Declare what must change together with an item: its effects on other items.

Each effect is a function of the item: the guards it holds, the items derived from it, the numbers it adds to on other
items, and its parents. The data layer compares the effects of the old item with those of the new one and puts the
difference into the same transaction. `verify` compares the effects of the stored items with what is stored.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeAlias, TypeVar, get_args

from keyplan.design.entities.refusals import Refusal
from keyplan.design.errors import DesignError, recorded

if TYPE_CHECKING:
    from keyplan.design.entities.entity import Entity
    from keyplan.design.entities.specs import KeySpec
    from keyplan.design.keys.templates import Template
    from keyplan.design.tables.tables import Table

E = TypeVar("E", bound="Entity")
P = TypeVar("P", bound="Entity")
P_co = TypeVar("P_co", bound="Entity", covariant=True)

OnDelete: TypeAlias = Literal["cascade", "refuse", "keep"]


@dataclass(frozen=True)
class Ref(Generic[P_co]):
    """A reference to an item: its entity and the values of its primary key."""

    entity: type[P_co]
    values: Mapping[str, object]
    amount: int = 1
    """How much a counter adds to the item."""

    def adding(self, amount: int) -> "Ref[P_co]":
        """The same item. A counter adds this amount to it instead of one."""
        return replace(self, amount=amount)


def ref(entity: type[P], **values: object) -> Ref[P]:
    """A reference to the item of this entity with these key values."""
    primary_of(entity, "ref").check_all(values)
    return Ref(entity, values)


def primary_of(entity: type[P], word: str) -> "KeySpec":
    """The primary key of an entity. Raises `TypeError` for what isn't the class of one."""
    if isinstance(entity, type):
        try:
            return entity.spec.primary
        except AttributeError:
            pass
    raise TypeError(f"{word}() takes the class of an entity, such as User, not {entity!r:.60}")


Refs: TypeAlias = Ref[Any] | Sequence[Ref[Any]] | None
"""What a method can return: one item, several, or none."""


def named_by(refs: Refs) -> Sequence[Ref[Any]]:
    """The items that a method returned, as a sequence."""
    if refs is None:
        return ()
    return (refs,) if isinstance(refs, Ref) else refs


class Unique:
    """A value that only one item may have, enforced by a guard item whose key contains the value."""

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
        # Set when the entity's class is created.
        self.table: Table
        self.hash: Template
        self.range: Template | None = None

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: object, owner: type[E]) -> "Guard[E]":
        return Guard(owner, self)


@dataclass(frozen=True)
class Guard(Generic[E]):
    """A unique value of an entity, to look up its item: `lookup(User.email_guard, email=...)`."""

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
    """Make a value unique with a guard item. Its sort key is the same as its hash key unless `range` is given.

    The guard stores the fields in `carries`. If they make up the primary key, the item can be looked up by the value.
    With `when`, the name of a field, only items in which that field is true have a guard. `refusal` is the error that
    callers get when another item has the value.
    """
    return Unique(hash, range, (carries,) if isinstance(carries, str) else carries, table, when, refusal)


@dataclass
class Derived(Generic[E]):
    """Items that are derived from an item."""

    make: "Callable[[E], list[Entity]]"
    kind: Literal["mirror", "derived", "reference"]
    method: Callable[..., object]
    name: str = ""
    entities: "tuple[type[Entity], ...]" = ()
    """The entities it makes, from the method's annotation. Set when the design's class is created."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: object, owner: type[P]) -> "Copies[P]":
        return Copies(owner, self)


@dataclass(frozen=True)
class Copies(Generic[P]):
    """The derived items of an entity, to look up the original: `lookup(Season.by_id, season_id=...)`."""

    entity: type[P]
    derived: Derived[Any]


def mirror(make: "Callable[[E], Entity | None]") -> Derived[E]:
    """Declare a copy of the item, whole or partial, under another key. The method returns it."""

    def items(entity: E) -> "list[Entity]":
        item = make(entity)
        return [] if item is None else [item]

    return Derived(items, "mirror", make, make.__name__)


def derived(make: "Callable[[E], Sequence[Entity]]") -> Derived[E]:
    """Declare items of other entities that are derived from this one. The method returns them."""
    return Derived(lambda entity: list(make(entity)), "derived", make, make.__name__)


def reference(make: "Callable[[E], Sequence[Entity]]") -> Derived[E]:
    """Declare items that record what this item uses, stored next to what is used."""
    return Derived(lambda entity: list(make(entity)), "reference", make, make.__name__)


@dataclass
class Counter(Generic[E]):
    """A number on another item that this item adds to as long as it exists."""

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
    """Add one (or more, with `.adding`) to a `Count` field of the items that the method returns, while this one exists.

    With `floor`, a change that would take the number below it is refused, such as removing the last owner. `refusal`
    is the error that callers get then.
    """

    with recorded():
        if floor is not None and type(floor) is not int:
            problem = f"{floor!r} isn't a whole number"
            raise DesignError("floor", "counts", problem, "Use the least number, such as floor=0.")

    def declare(target: "Callable[[E], Refs]") -> Counter[E]:
        return Counter(target, field, floor, target.__name__, refusal)

    return declare


@dataclass
class BelongsTo(Generic[E]):
    """The parent of an item."""

    parent: "Callable[[E], Refs]"
    on_delete: OnDelete
    count: str | None
    via: str
    over: Mapping[str, tuple[object, ...]]
    name: str = ""
    missing: Refusal | None = None
    in_use: Refusal | None = None
    # Set when the design's class is created: the parent's entity, and the child's field for each field of its key.
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
    """Declare one or more parents, which the method returns. Creating the item checks that they exist.

    When the parent is deleted, `on_delete` decides: `refuse` while it has children (counted in the parent's `Count`
    field `count`), `cascade` to the children (found through the placement `via`), or `keep` them. If the hash key of
    that placement has a field that the parent doesn't have, `over` lists all its values, with one query for each.
    `missing` is the error that callers get if a parent doesn't exist, and `in_use` if it can't be deleted.
    """

    def declare(parent: "Callable[[E], Refs]") -> BelongsTo[E]:
        with recorded():
            if on_delete not in get_args(OnDelete):
                problem = f"on_delete can't be {on_delete!r}"
                raise DesignError("on-delete", parent.__qualname__, problem, "Use cascade, refuse or keep.")
        return BelongsTo(parent, on_delete, count, via, over or {}, parent.__name__, missing, in_use)

    return declare
