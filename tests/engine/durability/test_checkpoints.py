"""The log is copied into the main file in a quiet moment or, if there is none, while a writer continues."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from keyplan.engine import Engine
from keyplan.engine.storage import wal_checkpoints
from keyplan.engine.storage.damage import log_of
from keyplan.engine.storage.log_binding import COMPLETE, OPEN, read_binding
from tests.engine.durability.support import TABLE, definition

PAGES = 50


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(wal_checkpoints, "CHECKPOINT_PAGES", PAGES)
    return tmp_path / "data.db"


@pytest.fixture
def engine(path: Path) -> Iterator[Engine]:
    with Engine(str(path)) as made:
        made.create_table(**definition())  # type: ignore[arg-type]
        yield made


def put(engine: Engine, first: int, count: int, size: int = 3000) -> None:
    for number in range(first, first + count):
        key = {"pk": {"S": f"item-{number}"}, "sk": {"N": "1"}}
        engine.put_item(TableName=TABLE, Item={**key, "text": {"S": "x" * size}})


def wait_for_checkpoint(engine: Engine, size: int, path: Path) -> None:
    """Wait until the main file has this size and the checkpoint is complete, which takes as long as the disk does."""
    checkpoints = engine.database._storage._checkpoints
    assert checkpoints is not None
    until = time.monotonic() + 20
    while path.stat().st_size < size or checkpoints._wanted.is_set():
        assert time.monotonic() < until, f"{path.stat().st_size} bytes of {size}"
        time.sleep(0.01)


def test_in_a_quiet_moment(engine: Engine, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wal_checkpoints, "QUIET_SECONDS", 0.5)  # longer than a busy machine takes for one item
    monkeypatch.setattr(wal_checkpoints, "MAXIMUM_FACTOR", 1000)  # only a quiet moment counts
    put(engine, 0, 40)
    wait_for_checkpoint(engine, 40 * 3000, path)
    before = log_of(path).stat().st_size
    beside = engine.database._storage.connect()
    assert read_binding(beside).state == COMPLETE
    put(engine, 40, 10)  # everything was copied, so the log starts over
    assert log_of(path).stat().st_size == before
    assert read_binding(beside).state == OPEN  # a writer notices it although nobody else has changed a table
    beside.close()


def test_the_last_mark_cannot_be_written(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a full disk. Nothing tells where a new log begins then, so the log must go on."""
    monkeypatch.setattr(wal_checkpoints, "LAST_MARK", "SELECT no_column, ?, ?")
    with Engine(str(path)) as engine:
        engine.create_table(**definition())  # type: ignore[arg-type]
        for number in range(0, 120, 40):
            put(engine, number, 40)
            wait_for_checkpoint(engine, (number + 40) * 3000, path)
    assert log_of(path).exists()
    for _ in range(2):
        with Engine(str(path)) as engine:
            assert engine.scan(TableName=TABLE, Select="COUNT")["Count"] == 120
        monkeypatch.undo()
    assert not log_of(path).exists()


def test_beside_a_writer_that_never_rests(engine: Engine, path: Path) -> None:
    count, until = 0, time.monotonic() + 20
    while path.stat().st_size < 300 * 3000:
        assert time.monotonic() < until
        put(engine, count, 20)
        count += 20


def test_closing_does_not_wait_for_a_quiet_moment(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wal_checkpoints, "QUIET_SECONDS", 600)
    with Engine(str(path)) as engine:
        engine.create_table(**definition())  # type: ignore[arg-type]
        put(engine, 0, 40)
    assert not log_of(path).exists()
    with Engine(str(path)) as engine:
        assert engine.scan(TableName=TABLE, Select="COUNT")["Count"] == 40


def test_a_held_read_cannot_fill_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The log has a limit, at which writes are refused until the read has ended."""
    path = tmp_path / "data.db"
    monkeypatch.setenv("KEYPLAN_LOG_LIMIT_MIB", "64")
    monkeypatch.setattr(wal_checkpoints, "ROOM_SECONDS", 0.2)
    with Engine(str(path)) as engine:
        engine.create_table(**definition())  # type: ignore[arg-type]
        reader = engine.database._storage.connect()
        reader.execute("BEGIN")
        reader.execute("SELECT 1 FROM meta").fetchall()
        with pytest.raises(engine.exceptions.InternalServerError) as refused:
            put(engine, 0, 1000, 200_000)
        assert refused.value.response["Error"]["Message"] == (
            "The log of the database has grown to its limit of 64 MiB, because a long read keeps it from starting "
            "over, so nothing is written. End what reads (a backup, an export or another program), or raise the limit "
            "with KEYPLAN_LOG_LIMIT_MIB."
        )
        assert (
            f"The log of {path} has 48 MiB, because a long read keeps it from starting over. At 64 MiB" in caplog.text
        )
        time.sleep(0.3)  # an attempt to copy the log may have begun before
        size = log_of(path).stat().st_size
        assert size < 66 * 2**20
        for _ in range(100):  # neither attempts to write nor those to copy the log make it longer
            with pytest.raises(engine.exceptions.InternalServerError):
                put(engine, 0, 1)
            time.sleep(0.002)
        assert log_of(path).stat().st_size == size
        assert engine.scan(TableName=TABLE, Select="COUNT", Limit=5)["Count"] == 5
        reader.close()
        until = time.monotonic() + 20
        while True:
            try:
                put(engine, 1000, 1)
                break
            except engine.exceptions.InternalServerError:
                assert time.monotonic() < until
                time.sleep(0.05)
        # Without such a read, nothing is refused.
        monkeypatch.setattr(wal_checkpoints, "ROOM_SECONDS", 30.0)
        put(engine, 0, 400, 200_000)
        assert log_of(path).stat().st_size < 66 * 2**20
