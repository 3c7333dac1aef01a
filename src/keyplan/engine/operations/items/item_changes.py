"""Changing one item: the three steps of every write, alone, in a batch or in a transaction.

*Preparing* a write checks the request by itself. *Deciding* it reads the item, evaluates the condition and computes
the new item; the result is a `Change`. *Applying* the change writes the item, its index entries and its stream
record. Applying can't fail, so that a transaction can decide all of its writes before it applies the first one.
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
from keyplan.engine.vectors.entries import Entries, entries_of, in_index, same_entry

MOST_LOCAL_INDEXES = 5


@dataclass(slots=True)
class Change:
    """A write that was decided. `new` is None for a delete; `old` is None if there was no item."""

    table: Table
    key_item: Item
    """An item or key with the table's key attributes."""
    key: bytes
    row: Row | None
    old: Item | None
    new: Item | None
    new_size: int
    index_keys: "IndexKeys | None" = None
    """The keys of the new item in the indexes, if they are known already."""
    entries: Entries | None = None
    """The entries of the new item in the vector indexes, if they are known already."""

    @property
    def old_size(self) -> int:
        return self.row.size if self.row else 0

    @property
    def partition_key(self) -> Item:
        return {name: self.key_item[name] for name, _ in self.table.schema.hash}


IndexKeys: TypeAlias = list[bytes | None]
"""An item's row key in each index of its table, without the row key in the table; None if it isn't in that index."""

Decide: TypeAlias = Callable[[Transaction], Change]
"""A prepared write: reads the item and returns the change to make."""


def check_index_keys(table: Table, item: Item) -> None:
    """Refuse an item that doesn't fit the key of an index."""
    for index in table.indexes:
        check_index_key(index.schema, index.name, item)


def index_keys(table: Table, item: Item) -> IndexKeys:
    """Return the keys of an item in the indexes; refuse an item that doesn't fit one of them."""
    keys: IndexKeys = [row_key(item) for row_key in table.index_row_keys]
    if None in keys:
        check_index_keys(table, item)
    return keys


def vector_entries(table: Table, item: Item) -> Entries | None:
    """Return the entries of an item in the vector indexes; refuse an item that doesn't fit one of them."""
    return entries_of(table, item) if table.vector_indexes else None


def size_with_local_indexes(table: Table, item: Item, size: int) -> int:
    """Return the size that counts for the limit: an item and its entries in local indexes share the 400 KB."""
    if not table.has_local_indexes or size * (1 + MOST_LOCAL_INDEXES) <= MAXIMUM_ITEM_SIZE:
        return size
    local = [index for index in table.indexes if not index.is_global and index.schema.covers(item)]
    return size + sum(size if index.holds_all else item_size(index.project(item)) for index in local)


def check_condition(request: ItemRequest, condition: Condition | None, row: Row | None, old: Item | None) -> None:
    """Raise AWS's error if the condition isn't met, with the item if the request asks for it."""
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
        stored = new.stored if type(new) is SizedItem else orjson.dumps(new)
        if row is None:
            number = transaction.insert(table, change.key, change.new_size, stored)
        else:
            number = row.number
            if stored != row.stored:
                transaction.replace(table, number, change.new_size, stored)
    if table.indexes:
        _move_entries(transaction, change, number)
    if table.vector_indexes and old is not new:
        _move_vectors(transaction, change, number)
    if table.stream is not None and old != new:
        stream_log.append(transaction, table, old, new, user_identity)


def apply_all(transaction: Transaction, table: Table, changes: list[Change]) -> None:
    """Apply changes to different items of one table whose old items haven't been read.

    Most of them are new items, which are written together; that takes half the time.
    """
    rest = changes
    if table.stream is None:  # a stream needs the changes in their order
        puts = [change for change in changes if change.new is not None and len(change.key) <= LONG_KEY]
        rest = _insert_all(transaction, table, puts)
        if len(puts) < len(changes):
            rest += [change for change in changes if change.new is None or len(change.key) > LONG_KEY]
    if not rest:
        return
    rows = transaction.rows(table, [change.key for change in rest])
    reads = table.needs_old_items
    for change in rest:
        change.row = rows.get(change.key)
        change.old = change.row.item if change.row is not None and reads else None
        apply(transaction, change)


def _insert_all(transaction: Transaction, table: Table, changes: list[Change]) -> list[Change]:
    """Write the items that are new; return the changes of the others."""
    numbers = transaction.insert_new(table, [(change.key, change.new_size, _stored(change.new)) for change in changes])
    if table.indexes:
        fresh = [
            (change.index_keys or index_keys(table, change.key_item), change.key, number)
            for change, number in zip(changes, numbers, strict=True)
            if number is not None
        ]
        for position, index in enumerate(table.indexes):
            entries = [(front + key, n) for keys, key, n in fresh if (front := keys[position]) is not None]
            transaction.add_entries(index, entries)
    if table.vector_indexes:
        for change, number in zip(changes, numbers, strict=True):
            if number is not None:
                _move_vectors(transaction, change, number)
    return (
        [change for change, number in zip(changes, numbers, strict=True) if number is None] if None in numbers else []
    )


def _stored(item: Item | None) -> bytes:
    return item.stored if type(item) is SizedItem else orjson.dumps(item)


def _move_entries(transaction: Transaction, change: Change, number: int) -> None:
    """Update the index entries of an item; most writes don't change an index key."""
    old, new = change.old, change.new
    for position, index in enumerate(change.table.indexes):
        schema = index.schema
        if old is not None and new is not None:
            for name in schema.names:
                if old.get(name) != new.get(name):
                    break
            else:
                continue
        if old is not None and (entry := schema.try_row_key(old)) is not None:
            transaction.remove_entry(index, entry + change.key)
        entry = _new_entry(change, position, index)
        if entry is not None:
            transaction.add_entry(index, entry + change.key, number)


def _new_entry(change: Change, position: int, index: Index) -> bytes | None:
    """The new item's key in one index, without its row key in the table; None if it isn't in the index."""
    if change.index_keys is not None:
        return change.index_keys[position]
    return None if change.new is None else index.schema.try_row_key(change.new)


def _move_vectors(transaction: Transaction, change: Change, number: int) -> None:
    """Update the entries of an item in the vector indexes; a write that changes nothing in them costs nothing."""
    table, old, new = change.table, change.old, change.new
    entries = change.entries
    if entries is None and new is not None:
        entries = entries_of(table, new)
    for position, index in enumerate(table.vector_indexes):
        entry = None if entries is None else entries[position]
        if entry is None:
            if in_index(index, old):
                transaction.remove_vector(index, number)
        elif old is None or new is None or not in_index(index, old) or not same_entry(index, old, new):
            transaction.put_vector(index, number, *entry)


def consumption(change: Change) -> Consumed:
    """Return what the write consumed. The old item is decoded here if the write itself didn't need it."""
    old = change.old if change.old is not None or change.row is None else change.row.item
    return write_consumption(change.table, old, change.new, change.old_size, change.new_size)


def add_metrics(answer: Answer, request: ItemRequest, change: Change) -> None:
    """Add ConsumedCapacity and ItemCollectionMetrics to the answer if the request asks for them."""
    wanted = request.get("ReturnConsumedCapacity")
    if wanted is not None and wanted != "NONE":
        answer["ConsumedCapacity"] = describe_consumed(
            wanted, change.table, consumption(change), name=request["TableName"]
        )
    if request.get("ReturnItemCollectionMetrics") == "SIZE" and change.table.has_local_indexes:
        answer["ItemCollectionMetrics"] = collection_metrics(change)


def collection_metrics(change: Change) -> dict[str, object]:
    """Return the ItemCollectionMetrics of a change; the size is an estimate in GB, and always under one here."""
    return {"ItemCollectionKey": change.partition_key, "SizeEstimateRangeGB": [0.0, 1.0]}
