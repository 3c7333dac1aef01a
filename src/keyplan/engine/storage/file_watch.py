"""Who can use the file, and whether the path still leads to it.

An open file stays usable when it is deleted, moved or replaced, but what is written to it then is lost, or hidden from
everybody who opens the path later. So device and inode are compared after each commit, before it is acknowledged. For
reads, and for the log and the content of the main file, requests within `CHECK_SECONDS` share one comparison: a file
can also be replaced by writing another one over it, and then the log doesn't belong to it any more.
"""

import logging
import os
import shlex
import time
from pathlib import Path
from typing import TypeAlias

import apsw

from keyplan.engine.errors import DynamoError
from keyplan.engine.storage.damage import begins_as_log, log_of
from keyplan.engine.storage.log_binding import check_binding

_log = logging.getLogger("keyplan.engine")

CHECK_SECONDS = 0.005
OTHERS = 0o077
"""What the mode of a file allows to everybody but its owner."""
REPLACED = (
    "The database file was replaced by another one while it was in use, so nothing is read or written any more. "
    "To use the new file, stop this process, move the log of the old one (-wal) away, and start it again."
)
MISSING = (
    "The database file was deleted or moved while it was in use, so nothing is written any more; reads still see its "
    "last state. Move it back together with its log (-wal), or restore a backup, and restart."
)
LOG_MISSING = (
    "The log (-wal) of the database file was deleted, moved or shortened while it was in use, so nothing is written "
    "any more; reads may still see its last state. If it was moved, move it back and restart. Otherwise the writes "
    "that only the log had are lost with the end of this process: read first what you need, then restore a backup."
)
_warned: set[Path] = set()

Place: TypeAlias = tuple[int, int]
Content: TypeAlias = tuple[int, int]


def create_private(path: Path) -> None:
    """Create an empty file that only its owner can use. SQLite gives the log the mode of the main file."""
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))


def warn_if_shared(path: Path) -> None:
    """Warn, once for each file, if other users of the machine can use it."""
    if os.name == "nt" or path in _warned:
        return
    files = [path, *(path.with_name(path.name + suffix) for suffix in ("-wal", "-shm"))]
    modes = {file: found.st_mode & 0o777 for file in files if (found := _found_at(str(file)))}
    shared = [file for file, mode in modes.items() if mode & OTHERS]
    if shared:
        _warned.add(path)
        _log.warning(
            "Other users of this machine can use %s (mode %04o), and what it holds is for its owner only: run "
            "`chmod 600 %s`.",
            *(shared[0], modes[shared[0]], shlex.join(map(str, shared))),
        )


class FileWatch:
    """Notices when the path of an open file leads to no file, or to another one."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._text = str(path)  # which os.stat takes faster
        self._log_text = str(log_of(path))
        found = _found_at(self._text)
        self._place = _place_of(found)
        self._device, self._inode = self._place or (0, 0)
        self._content = _content_of(found)
        self._log_place = _place_of(_found_at(self._log_text))
        self._log_size = 0
        self.next = 0.0
        """When to call `check` again, on the monotonic clock."""
        self._problem = ""
        self._replaced = False

    @property
    def lost(self) -> bool:
        """Whether the path was found not to lead to the file any more."""
        return bool(self._problem)

    def check(self, connection: apsw.Connection, *, writes: bool) -> None:
        """Refuse a write to a file that was deleted, moved or replaced, and a read from one that was replaced.

        The connection must not be in a transaction.
        """
        found = self.look()
        if not self._problem:
            content = _content_of(found)
            if content != self._content:  # by a checkpoint, normally
                check_binding(self._path, connection, current=True)
                self._content = content
            self.next = time.monotonic() + CHECK_SECONDS
        elif writes or self._replaced:
            raise self._refusal()

    def after_commit(self) -> None:
        """Refuse to acknowledge a write to a file that is lost."""
        try:
            found = os.stat(self._text)
            if found.st_ino == self._inode and found.st_dev == self._device:
                return
        except OSError:
            pass
        self.look()
        raise self._refusal()

    def look(self) -> os.stat_result | None:
        """Compare now; return what the path leads to."""
        if self._replaced:
            return None
        found = _found_at(self._text)
        if found is not None and _place_of(found) != self._place:
            self._replaced = True
            self._note(REPLACED)
        elif self._problem:
            pass  # it is still missing, or was moved back; another file may come yet
        elif found is None:
            self._note(MISSING)
        elif self._log_place is not None and not self._has_its_log():
            self._note(LOG_MISSING)
        return found

    def _has_its_log(self) -> bool:
        """Whether the log is where it was, and as long as it was: it starts over, but never becomes shorter.

        One that was emptied is soon as long as it was again, if somebody writes all the time.
        """
        size = self._log_size  # read first: other threads look too, and one that looks later may find a longer log
        found = _found_at(self._log_text)
        if found is None or _place_of(found) != self._log_place or found.st_size < size:
            return False
        self._log_size = found.st_size
        return found.st_size == size or begins_as_log(self._log_text)

    def _note(self, message: str) -> None:
        self.next = 0.0
        self._problem = message
        _log.error("%s: %s", self._path, message)

    def _refusal(self) -> DynamoError:
        return DynamoError("InternalServerError", self._problem, status=500)


def _found_at(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)
    except OSError:
        return None


def _place_of(found: os.stat_result | None) -> Place | None:
    return None if found is None else (found.st_dev, found.st_ino)


def _content_of(found: os.stat_result | None) -> Content | None:
    """Return what changes whenever somebody writes to the file."""
    return None if found is None else (found.st_mtime_ns, found.st_size)
