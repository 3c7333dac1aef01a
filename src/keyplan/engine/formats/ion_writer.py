"""Items as lines of Amazon Ion text, in the form of AWS's exports."""

import json
import re
from decimal import Decimal
from typing import cast

from keyplan.engine.values.attribute_values import AttributeValue, Item

VERSION = "$ion_1_0"
_IDENTIFIER = re.compile(r"(?!(?:null|true|false|nan)$|\$\d+$)[A-Za-z_$][A-Za-z0-9_$]*$")
_LONGEST_PLAIN = 40
"""Numbers with more digits after the point are written with an exponent."""


def item_line(item: Item) -> bytes:
    return f"{VERSION} {{Item:{struct(item)}}}\n".encode()


def record_line(record: dict[str, str]) -> bytes:
    """Return the line of an incremental export, from its members as Ion texts."""
    members = ",".join(f"{name}:{text}" for name, text in record.items())
    return f"{VERSION} {{Record:{{{members}}}}}\n".encode()


def struct(item: Item) -> str:
    return "{" + ",".join(f"{_symbol(name)}:{_value(value)}" for name, value in item.items()) + "}"


def number(text: str) -> str:
    """Return a decimal: with a point or an exponent, because an integer is another type."""
    value = Decimal(text).normalize()
    exponent = cast(int, value.as_tuple().exponent)
    if exponent == 0:
        return f"{value}."
    if -_LONGEST_PLAIN <= exponent < 0:
        return f"{value:f}"
    return f"{value.scaleb(-exponent):f}d{exponent}"


def _symbol(name: str) -> str:
    return name if _IDENTIFIER.match(name) else "'" + _escaped(name).replace("'", "\\'").replace('\\"', '"') + "'"


def _string(text: str) -> str:
    return f'"{_escaped(text)}"'


def _escaped(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)[1:-1]


def _blob(text: str) -> str:
    return "{{" + text + "}}"


def _list(values: list[str]) -> str:
    return "[" + ",".join(values) + "]"


def _value(value: AttributeValue) -> str:
    ((kind, content),) = cast("dict[str, object]", value).items()
    match kind:
        case "S":
            return _string(cast(str, content))
        case "N":
            return number(cast(str, content))
        case "B":
            return _blob(cast(str, content))
        case "BOOL":
            return "true" if content else "false"
        case "NULL":
            return "null"
        case "M":
            return struct(cast(Item, content))
        case "L":
            return _list([_value(each) for each in cast("list[AttributeValue]", content)])
        case _:
            write = {"SS": _string, "NS": number, "BS": _blob}[kind]
            return f"$dynamodb_{kind}::{_list([write(each) for each in cast('list[str]', content)])}"
