"""DeleteItem."""

import orjson

from keyplan.engine.errors import DynamoError
from keyplan.engine.executor import Answer
from keyplan.engine.expressions import Condition
from keyplan.engine.operations.items.item_changes import (
    Change,
    Decide,
    add_metrics,
    apply,
    check_condition,
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
from keyplan.engine.values.attribute_values import Item
from keyplan.engine.values.normal_form import normalize_item
from keyplan.engine.values.row_keys import checked_key

_WORDING = wording_of("DeleteItem")
_TABLE_AND_KEY = 2
"""The number of members that every request has; most have no others."""


def delete_item(transaction: Transaction, request: ItemRequest) -> Answer:
    more = len(request) > _TABLE_AND_KEY
    try:
        if more:
            check_legacy(request)
            check_condition_placeholders(request)
        decide = prepare_delete(request)
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


def prepare_delete(request: ItemRequest) -> Decide:
    """Return the prepared delete, after all checks that don't need the table."""
    return _prepare(request, deletes=True)


def prepare_check(request: ItemRequest) -> Decide:
    """Return the prepared ConditionCheck of a transaction: the condition of a delete, without the delete."""
    return _prepare(request, deletes=False)


def _prepare(request: ItemRequest, *, deletes: bool) -> Decide:
    if len(request) == _TABLE_AND_KEY:
        return decide_delete(request, normalize_item(request["Key"]), None, deletes=deletes)
    key = normalize_item(request["Key"])
    check_return_values(request)
    return decide_delete(request, key, bound_condition(request), deletes=deletes)


def decide_delete(request: ItemRequest, key: Item, bound: Condition | None, *, deletes: bool) -> Decide:
    """Return the prepared delete of the item with this key, or only the check of its condition."""

    def decide(transaction: Transaction) -> Change:
        table = transaction.catalog.table(request["TableName"])
        row_key = checked_key(table.schema, key)
        row = transaction.row(table, row_key)
        old = None
        if row is not None and (bound is not None or table.needs_old_items or not deletes):
            old = row.item
        if bound is not None:
            check_condition(request, bound, row, old)
        if deletes:
            return Change(table, key, row_key, row, old, None, 0)
        return Change(table, key, row_key, row, old, old, row.size if row else 0)

    return decide
