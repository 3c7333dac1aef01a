"""Requests as short text, for the documentation: names and values stand where the expressions refer to them."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

_DIGEST = re.compile(r"[0-9a-f]{32,}")
_PLACEHOLDER = re.compile(r"[#:][A-Za-z0-9_]+")


def request_text(operation: str, request: Mapping[str, Any]) -> str:
    """A request in a line or a few: `PutItem BOOK#1 | BOOK  if attribute_not_exists(PK)`."""
    name = "".join(word.capitalize() for word in operation.split("_"))
    text = "\n".join([f"{name} {_head(request)}", *_members(request)])
    return "\n".join(line.rstrip() for line in text.splitlines())


def request_shape(operation: str, request: Mapping[str, Any]) -> str:
    """What two requests have in common that differ only in their values."""
    parts = [part for each in request.get("TransactItems", ()) for part in each.items()] or [(operation, request)]
    return str([(kind, _where(part), [part.get(each) for each in _EXPRESSIONS]) for kind, part in parts])


def _head(request: Mapping[str, Any]) -> str:
    if "TransactItems" in request:
        return ""
    return " ".join(part for part in (_where(request), *_clauses(request)) if part)


def _where(request: Mapping[str, Any]) -> str:
    table = request.get("TableName", "")
    return f"{table}.{request['IndexName']}" if "IndexName" in request else table


def _clauses(request: Mapping[str, Any]) -> Iterator[str]:
    if "Key" in request:
        yield item_text(request["Key"])
    if "Item" in request:
        yield item_text(request["Item"])
    for member, label in _EXPRESSIONS.items():
        if member in request:
            yield f"\n  {label}{_filled(request, request[member])}"
    shown = [f"{label}{request[member]}" for member, label in _OPTIONS.items() if member in request]
    if request.get("ScanIndexForward") is False:
        shown.append("descending")
    if request.get("ConsistentRead"):
        shown.append("consistent")
    if shown:
        yield f"\n  {', '.join(shown)}"


_EXPRESSIONS = {
    "KeyConditionExpression": "where ",
    "UpdateExpression": "",
    "ProjectionExpression": "only ",
    "FilterExpression": "filter ",
    "ConditionExpression": "if ",
}
_OPTIONS = {"Limit": "limit ", "ReturnValues": "returning ", "Select": "select "}


def _members(request: Mapping[str, Any]) -> Iterator[str]:
    """The parts of a transaction or a batch, one or more lines each."""
    for each in request.get("TransactItems", ()):
        for kind, part in each.items():
            yield f"  {kind} {_head(part)}".replace("\n", "\n  ")
    for table, wanted in request.get("RequestItems", {}).items():
        if isinstance(wanted, list):
            for each in wanted:
                for kind, part in each.items():
                    yield f"  {kind.removesuffix('Request')} {table} {item_text(part.get('Item') or part['Key'])}"
        else:
            yield from (f"  {table} {item_text(each)}" for each in wanted["Keys"])


def _filled(request: Mapping[str, Any], expression: str) -> str:
    names = request.get("ExpressionAttributeNames", {})
    values = request.get("ExpressionAttributeValues", {})

    def filled(match: re.Match[str]) -> str:
        found = match[0]
        return names[found] if found in names else value_text(values[found]) if found in values else found

    return " ".join(_PLACEHOLDER.sub(filled, expression).split())


def item_text(item: Mapping[str, Any]) -> str:
    """An item: `{PK: "BOOK#1", year: 1843}`."""
    return "{" + ", ".join(f"{name}: {value_text(value)}" for name, value in item.items()) + "}"


def value_text(value: Mapping[str, Any]) -> str:
    """A value, close to JSON."""
    ((kind, content),) = value.items()
    match kind:
        case "S":
            text = _DIGEST.sub("(digest)", content)
            text = text if len(text) <= 60 else f"{text[:40]}... ({len(text)} characters)"
            return '"' + text.replace('"', "'") + '"'
        case "B":
            return "(bytes)"
        case "M":
            return item_text(content)
        case "L":
            return f"[{', '.join(map(value_text, content))}]"
        case "SS":
            return "{" + ", ".join(f'"{each}"' for each in sorted(content)) + "}"
        case "NULL":
            return "null"
        case "BOOL":
            return str(content).lower()
    return str(content)
