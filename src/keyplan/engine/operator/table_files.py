"""A table as a file of lines: each line is `{"Item": ...}` in DynamoDB JSON, as in a full export of DynamoDB.

A name that ends in `.gz` means gzip. An export is of one moment. An import writes batches of new items into a table
that exists, replaces items with the same key, and goes on after a line that isn't an item.
"""

import gzip
import time
import zlib
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, cast
from uuid import uuid4

import orjson

from keyplan.engine.database import Database
from keyplan.engine.errors import DynamoError
from keyplan.engine.operator.file_copies import check_target, put_in_place, sync
from keyplan.engine.operator.outcomes import OperatorError, Progress, no_progress
from keyplan.engine.storage.file_watch import create_private
from keyplan.engine.storage.storage import Storage
from keyplan.engine.values.attribute_values import Item

LONGEST_LINE = 4 * 2**20
"""An item of 400 KB is at most about 2.4 MB as JSON, if every character is written as an escape."""
BATCH = 25
MOST_REPORTED = 20
SHOWN_EVERY = 500


@dataclass
class Imported:
    """How many items were written, and which lines weren't items."""

    items: int = 0
    bad: int = 0
    problems: list[str] = field(default_factory=list)

    def refuse(self, line: int, problem: str) -> None:
        self.bad += 1
        if len(self.problems) < MOST_REPORTED:
            self.problems.append(f"line {line}: {problem}")


def export_table(path: Path, table: str, target: Path, *, force: bool = False, progress: Progress = no_progress) -> int:
    """Write all items of a table to a file; return how many there are."""
    check_target(target, path, force=force)
    storage = Storage(str(path), durability="normal", clock=time.time)
    try:
        with closing(storage.connect()) as connection:
            connection.execute("BEGIN")
            transaction = storage.transaction_on(connection)
            found = transaction.catalog.tables.get(table)
            if found is None:
                raise no_table(table, path, sorted(transaction.catalog.tables))
            if found.is_being_created:
                raise _still_created(table)
            total: int = transaction.sql(f"SELECT count(*) FROM {found.rows}").get
            new = target.with_name(f"{target.name}.{uuid4().hex}.new")
            create_private(new)
            try:
                with _opened(new, target, "wb") as file:
                    for number, (item,) in enumerate(transaction.sql(f"SELECT item FROM {found.rows} ORDER BY key"), 1):
                        file.write(b'{"Item":' + item + b"}\n")
                        if number % SHOWN_EVERY == 0:
                            progress(number, total)
                sync(new)
                put_in_place(new, target, force=force)
            finally:
                new.unlink(missing_ok=True)
            return total
    finally:
        storage.close()


def no_table(table: str, path: Path, names: list[str]) -> OperatorError:
    there = f"It has {', '.join(names)}." if names else "It has no tables."
    return OperatorError(f"There is no table {table} in {path}. {there}")


def _still_created(table: str) -> OperatorError:
    return OperatorError(f"The table {table} is still being restored or imported. Try again later.")


def _check_table(database: Database, table: str, path: Path) -> None:
    """Refuse a table that doesn't exist, or can't be used yet."""
    names: list[str] = []
    request: dict[str, object] = {}
    while page := cast(list[str], database.execute("ListTables", request)["TableNames"]):
        names += page
        request = {"ExclusiveStartTableName": page[-1]}
    if table not in names:
        raise no_table(table, path, names)
    described = cast(dict[str, object], database.execute("DescribeTable", {"TableName": table})["Table"])
    if described["TableStatus"] == "CREATING":
        raise _still_created(table)


def import_table(path: Path, table: str, source: Path, *, progress: Progress = no_progress) -> Imported:
    """Write the items of a file to a table; lines that aren't items are counted and reported."""
    imported = Imported()
    size = source.stat().st_size
    database = Database(str(path))
    try:
        _check_table(database, table, path)
        with source.open("rb") as raw:
            file = cast(IO[bytes], gzip.GzipFile(fileobj=raw)) if source.suffix == ".gz" else raw
            batch: list[tuple[int, Item]] = []
            try:
                for line, item in _items(file, imported):
                    batch.append((line, item))
                    if len(batch) == BATCH:
                        _write(database, table, batch, imported)
                        batch = []
                        progress(raw.tell(), size)
            except (EOFError, OSError, zlib.error) as error:
                _write(database, table, batch, imported)
                raise OperatorError(
                    f"{source} can't be read to its end: {error}. {imported.items:,} items were imported."
                ) from error
            _write(database, table, batch, imported)
    finally:
        database.close()
    return imported


def _opened(file: Path, named: Path, mode: str) -> IO[bytes]:
    return cast(IO[bytes], gzip.open(file, mode) if named.suffix == ".gz" else file.open(mode))


def _items(file: IO[bytes], imported: Imported) -> Iterator[tuple[int, Item]]:
    """The items with their line numbers. A line that is too long is never in memory as a whole."""
    number = 0
    while line := file.readline(LONGEST_LINE):
        number += 1
        if len(line) == LONGEST_LINE and not line.endswith(b"\n"):
            imported.refuse(number, f"it has more than {LONGEST_LINE:,} bytes")
            while (rest := file.readline(LONGEST_LINE)) and not rest.endswith(b"\n"):
                pass
            continue
        if not line.strip():
            continue
        try:
            found = orjson.loads(line)
        except orjson.JSONDecodeError as error:
            imported.refuse(number, f"it isn't JSON: {error}")
            continue
        if not isinstance(found, dict) or not isinstance(found.get("Item"), dict):
            imported.refuse(number, 'it isn\'t an object with "Item"')
            continue
        yield number, found["Item"]


def _write(database: Database, table: str, batch: list[tuple[int, Item]], imported: Imported) -> None:
    """Write a batch at once; if that is refused, one by one, to find out which items are wrong."""
    if not batch:
        return
    requests = [{"PutRequest": {"Item": item}} for _, item in batch]
    with suppress(DynamoError):
        if not database.execute("BatchWriteItem", {"RequestItems": {table: requests}}).get("UnprocessedItems"):
            imported.items += len(batch)
            return
    for line, item in batch:
        try:
            database.execute("PutItem", {"TableName": table, "Item": item})
            imported.items += 1
        except DynamoError as error:
            if error.status != 400:
                raise OperatorError(f"Line {line} could not be written: {error.message}") from error
            imported.refuse(line, error.message)
