"""A table as a file of lines: each line is `{"Item": ...}` in DynamoDB JSON, as in a full export of DynamoDB.

An export whose name ends in `.gz` is compressed; an import sees from the content whether a file is. An export is of one
moment. An import writes batches of new items into a table
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
from keyplan.engine.executor import Answer, CalledOperation, Caller, Request
from keyplan.engine.operator.file_copies import check_target, put_in_place, sync
from keyplan.engine.operator.outcomes import OperatorError, Progress, damage_named, no_progress
from keyplan.engine.storage.catalog import Table, table_name
from keyplan.engine.storage.file_watch import create_private
from keyplan.engine.storage.scopes import HOME, scope_of
from keyplan.engine.storage.storage import Storage
from keyplan.engine.storage.transaction import Transaction
from keyplan.engine.values.attribute_values import Item

LONGEST_LINE = 4 * 2**20
"""An item of 400 KB is at most about 2.4 MB as JSON, if every character is written as an escape."""
GZIP = b"\x1f\x8b"
"""How each gzip file begins; no line of JSON does."""
BATCH = 25
MOST_REPORTED = 20
SHOWN_EVERY = 500


@dataclass
class TableImport:
    """How many items were written, and which lines weren't items."""

    items: int = 0
    bad: int = 0
    problems: list[tuple[int, str]] = field(default_factory=list)

    def refuse(self, line: int, problem: str) -> None:
        self.bad += 1
        if len(self.problems) < MOST_REPORTED:
            self.problems.append((line, problem))


def export_table(path: Path, table: str, target: Path, *, force: bool = False, progress: Progress = no_progress) -> int:
    """Write all items of a table to a file; return how many there are."""
    check_target(target, path, force=force)
    storage = Storage(str(path), durability="normal", clock=time.time)
    try:
        with closing(storage.connect()) as connection, damage_named(path):
            connection.execute("BEGIN")
            transaction = storage.transaction_on(connection)
            found = _usable_table(transaction, table, path)
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
            except OSError as error:
                raise OperatorError(f"{target} could not be written: {error.strerror or error}") from error
            finally:
                new.unlink(missing_ok=True)
            return total
    finally:
        storage.close()


def _usable_table(transaction: Transaction, named: str, path: Path) -> Table:
    """Return a table by its name, or by its ARN if it is of another account or region."""
    tables = {_shown(table): table for table in transaction.tables_everywhere()}
    table = tables.get(named.removeprefix(HOME.arn("table/")))
    if table is None:
        there = f"It has {', '.join(sorted(tables))}." if tables else "It has no tables."
        raise OperatorError(f"There is no table {named} in {path}. {there}")
    if table.is_being_created:
        raise OperatorError(f"The table {named} is still being restored or imported. Try again later.")
    return table


def _shown(table: Table) -> str:
    return table.name if scope_of(table.arn) == HOME else table.arn


def import_table(path: Path, table: str, source: Path, *, progress: Progress = no_progress) -> TableImport:
    """Write the items of a file to a table; lines that aren't items are counted and reported."""
    imported = TableImport()
    size = source.stat().st_size
    storage = Storage(str(path), durability="normal", clock=time.time)
    try:
        arn = storage.read(lambda transaction: _usable_table(transaction, table, path).arn)
    finally:
        storage.close()
    database = Database(str(path), regions="separate")
    try:
        put = _Put(database, arn)
        with source.open("rb") as raw:
            file = cast(IO[bytes], gzip.GzipFile(fileobj=raw)) if raw.peek(2)[:2] == GZIP else raw
            batch: list[tuple[int, Item]] = []
            try:
                for line, item in _items(file, imported):
                    batch.append((line, item))
                    if len(batch) == BATCH:
                        put.write(batch, imported)
                        batch = []
                        progress(raw.tell(), size)
            except KeyboardInterrupt:
                raise KeyboardInterrupt(f"At least {imported.items:,} items were imported.") from None
            except (EOFError, OSError, zlib.error) as error:
                put.write(batch, imported)
                raise OperatorError(
                    f"{source} can't be read to its end: {error}. {imported.items:,} items were imported."
                ) from error
            put.write(batch, imported)
    finally:
        database.close()
    imported.problems.sort()
    return imported


def _opened(file: Path, named: Path, mode: str) -> IO[bytes]:
    return cast(IO[bytes], gzip.open(file, mode) if named.suffix == ".gz" else file.open(mode))


def _items(file: IO[bytes], imported: TableImport) -> Iterator[tuple[int, Item]]:
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
            imported.refuse(number, f"it isn't JSON: {error.msg} (column {error.colno})")
            continue
        if not isinstance(found, dict) or not isinstance(found.get("Item"), dict):
            imported.refuse(number, 'it isn\'t an object with "Item"')
            continue
        yield number, found["Item"]


class _Put:
    """Puts items into a table of any account and region."""

    def __init__(self, database: Database, arn: str) -> None:
        scope = scope_of(arn)
        self._database, self._table = database, table_name(arn)
        self._caller = Caller(scope.account, scope.region, "")

    def write(self, batch: list[tuple[int, Item]], imported: TableImport) -> None:
        """Write a batch at once; if that is refused, one by one, to find out which items are wrong."""
        if not batch:
            return
        requests = [{"PutRequest": {"Item": item}} for _, item in batch]
        with suppress(DynamoError):
            if not self._execute("BatchWriteItem", {"RequestItems": {self._table: requests}}).get("UnprocessedItems"):
                imported.items += len(batch)
                return
        for line, item in batch:
            try:
                self._execute("PutItem", {"TableName": self._table, "Item": item})
                imported.items += 1
            except DynamoError as error:
                if error.status != 400:
                    raise OperatorError(f"Line {line} could not be written: {error.message}") from error
                imported.refuse(line, error.message)

    def _execute(self, operation: str, request: Request) -> Answer:
        return self._database.execute(CalledOperation.by(self._caller, operation), request)
