"""Reads all of a file, and compares what belongs together: nothing is changed.

What is checked: the checksum of every page; SQLite's own structures, with the index on each time to live; each item
against its key and size; each index against its table; and that the records of streams and the definitions of tables
can be read. The file may be in use: everything but the checksums is read from one snapshot.
"""

import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

import apsw
import orjson

from keyplan.engine.operator.outcomes import Progress, no_progress
from keyplan.engine.storage.catalog import Index, Table
from keyplan.engine.storage.damage import PAGE_SIZE
from keyplan.engine.storage.file_creation import VFS
from keyplan.engine.storage.storage import Storage
from keyplan.engine.storage.transaction import ITEM_END, Transaction
from keyplan.engine.values.attribute_values import Item, item_size

MOST_PROBLEMS = 100
PAGE_TRIES = 5
"""A page that another process is writing can be read half old and half new."""
ITEMS_BETWEEN = 500
"""How often progress is shown."""


@dataclass
class Findings:
    """What was checked, and what is wrong."""

    pages: int = 0
    tables: int = 0
    items: int = 0
    entries: int = 0
    records: int = 0
    problems: list[str] = field(default_factory=list)

    def add(self, problem: str) -> None:
        if len(self.problems) < MOST_PROBLEMS:
            self.problems.append(problem)


def check_file(path: Path, progress: Progress = no_progress) -> Findings:
    """Check a file; raise `DamagedFile` if it can't be opened."""
    findings = Findings()
    storage = Storage(str(path), durability="normal", clock=time.time)
    try:
        _check_pages(path, findings, progress)
        with closing(storage.connect()) as connection:
            connection.execute("BEGIN")
            _check(connection, storage, findings, progress)
    finally:
        storage.close()
    return findings


def _check_pages(path: Path, findings: Findings, progress: Progress) -> None:
    """Read every page of the main file, through the VFS that verifies its checksum."""
    total = path.stat().st_size // PAGE_SIZE
    file = apsw.VFSFile(VFS, str(path), [apsw.SQLITE_OPEN_MAIN_DB | apsw.SQLITE_OPEN_READONLY, 0])
    try:
        file.xRead(100, 0)  # with the header, it learns that there are checksums
        for number in range(1, total + 1):
            if not _is_readable(file, number):
                findings.add(f"page {number}: its checksum is wrong")
            if number % ITEMS_BETWEEN == 0:
                progress(number, total)
    finally:
        file.xClose()
    findings.pages = total


def _is_readable(file: apsw.VFSFile, number: int) -> bool:
    for attempt in range(PAGE_TRIES):
        try:
            file.xRead(PAGE_SIZE, (number - 1) * PAGE_SIZE)
            return True
        except apsw.IOError:
            time.sleep(0.01 * attempt)
    return False


def _check(connection: apsw.Connection, storage: Storage, findings: Findings, progress: Progress) -> None:
    try:
        for (problem,) in connection.execute(f"PRAGMA integrity_check({MOST_PROBLEMS})"):
            if problem != "ok":
                findings.add(f"structure: {problem}")
        if findings.problems:
            return
        transaction = storage.transaction_on(connection)
        tables = [table for table in transaction.tables_everywhere() if _is_active(table)]
        total = sum(transaction.sql(f"SELECT count(*) FROM {table.rows}").get for table in tables)
        for table in tables:
            for _ in _check_table(transaction, table, findings):
                progress(findings.items, total)
        _check_streams(transaction, findings)
    except apsw.Error as error:
        findings.add(f"it can't be read: {error}")


def _is_active(table: Table) -> bool:
    return table.description.get("TableStatus") == "ACTIVE"


def _check_table(transaction: Transaction, table: Table, findings: Findings) -> Iterator[None]:
    indexes = [index for index in table.indexes if index.status == "ACTIVE"]
    counts = dict.fromkeys((index.name for index in indexes), 0)
    for key, number, size, stored in transaction.sql(f"SELECT key, id, size, item FROM {table.rows}"):
        findings.items += 1
        item = _item(stored)
        if item is None:
            findings.add(f"table {table.name}, row {number}: the item is incomplete")
            continue
        if table.row_key(item) != key:
            findings.add(f"table {table.name}, row {number}: the key isn't that of the item")
        if item_size(item) != size:
            findings.add(f"table {table.name}, row {number}: the size isn't that of the item")
        for index in indexes:
            entry = index.schema.try_row_key(item)
            if entry is not None:
                counts[index.name] += 1
                _check_entry(transaction, table, index, entry + key, number, findings)
        if findings.items % ITEMS_BETWEEN == 0:
            yield
    for index in indexes:
        count = transaction.count_entries(index)
        findings.entries += count
        if count != counts[index.name]:
            findings.add(
                f"table {table.name}, index {index.name}: {count} entries, but {counts[index.name]} items belong in it"
            )
    findings.tables += 1
    ttl = transaction.sql("SELECT count(*) FROM sqlite_schema WHERE name = ?", (f"{table.rows}_ttl",)).get
    if bool(ttl) != bool(table.definition["ttl"]):
        findings.add(f"table {table.name}: the index on the time to live doesn't match the table")


def _item(stored: bytes) -> Item | None:
    if not stored or stored[-1] != ITEM_END:
        return None
    try:
        return cast(Item, orjson.loads(stored))
    except orjson.JSONDecodeError:
        return None


def _check_entry(
    transaction: Transaction, table: Table, index: Index, key: bytes, number: int, findings: Findings
) -> None:
    found = transaction.sql(f"SELECT id FROM {index.rows} WHERE key = ?", (key,)).get
    if found != number:
        what = "has no entry" if found is None else "has the entry of another row"
        findings.add(f"table {table.name}, index {index.name}: row {number} {what}")


def _check_streams(transaction: Transaction, findings: Findings) -> None:
    for (number,) in transaction.sql("SELECT number FROM streams").fetchall():
        before: int | None = None
        for position, record in transaction.sql(f"SELECT number, record FROM s{number} ORDER BY number"):
            findings.records += 1
            if before is not None and position != before + 1:
                findings.add(f"stream {number}: records are missing between {before} and {position}")
            before = position
            if _item(record) is None:
                findings.add(f"stream {number}: record {position} can't be read")
