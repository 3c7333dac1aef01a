"""All rules, in the order of their codes."""

from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType

from keyplan.review import rules
from keyplan.review.rule import Rule


@cache
def all_rules() -> tuple[Rule, ...]:
    """Every rule, by its code."""
    found = [
        rule
        for folder in iter_modules(rules.__path__, f"{rules.__name__}.")
        for module in iter_modules(import_module(folder.name).__path__, f"{folder.name}.")
        for rule in _rules_in(import_module(module.name))
    ]
    return tuple(sorted(dict.fromkeys(found), key=lambda rule: rule.code))


def _rules_in(module: ModuleType) -> Iterator[Rule]:
    """The rules of a module: each one that has a name, and those in its `RULES`."""
    yield from getattr(module, "RULES", ())
    yield from (value for value in vars(module).values() if isinstance(value, Rule))


@cache
def _by_name() -> dict[str, Rule]:
    return {name: rule for rule in all_rules() for name in (rule.code, rule.name)}


def find_rule(code_or_name: str) -> Rule | None:
    """The rule with this code or name, or None."""
    wanted = code_or_name.strip()
    return _by_name().get(wanted.upper()) or _by_name().get(wanted.lower())
