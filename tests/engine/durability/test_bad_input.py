"""Whatever is sent, DynamoDB's error is returned quickly, and the next request is served."""

import contextlib
import copy
import gc
import json
import random
import time
from collections.abc import Iterator
from typing import Any

import orjson
import pytest
from botocore.exceptions import ClientError, ParamValidationError
from hypothesis import given, settings
from hypothesis import strategies as st

from keyplan.engine import Engine
from keyplan.engine.database import Database
from keyplan.engine.errors import DynamoError
from keyplan.engine.operations import OPERATIONS
from keyplan.engine.wire import serve_in_thread
from tests.engine.durability.requests import ITEM, KEY, REQUESTS, prepare, with_stream
from tests.engine.durability.support import TABLE, definition
from tests.engine.durability.wire import Refused, Wire
from tests.engine.support import nested

SECONDS = 20.0
"""What a single request may take on a busy machine before it counts as a hang; most take less than a millisecond."""


NUMBERS = [
    *(
        "1e999999999",
        "-1e999999999",
        "1e-999999999",
        "0e999999999999999999999",
        "1e" + "9" * 100_000,
        "NaN",
        "Infinity",
    ),
    *("1" * 1_000_000, "0" * 1_000_000, "1." + "0" * 1_000_000, "0." + "0" * 1_000_000 + "1", "1e" + "0" * 1_000_000),
    *(
        "",
        " ",
        "1 ",
        " 1",
        "1_000",
        "٣",
        "0x10",
        "1e",
        "e1",
        "+",
        "-",
        ".",
        "+.e1",
        "1.1.1",
        "--1",
        "1e1e1",
        "\x00",
        "１",
    ),
    *("9" * 38, "9" * 39, "1e125", "1e126", "1e-130", "1e-131", "-0", "-0.0e5"),
]
EXPRESSIONS = [
    *("(" * 5000 + "a = :v" + ")" * 5000, "NOT " * 1300 + "a = :v", "a = :v AND " * 400 + "a = :v", "((((" * 1000),
    *(
        "a" + ".a" * 2000,
        "a" + "[0]" * 1300 + " = :v",
        "size(" * 800,
        "a" * 4097,
        " " * 1_000_000,
        "a = :v" + " " * 5000,
    ),
    *("", " ", ":", "#", "a =", "= a", "a = :v :v", "a[", "a[-1] = :v", "a[99999999999999999999] = :v", "a[1e5] = :v"),
    *("\x00", "a\x00 = :v", "ä = :v", "a = :v\u2028", "a IN (" + ":v, " * 200 + ":v)", "a BETWEEN :v AND", "'a' = :v"),
    *(
        "SET a = " + "a + " * 1000 + ":v",
        "SET a = :v " * 300,
        "SET " + "if_not_exists(a, " * 900,
        "REMOVE " + "a, " * 1300,
    ),
    *(
        "SET a.b.c[0][1].d = :v",
        "ADD a :v, b :v DELETE",
        "SET pk = :v",
        "a.b.c = :v OR a.b.c <> :v",
        "contains(:v, :v)",
    ),
]
NASTY: list[Any] = [
    *(None, True, False, 0, -1, 1.5, 10**18, 2**63, 2**64 - 1, -(2**63), 1e308, -1e-308, "", "\x00", "x", "x" * 70_000),
    *("ä" * 300, "😀" * 100, "..", "a b", "%s{0}", "arn:aws:dynamodb:", "arn:aws:dynamodb:us-east-1:1:table/", "null"),
    *([], {}, [[]], [{}], [None], {"": None}, {"S": None}, {"S": 1}, {"N": 1}, {"N": ""}, {"B": "="}, {"B": "AAE"}),
    *({"SS": []}, {"SS": ["a", "a"]}, {"NS": ["1", "1.0"]}, {"NULL": False}, {"BOOL": "true"}, {"S": "a", "N": "1"}),
    *({"M": []}, {"L": {}}, {"X": "a"}, {"M": {"": {"S": ""}}}, [1] * 200, {str(n): {"S": "v"} for n in range(300)}),
    *(nested(31, "L"), nested(40, "M"), nested(200, "L"), [{"S": "x"}] * 120, {"SS": ["x"] * 1000}),
    *({"N": number} for number in NUMBERS if len(number) < 1000),
]
nasty = (
    st.sampled_from(NASTY).map(copy.deepcopy)
    | st.sampled_from([text for text in EXPRESSIONS if len(text) < 20_000])
    | st.text(max_size=20)
)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """All paths within a JSON value."""
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, member in members:
        yield (*path, name)
        yield from places(member, (*path, name))


def spoil(data: st.DataObject, request: dict[str, Any]) -> dict[str, Any]:
    """The request with one to three changes anywhere in it."""
    spoilt = copy.deepcopy(request)
    for _ in range(data.draw(st.integers(1, 3))):
        found = list(places(spoilt))
        if not found:
            break
        *path, last = data.draw(st.sampled_from(found))
        parent: Any = spoilt
        for step in path:
            parent = parent[step]
        match data.draw(st.sampled_from(["replace", "replace", "remove", "rename", "add"])):
            case "replace":
                parent[last] = data.draw(nasty)
            case "remove":
                del parent[last]
            case "rename" if isinstance(parent, dict):
                parent[data.draw(st.sampled_from(["pk", "Other", "", "S", "N", ":x", "#x", "Select"]))] = parent.pop(
                    last
                )
            case _ if isinstance(parent, dict):
                parent[data.draw(st.sampled_from(["Extra", "IndexName", "Expected", "L", ":q", "#q"]))] = data.draw(
                    nasty
                )
            case _:
                parent.append(data.draw(nasty))
    return spoilt


@contextlib.contextmanager
def at_once() -> Iterator[None]:
    began = time.perf_counter()
    yield
    assert time.perf_counter() - began < SECONDS


def attempt(database: Database, operation: str, request: dict[str, Any]) -> DynamoError | None:
    """Execute a request. An exception other than DynamoError, or a response that isn't JSON, fails the test."""
    refusal: DynamoError | None = None
    with at_once():
        try:
            orjson.dumps(database.execute(operation, request))
        except DynamoError as error:
            refusal = error
    assert refusal is None or refusal.status == 400, refusal
    return refusal


@pytest.fixture(scope="module")
def database() -> Iterator[Database]:
    made = Database()
    yield made
    made.close()


def test_there_is_a_request_for_every_operation() -> None:
    assert {operation for operation, _ in REQUESTS} == set(OPERATIONS)


@settings(max_examples=700)
@given(data=st.data(), chosen=st.sampled_from(REQUESTS))
def test_spoilt_requests(database: Database, data: st.DataObject, chosen: tuple[str, dict[str, Any]]) -> None:
    prepare(database)
    operation, request = chosen
    attempt(database, operation, spoil(data, with_stream(database, operation, request)))
    prepare(database)


@settings(max_examples=100)
@given(data=st.data(), chosen=st.lists(st.sampled_from(REQUESTS), min_size=1, max_size=6))
def test_spoilt_requests_do_not_spoil_others(
    database: Database, data: st.DataObject, chosen: list[tuple[str, dict[str, Any]]]
) -> None:
    """The endpoint has the requests of one turn executed together."""
    prepare(database)
    marker = {
        "TableName": "Marker",
        "Item": {"pk": {"S": "a"}, "sk": {"N": "1"}, "n": {"N": str(data.draw(st.integers()))}},
    }
    with contextlib.suppress(DynamoError):
        database.execute("CreateTable", definition("Marker", stream=False))
    calls = [(operation, spoil(data, request)) for operation, request in chosen]
    calls.insert(data.draw(st.integers(0, len(calls))), ("PutItem", marker))
    answers = database.execute_many(calls)
    assert len(answers) == len(calls)
    for answer in answers:
        assert not isinstance(answer, DynamoError) or answer.status == 400
    assert database.execute("GetItem", {"TableName": "Marker", "Key": KEY})


@pytest.mark.parametrize("number", NUMBERS, ids=lambda number: f"{number[:12]!r}{len(number)}")
def test_numbers(database: Database, number: str) -> None:
    prepare(database)
    value = {"N": number}
    attempt(database, "PutItem", {"TableName": TABLE, "Item": {**KEY, "n": value}})
    attempt(database, "PutItem", {"TableName": TABLE, "Item": {**KEY, "n": {"NS": ["1", number]}}})
    attempt(database, "PutItem", {"TableName": TABLE, "Item": {**KEY, "sk": value}})
    attempt(database, "GetItem", {"TableName": TABLE, "Key": {**KEY, "sk": value}})
    for text in ("ADD weight :v", "SET weight = weight - :v", "SET x = :v"):
        attempt(
            database,
            "UpdateItem",
            {"TableName": TABLE, "Key": KEY, "UpdateExpression": text, "ExpressionAttributeValues": {":v": value}},
        )
    for text in ("pk = :p AND sk < :v", "pk = :p AND sk BETWEEN :v AND :v"):
        values = {":p": {"S": "a"}, ":v": value}
        attempt(
            database,
            "Query",
            {"TableName": TABLE, "KeyConditionExpression": text, "ExpressionAttributeValues": values},
        )


@pytest.mark.parametrize("text", EXPRESSIONS, ids=lambda text: f"{text[:12]!r}{len(text)}")
@pytest.mark.parametrize("member", ["Condition", "Filter", "KeyCondition", "Projection", "Update"])
def test_expressions(database: Database, member: str, text: str) -> None:
    prepare(database)
    operation = {"Condition": "DeleteItem", "Projection": "GetItem", "Update": "UpdateItem"}.get(member, "Query")
    request: dict[str, Any] = {"TableName": TABLE, f"{member}Expression": text}
    if member != "Projection":
        request["ExpressionAttributeValues"] = {":v": {"S": "a"}}
    if operation != "Query":
        request["Key"] = KEY
    elif member == "Filter":
        request["KeyConditionExpression"] = "pk = :v"
    attempt(database, operation, request)


@pytest.mark.parametrize("kind", ["L", "M"])
@pytest.mark.parametrize("depth", [31, 32, 100, 5_000])
def test_deep_values(database: Database, kind: str, depth: int) -> None:
    """Deeper than any JSON over the wire can be: the engine is also called with Python's own objects."""
    prepare(database)
    value = nested(depth, kind)
    for operation, request in (
        ("PutItem", {"TableName": TABLE, "Item": {**ITEM, "deep": value}}),
        ("GetItem", {"TableName": TABLE, "Key": {**KEY, "sk": value}}),
        (
            "UpdateItem",
            {
                "TableName": TABLE,
                "Key": KEY,
                "UpdateExpression": "SET deep = :v",
                "ExpressionAttributeValues": {":v": value},
            },
        ),
        ("TransactWriteItems", {"TransactItems": [{"Put": {"TableName": TABLE, "Item": {**ITEM, "deep": value}}}]}),
        ("CreateTable", {"TableName": value}),
        ("CreateTable", {"TableName": "Deep", "Unknown": value}),
    ):
        assert (attempt(database, operation, request) is None) == (
            depth == 31 and "Item" in operation and "Get" not in operation
        )
    with Engine() as engine, pytest.raises((ClientError, ParamValidationError)):
        engine.put_item(TableName=TABLE, Item={**KEY, "sk": value})


def test_growing_deeper_step_by_step(database: Database) -> None:
    """An update can't nest deeper than a put."""
    prepare(database)
    path = "doc"
    refused = None
    for _ in range(40):
        request = {
            "TableName": TABLE,
            "Key": KEY,
            "UpdateExpression": f"SET {path}.a = :v",
            "ExpressionAttributeValues": {":v": {"M": {}}},
        }
        refused = refused or attempt(database, "UpdateItem", request)
        path += ".a"
    assert refused is not None


@pytest.fixture(scope="module")
def wire(database: Database) -> Iterator[Wire]:
    with serve_in_thread(database) as url, Wire(int(url.rpartition(":")[2])) as connection:
        yield connection


def answers(wire: Wire, operation: str, body: bytes) -> str:
    refusal: Refused | None = None
    with at_once():
        try:
            wire.post(operation, body)
        except Refused as refused:
            refusal = refused
    assert refusal is None or refusal.status in (400, 413), refusal
    return "" if refusal is None else refusal.code


@pytest.mark.parametrize(
    "body", [b"[" * 100_000, b'{"a":' * 100_000, b'{"TableName":' + b"[" * 900 + b"]" * 900 + b"}"]
)
def test_deep_json(database: Database, wire: Wire, body: bytes) -> None:
    assert answers(wire, "GetItem", body) == "SerializationException"
    prepare(database)
    assert wire.call("GetItem", TableName=TABLE, Key=KEY)["Item"] == ITEM


def test_values_nested_as_deep_as_json_can_be(wire: Wire) -> None:
    for depth in (32, 100, 300, 480):
        for kind in ("L", "M"):
            begin, end = ('{"L":[', "]}") if kind == "L" else ('{"M":{"a":', "}}")
            item = f'{{"pk":{{"S":"a"}},"sk":{{"N":"1"}},"deep":{begin * depth}{{"S":"x"}}{end * depth}}}'
            body = f'{{"TableName":"{TABLE}","Item":{item}}}'
            assert answers(wire, "PutItem", body.encode()) == "ValidationException"


@settings(max_examples=200)
@given(data=st.data(), chosen=st.sampled_from(REQUESTS))
def test_spoilt_requests_over_the_wire(
    database: Database, wire: Wire, data: st.DataObject, chosen: tuple[str, dict[str, Any]]
) -> None:
    prepare(database)
    operation, request = chosen
    spoilt = spoil(data, with_stream(database, operation, request))
    answers(wire, operation, json.dumps(spoilt).encode())  # orjson doesn't write deeply nested values
    prepare(database)
    assert wire.call("GetItem", TableName=TABLE, Key=KEY)["Item"] == ITEM


def test_spoilt_bytes_over_the_wire(database: Database, wire: Wire) -> None:
    chance = random.Random(1)
    for operation, request in REQUESTS * 4:
        body = bytearray(orjson.dumps(request))
        for _ in range(chance.randrange(1, 4)):
            at = chance.randrange(len(body))
            body[at : at + chance.randrange(3)] = chance.choice(
                [b"", b'"', b"\xff", b"\x00", b"{", b"]", b"\\u", b"\\ud800"]
            )
        prepare(database)
        answers(wire, operation, bytes(body))
    prepare(database)
    assert wire.call("GetItem", TableName=TABLE, Key=KEY)["Item"] == ITEM


def test_nothing_of_a_refused_request_is_kept(wire: Wire) -> None:
    """Python finds cycles between objects only now and then, and each would keep a body of up to 16 MB."""
    bodies = {
        "large": orjson.dumps({"TableName": TABLE, "Item": {**KEY, "long": {"S": "x" * 1_000_000}}}),
        "not JSON": b'"' * 1_000_000,
        "too many members": b"[" * 1_000_000,
        "no key": orjson.dumps({"TableName": TABLE, "Item": {}}),
        "no table": b"{}",
        "wrong expression": orjson.dumps({"TableName": TABLE, "Item": KEY, "ConditionExpression": "a = = b"}),
        "condition": orjson.dumps({"TableName": TABLE, "Item": KEY, "ConditionExpression": "attribute_exists(none)"}),
    }
    gc.collect()
    gc.disable()
    try:
        before = errors_in_memory()
        for body in bodies.values():
            for _ in range(3):
                with pytest.raises(Refused):
                    wire.post("PutItem", body)
        wire.call("ListTables")  # a thread keeps its last error until it has sent the answer
        assert errors_in_memory() == before
    finally:
        gc.enable()


def errors_in_memory() -> int:
    return sum(isinstance(each, DynamoError) for each in gc.get_objects())


def test_large_bodies(database: Database, wire: Wire) -> None:
    prepare(database)
    item = {**KEY, "long": {"S": "x" * 15_000_000}}
    assert answers(wire, "PutItem", orjson.dumps({"TableName": TABLE, "Item": item})) == "ValidationException"
    names = {"TableName": TABLE, "Key": KEY, "ExpressionAttributeNames": {f"#{n}": "a" for n in range(300_000)}}
    assert answers(wire, "GetItem", orjson.dumps(names)) == "ValidationException"
    keys = {"RequestItems": {TABLE: {"Keys": [{**KEY, "sk": {"N": str(n)}} for n in range(20_000)]}}}
    assert answers(wire, "BatchGetItem", orjson.dumps(keys)) == "ValidationException"
    lists = {"TableName": TABLE, "Item": {**KEY, "list": {"L": [{"NULL": True}] * 205_000}}}
    assert answers(wire, "PutItem", orjson.dumps(lists)) == "ValidationException"
    marks = {"TableName": TABLE, "Item": {**KEY, "text": {"S": '"[{,' * 3_000_000}}}
    assert answers(wire, "PutItem", orjson.dumps(marks)) == "ValidationException"
    assert wire.call("GetItem", TableName=TABLE, Key=KEY)["Item"] == ITEM
