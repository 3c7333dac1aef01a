"""ImportTable, DescribeImport and ListImports."""

import logging
from copy import deepcopy
from typing import TypedDict, cast
from uuid import uuid4

import orjson

from keyplan.engine.errors import DynamoError, validation_error
from keyplan.engine.executor import Answer, Request
from keyplan.engine.formats.lines import BadRecord, missing_package
from keyplan.engine.operations.client_tokens import earlier_arn, remember, with_token
from keyplan.engine.operations.imports.batches import START, Batch, new_item
from keyplan.engine.operations.items.item_changes import Change, apply_all
from keyplan.engine.operations.jobs import all_jobs, end_job, get_job, save_job, start_job
from keyplan.engine.operations.listed_arns import MOST, listed
from keyplan.engine.operations.tables.create_table import new_definition
from keyplan.engine.operations.tables.definitions import TableRequest, check_billing, check_definition, check_encryption
from keyplan.engine.storage.catalog import Table, in_use
from keyplan.engine.storage.records import Record, get_record, put_record
from keyplan.engine.storage.transaction import Transaction

IMPORT = "import"
"""The kind of the records, which are AWS's ImportTableDescriptions, and of the jobs."""
MAXIMUM_IMPORTS = 50
"""Imports in progress at the same time."""
LOGGED_ERRORS = 100
"""Bad items of an import that the log names."""
ITEM_ERRORS = (
    "ItemValidationError",
    (
        "Some of the items failed validation checks and were not imported. Please check CloudWatch error logs for "
        "more details."
    ),
)

_DESCRIBED = ("ClientToken", "S3BucketSource", "InputFormat", "InputFormatOptions", "TableCreationParameters")
_logger = logging.getLogger("keyplan.engine")


class ImportArnRequest(TypedDict):
    ImportArn: str


class ListImportsRequest(TypedDict, total=False):
    TableArn: str
    PageSize: int
    NextToken: str


def import_table(transaction: Transaction, request: Request) -> Answer:
    request = with_token(request)
    earlier = earlier_arn(transaction, IMPORT, request, "ImportConflictException")
    if earlier is not None:
        return {"ImportTableDescription": find_import(transaction, earlier)}
    _check(transaction, request)
    parameters = cast(TableRequest, request["TableCreationParameters"])
    check_billing(parameters)
    check_definition(parameters)
    check_encryption(parameters)
    name = parameters["TableName"]
    if name in transaction.catalog.tables:
        raise in_use(f"Table already exists: {name}")
    definition = new_definition(parameters, transaction.catalog.scope, name, transaction.now)
    definition["description"]["TableStatus"] = "CREATING"
    table = transaction.create_table(definition)
    arn = f"{table.arn}/import/{int(transaction.now * 1000):014d}-{uuid4().hex[:8]}"
    described: Record = {
        "ImportArn": arn,
        "ImportStatus": "IN_PROGRESS",
        "TableArn": table.arn,
        "TableId": table.description["TableId"],
        **{member: request[member] for member in _DESCRIBED if member in request},
        "S3BucketSource": {
            "S3BucketOwner": transaction.catalog.scope.account,
            **cast("dict[str, str]", request["S3BucketSource"]),
        },
        "InputCompressionType": request.get("InputCompressionType", "NONE"),
        "StartTime": transaction.now,
        "ErrorCount": 0,
        "ProcessedSizeBytes": 0,
        "ProcessedItemCount": 0,
        "ImportedItemCount": 0,
    }
    put_record(transaction, IMPORT, arn, described)
    remember(transaction, IMPORT, request, arn)
    start_job(transaction, IMPORT, {"import": arn, "target": name, "position": START})
    return {"ImportTableDescription": described}


def _check(transaction: Transaction, request: Request) -> None:
    compression = cast(str, request.get("InputCompressionType", "NONE"))
    if (missing := missing_package(compression)) is not None:
        raise validation_error(missing)
    if "InputFormatOptions" in request and request["InputFormat"] != "CSV":
        raise validation_error("InputFormatOptions can only be specified when InputFormat is CSV")
    if sum(job["kind"] == IMPORT for _, job in all_jobs(transaction)) >= MAXIMUM_IMPORTS:
        raise DynamoError(
            "LimitExceededException", f"Too many imports are in progress. The limit is {MAXIMUM_IMPORTS}."
        )


def describe_import(transaction: Transaction, request: ImportArnRequest) -> Answer:
    return {"ImportTableDescription": find_import(transaction, request["ImportArn"])}


def list_imports(transaction: Transaction, request: ListImportsRequest) -> Answer:
    return listed(
        transaction,
        IMPORT,
        "ImportSummaryList",
        ("ImportArn", "ImportStatus", "TableArn", "S3BucketSource", "InputFormat", "StartTime", "EndTime"),
        table_arn=request.get("TableArn"),
        token=request.get("NextToken"),
        limit=request.get("PageSize", MOST),
    )


def find_import(transaction: Transaction, arn: str) -> Record:
    found = get_record(transaction, IMPORT, arn)
    if found is None:
        raise DynamoError("ImportNotFoundException", f"Import not found: {arn}")
    return found


def import_batch(transaction: Transaction, name: str, batch: Batch) -> bool:
    """Write the items of a batch; return False if another process has done it."""
    job = get_job(transaction, name)
    if job is None or job["position"] != batch.start:
        return False
    described = find_import(transaction, cast(str, job["import"]))
    table = transaction.catalog.tables[cast(str, job["target"])]
    errors = cast(int, described["ErrorCount"])
    changes: dict[bytes, Change] = {}
    imported = 0
    for number, record in enumerate(batch.records, start=batch.start["records"]):
        try:
            if isinstance(record, BadRecord):
                raise record
            change = new_item(table, record)
        except (BadRecord, DynamoError) as error:
            errors += 1
            if errors <= LOGGED_ERRORS:
                _log(described, batch.key, number, error)
            continue
        changes[change.key] = change  # of several with the same key, the last one stays
        imported += 1
    apply_all(transaction, table, list(changes.values()))
    described["ErrorCount"] = errors
    described["ProcessedSizeBytes"] = batch.bytes
    described["ProcessedItemCount"] = cast(int, described["ProcessedItemCount"]) + len(batch.records)
    described["ImportedItemCount"] = cast(int, described["ImportedItemCount"]) + imported
    put_record(transaction, IMPORT, cast(str, job["import"]), described)
    job["position"] = batch.position
    save_job(transaction, name, job)
    return True


def _log(described: Record, key: str, number: int, error: BadRecord | DynamoError) -> None:
    """Log a bad item as AWS does it in CloudWatch."""
    bucket = cast("dict[str, str]", described["S3BucketSource"])["S3Bucket"]
    message = error.message if isinstance(error, DynamoError) else str(error)
    pointer = {"bucket": bucket, "key": key, "itemIndex": number}
    entry = {"itemS3Pointer": pointer, "importArn": described["ImportArn"], "errorMessages": [message]}
    _logger.warning("%s", orjson.dumps(entry).decode())


def end_import(transaction: Transaction, name: str, failure: tuple[str, str] | None = None) -> None:
    """End an import. The table stays, with what was imported, unless nothing could be read."""
    job = get_job(transaction, name)
    if job is None:
        return
    described = find_import(transaction, cast(str, job["import"]))
    if failure is None and described["ErrorCount"]:
        failure = ITEM_ERRORS
    table = transaction.catalog.tables[cast(str, job["target"])]
    if failure is None or described["ProcessedItemCount"]:
        _activate(transaction, table)
    else:
        transaction.drop_table(table)
    described |= {"ImportStatus": "COMPLETED" if failure is None else "FAILED", "EndTime": transaction.now}
    if failure is not None:
        described["FailureCode"], described["FailureMessage"] = failure
    put_record(transaction, IMPORT, cast(str, job["import"]), described)
    end_job(transaction, name)


def _activate(transaction: Transaction, table: Table) -> None:
    definition = deepcopy(table.definition)
    definition["description"]["TableStatus"] = "ACTIVE"
    transaction.save(Table(table.number, definition))
