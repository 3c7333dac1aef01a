"""Query."""

from collections.abc import Sequence
from typing import cast

from keyplan.engine.errors import invalid_parameter, validation_error
from keyplan.engine.executor import Answer
from keyplan.engine.expressions import KeyCondition, Placeholders, fit_key_parts, key_parts
from keyplan.engine.operations.items.item_requests import ItemRequest
from keyplan.engine.operations.items.paged_reads import (
    Range,
    Selection,
    check_select,
    given_start_key,
    prefix_range,
    read_page,
    read_selection,
    start_key_error,
    start_row_key,
    table_and_index,
)
from keyplan.engine.operations.items.parameters import check_placeholders, refuse_legacy
from keyplan.engine.storage.catalog import Index, Table
from keyplan.engine.storage.transaction import Transaction
from keyplan.engine.values.attribute_values import AttributeValue, Item, content_of
from keyplan.engine.values.row_keys import (
    KeySchema,
    check_index_key,
    check_key_values,
    open_part,
    part,
    partition,
    prefix_end,
)

_SHORT = 256
"""The number of characters that always fit into the 1,024 bytes of a sort key."""


def query(transaction: Transaction, request: ItemRequest) -> Answer:
    refuse_legacy(request)
    check_placeholders(
        request,
        with_names=("KeyConditionExpression", "FilterExpression", "ProjectionExpression"),
        with_values=("FilterExpression", "KeyConditionExpression"),
    )
    start = given_start_key(request)
    text = request.get("KeyConditionExpression")
    if text is None:
        raise validation_error(
            "Either the KeyConditions or KeyConditionExpression parameter must be specified in the request."
        )
    select = check_select(request)
    placeholders = Placeholders(request.get("ExpressionAttributeNames"), request.get("ExpressionAttributeValues"))
    parts = key_parts(text, placeholders)
    selection = read_selection(request, placeholders, select)
    placeholders.finish()
    table, index = table_and_index(transaction, request, selection)
    schema = table.schema if index is None else index.schema
    bound = fit_key_parts(parts, placeholders, [name for name, _ in schema.hash], [name for name, _ in schema.range])
    _check_filter(schema, index, selection)
    _check_values(schema, index, bound)
    bounds = _bounds(bound, backward=not request.get("ScanIndexForward", True))
    if start is not None:
        _start(start, table, index, bound, bounds)
    return read_page(transaction, request, table, index, bounds, selection)


def _check_filter(schema: KeySchema, index: Index | None, selection: Selection) -> None:
    """Refuse a filter on key attributes, or on attributes that the index doesn't hold."""
    if selection.filter is None:
        return
    for name in schema.names:
        if name in selection.filter.attributes:
            raise validation_error(
                f"Filter Expression can only contain non-primary key attributes: Primary key attribute: {name}"
            )
    if index is not None and not index.holds_all:
        absent = sorted(selection.filter.attributes - index.included)
        if absent:
            raise invalid_parameter(
                f"Secondary index {index.name} does not project one or more filter attributes: [{', '.join(absent)}]"
            )


def _check_values(schema: KeySchema, index: Index | None, bound: KeyCondition) -> None:
    """Refuse values in the condition that don't have the types of the key, or aren't legal in it."""
    for attribute, value in zip(schema.hash, bound.hash, strict=True):
        if not _is_short(attribute[1], value):
            _check_value(KeySchema((attribute,), ()), index, value)
    for attribute, (_, operands) in zip(schema.range, bound.range, strict=False):
        for value in operands:
            if not _is_short(attribute[1], value):
                _check_value(KeySchema((), (attribute,)), index, value)


def _check_value(attribute: KeySchema, index: Index | None, value: AttributeValue) -> None:
    """Refuse a value that can't be in the key, with AWS's message for the key of a table or of an index."""
    alone = {attribute.names[0]: value}
    if index is None:
        check_key_values(attribute, alone)
    else:
        check_index_key(attribute, index.name, alone)


def _is_short(kind: str, value: AttributeValue) -> bool:
    """Whether a value, which must be of this type, is neither empty nor possibly too long for a key."""
    if kind not in value:
        raise invalid_parameter("Condition parameter type does not match schema type")
    return kind == "N" or 0 < len(cast(str, content_of(value))) < _SHORT


def _bounds(bound: KeyCondition, *, backward: bool) -> Range:
    """The range of row keys that the condition describes."""
    prefix = partition(bound.hash)
    if not bound.range:
        return prefix_range(prefix, backward=backward)
    *equal, (operator, operands) = bound.range
    for _, values in equal:
        prefix += part(values[0])
    low, high = _last_bounds(prefix, operator, operands)
    return Range(low, high, backward)


def _last_bounds(prefix: bytes, operator: str, operands: Sequence[AttributeValue]) -> tuple[bytes, bytes]:
    """The bounds of a condition on the last attribute, within the prefix."""
    if operator == "begins_with":
        begin = prefix + open_part(operands[0])
        return begin, prefix_end(begin)
    first = prefix + part(operands[0])
    match operator:
        case "=":
            return first, prefix_end(first)
        case "<":
            return prefix, first
        case "<=":
            return prefix, prefix_end(first)
        case ">":
            return prefix_end(first), prefix_end(prefix)
        case ">=":
            return first, prefix_end(prefix)
    return first, prefix_end(prefix + part(operands[1]))


def _start(start: Item, table: Table, index: Index | None, bound: KeyCondition, bounds: Range) -> None:
    """Continue after the ExclusiveStartKey, which must be within the bounds of the query."""
    row_key = start_row_key(start, table, index, explain=False)
    schema = table.schema if index is None else index.schema
    if any(start[name] != value for (name, _), value in zip(schema.hash, bound.hash, strict=True)):
        raise start_key_error("is outside query boundaries based on provided conditions")
    if not bounds.contains(row_key):
        raise start_key_error("does not match the range key predicate")
    bounds.start_after(row_key)
