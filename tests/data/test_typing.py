"""What a type checker makes of right and of wrong uses."""

import re
import shutil
from pathlib import Path

import pytest
from mypy import api

HERE = Path(__file__).parent / "typing"
ROOT = Path(__file__).parents[2]
FLAGS = ["--strict", "--no-incremental", "--show-error-codes", "--no-error-summary", "--hide-error-context"]


def checked(name: str, folder: Path) -> tuple[list[str], dict[int, list[str]]]:
    """The lines of a snippet, and the errors by line."""
    snippet = folder / f"{name}.py"
    shutil.copy(HERE / f"{name}.txt", snippet)
    config = folder / "mypy.ini"
    config.write_text(
        f"[mypy]\nmypy_path = {ROOT / 'src'}:{ROOT}\nnamespace_packages = True\nexplicit_package_bases = True\n"
    )
    out, problems, _ = api.run([*FLAGS, f"--config-file={config}", str(snippet)])
    assert problems == ""
    errors: dict[int, list[str]] = {}
    for line in out.splitlines():
        match = re.match(rf"{re.escape(str(snippet))}:(\d+): error: (.*)", line)
        if match:
            errors.setdefault(int(match[1]), []).append(match[2])
    return snippet.read_text("utf-8").splitlines(), errors


@pytest.mark.parametrize("name", ["right", "wrong"])
def test_the_checker_sees_what_is_wrong_and_nothing_else(name: str, tmp_path: Path) -> None:
    lines, errors = checked(name, tmp_path)
    for number, line in enumerate(lines, start=1):
        _, _, expected = line.partition("  # E: ")
        found = errors.get(number, [])
        if expected:
            assert any(expected in error for error in found), f"{line}\n{found}"
        else:
            assert found == [], f"{line}\n{found}"
    assert name == "right" or len(errors) > 15
