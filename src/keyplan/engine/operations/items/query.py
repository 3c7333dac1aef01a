"""Query."""

from collections.abc import Sequence
from typing import cast

from keyplan.engine.errors import invalid_parameter, validation_error
from keyplan.engine.executor import Answer
from keyplan.engine.expressions import KeyCondition, Placeholders, fit_key_parts, key_parts
from keyplan.engine.operations.items.item_requests import ItemRequest
from keyplan.engine.operations.items.paged_reads import (
    Range,
    Wanted,
    check_select,
    given_start_key,
    outside,
    read_page,
    source,
    start_row_key,
    wanted,
    whole,
)
from keyplan.engine.operations.items.parameters import check_placeholders, refuse_legacy
from keyplan.engine.storage.catalog import Index, Table
from keyplan.engine.storage.transaction import Transaction
from keyplan.engine.values.attribute_values import AttributeValue, Item, content_of
from keyplan.engine.values.row_keys import (
    KeySchema,
    after,
    check_index_key,
    check_key_values,
    open_part,
    part,
    partition,
)

_SHORT = 256
"""So many characters are no more than the 1,024 bytes of a sort key."""


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
    marks = Placeholders(request.get("ExpressionAttributeNames"), request.get("ExpressionAttributeValues"))
    parts = key_parts(text, marks)
    want = wanted(request, marks, select)
    marks.finish()
    table, index = source(transaction, request, want)
    schema = table.schema if index is None else index.schema
    bound = fit_key_parts(parts, marks, [name for name, _ in schema.hash], [name for name, _ in schema.range])
    _check_filter(schema, index, want)
    _check_values(schema, index, bound)
    bounds = _bounds(bound, backward=not request.get("ScanIndexForward", True))
    if start is not None:
        _start(start, table, index, bound, bounds)
    return read_page(transaction, request, table, index, bounds, want)


def _check_filter(schema: KeySchema, index: Index | None, want: Wanted) -> None:
    """A filter is for what is not in the key, and for what the index holds: nothing is fetched for its sake."""
    if want.filter is None:
        return
    for name in schema.names:
        if name in want.filter.attributes:
            raise validation_error(
                f"Filter Expression can only contain non-primary key attributes: Primary key attribute: {name}"
            )
    if index is not None and not index.holds_all:
        absent = sorted(want.filter.attributes - index.included)
        if absent:
            raise invalid_parameter(
                f"Secondary index {index.name} does not project one or more filter attributes: [{', '.join(absent)}]"
            )


def _check_values(schema: KeySchema, index: Index | None, bound: KeyCondition) -> None:
    """The values of the condition must be of the types of the key, and legal in it."""
    for attribute, value in zip(schema.hash, bound.hash, strict=True):
        if not _is_plain(attribute[1], value):
            _check_value(KeySchema((attribute,), ()), index, value)
    for attribute, (_, operands) in zip(schema.range, bound.range, strict=False):
        for value in operands:
            if not _is_plain(attribute[1], value):
                _check_value(KeySchema((), (attribute,)), index, value)


def _check_value(attribute: KeySchema, index: Index | None, value: AttributeValue) -> None:
    """Refuse a value in the words for the key of a table, or of an index, as they are used for an item."""
    alone = {attribute.names[0]: value}
    if index is None:
        check_key_values(attribute, alone)
    else:
        check_index_key(attribute, index.name, alone)


def _is_plain(kind: str, value: AttributeValue) -> bool:
    """Whether a value, which must be of this type, is neither empty nor anywhere near too long for a key."""
    if kind not in value:
        raise invalid_parameter("Condition parameter type does not match schema type")
    return kind == "N" or 0 < len(cast(str, content_of(value))) < _SHORT


def _bounds(bound: KeyCondition, *, backward: bool) -> Range:
    """The range of row keys that the condition describes."""
    prefix = partition(bound.hash)
    if not bound.range:
        return whole(prefix, backward=backward)
    *equal, (operator, operands) = bound.range
    for _, values in equal:
        prefix += part(values[0])
    low, high = _last_bounds(prefix, operator, operands)
    return Range(low, high, backward)


def _last_bounds(prefix: bytes, operator: str, operands: Sequence[AttributeValue]) -> tuple[bytes, bytes]:
    """The bounds that a condition on the last attribute sets within the prefix."""
    if operator == "begins_with":
        begin = prefix + open_part(operands[0])
        return begin, after(begin)
    first = prefix + part(operands[0])
    match operator:
        case "=":
            return first, after(first)
        case "<":
            return prefix, first
        case "<=":
            return prefix, after(first)
        case ">":
            return after(first), after(prefix)
        case ">=":
            return first, after(prefix)
    return first, after(prefix + part(operands[1]))


def _start(start: Item, table: Table, index: Index | None, bound: KeyCondition, bounds: Range) -> None:
    """Go on behind the ExclusiveStartKey, which must lie within the query."""
    row_key = start_row_key(start, table, index, says_why=False)
    schema = table.schema if index is None else index.schema
    if any(start[name] != value for (name, _), value in zip(schema.hash, bound.hash, strict=True)):
        raise outside("is outside query boundaries based on provided conditions")
    if not bounds.contains(row_key):
        raise outside("does not match the range key predicate")
    bounds.start_after(row_key)
