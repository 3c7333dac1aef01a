"""Fills an index that UpdateTable added to a table with items, step by step."""

from copy import deepcopy
from typing import NamedTuple

from keyplan.engine.errors import DynamoError
from keyplan.engine.operations.tables.definitions import global_index
from keyplan.engine.storage.catalog import Index, Table
from keyplan.engine.storage.transaction import Transaction
from keyplan.engine.values.attribute_values import Item
from keyplan.engine.values.row_keys import check_key_sizes

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
        item = row.item
        if _belongs(index, item):
            transaction.add_entry(index, index.schema.row_key(item) + key, row.number)
    if len(rows) == BACKFILL_ROWS:
        return Progress(index.rows, rows[-1][1].number)
    definition = deepcopy(table.definition)
    described = global_index(definition["description"], index.name)
    described["IndexStatus"] = "ACTIVE"
    described.pop("Backfilling", None)
    transaction.save(Table(table.number, definition))
    return None


def _belongs(index: Index, item: Item) -> bool:
    """Whether an item belongs into the index; it was written before the index could refuse it."""
    if not index.schema.covers(item):
        return False
    try:
        check_key_sizes(index.schema, item)
    except DynamoError:
        return False
    return True
