"""The operators and functions of conditions, as functions that build a matcher: item in, yes or no out.

Operands come bound: a way to get their value from an item, and what is known of them before any item is read.
Values are in normal form, so that equality is that of dicts; only S, N and B have an order.
"""

import operator
from base64 import b64decode
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias, cast

from keyplan.engine.expressions.paths import Getter
from keyplan.engine.values.attribute_values import AttributeValue, Item, base64_size
from keyplan.engine.values.numbers import to_decimal

Matcher: TypeAlias = Callable[[Item], bool]
# Strings, decimals and bytes have no common type that says they can be compared with their like.
_Comparable: TypeAlias = "str"
_Compare: TypeAlias = Callable[[_Comparable, _Comparable], bool]

_ORDER: dict[str, _Compare] = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}

# Code points compare as their UTF-8 does; numbers compare by value, binaries by their unsigned bytes.
_RANK: dict[str, Callable[[str], _Comparable]] = {
    "S": lambda text: text,
    "N": cast(Callable[[str], _Comparable], to_decimal),
    "B": cast(Callable[[str], _Comparable], b64decode),
}
_ELEMENT_TYPES = {"SS": "S", "NS": "N", "BS": "B"}


class Bound(NamedTuple):
    """An operand with its placeholders filled in; `type` and `constant` are None where only an item can tell."""

    get: Getter
    type: str | None
    constant: AttributeValue | None


def rank(value: AttributeValue) -> _Comparable:
    """What the value is ordered by among those of its type (S, N or B)."""
    ((kind, content),) = value.items()
    return _RANK[kind](cast(str, content))


def equal(left: Bound, right: Bound) -> Matcher:
    """`=`: of the same type and value; nothing equals what is not there."""
    get, other = left.get, right.get

    def match(item: Item) -> bool:
        value = get(item)
        return value is not None and value == other(item)

    return match


def not_equal(left: Bound, right: Bound) -> Matcher:
    """`<>`: the opposite of `=`, also where a type differs or a value is missing."""
    same = equal(left, right)
    return lambda item: not same(item)


def ordered(symbol: str, left: Bound, right: Bound) -> Matcher:
    """`<`, `<=`, `>`, `>=`: only between two values of one type that has an order."""
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
        value = get(item)
        return value is not None and kind in value and compare(rank_of(cast(dict[str, str], value)[kind]), bound)

    return match


def between(operand: Bound, low: Bound, high: Bound) -> Matcher:
    """`BETWEEN`: both bounds belong to it."""
    above, below = ordered(">=", operand, low), ordered("<=", operand, high)
    return lambda item: above(item) and below(item)


def one_of(operand: Bound, choices: Sequence[Bound]) -> Matcher:
    """`IN`: equal to one of the choices."""
    get = operand.get
    constants = [choice.constant for choice in choices]
    if None not in constants:
        # What is missing is None, which is not among them.
        return lambda item: get(item) in constants

    def match(item: Item) -> bool:
        value = get(item)
        return value is not None and any(value == choice.get(item) for choice in choices)

    return match


def begins_with(operand: Bound, prefix: Bound) -> Matcher:
    """Of strings and binaries."""
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
    """A part of a string or binary, an element of a set or list."""
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
    """Something stands at the path, be it NULL."""
    get = operand.get
    return lambda item: get(item) is not None


def not_exists(operand: Bound) -> Matcher:
    """Nothing stands at the path."""
    get = operand.get
    return lambda item: get(item) is None


def has_type(operand: Bound, name: str) -> Matcher:
    """What stands at the path is of this type."""
    get = operand.get

    def match(item: Item) -> bool:
        value = get(item)
        return value is not None and name in value

    return match


def size(operand: Bound) -> Bound:
    """The operand `size(...)`: units of a string, bytes of a binary, members of anything else that has them."""
    get = operand.get

    def measure(item: Item) -> AttributeValue | None:
        value = get(item)
        length = None if value is None else _size(value)
        return None if length is None else {"N": str(length)}

    return Bound(measure, "N", None)


def _size(value: AttributeValue) -> int | None:
    ((kind, content),) = value.items()
    if kind == "S":
        # In units of UTF-16: a character beyond the basic plane has two.
        text = value["S"]
        return len(text) if text.isascii() else len(text.encode("utf-16-le")) // 2
    if kind == "B":
        return base64_size(value["B"])
    return len(content) if isinstance(content, dict | list) else None


def all_of(matchers: Sequence[Matcher]) -> Matcher:
    """`AND`; one frame however many there are."""
    if len(matchers) == 2:
        one, two = matchers
        return lambda item: one(item) and two(item)

    def match(item: Item) -> bool:
        for matcher in matchers:  # noqa: SIM110 (all() with a generator takes a second frame for each level)
            if not matcher(item):
                return False
        return True

    return match


def any_of(matchers: Sequence[Matcher]) -> Matcher:
    """`OR`; one frame however many there are."""
    if len(matchers) == 2:
        one, two = matchers
        return lambda item: one(item) or two(item)

    def match(item: Item) -> bool:
        for matcher in matchers:  # noqa: SIM110 (as above)
            if matcher(item):
                return True
        return False

    return match


def negated(matcher: Matcher) -> Matcher:
    """`NOT`."""
    return lambda item: not matcher(item)
