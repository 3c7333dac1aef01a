"""The port to object storage, for large values that are kept there, and a folder behind it.

Names are texts of letters, digits, `-`, `_`, `.` and `/`. An object is written once and never changed. Methods may also
be coroutines, for an `AsyncStore`; it calls others in threads.
"""

import os
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Protocol
from uuid import uuid4

from keyplan.data.errors import DataError


class ObjectStorage(Protocol):
    """What a store needs of an object storage."""

    def put(self, name: str, content: bytes, /) -> Awaitable[None] | None:
        """Store an object under a new name. It can be read when this returns."""
        ...

    def get(self, name: str, /) -> Awaitable[bytes | None] | bytes | None:
        """The content of an object, or None if there is none."""
        ...

    def delete(self, name: str, /) -> Awaitable[None] | None:
        """Delete an object. Nothing happens if there is none."""
        ...

    def names(self, prefix: str, /) -> Awaitable[Iterable[str]] | Iterable[str]:
        """The names of all objects that begin with a prefix."""
        ...


def object_method(objects: ObjectStorage | None, name: str) -> Callable[..., object]:
    """A method of a store's object storage; raises `DataError` if it has none."""
    if objects is None:
        raise DataError(
            "a large value is kept in object storage, and this store has none: give it one with objects=..."
        )
    method: Callable[..., object] = getattr(objects, name)
    return method


class FolderStorage:
    """Objects as files in a folder, for one machine and for tests."""

    def __init__(self, folder: str | Path) -> None:
        self._folder = Path(folder)

    def put(self, name: str, content: bytes, /) -> None:
        path = self._path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_name(f".{uuid4().hex}")
        with unfinished.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        unfinished.rename(path)

    def get(self, name: str, /) -> bytes | None:
        try:
            return self._path(name).read_bytes()
        except FileNotFoundError:
            return None

    def delete(self, name: str, /) -> None:
        with suppress(FileNotFoundError):
            self._path(name).unlink()

    def names(self, prefix: str, /) -> Iterable[str]:
        files = (path for path in self._folder.rglob("*") if path.is_file() and not path.name.startswith("."))
        return [name for path in files if (name := path.relative_to(self._folder).as_posix()).startswith(prefix)]

    def _path(self, name: str) -> Path:
        path = (self._folder / name).resolve()
        if not path.is_relative_to(self._folder.resolve()):
            raise ValueError(f"{name!r} isn't a name in the folder")
        return path
