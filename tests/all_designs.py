"""All designs that tests have: those of the five systems, of `tests/designs`, and of the recipes."""

import importlib

from keyplan.design import Design
from tools.write_patterns import design_of, recipe, recipes

SYSTEMS = ("funkedupshift", "hacktracker", "threefc", "vcm", "wavyblog")
EXAMPLES = ("forge", "saas", "shop")


def design(name: str) -> type[Design]:
    """The design with this name, such as `apps/vcm`."""
    kind, _, name = name.rpartition("/")
    if kind == "recipes":
        return type(design_of(recipe(name)))
    module = importlib.import_module(f"keyplan.apps.{name}.design" if kind == "apps" else f"tests.designs.{name}")
    return next(
        each
        for each in vars(module).values()
        if isinstance(each, type) and issubclass(each, Design) and each.__module__ == module.__name__
    )


def designs() -> list[str]:
    """The names of all of them."""
    named = {"apps": SYSTEMS, "designs": EXAMPLES, "recipes": recipes()}
    return [f"{kind}/{name}" for kind, names in named.items() for name in names]
