"""Files of every format: an older one is upgraded when it is opened, a newer one is refused."""

import logging
import os
import signal
import subprocess
import sys
from contextlib import closing
from functools import partial
from pathlib import Path

import apsw
import pytest

from keyplan.engine import Engine
from keyplan.engine.errors import DamagedFile
from keyplan.engine.operator import check_file
from keyplan.engine.storage import file_upgrade
from keyplan.engine.storage.file_creation import FORMAT, VFS, register_checksums
from keyplan.engine.storage.log_binding import CLOSED, META_PAGE, main_binding, read_binding
from keyplan.engine.storage.records import delete_record, get_record, list_records, put_record
from keyplan.engine.storage.storage import Storage
from tests.engine.durability.support import GSI, TABLE, definition, records
from tests.old_files import unpacked


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A file of format 2."""
    return unpacked("demo.db", tmp_path)


def connect(path: Path) -> apsw.Connection:
    register_checksums()
    return apsw.Connection(str(path), vfs=VFS)


def format_of(path: Path) -> int:
    with closing(connect(path)) as connection:
        found: int = connection.pragma("user_version")
        return found


def test_upgrade(old: Path, caplog: pytest.LogCaptureFixture) -> None:
    assert format_of(old) == 2
    with caplog.at_level(logging.WARNING, "keyplan.engine"), Engine(str(old)) as engine:
        tables = engine.list_tables()["TableNames"]
        assert len(tables) >= 5
        assert sum(engine.scan(TableName=name)["Count"] for name in tables) > 100
    assert caplog.messages == [
        f"Upgraded {old} from file format 2 to {FORMAT}. Older versions of Keyplan can't open it."
    ]
    caplog.clear()
    assert format_of(old) == FORMAT
    with Engine(str(old)) as engine:
        assert engine.list_tables()["TableNames"] == tables
    assert caplog.messages == []


def test_upgraded_file_has_the_schema_of_a_new_one(old: Path, tmp_path: Path) -> None:
    new = tmp_path / "new.db"
    for path in (old, new):
        Engine(str(path)).close()
    names = ("meta", "records", "tables", "streams", "tokens", "leases")
    columns = []
    for path in (old, new):
        with closing(connect(path)) as connection:
            columns.append({name: connection.execute(f"PRAGMA table_info({name})").fetchall() for name in names})
            assert connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'meta'").get == META_PAGE
            through_sqlite = read_binding(connection)
        assert main_binding(path) == through_sqlite
        assert through_sqlite.state == CLOSED
    assert columns[0] == columns[1]


@pytest.mark.parametrize(("name", "found"), [("demo.db", 2), ("format_3.db", 3)])
def test_files_of_every_format(name: str, found: int, tmp_path: Path) -> None:
    """They are opened, checked as by `keyplan check`, and written to."""
    path = unpacked(name, tmp_path)
    assert format_of(path) == found
    assert check_file(path).problems == []
    assert format_of(path) == FORMAT
    with Engine(str(path)) as engine:
        name, *_ = engine.list_tables()["TableNames"]
        assert engine.scan(TableName=name)["Count"]
        engine.create_table(**definition("New"))  # type: ignore[arg-type]
    assert check_file(path).problems == []


def test_content_of_format_3(tmp_path: Path) -> None:
    with Engine(str(unpacked("format_3.db", tmp_path)), clock=lambda: 1_790_000_100.0) as engine:
        assert engine.scan(TableName=TABLE)["Count"] == 39
        assert engine.scan(TableName=TABLE, IndexName=GSI)["Count"] == 39
        assert len(records(engine.database)) == 41


def test_newer_file(tmp_path: Path) -> None:
    path = tmp_path / "data.db"
    Engine(str(path)).close()
    with closing(connect(path)) as connection:
        connection.execute(f"PRAGMA user_version = {FORMAT + 1}")
    content = path.read_bytes()
    with pytest.raises(DamagedFile, match=r"newer version of Keyplan .*: update Keyplan to open it\.$"):
        Engine(str(path))
    assert path.read_bytes() == content


def test_oldest_format(tmp_path: Path) -> None:
    path = tmp_path / "data.db"
    Engine(str(path)).close()
    with closing(connect(path)) as connection:
        connection.execute("PRAGMA user_version = 1")
    with pytest.raises(DamagedFile, match="was written by a different version of Keyplan"):
        Engine(str(path))


def test_file_in_use_is_not_upgraded(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process of the older release has it open, and would go on writing the old format."""
    monkeypatch.setattr(file_upgrade, "SECONDS", 0.2)
    code = (
        "import apsw, apsw.sqlite_extra, sys; m = apsw.Connection(':memory:'); apsw.sqlite_extra.load(m, 'cksumvfs');"
        "c = apsw.Connection(sys.argv[1], vfs='cksmvfs'); c.execute('SELECT version FROM meta').fetchall();"
        "print('open', flush=True); sys.stdin.read(); c.execute('UPDATE meta SET version = version + 1')"
    )
    command = [sys.executable, "-c", code, str(old)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "open\n"
        with pytest.raises(DamagedFile, match="while other processes use it: stop them, then open it again"):
            Engine(str(old))
        other.communicate("")
        assert other.returncode == 0
    with Engine(str(old)) as engine:
        assert engine.list_tables()["TableNames"]


def test_several_processes_upgrade_at_once(old: Path) -> None:
    code = "import sys; from keyplan.engine import Engine; print(Engine(sys.argv[1]).list_tables()['TableNames'])"
    command = [sys.executable, "-c", code, str(old)]
    started = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    answers = {process.communicate()[0] for process in started}
    assert [process.returncode for process in started] == [0, 0, 0]
    assert len(answers) == 1


@pytest.mark.parametrize("write", range(1, 16, 2))
def test_killed_during_the_upgrade(write: int, old: Path) -> None:
    """At whichever write to the disk the process dies, the file has one format or the other, and all its items."""
    code = f"""
import os, signal, sys, apsw, apsw.sqlite_extra
loader = apsw.Connection(":memory:")
class File(apsw.VFSFile):
    def __init__(self, name, flags): super().__init__("unix", name, flags)
    def xWrite(self, data, offset):
        global left
        left -= 1
        if left == 0:
            super().xWrite(data[: len(data) // 2], offset)
            os.kill(os.getpid(), signal.SIGKILL)
        super().xWrite(data, offset)
class Vfs(apsw.VFS):
    def __init__(self): super().__init__("dying", "unix", makedefault=True)
    def xOpen(self, name, flags): return File(name, flags)
left = {write}
vfs = Vfs()
from keyplan.engine import Engine
Engine(sys.argv[1]).close()
"""
    done = subprocess.run([sys.executable, "-c", code, str(old)], capture_output=True, text=True)
    assert done.returncode == -signal.SIGKILL, done.stderr
    with Engine(str(old)) as engine:
        tables = engine.list_tables()["TableNames"]
        assert sum(engine.scan(TableName=name)["Count"] for name in tables) > 100
    assert format_of(old) == FORMAT
    assert sorted(os.listdir(old.parent)) == [old.name]


def test_records(tmp_path: Path) -> None:
    path = str(tmp_path / "data.db")
    storage = Storage(path, durability="normal", clock=lambda: 1.0)
    for name in ("b", "a", "ab", "c"):
        storage.write(partial(put_record, kind="backup", name=name, body={"name": name, "size": 1}))
    storage.write(lambda each: put_record(each, "export", "a", {"other": True}))
    storage.write(lambda each: put_record(each, "backup", "a", {"name": "a", "size": 2}))
    storage.close()
    storage = Storage(path, durability="normal", clock=lambda: 1.0)
    assert storage.read(lambda each: get_record(each, "backup", "a")) == {"name": "a", "size": 2}
    assert storage.read(lambda each: get_record(each, "backup", "none")) is None
    listed = storage.read(lambda each: list_records(each, "backup"))
    assert [name for name, _ in listed] == ["a", "ab", "b", "c"]
    assert storage.read(lambda each: list_records(each, "backup", prefix="a", after="a")) == [
        ("ab", {"name": "ab", "size": 1})
    ]
    assert [name for name, _ in storage.read(lambda each: list_records(each, "backup", after="a", limit=2))] == [
        "ab",
        "b",
    ]
    assert storage.write(lambda each: delete_record(each, "backup", "a"))
    assert not storage.write(lambda each: delete_record(each, "backup", "a"))
    assert storage.read(lambda each: list_records(each, "export")) == [("a", {"other": True})]
    storage.close()
