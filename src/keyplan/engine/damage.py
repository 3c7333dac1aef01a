"""Noticing a damaged write-ahead log.

SQLite takes a WAL up to the first frame whose checksum is wrong and drops the rest without a word: right after a
crash, where a half-written frame is the last thing in the file, and a silent loss of committed work where a bit has
rotted in the middle. The two differ in what follows: behind the end of a crashed log there is nothing of the same
generation (salt), behind a rotten frame there is. So what SQLite left out is read once more before anything is
answered or written.
"""

import struct
import sys
import time
from array import array
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from keyplan.engine.errors import DamagedFile

_HEADER = struct.Struct(">8I")
_FRAME = struct.Struct(">6I")
_MAGIC = 0x377F0682
_TRIES = 5


def check_wal(path: Path, accepted_frames: Callable[[], int]) -> None:
    """Refuse a database whose log has frames of the current generation behind a damaged one.

    `accepted_frames` tells how many frames SQLite took. Another process may be writing the log at this moment, so a
    finding counts only when it stays.
    """
    wal = path.with_name(path.name + "-wal")
    for attempt in range(_TRIES):
        finding = _damage(wal, accepted_frames())
        if finding is None:
            return
        if attempt < _TRIES - 1:
            time.sleep(0.05)
    raise DamagedFile(
        f"{wal} is damaged: {finding}. Committed writes would be lost by using it, so it is refused. "
        f"Restore {path.name} and {wal.name} from a backup; or, to go on from the last checkpoint without the writes "
        f"that are only in the log, move {wal.name} away."
    )


def _damage(wal: Path, accepted: int) -> str | None:
    try:
        log = wal.open("rb")
    except FileNotFoundError:
        return None
    with log:
        header = log.read(_HEADER.size)
        if len(header) < _HEADER.size or not log.read(1):
            return None
        magic, _, page_size, _, salt1, salt2, sum1, sum2 = _HEADER.unpack(header)
        if magic & ~1 != _MAGIC or _checksum(header[:24], (0, 0), magic & 1) != (sum1, sum2):
            return "its header is not readable"
        step = _FRAME.size + page_size
        last = _frame(log, accepted, step) if accepted else None
        running = (last[4], last[5]) if last else (sum1, sum2)
        return _bad_frame(log, accepted, step, (salt1, salt2), running, magic & 1)


def _frame(log: BinaryIO, number: int, step: int) -> tuple[int, int, int, int, int, int] | None:
    """The header of a frame (counted from 1), with the file left behind it; None at the end of the log."""
    log.seek(_HEADER.size + (number - 1) * step)
    header = log.read(_FRAME.size)
    if len(header) < _FRAME.size:
        return None
    page, commit, salt1, salt2, sum1, sum2 = _FRAME.unpack(header)
    return page, commit, salt1, salt2, sum1, sum2


def _bad_frame(
    log: BinaryIO, accepted: int, step: int, salts: tuple[int, int], running: tuple[int, int], big_endian: int
) -> str | None:
    """The first frame behind the accepted ones that is not sound, if one of this generation follows it."""
    bad: int | None = None
    number = accepted
    while frame := _frame(log, number := number + 1, step):
        current = frame[2:4] == salts
        if bad is not None:
            if current:
                return f"frame {bad} is not sound, and it is not the last of the log"
        elif current:
            running = _checksum(struct.pack(">2I", *frame[:2]), running, big_endian)
            page = log.read(step - _FRAME.size)
            if len(page) == step - _FRAME.size:
                running = _checksum(page, running, big_endian)
            if running != frame[4:6]:
                bad = number
        else:
            bad = number
    return None


def _checksum(data: bytes, running: tuple[int, int], big_endian: int) -> tuple[int, int]:
    """SQLite's checksum over pairs of 32-bit words, in the byte order that the log's magic names."""
    words = array("I", data)
    if bool(big_endian) != (sys.byteorder == "big"):
        words.byteswap()
    first, second = running
    for even, odd in zip(words[::2], words[1::2], strict=True):
        first = (first + even + second) & 0xFFFFFFFF
        second = (second + odd + first) & 0xFFFFFFFF
    return first, second
