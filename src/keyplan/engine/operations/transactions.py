"""TransactWriteItems and TransactGetItems."""

import hashlib
from collections.abc import Callable, Mapping
from typing import NamedTuple, cast

import orjson

from keyplan.engine import capacity
from keyplan.engine.catalog import Table
from keyplan.engine.errors import DynamoError, validation_error
from keyplan.engine.expressions import projection
from keyplan.engine.keys import check_key
from keyplan.engine.operations.changes import Change, Decide, apply, collection_metrics, consumption
from keyplan.engine.operations.delete_item import prepare_check, prepare_delete
from keyplan.engine.operations.parameters import placeholders, refuse_legacy
from keyplan.engine.operations.put_item import prepare_put
from keyplan.engine.operations.requests import Answer, ItemRequest, TransactGetRequest, TransactWriteRequest
from keyplan.engine.operations.update_item import prepare_update
from keyplan.engine.transaction import Row, Transaction
from keyplan.engine.values import normalise_item

MAXIMUM_BYTES = 4 * 1_048_576
TOKEN_SECONDS = 600.0

_PREPARE: dict[str, Callable[[ItemRequest], Decide]] = {
    "ConditionCheck": prepare_check,
    "Put": prepare_put,
    "Delete": prepare_delete,
    "Update": prepare_update,
}


def transact_write_items(transaction: Transaction, request: TransactWriteRequest) -> Answer:
    """All actions or none: every one is decided before the first is applied."""
    actions = [_only_action(action) for action in request["TransactItems"]]
    prepared = [_PREPARE[name](action) for name, action in actions]
    for _, action in actions:
        transaction.catalog.table(action["TableName"])
    token = _Token(request)
    if earlier := token.answer(transaction):
        return earlier
    changes = _decide_all(transaction, prepared)
    for (name, _), change in zip(actions, changes, strict=True):
        if name != "ConditionCheck":
            apply(transaction, change)
    answer: Answer = {}
    _add_metrics(answer, request, [name for name, _ in actions], changes)
    token.remember(transaction, answer)
    return answer


def _only_action(action: dict[str, ItemRequest]) -> tuple[str, ItemRequest]:
    given = [(name, request) for name, request in action.items() if name in _PREPARE]
    if len(given) != 1:
        raise validation_error(
            "TransactItems can only contain one of Check, Put, Update or Delete"
            if given
            else "Invalid Request: TransactWriteRequest should contain Delete or Put or Update request"
        )
    return given[0]


def _decide_all(transaction: Transaction, prepared: list[Decide]) -> list[Change]:
    """What every action does; one cancellation with a reason for each where any can't be done."""
    changes: list[Change] = []
    reasons: list[dict[str, object]] = []
    for decide in prepared:
        try:
            changes.append(decide(transaction))
            reasons.append({"Code": "None"})
        except DynamoError as error:
            reasons.append(_reason(error))
    if len(changes) == len(prepared):
        _refuse_twice([(change.table.number, change.key) for change in changes])
        _check_size(changes)
        return changes
    raise _cancelled(reasons)


def _reason(error: DynamoError) -> dict[str, object]:
    if error.code == "ConditionalCheckFailedException":
        return {"Code": "ConditionalCheckFailed", "Message": error.message, **error.extra}
    if error.code == "ValidationException":
        return {"Code": "ValidationError", "Message": error.message}
    raise error


def _cancelled(reasons: list[dict[str, object]]) -> DynamoError:
    codes = ", ".join(cast(str, reason["Code"]) for reason in reasons)
    return DynamoError(
        "TransactionCanceledException",
        f"Transaction cancelled, please refer cancellation reasons for specific reasons [{codes}]",
        extra={"CancellationReasons": reasons},
    )


def _refuse_twice(items: list[tuple[int, bytes]]) -> None:
    if len(set(items)) != len(items):
        raise validation_error("Transaction request cannot include multiple operations on one item")


def _check_size(changes: list[Change]) -> None:
    if sum(max(change.old_size, change.new_size) for change in changes) > MAXIMUM_BYTES:
        raise validation_error("Transaction payload size exceeded the maximum allowed size")


def _add_metrics(answer: Answer, request: TransactWriteRequest, names: list[str], changes: list[Change]) -> None:
    wanted = request.get("ReturnConsumedCapacity")
    if wanted is not None and wanted != "NONE":
        consumed: dict[str, capacity.Consumed] = {}
        tables: dict[str, Table] = {}
        for change in changes:
            tables[change.table.name] = change.table
            consumed.setdefault(change.table.name, capacity.Consumed()).add(consumption(change).times(2))
        answer["ConsumedCapacity"] = [
            capacity.describe(wanted, tables[name], units, "WriteCapacityUnits") for name, units in consumed.items()
        ]
    if request.get("ReturnItemCollectionMetrics") == "SIZE":
        metrics: dict[str, list[object]] = {}
        for name, change in zip(names, changes, strict=True):
            if change.table.has_local_indexes and name != "ConditionCheck":
                metrics.setdefault(change.table.name, []).append(collection_metrics(change))
        answer["ItemCollectionMetrics"] = metrics


class _Token:
    """The idempotency of a transaction: the same request with the same token is carried out once in ten minutes."""

    def __init__(self, request: TransactWriteRequest) -> None:
        self._token = request.get("ClientRequestToken")
        # Sorted keys, so that two ways to write the same request are the same request.
        self._fingerprint = (
            hashlib.blake2b(orjson.dumps(request, option=orjson.OPT_SORT_KEYS), digest_size=16).digest()
            if self._token is not None
            else b""
        )

    def answer(self, transaction: Transaction) -> Answer | None:
        """The answer that an earlier request with this token got."""
        if self._token is None:
            return None
        found = transaction.sql(
            "SELECT fingerprint, answer FROM tokens WHERE token = ? AND expires > ?", (self._token, transaction.now)
        ).fetchone()
        if found is None:
            return None
        if found[0] != self._fingerprint:
            raise DynamoError(
                "IdempotentParameterMismatchException",
                "The request uses the same client token as a previous, but non-identical request.",
            )
        answer: Answer = orjson.loads(found[1])
        return answer

    def remember(self, transaction: Transaction, answer: Answer) -> None:
        if self._token is None:
            return
        transaction.sql("DELETE FROM tokens WHERE expires <= ?", (transaction.now,))
        transaction.sql(
            "INSERT OR REPLACE INTO tokens VALUES (?, ?, ?, ?)",
            (self._token, self._fingerprint, orjson.dumps(answer), transaction.now + TOKEN_SECONDS),
        )


class _Got(NamedTuple):
    """What one Get of a transaction found."""

    table: Table
    key: bytes
    row: Row | None
    item: object


def transact_get_items(transaction: Transaction, request: TransactGetRequest) -> Answer:
    """Items as of one moment."""
    gets = [_prepare_get(action) for action in request["TransactItems"]]
    found: list[_Got] = []
    reasons: list[dict[str, object]] = []
    for get in gets:
        try:
            found.append(get(transaction))
            reasons.append({"Code": "None"})
        except DynamoError as error:
            reasons.append(_reason(error))
    if len(found) < len(gets):
        raise _cancelled(reasons)
    _refuse_twice([(got.table.number, got.key) for got in found])
    answer: Answer = {"Responses": [{} if got.row is None else {"Item": got.item} for got in found]}
    wanted = request.get("ReturnConsumedCapacity")
    if wanted is not None and wanted != "NONE":
        answer["ConsumedCapacity"] = _read_capacity(wanted, found)
    return answer


def _prepare_get(action: Mapping[str, ItemRequest]) -> Callable[[Transaction], _Got]:
    request = action["Get"]
    refuse_legacy(request)
    marks = placeholders(request, with_names=("ProjectionExpression",), with_values=())
    text = request.get("ProjectionExpression")
    bound = None if text is None else projection(text, marks)
    marks.finish()
    key = normalise_item(request["Key"])

    def get(transaction: Transaction) -> _Got:
        table = transaction.catalog.table(request["TableName"])
        check_key(table.schema, key)
        row_key = table.row_key(key)
        row = transaction.row(table, row_key)
        if row is None or bound is None:
            return _Got(table, row_key, row, None if row is None else orjson.Fragment(row.stored))
        return _Got(table, row_key, row, bound.apply(row.item))

    return get


def _read_capacity(wanted: str, found: list[_Got]) -> list[object]:
    units: dict[str, float] = {}
    tables: dict[str, Table] = {}
    for got in found:
        name = got.table.name
        tables[name] = got.table
        units[name] = units.get(name, 0.0) + 2 * capacity.read_units(got.row.size if got.row else 0, consistent=True)
    return [
        capacity.describe(wanted, tables[name], capacity.Consumed(total), "ReadCapacityUnits")
        for name, total in units.items()
    ]
