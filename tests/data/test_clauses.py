"""What clauses do to an item, compared with the same change in Python, and which clauses are refused."""

import copy
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keyplan.data import (
    ConditionFailed,
    NotFound,
    PathMissing,
    StaleVersion,
    at,
    create,
    increment,
    patch,
    touch,
    update,
    upsert,
)
from keyplan.data.writes.clauses import Clause
from keyplan.design import Entity, InvalidValue, Ref, get, ref
from tests.data.workshop import Badge, Box, Old, Plain, Screw, Size, Span, Tool, workshop_store

TOOL = ref(Tool, tool_id="1")


def full() -> Tool:
    return Tool(
        tool_id="1",
        name="saw",
        log=["x"],
        parts=[Size(), Size(width=2, colors=frozenset({"red"}))],
        tags=frozenset({"a"}),
        numbers={1, 2},
        notes={"a": 1, "b": 2},
        by_number={7: Size()},
        anything={"k": [1, {"m": 2}]},
        weight=Decimal("2.5"),
    )


def value(entity: Entity) -> dict[str, Any]:
    return entity.model_dump(exclude={"version", "added_at", "changed_at"})


# Each change as a clause, and as the same change of an entity in Python.

TEXTS, NUMBERS = st.text(max_size=3), st.integers(-3, 3)
DECIMALS = st.decimals(-10, 10, places=2)
SIZES = st.builds(Size, width=NUMBERS, depth=st.none() | NUMBERS, colors=st.frozensets(st.sampled_from("rg")))
Change = tuple[Callable[[Any], Clause], Callable[[Any], object]]


def _set(entity: Any, name: str, value: object) -> None:
    setattr(entity, name, value)


def changes() -> st.SearchStrategy[Change]:
    return st.one_of(
        TEXTS.map(lambda v: (lambda t: at(t.name).set(v), lambda t: _set(t, "name", v))),
        NUMBERS.map(lambda v: (lambda t: at(t.rank).set(abs(v)), lambda t: _set(t, "rank", abs(v)))),
        NUMBERS.map(lambda v: (lambda t: at(t.wear).add(v), lambda t: _set(t, "wear", t.wear + v))),
        NUMBERS.map(lambda v: (lambda t: at(t.stock).subtract(v), lambda t: _set(t, "stock", t.stock - v))),
        DECIMALS.map(lambda v: (lambda t: at(t.price).add(v), lambda t: _set(t, "price", t.price + v))),
        DECIMALS.map(lambda v: (lambda t: at(t.weight).add(v), lambda t: _set(t, "weight", (t.weight or 0) + v))),
        NUMBERS.map(lambda v: (lambda t: at(t.pairs).add(v), lambda t: _set(t, "pairs", t.pairs + v))),
        st.none().map(lambda _: (lambda t: at(t.weight).remove(), lambda t: _set(t, "weight", None))),
        TEXTS.map(lambda v: (lambda t: at(t.borrower).set_default(v), lambda t: _set(t, "borrower", t.borrower or v))),
        st.lists(TEXTS, min_size=1, max_size=3).map(
            lambda v: (lambda t: at(t.log).append(*v), lambda t: _set(t, "log", [*t.log, *v]))
        ),
        st.lists(TEXTS, min_size=1, max_size=3).map(
            lambda v: (lambda t: at(t.log).prepend(*v), lambda t: _set(t, "log", [*v, *t.log]))
        ),
        st.sets(TEXTS.filter(bool), min_size=1, max_size=2).map(
            lambda v: (lambda t: at(t.tags).add(*v), lambda t: _set(t, "tags", t.tags | v))
        ),
        st.sets(st.sampled_from("ab"), min_size=1).map(
            lambda v: (lambda t: at(t.tags).delete(*v), lambda t: _set(t, "tags", t.tags - v))
        ),
        st.sets(NUMBERS, min_size=1).map(
            lambda v: (lambda t: at(t.numbers).delete(*v), lambda t: _set(t, "numbers", t.numbers - v))
        ),
        SIZES.map(lambda v: (lambda t: at(t.size).set(v), lambda t: _set(t, "size", v))),
        NUMBERS.map(lambda v: (lambda t: at(t.size.width).add(v), lambda t: _set(t.size, "width", t.size.width + v))),
        (st.none() | NUMBERS).map(
            lambda v: (lambda t: at(t.size.depth).set(v), lambda t: _set(t.size, "depth", v)),
        ),
        st.sets(st.sampled_from("rg"), min_size=1).map(
            lambda v: (lambda t: at(t.size.colors).add(*v), lambda t: _set(t.size, "colors", t.size.colors | v))
        ),
        SIZES.map(lambda v: (lambda t: at(t.parts[1]).set(v), lambda t: t.parts.__setitem__(1, v))),
        st.none().map(lambda _: (lambda t: at(t.parts[0]).remove(), lambda t: t.parts.pop(0))),
        SIZES.map(lambda v: (lambda t: at(t.by_number[7]).set(v), lambda t: t.by_number.__setitem__(7, v))),
        SIZES.map(lambda v: (lambda t: at(t.by_number[-1]).set(v), lambda t: t.by_number.__setitem__(-1, v))),
        NUMBERS.map(lambda v: (lambda t: at(t.notes["c"]).set(v), lambda t: t.notes.__setitem__("c", v))),
        st.none().map(lambda _: (lambda t: at(t.notes["a"]).remove(), lambda t: t.notes.pop("a"))),
        NUMBERS.map(
            lambda v: (
                lambda t: at(t.anything["k"][1]["m"]).set(v),
                lambda t: t.anything["k"][1].__setitem__("m", v),
            )
        ),
        NUMBERS.map(lambda v: (lambda t: at(t.span.low).set(v), lambda t: _set(t, "span", Span(low=v)))),
    )


@settings(max_examples=150, deadline=None)
@given(change=changes(), returning=st.sampled_from(["new", "old", "updated", "updated-old"]))
def test_a_clause_does_what_python_does(change: Change, returning: Any) -> None:
    clause, in_python = change
    with workshop_store() as (store, _):
        before = store.run(create(full()))
        expected = copy.deepcopy(before)
        in_python(expected)
        touched = {name for name in Tool.model_fields if getattr(before, name) != getattr(expected, name)}
        wrong = list(Tool.spec.limits.broken({name: getattr(expected, name) for name in touched}))
        if wrong:
            with pytest.raises(InvalidValue) as refused:
                store.run(patch(TOOL, clause))
            assert (refused.value.code, refused.value.field) == (wrong[0].code, wrong[0].field)
            return
        got: Any = store.run(patch(TOOL, clause, returning=returning))
        after = store.run(get(Tool, tool_id="1"))
        assert after is not None
        assert value(after) == value(expected)
        assert store.verify() == []
        whole = after if returning in ("new", "updated") else before
        if returning in ("new", "old"):
            assert value(got) == value(whole)
        else:
            assert all(got.get(lambda t, n=name: getattr(t, n)) == getattr(whole, name) for name in got.fields)
            assert touched - {"version", "changed_at"} <= got.fields


@settings(max_examples=60, deadline=None)
@given(st.lists(changes(), min_size=2, max_size=4), st.sampled_from([patch, upsert]))
def test_clauses_of_one_patch_see_the_item_before(several: list[Change], word: Any) -> None:
    with workshop_store() as (store, _):
        expected = copy.deepcopy(store.run(create(full())))
        try:
            op = word(TOOL, lambda t: [clause(t) for clause, _ in several])
        except InvalidValue as refused:
            if refused.code != "overlapping-paths":
                raise
            return
        for _, in_python in sorted(several, key=lambda each: each[1].__code__.co_names == ("parts", "pop")):
            in_python(expected)
        if any(Tool.spec.limits.broken(expected.__dict__)):
            with pytest.raises(InvalidValue):
                store.run(op)
            return
        store.run(op)
        after = store.run(get(Tool, tool_id="1"))
        assert after is not None
        assert value(after) == value(expected)
        assert store.verify() == []


def test_removed_elements_are_those_of_the_old_list() -> None:
    for entity, named in ((full(), TOOL), (Box(box_id="1", log=["a", "b", "c", "d"]), ref(Box, box_id="1"))):
        with workshop_store() as (store, _):
            entity = entity.model_copy(update={"log": ["a", "b", "c"]})
            store.run(create(entity))
            op: Any = patch(named, lambda t: (at(t.log[0]).remove(), at(t.log[1]).remove(), at(t.log[2]).set("z")))
            store.run(op)
            keys: Any = entity.key_values
            found: Any = store.run(get(type(entity), **keys))
            assert found.log == ["z"]


# Refusals


def change_of(tool: Callable[[Any], Any], **values: object) -> Callable[[], object]:
    return lambda: patch(TOOL, tool, **values)  # type: ignore[call-overload]


REFUSED: dict[str, tuple[Callable[[], object], str]] = {
    "a negative index": (change_of(lambda t: at(t.log[-1]).set("x")), "index-out-of-range"),
    "an index over DynamoDB's last one": (change_of(lambda t: at(t.log[2**32 - 1]).set("x")), "index-out-of-range"),
    "a field of the key": (change_of(lambda t: at(t.tool_id).set("2")), "key-changed"),
    "adding to the key": (lambda: patch(TOOL, tool_id=increment(1)), "key-changed"),
    "adding to a count": (lambda: patch(ref(Screw, screw_id="1"), version=increment(1)), "looked-after"),
    "the version": (change_of(lambda t: at(t.version).add(1)), "looked-after"),
    "the time of the change": (change_of(lambda t: at(t.changed_at).remove()), "looked-after"),
    "overlapping paths": (change_of(lambda t: (at(t.size).set(Size()), at(t.size.width).set(1))), "overlapping-paths"),
    "the same path twice": (change_of(lambda t: (at(t.wear).add(1), at(t.wear).set(1))), "overlapping-paths"),
    "a keyword and a clause": (change_of(lambda t: at(t.name).set("x"), name="y"), "overlapping-paths"),
    "an entry by both names": (
        change_of(lambda t: (at(t.by_number[7]).set(Size()), at(t.by_number["7"]).remove())),
        "overlapping-paths",
    ),
    "no members": (change_of(lambda t: at(t.tags).add()), "empty"),
    "no values": (change_of(lambda t: at(t.log).append()), "empty"),
    "an unknown field": (lambda: patch(TOOL, nmae="x"), "unknown-field"),
    "an unknown nested field": (change_of(lambda t: at(t.size.height).set(1)), "unknown-field"),
    "a key that the dict can't have": (change_of(lambda t: at(t.by_number["x"]).set(Size())), "invalid"),
    "an empty key of a dict": (change_of(lambda t: at(t.notes[""]).set(1)), "empty-name"),
    "inside a text": (change_of(lambda t: at(t.name.x).set(1)), "no-such-path"),
    "inside a set": (change_of(lambda t: at(t.tags[0]).set("x")), "no-such-path"),
    "an element by a name": (change_of(lambda t: at(t.log.x).set("x")), "no-such-path"),
    "adding to a text": (change_of(lambda t: at(t.name).add(1)), "wrong-type"),
    "adding a text": (change_of(lambda t: at(t.wear).add("1")), "wrong-type"),
    "adding a truth value": (change_of(lambda t: at(t.wear).add(True)), "wrong-type"),
    "adding a fraction to an int": (change_of(lambda t: at(t.wear).add(Decimal("0.5"))), "wrong-type"),
    "appending to a set": (change_of(lambda t: at(t.tags).append("x")), "wrong-type"),
    "deleting from a list": (change_of(lambda t: at(t.log).delete("x")), "wrong-type"),
    "removing a required field": (lambda: patch(ref(Plain, plain_id="1"), lambda p: at(p.text).remove()), "required"),
    "another field as the value": (change_of(lambda t: at(t.name).set(t.shelf)), "not-a-value"),
}


@pytest.mark.parametrize("make", [each for each, _ in REFUSED.values()], ids=REFUSED)
def test_a_wrong_clause_is_refused_when_it_is_made(make: Callable[[], object]) -> None:
    expected = next(code for each, code in REFUSED.values() if each is make)
    with pytest.raises(InvalidValue) as refused:
        make()
    assert refused.value.code == expected
    assert refused.value.field


def test_at_takes_fields_and_a_patch_takes_clauses() -> None:
    with pytest.raises(TypeError, match=r"at\(\) takes a field"):
        at(7)
    with pytest.raises(TypeError, match="isn't a clause"):
        patch(TOOL, lambda t: (t.name,))  # type: ignore[arg-type, return-value]


@pytest.mark.parametrize("returned", ["field", "target", "nothing", "number"])
def test_what_is_no_clause_is_named(returned: str) -> None:
    changes: dict[str, tuple[Callable[[Any], Any], str]] = {
        "field": (lambda t: t.log, "log isn't a clause"),  # it could be iterated over forever
        "target": (lambda t: at(t.wear), r"at\(wear\) isn't a clause"),
        "nothing": (lambda t: None, "None isn't a clause"),
        "number": (lambda t: 7, "7 isn't a clause"),
    }
    change, sentence = changes[returned]
    with pytest.raises(TypeError, match=sentence):
        patch(TOOL, change)


VALUES: dict[str, tuple[Callable[[Any], Any], str, str]] = {
    "too many digits": (lambda t: at(t.price).add(Decimal("1." + "1" * 38)), "number-range", "Tool.price"),
    "too many digits in a value": (lambda t: at(t.notes["a"]).set(10**38 + 1), "number-range", "Tool.notes.a"),
    "a nested limit": (lambda t: at(t.parts[0].unit).set("long"), "string-too-long", "Tool.parts[0].unit"),
    "a nested type": (lambda t: at(t.parts[0].width).set("wide"), "invalid", "Tool.parts[0].width"),
    "None as a default": (lambda t: at(t.borrower).set_default(None), "empty", "Tool.borrower"),
    "the limit of a sum": (lambda t: at(t.stock).add(91), "less-than-equal", "Tool.stock"),
    "the limit of a length": (lambda t: at(t.log).append("1", "2", "3"), "too-long", "Tool.log"),
    "a limit by a function": (lambda t: at(t.pairs).add(1), "value-error", "Tool.pairs"),
    "a validator of a nested model": (lambda t: at(t.span.low).set(99), "invalid", "Tool.span"),
}


@pytest.mark.parametrize("name", VALUES)
def test_a_wrong_value_is_refused(name: str) -> None:
    change, code, place = VALUES[name]
    with workshop_store() as (store, _):
        store.run(create(full()))
        with pytest.raises(InvalidValue) as refused:
            store.run(patch(TOOL, change))
        assert (refused.value.code, refused.value.place) == (code, place)
        found = store.run(get(Tool, tool_id="1"))
        assert found is not None
        assert found.version == 1


LONG = Decimal("1234567890.1234567890123456789012345678")


def test_numbers_of_38_digits_are_computed_exactly() -> None:
    with workshop_store() as (store, _):
        store.run(create(Tool(tool_id="1", weight=Decimal(0), price=LONG)))
        after = store.run(
            patch(TOOL, lambda t: (at(t.weight).subtract(LONG), at(t.price).subtract(LONG)), returning="new")
        )
        assert (after.weight, after.price) == (LONG.copy_negate(), Decimal(0))
        store.run(patch(TOOL, price=LONG))
        just_over = Decimal(f"{LONG:f}"[:-1] + "9")
        with pytest.raises(InvalidValue) as refused:
            store.run(patch(TOOL, lambda t: at(t.price).subtract(just_over)))
        assert (refused.value.code, refused.value.field) == ("greater-than-equal", "price")


def test_a_limit_that_has_more_digits_than_a_number_is_still_a_limit() -> None:
    tiny = Decimal("1e-37")
    with workshop_store() as (store, _):
        store.run(create(Tool(tool_id="1", stock=100)))
        with pytest.raises(InvalidValue, match="less-than-equal"):
            store.run(patch(TOOL, lambda t: at(t.stock).add(10**37)))
        store.run(patch(TOOL, price=Decimal(0)))
        store.run(patch(TOOL, lambda t: at(t.price).add(tiny)))
        store.run(patch(TOOL, lambda t: at(t.price).subtract(tiny)))
        with pytest.raises(InvalidValue, match="greater-than-equal"):
            store.run(patch(TOOL, lambda t: at(t.price).subtract(tiny)))


def test_a_result_that_cannot_be_stored_is_named() -> None:
    with workshop_store() as (store, _):
        store.run(create(Tool(tool_id="1", weight=Decimal("9" * 38), anything="x" * 400_000)))
        other = patch(ref(Plain, plain_id="2"), hits=1)
        store.run(create(Plain(plain_id="2", text="")))

        def refused(change: Callable[[Any], Any]) -> set[tuple[str, str]]:
            found = set()
            for write in (
                lambda: store.run(patch(TOOL, change)),
                lambda: store.run(upsert(TOOL, change)),
                lambda: store.transact(other, patch(TOOL, change)),
            ):
                with pytest.raises(InvalidValue) as error:
                    write()
                found.add((error.value.code, error.value.place))
            return found

        assert refused(lambda t: at(t.weight).add(Decimal("0.5"))) == {("number-range", "Tool.weight")}
        assert refused(lambda t: at(t.log).append("y" * 20_000)) == {("item-too-large", "Tool.log")}
        assert refused(lambda t: at(t.notes).set({"y" * 20_000: 1})) == {("item-too-large", "Tool.notes")}


def test_a_sum_that_cannot_be_stored_is_named_where_the_item_is_read() -> None:
    with workshop_store() as (store, _):
        store.run(create(Box(box_id="1", count=10**38 - 1)))
        with pytest.raises(InvalidValue) as refused:
            store.run(patch(ref(Box, box_id="1"), lambda box: at(box.count).add(2)))
        assert (refused.value.code, refused.value.place) == ("number-range", "Box.count")


@pytest.mark.parametrize("named", [TOOL, ref(Box, box_id="1")], ids=["direct", "read"])
def test_a_path_through_nothing_is_refused(named: Ref[Any]) -> None:
    with workshop_store() as (store, _):
        store.run(create(named.entity(**named.values)))
        for change, path in (
            (lambda t: at(t.log[0]).set("x"), "log[0]"),
            (lambda t: at(t.log[0]).remove(), "log[0]"),
        ):
            with pytest.raises(PathMissing) as refused:
                store.run(patch(named, change))
            assert (refused.value.constraint, refused.value.code) == (path, "path-missing")
            assert isinstance(refused.value.stored, named.entity)


def test_a_path_through_none_is_refused() -> None:
    with workshop_store() as (store, _):
        store.run(create(full()))
        with pytest.raises(PathMissing, match=r"has no box, so box.width can't be changed"):
            store.run(patch(TOOL, lambda t: at(t.box.width).set(1)))  # type: ignore[union-attr]
        with pytest.raises(NotFound):
            store.run(patch(ref(Tool, tool_id="2"), lambda t: at(t.size.width).set(1)))


def test_a_path_through_a_stored_null_is_refused() -> None:
    with workshop_store() as (store, recorder):
        store.run(create(full()))
        client: Any = recorder.client
        client.update_item(
            TableName="Tools",
            Key={"PK": {"S": "TOOL#1"}, "SK": {"S": "TOOL"}},
            UpdateExpression="SET box = :null",
            ExpressionAttributeValues={":null": {"NULL": True}},
        )
        with pytest.raises(PathMissing, match=r"has no box, so box.width can't be changed"):
            store.run(patch(TOOL, lambda t: at(t.box.width).set(1)))  # type: ignore[union-attr]


# Versions, stamps, older forms


def test_a_direct_patch_counts_versions_and_stamps() -> None:
    with workshop_store() as (store, _):
        made = store.run(create(full()))
        after = store.run(patch(TOOL, lambda t: at(t.wear).add(1), returning="new"))
        assert (after.version, after.changed_at > made.changed_at, after.added_at) == (2, True, made.added_at)
        store.run(touch(TOOL, lambda t: at(t.stock).add(1)))
        touched = store.run(get(Tool, tool_id="1"))
        assert touched is not None
        assert (touched.version, touched.changed_at, touched.stock) == (2, after.changed_at, 11)
        touched.name = "new"
        store.run(patch(TOOL, lambda t: at(t.size.width).add(1)))
        with pytest.raises(StaleVersion):
            store.run(update(touched))


def test_the_returned_entity_can_be_updated() -> None:
    with workshop_store() as (store, _):
        store.run(create(full()))
        tool = store.run(patch(TOOL, lambda t: at(t.wear).add(1), returning="new"))
        tool.name = "new"
        store.run(update(tool))
        assert tool.version == 3


def test_an_older_form_is_converted_first() -> None:
    with workshop_store() as (store, sent):
        client: Any = sent.client
        key = {"PK": {"S": "OLD#1"}, "SK": {"S": "OLD"}}
        client.put_item(
            TableName="Tools", Item={**key, "type": {"S": "OLD"}, "old_id": {"S": "1"}, "remark": {"S": "torn"}}
        )
        named = ref(Old, old_id="1")
        for op in (patch(named, note="new"), touch(named, note="newer"), upsert(named, note="newest")):
            store.run(op)
            found = store.run(get(Old, old_id="1"))
            assert found is not None
            assert found.note == (op.clauses[0].values[0])
        assert "remark" not in client.get_item(TableName="Tools", Key=key)["Item"]


def test_conditions_join_any_clause() -> None:
    with workshop_store() as (store, _):
        store.run(create(full()))
        store.run(create(Badge(badge_id="1", code="a")))
        for op in (
            patch(TOOL, lambda t: at(t.parts[0].width).add(1), where=lambda t: t.parts[1].width == 3),
            patch(TOOL, lambda t: at(t.log).append("y"), where=lambda t: t.name == "no"),
            patch(ref(Badge, badge_id="1"), code="b", where=lambda b: b.color == "blue"),
        ):
            with pytest.raises(ConditionFailed) as refused:
                store.run(op)
            assert refused.value.stored is not None


def test_conditions_know_the_types_of_nested_values() -> None:
    with workshop_store() as (store, _):
        store.run(create(full()))
        store.run(patch(TOOL, name="a", where=lambda t: (t.by_number[7].width == 0) & (t.parts[1].width > 1)))
        with pytest.raises(ConditionFailed):
            store.run(patch(TOOL, name="b", where=lambda t: t.by_number[7].width == 1))
        with pytest.raises(InvalidValue, match="has no such field"):
            store.run(patch(TOOL, name="b", where=lambda t: t.size.height == 1))  # type: ignore[attr-defined]
        with pytest.raises(InvalidValue) as refused:
            store.run(patch(TOOL, name="b", where=lambda t: t.size.width == "wide"))  # type: ignore[comparison-overlap]
        assert refused.value.code == "wrong-type"


def test_a_default_that_is_not_stored_counts() -> None:
    """A field that was added later has its default, also for what DynamoDB computes."""
    with workshop_store() as (store, sent):
        store.run(create(full()))
        client: Any = sent.client
        key = {"PK": {"S": "TOOL#1"}, "SK": {"S": "TOOL"}}
        lost = {"UpdateExpression": "REMOVE stock, #0", "ExpressionAttributeNames": {"#0": "log"}}
        client.update_item(TableName="Tools", Key=key, **lost)
        after = store.run(patch(TOOL, lambda t: (at(t.stock).add(5), at(t.log).append("y")), returning="new"))
        assert (after.stock, after.log) == (15, ["y"])
        client.update_item(TableName="Tools", Key=key, UpdateExpression="REMOVE stock")
        with pytest.raises(InvalidValue):
            store.run(patch(TOOL, lambda t: at(t.stock).add(91)))


def test_partial_has_only_what_was_changed() -> None:
    with workshop_store() as (store, _):
        store.run(create(full()))
        part = store.run(patch(TOOL, lambda t: at(t.size.width).set(4), status="old", returning="updated"))
        assert part.fields == {"size", "status", "version", "changed_at"}
        assert (part.get(lambda t: t.size.width), part.get(lambda t: t.status)) == (4, "old")
        with pytest.raises(InvalidValue, match="didn't change it") as refused:
            part.get(lambda t: t.name)
        assert refused.value.code == "not-returned"
        assert "status='old'" in repr(part)
        gone = store.run(patch(TOOL, lambda t: at(t.weight).remove(), returning="updated"))
        assert gone.get(lambda t: t.weight) is None
        before = store.run(patch(TOOL, lambda t: at(t.borrower).set("ann"), returning="updated-old"))
        assert before.get(lambda t: t.borrower) is None
        assert before != gone
        assert store.verify() == []
