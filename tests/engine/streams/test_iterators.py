"""GetShardIterator and GetRecords: positions, pages, and what they refuse."""

from base64 import urlsafe_b64encode
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from keyplan.engine import Engine
from keyplan.engine.database import Database
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


def keys(records: Any) -> list[str]:
    return [record["dynamodb"]["Keys"]["pk"]["S"] for record in records]


def test_the_classic_kinds(client: "DynamoDBClient", streams_client: "DynamoDBStreamsClient") -> None:
    table = make_table(client, **stream_settings())
    arn = stream_of(client, table)
    put(client, table, 1, 2, 3)
    numbers = sequence_numbers(all_records(streams_client, arn))
    latest = iterator(streams_client, arn, "LATEST")
    assert read(streams_client, latest) == []
    put(client, table, 4)
    assert keys(read(streams_client, latest)) == ["4"]
    assert keys(read(streams_client, iterator(streams_client, arn))) == ["1", "2", "3", "4"]
    at = iterator(streams_client, arn, "AT_SEQUENCE_NUMBER", numbers[1])
    assert keys(read(streams_client, at)) == ["2", "3", "4"]
    after = iterator(streams_client, arn, "AFTER_SEQUENCE_NUMBER", numbers[1])
    assert keys(read(streams_client, after)) == ["3", "4"]
    (shard,) = streams_client.describe_stream(StreamArn=arn)["StreamDescription"]["Shards"]
    start = shard["SequenceNumberRange"]["StartingSequenceNumber"]
    assert len(read(streams_client, iterator(streams_client, arn, "AT_SEQUENCE_NUMBER", start))) == 4


def test_from_a_moment_on() -> None:
    clock = Clock(1_700_000_000.25)
    with Engine(clock=clock) as engine:
        table = make_table(engine, **stream_settings())
        arn = stream_of(engine, table)
        start = int(clock.now)
        for number in range(5):
            clock.now = start + 10 * number + 0.7
            put(engine, table, number)
        clock.now += 100

        def from_moment(moment: float) -> list[str]:
            position = engine.get_shard_iterator(
                StreamArn=arn,
                ShardId=shard_of(engine, arn),
                ShardIteratorType="AT_TIMESTAMP",
                Timestamp=datetime.fromtimestamp(moment, UTC),
            )
            return keys(read(engine, position["ShardIterator"]))

        assert from_moment(start - 1000) == ["0", "1", "2", "3", "4"]
        # A record of 20.7 says 20, and is found by it.
        assert from_moment(start + 20) == ["2", "3", "4"]
        assert from_moment(start + 20.5) == ["3", "4"]
        assert from_moment(start + 41) == []
        with refused("Timestamp must not be in the future"):
            from_moment(clock.now + 1)
        clock.now = start + 86_400 + 15
        assert from_moment(start) == ["2", "3", "4"]
        with refused("Timestamp must be specified when ShardIteratorType is AT_TIMESTAMP"):
            iterator(engine, arn, "AT_TIMESTAMP")


def test_an_open_shard_always_goes_on(client: "DynamoDBClient", streams_client: "DynamoDBStreamsClient") -> None:
    table = make_table(client, **stream_settings())
    position = iterator(streams_client, stream_of(client, table))
    for number in range(3):
        empty = streams_client.get_records(ShardIterator=position)
        assert empty["Records"] == []
        put(client, table, number)
        answer = streams_client.get_records(ShardIterator=empty["NextShardIterator"])
        assert keys(answer["Records"]) == [str(number)]
        position = answer["NextShardIterator"]


def test_pages(client: "DynamoDBClient", streams_client: "DynamoDBStreamsClient") -> None:
    table = make_table(client, **stream_settings("KEYS_ONLY"))
    for start in range(0, 1100, 25):
        puts: Any = [{"PutRequest": {"Item": {"pk": {"S": str(number)}}}} for number in range(start, start + 25)]
        client.batch_write_item(RequestItems={table: puts})
    arn = stream_of(client, table)
    first = streams_client.get_records(ShardIterator=iterator(streams_client, arn))
    assert keys(first["Records"]) == [str(number) for number in range(1000)]
    second = streams_client.get_records(ShardIterator=first["NextShardIterator"])
    assert len(second["Records"]) == 100
    few = streams_client.get_records(ShardIterator=iterator(streams_client, arn), Limit=3)
    assert keys(few["Records"]) == ["0", "1", "2"]


def test_a_page_ends_at_one_megabyte(client: "DynamoDBClient", streams_client: "DynamoDBStreamsClient") -> None:
    table = make_table(client, **stream_settings("NEW_IMAGE"))
    for number in range(5):
        client.put_item(TableName=table, Item={"pk": {"S": str(number)}, "text": {"S": "x" * 300_000}})
    position = iterator(streams_client, stream_of(client, table))
    pages: list[int] = []
    while len(pages) < 3:
        answer = streams_client.get_records(ShardIterator=position)
        pages.append(len(answer["Records"]))
        position = answer["NextShardIterator"]
    assert pages == [3, 2, 0]


def test_an_iterator_lasts_15_minutes() -> None:
    clock = Clock(1_700_000_000.25)
    with Engine(clock=clock) as engine:
        table = make_table(engine, **stream_settings())
        put(engine, table, 1)
        position = iterator(engine, stream_of(engine, table))
        clock.now += 900
        answer = engine.get_records(ShardIterator=position)
        assert len(answer["Records"]) == 1
        clock.now += 1
        with refused("Shard iterator has expired", "ExpiredIteratorException"):
            engine.get_records(ShardIterator=position)
        with pytest.raises(engine.exceptions.ExpiredIteratorException):
            engine.get_records(ShardIterator=position)
        clock.now += 899
        engine.get_records(ShardIterator=answer["NextShardIterator"])


def test_what_is_not_there(client: "DynamoDBClient", streams_client: "DynamoDBStreamsClient") -> None:
    table = make_table(client, **stream_settings())
    arn = stream_of(client, table)
    missing = arn[:-3] + "xyz"
    with refused(f"Requested resource not found: Stream: {missing} not found", "ResourceNotFoundException"):
        streams_client.describe_stream(StreamArn=missing)
    shard = shard_of(streams_client, arn)
    with refused(f"Requested resource not found: Stream: {missing} not found", "ResourceNotFoundException"):
        streams_client.get_shard_iterator(StreamArn=missing, ShardId=shard, ShardIteratorType="LATEST")
    with refused("Requested resource not found: Shard does not exist", "ResourceNotFoundException"):
        streams_client.get_shard_iterator(
            StreamArn=arn, ShardId="shardId-00000001446500994480-a69421f6", ShardIteratorType="LATEST"
        )


def test_what_names_nothing(client: "DynamoDBClient", streams_client: "DynamoDBStreamsClient") -> None:
    table = make_table(client, **stream_settings())
    arn = stream_of(client, table)
    with refused("Requested resource not found: Shard does not exist", "ResourceNotFoundException"):
        streams_client.get_shard_iterator(StreamArn=arn, ShardId="s" * 40, ShardIteratorType="LATEST")
    for wrong in ("a" * 40, arn.partition("/stream/")[0] + "/stream/", arn.replace("dynamodb", "kinesis")):
        with refused("Invalid StreamArn"):
            streams_client.describe_stream(StreamArn=wrong)
        with refused("Invalid StreamArn"):
            streams_client.get_shard_iterator(
                StreamArn=wrong, ShardId=shard_of(streams_client, arn), ShardIteratorType="LATEST"
            )


@pytest.mark.parametrize(
    ("kind", "sequence", "message"),
    [
        ("AT_SEQUENCE_NUMBER", "", "SequenceNumber must be specified when ShardIteratorType is AT_SEQUENCE_NUMBER"),
        ("LATEST", "1" + "0" * 20, "SequenceNumber must not be specified when ShardIteratorType is LATEST"),
        ("AT_SEQUENCE_NUMBER", "x" * 21, "Invalid SequenceNumber"),
        ("AT_SEQUENCE_NUMBER", "²" * 21, "Invalid SequenceNumber"),
        ("AT_SEQUENCE_NUMBER", "0" * 21, "Invalid SequenceNumber"),
        ("AFTER_SEQUENCE_NUMBER", "9" * 40, "Invalid SequenceNumber"),
    ],
)
def test_positions_that_are_none(engine: Engine, kind: str, sequence: str, message: str) -> None:
    table = make_table(engine, **stream_settings())
    with refused(message):
        iterator(engine, stream_of(engine, table), kind, sequence)


def forged(content: str) -> str:
    return urlsafe_b64encode(content.encode()).decode()


@pytest.mark.parametrize(
    "token",
    ["a", "a|b|c", "a|1|", "|||", "é|1|é", "a|1|" + forged("{}"), "a|1|" + forged("[]"), "a|1|" + forged("1")]
    + ["a|1|" + forged("[0,9e9]")]
    + ["a|1|" + forged(f"[{behind},9e9]") for behind in ("-1", "1e3", '"1"', "1" + "0" * 40, "9223372036854775808")],
)
def test_tokens_that_are_none(engine: Engine, token: str) -> None:
    with refused("Invalid ShardIterator"):
        engine.get_records(ShardIterator=token)


def test_limits(database: Database) -> None:
    for operation, member, most in (("GetRecords", "ShardIterator", 1000), ("ListStreams", "TableName", 100)):
        for limit, constraint in ((0, "greater than or equal to 1"), (most + 1, f"less than or equal to {most}")):
            (answer,) = database.execute_many([(operation, {member: "abc", "Limit": limit})])
            assert str(answer) == (
                f"ValidationException: 1 validation error detected: Value '{limit}' at 'limit' failed to satisfy "
                f"constraint: Member must have value {constraint}"
            )


def test_an_unknown_kind(database: Database) -> None:
    request: dict[str, object] = {"StreamArn": "a" * 37, "ShardId": "s" * 28, "ShardIteratorType": "FIRST"}
    (answer,) = database.execute_many([("GetShardIterator", request)])
    assert str(answer) == (
        "ValidationException: 1 validation error detected: Value 'FIRST' at 'shardIteratorType' failed to satisfy "
        "constraint: Member must satisfy enum value set: [TRIM_HORIZON, LATEST, AT_SEQUENCE_NUMBER, "
        "AFTER_SEQUENCE_NUMBER, AT_TIMESTAMP]"
    )
