"""CreateTable, DescribeTable, ListTables and DeleteTable."""

from typing import TypedDict
from uuid import uuid4

import orjson

from keyplan.engine import streams
from keyplan.engine.catalog import (
    Definition,
    Index,
    IndexDescription,
    Table,
    TableDescription,
    in_use,
    table_arn,
    table_name,
)
from keyplan.engine.errors import validation_error
from keyplan.engine.operations.definitions import (
    TableRequest,
    apply_settings,
    check_billing,
    check_definition,
    check_encryption,
    check_stream,
    describe_global,
    describe_index,
    refuse_unsupported,
)
from keyplan.engine.operations.requests import Answer
from keyplan.engine.operations.settings import check_tags
from keyplan.engine.operations.throughput import change_on_demand, provisioned, warm_up
from keyplan.engine.transaction import Transaction
from keyplan.engine.values import Item, item_size

INDEX_SAMPLE = 100
"""An index of up to so many entries is measured exactly."""

_UNSUPPORTED = ("GlobalTableSourceArn", "GlobalTableSettingsReplicationMode", "ResourcePolicy", "VectorIndexes")


class TableNamed(TypedDict):
    TableName: str


class ListTablesRequest(TypedDict, total=False):
    ExclusiveStartTableName: str
    Limit: int


def create_table(transaction: Transaction, request: TableRequest) -> Answer:
    refuse_unsupported(request, _UNSUPPORTED)
    _check_present(request)
    check_billing(request)
    check_definition(request)
    check_stream(
        request,
        no_view="Table is being created with a stream enabled, UpdateViewType should be specified",
        view="Table is being created with a stream disabled, UpdateViewType should not be specified",
    )
    check_encryption(request)
    check_tags(request.get("Tags", []))
    name = table_name(request["TableName"])
    if name in transaction.catalog.tables:
        raise in_use(f"Table already exists: {name}")
    table = transaction.create_table(_definition(request, name, transaction.now))
    if request.get("StreamSpecification", {}).get("StreamEnabled"):
        streams.enable(transaction, table, str(request["StreamSpecification"]["StreamViewType"]))
        table = transaction.catalog.tables[name]
    return {"TableDescription": describe(transaction, table)}


def _check_present(request: TableRequest) -> None:
    """The model allows these two to be missing for the sake of global tables only."""
    missing = [
        f"Value null at '{place}' failed to satisfy constraint: Member must not be null"
        for member, place in (("AttributeDefinitions", "attributeDefinitions"), ("KeySchema", "keySchema"))
        if member not in request
    ]
    if missing:
        plural = "s" if len(missing) > 1 else ""
        raise validation_error(f"{len(missing)} validation error{plural} detected: {'; '.join(missing)}")


def _definition(request: TableRequest, name: str, now: float) -> Definition:
    arn, billing = table_arn(name), request.get("BillingMode", "PROVISIONED")
    description: TableDescription = {
        "AttributeDefinitions": request["AttributeDefinitions"],
        "TableName": name,
        "KeySchema": request["KeySchema"],
        "TableStatus": "ACTIVE",
        "CreationDateTime": now,
        "ProvisionedThroughput": provisioned(request.get("ProvisionedThroughput")),
        "TableArn": arn,
        "TableId": str(uuid4()),
        "DeletionProtectionEnabled": False,
    }
    if billing == "PAY_PER_REQUEST":
        description["BillingModeSummary"] = {"BillingMode": billing, "LastUpdateToPayPerRequestDateTime": now}
    change_on_demand(description, request)
    warm_up(description, request, billing)
    apply_settings(description, request)
    local, worldwide = request.get("LocalSecondaryIndexes", []), request.get("GlobalSecondaryIndexes", [])
    if local:
        description["LocalSecondaryIndexes"] = [describe_index(index, arn) for index in local]
    if worldwide:
        description["GlobalSecondaryIndexes"] = [describe_global(index, arn, billing) for index in worldwide]
    numbers = {index["IndexName"]: number for number, index in enumerate([*local, *worldwide], start=1)}
    return {
        "description": description,
        "tags": {tag["Key"]: tag["Value"] for tag in request.get("Tags", [])},
        "ttl": None,
        "index_numbers": numbers,
        "next_index": len(numbers) + 1,
        "stream": None,
    }


def describe(transaction: Transaction, table: Table) -> TableDescription:
    """The description with what is counted: items and bytes, of the table and of each index."""
    count, size = transaction.measure(table)
    description: TableDescription = {**table.description, "ItemCount": count, "TableSizeBytes": size}
    indexes = {index.name: index for index in table.indexes}

    def counted(described: IndexDescription) -> IndexDescription:
        index = indexes[described["IndexName"]]
        entries = transaction.count_entries(index)
        whole = index.holds_all and entries == count
        return {
            **described,
            "ItemCount": entries,
            "IndexSizeBytes": size if whole else _index_size(transaction, table, index, entries),
        }

    if "LocalSecondaryIndexes" in description:
        description["LocalSecondaryIndexes"] = [counted(index) for index in description["LocalSecondaryIndexes"]]
    if "GlobalSecondaryIndexes" in description:
        description["GlobalSecondaryIndexes"] = [counted(index) for index in description["GlobalSecondaryIndexes"]]
    return description


def _index_size(transaction: Transaction, table: Table, index: Index, entries: int) -> int:
    """The bytes of what an index holds, from a sample where it holds much."""
    sizes: list[int] = []
    for size, stored in transaction.scan(table, index, b"", None, limit=INDEX_SAMPLE):
        if not index.holds_all:
            item: Item = orjson.loads(stored)
            size = item_size(index.project(item))
        sizes.append(size)
    return sum(sizes) * entries // len(sizes) if sizes else 0


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
    if any(index.status == "CREATING" for index in table.indexes):
        raise in_use(f"Attempt to change a resource which is still in use: Table is being updated: {table.name}")
    if table.description.get("DeletionProtectionEnabled"):
        raise validation_error(
            "Resource cannot be deleted as it is currently protected against deletion. "
            "Disable deletion protection first."
        )
    count, size = transaction.measure(table)
    description: TableDescription = {
        **table.description,
        "TableStatus": "DELETING",
        "ItemCount": count,
        "TableSizeBytes": size,
    }
    # What the table consists of is not told any more.
    del description["AttributeDefinitions"], description["KeySchema"], description["CreationDateTime"]
    description.pop("LocalSecondaryIndexes", None)
    description.pop("GlobalSecondaryIndexes", None)
    streams.disable(transaction, table)
    transaction.drop_table(table)
    return {"TableDescription": description}
