"""Query."""

from keyplan.engine.errors import DynamoError, validation_error
from keyplan.engine.executor import Answer
from keyplan.engine.expressions import Condition, KeyCondition, Placeholders, fit_key_parts, key_expression, key_parts
from keyplan.engine.operations.items.item_requests import ItemRequest
from keyplan.engine.operations.items.key_ranges import Range, check_key_condition, range_of
from keyplan.engine.operations.items.legacy_parameters import NO_LEGACY, legacy_key_parts, legacy_query
from keyplan.engine.operations.items.paged_reads import (
    check_projected_filter,
    check_select,
    given_start_key,
    read_page,
    read_selection,
    start_key_error,
    start_row_key,
    table_and_index,
)
from keyplan.engine.operations.items.parameters import check_legacy, check_placeholders
from keyplan.engine.storage.catalog import Index, Table
from keyplan.engine.storage.transaction import Transaction
from keyplan.engine.validation.wording import wording_of
from keyplan.engine.values.attribute_values import Item
from keyplan.engine.values.row_keys import KeySchema

_WORDING = wording_of("Query")


def query(transaction: Transaction, request: ItemRequest) -> Answer:
    legacy = check_legacy(request)
    if "KeyConditionExpression" not in request:
        check_placeholders(
            request,
            with_names=("KeyConditionExpression", "FilterExpression", "ProjectionExpression"),
            with_values=("FilterExpression", "KeyConditionExpression"),
        )
    given = legacy_query(request) if legacy else NO_LEGACY
    start = given_start_key(request)
    text = request.get("KeyConditionExpression")
    if text is None and "KeyConditions" not in request:
        raise validation_error(
            "Either the KeyConditions or KeyConditionExpression parameter must be specified in the request."
        )
    try:
        select = check_select(request)
    except DynamoError as error:
        raise _WORDING.select_error(error) from None
    placeholders = Placeholders(request.get("ExpressionAttributeNames"), request.get("ExpressionAttributeValues"))
    expression = None if text is None else key_expression(text, placeholders)
    parts, values = legacy_key_parts(request) if expression is None else ((), placeholders.values)
    selection = read_selection(request, placeholders, select, given)
    if expression is not None:
        parts = key_parts(expression)
    placeholders.finish()
    table, index = table_and_index(transaction, request, selection, "Query")
    schema = table.schema if index is None else index.schema
    bound = fit_key_parts(parts, values, schema.hash_names, schema.range_names)
    if selection.filter is not None:
        _check_filter(
            schema, index, selection.filter, "QueryFilter" if "QueryFilter" in request else "Filter Expression"
        )
    check_key_condition(schema, index, bound)
    bounds = range_of(bound, backward=not request.get("ScanIndexForward", True))
    if start is not None:
        _start(start, table, index, bound, bounds)
    return read_page(transaction, request, table, index, bounds, selection)


def _check_filter(schema: KeySchema, index: Index | None, given: Condition, kind: str) -> None:
    """Refuse a filter on key attributes, or on attributes that the index doesn't hold."""
    for name in schema.names:
        if name in given.attributes:
            raise validation_error(f"{kind} can only contain non-primary key attributes: Primary key attribute: {name}")
    check_projected_filter(index, given)


def _start(start: Item, table: Table, index: Index | None, bound: KeyCondition, bounds: Range) -> None:
    """Continue after the ExclusiveStartKey, which must be within the bounds of the query."""
    row_key = start_row_key(start, table, index, explain=False)
    schema = table.schema if index is None else index.schema
    if any(start[name] != value for (name, _), value in zip(schema.hash, bound.hash, strict=True)):
        raise start_key_error("is outside query boundaries based on provided conditions")
    if not bounds.contains(row_key):
        raise start_key_error("does not match the range key predicate")
    bounds.start_after(row_key)
