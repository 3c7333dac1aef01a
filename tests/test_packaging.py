"""What `pip install keyplan` brings by itself: the engine, designs, the data layer and the command."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

BLOCKED = "fastapi jinja2 bcrypt uvicorn starlette nh3 prometheus_client jwt".split()
REFUSING = """
import sys

class Refusing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {blocked!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Refusing())
"""


@pytest.fixture
def alone(tmp_path: Path) -> dict[str, str]:
    """An environment for subprocesses in which what the extras bring can't be imported."""
    (tmp_path / "sitecustomize.py").write_text(REFUSING.format(blocked=set(BLOCKED)), "utf-8")
    before = os.environ.get("PYTHONPATH")
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, (str(tmp_path), before)))}


def run(command: list[str], env: dict[str, str]) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(command, env=env, capture_output=True, text=True, check=False, timeout=60)


@pytest.mark.parametrize("module", BLOCKED)
def test_the_extras_are_out_of_reach(module: str, alone: dict[str, str]) -> None:
    assert "ModuleNotFoundError" in run([sys.executable, "-c", f"import {module}"], alone).stderr


@pytest.mark.parametrize("package", ["engine", "design", "data", "data.streams", "cli", "pytest_plugin", "connection"])
def test_a_package_needs_no_extra(package: str, alone: dict[str, str]) -> None:
    done = run([sys.executable, "-c", f"import keyplan.{package}"], alone)
    assert (done.returncode, done.stderr) == (0, "")


SYSTEMS = ["wavyblog", "hacktracker", "threefc", "funkedupshift", "vcm"]
COMMANDS = [
    ["--help"],
    ["dynamodb", "--help"],
    *(["tables", each] for each in SYSTEMS),
    ["patterns", "wavyblog"],
    *(["docs", each, "--format", "html"] for each in ("wavyblog", "vcm")),
]


@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
def test_a_command_about_designs_needs_no_extra(arguments: list[str], alone: dict[str, str]) -> None:
    done = run([sys.executable, "-m", "keyplan.cli", *arguments], alone)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    "arguments", [["serve"], ["token", "--system", "wavyblog", "--sub", "ada"], ["work"], ["config"]], ids=" ".join
)
def test_a_command_whose_extra_is_missing_says_how_to_get_it(arguments: list[str], alone: dict[str, str]) -> None:
    done = run([sys.executable, "-m", "keyplan.cli", *arguments], alone)
    assert done.returncode == 2
    assert "pip install 'keyplan[systems]'" in done.stderr
    assert "Traceback" not in done.stderr
