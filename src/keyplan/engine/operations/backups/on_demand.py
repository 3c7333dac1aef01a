"""CreateBackup, DescribeBackup, ListBackups and DeleteBackup."""

from typing import TypedDict, cast
from uuid import uuid4

from keyplan.engine.errors import DynamoError
from keyplan.engine.executor import Answer
from keyplan.engine.operations.jobs import all_jobs, end_job, get_job, jobs_of, release_history, save_job, start_job
from keyplan.engine.operations.tables.throughput import billing_of
from keyplan.engine.storage import history
from keyplan.engine.storage.catalog import Table
from keyplan.engine.storage.copies import Copy, copy_some, is_small, new_rows, start_copy
from keyplan.engine.storage.descriptions import IndexDescription, TableDescription
from keyplan.engine.storage.disposal import dispose
from keyplan.engine.storage.records import Record, delete_record, get_record, list_records, put_record
from keyplan.engine.storage.transaction import Transaction

BACKUP = "backup"
"""The kind of the records of backups, and of the jobs that make them."""
RESTORE = "restore"
"""The kind of the jobs that restore a table."""
SYSTEM_BACKUP_SECONDS = 35 * history.SECONDS_OF_A_DAY
DEFAULT_PAGE = 100

IN_USE = (
    "There is another ongoing conflicting backup control plane operation on the table. "
    "The backup is either being created, deleted or restored to a table."
)


class Backup(TypedDict):
    """The stored form of a backup."""

    details: dict[str, object]
    """AWS's BackupDetails."""
    table: TableDescription
    """The description of the table with its number and size of items, as of the backup."""
    ttl: str | None
    rows: str
    """The SQLite table of the items."""


class BackupRequest(TypedDict, total=False):
    TableName: str
    BackupName: str
    BackupArn: str


class ListBackupsRequest(TypedDict, total=False):
    TableName: str
    Limit: int
    TimeRangeLowerBound: float
    TimeRangeUpperBound: float
    ExclusiveStartBackupArn: str
    BackupType: str


def create_backup(transaction: Transaction, request: BackupRequest) -> Answer:
    table = source_table(transaction, request["TableName"])
    if any(job["kind"] == BACKUP for job in jobs_of(transaction, table)):
        raise DynamoError("BackupInUseException", IN_USE)
    backup = _new_backup(transaction, table, request["BackupName"], "USER", new_rows(transaction))
    if is_small(transaction, table.rows):
        copy = start_copy(table.rows, backup["rows"])
        while copy_some(transaction, copy):
            pass
        _save(transaction, backup, status="AVAILABLE")
    else:
        table = history.record(transaction, table)
        copy = start_copy(table.rows, backup["rows"], table.history, history.newest(transaction, table))
        _save(transaction, backup, status="CREATING")
        state: Record = {"backup": arn_of(backup), "copy": copy}
        start_job(transaction, BACKUP, state, table=table.name, history_after=copy["start"])
    return {"BackupDetails": backup["details"]}


def continue_backup(transaction: Transaction, name: str) -> bool:
    """Run one step of a job that makes a backup; return whether there is more to do."""
    job = get_job(transaction, name)
    if job is None:
        return False
    if copy_some(transaction, cast(Copy, job["copy"])):
        save_job(transaction, name, job)
        return True
    backup = _stored(transaction, cast(str, job["backup"]))
    assert backup is not None
    _save(transaction, backup, status="AVAILABLE")
    end_job(transaction, name)
    release_history(transaction, cast(str, job["table"]))
    return False


def keep_as_system_backup(transaction: Transaction, table: Table) -> None:
    """Make the rows of a table that is being deleted into a backup, which is kept for 35 days."""
    backup = _new_backup(transaction, table, f"{table.name}$DeletedTableBackup", "SYSTEM", table.rows)
    backup["details"]["BackupExpiryDateTime"] = transaction.now + SYSTEM_BACKUP_SECONDS
    _save(transaction, backup, status="AVAILABLE")


def describe_backup(transaction: Transaction, request: BackupRequest) -> Answer:
    return {"BackupDescription": _description(find_backup(transaction, request["BackupArn"]))}


def list_backups(transaction: Transaction, request: ListBackupsRequest) -> Answer:
    """Return the backups of a table or of all, by name of the table and time."""
    own = transaction.catalog.scope.arn("table/")
    prefix = f"{own}{transaction.catalog.name_of(request['TableName'])}/backup/" if "TableName" in request else own
    after, limit = request.get("ExclusiveStartBackupArn", ""), request.get("Limit", DEFAULT_PAGE)
    kind = request.get("BackupType", "USER")
    low, high = request.get("TimeRangeLowerBound"), request.get("TimeRangeUpperBound")
    found = []
    for _, record in list_records(transaction, BACKUP, prefix=prefix, after=after):
        backup = cast(Backup, record)
        made = cast(float, backup["details"]["BackupCreationDateTime"])
        if (
            not _is_expired(transaction, backup)
            and kind in ("ALL", backup["details"]["BackupType"])
            and (low is None or made >= low)
            and (high is None or made < high)
        ):
            found.append(_summary(backup))
    answer: Answer = {"BackupSummaries": found[:limit]}
    if len(found) > limit:
        answer["LastEvaluatedBackupArn"] = found[limit - 1]["BackupArn"]
    return answer


def delete_backup(transaction: Transaction, request: BackupRequest) -> Answer:
    backup = find_backup(transaction, request["BackupArn"])
    if backup["details"]["BackupStatus"] == "CREATING" or _is_being_restored(transaction, backup):
        raise DynamoError("BackupInUseException", IN_USE)
    _remove(transaction, backup)
    backup["details"]["BackupStatus"] = "DELETED"
    return {"BackupDescription": _description(backup)}


def remove_expired_backups(transaction: Transaction) -> None:
    """Free the system backups whose time is over."""
    for _, record in list_records(transaction, BACKUP):
        backup = cast(Backup, record)
        if _is_expired(transaction, backup) and not _is_being_restored(transaction, backup):
            _remove(transaction, backup)


def find_backup(transaction: Transaction, arn: str) -> Backup:
    """Return the backup with this ARN, or raise AWS's error."""
    backup = _stored(transaction, arn) if arn.startswith(transaction.catalog.scope.arn("table/")) else None
    if backup is None or _is_expired(transaction, backup):
        raise DynamoError("BackupNotFoundException", f"Backup not found: {arn}")
    return backup


def source_table(transaction: Transaction, name: str) -> Table:
    """Return the table with this name or ARN, or raise AWS's errors of operations on backups."""
    plain = transaction.catalog.name_of(name)
    table = transaction.catalog.tables.get(plain)
    if table is None:
        raise DynamoError("TableNotFoundException", f"Table not found: {plain}")
    if table.is_being_created:
        raise DynamoError("TableInUseException", f"Table is being created: {plain}")
    return table


def arn_of(backup: Backup) -> str:
    return cast(str, backup["details"]["BackupArn"])


def _new_backup(transaction: Transaction, table: Table, name: str, kind: str, rows: str) -> Backup:
    count, size = transaction.measure(table)
    details = {
        "BackupArn": f"{table.arn}/backup/{int(transaction.now * 1000):014d}-{uuid4().hex[:8]}",
        "BackupName": name,
        "BackupSizeBytes": size,
        "BackupType": kind,
        "BackupCreationDateTime": transaction.now,
    }
    description: TableDescription = {**table.description, "ItemCount": count, "TableSizeBytes": size}
    return {"details": details, "table": description, "ttl": table.definition["ttl"], "rows": rows}


def _save(transaction: Transaction, backup: Backup, status: str) -> None:
    backup["details"]["BackupStatus"] = status
    put_record(transaction, BACKUP, arn_of(backup), cast(Record, backup))


def _stored(transaction: Transaction, arn: str) -> Backup | None:
    return cast(Backup | None, get_record(transaction, BACKUP, arn))


def _remove(transaction: Transaction, backup: Backup) -> None:
    delete_record(transaction, BACKUP, arn_of(backup))
    dispose(transaction, backup["rows"])


def _is_expired(transaction: Transaction, backup: Backup) -> bool:
    expiry = cast(float | None, backup["details"].get("BackupExpiryDateTime"))
    return expiry is not None and expiry <= transaction.now


def _is_being_restored(transaction: Transaction, backup: Backup) -> bool:
    return any(job.get("backup") == arn_of(backup) for _, job in all_jobs(transaction) if job["kind"] == RESTORE)


def _summary(backup: Backup) -> dict[str, object]:
    """AWS's BackupSummary."""
    table = backup["table"]
    named = {"TableName": table["TableName"], "TableId": table["TableId"], "TableArn": table["TableArn"]}
    return {**named, **backup["details"]}


def _description(backup: Backup) -> dict[str, object]:
    """AWS's BackupDescription."""
    table = backup["table"]
    source: dict[str, object] = {
        "TableName": table["TableName"],
        "TableId": table["TableId"],
        "TableArn": table["TableArn"],
        "TableSizeBytes": table["TableSizeBytes"],
        "KeySchema": table["KeySchema"],
        "TableCreationDateTime": table["CreationDateTime"],
        "ProvisionedThroughput": _units(table),
        "ItemCount": table["ItemCount"],
        "BillingMode": billing_of(table),
    }
    if "OnDemandThroughput" in table:
        source["OnDemandThroughput"] = table["OnDemandThroughput"]
    return {
        "BackupDetails": backup["details"],
        "SourceTableDetails": source,
        "SourceTableFeatureDetails": _features(backup),
    }


def _features(backup: Backup) -> dict[str, object]:
    table = backup["table"]
    features: dict[str, object] = {}
    for index in table.get("LocalSecondaryIndexes", []):
        _add(features, "LocalSecondaryIndexes", _index(index))
    for index in table.get("GlobalSecondaryIndexes", []):
        described = {**_index(index), "ProvisionedThroughput": _units(index)}
        if "OnDemandThroughput" in index:
            described["OnDemandThroughput"] = index["OnDemandThroughput"]
        _add(features, "GlobalSecondaryIndexes", described)
    for vectors in table.get("VectorIndexes", []):
        members = ("IndexName", "VectorAttribute", "SearchSchema", "Projection", "Dimensions", "DistanceFunction")
        shown = cast("dict[str, object]", vectors)
        _add(features, "VectorIndexes", {member: shown[member] for member in members if member in shown})
    if "StreamSpecification" in table:
        features["StreamDescription"] = table["StreamSpecification"]
    if backup["ttl"] is not None:
        features["TimeToLiveDescription"] = {"TimeToLiveStatus": "ENABLED", "AttributeName": backup["ttl"]}
    if "SSEDescription" in table:
        features["SSEDescription"] = table["SSEDescription"]
    return features


def _add(features: dict[str, object], member: str, index: dict[str, object]) -> None:
    cast(list[object], features.setdefault(member, [])).append(index)


def _index(index: IndexDescription) -> dict[str, object]:
    return {"IndexName": index["IndexName"], "KeySchema": index["KeySchema"], "Projection": index["Projection"]}


def _units(described: TableDescription | IndexDescription) -> dict[str, object]:
    units = described["ProvisionedThroughput"]
    return {name: units[name] for name in ("ReadCapacityUnits", "WriteCapacityUnits")}
