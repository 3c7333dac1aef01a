"""The files of a small database, for tests that damage them."""

from pathlib import Path

import pytest

from keyplan.engine.database import Database
from keyplan.engine.errors import DamagedFile
from keyplan.engine.storage.damage import PAGE_SIZE
from tests.engine.durability.support import definition, everything, put

COLOURS = ["red", "green"]
LOG_HEADER = 32
FRAME_HEADER = 24
STEP = FRAME_HEADER + PAGE_SIZE

# Items of all sizes: of which many share a page, that fill several, and whose keys do not fit into a page of an index.
ITEMS: list[tuple[str, int, int]] = [
    *((f"short-{number}", number, 300) for number in range(30)),
    *((f"long-{number}", number, 25_000) for number in range(3)),
    *(("k" * 2000 + f"-{number}", number, 10) for number in range(3)),
]
KEYS = [(pk, sk) for pk, sk, _ in ITEMS]


class Image:
    """The files of a database as a crash would leave them."""

    def __init__(self, folder: Path, main: bytes, log: bytes, right: list[bytes]) -> None:
        self.path = folder / "image.db"
        self.log_path = folder / "image.db-wal"
        self.main = main
        self.log = log
        self.right = right

    def write(self, main: bytes | None = None, log: bytes | None = None) -> tuple[bytes, bytes]:
        for suffix in ("", "-wal", "-shm"):
            self.path.with_name(self.path.name + suffix).unlink(missing_ok=True)
        files = self.main if main is None else main, self.log if log is None else log
        self.path.write_bytes(files[0])
        if files[1]:
            self.log_path.write_bytes(files[1])
        return files

    def look(self, main: bytes | None = None, log: bytes | None = None, *, write_first: bool = False) -> str:
        """The result of opening damaged files: `right`, `refused` or `wrong`."""
        files = self.write(main, log)
        try:
            database = Database(str(self.path))
        except DamagedFile:
            assert self.read() == files, "a refused file was changed"
            return "refused"
        try:
            if write_first:
                put(database, "new", 1, colour="blue", body="b" * 20_000)
                put(database, KEYS[0][0], KEYS[0][1], colour="green", weight=2, body="changed")
            found = everything(database, KEYS, COLOURS)
        except DamagedFile:
            with pytest.raises(DamagedFile):
                database.execute("ListTables", {})
            with pytest.raises(DamagedFile):
                put(database, "more", 1)
            if not write_first:
                database.close()
                assert self.read() == files, "a refused file was changed"
            return "refused"
        finally:
            database.close()
        if write_first:
            return "right"  # other tests, which write nothing, compare the content
        return "right" if found == self.right else "wrong"

    def read(self) -> tuple[bytes, bytes]:
        return self.path.read_bytes(), self.log_path.read_bytes() if self.log_path.exists() else b""


def build(path: Path, items: list[tuple[str, int, int]]) -> Database:
    database = Database(str(path))
    database.execute("CreateTable", definition())
    for pk, sk, size in items:
        put(database, pk, sk, colour=COLOURS[sk % 2], weight=sk, body="x" * size)
    return database


def crash(folder: Path, items: list[tuple[str, int, int]]) -> Image:
    database = build(folder / "made.db", items)
    files = [(folder / name).read_bytes() for name in ("made.db", "made.db-wal")]
    right = everything(database, KEYS, COLOURS)
    database.close()
    return Image(folder, files[0], files[1], right)


def pages(data: bytes) -> range:
    return range(0, len(data), PAGE_SIZE)


def changed(data: bytes, at: int, new: bytes) -> bytes:
    return data[:at] + new + data[at + len(new) :]


def flipped(data: bytes, at: int, bit: int) -> bytes:
    return changed(data, at, bytes([data[at] ^ 1 << bit]))
