"""UpdateItem."""

import orjson

from keyplan.engine.errors import DynamoError, invalid_parameter, validation_error
from keyplan.engine.executor import Answer
from keyplan.engine.expressions import Condition, Placeholders, Update, condition, update
from keyplan.engine.expressions.legacy import attribute_updates
from keyplan.engine.operations.items.item_changes import (
    Change,
    Decide,
    add_metrics,
    apply,
    check_condition,
    size_with_local_indexes,
)
from keyplan.engine.operations.items.item_requests import ItemRequest
from keyplan.engine.operations.items.legacy_parameters import legacy_condition
from keyplan.engine.operations.items.parameters import check_legacy, check_placeholders
from keyplan.engine.storage.catalog import Table
from keyplan.engine.storage.transaction import Transaction
from keyplan.engine.validation.wording import wording_of
from keyplan.engine.values.attribute_values import MAXIMUM_ITEM_SIZE, Item, item_size
from keyplan.engine.values.normal_form import check_nesting, normalize_item
from keyplan.engine.values.row_keys import check_updated_index_key, checked_key, index_key_mismatch
from keyplan.engine.vectors.entries import Entries, entries_of_update

_LEFT_ALONE = 4096
"""The key and other attributes that an update doesn't name don't count for AWS's limit on updates. The limit on the
whole item is 400 KB and a little more: here, room for the longest key."""

_WORDING = wording_of("UpdateItem")
_RETURNED = frozenset(("ReturnValues", "ReturnConsumedCapacity", "ReturnItemCollectionMetrics"))
"""The members that ask for something in the answer."""
_EXPRESSIONS = ("UpdateExpression", "ConditionExpression")


def update_item(transaction: Transaction, request: ItemRequest) -> Answer:
    try:
        check_legacy(request)
        decide, bound = _prepare(request)
    except DynamoError as error:
        raise _WORDING.request_error(error) from None
    change = decide(transaction)
    apply(transaction, change)
    answer: Answer = {}
    if not _RETURNED.isdisjoint(request):
        attributes = returned_attributes(request.get("ReturnValues", "NONE"), change, bound)
        if attributes is not None:
            answer["Attributes"] = attributes
        add_metrics(answer, request, change)
    return answer


def prepare_update(request: ItemRequest) -> Decide:
    """Return the prepared update, after all checks that don't need the table."""
    return _prepare(request)[0]


def _prepare(request: ItemRequest) -> tuple[Decide, Update | None]:
    if "UpdateExpression" not in request:
        check_placeholders(request, with_names=_EXPRESSIONS, with_values=_EXPRESSIONS)
    key = normalize_item(request["Key"])
    bound, bound_condition = _expressions(request)
    return decide_update(request, key, bound, bound_condition), bound


def decide_update(request: ItemRequest, key: Item, bound: Update | None, bound_condition: Condition | None) -> Decide:
    """Return the prepared update of the item with this key."""

    def decide(transaction: Transaction) -> Change:
        table = transaction.catalog.table(request["TableName"])
        row_key = checked_key(table.schema, key)
        if bound is not None:
            _check_keys(table, bound)
        row = transaction.row(table, row_key)
        old = None if row is None else row.item
        check_condition(request, bound_condition, row, old)
        if bound is None:
            new = dict(key) if old is None else old
        elif old is not None:
            new = bound.apply(old)
        else:
            new = bound.create(dict(key))
            if new == key:
                # An update that only removes attributes doesn't create an item; one without any action does.
                return Change(table, key, row_key, None, None, None, 0)
        size = item_size(new)
        entries = None if bound is None else _checked_result(table, bound, old or key, new, size)
        return Change(table, key, row_key, row, old, new, size, entries=entries)

    return decide


def _expressions(request: ItemRequest) -> tuple[Update | None, Condition | None]:
    text = request.get("UpdateExpression")
    condition_text = request.get("ConditionExpression")
    if text is None and condition_text is None:
        return attribute_updates(request.get("AttributeUpdates", {})), legacy_condition(request)
    marks = Placeholders(request.get("ExpressionAttributeNames"), request.get("ExpressionAttributeValues"))
    bound = None if text is None else update(text, marks)
    bound_condition = None if condition_text is None else condition("ConditionExpression", condition_text, marks)
    marks.finish()
    return bound, bound_condition


def _check_keys(table: Table, bound: Update) -> None:
    """Refuse an update of the table's key, and one that can't be right for the key of an index, whatever the item."""
    for name in table.schema.names:
        if name in bound.attributes:
            raise invalid_parameter(f"Cannot update attribute {name}. This attribute is part of the key")
    if not table.indexes or table.index_key_names.isdisjoint(bound.attributes):
        return
    for path in bound.paths:
        if len(path) > 1 and path[0] in table.index_key_names:
            raise invalid_parameter(
                "Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: "
                f"IndexKey: {path[0]}"
            )
    literals = bound.literals()
    for index in table.indexes:
        for name, kind in index.schema.attributes:
            if name in literals and kind not in literals[name]:
                raise index_key_mismatch(index.name, name, kind, literals[name])


def _checked_result(table: Table, bound: Update, old: Item, new: Item, size: int) -> Entries | None:
    """Refuse an item that isn't legal although all parts of the update are; return its entries in vector indexes."""
    if size + bound.cost > MAXIMUM_ITEM_SIZE or table.has_local_indexes:
        _check_size(table, bound, new, size)
    for index in table.indexes:
        check_updated_index_key(index.schema, index.name, new, lambda name: bound.copies(name, old))
    for path in bound.paths:
        # Only inside a map or list is a value nested deeper than when it was checked.
        if len(path) > 1 and path[0] in new:
            check_nesting(new[str(path[0])])
    return entries_of_update(table, new, lambda name: bound.copies(name, old)) if table.vector_indexes else None


def _check_size(table: Table, bound: Update, new: Item, size: int) -> None:
    """Refuse an update that writes more than 400 KB, and an item that has grown by many updates."""
    most = MAXIMUM_ITEM_SIZE if table.has_local_indexes else MAXIMUM_ITEM_SIZE + _LEFT_ALONE
    if bound.written_size(new) > MAXIMUM_ITEM_SIZE or size_with_local_indexes(table, new, size) > most:
        raise validation_error("Item size to update has exceeded the maximum allowed size")


def returned_attributes(wanted: str, change: Change, bound: Update | None) -> object:
    """Return the attributes that ReturnValues asks for, or None."""
    if wanted == "ALL_OLD":
        return None if change.row is None else orjson.Fragment(change.row.stored)
    if wanted == "ALL_NEW":
        return change.new
    if wanted == "UPDATED_OLD" and bound is not None and change.old is not None:
        return bound.updated(change.old) or None
    if wanted == "UPDATED_NEW" and bound is not None and change.new is not None:
        return bound.updated(change.new) or None
    return None
