"""Patches inside a value, or of a part of it: the limits and validators of the whole value hold."""

from collections.abc import Callable, Iterator
from typing import Annotated, Any

import pytest
from pydantic import AfterValidator, BaseModel, Field

from keyplan.data import Clause, Store, at, create, patch
from keyplan.design import Design, Entity, Id, InvalidValue, Table, get, key, limit, ref
from keyplan.engine import Engine
from tests.data.support import Recorder

tables = Table("Plans", key("id"))


def each_once(values: list[str]) -> list[str]:
    return list(dict.fromkeys(values))


class Size(BaseModel):
    width: int = 0
    height: int = 0


def check_even(size: Size) -> None:
    if size.width % 2:
        raise ValueError("Use an even width.")


def at_most_nine(size: Size) -> Size:
    return Size(width=min(size.width, 9), height=size.height)


class Plan(Entity, table=tables):
    plan_id: Id
    names: Annotated[list[str], Field(max_length=3), AfterValidator(each_once)]
    prices: Annotated[dict[str, int], Field(min_length=1, max_length=2)]
    steps: Annotated[list[str], Field(min_length=1)]
    words: Annotated[frozenset[str], AfterValidator(lambda words: frozenset(map(str.lower, words)))] = frozenset()
    tens: Annotated[int, AfterValidator(lambda number: number // 10 * 10)] = 0
    even: Annotated[Size, limit(check_even)] = Size()
    small: Annotated[Size, AfterValidator(at_most_nine)] = Size()

    primary = key("{plan_id}")


GIVEN: dict[str, Any] = {"plan_id": "1", "names": ["a", "b"], "prices": {"a": 1}, "steps": ["x"]}


class Plans(Design):
    tables, entities = (tables,), (Plan,)


@pytest.fixture
def opened() -> Iterator[tuple[Store[Plans], Recorder]]:
    with Engine() as engine:
        sent = Recorder(engine)
        store = Store(Plans(), sent)
        store.create_tables()
        store.run(create(Plan(**GIVEN)))
        sent.taken()
        yield store, sent


PLAN = ref(Plan, plan_id="1")
Change = Callable[[Plan], Clause]
ONE, READ = ["update_item"], ["get_item", "update_item"]

WRITTEN: dict[str, tuple[Change, str, object, list[str]]] = {
    "values that a validator removes": (lambda p: at(p.names).append("b", "c"), "names", ["a", "b", "c"], READ),
    "members that a validator converts": (lambda p: at(p.words).add("AB"), "words", {"ab"}, READ),
    "a number that a validator rounds": (lambda p: at(p.tens).add(17), "tens", 10, READ),
    "a new entry": (lambda p: at(p.prices["b"]).set(2), "prices", {"a": 1, "b": 2}, READ),
    "an element": (lambda p: at(p.steps[0]).set("y"), "steps", ["y"], ONE),
    "a part of a value with a limit": (lambda p: at(p.even.width).set(4), "even", Size(width=4), READ),
    "a part of a value with a validator": (lambda p: at(p.small.width).set(30), "small", Size(width=9), READ),
}


@pytest.mark.parametrize("name", WRITTEN)
def test_what_is_stored_is_what_an_update_would_store(opened: tuple[Store[Plans], Recorder], name: str) -> None:
    store, sent = opened
    change, field, value, requests = WRITTEN[name]
    store.run(patch(PLAN, change))
    assert [operation for operation, _ in sent.taken()] == requests
    plan = store.run(get(Plan, plan_id="1"))
    assert getattr(plan, field) == value
    store.run(create(Plan(**{**GIVEN, "plan_id": "2", field: value})))
    raw: Any = sent.client
    one, other = (raw.get_item(TableName="Plans", Key={"id": {"S": number}})["Item"] for number in "12")
    assert one[field] == other[field]


REFUSED: dict[str, tuple[Change, str, str]] = {
    "one entry too many": (lambda p: at(p.prices["c"]).add(1), "prices", "too-long"),
    "the last entry": (lambda p: at(p.prices["a"]).remove(), "prices", "too-short"),
    "the last element": (lambda p: at(p.steps[0]).remove(), "steps", "too-short"),
    "a part of a value": (lambda p: at(p.even.width).set(3), "even", "value-error"),
    "values that aren't repeated": (lambda p: at(p.names).append("c", "d"), "names", "too-long"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_limit_of_the_value_around_it_refuses_a_patch(opened: tuple[Store[Plans], Recorder], name: str) -> None:
    store, sent = opened
    change, field, code = REFUSED[name]
    store.run(patch(PLAN, prices={"a": 1, "b": 2} if name == "one entry too many" else {"a": 1}))
    sent.taken()
    with pytest.raises(InvalidValue) as refused:
        store.run(patch(PLAN, change))
    assert (refused.value.field, refused.value.code) == (field, code)
    assert [operation for operation, _ in sent.taken()] == ["get_item"]
    assert store.verify() == []
