"""The pages of docs/designs are up to date, and their examples run."""

import re
import runpy
from pathlib import Path

import pytest

from tools.write_designs import PAGES, documents, files

PYTHON_BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_all_pages_are_up_to_date() -> None:
    stored = {str(path.relative_to(PAGES)): path.read_text("utf-8") for path in PAGES.rglob("*") if path.is_file()}
    made = files()
    assert stored.keys() == made.keys()
    assert [name for name, text in made.items() if stored[name] != text] == [], "run `make docs`"


@pytest.mark.parametrize("name", documents())
def test_the_examples_run(name: str, tmp_path: Path) -> None:
    """Each pattern by the data layer and by boto3's methods, in one script."""
    script = tmp_path / "examples.py"
    blocks = PYTHON_BLOCK.findall((PAGES / f"{name}.md").read_text("utf-8"))
    assert len(blocks) > 2 * len(documents()[name][0].patterns)
    script.write_text("\n".join(blocks), "utf-8")
    runpy.run_path(str(script))["dynamodb"].close()
