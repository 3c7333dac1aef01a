"""Item sizes by DynamoDB's rule, to refuse what is too large before it is sent."""

from collections.abc import Mapping
from typing import Any

MAXIMUM_ITEM = 409_600
MAXIMUM_TRANSACTION = 4 * 1_048_576
MAXIMUM_ACTIONS = 100


def _text(value: str) -> int:
    return len(value) if value.isascii() else len(value.encode())


def value_size(value: Mapping[str, Any]) -> int:
    """The size of one attribute's value."""
    ((tag, content),) = value.items()
    match tag:
        case "S":
            return _text(content)
        case "N":
            digits = len(content.replace(".", "").strip("-0"))
            return (digits + 1) // 2 + (2 if content.startswith("-") else 1)
        case "B":
            return len(content)
        case "M":
            return 3 + len(content) + item_size(content)
        case "L":
            return 3 + len(content) + sum(map(value_size, content))
        case "SS":
            return sum(map(_text, content))
        case "NS":
            return sum(value_size({"N": each}) for each in content)
        case "BS":
            return sum(map(len, content))
    return 1


def item_size(item: Mapping[str, Mapping[str, Any]]) -> int:
    """The size of an item, names included."""
    size = 0
    for name, value in item.items():
        text = value.get("S")  # most attributes are texts, and every write asks for its size
        if text is not None and text.isascii() and name.isascii():
            size += len(name) + len(text)
        else:
            size += _text(name) + value_size(value)
    return size
