"""The documentation says what the code does: it is complete, its examples run, its links lead somewhere."""

import importlib
import inspect
import re
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from typing import get_args

import pytest

from keyplan import pytest_plugin
from keyplan.apps.wavyblog.service import accounts
from keyplan.web.media import decoder, decoding, receive, uploads
from keyplan.web.pages import kept
from keyplan.web.settings import Protects, Settings
from tools.write_docs import written

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src"
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
PYTHON_BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
TEMPLATE_BLOCK = re.compile(r"^```html\n{# (templates/\S+) #}\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
CODE = re.compile(r"`[^`\n]+`")


def page_id(page: Path) -> str:
    return str(page.relative_to(ROOT))


def words_of_the_documentation() -> str:
    return "\n".join(page.read_text("utf-8") for page in PAGES)


def run(arguments: list[str], folder: Path) -> None:
    result = subprocess.run([sys.executable, *arguments], cwd=folder, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr


def test_the_reference_of_the_command_line_is_up_to_date(tmp_path: Path) -> None:
    fresh = tmp_path / "cli.md"
    run(["-m", "typer", "keyplan.cli", "utils", "docs", "--name", "keyplan", "--output", str(fresh)], ROOT)
    assert (ROOT / "docs" / "cli.md").read_text("utf-8") == fresh.read_text("utf-8"), "run `make docs`"


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_what_is_taken_from_the_code_is_up_to_date(page: Path) -> None:
    assert written(page.read_text("utf-8")) == page.read_text("utf-8"), "run `make docs`"


def test_every_setting_is_documented() -> None:
    page = (ROOT / "docs" / "systems.md").read_text("utf-8")
    assert {name for name in Settings.model_fields if f"`KEYPLAN_{name.upper()}`" not in page} == set()


NO_LIMITS = {
    "dynamodb_timeout",
    "port",
    "workers",
    "dynamodb_port",
    "monitor_port",
    "stream_tries",
    "sweep_seconds",
    "lease_seconds",
}
"""Settings that are numbers, but don't protect the server from anybody."""


def test_every_limit_is_documented() -> None:
    """A setting that is a number is a limit, marked with what it protects, or one of the few that aren't."""
    numbers = {name for name, field in Settings.model_fields.items() if _is_number(field.annotation)}
    limits = {
        name
        for name, field in Settings.model_fields.items()
        if any(isinstance(mark, Protects) for mark in field.metadata)
    }
    assert numbers - limits == NO_LIMITS, "mark a limit with Protects(...)"
    page = (ROOT / "docs" / "limits.md").read_text("utf-8")
    assert {name for name in limits if f"| `KEYPLAN_{name.upper()}` |" not in page} == set()


def test_fixed_limits_are_documented_as_they_are() -> None:
    page = (ROOT / "docs" / "limits.md").read_text("utf-8").partition("## Fixed limits")[2]
    figures = (
        f"{accounts.ATTEMPTS} sign-ins per minute for one account",
        f"up to {kept.LONGEST // 1024} KB; {kept.MOST_FORMS} forms and {kept.MOST_BYTES // 1024**2} MB",
        f"within {decoder.SECONDS:g} seconds, in {decoder.MEMORY / 1024**3:g} GB of memory",
        f"{decoder.WAITING} more may wait",
        f"{decoding.FRAMES:,} frames, and {decoding.ALL_FRAMES} times",
        f"for {uploads.SEND_WITHIN // timedelta(minutes=1)} minutes",
        f"{receive.MOST_FIELDS:,} bytes besides the file, and {receive.SILENCE_SECONDS:g} seconds",
    )
    assert [each for each in figures if each not in page] == []


def _is_number(annotation: object) -> bool:
    parts = get_args(annotation)
    return any(map(_is_number, parts)) if parts else annotation in (int, float)


def test_every_environment_setting_is_documented() -> None:
    source = "\n".join(path.read_text("utf-8") for path in SOURCE.rglob("*.py"))
    settings = set(re.findall(r"\bKEYPLAN_[A-Z0-9_]+\b", source))
    assert {name for name in settings if name not in words_of_the_documentation()} == set()


def test_every_setting_of_the_engine_is_documented() -> None:
    from keyplan.engine import Engine

    page = (ROOT / "docs" / "engine.md").read_text("utf-8")
    assert {name for name in inspect.signature(Engine).parameters if f"`{name}`" not in page} == set()


def test_every_fixture_of_the_pytest_plugin_is_documented() -> None:
    page = (ROOT / "docs" / "engine.md").read_text("utf-8")
    names = {*pytest_plugin._FIXTURES, *(name for name, _, _ in pytest_plugin._FIXTURES.values())}
    assert names
    assert {name for name in names if not re.search(rf"\b{name}\b", page)} == set()


RECIPES = ROOT / "docs" / "patterns"
"""Its pages are written from modules; tests/patterns runs both."""
DESIGNS = ROOT / "docs" / "designs"
"""Its pages are written from designs; tests/publish runs their examples."""


@pytest.mark.parametrize("page", [page for page in PAGES if page.parent not in (RECIPES, DESIGNS)], ids=page_id)
def test_the_examples_run(page: Path, tmp_path: Path) -> None:
    """The plain examples of a page are one script, top to bottom; one with a test in it is a file for pytest."""
    blocks = PYTHON_BLOCK.findall(page.read_text("utf-8"))
    for name, template in TEMPLATE_BLOCK.findall(page.read_text("utf-8")):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(template, "utf-8")
    tests = [block for block in blocks if "def test_" in block]
    (tmp_path / "examples.py").write_text("\n".join(block for block in blocks if block not in tests), "utf-8")
    run(["-W", "error", "examples.py"], tmp_path)
    for number, block in enumerate(tests):
        (tmp_path / f"test_{number}.py").write_text(block, "utf-8")
    if tests:
        run(["-m", "pytest", "-q", "-W", "error", "-p", "no:cacheprovider", "-p", "no:xdist", str(tmp_path)], tmp_path)


@pytest.mark.parametrize(("package", "page"), [("design", "design.md"), ("data.streams", "streams.md")])
def test_every_public_name_is_explained(package: str, page: str) -> None:
    text = (ROOT / "docs" / page).read_text("utf-8")
    names = importlib.import_module(f"keyplan.{package}").__all__
    assert {name for name in names if not re.search(rf"\b{name}\b", text)} == set()


def anchors_of(page: Path) -> set[str]:
    """The headings of a page, spelled as the forges spell them in an address."""
    headings = re.findall(r"^#+ (.+)$", page.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_the_links_lead_somewhere(page: Path) -> None:
    for link in LINK.findall(CODE.sub("", page.read_text("utf-8"))):
        if "://" in link or link.startswith("mailto:"):
            continue
        file, _, anchor = link.partition("#")
        target = (page.parent / file).resolve() if file else page
        assert target.exists(), f"{link} leads to nothing"
        assert not anchor or anchor in anchors_of(target), f"{link}: {page_id(target)} has no such heading"
