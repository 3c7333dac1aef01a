"""Entities that share their keys and differ only in the type attribute are never mistaken for each other."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from keyplan.data import (
    AlreadyExists,
    NotFound,
    ParentMissing,
    Store,
    check,
    create,
    delete,
    patch,
    put,
    touch,
    upsert,
)
from keyplan.design import Count, Design, Entity, Id, Ref, Table, batch_get, counts, get, key, ref, there, unique
from keyplan.engine import Engine

things = Table("Things", key("PK"), type_attribute="kind")


class Lamp(Entity, table=things, type="LAMP"):
    name: Id
    watts: int
    bulbs: Count = 0

    primary = key("{name}")


class Chair(Entity, table=things, type="CHAIR"):
    name: Id
    legs: int = 4

    primary = key("{name}")


class Bulb(Entity, table=things, type="BULB"):
    bulb: Id
    lamp: Id

    primary = key("BULB#{bulb}")
    label = unique("LABEL-{bulb}")

    @counts("bulbs")
    def shines(self) -> Ref[Lamp]:
        return ref(Lamp, name=self.lamp)


class House(Design):
    tables = (things,)
    entities = (Lamp, Chair, Bulb)


@pytest.fixture
def house() -> Iterator[Store[House]]:
    with Engine() as engine:
        store = Store(House(), engine)
        store.create_tables()
        store.run(create(Chair(name="one")))
        yield store


def test_reads_do_not_find_the_other_entity(house: Store[House]) -> None:
    assert house.run(get(Lamp, name="one")) is None
    assert house.run(batch_get(Lamp, ["one"])) == [None]
    assert not house.run(there(Lamp, name="one"))
    assert house.run(there(Chair, name="one"))


@pytest.mark.parametrize(
    ("write", "refusal"),
    [
        (lambda: create(Lamp(name="one", watts=5)), AlreadyExists),
        (lambda: put(Lamp(name="one", watts=5)), AlreadyExists),
        (lambda: patch(ref(Lamp, name="one"), watts=5), NotFound),
        (lambda: touch(ref(Lamp, name="one"), watts=5), NotFound),
        (lambda: delete(Lamp(name="one", watts=5)), NotFound),
        (lambda: check(ref(Lamp, name="one")), NotFound),
        (lambda: create(Bulb(bulb="c", lamp="one")), ParentMissing),
        (lambda: patch(ref(Lamp, name="LABEL-b"), watts=5), NotFound),
    ],
)
def test_writes_leave_the_other_entity_alone(
    house: Store[House], write: Callable[[], Any], refusal: type[NotFound | AlreadyExists | ParentMissing]
) -> None:
    house.run(create(Lamp(name="two", watts=5)))
    house.run(create(Bulb(bulb="b", lamp="two")))
    raw: Any = house.client
    before = raw.scan(TableName="Things")["Items"]
    with pytest.raises(refusal) as caught:
        house.run(write())
    assert caught.value.stored is None
    assert raw.scan(TableName="Things")["Items"] == before
    assert house.verify() == []


def test_an_upsert_does_not_replace_another_entity(house: Store[House]) -> None:
    with pytest.raises(AlreadyExists, match="another entity's item"):
        house.run(upsert(ref(Lamp, name="one"), watts=3))
    with pytest.raises(NotFound):
        house.run(delete(ref(Lamp, name="one")))
    for watts in (3, 5):
        house.run(upsert(ref(Lamp, name="two"), watts=watts))
        lamp = house.run(get(Lamp, name="two"))
        assert lamp is not None
        assert lamp.watts == watts
    house.run(delete(ref(Lamp, name="two")))
    assert house.verify() == []
