"""The slice of the shop with Keyplan."""

from collections.abc import Mapping
from datetime import datetime
from typing import Literal

from keyplan.data import ConditionFailed, Refused, Store, create, delete, patch, update
from keyplan.design import (
    Count,
    Design,
    Entity,
    Id,
    Lookup,
    Query,
    Ref,
    Table,
    Version,
    batch_get,
    belongs_to,
    collection,
    counts,
    get,
    key,
    lookup,
    pattern,
    query,
    ref,
    unique,
)

shop = Table("Shop", key("PK", "SK"), indexes={"GSI1": key("GSI1PK", "GSI1SK"), "GSI2": key("GSI2PK", "GSI2SK")})


class Customer(Entity, table=shop):
    customer_id: Id
    email: str
    name: str
    orders: Count = 0

    primary = key("CUSTOMER#{customer_id}", "CUSTOMER")
    email_guard = unique("EMAIL#{email.lower}", carries="customer_id")


class Product(Entity, table=shop):
    sku: Id
    title: str
    cents: int
    stock: Count = 0

    primary = key("PRODUCT#{sku}", "PRODUCT")


class Delivery(Entity, table=shop):
    sku: Id
    delivery_id: Id
    quantity: int

    primary = key("PRODUCT#{sku}", "DELIVERY#{delivery_id}")

    @counts("stock", floor=0)
    def delivered(self) -> Ref[Product]:
        return ref(Product, sku=self.sku).adding(self.quantity)


class Numbers(Entity, table=shop):
    series: Id
    last: int = 0

    primary = key("NUMBERS#{series}", "NUMBERS")


class Order(Entity, table=shop):
    number: int
    customer_id: Id
    status: Literal["placed", "paid", "canceled"] = "placed"
    to_ship: bool = False
    cents: int
    placed_at: datetime
    version: Version = 0

    primary = key("ORDER#{number:08}", "ORDER")
    by_customer = shop.GSI1("CUSTOMER#{customer_id}", "{placed_at}#{number:08}")
    shipping = shop.GSI2("TO_SHIP", "{placed_at}#{number:08}", when="to_ship")

    @belongs_to(on_delete="refuse", count="orders")
    def customer(self) -> Ref[Customer]:
        return ref(Customer, customer_id=self.customer_id)


class Line(Entity, table=shop):
    number: int
    sku: Id
    cents: int
    quantity: int

    primary = key("ORDER#{number:08}", "LINE#{sku}")

    @counts("stock", floor=0)
    def reserved(self) -> Ref[Product]:
        return ref(Product, sku=self.sku).adding(-self.quantity)


class ShopDesign(Design):
    tables = (shop,)
    entities = (Customer, Product, Delivery, Numbers, Order, Line)

    @pattern("Get customer by e-mail address")
    def customer_by_email(self, email: str) -> Lookup[Customer]:
        return lookup(Customer.email_guard, email=email)

    @pattern("Get an order with its lines")
    def order(self, number: int) -> Query[Order | Line]:
        return collection(Order, Line, number=number, consistent=True)

    @pattern("List orders of a customer, newest first")
    def orders_of(self, customer_id: str) -> Query[Order]:
        return query(Order.by_customer, customer_id=customer_id, newest_first=True)

    @pattern("List orders to ship, oldest first")
    def to_ship(self) -> Query[Order]:
        return query(Order.shipping)


class Shop:
    refused = (Refused, LookupError)

    def __init__(self, client: object) -> None:
        self.store = Store(ShopDesign(), client)
        self.store.create_tables()
        self.store.run(create(Numbers(series="orders")))

    def add_customer(self, customer_id: str, email: str, name: str) -> None:
        self.store.run(create(Customer(customer_id=customer_id, email=email, name=name)))

    def customer_by_email(self, email: str) -> str | None:
        found = self.store.run(self.store.design.customer_by_email(email))
        return found.customer_id if found else None

    def change_email(self, customer_id: str, email: str) -> None:
        self.store.run(patch(ref(Customer, customer_id=customer_id), email=email))

    def delete_customer(self, customer_id: str) -> None:
        self.store.run(delete(ref(Customer, customer_id=customer_id)))

    def add_product(self, sku: str, title: str, cents: int) -> None:
        self.store.run(create(Product(sku=sku, title=title, cents=cents)))

    def deliver(self, sku: str, delivery_id: str, quantity: int) -> None:
        self.store.run(create(Delivery(sku=sku, delivery_id=delivery_id, quantity=quantity)))

    def stock(self, sku: str) -> int:
        product = self.store.run(get(Product, sku=sku, consistent=True))
        return product.stock if product else 0

    def place_order(self, customer_id: str, cart: Mapping[str, int]) -> int:
        products = [product for product in self.store.run(batch_get(Product, list(cart))) if product]
        if len(products) < len(cart):
            raise LookupError("no such product")
        numbers = self.store.run(get(Numbers, series="orders", consistent=True))
        last = numbers.last if numbers else 0
        cents = sum(product.cents * cart[product.sku] for product in products)
        order = Order(number=last + 1, customer_id=customer_id, cents=cents, placed_at=self.store.clock())
        lines = [Line(number=order.number, sku=p.sku, cents=p.cents, quantity=cart[p.sku]) for p in products]
        take = patch(ref(Numbers, series="orders"), where=lambda stored: stored.last == last, last=last + 1)
        try:
            self.store.transact(take, create(order), *map(create, lines))
        except ConditionFailed:
            return self.place_order(customer_id, cart)
        return order.number

    def order(self, number: int) -> tuple[str, dict[str, int]]:
        order, lines = self._parts(number)
        return order.status, {line.sku: line.quantity for line in lines}

    def _parts(self, number: int) -> tuple[Order, list[Line]]:
        items = self.store.run(self.store.design.order(number).limit(100)).items
        (order,) = (item for item in items if isinstance(item, Order))
        return order, [item for item in items if isinstance(item, Line)]

    def orders_of(self, customer_id: str, limit: int, cursor: str | None) -> tuple[list[int], str | None]:
        page = self.store.run(self.store.design.orders_of(customer_id).limit(limit).after(cursor))
        return [order.number for order in page.items], page.next

    def pay(self, number: int) -> None:
        order, _ = self._parts(number)
        order.status, order.to_ship = "paid", True
        self.store.run(update(order, where=lambda stored: stored.status == "placed"))

    def to_ship(self) -> list[int]:
        return [order.number for order in self.store.run(self.store.design.to_ship()).items]

    def cancel(self, number: int) -> None:
        order, lines = self._parts(number)
        order.status, order.to_ship = "canceled", False
        unchanged = update(order, where=lambda stored: stored.status != "canceled")
        self.store.transact(unchanged, *map(delete, lines))
