"""UpdateContinuousBackups and DescribeContinuousBackups: point-in-time recovery of a table."""

from typing import TypedDict

from keyplan.engine.errors import DynamoError
from keyplan.engine.executor import Answer
from keyplan.engine.operations.backups.on_demand import BACKUP, source_table
from keyplan.engine.operations.jobs import jobs_of, release_history
from keyplan.engine.operations.tables.describe_table import TableNamed
from keyplan.engine.storage import history
from keyplan.engine.storage.catalog import Table
from keyplan.engine.storage.transaction import Transaction

LONGEST_DAYS = 35
"""The longest recovery period, and the default."""


class Specification(TypedDict, total=False):
    PointInTimeRecoveryEnabled: bool
    RecoveryPeriodInDays: int


class ContinuousBackupsRequest(TypedDict):
    TableName: str
    PointInTimeRecoverySpecification: Specification


def update_continuous_backups(transaction: Transaction, request: ContinuousBackupsRequest) -> Answer:
    table = source_table(transaction, request["TableName"])
    wanted = request["PointInTimeRecoverySpecification"]
    if wanted["PointInTimeRecoveryEnabled"]:
        table = history.set_recovery(transaction, table, wanted.get("RecoveryPeriodInDays", LONGEST_DAYS))
    elif table.recovery is not None:
        if any(job["kind"] == BACKUP for job in jobs_of(transaction, table)):
            raise DynamoError(
                "ContinuousBackupsUnavailableException", f"A backup of the table is being created: {table.name}"
            )
        table = history.end_recovery(transaction, table)
        release_history(transaction, table.name)
    return {"ContinuousBackupsDescription": _description(table, transaction.now)}


def describe_continuous_backups(transaction: Transaction, request: TableNamed) -> Answer:
    name = transaction.catalog.name_of(request["TableName"])
    if name not in transaction.catalog.tables:
        raise DynamoError("TableNotFoundException", f"Table not found: {name}")
    return {"ContinuousBackupsDescription": _description(transaction.catalog.tables[name], transaction.now)}


def restorable(table: Table, now: float) -> tuple[int, int]:
    """Return the first and the last second that a table with recovery can be restored to."""
    return int(history.earliest(table, now)), int(now)


def _description(table: Table, now: float) -> dict[str, object]:
    """AWS's description; continuous backups themselves are always enabled."""
    recovery: dict[str, object] = {"PointInTimeRecoveryStatus": "DISABLED"}
    if table.recovery is not None:
        first, last = restorable(table, now)
        recovery = {
            "PointInTimeRecoveryStatus": "ENABLED",
            "RecoveryPeriodInDays": table.recovery["days"],
            "EarliestRestorableDateTime": first,
            "LatestRestorableDateTime": last,
        }
    return {"ContinuousBackupsStatus": "ENABLED", "PointInTimeRecoveryDescription": recovery}
