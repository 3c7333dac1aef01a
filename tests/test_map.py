"""Folders describe what is in them, CONTRIBUTING names the folders, and every dependency has its reason there."""

import ast
import importlib
import re
import tomllib
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "keyplan"

MAPPED = ("engine", "design", "data", "review", "publish", "capacity", "adopt", "web")
"""The packages whose folders are their map: the docstring of each folder names the modules in it."""


PUBLIC = (
    *("engine", "engine.operator", "engine.wire", "design", "design.examples", "data", "data.streams", "review"),
    *("publish.diagrams", "publish.differences", "publish.document", "publish.infra", "publish.policies"),
    *("capacity.cost", "capacity.heat", "capacity.metering", "capacity.prices", "capacity.traffic", "adopt"),
    *("web", "web.identity", "web.media", "web.server"),
)
"""The packages that export names to other packages."""
ROOMS = {path.parent.name for path in SOURCE.glob("*/__init__.py")}


def folders_of(package: str) -> list[Path]:
    return sorted(init.parent for init in (SOURCE / package).rglob("__init__.py"))


def section_of(heading: str) -> str:
    """The section of CONTRIBUTING under a heading."""
    page = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    level = heading.partition(" ")[0]
    start = page.index(f"\n{heading}\n") + 1
    following = re.search(rf"^#{{2,{len(level)}}} ", page[start + len(heading) :], re.MULTILINE)
    return page[start:] if following is None else page[start : start + len(heading) + following.start()]


def contents(folder: Path) -> set[str]:
    """The names of the modules and folders directly in a folder."""
    found = {path.stem for path in folder.iterdir() if path.suffix in (".py", ".pyi")}
    return (found | {path.parent.name for path in folder.glob("*/__init__.py")}) - {"__init__"}


@cache
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
    assert named - defined_in(folder.relative_to(SOURCE).parts[0]) - ROOMS == set()


def test_a_public_name_means_one_thing() -> None:
    modules = {package: importlib.import_module(f"keyplan.{package}") for package in PUBLIC}
    exported = [
        (f"{each}.{name}", name, getattr(module, name)) for each, module in modules.items() for name in module.__all__
    ]
    first = {name: value for _, name, value in reversed(exported)}
    assert [path for path, name, value in exported if value != first[name]] == []


@pytest.mark.parametrize("package", ["engine", "design", "web"])
def test_contributing_lists_the_folders_of_a_package(package: str) -> None:
    section = section_of(f"### `{package}`")
    folders = {folder.relative_to(SOURCE / package).as_posix() for folder in folders_of(package)} - {"."}
    assert {name.rstrip("/") for name in re.findall(r"^\| `([\w/]+/)` \|", section, re.MULTILINE)} == folders
    modules = set(re.findall(r"`([\w/]+\.py)`", section))
    assert modules
    assert {path for path in modules if not list((SOURCE / package).rglob(path))} == set()


def test_every_dependency_has_its_reason() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    extras = project["project"]["optional-dependencies"]
    groups = [project["project"]["dependencies"], *extras.values(), *project["dependency-groups"].values()]
    wanted = {re.split(r"[^a-z0-9-]", dependency)[0] for group in groups for dependency in group} - {"keyplan"}
    rows = re.findall(r"^\| (.+?) \| .+ \|$", section_of("## Dependencies"), re.MULTILINE)
    named = {name for row in rows for name in re.sub(r" \(.*\)", "", row).split(", ")}
    assert wanted - named == set()
    assert named - wanted - {"package", "---"} == set()


def test_every_target_of_the_tests_is_described() -> None:
    targets = re.findall(
        r"^((?:test|bench)-\w+|coverage|counts|walks):.*## ", (ROOT / "Makefile").read_text(), re.MULTILINE
    )
    described = section_of("## Testing")
    assert len(targets) > 8
    assert [target for target in targets if f"{target}`" not in described] == []


def test_the_architecture_page_names_modules_that_exist() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    named = re.findall(r"`((?:engine|design|data|web)/[\w/]+\.py)`", page)
    assert len(named) > 15
    assert [path for path in named if not (SOURCE / path).is_file()] == []
