"""Search conditions: the values of the search schema that a vector search is limited to.

A search condition consists of `attribute = :value`, joined by AND. As with key conditions, the service first refuses
what isn't such a condition, and then what doesn't fit the search schema, which the operation knows.
"""

from functools import lru_cache
from typing import NamedTuple, TypeAlias, cast

from keyplan.engine.expressions.expression_errors import invalid
from keyplan.engine.expressions.grammar import CACHE_SIZE, parse_condition
from keyplan.engine.expressions.nodes import Comparison, Operand, ParsedCondition, PathNode, ValueNode
from keyplan.engine.expressions.paths import resolve
from keyplan.engine.expressions.placeholders import Placeholders
from keyplan.engine.values.attribute_values import AttributeValue

_KIND = "SearchConditionExpression"
_BAD_CONDITION = f"Invalid condition in {_KIND}: "

SearchCondition: TypeAlias = dict[str, AttributeValue]
"""The attributes with the values that they must have."""


class _Parts(NamedTuple):
    """Attributes with the placeholders of their values, or what is wrong."""

    values: dict[str, str]
    problem: str | None


def search_condition(text: str, placeholders: Placeholders) -> SearchCondition:
    """Return what a SearchConditionExpression asks for; refuse what isn't a condition on attributes."""
    parsed = parse_condition(_KIND, text)
    parts = _parts(parsed, placeholders.use(parsed))
    if parts.problem is not None:
        raise invalid(_KIND, parts.problem)
    return {name: placeholders.values[value] for name, value in parts.values.items()}


class _NoCondition(Exception):
    """A part of an expression that can't be a part of a search condition; the argument is the reason."""


@lru_cache(maxsize=CACHE_SIZE)
def _parts(parsed: ParsedCondition, names: tuple[str, ...]) -> _Parts:
    found = dict(zip(parsed.names, names, strict=True))
    values: dict[str, str] = {}
    try:
        for step in parsed.steps:
            if step == "AND":
                continue
            if isinstance(step, str) or not isinstance(step, Comparison):
                operator = step if isinstance(step, str) else step.function
                raise _NoCondition(f"Invalid operator used in {_KIND}: {operator}")
            attribute, value = _equality(step, found)
            if attribute in values:
                raise _NoCondition(f"{_KIND}s must only contain one condition per attribute")
            values[attribute] = value
    except _NoCondition as error:
        return _Parts({}, str(error))
    return _Parts(values, None)


def _equality(step: Comparison, names: dict[str, str]) -> tuple[str, str]:
    if step.operator != "=":
        raise _NoCondition(f"Invalid comparator used in {_KIND}")
    left, right = step.operands
    if isinstance(left, ValueNode):
        left, right = right, left
    if not isinstance(left, PathNode) or not isinstance(right, ValueNode):
        raise _NoCondition(_BAD_CONDITION + _problem(left, right))
    path = resolve(left.path, names)
    if len(path) > 1:
        raise _NoCondition(f"{_KIND}s cannot have conditions on nested attributes")
    return cast(str, path[0]), right.name


def _problem(left: Operand, right: Operand) -> str:
    if isinstance(left, PathNode) and isinstance(right, PathNode):
        return "Multiple attribute names used in one condition"
    if isinstance(left, ValueNode) and isinstance(right, ValueNode):
        return "No attribute specified"
    return "Nested operations are not supported"
