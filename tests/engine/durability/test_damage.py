"""A damaged file is answered from rightly or not at all, and is left as it is.

One thing can not be noticed: damage to the last transaction in the log, which looks like a write that a crash has cut
off. Then the database is as it was before that transaction.
"""

import random
import shutil
import sqlite3
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError

from keyplan.engine.client import Engine
from keyplan.engine.damage import PAGE_SIZE
from keyplan.engine.database import Database
from keyplan.engine.errors import DamagedFile
from tests.engine.durability.support import COMMAND, TABLE, Server, definition, everything, put, server

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
    """The files of a database as a crash would leave them, to be damaged and looked at."""

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
        """What becomes of damaged files: `right`, `refused` or `wrong`."""
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
            return "right"  # what was written is compared by those who write nothing
        return "right" if found == self.right else "wrong"

    def read(self) -> tuple[bytes, bytes]:
        return self.path.read_bytes(), self.log_path.read_bytes() if self.log_path.exists() else b""


def build(path: Path, items: list[tuple[str, int, int]]) -> Database:
    database = Database(str(path))
    database.execute("CreateTable", definition())
    for pk, sk, size in items:
        put(database, pk, sk, colour=COLOURS[sk % 2], weight=sk, body="x" * size)
    return database


@pytest.fixture(scope="module")
def closed(tmp_path_factory: pytest.TempPathFactory) -> Image:
    """One file, and no log."""
    folder = tmp_path_factory.mktemp("closed")
    build(folder / "made.db", ITEMS).close()
    main = (folder / "made.db").read_bytes()
    assert not (folder / "made.db-wal").exists()
    with_right = Database(str(folder / "made.db"))
    right = everything(with_right, KEYS, COLOURS)
    with_right.close()
    return Image(folder, main, b"", right)


@pytest.fixture(scope="module")
def crashed(tmp_path_factory: pytest.TempPathFactory) -> Image:
    """Everything is in the log."""
    return crash(tmp_path_factory.mktemp("crashed"), ITEMS[:4])


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


def a_bit(page: bytes, chance: random.Random) -> bytes:
    return flipped(page, chance.randrange(len(page)), chance.randrange(8))


def zeros(page: bytes, chance: random.Random) -> bytes:
    return bytes(len(page))


def half_zeros(page: bytes, chance: random.Random) -> bytes:
    return page[: len(page) // 2] + bytes(len(page) // 2)


def noise(page: bytes, chance: random.Random) -> bytes:
    return chance.randbytes(len(page))


def another_byte(page: bytes, chance: random.Random) -> bytes:
    """In the first bytes of the page, where its structure is."""
    at = chance.randrange(12)
    return changed(page, at, bytes([(page[at] + chance.randrange(1, 255)) % 256]))


@pytest.mark.parametrize("write_first", [False, True])
@pytest.mark.parametrize("damage", [a_bit, another_byte, zeros, half_zeros, noise])
def test_every_page_of_the_file(
    closed: Image, damage: Callable[[bytes, random.Random], bytes], write_first: bool
) -> None:
    chance = random.Random(damage.__name__)
    found = Counter[str]()
    for at in pages(closed.main):
        page = closed.main[at : at + PAGE_SIZE]
        main = changed(closed.main, at, damage(page, chance))
        if main != closed.main:
            found[closed.look(main, write_first=write_first)] += 1
    assert not found["wrong"]
    # Only pages that hold nothing for these reads may go unnoticed: leases, tokens, what is free.
    assert found["right"] <= (6 if not write_first else len(pages(closed.main)))
    assert found["refused"] >= len(pages(closed.main)) // 2


def test_every_bit_of_the_header(closed: Image) -> None:
    results = {closed.look(flipped(closed.main, at, bit)) for at in range(100) for bit in range(8)}
    assert results == {"refused"}


def test_every_bit_of_the_header_with_a_log(crashed: Image) -> None:
    results = {crashed.look(flipped(crashed.main, at, bit)) for at in range(100) for bit in [at % 8]}
    assert results <= {"refused", "right"}


def test_truncated_file(closed: Image) -> None:
    cuts = [1, 15, 16, 99, 100, PAGE_SIZE - 1]
    cuts += [at + more for at in pages(closed.main)[1:] for more in (0, 1, PAGE_SIZE // 2, PAGE_SIZE - 1)]
    assert {closed.look(closed.main[:cut]) for cut in cuts} == {"refused"}


def test_truncated_file_with_a_log(tmp_path: Path) -> None:
    """The log says how long the file should be, and has some of its pages."""
    build(tmp_path / "made.db", ITEMS).close()
    database = Database(str(tmp_path / "made.db"))
    put(database, "short-0", 0, colour="blue", body="changed")
    files = [(tmp_path / name).read_bytes() for name in ("made.db", "made.db-wal")]
    image = Image(tmp_path, files[0], files[1], everything(database, KEYS, COLOURS))
    database.close()
    assert image.look() == "right"
    cuts = [at + more for at in pages(image.main)[1:] for more in (0, 100, PAGE_SIZE - 1)]
    results = Counter(image.look(image.main[:cut]) for cut in cuts)
    assert not results["wrong"]
    assert results["refused"] > len(cuts) * 0.9


def test_empty_or_missing_file_with_a_log(crashed: Image) -> None:
    """SQLite would delete the log."""
    assert crashed.look(b"") == "refused"
    files = crashed.write()
    crashed.path.unlink()
    with pytest.raises(DamagedFile, match=r"image\.db is missing, but there is a log of it, image\.db-wal"):
        Database(str(crashed.path))
    assert not crashed.path.exists()
    assert crashed.log_path.read_bytes() == files[1]


def test_every_frame_of_the_log(crashed: Image, tmp_path: Path) -> None:
    assert crashed.look() == "right"
    before = crash(tmp_path, ITEMS[:3]).right
    frames = range(LOG_HEADER, len(crashed.log), STEP)
    assert len(frames) > 20
    for at in frames:
        for offset in (0, 8, 16, 20, FRAME_HEADER + 5000, STEP - 1):
            damaged = flipped(crashed.log, at + offset, offset % 8)
            if at == frames[-1]:
                # Our documented exception: it might have been cut off by a crash.
                assert crashed.look(log=damaged) == "wrong"
                crashed.write(log=damaged)
                database = Database(str(crashed.path))
                assert len(everything(database, KEYS, COLOURS)) == len(before)
                assert database.execute("Scan", {"TableName": TABLE, "Select": "COUNT"})["Count"] == 3
                database.close()
            else:
                assert crashed.look(log=damaged) == "refused", (at, offset)


def test_every_bit_of_the_log_s_header(crashed: Image) -> None:
    results = {crashed.look(log=flipped(crashed.log, at, bit)) for at in range(LOG_HEADER) for bit in [at % 8]}
    assert results == {"refused"}


def test_zeros_in_the_log(crashed: Image) -> None:
    frames = range(LOG_HEADER, len(crashed.log), STEP)
    assert {crashed.look(log=changed(crashed.log, at, bytes(STEP))) for at in frames[:-1]} == {"refused"}
    assert crashed.look(log=bytes(len(crashed.log))) == "refused"


def test_truncated_log_gives_a_state_that_was(tmp_path: Path) -> None:
    """Nobody can tell that the end is missing, but nothing is half there."""
    database = Database(str(tmp_path / "made.db"))
    database.execute("CreateTable", definition())
    counts = {}
    for pk, sk, size in ITEMS[:5]:
        put(database, pk, sk, body="x" * size)
        counts[(tmp_path / "made.db-wal").stat().st_size] = sk + 1
    files = [(tmp_path / name).read_bytes() for name in ("made.db", "made.db-wal")]
    database.close()
    image = Image(tmp_path, files[0], files[1], [])
    for cut in range(min(counts), len(image.log), STEP // 2):
        image.write(log=image.log[:cut])
        with Engine(str(image.path)) as engine:
            count = max(number for length, number in counts.items() if length <= cut)
            assert engine.scan(TableName=TABLE)["Count"] == count
            assert len(engine.query(
                TableName=TABLE,
                IndexName="by-colour",
                KeyConditionExpression="colour = :c",
                ExpressionAttributeValues={":c": {"S": "red"}},
            )["Items"]) == count


def test_left_over_frames_are_no_damage(tmp_path: Path) -> None:
    """A transaction that was cut off by a crash leaves frames behind, of which a short one overwrites the first."""
    database = build(tmp_path / "made.db", ITEMS[:3])
    put(database, "cut-off", 1, body="x" * 100_000)
    files = [(tmp_path / name).read_bytes() for name in ("made.db", "made.db-wal")]
    database.close()
    image = Image(tmp_path, files[0], files[1], [])
    for missing in (1, STEP - 1, STEP, 3 * STEP):
        image.write(log=image.log[:-missing])
        second = Database(str(image.path))
        put(second, "short", 1)
        crashed_again = image.read()
        second.close()
        image.write(*crashed_again)
        third = Database(str(image.path))
        assert third.execute("Scan", {"TableName": TABLE, "Select": "COUNT"})["Count"] == 4
        third.close()


def test_damage_under_a_running_database(closed: Image) -> None:
    closed.write()
    database = Database(str(closed.path))
    with closed.path.open("r+b") as file:
        for at in pages(closed.main)[3:]:
            file.seek(at + PAGE_SIZE - 100)
            file.write(b"rotten")
    damaged = closed.read()
    with pytest.raises(DamagedFile, match="damaged"):
        database.execute("Scan", {"TableName": TABLE})
    for operation, request in (
        ("ListTables", {}),
        ("PutItem", {"TableName": TABLE, "Item": {"pk": {"S": "a"}, "sk": {"N": "1"}}}),
        ("DescribeTable", {"TableName": TABLE}),
        ("DescribeLimits", {}),
    ):
        with pytest.raises(DamagedFile):
            database.execute(operation, request)
    database.close()
    assert closed.read() == damaged


@pytest.mark.parametrize("content", [b"hello", b"x" * 100_000, bytes(PAGE_SIZE)])
def test_file_of_another_kind(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "other"
    path.write_bytes(content)
    with pytest.raises(DamagedFile, match="is not a Keyplan database"):
        Database(str(path))
    assert path.read_bytes() == content
    assert [file.name for file in tmp_path.iterdir()] == ["other"]


def test_database_of_another_program(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE theirs(x)")
    connection.commit()
    connection.close()
    before = path.read_bytes()
    with pytest.raises(DamagedFile, match="is not a Keyplan database"):
        Database(str(path))
    assert path.read_bytes() == before


def test_empty_file_is_a_new_database(tmp_path: Path) -> None:
    path = tmp_path / "new.db"
    path.touch()
    with Engine(str(path)) as engine:
        assert engine.list_tables()["TableNames"] == []


def damaged_leaf(image: Image) -> None:
    """A page of items is damaged, so that the file can be opened."""
    at = next(at for at in pages(image.main) if b"short-7" in image.main[at : at + PAGE_SIZE])
    image.write(changed(image.main, at + PAGE_SIZE - 50, b"rotten"))


def test_endpoint_refuses_with_a_clear_message(closed: Image) -> None:
    damaged_leaf(closed)
    with server(closed.path) as running:
        client = boto3.client("dynamodb", endpoint_url=running.url, config=Config(retries={"total_max_attempts": 1}))
        for _ in range(2):
            with pytest.raises(ClientError) as caught:
                client.scan(TableName=TABLE)
            assert caught.value.response["ResponseMetadata"]["HTTPStatusCode"] == 500
            assert caught.value.response["Error"]["Code"] == "InternalServerError"
            assert "image.db is damaged" in caught.value.response["Error"]["Message"]
        with pytest.raises(ClientError, match="is damaged"):
            client.list_tables()
        client.close()


def test_boto3_without_a_socket_refuses_with_a_clear_message(closed: Image) -> None:
    damaged_leaf(closed)
    with Engine(str(closed.path)) as engine:
        client = engine.boto3_client()
        with pytest.raises(ClientError, match="is damaged"):
            client.scan(TableName=TABLE)
        with pytest.raises(DamagedFile):
            engine.scan(TableName=TABLE)


@pytest.mark.parametrize("damage", ["header", "log", "other"])
def test_command_refuses_with_a_clear_message(crashed: Image, damage: str) -> None:
    files = {
        "header": (changed(crashed.main, 0, b"rotten"), None),
        "log": (None, flipped(crashed.log, LOG_HEADER + 5 * STEP + 100, 3)),
        "other": (b"hello", b""),
    }[damage]
    written = crashed.write(*files)
    done = subprocess.run(
        [*COMMAND, "--port", "0", "--path", str(crashed.path)], capture_output=True, text=True, timeout=30, check=False
    )
    assert done.returncode == 1
    assert done.stdout == ""
    assert "image.db" in done.stderr
    assert "damaged" in done.stderr
    assert "Traceback" not in done.stderr
    assert crashed.read() == written


def test_kill_while_the_file_is_made(tmp_path: Path) -> None:
    """Whatever is there of a file that was being made, it can be opened."""
    made = tmp_path / "made.db"
    connection = sqlite3.connect(made)
    connection.close()
    database = Database(str(made))
    first_page, log = made.read_bytes(), (tmp_path / "made.db-wal").read_bytes()
    database.close()
    for kept in (0, LOG_HEADER, LOG_HEADER + STEP, len(log) - 1):
        for suffix in ("", "-wal", "-shm"):
            (tmp_path / f"part.db{suffix}").unlink(missing_ok=True)
        (tmp_path / "part.db").write_bytes(first_page)
        (tmp_path / "part.db-wal").write_bytes(log[:kept])
        with Engine(str(tmp_path / "part.db")) as engine:
            assert engine.list_tables()["TableNames"] == []


def test_backup_of_a_running_database_is_refused_or_right(tmp_path: Path) -> None:
    """Both files, copied while nothing is written, are a database."""
    database = build(tmp_path / "made.db", ITEMS[:3])
    for suffix in ("", "-wal"):
        shutil.copy(tmp_path / f"made.db{suffix}", tmp_path / f"copy.db{suffix}")
    with Engine(str(tmp_path / "copy.db")) as engine:
        assert engine.scan(TableName=TABLE)["Count"] == 3
    database.close()


def test_server_opens_what_a_crash_left(crashed: Image) -> None:
    crashed.write()
    running = Server(crashed.path)
    client = boto3.client("dynamodb", endpoint_url=running.url)
    assert client.scan(TableName=TABLE)["Count"] == 4
    client.close()
    running.kill()
