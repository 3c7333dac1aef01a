"""The types and limits of fields in words: `String`, `1 to 128 characters, without #`."""

import inspect
from collections.abc import Iterator, Mapping
from typing import Any, get_origin

from pydantic import BaseModel, create_model
from pydantic.errors import PydanticInvalidForJsonSchema
from pydantic.fields import FieldInfo

from keyplan.design.entities.specs import FieldSpec
from keyplan.design.fields.declarations import markers
from keyplan.design.values.annotations import scalar
from keyplan.design.values.limits import Limit
from keyplan.design.values.text import OneLine

TYPES = {
    "S": "String",
    "N": "Number",
    "B": "Binary",
    "BOOL": "Boolean",
    "NULL": "Null",
    "M": "Map",
    "L": "List",
    "SS": "String set",
    "NS": "Number set",
    "BS": "Binary set",
}
_OF_JSON = {
    "string": "String",
    "integer": "Number",
    "number": "Number",
    "boolean": "Boolean",
    "array": "List",
    "object": "Map",
}
_KINDS = {
    "version": "counts changes; every change checks it",
    "count": "a counter, kept by the writes that count",
    "created": "time of creation, set by the store",
    "updated": "time of the last change, set by the store",
    "ttl": "time to live, in seconds since 1970",
}
_ACCESS = {
    "read-only": "set by the system",
    "create-only": "never changes",
    "hidden": "never shown",
}
_WITHOUT_SEPARATOR = "^[^#]+$"


def schema_of(info: FieldInfo) -> Mapping[str, Any]:
    """The JSON schema of a field's values, without `null`; empty if it has none."""
    try:
        fields: dict[str, Any] = {"value": (info.annotation, info)}
        model: type[BaseModel] = create_model("Value", **fields)
        schema = model.model_json_schema(by_alias=False)
    except PydanticInvalidForJsonSchema:
        return {}
    found = next(iter(schema["properties"].values()))
    return _resolved(found, schema.get("$defs", {}))


def _resolved(schema: Mapping[str, Any], known: Mapping[str, Any]) -> Mapping[str, Any]:
    while "$ref" in schema:
        schema = {**known[schema["$ref"].rpartition("/")[2]], **{k: v for k, v in schema.items() if k != "$ref"}}
    choices = [each for each in schema.get("anyOf", ()) if each.get("type") != "null"]
    if len(choices) == 1:
        return _resolved({**{k: v for k, v in schema.items() if k != "anyOf"}, **choices[0]}, known)
    items = schema.get("items")
    return {**schema, "items": _resolved(items, known)} if isinstance(items, Mapping) else schema


def type_text(spec: FieldSpec, schema: Mapping[str, Any], stored: Mapping[str, Any] | None) -> str:
    """The type of an attribute in DynamoDB: as the example has it, or as its declaration says."""
    if stored is not None:
        ((kind, _),) = stored.items()
        inner = _inner(schema) if kind == "L" else ""
        return TYPES[kind] + (f" of {inner}" if inner else "")
    if spec.kind == "ttl":
        return "Number"
    if get_origin(spec.annotation) in (set, frozenset):
        return "String set" if schema.get("items", {}).get("type") == "string" else "Number set"
    name = _OF_JSON.get(str(schema.get("type")), "")
    if not name and "enum" in schema:
        name = "String" if isinstance(scalar(spec.annotation), type) else ""
    inner = _inner(schema) if name == "List" else ""
    return (name or "Map") + (f" of {inner}" if inner else "")


def _inner(schema: Mapping[str, Any]) -> str:
    return _OF_JSON.get(str(schema.get("items", {}).get("type")), "")


def limits_text(spec: FieldSpec, info: FieldInfo, schema: Mapping[str, Any]) -> str:
    """What a value must be besides its type."""
    parts = [_KINDS[spec.kind]] if spec.kind in _KINDS else list(_limits(schema))
    parts += [text for mark in markers(info) if (text := _own_limit(mark))]
    if spec.large is not None:
        parts.append("may be larger than an item: stored in parts")
    parts += [_ACCESS[spec.access]] if spec.access in _ACCESS and spec.kind == "plain" else []
    return ", ".join(dict.fromkeys(parts))


def _own_limit(mark: object) -> str:
    """The first line of what a limit's function says, if the schema can't say it."""
    if not isinstance(mark, Limit) or isinstance(mark, OneLine) or mark.pattern is not None:
        return ""
    return (inspect.getdoc(mark.check) or "").partition("\n")[0].rstrip(".")


def _limits(schema: Mapping[str, Any]) -> Iterator[str]:
    if "const" in schema:
        yield f"always `{schema['const']}`"
    if "enum" in schema:
        yield f"one of {', '.join(f'`{each}`' for each in schema['enum'])}"
    if schema.get("format") in ("date-time", "date", "uuid", "time"):
        yield {"date-time": "time in UTC, ISO 8601", "date": "date", "uuid": "UUID", "time": "time of day"}[
            schema["format"]
        ]
    yield from _range(schema, "minLength", "maxLength", " characters")
    yield from _range(schema, "minimum", "maximum", "")
    if "exclusiveMinimum" in schema:
        yield f"more than {schema['exclusiveMinimum']}"
    if "exclusiveMaximum" in schema:
        yield f"less than {schema['exclusiveMaximum']}"
    if "pattern" in schema:
        yield from _pattern(schema["pattern"])
    if schema.get("type") == "array":
        yield from _range(schema, "minItems", "maxItems", " elements")
        inner = ", ".join(_limits(schema.get("items", {})))
        if inner:
            yield f"each {inner}"
    if schema.get("type") == "object" and schema.get("properties"):
        yield f"with {', '.join(f'`{name}`' for name in schema['properties'])}"


def _pattern(pattern: str) -> Iterator[str]:
    if pattern == _WITHOUT_SEPARATOR:
        yield "without #"
    elif "\\u200b" in pattern or "\u200b" in pattern:
        yield "one line"
    else:
        yield f"matches `{pattern}`"


def _range(schema: Mapping[str, Any], low: str, high: str, unit: str) -> Iterator[str]:
    least, most = schema.get(low), schema.get(high)
    if least is not None and most is not None:
        yield f"{least}{unit}" if least == most else f"{least} to {most}{unit}"
    elif most is not None:
        yield f"up to {most}{unit}"
    elif least is not None:
        yield f"at least {least}{unit}"
