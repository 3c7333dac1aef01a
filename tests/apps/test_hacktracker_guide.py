"""The guide to hacktracker: its calls are sent, one after the other, to a server with the demo data."""

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

PAGE = Path(__file__).parent.parent.parent / "docs" / "hacktracker.md"
BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """`keyplan serve` with the demo data, as the guide starts it."""
    command = [
        sys.executable,
        "-m",
        "keyplan.cli",
        "serve",
        "--dev",
        "--demo",
        "--port",
        "0",
        "--system",
        "hacktracker",
    ]
    known = {**os.environ, "KEYPLAN_LOG_LEVEL": "error"}
    process = subprocess.Popen(command, cwd=folder, env=known, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        line = next(each for each in process.stdout if "http://" in each)
        yield line.split()[2]
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=20)
    assert process.returncode == 0


@pytest.mark.skipif(not (shutil.which("curl") and shutil.which("jq")), reason="curl or jq is missing")
def test_its_calls(tmp_path: Path) -> None:
    script = "\n".join(BLOCK.findall(PAGE.read_text("utf-8")))
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    with served(tmp_path) as url:
        script = script.replace("http://127.0.0.1:8080", url)
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", script],
            cwd=tmp_path,
            env={**os.environ, "PATH": path},
            capture_output=True,
            text=True,
            timeout=100,
        )
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
    checked = subprocess.run(
        [sys.executable, "-m", "keyplan.cli", "verify", "hacktracker"], cwd=tmp_path, capture_output=True, text=True
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr
