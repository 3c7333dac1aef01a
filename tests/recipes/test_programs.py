"""The examples of docs/programs.md that need a library of their own: `make test-recipes` installs them all.

Those that need nothing more run with the rest of the documentation, in tests/test_documentation.py.
"""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "programs.md"
RECIPE = re.compile(r"^```python recipe=(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
RECIPES = dict(RECIPE.findall(PAGE.read_text("utf-8")))
NEEDS = {
    "powertools": "aws_lambda_powertools",
    "celery": "celery",
    "langgraph": "langgraph_checkpoint_aws",
    "cachelib": "cachelib",
    "flask": "flask_session",
    "django": "django_dynamodb_cache",
    "jupyter": "nbclient",
}
WARNS = {"flask", "langgraph", "jupyter", "powertools"}
"""Recipes whose libraries warn, about what others have deprecated or about running outside of Lambda."""


def test_every_recipe_is_run() -> None:
    assert RECIPES.keys() == NEEDS.keys()


@pytest.mark.parametrize("name", NEEDS)
def test_the_recipe_runs(name: str, tmp_path: Path) -> None:
    if importlib.util.find_spec(NEEDS[name]) is None:
        pytest.skip(f"NOT TESTED: {NEEDS[name]} isn't installed; make test-recipes installs it")
    (tmp_path / "test_recipe.py").write_text(RECIPES[name], "utf-8")
    warnings = [] if name in WARNS else ["-W", "error"]
    command = [sys.executable, "-m", "pytest", "-q", *warnings, "-p", "no:cacheprovider", str(tmp_path)]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
