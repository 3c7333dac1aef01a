"""Reads all of a file, and compares what belongs together: nothing is changed.

What is checked: the checksum of every page; SQLite's own structures, with the index on each time to live; each item of
a table or a backup against its key and size; each index, also a vector index, against its table; and that the records
of streams and histories, and the definitions of tables, can be read. The file may be in use: everything but the
checksums is read from one snapshot.
"""

import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

import apsw
import orjson

from keyplan.engine.operations.backups.on_demand import BACKUP, Backup
from keyplan.engine.operator.outcomes import Progress, no_progress
from keyplan.engine.storage.catalog import Index, Table, VectorIndex, key_schema
from keyplan.engine.storage.damage import PAGE_SIZE, described
from keyplan.engine.storage.file_creation import VFS
from keyplan.engine.storage.records import list_records
from keyplan.engine.storage.storage import Storage
from keyplan.engine.storage.transaction import ITEM_END, Transaction
from keyplan.engine.values.attribute_values import Item, item_size
from keyplan.engine.values.row_keys import KeySchema
from keyplan.engine.vectors.entries import entry_for_backfill

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
    backups: int = 0
    changes: int = 0
    """Changes in histories, which point-in-time recovery keeps."""
    history_bytes: int = 0
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
        for table in transaction.tables_everywhere():
            if table.history is not None:
                _check_history(transaction, table, findings)
        _check_backups(transaction, findings)
        _check_streams(transaction, findings)
    except apsw.Error as error:
        findings.add(f"not all of it can be read: {described(error)}")


def _is_active(table: Table) -> bool:
    return table.description.get("TableStatus") == "ACTIVE"


def _check_table(transaction: Transaction, table: Table, findings: Findings) -> Iterator[None]:
    where = f"table {table.name}"
    indexes = [index for index in table.all_indexes if index.status == "ACTIVE"]
    counts = dict.fromkeys((index.name for index in indexes), 0)
    for key, number, item in _checked_rows(transaction, where, table.rows, table.schema, findings):
        findings.items += 1
        for index in indexes:
            if isinstance(index, VectorIndex):
                counts[index.name] += _check_vector(transaction, where, index, number, item, findings)
            elif (entry := index.schema.try_row_key(item)) is not None:
                counts[index.name] += 1
                _check_entry(transaction, where, index, entry + key, number, findings)
        if findings.items % ITEMS_BETWEEN == 0:
            yield
    for index in indexes:
        count: int = transaction.sql(f"SELECT count(*) FROM {index.rows}").get
        findings.entries += count
        if count != counts[index.name]:
            findings.add(f"{where}, index {index.name}: {count} entries, but {counts[index.name]} items belong in it")
    findings.tables += 1
    ttl = transaction.sql("SELECT count(*) FROM sqlite_schema WHERE name = ?", (f"{table.rows}_ttl",)).get
    if bool(ttl) != bool(table.definition["ttl"]):
        findings.add(f"{where}: the index on the time to live doesn't match the table")


def _checked_rows(
    transaction: Transaction, where: str, rows: str, schema: KeySchema, findings: Findings
) -> Iterator[tuple[bytes, int, Item]]:
    """Yield key, number and item of each row; an item that can't be read is only reported."""
    for key, number, size, stored in transaction.sql(f"SELECT key, id, size, item FROM {rows}"):
        item = _item(stored)
        if item is None:
            findings.add(f"{where}, row {number}: the item is incomplete")
            continue
        if schema.try_row_key(item) != key:
            findings.add(f"{where}, row {number}: the key isn't that of the item")
        if item_size(item) != size:
            findings.add(f"{where}, row {number}: the size isn't that of the item")
        yield key, number, item


def _item(stored: bytes) -> Item | None:
    if not stored or stored[-1] != ITEM_END:
        return None
    try:
        return cast(Item, orjson.loads(stored))
    except orjson.JSONDecodeError:
        return None


def _check_entry(
    transaction: Transaction, where: str, index: Index, key: bytes, number: int, findings: Findings
) -> None:
    found = transaction.sql(f"SELECT id FROM {index.rows} WHERE key = ?", (key,)).get
    if found != number:
        what = "has no entry" if found is None else "has the entry of another row"
        findings.add(f"{where}, index {index.name}: row {number} {what}")


def _check_vector(
    transaction: Transaction, where: str, index: VectorIndex, number: int, item: Item, findings: Findings
) -> bool:
    """Compare the entry of an item in a vector index; return whether it belongs there."""
    expected = entry_for_backfill(index, item)
    if expected is not None:
        sql = f"SELECT vector, keys FROM {index.rows} WHERE id = ?"
        found = transaction.sql(sql, (number,)).fetchone()
        if found != tuple(expected):
            what = "has no entry" if found is None else "has an entry that isn't that of its item"
            findings.add(f"{where}, index {index.name}: row {number} {what}")
    return expected is not None


def _check_history(transaction: Transaction, table: Table, findings: Findings) -> None:
    where, before = f"history of table {table.name}", None
    for number, item, size in transaction.sql(
        f"SELECT number, item, length(key) + coalesce(length(item), 0) FROM {table.history} ORDER BY number"
    ):
        findings.changes += 1
        findings.history_bytes += size
        if before is not None and number != before + 1:
            findings.add(f"{where}: changes are missing between {before} and {number}")
        before = number
        if item is not None and _item(item) is None:
            findings.add(f"{where}: change {number} can't be read")


def _check_backups(transaction: Transaction, findings: Findings) -> None:
    for arn, record in list_records(transaction, BACKUP):
        backup = cast(Backup, record)
        schema = key_schema(backup["table"]["KeySchema"], backup["table"]["AttributeDefinitions"])
        rows = sum(1 for _ in _checked_rows(transaction, f"backup {arn}", backup["rows"], schema, findings))
        expected = backup["table"]["ItemCount"]
        if backup["details"]["BackupStatus"] == "AVAILABLE" and rows != expected:
            findings.add(f"backup {arn}: {rows} items, but it had {expected}")
        findings.backups += 1


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
