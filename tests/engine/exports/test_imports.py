"""Imports: every format and compression, bad items, limits, and what is refused."""

import gzip
import json
import logging
import os
import random
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from keyplan.engine import Engine
from keyplan.engine.formats import csv_rows, lines
from keyplan.engine.operations.imports import import_table as import_operations
from tests.engine.backups.support import GSI, contents, item, make_indexed_table, put_items, set_recovery
from tests.engine.exports.support import ARN, data_of, export, import_table, parameters
from tests.engine.support import Clock, index, make_table, refused

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient

MISSING = f"{ARN}missing/import/01700000000000-0123abcd"
ITEM_ERRORS = {
    "FailureCode": "ItemValidationError",
    "FailureMessage": "Some of the items failed validation checks and were not imported. Please check CloudWatch error "
    "logs for more details.",
}
COUNTS = ("ProcessedItemCount", "ImportedItemCount", "ErrorCount")
EVERYTHING: dict[str, Any] = {
    "pk": {"S": "a 'quoted' \"text\" \\ with\nlines, ünïcödé \U0001f600"},
    "sk": {"N": "-12.50"},
    "binary": {"B": b"\x00\xffxyz"},
    "true": {"BOOL": True},
    "null": {"NULL": True},
    "list": {"L": [{"S": ""}, {"N": "1E+40"}, {"N": "0.00001"}, {"L": []}, {"M": {}}]},
    "map": {"M": {"a b": {"S": "x"}, "$x": {"N": "600"}, "1": {"NULL": True}, "it's": {"S": "y"}}},
    "strings": {"SS": ["a", "b"]},
    "numbers": {"NS": ["1", "2.5", "-300"]},
    "binaries": {"BS": [b"1", b"2"]},
}


def counts(described: dict[str, Any]) -> tuple[int, ...]:
    return tuple(described[name] for name in COUNTS)


def write(bucket: Path, name: str, *items: dict[str, Any]) -> None:
    (bucket / name).write_text("".join(json.dumps({"Item": each}) + "\n" for each in items))


@pytest.mark.parametrize("kind", ["DYNAMODB_JSON", "ION"])
def test_round_trip(client: "DynamoDBClient", bucket: Path, kind: str) -> None:
    """What is exported can be imported."""
    table = make_indexed_table(client)
    set_recovery(client, table)
    put_items(client, table, range(450))
    client.put_item(TableName=table, Item=EVERYTHING)
    exported = export(client, table, ExportFormat=kind)
    prefix = f"AWSDynamoDB/{exported['ExportArn'].rpartition('/')[2]}/data/"
    gsi = {key: value for key, value in GSI.items() if key != "attributes"}
    target = parameters("imported", "pk", "sk:N", others=("grp",), GlobalSecondaryIndexes=[gsi])
    described = import_table(client, prefix, target, InputFormat=kind, InputCompressionType="GZIP")
    assert described["ImportStatus"] == "COMPLETED", described
    assert counts(described) == (451, 451, 0)
    assert described["ProcessedSizeBytes"] == sum(len(line) + 1 for line in data_of(bucket, exported))
    assert contents(client, "imported") == contents(client, table)
    assert contents(client, "imported", IndexName="by-group") == contents(client, table, IndexName="by-group")
    client.put_item(TableName="imported", Item=item(999))


def test_description(client: "DynamoDBClient", bucket: Path) -> None:
    write(bucket, "items.json", {"pk": {"S": "a"}})
    table = parameters("imported", "pk")
    given: Any = {
        "S3BucketSource": {"S3Bucket": "bucket", "S3KeyPrefix": "items"},
        "InputFormat": "DYNAMODB_JSON",
        "TableCreationParameters": table,
        "ClientToken": "once",
    }
    started = client.import_table(**given)["ImportTableDescription"]
    assert started["ImportStatus"] == "IN_PROGRESS"
    assert client.import_table(**given)["ImportTableDescription"]["ImportArn"] == started["ImportArn"]
    with refused(
        "The client token was used before, with other parameters. Use another token for a new request.",
        "ImportConflictException",
    ):
        client.import_table(**{**given, "InputFormat": "ION"})
    described = import_table(client, "items", parameters("second", "pk"))
    now = datetime.fromtimestamp(1_700_000_000, UTC)
    # AWS fills in the owner; see the example in its guide, S3DataImport.Validation.
    source = {"S3BucketOwner": "000000000000", "S3Bucket": "bucket", "S3KeyPrefix": "items"}
    assert described == {
        "ImportArn": described["ImportArn"],
        "ImportStatus": "COMPLETED",
        "TableArn": f"{ARN}second",
        "TableId": client.describe_table(TableName="second")["Table"]["TableId"],
        "ClientToken": described["ClientToken"],
        "S3BucketSource": source,
        "ErrorCount": 0,
        "InputFormat": "DYNAMODB_JSON",
        "InputCompressionType": "NONE",
        "TableCreationParameters": parameters("second", "pk"),
        "StartTime": now,
        "EndTime": now,
        "ProcessedSizeBytes": 29,
        "ProcessedItemCount": 1,
        "ImportedItemCount": 1,
    }
    assert described["ImportArn"].startswith(f"{ARN}second/import/01700000000000-")
    listed = client.list_imports(TableArn=f"{ARN}second")["ImportSummaryList"]
    assert listed == [
        {
            "ImportArn": described["ImportArn"],
            "ImportStatus": "COMPLETED",
            "TableArn": f"{ARN}second",
            "S3BucketSource": source,
            "InputFormat": "DYNAMODB_JSON",
            "StartTime": now,
            "EndTime": now,
        }
    ]
    page = client.list_imports(PageSize=1)
    assert [each["TableArn"] for each in page["ImportSummaryList"]] == [f"{ARN}second"]
    rest = client.list_imports(PageSize=1, NextToken=page["NextToken"])
    assert [each["TableArn"] for each in rest["ImportSummaryList"]] == [f"{ARN}imported"]
    assert "NextToken" not in rest


def test_bad_items(client: "DynamoDBClient", bucket: Path, engine: Engine, caplog: pytest.LogCaptureFixture) -> None:
    """They are counted and named in the log; the others are imported."""
    long = "x" * 500_000
    content = [
        '{"Item": {"pk": {"S": "1"}, "grp": {"S": "g"}}}',
        '{"Item": {"title": {"S": "without a key"}}}',
        '{"Item": {"pk": {"N": "5"}}}',
        "not JSON",
        '{"pk": {"S": "2"}}',
        '{"Item": {"pk": {"S": "3"}, "grp": {"N": "1"}}}',
        f'{{"Item": {{"pk": {{"S": "4"}}, "long": {{"S": "{long}"}}}}}}',
        "",
        '{"Item": {"pk": {"S": "5"}, "n": {"N": "one"}}}',
        '{"Item": {"pk": {"S": "1"}, "grp": {"S": "again"}}}',
    ]
    (bucket / "items").write_text("\n".join(content))
    gsi = {key: value for key, value in index("by-group", "grp").items() if key != "attributes"}
    with caplog.at_level(logging.WARNING, "keyplan.engine"):
        described = import_table(
            client, "items", parameters("imported", "pk", others=("grp",), GlobalSecondaryIndexes=[gsi])
        )
    assert described["ImportStatus"] == "FAILED"
    assert ITEM_ERRORS.items() <= described.items()
    assert counts(described) == (9, 2, 7)
    assert contents(client, "imported") == [{"pk": {"S": "1"}, "grp": {"S": "again"}}]
    logged = [json.loads(message) for message in caplog.messages]
    assert [(each["itemS3Pointer"]["itemIndex"], each["errorMessages"][0]) for each in logged] == [
        (1, "One or more parameter values were invalid: Missing the key pk in the item"),
        (2, "One or more parameter values were invalid: Type mismatch for key pk expected: S actual: N"),
        (3, "The line is not JSON"),
        (4, "The line is not an object with an Item"),
        (
            5,
            (
                "One or more parameter values were invalid: Type mismatch for Index Key grp Expected: S Actual: N "
                "IndexName: by-group"
            ),
        ),
        (6, "Item size has exceeded the maximum allowed size"),
        (7, "The parameter cannot be converted to a numeric value: one"),
    ]
    assert logged[0]["itemS3Pointer"] == {"bucket": "bucket", "key": "items", "itemIndex": 1}
    assert logged[0]["importArn"] == described["ImportArn"]


def test_several_objects(client: "DynamoDBClient", bucket: Path) -> None:
    """All objects under the prefix, and no other."""
    (bucket / "in/deeper").mkdir(parents=True)
    for number, name in enumerate(("in/a.json", "in/b.json", "in/deeper/c.json", "inside.json", "other.json")):
        write(bucket, name, {"pk": {"S": str(number)}})
    assert counts(import_table(client, "in/", parameters("one", "pk"))) == (3, 3, 0)
    assert counts(import_table(client, "in", parameters("two", "pk"))) == (4, 4, 0)
    assert counts(import_table(client, "in/deeper/c", parameters("three", "pk"))) == (1, 1, 0)
    assert counts(import_table(client, "", parameters("four", "pk"))) == (5, 5, 0)


CSV = 'pk,sk,title\r\na,1,"one, two"\r\nb,2,"a ""quote"" and\na line"\r\nc,three,bad key\r\nd,4\r\ne,5,\r\n'


def test_csv(client: "DynamoDBClient", bucket: Path) -> None:
    (bucket / "rows.csv").write_bytes(b"\xef\xbb\xbf" + CSV.encode())
    described = import_table(client, "rows.csv", parameters("imported", "pk", "sk:N"), InputFormat="CSV")
    assert counts(described) == (5, 3, 2)
    assert contents(client, "imported") == [
        {"pk": {"S": "a"}, "sk": {"N": "1"}, "title": {"S": "one, two"}},
        {"pk": {"S": "b"}, "sk": {"N": "2"}, "title": {"S": 'a "quote" and\na line'}},
        {"pk": {"S": "e"}, "sk": {"N": "5"}, "title": {"S": ""}},
    ]


def test_csv_options(client: "DynamoDBClient", bucket: Path) -> None:
    (bucket / "rows").write_text("a;1\nb;2\n")
    options = {"Csv": {"Delimiter": ";", "HeaderList": ["pk", "n"]}}
    described = import_table(
        client, "rows", parameters("imported", "pk"), InputFormat="CSV", InputFormatOptions=options
    )
    assert counts(described) == (2, 2, 0)
    assert contents(client, "imported") == [{"pk": {"S": "a"}, "n": {"S": "1"}}, {"pk": {"S": "b"}, "n": {"S": "2"}}]
    with refused("InputFormatOptions can only be specified when InputFormat is CSV"):
        import_table(client, "rows", parameters("other", "pk"), InputFormat="ION", InputFormatOptions=options)


def test_csv_row_without_end(client: "DynamoDBClient", bucket: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Quotes that are never closed for long don't fill the memory."""
    monkeypatch.setattr(csv_rows, "LONGEST_LINE", 10_000)
    (bucket / "rows").write_text("pk,n\na,1\nb,2\n" + 'c,"' + '\n","' * 5_000)
    described = import_table(client, "rows", parameters("imported", "pk"), InputFormat="CSV")
    assert counts(described) == (3, 2, 1)


def test_csv_header(client: "DynamoDBClient", bucket: Path) -> None:
    (bucket / "rows").write_text("pk,pk\na,1\n")
    described = import_table(client, "rows", parameters("imported", "pk"), InputFormat="CSV")
    assert counts(described) == (1, 0, 1)


def test_zstd(client: "DynamoDBClient", bucket: Path) -> None:
    zstandard = pytest.importorskip("zstandard")
    text = b'{"Item": {"pk": {"S": "a"}}}\n'
    (bucket / "items.zst").write_bytes(zstandard.compress(text) + zstandard.compress(text.replace(b"a", b"b")))
    described = import_table(client, "items", parameters("imported", "pk"), InputCompressionType="ZSTD")
    assert counts(described) == (2, 2, 0)
    noise = random.Random(1)
    records = "".join(f'{{"Item": {{"pk": {{"S": "{noise.random()}"}}}}}}\n' for _ in range(5_000)).encode()
    packed = zstandard.compress(records)
    for number, damaged in enumerate((packed[: len(packed) // 2], packed + b"more", b"x" + packed)):
        (bucket / "bad.zst").write_bytes(damaged)
        table = parameters(f"bad-{number}", "pk")
        described = import_table(client, "bad", table, InputCompressionType="ZSTD")
        assert (described["ImportStatus"], described["ErrorCount"]) == ("FAILED", 1)


def test_without_zstandard(client: "DynamoDBClient", monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "zstandard", None)
    with refused("InputCompressionType ZSTD needs the package zstandard: pip install 'keyplan[zstd]'"):
        import_table(client, "items", parameters("imported", "pk"), InputCompressionType="ZSTD")


def test_damaged_file(client: "DynamoDBClient", bucket: Path, caplog: pytest.LogCaptureFixture) -> None:
    """What comes before the damage is imported, and the next object is read."""
    records = [
        b'{"Item": {"pk": {"S": "%d"}, "x": {"S": "%s"}}}\n'
        % (number, random.Random(number).randbytes(40).hex().encode())
        for number in range(5_000)
    ]
    packed = gzip.compress(b"".join(records))
    (bucket / "a.gz").write_bytes(packed[: len(packed) // 2])
    (bucket / "b.gz").write_bytes(gzip.compress(b'{"Item": {"pk": {"S": "b"}}}\n'))
    with caplog.at_level(logging.WARNING, "keyplan.engine"):
        described = import_table(client, "", parameters("imported", "pk"), InputCompressionType="GZIP")
    assert described["ImportStatus"] == "FAILED"
    assert described["ErrorCount"] == 1
    assert "could not be decompressed" in caplog.messages[0]
    found = {each["pk"]["S"] for each in contents(client, "imported")}
    assert "b" in found
    assert len(found) == described["ImportedItemCount"] > 1_000


def test_not_compressed(client: "DynamoDBClient", bucket: Path) -> None:
    write(bucket, "items", {"pk": {"S": "a"}})
    described = import_table(client, "items", parameters("imported", "pk"), InputCompressionType="GZIP")
    assert counts(described) == (1, 0, 1)


def test_long_lines(client: "DynamoDBClient", bucket: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A line without an end doesn't fill the memory; it is one error."""
    monkeypatch.setattr(lines, "LONGEST_LINE", 100_000)
    good = b'{"Item": {"pk": {"S": "a"}}}\n'
    (bucket / "items.gz").write_bytes(gzip.compress(good + b" " * 3_000_000 + b"\n" + good.replace(b"a", b"b")))
    described = import_table(client, "items", parameters("imported", "pk"), InputCompressionType="GZIP")
    assert counts(described) == (3, 2, 1)


def test_bomb(client: "DynamoDBClient", bucket: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A small file that becomes a very large one is read up to a limit."""
    monkeypatch.setattr(lines, "LARGEST_FILE", 1_000_000)
    (bucket / "items.gz").write_bytes(gzip.compress(b'{"Item": {"pk": {"S": "a"}}}\n' + b"\n" * 5_000_000))
    described = import_table(client, "items", parameters("imported", "pk"), InputCompressionType="GZIP")
    assert counts(described) == (2, 1, 1)
    assert described["ProcessedSizeBytes"] < 1_200_000


def test_missing_bucket(client: "DynamoDBClient", bucket: Path) -> None:
    given: Any = {"S3Bucket": "nowhere", "S3KeyPrefix": "a"}
    described = import_table(client, "a", parameters("imported", "pk"), S3BucketSource=given)
    assert described["ImportStatus"] == "FAILED"
    assert described["FailureCode"] == "S3NoSuchBucket"
    assert described["FailureMessage"] == "The specified bucket does not exist: nowhere"
    assert client.list_tables()["TableNames"] == []  # nothing was created
    described = import_table(client, "nothing", parameters("imported", "pk"))
    assert described["FailureCode"] == "S3NoSuchKey"
    assert described["FailureMessage"] == "There is no object whose key starts with 'nothing'"


def test_refusals(client: "DynamoDBClient", bucket: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = make_table(client)
    with refused(f"Table already exists: {table}", "ResourceInUseException"):
        import_table(client, "a", parameters(table, "pk"))
    with refused(
        "One or more parameter values were invalid: Number of attributes in KeySchema does not exactly match number "
        "of attributes defined in AttributeDefinitions"
    ):
        import_table(client, "a", parameters("imported", "pk", "sk", others=("other",)))
    with refused(f"Import not found: {MISSING}", "ImportNotFoundException"):
        client.describe_import(ImportArn=MISSING)
    monkeypatch.setattr(import_operations, "MAXIMUM_IMPORTS", 0)
    with refused("Too many imports are in progress. The limit is 0.", "LimitExceededException"):
        import_table(client, "a", parameters("imported", "pk"))


def test_table_in_progress(
    client: "DynamoDBClient", bucket: Path, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine.database._maintenance, "start", lambda: None)
    given: Any = {
        "S3BucketSource": {"S3Bucket": "bucket"},
        "InputFormat": "CSV",
        "TableCreationParameters": parameters("imported", "pk"),
    }
    client.import_table(**given)
    assert client.describe_table(TableName="imported")["Table"]["TableStatus"] == "CREATING"
    with refused("Requested resource not found", "ResourceNotFoundException"):
        client.get_item(TableName="imported", Key={"pk": {"S": "a"}})


def test_large_import_continues_after_a_restart(tmp_path: Path, bucket: Path, clock: Clock) -> None:
    """Each item is counted once, also if the process ends in the middle."""
    write(bucket, "items", *({"pk": {"S": str(number)}} for number in range(3_000)))
    path = str(tmp_path / "data.db")
    with Engine(path, clock=clock, s3=bucket.parent) as engine:
        given: Any = {
            "S3BucketSource": {"S3Bucket": "bucket"},
            "InputFormat": "DYNAMODB_JSON",
            "TableCreationParameters": parameters("imported", "pk"),
        }
        arn = engine.import_table(**given)["ImportTableDescription"]["ImportArn"]
        while not engine.describe_import(ImportArn=arn)["ImportTableDescription"]["ProcessedItemCount"]:
            os.sched_yield()
    with Engine(path, clock=clock) as engine:  # without S3 the import waits
        described = engine.describe_import(ImportArn=arn)["ImportTableDescription"]
        waiting = described["ImportStatus"]
    with Engine(path, clock=clock, s3=bucket.parent) as engine:
        while (described := engine.describe_import(ImportArn=arn)["ImportTableDescription"])[
            "ImportStatus"
        ] == "IN_PROGRESS":
            os.sched_yield()
        assert counts(dict(described)) == (3_000, 3_000, 0)
        assert len(contents(engine, "imported")) == 3_000
    assert waiting in ("IN_PROGRESS", "COMPLETED")
