"""All rules, in the order of their codes."""

from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from keyplan.review import rules
from keyplan.review.rule import Rule


@cache
def all_rules() -> tuple[Rule, ...]:
    """Every rule, by its code."""
    found = [
        value
        for folder in iter_modules(rules.__path__, f"{rules.__name__}.")
        for module in iter_modules(import_module(folder.name).__path__, f"{folder.name}.")
        for value in vars(import_module(module.name)).values()
        if isinstance(value, Rule)
    ]
    return tuple(sorted(dict.fromkeys(found), key=lambda rule: rule.code))


def find_rule(code_or_name: str) -> Rule | None:
    """The rule with this code or name, or None."""
    wanted = code_or_name.strip()
    return next((rule for rule in all_rules() if wanted.upper() == rule.code or wanted.lower() == rule.name), None)
