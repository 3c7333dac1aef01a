"""A folder that stands for S3: its subfolders are the buckets, and the files in them are the objects.

Only the operator decides what is in the folder. Names from requests are refused if they have a part that is empty, or
that means another folder, and symbolic links are neither followed nor replaced, so that nothing outside is reached.
"""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from errno import ENOENT
from pathlib import Path
from typing import BinaryIO
from uuid import uuid4

from keyplan.engine.objects.store import StoredObject, StoreError, no_such_bucket, no_such_key

_TEMPORARY = ".keyplan-"
_ILLEGAL = ("\\", "\0", ":")
"""Characters that have a meaning in paths on some system."""


class FolderStore:
    """Objects as files."""

    def __init__(self, folder: Path) -> None:
        if not folder.is_dir():
            raise FileNotFoundError(ENOENT, "The folder that stands for S3 doesn't exist", str(folder))
        self._folder = folder.resolve()

    def put(self, bucket: str, key: str, content: bytes) -> None:
        with _errors("S3InternalError", f"{key} could not be written"):
            path = self._path(bucket, key)
            self._make_folders(self._bucket(bucket), path.parent)
            _refuse_link(path)
            _write(path, content)

    def objects(self, bucket: str, prefix: str) -> Iterator[StoredObject]:
        """Yield the objects by key. A name in the prefix may be incomplete, as in S3."""
        with _errors("S3AccessDenied", f"{bucket} could not be listed"):
            root = self._bucket(bucket)
            parts = prefix.split("/")[:-1]
            if parts:
                _check_parts(parts, prefix)
            start = root.joinpath(*parts)
            self._refuse_links(root, start)
            found = [] if not start.is_dir() else list(_files(start, "".join(f"{part}/" for part in parts), prefix))
        yield from sorted(found)

    def open(self, bucket: str, key: str) -> BinaryIO:
        with _errors("S3AccessDenied", f"{key} could not be read"):
            path = self._path(bucket, key)
            self._refuse_links(self._bucket(bucket), path)
            try:
                descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0))
            except (FileNotFoundError, NotADirectoryError):
                raise no_such_key(key) from None
        return os.fdopen(descriptor, "rb")

    def _bucket(self, name: str) -> Path:
        _check_parts(["" if "/" in name else name], name)
        path = self._folder / name
        _refuse_link(path)
        if not path.is_dir():
            raise no_such_bucket(name)
        return path

    def _path(self, bucket: str, key: str) -> Path:
        parts = key.split("/")
        _check_parts(parts, key)
        return self._bucket(bucket).joinpath(*parts)

    def _refuse_links(self, root: Path, path: Path) -> None:
        """Refuse a path in a bucket that goes over a symbolic link."""
        while path != root:
            _refuse_link(path)
            path = path.parent

    def _make_folders(self, root: Path, folder: Path) -> None:
        self._refuse_links(root, folder)
        missing = []
        while not folder.exists():
            missing.append(folder)
            folder = folder.parent
        for each in reversed(missing):
            with suppress(FileExistsError):
                each.mkdir(mode=0o700)


@contextmanager
def _errors(code: str, problem: str) -> Iterator[None]:
    """Turn what the file system refuses, such as names that are too long for it, into an error of the store."""
    try:
        yield
    except OSError as error:
        raise StoreError(code, f"{problem}: {error.strerror}") from error
    except UnicodeEncodeError as error:
        raise StoreError("S3InvalidKey", f"{problem}: the name has characters that no file can have") from error


def _check_parts(parts: list[str], name: str) -> None:
    for part in parts:
        if part in ("", ".", "..") or part.startswith(_TEMPORARY) or any(each in part for each in _ILLEGAL):
            raise StoreError("S3InvalidKey", f"The name can't be used in the folder that stands for S3: {name!r}")


def _refuse_link(path: Path) -> None:
    if path.is_symlink():
        raise StoreError("S3AccessDenied", f"{path.name} is a symbolic link, which is not followed")


def _files(folder: Path, path: str, prefix: str) -> Iterator[StoredObject]:
    """Yield the files of a folder and its subfolders whose keys start with the prefix."""
    with os.scandir(folder) as entries:
        for entry in entries:
            key = path + entry.name
            if not (key.startswith(prefix) or prefix.startswith(f"{key}/")) or entry.name.startswith(_TEMPORARY):
                continue
            info = entry.stat(follow_symlinks=False)
            if stat.S_ISLNK(info.st_mode):
                _refuse_link(folder / entry.name)
            elif stat.S_ISDIR(info.st_mode):
                yield from _files(folder / entry.name, f"{key}/", prefix)
            elif stat.S_ISREG(info.st_mode) and key.startswith(prefix):
                yield StoredObject(key, info.st_size)


def _write(path: Path, content: bytes) -> None:
    """Write a file beside its place, and move it there when it is complete."""
    temporary = path.with_name(f"{_TEMPORARY}{uuid4().hex}")
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
