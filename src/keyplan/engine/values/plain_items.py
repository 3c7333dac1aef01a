"""Items that need no work: one walk finds that an item is legal and in normal form, and how large it is.

Nearly every item that is put is like that. Any other item is left to the walk of `normal_form`, which normalizes it or
knows AWS's error for it. Items with binary values or number sets are never plain.

Most of an item is text, so its size is derived from the length of its JSON, which has to be made anyway. The walk
counts what is in the JSON but not in the size: quotes, braces, names of types.
"""

from collections.abc import Callable

import orjson

from keyplan.engine.values.attribute_values import (
    MAXIMUM_NAME_SIZE,
    MAXIMUM_NESTING,
    AttributeValue,
    Item,
    SizedItem,
    item_size,
)
from keyplan.engine.values.numbers import normal_size

_MEMBER = 4  # "name":value, with the comma
_STRING = 8  # {"S":""}
_BACKSLASH = ord("\\")


class _NotPlain(Exception):
    """The item has to be normalized or refused."""


_NOT_PLAIN = (_NotPlain, TypeError, ValueError, LookupError, AttributeError)
"""What the walk raises for an item that isn't plain. The built-in exceptions mean a value that isn't a dict with one
member, a type that is never plain, a name that isn't a string, or half a surrogate pair."""


def plain_item(given: Item) -> SizedItem | None:
    """Return the item if it is plain, otherwise None. It shares the given values, which must not be changed later."""
    try:
        extra = _members(given, 1)
        stored = orjson.dumps(given)
    except _NOT_PLAIN:
        return None
    if len(stored) > MAXIMUM_NAME_SIZE:  # a name may be too long
        return None
    item = SizedItem(given)
    item.stored = stored
    # With escapes in it, the JSON is longer than its content.
    item.size = item_size(item) if _BACKSLASH in stored else len(stored) - extra
    return item


def sized_item(normal: Item, size: int) -> SizedItem:
    """Return an item whose normal form and size are known."""
    item = SizedItem(normal)
    item.stored = orjson.dumps(normal)
    item.size = size
    return item


def _members(members: Item, depth: int) -> int:
    """The length of everything in the JSON of an item or map that isn't part of its size.

    Nothing is known about the members; for anything but plain values it raises one of `_NOT_PLAIN`.
    """
    values = members.values()
    extra = (_MEMBER + _STRING) * len(members) + 1 if members else 2
    for value in values:
        if "S" in value:  # most values are strings
            if type(value["S"]) is not str:
                raise _NotPlain
        elif "N" in value:  # and most others are numbers
            number = value["N"]
            size = normal_size(number) if type(number) is str else 0
            if not size:
                raise _NotPlain
            extra += len(number) - size
        else:
            ((kind, content),) = value.items()
            extra += _RULES[kind](content, depth) - _STRING
    # The others have one member, so the sum shows whether a string or number has a second one.
    if sum(map(len, values)) != len(members) or "" in members:
        raise _NotPlain
    return extra


def _value(value: AttributeValue, depth: int) -> int:
    """The same for a value in a list, without its comma."""
    ((kind, content),) = value.items()
    return _RULES[kind](content, depth)


def _string(content: object, depth: int) -> int:
    if type(content) is str:
        return _STRING
    raise _NotPlain


def _number(content: object, depth: int) -> int:
    if type(content) is str:
        size = normal_size(content)
        if size:
            return _STRING + len(content) - size
    raise _NotPlain


def _boolean(content: object, depth: int) -> int:
    if content is True:
        return 12  # {"BOOL":true} has the size 1
    if content is False:
        return 13
    raise _NotPlain


def _null(content: object, depth: int) -> int:
    if content is True:
        return 12
    raise _NotPlain


def _string_set(content: object, depth: int) -> int:
    if type(content) is not list or not content:
        raise _NotPlain
    last = None
    for member in content:
        if type(member) is not str or (last is not None and member <= last):
            raise _NotPlain
        last = member
    return 8 + 3 * len(content)  # {"SS":["","",""]}


def _map(content: object, depth: int) -> int:
    if type(content) is dict and depth < MAXIMUM_NESTING:
        return 3 - len(content) + _members(content, depth + 1)  # {"M":} has the size 3, and each member one of its own
    raise _NotPlain


def _list(content: object, depth: int) -> int:
    if type(content) is list and depth < MAXIMUM_NESTING:
        # {"L":[,,]} has the size 3, and each member one of its own, as it has a comma; but for the last.
        return (4 if content else 5) + sum([_value(member, depth + 1) for member in content])
    raise _NotPlain


_RULES: dict[object, Callable[[object, int], int]] = {
    "S": _string,
    "N": _number,
    "BOOL": _boolean,
    "NULL": _null,
    "SS": _string_set,
    "M": _map,
    "L": _list,
}
