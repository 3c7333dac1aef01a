"""Main file and log are used together only if they belong together.

Images of both files, taken at writes to the disk all through checkpoints, are what a kill leaves: each is right. Put
together from two images, they are refused, or they are the state of the log.
"""

import json
import logging
import os
import random
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from keyplan.engine import DamagedFile, Engine
from keyplan.engine.storage import wal_checkpoints
from keyplan.engine.storage.damage import log_of
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
            return REFUSED if "together" in str(error) or "is missing" in str(error) else str(error)


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
            latest = images.acknowledged[max(main, log)]
            assert found in (images.acknowledged[log], images.acknowledged[log] + 1, latest, latest + 1), (main, log)
    assert results[REFUSED] > 10
    assert results["accepted"]


def test_main_files_alone(tmp_path: Path) -> None:
    """Without its log, a file is used only if it was complete when it was closed, or when the log began."""
    images = Images(tmp_path, 7, 60)
    found = [images.open(each, None) for each in range(len(images.acknowledged))]
    assert REFUSED in found
    assert found[-1] == images.acknowledged[-1]
