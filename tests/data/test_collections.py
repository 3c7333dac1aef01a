"""Collections over a table and over an index, as a list and as an aggregate."""

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest

from keyplan.data import StoredDataError, create
from keyplan.design import Aggregate, DesignError, Entity, Id, Table, aggregate, collection, count, key
from tests.data.shop import NOW, Batch, Invoice, Line, Order, OrderWithLines, Pin, Product, Shop, shop
from tests.data.support import Recorder, shape
from tests.data.ways import WAYS, store_in


@pytest.fixture(params=WAYS)
def opened(request: pytest.FixtureRequest) -> Iterator[tuple[Any, Recorder]]:
    with store_in(request.param, Shop(), lambda: NOW) as both:
        for order in "ab":
            both[0].run(create(Order(order_id=order, batch="x" if order == "a" else "y")))
            for n in range(3):
                both[0].run(create(Line(order=order, number=n, sku=f"s{n}", run="x" if n else "y")))
        both[0].run(create(Invoice(order="a", total=Decimal(7))))
        both[1].taken()
        yield both


@pytest.fixture
def store(opened: tuple[Any, Recorder]) -> Any:
    return opened[0]


@pytest.fixture
def sent(opened: tuple[Any, Recorder]) -> Recorder:
    return opened[1]


def shown(items: Any) -> list[str]:
    return [f"{type(each).__name__} {getattr(each, 'number', '')}".strip() for each in items]


def test_fields_of_a_hash_key_may_have_different_names(store: Any, sent: Recorder) -> None:
    page = store.run(collection(Order, Line, Invoice, order_id="a"))
    assert shown(page.items) == ["Invoice", "Line 0", "Line 1", "Line 2", "Order"]
    assert shape(sent.taken()) == ["query"]
    assert store.run(count(collection(Order, Line, order_id="a"))) == 4
    first = store.run(collection(Order, Line, order_id="a").limit(2))
    assert shown(store.run(collection(Order, Line, order_id="a").after(first.next)).items) == ["Line 2", "Order"]


def test_a_collection_over_an_index(store: Any, sent: Recorder) -> None:
    page = store.run(Shop().batch("x"))
    assert shown(page.items) == ["Order", "Line 1", "Line 2", "Line 1", "Line 2"]
    ((_, request),) = sent.taken()
    assert request["IndexName"] == "GSI3"
    newest = store.run(collection(Order.by_batch, Line.by_run, batch="x", newest_first=True).limit(2))
    assert shown(newest.items) == ["Line 2", "Line 1"]


def test_an_aggregate_is_one_query(store: Any, sent: Recorder) -> None:
    found = store.run(aggregate(OrderWithLines, order_id="a"))
    assert (found.order.order_id, [line.number for line in found.lines], found.invoice.total) == ("a", [0, 1, 2], 7)
    assert shape(sent.taken()) == ["query"]
    other = store.run(aggregate(OrderWithLines, order_id="b", consistent=True))
    assert (other.invoice, len(other.lines)) == (None, 3)
    assert store.run(aggregate(OrderWithLines, order_id="none")) is None
    batch = store.run(aggregate(Batch, batch="x"))
    assert (batch.order.order_id, len(batch.lines)) == ("a", 4)
    assert batch == Batch(order=batch.order, lines=batch.lines)


def test_an_aggregate_reads_all_pages(store: Any) -> None:
    for n in range(3, 60):
        store.run(create(Line(order="a", number=n, sku="s")))
    op = aggregate(OrderWithLines, order_id="a")
    op = op.changed(source=op.source.changed(budget=7))
    assert [line.number for line in store.run(op).lines] == list(range(60))


def test_an_item_that_an_aggregate_has_no_place_for_is_not_left_out_silently(store: Any) -> None:
    class WithLine(Aggregate):
        order: Order
        line: Line | None

    with pytest.raises(
        StoredDataError,
        match=r"^WithLine\.line: there are several Line items, such as PK='ORDER#a', SK='LINE#001'\. "
        r"Declare it as list\[Line\]\.$",
    ):
        store.run(aggregate(WithLine, order_id="a"))
    store.run(create(Order(order_id="c", batch="x")))
    with pytest.raises(StoredDataError, match=r"Batch\.order: there are several Order items.*Read a collection\."):
        store.run(aggregate(Batch, batch="x"))


def test_an_aggregate_leaves_out_what_cannot_be_read_if_told_so(store: Any, sent: Recorder) -> None:
    key = {"PK": {"S": "ORDER#a"}, "SK": {"S": "LINE#001"}}
    name = "Shop"
    raw: Any = sent.client
    update = {"UpdateExpression": "SET #s = :s", "ExpressionAttributeNames": {"#s": "sku"}}
    raw.update_item(TableName=name, Key=key, **update, ExpressionAttributeValues={":s": {"N": "1"}})
    whole = aggregate(OrderWithLines, order_id="a")
    with pytest.raises(StoredDataError, match=r"Line\.sku"):
        store.run(whole)
    found = store.run(whole.on_unreadable("skip"))
    assert [line.number for line in found.lines] == [0, 2]
    assert [each.item["SK"] for each in found.unreadable] == [{"S": "LINE#001"}]
    assert store.run(aggregate(OrderWithLines, order_id="b").on_unreadable("skip")).unreadable == []
    root = {"PK": {"S": "ORDER#a"}, "SK": {"S": "ORDER"}}
    update["ExpressionAttributeNames"] = {"#s": "customer"}
    raw.update_item(TableName=name, Key=root, **update, ExpressionAttributeValues={":s": {"N": "1"}})
    with pytest.raises(StoredDataError, match=r"Order\.customer"):  # it exists, so it isn't None
        store.run(whole.on_unreadable("skip"))


other_table = Table("Other", key("PK", "SK"))


class Elsewhere(Entity, table=other_table):
    order_id: Id

    primary = key("ORDER#{order_id}", "ORDER")


class Numbered(Entity, table=shop, type="NUMBERED"):
    number: int

    primary = key("ORDER#{number:04}", "NUMBERED")


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: collection(Order, Elsewhere, order_id="a"),
        lambda: collection(Order, Product, order_id="a"),
        lambda: collection(Order, Numbered, order_id="a"),
        lambda: collection(Order, Line.by_run, order_id="a"),
        lambda: collection(Order.by_batch, Pin.by_board, batch="a"),
    ],
)
def test_entities_of_different_partitions_are_refused(wrong: Any) -> None:
    with pytest.raises(DesignError, match="not-one-collection"):
        wrong()


def test_other_mistakes_are_named() -> None:
    with pytest.raises(DesignError, match="consistent-index"):
        collection(Order.by_batch, Line.by_run, batch="x", consistent=True)
    with pytest.raises(DesignError, match="key-fields"):
        collection(Order, Line, order="a")

    class Alone(Aggregate):
        order: Order

    class NoRoot(Aggregate):
        lines: list[Line]
        order: Order

    class Twice(Aggregate):
        order: Order
        lines: list[Line]
        more: list[Line]

    class Plain(Aggregate):
        order: Order
        lines: list[str]

    class Unplaced(Aggregate, index=shop.GSI1):
        order: Order
        lines: list[Line]

    for kind in (Alone, NoRoot, Twice, Plain, Unplaced):
        with pytest.raises(DesignError, match="aggregate"):
            aggregate(kind, order_id="a")
