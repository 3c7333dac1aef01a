"""A body is parsed once, and checked as pydantic checks JSON: strictly, but a string can be a time."""

import json
import random
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum, IntEnum
from functools import cache, partial
from importlib import import_module
from ipaddress import IPv4Address
from typing import Annotated, Any, Literal
from uuid import UUID

import orjson
import pydantic_core
import pytest
from pydantic import AfterValidator, BaseModel, Field, JsonValue, TypeAdapter, ValidationError, WrapValidator
from pydantic_core import to_json

from keyplan.web import Api, In
from keyplan.web.models.sending import as_sent
from keyplan.web.models.signatures import signature_of
from tests.web.answers import problem, shelf
from tests.web.site import Site

SYSTEMS = ("funkedupshift", "threefc", "vcm", "wavyblog", "hacktracker")

_VALUES: tuple[object, ...] = (
    *(None, True, False, 0, 1, -1, 7, 2**53, 1.5, 0.1, "", " ", "a", "ada", "A b", "1", "1.5", "true", "null", "NaN"),
    *("2026-01-31", "2026-01-31T12:00:00Z", "2026-01-31T12:00", "2026-01-31 12:00:00+02:00", "2026-13-01", "12:00"),
    *("1700000000", "PT1H", "1.1.1.1", "12345678-1234-5678-1234-567812345678", "ada@example.org", "https://x.org/a"),
    *(
        [],
        {},
        [1],
        ["a"],
        ["a", "b", "c"],
        [["a", "a"]],
        {"a": 1},
        {"type": "doc", "content": []},
        "x" * 400,
        "\0",
        "é",
    ),
)


class Shade(Enum):
    DARK = "dark"
    ONE = 1


class Grade(IntEnum):
    GOOD = 1
    POOR = 2


@dataclass
class Point:
    __pydantic_config__ = In.model_config

    x: int
    y: datetime


class Leaf(BaseModel):
    size: int = Field(ge=0)
    parts: list["Leaf"] = []


class Everything(In):
    """One field of every type that bodies are likely to have."""

    whole: int | None = None
    number: float | None = Field(default=None, allow_inf_nan=False)
    yes: bool | None = None
    text: str | None = None
    amount: Decimal | None = None
    uuid: UUID | None = None
    data: bytes | None = None
    day: date | None = None
    at: datetime | None = None
    past: Annotated[datetime, AfterValidator(lambda value: value)] | None = None
    hour: time | None = None
    lasts: timedelta | None = None
    either: int | str | None = None
    one_of: Literal[1, "a", True] | None = None
    whatever: Any = None
    json_value: JsonValue = None
    numbers: list[int] | None = None
    times: tuple[datetime, ...] | None = None
    names: set[str] | None = None
    by_day: dict[date, int] | None = None
    leaf: Leaf | None = None
    shade: Shade | None = None
    grade: Grade | None = None
    address: IPv4Address | None = None
    point: Point | None = None


def _bodies_of(system: str) -> Iterator[type[In]]:
    api = next(each for each in vars(import_module(f"keyplan.apps.{system}.api")).values() if isinstance(each, Api))
    yield from {body[1]: None for route in api.routes if (body := signature_of(route.method).body) is not None}


def _sent(schema: dict[str, Any], parts: dict[str, Any], dice: random.Random) -> object:
    """A value that mostly has the types of a JSON schema, with something else here and there."""
    if dice.random() < 0.15:
        return dice.choice(_VALUES)
    if "$ref" in schema:
        return _sent(parts.get(schema["$ref"].rpartition("/")[2], {}), parts, dice)
    if choices := schema.get("anyOf") or schema.get("oneOf"):
        return _sent(dice.choice(choices), parts, dice)
    if "enum" in schema or "const" in schema:
        return dice.choice(schema.get("enum") or [schema["const"]])
    match schema.get("type"):
        case "object":
            fields = schema.get("properties", {}).items()
            found = {name: _sent(inner, parts, dice) for name, inner in fields if dice.random() < 0.8}
            return found | ({"other": 1} if dice.random() < 0.05 else {})
        case "array":
            return [_sent(schema.get("items", {}), parts, dice) for _ in range(dice.randrange(4))]
        case "integer":
            return dice.randrange(-1, 100)
        case "boolean":
            return dice.random() < 0.5
        case "string" if schema.get("format") in ("date", "date-time"):
            return dice.choice(["2026-01-31", "2026-01-31T12:00:00Z", "2026-01-31T12:00:00.123+02:00"])
        case "string" if "examples" in schema:
            return dice.choice(schema["examples"])
    return dice.choice(_VALUES)


def _result(read: Callable[[], Any]) -> object:
    """The fields that were given with their values, or the errors as callers get them."""
    try:
        found = read()
    except ValidationError as error:
        return [(each["type"], each["loc"], each["msg"]) for each in error.errors(include_url=False)]
    return to_json(found), found.model_fields_set, repr(found)


@cache
def _readers(model: type[In]) -> tuple[TypeAdapter[Any], TypeAdapter[Any]]:
    """Ours, and one that lets pydantic read JSON."""

    def from_json(value: object, lax: object) -> In:
        return model.model_validate_json(orjson.dumps(value), strict=True)

    by_json: Any = Annotated[model, WrapValidator(from_json)]
    return TypeAdapter(as_sent(model)), TypeAdapter(by_json)


def _compare(model: type[In], value: object) -> bool:
    """Whether the value is valid; fails if pydantic, reading JSON, finds something else."""
    ours, by_json = _readers(model)
    found = _result(lambda: ours.validate_python(value))
    assert found == _result(lambda: by_json.validate_python(value)), (model, value)
    return not isinstance(found, list)


@pytest.mark.parametrize("system", SYSTEMS)
def test_bodies_are_checked_as_pydantic_checks_json(system: str) -> None:
    dice = random.Random(system)
    valid = 0
    for model in _bodies_of(system):
        schema = model.model_json_schema()
        for _ in range(100):
            valid += _compare(model, _sent(schema, schema.get("$defs", {}), dice))
    assert valid > 50


@pytest.mark.parametrize("field", Everything.model_fields)
def test_each_type_is_checked_as_pydantic_checks_json(field: str) -> None:
    more = ({"size": 1, "parts": [{"size": 2}, {"size": "2"}, 1]}, {"x": 1, "y": "2026-01-31T12:00:00Z"}, {"x": "1"})
    of_days = ({"2026-01-31": 1}, {"2026-01-31": "1"}, {"x": 1}, ["2026-01-31T12:00:00Z"], "dark", 2)
    valid = [_compare(Everything, {field: value}) for value in (*_VALUES, *more, *of_days)]
    assert any(valid)
    assert field in ("whatever", "json_value") or not all(valid)


MARK = "parsed once"


@pytest.fixture
def parses(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the parsers that got text with the mark in it, except when the engine reads an item."""
    found: list[str] = []

    def watch(owner: Any, name: str) -> None:
        parse = getattr(owner, name)

        def parse_and_note(*given: Any, **options: Any) -> Any:
            text = next((each for each in given if isinstance(each, str | bytes | bytearray | memoryview)), b"")
            of_engine = sys._getframe(1).f_globals["__name__"].startswith("keyplan.engine.")
            if not of_engine and MARK.encode() in (text.encode() if isinstance(text, str) else bytes(text)):
                found.append(name)
            return parse(*given, **options)

        monkeypatch.setattr(owner, name, parse_and_note)

    for owner, name in (
        (orjson, "loads"),
        (json, "loads"),
        (pydantic_core, "from_json"),
        (BaseModel, "model_validate_json"),
        (TypeAdapter, "validate_json"),
    ):
        watch(owner, name)
    return found


@pytest.mark.usefixtures("both_ways")
def test_a_body_is_parsed_once(library: Site, parses: list[str]) -> None:
    client = library.as_("ada")
    as_json = {"Content-Type": "application/json"}
    path = f"/shelves/{shelf(client, 'Novels')['shelf_id']}"

    def once(verb: str, path: str, text: str, **headers: str) -> int:
        parses.clear()
        answer = client.request(verb, path, content=text, headers={**as_json, **headers})
        assert parses == ["loads"], answer.text
        return answer.status_code

    body = orjson.dumps({"name": MARK}).decode()
    assert once("POST", "/shelves", body) == 201
    assert once("PATCH", path, orjson.dumps({"name": f"{MARK} again"}).decode(), **{"If-Match": "*"}) == 200
    key = {"Idempotency-Key": "first"}
    assert once("POST", f"{path}/books", orjson.dumps({"isbn": "1234567890", "title": MARK}).decode(), **key) == 201
    assert once("POST", f"{path}/books", orjson.dumps({"title": MARK, "isbn": "1234567890"}).decode(), **key) == 201
    assert once("POST", "/shelves", body[:-1]) == 400
    assert once("POST", "/shelves", orjson.dumps({"name": [MARK]}).decode()) == 422
    assert once("POST", "/shelves", orjson.dumps({"name": MARK, "other": 1}).decode()) == 422


def test_what_is_wrong_with_json_is_said_by_place(library: Site) -> None:
    headers = {"Content-Type": "application/json"}
    answer = library.as_("ada").post("/shelves", content=b'{"name": "a"', headers=headers)
    assert problem(answer, 400, "not-json")["detail"] == (
        "The body isn't valid JSON: unexpected end of data: line 1 column 13 (char 12)."
    )


def test_no_body_of_a_system_has_a_type_that_is_parsed_again(parses: list[str]) -> None:
    for model in (each for system in SYSTEMS for each in _bodies_of(system)):
        names = [info.alias or name for name, info in model.model_fields.items()]
        _result(partial(_readers(model)[0].validate_python, dict.fromkeys(names, MARK)))
    assert parses == []
    _result(partial(_readers(Everything)[0].validate_python, {"address": MARK}))
    assert parses == ["validate_json"]
