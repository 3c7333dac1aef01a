"""Files in an S3 bucket: kept files at `<system>/<name>`, incoming files at `incoming/<system>/<upload>`.

The bucket is private. Clients send to it directly, but read through our own route: S3 can't send a sandbox policy, and
both stores look the same to readers. A lifecycle rule of the bucket that expires `incoming/` after some days is safe,
and cleans up after a lost table. Its CORS rules must allow POST from the sites' origins.
"""

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import datetime
from typing import Any, Protocol

from botocore.exceptions import BotoCoreError, ClientError

from keyplan.web.media.names import kind_by_name
from keyplan.web.media.objects import CACHE_CONTROL, CHUNK, INCOMING, File, Post, Received, sent_again
from keyplan.web.models.problems import InConflict, Missing, Unavailable

_GONE = {"404", "NoSuchKey", "NotFound"}
_CHANGED = {"409", "412", "ConditionalRequestConflict", "PreconditionFailed"}
_BUSY = {"500", "502", "503", "504", "InternalError", "ServiceUnavailable", "SlowDown", "RequestTimeout"}


class S3Client(Protocol):
    """The methods of boto3's S3 client that are used."""

    def generate_presigned_post(self, **kwargs: Any) -> Any: ...  # noqa: ANN401 - boto3's own shape
    def head_object(self, **kwargs: Any) -> Any: ...  # noqa: ANN401 - boto3's own shape
    def get_object(self, **kwargs: Any) -> Any: ...  # noqa: ANN401 - boto3's own shape
    def put_object(self, **kwargs: Any) -> Any: ...  # noqa: ANN401 - boto3's own shape
    def copy_object(self, **kwargs: Any) -> Any: ...  # noqa: ANN401 - boto3's own shape
    def delete_object(self, **kwargs: Any) -> Any: ...  # noqa: ANN401 - boto3's own shape


class S3Objects:
    """The files of one system, in a bucket. The client signs forms with its own credentials (signature version 4)."""

    def __init__(self, client: S3Client, bucket: str, system: str, *, clock: Callable[[], datetime]) -> None:
        if system == INCOMING:
            raise ValueError(f"a system can't be called {INCOMING}")
        self.bucket = bucket
        self._client = client
        self._kept = f"{system}/"
        self._incoming = f"{INCOMING}/{system}/"
        self._clock = clock

    # Incoming files

    @property
    def takes_at(self) -> str:
        try:
            made = self._client.generate_presigned_post(Bucket=self.bucket, Key=self._incoming)
        except BotoCoreError:  # without credentials nobody can upload, but pages still work
            return ""
        address: str = made["url"]
        return address

    def post(self, upload_id: str, content_type: str, most: int, expires_at: datetime) -> Post:
        made = self._client.generate_presigned_post(
            Bucket=self.bucket,
            Key=self._incoming + upload_id,
            Fields={"Content-Type": content_type},
            Conditions=[{"Content-Type": content_type}, ["content-length-range", 1, most]],
            ExpiresIn=max(1, int((expires_at - self._clock()).total_seconds())),
        )
        return Post(made["url"], made["fields"])

    @contextmanager
    def received(self, upload_id: str) -> Iterator[Received | None]:
        key = self._incoming + upload_id
        status = self._ask(self._client.head_object, Key=key)
        yield None if status is None else _Sent(self, key, status["ContentLength"], status["ETag"])

    def discard(self, upload_id: str) -> None:
        self._ask(self._client.delete_object, Key=self._incoming + upload_id)

    # Kept files

    def write(self, name: str, data: bytes, content_type: str) -> None:
        self._ask(
            self._client.put_object,
            Key=self._kept + name,
            Body=data,
            ContentType=content_type,
            CacheControl=CACHE_CONTROL,
        )

    def copy(self, name: str, to: str) -> bool:
        source = {"Bucket": self.bucket, "Key": self._kept + name}
        return self._ask(self._client.copy_object, Key=self._kept + to, CopySource=source) is not None

    def find(self, name: str) -> File | None:
        kind = kind_by_name(name)
        status = self._ask(self._client.head_object, Key=self._kept + name) if kind else None
        if kind is None or status is None:
            return None
        return File(name, kind.content_type, status["ContentLength"], status["ETag"])

    def chunks(self, file: File, start: int, end: int) -> Iterator[bytes]:
        if start >= end:
            return
        answer = self._ask(
            self._client.get_object, Key=self._kept + file.name, Range=f"bytes={start}-{end - 1}", IfMatch=file.etag
        )
        if answer is None:
            raise Missing
        with closing(answer["Body"]) as body:
            yield from body.iter_chunks(CHUNK)

    def delete(self, name: str) -> None:
        self._ask(self._client.delete_object, Key=self._kept + name)

    def tidy(self, before: datetime) -> None:
        """Do nothing: an interrupted write leaves nothing in a bucket."""

    def sent(self, key: str, etag: str, count: int) -> Iterator[bytes]:
        """The first bytes of an incoming file, in the version that was checked, in chunks."""
        answer = self._ask(self._client.get_object, Key=key, Range=f"bytes=0-{count - 1}", IfMatch=etag)
        if answer is None:
            raise sent_again()
        with closing(answer["Body"]) as body:
            yield from body.iter_chunks(CHUNK)

    def keep(self, key: str, etag: str, name: str, content_type: str) -> None:
        """Copy an incoming file, in the version that was checked, to a kept one. The type is ours, not the client's."""
        try:
            answer = self._ask(
                self._client.copy_object,
                Key=self._kept + name,
                IfNoneMatch="*",
                CopySource={"Bucket": self.bucket, "Key": key},
                CopySourceIfMatch=etag,
                MetadataDirective="REPLACE",
                ContentType=content_type,
                CacheControl=CACHE_CONTROL,
            )
        except InConflict:
            if self.find(name) is None:
                raise
            return
        if answer is None:
            raise sent_again()

    def _ask(self, method: Callable[..., Any], **request: object) -> Any:  # noqa: ANN401 - boto3's own shape
        """The response; None if there is no such object."""
        try:
            return method(Bucket=self.bucket, **request)
        except ClientError as error:
            code = error.response["Error"]["Code"]
            if code in _GONE:
                return None
            if code in _CHANGED:
                raise sent_again() from error
            if code in _BUSY:
                raise _unavailable() from error
            raise
        except BotoCoreError as error:
            raise _unavailable() from error


class _Sent:
    """The sent file. Its entity tag distinguishes it from files that are sent later."""

    def __init__(self, objects: S3Objects, key: str, size: int, etag: str) -> None:
        self._objects = objects
        self._key = key
        self._etag = etag
        self.size = size

    def head(self, count: int) -> bytes:
        return b"".join(self._objects.sent(self._key, self._etag, count)) if self.size else b""

    def chunks(self) -> Iterator[bytes]:
        return self._objects.sent(self._key, self._etag, self.size)

    def keep(self, name: str, content_type: str) -> None:
        self._objects.keep(self._key, self._etag, name, content_type)


def _unavailable() -> Unavailable:
    return Unavailable("files-unavailable", "File storage can't be reached right now. Try again in a moment.")
