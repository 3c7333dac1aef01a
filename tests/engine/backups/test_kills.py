"""A backup or a restore whose process is killed is continued when the file is opened again, and is right."""

import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from keyplan.engine import Engine
from keyplan.engine.operations.jobs import all_jobs
from tests.engine.backups.killed import ITEMS, TABLE
from tests.engine.backups.support import check_indexes, contents, item, wait_for_backup, wait_for_table

ROUNDS = 50 if os.environ.get("KEYPLAN_TEST_LONG") else 2


@pytest.mark.parametrize("number", range(ROUNDS))
@pytest.mark.parametrize("task", ["backup", "restore"])
def test_killed(tmp_path: Path, task: str, number: int) -> None:
    path = str(tmp_path / "data.db")
    command = [sys.executable, "-m", "tests.engine.backups.killed", path, task]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert child.stdout is not None
        arn = child.stdout.readline().strip()
        assert arn
        time.sleep(random.Random(number).uniform(0, 0.15))
    finally:
        child.kill()
        child.communicate()
    with Engine(path) as engine:
        unfinished = len(engine.database._storage.read(all_jobs))
        if task == "backup":
            wait_for_backup(engine, arn)
            engine.restore_table_from_backup(TargetTableName="restored", BackupArn=arn)
        wait_for_table(engine, "restored")
        expected = sorted((item(each) for each in range(ITEMS)), key=lambda each: int(each["sk"]["N"]))
        assert sorted(contents(engine, "restored"), key=lambda each: int(each["sk"]["N"])) == expected
        check_indexes(engine, "restored")
        check_indexes(engine, TABLE)
        assert unfinished <= 1
    with Engine(path) as engine:
        assert engine.database._storage.read(all_jobs) == []
