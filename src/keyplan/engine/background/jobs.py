"""Runs jobs between requests, one step of each in turn; see `operations/jobs.py`."""

import time
from collections.abc import Callable
from functools import partial
from typing import Protocol

from keyplan.engine.operations.backups.on_demand import (
    BACKUP,
    RESTORE,
    continue_backup,
    remove_expired_backups,
)
from keyplan.engine.operations.backups.restores import continue_restore
from keyplan.engine.operations.jobs import all_jobs, needed_history
from keyplan.engine.storage import disposal, history
from keyplan.engine.storage.records import list_records
from keyplan.engine.storage.storage import Storage
from keyplan.engine.storage.transaction import Transaction


class Step(Protocol):
    def __call__(self, transaction: Transaction, name: str) -> bool:
        """Run one step of the job with this name; return whether there is more to do."""
        ...


PAUSE_SECONDS = 0.001
"""The pause between two steps; without it, other writers would rarely get the lock."""
STEPS: dict[str, Step] = {BACKUP: continue_backup, RESTORE: continue_restore}


def has_work(transaction: Transaction) -> bool:
    """Whether there are jobs to continue, or tables to free."""
    return bool(all_jobs(transaction) or disposal.unused(transaction))


def needs_upkeep(transaction: Transaction) -> bool:
    """Whether there is something that gets too old as time passes."""
    if any(table.recovery for table in transaction.catalog.tables.values()):
        return True
    return bool(list_records(transaction, BACKUP, limit=1))


def run_jobs(storage: Storage, stopping: Callable[[], bool]) -> None:
    """Run all jobs to their ends, and free what isn't used any more."""
    working = True
    while working and not stopping():
        jobs = storage.read(all_jobs)
        unused = storage.read(disposal.unused)
        working = bool(jobs or unused)
        for name, job in jobs:
            storage.write(partial(STEPS[str(job["kind"])], name=name))
            time.sleep(PAUSE_SECONDS)
        for rows in unused:
            storage.write(partial(disposal.free_some, rows=rows))
            time.sleep(PAUSE_SECONDS)


def upkeep(storage: Storage) -> None:
    """Trim the histories to their periods, and remove the system backups whose time is over."""
    names = storage.read(lambda transaction: [t.name for t in transaction.catalog.tables.values() if t.recovery])
    for name in names:
        while storage.write(partial(_trim, name=name)):
            time.sleep(PAUSE_SECONDS)
    if storage.read(lambda transaction: list_records(transaction, BACKUP, limit=1)):
        storage.write(remove_expired_backups)


def _trim(transaction: Transaction, name: str) -> bool:
    table = transaction.catalog.tables.get(name)
    return table is not None and history.trim(transaction, table, needed_history(transaction, table))
