"""The operators and functions of conditions. Each builds a matcher, a function from an item to a bool.

Operands are bound: a function that gets the value from an item, and what is known about it before an item is read.
Values are in normal form, so that equal values are equal dicts; only S, N and B have an order.
"""

import operator
from base64 import b64decode
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias, cast

from keyplan.engine.expressions.paths import Getter
from keyplan.engine.values.attribute_values import AttributeValue, Item, base64_size
from keyplan.engine.values.numbers import to_decimal

Matcher: TypeAlias = Callable[[Item], bool]
# Strings, decimals and bytes have no common type for "comparable with its own kind".
_Comparable: TypeAlias = "str"
_Compare: TypeAlias = Callable[[_Comparable, _Comparable], bool]

_ORDER: dict[str, _Compare] = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}

# Strings compare by code points, which is the order of their UTF-8; numbers by value; binaries by unsigned bytes.
_RANK: dict[str, Callable[[Any], _Comparable]] = {
    "S": lambda text: text,
    "N": cast(Callable[[str], _Comparable], to_decimal),
    "B": cast(Callable[[str], _Comparable], b64decode),
}
_ELEMENT_TYPES = {"SS": "S", "NS": "N", "BS": "B"}


class Bound(NamedTuple):
    """An operand with resolved placeholders; `type` and `constant` are None if they depend on the item."""

    get: Getter
    type: str | None
    constant: AttributeValue | None


def rank(value: AttributeValue) -> _Comparable:
    """Return what a value of type S, N or B is ordered by."""
    ((kind, content),) = value.items()
    return _RANK[kind](content)


def equal(left: Bound, right: Bound) -> Matcher:
    """`=`: the same type and value; a missing attribute equals nothing."""
    get, other = left.get, right.get

    def match(item: Item) -> bool:
        value = get(item)
        return value is not None and value == other(item)

    return match


def not_equal(left: Bound, right: Bound) -> Matcher:
    """`<>`: the opposite of `=`, also if the types differ or an attribute is missing."""
    same = equal(left, right)
    return lambda item: not same(item)


def ordered(symbol: str, left: Bound, right: Bound) -> Matcher:
    """`<`, `<=`, `>`, `>=`: only between two values of the same ordered type."""
    if right.constant is not None:
        return _ordered_to_constant(symbol, left.get, right.constant)
    if left.constant is not None:
        return _ordered_to_constant(_MIRRORED[symbol], right.get, left.constant)
    compare, get, other = _ORDER[symbol], left.get, right.get

    def match(item: Item) -> bool:
        one, two = get(item), other(item)
        if one is None or two is None or one.keys() != two.keys() or next(iter(one)) not in _RANK:
            return False
        return compare(rank(one), rank(two))

    return match


def _ordered_to_constant(symbol: str, get: Getter, constant: AttributeValue) -> Matcher:
    kind = next(iter(constant))
    bound, compare, rank_of = rank(constant), _ORDER[symbol], _RANK[kind]

    def match(item: Item) -> bool:
        value: Any = get(item)
        return value is not None and kind in value and compare(rank_of(value[kind]), bound)

    return match


def between(operand: Bound, low: Bound, high: Bound) -> Matcher:
    """`BETWEEN`: both bounds are included."""
    above, below = ordered(">=", operand, low), ordered("<=", operand, high)
    return lambda item: above(item) and below(item)


def one_of(operand: Bound, choices: Sequence[Bound]) -> Matcher:
    """`IN`: equal to one of the choices."""
    get = operand.get
    constants = [choice.constant for choice in choices]
    if None not in constants:
        # A missing attribute is None, which is never one of the constants.
        return lambda item: get(item) in constants

    def match(item: Item) -> bool:
        value = get(item)
        return value is not None and any(value == choice.get(item) for choice in choices)

    return match


def begins_with(operand: Bound, prefix: Bound) -> Matcher:
    """`begins_with`, for strings and binaries."""
    get, start = operand.get, prefix.get

    def match(item: Item) -> bool:
        value, wanted = get(item), start(item)
        if value is None or wanted is None:
            return False
        if "S" in value:
            return "S" in wanted and value["S"].startswith(wanted["S"])
        return "B" in value and "B" in wanted and b64decode(value["B"]).startswith(b64decode(wanted["B"]))

    return match


def contains(operand: Bound, sought: Bound) -> Matcher:
    """`contains`: a part of a string or binary, or an element of a set or list."""
    get, part = operand.get, sought.get

    def match(item: Item) -> bool:
        value, wanted = get(item), part(item)
        return value is not None and wanted is not None and _contains(value, wanted)

    return match


def _contains(value: AttributeValue, wanted: AttributeValue) -> bool:
    if "L" in value:
        return wanted in value["L"]
    if "S" in value:
        return "S" in wanted and wanted["S"] in value["S"]
    if "B" in value:
        return "B" in wanted and b64decode(wanted["B"]) in b64decode(value["B"])
    ((kind, content),) = value.items()
    return _ELEMENT_TYPES.get(kind) in wanted and next(iter(wanted.values())) in cast(list[str], content)


def exists(operand: Bound) -> Matcher:
    """`attribute_exists`: there is a value at the path, possibly NULL."""
    get = operand.get
    return lambda item: get(item) is not None


def not_exists(operand: Bound) -> Matcher:
    """`attribute_not_exists`: there is no value at the path."""
    get = operand.get
    return lambda item: get(item) is None


def has_type(operand: Bound, name: str) -> Matcher:
    """`attribute_type`: the value at the path has this type."""
    get = operand.get

    def match(item: Item) -> bool:
        value = get(item)
        return value is not None and name in value

    return match


def size(operand: Bound) -> Bound:
    """The operand `size(...)`: UTF-16 units of a string, bytes of a binary, members of a set, list or map."""
    get = operand.get

    def measure(item: Item) -> AttributeValue | None:
        value = get(item)
        length = None if value is None else _size(value)
        return None if length is None else {"N": str(length)}

    return Bound(measure, "N", None)


def _size(value: AttributeValue) -> int | None:
    ((kind, content),) = value.items()
    if kind == "S":
        # In UTF-16 units: a character beyond the basic plane has two.
        text = value["S"]
        return len(text) if text.isascii() else len(text.encode("utf-16-le")) // 2
    if kind == "B":
        return base64_size(value["B"])
    return len(content) if isinstance(content, dict | list) else None


def all_of(matchers: Sequence[Matcher]) -> Matcher:
    """`AND`, with one stack frame for any number of conditions."""
    if len(matchers) == 2:
        one, two = matchers
        return lambda item: one(item) and two(item)

    def match(item: Item) -> bool:
        for matcher in matchers:  # noqa: SIM110 - all() with a generator needs a second frame for each level
            if not matcher(item):
                return False
        return True

    return match


def any_of(matchers: Sequence[Matcher]) -> Matcher:
    """`OR`, with one stack frame for any number of conditions."""
    if len(matchers) == 2:
        one, two = matchers
        return lambda item: one(item) or two(item)

    def match(item: Item) -> bool:
        for matcher in matchers:  # noqa: SIM110 - as above
            if matcher(item):
                return True
        return False

    return match


def negated(matcher: Matcher) -> Matcher:
    """`NOT`."""
    return lambda item: not matcher(item)
