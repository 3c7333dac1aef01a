"""Requests and items as text: expressions with their names and values filled in, and values as JSON."""

import base64
import json
import re
from collections.abc import Mapping
from typing import Any

_PLACEHOLDER = re.compile(r"[#:][A-Za-z0-9_]+")
WIDTH = 100
"""How long lines of code may be."""
LONGEST = 60
"""How many characters of a value are shown in a table or a picture."""


def filled(request: Mapping[str, Any], member: str) -> str:
    """An expression of a request, with names and values where it refers to them."""
    names = request.get("ExpressionAttributeNames", {})
    values = request.get("ExpressionAttributeValues", {})

    def text(match: re.Match[str]) -> str:
        found = match[0]
        return names[found] if found in names else shown(values[found]) if found in values else found

    return " ".join(_PLACEHOLDER.sub(text, request.get(member, "")).split())


def shown(value: Mapping[str, Any], longest: int = LONGEST) -> str:
    """A value of an item in short: text in quotes, numbers, lists and maps as JSON has them."""
    ((kind, content),) = value.items()
    match kind:
        case "S":
            return f'"{shortened(content, longest)}"'
        case "N":
            return str(content)
        case "B":
            return f"({len(content)} bytes)"
        case "BOOL":
            return str(content).lower()
        case "NULL":
            return "null"
        case "M":
            inner = ", ".join(f"{name}: {shown(each, longest)}" for name, each in content.items())
            return shortened(f"{{{inner}}}", longest * 2)
        case "L":
            return shortened(f"[{', '.join(shown(each, longest) for each in content)}]", longest * 2)
    members = ", ".join(shown({kind[0]: each}, longest) for each in sorted(content))  # SS, NS and BS
    return shortened(f"{{{members}}}", longest * 2)


def shortened(text: str, longest: int = LONGEST) -> str:
    """A text of one line, cut off if it is longer."""
    line = " ".join(text.split())
    return line if len(line) <= longest else f"{line[: longest - 1]}…"


def item_text(item: Mapping[str, Any]) -> str:
    """A key or an item in a line: `PK "BOOK#1", SK "BOOK"`."""
    return ", ".join(f"{name} {shown(value)}" for name, value in item.items())


def jsonable(value: object) -> object:
    """A request or an item as JSON can have it: bytes in base64, as the AWS CLI takes them; sets in order."""
    if isinstance(value, Mapping):
        return {str(name): jsonable(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [jsonable(each) for each in value]
    if isinstance(value, set | frozenset):
        return sorted(map(str, value))
    if isinstance(value, bytes | bytearray):
        return base64.b64encode(bytes(value)).decode()
    return value if value is None or isinstance(value, str | int | float | bool) else str(value)


def json_text(value: object, indent: int = 0) -> str:
    """A request or an item as JSON, in which what fits is on one line."""
    return _json(jsonable(value), indent)


def json_line(value: object) -> str:
    """JSON on one line. Characters that can't be seen are written as their codes."""
    text = json.dumps(value, ensure_ascii=False)
    return text if text.isprintable() else json.dumps(value)


def _json(value: object, indent: int) -> str:
    flat = json_line(value)
    if len(flat) + indent <= WIDTH or not isinstance(value, dict | list) or not value:
        return flat
    inner, outer = " " * (indent + 2), " " * indent
    if isinstance(value, dict):
        names = {json_line(name): each for name, each in value.items()}
        texts = [f"{inner}{name}: {_json(each, indent + 2)}" for name, each in names.items()]
        return "{\n" + ",\n".join(texts) + f"\n{outer}}}"
    return "[\n" + ",\n".join(f"{inner}{_json(each, indent + 2)}" for each in value) + f"\n{outer}]"
