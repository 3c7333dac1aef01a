"""The one walk over a request: closures, compiled once per operation, that read a request or give up.

A request that was read has only members of the model, correct types, values within the constraints, and attribute
values in normal form. Nearly every request can be read, in a few microseconds. For anything else, including what is
odd but allowed (a member that is null or unknown, a fraction in place of an integer), the reader raises one of
`NOT_READ`, and the request is left to the slow walks, which know AWS's messages.

Requests come in two forms: JSON from the wire, and the arguments of a method of `Engine`. They differ only in binary
values and timestamps; a `Form` says how those are read.
"""

import re
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from keyplan.engine.errors import DynamoError
from keyplan.engine.service_model import ITEM_SHAPE, Model, Shape
from keyplan.engine.validation import extras
from keyplan.engine.validation.extras import Constraints
from keyplan.engine.values.normal_form import FROM_BOTO3, FROM_JSON, Normalizer, WrongType, is_base64
from keyplan.engine.values.plain_items import plain_item, sized_item

Reader: TypeAlias = Callable[[object], object]
"""Returns a value as the operations expect it. The result may share parts of the given value, which isn't changed."""

INTEGER_LIMITS = {"integer": (-(2**31), 2**31 - 1), "long": (-(2**63), 2**63 - 1)}


class Unusual(Exception):
    """A value that has to be left to the slow walks."""


NOT_READ = (Unusual, WrongType, DynamoError, KeyError)
"""What a reader raises. A DynamoError is about an illegal attribute value, a KeyError about an unknown member."""


class Form(NamedTuple):
    """How the values are read that differ between the forms of requests."""

    values: Normalizer
    blob: Reader
    number: Reader


def _json_blob(value: object) -> object:
    if type(value) is str and is_base64(value):
        return value
    raise Unusual


def _json_number(value: object) -> object:
    if type(value) is int or type(value) is float:
        return value
    raise Unusual


def _unusual(value: object) -> object:
    raise Unusual


JSON = Form(FROM_JSON, _json_blob, _json_number)
ARGUMENTS = Form(FROM_BOTO3, _unusual, _unusual)


def constraints_of(name: str, shape: Shape, more: Constraints | None) -> Constraints:
    """Return the constraints of a shape in one place: the model's, overridden by those in `extras`."""
    found: Constraints = {}
    if name in extras.SHAPES:
        found.update(extras.SHAPES[name])
        shape = {"type": shape["type"]}
    if "min" in shape:
        found["min"] = shape["min"]
    if "max" in shape:
        found["max"] = shape["max"]
    if "pattern" in shape:
        found["pattern"] = shape["pattern"]
    if "enum" in shape:
        found["enum"] = extras.ENUMERATIONS.get(name, shape["enum"])
    found.update(more or {})
    return found


def required_members(name: str, shape: Shape) -> list[str]:
    """Return the members that a structure must have: the model's and those in `extras`."""
    return [*shape.get("required", ()), *extras.REQUIRED.get(name, ())]


def compile_pattern(pattern: str) -> re.Pattern[str] | None:
    """Return the model's pattern; None for the few in Java's own syntax, which only unsupported operations have."""
    try:
        return re.compile(pattern)
    except re.error:
        return None


def compile_reader(model: Model, name: str, form: Form, more: Constraints | None = None) -> Reader:
    """Return the reader for one shape in one place."""
    shape = model["shapes"][name]
    if name == "AttributeValue":
        return _attribute_value(form.values)
    if name == ITEM_SHAPE:
        return _item(form.values)
    if name == extras.TABLE_NAME_OR_ARN:
        return _table_name(shape)
    match shape["type"]:
        case "structure":
            return _structure(model, name, shape, form)
        case "list":
            return _list(compile_reader(model, shape["member"]["shape"], form), constraints_of(name, shape, more))
        case "map":
            return _map(model, shape, constraints_of(name, shape, more), form)
        case "string":
            return _string(constraints_of(name, shape, more))
        case "integer" | "long":
            return _integer(shape["type"], constraints_of(name, shape, more))
        case "boolean":
            return _boolean
        case "blob":
            return form.blob
        case _:
            return form.number


def _structure(model: Model, name: str, shape: Shape, form: Form) -> Reader:
    readers = {
        member: compile_reader(model, reference["shape"], form, extras.MEMBERS.get((name, member)))
        for member, reference in shape.get("members", {}).items()
    }
    required = required_members(name, shape)

    def structure(value: object) -> object:
        if type(value) is not dict:
            raise Unusual
        result = value.copy()
        for member, content in value.items():
            read = readers[member](content)
            if read is not content:
                result[member] = read
        for member in required:
            if member not in value:
                raise Unusual
        return result

    return structure


def _list(member: Reader, constraints: Constraints) -> Reader:
    least, most = constraints.get("min", 0), constraints.get("max", float("inf"))

    def sequence(value: object) -> object:
        if type(value) is not list or not least <= len(value) <= most:
            raise Unusual
        return list(map(member, value))

    return sequence


def _map(model: Model, shape: Shape, constraints: Constraints, form: Form) -> Reader:
    if shape["value"]["shape"] == "AttributeValue":
        return form.values.attributes
    key = compile_reader(model, shape["key"]["shape"], form)
    member = compile_reader(model, shape["value"]["shape"], form)
    least, most = constraints.get("min", 0), constraints.get("max", float("inf"))

    def mapping(value: object) -> object:
        if type(value) is not dict or not least <= len(value) <= most:
            raise Unusual
        return {key(name): member(content) for name, content in value.items()}

    return mapping


def _string(constraints: Constraints) -> Reader:
    if "enum" in constraints:
        return _enumeration(frozenset(constraints["enum"]))
    least, most = constraints.get("min", 0), constraints.get("max", float("inf"))
    pattern = compile_pattern(constraints["pattern"]) if "pattern" in constraints else None
    if pattern is not None:
        return _matching(pattern, least, most)
    if least == 0 and most == float("inf"):
        return _text

    def string(value: object) -> object:
        if type(value) is not str or not least <= len(value) <= most:
            raise Unusual
        return value

    return string


def _matching(pattern: re.Pattern[str], least: float, most: float) -> Reader:
    matches = pattern.fullmatch

    def string(value: object) -> object:
        if type(value) is not str or not least <= len(value) <= most or matches(value) is None:
            raise Unusual
        return value

    return string


def _text(value: object) -> object:
    if type(value) is not str:
        raise Unusual
    return value


def _enumeration(values: frozenset[str]) -> Reader:
    def enumeration(value: object) -> object:
        if type(value) is not str or value not in values:
            raise Unusual
        return value

    return enumeration


def _table_name(shape: Shape) -> Reader:
    matches = re.compile(extras.TABLE_NAME_PATTERN).fullmatch
    shortest, longest = extras.TABLE_NAME_LENGTHS
    most = shape.get("max", longest)

    def table_name(value: object) -> object:
        if type(value) is not str:
            raise Unusual
        if matches(value) is not None and shortest <= len(value) <= longest:
            return value
        if value.startswith(extras.ARN_PREFIX) and len(value) <= most:
            return value
        raise Unusual

    return table_name


def _integer(kind: str, constraints: Constraints) -> Reader:
    lowest, highest = INTEGER_LIMITS[kind]
    least, most = max(lowest, constraints.get("min", lowest)), min(highest, constraints.get("max", highest))

    def integer(value: object) -> object:
        if type(value) is not int or not least <= value <= most:
            raise Unusual
        return value

    return integer


def _boolean(value: object) -> object:
    if type(value) is not bool:
        raise Unusual
    return value


def _attribute_value(values: Normalizer) -> Reader:
    return lambda value: values.value(value)[0]


def _item(values: Normalizer) -> Reader:
    """The reader of an item to be put; nearly every item is in normal form already."""

    def item(value: object) -> object:
        if type(value) is not dict:
            raise Unusual
        return plain_item(value) or sized_item(*values.item(value))

    return item
