"""The work between requests: deleting expired items, trimming streams and histories, filling new indexes, jobs.

There is one thread per database. Of all processes that share a file, one holds the lease for sweeping; when it ends,
another one takes over. Filling an index and the steps of jobs need no lease: doing them twice does no harm, and they
must be completed even if the process that started them was killed.
"""

import logging
import threading
import time
from contextlib import suppress
from functools import partial
from uuid import uuid4

import apsw

from keyplan.engine.background import expiry
from keyplan.engine.background.jobs import Jobs
from keyplan.engine.errors import DamagedFile, DynamoError
from keyplan.engine.objects import ObjectStore
from keyplan.engine.operations.tables.index_backfill import Progress, backfill
from keyplan.engine.storage import stream_log
from keyplan.engine.storage.scopes import Place
from keyplan.engine.storage.storage import Storage
from keyplan.engine.storage.transaction import Transaction

RETRY_SECONDS = 1.0
"""The pause after a failure."""
UPKEEP_SECONDS = 3600.0
"""The longest pause while there are histories and backups that get too old."""
BACKFILL_PAUSE_SECONDS = 0.001
"""The pause between two steps of a backfill or a sweep; without it, other writers would rarely get the lock."""

_logger = logging.getLogger("keyplan.engine")


class Maintenance:
    """The maintenance thread of a database, started when there is something to do."""

    def __init__(self, storage: Storage, ttl_interval: float | None, store: ObjectStore | None = None) -> None:
        self._storage = storage
        self._jobs = Jobs(storage, store)
        self._interval = ttl_interval
        self._owner = uuid4().hex
        self._wake = threading.Event()
        self._stopping = False
        self._problem = ""
        self._starting = threading.Lock()
        self._thread: threading.Thread | None = None
        if ttl_interval is not None or self.has_work() or self._jobs.needs_upkeep():
            self.start()

    def has_work(self) -> bool:
        """Whether there are indexes to fill, or jobs to continue."""
        return bool(self.tables_to_fill()) or self._jobs.has_work()

    def start(self) -> None:
        """Start the thread, or wake it up if it is waiting."""
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
            # Otherwise the next sweeper would have to wait until the lease expires.
            with suppress(apsw.Error, DamagedFile, DynamoError, RuntimeError):
                self._storage.write(self._release_lease)

    def _run(self) -> None:
        while not self._stopping:
            pause: float | None = max(RETRY_SECONDS, self._interval or 0.0)
            try:
                self._run_once()
                self._problem = ""
                pause = self._interval
                if self._jobs.needs_upkeep():
                    pause = min(self._interval or UPKEEP_SECONDS, UPKEEP_SECONDS)
            except (DynamoError, DamagedFile) as error:
                self._note(error.message if isinstance(error, DynamoError) else str(error))
            except Exception:
                # The next round tries again.
                _logger.exception("Maintenance failed")
            self._wake.wait(pause)
            self._wake.clear()

    def _note(self, problem: str) -> None:
        """Report once why the storage refuses to be written; the next rounds try again."""
        if problem != self._problem:
            self._problem = problem
            _logger.error("Maintenance waits until the file can be written again: %s", problem)

    def _run_once(self) -> None:
        for place in self.tables_to_fill():
            self._fill_index(place)
        self._jobs.run(lambda: self._stopping)
        if not self._stopping:
            self._jobs.upkeep()
        if self._interval is not None and self._storage.write(self._take_lease):
            self.sweep()

    def tables_to_fill(self) -> list[Place]:
        """Return the tables with an index that isn't filled yet."""

        def places(transaction: Transaction) -> list[Place]:
            tables = transaction.tables_everywhere()
            return [table.place for table in tables if any(index.status == "CREATING" for index in table.all_indexes)]

        return self._storage.read(places)

    def _fill_index(self, place: Place) -> None:
        progress = self._storage.write(partial(_backfill, place))
        while progress is not None and not self._stopping:
            time.sleep(BACKFILL_PAUSE_SECONDS)
            progress = self._storage.write(partial(_backfill, place, progress=progress))

    def _take_lease(self, transaction: Transaction) -> bool:
        """Become or stay the only sweeper of the file; return whether that succeeded."""
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
        """Delete all expired items, old stream records, history and backups now; return the number of items."""
        places = self._storage.read(
            lambda transaction: [table.place for table in transaction.tables_everywhere() if table.definition["ttl"]]
        )
        deleted = 0
        for place in places:
            while count := self._storage.write(partial(expiry.sweep, place=place)):
                deleted += count
                time.sleep(BACKFILL_PAUSE_SECONDS)
        self._storage.write(stream_log.trim)
        self._jobs.upkeep()
        return deleted


def _backfill(place: Place, transaction: Transaction, progress: Progress | None = None) -> Progress | None:
    transaction.enter(place.scope)
    return backfill(transaction, place.name, progress)
