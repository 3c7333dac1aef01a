"""CreateTable, DescribeTable, ListTables and DeleteTable."""

from typing import TypedDict
from uuid import uuid4

from keyplan.engine import streams
from keyplan.engine.catalog import Definition, IndexDescription, Table, TableDescription, in_use, table_arn
from keyplan.engine.errors import invalid_parameter, validation_error
from keyplan.engine.operations.definitions import (
    TableRequest,
    apply_settings,
    check_billing,
    check_definition,
    describe_index,
    throughput,
)
from keyplan.engine.operations.requests import Answer
from keyplan.engine.transaction import Transaction


class TableNamed(TypedDict):
    TableName: str


class ListTablesRequest(TypedDict, total=False):
    ExclusiveStartTableName: str
    Limit: int


def create_table(transaction: Transaction, request: TableRequest) -> Answer:
    check_billing(request)
    check_definition(request)
    check_stream(request)
    name = request["TableName"]
    if name in transaction.catalog.tables:
        raise in_use(f"Table already exists: {name}")
    table = transaction.create_table(_definition(request, transaction.now))
    if request.get("StreamSpecification", {}).get("StreamEnabled"):
        streams.enable(transaction, table, str(request["StreamSpecification"]["StreamViewType"]))
        table = transaction.catalog.tables[name]
    return {"TableDescription": describe(transaction, table)}


def check_stream(request: TableRequest) -> None:
    """A view type belongs to an enabled stream, and only to one."""
    wanted = request.get("StreamSpecification")
    if wanted is None:
        return
    if wanted["StreamEnabled"] and "StreamViewType" not in wanted:
        raise invalid_parameter("StreamViewType must be specified when StreamEnabled is true")
    if not wanted["StreamEnabled"] and "StreamViewType" in wanted:
        raise invalid_parameter("StreamViewType cannot be specified when StreamEnabled is false")


def _definition(request: TableRequest, now: float) -> Definition:
    arn = table_arn(request["TableName"])
    description: TableDescription = {
        "AttributeDefinitions": request["AttributeDefinitions"],
        "TableName": request["TableName"],
        "KeySchema": request["KeySchema"],
        "TableStatus": "ACTIVE",
        "CreationDateTime": now,
        "ProvisionedThroughput": throughput(None),
        "TableArn": arn,
        "TableId": str(uuid4()),
        "DeletionProtectionEnabled": False,
    }
    names: list[str] = []
    if local := request.get("LocalSecondaryIndexes"):
        description["LocalSecondaryIndexes"] = [describe_index(index, arn, local=True) for index in local]
        names += [index["IndexName"] for index in local]
    if worldwide := request.get("GlobalSecondaryIndexes"):
        description["GlobalSecondaryIndexes"] = [describe_index(index, arn, local=False) for index in worldwide]
        names += [index["IndexName"] for index in worldwide]
    apply_settings(description, request, now)
    return {
        "description": description,
        "tags": {tag["Key"]: tag["Value"] for tag in request.get("Tags", [])},
        "ttl": None,
        "index_numbers": {name: number for number, name in enumerate(names, start=1)},
        "stream": None,
    }


def describe(transaction: Transaction, table: Table) -> TableDescription:
    """The description with what is counted: items and bytes, of the table and of each index."""
    count, size = transaction.measure(table)
    description: TableDescription = {**table.description, "ItemCount": count, "TableSizeBytes": size}
    entries = {index.name: transaction.count_entries(index) for index in table.indexes}

    def counted(index: IndexDescription) -> IndexDescription:
        items = entries.get(index["IndexName"], 0)
        return {**index, "ItemCount": items, "IndexSizeBytes": size * items // count if count else 0}

    if "LocalSecondaryIndexes" in description:
        description["LocalSecondaryIndexes"] = [counted(index) for index in description["LocalSecondaryIndexes"]]
    if "GlobalSecondaryIndexes" in description:
        description["GlobalSecondaryIndexes"] = [counted(index) for index in description["GlobalSecondaryIndexes"]]
    return description


def describe_table(transaction: Transaction, request: TableNamed) -> Answer:
    return {"Table": describe(transaction, transaction.catalog.described(request["TableName"]))}


def list_tables(transaction: Transaction, request: ListTablesRequest) -> Answer:
    start, limit = request.get("ExclusiveStartTableName"), request.get("Limit", 100)
    names = sorted(transaction.catalog.tables)
    if start is not None:
        names = [name for name in names if name > start]
    answer: Answer = {"TableNames": names[:limit]}
    if len(names) > limit:
        answer["LastEvaluatedTableName"] = names[limit - 1]
    return answer


def delete_table(transaction: Transaction, request: TableNamed) -> Answer:
    table = transaction.catalog.described(request["TableName"])
    if table.description.get("DeletionProtectionEnabled"):
        raise validation_error(
            "Resource cannot be deleted as it is currently protected against deletion. "
            "Disable deletion protection first."
        )
    description: TableDescription = {**describe(transaction, table), "TableStatus": "DELETING"}
    streams.disable(transaction, table)
    transaction.drop_table(table)
    return {"TableDescription": description}
