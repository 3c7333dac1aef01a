"""The interface of a store of files. Each is the store of one system and can't see other systems' files.

There are two areas. Incoming files are those that clients sent, by the upload's ID. Kept files are those that were
confirmed or written by the server, by their names; only these are served.
"""

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from keyplan.web.models.problems import InConflict
from keyplan.web.models.values import size_text

CACHE_CONTROL = "public, max-age=31536000, immutable"
"""The bytes of a name never change, so clients can cache them forever."""
CHUNK = 256 * 1024
INCOMING = "incoming"
"""The folder, or key prefix, of files that were sent and aren't confirmed."""


@dataclass(frozen=True)
class Post:
    """A form that a client may send: the URL, and the fields before the field `file`."""

    url: str
    fields: Mapping[str, str]


@dataclass(frozen=True)
class File:
    """A kept file."""

    name: str
    content_type: str
    size: int
    etag: str
    """In quotes, as in HTTP."""


class Readable(Protocol):
    """The bytes of a file that isn't kept yet."""

    @property
    def size(self) -> int: ...

    def chunks(self) -> Iterator[bytes]:
        """All its bytes."""


@dataclass(frozen=True)
class InMemory:
    """A file that the server has itself."""

    data: bytes

    @property
    def size(self) -> int:
        """Its number of bytes."""
        return len(self.data)

    def chunks(self) -> Iterator[bytes]:
        """All its bytes."""
        yield self.data


class Received(Readable, Protocol):
    """A file that a client sent, as it was when it was checked. Sending it again doesn't change it.

    Its methods raise `sent_again()` if the store doesn't have its bytes anymore.
    """

    def head(self, count: int) -> bytes:
        """Its first bytes."""

    def keep(self, name: str, content_type: str) -> None:
        """Make exactly these bytes the kept file with this name. An existing file stays as it is."""


def too_large(most: int) -> str:
    """The message about a file with more bytes than this."""
    return f"The file is larger than {size_text(most)}."


def sent_again() -> InConflict:
    """The file was replaced after it was checked."""
    return InConflict("sent-again", "The file was uploaded again in the meantime. Confirm it again.")


class Objects(Protocol):
    """The store of a system's files."""

    @property
    def bucket(self) -> str:
        """The name of the bucket or folder."""

    @property
    def takes_at(self) -> str:
        """The URL that clients send files to; empty if it isn't known now."""

    def post(self, upload_id: str, content_type: str, most: int, expires_at: datetime) -> Post:
        """A form with which a client may send one file of this type, up to this size."""

    def received(self, upload_id: str) -> AbstractContextManager[Received | None]:
        """The file that was sent with that form; None if nothing was sent."""

    def discard(self, upload_id: str) -> None:
        """Delete what was sent with that form, if anything."""

    def write(self, name: str, data: bytes, content_type: str) -> None:
        """Write a kept file."""

    def copy(self, name: str, to: str) -> bool:
        """Copy a kept file; False if it doesn't exist."""

    def find(self, name: str) -> File | None:
        """A kept file."""

    def chunks(self, file: File, start: int, end: int) -> Iterator[bytes]:
        """The bytes of a kept file from `start` to before `end`. Raises `Missing` at first if it was deleted."""

    def delete(self, name: str) -> None:
        """Delete a kept file, if it exists."""

    def tidy(self, before: datetime) -> None:
        """Delete what interrupted writes left behind before this time."""
