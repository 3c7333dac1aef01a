"""What an operation sees of the storage: items and index entries by row key, inside one transaction."""

from collections.abc import Sequence
from typing import NamedTuple, cast

import apsw
import orjson

from keyplan.engine.errors import DamagedFile
from keyplan.engine.storage.catalog import Catalog, Definition, Index, Table
from keyplan.engine.values.attribute_values import Item
from keyplan.engine.values.row_keys import after

SAMPLE = 10_000
"""A table of up to so many items is measured exactly."""

END = ord("}")
"""The last byte of every stored item.

A page of zeros passes for one with the right checksum. SQLite notices it where a page has a structure, but not where it
is the end of something long: an item, which then ends with zeros; or a key, see `_check_long_keys`.
"""
LONG_KEY = 480
"""So much of a key SQLite keeps in a page with a structure, however long it is: (PAGE_SIZE - 20) * 32 / 255 - 23 bytes,
less four for the types."""


def incomplete() -> DamagedFile:
    """An item that does not end as items do, or an index entry without an item."""
    return DamagedFile("The database is damaged: an item is not complete. Restore the file from a backup.")


class Row(NamedTuple):
    """A stored item: its number, its size by AWS's rule, and its JSON."""

    number: int
    size: int
    stored: bytes

    @property
    def item(self) -> Item:
        item: Item = orjson.loads(self.stored)
        return item


class Transaction:
    """One storage transaction. `now` stands still in it, and so does the catalog but for its own changes."""

    def __init__(self, cursor: apsw.Cursor, catalog: Catalog, now: float, *, writes: bool) -> None:
        connection = cursor.connection
        self.sql = connection.execute
        # A cursor that is used again and again saves a third of a short statement's time; but a result must not be
        # in use any more when the next statement begins.
        self._quick = cursor.execute
        self._many = cursor.executemany
        self._last_number = connection.last_insert_rowid
        self._total_changes = connection.total_changes
        self.catalog = catalog
        self.now = now
        self.writes = writes
        self.catalog_changed = False

    # Items

    def row(self, table: Table, key: bytes) -> Row | None:
        """The item with this row key."""
        found = self._quick(f"SELECT id, size, item FROM {table.rows} WHERE key = ?", (key,)).fetchone()
        if found is None:
            if len(key) > LONG_KEY:
                self._check_long_keys(table, None, key)
            return None
        if found[2][-1] != END:
            raise incomplete()
        return tuple.__new__(Row, found)  # Row(*found) takes three times as long

    def rows(self, table: Table, keys: Sequence[bytes]) -> dict[bytes, Row]:
        """The items with these row keys, as far as they are there. Asked together, they take half the time."""
        marks = ",".join("?" * len(keys))
        sql = f"SELECT key, id, size, item FROM {table.rows} WHERE key IN ({marks})"
        rows = cast(list[tuple[bytes, int, int, bytes]], self._quick(sql, keys).fetchall())
        found = {key: Row(number, size, stored) for key, number, size, stored in rows}
        for row in found.values():
            if row.stored[-1] != END:
                raise incomplete()
        if len(found) < len(keys):
            for key in keys:
                if len(key) > LONG_KEY and key not in found:
                    self._check_long_keys(table, None, key)
        return found

    def insert(self, table: Table, key: bytes, size: int, stored: bytes) -> int:
        """A new item; the number of its row."""
        self._quick(f"INSERT INTO {table.rows}(key, size, item) VALUES (?, ?, ?)", (key, size, stored))
        return self._last_number()

    def insert_new(self, table: Table, items: list[tuple[bytes, int, bytes]]) -> Sequence[int | None]:
        """Insert those of the items, each by its row key, size and JSON, that are not there yet.

        The numbers of their rows; None for an item that is there. To ask before would take half as long again.
        """
        before = self._total_changes()
        self._many(f"INSERT INTO {table.rows}(key, size, item) VALUES (?, ?, ?) ON CONFLICT DO NOTHING", items)
        count = self._total_changes() - before
        # SQLite gives a new row the number behind the highest.
        first = self._last_number() - count + 1
        if count == len(items):
            return range(first, first + count)
        inserted = self.sql(f"SELECT key, id FROM {table.rows} WHERE id >= ?", (first,)).fetchall() if count else []
        numbers = dict(cast(list[tuple[bytes, int]], inserted))
        return [numbers.get(key) for key, _, _ in items]

    def replace(self, table: Table, number: int, size: int, stored: bytes) -> None:
        """Another content for an item that is there."""
        self._quick(f"UPDATE {table.rows} SET size = ?, item = ? WHERE id = ?", (size, stored, number))

    def delete(self, table: Table, number: int) -> None:
        self._quick(f"DELETE FROM {table.rows} WHERE id = ?", (number,))

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
        """Size and JSON of the items from `low` (included) to `high` (excluded), in the order of the row keys.

        An item's size in an index that does not hold all of it is for the caller to work out. A limit below zero is
        none; a caller that stops early closes the cursor.
        """
        rows = table.rows if index is None else index.rows
        source = table.rows if index is None else f"{index.rows} LEFT JOIN {table.rows} USING (id)"
        if len(low) > LONG_KEY or (high is not None and len(high) > LONG_KEY):
            self._check_long_keys(table, index, low if len(low) > LONG_KEY else high or b"")
        bounds = f"{rows}.key >= ?" + ("" if high is None else f" AND {rows}.key < ?")
        order = "DESC" if backward else "ASC"
        return self.sql(
            f"SELECT {table.rows}.size, {table.rows}.item FROM {source} "
            f"WHERE {bounds} ORDER BY {rows}.key {order} LIMIT ?",
            (low, limit) if high is None else (low, high, limit),
        )

    def _check_long_keys(self, table: Table, index: Index | None, key: bytes) -> None:
        """Make sure that all keys with the same beginning are those of their items, before one is said to be missing.

        It takes its time, but keys of a thousand bytes are rare.
        """
        low = key[:LONG_KEY]
        rows = table.rows if index is None else index.rows
        for found, number in self.sql(f"SELECT key, id FROM {rows} WHERE key >= ? AND key < ?", (low, after(low))):
            stored = self.sql(f"SELECT item FROM {table.rows} WHERE id = ?", (number,)).get
            if stored is None or stored[-1] != END:
                raise incomplete()
            item: Item = orjson.loads(stored)
            expected = table.row_key(item)
            if found != (expected if index is None else index.schema.row_key(item) + expected):
                raise incomplete()

    def rows_where(self, table: Table, where: str, bindings: tuple[float, ...]) -> list[tuple[bytes, Row]]:
        """Items with their row keys by another condition than the key's."""
        found = self.sql(f"SELECT key, id, size, item FROM {table.rows} WHERE {where}", bindings).fetchall()
        rows = cast(list[tuple[bytes, int, int, bytes]], found)
        return [(key, Row(number, size, stored)) for key, number, size, stored in rows]

    def measure(self, table: Table) -> tuple[int, int]:
        """How many items there are and their size in bytes, which is estimated where there are many."""
        count: int = self.sql(f"SELECT count(*) FROM {table.rows}").get
        if count <= SAMPLE:
            return count, self.sql(f"SELECT CAST(total(size) AS INTEGER) FROM {table.rows}").get
        average: float = self.sql(f"SELECT avg(size) FROM (SELECT size FROM {table.rows} LIMIT {SAMPLE})").get
        return count, int(count * average)

    # Index entries

    def count_entries(self, index: Index) -> int:
        count: int = self.sql(f"SELECT count(*) FROM {index.rows}").get
        return count

    def add_entry(self, index: Index, key: bytes, number: int) -> None:
        self._quick(f"INSERT OR REPLACE INTO {index.rows}(key, id) VALUES (?, ?)", (key, number))

    def add_entries(self, index: Index, entries: list[tuple[bytes, int]]) -> None:
        self._many(f"INSERT OR REPLACE INTO {index.rows}(key, id) VALUES (?, ?)", entries)

    def remove_entry(self, index: Index, key: bytes) -> None:
        self._quick(f"DELETE FROM {index.rows} WHERE key = ?", (key,))

    # The catalog

    def create_table(self, definition: Definition) -> Table:
        number: int = self.sql("INSERT INTO tables(definition) VALUES (?) RETURNING number", (b"",)).get
        table = Table(number, definition)
        self.sql(
            f"CREATE TABLE {table.rows}(id INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, "
            "size INTEGER NOT NULL, item BLOB NOT NULL)"
        )
        for index in table.indexes:
            self.create_index(index)
        self.save(table)
        return table

    def create_index(self, index: Index) -> None:
        self.sql(f"CREATE TABLE {index.rows}(key BLOB PRIMARY KEY, id INTEGER NOT NULL) WITHOUT ROWID")

    def drop_index(self, index: Index) -> None:
        self.sql(f"DROP TABLE {index.rows}")

    def save(self, table: Table) -> None:
        """Store the definition of a table that was made or changed."""
        self.sql("UPDATE tables SET definition = ? WHERE number = ?", (orjson.dumps(table.definition), table.number))
        self._change_catalog({**self.catalog.tables, table.name: table})

    def drop_table(self, table: Table) -> None:
        for index in table.indexes:
            self.drop_index(index)
        self.sql(f"DROP TABLE {table.rows}")
        self.sql("DELETE FROM tables WHERE number = ?", (table.number,))
        self._change_catalog({name: other for name, other in self.catalog.tables.items() if name != table.name})

    def _change_catalog(self, tables: dict[str, Table]) -> None:
        self.catalog = Catalog(self.catalog.version, tables)
        self.catalog_changed = True
