"""Runs jobs between requests, one step of each in turn; see `operations/jobs.py`."""

import logging
import time
from collections.abc import Callable
from functools import partial
from typing import Protocol

import apsw

from keyplan.engine.background.exporting import export_some, fail_export
from keyplan.engine.background.importing import BulkRun, ImportRun
from keyplan.engine.errors import DamagedFile, DynamoError
from keyplan.engine.objects import ObjectStore
from keyplan.engine.operations import client_tokens, listed_arns
from keyplan.engine.operations.backups.on_demand import BACKUP, RESTORE, continue_backup, remove_expired_backups
from keyplan.engine.operations.backups.restores import continue_restore
from keyplan.engine.operations.exports.export_requests import EXPORT
from keyplan.engine.operations.imports.bulk_put_items import BULK, end_bulk
from keyplan.engine.operations.imports.import_table import IMPORT, end_import
from keyplan.engine.operations.jobs import JobName, all_jobs, needed_history
from keyplan.engine.storage import disposal, history
from keyplan.engine.storage.records import Record, list_records
from keyplan.engine.storage.scopes import Place
from keyplan.engine.storage.storage import Storage
from keyplan.engine.storage.transaction import Transaction

_logger = logging.getLogger("keyplan.engine")
PAUSE_SECONDS = 0.001
"""The pause between two steps; without it, other writers would rarely get the lock."""


class Step(Protocol):
    def __call__(self, transaction: Transaction, name: str) -> bool:
        """Run one step of the job with this name; return whether there is more to do."""
        ...


class Fail(Protocol):
    def __call__(self, transaction: Transaction, name: str, failure: tuple[str, str]) -> None:
        """End the job with this name, with this failure."""
        ...


STEPS: dict[str, Step] = {BACKUP: continue_backup, RESTORE: continue_restore}
"""The steps of jobs that need nothing but the file."""
_FAIL: dict[str, Fail] = {EXPORT: fail_export, IMPORT: end_import, BULK: end_bulk}
"""How the other jobs are ended if something unexpected happens."""
UNEXPECTED = ("InternalServerError", "Something unexpected happened. The log of the process says what.")
_KEPT = (BACKUP, EXPORT, IMPORT, BULK)
"""The kinds of records that get too old."""


class Jobs:
    """The jobs of a database. Those that read or write files wait until there is a store."""

    def __init__(self, storage: Storage, store: ObjectStore | None) -> None:
        self._storage = storage
        self._store = store
        self._runs: dict[JobName, ImportRun | BulkRun] = {}

    def has_work(self) -> bool:
        """Whether there are jobs to continue, or tables to free."""
        return bool(self._runnable() or self._storage.read(disposal.unused))

    def _runnable(self) -> list[tuple[JobName, Record]]:
        jobs = self._storage.read(all_jobs)
        return [(name, job) for name, job in jobs if job["kind"] in STEPS or self._store is not None]

    def run(self, stopping: Callable[[], bool]) -> None:
        """Run all jobs to their ends, and free what isn't used any more."""
        working = True
        while working and not stopping():
            jobs, unused = self._runnable(), self._storage.read(disposal.unused)
            working = bool(jobs or unused)
            for name, job in jobs:
                self._run_step(name, str(job["kind"]))
                time.sleep(PAUSE_SECONDS)
            for rows in unused:
                self._storage.write(partial(disposal.free_some, rows=rows))
                time.sleep(PAUSE_SECONDS)

    def _run_step(self, name: JobName, kind: str) -> None:
        if kind in STEPS:
            self._storage.write(partial(STEPS[kind], name=name))
            return
        try:
            self._run_file_step(name, kind)
        except (apsw.Error, DamagedFile, DynamoError):
            raise  # the database can't be used now; the job goes on when it can
        except Exception:
            # Otherwise it would fail again and again, and keep the others from being run.
            _logger.exception("A job failed")
            self._storage.write(partial(_FAIL[kind], name=name, failure=UNEXPECTED))

    def _run_file_step(self, name: JobName, kind: str) -> None:
        assert self._store is not None
        if kind == EXPORT:
            export_some(self._storage, self._store, name)
            return
        run = self._runs.get(name)
        if run is None:
            made = ImportRun if kind == IMPORT else BulkRun
            run = self._runs[name] = made(self._storage, self._store, name)
        more = False
        try:
            more = run.step()
        finally:
            if not more:  # also after a failure: the next step reads from the stored position
                del self._runs[name]

    def needs_upkeep(self) -> bool:
        """Whether there is something that gets too old as time passes."""

        def found(transaction: Transaction) -> bool:
            if any(table.recovery for table in transaction.tables_everywhere()):
                return True
            return any(list_records(transaction, kind, limit=1) for kind in _KEPT)

        return self._storage.read(found)

    def upkeep(self) -> None:
        """Trim the histories to their periods, and remove records whose time is over."""
        storage = self._storage
        places = storage.read(lambda transaction: [t.place for t in transaction.tables_everywhere() if t.recovery])
        for place in places:
            while storage.write(partial(_trim, place)):
                time.sleep(PAUSE_SECONDS)
        if self.needs_upkeep():
            storage.write(_remove_old_records)


def _trim(place: Place, transaction: Transaction) -> bool:
    table = transaction.table_at(place)
    return table is not None and history.trim(transaction, table, needed_history(transaction, table))


def _remove_old_records(transaction: Transaction) -> None:
    remove_expired_backups(transaction)
    for kind in (EXPORT, IMPORT, BULK):
        listed_arns.remove_old(transaction, kind)
    client_tokens.forget_expired(transaction)
