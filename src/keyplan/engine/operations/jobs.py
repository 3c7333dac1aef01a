"""Jobs: work that is larger than one request, such as the copy of a large table.

A job is a record with its kind, the table that it reads, and its state. Maintenance runs it step by step between
requests, and continues it after a restart; see `background/jobs.py`. A step reads and updates the record in its own
transaction.
"""

from typing import TypeAlias, cast
from uuid import uuid4

from keyplan.engine.storage import history
from keyplan.engine.storage.catalog import Table
from keyplan.engine.storage.records import Record, delete_record, get_record, list_records, put_record
from keyplan.engine.storage.scopes import Scope
from keyplan.engine.storage.transaction import Transaction

JobName: TypeAlias = str
JOB = "job"


def start_job(
    transaction: Transaction, kind: str, state: Record, *, table: str | None = None, history_after: int = 0
) -> JobName:
    """Store a new job; `table` is the table whose history it reads, if any, after the change with this number."""
    name = uuid4().hex
    put_record(
        transaction,
        JOB,
        name,
        {
            **state,
            "kind": kind,
            "table": table,
            "history_after": history_after,
            "scope": list(transaction.catalog.scope),
        },
    )
    return name


def get_job(transaction: Transaction, name: JobName) -> Record | None:
    """Return a job's state, or None if it has ended; go on in the account and region in which it was started."""
    job = get_record(transaction, JOB, name)
    if job is not None:
        transaction.enter(scope_of_job(job))
    return job


def save_job(transaction: Transaction, name: JobName, job: Record) -> None:
    put_record(transaction, JOB, name, job)


def end_job(transaction: Transaction, name: JobName) -> None:
    delete_record(transaction, JOB, name)


def all_jobs(transaction: Transaction) -> list[tuple[JobName, Record]]:
    return list_records(transaction, JOB)


def jobs_of(transaction: Transaction, table: Table) -> list[Record]:
    """Return the jobs that read a table."""
    scope = transaction.catalog.scope
    return [job for _, job in all_jobs(transaction) if job["table"] == table.name and scope_of_job(job) == scope]


def has_writer(transaction: Transaction, table: Table) -> bool:
    """Return whether a job writes to a table that can be used meanwhile, as a bulk put does."""
    scope = transaction.catalog.scope
    return any(job.get("target") == table.name and scope_of_job(job) == scope for _, job in all_jobs(transaction))


def scope_of_job(job: Record) -> Scope:
    """Return the account and the region in which a job was started."""
    return Scope(*cast(list[str], job["scope"]))


def needed_history(transaction: Transaction, table: Table) -> int | None:
    """Return the number of the change after which the jobs of a table need its history, or None."""
    return min((cast(int, job["history_after"]) for job in jobs_of(transaction, table)), default=None)


def release_history(transaction: Transaction, name: str) -> None:
    """Free the history of a table if nothing needs it any more."""
    table = transaction.catalog.tables.get(name)
    if table is not None and not jobs_of(transaction, table):
        history.release(transaction, table)
