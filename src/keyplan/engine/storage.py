"""One SQLite file: connections, transactions, durability, and the refusal of damage.

The file is in WAL mode and every page carries a checksum (SQLite's checksum VFS), which is verified on each read.
One connection, the primary, does all writing and, whenever it is free, the reading too, since its page cache is the
warm one; a thread that finds it busy reads on a connection of its own and waits for nobody. Checkpoints are made by
a thread of their own, so that no request pays for them.

What is in the file: `meta` (the catalog's version), `tables` (definitions), `streams`, `tokens`, `leases`; then a
SQLite table of items for each table (`t1`), one of entries for each index (`t1_1`) and one of records for each
stream (`s1`). An item's row is appended under a number of its own and found by its row key; an index entry holds a
row key and that number, so that an item is stored once, and an index is written only when a key of it changes.
"""

import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Literal, TypeAlias, TypeVar

import apsw
import apsw.sqlite_extra
import orjson

from keyplan.engine.catalog import Catalog, Definition, Table
from keyplan.engine.damage import check_wal
from keyplan.engine.errors import DamagedFile
from keyplan.engine.transaction import Transaction

T = TypeVar("T")
Durability: TypeAlias = Literal["normal", "full"]

APPLICATION_ID = 0x4B504C4E
FORMAT = 1
PAGE_SIZE = 8192
CHECKSUM_BYTES = 8
BUSY_MILLISECONDS = 60_000
CHECKPOINT_PAGES = 4096
"""The log is copied into the main file when it has grown by so many pages (32 MB)."""

_SCHEMA = f"""
CREATE TABLE meta(version INTEGER NOT NULL);
INSERT INTO meta VALUES (1);
CREATE TABLE tables(number INTEGER PRIMARY KEY AUTOINCREMENT, definition BLOB NOT NULL);
CREATE TABLE streams(number INTEGER PRIMARY KEY AUTOINCREMENT, table_name TEXT NOT NULL, description BLOB NOT NULL,
    ended REAL);
CREATE TABLE tokens(token TEXT PRIMARY KEY, fingerprint BLOB NOT NULL, answer BLOB NOT NULL, expires REAL NOT NULL)
    WITHOUT ROWID;
CREATE INDEX tokens_by_expiry ON tokens(expires);
CREATE TABLE leases(name TEXT PRIMARY KEY, owner TEXT NOT NULL, expires REAL NOT NULL) WITHOUT ROWID;
PRAGMA application_id = {APPLICATION_ID};
PRAGMA user_version = {FORMAT};
"""


class Storage:
    """The file (or memory) under a database."""

    def __init__(self, path: str, *, durability: Durability, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._durability = durability
        self._path = None if path == ":memory:" else Path(path).absolute()
        self._lock = threading.RLock()
        self._others = threading.local()
        self._opened: list[apsw.Connection] = []
        self._damage: DamagedFile | None = None
        self._closed = False
        self._catalog = Catalog(0, {})
        self._primary = self._connect(cache_mib=_primary_cache_mib())
        self._prepare_file()
        self._checkpoints = _Checkpoints(self._connect, self._primary) if self._path else None

    @property
    def shared(self) -> bool:
        """Whether other processes may use the same data."""
        return self._path is not None

    def read(self, work: Callable[[Transaction], T]) -> T:
        """Run the work on a consistent view of everything, without blocking any writer."""
        if self._lock.acquire(blocking=self._path is None):
            try:
                return self._run(self._primary, "BEGIN", work, writes=False)
            finally:
                self._lock.release()
        return self._run(self._own_connection(), "BEGIN", work, writes=False)

    def write(self, work: Callable[[Transaction], T]) -> T:
        """Run the work, all or nothing: committed at its end, undone by any exception."""
        with self._lock:
            result = self._run(self._primary, "BEGIN IMMEDIATE", work, writes=True)
        if self._checkpoints:
            self._checkpoints.note()
        return result

    def _run(self, connection: apsw.Connection, begin: str, work: Callable[[Transaction], T], *, writes: bool) -> T:
        if self._damage:
            raise self._damage
        if self._closed:
            raise RuntimeError("the engine is closed")
        try:
            connection.execute(begin)
            transaction = Transaction(connection, self._current_catalog(connection), self._clock(), writes=writes)
            result = work(transaction)
            if transaction.catalog_changed:
                connection.execute("UPDATE meta SET version = version + 1")
            connection.execute("COMMIT")
            return result
        except BaseException as error:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            self._refuse_damage(error)
            raise

    def _current_catalog(self, connection: apsw.Connection) -> Catalog:
        version = connection.execute("SELECT version FROM meta").get
        known = self._catalog
        if known.version == version:
            return known
        tables: dict[str, Table] = {}
        for number, stored in connection.execute("SELECT number, definition FROM tables"):
            definition: Definition = orjson.loads(stored)
            tables[definition["description"]["TableName"]] = Table(number, definition)
        self._catalog = Catalog(version, tables)
        return self._catalog

    def close(self) -> None:
        """Finish what is under way and leave one file behind."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            if self._checkpoints:
                self._checkpoints.stop()
            if self._damage:
                # What SQLite would copy into the main file now can not be trusted.
                self._primary.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
            for connection in [*self._opened, self._primary]:
                connection.close()

    def _own_connection(self) -> apsw.Connection:
        """The connection of this thread, for reading while the primary is busy."""
        connection: apsw.Connection | None = getattr(self._others, "connection", None)
        if connection is None:
            connection = self._others.connection = self._connect(cache_mib=8)
            self._opened.append(connection)
        return connection

    def _connect(self, cache_mib: int) -> apsw.Connection:
        _register_checksums()
        connection = apsw.Connection(
            str(self._path) if self._path else ":memory:", vfs="cksmvfs" if self._path else None, statementcachesize=256
        )
        connection.set_busy_timeout(BUSY_MILLISECONDS)
        connection.execute(f"PRAGMA cache_size = {-1024 * cache_mib}")
        if self._path:
            connection.execute(f"PRAGMA synchronous = {self._durability}")
            connection.execute("PRAGMA wal_autocheckpoint = 0")
        return connection

    def _prepare_file(self) -> None:
        """Make the file where there is none, else look whether it is one of ours and sound."""
        connection = self._primary
        if self._path is None or self._path.stat().st_size == 0:
            self._create()
        if self._path is None:
            return
        try:
            if connection.pragma("application_id") != APPLICATION_ID:
                raise DamagedFile(f"{self._path} is not a Keyplan database; give the path of one, or of a new file")
            if connection.pragma("user_version") != FORMAT:
                raise DamagedFile(f"{self._path} was written by another version of Keyplan; open it with that one")
            # A flipped bit in the header could switch the checksums off without anybody noticing.
            if connection.pragma("checksum_verification") != "1":
                raise DamagedFile(f"the header of {self._path} is damaged; restore the file from a backup")
            check_wal(self._path, self._accepted_frames)
        except BaseException as error:
            connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
            connection.close()
            self._refuse_damage(error)
            raise

    def _accepted_frames(self) -> int:
        return self._primary.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_NOOP)[0]

    def _create(self) -> None:
        connection = self._primary
        connection.execute(f"PRAGMA page_size = {PAGE_SIZE}")
        if self._path:
            connection.reserve_bytes("main", CHECKSUM_BYTES)
            connection.pragma("journal_mode", "wal")
        connection.execute("BEGIN IMMEDIATE")
        # Another process may have made the tables while this one waited.
        if not connection.execute("SELECT 1 FROM sqlite_schema").get:
            connection.execute(_SCHEMA)
        connection.execute("COMMIT")

    def _refuse_damage(self, error: BaseException) -> None:
        """From the first sign of damage on, nothing is answered any more."""
        wrong_checksum = getattr(error, "extendedresult", None) == apsw.SQLITE_IOERR_DATA
        if wrong_checksum or isinstance(error, apsw.CorruptError | apsw.NotADBError):
            self._damage = DamagedFile(f"{self._path} is damaged ({error}); restore the file from a backup")
            raise self._damage from error


class _Checkpoints:
    """Copies the log into the main file, beside the requests.

    Frames written while a copy is being made keep the log from starting over, so a full turn ends with a short copy
    of the rest in the writer's thread, where nothing can be written meanwhile.
    """

    def __init__(self, connect: Callable[[int], apsw.Connection], primary: apsw.Connection) -> None:
        self._connect = connect
        self._primary = primary
        self._pages = 0
        self._wanted = threading.Event()
        self._nearly_done = False
        self._stopping = False
        self._thread: threading.Thread | None = None
        primary.set_wal_hook(self._written)

    def _written(self, _connection: apsw.Connection, _name: str, pages: int) -> int:
        self._pages = pages
        return apsw.SQLITE_OK

    def note(self) -> None:
        """After each commit: start or finish a checkpoint where the log has become long."""
        if self._pages < CHECKPOINT_PAGES:
            return
        if self._nearly_done:
            self._nearly_done = False
            self._primary.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
        elif not self._wanted.is_set():
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="keyplan-checkpoints", daemon=True)
                self._thread.start()
            self._wanted.set()

    def _run(self) -> None:
        connection = self._connect(2)
        while self._wanted.wait() and not self._stopping:
            connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
            self._nearly_done = True
            self._wanted.clear()
        connection.close()

    def stop(self) -> None:
        self._stopping = True
        self._wanted.set()
        if self._thread:
            self._thread.join()


def _primary_cache_mib() -> int:
    """Pages are kept in memory as they are read, up to an eighth of the machine's memory and at most 2 GiB."""
    try:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError, AttributeError):
        return 256
    return max(64, min(2048, memory // 8 // 2**20))


_registering = threading.Lock()


def _register_checksums() -> None:
    """SQLite's checksum VFS comes as an extension that registers itself for the whole process."""
    with _registering:
        if "cksmvfs" not in apsw.vfs_names():
            loader = apsw.Connection(":memory:")
            apsw.sqlite_extra.load(loader, "cksumvfs")
            loader.close()
