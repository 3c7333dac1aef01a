"""Read operations, as plain data: a pattern returns one, and a store runs it.

An `Op[T]` says what to read, in terms of entities and fields; it knows nothing about requests. A store turns it into
requests and returns a `T`. Building one checks that the key can answer it, with real values or with stand-ins for a
pattern's parameters.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, Self, TypeVar, cast, overload

from keyplan.design.bounds import Bound
from keyplan.design.conditions import Node, recorded
from keyplan.design.effects import Copies, Guard, Ref, Unique
from keyplan.design.entity import Entity, KeyAccess, KeyPart, KeySpec
from keyplan.design.errors import DesignError
from keyplan.design.key_values import check_filter, sorts_in_reverse, split_key_values

T_co = TypeVar("T_co", covariant=True)
T = TypeVar("T")
E = TypeVar("E", bound=Entity)
F = TypeVar("F", bound=Entity)
A = TypeVar("A", bound=Entity)
B = TypeVar("B", bound=Entity)
C = TypeVar("C", bound=Entity)
D = TypeVar("D", bound=Entity)

PAGE = 50
"""The number of items in a page, unless a limit is given."""
BUDGET = 1000
"""The number of items that a page may read before it returns what it has found."""


@dataclass(frozen=True)
class Page(Generic[T_co]):
    """Some items, and the cursor of the next page; None on the last page."""

    items: Sequence[T_co]
    next: str | None = None


@dataclass(frozen=True)
class Op(Generic[T_co]):
    """A read operation."""

    pattern: str | None = field(default=None, kw_only=True)
    """The access pattern that made it. Cursors are bound to the pattern and its arguments."""
    arguments: Mapping[str, object] = field(default_factory=dict, kw_only=True)

    def changed(self, **changes: object) -> Self:
        """A copy with these changes. Every read needs one, and this is faster than `dataclasses.replace`."""
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__, **changes)
        return other


@dataclass(frozen=True)
class Get(Op[E | None]):
    """One item by its primary key."""

    entity: type[E]
    values: Mapping[str, object]
    consistent: bool = False


def get(entity: type[E], *, consistent: bool = False, **values: object) -> Get[E]:
    """The item with these key values, or None."""
    entity.spec.primary.check_all(values)
    return Get(entity, values, consistent)


@dataclass(frozen=True)
class Exists(Op[bool]):
    """Whether an item exists."""

    entity: type[Entity]
    values: Mapping[str, object]


def there(entity: type[E], **values: object) -> Exists:
    """Whether an item with these key values exists, without loading it."""
    entity.spec.primary.check_all(values)
    return Exists(entity, values)


@dataclass(frozen=True)
class Lookup(Op[E | None]):
    """One item, found through a guard or a mirror."""

    way: Guard[E] | Copies[E]
    values: Mapping[str, object]
    consistent: bool = False


def lookup(way: Guard[E] | Copies[E], *, consistent: bool = False, **values: object) -> Lookup[E]:
    """The item with this unique value, or whose mirror has this key; or None."""
    spec = way.entity.spec
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
    return Lookup(way, values, consistent)


def guard_fields(unique: Unique) -> tuple[str, ...]:
    """The fields in a guard's key."""
    return (*unique.hash.fields, *(unique.range.fields if unique.range else ()))


def _check_guard(guard: Guard[E], values: Mapping[str, object]) -> None:
    place = f"{guard.entity.spec.name}.{guard.unique.name}"
    missing = [name for name in guard_fields(guard.unique) if name not in values]
    if missing:
        raise DesignError(
            "key-fields",
            place,
            f"no value for {', '.join(missing)}",
            "Give a value for every field of the guard.",
        )


@dataclass(frozen=True)
class GuardTaken(Op[bool]):
    """Whether an item has a unique value."""

    guard: Guard[Entity]
    values: Mapping[str, object]


def taken(guard: Guard[E], **values: object) -> GuardTaken:
    """Whether an item already has this unique value."""
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
class Query(Op[Page[E]]):
    """Items of one or several entities in one partition of a table or index, in the order of the sort key."""

    entities: tuple[type[E], ...]
    key: KeySpec
    values: Mapping[str, object]
    bound: tuple[str, Bound] | None = None
    newest_first: bool = False
    filter: Node | None = None
    consistent: bool = False
    size: int | None = None
    """The limit, if one was given. Otherwise a page has `PAGE` items."""
    cursor: str | None = None
    budget: int = BUDGET
    partition: Mapping[str, str] | None = None
    """The hash key of one of the partitions that the query is spread over by date buckets or shards."""
    beyond: Mapping[str, Any] | None = None
    """The sort key to begin with in that partition, because another one was read up to it."""

    def limit(self, size: int) -> Self:
        """Return at most this many items per page."""
        return self.changed(size=size)

    def after(self, cursor: str | None) -> Self:
        """Return the page after the one with this cursor."""
        return self.changed(cursor=cursor)


def query(
    access: KeyAccess[E],
    *,
    newest_first: bool = False,
    filter: Callable[[E], object] | None = None,
    consistent: bool = False,
    **values: object,
) -> Query[E]:
    """The entity's items with these values in the key.

    Give all fields of the hash key, and any number of fields of the sort key from the left. The last of these may be
    a bound, such as `at_least(...)`. If the hash key has a date bucket, give a value for its bucket, or a range with
    `within(first, last)`. If it has a shard, all shards are read as one list.
    """
    spec = access.entity.spec
    key = spec.access(access.declared)
    plain, bound = split_key_values(key, values)
    if consistent and key.index is not None and not key.index.local:
        raise DesignError(
            "consistent-index",
            f"{spec.name}.{key.name}",
            "DynamoDB doesn't support consistent reads on a global index",
            "Remove consistent, or query the table.",
        )
    if newest_first and sorts_in_reverse(key, plain):
        raise DesignError(
            "newest-first",
            key.place,
            "its sort key is in reverse order (.desc), so that items are newest first anyway",
            "Leave newest_first out.",
        )
    node = None if filter is None else recorded(access.entity, filter)
    if node is not None:
        check_filter(spec, key, node)
    return Query((access.entity,), key, plain, bound, newest_first, node, consistent)


@overload
def collection(
    first: type[A], second: type[B], /, *, newest_first: bool = False, consistent: bool = False, **values: object
) -> Query[A | B]: ...
@overload
def collection(
    first: type[A],
    second: type[B],
    third: type[C],
    /,
    *,
    newest_first: bool = False,
    consistent: bool = False,
    **values: object,
) -> Query[A | B | C]: ...
@overload
def collection(
    first: type[A],
    second: type[B],
    third: type[C],
    fourth: type[D],
    /,
    *,
    newest_first: bool = False,
    consistent: bool = False,
    **values: object,
) -> Query[A | B | C | D]: ...
def collection(
    *entities: type[Any], newest_first: bool = False, consistent: bool = False, **values: object
) -> Query[Any]:
    """All items of these entities in one partition, with one query."""
    first = entities[0].spec
    for entity in entities:
        spec = entity.spec
        if spec.table is not first.table or _text(spec.primary.hash[0]) != _text(first.primary.hash[0]):
            raise DesignError(
                "not-one-collection",
                f"{first.name} and {spec.name}",
                "their items aren't in the same partition",
                "All entities of a collection need the same hash key template.",
            )
    plain, bound = split_key_values(replace(first.primary, range=()), values)
    return Query(entities, first.primary, plain, bound, newest_first, consistent=consistent)


def _text(part: KeyPart) -> str:
    return part.template.text if part.template else part.attribute.name


@dataclass(frozen=True)
class Follow(Op[Page[F]]):
    """A query, then the items that its items refer to, in the same order. Deleted items are left out."""

    source: Query[Entity]
    target: type[F]
    link: Callable[[Entity], Ref[F] | None]

    def limit(self, size: int) -> Self:
        """Return at most this many items per page."""
        return replace(self, source=self.source.limit(size))

    def after(self, cursor: str | None) -> Self:
        """Return the page after the one with this cursor."""
        return replace(self, source=self.source.after(cursor))


def follow(source: Query[E], link: Callable[[E], Ref[F] | None], target: type[F]) -> Follow[F]:
    """The items that a query's items refer to, with one query and one batch get."""
    return Follow(source, target, link)  # type: ignore[arg-type]  # the link takes what the source gives


@dataclass(frozen=True)
class Merge(Op[Page[E]]):
    """Several queries, merged in order."""

    queries: tuple[Query[E], ...]
    order: Callable[[E], object]
    newest_first: bool = False
    size: int | None = None
    """The limit, if one was given. Otherwise a page has `PAGE` items."""
    cursor: str | None = None

    def limit(self, size: int) -> Self:
        """Return at most this many items per page."""
        return self.changed(size=size)

    def after(self, cursor: str | None) -> Self:
        """Return the page after the one with this cursor."""
        return self.changed(cursor=cursor)


def merge(queries: Sequence[Query[E]], order: Callable[[E], object], *, newest_first: bool = False) -> Merge[E]:
    """Items of several partitions as one list, sorted by `order`."""
    turned = [newest_first != sorts_in_reverse(each.key, each.values) for each in queries]
    return Merge(
        tuple(each.changed(newest_first=turn) for each, turn in zip(queries, turned, strict=True)), order, newest_first
    )


@dataclass(frozen=True)
class BatchGet(Op[list[E | None]]):
    """Many items by their keys, in the order of the keys."""

    entity: type[E]
    keys: object
    """Mappings of key values, or a stand-in for a pattern's parameter."""
    consistent: bool = False


def batch_get(entity: type[E], keys: object, *, consistent: bool = False) -> BatchGet[E]:
    """The items with these keys (a sequence of mappings, or of single values where the key has one field)."""
    primary = entity.spec.primary
    if isinstance(keys, str | bytes):
        raise DesignError("key-fields", primary.place, "the keys must be a list, not text", "Give a list: [key].")
    for each in keys if isinstance(keys, list | tuple) else ():
        primary.check_all(each if isinstance(each, Mapping) else dict.fromkeys(primary.fields[:1], each))
    return BatchGet(entity, keys, consistent)


@dataclass(frozen=True)
class Together(Op[T_co]):
    """Several batch gets, from any tables, combined. Returns their results in order."""

    gets: tuple[BatchGet[Any], ...]


@overload
def together(first: BatchGet[A], second: BatchGet[B], /) -> Together[tuple[list[A | None], list[B | None]]]: ...
@overload
def together(
    first: BatchGet[A], second: BatchGet[B], third: BatchGet[C], /
) -> Together[tuple[list[A | None], list[B | None], list[C | None]]]: ...
@overload
def together(
    first: BatchGet[A], second: BatchGet[B], third: BatchGet[C], fourth: BatchGet[D], /
) -> Together[tuple[list[A | None], list[B | None], list[C | None], list[D | None]]]: ...
def together(*gets: BatchGet[Any]) -> Together[Any]:
    """Items of several entities by their keys, with up to 100 keys in a request."""
    return Together(gets)


@dataclass(frozen=True)
class Scan(Op[Page[E]]):
    """All items of an entity, by reading the whole table."""

    entity: type[E]
    filter: Node | None = None
    size: int | None = None
    """The limit, if one was given. Otherwise a page has `PAGE` items."""
    cursor: str | None = None
    budget: int = BUDGET

    def limit(self, size: int) -> Self:
        """Return at most this many items per page."""
        return self.changed(size=size)

    def after(self, cursor: str | None) -> Self:
        """Return the page after the one with this cursor."""
        return self.changed(cursor=cursor)


def scan(entity: type[E], *, filter: Callable[[E], object] | None = None) -> Scan[E]:
    """Every item of the entity. The cost grows with the table."""
    _ = entity.spec.table  # refuses an abstract entity
    return Scan(entity, None if filter is None else recorded(entity, filter))


@dataclass(frozen=True)
class ItemCount(Op[int]):
    """The number of items of a query, without loading them."""

    source: Query[Entity]


def count(source: Query[E]) -> ItemCount:
    """The number of items of a query, up to its limit if it has one."""
    return ItemCount(source)  # type: ignore[arg-type]  # a query of any entity
