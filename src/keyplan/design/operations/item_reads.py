"""Reads of items by their keys: one, by a unique value, many, and several at one moment."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar, cast, overload

from pydantic import BaseModel

from keyplan.design.entities.effects import Copies, Guard, Unique, primary_of
from keyplan.design.entities.entity import Entity
from keyplan.design.entities.specs import StandIn
from keyplan.design.errors import DesignError
from keyplan.design.operations.reading import BatchOp, ItemOp, OnUnreadable, Op, T_co, Unreadable, check_choice
from keyplan.design.operations.selections import Selection, select

T = TypeVar("T")
S = TypeVar("S")
U = TypeVar("U")
V = TypeVar("V")
M = TypeVar("M", bound=BaseModel)
E = TypeVar("E", bound=Entity)

MOST_IN_TRANSACTION = 100
"""The most items that DynamoDB reads in one transaction."""


@dataclass(frozen=True)
class Get(ItemOp[E | None]):
    """One item by its primary key."""

    entity: type[E]
    values: Mapping[str, object]
    consistent: bool = False
    expired: bool = False
    """Whether to return it although its time to live has passed."""
    selection: Selection | None = None
    """What it returns, if not the whole entity."""

    @overload
    def only(self, chosen: type[M]) -> "ItemOp[M | None]": ...
    @overload
    def only(self, chosen: Callable[[E], T]) -> "ItemOp[T | None]": ...
    def only(self, chosen: Callable[[E], Any] | type[BaseModel]) -> "ItemOp[Any | None]":
        """Read only some fields: `.only(lambda post: (post.title, post.slug))`, or those of a view."""
        return cast("ItemOp[Any | None]", self.changed(selection=select(self.entity, chosen)))


def get(entity: type[E], *, consistent: bool = False, expired: bool = False, **values: object) -> Get[E]:
    """The item with these key values, or None; one that has expired only with `expired`."""
    primary_of(entity, "get").check_all(values)
    return Get.made(entity=entity, values=values, consistent=consistent, expired=expired)


@dataclass(frozen=True)
class Exists(Op[bool]):
    """Whether an item exists."""

    entity: type[Entity]
    values: Mapping[str, object]


def there(entity: type[E], **values: object) -> Exists:
    """Whether an item with these key values exists, without loading it."""
    primary_of(entity, "there").check_all(values)
    return Exists(entity, values)


@dataclass(frozen=True)
class Lookup(Op[E | None]):
    """One item, found through a guard or a mirror."""

    way: Guard[E] | Copies[E]
    values: Mapping[str, object]
    consistent: bool = False
    expired: bool = False
    """Whether to return it although its time to live has passed."""
    selection: Selection | None = None
    """What it returns, if not the whole entity."""

    @overload
    def only(self, chosen: type[M]) -> "Op[M | None]": ...
    @overload
    def only(self, chosen: Callable[[E], T]) -> "Op[T | None]": ...
    def only(self, chosen: Callable[[E], Any] | type[BaseModel]) -> "Op[Any | None]":
        """Read only some fields: `.only(lambda post: (post.title, post.slug))`, or those of a view."""
        return cast("Op[Any | None]", self.changed(selection=select(self.way.entity, chosen)))


def lookup(
    way: Guard[E] | Copies[E], *, consistent: bool = False, expired: bool = False, **values: object
) -> Lookup[E]:
    """The item with this unique value, or whose mirror has this key; or None. One that has expired only with
    `expired`."""
    if not isinstance(way, Guard | Copies):
        raise _not_a_way("lookup", way, "a unique value or a mirror")
    spec = way.entity.spec
    spec.check_usable(way.unique.name if isinstance(way, Guard) else way.derived.name)
    if isinstance(way, Guard):
        name = way.unique.name
        _check_guard(way, values)
        carried: Sequence[str] = (*way.unique.carries, *guard_fields(way.unique))
    else:
        name = way.derived.name
        mirrors = way.derived.entities if way.derived.kind == "mirror" else ()
        for mirror in mirrors:
            mirror.spec.primary.check_all(values)
        carried = tuple(mirrors[0].spec.fields) if len(mirrors) == 1 else ()
    lost = [each for each in spec.primary.fields if each not in carried]
    if lost:
        problem = f"it doesn't have all fields of the primary key: {', '.join(lost)}"
        raise DesignError("guard-carries", f"{spec.name}.{name}", problem, "Add these fields to what it carries.")
    return Lookup(way, values, consistent, expired)


def _not_a_way(word: str, way: object, wanted: str) -> DesignError:
    """The error for a lookup through something else."""
    remedy = "For an item by its key, use get or there; for the items of an index, query."
    return DesignError(
        "not-a-guard", word, f"it takes {wanted} of an entity, such as User.email_guard, not {way!r}", remedy
    )


def guard_fields(unique: Unique) -> tuple[str, ...]:
    """The fields in a guard's key."""
    return (*unique.hash.fields, *(unique.range.fields if unique.range else ()))


def _check_guard(guard: Guard[E], values: Mapping[str, object]) -> None:
    place = f"{guard.entity.spec.name}.{guard.unique.name}"
    fields = dict.fromkeys(guard_fields(guard.unique))
    if values.keys() != fields.keys():
        missing = [name for name in fields if name not in values]
        unknown = [name for name in values if name not in fields]
        problems = [f"no value for {', '.join(missing)}"] if missing else []
        problems += [f"{', '.join(unknown)} isn't in the guard's key"] if unknown else []
        remedy = f"The fields of the guard's key are: {', '.join(fields)}."
        raise DesignError("key-fields", place, ", and ".join(problems), remedy)
    for template in filter(None, (guard.unique.hash, guard.unique.range)):
        for name in template.fields:
            if values[name] is not None and not isinstance(values[name], StandIn):
                template.piece(name, values[name])  # refuses a value of another type


@dataclass(frozen=True)
class GuardTaken(Op[bool]):
    """Whether an item has a unique value."""

    guard: Guard[Entity]
    values: Mapping[str, object]


def taken(guard: Guard[E], **values: object) -> GuardTaken:
    """Whether an item already has this unique value."""
    if not isinstance(guard, Guard):
        raise _not_a_way("taken", guard, "a unique value")
    guard.entity.spec.check_usable(guard.unique.name)
    _check_guard(guard, values)
    return GuardTaken(guard, values)  # type: ignore[arg-type]  # a guard of any entity


def entity_of(op: "Op[E | None]") -> type[E]:
    """The entity of the item that an operation finds."""
    if isinstance(op, Get):
        return cast("type[E]", op.entity)
    if isinstance(op, Lookup):
        return cast("type[E]", op.way.entity)
    raise TypeError(f"{type(op).__name__} doesn't find a single item")


@dataclass(frozen=True)
class BatchGet(BatchOp[E | None]):
    """Many items by their keys, in the order of the keys."""

    entity: type[E]
    keys: object
    """Mappings of key values, or a stand-in for a pattern's parameter."""
    consistent: bool = False
    expired: bool = False
    """Whether to return items whose time to live has passed."""
    unreadable: OnUnreadable = "raise"
    selection: Selection | None = None
    """What it returns, if not the whole entity."""

    @overload
    def only(self, chosen: type[M]) -> "BatchOp[M | None]": ...
    @overload
    def only(self, chosen: Callable[[E], T]) -> "BatchOp[T | None]": ...
    def only(self, chosen: Callable[[E], Any] | type[BaseModel]) -> "BatchOp[Any | None]":
        """Read only some fields: `.only(lambda post: (post.title, post.slug))`, or those of a view."""
        return cast("BatchOp[Any | None]", self.changed(selection=select(self.entity, chosen)))

    @overload
    def on_unreadable(self, choice: Literal["raise"]) -> "BatchGet[E]": ...
    @overload
    def on_unreadable(self, choice: Literal["raw"]) -> "BatchOp[E | Unreadable | None]": ...
    def on_unreadable(self, choice: Literal["raise", "raw"]) -> Any:
        """What happens to items that don't fit the entity: `raise` (the default) ends the read with an error, and `raw`
        returns each in its place as `Unreadable`."""
        check_choice(choice, "raise", "raw")
        return self.changed(unreadable=choice)


def batch_get(entity: type[E], keys: object, *, consistent: bool = False, expired: bool = False) -> BatchGet[E]:
    """The items with these keys (a sequence of mappings, or of single values where the key has one field).

    Those that have expired only with `expired`.
    """
    primary = primary_of(entity, "batch_get")
    if isinstance(keys, str | bytes | Mapping):
        given = "one key" if isinstance(keys, Mapping) else "text"
        raise DesignError("key-fields", primary.place, f"the keys must be a list, not {given}", "Give a list: [key].")
    if isinstance(keys, Iterable) and not isinstance(keys, StandIn):
        keys = list(keys)  # an iterator would be empty when the operation runs again
    for each in keys if isinstance(keys, list) else ():
        primary.check_all(each if isinstance(each, Mapping) else dict.fromkeys(primary.fields[:1], each))
    return BatchGet(entity, keys, consistent, expired)


@dataclass(frozen=True)
class Together(Op[T_co]):
    """Several batch gets, from any tables, combined. Returns their results in order."""

    gets: tuple[BatchGet[Any], ...]


@overload
def together(first: BatchOp[T], second: BatchOp[S], /) -> Together[tuple[list[T], list[S]]]: ...
@overload
def together(
    first: BatchOp[T], second: BatchOp[S], third: BatchOp[U], /
) -> Together[tuple[list[T], list[S], list[U]]]: ...
@overload
def together(
    first: BatchOp[T], second: BatchOp[S], third: BatchOp[U], fourth: BatchOp[V], /
) -> Together[tuple[list[T], list[S], list[U], list[V]]]: ...
def together(*gets: Any) -> Together[Any]:
    """Items of several entities by their keys, with up to 100 keys in a request."""
    return Together(gets)


@dataclass(frozen=True)
class TransactGet(Op[T_co]):
    """Several items of any tables, as they were at one moment. Returns them in order."""

    gets: tuple[ItemOp[Any], ...]


@overload
def transact_get(first: ItemOp[T], /) -> TransactGet[tuple[T]]: ...
@overload
def transact_get(first: ItemOp[T], second: ItemOp[S], /) -> TransactGet[tuple[T, S]]: ...
@overload
def transact_get(first: ItemOp[T], second: ItemOp[S], third: ItemOp[U], /) -> TransactGet[tuple[T, S, U]]: ...
@overload
def transact_get(
    first: ItemOp[T], second: ItemOp[S], third: ItemOp[U], fourth: ItemOp[V], /
) -> TransactGet[tuple[T, S, U, V]]: ...
@overload
def transact_get(*gets: ItemOp[T]) -> TransactGet[tuple[T, ...]]: ...
def transact_get(*gets: ItemOp[Any]) -> TransactGet[Any]:
    """Up to 100 items by their keys, as they were at one moment: no transaction wrote some of them in between."""
    if not 0 < len(gets) <= MOST_IN_TRANSACTION:
        problem = f"a transaction reads 1 to {MOST_IN_TRANSACTION} items, not {len(gets)}"
        raise DesignError("transact-get", "transact_get", problem, "Use batch_get, which reads any number.")
    for each in gets:
        if not isinstance(each, Get):
            problem = f"{type(each).__name__} isn't a get"
            raise DesignError("transact-get", "transact_get", problem, "Give reads by key: get(...).")
    return TransactGet(gets)
