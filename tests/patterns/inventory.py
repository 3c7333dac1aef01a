# pyright: strict
"""# Inventory

Stock that is never sold twice. Deliveries add to a product's number, reservations take from it, and a reservation that
would take it below zero is refused; all of it in one transaction, without reading first.

Use it for stock, seats, tickets, quotas, account balances: numbers that are the sum of entries.

**Not for** a product that thousands buy in the same second: they all write the same item, which takes about 1000 writes
a second. Split the stock over several items (see [write sharding](write_sharding.md)).
"""

from typing import Annotated

import pytest
from pydantic import Field

from keyplan.data import FloorReached, ParentMissing, Store, create, delete
from keyplan.design import (
    Count,
    Design,
    Entity,
    Get,
    Id,
    Query,
    Ref,
    Table,
    counts,
    get,
    key,
    new_id,
    pattern,
    query,
    ref,
)

warehouse = Table("Warehouse", key("PK", "SK"))


class Product(Entity, table=warehouse):
    sku: Id
    available: Count = 0

    primary = key("PRODUCT#{sku}", "PRODUCT")


class Delivery(Entity, table=warehouse):
    sku: Id
    delivery_id: Id = new_id()
    quantity: Annotated[int, Field(ge=1)]

    primary = key("PRODUCT#{sku}", "DELIVERY#{delivery_id}")

    @counts("available", floor=0)
    def stock(self) -> Ref[Product]:
        return ref(Product, sku=self.sku).adding(self.quantity)


class Reservation(Entity, table=warehouse):
    sku: Id
    order_id: Id
    quantity: Annotated[int, Field(ge=1)]

    primary = key("PRODUCT#{sku}", "ORDER#{order_id}")

    @counts("available", floor=0)
    def stock(self) -> Ref[Product]:
        return ref(Product, sku=self.sku).adding(-self.quantity)


class Warehouse(Design):
    tables = (warehouse,)
    entities = (Product, Delivery, Reservation)

    @pattern("Get product with its stock")
    def product(self, sku: str) -> Get[Product]:
        return get(Product, sku=sku, consistent=True)

    @pattern("List reservations of a product")
    def reservations(self, sku: str) -> Query[Reservation]:
        return query(Reservation.primary, sku=sku)


def use(store: Store[Warehouse]) -> None:
    """The entries are the truth, and the number follows from them: `verify` recounts it, and `repair` corrects it."""
    for sku in ("ink", "pen"):
        store.run(create(Product(sku=sku)))
        store.run(create(Delivery(sku=sku, quantity=5)))
    cart = {"ink": 2, "pen": 4}
    store.transact(*(create(Reservation(sku=sku, order_id="1", quantity=n)) for sku, n in cart.items()))
    with pytest.raises(FloorReached):  # a second order of both: neither is reserved
        store.transact(*(create(Reservation(sku=sku, order_id="2", quantity=n)) for sku, n in cart.items()))

    with pytest.raises(ParentMissing):
        store.run(create(Reservation(sku="paper", order_id="3", quantity=1)))

    pen = store.run(store.design.product("pen"))
    assert pen is not None
    assert pen.available == 1
    (reserved,) = store.run(store.design.reservations("pen")).items
    store.run(delete(reserved))  # the order was canceled: back into stock
    assert store.verify() == []
