"""The class Engine: what users import."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, assert_type

import pytest

from keyplan.engine import Engine
from keyplan.engine.operations import OPERATIONS

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient
    from types_boto3_dynamodb.type_defs import AttributeValueTypeDef, GetItemOutputTypeDef
    from types_boto3_dynamodbstreams.type_defs import ListStreamsOutputTypeDef


def create_table(client: "DynamoDBClient", name: str = "Things") -> None:
    """A function written for a boto3 client: the type checker accepts an engine as one, too."""
    client.create_table(
        TableName=name,
        AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
        BillingMode="PAY_PER_REQUEST",
    )


@pytest.fixture
def engine() -> Iterator[Engine]:
    with Engine() as made:
        create_table(made)
        yield made


def test_items_come_back_as_boto3_gives_them(engine: Engine) -> None:
    item: dict[str, AttributeValueTypeDef] = {
        "pk": {"S": "a"},
        "data": {"B": b"\x00\x01"},
        "set": {"BS": [b"x", b"y"]},
        "n": {"N": "1.50"},
    }
    engine.put_item(TableName="Things", Item=item)
    found = engine.get_item(TableName="Things", Key={"pk": {"S": "a"}})
    if TYPE_CHECKING:
        assert_type(found, GetItemOutputTypeDef)
    assert found["Item"] == {**item, "n": {"N": "1.5"}}


def test_a_table_is_active_at_once(engine: Engine) -> None:
    engine.get_waiter("table_exists").wait(TableName="Things")
    table = engine.describe_table(TableName="Things")["Table"]
    assert table["TableStatus"] == "ACTIVE"
    assert table["CreationDateTime"].tzinfo is not None


def test_exceptions_by_name(engine: Engine) -> None:
    engine.put_item(TableName="Things", Item={"pk": {"S": "a"}})
    with pytest.raises(engine.exceptions.ConditionalCheckFailedException) as caught:
        engine.put_item(
            TableName="Things",
            Item={"pk": {"S": "a"}},
            ConditionExpression="attribute_not_exists(pk)",
            ReturnValuesOnConditionCheckFailure="ALL_OLD",
        )
    assert caught.value.response["Error"]["Code"] == "ConditionalCheckFailedException"
    with pytest.raises(engine.exceptions.ResourceNotFoundException):
        engine.get_item(TableName="Nothing", Key={"pk": {"S": "a"}})


def test_an_operation_that_is_not_supported_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    """Such as one of a botocore that is newer than this engine."""
    monkeypatch.delitem(OPERATIONS, "ListGlobalTables")
    with Engine() as engine, pytest.raises(engine.exceptions.ClientError) as caught:
        engine.list_global_tables()
    assert caught.value.response["Error"]["Code"] == "UnknownOperationException"


def test_streams_are_methods_too(engine: Engine) -> None:
    streams = engine.list_streams()
    if TYPE_CHECKING:
        assert_type(streams, ListStreamsOutputTypeDef)
    assert streams["Streams"] == []


def test_real_boto3_on_the_same_data(engine: Engine) -> None:
    engine.boto3_client().put_item(TableName="Things", Item={"pk": {"S": "a"}, "n": {"N": "2"}})
    table = engine.boto3_resource().Table("Things")
    table.put_item(Item={"pk": "b", "n": 3})
    assert table.get_item(Key={"pk": "a"})["Item"]["n"] == 2
    assert engine.get_item(TableName="Things", Key={"pk": {"S": "b"}})["Item"]["n"] == {"N": "3"}
    streams = engine.boto3_session().client("dynamodbstreams")
    assert streams.list_streams()["Streams"] == []
    with pytest.raises(streams.exceptions.ResourceNotFoundException):
        streams.describe_stream(StreamArn="arn:aws:dynamodb:us-east-1:000000000000:table/x/stream/y")


def test_time_to_live_on_demand_by_a_given_clock() -> None:
    now = 1_700_000_000.0
    with Engine(clock=lambda: now) as engine:
        create_table(engine)
        engine.update_time_to_live(
            TableName="Things", TimeToLiveSpecification={"Enabled": True, "AttributeName": "ttl"}
        )
        engine.put_item(TableName="Things", Item={"pk": {"S": "old"}, "ttl": {"N": str(int(now) - 1)}})
        engine.put_item(TableName="Things", Item={"pk": {"S": "new"}, "ttl": {"N": str(int(now) + 1)}})
        assert engine.sweep_expired() == 1
        assert engine.scan(TableName="Things")["Items"] == [{"pk": {"S": "new"}, "ttl": {"N": str(int(now) + 1)}}]


def test_a_file_keeps_what_was_written(tmp_path: Path) -> None:
    path = str(tmp_path / "app.db")
    with Engine(path) as engine:
        create_table(engine)
        engine.put_item(TableName="Things", Item={"pk": {"S": "a"}})
    with Engine(path, durability="full") as engine:
        assert engine.scan(TableName="Things")["Count"] == 1
