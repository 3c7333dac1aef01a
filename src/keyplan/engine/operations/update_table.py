"""UpdateTable, and the backfill of an index that it adds."""

from copy import deepcopy
from typing import cast

from keyplan.engine import streams
from keyplan.engine.catalog import Definition, Table, TableDescription, in_use
from keyplan.engine.errors import DynamoError, invalid_parameter, not_found, validation_error
from keyplan.engine.operations.definitions import (
    MAXIMUM_GLOBAL_INDEXES,
    IndexRequest,
    TableRequest,
    apply_settings,
    check_global_schema,
    check_index,
    check_index_throughput,
    describe_index,
    throughput,
)
from keyplan.engine.operations.requests import Answer
from keyplan.engine.operations.tables import check_stream, describe
from keyplan.engine.transaction import Transaction

BACKFILL_ROWS = 500
"""An index is filled in steps of so many items, with other writes in between."""

_CHANGES = (
    "BillingMode",
    "ProvisionedThroughput",
    "OnDemandThroughput",
    "StreamSpecification",
    "SSESpecification",
    "TableClass",
    "DeletionProtectionEnabled",
    "GlobalSecondaryIndexUpdates",
)


def update_table(transaction: Transaction, request: TableRequest) -> Answer:
    if not any(name in request for name in _CHANGES):
        raise validation_error(
            "At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, GlobalSecondaryIndexUpdates or "
            "SSESpecification or ReplicaUpdates is required"
        )
    check_stream(request)
    table = transaction.catalog.described(request["TableName"])
    definition = deepcopy(table.definition)
    description = definition["description"]
    _check_throughput(description, request)
    apply_settings(description, request, transaction.now)
    for update in request.get("GlobalSecondaryIndexUpdates", []):
        _change_index(transaction, table, definition, request, update)
    transaction.save(Table(table.number, definition))
    _change_stream(transaction, request)
    table = transaction.catalog.tables[table.name]
    answer: TableDescription = {**describe(transaction, table), "TableStatus": "UPDATING"}
    # A small table is filled at once; a large one goes on beside other requests.
    backfill(transaction, table.name)
    return {"TableDescription": answer}


def _check_throughput(description: TableDescription, request: TableRequest) -> None:
    wanted = request.get("ProvisionedThroughput")
    summary = description.get("BillingModeSummary", {})
    billing = request.get("BillingMode", summary.get("BillingMode", "PROVISIONED"))
    if billing == "PAY_PER_REQUEST":
        if wanted is not None:
            raise invalid_parameter(
                "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST"
            )
        return
    current = description["ProvisionedThroughput"]
    if wanted is None:
        if "BillingMode" in request and summary.get("BillingMode") == "PAY_PER_REQUEST":
            raise invalid_parameter(
                "ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is PROVISIONED"
            )
        return
    read, write = current["ReadCapacityUnits"], current["WriteCapacityUnits"]
    if (read, write) == (wanted["ReadCapacityUnits"], wanted["WriteCapacityUnits"]) and len(request) == 2:
        raise validation_error(
            "The provisioned throughput for the table will not change. The requested value equals the current value. "
            f"Current ReadCapacityUnits provisioned for the table: {read}. Requested ReadCapacityUnits: {read}. "
            f"Current WriteCapacityUnits provisioned for the table: {write}. Requested WriteCapacityUnits: {write}. "
            "Refer to the Amazon DynamoDB Developer Guide for current limits and how to request higher limits."
        )


def _change_index(
    transaction: Transaction,
    table: Table,
    definition: Definition,
    request: TableRequest,
    update: dict[str, IndexRequest],
) -> None:
    updates = request["GlobalSecondaryIndexUpdates"]
    if sum("Create" in other or "Delete" in other for other in updates) > 1:
        raise DynamoError(
            "LimitExceededException",
            "Subscriber limit exceeded: Only 1 online index can be created or deleted simultaneously per table",
        )
    if len(update) != 1:
        raise invalid_parameter("Only one of Create, Update or Delete can be specified in a GlobalSecondaryIndexUpdate")
    ((kind, index),) = update.items()
    names = {other.name for other in table.indexes}
    if kind == "Create":
        _create_index(transaction, definition, request, index, names)
    elif index["IndexName"] not in names:
        raise not_found("Requested resource not found")
    elif kind == "Delete":
        _delete_index(transaction, table, definition, index["IndexName"])
    else:
        for described in definition["description"]["GlobalSecondaryIndexes"]:
            if described["IndexName"] == index["IndexName"] and "ProvisionedThroughput" in index:
                described["ProvisionedThroughput"] = throughput(index["ProvisionedThroughput"])


def _create_index(
    transaction: Transaction, definition: Definition, request: TableRequest, index: IndexRequest, names: set[str]
) -> None:
    description = definition["description"]
    if index["IndexName"] in names:
        raise validation_error("Attempting to create an index which already exists")
    present = description.setdefault("GlobalSecondaryIndexes", [])
    if len(present) >= MAXIMUM_GLOBAL_INDEXES:
        raise invalid_parameter("GlobalSecondaryIndex count exceeds the per-table limit of 20")
    if any(other["IndexStatus"] == "CREATING" for other in present):
        raise in_use(
            f"Attempt to change a resource which is still in use: Table is being updated: {description['TableName']}"
        )
    check_global_schema(index["KeySchema"])
    types = {given["AttributeName"]: given for given in description["AttributeDefinitions"]}
    for given in request.get("AttributeDefinitions", []):
        known = types.setdefault(given["AttributeName"], given)
        if known["AttributeType"] != given["AttributeType"]:
            raise invalid_parameter(
                f"Attempting to redefine the type of attribute {given['AttributeName']}, which is part of a key"
            )
    check_index(index, set(types), list(types.values()))
    if "BillingModeSummary" not in description and "BillingMode" not in request:
        check_index_throughput(index)
    description["AttributeDefinitions"] = list(types.values())
    present.append(describe_index(index, description["TableArn"], local=False, status="CREATING"))
    present[-1]["Backfilling"] = True
    numbers = definition["index_numbers"]
    numbers[index["IndexName"]] = max(numbers.values(), default=0) + 1
    number = transaction.catalog.tables[description["TableName"]].number
    for created in Table(number, definition).indexes:
        if created.name == index["IndexName"]:
            transaction.create_index(created)


def _delete_index(transaction: Transaction, table: Table, definition: Definition, name: str) -> None:
    description = definition["description"]
    transaction.drop_index(next(index for index in table.indexes if index.name == name))
    del definition["index_numbers"][name]
    left = [index for index in description["GlobalSecondaryIndexes"] if index["IndexName"] != name]
    description["GlobalSecondaryIndexes"] = left
    if not left:
        del description["GlobalSecondaryIndexes"]
    used = set(table.schema.names)
    for index in Table(table.number, definition).indexes:
        used |= set(index.schema.names)
    description["AttributeDefinitions"] = [
        given for given in description["AttributeDefinitions"] if given["AttributeName"] in used
    ]


def _change_stream(transaction: Transaction, request: TableRequest) -> None:
    wanted = request.get("StreamSpecification")
    if wanted is None:
        return
    table = transaction.catalog.described(request["TableName"])
    if wanted["StreamEnabled"]:
        if table.stream is not None:
            raise validation_error(f"Table already has an enabled stream: TableName: {table.name}")
        streams.enable(transaction, table, cast(str, wanted["StreamViewType"]))
    else:
        if table.stream is None:
            raise validation_error(f"Table is already without a stream: TableName: {table.name}")
        streams.disable(transaction, table)


def backfill(transaction: Transaction, name: str, behind: int = 0) -> int | None:
    """Fill one step of a table's new index from the rows behind a number; the last row of the step, or None at the end.

    Writes keep the entries of what they change meanwhile, so a step needs only look at each item as it is now.
    """
    table = transaction.catalog.tables.get(name)
    index = next((index for index in table.indexes if index.status == "CREATING"), None) if table else None
    if table is None or index is None:
        return None
    rows = transaction.rows_where(table, "id > ? ORDER BY id LIMIT ?", (behind, BACKFILL_ROWS))
    for key, row in rows:
        item = row.item
        if index.schema.covers(item):
            transaction.add_entry(index, index.schema.row_key(item) + key, row.number)
    if len(rows) == BACKFILL_ROWS:
        return rows[-1][1].number
    definition = deepcopy(table.definition)
    for described in definition["description"]["GlobalSecondaryIndexes"]:
        if described["IndexName"] == index.name:
            described["IndexStatus"] = "ACTIVE"
            described.pop("Backfilling", None)
    transaction.save(Table(table.number, definition))
    return None
