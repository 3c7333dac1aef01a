"""The recipes of docs/patterns run on every kind of store."""

import pytest

from tests.designs.support import MODES, Mode, opened
from tools.write_patterns import design_of, recipe, recipes, use


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", recipes())
def test_a_recipe_runs(name: str, mode: Mode) -> None:
    module = recipe(name)
    with opened(design_of(module), mode) as given:
        use(module, given)
        assert given.store.verify() == []
