"""Streams through their life: enabled, disabled, enabled again, the table deleted, trimmed away."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import boto3
import pytest

from keyplan.engine import Engine
from keyplan.engine.wire import serve_in_thread
from tests.engine.streams.support import (
    all_records,
    iterator,
    put,
    read,
    sequence_numbers,
    shard_of,
    stream_of,
    stream_settings,
)
from tests.engine.support import Clock, make_table, refused

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient
    from types_boto3_dynamodbstreams import DynamoDBStreamsClient

DAY = 86_400
GONE = "The data you are trying to access has been trimmed"


@pytest.fixture
def clock() -> Clock:
    """Not at a full second, so that it shows where times are rounded."""
    return Clock(1_700_000_000.25)


def enable(client: "DynamoDBClient", table: str, view: Any = "KEYS_ONLY") -> str:
    changed = client.update_table(TableName=table, StreamSpecification={"StreamEnabled": True, "StreamViewType": view})
    return changed["TableDescription"]["LatestStreamArn"]


def disable(client: "DynamoDBClient", table: str) -> None:
    client.update_table(TableName=table, StreamSpecification={"StreamEnabled": False})


def test_describing_a_stream(client: "DynamoDBClient", streams_client: "DynamoDBStreamsClient") -> None:
    table = make_table(client, "pk", "sk:N", name="abc", **stream_settings("NEW_IMAGE"))
    described = client.describe_table(TableName=table)["Table"]
    assert described["StreamSpecification"] == {"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"}
    arn, label = described["LatestStreamArn"], described["LatestStreamLabel"]
    assert arn == f"arn:aws:dynamodb:us-east-1:000000000000:table/abc/stream/{label}"
    stream = streams_client.describe_stream(StreamArn=arn)["StreamDescription"]
    (shard,) = stream.pop("Shards")
    assert (stream["CreationRequestDateTime"] - described["CreationDateTime"]).total_seconds() == 0
    del stream["CreationRequestDateTime"]
    assert stream == {
        "StreamArn": arn,
        "StreamLabel": label,
        "StreamStatus": "ENABLED",
        "StreamViewType": "NEW_IMAGE",
        "TableName": "abc",
        "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
    }
    assert 28 <= len(shard["ShardId"]) <= 65
    assert set(shard["SequenceNumberRange"]) == {"StartingSequenceNumber"}
    after = streams_client.describe_stream(StreamArn=arn, ExclusiveStartShardId=shard["ShardId"], Limit=1)
    assert after["StreamDescription"]["Shards"] == []
    children = streams_client.describe_stream(
        StreamArn=arn, ShardFilter={"Type": "CHILD_SHARDS", "ShardId": shard["ShardId"]}
    )
    assert children["StreamDescription"]["Shards"] == []
    null = "Value null at 'shardFilter.{}' failed to satisfy constraint: Member must not be null"
    missing_shard, missing_type = null.format("shardId"), null.format("type")
    with refused(f"1 validation error detected: {missing_shard}"):
        streams_client.describe_stream(StreamArn=arn, ShardFilter={"Type": "CHILD_SHARDS"})
    with refused(f"1 validation error detected: {missing_type}"):
        streams_client.describe_stream(StreamArn=arn, ShardFilter={"ShardId": shard["ShardId"]})
    with refused(f"2 validation errors detected: {missing_type}; {missing_shard}"):
        streams_client.describe_stream(StreamArn=arn, ShardFilter={})


def test_streams_are_listed_in_pages(client: "DynamoDBClient", streams_client: "DynamoDBStreamsClient") -> None:
    tables = [make_table(client, **stream_settings()) for _ in range(3)]
    make_table(client)
    arns = [stream_of(client, table) for table in tables]
    listed = streams_client.list_streams()
    assert [stream["StreamArn"] for stream in listed["Streams"]] == arns
    assert [stream["TableName"] for stream in listed["Streams"]] == tables
    assert not {"LastEvaluatedStreamArn"} & listed.keys()
    first = streams_client.list_streams(Limit=2)
    assert first["LastEvaluatedStreamArn"] == arns[1]
    second = streams_client.list_streams(Limit=2, ExclusiveStartStreamArn=arns[1])
    assert [stream["StreamArn"] for stream in second["Streams"]] == arns[2:]
    assert not {"LastEvaluatedStreamArn"} & second.keys()
    only = streams_client.list_streams(TableName=tables[1])["Streams"]
    assert [stream["StreamArn"] for stream in only] == [arns[1]]
    assert streams_client.list_streams(TableName="missing")["Streams"] == []
    assert streams_client.list_streams(ExclusiveStartStreamArn=arns[2] + "x")["Streams"] == []
    for wrong in (
        "x" * 40,
        "arn:aws:dynamodb:us-east-1:000000000000:table/abc",
        arns[0].replace("/stream/", "/index/"),
    ):
        with refused("Invalid StreamArn"):
            streams_client.list_streams(ExclusiveStartStreamArn=wrong)


def test_a_stream_is_enabled_once(client: "DynamoDBClient") -> None:
    table = make_table(client, name="abc")
    enable(client, table)
    with refused("Table already has an enabled stream: TableName: abc"):
        enable(client, table, "NEW_IMAGE")
    disable(client, table)
    described = client.describe_table(TableName=table)["Table"]
    assert not {"StreamSpecification"} & described.keys()
    assert described["LatestStreamArn"]
    with refused("Table has no stream to disable: TableName: abc"):
        disable(client, table)


def test_a_disabled_stream_can_be_read_to_its_end(
    client: "DynamoDBClient", streams_client: "DynamoDBStreamsClient"
) -> None:
    table = make_table(client)
    put(client, table, "before")
    arn = enable(client, table)
    put(client, table, 1, 2)
    latest = iterator(streams_client, arn, "LATEST")
    disable(client, table)
    put(client, table, "after")
    stream = streams_client.describe_stream(StreamArn=arn)["StreamDescription"]
    assert stream["StreamStatus"] == "DISABLED"
    records = all_records(streams_client, arn)
    assert [record["dynamodb"]["Keys"]["pk"]["S"] for record in records] == ["1", "2"]
    assert stream["Shards"][0]["SequenceNumberRange"]["EndingSequenceNumber"] == sequence_numbers(records)[-1]
    part = streams_client.get_records(ShardIterator=iterator(streams_client, arn), Limit=1)
    rest = streams_client.get_records(ShardIterator=part["NextShardIterator"])
    assert len(rest["Records"]) == 1
    assert not {"NextShardIterator"} & rest.keys()
    assert "NextShardIterator" not in streams_client.get_records(ShardIterator=latest)


def test_enabled_again_it_is_another_stream(timed: Engine) -> None:
    """Even at the same moment."""
    table = make_table(timed)
    arns = []
    for number in range(3):
        arns.append(enable(timed, table))
        put(timed, table, number)
        disable(timed, table)
    assert len(set(arns)) == 3
    assert [stream["StreamArn"] for stream in timed.list_streams(TableName=table)["Streams"]] == arns
    keys = [[record["dynamodb"]["Keys"]["pk"]["S"] for record in all_records(timed, arn)] for arn in arns]
    assert keys == [["0"], ["1"], ["2"]]


def test_the_stream_of_a_deleted_table(timed: Engine, clock: Clock) -> None:
    table = make_table(timed, **stream_settings())
    arn = stream_of(timed, table)
    put(timed, table, 1, 2)
    timed.delete_table(TableName=table)
    make_table(timed, name=table, **stream_settings())
    put(timed, table, 3)
    assert stream_of(timed, table) != arn
    assert timed.describe_stream(StreamArn=arn)["StreamDescription"]["StreamStatus"] == "DISABLED"
    assert len(all_records(timed, arn)) == 2
    assert len(timed.list_streams(TableName=table)["Streams"]) == 2
    clock.now += DAY + 1
    with refused(f"Requested resource not found: Stream: {arn} not found", "ResourceNotFoundException"):
        timed.describe_stream(StreamArn=arn)
    assert len(timed.list_streams(TableName=table)["Streams"]) == 1
    timed.sweep_expired()
    assert len(timed.list_streams()["Streams"]) == 1


@pytest.mark.parametrize("sweep", [False, True])
def test_records_live_for_a_day(timed: Engine, clock: Clock, sweep: bool) -> None:
    """It makes no difference whether what is too old has been cleared away already."""
    table = make_table(timed, **stream_settings())
    arn = stream_of(timed, table)
    put(timed, table, 1, 2, 3)
    clock.now += DAY / 2
    put(timed, table, 4, 5)
    numbers = sequence_numbers(all_records(timed, arn))
    oldest = iterator(timed, arn)
    clock.now += DAY / 2 - 10
    fresh = iterator(timed, arn)
    clock.now += 20
    if sweep:
        timed.sweep_expired()
    assert sequence_numbers(all_records(timed, arn)) == numbers[3:]
    with refused(GONE, "TrimmedDataAccessException"):
        timed.get_records(ShardIterator=fresh)
    with refused("Shard iterator has expired", "ExpiredIteratorException"):
        timed.get_records(ShardIterator=oldest)
    for kind, sequence in (("AT_SEQUENCE_NUMBER", 2), ("AFTER_SEQUENCE_NUMBER", 1)):
        with refused(GONE, "TrimmedDataAccessException"):
            iterator(timed, arn, kind, numbers[sequence])
    assert sequence_numbers(read(timed, iterator(timed, arn, "AFTER_SEQUENCE_NUMBER", numbers[2]))) == numbers[3:]
    clock.now += DAY
    if sweep:
        timed.sweep_expired()
    assert all_records(timed, arn) == []
    put(timed, table, 6)
    (number,) = sequence_numbers(all_records(timed, arn))
    assert int(number) > int(numbers[-1])


def test_old_records_are_cleared_away_without_a_sweep(timed: Engine, clock: Clock) -> None:
    table = make_table(timed, **stream_settings())
    put(timed, table, *range(900))
    clock.now += DAY + 1
    put(timed, table, *range(1000, 1200))
    stored = timed.database._storage.read(lambda transaction: transaction.sql("SELECT count(*) FROM s1").get)
    assert stored == 201


def test_streams_survive_in_the_file(tmp_path: Path) -> None:
    path = str(tmp_path / "app.db")
    with Engine(path) as engine:
        table = make_table(engine, **stream_settings())
        arn = stream_of(engine, table)
        put(engine, table, 1, 2)
        position = iterator(engine, arn, "AFTER_SEQUENCE_NUMBER", sequence_numbers(all_records(engine, arn))[0])
    with Engine(path) as engine:
        put(engine, table, 3)
        keys = [record["dynamodb"]["Keys"]["pk"]["S"] for record in read(engine, position)]
        assert keys == ["2", "3"]


def test_both_services_on_one_endpoint(engine: Engine) -> None:
    with serve_in_thread(engine.database) as url:
        client: Any = boto3.client("dynamodb", endpoint_url=url)
        streams: Any = boto3.client("dynamodbstreams", endpoint_url=url)
        table = make_table(client, **stream_settings())
        put(client, table, 1)
        (listed,) = streams.list_streams()["Streams"]
        assert len(all_records(streams, listed["StreamArn"])) == 1
        assert shard_of(streams, listed["StreamArn"]) == shard_of(engine, listed["StreamArn"])
        client.close()
        streams.close()


def test_in_process_boto3_clients(engine: Engine) -> None:
    session = engine.boto3_session()
    client, streams = session.client("dynamodb"), session.client("dynamodbstreams")
    table = make_table(client, **stream_settings())
    put(client, table, 1)
    assert len(all_records(streams, stream_of(client, table))) == 1
