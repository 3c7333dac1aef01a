"""Which write-ahead log belongs to the main file.

SQLite applies any log that lies beside a main file. If one of them was copied or restored without the other, that
silently makes a mixture of two states. So the single row of `meta` says where the main file is, and where the log is:

- `mark` is a random number that each step of a checkpoint writes first. The log is copied only up to an exact mark, so
  the mark in the main file says which part of the log it has; `frame` is the mark's place in that log.
- `base` is the mark that the main file had when the log began. The first transaction of each log writes it.
- `state`: a log goes on (`OPEN`), or the main file has all of it, and the next commit may start the log over
  (`COMPLETE`), or it needs no log at all, because it was closed in an orderly way (`CLOSED`). The first commit to a
  closed file makes it `COMPLETE`, alone, and is copied at once: so no page of a log is ever in a `CLOSED` file.
- `copied` is the frame of the last mark that is known to be in the main file.

The row in the main file is compared with the row that SQLite reads through the log, before anything is answered or
written. They fit if the log has the main file's mark in its place, or began on it. An older main file is refused even
if the log could bring it up to date, because it was probably restored on purpose. A main file that isn't `CLOSED` is
refused without its log, because it lacks the last commits.

Two things can't be detected: an older copy of a log, if a checkpoint that a long read held up has copied a part of what
the copy lacks; and a log that has no complete commit, beside a main file that was copied when its own log began.
"""

import struct
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import apsw

from keyplan.engine.errors import DamagedFile
from keyplan.engine.storage.damage import CHECKSUM_BYTES, PAGE_SIZE, frame_page, is_last_frame, log_of, read_main

OPEN, COMPLETE, CLOSED = 2, 3, 4  # each is one byte in the file; 0 and 1 would be none
NONE = 2**40
"""Frames are counted from here, so that each has six bytes in the file."""
NO_BASE = bytes(16)

COLUMNS = (
    "mark BLOB NOT NULL DEFAULT x''",
    f"frame INTEGER NOT NULL DEFAULT {NONE}",
    "base BLOB NOT NULL DEFAULT x''",
    f"state INTEGER NOT NULL DEFAULT {OPEN}",
    f"copied INTEGER NOT NULL DEFAULT {NONE}",
)
"""Columns of `meta` since format 3."""
NEW_BINDING = f"""UPDATE meta SET mark = randomblob(16), frame = {NONE}, base = zeroblob(16), state = {CLOSED},
    copied = {NONE};"""
"""Makes a file one of its own, which needs no log."""
NEEDS_LOG = f"UPDATE meta SET state = {COMPLETE}"
"""The first commit to a closed file, alone in its log: from then on, the main file isn't used without a log."""
NEW_LOG = f"UPDATE meta SET base = mark, mark = randomblob(16), frame = {NONE}, state = {OPEN}, copied = {NONE}"
"""Part of the first transaction after a main file was complete: it may begin a new log."""
NEW_MARK = f"""UPDATE meta SET frame = ?, base = CASE state WHEN {OPEN} THEN base ELSE mark END,
    copied = CASE state WHEN {OPEN} THEN copied ELSE {NONE} END, mark = randomblob(16), state = {OPEN}"""
LAST_MARK = "UPDATE meta SET mark = randomblob(16), frame = ?, state = ?"
COPIED = f"UPDATE meta SET copied = ? WHERE base = ? AND state = {OPEN}"

META_PAGE = 2
"""The page of `meta`, the first table of every file. Checkpoints copy pages in order, so this one comes early."""
TRIES = 5
"""Other processes may go on writing while the log is compared; only a difference that stays counts."""
_ROW = struct.Struct(">16s6s16sB6s")
"""The end of the row, which is the end of its page. After a write that was cut off it is old or new, not a mixture:
disks write 512 bytes at once."""
_ROW_AT = PAGE_SIZE - CHECKSUM_BYTES - _ROW.size


class Binding(NamedTuple):
    """The row of `meta`, without the version of the catalog."""

    mark: bytes
    frame: int
    base: bytes
    state: int
    copied: int


def read_binding(connection: apsw.Connection) -> Binding:
    """Return the binding as SQLite sees it, through the log."""
    mark, frame, base, state, copied = connection.execute("SELECT mark, frame, base, state, copied FROM meta").get
    return Binding(mark, frame - NONE, base, state, copied - NONE)


def main_binding(path: Path) -> Binding | None:
    """Return the binding in the main file; None if it has none, because it has an older format."""
    return _parse(read_main(path, PAGE_SIZE, (META_PAGE - 1) * PAGE_SIZE))


def check_binding(path: Path, connection: apsw.Connection, *, current: bool) -> bool:
    """Refuse a main file and a log that don't belong together.

    `current` says whether the file has today's format. Returns whether the main file has it too, not only the log.
    """
    for attempt in range(TRIES):
        frames = max(connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_NOOP)[0], 0)
        if (fits := _fits(path, connection, frames, current=current)) is not None:
            return fits
        if attempt < TRIES - 1:
            time.sleep(0.005)
    raise DamagedFile(_refusal(path, has_log=frames > 0))


def _fits(path: Path, connection: apsw.Connection, frames: int, *, current: bool) -> bool | None:
    """Return None if main file and log don't fit, and otherwise whether the main file has today's format."""
    if not current:
        return None if main_binding(path) else True
    connection.execute("BEGIN")
    try:
        # From here on, neither file goes beyond what it is compared with.
        logged = read_binding(connection)
        main = main_binding(path)
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
    if main is None:
        # Killed at the end of an upgrade, of which the log has all.
        return False if logged.state == CLOSED and logged.base == NO_BASE else None
    if not frames:
        # There is no log, or it has no complete commit: it was about to begin.
        began = main.state == COMPLETE and _exists(log_of(path))
        return True if main.state == CLOSED or began else None
    if main.state != OPEN and main.mark == logged.base and not logged.copied:
        return True
    if main.state != OPEN and main.mark == logged.mark:
        return True  # killed when the log had only said that it is needed
    if main == logged and not main.frame:
        return True  # killed at the end of an upgrade, while the log was copied
    return True if main.frame >= logged.copied and holds(path, main, frames) else None


def check_mark(path: Path) -> None:
    """Refuse a main file whose log isn't its own, without SQLite, which may only find that a mixture is malformed."""
    main = main_binding(path)
    if main is None:
        return
    log = log_of(path)
    has_log = _exists(log)
    if not has_log:
        fits = main.state == CLOSED
    elif main.state == OPEN:
        fits = holds(path, main, main.frame)
    else:
        pages = (frame_page(log, number) for number in (1, 2))  # page 1 may be before the page of `meta`
        first = next((_parse(page) for number, page in pages if number == META_PAGE), None)
        fits = first is not None and main.mark in (first.mark, first.base)
    if not fits:
        raise DamagedFile(_refusal(path, has_log=has_log))


def holds(path: Path, binding: Binding, frames: int) -> bool:
    """Return whether the log, of which SQLite uses so many frames, has a mark in its place."""
    if not 0 < binding.frame <= frames:
        return False
    number, page = frame_page(log_of(path), binding.frame)
    if number != META_PAGE:
        return False
    found = _parse(page)
    return found is not None and found.mark == binding.mark


def _exists(log: Path) -> bool:
    return log.exists() and log.stat().st_size > 0


def _refusal(path: Path, *, has_log: bool) -> str:
    log = log_of(path).name
    if has_log:
        return (
            f"{path} and its log {log} don't belong together: one of them was restored, copied or moved without the "
            f"other. If {path.name} is the file that you want (a backup, for example), move {log} away and open it "
            "again. Otherwise restore both from the same backup."
        )
    return (
        f"{path} was in use when it was copied or moved, and its log {log} is missing, so its last writes are missing "
        f"too. Put {log} back beside it, or restore a backup. If there is neither, `keyplan restore {path.name} "
        "--without-log` checks the file and gives those writes up."
    )


def _parse(page: bytes) -> Binding | None:
    """Read the row of `meta` from its page. SQLite can't be asked: it reads the main file only through the log."""
    if len(page) < PAGE_SIZE:
        return None
    mark, frame, base, state, copied = _ROW.unpack_from(page, _ROW_AT)
    if state not in (OPEN, COMPLETE, CLOSED) or (frame[0], copied[0]) != (1, 1):
        return None
    return Binding(mark, int.from_bytes(frame, "big") - NONE, base, state, int.from_bytes(copied, "big") - NONE)


@contextmanager
def is_alone(path: Path) -> Iterator[bool]:
    """Whether nobody has the file open. If so, nobody can open it until the end of the block."""
    file = apsw.VFSFile("", str(path), [apsw.SQLITE_OPEN_MAIN_DB | apsw.SQLITE_OPEN_READWRITE, 0])
    try:
        try:
            file.xLock(apsw.SQLITE_LOCK_SHARED)
            file.xLock(apsw.SQLITE_LOCK_EXCLUSIVE)
            alone = True
        except apsw.BusyError:
            alone = False
        yield alone
    finally:
        file.xUnlock(apsw.SQLITE_LOCK_NONE)
        file.xClose()


def remove_finished_log(path: Path) -> bool:
    """Delete the log if the main file has all of it and nobody has the file open.

    Returns whether nobody has it open.
    """
    if not path.exists():
        return False
    with is_alone(path) as alone:
        if alone and _is_finished(path):
            for suffix in ("-wal", "-shm"):
                with suppress(OSError):  # it does no harm
                    path.with_name(path.name + suffix).unlink(missing_ok=True)
        return alone


def _is_finished(path: Path) -> bool:
    binding = main_binding(path)
    if binding is None or binding.state != CLOSED:
        return False
    log = log_of(path)
    if not _exists(log):
        return True
    return is_last_frame(log, binding.frame) and holds(path, binding, binding.frame)
