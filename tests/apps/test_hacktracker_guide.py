"""The guide to hacktracker: its calls are sent, one after the other, to a server with the demo data."""

import re
import shutil
from pathlib import Path

import pytest

from tests.apps.guides import guide, run_commands, served

BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.skipif(not (shutil.which("curl") and shutil.which("jq")), reason="curl or jq is missing")
def test_its_calls(tmp_path: Path) -> None:
    script = "\n".join(BLOCK.findall(guide("hacktracker")))
    with served("hacktracker", tmp_path) as url:
        done = run_commands(script, url, tmp_path, "-euo", "pipefail")
    assert done.returncode == 0, done.stdout + done.stderr
    for said in (
        '"casey"',
        "Number 2",
        "player",
        "IN_PROGRESS",
        "HR",
        "FINAL",
        '"avg": 1',
        '"result": "2B"',
        "Night Owls",
    ):
        assert said in done.stdout, f"{said}: {done.stdout}"
