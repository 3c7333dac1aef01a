"""Folders describe what is in them, CONTRIBUTING names the folders, and every dependency has its reason there."""

import ast
import re
import tomllib
from collections.abc import Collection
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "keyplan"

MAPPED = ("engine", "web")
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
    plan = page[page.index("Inside `engine`") : page.index("Tests stand by feature")]
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


# The data layer: its folders are its map.

DATA = ROOT / "src" / "keyplan" / "data"


def modules_of(folder: Path) -> dict[str, ast.Module]:
    """The modules below a folder by their dotted names, parsed."""
    found = {}
    for path in folder.rglob("*.py"):
        parts = path.relative_to(ROOT / "src").with_suffix("").parts
        found[".".join(parts[:-1] if path.name == "__init__.py" else parts)] = ast.parse(path.read_text("utf-8"))
    return found


def imports_of(tree: ast.Module, known: Collection[str]) -> set[str]:
    """The modules among the known ones that a module imports, wherever the import stands."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            submodules = {f"{node.module}.{alias.name}" for alias in node.names} & set(known)
            found |= submodules or {node.module} & set(known)
    return found


def layers_of_data() -> list[str]:
    """The folders and modules of `keyplan.data`, in the order of the table in its docstring."""
    table = ast.get_docstring(ast.parse((DATA / "__init__.py").read_text("utf-8"))) or ""
    return [
        name.rstrip("/")
        for row in re.findall(r"^\| (`.+?) \|", table, re.MULTILINE)
        for name in re.findall(r"`(.+?)`", row)
    ]


def test_the_docstring_of_data_lists_its_folders_and_modules() -> None:
    there = {path.stem for path in DATA.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    assert set(layers_of_data()) == there - {"__init__"}


def test_every_folder_and_module_of_data_says_what_it_is() -> None:
    modules = modules_of(DATA)
    assert [name for name, tree in modules.items() if not ast.get_docstring(tree)] == []
    folders = {name: tree for name, tree in modules.items() if any(other.startswith(f"{name}.") for other in modules)}
    docstrings = {name: ast.get_docstring(tree) or "" for name, tree in folders.items() if name != "keyplan.data"}
    assert {name for name, text in docstrings.items() if "Knows " not in text or "Main types: " not in text} == set()


def test_each_folder_of_data_imports_only_from_those_above_it() -> None:
    modules, order = modules_of(DATA), layers_of_data()

    def layer(name: str) -> int:
        return order.index(name.split(".")[2])

    del modules["keyplan.data"]
    wrong = [
        f"{name} imports {other}"
        for name, tree in modules.items()
        for other in imports_of(tree, modules)
        if layer(other) > layer(name)
    ]
    assert wrong == []


def test_data_has_no_import_cycle() -> None:
    modules = modules_of(DATA)
    del modules["keyplan.data"]  # it exports what others use, and nothing inside imports it
    left = {name: imports_of(tree, modules) - {name} for name, tree in modules.items()}
    while free := {name for name, needed in left.items() if not needed & left.keys()}:
        left = {name: needed for name, needed in left.items() if name not in free}
    assert sorted(left) == []
