"""Conditions evaluated in Python, with the same result as in DynamoDB.

Each rule of a write is stated once, as the condition that is sent. When DynamoDB refuses the write, it returns the item
that it found, and `holds` tells which of the conditions failed.
"""

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from operator import ge, gt, le, lt
from typing import Any, TypeAlias, cast

from keyplan.data.codec.values import AttributeValue, Item
from keyplan.design.operations.conditions import FieldPath, Node

_Comparison: TypeAlias = Callable[[Any, Any], bool]

_ORDER: Mapping[str, _Comparison] = {"<": lt, "<=": le, ">": gt, ">=": ge}
_ELEMENT = {"SS": "S", "NS": "N", "BS": "B"}


def holds(condition: Node, item: Item | None) -> bool:
    """Whether an item meets a condition over stored attributes; None for an item that doesn't exist."""
    stored = item or {}
    operands: Sequence[Any] = condition.operands
    match condition.operator:
        case "AND":
            return all(holds(each, stored) for each in operands)
        case "OR":
            return any(holds(each, stored) for each in operands)
        case "NOT":
            return not holds(operands[0], stored)
    values = [stored_value(each, stored) for each in operands]
    match condition.operator:
        case "attribute_exists":
            return values[0] is not None
        case "attribute_not_exists":
            return values[0] is None
        case "=":
            return same_value(*values)
        case "<>":
            return not same_value(*values)
        case "IN":
            return any(same_value(values[0], each) for each in values[1:])
        case "BETWEEN":
            value, low, high = values
            return _ordered(ge, value, low) and _ordered(le, value, high)
        case "attribute_type":
            return values[0] is not None and values[1] is not None and values[1]["S"] in values[0]
        case "begins_with":
            return _begins_with(*values)
        case "contains":
            return _contains(*values)
    return _ordered(_ORDER[condition.operator], *values)


def holds_all(conditions: Sequence[Node], item: Item | None) -> bool:
    """Whether an item meets all of these conditions."""
    return all(holds(each, item) for each in conditions)


def stored_value(operand: object, item: Item) -> AttributeValue | None:
    """The value of an operand; None if nothing is stored at its path."""
    if isinstance(operand, Node):
        return _size(stored_value(operand.operands[0], item))
    if not isinstance(operand, FieldPath):
        return cast(AttributeValue, operand)
    value: Any = {"M": item}
    for name in operand.names:
        members = value.get("M" if isinstance(name, str) else "L")
        if members is None or (isinstance(name, int) and name >= len(members)):
            return None
        value = members.get(name) if isinstance(name, str) else members[name]
        if value is None:
            return None
    found: AttributeValue = value
    return found


def _size(value: AttributeValue | None) -> AttributeValue | None:
    """The size of a value; None for a number, a boolean and NULL, which have none."""
    if value is None:
        return None
    ((tag, content),) = value.items()
    if tag in ("N", "BOOL", "NULL"):
        return None
    # DynamoDB counts UTF-16 units of a text.
    length = len(content.encode("utf-16-le")) // 2 if tag == "S" else len(content)
    return {"N": str(length)}


def same_value(one: AttributeValue | None, other: AttributeValue | None) -> bool:
    """Whether two values are equal in DynamoDB: numbers by value, sets in any order. An absent value equals nothing."""
    if one is None or other is None:
        return False
    if one == other:
        return True
    ((tag, first),), ((other_tag, second),) = one.items(), other.items()
    if tag != other_tag:
        return False
    match tag:
        case "N":
            return Decimal(first) == Decimal(second)
        case "SS" | "BS":
            return set(first) == set(second)
        case "NS":
            return set(map(Decimal, first)) == set(map(Decimal, second))
        case "L":
            return len(first) == len(second) and all(map(same_value, first, second))
        case "M":
            return first.keys() == second.keys() and all(same_value(first[name], second[name]) for name in first)
    return False


def _ordered(compare: _Comparison, one: AttributeValue | None, other: AttributeValue | None) -> bool:
    """Compare two texts, numbers or binaries. False for other types, which have no order."""
    for tag, rank in (("S", str), ("N", Decimal), ("B", bytes)):
        if one is not None and other is not None and tag in one and tag in other:
            return compare(rank(one[tag]), rank(other[tag]))
    return False


def _begins_with(value: AttributeValue | None, prefix: AttributeValue | None) -> bool:
    for tag in ("S", "B"):
        if value is not None and prefix is not None and tag in value and tag in prefix:
            return bool(value[tag].startswith(prefix[tag]))
    return False


def _contains(value: AttributeValue | None, sought: AttributeValue | None) -> bool:
    """Whether a text or binary contains another, or a set or list an element."""
    if value is None or sought is None:
        return False
    ((tag, content),) = value.items()
    match tag:
        case "S" | "B":
            return tag in sought and sought[tag] in content
        case "L":
            return any(same_value(each, sought) for each in content)
        case "SS" | "NS" | "BS":
            return any(same_value({_ELEMENT[tag]: each}, sought) for each in content)
    return False
