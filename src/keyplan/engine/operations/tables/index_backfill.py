"""Filling an index that UpdateTable added: at once where the table is small, otherwise step by step."""

from copy import deepcopy
from typing import NamedTuple

from keyplan.engine.errors import DynamoError
from keyplan.engine.operations.tables.definitions import global_index
from keyplan.engine.storage.catalog import Index, Table
from keyplan.engine.storage.transaction import Transaction
from keyplan.engine.values.attribute_values import Item
from keyplan.engine.values.row_keys import check_key_sizes

BACKFILL_ROWS = 500
"""An index is filled in steps of so many items, with other writes in between."""


class Progress(NamedTuple):
    """How far an index is filled: its entries' SQLite table, which is never used twice, and an item's number."""

    rows: str
    behind: int


def backfill(transaction: Transaction, name: str, progress: Progress | None = None) -> Progress | None:
    """Fill one step of a table's new index; how far it is, or None when there is nothing more to do.

    Writes keep the entries of what they change meanwhile, so a step needs only look at each item as it is now.
    """
    table = transaction.catalog.tables.get(name)
    index = next((index for index in table.indexes if index.status == "CREATING"), None) if table else None
    if table is None or index is None:
        return None
    behind = progress.behind if progress and progress.rows == index.rows else 0
    rows = transaction.rows_where(table, "id > ? ORDER BY id LIMIT ?", (behind, BACKFILL_ROWS))
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
    """Whether the index has a place for an item that was written before there was an index to check it against."""
    if not index.schema.covers(item):
        return False
    try:
        check_key_sizes(index.schema, item)
    except DynamoError:
        return False
    return True
