"""TransactWriteItems and TransactGetItems."""

from collections.abc import Callable, Iterable

import orjson

from keyplan.engine.errors import DynamoError, InvalidPlaceholder, validation_error
from keyplan.engine.executor import Answer
from keyplan.engine.operations.items.delete_item import prepare_check, prepare_delete
from keyplan.engine.operations.items.item_changes import Change, Decide, collection_metrics
from keyplan.engine.operations.items.item_requests import ItemRequest, TransactGetRequest, TransactWriteRequest
from keyplan.engine.operations.items.paged_reads import bound_projection
from keyplan.engine.operations.items.put_item import prepare_put
from keyplan.engine.operations.items.transactions import (
    MAXIMUM_BYTES,
    Action,
    Get,
    Token,
    capacity_of_reads,
    capacity_of_repetition,
    capacity_of_writes,
    check_size,
    check_tables,
    get_all,
    get_by_key,
    write_all,
)
from keyplan.engine.operations.items.update_item import prepare_update
from keyplan.engine.storage.transaction import Transaction
from keyplan.engine.values.attribute_values import NormalItem, item_size
from keyplan.engine.values.normal_form import (
    ONLY_COMPARED,
    NestedTooDeep,
    WrongType,
    normalize_item,
    normalize_sized,
)


def _prepare_update(action: ItemRequest) -> Decide:
    """An update; a value that nests too deep is found only when the update is made, so it cancels the transaction."""
    try:
        return prepare_update(action)
    except InvalidPlaceholder as error:
        if not isinstance(error.reason, NestedTooDeep):
            raise
        reason = error.reason

    def decide(transaction: Transaction) -> Change:
        raise reason

    return decide


_PREPARE: dict[str, Callable[[ItemRequest], Decide]] = {
    "ConditionCheck": lambda action: prepare_check(_with_any_depth(action)),
    "Put": lambda action: prepare_put(_with_any_depth(action)),
    "Delete": lambda action: prepare_delete(_with_any_depth(action)),
    "Update": _prepare_update,
}

_TABLE_AND_KEY = 2
"""The number of members that every read has; most have no others."""


def transact_write_items(transaction: Transaction, request: TransactWriteRequest) -> Answer:
    """Apply all actions or none."""
    given = [_only_action(action) for action in request["TransactItems"]]
    actions = [_prepare_action(name, action) for name, action in given]
    if len(orjson.dumps(given)) > MAXIMUM_BYTES:  # their JSON is longer than what counts
        check_size(sum(_given_size(action) for _, action in given))
    token = Token("TransactWriteItems", request.get("ClientRequestToken"), given)
    changes = write_all(transaction, actions, token)
    answer: Answer = {}
    wanted = request.get("ReturnConsumedCapacity", "NONE")
    if changes is None:
        if wanted != "NONE":
            answer["ConsumedCapacity"] = capacity_of_repetition(transaction, wanted, actions, token)
        return answer
    if wanted != "NONE":
        answer["ConsumedCapacity"] = capacity_of_writes(wanted, actions, changes)
    if request.get("ReturnItemCollectionMetrics") == "SIZE":
        answer["ItemCollectionMetrics"] = all_collection_metrics(
            (action.table_name, change) for action, change in zip(actions, changes, strict=True) if action.applies
        )
    return answer


def _only_action(action: dict[str, ItemRequest]) -> tuple[str, ItemRequest]:
    """The name of an action (Put, Update, Delete, ConditionCheck) and its parameters."""
    given = list(action.items())
    if len(given) != 1:
        raise validation_error(
            "TransactItems can only contain one of Check, Put, Update or Delete"
            if given
            else "Invalid Request: TransactWriteRequest should contain Delete or Put or Update request"
        )
    return given[0]


def _prepare_action(name: str, action: ItemRequest) -> Action:
    puts = name == "Put"
    return Action(
        action["TableName"],
        _PREPARE[name](action),
        lambda table: normalize_item(action["Item"] if puts else action["Key"]),
        puts=puts,
        applies=name != "ConditionCheck",
    )


def _with_any_depth(action: ItemRequest) -> ItemRequest:
    """An action whose values may nest deeper than those of items: in transactions, AWS only compares them."""
    values = action.get("ExpressionAttributeValues")
    if values is None or isinstance(values, NormalItem):
        return action
    try:
        return {**action, "ExpressionAttributeValues": ONLY_COMPARED.attributes(values)}
    except (DynamoError, WrongType):  # the operation finds it, too
        return action


def _given_size(action: ItemRequest) -> int:
    """The bytes of an action in its request: the item or key, and the values of its expressions."""
    size = normalize_sized(action["Item"])[1] if "Item" in action else item_size(normalize_item(action["Key"]))
    values = action.get("ExpressionAttributeValues")
    return size if values is None else size + item_size(normalize_item(values))


def all_collection_metrics(changes: Iterable[tuple[str, Change]]) -> dict[str, list[object]]:
    """Return the ItemCollectionMetrics of several writes, given with the names of their tables; each one once."""
    found: dict[str, list[object]] = {}
    for name, change in changes:
        if change.table.has_local_indexes:
            metrics = collection_metrics(change)
            known = found.setdefault(name, [])
            if metrics not in known:
                known.append(metrics)
    return found


def transact_get_items(transaction: Transaction, request: TransactGetRequest) -> Answer:
    """Return several items as of one moment."""
    gets = [_prepare_get(action["Get"]) for action in request["TransactItems"]]
    check_tables(transaction, {action["Get"]["TableName"] for action in request["TransactItems"]})
    found = get_all(transaction, gets)
    answer: Answer = {"Responses": [got.response for got in found]}
    wanted = request.get("ReturnConsumedCapacity", "NONE")
    if wanted != "NONE":
        answer["ConsumedCapacity"] = capacity_of_reads(wanted, found)
    return answer


def _prepare_get(request: ItemRequest) -> Get:
    key = normalize_item(request["Key"])
    bound = bound_projection(request) if len(request) > _TABLE_AND_KEY else None
    return lambda transaction: get_by_key(transaction, request["TableName"], key, bound)
