"""Buckets, prefixes and keys never lead out of the folder that stands for S3; and a real S3 endpoint."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import boto3
import pytest

from keyplan.engine import Engine
from keyplan.engine.objects import ObjectStore, StoreError, open_store
from tests.engine.backups.support import contents, put_items, set_recovery
from tests.engine.exports.support import ARN, export, import_table, parameters
from tests.engine.support import make_table, refused

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient

NO_S3 = (
    "This DynamoDB has no S3 to export to and to import from: set s3 of Engine, or --s3 of keyplan dynamodb, to a "
    "folder or to the URL of an S3 endpoint"
)
OUTSIDE = ["..", "../other", "a/../../other", "/etc", "a//b", "./a", "a/.", "a\\..\\b", "C:/x", "a\x00b"]


@pytest.fixture
def store(bucket: Path) -> ObjectStore:
    return open_store(bucket.parent)


@pytest.mark.parametrize("key", OUTSIDE)
def test_keys(store: ObjectStore, bucket: Path, key: str) -> None:
    before = sorted(bucket.parent.parent.rglob("*"))
    for use in (
        lambda: store.put("bucket", key, b"x"),
        lambda: store.open("bucket", key),
        lambda: list(store.objects("bucket", f"{key}/")),
    ):
        with pytest.raises(StoreError) as caught:
            use()
        assert caught.value.code == "S3InvalidKey"
    assert sorted(bucket.parent.parent.rglob("*")) == before


@pytest.mark.parametrize("name", ["..", ".", "", "../s3/bucket", "bucket/..", "/tmp"])
def test_buckets(store: ObjectStore, name: str) -> None:
    for use in (
        lambda: store.put(name, "a", b"x"),
        lambda: store.open(name, "a"),
        lambda: list(store.objects(name, "")),
    ):
        with pytest.raises(StoreError) as caught:
            use()
        assert caught.value.code == "S3InvalidKey"


def test_links(store: ObjectStore, bucket: Path, tmp_path: Path) -> None:
    """They are neither followed nor replaced."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_text("secret")
    (bucket / "folder").symlink_to(outside)
    (bucket / "file").symlink_to(outside / "secret")
    (bucket / "new").symlink_to(outside / "new")
    (bucket.parent / "linked").symlink_to(outside)
    for use in (
        lambda: store.open("bucket", "file"),
        lambda: store.open("bucket", "folder/secret"),
        lambda: store.open("linked", "secret"),
        lambda: store.put("bucket", "file", b"x"),
        lambda: store.put("bucket", "new", b"x"),
        lambda: store.put("bucket", "folder/x", b"x"),
        lambda: store.put("linked", "x", b"x"),
        lambda: list(store.objects("bucket", "f")),
        lambda: list(store.objects("bucket", "folder/")),
        lambda: list(store.objects("linked", "")),
    ):
        with pytest.raises(StoreError) as caught:
            use()
        assert (caught.value.code, caught.value.message.partition(" is ")[2]) == (
            "S3AccessDenied",
            "a symbolic link, which is not followed",
        )
    assert sorted(path.name for path in outside.iterdir()) == ["secret"]
    assert (outside / "secret").read_text() == "secret"


def test_files(store: ObjectStore, bucket: Path) -> None:
    store.put("bucket", "a/b/c", b"one")
    store.put("bucket", "a/b/c", b"two")
    store.put("bucket", "a/bc", b"")
    with store.open("bucket", "a/b/c") as file:
        assert file.read() == b"two"
    assert [found.key for found in store.objects("bucket", "a/b")] == ["a/b/c", "a/bc"]
    assert [found.key for found in store.objects("bucket", "a/b/")] == ["a/b/c"]
    assert list(store.objects("bucket", "nothing/here")) == []
    assert (bucket / "a/b/c").stat().st_mode & 0o777 == 0o600
    assert (bucket / "a/b").stat().st_mode & 0o777 == 0o700
    with pytest.raises(StoreError, match="The specified key does not exist: a/x"):
        store.open("bucket", "a/x")
    with pytest.raises(StoreError, match="The specified bucket does not exist: other"):
        store.put("other", "a", b"")


def test_disk_trouble(store: ObjectStore, bucket: Path) -> None:
    (bucket / "file").write_text("")
    with pytest.raises(StoreError, match=r"file/below could not be written: "):
        store.put("bucket", "file/below", b"")
    with pytest.raises(StoreError, match=r" could not be listed: File name too long"):
        list(store.objects("bucket", f"{'x' * 300}/"))
    for key in ("x" * 300, f"{'x' * 300}/y", "\ud800"):
        with pytest.raises(StoreError, match=r" could not be written: "):
            store.put("bucket", key, b"")
        with pytest.raises(StoreError, match=r" could not be read: "):
            store.open("bucket", key)


def test_missing_folder(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="The folder that stands for S3 doesn't exist"):
        Engine(s3=tmp_path / "missing")


@pytest.mark.parametrize("prefix", ["../outside", "a/../../b", "/etc"])
def test_over_the_api(client: "DynamoDBClient", bucket: Path, prefix: str) -> None:
    table = make_table(client)
    set_recovery(client, table)
    exported = export(client, table, S3Prefix=prefix)
    if prefix == "/etc":  # slashes at the ends of a prefix don't count
        assert exported["ExportManifest"].startswith("etc/AWSDynamoDB/")
    else:
        assert (exported["ExportStatus"], exported["FailureCode"]) == ("FAILED", "S3InvalidKey")
    imported = import_table(client, prefix + "/", parameters("imported", "pk"))
    assert (imported["ImportStatus"], imported["FailureCode"]) == ("FAILED", "S3InvalidKey")
    assert not (bucket.parent.parent / "outside").exists()


def test_without_s3() -> None:
    with Engine() as engine:
        table = make_table(engine)
        set_recovery(engine, table)
        with refused(NO_S3):
            engine.export_table_to_point_in_time(TableArn=ARN + table, S3Bucket="bucket")
        untyped: Any = engine
        with refused(NO_S3):
            untyped.import_table(
                S3BucketSource={"S3Bucket": "bucket"},
                InputFormat="CSV",
                TableCreationParameters=parameters("imported", "pk"),
            )
        with refused(NO_S3):
            untyped.start_bulk_put_items(
                TableName=table,
                InputS3Configuration={"S3Bucket": "bucket", "InputFormat": "ION"},
                OutputS3Configuration={"S3Bucket": "bucket", "OutputType": ["ERROR"]},
            )
        assert engine.list_exports()["ExportSummaries"] == []
        assert engine.list_imports()["ImportSummaryList"] == []


@pytest.fixture
def s3_url(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    from moto.server import ThreadedMotoServer

    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "any")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


def test_s3_endpoint(s3_url: str) -> None:
    s3 = boto3.client("s3", endpoint_url=s3_url)
    s3.create_bucket(Bucket="bucket")
    with Engine(s3=s3_url) as engine:
        table = make_table(engine, "pk", "sk:N")
        set_recovery(engine, table)
        put_items(engine, table, range(40))
        exported = export(engine, table, S3Prefix="x")
        assert exported["ExportStatus"] == "COMPLETED", exported
        keys = [each["Key"] for each in s3.list_objects_v2(Bucket="bucket")["Contents"]]
        assert exported["ExportManifest"] in keys
        prefix = exported["ExportManifest"].rpartition("/")[0] + "/data/"
        described = import_table(engine, prefix, parameters("imported", "pk", "sk:N"), InputCompressionType="GZIP")
        assert described["ImportStatus"] == "COMPLETED", described
        assert contents(engine, "imported") == contents(engine, table)
        missing = export(engine, table, S3Bucket="nowhere")
        assert (missing["FailureCode"], missing["FailureMessage"]) == (
            "S3NoSuchBucket",
            "The specified bucket does not exist: nowhere",
        )
    with pytest.raises(StoreError, match="The specified key does not exist: a"):
        open_store(s3_url).open("bucket", "a")
