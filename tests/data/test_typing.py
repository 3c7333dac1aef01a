"""What a type checker makes of right and of wrong uses."""

import re
import shutil
from pathlib import Path

from mypy import api

HERE = Path(__file__).parent / "typing"
ROOT = Path(__file__).parents[2]
FLAGS = ["--strict", "--no-incremental", "--no-error-summary", "--hide-error-context"]
CONFIG = "[mypy]\nmypy_path = {}:{}\nnamespace_packages = True\nexplicit_package_bases = True\n"


def errors_of(folder: Path) -> dict[tuple[str, int], list[str]]:
    """The errors in all snippets, by file and line."""
    for snippet in HERE.glob("*.txt"):
        shutil.copy(snippet, folder / f"{snippet.stem}.py")
    config = folder / "mypy.ini"
    config.write_text(CONFIG.format(ROOT / "src", ROOT), "utf-8")
    out, problems, _ = api.run([*FLAGS, f"--config-file={config}", *map(str, folder.glob("*.py"))])
    assert problems == ""
    errors: dict[tuple[str, int], list[str]] = {}
    for name, line, error in re.findall(r"(\w+)\.py:(\d+): error: (.*)", out):
        errors.setdefault((name, int(line)), []).append(error)
    return errors


def test_the_checker_sees_what_is_wrong_and_nothing_else(tmp_path: Path) -> None:
    errors = errors_of(tmp_path)
    for snippet in sorted(HERE.glob("*.txt")):
        for number, line in enumerate(snippet.read_text("utf-8").splitlines(), start=1):
            _, _, expected = line.partition("  # E: ")
            found = errors.pop((snippet.stem, number), [])
            if expected:
                assert any(expected in error for error in found), f"{line}\n{found}"
            else:
                assert found == [], f"{line}\n{found}"
    assert errors == {}, "errors elsewhere"
