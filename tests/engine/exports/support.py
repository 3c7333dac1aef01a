"""Exports and imports to their ends, and what is in their files."""

import gzip
import json
from base64 import b64encode
from hashlib import md5
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.engine.backups.support import wait

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient as Client
else:
    Client = object

ARN = "arn:aws:dynamodb:us-east-1:000000000000:table/"


def export(client: Client, table: str, **request: Any) -> dict[str, Any]:
    """Export a table, and return the description at the end."""
    arguments = {"S3Bucket": "bucket", **request}
    arn = client.export_table_to_point_in_time(TableArn=ARN + table, **arguments)["ExportDescription"]["ExportArn"]

    def described() -> dict[str, Any]:
        return dict(client.describe_export(ExportArn=arn)["ExportDescription"])

    wait(lambda: described()["ExportStatus"] != "IN_PROGRESS")
    return described()


def data_of(bucket: Path, exported: dict[str, Any]) -> list[bytes]:
    """The lines of an export, found as readers find them, with all checksums and counts checked."""
    summary_key = exported["ExportManifest"]
    summary = json.loads(checked(bucket, summary_key))
    lines = []
    for listed in checked(bucket, summary["manifestFilesS3Key"]).splitlines():
        file = json.loads(listed)
        content = (bucket / file["dataFileS3Key"]).read_bytes()
        digest = md5(content, usedforsecurity=False)
        assert file["md5Checksum"] == b64encode(digest.digest()).decode()
        assert file["etag"] == f"{digest.hexdigest()}-1"
        found = gzip.decompress(content).splitlines()
        assert len(found) == file["itemCount"]
        lines += found
    assert summary["itemCount"] == len(lines) == exported["ItemCount"]
    return lines


def checked(bucket: Path, key: str) -> bytes:
    """The content of a manifest whose checksum is right."""
    path = bucket / key
    content = path.read_bytes()
    assert path.with_suffix(".md5").read_bytes() == b64encode(md5(content, usedforsecurity=False).digest())
    return content


def items_of(lines: list[bytes]) -> list[dict[str, Any]]:
    """The items of a full export in DynamoDB JSON, in a fixed order."""
    return sorted((json.loads(line)["Item"] for line in lines), key=repr)


def parameters(name: str, *keys: str, others: tuple[str, ...] = (), **settings: Any) -> dict[str, Any]:
    """TableCreationParameters with these keys, "pk" or "pk:N", and `others` for the keys of indexes."""
    named = [each.partition(":") for each in (*keys, *others)]
    return {
        "TableName": name,
        "AttributeDefinitions": [{"AttributeName": key, "AttributeType": kind or "S"} for key, _, kind in named],
        "KeySchema": [
            {"AttributeName": key.partition(":")[0], "KeyType": kind}
            for key, kind in zip(keys, ("HASH", "RANGE"), strict=False)
        ],
        "BillingMode": "PAY_PER_REQUEST",
        **settings,
    }


def import_table(client: Client, prefix: str, table: dict[str, Any], **request: Any) -> dict[str, Any]:
    """Import a table, and return the description at the end."""
    arguments: Any = {"InputFormat": "DYNAMODB_JSON", **request}
    source: Any = {"S3Bucket": "bucket", "S3KeyPrefix": prefix}
    given: Any = {"S3BucketSource": source, "TableCreationParameters": table, **arguments}
    arn = client.import_table(**given)["ImportTableDescription"]["ImportArn"]

    def described() -> dict[str, Any]:
        return dict(client.describe_import(ImportArn=arn)["ImportTableDescription"])

    wait(lambda: described()["ImportStatus"] != "IN_PROGRESS")
    return described()
