"""Folders describe what is in them, CONTRIBUTING names the folders, and every dependency has its reason there."""

import ast
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "keyplan"

MAPPED = ("data", "engine", "web")
"""The packages whose folders are their map: the docstring of each folder names the modules in it."""


def folders_of(package: str) -> list[Path]:
    return sorted(init.parent for init in (SOURCE / package).rglob("__init__.py"))


def contents(folder: Path) -> set[str]:
    """The names of the modules and folders directly in a folder."""
    found = {path.stem for path in folder.iterdir() if path.suffix in (".py", ".pyi")}
    return (found | {path.parent.name for path in folder.glob("*/__init__.py")}) - {"__init__"}


def defined_in(package: str) -> set[str]:
    """Every name that a reader may look for: modules, folders, and what the modules define."""
    names: set[str] = set()
    for folder in folders_of(package):
        names |= contents(folder)
        for module in folder.glob("*.py"):
            for node in ast.parse(module.read_text("utf-8")).body:
                if isinstance(node, ast.ClassDef | ast.FunctionDef):
                    names.add(node.name)
                elif isinstance(node, ast.Assign | ast.AnnAssign):
                    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                    names |= {target.id for target in targets if isinstance(target, ast.Name)}
    return names


@pytest.mark.parametrize(
    "folder",
    [folder for package in MAPPED for folder in folders_of(package)],
    ids=lambda folder: folder.relative_to(SOURCE).as_posix(),
)
def test_a_folder_says_what_is_in_it(folder: Path) -> None:
    described = ast.get_docstring(ast.parse((folder / "__init__.py").read_text("utf-8"))) or ""
    named = set(re.findall(r"`(\w+)`", described))
    assert contents(folder) - named == set()
    assert named - defined_in(folder.relative_to(SOURCE).parts[0]) == set()


def test_the_map_of_the_engine() -> None:
    page = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    plan = page[page.index("Inside `engine`") : page.index("The engine's tests are grouped")]
    folders = {folder.relative_to(SOURCE / "engine").as_posix() for folder in folders_of("engine")} - {"."}
    assert {name.rstrip("/") for name in re.findall(r"^\| `([\w/]+/)` ", plan, re.MULTILINE)} == folders


def test_the_map_of_the_kit() -> None:
    page = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    plan = page[page.index("Inside `web`") : page.index("## Adding an operation")]
    folders = {folder.parent.name for folder in (SOURCE / "web").glob("*/__init__.py")}
    assert set(re.findall(r"^\| `(\w+)/` \|", plan, re.MULTILINE)) == folders
    assert [path for path in re.findall(r"`([\w/]+\.py)`", plan) if not (SOURCE / "web" / path).is_file()] == []


def test_every_dependency_has_its_reason() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    wanted = {re.split(r"[^a-z0-9-]", dependency)[0] for dependency in project["dependencies"]}
    page = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    rows = re.findall(r"^\| (.+?) \| .+ \|$", page[page.index("## Dependencies") :], re.MULTILINE)
    assert wanted - {name.split(" ")[0] for row in rows for name in row.split(", ")} == set()


def test_the_architecture_page_names_modules_that_exist() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    named = re.findall(r"`((?:engine|design|data|web)/[\w/]+\.py)`", page)
    assert len(named) > 15
    assert [path for path in named if not (SOURCE / path).is_file()] == []
