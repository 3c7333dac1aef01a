"""Key conditions: which partition a Query reads, and which range of its sort keys.

The parser treats the text like any other condition; here it is matched with a key schema. In a GSI both parts of the
key may have several attributes: every partition key attribute needs `=`, and the sort key attributes are used from the
left, without gaps, with `=` for all but the last one.

The service looks at a key condition in three steps: what is wrong with it as an expression, what it means for a key,
and whether that fits the key of the table or index. Filter and projection come between the first and the second.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple, TypeAlias, cast

from keyplan.engine.errors import validation_error
from keyplan.engine.expressions.condition import ORDERED_TYPES, PREFIX_TYPES, bind_condition, check_bounds
from keyplan.engine.expressions.expression_errors import invalid, wrong_type
from keyplan.engine.expressions.grammar import CACHE_SIZE, parse_key_condition
from keyplan.engine.expressions.nodes import CallNode, Leaf, Operand, ParsedCondition, PathNode, Step, ValueNode
from keyplan.engine.expressions.paths import resolve
from keyplan.engine.expressions.placeholders import Placeholders
from keyplan.engine.values.attribute_values import AttributeValue, Item, type_of

RangeCondition: TypeAlias = tuple[str, tuple[AttributeValue, ...]]
"""An operator ("=", "<", "<=", ">", ">=", "BETWEEN", "begins_with") and its one or two values."""

_KIND = "KeyConditionExpression"
WRONG_COUNT = "Conditions can be of length 1 or 2 only"
MIRRORED = {"=": "=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
"""The comparisons that a key condition may have, with what they are if their operands change places."""
_SEARCHABLE = frozenset({*MIRRORED, "BETWEEN", "begins_with"})
_BAD_CONDITION = "Invalid condition in KeyConditionExpression: "


class KeyCondition(NamedTuple):
    """The values of the partition key attributes, and a condition for each sort key attribute that has one."""

    hash: list[AttributeValue]
    range: list[RangeCondition]


class KeyPart(NamedTuple):
    """A condition on one attribute, with the placeholders of its values."""

    attribute: str
    operator: str
    values: tuple[str, ...]


KeyParts: TypeAlias = tuple[KeyPart, ...]
"""The conditions in the order of the text, not yet matched with a key schema."""


class KeyExpression(NamedTuple):
    """A key condition that is well-formed: its parts, or what is wrong with the first part that makes no sense."""

    parts: KeyParts
    problem: str | None


class _Plan(NamedTuple):
    """The placeholders of the values in the order of the schema, or AWS's error message."""

    hash: tuple[str, ...]
    range: KeyParts
    error: str | None


def key_condition(
    text: str, placeholders: Placeholders, hash_attributes: Sequence[str], range_attributes: Sequence[str]
) -> KeyCondition:
    """Return the condition that a KeyConditionExpression sets on a key with these attributes."""
    parts = key_parts(key_expression(text, placeholders))
    return fit_key_parts(parts, placeholders.values, tuple(hash_attributes), tuple(range_attributes))


def key_expression(text: str, placeholders: Placeholders) -> KeyExpression:
    """Parse a key condition: the first step, which refuses what no expression may have."""
    parsed = parse_key_condition(text)
    names, values = placeholders.use(parsed), placeholders.values
    expression = _expression(parsed, names)
    if expression.problem is not None:
        bind_condition(parsed, names, values)
    for part in expression.parts:
        if part.operator != "=":
            _check_values(part, values)
    return expression


def key_parts(expression: KeyExpression) -> KeyParts:
    """Return the conditions on attributes: the second step, which refuses what isn't a condition on a key."""
    if expression.problem is not None:
        raise invalid(_KIND, expression.problem)
    return expression.parts


def fit_key_parts(
    parts: KeyParts, values: Item, hash_attributes: tuple[str, ...], range_attributes: tuple[str, ...]
) -> KeyCondition:
    """Match the conditions with a key schema: the third step. Refuses conditions that don't fit it."""
    plan = _plan(parts, hash_attributes, range_attributes)
    if plan.error is not None:
        raise validation_error(plan.error)
    return KeyCondition(
        [values[name] for name in plan.hash],
        [(part.operator, tuple([values[name] for name in part.values])) for part in plan.range],
    )


def _check_values(part: KeyPart, values: Item) -> None:
    operands = [values[name] for name in part.values]
    allowed = PREFIX_TYPES if part.operator == "begins_with" else ORDERED_TYPES
    for value in operands:
        if allowed.isdisjoint(value):
            raise wrong_type(_KIND, part.operator, type_of(value))
    if part.operator == "BETWEEN":
        check_bounds(_KIND, *operands)


class _NoKeyCondition(Exception):
    """A part of an expression that can't be a part of a key condition; the argument is AWS's reason."""


@lru_cache(maxsize=CACHE_SIZE)
def _expression(parsed: ParsedCondition, names: tuple[str, ...]) -> KeyExpression:
    found = dict(zip(parsed.names, names, strict=True))
    parts: dict[str, KeyPart] = {}
    try:
        for clause in _clauses(parsed.steps):
            part = _part(clause, found)
            if part.attribute in parts:
                raise _NoKeyCondition("KeyConditionExpressions must only contain one condition per key")
            parts[part.attribute] = part
    except _NoKeyCondition as error:
        return KeyExpression((), str(error))
    return KeyExpression(tuple(parts.values()), None)


def _clauses(steps: Sequence[Step]) -> list[Leaf | str]:
    """The conditions that are joined by AND, from left to right; another operator stands for all that it joins."""
    stack: list[list[Leaf | str]] = []
    for step in steps:
        if not isinstance(step, str):
            stack.append([step])
        elif step == "NOT":
            stack[-1] = [step]
        else:
            right = stack.pop()
            stack[-1] = stack[-1] + right if step == "AND" else [step]
    return stack[0]


def _part(clause: Leaf | str, names: dict[str, str]) -> KeyPart:
    operator, operands = (clause, ()) if isinstance(clause, str) else clause
    if operator not in MIRRORED and operator not in ("BETWEEN", "begins_with"):
        raise _NoKeyCondition(f"Invalid operator used in KeyConditionExpression: {operator}")
    nodes = [_resolved(node, names) for node in operands]
    attributes = [node for node in nodes if isinstance(node, PathNode)]
    if not attributes:
        raise _NoKeyCondition(_BAD_CONDITION + "No key attribute specified")
    if len(attributes) > 1:
        raise _NoKeyCondition(_BAD_CONDITION + "Multiple attribute names used in one condition")
    if not isinstance(nodes[0], PathNode):
        if operator not in MIRRORED:
            problem = f"{operator} operator must have the key attribute as its first operand"
            raise _NoKeyCondition(_BAD_CONDITION + problem)
        operator = MIRRORED[operator]
    values = tuple([node.name for node in nodes if isinstance(node, ValueNode)])
    return KeyPart(cast(str, attributes[0].path[0]), operator, values)


def _resolved(node: Operand, names: dict[str, str]) -> Operand:
    if isinstance(node, CallNode):
        raise _NoKeyCondition("KeyConditionExpressions cannot contain nested operations")
    if isinstance(node, PathNode):
        if len(node.path) > 1:
            raise _NoKeyCondition("KeyConditionExpressions cannot have conditions on nested attributes")
        return PathNode(resolve(node.path, names))
    return node


@lru_cache(maxsize=CACHE_SIZE)
def _plan(parts: KeyParts, hashes: tuple[str, ...], ranges: tuple[str, ...]) -> _Plan:
    by_attribute = {part.attribute: part for part in parts}
    error = _mismatch(by_attribute, hashes, ranges)
    if error is not None:
        return _Plan((), (), error)
    used = [by_attribute[name] for name in ranges if name in by_attribute]
    return _Plan(tuple([by_attribute[name].values[0] for name in hashes]), tuple(used), None)


def _mismatch(parts: dict[str, KeyPart], hashes: tuple[str, ...], ranges: tuple[str, ...]) -> str | None:
    """AWS's message if a key with this schema can't be searched by these conditions, otherwise None."""
    unsupported = "Query key condition not supported"
    # Only legacy conditions have such an operator: in an expression, it is refused earlier.
    unsearchable = "Attempted conditional constraint is not an indexable operation"
    if len(parts) > 2 and len(hashes) + len(ranges) <= 2:
        return WRONG_COUNT
    for name in hashes:
        if name not in parts:
            return f"Query condition missed key schema element: {name}"
        if parts[name].operator != "=":
            return unsupported if parts[name].operator in _SEARCHABLE else unsearchable
    if any(name in parts and parts[name].operator not in _SEARCHABLE for name in ranges):
        return unsearchable
    last = max([position for position, name in enumerate(ranges) if name in parts], default=0)
    gaps = [name for name in ranges[:last] if name not in parts or parts[name].operator != "="]
    if gaps:
        return (
            f"RANGE key attributes {', '.join(gaps)} must have equality conditions specified in the query "
            f"because a condition is present on key attribute {ranges[last]}"
        )
    left = len(parts) - len(hashes)
    for name in ranges[:left]:
        if name not in parts:
            return f"Query condition missed key schema element: {name}"
    return unsupported if left > len(ranges) else None
