"""Envelopes: an item's fields as one JSON text, where a document keeps them so."""

import json
from base64 import b64encode
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from keyplan.data.codec import AttributeValue


def pack(members: Mapping[str, AttributeValue], others: Mapping[str, Any]) -> str:
    """The text of these attributes, and of members that are passed on as they were read."""
    content = {name: _json(value) for name, value in members.items()} | {
        name: _carried(value) for name, value in others.items()
    }
    return json.dumps(content, ensure_ascii=False, separators=(",", ":"))


def unpack(text: str) -> dict[str, Any]:
    """The members of an envelope; ValueError where it is no JSON object. Fractions are read exactly."""
    content = json.loads(text, parse_float=Decimal)
    if not isinstance(content, dict):
        raise ValueError("no object")
    return content


def _json(value: AttributeValue) -> object:
    """A stored value as JSON has it: sets as lists, bytes as base64, a number that a float can not hold as text."""
    ((tag, content),) = value.items()
    match tag:
        case "N":
            return _number(Decimal(content))
        case "M":
            return {name: _json(each) for name, each in content.items()}
        case "L":
            return [_json(each) for each in content]
        case "NS":
            return [_number(Decimal(each)) for each in content]
        case "B":
            return b64encode(content).decode()
        case "BS":
            return [b64encode(each).decode() for each in content]
        case "NULL":
            return None
    return content


def _carried(value: object) -> object:
    if isinstance(value, dict):
        return {name: _carried(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_carried(each) for each in value]
    return _number(value) if isinstance(value, Decimal) else value


def _number(value: Decimal) -> int | float | str:
    if value == value.to_integral_value():
        return int(value)
    rounded = float(value)
    return rounded if Decimal(repr(rounded)) == value else str(value)
