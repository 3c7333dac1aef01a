"""What type checkers make of right and of wrong uses: the snippets in `typing`, checked by mypy and by pyright.

A line with `# E: text` is an error whose message contains the text, for mypy; pyright has to find an error there too.
"""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from mypy import api

HERE = Path(__file__).parent / "typing"
ROOT = Path(__file__).parents[1]
FLAGS = ["--strict", "--no-incremental", "--no-error-summary", "--hide-error-context"]
CONFIG = "[mypy]\nmypy_path = {}:{}\nnamespace_packages = True\nexplicit_package_bases = True\n"
Errors = dict[tuple[str, int], list[str]]


def found_by_mypy(folder: Path) -> Errors:
    config = folder / "mypy.ini"
    config.write_text(CONFIG.format(ROOT / "src", ROOT), "utf-8")
    out, problems, _ = api.run([*FLAGS, f"--config-file={config}", *map(str, folder.glob("*.py"))])
    assert problems == ""
    errors: Errors = {}
    for name, line, error in re.findall(r"(\w+)\.py:(\d+): error: (.*)", out):
        errors.setdefault((name, int(line)), []).append(error)
    return errors


def examples() -> Iterator[Path]:
    """The recipes and designs, which say `# pyright: strict`."""
    for folder in ("patterns", "designs"):
        for module in sorted((ROOT / "tests" / folder).glob("*.py")):
            if module.read_text("utf-8").startswith("# pyright: strict"):
                yield module


def found_by_pyright(folder: Path) -> Errors:
    for module in examples():  # mypy checks them with everything else
        shutil.copy(module, folder)
    config = {"extraPaths": [str(ROOT / "src"), str(ROOT)], "typeCheckingMode": "standard", "pythonVersion": "3.11"}
    (folder / "pyrightconfig.json").write_text(json.dumps(config), "utf-8")
    command = [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable, "-p", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=170)
    if not done.stdout.startswith("{"):
        pytest.skip(f"NOT TESTED: pyright can't be started here ({done.stderr.strip()[-200:]})")
    errors: Errors = {}
    for each in json.loads(done.stdout)["generalDiagnostics"]:
        if each["severity"] == "error":
            line = each["range"]["start"]["line"] + 1
            errors.setdefault((Path(each["file"]).stem, line), []).append(each["message"])
    return errors


def expectations() -> Iterator[tuple[tuple[str, int], str, str]]:
    for snippet in sorted(HERE.glob("*.txt")):
        for number, line in enumerate(snippet.read_text("utf-8").splitlines(), start=1):
            yield (snippet.stem, number), line, line.partition("  # E: ")[2]


@pytest.fixture
def snippets(tmp_path: Path) -> Path:
    for snippet in HERE.glob("*.txt"):
        shutil.copy(snippet, tmp_path / f"{snippet.stem}.py")
    return tmp_path


@pytest.mark.parametrize("checker", [found_by_mypy, found_by_pyright])
def test_the_checker_sees_what_is_wrong_and_nothing_else(checker: Callable[[Path], Errors], snippets: Path) -> None:
    errors = checker(snippets)
    for place, line, expected in expectations():
        found = errors.pop(place, [])
        if not expected:
            assert found == [], f"{line}\n{found}"
        elif checker is found_by_mypy:
            assert any(expected in error for error in found), f"{line}\n{found}"
        else:
            assert found, f"not seen: {line}"
    assert errors == {}, "errors elsewhere"
