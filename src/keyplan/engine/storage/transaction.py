"""A storage transaction as an operation sees it: items and index entries by row key."""

import math
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple, TypeAlias, cast

import apsw
import orjson

from keyplan.engine.errors import DamagedFile
from keyplan.engine.storage.catalog import Catalog, Definition, Index, Table, VectorIndex
from keyplan.engine.storage.regional_tables import Everything
from keyplan.engine.storage.scopes import Place, Scope
from keyplan.engine.values.attribute_values import Item
from keyplan.engine.values.row_keys import prefix_end

EXACTLY_MEASURED = 10_000
"""The size of a table with up to this many items is exact; of a larger table it is estimated."""

ITEM_END = ord("}")
"""The last byte of every stored item.

A page of zeros has a correct checksum. SQLite detects it if the page has a structure, but not if the page is the end of
something long: an item, which then ends with zeros; or a key, see `_check_long_keys`.
"""
LONG_KEY = 480
"""The part of a key that SQLite always keeps in a page with a structure: (PAGE_SIZE - 20) * 32 / 255 - 23 bytes, minus
four for the types."""


KEYS_END = ord("]")
"""The last byte of every entry of a vector index."""
VECTOR_LOG = 10_000
"""The number of changes of a vector index that are remembered at least. Who has missed more reads the index again."""
_TRIM_LOG_EVERY = 1_000

VectorRow: TypeAlias = tuple[int, bytes, bytes]
"""An entry of a vector index: the number of the item's row, the vector as 32-bit floats, the keys as JSON."""


def incomplete_item() -> DamagedFile:
    """An item without its last byte, or an index entry without an item."""
    return DamagedFile("The database is damaged: an item is incomplete. Restore the file from a backup.")


class Row(NamedTuple):
    """A stored item: its number, its size by AWS's rule, and its JSON."""

    number: int
    size: int
    stored: bytes

    @property
    def item(self) -> Item:
        item: Item = orjson.loads(self.stored)
        return item


class Paused(Exception):
    """A read of many items stopped in between, so that other requests get their turn.

    It goes on in another transaction, from the item where it stopped. So what it has read is of two moments, as it can
    be on AWS: there, a Query, a Scan or a batch of reads is not isolated from writes either.
    """

    def __init__(self, resume: "Callable[[Transaction], dict[str, object]]") -> None:
        self.resume = resume
        """Reads on, and returns the answer or raises `Paused` again."""


@lru_cache(maxsize=1024)
def _scan_sql(items: str, entries: str | None, bounded: bool, backward: bool) -> str:
    """The SQL of `Transaction.scan`, for the SQLite tables of the items and, in an index, of its entries."""
    rows = entries or items
    source = items if entries is None else f"{entries} LEFT JOIN {items} USING (id)"
    bounds = f"{rows}.key >= ?" + (f" AND {rows}.key < ?" if bounded else "")
    order = "DESC" if backward else "ASC"
    return f"SELECT {items}.size, {items}.item FROM {source} WHERE {bounds} ORDER BY {rows}.key {order} LIMIT ?"


class Transaction:
    """One storage transaction. `now` and the catalog stay the same in it, except for its own changes to tables.

    A read of many items may take `pause_after` seconds, and then raises `Paused`.
    """

    catalog_changed = False
    address = ""
    """The address that the request was sent to, if it is known."""

    def __init__(
        self, cursor: apsw.Cursor, catalog: Catalog, now: float, writes: bool, pause_after: float = math.inf
    ) -> None:
        # Called by position: for names, Python makes a dict. What few transactions need isn't made here either.
        self._cursor = cursor
        # Reusing a cursor saves a third of the time of a short statement, but its result must be fetched completely
        # before the next statement.
        self._quick = cursor.execute
        self.catalog = catalog
        self.now = now
        self.writes = writes
        self.pause_after = pause_after

    @property
    def sql(self) -> "Callable[..., apsw.Cursor]":
        """Executes a statement with a cursor of its own."""
        return self._cursor.connection.execute

    # Items

    def row(self, table: Table, key: bytes) -> Row | None:
        """Return the item with this row key, or None."""
        found = self._quick(table.statements.find, (key,)).fetchone()
        if found is None:
            if len(key) > LONG_KEY:
                self._check_long_keys(table, None, key)
            return None
        if found[2][-1] != ITEM_END:
            raise incomplete_item()
        return tuple.__new__(Row, found)  # Row(*found) takes three times as long

    def rows(self, table: Table, keys: Sequence[bytes]) -> dict[bytes, Row]:
        """Return the items with these row keys that exist. One query takes half the time of one per item."""
        marks = ",".join("?" * len(keys))
        sql = f"SELECT key, id, size, item FROM {table.rows} WHERE key IN ({marks})"
        rows = cast(list[tuple[bytes, int, int, bytes]], self._quick(sql, keys).fetchall())
        found = {key: Row(number, size, stored) for key, number, size, stored in rows}
        for row in found.values():
            if row.stored[-1] != ITEM_END:
                raise incomplete_item()
        if len(found) < len(keys):
            for key in keys:
                if len(key) > LONG_KEY and key not in found:
                    self._check_long_keys(table, None, key)
        return found

    def insert(self, table: Table, key: bytes, size: int, stored: bytes) -> int:
        """Insert a new item; return the number of its row."""
        self._quick(table.statements.insert, (key, size, stored))
        number = self._cursor.connection.last_insert_rowid()
        if table.history is not None:
            self._record_insert(table.history, [key])
        return number

    def insert_new(self, table: Table, items: list[tuple[bytes, int, bytes]]) -> Sequence[int | None]:
        """Insert the items, given as row key, size and JSON, that don't exist yet.

        Returns the numbers of their rows, and None for each item that exists. Checking that first would take half as
        long again.
        """
        before = self._cursor.connection.total_changes()
        self._cursor.executemany(
            f"INSERT INTO {table.rows}(key, size, item) VALUES (?, ?, ?) ON CONFLICT DO NOTHING", items
        )
        count = self._cursor.connection.total_changes() - before
        # SQLite gives a new row the number after the highest one.
        first = self._cursor.connection.last_insert_rowid() - count + 1
        if count == len(items):
            if table.history is not None:
                self._record_insert(table.history, [key for key, _, _ in items])
            return range(first, first + count)
        inserted = self.sql(f"SELECT key, id FROM {table.rows} WHERE id >= ?", (first,)).fetchall() if count else []
        numbers = dict(cast(list[tuple[bytes, int]], inserted))
        if table.history is not None:
            self._record_insert(table.history, list(numbers))
        return [numbers.get(key) for key, _, _ in items]

    def replace(self, table: Table, number: int, size: int, stored: bytes) -> None:
        """Replace the content of an existing item."""
        if table.history is not None:
            self._record_item(table, table.history, number)
        self._quick(table.statements.replace, (size, stored, number))

    def delete(self, table: Table, number: int) -> None:
        if table.history is not None:
            self._record_item(table, table.history, number)
        self._quick(f"DELETE FROM {table.rows} WHERE id = ?", (number,))

    def _record_insert(self, history: str, keys: list[bytes]) -> None:
        """Note that there were no items with these keys; see history.py."""
        entries = [(self.now, key) for key in keys]
        self._cursor.executemany(f"INSERT INTO {history}(at, key, size, item) VALUES (?, ?, 0, NULL)", entries)

    def _record_item(self, table: Table, history: str, number: int) -> None:
        """Note an item as it is before it is changed."""
        self._quick(
            f"INSERT INTO {history}(at, key, size, item) SELECT ?, key, size, item FROM {table.rows} WHERE id = ?",
            (self.now, number),
        )

    def scan(
        self,
        table: Table,
        index: Index | None,
        low: bytes,
        high: bytes | None,
        *,
        backward: bool = False,
        limit: int = -1,
    ) -> apsw.Cursor:
        """Return size and JSON of the items from `low` (included) to `high` (excluded), in the order of the row keys.

        The size is that of the whole item, also if the index projects only a part. A negative limit means no limit. A
        caller that stops early must close the cursor.
        """
        if len(low) > LONG_KEY or (high is not None and len(high) > LONG_KEY):
            self._check_long_keys(table, index, low if len(low) > LONG_KEY else high or b"")
        entries = None if index is None else index.rows
        if high is None:
            return self.sql(_scan_sql(table.rows, entries, False, backward), (low, limit))
        return self.sql(_scan_sql(table.rows, entries, True, backward), (low, high, limit))

    def _check_long_keys(self, table: Table, index: Index | None, key: bytes) -> None:
        """Verify that all keys with the same beginning match their items, before one of them is reported as missing.

        This is slow, but keys of this length are rare.
        """
        low = key[:LONG_KEY]
        rows = table.rows if index is None else index.rows
        for found, number in self.sql(f"SELECT key, id FROM {rows} WHERE key >= ? AND key < ?", (low, prefix_end(low))):
            stored = self.sql(f"SELECT item FROM {table.rows} WHERE id = ?", (number,)).get
            if stored is None or stored[-1] != ITEM_END:
                raise incomplete_item()
            item: Item = orjson.loads(stored)
            expected = table.row_key(item)
            if found != (expected if index is None else index.schema.row_key(item) + expected):
                raise incomplete_item()

    def rows_where(self, table: Table, where: str, bindings: tuple[float, ...]) -> list[tuple[bytes, Row]]:
        """Return the items that meet an SQL condition, with their row keys."""
        found = self.sql(f"SELECT key, id, size, item FROM {table.rows} WHERE {where}", bindings).fetchall()
        rows = cast(list[tuple[bytes, int, int, bytes]], found)
        return [(key, Row(number, size, stored)) for key, number, size, stored in rows]

    def measure(self, table: Table) -> tuple[int, int]:
        """Return the number of items and their size in bytes, which is estimated for a large table."""
        count: int = self.sql(f"SELECT count(*) FROM {table.rows}").get
        if count <= EXACTLY_MEASURED:
            return count, self.sql(f"SELECT CAST(total(size) AS INTEGER) FROM {table.rows}").get
        average: float = self.sql(f"SELECT avg(size) FROM (SELECT size FROM {table.rows} LIMIT {EXACTLY_MEASURED})").get
        return count, int(count * average)

    # Index entries

    def count_entries(self, index: Index) -> int:
        count: int = self.sql(f"SELECT count(*) FROM {index.rows}").get
        return count

    def add_entry(self, index: Index, key: bytes, number: int) -> None:
        self._quick(f"INSERT OR REPLACE INTO {index.rows}(key, id) VALUES (?, ?)", (key, number))

    def add_entries(self, index: Index, entries: list[tuple[bytes, int]]) -> None:
        self._cursor.executemany(f"INSERT OR REPLACE INTO {index.rows}(key, id) VALUES (?, ?)", entries)

    def remove_entry(self, index: Index, key: bytes) -> None:
        self._quick(f"DELETE FROM {index.rows} WHERE key = ?", (key,))

    # Entries of vector indexes

    def put_vector(self, index: VectorIndex, number: int, vector: bytes, keys: bytes) -> None:
        """Store the entry of the item in this row, in place of the one that it has."""
        self._quick(f"INSERT OR REPLACE INTO {index.rows}(id, vector, keys) VALUES (?, ?, ?)", (number, vector, keys))
        self._log_vector(index, number)

    def remove_vector(self, index: VectorIndex, number: int) -> None:
        """Delete the entry of the item in this row, which must have one."""
        self._quick(f"DELETE FROM {index.rows} WHERE id = ?", (number,))
        self._log_vector(index, number)

    def _log_vector(self, index: VectorIndex, number: int) -> None:
        self._quick(f"INSERT INTO {index.log}(id) VALUES (?)", (number,))
        last = self._cursor.connection.last_insert_rowid()
        if last % _TRIM_LOG_EVERY == 0:
            self._quick(f"DELETE FROM {index.log} WHERE number <= ?", (last - VECTOR_LOG,))

    def count_vectors(self, index: VectorIndex) -> int:
        count: int = self.sql(f"SELECT count(*) FROM {index.rows}").get
        return count

    def vectors_logged(self, index: VectorIndex) -> tuple[int, int]:
        """Return the first and the last number in the log of an index."""
        first: int = self.sql(f"SELECT min(number) FROM {index.log}").get
        last: int = self.sql(f"SELECT max(number) FROM {index.log}").get
        return first, last

    def vectors_changed(self, index: VectorIndex, after: int) -> list[int]:
        """Return the rows whose entries have changed after this number of the log, each once."""
        found = self.sql(f"SELECT DISTINCT id FROM {index.log} WHERE number > ?", (after,)).fetchall()
        return [number for (number,) in cast(list[tuple[int]], found)]

    def vectors_after(
        self, index: VectorIndex, position: tuple[bytes, int], limit: int, prefix: bytes | None = None
    ) -> "list[VectorRow]":
        """Return up to `limit` entries after a position, in order; with a prefix, only those whose keys begin with it.

        A position is the keys and the row of an entry; without a prefix, only the row counts.
        """
        select = f"SELECT id, vector, keys FROM {index.rows} WHERE"
        keys, number = position
        if prefix is None:
            found = self.sql(f"{select} id > ? ORDER BY id LIMIT ?", (number, limit)).fetchall()
        else:  # many entries have the same keys, so a comparison of both would read them again and again
            found = self.sql(f"{select} keys = ? AND id > ? ORDER BY id LIMIT ?", (keys, number, limit)).fetchall()
            if len(found) < limit:
                more = f"{select} keys > ? AND keys < ? ORDER BY keys, id LIMIT ?"
                found += self.sql(more, (keys, prefix_end(prefix), limit - len(found))).fetchall()
        return self._checked_vectors(index, found)

    def vectors(self, index: VectorIndex, numbers: Sequence[int]) -> "list[VectorRow]":
        """Return the entries of these rows that exist."""
        sql = f"SELECT id, vector, keys FROM {index.rows} WHERE id IN ({','.join('?' * len(numbers))})"
        return self._checked_vectors(index, self._quick(sql, numbers).fetchall())

    def _checked_vectors(self, index: VectorIndex, found: list[tuple[object, ...]]) -> "list[VectorRow]":
        rows = cast("list[VectorRow]", found)
        size = 4 * index.dimensions
        for _, vector, keys in rows:
            if len(vector) != size or keys[-1] != KEYS_END:
                raise incomplete_item()
        return rows

    def rows_numbered(self, table: Table, numbers: Sequence[int]) -> dict[int, Row]:
        """Return the items in these rows that exist."""
        sql = f"SELECT id, size, item FROM {table.rows} WHERE id IN ({','.join('?' * len(numbers))})"
        rows = cast(list[tuple[int, int, bytes]], self._quick(sql, numbers).fetchall())
        return {number: Row(number, size, stored) for number, size, stored in rows}

    # The catalog

    def create_table(self, definition: Definition) -> Table:
        number: int = self.sql("INSERT INTO tables(definition) VALUES (?) RETURNING number", (b"",)).get
        table = Table(number, definition)
        self.create_rows(table.rows)
        for index in table.indexes:
            self.create_index(index)
        for vectors in table.vector_indexes:
            self.create_vector_index(vectors)
        self.save(table)
        return table

    def create_rows(self, rows: str) -> None:
        """Create an SQLite table for items."""
        self.sql(
            f"CREATE TABLE {rows}(id INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, "
            "size INTEGER NOT NULL, item BLOB NOT NULL)"
        )

    def create_index(self, index: Index) -> None:
        self.sql(f"CREATE TABLE {index.rows}(key BLOB PRIMARY KEY, id INTEGER NOT NULL) WITHOUT ROWID")

    def drop_index(self, index: Index) -> None:
        self.sql(f"DROP TABLE {index.rows}")

    def create_vector_index(self, index: VectorIndex) -> None:
        # The keys are the last column and never end with a zero: see ITEM_END.
        self.sql(f"CREATE TABLE {index.rows}(id INTEGER PRIMARY KEY, vector BLOB NOT NULL, keys BLOB NOT NULL)")
        if index.partition is not None:
            self.sql(f"CREATE INDEX {index.rows}_keys ON {index.rows}(keys)")
        self.sql(f"CREATE TABLE {index.log}(number INTEGER PRIMARY KEY, id INTEGER NOT NULL)")
        # With a first record, the log has a last number at any time, and SQLite never gives a number twice.
        self.sql(f"INSERT INTO {index.log}(id) VALUES (0)")

    def drop_vector_index(self, index: VectorIndex) -> None:
        self.sql(f"DROP TABLE {index.rows}")
        self.sql(f"DROP TABLE {index.log}")

    def save(self, table: Table) -> None:
        """Store the definition of a table that was created or changed."""
        self.sql("UPDATE tables SET definition = ? WHERE number = ?", (orjson.dumps(table.definition), table.number))
        self._change_catalog({**self.catalog.everything.tables, table.number: table})

    def drop_table(self, table: Table, *, keep_items: bool = False) -> None:
        """Drop a table with its indexes; with `keep_items`, the SQLite table of its items stays."""
        for index in table.indexes:
            self.drop_index(index)
        for vectors in table.vector_indexes:
            self.drop_vector_index(vectors)
        if not keep_items:
            self.sql(f"DROP TABLE {table.rows}")
        self.sql("DELETE FROM tables WHERE number = ?", (table.number,))
        tables = self.catalog.everything.tables
        self._change_catalog({number: other for number, other in tables.items() if number != table.number})

    def _change_catalog(self, tables: dict[int, Table]) -> None:
        now = self.catalog
        self.catalog = Everything(tables).catalog(now.version, now.scope, separate=now.separate)
        self.catalog_changed = True

    def enter(self, scope: Scope) -> None:
        """Go on with the tables of an account in a region."""
        self.catalog = self.catalog.of(scope)

    def tables_everywhere(self) -> Iterable[Table]:
        """All tables of the file, of all accounts and regions."""
        return self.catalog.everything.tables.values()

    def table_at(self, place: Place) -> Table | None:
        """Enter the scope of a table, and return the table if it is still there."""
        self.enter(place.scope)
        return self.catalog.tables.get(place.name)
