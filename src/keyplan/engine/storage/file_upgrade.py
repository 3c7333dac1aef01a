"""Brings the file of an older release to today's format, when it is opened for the first time.

The upgrade is one transaction: a process that is killed leaves either the old file or the new one. It needs the file
for itself, because a process of the older release that has it open would go on writing the old format.
"""

import logging
import random
import time
from contextlib import closing
from pathlib import Path

import apsw

from keyplan.engine.errors import DamagedFile
from keyplan.engine.storage.file_creation import FORMAT, RECORDS, VFS
from keyplan.engine.storage.log_binding import COLUMNS, NEW_BINDING, main_binding

_log = logging.getLogger("keyplan.engine")

UPGRADED = 2
"""The oldest format that is upgraded."""
SECONDS = 5.0
"""How long an upgrade waits for other processes, which may be upgrading the same file."""

_STEPS = "\n".join(
    [
        *(f"ALTER TABLE meta ADD COLUMN {column};" for column in COLUMNS),
        RECORDS,
        NEW_BINDING,
        f"PRAGMA user_version = {FORMAT};",
    ]
)


def check_format(path: Path, found: int) -> bool:
    """Return whether a file has today's format; False means that it can be upgraded to it. Refuse all others."""
    if found == FORMAT:
        return True
    if found > FORMAT:
        raise DamagedFile(
            f"{path} was written by a newer version of Keyplan (file format {found}; this version reads formats up to "
            f"{FORMAT}): update Keyplan to open it."
        )
    if found < UPGRADED:
        raise DamagedFile(f"{path} was written by a different version of Keyplan. Open it with that version.")
    return False


def upgrade_file(path: Path) -> None:
    """Bring a file to today's format. The caller has checked it for damage, and has closed its own connections."""
    deadline = time.monotonic() + SECONDS
    while not (_upgraded(path) or _upgraded_by_another_process(path)):
        if time.monotonic() > deadline:
            raise DamagedFile(
                f"{path} has the format of an older version of Keyplan and can't be upgraded while other processes use "
                "it: stop them, then open it again."
            )
        time.sleep(random.uniform(0.02, 0.1))


def _upgraded(path: Path) -> bool:
    """Upgrade the file; return False if another process has it open."""
    try:
        with closing(apsw.Connection(str(path), vfs=VFS)) as connection:
            connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
            # In this mode SQLite locks the file itself, which fails while anybody else is connected.
            connection.pragma("locking_mode", "exclusive")
            connection.execute("PRAGMA synchronous = FULL; BEGIN IMMEDIATE")
            found = connection.pragma("user_version")
            if not check_format(path, found):
                connection.execute(_STEPS)
            elif main_binding(path):
                return True
            # Otherwise a process was killed here, before the main file had the new format.
            connection.execute("COMMIT")
            connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    except apsw.BusyError:
        return False
    before = "an older file format" if found == FORMAT else f"file format {found}"
    _log.warning("Upgraded %s from %s to %d. Older versions of Keyplan can't open it.", path, before, FORMAT)
    return True


def _upgraded_by_another_process(path: Path) -> bool:
    try:
        with closing(apsw.Connection(str(path), vfs=VFS)) as connection:
            connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
            return check_format(path, connection.pragma("user_version")) and main_binding(path) is not None
    except apsw.BusyError:
        return False
