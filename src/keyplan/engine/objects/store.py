"""The interface of a store of objects, and its errors."""

from collections.abc import Iterator
from typing import BinaryIO, NamedTuple, Protocol


class StoreError(Exception):
    """An object can't be read or written; `code` is the failure code that AWS reports for it."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


class StoredObject(NamedTuple):
    """An object in a bucket."""

    key: str
    size: int


class ObjectStore(Protocol):
    """Buckets with objects. All methods raise `StoreError`."""

    def put(self, bucket: str, key: str, content: bytes) -> None:
        """Write an object, complete or not at all."""
        ...

    def objects(self, bucket: str, prefix: str) -> Iterator[StoredObject]:
        """Yield the objects whose keys start with the prefix, by key."""
        ...

    def open(self, bucket: str, key: str) -> BinaryIO:
        """Return an open object."""
        ...


def no_such_bucket(bucket: str) -> StoreError:
    return StoreError("S3NoSuchBucket", f"The specified bucket does not exist: {bucket}")


def no_such_key(key: str) -> StoreError:
    return StoreError("S3NoSuchKey", f"The specified key does not exist: {key}")
