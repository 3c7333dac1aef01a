"""A patch leaves the same item whether it needs one request or reads its item first: random patches of the same items,
of an entity that is patched directly and of one that is always read. Items may lack attributes, or have NULL."""

import random
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Annotated, Any, TypeAlias

import pytest
from pydantic import BaseModel, Field

from keyplan.data import Clause, DataError, Store, StoredDataError, at, create, patch
from keyplan.design import Design, Entity, Id, InvalidValue, Table, Version, exists, get, key, query, ref
from keyplan.engine import Engine


class Size(BaseModel):
    width: int = 1
    height: int | None = None
    unit: str = "cm"


crates = Table("Crates", key("PK", "SK"), indexes={"ByRank": key("shelf", "rank:N")})


class AnyCrate(Entity, table=crates, abstract=True):
    crate_id: Id
    shelf: Id = "A"
    rank: int = 3
    price: Decimal = Decimal("1.5")
    note: str | None = None
    log: list[str] = Field(default=[])
    marks: frozenset[str] = frozenset()
    size: Size = Size()
    parts: list[Size] = Field(default=[])
    counts: dict[str, int] = Field(default={})
    stock: Annotated[int, Field(ge=0, le=9)] = 5
    few: list[int] = Field(default=[], max_length=2)
    version: Version = 0


class Crate(AnyCrate):
    primary = key("CRATE#{crate_id}", "CRATE")
    by_rank = crates.ByRank("{shelf}", "{rank}")


class OldCrate(AnyCrate):
    primary = key("OLD#{crate_id}", "CRATE")
    by_rank = crates.ByRank("{shelf}", "{rank}")

    @classmethod
    def evolve(cls, item: dict[str, Any]) -> dict[str, Any]:
        return item


class Crates(Design):
    tables = (crates,)
    entities = (Crate, OldCrate)


Change: TypeAlias = Callable[[AnyCrate], Clause]


@pytest.fixture
def store() -> Iterator[Store[Crates]]:
    with Engine() as engine:
        made = Store(Crates(), engine)
        made.create_tables()
        yield made


def changes(chosen: random.Random) -> list[Change]:
    """One to three changes; some of them can't be made together."""
    n, amount, index = chosen.choice("abc"), chosen.choice([-4, -1, 1, 2, 6]), chosen.randint(0, 2)
    every: list[Change] = [
        lambda c: at(c.rank).add(amount),
        lambda c: at(c.rank).remove(),
        lambda c: at(c.price).subtract(Decimal("0.25")),
        lambda c: at(c.price).remove(),
        lambda c: at(c.price).set_default(Decimal(9)),
        lambda c: at(c.note).set(n),
        lambda c: at(c.note).remove(),
        lambda c: at(c.log).append(n),
        lambda c: at(c.log).remove(),
        lambda c: at(c.log[index]).set(n),
        lambda c: at(c.log[index]).remove(),
        lambda c: at(c.log).set_default([n]),
        lambda c: at(c.marks).add(n, "z"),
        lambda c: at(c.marks).delete(n),
        lambda c: at(c.size.width).add(amount),
        lambda c: at(c.size.unit).remove(),
        lambda c: at(c.size.unit).set_default("mm"),
        lambda c: at(c.size.height).add(amount),
        lambda c: at(c.parts).append(Size(width=amount)),
        lambda c: at(c.parts[index].unit).remove(),
        lambda c: at(c.parts[index].height).set_default(amount),
        lambda c: at(c.counts[n]).add(amount),
        lambda c: at(c.counts).remove(),
        lambda c: at(c.stock).subtract(amount),
        lambda c: at(c.stock).remove(),
        lambda c: at(c.few).prepend(amount),
    ]
    return chosen.sample(every, chosen.choice([1, 1, 2, 3]))


def spoil(store: Store[Crates], chosen: random.Random, number: str) -> None:
    """Take attributes out of both items, as if these had been written before the fields existed, or set NULL."""
    # DynamoDB takes NULL for a value: `set_default` leaves it, and conditions see it.
    null = chosen.choice(["few", "marks", None])
    gone = chosen.sample(["price", "note", "log", "marks", "size", "parts", "counts", "stock", "few"], 2)
    for kind in ("CRATE", "OLD"):
        stored = item(store, kind, number) | ({null: {"NULL": True}} if null else {})
        replace(store, {name: value for name, value in stored.items() if name not in gone})


def client_of(store: Store[Crates]) -> Engine:
    assert isinstance(store.client, Engine)
    return store.client


def item(store: Store[Crates], kind: str, number: str) -> dict[str, Any]:
    key = {"PK": {"S": f"{kind}#{number}"}, "SK": {"S": "CRATE"}}
    found: dict[str, Any] = client_of(store).get_item(TableName="Crates", Key=key)["Item"]
    return found


def replace(store: Store[Crates], stored: dict[str, Any]) -> None:
    client_of(store).put_item(TableName="Crates", Item=stored)


def comparable(stored: dict[str, Any]) -> dict[str, Any]:
    """An item without its key and its version: a patch that reads its item writes nothing if it changes nothing."""
    marks = stored.get("marks", {})
    same = {name: value for name, value in stored.items() if name not in ("PK", "version")}
    return same | {"marks": {"SS": sorted(marks["SS"])}} if "SS" in marks else same


def outcome(store: Store[Crates], make: Callable[[], Any]) -> object:
    """What a write returns, without the version; None if it is refused."""
    try:
        written = store.run(make())
    except (DataError, InvalidValue):
        return None
    return [] if written is None else written.model_dump(exclude={"version"})


@pytest.mark.parametrize("seed", range(6))
def test_the_same_patches_leave_the_same_items(store: Store[Crates], seed: int) -> None:
    chosen = random.Random(seed)
    done = 0
    for number in map(str, range(20)):
        for kind in (Crate, OldCrate):
            store.run(create(kind(crate_id=number, log=["x", "y"], parts=[Size()], counts={"a": 1})))
        if chosen.random() < 0.7:
            spoil(store, chosen, number)
        for _ in range(5):
            some, returning = changes(chosen), chosen.choice([None, "new", "old"])
            where = chosen.choice([None, None, lambda c: exists(c.price), lambda c: c.size.width > 2])

            def change(crate: AnyCrate, some: list[Change] = some) -> tuple[Clause, ...]:
                return tuple(each(crate) for each in some)

            options: Any = {"where": where, "returning": returning}
            one = outcome(store, lambda: patch(ref(Crate, crate_id=number), change, **options))  # noqa: B023
            other = outcome(store, lambda: patch(ref(OldCrate, crate_id=number), change, **options))  # noqa: B023
            assert one == other
            done += one is not None
            assert comparable(item(store, "CRATE", number)) == comparable(item(store, "OLD", number))
    assert done > 20
    assert [finding for finding in store.verify() if finding.kind == "stale-index-key"] == []


def test_a_removed_field_that_is_an_index_key_keeps_its_item_in_the_index(store: Store[Crates]) -> None:
    for kind in (Crate, OldCrate):
        store.run(create(kind(crate_id="1", rank=7)))
        store.run(patch(ref(kind, crate_id="1"), lambda c: at(c.rank).remove()))
    assert [crate.rank for crate in store.run(query(Crate.by_rank, shelf="A")).items] == [3]
    assert store.verify() == []


ADDED: dict[str, tuple[Change, object]] = {
    "price": (lambda c: at(c.price).add(1), Decimal("2.5")),
    "stock": (lambda c: at(c.stock).add(1), 6),
    "marks": (lambda c: at(c.marks).add("m"), {"m"}),
    "log": (lambda c: at(c.log).append("m"), ["m"]),
}


@pytest.mark.parametrize("in_transaction", [False, True])
@pytest.mark.parametrize("field", ADDED)
def test_null_counts_as_absent_where_something_is_added(store: Store[Crates], field: str, in_transaction: bool) -> None:
    store.run(create(Crate(crate_id="1", stock=2)))
    replace(store, item(store, "CRATE", "1") | {field: {"NULL": True}})
    change, expected = ADDED[field]
    if in_transaction:
        store.transact(patch(ref(Crate, crate_id="1"), change), create(Crate(crate_id="2")))
    else:
        store.run(patch(ref(Crate, crate_id="1"), change))
    assert getattr(store.run(get(Crate, crate_id="1")), field) == expected


def test_a_value_of_another_type_is_named(store: Store[Crates]) -> None:
    store.run(create(Crate(crate_id="1")))
    replace(store, item(store, "CRATE", "1") | {"price": {"S": "much"}})
    with pytest.raises(StoredDataError, match="price"):
        store.run(patch(ref(Crate, crate_id="1"), lambda c: at(c.price).add(1)))
