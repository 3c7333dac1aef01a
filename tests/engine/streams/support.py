"""Helpers for the tests of streams: writing items, and reading all records from a position."""

from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient
    from types_boto3_dynamodbstreams import DynamoDBStreamsClient
    from types_boto3_dynamodbstreams.type_defs import RecordTypeDef

    from keyplan.engine import Engine

Streams: TypeAlias = "DynamoDBStreamsClient | Engine"
"""What can be asked for streams; an engine is both clients in one."""


def stream_settings(view: str = "NEW_AND_OLD_IMAGES") -> dict[str, Any]:
    """For `make_table`."""
    return {"StreamSpecification": {"StreamEnabled": True, "StreamViewType": view}}


def stream_of(client: "DynamoDBClient", table: str) -> str:
    """The ARN of the table's latest stream."""
    return client.describe_table(TableName=table)["Table"]["LatestStreamArn"]


def shard_of(streams: Streams, arn: str) -> str:
    (shard,) = streams.describe_stream(StreamArn=arn)["StreamDescription"]["Shards"]
    return shard["ShardId"]


def iterator(streams: Streams, arn: str, kind: Any = "TRIM_HORIZON", sequence: str = "") -> str:
    more: dict[str, Any] = {"SequenceNumber": sequence} if sequence else {}
    return streams.get_shard_iterator(StreamArn=arn, ShardId=shard_of(streams, arn), ShardIteratorType=kind, **more)[
        "ShardIterator"
    ]


def read(streams: Streams, position: str) -> "list[RecordTypeDef]":
    """All records from a position on."""
    records: list[RecordTypeDef] = []
    while True:
        answer = streams.get_records(ShardIterator=position)
        records += answer["Records"]
        if not answer["Records"] or "NextShardIterator" not in answer:
            return records
        position = answer["NextShardIterator"]


def all_records(streams: Streams, arn: str) -> "list[RecordTypeDef]":
    return read(streams, iterator(streams, arn))


def sequence_numbers(records: "list[RecordTypeDef]") -> list[str]:
    return [record["dynamodb"]["SequenceNumber"] for record in records]


def put(client: "DynamoDBClient", table: str, *keys: object) -> None:
    """Put an item for each key."""
    for key in keys:
        client.put_item(TableName=table, Item={"pk": {"S": str(key)}})
