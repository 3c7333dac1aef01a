"""Files on disk: kept files at `<folder>/<system>/<name>`, incoming files at `<folder>/incoming/<system>/<upload>/`.

The layout is that of the bucket, so a folder can be moved to S3 by copying it. A file appears under its name complete
or not at all, and an acknowledged file survives a power loss: it is written elsewhere, synced, then renamed.
"""

import logging
import os
import secrets
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

from keyplan.web.media.names import is_upload_id, kind_by_name
from keyplan.web.media.objects import CHUNK, INCOMING, File, Post, Received, sent_again, too_large
from keyplan.web.media.policy import Allowed, allowed_by, signed_fields
from keyplan.web.models.problems import BadRequest, ContentTooLarge, Forbidden, Missing

_log = logging.getLogger("keyplan.web")
_warned: set[Path] = set()

_SENT = "sent"
"""The name of the sent file in the folder of its upload."""


class DiskObjects:
    """The files of one system, in a folder that all its processes share.

    `secret` signs the forms; it is read when it is first needed. `post_url` is the URL where `media_routes` receives
    them.
    """

    def __init__(
        self,
        folder: Path,
        system: str,
        *,
        secret: Callable[[], bytes],
        clock: Callable[[], datetime],
        post_url: str = "/media/upload",
    ) -> None:
        if system == INCOMING:
            raise ValueError(f"a system can't be called {INCOMING}")
        _warn_if_shared(folder)
        self.bucket = folder.name
        self._folder = folder
        self._kept = folder / system
        self._incoming = folder / INCOMING / system
        self._key = f"{INCOMING}/{system}/"
        self._secret = secret
        self._clock = clock
        self.takes_at = post_url

    # Incoming files

    def post(self, upload_id: str, content_type: str, most: int, expires_at: datetime) -> Post:
        key = self._key + upload_id
        return Post(self.takes_at, signed_fields(self._secret(), key, content_type, most, expires_at))

    def begin(self, fields: Mapping[str, str]) -> "Incoming":
        """The file to write for a form with these fields. Refuses a form that isn't signed for it."""
        allowed = allowed_by(self._secret(), fields, self._clock())
        upload_id = allowed.key.removeprefix(self._key)
        if not is_upload_id(upload_id):
            raise Forbidden("access-denied", "The form is signed for a different upload.")
        folder = self._incoming / upload_id
        _ensure(folder)
        return Incoming(folder, allowed)

    @contextmanager
    def received(self, upload_id: str) -> Iterator[Received | None]:
        sent = self._incoming / upload_id / _SENT
        held = sent.with_name(f"{secrets.token_hex(8)}.held")
        try:
            os.link(sent, held)  # our own link to these bytes: a file that is sent now replaces only the other link
        except FileNotFoundError:
            yield None
            return
        try:
            with _there():
                received = _Held(held, self._kept)
            yield received
        finally:
            held.unlink(missing_ok=True)

    def discard(self, upload_id: str) -> None:
        shutil.rmtree(self._incoming / upload_id, ignore_errors=True)

    # Kept files

    def write(self, name: str, data: bytes, content_type: str) -> None:
        with self._beside() as part:
            with part.open("xb") as file:
                file.write(data)
                _sync_file(file)
            _place(part, self._kept / name)

    def copy(self, name: str, to: str) -> bool:
        with self._beside() as part:
            try:
                os.link(self._kept / name, part)  # files are replaced and never changed, so two names can share one
            except (FileNotFoundError, NotADirectoryError):
                return False
            _place(part, self._kept / to)
        return True

    @contextmanager
    def _beside(self) -> Iterator[Path]:
        """A path for a file that doesn't have its name yet."""
        _ensure(self._incoming)
        part = self._incoming / f"{secrets.token_hex(8)}.part"
        try:
            yield part
        finally:
            part.unlink(missing_ok=True)

    def find(self, name: str) -> File | None:
        kind = kind_by_name(name)
        if kind is None:
            return None
        try:
            status = (self._kept / name).stat()
        except (FileNotFoundError, NotADirectoryError):
            return None
        return File(name, kind.content_type, status.st_size, f'"{status.st_mtime_ns:x}-{status.st_size:x}"')

    def chunks(self, file: File, start: int, end: int) -> Iterator[bytes]:
        try:
            opened = (self._kept / file.name).open("rb")
        except FileNotFoundError as error:
            raise Missing from error
        with opened:
            opened.seek(start)
            while start < end and (chunk := opened.read(min(CHUNK, end - start))):
                start += len(chunk)
                yield chunk

    def delete(self, name: str) -> None:
        target = self._kept / name
        with suppress(FileNotFoundError, NotADirectoryError):
            target.unlink()
            _sync_folder(target.parent)

    def tidy(self, before: datetime) -> None:
        with suppress(FileNotFoundError):
            for entry in list(os.scandir(self._incoming)):
                with suppress(FileNotFoundError):
                    if datetime.fromtimestamp(entry.stat().st_mtime, UTC) >= before:
                        continue
                    if entry.is_dir():
                        shutil.rmtree(entry.path, ignore_errors=True)
                    else:
                        os.unlink(entry.path)


class Incoming:
    """A file that is being sent. It counts only after `finish`, which must be called when all of it is written."""

    def __init__(self, folder: Path, allowed: Allowed) -> None:
        self._sent = folder / _SENT
        self._part = folder / f"{secrets.token_hex(8)}.part"
        self._allowed = allowed
        self._size = 0
        self._file = self._part.open("xb")

    def write(self, data: bytes) -> None:
        """Write the next part. Refuses more than the form allows."""
        self._size += len(data)
        if self._size > self._allowed.most:
            raise ContentTooLarge("entity-too-large", too_large(self._allowed.most))
        self._file.write(data)

    def finish(self) -> None:
        """Make it the sent file of the upload."""
        if self._size < self._allowed.least:
            raise BadRequest("entity-too-small", "The file is empty.")
        _sync_file(self._file)
        self._file.close()
        try:
            os.replace(self._part, self._sent)
            _sync_folder(self._sent.parent)
        except FileNotFoundError as error:  # it took so long that the upload was deleted
            raise Forbidden("policy-expired", "The upload took too long. Start a new one.") from error

    def abort(self) -> None:
        """Delete it, unless it was finished."""
        self._file.close()
        self._part.unlink(missing_ok=True)


class _Held:
    """The sent file, under a name that only we know."""

    def __init__(self, held: Path, kept: Path) -> None:
        self._held = held
        self._kept = kept
        self.size = held.stat().st_size

    def head(self, count: int) -> bytes:
        with _there(), self._held.open("rb") as file:
            return file.read(count)

    def chunks(self) -> Iterator[bytes]:
        with _there(), self._held.open("rb") as file:
            while chunk := file.read(CHUNK):
                yield chunk

    def keep(self, name: str, content_type: str) -> None:
        target = self._kept / name
        _ensure(target.parent)
        with _there(), suppress(FileExistsError):
            os.link(self._held, target)
        _sync_folder(target.parent)


@contextmanager
def _there() -> Iterator[None]:
    """Ignore a file that disappears in the meantime: its upload has ended."""
    try:
        yield
    except FileNotFoundError as error:
        raise sent_again() from error


def _place(source: Path, target: Path) -> None:
    """Give a synced file its name."""
    _ensure(target.parent)
    os.replace(source, target)
    _sync_folder(target.parent)


def _ensure(folder: Path) -> None:
    """Make a folder and its parents, for their owner only, so that they survive a power loss."""
    if folder.is_dir():
        return
    _ensure(folder.parent)
    folder.mkdir(0o700, exist_ok=True)
    _sync_folder(folder.parent)


def _warn_if_shared(folder: Path) -> None:
    """Warn, once for each folder, if other users of the machine can use it."""
    if os.name == "nt" or folder in _warned or not folder.is_dir():
        return
    mode = folder.stat().st_mode & 0o777
    if mode & 0o077:
        _warned.add(folder)
        _log.warning(
            "Other users of this machine can use the folder %s (mode %04o), and files of users are for their owner "
            "only: run `chmod 700 %s`.",
            *(folder, mode, folder),
        )


def _sync_file(file: BinaryIO) -> None:
    file.flush()
    os.fsync(file.fileno())


def _sync_folder(folder: Path) -> None:
    if os.name == "nt":  # which can't open a folder, and doesn't need to
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
