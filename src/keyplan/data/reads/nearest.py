"""Searches for the nearest vectors: the request, and the items that were found with their scores."""

from collections.abc import Sequence
from typing import Any

from keyplan.data.codec.entities import DELETING, codec_of
from keyplan.data.codec.values import AttributeValue, Item, number_text
from keyplan.data.expressions.expiry import is_expired
from keyplan.data.expressions.texts import Expression
from keyplan.data.reads.batch_get import batch_get
from keyplan.data.reads.list_requests import Clock, projection
from keyplan.data.reads.taking import partial_codec
from keyplan.data.steps import Steps, call
from keyplan.design import Design, InvalidValue
from keyplan.design.operations.nearest import Near, Nearest
from keyplan.design.tables.tables import Table


def nearest(design: Design, op: Nearest[Any], clock: Clock) -> Steps[list[Near[Any]]]:
    """The entities that were found, without those that are being deleted or have expired."""
    codec = codec_of(op.entity)
    attributes = _attributes(op)
    in_index = _has(op, attributes)
    table = op.entity.spec.table
    answer = yield from call("search_vectors", _request(design, op, attributes if in_index else table.key_names))
    found: list[tuple[Item, float]] = [(each["Item"], float(each["Score"])) for each in answer["SearchResults"]]
    if not in_index:
        found = yield from _whole(design, table, found, attributes)
    results = []
    for item, score in found:
        if DELETING in item or not codec.recognizes(item):
            continue
        if codec.ttl is not None and not op.expired and is_expired(codec.ttl, item, clock()):
            continue
        results.append(Near(_made(op, item), score))
    return results


def _made(op: Nearest[Any], item: Item) -> object:
    if op.selection is None:
        return codec_of(op.entity).decode(item)
    return op.selection.make(partial_codec(op.entity, op.selection.fields).values(item))


def _attributes(op: Nearest[Any]) -> tuple[str, ...]:
    """The attributes to read: those of the fields, and those that tell whose item it is and whether it is gone.

    Without them, DynamoDB would leave out the vector.
    """
    spec, codec = op.entity.spec, codec_of(op.entity)
    fields = None if op.selection is None else partial_codec(op.entity, op.selection.fields).attributes
    chosen = tuple(sorted(spec.known_attributes)) if fields is None else tuple(sorted(fields))
    kind = (spec.table.type_attribute,) if spec.table.type_attribute and spec.type else ()
    return tuple(dict.fromkeys((*spec.table.key_names, *kind, *filter(None, (codec.ttl,)), DELETING, *chosen)))


def _has(op: Nearest[Any], attributes: Sequence[str]) -> bool:
    """Whether the index has all of these attributes, other than the mark of items that are being deleted."""
    index, table = op.access.index, op.entity.spec.table
    if index.projection.type == "ALL":
        return True
    held = {*table.key_names, *(each.name for each in index.elements), index.attribute, *index.projection.attributes}
    return held.issuperset(name for name in attributes if name != DELETING)


def _request(design: Design, op: Nearest[Any], attributes: Sequence[str]) -> dict[str, Any]:
    spec = op.entity.spec
    expression = Expression()
    request: dict[str, Any] = {
        "TableName": design.table_name(spec.table),
        "IndexName": op.access.index.name,
        "SearchVector": _numbers(op),
        "TopK": op.size,
    }
    condition = [f"{expression.name(name)} = {expression.value(value)}" for name, value in _equal(op)]
    if condition:
        request["SearchConditionExpression"] = " AND ".join(condition)
    request["ProjectionExpression"] = projection(expression, tuple(attributes))
    return request | expression.parameters()


def _numbers(op: Nearest[Any]) -> list[AttributeValue]:
    vector = op.vector
    assert isinstance(vector, Sequence)
    try:
        return [{"N": number_text(number)} for number in vector]
    except InvalidValue as error:
        raise InvalidValue(error.code, op.access.place, error.problem, field=op.access.vector) from None


def _equal(op: Nearest[Any]) -> list[tuple[str, AttributeValue]]:
    """The attributes that the search is limited by, with their values."""
    spec, codec = op.entity.spec, codec_of(op.entity)
    found: list[tuple[str, AttributeValue]] = []
    for name, value in op.values.items():
        encoded = None if value is None else codec.encode_value(name, value)
        if encoded is None:
            problem = "This value can't be absent: a search compares it with those of items."
            raise InvalidValue("empty-key-value", f"{op.access.place}.{name}", problem, field=name)
        found.append((op.access.elements[name].name, encoded))
    if op.access.by_type and spec.table.type_attribute is not None:
        found.append((spec.table.type_attribute, {"S": str(spec.type)}))
    return found


def _whole(
    design: Design, table: Table, found: Sequence[tuple[Item, float]], attributes: Sequence[str]
) -> Steps[list[tuple[Item, float]]]:
    """The table's items for those of an index that lacks attributes, without those that were deleted since."""
    name = design.table_name(table)
    keys = [(name, {each: item[each] for each in table.key_names}) for item, _ in found]
    expression = Expression()
    text = projection(expression, tuple(attributes))
    projections = {name: {"ProjectionExpression": text, **expression.parameters()}}
    items = yield from batch_get(keys, projections=projections)
    return [(item, score) for item, (_, score) in zip(items, found, strict=True) if item is not None]
