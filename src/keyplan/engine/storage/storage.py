"""One SQLite file: connections, transactions, durability, and the refusal to use a damaged file.

The file is in WAL mode and every page carries a checksum (SQLite's checksum VFS), which is verified on each read.
One connection, the primary, does all writing. It also does the reading whenever it is free, because its page cache is
warm; a thread that finds it busy reads with another connection instead of waiting.

The file has the SQLite tables `meta` (the catalog's version, and which log belongs to the file, see log_binding.py),
`tables` (definitions), `streams`, `tokens`, `leases` and `records` (see records.py); then one of items for each table
(`t1`), one of entries for each index (`t1_1`) and one of records for each stream (`s1`). An item's row has a number and
is found by its row key. An index entry holds a row key and that number, so that an item is stored once, and an index is
written only when one of its keys changes.
"""

import logging
import math
import os
import time
import weakref
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Literal, NoReturn, TypeAlias, TypeVar

import apsw
import orjson

from keyplan.engine.errors import DamagedFile, DynamoError
from keyplan.engine.storage.catalog import Catalog, Definition, Table
from keyplan.engine.storage.damage import check_header, damaged, is_damage, log_of
from keyplan.engine.storage.file_checks import check_file
from keyplan.engine.storage.file_creation import SCHEMA, VFS, make_file, register_checksums
from keyplan.engine.storage.file_upgrade import upgrade_file
from keyplan.engine.storage.file_watch import FileWatch, warn_if_shared
from keyplan.engine.storage.limits import cache_mib
from keyplan.engine.storage.log_binding import (
    CLOSED,
    NEEDS_LOG,
    NEW_LOG,
    OPEN,
    check_mark,
    remove_finished_log,
)
from keyplan.engine.storage.page_cache import MINIMUM_MIB, SMALL_FILE_BYTES, PageCache
from keyplan.engine.storage.regional_tables import Everything
from keyplan.engine.storage.scopes import HOME
from keyplan.engine.storage.transaction import Transaction
from keyplan.engine.storage.turns import Turns
from keyplan.engine.storage.wal_checkpoints import Checkpoints, finish_log

_log = logging.getLogger("keyplan.engine")

T = TypeVar("T")
Durability: TypeAlias = Literal["normal", "full"]

WRITE_LOCK_SECONDS = 60.0
"""How long a write waits for the writers of other processes."""
LONGEST_PAUSE_SECONDS = 0.01
"""The longest pause between two attempts to get the write lock. SQLite's own time-out pauses ten times as long, and so
loses the lock again and again to a process that writes all the time."""
READ_BUSY_MILLISECONDS = 5_000
"""Reading waits only while another process recovers the log or closes the file."""
_TEMPORARY_ERRORS = (
    apsw.FullError,
    apsw.IOError,
    apsw.BusyError,
    apsw.LockedError,
    apsw.ReadOnlyError,
    apsw.CantOpenError,
    apsw.NoMemError,
)
"""Failures caused by the disk or by another process; the next request may succeed."""


class Busy(Exception):
    """Another thread or process is writing, and the caller doesn't want to wait."""


class Storage:
    """The file, or the memory, that a database is stored in."""

    def __init__(self, path: str, *, durability: Durability, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._durability = durability
        # The log is next to the file, not next to a symbolic link to it.
        self._path = None if path == ":memory:" else Path(path).resolve()
        self._turns = Turns()
        self._patient = True
        self._waiting_since = 0.0
        self._readers: list[apsw.Cursor] = []
        self._damage: DamagedFile | None = None
        self._forked = False
        self._closing = False
        self._closed = False
        self._catalog = Everything({}).catalog(0, HOME)
        # The primary's data version after its last commit, and the catalog then. While nobody else has written, both
        # stay the same, and `meta` needn't be read.
        self._last_commit = -1
        self._last_catalog = self._catalog
        self._primary = self._open()
        self._watch = FileWatch(self._path) if self._path else None
        self._cursor = self._primary.cursor()
        self._primary.set_busy_handler(self._wait_for_lock)
        self._cache = PageCache(self._primary)
        self._checkpoints: Checkpoints | None = None
        if self._path:
            self._checkpoints = Checkpoints(
                self._path, self._connect, self._primary, self._note_damage, lambda: self._usable
            )
            _storages.add(self)

    @property
    def shared(self) -> bool:
        """Whether other processes can use the same data."""
        return self._path is not None

    def read(self, work: Callable[[Transaction], T], *, wait: bool = True, pause_after: float = math.inf) -> T:
        """Run a function on a consistent snapshot, without waiting for writers.

        Data in memory has no snapshots: there, a read has to wait for a write of another thread, or raises `Busy`. A
        read of many items raises `Paused` after so many seconds.
        """
        reader = None if self._turns.take_now() else self._reader_or_turn(wait)
        if reader is None:
            try:
                result = self._run(self._cursor, "BEGIN", work, writes=False, pause_after=pause_after)
                self._cache.after_transaction()
                return result
            finally:
                self._turns.release()
        try:
            return self._run(reader, "BEGIN", work, writes=False, pause_after=pause_after)
        finally:
            self._return_reader(reader)

    def write(self, work: Callable[[Transaction], T]) -> T:
        """Run a function in a transaction that is committed at its end, or rolled back by any exception."""
        if not self._turns.take_now():
            self._turns.take()
        try:
            result = self._run(self._cursor, "BEGIN IMMEDIATE", work, writes=True)
            self._cache.after_transaction()
            return result
        finally:
            self._turns.release()

    def write_now(self, work: Callable[[Transaction], T], *, pause_after: float = math.inf) -> T:
        """The same, but raise `Busy` instead of waiting for another writer, or for the end of a checkpoint."""
        if not self._turns.take_now():
            raise Busy
        try:
            self._patient = False
            result = self._run(self._cursor, "BEGIN IMMEDIATE", work, writes=True, pause_after=pause_after)
            self._cache.after_transaction()
            return result
        finally:
            self._patient = True
            self._turns.release()

    def _wait_for_lock(self, attempts: int) -> bool:
        """SQLite's question whether to try once more to get the write lock, or a lock to read."""
        if self._closing or not self._patient:
            return False
        if attempts == 0:
            self._waiting_since = time.monotonic()
        elif time.monotonic() - self._waiting_since > WRITE_LOCK_SECONDS:
            return False
        time.sleep(min(LONGEST_PAUSE_SECONDS, 0.001 * 2 ** min(attempts, 10)))
        return True

    def _run(
        self,
        cursor: apsw.Cursor,
        begin: str,
        work: Callable[[Transaction], T],
        *,
        writes: bool,
        pause_after: float = math.inf,
    ) -> T:
        if self._damage or self._closed or self._forked:
            self._refuse_use()
        watch = self._watch
        if watch and time.monotonic() >= watch.next:
            self._check_place(watch, cursor.connection, writes=writes)
        checkpoints = self._checkpoints if writes else None
        if (
            checkpoints
            and checkpoints.pages >= checkpoints.notable_pages
            and not checkpoints.check_length(may_wait=self._patient)
        ):
            raise Busy
        try:
            cursor.execute(begin)
            new_log = False
            if checkpoints:
                if self._primary.data_version() == self._last_commit:
                    catalog = self._last_catalog
                else:
                    catalog, new_log = self._begin_write(cursor)
            else:
                catalog = self._catalog
                version = cursor.execute("SELECT version FROM meta").get
                if catalog.version != version:
                    catalog = self._current_catalog(cursor, version)
            transaction = Transaction(cursor, catalog, self._clock(), writes, pause_after)
            result = work(transaction)
            if transaction.catalog_changed:
                cursor.execute("UPDATE meta SET version = version + 1")
                self._cache.reset_misses()
            cursor.execute("COMMIT")
            if checkpoints and watch:
                self._last_commit = -1 if transaction.catalog_changed else self._primary.data_version()
                self._last_catalog = catalog
                watch.after_commit()
                if new_log or checkpoints.pages >= checkpoints.notable_pages:
                    checkpoints.after_commit(opened=new_log)
            return result
        except BaseException as error:
            if cursor.connection.in_transaction:
                cursor.execute("ROLLBACK")
            self._note_damage(error)
            if isinstance(error, apsw.BusyError) and not self._patient and writes:
                raise Busy from None
            if isinstance(error, _TEMPORARY_ERRORS):
                what = f"{self._path} could not be {'written' if writes else 'read'}: {error}"
                _log.error(what)
                raise DynamoError("InternalServerError", what, status=500) from error
            raise

    def _begin_write(self, cursor: apsw.Cursor) -> tuple[Catalog, bool]:
        """Return the catalog, and whether this transaction may begin a new log; if so, mark the log's beginning."""
        version, state = cursor.execute("SELECT version, state FROM meta").get
        if state == CLOSED:
            # The log has nothing else yet, so this is in the main file before any page that the log will have.
            cursor.execute(NEEDS_LOG)
            cursor.execute("COMMIT")
            with suppress(apsw.BusyError):  # another process is doing it
                self._primary.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
            cursor.execute("BEGIN IMMEDIATE")
            version, state = cursor.execute("SELECT version, state FROM meta").get
        if state != OPEN:
            cursor.execute(NEW_LOG)
        return self._current_catalog(cursor, version), state != OPEN

    def _check_place(self, watch: FileWatch, connection: apsw.Connection, *, writes: bool) -> None:
        try:
            watch.check(connection, writes=writes)
        except (DamagedFile, apsw.Error) as error:
            _log.error("%s", error)
            self._note_damage(error)
            raise

    def _refuse_use(self) -> NoReturn:
        if self._damage:
            raise DamagedFile(*self._damage.args)
        if self._closed:
            raise RuntimeError("The engine is closed")
        # SQLite's connections don't survive a fork: locks stay with the parent.
        raise RuntimeError("The engine was opened before this process was forked. Open the file again in this process.")

    def _current_catalog(self, cursor: apsw.Cursor, version: int) -> Catalog:
        known = self._catalog
        if known.version == version:
            return known
        tables: dict[int, Table] = {}
        for number, stored in cursor.execute("SELECT number, definition FROM tables"):
            definition: Definition = orjson.loads(stored)
            tables[number] = Table(number, definition)
        self._catalog = Everything(tables).catalog(version, HOME)
        return self._catalog

    def close(self) -> None:
        """Finish what is in progress, and copy the log into the main file."""
        self._closing = True  # writes that wait for another process give up
        self._turns.take()
        try:
            if self._closed or self._forked:
                self._closed = True
                return
            self._closed = True
            if self._checkpoints:
                self._checkpoints.stop()
            while self._readers:
                self._readers.pop().connection.close()
            self._primary.close()
            if self._path and self._usable:
                self._finish_log(self._path)
        finally:
            self._turns.release()

    @property
    def _usable(self) -> bool:
        """Whether the path still leads to the file, and the file isn't damaged."""
        if self._watch:
            self._watch.look()
        return not self._damage and not (self._watch and self._watch.lost)

    def _finish_log(self, path: Path) -> None:
        """Copy the log into the main file and delete it, unless another process has the file open."""
        try:
            if remove_finished_log(path) and log_of(path).exists():
                finish_log(path, self._connect)
                remove_finished_log(path)
        except (apsw.Error, OSError, DamagedFile) as error:
            _log.warning("The log of %s could not be copied into the main file, and was kept: %s", path, error)

    def _reader_or_turn(self, wait: bool) -> apsw.Cursor | None:
        """Return another connection for reading, while a thread has the primary; None when it is this thread's turn.

        Without a path to the file there can't be another one.
        """
        if wait and self._turns.take(whatever_it_takes=self._path is None):
            return None
        if self._readers or self._can_connect():
            try:
                return self._readers.pop()
            except IndexError:
                return self._connect(cache_mib=8).cursor()
        if not wait:
            raise Busy
        self._turns.take()
        return None

    def _can_connect(self) -> bool:
        if self._watch:
            self._watch.look()
        return self._watch is not None and not self._watch.lost

    def _return_reader(self, reader: apsw.Cursor) -> None:
        self._readers.append(reader)
        # A concurrent `close` may have emptied the list before this reader was returned.
        while self._closed and self._readers:
            self._readers.pop().connection.close()

    def connect(self) -> apsw.Connection:
        """Return a connection of its own, for reading all of the file as of one moment."""
        return self._connect(cache_mib=8)

    def transaction_on(self, connection: apsw.Connection) -> Transaction:
        """Return the transaction that was begun on such a connection."""
        cursor = connection.cursor()
        version: int = cursor.execute("SELECT version FROM meta").get
        return Transaction(cursor, self._current_catalog(cursor, version), self._clock(), writes=False)

    def _connect(self, cache_mib: int) -> apsw.Connection:
        try:
            connection = apsw.Connection(
                str(self._path) if self._path else ":memory:",
                # Without SQLITE_OPEN_CREATE: where there is no file any more, none must appear.
                flags=apsw.SQLITE_OPEN_READWRITE,
                vfs=VFS if self._path else None,
                statementcachesize=256,
            )
            # SQLite must not copy the log: only `wal_checkpoints` knows how far, and a damaged file must stay as it is.
            connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
            connection.set_busy_timeout(READ_BUSY_MILLISECONDS)
            connection.execute(f"PRAGMA cache_size = {-1024 * cache_mib}")
            # A transaction is written to the log as a whole: `damage` relies on it.
            connection.execute("PRAGMA cache_spill = OFF")
            if self._path:
                connection.execute(f"PRAGMA synchronous = {self._durability}")
                connection.execute(f"PRAGMA fullfsync = {int(self._durability == 'full')}")
                connection.execute("PRAGMA wal_autocheckpoint = 0")
                # Nothing is read without checksums, even if the header says otherwise.
                if connection.pragma("checksum_verification") != "1":
                    raise DamagedFile(f"The header of {self._path} is damaged. Restore it from a backup.")
        except BaseException as error:
            self._note_damage(error)
            raise
        return connection

    def _open(self) -> apsw.Connection:
        """Return the primary connection, to a file that was checked or newly created."""
        register_checksums()
        if self._path is not None and not check_header(self._path):
            make_file(self._path)
        if self._path is not None:
            warn_if_shared(self._path)
        try:
            connection = self._connect(cache_mib=self._cache_mib())
        except DamagedFile:
            if self._path:
                check_mark(self._path)
            raise
        try:
            if self._path is None:
                connection.execute(SCHEMA)  # its state is that no log has to begin
            elif not check_file(connection, self._path):
                connection.close()
                upgrade_file(self._path)
                return self._open()
        except BaseException as error:
            connection.close()
            self._note_damage(error)
            raise
        return connection

    def _cache_mib(self) -> int:
        """The initial size of the primary connection's cache."""
        small = self._path and self._path.stat().st_size < SMALL_FILE_BYTES
        return min(MINIMUM_MIB, cache_mib()) if small else cache_mib()

    def _note_damage(self, error: BaseException) -> None:
        """After the first sign of damage, refuse all further requests."""
        if isinstance(error, DamagedFile):
            self._damage = error
        elif is_damage(error):
            self._damage = damaged(self._path, error)
            raise self._damage from error


_storages: weakref.WeakSet[Storage] = weakref.WeakSet()


def _mark_forked() -> None:
    for storage in _storages:
        storage._forked = True


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_mark_forked)
