"""Expected, QueryFilter and ScanFilter: attributes, each with a comparison operator and values."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple, TypedDict

from keyplan.engine.errors import DynamoError, invalid_parameter, validation_error
from keyplan.engine.expressions.condition import ORDERED_TYPES, PREFIX_TYPES, Condition, bind_condition
from keyplan.engine.expressions.functions import TYPE_NAMES
from keyplan.engine.expressions.grammar import CACHE_SIZE
from keyplan.engine.expressions.nodes import CallNode, Comparison, Operand, ParsedCondition, PathNode, Step, ValueNode
from keyplan.engine.expressions.operators import rank
from keyplan.engine.values.attribute_values import AttributeValue, type_of
from keyplan.engine.values.normal_form import normalize

MOST_KEPT = 100
"""The most names and values of a request whose nodes are cached: nothing but the size of a request limits them."""


class LegacyCondition(TypedDict, total=False):
    """A condition on one attribute in KeyConditions, QueryFilter or ScanFilter."""

    ComparisonOperator: str
    AttributeValueList: list[AttributeValue]


class ExpectedValue(LegacyCondition, total=False):
    """A condition on one attribute in Expected, which has an even older form: `Value` or `Exists`."""

    Value: AttributeValue
    Exists: bool


class CheckedCondition(NamedTuple):
    """A checked condition on one attribute; the values are in normal form."""

    attribute: str
    operator: str
    values: list[AttributeValue]


class _Rule(NamedTuple):
    """What an operator takes: how many values, at least and at most, and of which types."""

    least: int
    most: float
    types: frozenset[str]


_ALL_TYPES = frozenset(TYPE_NAMES)
# What a string, a binary, a set or a list can contain.
_MEMBER_TYPES = _ALL_TYPES - {"SS", "NS", "BS", "L", "M"}
_RULES = {
    "EQ": _Rule(1, 1, _ALL_TYPES),
    "NE": _Rule(1, 1, _ALL_TYPES),
    "LE": _Rule(1, 1, ORDERED_TYPES),
    "LT": _Rule(1, 1, ORDERED_TYPES),
    "GE": _Rule(1, 1, ORDERED_TYPES),
    "GT": _Rule(1, 1, ORDERED_TYPES),
    "NOT_NULL": _Rule(0, 0, _ALL_TYPES),
    "NULL": _Rule(0, 0, _ALL_TYPES),
    "CONTAINS": _Rule(1, 1, _MEMBER_TYPES),
    "NOT_CONTAINS": _Rule(1, 1, _MEMBER_TYPES),
    "BEGINS_WITH": _Rule(1, 1, PREFIX_TYPES),
    "IN": _Rule(1, float("inf"), ORDERED_TYPES),
    "BETWEEN": _Rule(2, 2, ORDERED_TYPES),
}

COMPARATORS = {
    "EQ": "=",
    "NE": "<>",
    "LE": "<=",
    "LT": "<",
    "GE": ">=",
    "GT": ">",
    "IN": "IN",
    "BETWEEN": "BETWEEN",
}
_FUNCTIONS = {
    "NOT_NULL": "attribute_exists",
    "NULL": "attribute_not_exists",
    "CONTAINS": "contains",
    "NOT_CONTAINS": "contains",
    "BEGINS_WITH": "begins_with",
}


def filter_condition(
    member: str, conditions: Mapping[str, LegacyCondition], conditional_operator: str
) -> Condition | None:
    """Return the filter in the member QueryFilter or ScanFilter; None if it has no conditions."""
    return _joined(member, checked_conditions(conditions), conditional_operator)


def expected_condition(expected: Mapping[str, ExpectedValue], conditional_operator: str) -> Condition | None:
    """Return the condition of a write with Expected; None if it has no conditions."""
    checked = [_expected(attribute, given) for attribute, given in expected.items()]
    return _joined("Expected", checked, conditional_operator)


def check_conditional_operator(conditions: Mapping[str, LegacyCondition]) -> None:
    """Refuse a ConditionalOperator that has nothing to join."""
    if not conditions:
        raise validation_error("ConditionalOperator cannot be used without Filter or Expected")
    if len(conditions) == 1:
        raise validation_error("ConditionalOperator can only be used when Filter or Expected has two or more elements")


def checked_conditions(conditions: Mapping[str, LegacyCondition]) -> list[CheckedCondition]:
    """Return the conditions in order; raise AWS's error for the first one that is wrong."""
    return [
        _checked(attribute, given["ComparisonOperator"], given.get("AttributeValueList", []))
        for attribute, given in conditions.items()
    ]


def _checked(attribute: str, operator: str, given: Sequence[AttributeValue]) -> CheckedCondition:
    values = [normalize(value) for value in given]
    rule = _RULES[operator]
    if not rule.least <= len(values) <= rule.most:
        raise invalid_parameter(f"Invalid number of argument(s) for the {operator} ComparisonOperator")
    types = [type_of(value) for value in values]
    if len(set(types)) > 1:
        raise invalid_parameter("AttributeValues inside AttributeValueList must be of same type")
    if not rule.types.issuperset(types):
        raise invalid_parameter(f"ComparisonOperator {operator} is not valid for {types[0]} AttributeValue type")
    if operator == "BETWEEN" and rank(values[0]) > rank(values[1]):
        raise validation_error(
            "The BETWEEN condition was provided a range where the lower bound is greater than the upper bound"
        )
    return CheckedCondition(attribute, operator, values)


def _expected(attribute: str, given: ExpectedValue) -> CheckedCondition:
    operator, value, exists = given.get("ComparisonOperator"), given.get("Value"), given.get("Exists")
    arguments = given.get("AttributeValueList")
    if value is not None and arguments is not None:
        raise _expected_error("Value and AttributeValueList cannot be used together", attribute)
    if operator is None:
        if arguments is not None:
            raise _expected_error("AttributeValueList can only be used with a ComparisonOperator", attribute)
        return _existence(attribute, value, exists)
    if exists is not None:
        raise _expected_error("Exists and ComparisonOperator cannot be used together", attribute)
    if value is not None:
        arguments = [value]
    elif arguments is None and _RULES[operator].least:
        raise _expected_error(
            f"Value or AttributeValueList must be used with ComparisonOperator: {operator}", attribute
        )
    return _checked(attribute, operator, arguments or [])


def _existence(attribute: str, value: AttributeValue | None, exists: bool | None) -> CheckedCondition:
    """The older form: an attribute has this value, or it doesn't exist."""
    if exists is False:
        if value is not None:
            raise _expected_error("Value cannot be used when Exists is false", attribute)
        return CheckedCondition(attribute, "NULL", [])
    if value is None:
        raise _expected_error(f"Value must be provided when Exists is {'true' if exists else 'null'}", attribute)
    return _checked(attribute, "EQ", [value])


def _expected_error(rule: str, attribute: str) -> DynamoError:
    return invalid_parameter(f"{rule} for Attribute: {attribute}")


def _joined(kind: str, checked: Sequence[CheckedCondition], conditional_operator: str) -> Condition | None:
    if not checked:
        return None
    shape = tuple([(condition.operator, len(condition.values)) for condition in checked])
    values = [value for condition in checked for value in condition.values]
    names = tuple([condition.attribute for condition in checked])
    keep = len(names) + len(values) <= MOST_KEPT
    parsed = (_parsed if keep else _parsed.__wrapped__)(kind, conditional_operator, shape)
    return bind_condition(parsed, names, dict(zip(parsed.values, values, strict=True)), keep_plan=keep)


@lru_cache(maxsize=CACHE_SIZE)
def _parsed(kind: str, symbol: str, shape: tuple[tuple[str, int], ...]) -> ParsedCondition:
    """The nodes of conditions with these operators and numbers of values, joined by AND or OR."""
    names = [f"#{position}" for position in range(len(shape))]
    values: list[str] = []
    steps: list[Step] = []
    for name, (operator, count) in zip(names, shape, strict=True):
        own = [f":{len(values) + position}" for position in range(count)]
        values += own
        joining = [symbol] if steps else []
        steps += [*_steps(operator, name, own), *joining]
    return ParsedCondition(kind, tuple(names), tuple(values), tuple(steps))


def _steps(operator: str, name: str, values: Sequence[str]) -> list[Step]:
    operands: tuple[Operand, ...] = (PathNode((name,)), *[ValueNode(value) for value in values])
    if operator in COMPARATORS:
        return [Comparison(COMPARATORS[operator], operands)]
    call = CallNode(_FUNCTIONS[operator], operands)
    if operator == "NOT_CONTAINS":  # unlike NE, no attribute at all doesn't meet it
        return [CallNode("attribute_exists", operands[:1]), call, "NOT", "AND"]
    return [call]
