"""Envelopes: an item's fields as one JSON text, for tables that store them so."""

import json
from base64 import b64decode, b64encode
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, get_args, get_origin

from pydantic import BaseModel, SecretBytes

from keyplan.data.codec.values import AttributeValue
from keyplan.design.values.absence import NOTHING, when_absent
from keyplan.design.values.annotations import without_none


def pack(members: Mapping[str, AttributeValue], others: Mapping[str, Any]) -> str:
    """The JSON text of these attributes, and of other members that are kept as they were read."""
    content = {name: _json(value) for name, value in members.items()} | {
        name: _carried(value) for name, value in others.items()
    }
    return json.dumps(content, ensure_ascii=False, separators=(",", ":"))


def unpack(text: str) -> dict[str, Any]:
    """The members of an envelope, with exact fractions. Raises `ValueError` if it isn't a JSON object."""
    content = json.loads(text, parse_float=Decimal)
    if not isinstance(content, dict):
        raise ValueError("not an object")
    return content


def restored(annotation: Any, value: Any) -> object:  # noqa: ANN401 - types and JSON are of any kind
    """A member of an envelope as a value for a field of this type: bytes from base64, and absent values restored."""
    kind, _ = without_none(annotation)
    origin, arguments = get_origin(kind), get_args(kind)
    if value is None:
        return () if origin in (set, frozenset) else None
    if kind in (bytes, SecretBytes):
        return b64decode(value, validate=True)
    if isinstance(value, dict) and isinstance(kind, type) and issubclass(kind, BaseModel):
        return _model(kind, value)
    if isinstance(value, dict) and len(arguments) == 2:
        return {name: restored(arguments[1], each) for name, each in value.items()}
    if isinstance(value, list) and arguments:
        kinds = arguments if origin is tuple and Ellipsis not in arguments else arguments[:1] * len(value)
        return [restored(each, content) for each, content in zip(kinds, value, strict=True)]
    return value


def _model(kind: type[BaseModel], value: dict[str, Any]) -> dict[str, object]:
    fields = kind.model_fields
    absent = {name: when_absent(info) for name, info in fields.items()}
    given = {name: restored(fields[name].annotation, each) if name in fields else each for name, each in value.items()}
    return {name: each for name, each in absent.items() if each is not NOTHING} | given


def _json(value: AttributeValue) -> object:
    """A stored value as JSON: sets as lists, bytes as base64, and numbers that a float can't hold as text."""
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
