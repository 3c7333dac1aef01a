"""Items as DynamoDB JSON, and lines of them in files."""

import gzip
import json
import zlib
from base64 import b64decode, b64encode
from collections.abc import Iterator
from pathlib import Path

from keyplan.adopt.errors import AdoptError
from keyplan.adopt.model import Json
from keyplan.data import AttributeValue, Item

_TAGS = frozenset("S N B BOOL NULL L M SS NS BS".split())
_CONTENTS = {"L": list, "M": dict, "BOOL": bool, "NULL": bool, "SS": list, "NS": list, "BS": list}
"""The types of values that aren't texts."""


def item_to_json(item: Item) -> Json:
    """An item of a client as DynamoDB JSON, with bytes in base64."""
    return {name: _to_json(value) for name, value in item.items()}


def _to_json(value: AttributeValue) -> Json:
    ((tag, content),) = value.items()
    match tag:
        case "B":
            return {tag: b64encode(content).decode()}
        case "BS":
            return {tag: [b64encode(each).decode() for each in content]}
        case "L":
            return {tag: [_to_json(each) for each in content]}
        case "M":
            return {tag: item_to_json(content)}
    return {tag: list(content) if tag in ("SS", "NS") else content}


def item_from_json(item: Json) -> Item:
    """An item in DynamoDB JSON as clients have it. Raises `ValueError` for what isn't one."""
    if not isinstance(item, dict):
        raise ValueError("an item is an object of attributes")
    return {name: _from_json(name, value) for name, value in item.items()}


def _from_json(name: str, value: Json) -> AttributeValue:
    if not isinstance(value, dict) or len(value) != 1 or not {*value} <= _TAGS:
        raise ValueError(f'attribute {name} isn\'t of the form {{"S": "text"}}')
    ((tag, content),) = value.items()
    if not isinstance(content, _CONTENTS.get(tag, str)):
        raise ValueError(f"attribute {name} has a value that isn't of type {tag}")
    return _content(name, tag, content)


def _content(name: str, tag: str, content: Json) -> AttributeValue:
    match tag:
        case "B":
            return {tag: b64decode(content, validate=True)}
        case "BS":
            return {tag: [b64decode(each, validate=True) for each in content]}
        case "L":
            return {tag: [_from_json(name, each) for each in content]}
        case "M":
            return {tag: item_from_json(content)}
    return {tag: content}


def items_in(file: Path) -> Iterator[Item]:
    """The items of a file with one item per line, as exports of DynamoDB and `keyplan export` have them."""
    number = 0
    try:
        with gzip.open(file, "rt", encoding="utf-8") if file.suffix == ".gz" else file.open(encoding="utf-8") as lines:
            for line in lines:
                number += 1
                if line.strip():
                    yield _item_of(line)
    except (ValueError, EOFError, OSError, zlib.error) as error:
        place = str(file) if isinstance(error, OSError) and not number else f"{file}, line {number or 1}"
        raise AdoptError(
            "bad-file", place, f"it can't be read: {error}", 'Each line is an item: {"Item": {"PK": {"S": "..."}}}.'
        ) from error


def _item_of(line: str) -> Item:
    found = json.loads(line)
    if isinstance(found, dict) and "NewImage" in found:
        raise ValueError("it is an incremental export; a full export is needed")
    if not isinstance(found, dict) or not isinstance(found.get("Item"), dict):
        raise ValueError('it isn\'t an object with "Item"')
    return item_from_json(found["Item"])
