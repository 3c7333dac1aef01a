"""A damaged log is refused, where SQLite would drop what follows the damage; the traces of a crash aren't damage.

One thing can't be detected: damage to the last frame, which looks like a write that was cut off by a crash. Then the
database is as it was before that transaction. Nor can it be detected that a log was cut off between two transactions.
"""

import os
import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import boto3
import pytest

from keyplan.engine import Engine
from keyplan.engine.database import Database
from keyplan.engine.errors import DamagedFile
from keyplan.engine.storage.damage import PAGE_SIZE
from tests.engine.durability.image import (
    COLOURS,
    FRAME_HEADER,
    ITEMS,
    KEYS,
    LOG_HEADER,
    STEP,
    Image,
    build,
    changed,
    crash,
    flipped,
    pages,
)
from tests.engine.durability.support import COMMAND, TABLE, Server, definition, everything, put


@pytest.fixture(scope="module")
def crashed(tmp_path_factory: pytest.TempPathFactory) -> Image:
    """Everything is in the log."""
    return crash(tmp_path_factory.mktemp("crashed"), ITEMS[:4])


def test_every_bit_of_the_header_with_a_log(crashed: Image) -> None:
    results = {crashed.look(flipped(crashed.main, at, bit)) for at in range(100) for bit in [at % 8]}
    assert results <= {"refused", "right"}


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
    with pytest.raises(DamagedFile, match=r"image\.db is missing, but its log image\.db-wal exists"):
        Database(str(crashed.path))
    assert not crashed.path.exists()
    assert crashed.log_path.read_bytes() == files[1]


def test_every_frame_of_the_log(crashed: Image, tmp_path: Path) -> None:
    assert crashed.look() == "right"
    before = crash(tmp_path, ITEMS[:3]).right
    frames = range(LOG_HEADER, len(crashed.log), STEP)
    assert len(frames) > 20
    for at in frames:
        for offset in (0, 8, 16, 20, FRAME_HEADER + PAGE_SIZE // 2, STEP - 1):
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


def test_a_log_with_a_hole_can_be_cut_where_the_message_says(crashed: Image) -> None:
    """A hole is what a loss of power may leave with durability normal: later pages were written, an earlier was not."""
    counts = []
    for at in range(LOG_HEADER, len(crashed.log) - STEP, STEP):
        crashed.write(log=changed(crashed.log, at, bytes(STEP)))
        with pytest.raises(DamagedFile) as refused:
            Database(str(crashed.path))
        advice = re.search(r"if this machine lost power.*truncate image\.db-wal to (\d+) bytes", str(refused.value))
        assert advice
        assert int(advice[1]) == at
        os.truncate(crashed.log_path, at)
        with Engine(str(crashed.path)) as engine:
            counts.append(count_everywhere(engine) if engine.list_tables()["TableNames"] else 0)
    assert counts == sorted(counts)
    assert set(counts) == {0, 1, 2, 3}


def count_everywhere(engine: Engine) -> int:
    """How many items there are, in the table as in its index."""
    items = engine.scan(TableName=TABLE)["Count"]
    assert engine.scan(TableName=TABLE, IndexName="by-colour")["Count"] == items
    return items


def test_truncated_log_gives_a_state_that_was(tmp_path: Path) -> None:
    """It can't be detected that the end is missing, but no transaction is there in part."""
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
            assert (
                len(
                    engine.query(
                        TableName=TABLE,
                        IndexName="by-colour",
                        KeyConditionExpression="colour = :c",
                        ExpressionAttributeValues={":c": {"S": "red"}},
                    )["Items"]
                )
                == count
            )


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
    assert done.returncode == 2
    assert done.stdout == ""
    assert "image.db" in done.stderr
    assert "damaged" in done.stderr
    assert "Traceback" not in done.stderr
    assert crashed.read() == written


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
