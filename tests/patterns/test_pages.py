"""The pages of docs/patterns are up to date, show the requests that are sent, run, and are in the index."""

import re
import runpy
from pathlib import Path

import pytest

from tools.write_patterns import PAGES, page_of, recipes

PYTHON_BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("name", recipes())
def test_the_page_is_up_to_date_and_runs(name: str, tmp_path: Path) -> None:
    page = (PAGES / f"{name}.md").read_text("utf-8")
    assert page == page_of(name), "run `make docs`"
    script = tmp_path / "recipe.py"
    script.write_text("\n".join(PYTHON_BLOCK.findall(page)), "utf-8")
    runpy.run_path(str(script), run_name="recipe")["engine"].close()


def test_every_recipe_is_in_the_index() -> None:
    index = (PAGES / "README.md").read_text("utf-8")
    assert sorted(re.findall(r"\((\w+)\.md\)", index)) == recipes()
    assert sorted(path.stem for path in PAGES.glob("*.md") if path.name != "README.md") == recipes()
