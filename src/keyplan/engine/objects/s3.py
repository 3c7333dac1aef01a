"""A real S3 endpoint, by boto3. Credentials and region are those of boto3's environment."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO, Protocol, cast

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from keyplan.engine.objects.store import StoredObject, StoreError, no_such_bucket, no_such_key

_TIMEOUTS = Config(connect_timeout=5, read_timeout=30, retries={"mode": "standard", "max_attempts": 3})
"""Other background work waits while a server doesn't answer."""


class S3Client(Protocol):
    """The methods of boto3's client that are used."""

    def put_object(self, **kwargs: Any) -> Any: ...  # noqa: ANN401 - boto3's own shape
    def get_object(self, **kwargs: Any) -> Any: ...  # noqa: ANN401 - boto3's own shape
    def list_objects_v2(self, **kwargs: Any) -> Any: ...  # noqa: ANN401 - boto3's own shape


class S3Store:
    """Objects in S3, or in a server that speaks its API."""

    def __init__(self, url: str) -> None:
        self._client: S3Client = boto3.client("s3", endpoint_url=url, config=_TIMEOUTS)

    def put(self, bucket: str, key: str, content: bytes) -> None:
        with _errors(bucket, key):
            self._client.put_object(Bucket=bucket, Key=key, Body=content)

    def objects(self, bucket: str, prefix: str) -> Iterator[StoredObject]:
        """Yield the objects by key, which is S3's own order."""
        with _errors(bucket, prefix):
            after, more = "", True
            while more:
                page = self._client.list_objects_v2(Bucket=bucket, Prefix=prefix, StartAfter=after)
                for found in page.get("Contents", []):
                    after = found["Key"]
                    if not after.endswith("/"):  # a folder, as consoles make them
                        yield StoredObject(after, found["Size"])
                more = page["IsTruncated"]

    def open(self, bucket: str, key: str) -> BinaryIO:
        with _errors(bucket, key):
            return cast(BinaryIO, self._client.get_object(Bucket=bucket, Key=key)["Body"])


@contextmanager
def _errors(bucket: str, key: str) -> Iterator[None]:
    try:
        yield
    except ClientError as error:
        code = error.response["Error"]["Code"]
        if code == "NoSuchBucket":
            raise no_such_bucket(bucket) from error
        if code == "NoSuchKey":
            raise no_such_key(key) from error
        raise StoreError(f"S3{code}", error.response["Error"]["Message"]) from error
    except BotoCoreError as error:
        raise StoreError("S3InternalError", str(error)) from error
