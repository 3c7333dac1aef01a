"""Read operations, as plain data: a pattern returns one, and a store runs it.

An `Op[T]` says what to read, in terms of entities and fields; it knows nothing about requests. A store turns it into
requests and returns a `T`. Building one checks that the key can answer it, with real values or with stand-ins for a
pattern's parameters.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self, TypeVar, cast, overload

from pydantic import BaseModel

from keyplan.design.entities.effects import Ref, primary_of
from keyplan.design.entities.entity import Entity
from keyplan.design.entities.specs import KeySpec
from keyplan.design.errors import DesignError
from keyplan.design.operations.bounds import Bound
from keyplan.design.operations.conditions import Node, recorded
from keyplan.design.operations.key_values import check_filter, sorts_in_reverse, split_key_values
from keyplan.design.operations.reading import BUDGET, ListOp, OnUnreadable, Op, OrderedList, Unreadable
from keyplan.design.operations.selections import Selection, select
from keyplan.design.tables.tables import KeyAccess

T = TypeVar("T")
M = TypeVar("M", bound=BaseModel)
E = TypeVar("E", bound=Entity)
F = TypeVar("F", bound=Entity)


@dataclass(frozen=True)
class Query(OrderedList[E]):
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
    expired: bool = False
    """Whether to include items whose time to live has passed."""
    selection: Selection | None = None
    """What it returns, if not whole entities."""
    backward: bool = False
    """Whether it is the page before the cursor."""
    cursors: bool = False
    """Whether to return a cursor for each item."""
    unreadable: OnUnreadable = "raise"
    skipped: list[Unreadable] | None = None
    """Where a store collects the items that it leaves out because they can't be read."""

    @overload
    def only(self, chosen: type[M]) -> "OrderedList[M]": ...
    @overload
    def only(self, chosen: Callable[[E], T]) -> "OrderedList[T]": ...
    def only(self, chosen: Callable[[E], Any] | type[BaseModel]) -> "OrderedList[Any]":
        """Read only some fields: `.only(lambda post: (post.title, post.slug))`, or those of a view."""
        return cast("OrderedList[Any]", self.changed(selection=select(self.entity, chosen)))

    @property
    def entity(self) -> type[E]:
        """The only entity whose items it has."""
        if len(self.entities) != 1:
            problem = "it has items of several entities"
            raise DesignError("only", self.key.place, problem, "Read whole entities, or query one of them.")
        return self.entities[0]


def query(
    access: KeyAccess[E],
    *,
    newest_first: bool = False,
    filter: Callable[[E], object] | None = None,
    consistent: bool = False,
    expired: bool = False,
    **values: object,
) -> Query[E]:
    """The entity's items with these values in the key; those that have expired only with `expired`.

    Give all fields of the hash key, and any number of fields of the sort key from the left. The last of these may be
    a bound, such as `at_least(...)`. If the hash key has a date bucket, give a value for its bucket, or a range with
    `within(first, last)`. If it has a shard, all shards are read as one list.
    """
    if not isinstance(access, KeyAccess):
        raise _not_a_key(access)
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
    return Query.made(
        entities=(access.entity,),
        key=key,
        values=plain,
        bound=bound,
        newest_first=newest_first,
        filter=node,
        consistent=consistent,
        expired=expired,
    )


def _not_a_key(access: object) -> DesignError:
    """The error for a query of something that isn't a key of an entity."""
    if isinstance(access, type) and issubclass(access, Entity):
        names = ", ".join(f"{access.__name__}.{name}" for name in ("primary", *access.spec.placements))
        return DesignError("not-a-key", access.__name__, "a query takes a key, not an entity", f"Use one of: {names}.")
    remedy = "Use the primary key or a placement of an entity, such as Order.primary."
    return DesignError("not-a-key", "query", f"{access!r} isn't a key", remedy)


@dataclass(frozen=True)
class Follow(OrderedList[F]):
    """A query, then the items that its items refer to, in the same order. Deleted items are left out."""

    source: Query[Entity]
    target: type[F]
    link: Callable[[Entity], Ref[F] | None]
    selection: Selection | None = None
    """What it returns, if not whole entities."""

    def set_in_list(self, **changes: object) -> Self:
        """A copy with these settings of the list."""
        return self.changed(source=self.source.set_in_list(**changes))

    @overload
    def only(self, chosen: type[M]) -> "OrderedList[M]": ...
    @overload
    def only(self, chosen: Callable[[F], T]) -> "OrderedList[T]": ...
    def only(self, chosen: Callable[[F], Any] | type[BaseModel]) -> "OrderedList[Any]":
        """Read only some fields: `.only(lambda post: (post.title, post.slug))`, or those of a view."""
        return cast("OrderedList[Any]", self.changed(selection=select(self.target, chosen)))


def follow(source: Query[E], link: Callable[[E], Ref[F] | None], target: type[F]) -> Follow[F]:
    """The items that a query's items refer to, with one query and one batch get."""
    return Follow(source, target, link)  # type: ignore[arg-type]  # the link takes what the source gives


@dataclass(frozen=True)
class Merge(ListOp[E]):
    """Several queries, merged in order."""

    queries: tuple[Query[E], ...]
    order: Callable[[E], object]
    newest_first: bool = False
    size: int | None = None
    """The limit, if one was given. Otherwise a page has `PAGE` items."""
    cursor: str | None = None
    cursors: bool = False
    """Whether to return a cursor for each item."""
    unreadable: OnUnreadable = "raise"

    def set_in_list(self, **changes: object) -> Self:
        """A copy with these settings of the list."""
        if changes.get("unreadable") == "raw":
            problem = "an item that can't be read has no place in the order"
            raise DesignError("unreadable-order", "merge", problem, 'Use on_unreadable("skip").')
        return self.changed(**changes)


def merge(queries: Sequence[Query[E]], order: Callable[[E], object], *, newest_first: bool = False) -> Merge[E]:
    """Items of several partitions as one list, sorted by `order`."""
    turned = [newest_first != sorts_in_reverse(each.key, each.values) for each in queries]
    return Merge(
        tuple(each.changed(newest_first=turn) for each, turn in zip(queries, turned, strict=True)), order, newest_first
    )


@dataclass(frozen=True)
class Scan(ListOp[E]):
    """All items of an entity, by reading the whole table."""

    entity: type[E]
    filter: Node | None = None
    consistent: bool = False
    size: int | None = None
    """The limit, if one was given. Otherwise a page has `PAGE` items."""
    cursor: str | None = None
    budget: int = BUDGET
    expired: bool = False
    """Whether to include items whose time to live has passed."""
    selection: Selection | None = None
    """What it returns, if not whole entities."""
    segment: tuple[int, int] | None = None
    """Which part of the table is read, and how many there are."""
    cursors: bool = False
    """Whether to return a cursor for each item."""
    unreadable: OnUnreadable = "raise"
    skipped: list[Unreadable] | None = None
    """Where a store collects the items that it leaves out because they can't be read."""

    @overload
    def only(self, chosen: type[M]) -> "ListOp[M]": ...
    @overload
    def only(self, chosen: Callable[[E], T]) -> "ListOp[T]": ...
    def only(self, chosen: Callable[[E], Any] | type[BaseModel]) -> "ListOp[Any]":
        """Read only some fields: `.only(lambda post: (post.title, post.slug))`, or those of a view."""
        return cast("ListOp[Any]", self.changed(selection=select(self.entity, chosen)))


def scan(
    entity: type[E],
    *,
    filter: Callable[[E], object] | None = None,
    consistent: bool = False,
    expired: bool = False,
) -> Scan[E]:
    """Every item of the entity; those that have expired only with `expired`. The cost grows with the table."""
    primary_of(entity, "scan")  # refuses an abstract entity, too
    return Scan(entity, None if filter is None else recorded(entity, filter), consistent, expired=expired)


@dataclass(frozen=True)
class ItemCount(Op[int]):
    """The number of items of a query or a scan, without loading them."""

    source: Query[Any] | Scan[Any]


def count(source: Query[E] | Scan[E]) -> ItemCount:
    """The number of items of a query or a scan, up to its limit if it has one."""
    given: object = source
    if not isinstance(given, Query | Scan):
        problem = f"{type(given).__name__} isn't a query, a collection or a scan"
        raise DesignError(
            "count", "count", problem, "Count one of these, such as query(Post.by_author, author=author)."
        )
    return ItemCount(source)
