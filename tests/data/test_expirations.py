"""Items that DynamoDB deleted because they expired: their effects are undone, once."""

from collections.abc import Iterator
from datetime import timedelta
from threading import Thread
from typing import Any

import pytest

from keyplan.data import AsyncStore, Store, clean_up_expired, create, delete
from keyplan.data.streams import ItemChange, deliver, on
from keyplan.design import get, query
from keyplan.engine import Engine
from tests.data.market import Bid, Market, Offer, Picture, Remark, Stall, Visit, market
from tests.data.press import Times, records_of
from tests.data.support import Killed, Mortal

TABLE = "Market-dev"


@pytest.fixture
def times() -> Times:
    return Times()


@pytest.fixture
def engine(times: Times) -> Iterator[Engine]:
    with Engine(clock=times.seconds) as made:
        yield made


@pytest.fixture
def store(engine: Engine, times: Times) -> Store[Market]:
    made = Store(Market(), engine, clock=times, secret=b"of the tests")
    made.create_tables()
    made.run(create(Picture(picture_id="p")))
    made.run(create(Stall(stall_id="s")))
    return made


def offer(store: Store[Market], times: Times, offer_id: str = "o", code: str = "c") -> Offer:
    new = Offer(offer_id=offer_id, code=code, picture_id="p", expires=times.now + timedelta(seconds=5))
    return store.run(create(new))


def expire(engine: Engine, times: Times) -> list[Any]:
    """Let the items expire, and return their deletions as the stream reports them."""
    times.pass_(10)
    engine.sweep_expired()
    seen: list[Any] = []

    @on(Offer, "REMOVE")
    def see_offers(change: ItemChange[Offer], found: list[Any]) -> None:
        found.append(change.before)

    @on(Visit, "REMOVE")
    def see_visits(change: ItemChange[Visit], found: list[Any]) -> None:
        found.append(change.before)

    for record in records_of(engine, TABLE):
        deliver([see_offers, see_visits], market, record, seen)
    return seen


def uses(store: Store[Market]) -> int:
    picture = store.run(get(Picture, picture_id="p"))
    assert picture is not None
    return picture.uses


def keys(engine: Engine) -> set[str]:
    return {f"{item['PK']['S']}/{item['SK']['S']}" for item in engine.scan(TableName=TABLE)["Items"]}


REST = {"PICTURE#p/PICTURE", "STALL#s/STALL"}


def test_derived_items_are_deleted_and_counters_lowered(store: Store[Market], engine: Engine, times: Times) -> None:
    offer(store, times)
    (last,) = expire(engine, times)
    assert {finding.kind for finding in store.verify()} == {"orphan", "wrong-count"}
    assert store.run(clean_up_expired(last))
    assert store.verify() == []
    assert keys(engine) == REST
    assert uses(store) == 0


def test_the_second_time_changes_nothing(store: Store[Market], engine: Engine, times: Times) -> None:
    offer(store, times)
    (last,) = expire(engine, times)
    assert store.run(clean_up_expired(last))
    offer(store, times, "other")  # takes the code, whose guard doesn't name its owner
    assert not store.run(clean_up_expired(last))
    assert uses(store) == 1
    assert store.verify() == []


def test_two_runs_at_the_same_time(store: Store[Market], engine: Engine, times: Times) -> None:
    for n in range(5):
        offer(store, times, f"o{n}", f"c{n}")
        store.run(create(Visit(stall_id="s", visitor=f"v{n}", expires=times.now)))
    removed = expire(engine, times)
    assert len(removed) == 10
    done: list[bool] = []
    threads = [
        Thread(target=lambda: done.extend(store.run(clean_up_expired(each)) for each in removed)) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert done.count(True) == 10
    assert store.verify() == []


def test_a_counter_is_lowered_once_even_below_its_minimum(store: Store[Market], engine: Engine, times: Times) -> None:
    store.run(create(Visit(stall_id="s", visitor="v", expires=times.now)))
    (last,) = expire(engine, times)
    assert [store.run(clean_up_expired(last)), store.run(clean_up_expired(last))] == [True, False]
    stall = store.run(get(Stall, stall_id="s"))
    assert stall is not None
    assert stall.visitors == 0


def test_a_new_item_with_the_same_key_is_left_alone(store: Store[Market], engine: Engine, times: Times) -> None:
    store.run(create(Visit(stall_id="s", visitor="v", expires=times.now)))
    (last,) = expire(engine, times)
    store.run(create(Visit(stall_id="s", visitor="v", expires=times.now + timedelta(days=1))))
    assert not store.run(clean_up_expired(last))
    (finding,) = store.verify()
    assert finding.kind == "wrong-count"


def test_an_item_that_is_created_again_meanwhile_is_left_alone(
    store: Store[Market], engine: Engine, times: Times
) -> None:
    store.run(create(Visit(stall_id="s", visitor="v", expires=times.now)))
    (last,) = expire(engine, times)

    class Late:
        """Creates the item again between the read and the write."""

        def __getattr__(self, name: str) -> Any:
            if name == "transact_write_items":
                item = Visit(stall_id="s", visitor="v", expires=times.now + timedelta(days=1))
                if store.run(get(Visit, stall_id="s", visitor="v")) is None:
                    store.run(create(item))
            return getattr(engine, name)

    assert not Store(Market(), Late(), clock=times).run(clean_up_expired(last))
    stall = store.run(get(Stall, stall_id="s"))
    assert stall is not None
    assert stall.visitors == 2


def test_an_item_deleted_by_a_store_is_settled_already(store: Store[Market], engine: Engine, times: Times) -> None:
    mine = offer(store, times)
    image = engine.get_item(TableName=TABLE, Key={"PK": {"S": "OFFER#o"}, "SK": {"S": "OFFER"}})["Item"]
    store.run(delete(mine))
    offer(store, times, "other", "d")
    last = store.run(get(Offer, offer_id="other"))
    assert last is not None
    deleted = last.model_copy(update={"offer_id": "o", "code": "c"})
    object.__setattr__(deleted, "__keyplan_stored__", image)
    assert not store.run(clean_up_expired(deleted))
    assert uses(store) == 1
    assert store.verify() == []


def test_a_value_that_another_item_has_taken_stays(store: Store[Market], engine: Engine, times: Times) -> None:
    offer(store, times)
    (last,) = expire(engine, times)
    use = {"PK": {"S": "PICTURE#p"}, "SK": {"S": "USE#o"}}
    engine.update_item(
        TableName=TABLE,
        Key=use,
        UpdateExpression="SET offer_id = :o",
        ExpressionAttributeValues={":o": {"S": "another"}},
    )
    assert store.run(clean_up_expired(last))
    assert "PICTURE#p/USE#o" in keys(engine)
    assert "CODE#c/CODE#c" not in keys(engine)


def test_without_effects_nothing_is_sent(store: Store[Market], times: Times) -> None:
    assert store.requests(clean_up_expired(Picture(picture_id="q"))) == []


def family(store: Store[Market], times: Times) -> None:
    offer(store, times)
    for bid in "ab":
        store.run(create(Bid(offer_id="o", bid_id=bid)))
        for number in range(2):
            store.run(create(Remark(offer_id="o", bid_id=bid, number=number)))


def test_children_are_deleted_too(store: Store[Market], engine: Engine, times: Times) -> None:
    family(store, times)
    (last,) = expire(engine, times)
    assert store.run(clean_up_expired(last))
    assert keys(engine) == REST
    assert store.resume() == 0
    assert store.verify() == []


@pytest.mark.parametrize("after", [False, True], ids=["before the call", "after the call"])
@pytest.mark.parametrize("how", ["told again", "resumed"])
def test_it_can_be_finished_after_being_killed_at_any_step(after: bool, how: str) -> None:
    for step in range(40):
        times = Times()
        with Engine(clock=times.seconds) as engine:
            store = Store(Market(), engine, clock=times, secret=b"of the tests")
            store.create_tables()
            store.run(create(Picture(picture_id="p")))
            store.run(create(Stall(stall_id="s")))
            family(store, times)
            (last,) = expire(engine, times)
            try:
                Store(Market(), Mortal(engine, step, after=after), clock=times).run(clean_up_expired(last))
            except Killed:
                if how == "resumed":
                    store.resume()
                store.run(clean_up_expired(last))
                store.resume()
                assert keys(engine) == REST, step
                assert uses(store) == 0
                assert store.verify() == []
            else:
                assert step > 8
                return
    raise AssertionError("it never finished")


def test_children_of_a_new_item_with_the_same_key_stay(store: Store[Market], engine: Engine, times: Times) -> None:
    family(store, times)
    (last,) = expire(engine, times)
    with pytest.raises(Killed):
        Store(Market(), Mortal(engine, 1, after=True), clock=times).run(clean_up_expired(last))
    offer(store, times)  # the guard is free
    assert store.resume() == 1
    assert len(store.run(query(Bid.primary, offer_id="o")).items) == 2
    assert store.verify() == []


def test_an_item_marked_for_deletion_is_no_longer_counted(store: Store[Market], engine: Engine, times: Times) -> None:
    family(store, times)
    mine = store.run(get(Offer, offer_id="o"))
    assert mine is not None
    with pytest.raises(Killed):
        Store(Market(), Mortal(engine, 0, after=True), clock=times).run(delete(mine))
    assert uses(store) == 0
    (last,) = expire(engine, times)
    assert store.run(clean_up_expired(last))
    store.resume()
    assert uses(store) == 0
    assert keys(engine) == REST
    assert store.verify() == []


async def settle(engine: Engine, times: Times, last: Offer) -> bool:
    return await AsyncStore(Market(), engine, clock=times).run(clean_up_expired(last))


def test_it_works_with_asyncio(store: Store[Market], engine: Engine, times: Times) -> None:
    import asyncio

    offer(store, times)
    (last,) = expire(engine, times)
    assert asyncio.run(settle(engine, times, last))
    assert store.verify() == []
