"""Exports: what is in their files, how they are described and listed, and what is refused."""

import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from keyplan.engine import Engine
from keyplan.engine.operations.exports import export_requests
from tests.engine.backups.support import LARGE, contents, item, make_indexed_table, put_items, set_recovery, wait
from tests.engine.exports.support import ARN, data_of, export, items_of
from tests.engine.support import Clock, make_table, refused

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient

START = 1_700_000_000
MISSING = f"{ARN}missing/export/01700000000000-0123abcd"
INVALID_TIME = "The specified ExportTime is outside of the point in time recovery window."


def moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


@pytest.fixture
def table(client: "DynamoDBClient") -> str:
    """A table with 50 items, whose recovery is on."""
    name = make_indexed_table(client)
    set_recovery(client, name)
    put_items(client, name, range(50))
    return name


def test_full_export(client: "DynamoDBClient", table: str, bucket: Path) -> None:
    described = client.describe_table(TableName=table)["Table"]
    started = client.export_table_to_point_in_time(TableArn=ARN + table, S3Bucket="bucket", S3Prefix="a/b")
    assert started["ExportDescription"]["ExportStatus"] == "IN_PROGRESS"
    arn = started["ExportDescription"]["ExportArn"]
    assert re.fullmatch(re.escape(ARN + table) + r"/export/01700000000000-[0-9a-f]{8}", arn)
    wait(lambda: client.describe_export(ExportArn=arn)["ExportDescription"]["ExportStatus"] != "IN_PROGRESS")
    exported = dict(client.describe_export(ExportArn=arn)["ExportDescription"])
    folder = f"a/b/AWSDynamoDB/{arn.rpartition('/')[2]}"
    assert exported == {
        **started["ExportDescription"],
        "ExportArn": arn,
        "ExportStatus": "COMPLETED",
        "StartTime": moment(START),
        "EndTime": moment(START),
        "ExportManifest": f"{folder}/manifest-summary.json",
        "TableArn": ARN + table,
        "TableId": described["TableId"],
        "ExportTime": moment(START),
        "S3Bucket": "bucket",
        "S3Prefix": "a/b",
        "S3SseAlgorithm": "AES256",
        "ExportFormat": "DYNAMODB_JSON",
        "BilledSizeBytes": described["TableSizeBytes"],
        "ItemCount": 50,
        "ExportType": "FULL_EXPORT",
    }
    assert items_of(data_of(bucket, exported)) == contents(client, table)
    assert json.loads((bucket / folder / "manifest-summary.json").read_bytes()) == {
        "version": "2020-06-30",
        "exportArn": arn,
        "startTime": "2023-11-14T22:13:20.000Z",
        "endTime": "2023-11-14T22:13:20.000Z",
        "tableArn": ARN + table,
        "tableId": described["TableId"],
        "exportTime": "2023-11-14T22:13:20.000Z",
        "s3Bucket": "bucket",
        "s3Prefix": "a/b",
        "s3SseAlgorithm": "AES256",
        "s3SseKmsKeyId": None,
        "manifestFilesS3Key": f"{folder}/manifest-files.json",
        "billedSizeBytes": described["TableSizeBytes"],
        "itemCount": 50,
        "outputFormat": "DYNAMODB_JSON",
    }
    names = sorted(str(path.relative_to(bucket / folder)) for path in (bucket / folder).rglob("*") if path.is_file())
    assert [name for name in names if not name.startswith("data/")] == [
        "_started",
        "manifest-files.json",
        "manifest-files.md5",
        "manifest-summary.json",
        "manifest-summary.md5",
    ]
    (data,) = [name for name in names if name.startswith("data/")]
    assert re.fullmatch(r"data/[a-z2-7]{26}\.json\.gz", data)


def test_past(client: "DynamoDBClient", table: str, bucket: Path, clock: Clock) -> None:
    before = contents(client, table)
    clock.now += 10
    put_items(client, table, range(40, 60))
    client.delete_item(TableName=table, Key={name: item(3)[name] for name in ("pk", "sk")})
    exported = export(client, table, ExportTime=START)
    assert items_of(data_of(bucket, exported)) == before
    assert exported["ExportTime"] == moment(START)
    assert items_of(data_of(bucket, export(client, table))) == contents(client, table)


def test_several_files(client: "DynamoDBClient", table: str, bucket: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("keyplan.engine.background.exporting.FILE_BYTES", 20_000)
    put_items(client, table, range(LARGE))
    exported = export(client, table)
    assert items_of(data_of(bucket, exported)) == contents(client, table)
    assert len(list(bucket.rglob("*.json.gz"))) > 2


def test_empty_table(client: "DynamoDBClient", bucket: Path) -> None:
    table = make_table(client)
    set_recovery(client, table)
    exported = export(client, table)
    assert data_of(bucket, exported) == []
    assert len(list(bucket.rglob("*.json.gz"))) == 1  # AWS writes an empty file


@pytest.mark.parametrize(
    ("chosen", "expected"),
    [
        ({"FilterExpression": "grp = :g", "ExpressionAttributeValues": {":g": {"S": "g1"}}}, range(1, 50, 3)),
        (
            {
                "KeyConditionExpression": "pk = :p AND sk > :s",
                "ExpressionAttributeValues": {":p": {"S": "p2"}, ":s": {"N": "20"}},
            },
            range(23, 50, 7),
        ),
    ],
)
def test_filter(client: "DynamoDBClient", table: str, bucket: Path, chosen: dict[str, Any], expected: range) -> None:
    found = items_of(data_of(bucket, export(client, table, FilterSpecification=chosen)))
    assert found == sorted((item(number) for number in expected), key=repr)


def test_projection(client: "DynamoDBClient", table: str, bucket: Path) -> None:
    chosen = {"ProjectionExpression": "#r, sk", "ExpressionAttributeNames": {"#r": "rank"}}
    found = items_of(data_of(bucket, export(client, table, FilterSpecification=chosen)))
    assert found[0].keys() == {"rank", "sk"}
    with refused('Invalid ProjectionExpression: Syntax error; token: "<EOF>", near: ","'):
        export(client, table, FilterSpecification={"ProjectionExpression": "sk,"})
    wrong = {
        "KeyConditionExpression": "pk = :p",
        "FilterExpression": "sk = :p",
        "ExpressionAttributeValues": {":p": {"S": "a"}},
    }
    with refused("Filter Expression can only contain non-primary key attributes: Primary key attribute: sk"):
        export(client, table, FilterSpecification=wrong)


PERIOD = {"ExportFromTime": START + 100, "ExportToTime": START + 1_900}


@pytest.fixture
def changed(client: "DynamoDBClient", clock: Clock) -> str:
    """A table whose items changed in a period, before it, and after it."""
    name = make_table(client, "pk")
    set_recovery(client, name)
    for key in ("same", "updated", "deleted", "both", "later"):
        client.put_item(TableName=name, Item={"pk": {"S": key}, "n": {"N": "1"}})
    clock.now = START + 1_000
    client.put_item(TableName=name, Item={"pk": {"S": "new"}, "n": {"N": "2"}})
    client.put_item(TableName=name, Item={"pk": {"S": "updated"}, "n": {"N": "2"}})
    client.put_item(TableName=name, Item={"pk": {"S": "both"}, "n": {"N": "2"}})
    client.put_item(TableName=name, Item={"pk": {"S": "gone"}, "n": {"N": "2"}})
    clock.now = START + 1_200.5
    client.put_item(TableName=name, Item={"pk": {"S": "updated"}, "n": {"N": "3"}})
    client.delete_item(TableName=name, Key={"pk": {"S": "deleted"}})
    client.delete_item(TableName=name, Key={"pk": {"S": "gone"}})
    clock.now = START + 1_900  # the end is not part of the period
    client.put_item(TableName=name, Item={"pk": {"S": "later"}, "n": {"N": "4"}})
    client.put_item(TableName=name, Item={"pk": {"S": "both"}, "n": {"N": "4"}})
    clock.now = START + 3_000
    client.delete_item(TableName=name, Key={"pk": {"S": "new"}})
    return name


def image(key: str, number: int) -> dict[str, Any]:
    return {"pk": {"S": key}, "n": {"N": str(number)}}


def test_incremental_export(client: "DynamoDBClient", changed: str, bucket: Path) -> None:
    exported = export(
        client, changed, ExportType="INCREMENTAL_EXPORT", IncrementalExportSpecification=PERIOD, S3Prefix="inc"
    )
    found = {record["Keys"]["pk"]["S"]: record for record in map(json.loads, data_of(bucket, exported))}

    def written(at: float) -> dict[str, Any]:
        return {"WriteTimestampMicros": {"N": str(int(at * 1_000_000))}}

    first, second = written(START + 1_000), written(START + 1_200.5)
    assert found == {
        "new": {"Metadata": first, "Keys": {"pk": {"S": "new"}}, "NewImage": image("new", 2)},
        "updated": {
            "Metadata": second,
            "Keys": {"pk": {"S": "updated"}},
            "OldImage": image("updated", 1),
            "NewImage": image("updated", 3),
        },
        "deleted": {"Metadata": second, "Keys": {"pk": {"S": "deleted"}}, "OldImage": image("deleted", 1)},
        "both": {
            "Metadata": first,
            "Keys": {"pk": {"S": "both"}},
            "OldImage": image("both", 1),
            "NewImage": image("both", 2),
        },
    }
    summary = json.loads((bucket / exported["ExportManifest"]).read_bytes())
    assert summary["version"] == "2023-08-01"
    assert summary["exportFromTime"] == "2023-11-14T22:15:00.000Z"
    assert summary["exportToTime"] == "2023-11-14T22:45:00.000Z"
    assert (summary["outputView"], summary["exportType"]) == ("NEW_AND_OLD_IMAGES", "INCREMENTAL_EXPORT")
    assert exported["IncrementalExportSpecification"] == {
        "ExportFromTime": moment(START + 100),
        "ExportToTime": moment(START + 1_900),
        "ExportViewType": "NEW_AND_OLD_IMAGES",
    }
    # The data of all incremental exports is in one folder.
    assert len(list((bucket / "inc/AWSDynamoDB/data").iterdir())) == 1


def test_new_images(client: "DynamoDBClient", changed: str, bucket: Path) -> None:
    exported = export(
        client,
        changed,
        ExportType="INCREMENTAL_EXPORT",
        IncrementalExportSpecification={**PERIOD, "ExportViewType": "NEW_IMAGE"},
    )
    found = {record["Keys"]["pk"]["S"]: record for record in map(json.loads, data_of(bucket, exported))}
    assert found["updated"].keys() == {"Metadata", "Keys", "NewImage"}
    assert found["deleted"].keys() == {"Metadata", "Keys"}


def test_ion(client: "DynamoDBClient", changed: str, bucket: Path) -> None:
    exported = export(client, changed, ExportFormat="ION")
    lines = data_of(bucket, exported)
    assert b'$ion_1_0 {Item:{pk:"updated",n:3.}}' in lines
    incremental = export(
        client,
        changed,
        ExportFormat="ION",
        ExportType="INCREMENTAL_EXPORT",
        IncrementalExportSpecification=PERIOD,
    )
    assert (
        b'$ion_1_0 {Record:{Keys:{pk:"deleted"},Metadata:{WriteTimestampMicros:1700001200500000.},'
        b'OldImage:{pk:"deleted",n:1.}}}'
    ) in data_of(bucket, incremental)


def test_token(client: "DynamoDBClient", table: str, clock: Clock) -> None:
    request: Any = {"TableArn": ARN + table, "S3Bucket": "bucket", "ClientToken": "once"}
    first = client.export_table_to_point_in_time(**request)["ExportDescription"]["ExportArn"]
    assert client.export_table_to_point_in_time(**request)["ExportDescription"]["ExportArn"] == first
    with refused(
        "The client token was used before, with other parameters. Use another token for a new request.",
        "ExportConflictException",
    ):
        client.export_table_to_point_in_time(**request, S3Prefix="x")
    clock.now += 8 * 3600
    assert client.export_table_to_point_in_time(**request)["ExportDescription"]["ExportArn"] != first


def test_list(client: "DynamoDBClient", table: str, clock: Clock, engine: Engine) -> None:
    arns: list[str] = []
    for _ in range(3):
        arns.insert(0, export(client, table)["ExportArn"])
        clock.now += 1
    listed = client.list_exports()["ExportSummaries"]
    assert listed == [{"ExportArn": arn, "ExportStatus": "COMPLETED", "ExportType": "FULL_EXPORT"} for arn in arns]
    assert client.list_exports(TableArn=ARN + table)["ExportSummaries"] == listed
    assert client.list_exports(TableArn=ARN + table[:-1])["ExportSummaries"] == []
    page = client.list_exports(MaxResults=2)
    assert [each["ExportArn"] for each in page["ExportSummaries"]] == arns[:2]
    rest = client.list_exports(MaxResults=2, NextToken=page["NextToken"])
    assert [each["ExportArn"] for each in rest["ExportSummaries"]] == arns[2:]
    assert "NextToken" not in rest
    with refused("Invalid NextToken"):
        client.list_exports(NextToken="nonsense")
    clock.now += 91 * 86_400
    assert client.list_exports()["ExportSummaries"] == []
    engine.sweep_expired()
    with refused(f"Export not found: {arns[0]}", "ExportNotFoundException"):
        client.describe_export(ExportArn=arns[0])


def test_refusals(client: "DynamoDBClient", table: str, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    with refused("Table not found: missing", "TableNotFoundException"):
        export(client, "missing")
    with refused("Invalid TableArn: arn:aws:dynamodb:eu-west-1:000000000000:table/abc"):
        client.export_table_to_point_in_time(
            TableArn="arn:aws:dynamodb:eu-west-1:000000000000:table/abc", S3Bucket="bucket"
        )
    without = make_table(client)
    with refused(
        f"Point in time recovery is not enabled for table '{without}'", "PointInTimeRecoveryUnavailableException"
    ):
        export(client, without)
    for second in (START - 1, START + 1):
        with refused(INVALID_TIME, "InvalidExportTimeException"):
            export(client, table, ExportTime=second)
    incremental: Any = {"ExportType": "INCREMENTAL_EXPORT"}
    with refused("IncrementalExportSpecification with ExportFromTime is required for INCREMENTAL_EXPORT"):
        export(client, table, **incremental)
    with refused("ExportTime can only be specified for a FULL_EXPORT"):
        export(client, table, **incremental, ExportTime=START)
    with refused("IncrementalExportSpecification can only be specified for an INCREMENTAL_EXPORT"):
        export(client, table, IncrementalExportSpecification=PERIOD)
    clock.now += 2 * 86_400
    length = "The difference between ExportFromTime and ExportToTime must be at least 15 minutes and at most 24 hours"
    for seconds in (899, 86_401):
        period = {"ExportFromTime": START, "ExportToTime": START + seconds}
        with refused(length):
            export(client, table, **incremental, IncrementalExportSpecification=period)
    with refused(INVALID_TIME, "InvalidExportTimeException"):
        export(client, table, **incremental, IncrementalExportSpecification={"ExportFromTime": START - 10})
    with refused(f"Export not found: {MISSING}", "ExportNotFoundException"):
        client.describe_export(ExportArn=MISSING)
    monkeypatch.setattr(export_requests, "MAXIMUM_EXPORTS", 0)
    with refused("Too many exports are in progress. The limit is 0.", "LimitExceededException"):
        export(client, table)


def test_missing_bucket(client: "DynamoDBClient", table: str) -> None:
    exported = export(client, table, S3Bucket="nowhere")
    assert exported["ExportStatus"] == "FAILED"
    assert exported["FailureCode"] == "S3NoSuchBucket"
    assert exported["FailureMessage"] == "The specified bucket does not exist: nowhere"
    assert exported["EndTime"] == moment(START)


def test_what_is_collected_is_freed(engine: Engine, table: str) -> None:
    def sqlite_tables() -> int:
        return int(engine.database._storage.read(lambda t: t.sql("SELECT count(*) FROM sqlite_schema").get))

    before = sqlite_tables()
    export(engine, table)
    assert sqlite_tables() == before
