"""BatchWriteItem."""

from typing import Any

import pytest

from keyplan.engine.database import Database
from keyplan.engine.errors import DynamoError
from tests.engine.item_support import Client, Item, contents, item
from tests.engine.support import index, make_table, refused

SCHEMA = "The provided key element does not match the schema"
EMPTY_KEY = (
    "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty "
    "string value. Key: pk"
)
NOT_ONE = "Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes"


def put(**attributes: Any) -> Any:
    return {"PutRequest": {"Item": item(**attributes)}}


def delete(**attributes: Any) -> Any:
    return {"DeleteRequest": {"Key": item(**attributes)}}


def everything(client: Client, table: str) -> list[Item]:
    found: Any = client.scan(TableName=table)["Items"]
    return sorted(found, key=lambda one: one["pk"]["S"])


def test_puts_and_deletes_in_several_tables(client: Client) -> None:
    first, second = make_table(client), make_table(client)
    client.put_item(TableName=first, Item=item(pk="a", v=1))
    client.put_item(TableName=second, Item=item(pk="b", v=1, w=2))
    answer = client.batch_write_item(
        RequestItems={first: [delete(pk="a"), put(pk="c"), delete(pk="none")], second: [put(pk="b", v=2)]}
    )
    assert answer["UnprocessedItems"] == {}
    assert (everything(client, first), everything(client, second)) == ([item(pk="c")], [item(pk="b", v=2)])


def test_twenty_five_writes_and_no_more(client: Client) -> None:
    first, second = make_table(client), make_table(client)
    writes = [put(pk=str(number)) for number in range(25)]
    client.batch_write_item(RequestItems={first: writes[:20], second: writes[20:]})
    with refused("Too many items requested for the BatchWriteItem call"):
        client.batch_write_item(RequestItems={first: writes[:13], second: writes[:13]})


@pytest.mark.parametrize("there", [0, 1, 2, 3])
def test_new_items_among_those_that_are_there(client: Client, there: int) -> None:
    table = make_table(client, gsis=[index("by-g", "g")])
    # A key of more than 480 bytes is looked up another way.
    keys = ["a", "b" * 600, "c"]
    before = [put(pk=key, g="old") for key in keys[:there]]
    for write in [*before, put(pk="d", g="old")]:
        client.put_item(TableName=table, Item=write["PutRequest"]["Item"])
    writes = [put(pk=key, g="new", v=number) for number, key in enumerate(keys)]
    answer = client.batch_write_item(
        RequestItems={table: [*writes, delete(pk="d"), put(pk="e")]}, ReturnConsumedCapacity="INDEXES"
    )
    assert everything(client, table) == [*(write["PutRequest"]["Item"] for write in writes), item(pk="e")]
    for value, count in (("new", 3), ("old", 0)):
        found = client.query(
            TableName=table,
            IndexName="by-g",
            KeyConditionExpression="g = :g",
            ExpressionAttributeValues={":g": {"S": value}},
        )
        assert found["Count"] == count
    # Each entry that was there already is removed from its old place, too; and that of the item that was deleted.
    assert answer["ConsumedCapacity"][0]["GlobalSecondaryIndexes"]["by-g"]["CapacityUnits"] == 3 + there + 1


@pytest.mark.parametrize(
    "writes",
    [
        [put(pk="a"), put(pk="a", v=1)],
        [put(pk="a"), delete(pk="a")],
        [delete(pk="a"), put(pk="b"), delete(pk="a")],
    ],
)
def test_one_item_may_be_written_once(client: Client, writes: Any) -> None:
    table = make_table(client)
    with refused("Provided list of item keys contains duplicates"):
        client.batch_write_item(RequestItems={table: writes})
    arn = client.describe_table(TableName=table)["Table"]["TableArn"]
    with refused("Provided list of item keys contains duplicates"):
        client.batch_write_item(RequestItems={table: writes[:1], arn: writes[-1:]})
    assert everything(client, table) == []


@pytest.mark.parametrize(
    ("write", "message"),
    [
        (put(v=1), SCHEMA),
        (put(pk=1), SCHEMA),
        ({"PutRequest": {"Item": {"pk": {"M": {}}}}}, SCHEMA),
        (put(pk=""), EMPTY_KEY),
        (delete(pk=1), SCHEMA),
        (delete(pk="a", v=1), SCHEMA),
        (delete(pk=""), EMPTY_KEY),
        (
            put(pk="a", g=1),
            (
                "One or more parameter values were invalid: Type mismatch for Index Key g Expected: S Actual: N "
                "IndexName: by-g"
            ),
        ),
        (put(pk="a", f="x" * 409_600), "Item size has exceeded the maximum allowed size"),
        (
            {"PutRequest": {"Item": {"pk": {"S": "a"}, "v": {"SS": []}}}},
            "One or more parameter values were invalid: An string set  may not be empty",
        ),
        ({**put(pk="a"), **delete(pk="b")}, NOT_ONE),
        ({}, NOT_ONE),
    ],
)
def test_one_wrong_write_and_none_is_done(client: Client, write: Any, message: str) -> None:
    table = make_table(client, gsis=[index("by-g", "g")])
    with refused(message):
        client.batch_write_item(RequestItems={table: [put(pk="fine"), write]})
    assert everything(client, table) == []


def test_unknown_table(client: Client) -> None:
    table = make_table(client)
    with refused("Requested resource not found", "ResourceNotFoundException"):
        client.batch_write_item(RequestItems={table: [put(pk="a")], "nowhere": [put(pk="a")]})
    assert everything(client, table) == []


def test_null_and_unknown_members_are_no_requests(database: Database, engine: Client) -> None:
    table = make_table(engine)
    writes: Any = [{**put(pk="a"), "DeleteRequest": None}, {**put(pk="b"), "Other": {}}]
    database.execute("BatchWriteItem", {"RequestItems": {table: writes}})
    assert contents(everything(engine, table), "pk") == ["a", "b"]
    with pytest.raises(DynamoError, match=NOT_ONE):
        database.execute("BatchWriteItem", {"RequestItems": {table: [{"PutRequest": None}]}})


def test_capacity_of_table_and_indexes(client: Client) -> None:
    table = make_table(
        client,
        "pk",
        "sk:N",
        gsis=[index("by-g", "g", projection="KEYS_ONLY")],
        lsis=[index("by-r", "pk", "r")],
    )
    other = make_table(client)
    writes = [put(pk="a", sk=1, g="g"), put(pk="a", sk=2, r="r"), put(pk="b", sk=1, f="x" * 1500)]
    answer = client.batch_write_item(
        RequestItems={table: writes, other: [delete(pk="none")]},
        ReturnConsumedCapacity="INDEXES",
        ReturnItemCollectionMetrics="SIZE",
    )
    assert answer["ConsumedCapacity"] == [
        {
            "TableName": table,
            "CapacityUnits": 6.0,
            "Table": {"CapacityUnits": 4.0},
            "GlobalSecondaryIndexes": {"by-g": {"CapacityUnits": 1.0}},
            "LocalSecondaryIndexes": {"by-r": {"CapacityUnits": 1.0}},
        },
        {"TableName": other, "CapacityUnits": 1.0, "Table": {"CapacityUnits": 1.0}},
    ]
    # Each collection once, and only for tables with local indexes.
    assert answer["ItemCollectionMetrics"] == {
        table: [{"ItemCollectionKey": {"pk": {"S": key}}, "SizeEstimateRangeGB": [0.0, 1.0]} for key in ("a", "b")]
    }
    # A put of what is there already costs the table, not the indexes; a move in an index is two writes.
    answer = client.batch_write_item(
        RequestItems={table: [writes[0], put(pk="a", sk=2, r="s")]}, ReturnConsumedCapacity="INDEXES"
    )
    assert answer["ConsumedCapacity"] == [
        {
            "TableName": table,
            "CapacityUnits": 4.0,
            "Table": {"CapacityUnits": 2.0},
            "LocalSecondaryIndexes": {"by-r": {"CapacityUnits": 2.0}},
        }
    ]


def test_batch_writer_of_the_resource(engine: Any) -> None:
    table = engine.boto3_resource().Table(make_table(engine))
    with table.batch_writer(overwrite_by_pkeys=["pk"]) as batch:
        for number in range(60):
            batch.put_item(Item={"pk": str(number % 40), "v": number})
    assert table.scan(Select="COUNT")["Count"] == 40
