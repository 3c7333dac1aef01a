"""docs/review.md shows what the command prints, and commands that exist."""

import re
import shlex
import sys
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from keyplan.cli import main

PAGE = (Path(__file__).parents[2] / "docs" / "review.md").read_text("utf-8")


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the shop of the page."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    sys.modules.pop("shop", None)
    (block, *_) = blocks("python")
    (tmp_path / "shop.py").write_text(block, "utf-8")
    return tmp_path


def blocks(kind: str) -> list[str]:
    return re.findall(rf"^```{kind}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def test_the_example_prints_what_the_page_shows(shop: Path) -> None:
    (block,) = blocks("console")
    command, output = block.removeprefix("$ ").split("\n", 1)
    assert CliRunner().invoke(main, shlex.split(command)[1:]).output == output


def test_the_commands_of_ci_run(shop: Path) -> None:
    hooks, workflow = map(yaml.safe_load, blocks("yaml"))
    entry = hooks["repos"][0]["hooks"][0]["entry"]
    steps = [step["run"] for step in workflow["jobs"]["review"]["steps"] if "keyplan review" in step.get("run", "")]
    written = CliRunner().invoke(main, ["review", "shop:Shop", "--write-baseline", "review.json"])
    assert written.exit_code == 0
    assert CliRunner().invoke(main, shlex.split(entry)[1:]).exit_code == 1  # the example has errors
    assert "add `--baseline review.json`" in PAGE
    assert CliRunner().invoke(main, [*shlex.split(entry)[1:], "--baseline", "review.json"]).exit_code == 0
    (step,) = steps
    command, _, file = step.partition(" > ")
    assert CliRunner().invoke(main, shlex.split(command)[1:]).exit_code == 1
    assert file == workflow["jobs"]["review"]["steps"][-1]["with"]["sarif_file"]
