"""A file that is deleted, moved or replaced under a running database is noticed at once."""

import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from botocore.exceptions import ClientError

from keyplan.engine import Engine
from keyplan.engine.storage import file_watch
from keyplan.engine.storage.damage import log_of
from keyplan.engine.storage.file_watch import MISSING, REPLACED
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


def test_under_a_server(tmp_path: Path) -> None:
    """No write is acknowledged later than a moment after the file has gone."""
    path = tmp_path / "data.db"
    with server(path) as running, Wire(running.port) as wire:
        wire.call("CreateTable", **definition())
        wire.call("PutItem", TableName=TABLE, Item=KEY)
        path.rename(tmp_path / "moved.db")
        time.sleep(file_watch.CHECK_SECONDS)
        with pytest.raises(Refused) as caught:
            wire.call("PutItem", TableName=TABLE, Item=KEY)
        assert caught.value.message == MISSING
        assert wire.call("GetItem", TableName=TABLE, Key=KEY)["Item"] == KEY
