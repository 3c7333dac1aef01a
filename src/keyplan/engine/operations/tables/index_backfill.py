"""Fills an index that UpdateTable added to a table with items, or all indexes of a restored table, step by step."""

from copy import deepcopy
from typing import NamedTuple

from keyplan.engine.operations.tables.definitions import global_index
from keyplan.engine.operations.tables.vector_indexes import vector_index
from keyplan.engine.storage.catalog import Index, Table, VectorIndex
from keyplan.engine.storage.copies import last_of_step
from keyplan.engine.storage.transaction import Row, Transaction
from keyplan.engine.vectors.entries import entry_for_backfill

BACKFILL_ROWS = 500
"""The number of items in one step; other writes run between the steps."""


class Progress(NamedTuple):
    """How far an index is filled: its SQLite table, whose name is never reused, and the number of the last item."""

    rows: str
    last: int


def backfill(transaction: Transaction, name: str, progress: Progress | None = None) -> Progress | None:
    """Run one step for a table's new index; return the progress, or None if the index is complete.

    Concurrent writes maintain the entries of the items they change, so a step only needs each item as it is now.
    """
    table = transaction.catalog.tables.get(name)
    index = next((index for index in table.all_indexes if index.status == "CREATING"), None) if table else None
    if table is None or index is None:
        return None
    last = progress.last if progress and progress.rows == index.rows else 0
    rows = transaction.rows_where(table, "id > ? ORDER BY id LIMIT ?", (last, BACKFILL_ROWS))
    for key, row in rows:
        _add(transaction, index, key, row)
    if len(rows) == BACKFILL_ROWS:
        return Progress(index.rows, rows[-1][1].number)
    definition = deepcopy(table.definition)
    find = vector_index if isinstance(index, VectorIndex) else global_index
    described = find(definition["description"], index.name)
    described["IndexStatus"] = "ACTIVE"
    described.pop("Backfilling", None)
    transaction.save(Table(table.number, definition))
    return None


def fill_all(transaction: Transaction, table: Table, after: int) -> int | None:
    """Add the entries of the next items of a table that nobody writes to, in all its indexes.

    Returns the number of the last of these items, or None at the end.
    """
    last, complete = last_of_step(transaction, table.rows, after)
    for key, row in transaction.rows_where(table, "id > ? AND id <= ?", (after, last)):
        for index in table.all_indexes:
            _add(transaction, index, key, row)
    return None if complete else last


def _add(transaction: Transaction, index: Index | VectorIndex, key: bytes, row: Row) -> None:
    """Add the entry of an item, unless it isn't in the index or was written before the index could refuse it."""
    if isinstance(index, VectorIndex):
        made = entry_for_backfill(index, row.item)
        if made is not None:
            transaction.put_vector(index, row.number, *made)
        return
    entry = index.schema.try_row_key(row.item)
    if entry is not None:
        transaction.add_entry(index, entry + key, row.number)
