"""Whole database files: backups, restored and compacted files.

Each is written beside its final name, flushed to the disk, and then given the name, so that a process that is killed
leaves either what was there before or the complete new file. (It may leave a file that ends in `.new`, which can be
deleted.)

A backup copies page by page in steps, under one read transaction: it is of the moment when it began, others write
meanwhile, and it never has to start over. Every page that it reads has its checksum verified. (`VACUUM INTO` would
leave out unused pages, but needs memory for the whole file, because the VFS with the checksums must see the first page
first.) A compacted file is a backup without its unused pages, which replaces the file itself.
"""

import os
import shutil
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from uuid import uuid4

import apsw

from keyplan.engine.errors import DamagedFile
from keyplan.engine.operator.file_check import check_file
from keyplan.engine.operator.outcomes import OperatorError, Progress, damage_named, no_progress
from keyplan.engine.storage.damage import log_of
from keyplan.engine.storage.file_creation import VFS, register_checksums, write_empty
from keyplan.engine.storage.file_watch import create_private
from keyplan.engine.storage.log_binding import CLOSED, NEW_BINDING, is_alone, read_binding, remove_finished_log
from keyplan.engine.storage.storage import Storage

PAGES_IN_A_STEP = 1_000
SPARE_BYTES = 16 * 2**20
"""Free space that must be left, besides what is written."""


def back_up(path: Path, target: Path, *, force: bool = False, progress: Progress = no_progress) -> int:
    """Write a backup of a file, which may be in use; return its size."""
    check_target(target, path, force=force)
    with _opened(path) as storage, damage_named(path):
        return _copy(storage, path, target, force=force, progress=progress)


def compact(path: Path, *, progress: Progress = no_progress) -> tuple[int, int]:
    """Rewrite a file without its unused pages; return its size before and after. No other process may have it open."""
    path = followed(path)
    with _opened(path):
        pass  # refuses a damaged file, and copies the log into the file
    before = path.stat().st_size
    with damage_named(path), _written(path, 2 * before) as new:
        try:
            with _raw(path) as source:
                source.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
                # In this mode SQLite locks the file itself, which fails while anybody else is connected.
                source.pragma("locking_mode", "exclusive")
                source.execute("SELECT version FROM meta").fetchall()
                if read_binding(source).state != CLOSED:
                    raise apsw.BusyError
                _copy_pages(source, new, progress)
                _vacuum(new)
                finish_copy(new)
                _replace(new, path)
        except apsw.BusyError:
            raise _in_use(path, "compacted") from None
    _remove_logs(path)
    return before, path.stat().st_size


def restore(
    source: Path, path: Path, *, force: bool = False, without_log: bool = False, progress: Progress = no_progress
) -> int:
    """Put a backup, or any other database file with its log, in place of a file; return its size.

    Everything in it is checked first. `without_log` gives up what was in a log that is lost.
    """
    path = followed(path)
    _check_place(path, force=force)
    if not source.is_file():
        what = "is a folder" if source.is_dir() else "doesn't exist"
        raise OperatorError(f"{source} {what}. Give the path of a backup.")
    with _written(path, _size(source)) as new:
        with _kept_from_others(source) as kept:
            if not kept:
                raise OperatorError(f"{source} is in use. Restore a backup of it, which `keyplan backup` makes.")
            shutil.copyfile(source, new)
            if not without_log and log_of(source).exists():
                create_private(log_of(new))
                shutil.copyfile(log_of(source), log_of(new))
        _prepare(source, new, without_log=without_log, progress=progress)
        if path.exists():
            _replace_database(new, path)
        elif log_of(path).exists():
            raise OperatorError(f"{log_of(path)} exists without {path.name}. Move it away, then restore again.")
        else:
            put_in_place(new, path, force=force)
    _remove_logs(path)
    return path.stat().st_size


@contextmanager
def _kept_from_others(source: Path) -> Iterator[bool]:
    """Whether nobody uses a file, which could change while it is copied. A file that can't be written isn't locked."""
    if os.access(source, os.W_OK):
        with is_alone(source) as alone:
            yield alone
    else:
        yield True


def _prepare(source: Path, new: Path, *, without_log: bool, progress: Progress) -> None:
    """Check the copy of a database file, and make it a file of its own."""
    try:
        if without_log:
            finish_copy(new)
        Storage(str(new), durability="full", clock=time.time).close()
        findings = check_file(new, progress)
    except (DamagedFile, apsw.Error) as error:
        named = str(error).replace(str(new.absolute()), str(source)).replace(str(new), str(source))
        raise OperatorError(f"{source} can't be restored: {named}") from error
    if findings.problems:
        raise OperatorError(
            f"{source} can't be restored: {findings.problems[0]} (and {len(findings.problems) - 1} more problems). Use "
            "another backup."
        )
    finish_copy(new)


def _replace_database(new: Path, path: Path) -> None:
    """Replace a database that nobody uses. It gets rid of its log first, which wouldn't belong to the new file."""
    # Otherwise it is damaged, which may be why it is being replaced.
    with suppress(DamagedFile, apsw.Error, OSError):
        Storage(str(path), durability="normal", clock=time.time).close()
    with is_alone(path) as alone:
        if not alone:
            raise _in_use(path, "replaced")
        _replace(new, path)


def _in_use(path: Path, what: str) -> OperatorError:
    return OperatorError(f"{path} is in use, and can't be {what} now. Stop the processes that use it, and try again.")


def followed(path: Path) -> Path:
    """Return the file that a link leads to: what is replaced is the file, not the link."""
    return path.resolve() if path.is_symlink() else path


def check_target(target: Path, path: Path, *, force: bool) -> None:
    """Refuse a file to write that nothing can be written to, where there is something, or that a database needs."""
    _check_place(target, force=force)
    if target.resolve() in [file.resolve() for file in (path, *_files_of(followed(path)))]:
        raise OperatorError(f"{target} belongs to the database itself. Give another path.")
    log = log_of(followed(target))
    if log.exists() and log.stat().st_size:
        raise OperatorError(
            f"{target} has a log ({log}): it is a database in use, or one that was in use. Give another path."
        )
    if target.exists():
        with is_alone(target) as alone:
            if not alone:
                raise _in_use(target, "replaced")


def _files_of(path: Path) -> list[Path]:
    return [path, *(path.with_name(path.name + suffix) for suffix in ("-wal", "-shm", "-journal"))]


def _check_place(target: Path, *, force: bool) -> None:
    if not target.absolute().parent.is_dir():
        raise OperatorError(f"The folder {target.absolute().parent} doesn't exist. Create it first.")
    if target.is_dir():
        raise OperatorError(f"{target} is a folder. Give the path of a file.")
    if target.exists() and not force:
        raise OperatorError(f"{target} exists. Use --force to replace it, or give another path.")


@contextmanager
def _opened(path: Path) -> Iterator[Storage]:
    storage = Storage(str(path), durability="normal", clock=time.time)
    try:
        yield storage
    finally:
        storage.close()


@contextmanager
def _raw(path: Path) -> Iterator[apsw.Connection]:
    register_checksums()
    with closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE, vfs=VFS)) as connection:
        yield connection


@contextmanager
def _written(target: Path, size: int) -> Iterator[Path]:
    """A new private file beside the target, which is deleted if it isn't moved."""
    free = shutil.disk_usage(target.absolute().parent).free
    if free < size + SPARE_BYTES:
        raise OperatorError(
            f"There isn't enough space in {target.absolute().parent}: {size + SPARE_BYTES:,} bytes are needed, and "
            f"{free:,} are free. Free some, or use another disk."
        )
    new = target.with_name(f"{target.name}.{uuid4().hex}.new")
    create_private(new)
    try:
        yield new
    finally:
        for file in _files_of(new):
            file.unlink(missing_ok=True)


def _copy(storage: Storage, path: Path, target: Path, *, force: bool, progress: Progress) -> int:
    with _written(target, _size(path)) as new:
        with closing(storage.connect()) as source:
            _copy_pages(source, new, progress)
        finish_copy(new)
        put_in_place(new, target, force=force)
    return target.stat().st_size


def _size(path: Path) -> int:
    """The most bytes that a copy needs."""
    log = log_of(path)
    return path.stat().st_size + (log.stat().st_size if log.exists() else 0)


def _copy_pages(source: apsw.Connection, new: Path, progress: Progress) -> None:
    """Copy a file as it is now. The copy has its checksums because it is a database with checksums already."""
    new.unlink()
    write_empty(new)
    with _raw(new) as target:
        target.pragma("journal_mode", "off")  # nobody uses it yet, and it is flushed at the end
        target.pragma("synchronous", "off")
        source.execute("BEGIN")
        source.execute("SELECT version FROM meta").fetchall()  # from now on, it is read as of this moment
        try:
            with target.backup("main", source, "main") as copying:
                while not copying.done:
                    copying.step(PAGES_IN_A_STEP)
                    progress(copying.page_count - copying.remaining, copying.page_count)
        finally:
            source.execute("COMMIT")


def _vacuum(new: Path) -> None:
    """Remove the unused pages of a copy. SQLite writes what is left to a file without a name first."""
    with _raw(new) as connection:
        # Not in /tmp, where there may be less space, or none but memory.
        connection.pragma("temp_store_directory", str(new.absolute().parent))
        connection.pragma("locking_mode", "exclusive")
        connection.pragma("journal_mode", "off")
        connection.pragma("synchronous", "off")
        connection.execute("VACUUM")
        connection.pragma("temp_store_directory", "")


def finish_copy(new: Path) -> None:
    """Make a copy a database of its own, which belongs to no log, and flush it to the disk."""
    with _raw(new) as connection:
        connection.pragma("locking_mode", "exclusive")
        connection.pragma("journal_mode", "delete")
        connection.execute(f"BEGIN IMMEDIATE; {NEW_BINDING} COMMIT")
        connection.pragma("journal_mode", "wal")
    sync(new)


def sync(new: Path) -> None:
    """Flush a file to the disk."""
    with new.open("rb+") as file:
        os.fsync(file.fileno())


def put_in_place(new: Path, target: Path, *, force: bool) -> None:
    """Give a complete file its name."""
    if force:
        _replace(new, target)
        return
    try:
        os.link(new, target)  # fails if there is a file meanwhile
    except FileExistsError:
        raise OperatorError(f"{target} exists. Use --force to replace it, or give another path.") from None
    except OSError:  # a file system without hard links
        _replace(new, target)
    _sync_folder(target.absolute().parent)


def _replace(new: Path, target: Path) -> None:
    os.replace(new, target)
    _sync_folder(target.absolute().parent)


def _sync_folder(folder: Path) -> None:
    if os.name == "nt":  # which can't open a folder, and doesn't need to
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _remove_logs(path: Path) -> None:
    """Delete what is left of the log of a file that was replaced. The new file doesn't belong to it."""
    if not remove_finished_log(path):
        return
    for suffix in ("-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
