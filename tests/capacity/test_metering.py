"""Metering: what patterns and writes consume, by running them."""

import time
from dataclasses import replace
from typing import Literal

import pytest

from keyplan.capacity.consumed import TableOrIndex, Units
from keyplan.capacity.metering import MeteredDesign, StoredPart, meter
from keyplan.capacity.quantities import Rate
from keyplan.capacity.traffic import Traffic, starter, traffic_of
from keyplan.capacity.traffic.model import ItemTraffic, PatternTraffic, WriteTraffic
from keyplan.design import (
    KEYS_ONLY,
    BatchGet,
    Count,
    Design,
    Entity,
    Get,
    Id,
    ItemCount,
    Lookup,
    Query,
    Ref,
    Scan,
    Table,
    batch_get,
    count,
    counts,
    expect,
    get,
    index,
    key,
    lookup,
    mirror,
    pattern,
    query,
    ref,
    scan,
    unique,
)
from keyplan.engine import Engine
from tests.all_designs import SYSTEMS, design, designs

shop = Table(
    "Shop-{env=test}",
    key("pk", "sk"),
    indexes={"ByStatus": key("status_pk", "status_sk"), "Names": index(key("name_pk", "sk"), KEYS_ONLY)},
)


class Customer(Entity, table=shop, expected=expect(size=1500)):
    customer_id: Id
    email: str
    bio: str = ""
    orders: Count = 0
    primary = key("CUSTOMER#{customer_id}", "A")
    mail = unique("MAIL#{email.address}", carries="customer_id")

    @mirror
    def card(self) -> "Card | None":
        return Card(email=self.email, customer_id=self.customer_id)


class Card(Entity, table=shop):
    email: Id
    customer_id: Id
    primary = key("CARD#{email}", "A")


class Order(Entity, table=shop):
    customer_id: Id
    order_id: Id
    status: Literal["open", "done"] = "open"
    note: str = ""
    primary = key("CUSTOMER#{customer_id}", "ORDER#{order_id}")
    by_status = shop.ByStatus("{status}", "{order_id}")

    @counts("orders")
    def counted(self) -> Ref[Customer]:
        return ref(Customer, customer_id=self.customer_id)


class Shop(Design):
    tables, entities = (shop,), (Customer, Card, Order)

    @pattern("Get customer")
    def customer(self, customer_id: str) -> Get[Customer]:
        return get(Customer, customer_id=customer_id)

    @pattern("Get customer, up to date")
    def customer_now(self, customer_id: str) -> Get[Customer]:
        return get(Customer, customer_id=customer_id, consistent=True)

    @pattern("Get customer by e-mail")
    def by_mail(self, email: str) -> Lookup[Customer]:
        return lookup(Customer.mail, email=email)

    @pattern("Get customers")
    def customers(self, ids: list[str]) -> BatchGet[Customer]:
        return batch_get(Customer, ids)

    @pattern("Get orders of a customer", returns=20)
    def orders(self, customer_id: str) -> Query[Order]:
        return query(Order.primary, customer_id=customer_id)

    @pattern("Get orders by status")
    def by_status(self, status: str) -> Query[Order]:
        return query(Order.by_status, status=status)

    @pattern("Count orders by status")
    def number(self, status: str) -> ItemCount:
        return count(query(Order.by_status, status=status))


TABLE, STATUS, NAMES = (
    TableOrIndex("Shop-test"),
    TableOrIndex("Shop-test", "ByStatus"),
    TableOrIndex("Shop-test", "Names"),
)
A_DAY = Rate(1, "day")


def metered(kind: type[Design], traffic: Traffic | None = None) -> MeteredDesign:
    with Engine(ttl_interval=None) as engine:
        return meter(kind, engine, traffic)


@pytest.fixture(scope="module")
def found() -> MeteredDesign:
    return metered(Shop)


def test_patterns_consume_what_dynamodb_says(found: MeteredDesign) -> None:
    assert found.failures == {}
    assert found.patterns["customer"].units == {TABLE: Units(reads=0.5)}
    assert found.patterns["customer_now"].units == {TABLE: Units(reads=1)}
    assert found.patterns["by_mail"].units == {TABLE: Units(reads=1)}
    assert (found.patterns["by_mail"].requests, found.patterns["by_mail"].items) == (2, 1)
    assert found.patterns["by_status"].units == {STATUS: Units(reads=0.5)}
    assert found.patterns["orders"].items == 20
    assert found.missing["by_mail"].requests == 1
    assert found.missing["customer"].units == {TABLE: Units(reads=0.5)}  # what isn't there costs the least there is


def test_writes_include_what_follows_from_them(found: MeteredDesign) -> None:
    writes = found.writes
    # Customer of 1.5 KB, guard and card, in a transaction: (2 + 1 + 1) * 2.
    assert writes["Customer", "create"].units == {TABLE: Units(writes=8, changes=4)}
    assert (writes["Customer", "create"].items, writes["Customer", "create"].requests) == (3, 1)
    assert writes["Customer", "create"].operations == ("transact_write_items",)
    # The order and the customer, whose number of orders changes; and an index entry, which isn't doubled.
    assert writes["Order", "create"].units == {TABLE: Units(writes=6, changes=3), STATUS: Units(writes=1)}
    assert writes["Order", "create"].refused == {TABLE: Units(writes=6)}
    assert writes["Order", "update"].units == {TABLE: Units(writes=1, changes=1), STATUS: Units(writes=1)}
    assert writes["Order", "delete"].items == 2
    assert writes["Customer", "delete"].units == {TABLE: Units(writes=8, changes=4)}


def test_an_item_is_stored_with_what_follows_from_it(found: MeteredDesign) -> None:
    assert found.stored["Customer"][TABLE].items == 3
    assert found.sizes["Customer"] == 1500
    assert found.stored["Customer"][TABLE].size > found.sizes["Customer"]
    assert found.stored["Order"].keys() == {TABLE, STATUS}


def test_traffic_says_how_large_and_how_many() -> None:
    traffic = Traffic(
        "traffic.yaml",
        patterns={
            "orders": PatternTraffic(A_DAY, items=40),
            "customers": PatternTraffic(A_DAY, items=3),
            "number": PatternTraffic(A_DAY, items=100_000),
            "by_status": PatternTraffic(A_DAY, items=0),
        },
        writes={
            ("Order", "update"): WriteTraffic(A_DAY, changes=("status",)),
            ("Order", "patch"): WriteTraffic(A_DAY, changes=("note",)),
        },
        items={"Order": ItemTraffic(size=1000), "Customer": ItemTraffic(size=5000)},
    )
    found = metered(Shop, traffic)
    assert found.failures == {}
    assert found.patterns.keys() == traffic.patterns.keys()
    assert found.writes.keys() == traffic.writes.keys()
    assert found.patterns["orders"].units == {
        TABLE: Units(reads=5)
    }  # 40,000 bytes in steps of 4 KB, eventually consistent
    assert found.patterns["customers"].units == {TABLE: Units(reads=3)}  # each of 5 KB counts as 8 KB
    assert found.patterns["number"].items == 100_000
    assert found.patterns["number"].units[STATUS].reads == pytest.approx(100_000_000 / 4096 / 2, rel=0.05)
    assert found.patterns["by_status"].units == {STATUS: Units(reads=0.5)}
    # The index entry moves to another key: it is deleted and written.
    assert found.writes["Order", "update"].units[STATUS].writes >= 2
    # What an order counts in depends on its other fields, so a patch reads them first.
    assert found.writes["Order", "patch"].operations == ("get_item", "update_item")


def test_sizes_of_a_real_table_count_where_the_traffic_says_nothing() -> None:
    with Engine(ttl_interval=None) as engine:
        found = meter(Shop, engine, sizes={"Customer": 3000, "Order": 2500})
    assert found.sizes["Customer"] == 3000
    assert found.writes["Order", "create"].units[STATUS].writes == 3


def test_items_without_long_texts_have_their_size_too() -> None:
    """Most of an item can be a list or a map, so what its texts can't have is added to it."""
    carts = Table("Carts", key("PK", "SK"), indexes={"ByState": key("StatePK", "SK")})

    class Cart(Entity, table=carts):
        owner: Id
        number: Id
        state: Literal["open", "paid"] = "open"
        prices: list[int]
        primary = key("OWNER#{owner}", "CART#{number}")
        by_state = carts.ByState("STATE#{state}", "CART#{number}")

    class Carts(Design):
        tables, entities = (carts,), (Cart,)

        @pattern("Get a cart")
        def cart(self, owner: str, number: str) -> Get[Cart]:
            return get(Cart, owner=owner, number=number)

        @pattern("Carts of an owner")
        def carts_of(self, owner: str) -> Query[Cart]:
            return query(Cart.primary, owner=owner)

    traffic = Traffic(
        "traffic.yaml",
        patterns={"cart": PatternTraffic(A_DAY), "carts_of": PatternTraffic(A_DAY, items=20)},
        writes={
            ("Cart", "create"): WriteTraffic(A_DAY),
            ("Cart", "update"): WriteTraffic(A_DAY),
            ("Cart", "put"): WriteTraffic(A_DAY),
            ("Cart", "delete"): WriteTraffic(A_DAY),
        },
        items={"Cart": ItemTraffic(size=5000)},
    )
    found = metered(Carts, traffic)
    table, index = TableOrIndex("Carts"), TableOrIndex("Carts", "ByState")
    assert found.failures == {}
    assert found.sizes == {"Cart": 5000}
    assert found.stored["Cart"] == {table: StoredPart(1, 5000), index: StoredPart(1, 5000)}
    assert found.patterns["cart"].units == {table: Units(reads=1)}  # 5,000 bytes are 2 steps of 4 KB
    assert found.patterns["carts_of"].units == {table: Units(reads=12.5)}  # 100,000 bytes are 25
    for kind in ("create", "put", "update", "delete"):
        assert found.writes["Cart", kind].units[table].writes == 5


def test_what_cannot_be_metered_is_named() -> None:
    traffic = Traffic("t", writes={("Card", "update"): WriteTraffic(A_DAY, changes=("email",))})
    found = metered(Shop, traffic)
    assert found.writes == {}
    assert "Card.update" in found.failures


def test_all_designs_are_metered_quickly_and_always_alike() -> None:
    began = time.process_time()
    both = [[metered(design(f"apps/{name}")) for name in SYSTEMS] for _ in range(2)]
    assert both[0] == both[1]
    assert time.process_time() - began < 20  # about 2 seconds on a machine with nothing else to do
    for kind, each in zip((design(f"apps/{name}") for name in SYSTEMS), both[0], strict=True):
        assert each.patterns.keys() == kind.patterns.keys()
        assert each.failures == {}
        assert {name for name, write in each.writes} == {entity.__name__ for entity in kind.entities}


@pytest.mark.parametrize("name", designs())
def test_lists_find_as_many_items_as_they_are_said_to(name: str) -> None:
    kind = design(name)
    traffic = traffic_of(starter(kind), kind)
    several = {each: replace(traffic.patterns[each], items=7) for each in traffic.patterns}
    found = metered(kind, replace(traffic, patterns=several))
    assert found.failures == {}
    assert found.writes.keys() == traffic.writes.keys()
    listed = {each for each in found.patterns if "query" in found.patterns[each].operations}
    assert {each for each in listed if found.patterns[each].items < 7} - FINDS_ONE == set()


FINDS_ONE = {"event_by_slug", "player_by_number", "memberships_but", "renamed_categories"}
"""Queries that find one item at most, or none with the example's arguments."""


def test_a_scan_reads_the_other_items_of_its_table_too() -> None:
    traffic = Traffic(
        "t",
        patterns={"everybody": PatternTraffic(A_DAY, items=10)},
        items={"Customer": ItemTraffic(1000, size=1000), "Order": ItemTraffic(9000, size=1000)},
    )

    class Scanned(Shop):
        tables, entities = Shop.tables, Shop.entities

        @pattern("List customers")
        def everybody(self) -> Scan[Customer]:
            return scan(Customer)

    found = metered(Scanned, traffic).patterns["everybody"]
    assert found.items == 10
    assert found.total.reads > 5  # ten customers of 1,000 bytes alone would take 1.5


def test_any_client_in_boto3s_shape_gives_the_same_figures(found: MeteredDesign) -> None:
    with Engine(ttl_interval=None) as engine:
        session = engine.boto3_session()
        client = session.client("dynamodb")
        assert meter(Shop, client) == found
        client.close()
