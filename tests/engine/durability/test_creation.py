"""A new file appears complete or not at all, even if several processes create it at the same time."""

import os
from pathlib import Path

import pytest

from keyplan.engine import Engine
from keyplan.engine.storage import file_creation
from tests.engine.durability.support import TABLE, definition


@pytest.fixture(params=["missing", "empty"])
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    made = tmp_path / "data.db"
    if request.param == "empty":
        made.touch()
    return made


def test_new_database(path: Path) -> None:
    with Engine(str(path)) as engine:
        assert engine.list_tables()["TableNames"] == []
        engine.create_table(**definition())  # type: ignore[arg-type]
    with Engine(str(path)) as engine:
        assert engine.list_tables()["TableNames"] == [TABLE]
    assert [file.name for file in path.parent.iterdir()] == ["data.db"]


def test_another_process_is_faster(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it has written already is kept."""
    put_in_place = file_creation._put_in_place
    others: list[Engine] = []

    def be_late(new: Path, wanted: Path) -> None:
        monkeypatch.setattr(file_creation, "_put_in_place", put_in_place)
        others.append(Engine(str(wanted)))
        others[0].create_table(**definition())  # type: ignore[arg-type]
        put_in_place(new, wanted)

    monkeypatch.setattr(file_creation, "_put_in_place", be_late)
    with Engine(str(path)) as engine:
        assert engine.list_tables()["TableNames"] == [TABLE]
        engine.put_item(TableName=TABLE, Item={"pk": {"S": "a"}, "sk": {"N": "1"}})
        assert others[0].scan(TableName=TABLE)["Count"] == 1
        others[0].close()
    assert [file.name for file in path.parent.iterdir()] == ["data.db"]


def test_interrupted(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = [(file.name, file.read_bytes()) for file in path.parent.iterdir()]

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    for name in ("link", "fsync"):
        with monkeypatch.context() as patch:
            patch.setattr(os, name, interrupt)
            with pytest.raises(KeyboardInterrupt):
                Engine(str(path))
        assert [(file.name, file.read_bytes()) for file in path.parent.iterdir()] == before


def test_link_to_a_file_that_is_not_there_yet(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "link.db").symlink_to(tmp_path / "folder" / "data.db")
    for _ in range(2):
        with Engine(str(tmp_path / "link.db")) as engine:
            assert engine.list_tables()["TableNames"] == []
    assert (tmp_path / "link.db").is_symlink()
    assert [file.name for file in (tmp_path / "folder").iterdir()] == ["data.db"]


def test_file_system_without_links(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "link", refuse)
    with Engine(str(path)) as engine:
        assert engine.list_tables()["TableNames"] == []


def test_only_the_owner_can_read_the_files(path: Path) -> None:
    mask = os.umask(0)
    try:
        with Engine(str(path)) as engine:
            engine.create_table(**definition())  # type: ignore[arg-type]
            modes = {file.name: file.stat().st_mode & 0o777 for file in path.parent.iterdir()}
    finally:
        os.umask(mask)
    assert modes == dict.fromkeys(("data.db", "data.db-wal", "data.db-shm"), 0o600)


def test_files_that_others_can_read_are_named_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "data.db"
    Engine(str(path)).close()
    path.chmod(0o644)
    with caplog.at_level("WARNING", "keyplan.engine"):
        for _ in range(2):
            Engine(str(path)).close()
    (message,) = caplog.messages
    assert message == (
        f"Other users of this machine can use {path} (mode 0644), and what it holds is for its owner only: run "
        f"`chmod 600 {path}`."
    )
