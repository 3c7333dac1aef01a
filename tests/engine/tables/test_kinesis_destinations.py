"""Kinesis streaming destinations: stored and described; no records are sent."""

from typing import TYPE_CHECKING, Any

from keyplan.engine import Engine
from tests.engine.support import Clock, make_table, refused

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient

STREAM = "arn:aws:kinesis:us-east-1:000000000000:stream/changes"
OTHER = "arn:aws:kinesis:us-east-1:000000000000:stream/others"
ENABLED_ALREADY = (
    "Table is not in a valid state to enable Kinesis Streaming Destination: "
    "EnableKinesisStreamingDestination must be DISABLED or ENABLE_FAILED to perform ENABLE operation."
)


def destinations(client: "DynamoDBClient", table: str) -> list[Any]:
    described: Any = client.describe_kinesis_streaming_destination(TableName=table)
    assert described["TableName"] == table
    return [
        (each["StreamArn"], each["DestinationStatus"], each["ApproximateCreationDateTimePrecision"])
        for each in described["KinesisDataStreamDestinations"]
    ]


def test_a_destination_is_enabled_updated_and_disabled(client: "DynamoDBClient") -> None:
    table = make_table(client)
    assert destinations(client, table) == []
    enabled: Any = client.enable_kinesis_streaming_destination(TableName=table, StreamArn=STREAM)
    del enabled["ResponseMetadata"]
    assert enabled == {"TableName": table, "StreamArn": STREAM, "DestinationStatus": "ENABLING"}
    client.get_waiter("kinesis_streaming_destination_active").wait(TableName=table)
    assert destinations(client, table) == [(STREAM, "ACTIVE", "MICROSECOND")]
    updated = client.update_kinesis_streaming_destination(
        TableName=table,
        StreamArn=STREAM,
        UpdateKinesisStreamingConfiguration={"ApproximateCreationDateTimePrecision": "MILLISECOND"},
    )
    assert updated["DestinationStatus"] == "UPDATING"
    assert updated["UpdateKinesisStreamingConfiguration"] == {"ApproximateCreationDateTimePrecision": "MILLISECOND"}
    assert destinations(client, table) == [(STREAM, "ACTIVE", "MILLISECOND")]
    disabled = client.disable_kinesis_streaming_destination(TableName=table, StreamArn=STREAM)
    assert disabled["DestinationStatus"] == "DISABLING"
    assert destinations(client, table) == [(STREAM, "DISABLED", "MILLISECOND")]


def test_a_precision_can_be_given_at_first(client: "DynamoDBClient") -> None:
    table = make_table(client)
    enabled = client.enable_kinesis_streaming_destination(
        TableName=f"arn:aws:dynamodb:us-east-1:000000000000:table/{table}",
        StreamArn=STREAM,
        EnableKinesisStreamingConfiguration={"ApproximateCreationDateTimePrecision": "MILLISECOND"},
    )
    assert enabled["TableName"] == table
    assert enabled["EnableKinesisStreamingConfiguration"] == {"ApproximateCreationDateTimePrecision": "MILLISECOND"}
    assert destinations(client, table) == [(STREAM, "ACTIVE", "MILLISECOND")]


def test_a_table_has_one_destination_at_a_time(client: "DynamoDBClient") -> None:
    table = make_table(client)
    client.enable_kinesis_streaming_destination(TableName=table, StreamArn=STREAM)
    for stream in (STREAM, OTHER):
        with refused(ENABLED_ALREADY):
            client.enable_kinesis_streaming_destination(TableName=table, StreamArn=stream)
    client.disable_kinesis_streaming_destination(TableName=table, StreamArn=STREAM)
    client.enable_kinesis_streaming_destination(TableName=table, StreamArn=OTHER)
    assert destinations(client, table) == [(STREAM, "DISABLED", "MICROSECOND"), (OTHER, "ACTIVE", "MICROSECOND")]


def test_a_disabled_destination_is_described_for_a_day(timed: Engine, clock: Clock) -> None:
    table = make_table(timed)
    timed.enable_kinesis_streaming_destination(TableName=table, StreamArn=STREAM)
    timed.disable_kinesis_streaming_destination(TableName=table, StreamArn=STREAM)
    clock.now += 86_399
    assert destinations(timed, table) == [(STREAM, "DISABLED", "MICROSECOND")]
    clock.now += 1
    assert destinations(timed, table) == []


def test_what_is_refused(client: "DynamoDBClient") -> None:
    table = make_table(client)
    table_id = client.describe_table(TableName=table)["Table"]["TableId"]
    missing = f"Requested resource not found: Table: {table} has no streaming destination {STREAM}"
    for action in (client.disable_kinesis_streaming_destination, client.enable_kinesis_streaming_destination):
        with refused("Requested resource not found: Table: missing not found", "ResourceNotFoundException"):
            action(TableName="missing", StreamArn=STREAM)
        queue = "arn:aws:sqs:us-east-1:000000000000:queue"
        with refused(f"Invalid StreamArn: {queue} is not the ARN of a Kinesis data stream"):
            action(TableName=table, StreamArn=queue)
    with refused(missing, "ResourceNotFoundException"):
        client.disable_kinesis_streaming_destination(TableName=table, StreamArn=STREAM)
    client.enable_kinesis_streaming_destination(TableName=table, StreamArn=STREAM)
    with refused(
        "Streaming destination cannot be updated with given parameters: UpdateKinesisStreamingConfiguration cannot be "
        "null or contain only null values"
    ):
        client.update_kinesis_streaming_destination(TableName=table, StreamArn=STREAM)
    with refused(
        "Invalid Request: Precision is already set to the desired value of MICROSECOND for tableId: "
        f"{table_id}, kdsArn: {STREAM}"
    ):
        client.update_kinesis_streaming_destination(
            TableName=table,
            StreamArn=STREAM,
            UpdateKinesisStreamingConfiguration={"ApproximateCreationDateTimePrecision": "MICROSECOND"},
        )
    client.disable_kinesis_streaming_destination(TableName=table, StreamArn=STREAM)
    with refused(
        "Table is not in a valid state to enable Kinesis Streaming Destination: "
        "KinesisStreamingDestination must be ACTIVE to perform DISABLE operation."
    ):
        client.disable_kinesis_streaming_destination(TableName=table, StreamArn=STREAM)
