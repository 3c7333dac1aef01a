"""PutItem."""

import orjson

from keyplan.engine.errors import DynamoError
from keyplan.engine.executor import Answer
from keyplan.engine.operations.items.item_changes import (
    Change,
    Decide,
    add_metrics,
    apply,
    check_condition,
    index_keys,
    size_with_local_indexes,
    vector_entries,
)
from keyplan.engine.operations.items.item_requests import ItemRequest
from keyplan.engine.operations.items.parameters import (
    bound_condition,
    check_condition_placeholders,
    check_legacy,
    check_return_values,
)
from keyplan.engine.storage.transaction import Transaction
from keyplan.engine.validation.wording import wording_of
from keyplan.engine.values.attribute_values import MAXIMUM_ITEM_SIZE, check_item_size
from keyplan.engine.values.normal_form import normalize_sized
from keyplan.engine.values.row_keys import checked_item_key

_WORDING = wording_of("PutItem")
_TABLE_AND_ITEM = 2
"""The number of members that every request has; most have no others."""


def put_item(transaction: Transaction, request: ItemRequest) -> Answer:
    more = len(request) > _TABLE_AND_ITEM
    try:
        if more:
            check_legacy(request)
            check_condition_placeholders(request)
        decide = prepare_put(request)
    except DynamoError as error:
        raise _WORDING.request_error(error) from None
    change = decide(transaction)
    apply(transaction, change)
    answer: Answer = {}
    if more:
        if change.row is not None and request.get("ReturnValues") == "ALL_OLD":
            answer["Attributes"] = orjson.Fragment(change.row.stored)
        add_metrics(answer, request, change)
    return answer


def prepare_put(request: ItemRequest) -> Decide:
    """Return the prepared put, after all checks that don't need the table."""
    more = len(request) > _TABLE_AND_ITEM
    item, size = normalize_sized(request["Item"])
    if more:
        check_return_values(request)
    if size > MAXIMUM_ITEM_SIZE:
        check_item_size(size)
    bound = bound_condition(request) if more else None

    def decide(transaction: Transaction) -> Change:
        table = transaction.catalog.table(request["TableName"])
        key = table.schema.try_row_key(item) or checked_item_key(table.schema, item)
        in_indexes = index_keys(table, item) if table.indexes else []
        entries = vector_entries(table, item) if table.vector_indexes else None
        if table.has_local_indexes:
            check_item_size(size_with_local_indexes(table, item, size))
        row = transaction.row(table, key)
        old = row.item if row is not None and (bound is not None or table.needs_old_items) else None
        if bound is not None:
            check_condition(request, bound, row, old)
        return Change(table, item, key, row, old, item, size, in_indexes, entries)

    return decide
