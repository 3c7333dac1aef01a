"""The online shop: its patterns on every kind of store, and its rules."""

from collections.abc import Iterator
from decimal import Decimal
from threading import Thread

import pytest

from keyplan.data import (
    AlreadyExists,
    ConditionFailed,
    FloorReached,
    InUse,
    Store,
    UniqueViolation,
    create,
    delete,
    put,
    update,
)
from keyplan.design import InvalidValue
from tests.designs.shop import (
    CART_KEPT,
    CartItem,
    Customer,
    Delivery,
    Numbers,
    Product,
    Review,
    Shop,
    cancel,
    pay,
    place_order,
    ship,
)
from tests.designs.support import MODES, Mode, Opened, opened


def stocked(given: Opened[Shop]) -> Store[Shop]:
    """A shop with two customers, two products, and five of each in stock."""
    store = given.store
    store.run(create(Numbers()))
    for name in ("ann", "joe"):
        store.run(create(Customer(customer_id=name, email=f"{name}@example.org", name=name.capitalize())))
    for sku, price in (("ink", "5.00"), ("pen", "12.50")):
        store.run(create(Product(sku=sku, title=sku.capitalize(), category="desk", price=Decimal(price))))
        store.run(create(Delivery(sku=sku, delivery_id="d1", quantity=5, at=given.clock())))
    return store


@pytest.fixture
def store() -> Iterator[Store[Shop]]:
    with opened(Shop()) as given:
        yield stocked(given)


def in_stock(store: Store[Shop], sku: str) -> int:
    product = store.run(store.design.product(sku))
    assert product is not None
    return product.in_stock


@pytest.mark.parametrize("mode", MODES)
def test_every_pattern(mode: Mode) -> None:
    with opened(Shop(), mode) as given:
        store = stocked(given)
        ask, run = store.design, store.run
        start = given.clock()
        first = place_order(store, "ann", {"ink": 2, "pen": 1})
        given.clock.advance(hours=1)
        second = place_order(store, "ann", {"ink": 1})
        assert (first.number, second.number, first.total) == (1, 2, Decimal("22.50"))
        run(put(CartItem(customer_id="ann", sku="pen", quantity=1, expires=given.clock() + CART_KEPT)))
        run(create(Review(sku="ink", customer_id="ann", stars=4, written_at=given.clock())))
        pay(store, first)

        customer = run(ask.customer("ann"))
        assert customer is not None
        assert customer.orders == 2
        assert run(ask.customer_by_email("ANN@example.org")) == customer
        assert run(ask.customer_by_email("none@example.org")) is None
        ink = run(ask.product("ink"))
        assert ink is not None
        assert (ink.in_stock, ink.sold, ink.stars, ink.reviews) == (2, 2, 4, 1)
        assert [each.sku for each in run(ask.products("desk")).items] == ["ink", "pen"]
        assert [each.sku for each in run(ask.cheaper_than("desk", Decimal("10.00"))).items] == ["ink"]
        assert [each.quantity for each in run(ask.deliveries("ink")).items] == [5]
        assert run(ask.order(1)) == first
        whole = run(ask.order_with_lines(1))
        assert whole is not None
        assert (whole.order, [line.sku for line in whole.lines]) == (first, ["ink", "pen"])
        assert [each.number for each in run(ask.orders_of("ann")).items] == [2, 1]
        page = run(ask.orders_of("ann").limit(1))
        assert [each.number for each in run(ask.orders_of("ann").limit(1).after(page.next)).items] == [1]
        assert [each.number for each in run(ask.orders_since("ann", given.clock())).items] == [2]
        assert len(run(ask.orders_since("ann", start)).items) == 2
        assert [each.number for each in run(ask.to_ship()).items] == [1]
        assert run(ask.shipping_backlog()) == 1
        ship(store, first)
        assert run(ask.shipping_backlog()) == 0
        assert [each.number for each in run(ask.orders_with("ink")).items] == [1, 2]
        assert [each.sku for each in run(ask.cart("ann")).items] == ["pen"]
        assert [each.stars for each in run(ask.reviews("ink")).items] == [4]
        numbers = run(ask.numbers())
        assert numbers is not None
        assert numbers.last == 2
        assert store.verify() == []


def test_an_order_that_is_not_in_stock_leaves_nothing_behind(store: Store[Shop]) -> None:
    with pytest.raises(FloorReached) as refused:
        place_order(store, "ann", {"ink": 1, "pen": 6})
    assert (refused.value.entity, refused.value.constraint) == ("Line", "reserved")
    assert (in_stock(store, "ink"), in_stock(store, "pen")) == (5, 5)
    assert store.run(store.design.order(1)) is None
    assert place_order(store, "ann", {"ink": 5}).number == 1, "no number is lost"


def test_numbers_have_no_gaps_when_many_order_at_once(store: Store[Shop]) -> None:
    threads = [Thread(target=place_order, args=(store, name, {"pen": 1})) for name in ("ann", "joe") * 2]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    placed = [store.run(store.design.order(number)) for number in range(1, 6)]
    assert [order is not None for order in placed] == [True] * 4 + [False]
    assert in_stock(store, "pen") == 1


def test_a_canceled_order_gives_its_stock_back(store: Store[Shop]) -> None:
    order = place_order(store, "ann", {"ink": 2, "pen": 1})
    pay(store, order)
    cancel(store, order.number)
    assert (in_stock(store, "ink"), in_stock(store, "pen")) == (5, 5)
    assert store.run(store.design.to_ship()).items == []
    assert store.verify() == []


def test_a_shipped_order_cannot_be_canceled(store: Store[Shop]) -> None:
    order = place_order(store, "ann", {"ink": 2})
    pay(store, order)
    ship(store, order)
    with pytest.raises(ConditionFailed):
        cancel(store, order.number)
    assert in_stock(store, "ink") == 3


def test_what_was_ordered_cannot_be_deleted(store: Store[Shop]) -> None:
    place_order(store, "ann", {"ink": 1})
    customer, product = store.run(store.design.customer("ann")), store.run(store.design.product("ink"))
    assert customer is not None
    assert product is not None
    with pytest.raises(InUse):
        store.run(delete(customer))
    with pytest.raises(InUse):
        store.run(delete(product))


def test_one_review_for_each_customer(store: Store[Shop]) -> None:
    review = store.run(create(Review(sku="ink", customer_id="ann", stars=5, written_at=store.clock())))
    with pytest.raises(AlreadyExists):
        store.run(create(Review(sku="ink", customer_id="ann", stars=1, written_at=store.clock())))
    review.stars = 2
    store.run(update(review))
    ink = store.run(store.design.product("ink"))
    assert ink is not None
    assert (ink.stars, ink.reviews) == (2, 1)
    with pytest.raises(InvalidValue, match="stars"):
        store.run(create(Review(sku="ink", customer_id="joe", stars=6, written_at=store.clock())))


def test_a_product_that_is_not_listed_is_in_no_list(store: Store[Shop]) -> None:
    ink = store.run(store.design.product("ink"))
    assert ink is not None
    ink.listed = False
    store.run(update(ink))
    assert [each.sku for each in store.run(store.design.products("desk")).items] == ["pen"]


def test_an_address_is_taken_once(store: Store[Shop]) -> None:
    with pytest.raises(UniqueViolation):
        store.run(create(Customer(email="Ann@example.org", name="Ann II")))
