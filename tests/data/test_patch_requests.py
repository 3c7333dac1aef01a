"""The exact requests of each kind of patch, upsert and delete by key: one write where what is given is enough, else a
consistent read and a conditional write."""

import re
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any, NamedTuple

import pytest

from keyplan.data import Store, at, create, delete, patch, touch, upsert
from keyplan.design import ref
from tests.data.support import Recorder, shape
from tests.data.workshop import (
    Badge,
    Bench,
    Box,
    Drawer,
    Old,
    Pair,
    Plain,
    Room,
    Screw,
    Size,
    Span,
    Strict,
    Tool,
    Workshop,
    workshop_store,
)

TOOL, PLAIN, BADGE = ref(Tool, tool_id="1"), ref(Plain, plain_id="1"), ref(Badge, badge_id="1")
NEW_PLAIN = ref(Plain, plain_id="2")


@pytest.fixture
def filled() -> Iterator[tuple[Store[Workshop], Recorder]]:
    with workshop_store() as (store, sent):
        store.run(create(Tool(tool_id="1", parts=[Size()], notes={"a": 1}, by_number={7: Size()}, log=["x"])))
        store.run(create(Plain(plain_id="1", text="")))
        store.run(create(Badge(badge_id="1", code="a")))
        store.run(create(Drawer(drawer_id="1")))
        store.run(create(Drawer(drawer_id="2")))
        store.run(create(Screw(screw_id="1", drawer_id="1", marks=frozenset({"m"}))))
        store.run(create(Room(room_id="1")))
        store.run(create(Bench(room_id="1", bench_id="1")))
        store.run(create(Old(old_id="1")))
        store.run(create(Strict(strict_id="1")))
        store.run(create(Pair(pair_id="1")))
        store.run(create(Box(box_id="1")))
        sent.taken()
        yield store, sent


class Case(NamedTuple):
    """An operation, and what it sends."""

    op: Any
    sends: tuple[str, ...]


ONE = ("update_item TOOL#1/TOOL",)
READ = ("get_item TOOL#1/TOOL", "update_item TOOL#1/TOOL")

PATCHES = {
    "a plain field": Case(patch(TOOL, status="old"), ONE),
    "a nested field": Case(patch(TOOL, lambda t: at(t.size.width).set(3)), ONE),
    "a nested number": Case(patch(TOOL, lambda t: at(t.size.width).add(3)), ONE),
    "an entry of a map": Case(patch(TOOL, lambda t: at(t.notes["b"]).set(3)), ONE),
    "an entry by a number": Case(patch(TOOL, lambda t: at(t.by_number[7].width).set(3)), ONE),
    "an element of a list": Case(patch(TOOL, lambda t: at(t.parts[0].unit).set("mm")), ONE),
    "values at the end of a list with a limit": Case(patch(TOOL, lambda t: at(t.log).append("y")), ONE),
    "a member of a set with a limit": Case(patch(TOOL, lambda t: at(t.tags).add("y")), ONE),
    "two members of a set with a limit": Case(patch(TOOL, lambda t: at(t.tags).add("y", "z")), READ),
    "two members of a set without a limit": Case(patch(TOOL, lambda t: at(t.numbers).add(1, 2)), ONE),
    "members of a nested set": Case(patch(TOOL, lambda t: at(t.size.colors).add("red")), READ),
    "a number with a range": Case(patch(TOOL, lambda t: at(t.stock).subtract(3)), ONE),
    "a number with a function as its limit": Case(patch(TOOL, lambda t: at(t.pairs).add(2)), READ),
    "a field of a model with a validator": Case(patch(TOOL, lambda t: at(t.span.low).set(2)), READ),
    "the whole model with a validator": Case(patch(TOOL, span=Span(low=1)), ONE),
    "a value of unknown type": Case(patch(TOOL, anything={"a": 1}), ONE),
    "all fields of an index key": Case(patch(TOOL, shelf="B", rank=2), ONE),
    "one attribute of an index key, the other stays": Case(patch(TOOL, rank=2), ONE),
    "a number that is part of an index key": Case(patch(TOOL, lambda t: at(t.rank).add(1)), READ),
    "a number that is itself the index key": Case(patch(TOOL, lambda t: at(t.wear).add(1)), ONE),
    "an optional number that is itself the index key": Case(patch(TOOL, lambda t: at(t.weight).add(1)), ONE),
    "the same, removed": Case(patch(TOOL, weight=None), ONE),
    "a text that is itself the index key": Case(patch(TOOL, maker="theirs"), ONE),
    "an optional field of an index key": Case(patch(TOOL, borrower="ann"), READ),
    "all fields of an index key with when": Case(patch(TOOL, borrower="ann", name="saw", lent=True), ONE),
    "a field of a guard": Case(
        patch(BADGE, code="b"),
        ("get_item BADGE#1/BADGE", "transact: Update BADGE#1/BADGE, Delete CODE#a/CODE#a, Put CODE#b/CODE#b"),
    ),
    "a field beside a guard": Case(patch(BADGE, lambda b: at(b.uses).add(1)), ("update_item BADGE#1/BADGE",)),
    "a counted field": Case(
        patch(ref(Screw, screw_id="1"), drawer_id="2"),
        (
            "get_item SCREW#1/SCREW",
            "transact: Update SCREW#1/SCREW, Update DRAWER#1/DRAWER, Update DRAWER#2/DRAWER",
        ),
    ),
    "derived items": Case(
        patch(ref(Screw, screw_id="1"), lambda s: at(s.marks).add("n")),
        ("get_item SCREW#1/SCREW", "transact: Update SCREW#1/SCREW, Put MARK#n/SCREW#1"),
    ),
    "a nested path in an envelope": Case(
        patch(ref(Box, box_id="1"), lambda b: at(b.size.width).set(2)), ("get_item BOX#1/BOX", "update_item BOX#1/BOX")
    ),
    "an entity with evolve": Case(
        patch(ref(Old, old_id="1"), lambda o: at(o.hits).add(1)), ("get_item OLD#1/OLD", "update_item OLD#1/OLD")
    ),
    "a touch of an entity with evolve": Case(
        touch(ref(Old, old_id="1"), hits=1), ("get_item OLD#1/OLD", "update_item OLD#1/OLD")
    ),
    "an entity with validators": Case(
        patch(ref(Strict, strict_id="1"), name=" x "), ("get_item STRICT#1/STRICT", "update_item STRICT#1/STRICT")
    ),
    "one field of a joint limit": Case(
        patch(ref(Pair, pair_id="1"), low=3), ("get_item PAIR#1/PAIR", "update_item PAIR#1/PAIR")
    ),
    "all fields of a joint limit": Case(patch(ref(Pair, pair_id="1"), low=3, high=4), ("update_item PAIR#1/PAIR",)),
    "the new entity": Case(patch(TOOL, lambda t: at(t.wear).add(1), returning="new"), ONE),
    "the old values": Case(patch(TOOL, lambda t: at(t.wear).add(1), returning="updated-old"), ONE),
    "a touch": Case(touch(TOOL, lambda t: at(t.stock).add(1)), ONE),
}

UPSERTS = {
    "a new item": Case(upsert(NEW_PLAIN, text="x"), ("update_item PLAIN#2/PLAIN",)),
    "an existing item": Case(upsert(PLAIN, lambda p: at(p.hits).add(1), text="x"), ("update_item PLAIN#1/PLAIN",)),
    "with index keys": Case(upsert(TOOL, lambda t: at(t.wear).add(1)), ONE),
    "an optional number in an index key": Case(upsert(TOOL, lambda t: at(t.weight).add(1)), ONE),
    "all fields of an index key": Case(upsert(TOOL, shelf="B", rank=1), ONE),
    "some fields of an index key": Case(upsert(TOOL, lambda t: at(t.rank).add(1)), READ),
    "a nested path": Case(upsert(TOOL, lambda t: at(t.size.width).add(1)), READ),
    "a guard of an existing item": Case(
        upsert(BADGE, code="b"),
        ("get_item BADGE#1/BADGE", "transact: Update BADGE#1/BADGE, Delete CODE#a/CODE#a, Put CODE#b/CODE#b"),
    ),
    "a guard of a new item": Case(
        upsert(ref(Badge, badge_id="2"), code="b"),
        ("get_item BADGE#2/BADGE", "transact: Put BADGE#2/BADGE, Put CODE#b/CODE#b"),
    ),
    "an envelope": Case(
        upsert(ref(Box, box_id="2"), lambda b: at(b.count).add(1)), ("get_item BOX#2/BOX", "put_item BOX#2/BOX")
    ),
}

DELETES = {
    "nothing follows": Case(delete(PLAIN, where=lambda p: p.number == 7), ("delete_item PLAIN#1/PLAIN",)),
    "index keys follow": Case(delete(TOOL), ("delete_item TOOL#1/TOOL",)),
    "children would refuse": Case(delete(ref(Drawer, drawer_id="2")), ("delete_item DRAWER#2/DRAWER",)),
    "a guard follows": Case(
        delete(BADGE), ("get_item BADGE#1/BADGE", "transact: Delete BADGE#1/BADGE, Delete CODE#a/CODE#a")
    ),
    "a counter and derived items follow": Case(
        delete(ref(Screw, screw_id="1")),
        (
            "get_item SCREW#1/SCREW",
            "transact: Delete SCREW#1/SCREW, Delete MARK#m/SCREW#1, Update DRAWER#1/DRAWER",
        ),
    ),
}


@pytest.mark.parametrize("case", PATCHES.values(), ids=PATCHES)
def test_a_patch_sends(case: Case, filled: tuple[Store[Workshop], Recorder]) -> None:
    check(case, filled)


@pytest.mark.parametrize("case", UPSERTS.values(), ids=UPSERTS)
def test_an_upsert_sends(case: Case, filled: tuple[Store[Workshop], Recorder]) -> None:
    check(case, filled)


@pytest.mark.parametrize("case", DELETES.values(), ids=DELETES)
def test_a_delete_by_key_sends(case: Case, filled: tuple[Store[Workshop], Recorder]) -> None:
    check(case, filled)


def check(case: Case, filled: tuple[Store[Workshop], Recorder]) -> None:
    store, sent = filled
    store.run(case.op)
    assert tuple(shape(sent.taken())) == case.sends
    assert store.verify() == []


def test_a_cascading_delete_by_key_reads_the_parent(filled: tuple[Store[Workshop], Recorder]) -> None:
    store, sent = filled
    store.run(delete(ref(Room, room_id="1")))
    assert shape(sent.taken())[0] == "get_item ROOM#1/ROOM"
    assert store.verify() == []


def written(store: Store[Workshop], op: object) -> tuple[str, str]:
    """The update expression and the condition of the first request, with names and values in place."""
    ((name, request),) = store.requests(op)
    assert name == "update_item"

    def filled_in(text: str) -> str:
        named = re.sub(r"#\d+", lambda found: request["ExpressionAttributeNames"][found[0]], text)
        return re.sub(r":\d+", lambda found: value(request["ExpressionAttributeValues"][found[0]]), named)

    return filled_in(request["UpdateExpression"]), filled_in(request.get("ConditionExpression", ""))


def value(stored: Any) -> str:
    ((tag, content),) = stored.items()
    if tag == "L":
        return f"[{', '.join(map(value, content))}]"
    return f"{{{', '.join(content)}}}" if tag in ("SS", "NS") else str(content)


CHANGED = "changed_at = 2026-03-01T12:00:14.000Z"
EXPRESSIONS: dict[str, tuple[Callable[[Tool], Any], str, str]] = {
    "set": (
        lambda t: at(t.size.width).set(3),
        f"SET {CHANGED}, size.width = 3 ADD version 1",
        "attribute_exists(size)",
    ),
    "default": (
        lambda t: at(t.status).set_default("old"),
        f"SET {CHANGED}, status = if_not_exists(status, old) ADD version 1",
        "",
    ),
    "remove": (lambda t: at(t.weight).remove(), f"SET {CHANGED} REMOVE weight ADD version 1", ""),
    "remove an element": (
        lambda t: at(t.parts[0]).remove(),
        f"SET {CHANGED} REMOVE parts[0] ADD version 1",
        "attribute_exists(parts[0])",
    ),
    "add": (
        lambda t: at(t.stock).add(5),
        f"SET {CHANGED}, stock = if_not_exists(stock, 10) + 5 ADD version 1",
        "(stock >= -5 OR attribute_not_exists(stock)) AND (stock <= 95 OR attribute_not_exists(stock))",
    ),
    "subtract": (
        lambda t: at(t.price).subtract(Decimal("0.5")),
        f"SET {CHANGED}, price = if_not_exists(price, 1.5) + -0.5 ADD version 1",
        "(price >= 0.5 OR attribute_not_exists(price))",
    ),
    "add without a default": (lambda t: at(t.wear).add(2), f"SET {CHANGED} ADD version 1, wear 2", ""),
    "append": (
        lambda t: at(t.log).append("y", "z"),
        f"SET {CHANGED}, log = list_append(if_not_exists(log, []), [y, z]) ADD version 1",
        "(size(log) <= 1 OR attribute_not_exists(log))",
    ),
    "prepend": (
        lambda t: at(t.log).prepend("y"),
        f"SET {CHANGED}, log = list_append([y], if_not_exists(log, [])) ADD version 1",
        "(size(log) <= 2 OR attribute_not_exists(log))",
    ),
    "add members": (lambda t: at(t.numbers).add(2, 1), f"SET {CHANGED} ADD version 1, numbers {{1, 2}}", ""),
    "delete members": (
        lambda t: at(t.numbers).delete(2),
        f"SET {CHANGED} ADD version 1 DELETE numbers {{2}}",
        "",
    ),
}


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_the_expression_of_a_clause(name: str, filled: tuple[Store[Workshop], Recorder]) -> None:
    store, _ = filled
    change, update, condition = EXPRESSIONS[name]
    text, required = written(store, patch(TOOL, change))
    assert re.sub(r"changed_at = [^ ,]+Z", CHANGED, text) == update
    required = re.sub(r"\(NOT expires <= \d+\)", "LIVES", required)
    assert required == " AND ".join(filter(None, ("attribute_exists(PK) AND LIVES", condition)))


def test_the_expression_of_an_upsert(filled: tuple[Store[Workshop], Recorder]) -> None:
    """Key fields, defaults and the type are there if the item is new."""
    store, _ = filled
    update, condition = written(store, upsert(NEW_PLAIN, lambda p: at(p.hits).add(2), text="x"))
    defaults = "plain_id = if_not_exists(plain_id, 2), number = if_not_exists(number, 7)"
    assert update == f"SET text = x, type = PLAIN, {defaults} ADD hits 2"
    assert condition == ""


def test_what_dynamodb_returns_is_asked_for(filled: tuple[Store[Workshop], Recorder]) -> None:
    store, _ = filled
    expected = {"new": "ALL_NEW", "old": "ALL_OLD", "updated": "UPDATED_NEW", "updated-old": "UPDATED_OLD"}
    for returning, asked in expected.items():
        op: Any = patch(TOOL, status="old", returning=returning)  # type: ignore[call-overload]
        assert store.requests(op)[0][1]["ReturnValues"] == asked
    inside = patch(TOOL, lambda t: at(t.size.width).set(1), returning="updated")
    assert store.requests(inside)[0][1]["ReturnValues"] == "ALL_NEW"
    assert "ReturnValues" not in store.requests(patch(TOOL, status="old"))[0][1]
