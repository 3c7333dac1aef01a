"""PutItem."""

import orjson

from keyplan.engine.keys import check_item_key
from keyplan.engine.operations.changes import (
    Change,
    Decide,
    add_metrics,
    apply,
    check_condition,
    check_index_keys,
    needs_old,
    size_with_local_indexes,
)
from keyplan.engine.operations.parameters import (
    bound_condition,
    check_condition_placeholders,
    check_return_values,
    refuse_legacy,
)
from keyplan.engine.operations.requests import Answer, ItemRequest
from keyplan.engine.transaction import Transaction
from keyplan.engine.values import check_item_size, normalise_sized


def put_item(transaction: Transaction, request: ItemRequest) -> Answer:
    refuse_legacy(request)
    change = prepare_put(request)(transaction)
    apply(transaction, change)
    answer: Answer = {}
    if change.row is not None and request.get("ReturnValues") == "ALL_OLD":
        answer["Attributes"] = orjson.Fragment(change.row.stored)
    add_metrics(answer, request, change)
    return answer


def prepare_put(request: ItemRequest) -> Decide:
    """Check all that can be checked without the table."""
    check_condition_placeholders(request)
    item, size = normalise_sized(request["Item"])
    check_return_values(request)
    check_item_size(size)
    bound = bound_condition(request)

    def decide(transaction: Transaction) -> Change:
        table = transaction.catalog.table(request["TableName"])
        check_item_key(table.schema, item)
        check_index_keys(table, item)
        check_item_size(size_with_local_indexes(table, item, size))
        key = table.row_key(item)
        row = transaction.row(table, key)
        old = row.item if row is not None and (bound is not None or needs_old(table)) else None
        check_condition(request, bound, row, old)
        return Change(table, item, key, row, old, item, size)

    return decide
