"""The port: what a store of files has to do. Each is the store of one system and sees nothing of the others.

There are two areas. What clients send lands among the incoming files, by the upload's id. What was confirmed, or
written by the server, is among the kept files, by its name; only those are served.
"""

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from keyplan.web.models.problems import InConflict

CACHE_CONTROL = "public, max-age=31536000, immutable"
"""A name never stands for other bytes, so whoever has them need not ask again."""
CHUNK = 256 * 1024
INCOMING = "incoming"
"""The folder, or prefix of keys, of what was sent and is not confirmed."""


@dataclass(frozen=True)
class Post:
    """A form that a client may send: the URL, and the fields that go before the field `file`."""

    url: str
    fields: Mapping[str, str]


@dataclass(frozen=True)
class File:
    """A kept file."""

    name: str
    content_type: str
    size: int
    etag: str
    """In quotes, as HTTP has it."""


class Received(Protocol):
    """What a client sent, as it was when it was looked at: sending it again meanwhile does not change it."""

    @property
    def size(self) -> int: ...

    def head(self, count: int) -> bytes:
        """Its first bytes; `sent_again()` where the store has them no more."""

    def keep(self, name: str, content_type: str) -> None:
        """Make these very bytes the kept file of this name, unless there is one already: it stays as it is then."""


def too_large(most: int) -> str:
    """What to say about a file with more bytes than are accepted."""
    for unit, size in (("MB", 1024 * 1024), ("KB", 1024)):
        if most >= size:
            return f"The file is larger than {most / size:.4g} {unit}."
    return f"The file is larger than {most} bytes."


def sent_again() -> InConflict:
    """What was sent is not any more what it was when it was looked at."""
    return InConflict("sent-again", "The file was uploaded again in the meantime. Confirm it again.")


class Objects(Protocol):
    """Where the files of a system are."""

    @property
    def bucket(self) -> str:
        """What the place is called."""

    @property
    def takes_at(self) -> str:
        """The address that clients send files to; empty where that can not be said now."""

    def post(self, upload_id: str, content_type: str, most: int, expires_at: datetime) -> Post:
        """A form by which a client may send one file of this type and at most this size."""

    def received(self, upload_id: str) -> AbstractContextManager[Received | None]:
        """What was sent by that form; none where nothing was."""

    def discard(self, upload_id: str) -> None:
        """Remove what was sent by that form, if anything was."""

    def write(self, name: str, data: bytes, content_type: str) -> None:
        """Write a kept file."""

    def copy(self, name: str, to: str) -> bool:
        """Write a kept file with another's bytes; false where there is no such other."""

    def find(self, name: str) -> File | None:
        """A kept file."""

    def chunks(self, file: File, start: int, end: int) -> Iterator[bytes]:
        """The bytes of a kept file from `start` up to before `end`; the first raises `Missing` where it is gone."""

    def delete(self, name: str) -> None:
        """Remove a kept file, if it is there."""

    def tidy(self, before: datetime) -> None:
        """Remove what writes that were cut off before this time left behind, and nobody else knows of."""
