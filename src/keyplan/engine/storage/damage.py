"""Noticing damage that SQLite would not notice, or would repair in a way that loses data.

The pages of the main file carry checksums (SQLite's checksum VFS), but the header says whether they are there, so it
is looked at before SQLite sees the file. That also keeps SQLite's hands off files that are not ours.

The log has checksums of its own, yet SQLite takes it up to the first frame whose checksum is wrong and drops the rest
without a word: right after a crash, where a half-written frame is the last thing that was written, and a silent loss
of committed work where a bit has rotted in the middle. The two differ in what follows. Behind the end of a crashed
log there may be frames of transactions that never ended, but no commit of the same generation (salt); behind a rotten
frame there is one. So what SQLite left out is read once more before anything is answered or written.
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
"""A write of an item copies a page of every index into the log: larger ones take more of the disk, and of the memory
that reads at random need. `LONG_KEY` in transaction.py depends on it."""
CHECKSUM_BYTES = 8

_MAGIC = b"SQLite format 3\x00"
_FILE_HEADER = struct.Struct(">16sH2xB47xI28x")
_LOG_HEADER = struct.Struct(">8I")
_FRAME = struct.Struct(">6I")
_LOG_MAGIC = 0x377F0682
_TRIES = 3

Sums: TypeAlias = tuple[int, int]


def log_of(path: Path) -> Path:
    return path.with_name(path.name + "-wal")


def is_damage(error: BaseException) -> bool:
    """Whether an exception says that what is stored can not be trusted."""
    if isinstance(error, DamagedFile | apsw.CorruptError | apsw.NotADBError):
        return True
    # A wrong checksum of a page; or JSON of ours that is none any more.
    return getattr(error, "extendedresult", None) == apsw.SQLITE_IOERR_DATA or isinstance(error, orjson.JSONDecodeError)


def check_header(path: Path) -> bool:
    """Refuse a file that is not ours, or whose header is damaged, before SQLite touches it or its log.

    Whether there is a file at all; an empty one is none.
    """
    header = _beginning(path)
    if not header:
        log = log_of(path)
        if log.exists() and log.stat().st_size:
            # SQLite would delete the log.
            raise DamagedFile(
                f"{path} is {'empty' if path.exists() else 'missing'}, but there is a log of it, {log.name}. Restore "
                f"{path.name} and {log.name} from a backup; or remove {log.name} too, to begin with an empty database."
            )
        return False
    ours = (_MAGIC, PAGE_SIZE, CHECKSUM_BYTES, APPLICATION_ID)
    if len(header) == _FILE_HEADER.size and _FILE_HEADER.unpack(header) == ours:
        return True
    raise DamagedFile(
        f"{path} is not a Keyplan database, or its header is damaged. Give the path of a database or of a new file; "
        "a damaged one is to be restored from a backup."
    )


def check_end(path: Path, accepted_frames: int) -> None:
    """Refuse a main file that ends within a page, of which SQLite would take the rest to be zeros.

    A process that is killed while it copies the log into the file can leave half a page; then the log still has it.
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


def _beginning(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(_FILE_HEADER.size)
    except FileNotFoundError:
        return b""


def check_log(path: Path, accepted_frames: Callable[[], int]) -> None:
    """Refuse a database whose log has commits of the current generation behind a damaged frame.

    `accepted_frames` tells how many frames SQLite took. Another process may be writing the log at this moment, so a
    finding counts only when it stays.
    """
    log_path = log_of(path)
    for attempt in range(_TRIES):
        finding = _damage(log_path, max(accepted_frames(), 0))
        if finding is None:
            return
        if attempt < _TRIES - 1:
            time.sleep(0.005)
    raise DamagedFile(f"{log_path} is damaged, and committed writes would be lost by using it: {finding}.")


def _damage(log_path: Path, accepted: int) -> str | None:
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
            return "its header is not readable; restore it and the main file from a backup"
        step = _FRAME.size + page_size
        last = _frame(log, accepted, step) if accepted else None
        running = (last[4], last[5]) if last else (sum1, sum2)
        bad = _bad_frame(log, accepted, step, (salt1, salt2), running, magic & 1)
    if bad is None:
        return None
    return (
        f"frame {bad} is not sound, and there are commits behind it. Restore it and the main file from a backup. Only "
        "if this machine has lost its power, which durability normal does not survive without losing the last writes, "
        f"give these up: cut {log_path.name} to {_LOG_HEADER.size + (bad - 1) * step} bytes"
    )


def _frame(log: BinaryIO, number: int, step: int) -> tuple[int, int, int, int, int, int] | None:
    """The header of a frame (counted from 1), with the file left behind it; None at the end of the log."""
    log.seek(_LOG_HEADER.size + (number - 1) * step)
    header = log.read(_FRAME.size)
    if len(header) < _FRAME.size:
        return None
    page, commit, salt1, salt2, sum1, sum2 = _FRAME.unpack(header)
    return page, commit, salt1, salt2, sum1, sum2


def _bad_frame(log: BinaryIO, accepted: int, step: int, salts: Sums, running: Sums, big_endian: int) -> int | None:
    """The first frame behind the accepted ones that is not sound, if a commit of this generation follows it.

    A commit counts that is sound itself, for a crash may have cut that one off. Its checksum goes on from the one of
    the frame before it: the one that is written there, or, should just that have rotted, the one that should be.
    """
    bad: int | None = None
    number = accepted
    before = [running]
    while frame := _frame(log, number := number + 1, step):
        if frame[2:4] != salts:
            bad = bad or number
            before = []  # frames of one generation have no gaps: whatever follows in this one was written whole
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
    """SQLite's checksum over pairs of 32-bit words, in the byte order that the log's magic names."""
    words = array("I", data[: len(data) // 8 * 8])
    if bool(big_endian) != (sys.byteorder == "big"):
        words.byteswap()
    first, second = running
    for even, odd in zip(words[::2], words[1::2], strict=True):
        first = (first + even + second) & 0xFFFFFFFF
        second = (second + odd + first) & 0xFFFFFFFF
    return first, second
