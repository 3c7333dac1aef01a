"""Reading some fields: the same values as in a whole read, from the fewest attributes and requests."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from keyplan.data import Store, StoredDataError, create, update
from keyplan.design import DesignError, batch_get, collection, follow, get, lookup, query, ref, scan, together
from keyplan.engine import Engine
from tests.data.shop import NOW, Card, Line, Older, Order, Pair, Pin, Product, Sheet, Shop, Size
from tests.data.support import Recorder
from tests.data.ways import WAYS, store_in


@pytest.fixture(params=WAYS)
def opened(request: pytest.FixtureRequest) -> Iterator[tuple[Any, Recorder]]:
    with store_in(request.param, Shop(), lambda: NOW) as both:
        for n in range(5):
            both[0].run(create(product(n)))
        both[1].taken()
        yield both


@pytest.fixture
def store(opened: tuple[Any, Recorder]) -> Any:
    return opened[0]


@pytest.fixture
def sent(opened: tuple[Any, Recorder]) -> Recorder:
    return opened[1]


def raw(sent: Recorder) -> Any:
    return sent.client


def product(n: int) -> Product:
    return Product(
        sku=f"p{n}",
        title=f"T{n}",
        price=Decimal(n),
        size=Size(width=n),
        tags={"a"} if n % 2 else set(),
        added=date(2026, 1, 1 + n),
    )


def projected(sent: Recorder) -> set[str]:
    ((_, request),) = sent.taken()
    if "RequestItems" in request:
        (request,) = request["RequestItems"].values()
    names = request["ExpressionAttributeNames"]
    return {names[each] for each in request["ProjectionExpression"].split(", ")} - {
        "PK",
        "SK",
        "kind",
        "keyplanDeleting",
    }


def test_get_and_lookup(store: Any, sent: Recorder) -> None:
    assert store.run(get(Product, sku="p1").only(lambda p: (p.title, p.price))) == ("T1", Decimal(1))
    assert projected(sent) == {"title", "price"}
    assert store.run(get(Product, sku="p1").only(lambda p: p.tags)) == {"a"}
    assert store.run(get(Product, sku="p2").only(lambda p: (p.tags, p.note))) == (set(), None)
    assert store.run(get(Product, sku="none").only(lambda p: p.title)) is None
    assert store.run(lookup(Product.sku_guard, sku="p1").only(lambda p: (p.sku, p.title))) == ("p1", "T1")
    assert store.run(Shop().title("p3")) == "T3"


def test_nested_values_and_other_forms(store: Any) -> None:
    @dataclass
    class Shown:
        sku: str
        size: Size

    assert store.run(get(Product, sku="p3").only(lambda p: Pair(p.sku, p.size.width))) == Pair("p3", 3)
    assert store.run(get(Product, sku="p3").only(lambda p: Shown(p.sku, p.size))) == Shown("p3", Size(width=3))
    assert store.run(get(Product, sku="p3").only(Card)) == Card(sku="p3", title="T3", price=Decimal(3))


def test_lists_and_batches(store: Any, sent: Recorder) -> None:
    page = store.run(scan(Product).only(lambda p: p.sku))
    assert sorted(page.items) == ["p0", "p1", "p2", "p3", "p4"]
    assert projected(sent) == {"sku"}
    assert store.run(batch_get(Product, ["p4", "none", "p1"]).only(lambda p: p.title)) == ["T4", None, "T1"]
    assert projected(sent) == {"title"}
    first, second = store.run(together(batch_get(Product, ["p1"]).only(Card), batch_get(Product, ["p2"])))
    assert (first, second[0].text) == ([Card(sku="p1", title="T1", price=Decimal(1))], "")
    source = query(Product.by_brand, brand="b")
    followed = follow(source, lambda p: ref(Product, sku=p.sku), Product).only(lambda p: (p.sku, p.text)).limit(2)
    assert store.run(followed).items == [("p0", ""), ("p1", "")]


def test_an_index_that_projects_enough_needs_no_second_read(store: Any, sent: Recorder) -> None:
    found = store.run(query(Product.by_brand, brand="b").only(Card).limit(2))
    assert [card.sku for card in found.items] == ["p0", "p1"]
    ((name, request),) = sent.taken()
    assert name == "query"
    assert "sku" not in request["ExpressionAttributeNames"].values()  # it is read from the key
    rest = store.run(Shop().cards("b").limit(5).after(store.run(Shop().cards("b").limit(2)).next))
    assert [card.title for card in rest.items] == ["T2", "T3", "T4"]
    assert {name for name, _ in sent.taken()} == {"query"}
    days = store.run(query(Product.by_day, added=date(2026, 1, 3)).only(lambda p: (p.added, p.sku, p.brand)))
    assert [name for name, _ in sent.taken()] == ["query", "batch_get_item"]  # the brand isn't in that index
    assert days.items == [(date(2026, 1, 3), "p2", "b")]
    days = store.run(query(Product.by_day, added=date(2026, 1, 3)).only(lambda p: (p.added, p.sku)))
    assert (days.items, [name for name, _ in sent.taken()]) == ([(date(2026, 1, 3), "p2")], ["query"])


def test_whole_entities_are_completed_from_their_keys(store: Any, sent: Recorder) -> None:
    for n in (1, 2):
        store.run(create(Pin(board="b", number=n, title=f"P{n}", color="red" if n == 1 else None)))
    sent.taken()
    pins = store.run(query(Pin.by_board, board="b")).items
    assert [name for name, _ in sent.taken()] == ["query"]
    assert sorted((pin.number, pin.title, pin.color) for pin in pins) == [(1, "P1", "red"), (2, "P2", None)]
    for pin in pins:
        assert pin == store.run(get(Pin, number=pin.number))
        pin.title = "new"
        pin.color = "blue"
        store.run(update(pin))
    assert [pin.title for pin in store.run(query(Pin.by_board, board="b")).items] == ["new", "new"]
    assert store.verify() == []


def test_classes_that_need_whole_items_read_them(store: Any, sent: Recorder) -> None:
    store.run(create(Older(older_id="a", name="n")))
    raw(sent).put_item(
        TableName="Shop",
        Item={
            "PK": {"S": "OLDER#b"},
            "SK": {"S": "OLDER"},
            "kind": {"S": "OLDER"},
            "olderId": {"S": "b"},
            "label": {"S": " x "},
            "GSI1PK": {"S": "SHELF#s"},
            "GSI1SK": {"S": "b"},
        },
    )
    sent.taken()
    assert store.run(get(Older, older_id="b").only(lambda o: (o.older_id, o.name))) == ("b", "X")
    assert "ProjectionExpression" not in sent.taken()[0][1]
    assert store.run(query(Older.by_shelf, shelf="s").only(lambda o: o.name)).items == ["n", "X"]


def test_fields_in_an_envelope(store: Any, sent: Recorder) -> None:
    store.run(create(Sheet(sheet_id="s", title="T", rows=3)))
    assert store.run(get(Sheet, sheet_id="s").only(lambda s: (s.sheet_id, s.title, s.rows))) == ("s", "T", 3)
    assert store.run(scan(Sheet).only(lambda s: s.rows)).items == [3]
    # What is in the keys of an index, and in an envelope that it has, is read there; the rest is read from the table.
    for listed, chosen, value, requests in (
        (Sheet.by_keys, lambda s: (s.sheet_id, s.rows), ("s", 3), 1),
        (Sheet.by_keys, lambda s: (s.title, s.color), ("T", "red"), 2),
        (Sheet.by_data, lambda s: (s.sheet_id, s.title, s.rows, s.color), ("s", "T", 3, "red"), 1),
    ):
        sent.taken()
        assert store.run(query(listed, owner="ann").only(chosen)).items == [value]
        assert len(sent.taken()) == requests


def test_an_unreadable_field_is_named_and_others_are_read(store: Any, sent: Recorder) -> None:
    raw(sent).update_item(
        TableName="Shop",
        Key={"PK": {"S": "PRODUCT#p1"}, "SK": {"S": "PRODUCT"}},
        UpdateExpression="SET price = :p, note = :n REMOVE title",
        ExpressionAttributeValues={":p": {"S": "cheap"}, ":n": {"NULL": True}},
    )
    assert store.run(get(Product, sku="p1").only(lambda p: (p.sku, p.note))) == ("p1", None)
    for chosen, attribute in ((lambda p: p.price, "price"), (lambda p: p.title, "title")):
        with pytest.raises(StoredDataError) as refused:
            store.run(get(Product, sku="p1").only(chosen))
        assert refused.value.attribute == attribute


class Wrong(BaseModel):
    title: int


class Unknown(BaseModel):
    titel: str


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        (lambda: get(Product, sku="a").only(lambda p: p.titel), "no-such-field"),  # type: ignore[attr-defined]
        (lambda: get(Product, sku="a").only(lambda p: 7), "only"),
        (lambda: get(Product, sku="a").only(lambda p: ()), "only"),
        (lambda: get(Product, sku="a").only(lambda p: p.title == "x"), "only"),
        (lambda: get(Product, sku="a").only(lambda p: p.title.upper()), "only"),
        (lambda: get(Product, sku="a").only(Wrong), "view-type"),
        (lambda: get(Product, sku="a").only(Unknown), "no-such-field"),
        (lambda: get(Product, sku="a").only(str), "view"),
        (lambda: collection(Order, Line, order_id="o").only(lambda o: o), "only"),
    ],
)
def test_mistakes_are_named(wrong: Any, code: str) -> None:
    with pytest.raises(DesignError) as refused:
        wrong()
    assert refused.value.code == code


products = st.builds(
    Product,
    sku=st.text("ab1", min_size=1, max_size=4),
    title=st.text(max_size=5),
    brand=st.sampled_from(["b", "c"]),
    price=st.decimals(0, 99, places=2),
    added=st.dates(date(2026, 1, 1), date(2026, 12, 31)),
    text=st.text(max_size=5),
    size=st.builds(Size, width=st.integers(0, 9)),
    tags=st.sets(st.text(min_size=1, max_size=2), max_size=2),
    note=st.none() | st.text(max_size=3),
)
FIELDS = list(Product.model_fields)


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(
    made=st.lists(products, max_size=6, unique_by=lambda each: each.sku.lower()),
    chosen=st.sets(st.sampled_from(FIELDS), min_size=1),
)
def test_only_equals_the_fields_of_a_whole_read(made: list[Product], chosen: set[str]) -> None:
    names = sorted(chosen)

    def some(entity: Any) -> tuple[Any, ...]:
        return tuple(getattr(entity, name) for name in names)

    with Engine() as engine:
        store = Store(Shop(), engine, secret=b"x")
        store.create_tables()
        for each in made:
            store.run(create(each))
        keys = [each.sku for each in made]
        assert store.run(batch_get(Product, keys).only(some)) == [
            some(each) for each in store.run(batch_get(Product, keys)) if each
        ]
        for key in keys:
            assert store.run(get(Product, sku=key).only(some)) == some(store.run(get(Product, sku=key)))
        lists = (scan(Product), query(Product.by_brand, brand="b"), query(Product.by_day, added=date(2026, 1, 1)))
        for op in lists:
            assert list(store.each(op.only(some))) == [some(each) for each in store.each(op)]
