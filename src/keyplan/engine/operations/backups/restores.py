"""RestoreTableFromBackup and RestoreTableToPointInTime."""

from copy import deepcopy
from typing import cast

from keyplan.engine.errors import DynamoError, validation_error
from keyplan.engine.executor import Answer
from keyplan.engine.operations.backups.continuous_backups import restorable
from keyplan.engine.operations.backups.on_demand import IN_USE, RESTORE, find_backup, source_table
from keyplan.engine.operations.backups.restored_tables import Overrides, restored_definition
from keyplan.engine.operations.jobs import all_jobs, end_job, get_job, release_history, save_job, start_job
from keyplan.engine.operations.tables.describe_table import describe
from keyplan.engine.operations.tables.index_backfill import fill_all
from keyplan.engine.storage import history
from keyplan.engine.storage.catalog import Table
from keyplan.engine.storage.copies import Copy, copy_some, is_complete, is_small, start_copy
from keyplan.engine.storage.descriptions import TableDescription
from keyplan.engine.storage.records import Record
from keyplan.engine.storage.transaction import Transaction

MAXIMUM_RESTORES = 50
"""Restores in progress at the same time."""


class RestoreRequest(Overrides, total=False):
    """The members of both operations."""

    TargetTableName: str
    BackupArn: str
    SourceTableArn: str
    SourceTableName: str
    UseLatestRestorableTime: bool
    RestoreDateTime: float


def restore_table_from_backup(transaction: Transaction, request: RestoreRequest) -> Answer:
    backup = find_backup(transaction, request["BackupArn"])
    if backup["details"]["BackupStatus"] == "CREATING":
        raise DynamoError("BackupInUseException", IN_USE)
    summary = {
        "SourceBackupArn": request["BackupArn"],
        "SourceTableArn": backup["table"]["TableArn"],
        "RestoreDateTime": backup["details"]["BackupCreationDateTime"],
    }
    target = _new_table(transaction, request, backup["table"], summary)
    copy = start_copy(backup["rows"], target.rows)
    return _start(transaction, target, copy, source=None, backup=request["BackupArn"])


def restore_table_to_point_in_time(transaction: Transaction, request: RestoreRequest) -> Answer:
    source = source_table(transaction, _source_name(request))
    if source.recovery is None:
        raise DynamoError(
            "PointInTimeRecoveryUnavailableException",
            f"Point in time recovery is not enabled for table '{source.name}'",
        )
    second = _second(transaction, request, source)
    summary = {"SourceTableArn": source.arn, "RestoreDateTime": second}
    target = _new_table(transaction, request, source.description, summary)
    start = history.newest_before(transaction, source, second + 1)
    copy = start_copy(source.rows, target.rows, source.history, start)
    return _start(transaction, target, copy, source=source, backup=None)


def _source_name(request: RestoreRequest) -> str:
    name, arn = request.get("SourceTableName"), request.get("SourceTableArn")
    if (name is None) == (arn is None):
        raise validation_error("Exactly one of SourceTableArn and SourceTableName must be specified")
    return name or arn or ""


def _second(transaction: Transaction, request: RestoreRequest, source: Table) -> int:
    """Return the second to restore to."""
    first, last = restorable(source, transaction.now)
    latest = request.get("UseLatestRestorableTime", False)
    if latest == ("RestoreDateTime" in request):
        raise validation_error("Exactly one of RestoreDateTime and UseLatestRestorableTime must be specified")
    if latest:
        return last
    second = int(request["RestoreDateTime"])
    if not first <= second <= last:
        raise DynamoError(
            "InvalidRestoreTimeException",
            "An invalid restore time was specified. RestoreDateTime must be between EarliestRestorableDateTime and "
            "LatestRestorableDateTime.",
        )
    return second


def _new_table(
    transaction: Transaction, request: RestoreRequest, source: TableDescription, summary: dict[str, object]
) -> Table:
    """Create the target, empty and not usable yet."""
    name = request["TargetTableName"]
    existing = transaction.catalog.tables.get(name)
    if existing is not None and existing.is_being_created:
        raise DynamoError("TableInUseException", f"Table is being created: {name}")
    if existing is not None:
        raise DynamoError("TableAlreadyExistsException", f"Table already exists: {name}")
    if sum(job["kind"] == RESTORE for _, job in all_jobs(transaction)) >= MAXIMUM_RESTORES:
        raise DynamoError(
            "LimitExceededException", f"Too many restores are in progress. The limit is {MAXIMUM_RESTORES}."
        )
    definition = restored_definition(source, request, transaction.catalog.scope, name, transaction.now)
    definition["description"]["TableStatus"] = "CREATING"
    definition["description"]["RestoreSummary"] = {**summary, "RestoreInProgress": True}
    return transaction.create_table(definition)


def _start(transaction: Transaction, target: Table, copy: Copy, source: Table | None, backup: str | None) -> Answer:
    """Restore a small table now; leave a large one, or one with much history to undo, to maintenance."""
    answer: Answer = {"TableDescription": describe(transaction, target)}
    if is_small(transaction, copy["source"]) and (source is None or _is_recent(transaction, source, copy)):
        while copy_some(transaction, copy):
            pass
        after: int | None = 0
        while after is not None:
            after = fill_all(transaction, target, after)
        _complete(transaction, target.name)
        return answer
    state: Record = {"target": target.name, "backup": backup, "copy": copy, "filled": 0}
    start_job(transaction, RESTORE, state, table=source.name if source else None, history_after=copy["start"])
    return answer


def _is_recent(transaction: Transaction, source: Table, copy: Copy) -> bool:
    """Whether there is little to undo."""
    return history.newest(transaction, source) - copy["start"] <= FEW_CHANGES


FEW_CHANGES = 100


def continue_restore(transaction: Transaction, name: str) -> bool:
    """Run one step of a job that restores a table; return whether there is more to do."""
    job = get_job(transaction, name)
    if job is None:
        return False
    copy, target = cast(Copy, job["copy"]), transaction.catalog.tables[cast(str, job["target"])]
    if not is_complete(copy):
        copy_some(transaction, copy)
        save_job(transaction, name, job)
        return True
    after = fill_all(transaction, target, cast(int, job["filled"])) if target.all_indexes else None
    if after is not None:
        job["filled"] = after
        save_job(transaction, name, job)
        return True
    _complete(transaction, target.name)
    end_job(transaction, name)
    if job["table"] is not None:
        release_history(transaction, cast(str, job["table"]))
    return False


def _complete(transaction: Transaction, name: str) -> None:
    """Make the restored table usable."""
    table = transaction.catalog.tables[name]
    definition = deepcopy(table.definition)
    definition["description"]["TableStatus"] = "ACTIVE"
    definition["description"]["RestoreSummary"]["RestoreInProgress"] = False
    transaction.save(Table(table.number, definition))
