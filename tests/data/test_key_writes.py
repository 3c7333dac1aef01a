"""Upserts, deletes by key, and what transactions return."""

import asyncio
from collections.abc import Callable
from decimal import Decimal
from typing import Any, cast

import pytest

from keyplan.data import (
    AsyncStore,
    ConditionFailed,
    InUse,
    NotFound,
    Partial,
    PathMissing,
    StaleVersion,
    Store,
    UniqueViolation,
    at,
    check,
    create,
    delete,
    move,
    patch,
    update,
    upsert,
)
from keyplan.design import Design, Entity, Id, InvalidValue, Refusal, Table, get, key, ref, scan
from keyplan.engine import Engine
from tests.data.support import Recorder, shape
from tests.data.workshop import (
    Badge,
    Bench,
    Box,
    Drawer,
    Plain,
    Room,
    Screw,
    Size,
    Span,
    Tool,
    Workshop,
    workshop_store,
)

TOOL, PLAIN, BADGE = ref(Tool, tool_id="1"), ref(Plain, plain_id="1"), ref(Badge, badge_id="1")


# Upserts


def test_an_upsert_creates_what_create_would_create() -> None:
    with workshop_store() as (store, sent):
        store.run(upsert(TOOL, lambda t: (at(t.wear).add(3), at(t.log).append("x"), at(t.tags).add("a")), name="saw"))
        client: Any = sent.client
        made = client.get_item(TableName="Tools", Key={"PK": {"S": "TOOL#1"}, "SK": {"S": "TOOL"}})["Item"]
        store.run(delete(TOOL))
        store.run(create(Tool(tool_id="1", name="saw", wear=3, log=["x"], tags=frozenset({"a"}))))
        created = client.get_item(TableName="Tools", Key={"PK": {"S": "TOOL#1"}, "SK": {"S": "TOOL"}})["Item"]
        stamps = ("added_at", "changed_at")
        assert {n: v for n, v in made.items() if n not in stamps} == {
            n: v for n, v in created.items() if n not in stamps
        }
        assert made["added_at"] == made["changed_at"]


def test_an_upsert_of_an_existing_item_changes_only_what_it_says() -> None:
    with workshop_store() as (store, _):
        before = store.run(create(Tool(tool_id="1", name="saw", shelf="B", rank=4, stock=7, price=Decimal(3))))
        after = store.run(upsert(TOOL, lambda t: at(t.stock).add(1), maker="theirs", returning="new"))
        expected = {**before.model_dump(), "stock": 8, "maker": "theirs", "version": 2, "changed_at": after.changed_at}
        assert after.model_dump() == expected
        assert store.verify() == []


def test_paths_of_an_upsert() -> None:
    with workshop_store() as (store, _):
        both = upsert(TOOL, lambda t: (at(t.size.width).add(3), at(t.size.unit).set("mm"), at(t.notes["a"]).add(1)))
        for times in (1, 2):
            store.run(both)
            tool = store.run(get(Tool, tool_id="1"))
            assert tool is not None
            assert (tool.size, tool.notes) == (Size(width=3 * times, unit="mm"), {"a": times})
        inside = upsert(TOOL, lambda t: at(cast(Size, t.box).width).add(1), returning="new")
        with pytest.raises(PathMissing, match="has no box"):
            store.run(inside)
        store.run(patch(TOOL, box=Size(width=1)))
        assert store.run(inside).box == Size(width=2)
        store.run(delete(TOOL))
        with pytest.raises(PathMissing):
            store.run(inside)
        store.run(create(Tool(tool_id="1", span=Span(low=0, high=99))))
        wide = upsert(TOOL, lambda t: at(t.span.low).add(50), returning="new")
        assert store.run(wide).span == Span(low=50, high=99)
        store.run(delete(TOOL))
        with pytest.raises(InvalidValue) as refused:  # of a new one, the upper end is 9
            store.run(wide)
        assert refused.value.field == "span"


board = Table("Board", key("id"))


class Pin(Entity, table=board):
    """It may have nothing besides its key."""

    id: Id
    note: str | None = None

    primary = key("{id}")


class Board(Design):
    tables, entities = (board,), (Pin,)


def test_an_item_that_is_only_its_key() -> None:
    with Engine() as engine:
        sent = Recorder(engine)
        store = Store(Board(), sent)
        store.create_tables()
        store.run(upsert(ref(Pin, id="1"), note=None))
        assert store.transact(upsert(ref(Pin, id="2"), returning="new")) == (Pin(id="2"),)
        assert [pin.id for pin in sorted(store.each(scan(Pin)), key=lambda pin: pin.id)] == ["1", "2"]
        assert store.run(patch(ref(Pin, id="1"), returning="new")) == Pin(id="1")
        sent.taken()
        store.run(upsert(ref(Pin, id="1"), note="x"))
        assert shape(sent.taken()) == ["update_item 1"]
        with pytest.raises(NotFound):
            store.run(patch(ref(Pin, id="3"), returning="old"))


@pytest.mark.parametrize("named", [PLAIN, ref(Plain, plain_id="none")])
def test_a_required_field_without_a_value_is_refused_before_sending(named: Any) -> None:
    with workshop_store() as (store, sent):
        store.run(create(Plain(plain_id="1", text="")))
        sent.taken()
        for op in (upsert(named, number=1), upsert(ref(Badge, badge_id="1"), color="blue")):
            with pytest.raises(InvalidValue) as refused:
                store.run(op)
            assert refused.value.code == "required"
            assert refused.value.field in ("text", "code")
        with pytest.raises(InvalidValue, match="at most 3 items"):
            store.run(upsert(TOOL, log=["1", "2", "3", "4"]))
        assert sent.taken() == []


def test_an_existing_item_can_be_changed_by_more_than_a_new_one() -> None:
    """A new tool has a stock of 10, and at most 100."""
    named = ref(Tool, tool_id="1")
    with workshop_store() as (store, sent):
        with pytest.raises(InvalidValue, match="less-than-equal"):
            store.run(upsert(named, lambda tool: at(tool.stock).add(95)))
        store.run(create(Tool(tool_id="1", stock=5)))
        sent.taken()
        assert store.run(upsert(named, lambda tool: at(tool.stock).add(95), returning="new")).stock == 100
        assert [name for name, _ in sent.taken()] == ["get_item", "update_item"]
        with pytest.raises(InvalidValue, match="less-than-equal"):
            store.run(upsert(named, stock=101))
        assert sent.taken() == [], "a value that is given is checked before anything is sent"
        assert store.verify() == []


def test_an_existing_item_can_have_an_index_key_that_a_new_one_could_not() -> None:
    """By itself, -1 doesn't fit into `{rank:04}`."""
    with workshop_store() as (store, sent):
        store.run(create(Tool(tool_id="1", rank=5)))
        sent.taken()
        change = upsert(TOOL, lambda tool: (at(tool.rank).subtract(1), at(tool.shelf).set("B")), returning="new")
        after = store.run(change)
        assert (after.rank, after.shelf) == (4, "B")
        assert shape(sent.taken()) == ["get_item TOOL#1/TOOL", "update_item TOOL#1/TOOL"]
        with pytest.raises(InvalidValue) as refused:
            store.run(upsert(ref(Tool, tool_id="2"), lambda tool: at(tool.rank).subtract(1)))
        assert refused.value.code == "number-out-of-width"
        sent.taken()
        with pytest.raises(InvalidValue):
            store.run(
                upsert(ref(Tool, tool_id="2"), lambda tool: at(tool.wear).add(1), rank=-1)
            )  # whether it exists or not
        assert sent.taken() == []
        assert store.verify() == []


def test_what_an_upsert_returns() -> None:
    with workshop_store() as (store, _):
        assert store.run(upsert(PLAIN, text="a")) is None
        new = ref(Plain, plain_id="2")
        assert store.run(upsert(new, text="a", returning="old")) is None
        old = store.run(upsert(new, text="b", returning="old"))
        assert old is not None
        assert (old.text, old.number) == ("a", 7)
        part = store.run(upsert(new, lambda p: at(p.hits).add(1), text="c", returning="updated"))
        assert part == Partial(Plain, {"hits": 1, "text": "c"})
        assert store.run(upsert(ref(Plain, plain_id="3"), text="", returning="updated-old")) is None
        was = store.run(upsert(ref(Plain, plain_id="3"), text="x", returning="updated-old"))
        assert was == Partial(Plain, {"text": ""})
        badge = store.run(upsert(BADGE, lambda b: at(b.uses).add(1), code="a", returning="new"))
        assert (badge.uses, badge.code) == (1, "a")
        assert store.run(upsert(ref(Badge, badge_id="2"), code="b", returning="old")) is None


def test_the_condition_of_an_upsert_is_about_an_existing_item() -> None:
    busy = Refusal("busy", "It is in use.")
    with workshop_store() as (store, _):
        for _ in range(2):
            store.run(upsert(PLAIN, text="a", where=lambda p: p.text == "a", refusal=busy))
        with pytest.raises(ConditionFailed) as refused:
            store.run(upsert(PLAIN, text="b", where=lambda p: p.text == "b", refusal=busy))
        assert refused.value.refusal is busy
        store.run(upsert(BADGE, code="a", where=lambda b: b.code == "z"))
        with pytest.raises(ConditionFailed):
            store.run(upsert(BADGE, code="b", where=lambda b: b.code == "z"))


def test_effects_of_an_upsert() -> None:
    with workshop_store() as (store, _):
        store.run(create(Drawer(drawer_id="1")))
        screw = ref(Screw, screw_id="1")
        for marks in ({"a"}, {"a", "b"}, {"c"}):
            store.run(upsert(screw, drawer_id="1", marks=frozenset(marks)))
            assert store.verify() == []
        drawer = store.run(get(Drawer, drawer_id="1"))
        assert drawer is not None
        assert drawer.screws == 1
        store.run(upsert(BADGE, code="x"))
        with pytest.raises(UniqueViolation):
            store.run(upsert(ref(Badge, badge_id="2"), code="x"))
        store.run(upsert(ref(Box, box_id="1"), lambda b: (at(b.size.width).add(2), at(b.log).append("x"))))
        box = store.run(get(Box, box_id="1"))
        assert box is not None
        assert (box.size.width, box.log) == (2, ["x"])
        with pytest.raises(PathMissing):
            store.run(upsert(ref(Box, box_id="2"), lambda b: at(b.log[0]).set("x")))


class Racer(Recorder):
    """Lets somebody else write between the first read and the write that follows."""

    def __init__(self, client: object, meanwhile: Callable[[], object]) -> None:
        super().__init__(client)
        self.meanwhile: Callable[[], object] | None = meanwhile

    def __getattr__(self, name: str) -> Callable[..., Any]:
        call = super().__getattr__(name)

        def raced(**request: Any) -> Any:
            answer = call(**request)
            if name == "get_item" and self.meanwhile is not None:
                meanwhile, self.meanwhile = self.meanwhile, None
                meanwhile()
            return answer

        return raced


RACES: dict[str, tuple[Any, Callable[[Store[Workshop]], Any], str | None]] = {
    "created meanwhile": (upsert(BADGE, code="mine"), lambda s: s.run(create(Badge(badge_id="1", code="b"))), "mine"),
    "changed meanwhile": (
        upsert(ref(Badge, badge_id="0"), code="mine"),
        lambda s: s.run(patch(ref(Badge, badge_id="0"), code="other")),
        "mine",
    ),
    "deleted meanwhile": (
        upsert(ref(Badge, badge_id="0"), code="mine"),
        lambda s: s.run(delete(ref(Badge, badge_id="0"))),
        "mine",
    ),
    "a delete of what was changed": (
        delete(ref(Badge, badge_id="0")),
        lambda s: s.run(patch(ref(Badge, badge_id="0"), code="other")),
        None,
    ),
    "a patch of what was changed": (
        patch(ref(Badge, badge_id="0"), code="mine"),
        lambda s: s.run(patch(ref(Badge, badge_id="0"), code="other")),
        "mine",
    ),
}


@pytest.mark.parametrize("name", RACES)
def test_a_race_is_tried_again(name: str) -> None:
    op, meanwhile, code = RACES[name]
    with workshop_store() as (store, sent):
        store.run(create(Badge(badge_id="0", code="first")))
        racer = Racer(sent.client, lambda: meanwhile(store))
        Store(Workshop(), racer, secret=b"s").run(op)
        assert racer.meanwhile is None
        found = store.run(get(Badge, **op.target.values))
        assert (found and found.code) == code
        assert store.verify() == []


def test_many_upserts_at_the_same_time_count_all() -> None:
    async def main() -> None:
        with workshop_store() as (_, sent):
            store = AsyncStore(Workshop(), sent.client)
            ops = [upsert(PLAIN, lambda p: at(p.hits).add(1), text="x", returning="updated") for _ in range(20)]
            numbers = [part.get(lambda p: p.hits) for part in await asyncio.gather(*map(store.run, ops))]
            assert sorted(numbers) == list(range(1, 21))

    asyncio.run(main())


# Deletes by key


def test_a_delete_by_key() -> None:
    never = Refusal("never", "Never.")
    with workshop_store() as (store, _):
        with pytest.raises(NotFound):
            store.run(delete(PLAIN))
        with pytest.raises(NotFound):
            store.run(delete(BADGE))
        store.run(create(Plain(plain_id="1", text="a")))
        with pytest.raises(ConditionFailed) as refused:
            store.run(delete(PLAIN, where=lambda p: p.text == "b", refusal=never))
        assert refused.value.refusal is never
        assert isinstance(refused.value.stored, Plain)
        assert store.run(delete(PLAIN, where=lambda p: p.text == "a")) is None
        store.run(create(Drawer(drawer_id="1")))
        store.run(create(Screw(screw_id="1", drawer_id="1")))
        with pytest.raises(InUse, match="1 Screw item refers to it"):
            store.run(delete(ref(Drawer, drawer_id="1")))
        store.run(create(Badge(badge_id="1", code="a")))
        with pytest.raises(ConditionFailed):
            store.run(delete(BADGE, where=lambda b: b.code == "b"))
        store.run(delete(BADGE, where=lambda b: b.code == "a"))
        assert store.verify() == []


def test_a_delete_by_key_cascades() -> None:
    with workshop_store() as (store, _):
        room = ref(Room, room_id="1")
        with pytest.raises(NotFound):
            store.run(delete(room))
        store.run(create(Room(room_id="1")))
        store.run(create(Bench(room_id="1", bench_id="1")))
        with pytest.raises(Exception, match="cascades"):
            store.transact(delete(room), create(Plain(plain_id="1", text="")))
        with pytest.raises(ConditionFailed):
            store.run(delete(room, where=lambda r: r.name == "x"))
        store.run(delete(room))
        assert store.run(get(Bench, room_id="1", bench_id="1")) is None
        assert store.verify() == []


# Transactions


def test_a_transaction_returns_what_its_parts_return() -> None:
    with workshop_store() as (store, sent):
        store.run(create(Tool(tool_id="1")))
        store.run(create(Plain(plain_id="1", text="a")))
        plain = store.run(create(Plain(plain_id="2", text="b")))
        store.run(create(Plain(plain_id="4", text="d")))
        other = store.run(create(Plain(plain_id="6", text="f")))
        plain.text = "c"
        sent.taken()
        results = store.transact(
            create(Drawer(drawer_id="1")),
            update(plain),
            patch(PLAIN, lambda p: at(p.hits).add(1)),
            patch(TOOL, lambda t: at(t.wear).add(1), returning="updated"),
            delete(ref(Plain, plain_id="4")),
            move(other, plain_id="7"),
        )
        drawer, changed, patched, partial, deleted, moved = results
        assert (drawer.drawer_id, changed is plain, patched, deleted, moved.plain_id) == ("1", True, None, None, "7")
        assert (partial.get(lambda t: t.wear), partial.get(lambda t: t.version)) == (1, 2)
        assert shape(sent.taken())[0] == "get_item TOOL#1/TOOL"
        assert store.verify() == []


def test_returning_in_a_transaction_is_conditional_on_what_was_read() -> None:
    with workshop_store() as (store, sent):
        store.run(create(Tool(tool_id="1")))
        racer = Racer(sent.client, lambda: store.run(patch(TOOL, lambda t: at(t.wear).add(5))))
        other = Store(Workshop(), racer, secret=b"s")
        new = create(Plain(plain_id="9", text=""))
        with pytest.raises(StaleVersion):
            other.transact(patch(TOOL, lambda t: at(t.wear).add(1), returning="new"), new)
        tool, plain = other.transact(patch(TOOL, lambda t: at(t.wear).add(1), returning="new"), new)
        assert (tool.wear, plain.plain_id) == (6, "9")


def test_parts_by_key_join_a_transaction() -> None:
    with workshop_store() as (store, sent):
        store.run(create(Badge(badge_id="1", code="a")))
        store.run(create(Drawer(drawer_id="1")))
        sent.taken()
        store.transact(
            upsert(PLAIN, text="x"),
            upsert(ref(Badge, badge_id="2"), code="b"),
            delete(BADGE),
            upsert(ref(Box, box_id="1"), count=3),
            check(ref(Drawer, drawer_id="1")),
        )
        *reads, written = shape(sent.taken())
        assert reads == ["get_item BADGE#2/BADGE", "get_item BADGE#1/BADGE", "get_item BOX#1/BOX"]
        assert written.removeprefix("transact: ").split(", ") == [
            "Update PLAIN#1/PLAIN",
            "Put BADGE#2/BADGE",
            "Put CODE#b/CODE#b",
            "Delete BADGE#1/BADGE",
            "Delete CODE#a/CODE#a",
            "Put BOX#1/BOX",
            "ConditionCheck DRAWER#1/DRAWER",
        ]
        assert store.verify() == []
