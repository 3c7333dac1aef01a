"""Limits on several fields together are checked on every kind of write that changes one of them."""

from collections.abc import Callable, Iterator
from datetime import date
from typing import Any

import pytest

from keyplan.data import InvalidItem, Store, create, import_all, increment, move, patch, put, put_all, touch, update
from keyplan.design import (
    Design,
    Entity,
    Fields,
    Id,
    InvalidValue,
    Query,
    Refusal,
    Rewrite,
    Table,
    get,
    job,
    key,
    limits,
    pattern,
    query,
    ref,
    rewrite,
)
from keyplan.engine import Engine

fairs = Table("Fairs", key("PK", "SK"))
FIRST, SECOND, THIRD = date(2026, 5, 1), date(2026, 5, 2), date(2026, 5, 3)
ENDS_FIRST = ("ends-first", "Fair.ends", "The fair ends before it starts.", "ends")


class FairFields(Fields):
    starts: date
    ends: date
    booked: int = 0
    seats: int = 10
    note: str = ""

    @limits("starts", "ends")
    def in_order(self) -> Refusal | None:
        if self.ends < self.starts:
            return Refusal("ends-first", "The fair ends before it starts.", field="ends")
        return None

    @limits("booked", "seats")
    def has_room(self) -> Refusal | None:
        return Refusal("full") if self.booked > self.seats else None


class Fair(FairFields, Entity, table=fairs):
    town: Id
    fair_id: Id
    primary = key("TOWN#{town}", "FAIR#{fair_id}")


class Fairs(Design):
    """Fairs."""

    tables = (fairs,)
    entities = (Fair,)

    @pattern("Fairs of a town")
    def fairs_of(self, town: str) -> Query[Fair]:
        return query(Fair.primary, town=town)

    @job
    def postpone(self, town: str) -> Rewrite[Fair]:
        return rewrite(self.fairs_of(town), lambda fair: setattr(fair, "starts", THIRD))


def fair(**values: Any) -> Fair:
    return Fair.model_validate({"town": "t", "fair_id": "f", "starts": FIRST, "ends": SECOND, **values})


@pytest.fixture
def store() -> Iterator[Store[Fairs]]:
    with Engine() as engine:
        made = Store(Fairs(), engine)
        made.create_tables()
        made.run(create(fair()))
        yield made


def stored(store: Store[Fairs]) -> Fair:
    found = store.run(get(Fair, town="t", fair_id="f"))
    assert found is not None
    return found


def changed(store: Store[Fairs], **values: object) -> Fair:
    found = stored(store)
    for name, value in values.items():
        setattr(found, name, value)
    return found


THE_FAIR = ref(Fair, town="t", fair_id="f")
WRITES: dict[str, Callable[[Store[Fairs]], object]] = {
    "create": lambda store: store.run(create(fair(fair_id="g", starts=THIRD))),
    "put": lambda store: store.run(put(fair(starts=THIRD))),
    "update of one": lambda store: store.run(update(changed(store, starts=THIRD))),
    "update of the other": lambda store: store.run(update(changed(store, ends=date(2026, 4, 30)))),
    "patch": lambda store: store.run(patch(THE_FAIR, starts=THIRD)),
    "move": lambda store: store.run(move(stored(store), fair_id="g", starts=THIRD)),
    "batch": lambda store: store.run(put_all([fair(fair_id="g", starts=THIRD)])),
    "rewrite": lambda store: store.run(store.design.postpone("t")),
}


@pytest.mark.parametrize("write", WRITES)
def test_a_write_over_a_joint_limit_is_refused_and_changes_nothing(write: str, store: Store[Fairs]) -> None:
    with pytest.raises(InvalidValue) as refused:
        WRITES[write](store)
    error = refused.value
    assert (error.code, error.place, error.problem, error.field) == ENDS_FIRST
    assert error.is_joint
    assert [each.starts for each in store.run(store.design.fairs_of("t")).items] == [FIRST]


def test_an_import_refuses_the_item(store: Store[Fairs]) -> None:
    done = store.run(import_all([fair(fair_id="g", starts=THIRD), fair(fair_id="h")]))
    [(_, refusal)] = done.refused
    assert isinstance(refusal, InvalidItem)
    assert [each.code for each in refusal.problems] == ["ends-first"]
    assert [each.fair_id for each in store.run(store.design.fairs_of("t")).items] == ["f", "h"]


def test_a_number_that_is_added_to_is_compared_with_the_stored_values(store: Store[Fairs]) -> None:
    store.run(patch(THE_FAIR, booked=increment(10)))
    with pytest.raises(InvalidValue, match=r"^Fair\.has_room: The values don't go together\. \[full\]$"):
        store.run(patch(THE_FAIR, booked=increment(1)))
    assert stored(store).booked == 10


def test_a_stamp_can_not_have_a_joint_limit(store: Store[Fairs]) -> None:
    with pytest.raises(InvalidValue) as refused:
        store.run(touch(THE_FAIR, seats=1))
    assert refused.value.code == "not-a-stamp"
    store.run(touch(THE_FAIR, note="seen"))
    assert stored(store).note == "seen"


def test_items_over_a_joint_limit_can_be_changed_in_other_fields_and_are_reported(store: Store[Fairs]) -> None:
    client: Any = store.client
    item = client.get_item(TableName="Fairs", Key={"PK": {"S": "TOWN#t"}, "SK": {"S": "FAIR#f"}})["Item"]
    client.put_item(TableName="Fairs", Item={**item, "ends": {"S": "2020-01-01"}})
    store.run(update(changed(store, note="old")))
    assert stored(store).note == "old"
    [finding] = store.verify()
    assert (finding.kind, "[ends-first]" in finding.problem) == ("over-limit", True)
    with pytest.raises(InvalidValue):
        store.run(update(changed(store, starts=SECOND)))


def test_an_entity_can_override_a_limit_of_its_fields() -> None:
    class Market(FairFields, Entity, table=fairs):
        market_id: Id
        primary = key("MARKET#{market_id}", "MARKET")

        def in_order(self) -> Refusal | None:
            return None

    assert [each.name for each in Market.spec.limits.joint] == ["has_room"]
