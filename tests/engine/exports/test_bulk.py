"""Bulk puts into an existing table: conditions, reports, usage, cancelling, and what is refused."""

import gzip
import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from botocore.config import Config
from botocore.exceptions import ClientError

from keyplan.engine import Engine
from keyplan.engine.background import maintenance
from keyplan.engine.background.importing import BulkRun
from keyplan.engine.errors import DynamoError
from keyplan.engine.operations.imports import bulk_put_items
from keyplan.engine.operations.tables import index_backfill
from tests.engine.backups.support import GSI, LSI, check_indexes, contents, item, wait
from tests.engine.exports.support import ARN
from tests.engine.support import Clock, make_table, refused

NOW = datetime.fromtimestamp(1_700_000_000, UTC)
OUTPUT = {"S3Bucket": "bucket", "S3KeyPrefix": "report", "OutputType": ["ERROR", "CONDITION_CHECK_FAILURE"]}


def start(client: Any, table: str, **request: Any) -> dict[str, Any]:
    source = {"S3Bucket": "bucket", "S3KeyPrefix": "in/", "InputFormat": "DYNAMODB_JSON"}
    arguments = {"InputS3Configuration": source, "OutputS3Configuration": OUTPUT, **request}
    return dict(client.start_bulk_put_items(TableName=table, **arguments)["BulkOperationDescription"])


def ended(client: Any, arn: str) -> dict[str, Any]:
    def described() -> dict[str, Any]:
        return dict(client.describe_bulk_operation(BulkOperationArn=arn)["BulkOperationDescription"])

    wait(lambda: described()["BulkOperationStatus"] not in ("IN_PROGRESS", "CANCELLING"))
    return described()


def put_all(client: Any, table: str, **request: Any) -> dict[str, Any]:
    return ended(client, start(client, table, **request)["BulkOperationArn"])


def write(bucket: Path, name: str, *records: dict[str, Any]) -> None:
    path = bucket / "in" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in records))


def report(bucket: Path, described: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    """The entries of one type, found by the manifest."""
    folder = bucket / "report/AWSDynamoDB" / described["BulkOperationArn"].rpartition("/")[2]
    manifest = json.loads((folder / "manifest.json").read_bytes())
    files = [bucket / file["dataFileS3Key"] for file in manifest["files"] if file["outputType"] == kind]
    return [json.loads(line) for file in files for line in gzip.decompress(file.read_bytes()).splitlines()]


def test_put(client: Any, bucket: Path) -> None:
    table = make_table(client, "pk", "sk:N", gsis=[GSI], lsis=[LSI])
    client.put_item(TableName=table, Item=item(5, old={"S": "replaced"}))
    client.put_item(TableName=table, Item=item(1_000))
    write(bucket, "a", *({"Item": item(number)} for number in range(300)))
    write(bucket, "b", *({"Item": item(number)} for number in range(300, 450)))
    started = start(client, table, MaxWriteRequestUnits=2_000)
    assert started["BulkOperationStatus"] == "IN_PROGRESS"
    described = ended(client, started["BulkOperationArn"])
    total = sum((bucket / "in" / name).stat().st_size for name in ("a", "b"))
    usage = described.pop("BulkOperationUsage")
    assert described == {
        **started,
        "BulkOperationStatus": "COMPLETED",
        "EndTime": NOW,
        "ProcessedItemCount": 450,
        "ProcessedInputBytes": total,
        "TotalInputBytes": total,
        "FailedItemCount": 0,
    }
    assert (
        started.items()
        >= {
            "TableDetails": [
                {"TableName": table, "TableId": client.describe_table(TableName=table)["Table"]["TableId"]}
            ],
            "OutputS3Configuration": OUTPUT,
            "StartTime": NOW,
            "MaxWriteRequestUnits": 2_000,
            "PerformanceTier": "STANDARD",
        }.items()
    )
    assert started["BulkOperationArn"].startswith(f"{ARN}{table}/bulk-operation/01700000000000-")
    assert contents(client, table) == sorted([item(number) for number in (*range(450), 1_000)], key=repr)
    check_indexes(client, table)
    (used,) = usage
    parts = [used["Table"], *used["LocalSecondaryIndexes"].values(), *used["GlobalSecondaryIndexes"].values()]
    assert used["TableName"] == table
    assert used["BulkPutBytes"] == sum(part["BulkPutBytes"] for part in parts)
    size = client.describe_table(TableName=table)["Table"]["TableSizeBytes"]
    assert 0 < used["Table"]["BulkPutBytes"] < size


def test_conditions_and_errors(client: Any, bucket: Path) -> None:
    table = make_table(client)
    client.put_item(TableName=table, Item={"pk": {"S": "old"}, "n": {"N": "1"}})
    condition = {"ConditionExpression": "attribute_not_exists(pk)"}
    write(
        bucket,
        "items",
        {"Item": {"pk": {"S": "old"}}, **condition},
        {"Item": {"pk": {"S": "new"}}, **condition},
        {"Item": {"title": {"S": "without a key"}}},
        {
            "Item": {"pk": {"S": "old"}, "n": {"N": "2"}},
            "ConditionExpression": "#n < :n",
            "ExpressionAttributeNames": {"#n": "n"},
            "ExpressionAttributeValues": {":n": {"N": "2"}},
        },
    )
    described = put_all(client, table)
    assert described["BulkOperationStatus"] == "COMPLETED_WITH_ERRORS"
    assert (described["ProcessedItemCount"], described["FailedItemCount"]) == (4, 1)
    assert contents(client, table) == [{"pk": {"S": "new"}}, {"pk": {"S": "old"}, "n": {"N": "2"}}]
    assert report(bucket, described, "ERROR") == [
        {
            "objectKey": "in/items",
            "itemIndex": 2,
            "outputType": "ERROR",
            "errorMessage": "One or more parameter values were invalid: Missing the key pk in the item",
            "record": {"Item": {"title": {"S": "without a key"}}},
        }
    ]
    (failed,) = report(bucket, described, "CONDITION_CHECK_FAILURE")
    assert (failed["itemIndex"], failed["errorMessage"]) == (0, "The conditional request failed")
    assert failed["existingItem"] == {"pk": {"S": "old"}, "n": {"N": "1"}}


def test_failed_conditions_alone_are_no_errors(client: Any, bucket: Path) -> None:
    table = make_table(client)
    write(bucket, "items", {"Item": {"pk": {"S": "a"}}, "ConditionExpression": "attribute_exists(pk)"})
    described = put_all(client, table, OutputS3Configuration={**OUTPUT, "OutputType": ["ERROR"]})
    assert (described["BulkOperationStatus"], described["FailedItemCount"]) == ("COMPLETED", 0)
    assert report(bucket, described, "CONDITION_CHECK_FAILURE") == []


def test_ion(client: Any, bucket: Path) -> None:
    table = make_table(client)
    client.put_item(TableName=table, Item={"pk": {"S": "old"}})
    (bucket / "in").mkdir()
    (bucket / "in/items.gz").write_bytes(
        gzip.compress(
            b'$ion_1_0 {Item:{pk:"a",n:1.5}}\n'
            b'{Item:{pk:"old"},ConditionExpression:"#k <> :v",ExpressionAttributeNames:{\'#k\':"pk"},'
            b"ExpressionAttributeValues:{':v':\"old\"}}\n"
        )
    )
    source = {
        "S3Bucket": "bucket",
        "S3KeyPrefix": "in/",
        "InputFormat": "ION",
        "InputCompressionType": "GZIP",
    }
    described = put_all(client, table, InputS3Configuration=source)
    assert (described["BulkOperationStatus"], described["ProcessedItemCount"]) == ("COMPLETED", 2)
    assert contents(client, table) == [{"pk": {"S": "a"}, "n": {"N": "1.5"}}, {"pk": {"S": "old"}}]


def test_cancel(client: Any, bucket: Path, engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    table = make_table(client)
    write(bucket, "items", {"Item": {"pk": {"S": "a"}}})
    begin = engine.database._maintenance.start
    monkeypatch.setattr(engine.database._maintenance, "start", lambda: None)
    arn = start(client, table)["BulkOperationArn"]
    answer = client.cancel_bulk_operation(BulkOperationArn=arn)
    assert (answer["BulkOperationArn"], answer["BulkOperationStatus"]) == (arn, "CANCELLING")
    begin()
    described = ended(client, arn)
    assert described["BulkOperationStatus"] == "CANCELLED"
    assert described["FailureCode"] == "UserCancelled"
    assert contents(client, table) == []
    assert client.cancel_bulk_operation(BulkOperationArn=arn)["BulkOperationStatus"] == "CANCELLED"


def test_list_and_tokens(client: Any, bucket: Path, clock: Clock) -> None:
    table = make_table(client)
    write(bucket, "items", {"Item": {"pk": {"S": "a"}}})
    first = start(client, table, ClientToken="once")["BulkOperationArn"]
    assert start(client, table, ClientToken="once")["BulkOperationArn"] == first
    with refused(
        "The client token was used before, with other parameters. Use another token for a new request.",
        "IdempotentParameterMismatchException",
    ):
        start(client, table, ClientToken="once", MaxWriteRequestUnits=1024)
    ended(client, first)
    clock.now += 1
    second = put_all(client, table)["BulkOperationArn"]
    page = client.list_bulk_operations(MaxResults=1)
    assert page["BulkOperationsSummaryList"] == [
        {
            "BulkOperationArn": second,
            "BulkOperationStatus": "COMPLETED",
            "StartTime": datetime.fromtimestamp(clock.now, UTC),
            "EndTime": datetime.fromtimestamp(clock.now, UTC),
        }
    ]
    rest = client.list_bulk_operations(NextToken=page["NextToken"])
    assert [each["BulkOperationArn"] for each in rest["BulkOperationsSummaryList"]] == [first]


def test_failures(client: Any, bucket: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = make_table(client)
    described = put_all(client, table)
    assert (described["BulkOperationStatus"], described["FailureCode"]) == ("FAILED", "S3NoSuchKey")
    missing = f"{ARN}{table}/bulk-operation/01700000000000-0123abcd"
    with refused(f"Bulk operation not found: {missing}", "ResourceNotFoundException"):
        client.describe_bulk_operation(BulkOperationArn=missing)
    with refused(f"Bulk operation not found: {missing}", "ResourceNotFoundException"):
        client.cancel_bulk_operation(BulkOperationArn=missing)
    with refused("Requested resource not found: Table: missing not found", "ResourceNotFoundException"):
        start(client, "missing")
    monkeypatch.setattr(bulk_put_items, "MAXIMUM_OPERATIONS", 0)
    with refused("Too many bulk operations are in progress. The limit is 0.", "LimitExceededException"):
        start(client, table)


@pytest.mark.parametrize(
    ("output", "message"),
    [
        ({"OutputType": ["ERROR"]}, "Value null at 'outputS3Configuration.s3Bucket' failed to satisfy constraint"),
        ({"S3Bucket": "bucket", "OutputType": []}, "Value '[]' at 'outputS3Configuration.outputType' failed"),
    ],
)
def test_incomplete_output(engine: Engine, output: dict[str, Any], message: str) -> None:
    untyped = engine.boto3_session().client("dynamodb", config=Config(parameter_validation=False))
    table = make_table(untyped)
    with pytest.raises(ClientError, match=re.escape(message)):
        start(untyped, table, OutputS3Configuration=output)


def test_table_that_is_changed(client: Any, bucket: Path, engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not while an index is filled, and not together with replicas."""
    table = make_table(client)
    client.put_item(TableName=table, Item={"pk": {"S": "a"}})
    monkeypatch.setattr(engine.database._maintenance, "start", lambda: None)
    monkeypatch.setattr(index_backfill, "BACKFILL_ROWS", 1)
    start(client, table)
    with refused(
        "Attempt to change a resource which is still in use: A bulk operation puts items into the table: " + table,
        "ResourceInUseException",
    ):
        client.update_table(TableName=table, ReplicaUpdates=[{"Create": {"RegionName": "eu-west-1"}}])
    replicated = make_table(client)
    client.update_table(TableName=replicated, ReplicaUpdates=[{"Create": {"RegionName": "eu-west-1"}}])
    with refused("Bulk put items is not supported for a table that is part of a global table"):
        start(client, replicated)
    client.update_table(
        TableName=table,
        AttributeDefinitions=[{"AttributeName": "n", "AttributeType": "N"}],
        GlobalSecondaryIndexUpdates=[
            {
                "Create": {
                    "IndexName": "by_n",
                    "KeySchema": [{"AttributeName": "n", "KeyType": "HASH"}],
                    "Projection": {"ProjectionType": "ALL"},
                }
            }
        ],
    )
    with refused(
        f"Attempt to change a resource which is still in use: Table is being updated: {table}", "ResourceInUseException"
    ):
        start(client, table)


def test_a_file_that_cant_be_written_for_a_while(
    client: Any, bucket: Path, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The operation goes on when it can be."""
    table = make_table(client)
    write(bucket, "items", {"Item": {"pk": {"S": "a"}}})
    attempts = []
    put = bulk_put_items.put_batch

    def put_later(*arguments: Any, **named: Any) -> bool:
        attempts.append(named)
        if len(attempts) == 1:
            raise DynamoError("InternalServerError", "the disk is full", status=500)
        return put(*arguments, **named)

    monkeypatch.setattr(bulk_put_items, "put_batch", put_later)
    monkeypatch.setattr(maintenance, "RETRY_SECONDS", 0.01)
    assert put_all(client, table)["BulkOperationStatus"] == "COMPLETED"
    assert len(attempts) > 1


def test_something_unexpected_ends_one_job(
    client: Any, bucket: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The others go on."""
    table = make_table(client)
    write(bucket, "items", {"Item": {"pk": {"S": "a"}}})

    def fail(run: BulkRun, described: dict[str, Any]) -> None:
        raise KeyError

    with monkeypatch.context() as patched:
        patched.setattr(BulkRun, "_write_report", fail)
        described = put_all(client, table)
    assert (described["BulkOperationStatus"], described["FailureCode"]) == ("FAILED", "InternalServerError")
    assert "A job failed" in caplog.text
    assert put_all(client, table)["BulkOperationStatus"] == "COMPLETED"


def test_table_is_deleted_meanwhile(client: Any, bucket: Path, engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    table = make_table(client)
    write(bucket, "items", {"Item": {"pk": {"S": "a"}}})
    begin = engine.database._maintenance.start
    monkeypatch.setattr(engine.database._maintenance, "start", lambda: None)
    arn = start(client, table)["BulkOperationArn"]
    client.delete_table(TableName=table)
    begin()
    described = ended(client, arn)
    assert (described["BulkOperationStatus"], described["FailureCode"]) == ("FAILED", "ResourceNotFoundException")
