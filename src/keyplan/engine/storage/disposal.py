"""Frees SQLite tables that nothing uses any more.

Dropping a large table takes as long as reading it, and writers would have to wait. A small one is dropped at once; a
large one is noted as a record, emptied by maintenance in steps, and then dropped.
"""

from keyplan.engine.storage.records import delete_record, list_records, put_record
from keyplan.engine.storage.transaction import Transaction

UNUSED = "unused"
"""The kind of the records: their names are SQLite tables."""
STEP_ROWS = 200


def dispose(transaction: Transaction, rows: str) -> None:
    """Free a table, now or in steps."""
    if transaction.sql(f"SELECT count(*) FROM (SELECT 1 FROM {rows} LIMIT {STEP_ROWS + 1})").get > STEP_ROWS:
        put_record(transaction, UNUSED, rows, {})
    else:
        transaction.sql(f"DROP TABLE {rows}")


def unused(transaction: Transaction) -> list[str]:
    """Return the tables that aren't freed yet."""
    return [name for name, _ in list_records(transaction, UNUSED)]


def free_some(transaction: Transaction, rows: str) -> bool:
    """Run one step for a table; return whether there is more to do."""
    if rows not in unused(transaction):  # another process has finished it
        return False
    transaction.sql(f"DELETE FROM {rows} WHERE rowid IN (SELECT rowid FROM {rows} LIMIT {STEP_ROWS})")
    if transaction.sql(f"SELECT 1 FROM {rows} LIMIT 1").get is not None:
        return True
    transaction.sql(f"DROP TABLE {rows}")
    delete_record(transaction, UNUSED, rows)
    return False
