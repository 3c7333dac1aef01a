"""Copies the rows of a table as of one moment into another SQLite table, in steps between other writes.

First the rows are copied in the order of their numbers; what is written meanwhile may be in the copy or not. Then the
history is walked back from the newest change to the moment, and each item is put back as it was before the change.
Rows that nobody changes any more, those of a backup, need no history.

A `Copy` is the state of this work, and can be stored in a record: every step is a transaction of its own, and any
process can run the next one.
"""

from typing import TypedDict, cast

from keyplan.engine.storage.transaction import Transaction

STEP_ROWS = 150
STEP_BYTES = 200_000
"""What one step copies at most, in about a millisecond; other writes run between the steps."""
SMALL_ROWS = 500
SMALL_BYTES = 1_000_000
"""What is copied at once, in the request that asks for it."""


class Copy(TypedDict):
    """How far a copy is."""

    source: str
    target: str
    history: str | None
    start: int
    """The number of the last change that belongs into the copy."""
    copied: int | None
    """The number of the last row that was copied; None when all were."""
    undo: int
    """The number of the next change to undo."""


def new_rows(transaction: Transaction) -> str:
    """Create an empty SQLite table for a table's rows that isn't part of the catalog; return its name."""
    number: int = transaction.sql("INSERT INTO tables(definition) VALUES (x'') RETURNING number").get
    transaction.sql("DELETE FROM tables WHERE number = ?", (number,))
    rows = f"t{number}"
    transaction.create_rows(rows)
    return rows


def start_copy(source: str, target: str, history: str | None = None, start: int = 0) -> Copy:
    """Return a new copy; `start` is the number of the last change that belongs into it."""
    return {"source": source, "target": target, "history": history, "start": start, "copied": 0, "undo": 0}


def is_small(transaction: Transaction, rows: str) -> bool:
    """Return whether a table is so small that it is copied at once."""
    count, size = cast(
        tuple[int, int],
        transaction.sql(
            f"SELECT count(*), CAST(total(size) AS INTEGER) FROM (SELECT size FROM {rows} LIMIT {SMALL_ROWS + 1})"
        ).fetchone(),
    )
    return count <= SMALL_ROWS and size <= SMALL_BYTES


def copy_some(transaction: Transaction, copy: Copy) -> bool:
    """Run one step, and note it in the copy; return whether there is more to do."""
    copied = copy["copied"]
    if copied is not None:
        _copy_rows(transaction, copy, copied)
    else:
        _undo_changes(transaction, copy)
    return not is_complete(copy)


def is_complete(copy: Copy) -> bool:
    return copy["copied"] is None and copy["undo"] <= copy["start"]


def _copy_rows(transaction: Transaction, copy: Copy, after: int) -> None:
    source, target = copy["source"], copy["target"]
    last, complete = last_of_step(transaction, source, after)
    # An item that was deleted and made again is met twice.
    transaction.sql(
        f"INSERT OR REPLACE INTO {target}(key, size, item) SELECT key, size, item FROM {source} "
        "WHERE id > ? AND id <= ? ORDER BY id",
        (after, last),
    )
    copy["copied"] = None if complete else last
    if complete and copy["history"] is not None:
        copy["undo"] = transaction.sql(f"SELECT coalesce(max(number), 0) FROM {copy['history']}").get


def last_of_step(transaction: Transaction, rows: str, after: int) -> tuple[int, bool]:
    """Return the number of the last row that one step after this row can take, and whether it is the last of all."""
    found = cast(
        list[tuple[int, int]],
        transaction.sql(f"SELECT id, size FROM {rows} WHERE id > ? ORDER BY id LIMIT {STEP_ROWS}", (after,)).fetchall(),
    )
    total, last = 0, after
    for number, size in found:
        total += size
        if total > STEP_BYTES and last > after:
            return last, False
        last = number
    return last, len(found) < STEP_ROWS


def _undo_changes(transaction: Transaction, copy: Copy) -> None:
    """Put back the items before the newest changes that aren't undone yet."""
    entries = transaction.sql(
        f"SELECT number, key, size, item FROM {copy['history']} WHERE number > ? AND number <= ? "
        f"ORDER BY number DESC LIMIT {STEP_ROWS}",
        (copy["start"], copy["undo"]),
    )
    total, undone = 0, copy["start"] + 1
    with_items: list[tuple[int, bytes, int, bytes | None]] = []
    for number, key, size, item in cast("list[tuple[int, bytes, int, bytes | None]]", entries):
        with_items.append((number, key, size, item))
        undone = number
        total += size
        if total > STEP_BYTES:
            break
    entries.close()
    for _, key, size, item in with_items:
        if item is None:
            transaction.sql(f"DELETE FROM {copy['target']} WHERE key = ?", (key,))
        else:
            transaction.sql(
                f"INSERT OR REPLACE INTO {copy['target']}(key, size, item) VALUES (?, ?, ?)", (key, size, item)
            )
    copy["undo"] = undone - 1
