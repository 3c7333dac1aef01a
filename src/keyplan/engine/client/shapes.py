"""Makes a return value of an answer, as boto3 does: bytes for base64, datetimes for numbers, only known members.

The conversion is compiled once per operation or error. Most of an answer are items, usually as their stored bytes;
orjson decodes them all at once, and they are walked in Python only if there is a binary value among them.
"""

import re
from base64 import b64decode
from collections.abc import Callable
from typing import Any, TypeAlias, cast

import orjson
from botocore.utils import parse_timestamp

from keyplan.engine.service_model import Model, Service, Shape, load

# None in place of a converter means that the value stays as it is, like most members of most shapes.
Converter: TypeAlias = Callable[[object], object]


def conversion(service: Service, shape_name: str | None) -> Callable[[dict[str, object]], dict[str, object]]:
    """Return the function that makes boto3's return value (without metadata) of an answer or an error's members."""
    if shape_name is None:  # TagResource and UntagResource return nothing
        return lambda answer: {}
    described = load(service)
    return cast(
        "Callable[[dict[str, object]], dict[str, object]]", _structure(described, described["shapes"][shape_name])
    )


def _converter(described: Model, name: str) -> Converter | None:
    shape = described["shapes"][name]
    if name == "AttributeValue":
        return _attributes
    match shape["type"]:
        case "structure":
            return _structure(described, shape)
        case "list":
            return _list(described, shape)
        case "map":
            return _map(described, shape)
        case "blob":
            return _blob
        case "timestamp":
            return _timestamp
        case _:
            return None


def _structure(described: Model, shape: Shape) -> Converter:
    members = {
        member: _converter(described, reference["shape"]) for member, reference in shape.get("members", {}).items()
    }

    def structure(value: object) -> object:
        result: dict[str, object] = {}
        members_of: Any = _decoded(value)
        for name, content in members_of.items():
            if content is None or name not in members:
                continue
            convert = members[name]
            result[name] = content if convert is None else convert(content)
        return result

    return structure


def _decoded(value: object) -> object:
    """The value, decoded if it is in the answer as JSON bytes."""
    return orjson.loads(orjson.dumps(value)) if type(value) is orjson.Fragment else value


def _holds_attributes(described: Model, name: str) -> bool:
    """Whether the shape is an item, or a list of items: attribute values and nothing else."""
    shape = described["shapes"][name]
    inner = shape.get("value") or shape.get("member")
    return name == "AttributeValue" or (inner is not None and _holds_attributes(described, inner["shape"]))


def _list(described: Model, shape: Shape) -> Converter:
    member = shape["member"]["shape"]
    if _holds_attributes(described, member):
        return _attributes
    convert = _converter(described, member)

    def sequence(value: object) -> object:
        contents = cast("list[object]", _decoded(value))
        if convert is None:
            return list(contents)
        return [None if content is None else convert(content) for content in contents]

    return sequence


def _map(described: Model, shape: Shape) -> Converter:
    member = shape["value"]["shape"]
    if _holds_attributes(described, member):
        return _attributes
    convert = _converter(described, member)

    def mapping(value: object) -> object:
        entries = cast("dict[str, object]", _decoded(value))
        return dict(entries) if convert is None else {name: convert(content) for name, content in entries.items()}

    return mapping


def _blob(value: object) -> object:
    return b64decode(cast(str, value))


def _timestamp(value: object) -> object:
    return parse_timestamp(cast(str, value))  # it is a number, which parse_timestamp accepts as well


# A quote inside a string is escaped, so these bytes can only be members with a string or a list. One regular expression
# for both takes less than half the time of two plain searches.
_BINARIES = re.compile(rb'"B(?:":"|S":\[)').search


def _attributes(value: object) -> object:
    """Return new objects for attribute values, items or lists of them, given as JSON bytes or as objects."""
    written = orjson.dumps(value)
    decoded: object = orjson.loads(written)
    if _BINARIES(written):
        _decode_binaries(decoded)
    return decoded


def _decode_binaries(value: object) -> None:
    """Replace the base64 in attribute values, or in maps or lists of them, by the bytes."""
    if isinstance(value, list):
        for member in value:
            _decode_binaries(member)
    elif isinstance(value, dict):
        for kind, content in value.items():
            if kind == "B" and type(content) is str:
                value[kind] = b64decode(content)
            elif kind == "BS" and type(content) is list:
                value[kind] = [b64decode(member) for member in content]
            elif type(content) is dict or type(content) is list:
                _decode_binaries(content)
