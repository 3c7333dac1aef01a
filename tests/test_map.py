"""CONTRIBUTING's map of the engine leads to every module, and to none that is not there; every dependency is argued."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent
ENGINE = ROOT / "src" / "keyplan" / "engine"


def test_the_map_of_the_engine() -> None:
    page = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    plan = page[page.index("Inside `engine`") : page.index("Tests stand by feature")]
    drawn = set(re.findall(r"`(?:\w+/)?(\w+\.py)`", plan)) - {"__init__.py"}
    folders = (ENGINE, ENGINE / "operations")
    there = {module.name for folder in folders for module in folder.glob("*.py")} - {"__init__.py"}
    assert drawn == there | {"extras.py"}


def test_the_map_of_the_kit() -> None:
    page = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    plan = page[page.index("Inside `web`") : page.index("## Adding an operation")]
    kit = ROOT / "src" / "keyplan" / "web"
    folders = [folder.parent for folder in kit.glob("*/__init__.py")]
    assert set(re.findall(r"^\| `(\w+)/` \|", plan, re.MULTILINE)) == {folder.name for folder in folders}
    drawn = set(re.findall(r"`(?:(\w+)/)?(\w+\.py)`", plan))
    assert all((kit / folder / module).is_file() for folder, module in drawn)
    for folder in folders:
        described = set(re.findall(r"`(\w+)`", (folder / "__init__.py").read_text("utf-8")))
        assert {module.stem for module in folder.glob("*.py")} - {"__init__"} - described == set(), folder.name


def test_every_dependency_has_its_reason() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    wanted = {re.split(r"[^a-z0-9-]", dependency)[0] for dependency in project["dependencies"]}
    page = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    rows = re.findall(r"^\| (.+?) \| .+ \|$", page[page.index("## Dependencies") :], re.MULTILINE)
    assert wanted - {name.split(" ")[0] for row in rows for name in row.split(", ")} == set()
