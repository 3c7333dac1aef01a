"""What all transactions share, whether they are made of requests or of PartiQL statements.

All writes of a transaction are decided before the first one is applied. If one of them fails, the transaction is
canceled, with a reason for each action.
"""

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias, cast

import orjson

from keyplan.engine.errors import DynamoError, validation_error
from keyplan.engine.operations.items.consumed_capacity import Consumed, describe_consumed, read_units
from keyplan.engine.operations.items.item_changes import Change, Decide, apply, check_index_keys, consumption
from keyplan.engine.operations.items.paged_reads import ItemProjection
from keyplan.engine.operations.tables.replication import STRONG
from keyplan.engine.storage.catalog import Table
from keyplan.engine.storage.scopes import HOME
from keyplan.engine.storage.transaction import Row, Transaction
from keyplan.engine.values.attribute_values import Item
from keyplan.engine.values.row_keys import check_item_key, check_key, checked_key

MAXIMUM_BYTES = 4 * 1_048_576
TOKEN_SECONDS = 600.0
_DIGEST = 16
"""Bytes of the fingerprint of a transaction; after it, the file has the sizes of its items."""

_FAILURES = {
    "ConditionalCheckFailedException": "ConditionalCheckFailed",
    "DuplicateItemException": "DuplicateItem",
}
"""The errors that depend on the stored items, with their codes as reasons."""


@dataclass(slots=True)
class Action:
    """A prepared action of a transaction that writes."""

    table_name: str
    decide: Decide
    item: Callable[[Table], Item]
    """Returns the item of a put, and the key of any other action."""
    puts: bool
    applies: bool
    """Whether it changes anything; a check doesn't."""


def check_tables(transaction: Transaction, names: Iterable[str]) -> None:
    """Refuse tables that don't exist, and those whose global table has no transactions."""
    for name in names:
        replication = transaction.catalog.table(name).definition.get("replication")
        if replication is not None and replication["consistency"] == STRONG:
            raise validation_error(
                f"Transactions aren't supported for global tables with STRONG consistency: Table: {name}"
            )


def write_all(transaction: Transaction, actions: Sequence[Action], token: "Token") -> list[Change] | None:
    """Apply all actions or none, and return their changes; or None if the token's transaction was applied before."""
    check_tables(transaction, {action.table_name for action in actions})
    if token.was_used(transaction):
        return None
    changes = _decide_all(transaction, actions)
    for action, change in zip(actions, changes, strict=True):
        if action.applies:
            apply(transaction, change)
    token.remember(transaction, [max(change.old_size, change.new_size) for change in changes])
    return changes


def _decide_all(transaction: Transaction, actions: Sequence[Action]) -> list[Change]:
    """Return the changes of all actions; if any action fails, cancel with a reason for each of them."""
    try:
        changes = [action.decide(transaction) for action in actions]
    except DynamoError:
        # AWS reports wrong keys before duplicate items, and both before conditions and updates.
        _cancel_where_any([_key_error(transaction, action) for action in actions])
        _refuse_duplicates([_key_of(transaction, action) for action in actions])
        _cancel_where_any([_decision_error(transaction, action) for action in actions])
        raise
    _refuse_duplicates([(change.table.number, change.key) for change in changes])
    return changes


def _decision_error(transaction: Transaction, action: Action) -> DynamoError | None:
    """The reason why an action fails, if it does."""
    try:
        action.decide(transaction)
    except DynamoError as error:
        return error
    return None


def _key_error(transaction: Transaction, action: Action) -> DynamoError | None:
    """The error in the key of an action, or in an item's index key attributes, if there is one."""
    table = transaction.catalog.table(action.table_name)
    try:
        item = action.item(table)
        if action.puts:
            check_item_key(table.schema, item)
            check_index_keys(table, item)
        else:
            check_key(table.schema, item)
    except DynamoError as error:
        return _error_of_action(error)
    return None


def _error_of_action(error: DynamoError) -> DynamoError:
    """Return the error of one action; raise it if AWS reports it for the whole request: an empty value in a key."""
    if error.message.startswith("One or more parameter values are not valid."):
        raise error
    return error


def _key_of(transaction: Transaction, action: Action) -> tuple[int, bytes]:
    """Table number and row key of the item of an action whose key was checked."""
    table = transaction.catalog.table(action.table_name)
    return table.number, table.row_key(action.item(table))


def _cancel_where_any(errors: list[DynamoError | None]) -> None:
    """Cancel the transaction if any action has an error: AWS tells all failed conditions, but only one other error."""
    if not any(errors):
        return
    invalid = next((error for error in errors if error is not None and error.code not in _FAILURES), None)
    reasons = [_reason(error, invalid) for error in errors]
    codes = ", ".join(cast(str, reason["Code"]) for reason in reasons)
    raise DynamoError(
        "TransactionCanceledException",
        f"Transaction cancelled, please refer cancellation reasons for specific reasons [{codes}]",
        extra={"CancellationReasons": reasons},
    )


def _reason(error: DynamoError | None, invalid: DynamoError | None) -> dict[str, object]:
    if error is not None and error.code in _FAILURES:
        return {"Code": _FAILURES[error.code], "Message": error.message, **error.extra}
    if error is not None and error is invalid:
        return {"Code": "ValidationError", "Message": error.message}
    return {"Code": "None"}


def _refuse_duplicates(items: list[tuple[int, bytes]]) -> None:
    if len(set(items)) != len(items):
        raise validation_error("Transaction request cannot include multiple operations on one item")


def check_size(size: int) -> None:
    """Refuse a transaction over 4 MB."""
    if size > MAXIMUM_BYTES:
        raise validation_error("Transaction payload size exceeded the maximum allowed size")


class Got(NamedTuple):
    """The result of one read of a transaction; `item` is what is returned of it."""

    table_name: str
    table: Table
    key: bytes
    row: Row | None
    item: object

    @property
    def response(self) -> dict[str, object]:
        """An item without any projected attribute is like none, unlike in GetItem."""
        return {} if self.item in (None, {}) else {"Item": self.item}


Get: TypeAlias = Callable[[Transaction], Got]
"""A prepared read of one item."""


def get_by_key(transaction: Transaction, table_name: str, key: Item, projection: ItemProjection | None) -> Got:
    """Return the item with a key, which must be the table's."""
    table = transaction.catalog.table(table_name)
    row_key = checked_key(table.schema, key)
    row = transaction.row(table, row_key)
    if row is None or projection is None:
        return Got(table_name, table, row_key, row, None if row is None else orjson.Fragment(row.stored))
    return Got(table_name, table, row_key, row, projection.apply(row.item))


def get_all(transaction: Transaction, gets: Sequence[Get]) -> list[Got]:
    """Return several items as of one moment; if any read fails, cancel with a reason for each of them."""
    found: list[Got] = []
    errors: list[DynamoError | None] = []
    for get in gets:
        try:
            found.append(get(transaction))
            errors.append(None)
        except DynamoError as error:
            errors.append(_error_of_action(error))
    _cancel_where_any(errors)
    _refuse_duplicates([(got.table.number, got.key) for got in found])
    check_size(sum(got.row.size for got in found if got.row is not None))
    return found


def capacity_of_writes(wanted: str, actions: Sequence[Action], changes: Sequence[Change]) -> list[object]:
    """Return the ConsumedCapacity of a transaction that was applied."""
    parts = [
        (action.table_name, change.table, consumption(change).in_transaction())
        for action, change in zip(actions, changes, strict=True)
    ]
    return _capacities(wanted, "WriteCapacityUnits", parts)


def capacity_of_repetition(
    transaction: Transaction, wanted: str, actions: Sequence[Action], token: "Token"
) -> list[object]:
    """Return the ConsumedCapacity of a transaction that was applied before: a transactional read of its items."""
    parts = [
        (action.table_name, transaction.catalog.table(action.table_name), _transactional_read(size))
        for action, size in zip(actions, token.sizes, strict=True)
    ]
    return _capacities(wanted, "ReadCapacityUnits", parts)


def capacity_of_reads(wanted: str, found: Sequence[Got]) -> list[object]:
    """Return the ConsumedCapacity of a transaction that reads."""
    parts = [(got.table_name, got.table, _transactional_read(got.row.size if got.row else 0)) for got in found]
    return _capacities(wanted, "ReadCapacityUnits", parts)


def _transactional_read(size: int) -> Consumed:
    return Consumed(2 * read_units(size, consistent=True))


def _capacities(wanted: str, kind: str, parts: Sequence[tuple[str, Table, Consumed]]) -> list[object]:
    """The capacity consumed of each table, in the order in which the tables first occur."""
    tables: dict[int, tuple[str, Table, Consumed]] = {}
    for name, table, consumed in parts:
        tables.setdefault(table.number, (name, table, Consumed()))[2].add(consumed)
    return [describe_consumed(wanted, table, consumed, kind, name=name) for name, table, consumed in tables.values()]


class Token:
    """The idempotency token of a transaction: the same actions with the same token are applied once in ten minutes.

    `content` is what makes transactions the same, in a form that JSON can hold; the order of members doesn't matter.
    Each operation has its own tokens.
    """

    def __init__(self, operation: str, token: str | None, content: object) -> None:
        self._operation = operation
        self._token = token
        self._fingerprint = b"" if token is None else _fingerprint(content)
        self.sizes: list[int] = []
        """The sizes of the items when the transaction was applied, each before or after it, whichever was larger."""

    def was_used(self, transaction: Transaction) -> bool:
        """Return whether this transaction was applied already; raise if the token was used for a different one."""
        if self._token is None:
            return False
        found = transaction.sql(
            "SELECT fingerprint FROM tokens WHERE token = ? AND expires > ?",
            (self._stored_token(transaction), transaction.now),
        ).fetchone()
        if found is None:
            return False
        fingerprint, sizes = found[0][:_DIGEST], found[0][_DIGEST:]
        if fingerprint != self._fingerprint:
            raise DynamoError(
                "IdempotentParameterMismatchException",
                "The request uses the same client token as a previous, but non-identical request.",
            )
        self.sizes = orjson.loads(sizes)
        return True

    def remember(self, transaction: Transaction, sizes: list[int]) -> None:
        if self._token is None:
            return
        transaction.sql("DELETE FROM tokens WHERE expires <= ?", (transaction.now,))
        transaction.sql(
            "INSERT OR REPLACE INTO tokens VALUES (?, ?, ?)",
            (
                self._stored_token(transaction),
                self._fingerprint + orjson.dumps(sizes),
                transaction.now + TOKEN_SECONDS,
            ),
        )

    def _stored_token(self, transaction: Transaction) -> str:
        """The name of the token in the file: the accounts and regions choose their tokens independently."""
        scope = transaction.catalog.scope
        name = f"{self._operation}/{self._token}"
        return name if scope == HOME else f"{scope.account}/{scope.region}/{name}"


def _fingerprint(content: object) -> bytes:
    return hashlib.blake2b(orjson.dumps(content, option=orjson.OPT_SORT_KEYS), digest_size=_DIGEST).digest()
