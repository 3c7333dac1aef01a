"""PutItem."""

import orjson

from keyplan.engine.errors import validation_error
from keyplan.engine.expressions import condition
from keyplan.engine.keys import check_index_key, check_item_key
from keyplan.engine.operations.changes import Change, Decide, add_metrics, apply, check_condition, needs_old
from keyplan.engine.operations.parameters import placeholders, refuse_legacy
from keyplan.engine.operations.requests import Answer, ItemRequest
from keyplan.engine.transaction import Transaction
from keyplan.engine.values import check_item_size, normalise_sized

_EXPRESSIONS = ("ConditionExpression",)


def put_item(transaction: Transaction, request: ItemRequest) -> Answer:
    refuse_legacy(request)
    wanted = request.get("ReturnValues", "NONE")
    if wanted not in ("NONE", "ALL_OLD"):
        raise validation_error("Return values set to invalid value")
    change = prepare_put(request)(transaction)
    apply(transaction, change)
    answer: Answer = {}
    if wanted == "ALL_OLD" and change.row is not None:
        answer["Attributes"] = orjson.Fragment(change.row.stored)
    add_metrics(answer, request, change)
    return answer


def prepare_put(request: ItemRequest) -> Decide:
    """Check all that can be checked without the table."""
    marks = placeholders(request, with_names=_EXPRESSIONS, with_values=_EXPRESSIONS)
    text = request.get("ConditionExpression")
    bound = None if text is None else condition("ConditionExpression", text, marks)
    marks.finish()
    item, size = normalise_sized(request["Item"])
    check_item_size(size)

    def decide(transaction: Transaction) -> Change:
        table = transaction.catalog.table(request["TableName"])
        check_item_key(table.schema, item)
        for index in table.indexes:
            check_index_key(index.schema, index.name, item)
        key = table.row_key(item)
        row = transaction.row(table, key)
        old = row.item if row is not None and (bound is not None or needs_old(table)) else None
        check_condition(request, bound, row, old)
        return Change(table, item, key, row, old, item, size)

    return decide
