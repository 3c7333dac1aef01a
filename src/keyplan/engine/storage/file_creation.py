"""Creates a new database file, and registers the checksums that every file has.

The file is written under a temporary name and moved into place when it is complete, so that neither a crash nor
another process that opens the same path ever finds an incomplete file.
"""

import os
import threading
from contextlib import suppress
from errno import ENOENT
from pathlib import Path
from uuid import uuid4

import apsw
import apsw.sqlite_extra

from keyplan.engine.storage.damage import APPLICATION_ID, CHECKSUM_BYTES, PAGE_SIZE, log_of
from keyplan.engine.storage.file_watch import create_private
from keyplan.engine.storage.log_binding import COLUMNS, NEW_BINDING

FORMAT = 3
"""The number of the file's format; `file_upgrade` brings older files to it."""
VFS = "cksmvfs"

RECORDS = """
CREATE TABLE records(kind TEXT NOT NULL, name TEXT NOT NULL, body BLOB NOT NULL, PRIMARY KEY(kind, name)) WITHOUT ROWID;
"""

SCHEMA = f"""
CREATE TABLE meta(version INTEGER NOT NULL, {", ".join(COLUMNS)});
INSERT INTO meta(version) VALUES (1);
CREATE TABLE tables(number INTEGER PRIMARY KEY AUTOINCREMENT, definition BLOB NOT NULL);
CREATE TABLE streams(number INTEGER PRIMARY KEY AUTOINCREMENT, table_name TEXT NOT NULL, description BLOB NOT NULL,
    ended REAL);
CREATE TABLE tokens(token TEXT PRIMARY KEY, fingerprint BLOB NOT NULL, expires REAL NOT NULL)
    WITHOUT ROWID;
CREATE INDEX tokens_by_expiry ON tokens(expires);
CREATE TABLE leases(name TEXT PRIMARY KEY, owner TEXT NOT NULL, expires REAL NOT NULL) WITHOUT ROWID;
{RECORDS}
PRAGMA application_id = {APPLICATION_ID};
PRAGMA user_version = {FORMAT};
"""

_registering = threading.Lock()


def register_checksums() -> None:
    """Register SQLite's checksum VFS, an extension, for the whole process."""
    with _registering:
        if VFS not in apsw.vfs_names():
            loader = apsw.Connection(":memory:")
            apsw.sqlite_extra.load(loader, "cksumvfs")
            loader.close()


def make_file(path: Path) -> None:
    """Create an empty database at a path where there is no file, or an empty file."""
    if not path.parent.is_dir():  # SQLite would only say that it can't open a file
        raise FileNotFoundError(ENOENT, "The folder of the database doesn't exist", str(path.parent))
    new = path.with_name(f"{path.name}.{uuid4().hex}.new")
    try:
        write_empty(new)
        _put_in_place(new, path)
    finally:
        for file in (new, log_of(new)):
            file.unlink(missing_ok=True)


def write_empty(new: Path) -> None:
    """Write an empty database where there is no file."""
    create_private(new)
    connection = apsw.Connection(str(new), vfs=VFS)
    try:
        connection.execute(f"PRAGMA page_size = {PAGE_SIZE}")
        connection.reserve_bytes("main", CHECKSUM_BYTES)
        # Nobody else uses the file yet, so one flush at the end is enough.
        connection.execute("PRAGMA synchronous = OFF")
        connection.pragma("journal_mode", "memory")
        connection.execute(f"BEGIN; {SCHEMA} {NEW_BINDING} COMMIT")
        connection.pragma("journal_mode", "wal")
    finally:
        connection.close()
    with new.open("rb+") as file:
        os.fsync(file.fileno())


def _put_in_place(new: Path, path: Path) -> None:
    try:
        os.link(new, path)  # fails if the file exists
    except FileExistsError:
        _replace_empty(new, path)
    except OSError:  # a file system without hard links
        if path.exists():
            _replace_empty(new, path)
        else:
            os.rename(new, path)
    with suppress(OSError):  # where folders can't be opened, they need no fsync
        folder = os.open(path.parent, os.O_RDONLY)
        os.fsync(folder)
        os.close(folder)


def _replace_empty(new: Path, path: Path) -> None:
    """Replace an empty file, unless another process did so first."""
    with path.open("rb+") as file:
        try:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX)
        except ImportError:  # Windows, where an open file can't be replaced
            file.close()
        if path.stat().st_size == 0:
            os.replace(new, path)
