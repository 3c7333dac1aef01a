"""Main file and log are used together only if they belong together.

Images of both files, taken at writes to the disk all through checkpoints, are what a kill leaves: each is right. Put
together from two images, they are refused, or they are the state of the log.
"""

import json
import os
import random
import shutil
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from keyplan.engine import DamagedFile, Engine
from keyplan.engine.storage.damage import log_of
from keyplan.engine.storage.log_binding import OPEN, main_binding
from tests.engine.durability.support import TABLE, definition, server
from tests.engine.durability.wire import Wire

LONG = bool(os.environ.get("KEYPLAN_TEST_LONG"))
ROOT = Path(__file__).parents[3]
REFUSED = "refused"


class Images:
    """The images of one run, and what is found when one of them is opened."""

    def __init__(self, folder: Path, seed: int, count: int) -> None:
        self.folder = folder
        command = [sys.executable, "-m", "tests.engine.durability.crash_images", str(folder), str(seed), str(count)]
        done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=300)
        assert done.returncode == 0, done.stderr
        self.acknowledged: list[int] = json.loads((folder / "images.json").read_text())
        self._path = folder / "opened" / "image.db"
        self._path.parent.mkdir()

    def open(self, main: int, log: int | None) -> int | str:
        """The number of transactions that are found, or `REFUSED`."""
        for file in self._path.parent.iterdir():
            file.unlink()
        shutil.copy(self.folder / f"{main}.main", self._path)
        if log is not None and (content := (self.folder / f"{log}.wal").read_bytes()):
            log_of(self._path).write_bytes(content)
        try:
            with Engine(str(self._path)) as engine:
                return transactions(engine)
        except DamagedFile as error:
            named = ("together", "is missing", "in the middle of a page")
            return REFUSED if any(each in str(error) for each in named) else str(error)


def transactions(engine: Engine) -> int:
    """The number of transactions; a file that is a mixture of two states fails here."""
    if not engine.list_tables()["TableNames"]:
        return 0
    scanned = engine.get_paginator("scan")
    items = [item for page in scanned.paginate(TableName="Counted") for item in page["Items"]]
    entries = sum(page["Count"] for page in scanned.paginate(TableName="Counted", IndexName="by-other"))
    numbers = sorted(int(item["pk"]["S"].rpartition("-")[2]) for item in items if item["pk"]["S"] != "counter")
    assert numbers == list(range(1, len(numbers) + 1))
    assert entries == len(numbers)
    counter = next((int(item["n"]["N"]) for item in items if item["pk"]["S"] == "counter"), 0)
    assert counter == len(numbers)
    return counter


@pytest.mark.parametrize("seed", range(20 if LONG else 1))
def test_images_of_kills_and_their_mixtures(seed: int, tmp_path: Path) -> None:
    images = Images(tmp_path, seed, 1000 if LONG else 80)
    number = len(images.acknowledged)
    assert number > 20
    for each in range(number):
        # What was in progress may be there or not.
        found = images.open(each, each)
        assert found in (images.acknowledged[each], images.acknowledged[each] + 1), each
    chance = random.Random(seed)
    results = Counter[str]()
    for _ in range(3000 if LONG else 60):
        main, log = chance.randrange(number), chance.randrange(number)
        if chance.random() < 0.5:  # neighbors are the likeliest to be taken for each other
            log = min(max(main + chance.randrange(-8, 9), 0), number - 1)
        found = images.open(main, log)
        results[REFUSED if found == REFUSED else "accepted"] += 1
        if found != REFUSED:
            # A log without a complete commit leaves a file as it is that had everything when its own log began.
            right = (images.acknowledged[log], images.acknowledged[log] + 1)
            binding = main_binding(tmp_path / f"{main}.main")
            began = binding is not None and binding.state != OPEN and found in range(images.acknowledged[main] + 1)
            assert found in right or began, (main, log)
    assert results[REFUSED] > 10
    assert results["accepted"]


def test_main_files_alone(tmp_path: Path) -> None:
    """Without its log, a file is used only if it was complete when it was closed, or when the log began."""
    images = Images(tmp_path, 7, 60)
    found = [images.open(each, None) for each in range(len(images.acknowledged))]
    assert REFUSED in found
    assert found[-1] == images.acknowledged[-1]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data.db"


def put(wire: Wire, number: int) -> None:
    wire.call("PutItem", TableName=TABLE, Item={"pk": {"S": "a"}, "sk": {"N": str(number)}})


def count(path: Path) -> int:
    with Engine(str(path)) as engine:
        return engine.scan(TableName=TABLE)["Count"]


def killed(path: Path, first: int, number: int) -> None:
    """Have a server write some items and kill it, when the main file says that it needs the log."""
    with server(path) as running, Wire(running.port) as wire:
        if not first:
            wire.call("CreateTable", **definition())
        for each in range(first, first + number):
            put(wire, each)
        before = path.read_bytes()
        deadline = time.monotonic() + 20
        while path.read_bytes() == before and time.monotonic() < deadline:
            time.sleep(0.01)
        time.sleep(0.1)  # it writes down in the log that the main file says so
        put(wire, first + number)


def test_restored_main_file_beside_the_log_of_a_kill(path: Path) -> None:
    killed(path, 0, 5)
    assert count(path) == 6
    backup = path.read_bytes()
    killed(path, 10, 5)
    log = log_of(path).read_bytes()
    path.write_bytes(backup)
    path.with_name("data.db-shm").unlink()
    with pytest.raises(DamagedFile) as refused:
        Engine(str(path))
    assert str(refused.value) == (
        f"{path} and its log data.db-wal don't belong together: one of them was restored, copied or moved without the "
        "other. If data.db is the file that you want (a backup, for example), move data.db-wal away and open it again. "
        "Otherwise restore both from the same backup."
    )
    assert (path.read_bytes(), log_of(path).read_bytes()) == (backup, log)
    log_of(path).unlink()
    assert count(path) == 6


def test_main_file_alone_of_a_server_that_is_in_use(path: Path, tmp_path: Path) -> None:
    killed(path, 0, 5)
    alone = tmp_path / "alone" / "data.db"
    alone.parent.mkdir()
    shutil.copy(path, alone)
    with pytest.raises(DamagedFile) as refused:
        Engine(str(alone))
    assert str(refused.value) == (
        f"{alone} was in use when it was copied or moved, and its log data.db-wal is missing, so its last writes are "
        "missing too. Put data.db-wal back beside it, or restore a backup. If there is neither, `keyplan restore "
        "data.db --without-log` checks the file and gives those writes up."
    )
    for suffix in ("-wal", "-shm"):
        shutil.copy(f"{path}{suffix}", f"{alone}{suffix}")
    assert count(alone) == 6


def test_main_file_alone_just_after_the_first_write(path: Path, tmp_path: Path) -> None:
    with Engine(str(path)) as engine:
        engine.create_table(**definition())  # type: ignore[arg-type]
    with Engine(str(path)) as engine:
        shutil.copy(path, tmp_path / "before.db")
        engine.put_item(TableName=TABLE, Item={"pk": {"S": "a"}, "sk": {"N": "1"}})
        shutil.copy(path, tmp_path / "after.db")
    assert count(tmp_path / "before.db") == 0
    with pytest.raises(DamagedFile, match="was in use when it was copied or moved"):
        Engine(str(tmp_path / "after.db"))
    assert count(path) == 1


def test_log_of_another_database(path: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.db"
    for each in (path, other):
        killed(each, 0, 3)
    shutil.copy(log_of(other), log_of(path))
    with pytest.raises(DamagedFile, match="don't belong together"):
        Engine(str(path))


def test_two_engines_of_a_process_keep_its_locks(path: Path) -> None:
    """Opening and closing a file gives up all locks of the process on it, unless SQLite does it. Then another process
    that closes the database would take itself for the last one, and delete the log."""
    with Engine(str(path)) as engine:
        engine.create_table(**definition())  # type: ignore[arg-type]
        Engine(str(path)).close()
        code = "import sys; from keyplan.engine import Engine; e = Engine(sys.argv[1]); e.list_tables(); e.close()"
        subprocess.run([sys.executable, "-c", code, str(path)], check=True, timeout=60)
        assert log_of(path).stat().st_size
        engine.put_item(TableName=TABLE, Item={"pk": {"S": "a"}, "sk": {"N": "1"}})
        copy = path.with_name("copy.db")
        shutil.copy(path, copy)
        shutil.copy(log_of(path), log_of(copy))
        assert count(copy) == 1
