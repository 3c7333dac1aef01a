"""Attribute values in the wire's form: what is legal, their normal form, their size and their order.

A value is a dict with one member, named by its type: `{"S": "text"}`, `{"N": "1"}`, `{"B": "<base64>"}` and so on,
just as the wire has it and as it is stored. `normalise` is the one gate: behind it numbers are in normal form,
base64 is canonical and sets are sorted, so that equal values are equal dicts.
"""

import binascii
from base64 import b64decode, b64encode
from collections.abc import Callable
from typing import TypeAlias, TypedDict, cast

from keyplan.engine.errors import ConstraintError, DynamoError, invalid_parameter, validation_error
from keyplan.engine.values import numbers


class AttributeValue(TypedDict, total=False):
    """One value; exactly one member is there."""

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


class PlainItem(Item):
    """An item that is known to be legal and in normal form, see `plain_items`; with its size and its JSON."""

    __slots__ = ("size", "stored")
    size: int
    stored: bytes


Sized: TypeAlias = tuple[AttributeValue, int]

MAXIMUM_ITEM_SIZE = 409_600
MAXIMUM_NESTING = 32
MAXIMUM_NAME_SIZE = 65_535


def type_of(value: AttributeValue) -> str:
    """The name of the value's type."""
    return next(iter(value))


def content_of(value: AttributeValue) -> object:
    """What stands under the type's name."""
    return next(iter(value.values()))


def normalise(value: AttributeValue, depth: int = 1) -> AttributeValue:
    """The value in normal form, as a new object; AWS's error where it is not legal."""
    return _normalise(value, depth)[0]


def normalise_item(item: Item) -> Item:
    """All attributes in normal form, as a new item."""
    if type(item) is PlainItem:
        return item
    result: Item = {}
    for name, value in item.items():
        # Most values are strings, which are in normal form; and nobody changes one in place.
        result[name] = value if "S" in value and len(value) == 1 else _normalise(value, 1)[0]
    return result


def normalise_sized(item: Item) -> tuple[Item, int]:
    """All attributes in normal form, and the size of the item by AWS's rule."""
    if type(item) is PlainItem:
        return item, item.size
    check_item_size(len(item))
    result: Item = {}
    total = 0
    for name, value in item.items():
        text = value.get("S")
        if text is not None and len(value) == 1:  # most values are strings, which are in normal form
            result[name] = {"S": text}
            total += len(text) if text.isascii() else len(text.encode())
        else:
            result[name], size = _normalise(value, 1)
            total += size
        total += len(name) if name.isascii() and 0 < len(name) <= MAXIMUM_NAME_SIZE else name_size(name)
    return result, total


def name_size(name: str) -> int:
    """The bytes of an attribute's name, which must have some and not too many."""
    size = len(name) if name.isascii() else len(name.encode())
    if 0 < size <= MAXIMUM_NAME_SIZE:
        return size
    if size:
        raise ConstraintError(f"Attribute name is too large, must be less than {MAXIMUM_NAME_SIZE + 1} bytes")
    raise invalid_parameter("Empty attribute name")


def _normalise(value: AttributeValue, depth: int) -> Sized:
    try:
        ((kind, content),) = value.items()
        rule = _RULES[kind]
    except (ValueError, KeyError):
        return _normalise(_only_type(value, depth), depth)
    return rule(content, depth)


def _only_type(value: AttributeValue, depth: int) -> AttributeValue:
    """The value without the members that are no types; AWS ignores those and wants just one that is."""
    known = {kind: content for kind, content in value.items() if kind in _RULES}
    if not known:
        raise validation_error("Supplied AttributeValue is empty, must contain exactly one of the supported datatypes")
    if len(known) > 1:
        for kind, content in known.items():  # what is wrong with one of them is told first
            _RULES[kind](content, depth)
        raise validation_error(
            "Supplied AttributeValue has more than one datatypes set, "
            "must contain exactly one of the supported datatypes"
        )
    return cast(AttributeValue, known)


def _string(content: object, depth: int) -> Sized:
    text = cast(str, content)
    return {"S": text}, len(text) if text.isascii() else len(text.encode())


def _number(content: object, depth: int) -> Sized:
    number = numbers.normal(cast(str, content))
    return {"N": number}, numbers.size(number)


def _binary(content: object, depth: int) -> Sized:
    data = decode_binary(cast(str, content))
    return {"B": b64encode(data).decode()}, len(data)


def _boolean(content: object, depth: int) -> Sized:
    return {"BOOL": cast(bool, content)}, 1


def _null(content: object, depth: int) -> Sized:
    if content is not True:
        raise invalid_parameter("Null attribute value types must have the value of true")
    return {"NULL": True}, 1


def _string_set(content: object, depth: int) -> Sized:
    members = cast(list[str], content)
    if not members:
        raise invalid_parameter("An string set  may not be empty")
    if len(set(members)) != len(members):
        raise invalid_parameter(f"Input collection [{', '.join(members)}] contains duplicates.")
    return {"SS": sorted(members)}, sum(len(member.encode()) for member in members)


def _number_set(content: object, depth: int) -> Sized:
    check_item_size(len(cast(list[str], content)))
    members = [numbers.normal(member) for member in cast(list[str], content)]
    if not members:
        raise invalid_parameter("An number set  may not be empty")
    if len(set(members)) != len(members):
        raise validation_error("Input collection contains duplicates")
    return {"NS": sorted(members, key=numbers.to_decimal)}, sum(map(numbers.size, members))


def _binary_set(content: object, depth: int) -> Sized:
    given = cast(list[str], content)
    if not given:
        raise invalid_parameter("Binary sets should not be empty")
    members = [decode_binary(member) for member in given]
    if len(set(members)) != len(members):
        raise invalid_parameter(f"Input collection [{', '.join(given)}]of type BS contains duplicates.")
    return {"BS": [b64encode(member).decode() for member in sorted(members)]}, sum(map(len, members))


def _map(content: object, depth: int) -> Sized:
    _check_depth(depth)
    check_item_size(2 * len(cast(Item, content)))  # at once, before a million members are looked at
    result: Item = {}
    total = 3
    for name, value in cast(Item, content).items():
        result[name], size = _normalise(value, depth + 1)
        total += size + 1 + name_size(name)
    return {"M": result}, total


def _list(content: object, depth: int) -> Sized:
    _check_depth(depth)
    check_item_size(len(cast(list[AttributeValue], content)))
    sized = [_normalise(value, depth + 1) for value in cast(list[AttributeValue], content)]
    return {"L": [value for value, _ in sized]}, 3 + len(sized) + sum(size for _, size in sized)


def _check_depth(depth: int) -> None:
    """A scalar may be at the 32nd level, so a map or list may not."""
    if depth >= MAXIMUM_NESTING:
        raise validation_error(
            "Nesting Levels have exceeded supported limits: "
            "Attributes in the item have nested levels beyond supported limit"
        )


def check_nesting(value: AttributeValue, depth: int = 1) -> None:
    """Refuse a value that was put together from legal ones and became too deep."""
    members = value.get("M")
    inner = value.get("L") if members is None else members.values()
    if inner is not None:
        _check_depth(depth)
        for member in inner:
            check_nesting(member, depth + 1)


_RULES: dict[str, Callable[[object, int], Sized]] = {
    "S": _string,
    "N": _number,
    "B": _binary,
    "BOOL": _boolean,
    "NULL": _null,
    "SS": _string_set,
    "NS": _number_set,
    "BS": _binary_set,
    "M": _map,
    "L": _list,
}


def decode_binary(text: str) -> bytes:
    """The bytes behind base64; AWS's serialization error where it is none."""
    try:
        return b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise DynamoError("SerializationException", "Base64 encoded length is unexpected or invalid") from None


def value_size(value: AttributeValue) -> int:
    """The size of a value in normal form, by AWS's rule."""
    ((kind, content),) = value.items()
    return _SIZES[kind](content)


def item_size(item: Item) -> int:
    """The size of an item in normal form, names included."""
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


def check_item_size(size: int) -> None:
    """Refuse an item over 400 KB."""
    if size > MAXIMUM_ITEM_SIZE:
        raise validation_error("Item size has exceeded the maximum allowed size")


def _text_size(content: object) -> int:
    return len(cast(str, content).encode())


def _base64_size(content: object) -> int:
    text = cast(str, content)
    return len(text) // 4 * 3 - text.count("=", -2)


def _one(content: object) -> int:
    return 1


def _size_of_members(size: Callable[[object], int]) -> Callable[[object], int]:
    return lambda content: sum(map(size, cast(list[object], content)))


def _map_size(content: object) -> int:
    members = cast(Item, content)
    return 3 + len(members) + item_size(members)


def _list_size(content: object) -> int:
    members = cast(list[AttributeValue], content)
    return 3 + len(members) + sum(map(value_size, members))


def _number_size(content: object) -> int:
    return numbers.size(cast(str, content))


_SIZES: dict[str, Callable[[object], int]] = {
    "S": _text_size,
    "N": _number_size,
    "B": _base64_size,
    "BOOL": _one,
    "NULL": _one,
    "SS": _size_of_members(_text_size),
    "NS": _size_of_members(_number_size),
    "BS": _size_of_members(_base64_size),
    "M": _map_size,
    "L": _list_size,
}
