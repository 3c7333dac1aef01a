"""What boto3 does before it sends: check the arguments, and make the wire's JSON of them.

The closures here, compiled once per operation, do both in one pass for the arguments of nearly every call. Whatever
is unusual (a wrong type, a missing member, but also a tuple or a datetime) they leave to botocore's own
validator and serializer, so that what is refused, and in which words, is what boto3 refuses by construction.
(An idempotency token that boto3 would make up is left out: nobody will ever send it again.)
"""

from base64 import b64encode
from collections.abc import Callable
from functools import cache
from typing import TypeAlias, cast

import orjson
from botocore.exceptions import ParamValidationError
from botocore.model import ServiceModel, StructureShape
from botocore.serialize import JSONSerializer
from botocore.validate import ParamValidator

from keyplan.engine import service_model
from keyplan.engine.errors import DynamoError
from keyplan.engine.service_model import ITEM_SHAPE, Model, Service, Shape
from keyplan.engine.values.plain_items import plain_item

# A converter gives the wire's form of a value: the value itself where that is the same, so that a request shares
# what the caller passed. Nothing behind it may change a request's values in place.
Converter: TypeAlias = Callable[[object], object]


class Unusual(Exception):
    """Not for the quick way: botocore has to look at it."""


@cache
def botocore_model(service: Service) -> ServiceModel:
    """botocore's own view of the model."""
    return ServiceModel(cast("dict[str, object]", service_model.load(service)), service_name=service)


def preparation(service: Service, operation: str) -> Callable[[dict[str, object]], dict[str, object]]:
    """The function that makes an operation's request of a call's arguments; it raises ParamValidationError."""
    described = service_model.load(service)
    reference = described["operations"][operation].get("input")
    if reference is None:  # pragma: no cover - every operation has an input today
        return lambda arguments: arguments
    convert = _converter(described, reference["shape"])

    def prepare(arguments: dict[str, object]) -> dict[str, object]:
        try:
            return cast("dict[str, object]", convert(arguments))
        except Unusual:
            return _thoroughly(service, operation, arguments)

    return prepare


def _thoroughly(service: Service, operation: str, arguments: dict[str, object]) -> dict[str, object]:
    described = botocore_model(service).operation_model(operation)
    # Only operations with an input shape get here.
    report = ParamValidator().validate(arguments, cast("StructureShape", described.input_shape))
    if report.has_errors():
        raise ParamValidationError(report=report.generate_report())
    body = JSONSerializer().serialize_to_request(arguments, described)["body"]
    try:
        return cast("dict[str, object]", orjson.loads(body))
    except orjson.JSONDecodeError as error:  # half a surrogate pair, which JSON can write but UTF-8 can not
        raise DynamoError("SerializationException", str(error)) from None


def _converter(described: Model, name: str) -> Converter:
    shape = described["shapes"][name]
    if name == "AttributeValue":
        return _attribute_value
    if name == ITEM_SHAPE:
        return _item
    match shape["type"]:
        case "structure":
            return _structure(described, shape)
        case "list":
            return _list(_converter(described, shape["member"]["shape"]), shape.get("min", 0))
        case "map":
            return _map(described, shape)
        case "string":
            return _string(shape.get("min", 0))
        case "integer" | "long":
            return _integer(shape.get("min"))
        case "boolean":
            return _boolean
        case "blob":
            return _blob
        case _:
            return _unusual


def _structure(described: Model, shape: Shape) -> Converter:
    members = {
        member: _converter(described, reference["shape"]) for member, reference in shape.get("members", {}).items()
    }
    required = tuple(shape.get("required", ()))
    if len(members) == 1 and len(required) == 1:
        return _single(required[0], members[required[0]])
    if not required:
        return _some(members)

    def structure(value: object) -> object:
        if type(value) is not dict:
            raise Unusual
        for name in required:
            if name not in value:
                raise Unusual
        result = value
        for name, content in value.items():
            convert = members.get(name)
            if convert is None:
                raise Unusual
            converted = convert(content)
            if converted is not content:
                result = _changed(result, value, name, converted)
        return result

    return structure


def _single(name: str, convert: Converter) -> Converter:
    """A structure of one member, as each write of a batch is."""

    def single(value: object) -> object:
        if type(value) is not dict or len(value) != 1 or name not in value:
            raise Unusual
        content = value[name]
        converted = convert(content)
        return value if converted is content else {name: converted}

    return single


def _some(members: dict[str, Converter]) -> Converter:
    """A structure none of whose members must be there; of a write in a batch there is one."""

    def some(value: object) -> object:
        if type(value) is not dict:
            raise Unusual
        result: dict[str, object] = {}
        for name, content in value.items():
            if name not in members:
                raise Unusual
            result[name] = members[name](content)
        return result

    return some


def _changed(result: dict[str, object], original: dict[str, object], name: str, content: object) -> dict[str, object]:
    """The copy of a caller's dict with one member replaced: it is made for the first of them."""
    if result is original:
        result = dict(original)
    result[name] = content
    return result


def _list(member: Converter, least: int) -> Converter:
    def sequence(value: object) -> object:
        if type(value) is not list or len(value) < least:
            raise Unusual
        return list(map(member, value))

    return sequence


def _map(described: Model, shape: Shape) -> Converter:
    key = _converter(described, shape["key"]["shape"])
    if shape["value"]["shape"] == "AttributeValue":
        return _attribute_map  # its keys, attribute names, have no least length
    member = _converter(described, shape["value"]["shape"])

    def mapping(value: object) -> object:
        if type(value) is not dict:
            raise Unusual
        return {key(name): member(content) for name, content in value.items()}

    return mapping


def _string(least: int) -> Converter:
    def string(value: object) -> object:
        if type(value) is not str or len(value) < least:
            raise Unusual
        return value

    return string


def _integer(least: int | None) -> Converter:
    lowest = -(2**63) if least is None else least

    def integer(value: object) -> object:
        if type(value) is not int or not lowest <= value < 2**63:
            raise Unusual
        return value

    return integer


def _boolean(value: object) -> object:
    if type(value) is not bool:
        raise Unusual
    return value


def _blob(value: object) -> object:
    if type(value) is bytes or type(value) is bytearray:
        return b64encode(value).decode()
    raise Unusual


def _unusual(value: object) -> object:
    raise Unusual


def _item(value: object) -> object:
    """An item to be put. Nearly every one is plain, and then nothing behind this looks at it again."""
    return (plain_item(value) if type(value) is dict else None) or _attribute_map(value)


def _attribute_map(value: object) -> object:
    if type(value) is not dict:
        raise Unusual
    result = value
    for name, member in value.items():
        if type(name) is not str or type(member) is not dict:
            raise Unusual
        # Nearly all values are strings and numbers: they are tested right here.
        if (type(member.get("S")) is str or type(member.get("N")) is str) and len(member) == 1:
            continue
        converted = _attribute_value(member)
        if converted is not member:
            result = _changed(result, value, name, converted)
    return result


def _attribute_value(value: object) -> object:
    if type(value) is not dict:
        raise Unusual
    result = value
    for kind, content in value.items():
        convert = _KINDS.get(kind)
        if convert is None:
            raise Unusual
        converted = convert(content)
        if converted is not content:
            result = _changed(result, value, kind, converted)
    return result


def _values(value: object) -> object:
    if type(value) is not list:
        raise Unusual
    converted = list(map(_attribute_value, value))
    return converted if any(map(_differ, converted, value)) else value


def _differ(one: object, other: object) -> bool:
    return one is not other


_text = _string(0)

_KINDS: dict[object, Converter] = {
    "S": _text,
    "N": _text,
    "B": _blob,
    "BOOL": _boolean,
    "NULL": _boolean,
    "SS": _list(_text, 0),
    "NS": _list(_text, 0),
    "BS": _list(_blob, 0),
    "M": _attribute_map,
    "L": _values,
}
