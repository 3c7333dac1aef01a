"""TransactWriteItems and TransactGetItems."""

import hashlib
from collections.abc import Callable, Iterable
from typing import NamedTuple, TypeAlias, cast

import orjson

from keyplan.engine.errors import DynamoError, validation_error
from keyplan.engine.executor import Answer
from keyplan.engine.operations.items.consumed_capacity import Consumed, describe_consumed, read_units
from keyplan.engine.operations.items.delete_item import prepare_check, prepare_delete
from keyplan.engine.operations.items.item_changes import (
    Change,
    Decide,
    apply,
    check_index_keys,
    collection_metrics,
    consumption,
)
from keyplan.engine.operations.items.item_requests import ItemRequest, TransactGetRequest, TransactWriteRequest
from keyplan.engine.operations.items.paged_reads import bound_projection
from keyplan.engine.operations.items.parameters import check_placeholders
from keyplan.engine.operations.items.put_item import prepare_put
from keyplan.engine.operations.items.update_item import prepare_update
from keyplan.engine.storage.catalog import Table
from keyplan.engine.storage.transaction import Row, Transaction
from keyplan.engine.values.attribute_values import item_size
from keyplan.engine.values.normal_form import normalize_item, normalize_sized
from keyplan.engine.values.row_keys import check_item_key, check_key, checked_key

MAXIMUM_BYTES = 4 * 1_048_576
TOKEN_SECONDS = 600.0

_FAILED = "ConditionalCheckFailedException"

_PREPARE: dict[str, Callable[[ItemRequest], Decide]] = {
    "ConditionCheck": prepare_check,
    "Put": prepare_put,
    "Delete": prepare_delete,
    "Update": prepare_update,
}


_Action: TypeAlias = tuple[str, ItemRequest]
"""The name of an action (Put, Update, Delete, ConditionCheck) and its parameters."""


def transact_write_items(transaction: Transaction, request: TransactWriteRequest) -> Answer:
    """Apply all actions or none: all of them are decided before the first one is applied."""
    actions = [_only_action(action) for action in request["TransactItems"]]
    prepared = [_PREPARE[name](action) for name, action in actions]
    _check_size(sum(_given_size(action) for _, action in actions))
    for _, action in actions:
        transaction.catalog.table(action["TableName"])
    token = _Token(request, actions)
    if token.was_used(transaction):
        return _answer_to_repetition(transaction, request, actions)
    changes = _decide_all(transaction, actions, prepared)
    for (name, _), change in zip(actions, changes, strict=True):
        if name != "ConditionCheck":
            apply(transaction, change)
    token.remember(transaction)
    return _answer(request, actions, changes)


def _only_action(action: dict[str, ItemRequest]) -> _Action:
    given = list(action.items())
    if len(given) != 1:
        raise validation_error(
            "TransactItems can only contain one of Check, Put, Update or Delete"
            if given
            else "Invalid Request: TransactWriteRequest should contain Delete or Put or Update request"
        )
    return given[0]


def _decide_all(transaction: Transaction, actions: list[_Action], prepared: list[Decide]) -> list[Change]:
    """Return the changes of all actions; if any action fails, cancel with a reason for each of them."""
    changes: list[Change] = []
    errors: list[DynamoError | None] = []
    for decide in prepared:
        try:
            changes.append(decide(transaction))
            errors.append(None)
        except DynamoError as error:
            errors.append(error)
    if len(changes) < len(prepared):
        # AWS reports wrong keys before duplicate items, and both before conditions and updates.
        _cancel_where_any([_key_error(transaction, *action) for action in actions])
        _refuse_duplicates([_key_of(transaction, *action) for action in actions])
        _cancel_where_any(errors)
    _refuse_duplicates([(change.table.number, change.key) for change in changes])
    return changes


def _given_size(action: ItemRequest) -> int:
    """The bytes of an action in its request: the item or key, and the values of its expressions."""
    size = normalize_sized(action["Item"])[1] if "Item" in action else item_size(normalize_item(action["Key"]))
    values = action.get("ExpressionAttributeValues")
    return size if values is None else size + item_size(normalize_item(values))


def _key_error(transaction: Transaction, name: str, action: ItemRequest) -> DynamoError | None:
    """The error in the key of an action, or in an item's index key attributes, if there is one."""
    table = transaction.catalog.table(action["TableName"])
    try:
        if name == "Put":
            item = normalize_item(action["Item"])
            check_item_key(table.schema, item)
            check_index_keys(table, item)
        else:
            check_key(table.schema, normalize_item(action["Key"]))
    except DynamoError as error:
        return _error_of_action(error)
    return None


def _error_of_action(error: DynamoError) -> DynamoError:
    """Return the error of one action; raise it if AWS reports it for the whole request: an empty value in a key."""
    if error.message.startswith("One or more parameter values are not valid."):
        raise error
    return error


def _key_of(transaction: Transaction, name: str, action: ItemRequest) -> tuple[int, bytes]:
    """Table number and row key of the item of an action whose key was checked."""
    table = transaction.catalog.table(action["TableName"])
    return table.number, table.row_key(normalize_item(action["Item" if name == "Put" else "Key"]))


def _cancel_where_any(errors: list[DynamoError | None]) -> None:
    """Cancel the transaction if any action has an error: AWS tells all failed conditions, but only one other error."""
    if not any(errors):
        return
    invalid = next((error for error in errors if error is not None and error.code != _FAILED), None)
    reasons = [_reason(error, invalid) for error in errors]
    codes = ", ".join(cast(str, reason["Code"]) for reason in reasons)
    raise DynamoError(
        "TransactionCanceledException",
        f"Transaction cancelled, please refer cancellation reasons for specific reasons [{codes}]",
        extra={"CancellationReasons": reasons},
    )


def _reason(error: DynamoError | None, invalid: DynamoError | None) -> dict[str, object]:
    if error is not None and error.code == _FAILED:
        return {"Code": "ConditionalCheckFailed", "Message": error.message, **error.extra}
    if error is not None and error is invalid:
        return {"Code": "ValidationError", "Message": error.message}
    return {"Code": "None"}


def _refuse_duplicates(items: list[tuple[int, bytes]]) -> None:
    if len(set(items)) != len(items):
        raise validation_error("Transaction request cannot include multiple operations on one item")


def _check_size(size: int) -> None:
    if size > MAXIMUM_BYTES:
        raise validation_error("Transaction payload size exceeded the maximum allowed size")


def _answer(request: TransactWriteRequest, actions: list[_Action], changes: list[Change]) -> Answer:
    answer: Answer = {}
    wanted = request.get("ReturnConsumedCapacity", "NONE")
    if wanted != "NONE":
        answer["ConsumedCapacity"] = _capacities(
            wanted,
            "WriteCapacityUnits",
            [
                (action["TableName"], change.table, consumption(change).times(2))
                for (_, action), change in zip(actions, changes, strict=True)
            ],
        )
    if request.get("ReturnItemCollectionMetrics") == "SIZE":
        answer["ItemCollectionMetrics"] = all_collection_metrics(
            (action["TableName"], change)
            for (name, action), change in zip(actions, changes, strict=True)
            if name != "ConditionCheck"
        )
    return answer


def _answer_to_repetition(transaction: Transaction, request: TransactWriteRequest, actions: list[_Action]) -> Answer:
    """The answer to a transaction that was applied before; it costs a transactional read of the items."""
    wanted = request.get("ReturnConsumedCapacity", "NONE")
    if wanted == "NONE":
        return {}
    consumed = []
    for name, action in actions:
        table = transaction.catalog.table(action["TableName"])
        row = transaction.row(table, _key_of(transaction, name, action)[1])
        consumed.append((action["TableName"], table, _transactional_read(row)))
    return {"ConsumedCapacity": _capacities(wanted, "ReadCapacityUnits", consumed)}


def _transactional_read(row: Row | None) -> Consumed:
    return Consumed(2 * read_units(row.size if row else 0, consistent=True))


def _capacities(wanted: str, kind: str, parts: list[tuple[str, Table, Consumed]]) -> list[object]:
    """The capacity consumed of each table, in the order in which the tables first occur."""
    tables: dict[int, tuple[str, Table, Consumed]] = {}
    for name, table, consumed in parts:
        tables.setdefault(table.number, (name, table, Consumed()))[2].add(consumed)
    return [describe_consumed(wanted, table, consumed, kind, name=name) for name, table, consumed in tables.values()]


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


class _Token:
    """The idempotency token of a transaction: the same actions with the same token are applied once in ten minutes."""

    def __init__(self, request: TransactWriteRequest, actions: list[_Action]) -> None:
        self._token = request.get("ClientRequestToken")
        self._fingerprint = b"" if self._token is None else _fingerprint(actions)

    def was_used(self, transaction: Transaction) -> bool:
        """Return whether this transaction was applied already; raise if the token was used for a different one."""
        if self._token is None:
            return False
        found = transaction.sql(
            "SELECT fingerprint FROM tokens WHERE token = ? AND expires > ?", (self._token, transaction.now)
        ).fetchone()
        if found is None:
            return False
        if found[0] != self._fingerprint:
            raise DynamoError(
                "IdempotentParameterMismatchException",
                "The request uses the same client token as a previous, but non-identical request.",
            )
        return True

    def remember(self, transaction: Transaction) -> None:
        if self._token is None:
            return
        transaction.sql("DELETE FROM tokens WHERE expires <= ?", (transaction.now,))
        transaction.sql(
            "INSERT OR REPLACE INTO tokens VALUES (?, ?, ?)",
            (self._token, self._fingerprint, transaction.now + TOKEN_SECONDS),
        )


def _fingerprint(actions: list[_Action]) -> bytes:
    """A hash of the actions that doesn't depend on the order of members."""
    return hashlib.blake2b(orjson.dumps(actions, option=orjson.OPT_SORT_KEYS), digest_size=16).digest()


class _Got(NamedTuple):
    """The result of one Get of a transaction."""

    table: Table
    key: bytes
    row: Row | None
    item: object


def transact_get_items(transaction: Transaction, request: TransactGetRequest) -> Answer:
    """Return several items as of one moment."""
    gets = [_prepare_get(action["Get"]) for action in request["TransactItems"]]
    for action in request["TransactItems"]:
        transaction.catalog.table(action["Get"]["TableName"])
    found: list[_Got] = []
    errors: list[DynamoError | None] = []
    for get in gets:
        try:
            found.append(get(transaction))
            errors.append(None)
        except DynamoError as error:
            errors.append(_error_of_action(error))
    _cancel_where_any(errors)
    _refuse_duplicates([(got.table.number, got.key) for got in found])
    _check_size(sum(got.row.size for got in found if got.row is not None))
    answer: Answer = {"Responses": [{} if got.row is None else {"Item": got.item} for got in found]}
    wanted = request.get("ReturnConsumedCapacity", "NONE")
    if wanted != "NONE":
        answer["ConsumedCapacity"] = _capacities(
            wanted,
            "ReadCapacityUnits",
            [
                (action["Get"]["TableName"], got.table, _transactional_read(got.row))
                for action, got in zip(request["TransactItems"], found, strict=True)
            ],
        )
    return answer


def _prepare_get(request: ItemRequest) -> Callable[[Transaction], _Got]:
    check_placeholders(request, with_names=("ProjectionExpression",), with_values=())
    key = normalize_item(request["Key"])
    bound = bound_projection(request)

    def get(transaction: Transaction) -> _Got:
        table = transaction.catalog.table(request["TableName"])
        row_key = checked_key(table.schema, key)
        row = transaction.row(table, row_key)
        if row is None or bound is None:
            return _Got(table, row_key, row, None if row is None else orjson.Fragment(row.stored))
        return _Got(table, row_key, row, bound.apply(row.item))

    return get
