"""The requests of lists, and what is known of a list without reading it."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any, NamedTuple, TypeAlias

from keyplan.data.codec.entities import DELETING, codec_of
from keyplan.data.codec.large import CONTENT
from keyplan.data.codec.values import AttributeValue, Item
from keyplan.data.expressions.conditions import all_of, attribute_not_exists, stored_condition
from keyplan.data.expressions.expiry import is_expired, not_expired
from keyplan.data.expressions.texts import Expression
from keyplan.data.reads.key_conditions import key_condition
from keyplan.data.reads.taking import partial_codec
from keyplan.design import Design, Entity, InvalidValue
from keyplan.design.operations.conditions import Node
from keyplan.design.operations.queries import Merge, Query, Scan
from keyplan.design.operations.reading import PAGE
from keyplan.design.tables.tables import Index

Source: TypeAlias = Query[Any] | Scan[Any]
Clock: TypeAlias = Callable[[], datetime]
"""The store's clock, by which items expire."""


class ListRequest(NamedTuple):
    """The request for a list, the attributes of its positions, and what the request can't leave out of the answer."""

    operation: str
    request: dict[str, Any]
    names: tuple[str, ...]
    left_out: Callable[[Item], bool] | None


def list_request(design: Design, op: Source, now: datetime | None, *, projected: bool = True) -> ListRequest:
    """The request for a page, without its limit. With `now`, expired items are left out.

    Without `projected`, it asks for whole items, even if the list returns only some fields.
    """
    spec = entities_of(op)[0].spec
    table = spec.table
    request: dict[str, Any] = {"TableName": design.table_name(table)}
    expression = Expression()
    excluded = is_other = None
    if isinstance(op, Query):
        condition = key_condition(op)
        excluded, is_other = condition.excluded, condition.is_other
        node = all_of(condition.nodes)
        assert node is not None
        request["KeyConditionExpression"] = expression.condition(node)
        if op.key.index is not None:
            request["IndexName"] = op.key.index.name
        if op.newest_first:
            request["ScanIndexForward"] = False
    elif op.segment is not None:
        request["Segment"], request["TotalSegments"] = op.segment
    if op.consistent:
        request["ConsistentRead"] = True
    filters = [] if op.filter is None else [stored_condition(op.filter, codec_of(spec.entity))]
    if isinstance(op, Scan) and table.has_parts:
        filters.append(attribute_not_exists(CONTENT))
    late = None
    if now is not None and table.ttl is not None:
        # DynamoDB doesn't accept a filter on the key that is queried.
        if isinstance(op, Query) and table.ttl in {part.attribute.name for part in op.key.parts}:
            late = partial(is_expired, table.ttl, now=now)
        else:
            filters.append(not_expired(table.ttl, now))
    names = position_names(op)
    if filters:
        _add_filter(request, expression, filters)
    if projected and op.selection is not None:
        fields = partial_codec(op.selection.entity, op.selection.fields, index_of(op)).attributes
        if fields is not None:
            wanted = (*names, *needed(spec.entity, index_of(op)), *sorted(fields))
            request["ProjectionExpression"] = projection(expression, wanted)
    operation = "query" if isinstance(op, Query) else "scan"
    checks = [each for each in (late, is_other) if each is not None]
    left_out = _left_out(checks, excluded) if checks or excluded is not None else None
    return ListRequest(operation, request | expression.parameters(), names, left_out)


def _add_filter(request: dict[str, Any], expression: Expression, filters: list[Node]) -> None:
    wanted = all_of(filters)
    if wanted is not None:
        request["FilterExpression"] = expression.condition(wanted)


def needed(entity: type[Entity], index: Index | None = None) -> tuple[str, ...]:
    """The attributes that tell whose item one is, and whether it is being deleted or has expired.

    DynamoDB doesn't accept attributes that an index lacks.
    """
    spec = entity.spec
    kind = (spec.table.type_attribute,) if spec.table.type_attribute and spec.type else ()
    telling = (*kind, DELETING, *filter(None, (codec_of(entity).ttl,)))
    if index is not None and index.projection.type != "ALL":
        telling = tuple(name for name in telling if name in index.projection.attributes)
    return (*spec.table.key_names, *telling)


def projection(expression: Expression, attributes: tuple[str, ...]) -> str:
    """The projection of these attributes."""
    return ", ".join(expression.name(name) for name in dict.fromkeys(attributes))


def _left_out(
    checks: Sequence[Callable[[Item], bool]], excluded: tuple[str, AttributeValue] | None
) -> Callable[[Item], bool]:
    """Whether an item is left out: because it has expired or has other values, or because of its sort key."""

    def left_out(item: Item) -> bool:
        return any(check(item) for check in checks) or (excluded is not None and item.get(excluded[0]) == excluded[1])

    return left_out


def entities_of(op: Source) -> tuple[type[Entity], ...]:
    """The entities whose items a list has."""
    return op.entities if isinstance(op, Query) else (op.entity,)


def index_of(op: Source) -> Index | None:
    """The index that a list is read from."""
    return op.key.index if isinstance(op, Query) else None


def expires_by(op: Source, clock: Clock) -> datetime | None:
    """The moment by which expired items are left out; None if the list has none, or asks for them."""
    if op.expired:
        return None
    for entity in entities_of(op):
        if codec_of(entity).ttl is not None:
            return clock()
    return None


def position_names(op: Source) -> tuple[str, ...]:
    """The attributes of a position in a list: the keys of the table and of the index."""
    index = index_of(op)
    names: tuple[str, ...] = entities_of(op)[0].spec.table.key_names
    return names + tuple(a.name for a in index.attributes if a.name not in names) if index else names


def reach(wanted: int, read: int, found: int, *, filtered: bool) -> int:
    """How many items to read to find as many as are still wanted.

    As many as wanted while nothing was left out; with a filter, twice as many at first. After that, twice what was
    read so far: this takes few requests, and reads at most a few times more than necessary.
    """
    if found == read:
        return 2 * wanted if filtered and not read else wanted
    return max(wanted, 2 * read)


def page_size(op: Source | Merge[Any]) -> int:
    """The number of items in a page."""
    if op.size is None:
        return PAGE
    if type(op.size) is not int or op.size < 1:
        problem = f"A limit must be a whole number, 1 or more, not {op.size!r}."
        raise InvalidValue("page-size", op.pattern or name_of(op), problem)
    return op.size


def name_of(op: Source | Merge[Any]) -> str:
    """The name of a list that no pattern made."""
    match op:
        case Scan():
            return f"scan {op.entity.__name__}"
        case Merge():
            return "+".join(name_of(query) for query in op.queries)
    return f"{'+'.join(entity.__name__ for entity in op.entities)}.{op.key.name}"


def arguments_of(op: Source | Merge[Any]) -> Mapping[str, object]:
    """What a cursor is bound to besides the name: the pattern's arguments, or else all values of the operation."""
    if op.pattern is not None:
        return op.arguments
    match op:
        case Scan():
            return {"filter": op.filter}
        case Merge():
            return {str(number): sorted(arguments_of(query).items()) for number, query in enumerate(op.queries)}
    return {"values": sorted(op.values.items()), "bound": op.bound, "filter": op.filter, "back": op.newest_first}
