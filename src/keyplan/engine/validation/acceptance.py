"""The quick test of a request: closures, compiled once per operation, that say yes or "look closer".

A yes means that all JSON types are right and all constraints hold; nearly every request gets it, in a microsecond or
two. Anything else, including what is odd but allowed (a member that is null or unknown, a fraction where an integer is
due), is left to the two slow walks, which know the texts.
"""

import re
from binascii import Error, a2b_base64
from collections.abc import Callable
from typing import TypeAlias

from keyplan.engine.service_model import ITEM_SHAPE, Model, Shape
from keyplan.engine.validation import extras
from keyplan.engine.validation.extras import Constraints
from keyplan.engine.values.attribute_values import PlainItem
from keyplan.engine.values.plain_items import plain_item

Test: TypeAlias = Callable[[object], bool]

# Deeper values are refused by the values' own rule; walking on would only exhaust the stack.
DEEPEST = 40
INTEGER_LIMITS = {"integer": (-(2**31), 2**31 - 1), "long": (-(2**63), 2**63 - 1)}


def constraints_of(name: str, shape: Shape, more: Constraints | None) -> Constraints:
    """The constraints of a shape at one place: the model's, overruled by the table's."""
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


def compile_pattern(pattern: str) -> re.Pattern[str] | None:
    """The model's pattern; None for the few that use Java's own syntax, in operations that are not supported."""
    try:
        return re.compile(pattern)
    except re.error:
        return None


def compile_test(model: Model, name: str, more: Constraints | None = None, *, typed: bool = False) -> Test:
    """The test for one shape at one place; `typed` where attribute values are known to have the right JSON types."""
    shape = model["shapes"][name]
    if name == "AttributeValue":
        return _yes if typed else _attribute_value
    if name == ITEM_SHAPE:
        return _yes if typed else _item
    if name == extras.TABLE_NAME_OR_ARN:
        return _table_name(shape)
    match shape["type"]:
        case "structure":
            return _structure(model, name, shape, typed)
        case "list":
            member = compile_test(model, shape["member"]["shape"], typed=typed)
            return _list(member, constraints_of(name, shape, more))
        case "map":
            return _map(model, shape, constraints_of(name, shape, more), typed)
        case "string":
            return _string(constraints_of(name, shape, more))
        case "integer" | "long":
            return _integer(shape["type"], constraints_of(name, shape, more))
        case "boolean":
            return _boolean
        case "blob":
            return _blob
        case _:
            return _number


def _structure(model: Model, name: str, shape: Shape, typed: bool) -> Test:
    tests = {
        member: compile_test(model, reference["shape"], extras.MEMBERS.get((name, member)), typed=typed)
        for member, reference in shape.get("members", {}).items()
    }
    required = tuple(shape.get("required", ()))
    item_member = shape.get("members", {}).get("Item")
    has_item = item_member is not None and item_member["shape"] == ITEM_SHAPE and not typed

    if typed and all(test is _yes for test in tests.values()):
        return _yes  # the caller has seen that nothing is missing or unknown

    def structure(value: object) -> bool:
        if type(value) is not dict:
            return False
        if has_item and isinstance(item := value.get("Item"), dict):
            # The one walk that most items need. Also a plain one is walked, for it may have been changed since.
            value["Item"] = plain_item(item) or dict(item)
        for key, content in value.items():
            test = tests.get(key)
            if test is None or not test(content):
                return False
        for key in required:  # noqa: SIM110 - all() over a generator takes three times as long
            if key not in value:
                return False
        return True

    return structure


def _list(member: Test, constraints: Constraints) -> Test:
    least, most = constraints.get("min", 0), constraints.get("max", float("inf"))

    if member is _yes:
        return lambda value: type(value) is list and least <= len(value) <= most

    def sequence(value: object) -> bool:
        return type(value) is list and least <= len(value) <= most and all(map(member, value))

    return sequence


def _map(model: Model, shape: Shape, constraints: Constraints, typed: bool) -> Test:
    if shape["value"]["shape"] == "AttributeValue":
        return _yes if typed else _attribute_map
    key = compile_test(model, shape["key"]["shape"])
    member = compile_test(model, shape["value"]["shape"], typed=typed)
    least, most = constraints.get("min", 0), constraints.get("max", float("inf"))

    def mapping(value: object) -> bool:
        if type(value) is not dict or not least <= len(value) <= most:
            return False
        return all(map(key, value)) and all(map(member, value.values()))

    return mapping


def _string(constraints: Constraints) -> Test:
    if "enum" in constraints:
        values = frozenset(constraints["enum"])
        return lambda value: type(value) is str and value in values
    least, most = constraints.get("min", 0), constraints.get("max", float("inf"))
    pattern = compile_pattern(constraints["pattern"]) if "pattern" in constraints else None
    if pattern is not None:
        matches = pattern.fullmatch
        return lambda value: type(value) is str and least <= len(value) <= most and matches(value) is not None
    if least == 0 and most == float("inf"):
        return _text
    return lambda value: type(value) is str and least <= len(value) <= most


def _table_name(shape: Shape) -> Test:
    matches = re.compile(extras.TABLE_NAME_PATTERN).fullmatch
    shortest, longest = extras.TABLE_NAME_LENGTHS
    most = shape.get("max", longest)

    def table_name(value: object) -> bool:
        if type(value) is not str:
            return False
        if matches(value) is not None and shortest <= len(value) <= longest:
            return True
        return value.startswith(extras.ARN_PREFIX) and len(value) <= most

    return table_name


def _integer(kind: str, constraints: Constraints) -> Test:
    lowest, highest = INTEGER_LIMITS[kind]
    least, most = max(lowest, constraints.get("min", lowest)), min(highest, constraints.get("max", highest))
    return lambda value: type(value) is int and least <= value <= most


def _yes(value: object) -> bool:
    return True


def _text(value: object) -> bool:
    return type(value) is str


def _boolean(value: object) -> bool:
    return type(value) is bool


def _number(value: object) -> bool:
    return type(value) is int or type(value) is float


def _blob(value: object) -> bool:
    return type(value) is str and is_base64(value)


def is_base64(text: str) -> bool:
    """Whether a text is base64 with its padding and with no bits set that would be lost."""
    try:
        a2b_base64(text, strict_mode=True)
    except (Error, ValueError):
        return False
    if not text.endswith("="):
        return True
    return text[-3] in "AQgw" if text.endswith("==") else text[-2] in "AEIMQUYcgkosw048"


def _item(value: object) -> bool:
    return type(value) is PlainItem or _attribute_map(value)


def _attribute_map(value: object, depth: int = 0) -> bool:
    if type(value) is not dict:
        return False
    for member in value.values():
        if type(member) is not dict:
            return False
        # Nearly all values are strings and numbers: they are tested right here.
        if (type(member.get("S")) is str or type(member.get("N")) is str) and len(member) == 1:
            continue
        for kind, content in member.items():
            if not _of_kind(kind, content, depth):
                return False
    return True


def _attribute_value(value: object, depth: int = 0) -> bool:
    if type(value) is not dict:
        return False
    return all(_of_kind(kind, content, depth) for kind, content in value.items())


def _of_kind(kind: str, content: object, depth: int) -> bool:
    if kind == "M":
        return depth > DEEPEST or _attribute_map(content, depth + 1)
    if kind == "L":
        return type(content) is list and (
            depth > DEEPEST or all(_attribute_value(member, depth + 1) for member in content)
        )
    test = _KINDS.get(kind)
    return test is not None and test(content)


def _texts(value: object) -> bool:
    return type(value) is list and all(map(_text, value))


def _blobs(value: object) -> bool:
    return type(value) is list and all(map(_blob, value))


_KINDS: dict[str, Test] = {
    "S": _text,
    "N": _text,
    "B": _blob,
    "BOOL": _boolean,
    "NULL": _boolean,
    "SS": _texts,
    "NS": _texts,
    "BS": _blobs,
}
