"""Items that need no work: one walk finds that an item is legal and in normal form, and how large it is.

Nearly every item that is written is like that. Whoever sees it first (`params` in this process, `acceptance` behind
the wire) makes a `PlainItem` of it, and `values` takes it as it is. Whatever is not plain, for whatever reason, is left
to the thorough walks: they put it right, or know what to say about it. Items with binary values or sets of numbers are
never plain.

Most of an item is text, so its size is had from the length of its JSON, which has to be made anyway. The walk counts
what stands there and does not count for the size: quotes, braces, names of types.
"""

from collections.abc import Callable
from typing import cast

import orjson

from keyplan.engine.numbers import normal_size
from keyplan.engine.values import MAXIMUM_NAME_SIZE, MAXIMUM_NESTING, Item, PlainItem, item_size

_MEMBER = 4  # "name":value, with the comma
_STRING = 8  # {"S":""}


class _NotPlain(Exception):
    """To be looked at thoroughly."""


def plain_item(given: dict[object, object]) -> PlainItem | None:
    """The item, if it is plain. Its values are the given ones: nobody may change them in place."""
    try:
        extra = _members(given, 1)
        stored = orjson.dumps(given)
    except (_NotPlain, orjson.JSONEncodeError):  # a name that is no string, half a surrogate pair
        return None
    if len(stored) > MAXIMUM_NAME_SIZE:  # a name may be too long
        return None
    item = PlainItem(cast(Item, given))
    item.stored = stored
    # With escapes in it, the JSON is longer than what it says.
    item.size = item_size(item) if b"\\" in stored else len(stored) - extra
    return item


def _members(members: dict[object, object], depth: int) -> int:
    """What does not count in the JSON of an item or map."""
    extra = _MEMBER * len(members) + 1 if members else 2
    for value in members.values():
        if type(value) is not dict or len(value) != 1:
            raise _NotPlain
        if type(value.get("S")) is str:  # nearly all values are
            extra += _STRING
        else:
            ((kind, content),) = value.items()
            extra += _RULES.get(kind, _refuse)(content, depth)
    if "" in members:
        raise _NotPlain
    return extra


def _value(value: object, depth: int) -> int:
    """The same for a value in a list."""
    if type(value) is not dict or len(value) != 1:
        raise _NotPlain
    ((kind, content),) = value.items()
    return _RULES.get(kind, _refuse)(content, depth)


def _refuse(content: object, depth: int) -> int:
    raise _NotPlain


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
    for member in content:
        if type(member) is not str:
            raise _NotPlain
    if sorted(set(content)) != content:
        raise _NotPlain
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
