"""Checks the JSON types of a request: AWS's SerializationException for the first wrong one.

The walk follows the order of the document, as the service's parser does. It changes the request into what the service
sees: without null and unknown members, and with fractions truncated in place of integers.
"""

import math
import re
from typing import cast

from keyplan.engine.errors import DynamoError
from keyplan.engine.service_model import Model, Shape
from keyplan.engine.validation.readers import INTEGER_LIMITS
from keyplan.engine.values.normal_form import is_base64

DEEPEST = 40
"""Values nested deeper than this are refused by the operation; walking further could exhaust the stack."""

_PACKAGE = "com.amazonaws.dynamodb.v20120810."
_JAVA_TYPES = {
    "string": "java.lang.String",
    "integer": "java.lang.Integer",
    "long": "java.lang.Long",
    "boolean": "java.lang.Boolean",
    "double": "java.lang.Double",
    "float": "java.lang.Float",
    "timestamp": "java.util.Date",
    "blob": "java.nio.ByteBuffer",
}
_PYTHON_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "boolean": (bool,),
    "double": (int, float),
    "float": (int, float),
    "timestamp": (int, float),
}
_NOT_BASE64 = re.compile("[^A-Za-z0-9+/]")


def convert(model: Model, name: str, value: object, depth: int = 0) -> object:
    """Return the value as the service reads it for this shape; raise a SerializationException if it can't."""
    shape = model["shapes"][name]
    match shape["type"]:
        case "structure":
            return _structure(model, name, value, depth)
        case "list":
            return _list(model, shape, value, depth)
        case "map":
            return _map(model, shape, value, depth)
        case "blob":
            return _blob(value)
        case "integer" | "long" as kind:
            return _integer(kind, value)
        case kind:
            return _scalar(kind, value)


def _structure(model: Model, name: str, value: object, depth: int) -> object:
    if isinstance(value, list):
        raise _unrecognized("class " + _PACKAGE + name)
    if not isinstance(value, dict):
        raise _error("Unexpected value type in payload")
    if depth > DEEPEST:
        return value
    members = model["shapes"][name].get("members", {})
    for key in list(value):
        if key in members and value[key] is not None:
            value[key] = convert(model, members[key]["shape"], value[key], depth + 1)
        else:
            del value[key]
    return value


def _list(model: Model, shape: Shape, value: object, depth: int) -> object:
    if isinstance(value, dict):
        raise _no_structure()
    if not isinstance(value, list):
        raise _error("Unexpected field type")
    member = shape["member"]["shape"]
    value[:] = [None if content is None else convert(model, member, content, depth) for content in value]
    return value


def _map(model: Model, shape: Shape, value: object, depth: int) -> object:
    if isinstance(value, list):
        raise _unrecognized(_java_type(model, shape))
    if not isinstance(value, dict):
        raise _error("Unexpected field type")
    member = shape["value"]["shape"]
    for key, content in value.items():
        if content is not None:
            value[key] = convert(model, member, content, depth)
    return value


def _java_type(model: Model, shape: Shape, name: str = "") -> str:
    """The name of the type in the service's messages, which show its Java classes."""
    if shape["type"] == "structure":
        return _PACKAGE + name
    if shape["type"] == "list":
        member = shape["member"]["shape"]
        return f"java.util.List<{_java_type(model, model['shapes'][member], member)}>"
    if shape["type"] == "map":
        member = shape["value"]["shape"]
        return f"java.util.Map<java.lang.String, {_java_type(model, model['shapes'][member], member)}>"
    return _JAVA_TYPES[shape["type"]]


def _scalar(kind: str, value: object) -> object:
    if type(value) in _PYTHON_TYPES[kind]:
        return value
    raise _not_convertible(kind, value)


def _integer(kind: str, value: object) -> object:
    lowest, highest = INTEGER_LIMITS[kind]
    if type(value) is int and lowest <= value <= highest:
        return value
    if type(value) is float and math.isfinite(value) and lowest <= value <= highest:
        return min(highest, int(value))  # 2.0**63 is the nearest float to the highest long, and one too high
    raise _not_convertible(kind, value)


def _blob(value: object) -> object:
    if isinstance(value, list | dict):
        raise _not_convertible("blob", value)
    if not isinstance(value, str):
        raise _error("only base-64-encoded strings are convertible to bytes")
    if len(value) % 4:
        raise _error(f"Base64 encoded length is expected a multiple of 4 bytes but found: {len(value)}")
    body = value[:-2] + value[-2:].rstrip("=")
    foreign = _NOT_BASE64.search(body)
    if foreign:
        raise _error(f"Invalid Base64 character: '{foreign.group()}'")
    if not is_base64(value):
        raise _error("Invalid last non-pad Base64 character dectected")
    return value


def _not_convertible(kind: str, value: object) -> DynamoError:
    java = _JAVA_TYPES[kind]
    if isinstance(value, list):
        return _unrecognized("class " + java)
    if isinstance(value, dict):
        return _no_structure()
    if kind == "boolean" and isinstance(value, str):
        return _error("Unexpected token received from parser")
    if isinstance(value, bool):
        token = "TRUE_VALUE" if value else "FALSE_VALUE"
    else:
        token = "STRING_VALUE" if isinstance(value, str) else "NUMBER_VALUE"
    return _error(f"{token} cannot be converted to {java.rpartition('.')[2]}")


def _unrecognized(java: str) -> DynamoError:
    return _error("Unrecognized collection type " + java)


def _no_structure() -> DynamoError:
    return _error("Start of structure or map found where not expected")


def _error(message: str) -> DynamoError:
    return DynamoError("SerializationException", message)


def convert_request(model: Model, name: str, request: dict[str, object]) -> dict[str, object]:
    """Change the whole request into what the service reads, and return it."""
    return cast(dict[str, object], convert(model, name, request))
