"""The history of a table: what its items were before each change, in the order of the changes.

It is recorded while point-in-time recovery is on, or while something copies the table as of one moment; otherwise
writes don't know of it. An entry has a number without gaps, the time, the row key, and the item before the change, or
nothing if there was none. Walking back from the newest entry, and putting back what each one has, leads to the table
as of any moment since the first entry. So recovery needs no copy of the table, and costs one entry for each write.

Several copies, and recovery, can need the history at once: it is recorded until `release` finds no user.
"""

from copy import deepcopy

from keyplan.engine.storage.catalog import Recovery, Table
from keyplan.engine.storage.disposal import dispose
from keyplan.engine.storage.numbered_log import last_before, last_number
from keyplan.engine.storage.transaction import Transaction

SECONDS_OF_A_DAY = 86_400.0
TRIM_ENTRIES = 300
"""Entries deleted in one transaction, with other writes in between."""
MEASURED_ENTRIES = 1_000


def record(transaction: Transaction, table: Table) -> Table:
    """Start recording, unless the history is recorded already; return the table with its history."""
    if table.history is not None:
        return table
    definition = deepcopy(table.definition)
    number = definition.get("histories", 0) + 1
    definition["histories"] = number
    definition["history"] = f"h{table.number}_{number}"
    transaction.sql(
        f"CREATE TABLE {definition['history']}(number INTEGER PRIMARY KEY, at REAL NOT NULL, key BLOB NOT NULL, "
        "size INTEGER NOT NULL, item BLOB)"
    )
    return _save(transaction, Table(table.number, definition))


def set_recovery(transaction: Transaction, table: Table, days: int) -> Table:
    """Turn recovery on, or change its period; a longer period doesn't bring back what was trimmed."""
    table = record(transaction, table)
    definition = deepcopy(table.definition)
    since = earliest(table, transaction.now) if table.recovery else transaction.now
    definition["recovery"] = Recovery(days=days, since=since)
    return _save(transaction, Table(table.number, definition))


def end_recovery(transaction: Transaction, table: Table) -> Table:
    """Turn recovery off. The history stays until `release` frees it."""
    definition = deepcopy(table.definition)
    definition.pop("recovery", None)
    return _save(transaction, Table(table.number, definition))


def release(transaction: Transaction, table: Table) -> None:
    """Stop recording and free the history, unless recovery needs it."""
    if table.history is None or table.recovery is not None:
        return
    dispose(transaction, table.history)
    definition = deepcopy(table.definition)
    del definition["history"]
    _save(transaction, Table(table.number, definition))


def _save(transaction: Transaction, table: Table) -> Table:
    transaction.save(table)
    return table


def earliest(table: Table, now: float) -> float:
    """Return the earliest moment that a table with recovery can be restored to."""
    recovery = table.recovery
    assert recovery is not None
    return max(recovery["since"], now - recovery["days"] * SECONDS_OF_A_DAY)


def newest(transaction: Transaction, table: Table) -> int:
    """Return the number of the last change so far."""
    assert table.history is not None
    return last_number(transaction, table.history)


def newest_before(transaction: Transaction, table: Table, moment: float) -> int:
    """Return the number of the last change before a moment.

    A clock that was set back makes the times of some changes wrong. Still, everything so far comes before the end of
    the current second, and before any moment that the newest change comes before.
    """
    assert table.history is not None
    number = newest(transaction, table)
    at: float | None = transaction.sql(f"SELECT at FROM {table.history} WHERE number = ?", (number,)).get
    if at is not None and (at < moment or moment > transaction.now):
        return number
    return last_before(transaction, table.history, moment)


def trim(transaction: Transaction, table: Table, needed: int | None = None) -> bool:
    """Delete some entries from before the recovery period; return whether there may be more.

    Entries after the number `needed` stay, and so does the newest one, because its number must not be reused.
    """
    if table.history is None or table.recovery is None:
        return False
    first: int | None = transaction.sql(f"SELECT min(number) FROM {table.history}").get
    if first is None:
        return False
    last = min(newest_before(transaction, table, earliest(table, transaction.now)), newest(transaction, table) - 1)
    if needed is not None:
        last = min(last, needed)
    stop = min(last, first + TRIM_ENTRIES - 1)
    transaction.sql(f"DELETE FROM {table.history} WHERE number <= ?", (stop,))
    return stop < last


def size(transaction: Transaction, table: Table) -> tuple[int, int]:
    """Return the number of changes in the history of a table and their bytes, estimated from the newest ones."""
    if table.history is None:
        return 0, 0
    first: int | None = transaction.sql(f"SELECT min(number) FROM {table.history}").get
    if first is None:
        return 0, 0
    count = newest(transaction, table) - first + 1
    average: float = transaction.sql(
        "SELECT avg(bytes) FROM (SELECT length(key) + coalesce(length(item), 0) AS bytes "
        f"FROM {table.history} ORDER BY number DESC LIMIT {MEASURED_ENTRIES})"
    ).get
    return count, int(count * average)


def sizes(transaction: Transaction) -> dict[str, tuple[int, int]]:
    """Return the sizes of all histories by the names of their tables."""
    tables = transaction.catalog.tables.values()
    return {table.name: size(transaction, table) for table in tables if table.history is not None}
