"""An export or an import whose process is killed is continued when the file is opened again, and is right."""

import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from keyplan.engine import Engine
from keyplan.engine.operations.jobs import all_jobs
from tests.engine.backups.support import contents, item, wait
from tests.engine.exports.killed import ITEMS
from tests.engine.exports.support import data_of, items_of

ROUNDS = 50 if os.environ.get("KEYPLAN_TEST_LONG") else 2


@pytest.mark.parametrize("number", range(ROUNDS))
@pytest.mark.parametrize("task", ["export", "import"])
def test_killed(tmp_path: Path, bucket: Path, task: str, number: int) -> None:
    expected = sorted((item(each) for each in range(ITEMS)), key=repr)
    if task == "import":
        (bucket / "items").write_text("".join(json.dumps({"Item": each}) + "\n" for each in expected))
    path, s3 = str(tmp_path / "data.db"), bucket.parent
    command = [sys.executable, "-m", "tests.engine.exports.killed", path, str(s3), task]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert child.stdout is not None
        arn = child.stdout.readline().strip()
        assert arn
        time.sleep(random.Random(number).uniform(0, 0.3))
    finally:
        child.kill()
        child.communicate()
    with Engine(path, s3=s3) as engine:
        wait(lambda: not engine.database._storage.read(all_jobs))
        if task == "export":
            exported = dict(engine.describe_export(ExportArn=arn)["ExportDescription"])
            assert exported["ExportStatus"] == "COMPLETED"
            assert items_of(data_of(bucket, exported)) == expected
        else:
            imported = engine.describe_import(ImportArn=arn)["ImportTableDescription"]
            assert imported["ImportStatus"] == "COMPLETED"
            assert (imported["ProcessedItemCount"], imported["ImportedItemCount"]) == (ITEMS, ITEMS)
            assert contents(engine, "imported") == expected
