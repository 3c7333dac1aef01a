"""Changing one item: the path that every write takes, alone, in a batch or in a transaction.

A write has three steps. *Preparing* it checks the request alone. *Deciding* it reads the item, evaluates the
condition and works out the item to be, which gives a `Change`. *Applying* the change writes the item, its index
entries and its stream record. Nothing fails any more once a change is being applied, so that a transaction can decide
all of its writes before it applies the first.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import orjson

from keyplan.engine import capacity, streams
from keyplan.engine.catalog import Index, Table
from keyplan.engine.errors import DynamoError
from keyplan.engine.expressions import Condition
from keyplan.engine.keys import check_index_key
from keyplan.engine.operations.requests import Answer, ItemRequest
from keyplan.engine.transaction import Row, Transaction
from keyplan.engine.values import MAXIMUM_ITEM_SIZE, Item, item_size

MOST_LOCAL_INDEXES = 5


@dataclass(slots=True)
class Change:
    """A write that was decided. `new` is None for a delete; `old` is None where there was no item."""

    table: Table
    named: Item
    """An item or key that has the table's key attributes."""
    key: bytes
    row: Row | None
    old: Item | None
    new: Item | None
    new_size: int

    @property
    def old_size(self) -> int:
        return self.row.size if self.row else 0

    @property
    def partition_key(self) -> Item:
        return {name: self.named[name] for name, _ in self.table.schema.hash}


Decide: TypeAlias = Callable[[Transaction], Change]
"""A prepared write: reads the item and says what is to be done."""


def check_index_keys(table: Table, item: Item) -> None:
    """Refuse an item that does not fit the key of an index; where several refuse it, the first by name is named."""
    try:
        for index in table.indexes:
            check_index_key(index.schema, index.name, item)
    except DynamoError:
        for index in sorted(table.indexes, key=lambda index: index.name):
            check_index_key(index.schema, index.name, item)
        raise


def size_with_local_indexes(table: Table, item: Item, size: int) -> int:
    """The size that is held to the limit: an item and its entries in local indexes share the 400 KB."""
    if not table.has_local_indexes or size * (1 + MOST_LOCAL_INDEXES) <= MAXIMUM_ITEM_SIZE:
        return size
    local = [index for index in table.indexes if not index.is_global and index.schema.covers(item)]
    return size + sum(size if index.holds_all else item_size(index.project(item)) for index in local)


def check_condition(request: ItemRequest, condition: Condition | None, row: Row | None, old: Item | None) -> None:
    """Raise where the condition does not hold, with the item where it was asked for."""
    if condition is None or condition.matches(old):
        return
    extra: dict[str, object] = {}
    if row is not None and request.get("ReturnValuesOnConditionCheckFailure") == "ALL_OLD":
        extra["Item"] = orjson.Fragment(row.stored)
    raise DynamoError("ConditionalCheckFailedException", "The conditional request failed", extra=extra)


def apply(transaction: Transaction, change: Change, user_identity: dict[str, str] | None = None) -> None:
    """Write the item, its index entries and its stream record."""
    table, row, old, new = change.table, change.row, change.old, change.new
    if new is None:
        if row is None:
            return
        transaction.delete(table, row.number)
        number = row.number
    else:
        stored = orjson.dumps(new)
        if row is None:
            number = transaction.insert(table, change.key, change.new_size, stored)
        else:
            number = row.number
            if stored != row.stored:
                transaction.replace(table, number, change.new_size, stored)
    for index in table.indexes:
        _move_entry(transaction, index, change.key, number, old, new)
    if table.stream is not None and old != new:
        streams.append(transaction, table, old, new, user_identity)


def _move_entry(
    transaction: Transaction, index: Index, key: bytes, number: int, old: Item | None, new: Item | None
) -> None:
    """Bring the entry of one item in one index in line; most writes leave the index's key as it was."""
    schema = index.schema
    if old is not None and new is not None and all(old.get(name) == new.get(name) for name in schema.names):
        return
    if old is not None and schema.covers(old):
        transaction.remove_entry(index, schema.row_key(old) + key)
    if new is not None and schema.covers(new):
        transaction.add_entry(index, schema.row_key(new) + key, number)


def needs_old(table: Table) -> bool:
    """Whether a write must know the item before even where its request does not."""
    return bool(table.indexes) or table.stream is not None


def consumption(change: Change) -> capacity.Consumed:
    """What the write consumed. The old item is decoded here where the write itself could do without."""
    old = change.old if change.old is not None or change.row is None else change.row.item
    return capacity.write_consumption(change.table, old, change.new, change.old_size, change.new_size)


def add_metrics(answer: Answer, request: ItemRequest, change: Change) -> None:
    """ConsumedCapacity and ItemCollectionMetrics, where they were asked for."""
    wanted = request.get("ReturnConsumedCapacity")
    if wanted is not None and wanted != "NONE":
        answer["ConsumedCapacity"] = capacity.describe(
            wanted, change.table, consumption(change), name=request["TableName"]
        )
    if request.get("ReturnItemCollectionMetrics") == "SIZE" and change.table.has_local_indexes:
        answer["ItemCollectionMetrics"] = collection_metrics(change)


def collection_metrics(change: Change) -> dict[str, object]:
    """The size of an item collection is an estimate in steps of a gigabyte; ours are under one."""
    return {"ItemCollectionKey": change.partition_key, "SizeEstimateRangeGB": [0.0, 1.0]}
