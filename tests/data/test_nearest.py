"""Searches for the nearest vectors through stores: requests, entities with scores, and what is left out."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

import pytest

from keyplan.data import AsyncStore, Store, create, delete, patch, put, update
from keyplan.design import (
    KEYS_ONLY,
    Design,
    Entity,
    Id,
    InvalidValue,
    Near,
    Nearest,
    Table,
    Ttl,
    key,
    nearest,
    pattern,
    ref,
    vector,
    vector_index,
)
from keyplan.engine import Engine
from tests.data.support import Recorder

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)

things = Table(
    "Things",
    key("PK", "SK"),
    type_attribute="type",
    ttl="until",
    vectors={
        "Whole": vector_index("place", 2, distance="euclidean", partition="team", filters=["stars:N", "type"]),
        "Keys": vector_index("place", 2, distance="euclidean", filters=["type"], projection=KEYS_ONLY),
    },
)


class Thing(Entity, table=things, type="THING"):
    thing_id: Id
    team: Id = "a"
    stars: int = 0
    title: str = ""
    place: Annotated[tuple[float, ...], vector(2)] | None = None
    until: Ttl | None = None

    primary = key("THING#{thing_id}", "THING")
    whole = things.nearest_by("Whole")
    keys = things.nearest_by("Keys")


class Other(Entity, table=things, type="OTHER"):
    other_id: Id
    team: Id = "a"
    stars: int = 0
    place: Annotated[tuple[float, ...], vector(2)]

    primary = key("OTHER#{other_id}", "OTHER")
    whole = things.nearest_by("Whole")


class Things(Design):
    tables = (things,)
    entities = (Thing, Other)

    @pattern("Find a team's things near a place")
    def near(self, team: str, place: tuple[float, ...]) -> Nearest[Thing]:
        return nearest(Thing.whole, place, team=team)


@pytest.fixture
def recorder() -> Recorder:
    return Recorder(Engine())


@pytest.fixture
def store(recorder: Recorder) -> Store[Things]:
    made = Store(Things(), recorder, clock=lambda: NOW)
    made.create_tables()
    for thing in (
        Thing(thing_id="near", place=(1, 0), title="Near", stars=1),
        Thing(thing_id="far", place=(5, 0)),
        Thing(thing_id="theirs", place=(0, 0), team="b"),
        Thing(thing_id="nowhere"),
        Thing(thing_id="gone", place=(0, 0), until=NOW - timedelta(days=1)),
    ):
        made.run(create(thing))
    made.run(create(Other(other_id="other", place=(0, 0))))
    recorder.taken()
    return made


def found(results: Any) -> list[tuple[str, float]]:
    return [(near.item.thing_id, near.score) for near in results]


def test_a_search_is_one_request(store: Store[Things], recorder: Recorder) -> None:
    results = store.run(store.design.near("a", (0, 0)).limit(5))
    assert found(results) == [("near", 1.0), ("far", 5.0)]
    near = results[0]
    assert isinstance(near, Near)
    assert near.item == Thing(thing_id="near", place=(1, 0), title="Near", stars=1)
    ((operation, request),) = recorder.taken()
    assert operation == "search_vectors"
    assert {name: request[name] for name in ("TableName", "IndexName", "SearchVector", "TopK")} == {
        "TableName": "Things",
        "IndexName": "Whole",
        "SearchVector": [{"N": "0"}, {"N": "0"}],
        "TopK": 5,
    }
    assert request["SearchConditionExpression"] == "#0 = :0 AND #1 = :1"
    assert request["ExpressionAttributeValues"] == {":0": {"S": "a"}, ":1": {"S": "THING"}}
    assert store.requests(store.design.near("a", (0, 0)).limit(5)) == [(operation, request)]


@pytest.mark.parametrize("kind", ["float32", "float64", "int64"])
def test_vectors_of_numpy_are_numbers(store: Store[Things], kind: str) -> None:
    np = pytest.importorskip("numpy")
    place = np.array([1, 0], dtype=kind)
    store.run(create(Thing(thing_id="new", team="n", place=place)))
    for searched in (place, list(place)):
        assert found(store.run(nearest(Thing.whole, searched, team="n"))) == [("new", 0.0)]
    thing = store.run(nearest(Thing.whole, place, team="n"))[0].item
    thing.place = tuple(2 * place)
    store.run(update(thing))
    assert found(store.run(nearest(Thing.whole, place, team="n"))) == [("new", 1.0)]


def test_a_search_is_limited_by_values_of_fields(store: Store[Things]) -> None:
    assert found(store.run(nearest(Thing.whole, (0, 0), team="a", stars=1))) == [("near", 1.0)]
    assert found(store.run(nearest(Thing.whole, (0, 0), team="b"))) == [("theirs", 0.0)]
    assert store.run(nearest(Thing.whole, (0, 0), team="c")) == []
    (other,) = store.run(nearest(Other.whole, (3, 4), team="a"))
    assert (other.item.other_id, other.score) == ("other", 5.0)


def test_expired_items_are_left_out_unless_asked_for(store: Store[Things]) -> None:
    assert found(store.run(nearest(Thing.whole, (0, 0), team="a", expired=True)))[0] == ("gone", 0.0)


def test_only_some_fields_are_read(store: Store[Things], recorder: Recorder) -> None:
    results = store.run(nearest(Thing.whole, (0, 0), team="a").only(lambda thing: (thing.title, thing.stars)))
    assert [(near.item, near.score) for near in results] == [(("Near", 1), 1.0), (("", 0), 5.0)]
    ((_, request),) = recorder.taken()
    assert "place" not in request["ExpressionAttributeNames"].values()


def test_what_the_index_lacks_is_read_from_the_table(store: Store[Things], recorder: Recorder) -> None:
    results = store.run(nearest(Thing.keys, (0, 0)))
    assert found(results) == [("theirs", 0.0), ("near", 1.0), ("far", 5.0)]
    assert results[1].item.title == "Near"
    assert [operation for operation, _ in recorder.taken()] == ["search_vectors", "batch_get_item"]


def test_what_was_found_can_be_updated(store: Store[Things], recorder: Recorder) -> None:
    (near, _) = store.run(nearest(Thing.whole, (0, 0), team="a"))
    near.item.place = (9, 0)
    recorder.taken()
    store.run(update(near.item))
    assert [operation for operation, _ in recorder.taken()] == ["update_item"]
    assert found(store.run(nearest(Thing.whole, (0, 0), team="a"))) == [("far", 5.0), ("near", 9.0)]
    store.run(patch(ref(Thing, thing_id="far"), place=None))
    store.run(delete(near.item))
    assert store.run(nearest(Thing.whole, (0, 0), team="a")) == []


def test_a_vector_is_checked_when_it_is_written(store: Store[Things]) -> None:
    for place in ((1.0,), (1.0, 2.0, 3.0), (1.0, 1e39)):
        with pytest.raises(InvalidValue) as caught:
            store.run(put(Thing(thing_id="wrong", place=place)))
        assert caught.value.field == "place"


def test_a_vector_of_a_search_has_finite_numbers(store: Store[Things]) -> None:
    with pytest.raises(InvalidValue) as caught:
        store.run(nearest(Thing.whole, (0, float("nan")), team="a"))
    assert (caught.value.code, caught.value.field) == ("not-finite", "place")


def test_an_async_store_searches_too(store: Store[Things], recorder: Recorder) -> None:
    async def search() -> Any:
        later = AsyncStore(Things(), recorder.client, clock=lambda: NOW)
        return await later.run(later.design.near("a", (0, 0)))

    assert found(asyncio.run(search())) == [("near", 1.0), ("far", 5.0)]
