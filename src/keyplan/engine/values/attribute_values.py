"""Attribute values and items in the wire's form, which is also how they are stored; their sizes by AWS's rule.

A value is a dict with one member, named by its type: `{"S": "text"}`, `{"N": "1"}`, `{"B": "<base64>"}` and so on.
"""

from collections.abc import Callable
from typing import Any, TypeAlias, TypedDict

from keyplan.engine.errors import ConstraintError, PlainError, invalid_parameter
from keyplan.engine.values import numbers


class AttributeValue(TypedDict, total=False):
    """An attribute value: a dict with exactly one of these members."""

    S: str
    N: str
    B: str
    SS: list[str]
    NS: list[str]
    BS: list[str]
    M: "dict[str, AttributeValue]"
    L: "list[AttributeValue]"
    BOOL: bool
    NULL: bool


Item: TypeAlias = dict[str, AttributeValue]


class NormalItem(Item):
    """Attribute values by name that are known to be legal and in normal form: an item, a key, an expression's values.

    Its values may be the caller's own objects, so they must not be changed in place.
    """

    __slots__ = ()


class SizedItem(NormalItem):
    """An item to be put, with its size by AWS's rule and its JSON."""

    __slots__ = ("size", "stored")
    size: int
    stored: bytes


MAXIMUM_ITEM_SIZE = 409_600
MAXIMUM_NESTING = 32
MAXIMUM_NAME_SIZE = 65_535


def type_of(value: AttributeValue) -> str:
    """Return the name of the value's type."""
    return next(iter(value))


def content_of(value: AttributeValue) -> object:
    """Return the value's content, without its type."""
    return next(iter(value.values()))


def name_size(name: str) -> int:
    """Return the size of an attribute's name in bytes; raise AWS's error if it is empty or too long."""
    size = len(name) if name.isascii() else len(name.encode())
    if 0 < size <= MAXIMUM_NAME_SIZE:
        return size
    if size:
        raise ConstraintError(f"Attribute name is too large, must be less than {MAXIMUM_NAME_SIZE + 1} bytes")
    raise invalid_parameter("Empty attribute name")


def value_size(value: AttributeValue) -> int:
    """Return the size of a value in normal form, by AWS's rule."""
    ((kind, content),) = value.items()
    return _SIZES[kind](content)


def item_size(item: Item) -> int:
    """Return the size of an item in normal form, including the names of its attributes."""
    total = 0
    for name, value in item.items():
        text = value.get("S")
        if text is not None:
            total += len(text) if text.isascii() else len(text.encode())
        else:
            ((kind, content),) = value.items()
            total += _SIZES[kind](content)
        total += len(name) if name.isascii() else len(name.encode())
    return total


def base64_size(text: str) -> int:
    """Return the number of bytes that canonical base64 encodes."""
    return len(text) // 4 * 3 - text.count("=", -2)


def check_item_size(size: int) -> None:
    """Refuse an item over 400 KB."""
    if size > MAXIMUM_ITEM_SIZE:
        raise PlainError("Item size has exceeded the maximum allowed size")


def _text_size(content: str) -> int:
    return len(content) if content.isascii() else len(content.encode())


def _one(content: object) -> int:
    return 1


def _size_of_members(size: Callable[[str], int]) -> Callable[[list[str]], int]:
    return lambda content: sum(map(size, content))


def _map_size(members: Item) -> int:
    return 3 + len(members) + item_size(members)


def _list_size(members: list[AttributeValue]) -> int:
    return 3 + len(members) + sum(map(value_size, members))


_SIZES: dict[str, Callable[[Any], int]] = {
    "S": _text_size,
    "N": numbers.size,
    "B": base64_size,
    "BOOL": _one,
    "NULL": _one,
    "SS": _size_of_members(_text_size),
    "NS": _size_of_members(numbers.size),
    "BS": _size_of_members(base64_size),
    "M": _map_size,
    "L": _list_size,
}
