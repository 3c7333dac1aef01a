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

from keyplan.engine.errors import DynamoError
from keyplan.engine.executor import Answer
from keyplan.engine.expressions import Condition
from keyplan.engine.operations.items.consumed_capacity import Consumed, describe_consumed, write_consumption
from keyplan.engine.operations.items.item_requests import ItemRequest
from keyplan.engine.storage import stream_log
from keyplan.engine.storage.catalog import Index, Table
from keyplan.engine.storage.transaction import LONG_KEY, Row, Transaction
from keyplan.engine.values.attribute_values import MAXIMUM_ITEM_SIZE, Item, SizedItem, item_size
from keyplan.engine.values.row_keys import check_index_key

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
    index_keys: "IndexKeys | None" = None
    """Where the new item stands in the indexes, if that is known already."""

    @property
    def old_size(self) -> int:
        return self.row.size if self.row else 0

    @property
    def partition_key(self) -> Item:
        return {name: self.named[name] for name, _ in self.table.schema.hash}


IndexKeys: TypeAlias = list[bytes | None]
"""An item's row key in each index of its table, without the row key in the table; None where it is not in an index."""

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


def index_keys(table: Table, item: Item) -> IndexKeys:
    """The keys of an item that must fit the indexes."""
    quick: IndexKeys = [index.schema.quick(item) for index in table.indexes]
    if None not in quick:
        return quick
    check_index_keys(table, item)
    return [index.schema.row_key(item) if index.schema.covers(item) else None for index in table.indexes]


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
        stored = _stored(new)
        if row is None:
            number = transaction.insert(table, change.key, change.new_size, stored)
        else:
            number = row.number
            if stored != row.stored:
                transaction.replace(table, number, change.new_size, stored)
    _move_entries(transaction, change, number)
    if table.stream is not None and old != new:
        stream_log.append(transaction, table, old, new, user_identity)


def apply_all(transaction: Transaction, table: Table, changes: list[Change]) -> None:
    """Apply changes of different items of one table, of which it is not known yet what was there.

    Most are new items, and those are written together, which takes half the time.
    """
    rest = changes
    if table.stream is None:  # it has the changes in their order
        puts = [change for change in changes if change.new is not None and len(change.key) <= LONG_KEY]
        rest = _insert_all(transaction, table, puts)
        if len(puts) < len(changes):
            rest += [change for change in changes if change.new is None or len(change.key) > LONG_KEY]
    if not rest:
        return
    rows = transaction.rows(table, [change.key for change in rest])
    reads = needs_old(table)
    for change in rest:
        change.row = rows.get(change.key)
        change.old = change.row.item if change.row is not None and reads else None
        apply(transaction, change)


def _insert_all(transaction: Transaction, table: Table, changes: list[Change]) -> list[Change]:
    """Write the new items; the changes of those that are not new."""
    numbers = transaction.insert_new(table, [(change.key, change.new_size, _stored(change.new)) for change in changes])
    if table.indexes:
        fresh = [
            (change.index_keys or index_keys(table, change.named), change.key, number)
            for change, number in zip(changes, numbers, strict=True)
            if number is not None
        ]
        for position, index in enumerate(table.indexes):
            entries = [(front + key, n) for keys, key, n in fresh if (front := keys[position]) is not None]
            transaction.add_entries(index, entries)
    return (
        [change for change, number in zip(changes, numbers, strict=True) if number is None] if None in numbers else []
    )


def _stored(item: Item | None) -> bytes:
    return item.stored if type(item) is SizedItem else orjson.dumps(item)


def _move_entries(transaction: Transaction, change: Change, number: int) -> None:
    """Bring the entries of an item in the indexes in line; most writes leave the key of an index as it was."""
    old, new = change.old, change.new
    for position, index in enumerate(change.table.indexes):
        schema = index.schema
        if old is not None and new is not None and all(old.get(name) == new.get(name) for name in schema.names):
            continue
        if old is not None and schema.covers(old):
            transaction.remove_entry(index, schema.row_key(old) + change.key)
        entry = _new_entry(change, position, index)
        if entry is not None:
            transaction.add_entry(index, entry + change.key, number)


def _new_entry(change: Change, position: int, index: Index) -> bytes | None:
    """The front of the new item's key in one index; None where it is not in it."""
    if change.index_keys is not None:
        return change.index_keys[position]
    new = change.new
    return index.schema.row_key(new) if new is not None and index.schema.covers(new) else None


def needs_old(table: Table) -> bool:
    """Whether a write must know the item before even where its request does not."""
    return bool(table.indexes) or table.stream is not None


def consumption(change: Change) -> Consumed:
    """What the write consumed. The old item is decoded here where the write itself could do without."""
    old = change.old if change.old is not None or change.row is None else change.row.item
    return write_consumption(change.table, old, change.new, change.old_size, change.new_size)


def add_metrics(answer: Answer, request: ItemRequest, change: Change) -> None:
    """ConsumedCapacity and ItemCollectionMetrics, where they were asked for."""
    wanted = request.get("ReturnConsumedCapacity")
    if wanted is not None and wanted != "NONE":
        answer["ConsumedCapacity"] = describe_consumed(
            wanted, change.table, consumption(change), name=request["TableName"]
        )
    if request.get("ReturnItemCollectionMetrics") == "SIZE" and change.table.has_local_indexes:
        answer["ItemCollectionMetrics"] = collection_metrics(change)


def collection_metrics(change: Change) -> dict[str, object]:
    """The size of an item collection is an estimate in steps of a gigabyte; ours are under one."""
    return {"ItemCollectionKey": change.partition_key, "SizeEstimateRangeGB": [0.0, 1.0]}
