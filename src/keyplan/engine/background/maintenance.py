"""What a database does beside requests: deleting expired items, trimming streams, filling new indexes.

One thread per database. Among the processes on a file one holds the lease for sweeping; when it goes away another
takes it over. Filling an index needs no lease: doing it twice does no harm, and it must also be finished when the
process that began it was killed.
"""

import logging
import threading
import time
from contextlib import suppress
from functools import partial
from uuid import uuid4

import apsw

from keyplan.engine.background import expiry
from keyplan.engine.errors import DamagedFile
from keyplan.engine.operations.tables.index_backfill import backfill
from keyplan.engine.storage import stream_log
from keyplan.engine.storage.storage import Storage
from keyplan.engine.storage.transaction import Transaction

RETRY_SECONDS = 1.0
"""The pause after a turn that failed."""
BREATH_SECONDS = 0.001
"""The pause between two steps of a backfill, without which the lock would rarely go to anybody else."""

_logger = logging.getLogger("keyplan.engine")


class Maintenance:
    """The thread, started when there is something for it to do."""

    def __init__(self, storage: Storage, ttl_interval: float | None) -> None:
        self._storage = storage
        self._interval = ttl_interval
        self._owner = uuid4().hex
        self._wake = threading.Event()
        self._stopping = False
        self._starting = threading.Lock()
        self._thread: threading.Thread | None = None
        if ttl_interval is not None or self.filling():
            self.start()

    def start(self) -> None:
        """Begin, or go on at once where the thread is waiting."""
        with self._starting:
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="keyplan-maintenance", daemon=True)
                self._thread.start()
        self._wake.set()

    def stop(self) -> None:
        self._stopping = True
        self._wake.set()
        if self._thread is not None:
            self._thread.join()
        if self._interval is not None:
            # Without this the next sweeper would have to wait until the lease is over.
            with suppress(apsw.Error, DamagedFile, RuntimeError):
                self._storage.write(self._release_lease)

    def _run(self) -> None:
        while not self._stopping:
            pause: float | None = max(RETRY_SECONDS, self._interval or 0.0)
            try:
                self._turn()
                pause = self._interval
            except Exception:
                # The next turn tries again; requests meet the same trouble and answer with it.
                _logger.exception("maintenance failed")
            self._wake.wait(pause)
            self._wake.clear()

    def _turn(self) -> None:
        for name in self.filling():
            self._fill(name)
        if self._interval is not None and self._storage.write(self._take_lease):
            self.sweep()

    def filling(self) -> list[str]:
        """The tables with an index that is not filled yet."""

        def names(transaction: Transaction) -> list[str]:
            tables = transaction.catalog.tables.values()
            return [table.name for table in tables if any(index.status == "CREATING" for index in table.indexes)]

        return self._storage.read(names)

    def _fill(self, name: str) -> None:
        progress = self._storage.write(partial(backfill, name=name))
        while progress is not None and not self._stopping:
            time.sleep(BREATH_SECONDS)
            progress = self._storage.write(partial(backfill, name=name, progress=progress))

    def _take_lease(self, transaction: Transaction) -> bool:
        """Become, or stay, the one sweeper of the file."""
        assert self._interval is not None
        now = time.time()
        transaction.sql(
            "INSERT INTO leases VALUES ('sweeper', ?1, ?3) ON CONFLICT(name) DO UPDATE "
            "SET owner = ?1, expires = ?3 WHERE owner = ?1 OR expires < ?2",
            (self._owner, now, now + 3 * self._interval + 1),
        )
        owner = transaction.sql("SELECT owner FROM leases WHERE name = 'sweeper'").get
        return bool(owner == self._owner)

    def _release_lease(self, transaction: Transaction) -> None:
        transaction.sql("DELETE FROM leases WHERE name = 'sweeper' AND owner = ?", (self._owner,))

    def sweep(self) -> int:
        """Delete all expired items and old stream records now; the number of items."""
        names = self._storage.read(
            lambda transaction: [table.name for table in transaction.catalog.tables.values() if table.definition["ttl"]]
        )
        deleted = 0
        for name in names:
            while count := self._storage.write(partial(expiry.sweep, name=name)):
                deleted += count
        self._storage.write(stream_log.trim)
        return deleted
