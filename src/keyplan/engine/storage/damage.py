"""Detects damage that SQLite doesn't detect, or that it would repair by dropping data.

The pages of the main file carry checksums (SQLite's checksum VFS), but whether they do is written in the header. So
the header is checked before SQLite opens the file, which also keeps SQLite from touching files that aren't ours.

The write-ahead log has its own checksums, but SQLite uses it up to the first frame with a wrong checksum and silently
drops the rest. That is right after a crash, where a half-written frame is the last thing written, but loses committed
writes if a bit has rotted in the middle. The two cases differ in what follows: after the end of a crashed log there
may be frames of unfinished transactions, but no commit of the same generation (salt); after a rotten frame there is
one. So the part that SQLite left out is checked before anything is answered or written.
"""

import struct
import sys
import time
from array import array
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO, TypeAlias

import apsw
import orjson

from keyplan.engine.errors import DamagedFile

APPLICATION_ID = 0x4B504C4E
PAGE_SIZE = 4096
"""Writing an item copies a page of every index into the log, so larger pages need more disk space, and random reads
need more memory. `LONG_KEY` in transaction.py depends on it."""
CHECKSUM_BYTES = 8

_MAGIC = b"SQLite format 3\x00"
_FILE_HEADER = struct.Struct(">16sH2xB47xI28x")
_LOG_HEADER = struct.Struct(">8I")
_FRAME = struct.Struct(">6I")
_LOG_MAGIC = 0x377F0682
_TRIES = 3

Sums: TypeAlias = tuple[int, int]


def log_of(path: Path) -> Path:
    """Return the path of a database's write-ahead log."""
    return path.with_name(path.name + "-wal")


def begins_as_log(log: str) -> bool:
    """Whether a log that isn't empty still has its beginning; after it was emptied, writers leave a hole there."""
    try:
        with open(log, "rb", buffering=0) as file:
            magic = file.read(4)
    except OSError:
        return False
    return len(magic) == 4 and int.from_bytes(magic, "big") | 1 == _LOG_MAGIC | 1


def is_damage(error: BaseException) -> bool:
    """Return whether an exception means that the stored data can't be trusted."""
    if isinstance(error, DamagedFile | apsw.CorruptError | apsw.NotADBError):
        return True
    # A page with a wrong checksum, or an item that is no longer JSON.
    return getattr(error, "extendedresult", None) == apsw.SQLITE_IOERR_DATA or isinstance(error, orjson.JSONDecodeError)


def described(error: BaseException) -> str:
    """Return what an exception says about the file. For a wrong checksum, SQLite speaks of an I/O error, or of none."""
    wrong = getattr(error, "extendedresult", None) == apsw.SQLITE_IOERR_DATA
    return "the checksum of a page is wrong" if wrong else str(error)


def damaged(path: Path | None, error: BaseException) -> DamagedFile:
    """Return the refusal of a file after an exception that means damage."""
    return DamagedFile(f"{path} is damaged ({described(error)}). Restore it from a backup.")


def check_header(path: Path) -> bool:
    """Refuse a file that isn't ours, or whose header is damaged, before SQLite touches it or its log.

    Returns whether there is a file; an empty file doesn't count.
    """
    header = _read_header(path)
    if not header:
        log = log_of(path)
        if log.exists() and log.stat().st_size:
            # SQLite would delete the log.
            raise DamagedFile(
                f"{path} is {'empty' if path.exists() else 'missing'}, but its log {log.name} exists. Restore "
                f"{path.name} and {log.name} from a backup, or delete {log.name} too to start with an empty database."
            )
        return False
    ours = (_MAGIC, PAGE_SIZE, CHECKSUM_BYTES, APPLICATION_ID)
    if len(header) == _FILE_HEADER.size and _FILE_HEADER.unpack(header) == ours:
        return True
    raise DamagedFile(
        f"{path} is not a Keyplan database, or its header is damaged. Use the path of a Keyplan database or of a new "
        "file. If the file is damaged, restore it from a backup."
    )


def check_end(path: Path, accepted_frames: int) -> None:
    """Refuse a main file that ends in the middle of a page; SQLite would read the rest of it as zeros.

    A process that is killed during a checkpoint can leave half a page behind; in that case the log still has the page.
    """
    pages, rest = divmod(path.stat().st_size, PAGE_SIZE)
    if rest and pages + 1 not in _logged_pages(log_of(path), accepted_frames):
        raise DamagedFile(f"{path} is damaged: it ends in the middle of a page. Restore it from a backup.")


def _logged_pages(log_path: Path, accepted_frames: int) -> set[int]:
    if accepted_frames <= 0:
        return set()
    with log_path.open("rb") as log:
        step = _FRAME.size + PAGE_SIZE
        frames = (_frame(log, number, step) for number in range(1, accepted_frames + 1))
        return {frame[0] for frame in frames if frame}


def _read_header(path: Path) -> bytes:
    return read_main(path, _FILE_HEADER.size, 0) if path.exists() else b""


def read_main(path: Path, size: int, offset: int) -> bytes:
    """Read from the main file.

    SQLite has to do it, because closing the file outside of SQLite would release this process's locks on it, and then
    another process that closes the file would delete a log that is still in use.
    """
    file = apsw.VFSFile("", str(path), [apsw.SQLITE_OPEN_MAIN_DB | apsw.SQLITE_OPEN_READONLY, 0])
    try:
        return file.xRead(size, offset)
    finally:
        file.xClose()


def frame_page(log_path: Path, number: int) -> tuple[int, bytes]:
    """Return the number and the content of the page in a frame of the log, counted from 1."""
    with log_path.open("rb") as log:
        frame = _frame(log, number, _FRAME.size + PAGE_SIZE)
        return (frame[0], log.read(PAGE_SIZE)) if frame else (0, b"")


def is_last_frame(log_path: Path, number: int) -> bool:
    """Return whether the log has no further frame of the current generation."""
    with log_path.open("rb") as log:
        header = log.read(_LOG_HEADER.size)
        if len(header) < _LOG_HEADER.size:
            return False
        following = _frame(log, number + 1, _FRAME.size + PAGE_SIZE)
        return following is None or following[2:4] != _LOG_HEADER.unpack(header)[4:6]


def check_log(path: Path, accepted_frames: Callable[[], int]) -> None:
    """Refuse a database whose log has commits of the current generation after a damaged frame.

    `accepted_frames` returns how many frames SQLite uses. Another process may be writing the log at the same time, so
    damage counts only if it is still there after a moment.
    """
    log_path = log_of(path)
    for attempt in range(_TRIES):
        finding = _log_damage(log_path, max(accepted_frames(), 0))
        if finding is None:
            return
        if attempt < _TRIES - 1:
            time.sleep(0.005)
    raise DamagedFile(f"{log_path} is damaged, and using it would lose committed writes: {finding}.")


def _log_damage(log_path: Path, accepted: int) -> str | None:
    try:
        log = log_path.open("rb")
    except FileNotFoundError:
        return None
    with log:
        header = log.read(_LOG_HEADER.size)
        if len(header) < _LOG_HEADER.size or not log.read(1):
            return None
        magic, _, page_size, _, salt1, salt2, sum1, sum2 = _LOG_HEADER.unpack(header)
        if magic & ~1 != _LOG_MAGIC or _checksum(header[:24], (0, 0), magic & 1) != (sum1, sum2):
            return "its header can't be read; restore it and the main file from a backup"
        step = _FRAME.size + page_size
        last = _frame(log, accepted, step) if accepted else None
        running = (last[4], last[5]) if last else (sum1, sum2)
        bad = _bad_frame(log, accepted, step, (salt1, salt2), running, magic & 1)
    if bad is None:
        return None
    return (
        f"frame {bad} is damaged, and there are commits after it. Restore it and the main file from a backup. Only "
        "if this machine lost power, which can lose the last writes with durability normal, you can give those writes "
        f"up instead: truncate {log_path.name} to {_LOG_HEADER.size + (bad - 1) * step} bytes"
    )


def _frame(log: BinaryIO, number: int, step: int) -> tuple[int, int, int, int, int, int] | None:
    """Return the header of a frame (counted from 1) and leave the file positioned after it; None at the end."""
    log.seek(_LOG_HEADER.size + (number - 1) * step)
    header = log.read(_FRAME.size)
    if len(header) < _FRAME.size:
        return None
    page, commit, salt1, salt2, sum1, sum2 = _FRAME.unpack(header)
    return page, commit, salt1, salt2, sum1, sum2


def _bad_frame(log: BinaryIO, accepted: int, step: int, salts: Sums, running: Sums, big_endian: int) -> int | None:
    """Return the first damaged frame after the accepted ones, if a commit of this generation follows it.

    Only an undamaged commit counts, because a crash may have cut off the last one. Its checksum continues the one of
    the frame before it: the checksum written there or, if exactly that is damaged, the one that should be there.
    """
    bad: int | None = None
    number = accepted
    before = [running]
    while frame := _frame(log, number := number + 1, step):
        if frame[2:4] != salts:
            bad = bad or number
            before = []  # frames of one generation have no gaps, so what follows in this one was written completely
            continue
        if bad is None or frame[1]:
            content = struct.pack(">2I", *frame[:2]) + log.read(step - _FRAME.size)
            sums = [_checksum(content, start, big_endian) for start in before]
        else:
            sums = []
        if bad is not None and frame[1] and (not before or frame[4:6] in sums):
            return bad
        if bad is None and frame[4:6] not in sums:
            bad = number
            before = [frame[4:6], *sums]
        else:
            before = [frame[4:6]]
    return None


def _checksum(data: bytes, running: Sums, big_endian: int) -> Sums:
    """SQLite's checksum over pairs of 32-bit words, in the byte order given by the log's magic number."""
    words = array("I", data[: len(data) // 8 * 8])
    if bool(big_endian) != (sys.byteorder == "big"):
        words.byteswap()
    first, second = running
    for even, odd in zip(words[::2], words[1::2], strict=True):
        first = (first + even + second) & 0xFFFFFFFF
        second = (second + odd + first) & 0xFFFFFFFF
    return first, second
