"""What `pip install keyplan` brings by itself: the engine, designs, the data layer and the command."""

import os
import re
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from keyplan.cli.opening import is_missing_extra

ROOT = Path(__file__).parent.parent

BLOCKED = (
    "fastapi jinja2 bcrypt uvicorn starlette nh3 prometheus_client jwt PIL python_multipart numpy zstandard"
).split()
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
    ["review", "wavyblog"],
    ["infra", "wavyblog", "--format", "cloudformation"],
    ["cost", "--help"],
    ["adopt", "--help"],
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


def test_a_forecast_says_how_to_get_numpy(alone: dict[str, str]) -> None:
    done = run(
        [sys.executable, "-m", "keyplan.cli", "forecast", "wavyblog", "--traffic", "docs/traffic/wavyblog.yaml"], alone
    )
    assert (done.returncode, done.stderr) == (
        2,
        "keyplan: Forecasts need NumPy. Install it with: pip install 'keyplan[forecast]'\n",
    )


@pytest.mark.parametrize("extra", ["web", "systems"])
def test_a_missing_extra_is_known_by_each_of_its_modules(extra: str) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    brought = {re.split(r"[^\w.-]", each)[0].lower() for each in project["optional-dependencies"][extra]} - {"keyplan"}
    without_code = {"tzdata"}
    modules = {
        module
        for module, packages in packages_distributions().items()
        if {each.lower().replace("_", "-") for each in packages} & (brought - without_code)
    }
    assert len(modules) >= len(brought - without_code)
    assert {each for each in modules if not is_missing_extra(ModuleNotFoundError(name=each))} == set()
