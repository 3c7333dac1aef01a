"""DescribeTable, ListTables and DeleteTable, with boto3's waiters and paginators."""

from typing import TYPE_CHECKING, Any

import pytest

from keyplan.engine import Engine
from keyplan.engine.database import Database
from tests.engine.support import index, make_table, refused

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient


def test_counts_are_of_now(client: "DynamoDBClient") -> None:
    table = make_table(
        client,
        gsis=[
            index("everything", "group"),
            index("keys", "group", projection="KEYS_ONLY"),
            index("some", "group", projection=["colour"]),
            index("none", "nobody"),
        ],
    )
    for number in range(3):
        client.put_item(
            TableName=table,
            Item={
                "pk": {"S": f"{number}"},  # 2 + 1 bytes
                "group": {"S": "g"},  # 5 + 1
                "colour": {"S": "red"},  # 6 + 3
                "text": {"S": "x" * 100},  # 4 + 100
            },
        )
    client.put_item(TableName=table, Item={"pk": {"S": "alone"}})
    described = client.describe_table(TableName=table)["Table"]
    assert (described["ItemCount"], described["TableSizeBytes"]) == (4, 3 * 122 + 7)
    counted = {
        made["IndexName"]: (made["ItemCount"], made["IndexSizeBytes"]) for made in described["GlobalSecondaryIndexes"]
    }
    assert counted == {"everything": (3, 366), "keys": (3, 27), "some": (3, 54), "none": (0, 0)}


def test_an_index_with_many_entries_is_estimated(engine: Engine) -> None:
    table = make_table(engine, gsis=[index("keys", "group", projection="KEYS_ONLY")])
    for number in range(150):
        item: Any = {"pk": {"S": f"{number:03}"}, "group": {"S": "g"}, "text": {"S": "x" * 50}}
        engine.put_item(TableName=table, Item=item)
    (made,) = engine.describe_table(TableName=table)["Table"]["GlobalSecondaryIndexes"]
    assert (made["ItemCount"], made["IndexSizeBytes"]) == (150, 150 * 11)


def test_a_table_that_is_not_there(client: "DynamoDBClient") -> None:
    message = "Requested resource not found: Table: missing not found"
    with refused(message, "ResourceNotFoundException"):
        client.describe_table(TableName="missing")
    with refused(message, "ResourceNotFoundException"):
        client.delete_table(TableName="missing")
    with refused(message, "ResourceNotFoundException"):
        client.update_table(TableName="missing", DeletionProtectionEnabled=True)
    with refused(message, "ResourceNotFoundException"):
        client.describe_table(TableName="arn:aws:dynamodb:us-east-1:000000000000:table/missing")


def test_deleting(client: "DynamoDBClient") -> None:
    table = make_table(client, "pk", "sk", gsis=[index("gsi", "group")], lsis=[index("lsi", "pk", "other")])
    client.put_item(TableName=table, Item={"pk": {"S": "a"}, "sk": {"S": "b"}, "group": {"S": "g"}})
    deleted = client.delete_table(TableName=table)["TableDescription"]
    assert (deleted["TableName"], deleted["TableStatus"], deleted["ItemCount"]) == (table, "DELETING", 1)
    assert deleted["TableArn"].endswith(f"/{table}")
    assert not {"KeySchema", "AttributeDefinitions", "CreationDateTime"} & deleted.keys()
    assert not {"GlobalSecondaryIndexes", "LocalSecondaryIndexes"} & deleted.keys()
    client.get_waiter("table_not_exists").wait(TableName=table)
    with refused("Requested resource not found", "ResourceNotFoundException"):
        client.get_item(TableName=table, Key={"pk": {"S": "a"}, "sk": {"S": "b"}})
    make_table(client, name=table)
    assert client.describe_table(TableName=table)["Table"]["ItemCount"] == 0


def test_deletion_protection(client: "DynamoDBClient") -> None:
    table = make_table(client, DeletionProtectionEnabled=True)
    with refused(
        "Resource cannot be deleted as it is currently protected against deletion. Disable deletion protection first."
    ):
        client.delete_table(TableName=table)
    changed = client.update_table(TableName=table, DeletionProtectionEnabled=False)["TableDescription"]
    assert changed["DeletionProtectionEnabled"] is False
    client.delete_table(TableName=table)
    assert client.list_tables()["TableNames"] == []


def test_waiting_for_a_table(client: "DynamoDBClient") -> None:
    table = make_table(client)
    client.get_waiter("table_exists").wait(TableName=table)


def test_names_come_in_order_and_in_pages(client: "DynamoDBClient") -> None:
    for name in ("b-table", "a.table", "C_table", "a-table", "d00"):
        make_table(client, name=name)
    names = ["C_table", "a-table", "a.table", "b-table", "d00"]
    everything = client.list_tables()
    assert everything["TableNames"] == names
    assert not {"LastEvaluatedTableName"} & everything.keys()
    first = client.list_tables(Limit=2)
    assert (first["TableNames"], first["LastEvaluatedTableName"]) == (names[:2], "a-table")
    second = client.list_tables(Limit=3, ExclusiveStartTableName="a-table")
    assert second["TableNames"] == names[2:]
    assert not {"LastEvaluatedTableName"} & second.keys()
    assert client.list_tables(ExclusiveStartTableName="aaa")["TableNames"] == ["b-table", "d00"]
    pages = client.get_paginator("list_tables").paginate(PaginationConfig={"PageSize": 2})
    assert [page["TableNames"] for page in pages] == [names[:2], names[2:4], names[4:]]


@pytest.mark.parametrize(
    ("limit", "constraint"),
    [
        (0, "Member must have value greater than or equal to 1"),
        (101, "Member must have value less than or equal to 100"),
    ],
)
def test_limits_of_a_page(database: Database, limit: int, constraint: str) -> None:
    message = f"1 validation error detected: Value '{limit}' at 'limit' failed to satisfy constraint: {constraint}"
    answer = database.execute_many([("ListTables", {"Limit": limit})])
    assert str(answer[0]) == f"ValidationException: {message}"
