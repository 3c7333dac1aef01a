"""Who can use the file, and whether the path still leads to it.

An open file stays usable when it is deleted, moved or replaced, but what is written to it then is lost, or hidden from
everybody who opens the path later. So device and inode are compared before requests. It costs a few microseconds, so
requests within `CHECK_SECONDS` share one comparison.
"""

import logging
import os
import time
from pathlib import Path
from typing import TypeAlias

from keyplan.engine.errors import DynamoError

_log = logging.getLogger("keyplan.engine")

CHECK_SECONDS = 0.005
OTHERS = 0o077
"""What the mode of a file allows to everybody but its owner."""
REPLACED = (
    "The database file was replaced by another one while it was in use, so nothing is read or written any more. "
    "Restart to use the new file."
)
MISSING = (
    "The database file was deleted or moved while it was in use, so nothing is written any more; reads still see its "
    "last state. Move it back together with its log (-wal), or restore a backup, and restart."
)
_warned: set[Path] = set()

Place: TypeAlias = tuple[int, int]


def create_private(path: Path) -> None:
    """Create an empty file that only its owner can use. SQLite gives the log the mode of the main file."""
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))


def warn_if_shared(path: Path) -> None:
    """Warn, once for each file, if other users of the machine can use it."""
    if os.name == "nt" or path in _warned:
        return
    for file in (path, *(path.with_name(path.name + suffix) for suffix in ("-wal", "-shm"))):
        mode = file.stat().st_mode & 0o777 if file.exists() else 0
        if mode & OTHERS:
            _warned.add(path)
            _log.warning(
                "Other users of this machine can use %s (mode %04o), and what it holds is for its owner only: run "
                "`chmod 600 %s`.",
                *(file, mode, file),
            )


class FileWatch:
    """Notices when the path of an open file leads to no file, or to another one."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._text = str(path)  # which os.stat takes faster
        self._place = _place_of(self._text)
        self.next = 0.0
        """When to call `check` again, on the monotonic clock."""
        self._problem: DynamoError | None = None
        self._replaced = False

    @property
    def lost(self) -> bool:
        """Whether the path was found not to lead to the file any more."""
        return self._problem is not None

    def check(self, *, writes: bool) -> None:
        """Refuse a write to a file that was deleted, moved or replaced, and a read from one that was replaced."""
        self.look()
        if self._problem is None:
            self.next = time.monotonic() + CHECK_SECONDS
        elif writes or self._replaced:
            raise self._problem

    def look(self) -> None:
        """Compare now."""
        if self._replaced:
            return
        found = _place_of(self._text)
        if self._problem is None and found == self._place:
            return
        self._replaced = found is not None and found != self._place
        if self._problem is not None and not self._replaced:
            return  # it is still missing, or was moved back; another file may come yet
        self.next = 0.0
        message = REPLACED if self._replaced else MISSING
        _log.error("%s: %s", self._path, message)
        self._problem = DynamoError("InternalServerError", message, status=500)

    def check_now(self) -> None:
        """Refuse to open the file once more if the path no longer leads to it."""
        self.look()
        if self._problem:
            raise self._problem


def _place_of(path: str) -> Place | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino
