"""Sizes of items and keys by DynamoDB's rules, to refuse what is too large before it is sent."""

from collections.abc import Mapping
from typing import Any

import orjson

from keyplan.design import InvalidValue
from keyplan.design.entities.specs import KeyPart, KeySpec
from keyplan.design.keys.templates import Template
from keyplan.design.tables.tables import Index, Table

MAXIMUM_ITEM = 409_600
MAXIMUM_TRANSACTION = 4 * 1_048_576
MAXIMUM_ACTIONS = 100
LONGEST_HASH, LONGEST_RANGE = 2048, 1024


def json_size(item: Mapping[str, Mapping[str, Any]]) -> float:
    """The size of an item as JSON: quick to get, and never less than the item's size. Infinite for binary values."""
    try:
        return len(orjson.dumps(item))
    except TypeError:
        return float("inf")


def size_with_local_indexes(table: Table, item: Mapping[str, Mapping[str, Any]]) -> int:
    """The size that DynamoDB limits: the item and its entries in local indexes."""
    size = item_size(item)
    local = [index for index in table.by_name.values() if index.local]
    if size * (1 + len(local)) <= MAXIMUM_ITEM:
        return size
    return size + sum(_entry_size(table, index, item) for index in local if index.range[0].name in item)


def _entry_size(table: Table, index: Index, item: Mapping[str, Mapping[str, Any]]) -> int:
    if index.projection.type == "ALL":
        return item_size(item)
    held = {*table.key_names, index.range[0].name, *index.projection.attributes}
    return item_size({name: value for name, value in item.items() if name in held})


def _text(value: str) -> int:
    return len(value) if value.isascii() else len(value.encode())


def _number(text: str) -> int:
    """One byte, one for a minus sign, and one per two digits, paired from the point outwards without outer zeros."""
    whole, _, fraction = text.lstrip("-").partition(".")
    before = whole if fraction else whole.rstrip("0")
    behind = fraction if before != "0" else fraction.lstrip("0")
    pairs = (len(before.removeprefix("0")) + 1) // 2 + (len(behind) + 1) // 2
    return 1 + text.startswith("-") + pairs


def value_size(value: Mapping[str, Any]) -> int:
    """The size of one attribute's value."""
    ((tag, content),) = value.items()
    match tag:
        case "S":
            return _text(content)
        case "N":
            return _number(content)
        case "B":
            return len(content)
        case "M":
            return 3 + len(content) + item_size(content)
        case "L":
            return 3 + len(content) + sum(map(value_size, content))
        case "SS":
            return sum(map(_text, content))
        case "NS":
            return sum(map(_number, content))
        case "BS":
            return sum(map(len, content))
    return 1


def is_unicode(value: Mapping[str, Any]) -> bool:
    """Whether all texts in a value are valid Unicode: Python's can contain lone surrogates."""
    try:
        return value_size(value) >= 0
    except UnicodeEncodeError:
        return False


def item_size(item: Mapping[str, Mapping[str, Any]]) -> int:
    """The size of an item, names included."""
    size = 0
    for name, value in item.items():
        text = value.get("S")  # the usual case first: every write needs the size
        if text is not None and text.isascii() and name.isascii():
            size += len(name) + len(text)
        else:
            size += _text(name) + value_size(value)
    return size


def key_limit(key: KeySpec, part: KeyPart) -> int:
    """The maximum length of a key attribute in bytes."""
    return LONGEST_HASH if part in key.hash else LONGEST_RANGE


def checked_key(text: str, limit: int, template: Template) -> str:
    """The text of a key; raises `InvalidValue` if it is too long."""
    if len(text) * 4 > limit and len(text.encode()) > limit:
        field = template.fields[-1] if template.fields else None
        # The key itself isn't shown, since it may contain values that the caller must not see.
        problem = f"This value is too long: a key with it has more than {limit} bytes."
        raise InvalidValue("key-too-long", f"{template.place}.{field}", problem, field=field)
    return text
