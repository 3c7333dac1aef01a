"""What every slice of the shop has to do, as one test that they all pass. The JavaScript one is in `scenario.mjs`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol


class AnyShop(Protocol):
    """The slice: ten features."""

    @property
    def refused(self) -> type[Exception] | tuple[type[Exception], ...]: ...
    def add_customer(self, customer_id: str, email: str, name: str) -> None: ...
    def customer_by_email(self, email: str) -> str | None: ...
    def change_email(self, customer_id: str, email: str) -> None: ...
    def delete_customer(self, customer_id: str) -> None: ...
    def add_product(self, sku: str, title: str, cents: int) -> None: ...
    def deliver(self, sku: str, delivery_id: str, quantity: int) -> None: ...
    def stock(self, sku: str) -> int: ...
    def place_order(self, customer_id: str, cart: Mapping[str, int]) -> int: ...
    def order(self, number: int) -> tuple[str, dict[str, int]]: ...
    def orders_of(self, customer_id: str, limit: int, cursor: str | None) -> tuple[list[int], str | None]: ...
    def pay(self, number: int) -> None: ...
    def to_ship(self) -> list[int]: ...
    def cancel(self, number: int) -> None: ...


FEATURES = (
    "Customers, found by e-mail address without regard to case; no two have the same, also after a change.",
    "Products, and deliveries that add to their stock; a delivery that is repeated is refused.",
    "An order of several products: order, lines, stock and number are written together, or not at all.",
    "Order numbers without gaps, also when several people order at once.",
    "No order of more than there is in stock, of a product or by a customer who doesn't exist.",
    "An order with its lines, by one query.",
    "The orders of a customer, newest first, by pages.",
    "Paying and canceling change the order only if nobody else did meanwhile; canceling returns the stock, once.",
    "The orders to ship, oldest first, from an index that has only those.",
    "A customer with orders can't be deleted; one without can, and the e-mail address is free again.",
)


def run(shop: AnyShop) -> None:
    """Check the ten features."""
    shop.add_customer("ann", "Ann@example.org", "Ann")
    shop.add_customer("joe", "joe@example.org", "Joe")
    _is_refused(shop, lambda: shop.add_customer("eve", "ANN@example.org", "Eve"))
    assert shop.customer_by_email("ann@EXAMPLE.org") == "ann"
    assert shop.customer_by_email("eve@example.org") is None
    _is_refused(shop, lambda: shop.change_email("joe", "ann@example.org"))
    shop.change_email("joe", "joe@example.com")
    assert shop.customer_by_email("joe@example.org") is None
    assert shop.customer_by_email("joe@example.com") == "joe"

    shop.add_product("ink", "Ink", 500)
    shop.add_product("pen", "Pen", 1250)
    shop.deliver("ink", "d1", 5)
    shop.deliver("pen", "d1", 2)
    _is_refused(shop, lambda: shop.deliver("pen", "d1", 2))
    assert (shop.stock("ink"), shop.stock("pen")) == (5, 2)

    assert shop.place_order("ann", {"ink": 2, "pen": 1}) == 1
    _is_refused(shop, lambda: shop.place_order("ann", {"ink": 1, "pen": 2}))
    _is_refused(shop, lambda: shop.place_order("nobody", {"ink": 1}))
    _is_refused(shop, lambda: shop.place_order("ann", {"ink": 1, "paper": 1}))
    assert (shop.stock("ink"), shop.stock("pen")) == (3, 1)
    assert shop.place_order("ann", {"ink": 1}) == 2
    assert shop.place_order("joe", {"pen": 1}) == 3
    assert shop.order(1) == ("placed", {"ink": 2, "pen": 1})

    numbers, cursor = shop.orders_of("ann", 1, None)
    assert numbers == [2]
    assert cursor is not None
    assert shop.orders_of("ann", 1, cursor)[0] == [1]

    shop.pay(1)
    shop.pay(3)
    _is_refused(shop, lambda: shop.pay(1))
    assert shop.to_ship() == [1, 3]
    shop.cancel(1)
    _is_refused(shop, lambda: shop.cancel(1))
    assert shop.to_ship() == [3]
    assert shop.order(1)[0] == "canceled"
    assert (shop.stock("ink"), shop.stock("pen")) == (4, 1)

    _is_refused(shop, lambda: shop.delete_customer("ann"))
    shop.add_customer("sue", "sue@example.org", "Sue")
    shop.delete_customer("sue")
    assert shop.customer_by_email("sue@example.org") is None
    shop.add_customer("sue2", "SUE@example.org", "Sue")


def _is_refused(shop: AnyShop, act: Callable[[], object]) -> None:
    try:
        act()
    except shop.refused:
        return
    raise AssertionError("it was not refused")
