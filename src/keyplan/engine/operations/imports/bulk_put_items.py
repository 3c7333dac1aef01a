"""StartBulkPutItems, DescribeBulkOperation, ListBulkOperations and CancelBulkOperation.

The items that weren't written are kept as records until the end, and are then written to the output bucket.
"""

from typing import TypedDict, cast
from uuid import uuid4

from keyplan.engine.errors import DynamoError, not_found, validation_error
from keyplan.engine.executor import Answer, Request
from keyplan.engine.formats.lines import BadRecord, missing_package
from keyplan.engine.formats.records import ItemRecord
from keyplan.engine.operations.client_tokens import earlier_arn, remember, with_token
from keyplan.engine.operations.imports.batches import START, Batch, put_request
from keyplan.engine.operations.items.item_changes import Change, apply
from keyplan.engine.operations.items.put_item import prepare_put
from keyplan.engine.operations.jobs import all_jobs, end_job, get_job, save_job, start_job
from keyplan.engine.operations.listed_arns import listed
from keyplan.engine.storage.catalog import Index, Table, in_use
from keyplan.engine.storage.records import Record, delete_record, get_record, list_records, put_record
from keyplan.engine.storage.transaction import Transaction
from keyplan.engine.values.attribute_values import Item, item_size

BULK = "bulk"
"""The kind of the records, which are AWS's BulkOperationDescriptions, and of the jobs."""
REPORT = "bulk_report"
"""The kind of the records of items that weren't written."""
MAXIMUM_OPERATIONS = 50
"""Bulk operations in progress at the same time."""
DEFAULT_PAGE = 10
MISMATCH = "IdempotentParameterMismatchException"

_DESCRIBED = ("ClientToken", "InputS3Configuration", "OutputS3Configuration", "MaxWriteRequestUnits")


class BulkArnRequest(TypedDict):
    BulkOperationArn: str


class ListBulkRequest(TypedDict, total=False):
    MaxResults: int
    NextToken: str


def start_bulk_put_items(transaction: Transaction, request: Request) -> Answer:
    request = with_token(request)
    earlier = earlier_arn(transaction, BULK, request, MISMATCH)
    if earlier is not None:
        return {"BulkOperationDescription": _find(transaction, earlier)}
    source = cast("dict[str, str]", request["InputS3Configuration"])
    if (missing := missing_package(source.get("InputCompressionType", "NONE"))) is not None:
        raise validation_error(missing)
    table = _target(transaction, cast(str, request["TableName"]))
    if sum(job["kind"] == BULK for _, job in all_jobs(transaction)) >= MAXIMUM_OPERATIONS:
        raise DynamoError(
            "LimitExceededException", f"Too many bulk operations are in progress. The limit is {MAXIMUM_OPERATIONS}."
        )
    arn = f"{table.arn}/bulk-operation/{int(transaction.now * 1000):014d}-{uuid4().hex[:8]}"
    described: Record = {
        "BulkOperationArn": arn,
        "BulkOperationStatus": "IN_PROGRESS",
        "TableDetails": [{"TableName": table.name, "TableId": table.description["TableId"]}],
        **{member: request[member] for member in _DESCRIBED if member in request},
        "PerformanceTier": request.get("PerformanceTier", "STANDARD"),
        "StartTime": transaction.now,
        "ProcessedItemCount": 0,
        "ProcessedInputBytes": 0,
        "FailedItemCount": 0,
    }
    put_record(transaction, BULK, arn, described)
    remember(transaction, BULK, request, arn)
    start_job(transaction, BULK, {"bulk": arn, "target": table.name, "position": START, "reported": 0})
    return {"BulkOperationDescription": described}


def _target(transaction: Transaction, name: str) -> Table:
    """Return the table to put items into, or raise the error that says why it can't be one now."""
    table = transaction.catalog.table_to_change(name)
    if any(index.status == "CREATING" for index in table.all_indexes):
        raise in_use(f"Attempt to change a resource which is still in use: Table is being updated: {table.name}")
    if "replication" in table.definition or "GlobalTableVersion" in table.description:
        raise validation_error("Bulk put items is not supported for a table that is part of a global table")
    return table


def describe_bulk_operation(transaction: Transaction, request: BulkArnRequest) -> Answer:
    return {"BulkOperationDescription": _find(transaction, request["BulkOperationArn"])}


def list_bulk_operations(transaction: Transaction, request: ListBulkRequest) -> Answer:
    return listed(
        transaction,
        BULK,
        "BulkOperationsSummaryList",
        ("BulkOperationArn", "BulkOperationStatus", "StartTime", "EndTime"),
        table_arn=None,
        token=request.get("NextToken"),
        limit=request.get("MaxResults", DEFAULT_PAGE),
    )


def cancel_bulk_operation(transaction: Transaction, request: BulkArnRequest) -> Answer:
    """Have an operation stop before its next batch; one that has ended stays as it is."""
    arn = request["BulkOperationArn"]
    described = _find(transaction, arn)
    if described["BulkOperationStatus"] == "IN_PROGRESS":
        described["BulkOperationStatus"] = "CANCELLING"
        put_record(transaction, BULK, arn, described)
    return {"BulkOperationArn": arn, "BulkOperationStatus": described["BulkOperationStatus"]}


def _find(transaction: Transaction, arn: str) -> Record:
    found = get_record(transaction, BULK, arn)
    if found is None:
        raise not_found(f"Bulk operation not found: {arn}")
    return found


def put_batch(transaction: Transaction, name: str, batch: Batch, total_bytes: int) -> bool:
    """Write the items of a batch; return False if there is nothing more to do."""
    job = get_job(transaction, name)
    if job is None or job["position"] != batch.start:
        return False
    described = _find(transaction, cast(str, job["bulk"]))
    if described["BulkOperationStatus"] != "IN_PROGRESS":
        return False
    target = cast(str, job["target"])
    wanted = cast("dict[str, list[str]]", described["OutputS3Configuration"])["OutputType"]
    failed, reported = 0, cast(int, job["reported"])
    for number, record in enumerate(batch.records, start=batch.start["records"]):
        try:
            if isinstance(record, BadRecord):
                raise record
            put = put_request(target, record)
            if "ConditionExpression" in put:
                put["ReturnValuesOnConditionCheckFailure"] = "ALL_OLD"
            change = prepare_put(put)(transaction)
        except (BadRecord, DynamoError) as error:
            kind = _kind(error)
            failed += kind == "ERROR"
            if kind in wanted:
                reported += 1
                _report(transaction, name, reported, kind, batch.key, number, record, error)
            continue
        apply(transaction, change)
        _count_usage(described, change)
    described["FailedItemCount"] = cast(int, described["FailedItemCount"]) + failed
    described["ProcessedItemCount"] = cast(int, described["ProcessedItemCount"]) + len(batch.records)
    described["ProcessedInputBytes"] = batch.bytes
    described["TotalInputBytes"] = total_bytes
    put_record(transaction, BULK, cast(str, job["bulk"]), described)
    job["position"], job["reported"] = batch.position, reported
    save_job(transaction, name, job)
    return True


def _kind(error: BadRecord | DynamoError) -> str:
    """Return the output type of an item that wasn't written; raise the error if it isn't about the item."""
    if isinstance(error, DynamoError):
        if error.code == "ConditionalCheckFailedException":
            return "CONDITION_CHECK_FAILURE"
        if error.code == "ResourceNotFoundException" or error.status >= 500:  # the table was deleted meanwhile
            raise error
    return "ERROR"


def _report(
    transaction: Transaction,
    name: str,
    count: int,
    kind: str,
    key: str,
    number: int,
    record: ItemRecord | BadRecord,
    error: BadRecord | DynamoError,
) -> None:
    message = error.message if isinstance(error, DynamoError) else str(error)
    entry: Record = {"objectKey": key, "itemIndex": number, "outputType": kind, "errorMessage": message}
    if not isinstance(record, BadRecord):
        entry["record"] = record
    if isinstance(error, DynamoError) and "Item" in error.extra:
        entry["existingItem"] = error.extra["Item"]
    put_record(transaction, REPORT, f"{name}/{kind}/{count:012d}", entry)


def report_entries(transaction: Transaction, name: str, kind: str, after: str, limit: int) -> list[tuple[str, Record]]:
    """Return some of the items that an operation hasn't written, for one output type."""
    return list_records(transaction, REPORT, prefix=f"{name}/{kind}/", after=after, limit=limit)


def _count_usage(described: Record, change: Change) -> None:
    """Add the bytes that were put into the table, and into each index that the item is in."""
    table, item = change.table, cast(Item, change.new)
    usages = cast(
        "list[dict[str, object]]",
        described.setdefault(
            "BulkOperationUsage", [{"TableName": table.name, "BulkPutBytes": 0, "Table": {"BulkPutBytes": 0}}]
        ),
    )
    usage = usages[0]
    _add(cast("dict[str, int]", usage["Table"]), change.new_size)
    total = change.new_size
    for index in table.indexes:
        if index.schema.covers(item):
            size = change.new_size if index.holds_all else item_size(index.project(item))
            total += size
            _add(_index_usage(usage, index), size)
    for vectors, entry in zip(table.vector_indexes, change.entries or (), strict=False):
        if entry is not None:
            _add_vector(usage, vectors.name, len(entry[0]))
    usage["BulkPutBytes"] = cast(int, usage["BulkPutBytes"]) + total


def _index_usage(usage: dict[str, object], index: Index) -> dict[str, int]:
    indexes = cast("dict[str, dict[str, int]]", usage.setdefault(index.kind, {}))
    return indexes.setdefault(index.name, {})


def _add_vector(usage: dict[str, object], index: str, size: int) -> None:
    """Count a vector, which isn't part of the other bytes."""
    vectors = cast("dict[str, dict[str, int]]", usage.setdefault("VectorIndexes", {}))
    counted = vectors.setdefault(index, {"BulkPutVectorBytes": 0})
    counted["BulkPutVectorBytes"] += size


def _add(usage: dict[str, int], size: int) -> None:
    usage["BulkPutBytes"] = usage.get("BulkPutBytes", 0) + size


def end_bulk(transaction: Transaction, name: str, failure: tuple[str, str] | None = None) -> None:
    """End an operation; its report has been written, or can't be."""
    job = get_job(transaction, name)
    if job is None:
        return
    described = _find(transaction, cast(str, job["bulk"]))
    cancelled = described["BulkOperationStatus"] == "CANCELLING"
    if failure is not None:
        status = "FAILED"
    elif cancelled:
        status, failure = "CANCELLED", ("UserCancelled", "The bulk operation was cancelled by a request.")
    else:
        status = "COMPLETED_WITH_ERRORS" if described["FailedItemCount"] else "COMPLETED"
    described |= {"BulkOperationStatus": status, "EndTime": transaction.now}
    if failure is not None:
        described["FailureCode"], described["FailureMessage"] = failure
    put_record(transaction, BULK, cast(str, job["bulk"]), described)
    for entry, _ in list_records(transaction, REPORT, prefix=f"{name}/"):
        delete_record(transaction, REPORT, entry)
    end_job(transaction, name)
