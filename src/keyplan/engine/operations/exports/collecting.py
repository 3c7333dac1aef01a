"""Collects what an export writes, in steps: the items as of a moment, or the items that changed in a period.

A full export is a copy of the rows (`storage/copies.py`). For an incremental one, the history of the period is walked
back: the first entry of an item that is met is its last change, and the last one that is met has what it was before.
What an item was at the end of the period is read from the table, and put right by the changes since then, which are
walked back afterwards, so that it doesn't matter when it is read.
"""

from typing import NotRequired, TypedDict, cast

from keyplan.engine.operations.jobs import end_job, get_job, release_history, save_job
from keyplan.engine.storage import history
from keyplan.engine.storage.catalog import Table
from keyplan.engine.storage.copies import STEP_BYTES, STEP_ROWS, Copy, copy_some, new_rows, start_copy
from keyplan.engine.storage.disposal import dispose
from keyplan.engine.storage.transaction import Transaction


class Changes(TypedDict):
    """The collection of an incremental export; numbers are those of entries of the history."""

    source: str
    target: str
    history: str
    start: int
    """The last change before the period."""
    end: int
    """The last change in the period."""
    next: int
    """The next change to look at."""
    since: NotRequired[int]
    """The next change after the period to undo; absent while the period is walked."""


class Collection(TypedDict):
    """What an export collects: one of the two."""

    copy: NotRequired[Copy]
    changes: NotRequired[Changes]


def full_collection(transaction: Transaction, table: Table, second: int) -> Collection:
    """Return the collection of all items as of the end of a second."""
    start = history.newest_before(transaction, table, second + 1)
    return {"copy": start_copy(table.rows, new_rows(transaction), table.history, start)}


def incremental_collection(transaction: Transaction, table: Table, start: int, end: int) -> Collection:
    """Return the collection of the items that changed from the start of one second to the start of another."""
    assert table.history is not None
    number: int = transaction.sql("INSERT INTO tables(definition) VALUES (x'') RETURNING number").get
    transaction.sql("DELETE FROM tables WHERE number = ?", (number,))
    target = f"c{number}"
    transaction.sql(
        f"CREATE TABLE {target}(id INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, at REAL NOT NULL, "
        "size INTEGER NOT NULL, old BLOB, new BLOB)"
    )
    last = history.newest_before(transaction, table, end)
    changes: Changes = {
        "source": table.rows,
        "target": target,
        "history": table.history,
        "start": history.newest_before(transaction, table, start),
        "end": last,
        "next": last,
    }
    return {"changes": changes}


def target_of(collection: Collection) -> str:
    return collection["copy"]["target"] if "copy" in collection else collection["changes"]["target"]


def first_change(collection: Collection) -> int:
    """Return the number of the change after which the collection needs the history."""
    return collection["copy"]["start"] if "copy" in collection else collection["changes"]["start"]


def collect_some(transaction: Transaction, name: str) -> bool:
    """Run one step of an export's job; return whether there is more to collect."""
    job = get_job(transaction, name)
    if job is None or job["table"] is None:
        return False
    collection = cast(Collection, job["collection"])
    if "copy" in collection:
        more = copy_some(transaction, collection["copy"])
    else:
        more = _collect_changes(transaction, collection["changes"])
    if not more:
        # What is collected doesn't need the table any more.
        source, job["table"] = cast(str, job["table"]), None
        save_job(transaction, name, job)
        release_history(transaction, source)
        return False
    save_job(transaction, name, job)
    return True


def _collect_changes(transaction: Transaction, changes: Changes) -> bool:
    if changes["next"] > changes["start"]:
        changes["next"] = _collect_step(transaction, changes)
    elif "since" not in changes:
        changes["since"] = transaction.sql(f"SELECT coalesce(max(number), 0) FROM {changes['history']}").get
    else:
        changes["since"] = _correct_step(transaction, changes, changes["since"])
    return changes["next"] > changes["start"] or changes.get("since", changes["end"] + 1) > changes["end"]


def _collect_step(transaction: Transaction, changes: Changes) -> int:
    """Note the items of the newest changes that weren't looked at yet; return the next one."""
    target, total, last = changes["target"], 0, changes["start"] + 1
    for number, at, key, size, item in _entries(transaction, changes["history"], changes["start"], changes["next"]):
        transaction.sql(
            f"INSERT INTO {target}(key, at, size, old, new) "
            f"VALUES (?1, ?2, ?3, ?4, (SELECT item FROM {changes['source']} WHERE key = ?1)) "
            "ON CONFLICT(key) DO UPDATE SET old = excluded.old, size = size + excluded.size",
            (key, at, size, item),
        )
        last, total = number, total + size
        if total > STEP_BYTES:
            break
    return last - 1


def _correct_step(transaction: Transaction, changes: Changes, since: int) -> int:
    """Put right what the items were at the end of the period, by the changes since then."""
    last = changes["end"] + 1
    for number, _, key, _, item in _entries(transaction, changes["history"], changes["end"], since):
        transaction.sql(f"UPDATE {changes['target']} SET new = ? WHERE key = ?", (item, key))
        last = number
    return last - 1


_Entry = tuple[int, float, bytes, int, bytes | None]


def _entries(transaction: Transaction, log: str, after: int, last: int) -> list[_Entry]:
    """Return the entries of one step, the newest first."""
    found = transaction.sql(
        f"SELECT number, at, key, size, item FROM {log} WHERE number > ? AND number <= ? "
        f"ORDER BY number DESC LIMIT {STEP_ROWS}",
        (after, last),
    ).fetchall()
    return cast("list[_Entry]", found)


def end_export(transaction: Transaction, name: str) -> None:
    """End an export's job, and free what it has collected."""
    job = get_job(transaction, name)
    if job is not None:
        end_job(transaction, name)
        dispose(transaction, target_of(cast(Collection, job["collection"])))
        if job["table"] is not None:
            release_history(transaction, cast(str, job["table"]))
