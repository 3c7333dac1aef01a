"""A file that is deleted, moved or replaced under a running database is noticed at once, and so is its log."""

import os
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from botocore.exceptions import ClientError

from keyplan.engine import DamagedFile, Engine
from keyplan.engine.background import maintenance
from keyplan.engine.storage import file_watch
from keyplan.engine.storage.damage import log_of
from keyplan.engine.storage.file_watch import LOG_MISSING, MISSING, REPLACED
from tests.engine.durability.support import TABLE, definition, server
from tests.engine.durability.wire import Refused, Wire

KEY = {"pk": {"S": "a"}, "sk": {"N": "1"}}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "data.db"


@pytest.fixture
def engine(path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    monkeypatch.setattr(file_watch, "CHECK_SECONDS", 0.0)
    path.parent.mkdir()
    with Engine(str(path)) as made:
        made.create_table(**definition())  # type: ignore[arg-type]
        made.put_item(TableName=TABLE, Item=KEY)
        yield made


def refused(engine: Engine, message: str, *, reads: bool) -> None:
    for _ in range(2):
        with pytest.raises(engine.exceptions.InternalServerError) as caught:
            engine.put_item(TableName=TABLE, Item=KEY)
        assert caught.value.response["Error"]["Message"] == message
        if reads:
            with pytest.raises(ClientError, match="nothing is read or written any more"):
                engine.get_item(TableName=TABLE, Key=KEY)
        else:
            assert engine.get_item(TableName=TABLE, Key=KEY)["Item"] == KEY


def test_deleted(engine: Engine, path: Path) -> None:
    path.unlink()
    refused(engine, MISSING, reads=False)
    engine.close()
    assert not path.exists()


def test_moved(engine: Engine, path: Path, tmp_path: Path) -> None:
    """With its log it is the same database elsewhere, and has all that was acknowledged."""
    new = tmp_path / "moved"
    path.parent.rename(new)
    refused(engine, MISSING, reads=False)
    engine.close()
    assert not path.exists()
    with Engine(str(new / path.name)) as moved:
        assert moved.scan(TableName=TABLE)["Count"] == 1


def test_replaced(engine: Engine, path: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.db"
    Engine(str(other)).close()
    content = other.read_bytes()
    other.replace(path)
    refused(engine, REPLACED, reads=True)
    engine.close()
    assert path.read_bytes() == content  # and the log that is left doesn't belong to it
    if log_of(path).exists():
        log_of(path).unlink()
    with Engine(str(path)) as new:
        assert new.list_tables()["TableNames"] == []


def test_deleted_and_made_again(engine: Engine, path: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.db"
    Engine(str(other)).close()
    path.unlink()
    refused(engine, MISSING, reads=False)
    shutil.copy(other, path)
    refused(engine, REPLACED, reads=True)


def test_a_write_is_not_acknowledged_although_the_file_was_there_a_moment_ago(
    engine: Engine, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_watch, "CHECK_SECONDS", 60.0)
    engine.put_item(TableName=TABLE, Item=KEY)
    path.unlink()
    assert engine.get_item(TableName=TABLE, Key=KEY)["Item"] == KEY
    refused(engine, MISSING, reads=False)


def test_reads_beside_a_writer_when_the_file_is_missing(engine: Engine, path: Path) -> None:
    """No further connection can be opened, so reads share the only one."""
    path.unlink()
    ended = threading.Event()

    def write() -> None:
        while not ended.is_set():
            with pytest.raises(engine.exceptions.InternalServerError):
                engine.put_item(TableName=TABLE, Item=KEY)

    writers = [threading.Thread(target=write) for _ in range(3)]
    for writer in writers:
        writer.start()
    try:
        for _ in range(300):
            assert engine.get_item(TableName=TABLE, Key=KEY)["Item"] == KEY
    finally:
        ended.set()
        for writer in writers:
            writer.join()


def overwritten(path: Path) -> None:
    other = path.with_name("other.db")
    Engine(str(other)).close()
    shutil.copyfile(other, path)


def emptied(path: Path) -> None:
    os.truncate(path, 0)


@pytest.mark.parametrize("happens", [overwritten, emptied])
def test_written_over_in_its_place(engine: Engine, path: Path, happens: Callable[[Path], None]) -> None:
    """The other file isn't changed: it may be the only copy of a backup."""
    happens(path)
    content = path.read_bytes()
    for _ in range(2):
        with pytest.raises(DamagedFile, match="don't belong together"):
            engine.put_item(TableName=TABLE, Item=KEY)
        with pytest.raises(DamagedFile, match="don't belong together"):
            engine.get_item(TableName=TABLE, Key=KEY)
    engine.close()
    assert path.read_bytes() == content


def test_a_file_that_was_only_touched_is_used_on(engine: Engine, path: Path) -> None:
    for when in range(3):
        os.utime(path, (when, when))
        engine.put_item(TableName=TABLE, Item=KEY)
    assert engine.get_item(TableName=TABLE, Key=KEY)["Item"] == KEY


def shortened(log: Path) -> None:
    os.truncate(log, 0)


def shortened_while_somebody_writes(log: Path) -> None:
    size = log.stat().st_size
    os.truncate(log, 0)
    os.truncate(log, size + 1)


@pytest.mark.parametrize("happens", [Path.unlink, shortened, shortened_while_somebody_writes])
def test_the_log_goes_away(engine: Engine, path: Path, happens: Callable[[Path], None]) -> None:
    happens(log_of(path))
    with pytest.raises(engine.exceptions.InternalServerError) as caught:
        engine.put_item(TableName=TABLE, Item=KEY)
    assert caught.value.response["Error"]["Message"] == LOG_MISSING


def test_threads_that_look_at_once_see_no_shorter_log(
    engine: Engine, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One of them finds a longer log while another one still holds what it found before."""
    watch = engine.database._storage._watch
    assert watch is not None
    find = file_watch._found_at
    longer = iter(range(1, 4))

    def find_slowly(text: str) -> os.stat_result | None:
        found = find(text)
        if text == str(log_of(path)) and next(longer, None):
            with log_of(path).open("ab") as log:
                log.write(bytes(1000))
            watch.look()
        return found

    monkeypatch.setattr(file_watch, "_found_at", find_slowly)
    watch.look()
    assert next(longer, None) is None
    assert not watch.lost


def test_the_log_is_moved_and_moved_back(engine: Engine, path: Path, tmp_path: Path) -> None:
    log_of(path).rename(tmp_path / "log")
    refused(engine, LOG_MISSING, reads=False)
    (tmp_path / "log").rename(log_of(path))
    refused(engine, LOG_MISSING, reads=False)
    engine.close()
    with Engine(str(path)) as again:
        assert again.scan(TableName=TABLE)["Count"] == 1


def test_maintenance_reports_it_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(maintenance, "RETRY_SECONDS", 0.01)
    path = tmp_path / "data.db"
    with Engine(str(path), ttl_interval=0.01) as engine:
        engine.create_table(**definition())  # type: ignore[arg-type]
        path.rename(tmp_path / "moved.db")
        until = time.monotonic() + 20
        while not any(message.startswith("Maintenance") for message in caplog.messages) and time.monotonic() < until:
            time.sleep(0.01)
        time.sleep(0.1)
    reports = [message for message in caplog.messages if message.startswith("Maintenance")]
    assert reports == [f"Maintenance waits until the file can be written again: {MISSING}"]


def test_under_a_server(tmp_path: Path) -> None:
    """No write is acknowledged after the file has gone, and the server says so once, and ends as usual."""
    path = tmp_path / "data.db"
    with server(path) as running, Wire(running.port) as wire:
        wire.call("CreateTable", **definition())
        time.sleep(file_watch.CHECK_SECONDS)
        wire.call("PutItem", TableName=TABLE, Item=KEY)
        path.rename(tmp_path / "moved.db")
        for _ in range(3):
            with pytest.raises(Refused) as caught:
                wire.call("PutItem", TableName=TABLE, Item=KEY)
            assert caught.value.message == MISSING
            assert wire.call("GetItem", TableName=TABLE, Key=KEY)["Item"] == KEY
        running.process.terminate()
        assert running.process.stderr is not None
        assert running.process.stderr.read() == f"{path}: {MISSING}\n"
        assert running.process.wait(20) == 0
