"""UpdateItem."""

import orjson

from keyplan.engine.catalog import Table
from keyplan.engine.errors import invalid_parameter, validation_error
from keyplan.engine.expressions import Update, condition, update
from keyplan.engine.keys import check_key, check_key_sizes
from keyplan.engine.operations.changes import Change, Decide, add_metrics, apply, check_condition
from keyplan.engine.operations.parameters import placeholders, refuse_legacy
from keyplan.engine.operations.requests import Answer, ItemRequest
from keyplan.engine.transaction import Transaction
from keyplan.engine.values import MAXIMUM_ITEM_SIZE, Item, item_size, normalise_item

_EXPRESSIONS = ("UpdateExpression", "ConditionExpression")


def update_item(transaction: Transaction, request: ItemRequest) -> Answer:
    refuse_legacy(request)
    decide, bound = _prepare(request)
    change = decide(transaction)
    apply(transaction, change)
    answer: Answer = {}
    attributes = _attributes(request.get("ReturnValues", "NONE"), change, bound)
    if attributes is not None:
        answer["Attributes"] = attributes
    add_metrics(answer, request, change)
    return answer


def prepare_update(request: ItemRequest) -> Decide:
    """Check all that can be checked without the table."""
    return _prepare(request)[0]


def _prepare(request: ItemRequest) -> tuple[Decide, Update | None]:
    marks = placeholders(request, with_names=_EXPRESSIONS, with_values=_EXPRESSIONS)
    text = request.get("UpdateExpression")
    bound = None if text is None else update(text, marks)
    text = request.get("ConditionExpression")
    bound_condition = None if text is None else condition("ConditionExpression", text, marks)
    marks.finish()
    key = normalise_item(request["Key"])

    def decide(transaction: Transaction) -> Change:
        table = transaction.catalog.table(request["TableName"])
        check_key(table.schema, key)
        _check_writes_no_key(table, bound)
        row_key = table.row_key(key)
        row = transaction.row(table, row_key)
        old = None if row is None else row.item
        check_condition(request, bound_condition, row, old)
        new = dict(key) if old is None else old
        if bound is not None:
            new = bound.apply(new)
            _check_index_keys(table, bound, new)
        size = item_size(new)
        if size > MAXIMUM_ITEM_SIZE:
            raise validation_error("Item size to update has exceeded the maximum allowed size")
        return Change(table, key, row_key, row, old, new, size)

    return decide, bound


def _check_writes_no_key(table: Table, bound: Update | None) -> None:
    if bound is None:
        return
    for name in table.schema.names:
        if name in bound.attributes:
            raise invalid_parameter(f"Cannot update attribute {name}. This attribute is part of the key")


def _check_index_keys(table: Table, bound: Update, new: Item) -> None:
    """What an update writes into a key of an index must be fit for it."""
    if table.index_key_names.isdisjoint(bound.attributes):
        return
    for index in table.indexes:
        for name, kind in index.schema.attributes:
            value = new.get(name)
            if value is None or name not in bound.attributes:
                continue
            if kind not in value:
                raise validation_error(
                    "The update expression attempted to update the secondary index key to unsupported type"
                )
            if kind != "N" and not value.get(kind):
                raise validation_error(
                    "The update expression attempted to update the secondary index key to a value that is not "
                    "supported. The AttributeValue for a key attribute cannot contain an empty "
                    f"{'string' if kind == 'S' else 'binary'} value."
                )
        if index.schema.covers(new):
            check_key_sizes(index.schema, new)


def _attributes(wanted: str, change: Change, bound: Update | None) -> object:
    """What ReturnValues asks for; None where there is nothing to return."""
    if wanted == "ALL_OLD":
        return None if change.row is None else orjson.Fragment(change.row.stored)
    if wanted == "ALL_NEW":
        return change.new
    if wanted == "UPDATED_OLD" and bound is not None and change.old is not None:
        return bound.updated(change.old) or None
    if wanted == "UPDATED_NEW" and bound is not None and change.new is not None:
        return bound.updated(change.new) or None
    return None
