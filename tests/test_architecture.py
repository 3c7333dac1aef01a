"""The rooms of the house: who may know whom, and how large a module may grow.

The table is explained in CONTRIBUTING.md. An import counts wherever it stands: inside a function or under
TYPE_CHECKING it is knowledge all the same.
"""

import ast
import graphlib
import importlib
import re
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src"
LONGEST_MODULE = 420

MAY_IMPORT: dict[str, set[str]] = {
    # `import keyplan` runs before any room is entered, so it must bring in nothing: `keyplan.mock` is imported on use.
    "keyplan": {"keyplan.engine"},
    "keyplan.engine": set(),
    "keyplan.addresses": set(),
    "keyplan.connection": set(),
    "keyplan.design": set(),
    "keyplan.data": {"keyplan.design"},
    "keyplan.review": {"keyplan.design", "keyplan.data"},
    "keyplan.publish": {"keyplan.design", "keyplan.data"},
    "keyplan.capacity": {"keyplan.design", "keyplan.data"},
    "keyplan.adopt": {"keyplan.design", "keyplan.data"},
    "keyplan.web": {
        *("keyplan.addresses", "keyplan.connection", "keyplan.design", "keyplan.data"),
        *("keyplan.review", "keyplan.capacity"),
    },
    "keyplan.apps": {"keyplan.design", "keyplan.data", "keyplan.web"},
    "keyplan.pytest_plugin": {"keyplan.engine"},
}
MAY_IMPORT_ALL = {"keyplan.cli"}

MAY_IMPORT_INSIDE: dict[str, dict[str, set[str]]] = {
    # A folder or module may import only what stands above it, so that there are no cycles between them.
    "keyplan.engine": {
        "errors": set(),
        "service_model": set(),
        "executor": {"errors"},
        "protocol": {"errors", "executor"},
        "values": {"errors"},
        "expressions": {"errors", "values"},
        "partiql": {"errors", "expressions", "values"},
        "storage": {"errors", "values"},
        "validation": {"errors", "executor", "service_model", "values"},
        "vectors": {"errors", "storage", "values"},
        "formats": {"values"},
        "operations": {
            "errors",
            "executor",
            "expressions",
            "formats",
            "partiql",
            "service_model",
            "storage",
            "validation",
            "values",
            "vectors",
        },
        "objects": set(),
        "background": {"errors", "formats", "objects", "operations", "storage"},
        "regions": {"executor", "operations", "storage", "vectors"},
        "database": {
            "background",
            "errors",
            "executor",
            "objects",
            "operations",
            "regions",
            "storage",
            "validation",
            "vectors",
        },
        "wire": {"errors", "executor", "protocol"},
        "operator": {"database", "errors", "executor", "operations", "storage", "values", "vectors"},
        "client": {"database", "errors", "executor", "protocol", "service_model", "validation", "values"},
    },
    "keyplan.design": {
        "errors": set(),
        "compat": set(),
        "words": {"errors"},
        "values": {"errors"},
        "keys": {"errors", "values"},
        "tables": {"errors", "keys", "words"},
        "fields": {"tables", "values"},
        "entities": {"compat", "errors", "fields", "keys", "tables", "values", "words"},
        "operations": {"entities", "errors", "keys", "tables", "values"},
        "designs": {"entities", "errors", "operations", "tables", "values", "words"},
        "examples": {"designs", "entities", "errors", "fields", "operations", "values"},
    },
    "keyplan.data": {
        "errors": set(),
        "objects": {"errors"},
        "steps": {"errors"},
        "compat": set(),
        "relations": set(),
        "codec": {"compat", "errors"},
        "expressions": {"codec", "errors"},
        "reads": {"codec", "errors", "expressions", "relations", "steps"},
        "writes": {"codec", "compat", "errors", "expressions", "reads", "relations", "steps"},
        "jobs": {"codec", "errors", "expressions", "reads", "steps", "writes"},
        "upkeep": {"codec", "errors", "expressions", "steps", "writes"},
        "subjects": {"writes"},
        "operations": {"errors", "jobs", "objects", "reads", "relations", "steps", "subjects", "writes"},
        "store": {"errors", "objects", "operations", "reads", "steps", "upkeep", "writes"},
        "streams": {"codec", "errors", "steps", "store", "writes"},
    },
    "keyplan.web": {
        "settings": set(),
        "compat": set(),
        "models": set(),
        "media": {"models", "settings"},
        "system": {"media", "models", "settings"},
        "identity": {"models", "settings", "system"},
        "routes": {"compat", "identity", "models", "system"},
        "pages": {"identity", "models", "routes", "settings", "system"},
        "server": {"compat", "identity", "media", "models", "pages", "routes", "settings", "system"},
    },
}

ALL: list[str] = ["every name in the module's __all__"]
DOORS: dict[str, dict[str, list[str]]] = {
    # What other rooms may import from a room: these names of these modules, and nothing deeper.
    "keyplan.engine": {
        "keyplan.engine": ["DamagedFile", "Database", "Engine", "RefusedRequest", "mock"],
        "keyplan.engine.operator": ALL,
        "keyplan.engine.wire": ["Credentials", "Server", "run", "serve_in_thread"],
    },
    "keyplan.design": {"keyplan.design": ALL, "keyplan.design.examples": ALL},
    "keyplan.data": {"keyplan.data": ALL, "keyplan.data.streams": ALL},
    "keyplan.review": {"keyplan.review": ALL},
    "keyplan.publish": {
        "keyplan.publish.diagrams": ALL,
        "keyplan.publish.differences": ALL,
        "keyplan.publish.document": ALL,
        "keyplan.publish.infra": ALL,
        "keyplan.publish.policies": ALL,
    },
    "keyplan.adopt": {"keyplan.adopt": ALL},
    "keyplan.capacity": {
        "keyplan.capacity.consumed": ALL,
        "keyplan.capacity.cost": ALL,
        "keyplan.capacity.heat": ALL,
        "keyplan.capacity.metering": ALL,
        "keyplan.capacity.prices": ALL,
        "keyplan.capacity.recording": ALL,
        "keyplan.capacity.report": ALL,
        "keyplan.capacity.sampling": ALL,
        "keyplan.capacity.savings": ALL,
        "keyplan.capacity.traffic": ALL,
    },
    "keyplan.web": {
        "keyplan.web": ALL,
        "keyplan.web.identity": ALL,
        "keyplan.web.media": ALL,
        "keyplan.web.server": ALL,
    },
}

INSIDERS = {
    "keyplan.design": {"keyplan.adopt", "keyplan.capacity", "keyplan.data", "keyplan.publish", "keyplan.review"}
}
"""Who may look behind a room's doors: those that work with every detail of a declaration."""


FLOOR_PLAN = {
    "__init__.py": "what the system is for",
    "fields.py": "the types of values, with limits and labels, and the fields that are declared once",
    "entities.py": "tables and entities, in the document's order",
    "design.py": "the access patterns",
    "departures.py": "where the design differs from its document, and why",
    "models.py": "bodies and answers, as far as they are not derived",
    "service": "the rules",
    "api.py": "the routes, and the system",
    "pages": "the pages",
    "templates": "their templates",
    "static": "their scripts and styles",
    "demo.py": "made-up data",
}
"""What every system has."""
MAY_HAVE = {"upkeep.py": "what the system does by itself, apart from requests"}
MORE: dict[str, dict[str, str]] = {
    "wavyblog": {"markdown.py": "posts are Markdown, which services, pages and the feed turn into HTML"},
    "vcm": {
        "calendar.py": "events as iCalendar",
        "editor": "the source of the rich-text editor, bundled from npm packages",
        "html.py": "rich text as HTML",
        "markdown.py": "rich text as Markdown and back",
        "payload": "the import of a club's site from Payload",
        "richtext.py": "the rules of rich text",
        "slugs.py": "slugs of German titles",
    },
}
"""What a system has beside the floor plan, with the reason."""


def module_name(path: Path) -> str:
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def room_of(module: str) -> str:
    """`keyplan.engine.storage` is in the room `keyplan.engine`; every system has a room of its own."""
    parts = module.split(".")
    return ".".join(parts[:3] if parts[1:2] == ["apps"] else parts[:2])


@cache
def imported_modules(source: str, module: str, *, is_package: bool) -> list[str]:
    """The modules of keyplan that a source text imports, by their full names."""
    imported: list[str] = []
    package = module.split(".") if is_package else module.split(".")[:-1]
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            origin = ".".join([*above, *([node.module] if node.module else [])])
            # `from keyplan import engine` and `from keyplan.apps import vcm` name the room only in their second half.
            names = [f"{origin}.{alias.name}" for alias in node.names]
        else:
            continue
        imported += [name for name in names if name.split(".")[0] == "keyplan"]
    return imported


def refusal(importer: str, imported: str) -> str | None:
    """Why `importer` may not import `imported`; None where it may."""
    room, target = room_of(importer), room_of(imported)
    if target not in MAY_IMPORT and target not in MAY_IMPORT_ALL and not target.startswith("keyplan.apps."):
        target = "keyplan"  # a plain name of the outermost package, such as __version__
    if target in (room, "keyplan") or room in MAY_IMPORT_ALL:
        return None
    table_row = "keyplan.apps" if room.startswith("keyplan.apps.") else room
    if table_row not in MAY_IMPORT:
        return f"{importer}: {room} is not in the table MAY_IMPORT"
    if target in MAY_IMPORT[table_row]:
        return None
    return f"{importer} imports {imported}, but {room} may know only {sorted(MAY_IMPORT[table_row]) or 'itself'}"


def refusals(source: str, module: str, *, is_package: bool = False) -> list[str]:
    found = (refusal(module, name) for name in imported_modules(source, module, is_package=is_package))
    return [reason for reason in found if reason]


def test_every_import_respects_the_table() -> None:
    assert [
        reason
        for path in sorted(SOURCE.rglob("*.py"))
        for reason in refusals(path.read_text("utf-8"), module_name(path), is_package=path.name == "__init__.py")
    ] == []


def imports_of(path: Path) -> list[str]:
    return imported_modules(path.read_text("utf-8"), module_name(path), is_package=path.name == "__init__.py")


@pytest.mark.parametrize("room", MAY_IMPORT_INSIDE)
def test_folders_of_a_room_know_only_what_is_below_them(room: str) -> None:
    table = MAY_IMPORT_INSIDE[room]
    for position, (part, known) in enumerate(table.items()):
        assert known <= set(list(table)[:position]), f"{part} may import only what is listed before it"
    depth = len(room.split("."))
    wrong = []
    parts = set()
    for path in sorted(SOURCE.joinpath(*room.split(".")).rglob("*.py")):
        importer = module_name(path)
        if importer == room:
            continue
        part = importer.split(".")[depth]
        parts.add(part)
        wrong += [
            f"{importer} imports {name}"
            for name in imports_of(path)
            if name.startswith(f"{room}.") and name.split(".")[depth] not in {part, *table.get(part, ())}
        ]
    assert wrong == []
    assert parts == table.keys()


@pytest.mark.parametrize(
    "room",
    [
        "keyplan.engine",
        "keyplan.data",
        "keyplan.review",
        "keyplan.publish",
        "keyplan.capacity",
        "keyplan.adopt",
        "keyplan.web",
        "keyplan.apps",
        "keyplan.cli",
    ],
)
def test_no_module_imports_itself_in_a_circle(room: str) -> None:
    modules = {module_name(path): path for path in SOURCE.joinpath(*room.split(".")).rglob("*.py")}
    graph = {
        module: {name if name in modules else name.rpartition(".")[0] for name in imports_of(path)} & modules.keys()
        for module, path in modules.items()
    }
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        pytest.fail(" imports ".join(reversed(error.args[1])))


@pytest.mark.parametrize("room", DOORS)
def test_other_rooms_use_a_room_by_its_doors(room: str) -> None:
    exported = {door: sorted(importlib.import_module(door).__all__) for door in DOORS[room]}
    assert [door for door, names in DOORS[room].items() if names is not ALL and exported[door] != names] == []
    allowed = {f"{door}.{name}" for door, names in exported.items() for name in names} | DOORS[room].keys()
    assert [
        f"{module_name(path)} imports {name}"
        for path in sorted(SOURCE.rglob("*.py"))
        if room_of(module_name(path)) not in (room, *INSIDERS.get(room, ()))
        for name in imports_of(path)
        if name.startswith(f"{room}.") and name not in allowed
    ] == []


def test_every_room_is_in_the_table() -> None:
    rooms = {room_of(module_name(path)) for path in SOURCE.rglob("*.py")}
    known = MAY_IMPORT.keys() | MAY_IMPORT_ALL
    assert {room for room in rooms if room not in known and not room.startswith("keyplan.apps.")} == set()


@pytest.mark.parametrize(
    ("module", "line"),
    [
        ("keyplan.engine.wire", "import keyplan.design"),
        ("keyplan.engine.wire", "import keyplan.cli.main"),
        ("keyplan.engine.wire", "from keyplan import data"),
        ("keyplan.engine.wire", "from ..design import Table"),
        ("keyplan.engine.wire", "from .. import design"),
        ("keyplan.engine.wire", "def later():\n    from keyplan.web import console"),
        ("keyplan.design", "from keyplan.data.store import Store"),
        ("keyplan.data.store", "from keyplan.engine import Engine"),
        ("keyplan.review.rules", "from keyplan.capacity import Forecast"),
        ("keyplan.web.console", "from keyplan.publish import document"),
        ("keyplan.apps.vcm.api", "from keyplan.engine import Engine"),
        ("keyplan.apps.vcm.api", "from keyplan.apps.wavyblog import design"),
        ("keyplan.apps.vcm.api", "from keyplan.apps import wavyblog"),
        ("keyplan.apps.vcm.api", "from ..wavyblog import design"),
        ("keyplan.pytest_plugin", "from keyplan.web import kit"),
        ("keyplan", "from keyplan.data import Store"),
        ("keyplan.newcomer", "from keyplan.engine import Engine"),
    ],
)
def test_a_wrong_import_is_caught(module: str, line: str) -> None:
    assert len(refusals(line, module)) == 1


@pytest.mark.parametrize(
    ("module", "line"),
    [
        ("keyplan.engine.wire", "import asyncio, boto3"),
        ("keyplan.engine.wire", "from keyplan.engine.values.attribute_values import Item"),
        ("keyplan.engine.wire", "from . import server"),
        ("keyplan.engine.operations.stream_records", "from ..values.attribute_values import Item"),
        ("keyplan.engine.wire", "from keyplan import __version__"),
        ("keyplan.data.store", "from keyplan.design import Table"),
        ("keyplan.web.console", "from keyplan import capacity, review"),
        ("keyplan.apps.vcm.api", "from keyplan.apps.vcm.service import book"),
        ("keyplan.apps.vcm.api", "from . import design"),
        ("keyplan.apps.vcm.api", "from keyplan.web import kit"),
        ("keyplan.cli.main", "from keyplan.apps.vcm import api"),
    ],
)
def test_a_right_import_passes(module: str, line: str) -> None:
    assert refusals(line, module) == []


# A type in the stubs of botocore; nothing of it is there at run time.
FOR_TYPES_ONLY = {"botocore.exceptions._ClientErrorResponseTypeDef"}


def private_imports(source: str) -> list[str]:
    """The imports of modules or names of other libraries that begin with an underscore."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        found += [
            name
            for name in names
            if name.split(".")[0] not in ("keyplan", "__future__") and name not in FOR_TYPES_ONLY
            if any(part.startswith("_") and not part.startswith("__") for part in name.split("."))
        ]
    return found


def test_private_interfaces_of_other_libraries_are_used_in_compat_modules_only() -> None:
    assert {
        module_name(path): found
        for path in sorted(SOURCE.rglob("*.py"))
        if path.stem != "compat" and (found := private_imports(path.read_text("utf-8")))
    } == {}


@pytest.mark.parametrize(
    "line", ["from fastapi._compat import ModelField", "import a._b", "from pydantic.main import _x"]
)
def test_a_private_import_is_caught(line: str) -> None:
    assert len(private_imports(line)) == 1


# What pydantic's reference of BaseModel documents, and for which there is no method.
DOCUMENTED = {"__pydantic_decorators__", "__pydantic_generic_metadata__", "__pydantic_init_subclass__"}
DOCUMENTED |= {
    "__get_pydantic_core_schema__",
    "__get_pydantic_json_schema__",
    "__pydantic_config__",
    "__pydantic_validator__",
}


def test_attributes_of_pydantic_are_documented_or_used_in_compat_modules_only() -> None:
    names = re.compile(r"__(?:get_)?pydantic_\w+__")
    assert {
        module_name(path): found
        for path in sorted(SOURCE.rglob("*.py"))
        if path.stem != "compat" and (found := set(names.findall(path.read_text("utf-8"))) - DOCUMENTED)
    } == {}


def test_no_module_is_two_rooms_in_one() -> None:
    lengths = {path: len(path.read_text("utf-8").splitlines()) for path in SOURCE.rglob("*.py")}
    assert {module_name(path): length for path, length in lengths.items() if length > LONGEST_MODULE} == {}


def tracked_texts() -> Iterator[tuple[str, str]]:
    listing = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listing.returncode != 0:
        pytest.skip("not a git checkout, so there is no list of tracked files")
    for name in filter(None, listing.stdout.split("\0")):
        path = ROOT / name
        if path.is_file():
            yield name, path.read_text("utf-8", errors="replace")


def test_no_tracked_file_names_a_place_on_one_machine() -> None:
    places = "|".join(re.escape(str(place)) for place in {ROOT, Path.home()} if len(place.parts) > 1)
    pattern = re.compile(rf"(?<![\w./-])(?:{places}|/home/\w+|/Users/\w+)/")
    assert [name for name, text in tracked_texts() if pattern.search(text)] == []


LOCKS = [ROOT / "requirements.lock", *ROOT.glob("tests/*/requirements.lock"), *ROOT.glob("tests/*/package-lock.json")]


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.relative_to(ROOT).as_posix())
def test_a_lock_holds_versions_and_hashes_and_no_address(lock: Path) -> None:
    text = lock.read_text("utf-8")
    assert "sha256:" in text or "sha512-" in text
    assert re.findall(r'"resolved".*|--(?:extra-)?index-url.*|--find-links.*', text) == []


SYSTEMS = sorted(path.parent.name for path in (SOURCE / "keyplan" / "apps").glob("*/__init__.py"))


@pytest.mark.parametrize("system", SYSTEMS)
def test_every_system_has_the_same_floor_plan(system: str) -> None:
    folder = SOURCE / "keyplan" / "apps" / system
    there = {path.name for path in folder.iterdir() if path.name != "__pycache__"}
    assert FLOOR_PLAN.keys() - there == set(), "missing"
    assert there - FLOOR_PLAN.keys() - MAY_HAVE.keys() == MORE.get(system, {}).keys(), "beside the floor plan"


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("module", ["fields", "entities", "design", "departures"])
def test_a_declaration_needs_no_web(system: str, module: str) -> None:
    """Commands about designs work without the extras of the kit."""
    path = SOURCE / "keyplan" / "apps" / system / f"{module}.py"
    assert [name for name in imports_of(path) if name.startswith("keyplan.web")] == []


def test_no_test_module_imports_another() -> None:
    """What several of them need is in a support module."""
    found = [
        f"{path.relative_to(ROOT)}: {line}"
        for path in sorted((ROOT / "tests").rglob("*.py"))
        for line in re.findall(r"^from tests\.[\w.]*\btest_\w+ import .*", path.read_text("utf-8"), re.MULTILINE)
    ]
    assert found == []
