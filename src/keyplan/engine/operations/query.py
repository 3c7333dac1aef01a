"""Query."""

from collections.abc import Sequence

from keyplan.engine.catalog import Index, Table
from keyplan.engine.errors import invalid_parameter, validation_error
from keyplan.engine.expressions import KeyCondition, key_condition
from keyplan.engine.keys import KeySchema, after, check_key_sizes, open_part, part, partition
from keyplan.engine.operations.parameters import placeholders, refuse_legacy
from keyplan.engine.operations.reading import Range, Wanted, outside, read_page, source, start_key, wanted, whole
from keyplan.engine.operations.requests import Answer, ItemRequest
from keyplan.engine.transaction import Transaction
from keyplan.engine.values import AttributeValue


def query(transaction: Transaction, request: ItemRequest) -> Answer:
    refuse_legacy(request)
    text = request.get("KeyConditionExpression")
    if text is None:
        raise validation_error(
            "Either the KeyConditions or KeyConditionExpression parameter must be specified in the request."
        )
    marks = placeholders(
        request,
        with_names=("KeyConditionExpression", "FilterExpression", "ProjectionExpression"),
        with_values=("FilterExpression", "KeyConditionExpression"),
    )
    want = wanted(request, marks)
    table, index = source(transaction, request, want)
    schema = table.schema if index is None else index.schema
    bound = key_condition(text, marks, [name for name, _ in schema.hash], [name for name, _ in schema.range])
    marks.finish()
    _check_filter(schema, want)
    _check_types(schema, bound)
    bounds = _bounds(bound, backward=not request.get("ScanIndexForward", True))
    _start(request, table, index, bound, bounds)
    return read_page(transaction, request, table, index, bounds, want)


def _check_filter(schema: KeySchema, want: Wanted) -> None:
    if want.filter is None:
        return
    for name in schema.names:
        if name in want.filter.attributes:
            raise validation_error(
                f"Filter Expression can only contain non-primary key attributes: Primary key attribute: {name}"
            )


def _check_types(schema: KeySchema, bound: KeyCondition) -> None:
    """The values of the condition must be of the types of the key, and legal in it."""
    for (name, kind), value in zip(schema.hash, bound.hash, strict=True):
        _check_value(name, kind, value)
    check_key_sizes(
        KeySchema(schema.hash, ()), {name: value for (name, _), value in zip(schema.hash, bound.hash, strict=True)}
    )
    for (name, kind), (operator, operands) in zip(schema.range, bound.range, strict=False):
        for value in operands:
            _check_value(name, kind, value, may_be_empty=operator == "begins_with")
            check_key_sizes(KeySchema((), ((name, kind),)), {name: value})


def _check_value(name: str, kind: str, value: AttributeValue, *, may_be_empty: bool = False) -> None:
    if kind not in value:
        raise invalid_parameter("Condition parameter type does not match schema type")
    if kind != "N" and not value.get(kind) and not may_be_empty:
        raise validation_error(
            "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an "
            f"empty {'string' if kind == 'S' else 'binary'} value. Key: {name}"
        )


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


def _start(request: ItemRequest, table: Table, index: Index | None, bound: KeyCondition, bounds: Range) -> None:
    """Go on behind the ExclusiveStartKey, which must lie within the query."""
    start = start_key(request, table, index)
    if start is None:
        return
    key, row_key = start
    schema = table.schema if index is None else index.schema
    if any(key[name] != value for (name, _), value in zip(schema.hash, bound.hash, strict=True)):
        raise outside("is outside query boundaries based on provided conditions")
    if not bounds.contains(row_key):
        raise outside("does not match the range key predicate")
    bounds.start_after(row_key)
