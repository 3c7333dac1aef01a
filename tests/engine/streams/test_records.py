"""What is in a stream: one record for each change, in the order of the changes."""

import random
import threading
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keyplan.engine import Engine
from tests.engine.streams.support import all_records, sequence_numbers, stream_of, stream_settings
from tests.engine.support import Clock, index, make_table, refused

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient
    from types_boto3_dynamodbstreams import DynamoDBStreamsClient

KEY: Any = {"pk": {"S": "a"}, "sk": {"N": "1"}}
FIRST: Any = {**KEY, "data": {"B": b"\x00\xff"}, "tags": {"SS": ["x", "y"]}}
SECOND: Any = {**KEY, "data": {"B": b"\x01"}}


@pytest.mark.parametrize("view", ["KEYS_ONLY", "NEW_IMAGE", "OLD_IMAGE", "NEW_AND_OLD_IMAGES"])
def test_the_four_views(client: "DynamoDBClient", streams_client: "DynamoDBStreamsClient", view: str) -> None:
    table = make_table(client, "pk", "sk:N", **stream_settings(view))
    client.put_item(TableName=table, Item=FIRST)
    client.put_item(TableName=table, Item=SECOND)
    client.delete_item(TableName=table, Key=KEY)
    changes: list[tuple[str, Any, Any]] = [
        ("INSERT", None, FIRST),
        ("MODIFY", FIRST, SECOND),
        ("REMOVE", SECOND, None),
    ]
    records = all_records(streams_client, stream_of(client, table))
    for record, (name, old, new) in zip(records, changes, strict=True):
        assert record["eventName"] == name
        change = record["dynamodb"]
        assert change["StreamViewType"] == view
        assert change["Keys"] == KEY
        assert change.get("OldImage") == (old if "OLD" in view else None)
        assert change.get("NewImage") == (new if "NEW" in view else None)


def test_the_rest_of_a_record() -> None:
    clock = Clock(1_700_000_000.25)
    with Engine(clock=clock) as engine:
        table = make_table(engine, "pk", "sk:N", **stream_settings())
        engine.put_item(TableName=table, Item=FIRST)
        (record,) = all_records(engine, stream_of(engine, table))
    assert (record["eventVersion"], record["eventSource"], record["awsRegion"]) == ("1.1", "aws:dynamodb", "us-east-1")
    assert len(record["eventID"]) == 32
    assert "userIdentity" not in record
    change = record["dynamodb"]
    assert change["ApproximateCreationDateTime"].timestamp() == int(clock.now)
    # The keys, 3 + 4 bytes, and the item with them: 7 + 4 + 2 + 4 + 2.
    assert change["SizeBytes"] == 7 + 19
    assert 21 <= len(change["SequenceNumber"]) <= 40


def test_what_changes_nothing_is_not_recorded(
    client: "DynamoDBClient", streams_client: "DynamoDBStreamsClient"
) -> None:
    table = make_table(client, "pk", "sk:N", gsis=[index("gsi", "group")], **stream_settings())
    client.put_item(TableName=table, Item=FIRST)
    client.put_item(TableName=table, Item={**FIRST, "tags": {"SS": ["y", "x"]}, "sk": {"N": "1.0"}})
    client.update_item(TableName=table, Key=KEY)
    client.update_item(
        TableName=table,
        Key=KEY,
        UpdateExpression="SET #d = :d REMOVE absent",
        ExpressionAttributeNames={"#d": "data"},
        ExpressionAttributeValues={":d": {"B": b"\x00\xff"}},
    )
    client.delete_item(TableName=table, Key={"pk": {"S": "missing"}, "sk": {"N": "1"}})
    with refused("The conditional request failed", "ConditionalCheckFailedException"):
        client.put_item(TableName=table, Item=SECOND, ConditionExpression="attribute_not_exists(pk)")
    client.batch_write_item(RequestItems={table: [{"PutRequest": {"Item": FIRST}}]})
    client.transact_write_items(TransactItems=[{"Put": {"TableName": table, "Item": FIRST}}])
    assert len(all_records(streams_client, stream_of(client, table))) == 1


def test_an_update_that_makes_an_item_is_an_insert(
    client: "DynamoDBClient", streams_client: "DynamoDBStreamsClient"
) -> None:
    table = make_table(client, "pk", "sk:N", **stream_settings())
    client.update_item(TableName=table, Key=KEY)
    client.update_item(
        TableName=table, Key=KEY, UpdateExpression="ADD seen :n", ExpressionAttributeValues={":n": {"N": "1"}}
    )
    first, second = all_records(streams_client, stream_of(client, table))
    assert (first["eventName"], first["dynamodb"]["NewImage"]) == ("INSERT", KEY)
    assert (second["eventName"], second["dynamodb"]["NewImage"]) == ("MODIFY", {**KEY, "seen": {"N": "1"}})


def test_all_or_nothing_of_a_transaction(client: "DynamoDBClient", streams_client: "DynamoDBStreamsClient") -> None:
    tables = [make_table(client, **stream_settings()) for _ in range(2)]
    first, second = tables
    client.put_item(TableName=first, Item={"pk": {"S": "old"}})
    client.transact_write_items(
        TransactItems=[
            {"Put": {"TableName": second, "Item": {"pk": {"S": "b"}}}},
            {"Delete": {"TableName": first, "Key": {"pk": {"S": "old"}}}},
            {"Put": {"TableName": first, "Item": {"pk": {"S": "a"}}}},
            {"Put": {"TableName": second, "Item": {"pk": {"S": "a"}}}},
        ]
    )
    with pytest.raises(client.exceptions.TransactionCanceledException):
        client.transact_write_items(
            TransactItems=[
                {"Put": {"TableName": second, "Item": {"pk": {"S": "never"}}}},
                {
                    "ConditionCheck": {
                        "TableName": first,
                        "Key": {"pk": {"S": "a"}},
                        "ConditionExpression": "attribute_not_exists(pk)",
                    }
                },
            ]
        )
    client.batch_write_item(
        RequestItems={
            first: [{"PutRequest": {"Item": {"pk": {"S": "c"}}}}, {"PutRequest": {"Item": {"pk": {"S": "d"}}}}],
            second: [{"DeleteRequest": {"Key": {"pk": {"S": "b"}}}}],
        }
    )
    seen = [
        [(record["eventName"], record["dynamodb"]["Keys"]["pk"]["S"]) for record in all_records(streams_client, arn)]
        for arn in (stream_of(client, table) for table in tables)
    ]
    assert seen == [
        [("INSERT", "old"), ("REMOVE", "old"), ("INSERT", "a"), ("INSERT", "c"), ("INSERT", "d")],
        [("INSERT", "b"), ("INSERT", "a"), ("REMOVE", "b")],
    ]


def test_deletions_of_the_service_say_so(client: "DynamoDBClient", streams_client: Any, engine: Engine) -> None:
    table = make_table(client, **stream_settings())
    client.update_time_to_live(TableName=table, TimeToLiveSpecification={"Enabled": True, "AttributeName": "expires"})
    item: Any = {"pk": {"S": "a"}, "expires": {"N": str(int(engine.database._storage._clock()) - 10)}}
    client.put_item(TableName=table, Item=item)
    assert engine.sweep_expired() == 1
    _, removed = all_records(streams_client, stream_of(client, table))
    assert removed["eventName"] == "REMOVE"
    assert removed["userIdentity"] == {"Type": "Service", "PrincipalId": "dynamodb.amazonaws.com"}
    assert removed["dynamodb"]["OldImage"] == item


def test_threads_write_one_history(engine: Engine) -> None:
    """Whatever the order was, the records of an item follow from each other and end with the item."""
    table = make_table(engine, **stream_settings())

    def write(seed: int) -> None:
        chance = random.Random(seed)
        for number in range(60):
            key: Any = {"pk": {"S": str(chance.randrange(4))}}
            if chance.random() < 0.3:
                engine.delete_item(TableName=table, Key=key)
            else:
                engine.put_item(TableName=table, Item={**key, "by": {"S": f"{seed}-{number}"}})

    threads = [threading.Thread(target=write, args=(seed,)) for seed in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    records = all_records(engine, stream_of(engine, table))
    numbers = sequence_numbers(records)
    assert numbers == sorted(numbers, key=int)
    assert len(set(numbers)) == len(numbers)
    check_replay(engine, table, records)


def check_replay(engine: Engine, table: str, records: Any) -> None:
    state: dict[str, Any] = {}
    for record in records:
        change = record["dynamodb"]
        key = change["Keys"]["pk"]["S"]
        assert change.get("OldImage") == state.pop(key, None)
        if "NewImage" in change:
            state[key] = change["NewImage"]
        assert record["eventName"] == (
            "REMOVE" if "NewImage" not in change else "MODIFY" if "OldImage" in change else "INSERT"
        )
    assert state == {item["pk"]["S"]: item for item in engine.scan(TableName=table)["Items"]}


writes = st.lists(
    st.tuples(st.sampled_from(["put", "delete", "update", "transact"]), st.integers(0, 3), st.integers(0, 2)),
    max_size=25,
)


@settings(max_examples=40)
@given(writes)
def test_the_records_replayed_give_the_table(history: list[tuple[str, int, int]]) -> None:
    with Engine() as engine:
        table = make_table(engine, **stream_settings())
        for kind, key, value in history:
            named: Any = {"pk": {"S": str(key)}}
            item: Any = {**named, "value": {"N": str(value)}}
            if kind == "put":
                engine.put_item(TableName=table, Item=item)
            elif kind == "delete":
                engine.delete_item(TableName=table, Key=named)
            elif kind == "update":
                engine.update_item(
                    TableName=table,
                    Key=named,
                    UpdateExpression="SET seen = :v",
                    ExpressionAttributeValues={":v": {"N": str(value)}},
                )
            else:
                other: Any = {"pk": {"S": str(key + 1)}}
                engine.transact_write_items(
                    TransactItems=[
                        {"Put": {"TableName": table, "Item": item}},
                        {"Delete": {"TableName": table, "Key": other}},
                    ]
                )
        check_replay(engine, table, all_records(engine, stream_of(engine, table)))
