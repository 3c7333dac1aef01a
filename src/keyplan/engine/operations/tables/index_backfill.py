"""Fills an index that UpdateTable added to a table with items, step by step."""

from copy import deepcopy
from typing import NamedTuple

from keyplan.engine.operations.tables.definitions import global_index
from keyplan.engine.storage.catalog import Table
from keyplan.engine.storage.transaction import Transaction

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
    index = next((index for index in table.indexes if index.status == "CREATING"), None) if table else None
    if table is None or index is None:
        return None
    last = progress.last if progress and progress.rows == index.rows else 0
    rows = transaction.rows_where(table, "id > ? ORDER BY id LIMIT ?", (last, BACKFILL_ROWS))
    for key, row in rows:
        entry = index.schema.try_row_key(row.item)
        if entry is not None:  # else it isn't in the index, or was written before the index could refuse it
            transaction.add_entry(index, entry + key, row.number)
    if len(rows) == BACKFILL_ROWS:
        return Progress(index.rows, rows[-1][1].number)
    definition = deepcopy(table.definition)
    described = global_index(definition["description"], index.name)
    described["IndexStatus"] = "ACTIVE"
    described.pop("Backfilling", None)
    transaction.save(Table(table.number, definition))
    return None
