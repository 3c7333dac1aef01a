"""Key conditions: which partition a Query reads, and which range of its sort keys.

The parser treats the text like any other condition; here it is matched with a key schema. In a GSI both parts of the
key may have several attributes: every partition key attribute needs `=`, and the sort key attributes are used from the
left, without gaps, with `=` for all but the last one.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple, TypeAlias, cast

from keyplan.engine.errors import DynamoError, validation_error
from keyplan.engine.expressions.condition import ORDERED_TYPES, PREFIX_TYPES, check_bounds, check_distinct
from keyplan.engine.expressions.expression_errors import wrong_type
from keyplan.engine.expressions.grammar import CACHE_SIZE, parse_key_condition
from keyplan.engine.expressions.nodes import CallNode, Leaf, Operand, ParsedCondition, PathNode, Step, ValueNode
from keyplan.engine.expressions.paths import resolve
from keyplan.engine.expressions.placeholders import Placeholders
from keyplan.engine.values.attribute_values import AttributeValue, Item, type_of

RangeCondition: TypeAlias = tuple[str, tuple[AttributeValue, ...]]
"""An operator ("=", "<", "<=", ">", ">=", "BETWEEN", "begins_with") and its one or two values."""

_MIRRORED = {"=": "=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_PREFIX = "Invalid condition in KeyConditionExpression: "


class KeyCondition(NamedTuple):
    """The values of the partition key attributes, and a condition for each sort key attribute that has one."""

    hash: list[AttributeValue]
    range: list[RangeCondition]


class _Part(NamedTuple):
    """A condition on one attribute, with the placeholders of its values."""

    attribute: str
    operator: str
    values: tuple[str, ...]


KeyParts: TypeAlias = tuple[_Part, ...]
"""The conditions in the order of the text, not yet matched with a key schema."""


class _Plan(NamedTuple):
    """The placeholders of the values in the order of the schema, or AWS's error message."""

    hash: tuple[str, ...]
    range: KeyParts
    error: str | None


def key_condition(
    text: str, placeholders: Placeholders, hash_attributes: Sequence[str], range_attributes: Sequence[str]
) -> KeyCondition:
    """Return the condition that a KeyConditionExpression sets on a key with these attributes."""
    return fit_key_parts(key_parts(text, placeholders), placeholders, hash_attributes, range_attributes)


def key_parts(text: str, placeholders: Placeholders) -> KeyParts:
    """Parse a key condition: the first of two steps, which refuses what is wrong for every key schema."""
    parsed = parse_key_condition(text)
    parts = _parts(parsed, placeholders.use(parsed))
    values = placeholders.values
    for part in parts:
        if part.operator != "=":
            _check_values(part, values)
    return parts


def fit_key_parts(
    parts: KeyParts, placeholders: Placeholders, hash_attributes: Sequence[str], range_attributes: Sequence[str]
) -> KeyCondition:
    """Match the conditions with a key schema: the second step. Refuses conditions that don't fit it."""
    plan = _plan(parts, tuple(hash_attributes), tuple(range_attributes))
    if plan.error is not None:
        raise validation_error(plan.error)
    values = placeholders.values
    return KeyCondition(
        [values[name] for name in plan.hash],
        [(part.operator, tuple([values[name] for name in part.values])) for part in plan.range],
    )


def _check_values(part: _Part, values: Item) -> None:
    kind = "KeyConditionExpression"
    operands = [values[name] for name in part.values]
    allowed = PREFIX_TYPES if part.operator == "begins_with" else ORDERED_TYPES
    for value in operands:
        if allowed.isdisjoint(value):
            raise wrong_type(kind, part.operator, type_of(value))
    if part.operator == "BETWEEN":
        check_bounds(kind, *operands)


@lru_cache(maxsize=CACHE_SIZE)
def _parts(parsed: ParsedCondition, names: tuple[str, ...]) -> KeyParts:
    found = dict(zip(parsed.names, names, strict=True))
    parts = tuple([_part(leaf, found) for leaf in _leaves(parsed.steps)])
    if len({part.attribute for part in parts}) < len(parts):
        raise validation_error("KeyConditionExpressions must only contain one condition per key")
    return parts


@lru_cache(maxsize=CACHE_SIZE)
def _plan(parts: KeyParts, hashes: tuple[str, ...], ranges: tuple[str, ...]) -> _Plan:
    by_attribute = {part.attribute: part for part in parts}
    error = _mismatch(by_attribute, hashes, ranges)
    if error is not None:
        return _Plan((), (), error)
    used = [by_attribute[name] for name in ranges if name in by_attribute]
    return _Plan(tuple([by_attribute[name].values[0] for name in hashes]), tuple(used), None)


def _leaves(steps: Sequence[Step]) -> list[Leaf]:
    """The conditions that are joined by AND; other operators are refused."""
    leaves: list[Leaf] = []
    for step in steps:
        if not isinstance(step, str):
            leaves.append(step)
        elif step != "AND":
            raise _bad_operator(step)
    return leaves


def _part(leaf: Leaf, names: dict[str, str]) -> _Part:
    operator, operands = leaf
    if operator not in _MIRRORED and operator not in ("BETWEEN", "begins_with"):
        raise _bad_operator(operator)
    nodes = [_resolved(node, names) for node in operands]
    attributes = [node for node in nodes if isinstance(node, PathNode)]
    if not attributes:
        raise validation_error(_PREFIX + "No key attribute specified")
    check_distinct("KeyConditionExpression", operator, nodes)
    if len(attributes) > 1:
        raise validation_error(_PREFIX + "Multiple attribute names used in one condition")
    if not isinstance(nodes[0], PathNode):
        if operator not in _MIRRORED:
            raise validation_error(f"{_PREFIX}{operator} operator must have the key attribute as its first operand")
        operator = _MIRRORED[operator]
    values = tuple([node.name for node in nodes if isinstance(node, ValueNode)])
    return _Part(cast(str, attributes[0].path[0]), operator, values)


def _resolved(node: Operand, names: dict[str, str]) -> Operand:
    if isinstance(node, CallNode):
        raise validation_error("KeyConditionExpressions cannot contain nested operations")
    if isinstance(node, PathNode):
        if len(node.path) > 1:
            raise validation_error("KeyConditionExpressions cannot have conditions on nested attributes")
        return PathNode(resolve(node.path, names))
    return node


def _bad_operator(operator: str) -> DynamoError:
    return validation_error(f"Invalid operator used in KeyConditionExpression: {operator}")


def _mismatch(parts: dict[str, _Part], hashes: tuple[str, ...], ranges: tuple[str, ...]) -> str | None:
    """AWS's message if a key with this schema can't be searched by these conditions, otherwise None."""
    unsupported = "Query key condition not supported"
    if len(parts) > 2 and len(hashes) + len(ranges) <= 2:
        return "Conditions can be of length 1 or 2 only"
    for name in hashes:
        if name not in parts:
            return f"Query condition missed key schema element: {name}"
        if parts[name].operator != "=":
            return unsupported
    left = len(parts) - len(hashes)
    for position, name in enumerate(ranges[:left]):
        if name not in parts:
            return f"Query condition missed key schema element: {name}"
        if parts[name].operator != "=" and position < left - 1:
            return unsupported
    return unsupported if left > len(ranges) else None
