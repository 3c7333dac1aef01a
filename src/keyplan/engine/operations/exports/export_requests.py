"""ExportTableToPointInTime, DescribeExport and ListExports."""

from typing import TypedDict, cast
from uuid import uuid4

from keyplan.engine.errors import DynamoError, validation_error
from keyplan.engine.executor import Answer, Request
from keyplan.engine.operations.backups.continuous_backups import restorable
from keyplan.engine.operations.backups.on_demand import source_table
from keyplan.engine.operations.client_tokens import earlier_arn, remember, with_token
from keyplan.engine.operations.exports.collecting import (
    Collection,
    first_change,
    full_collection,
    incremental_collection,
)
from keyplan.engine.operations.exports.filters import check_filter
from keyplan.engine.operations.jobs import all_jobs, start_job
from keyplan.engine.operations.listed_arns import MOST, listed
from keyplan.engine.storage.catalog import Table
from keyplan.engine.storage.records import Record, get_record, put_record
from keyplan.engine.storage.transaction import Transaction

EXPORT = "export"
"""The kind of the records, which are AWS's ExportDescriptions, and of the jobs."""
MAXIMUM_EXPORTS = 300
"""Exports in progress at the same time."""
SHORTEST_SECONDS = 15 * 60
LONGEST_SECONDS = 24 * 3600

INVALID_TIME = "The specified ExportTime is outside of the point in time recovery window."
_DESCRIBED = (
    "ClientToken",
    "S3Bucket",
    "S3BucketOwner",
    "S3Prefix",
    "S3SseAlgorithm",
    "S3SseKmsKeyId",
    "FilterSpecification",
)


class IncrementalSpecification(TypedDict, total=False):
    ExportFromTime: float
    ExportToTime: float
    ExportViewType: str


class ExportArnRequest(TypedDict):
    ExportArn: str


class ListExportsRequest(TypedDict, total=False):
    TableArn: str
    MaxResults: int
    NextToken: str


def export_table_to_point_in_time(transaction: Transaction, request: Request) -> Answer:
    request = with_token(request)
    earlier = earlier_arn(transaction, EXPORT, request, "ExportConflictException")
    if earlier is not None:
        return {"ExportDescription": find_export(transaction, earlier)}
    table = _table(transaction, cast(str, request["TableArn"]))
    check_filter(cast("dict[str, object]", request.get("FilterSpecification", {})), table)
    described: Record = {
        "ExportArn": f"{table.arn}/export/{int(transaction.now * 1000):014d}-{uuid4().hex[:8]}",
        "ExportStatus": "IN_PROGRESS",
        "StartTime": transaction.now,
        "TableArn": table.arn,
        "TableId": table.description["TableId"],
        **{member: request[member] for member in _DESCRIBED if member in request},
        "S3SseAlgorithm": request.get("S3SseAlgorithm", "AES256"),
        "ExportFormat": request.get("ExportFormat", "DYNAMODB_JSON"),
        "ExportType": request.get("ExportType", "FULL_EXPORT"),
    }
    if described["ExportType"] == "FULL_EXPORT":
        collection = _start_full(transaction, table, request, described)
    else:
        collection = _start_incremental(transaction, table, request, described)
    arn = cast(str, described["ExportArn"])
    put_record(transaction, EXPORT, arn, described)
    remember(transaction, EXPORT, request, arn)
    job: Record = {
        "export": arn,
        "collection": collection,
        "key": table.description["KeySchema"],
        "attributes": table.description["AttributeDefinitions"],
    }
    start_job(transaction, EXPORT, job, table=table.name, history_after=first_change(collection))
    return {"ExportDescription": described}


def describe_export(transaction: Transaction, request: ExportArnRequest) -> Answer:
    return {"ExportDescription": find_export(transaction, request["ExportArn"])}


def list_exports(transaction: Transaction, request: ListExportsRequest) -> Answer:
    return listed(
        transaction,
        EXPORT,
        "ExportSummaries",
        ("ExportArn", "ExportStatus", "ExportType"),
        table_arn=request.get("TableArn"),
        token=request.get("NextToken"),
        limit=request.get("MaxResults", MOST),
    )


def find_export(transaction: Transaction, arn: str) -> Record:
    export = get_record(transaction, EXPORT, arn)
    if export is None:
        raise DynamoError("ExportNotFoundException", f"Export not found: {arn}")
    return export


def _table(transaction: Transaction, arn: str) -> Table:
    if not arn.startswith(transaction.catalog.scope.arn("table/")):
        raise validation_error(f"Invalid TableArn: {arn}")
    table = source_table(transaction, arn)
    if table.recovery is None:
        raise DynamoError(
            "PointInTimeRecoveryUnavailableException",
            f"Point in time recovery is not enabled for table '{table.name}'",
        )
    if sum(job["kind"] == EXPORT for _, job in all_jobs(transaction)) >= MAXIMUM_EXPORTS:
        raise DynamoError(
            "LimitExceededException", f"Too many exports are in progress. The limit is {MAXIMUM_EXPORTS}."
        )
    return table


def _start_full(transaction: Transaction, table: Table, request: Request, described: Record) -> Collection:
    if "IncrementalExportSpecification" in request:
        raise validation_error("IncrementalExportSpecification can only be specified for an INCREMENTAL_EXPORT")
    first, last = restorable(table, transaction.now)
    second = int(cast(float, request.get("ExportTime", last)))
    if not first <= second <= last:
        raise DynamoError("InvalidExportTimeException", INVALID_TIME)
    described["ExportTime"] = float(second)
    return full_collection(transaction, table, second)


def _start_incremental(transaction: Transaction, table: Table, request: Request, described: Record) -> Collection:
    given = cast(IncrementalSpecification, request.get("IncrementalExportSpecification", {}))
    if "ExportTime" in request:
        raise validation_error("ExportTime can only be specified for a FULL_EXPORT")
    if "ExportFromTime" not in given:
        raise validation_error("IncrementalExportSpecification with ExportFromTime is required for INCREMENTAL_EXPORT")
    first, last = restorable(table, transaction.now)
    start, end = int(given["ExportFromTime"]), int(given.get("ExportToTime", last))
    if not first <= start <= end <= last:
        raise DynamoError("InvalidExportTimeException", INVALID_TIME)
    if not SHORTEST_SECONDS <= end - start <= LONGEST_SECONDS:
        raise validation_error(
            "The difference between ExportFromTime and ExportToTime must be at least 15 minutes and at most 24 hours"
        )
    view = given.get("ExportViewType", "NEW_AND_OLD_IMAGES")
    described["IncrementalExportSpecification"] = {
        "ExportFromTime": float(start),
        "ExportToTime": float(end),
        "ExportViewType": view,
    }
    return incremental_collection(transaction, table, start, end)
