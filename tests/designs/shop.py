# pyright: strict
"""An online shop: customers, products with stock, orders with lines and numbers without gaps, carts and reviews."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from keyplan.data import ConditionFailed, Store, create, delete, patch, update
from keyplan.design import (
    Aggregate,
    Aggregated,
    Count,
    Created,
    Design,
    Entity,
    Follow,
    Get,
    Id,
    ItemCount,
    Lookup,
    OneLine,
    Query,
    Ref,
    Refusal,
    Table,
    Ttl,
    Version,
    aggregate,
    at_least,
    at_most,
    batch_get,
    belongs_to,
    count,
    counts,
    created,
    follow,
    get,
    key,
    lookup,
    new_id,
    pattern,
    query,
    ref,
    unique,
)

shop = Table(
    "Shop",
    key("PK", "SK"),
    indexes={"GSI1": key("GSI1PK", "GSI1SK"), "GSI2": key("GSI2PK", "GSI2SK")},
    ttl="expires",
)

Name: TypeAlias = Annotated[str, OneLine(max_length=120)]
Quantity: TypeAlias = Annotated[int, Field(ge=1, le=1000)]
Price: TypeAlias = Annotated[Decimal, Field(ge=0, max_digits=8, decimal_places=2)]
Status: TypeAlias = Literal["placed", "paid", "shipped", "canceled"]

CART_KEPT = timedelta(days=7)


class Customer(Entity, table=shop):
    customer_id: Id = new_id()
    email: str
    name: Name
    orders: Count = 0

    primary = key("CUSTOMER#{customer_id}", "CUSTOMER")
    email_guard = unique(
        "EMAIL#{email.address}",
        carries="customer_id",
        refusal=Refusal("email-taken", "There is an account with this e-mail address.", field="email"),
    )


class Product(Entity, table=shop):
    sku: Id
    title: Name
    category: Id
    price: Price
    listed: bool = True
    in_stock: Count = 0
    sold: Count = 0
    reviews: Count = 0
    stars: Count = 0
    """The sum of the stars of all reviews."""
    version: Version = 0

    primary = key("PRODUCT#{sku}", "PRODUCT")
    by_price = shop.GSI1("CATEGORY#{category}", "{price:6.2}#{sku}", when="listed")


class Delivery(Entity, table=shop):
    """What came into stock."""

    sku: Id
    delivery_id: Id = new_id()
    quantity: Quantity
    at: Created = created()

    primary = key("PRODUCT#{sku}", "DELIVERY#{at}#{delivery_id}")

    @counts("in_stock", floor=0)
    def stock(self) -> Ref[Product]:
        return ref(Product, sku=self.sku).adding(self.quantity)


class Numbers(Entity, table=shop):
    """The last number that an order got."""

    series: Id = "orders"
    last: int = 0

    primary = key("NUMBERS#{series}", "NUMBERS")


class Order(Entity, table=shop):
    number: int
    customer_id: Id
    status: Status = "placed"
    to_ship: bool = False
    placed_at: datetime
    total: Price
    version: Version = 0

    primary = key("ORDER#{number:08}", "ORDER")
    by_customer = shop.GSI1("CUSTOMER#{customer_id}", "ORDER#{placed_at}#{number:08}")
    shipping = shop.GSI2("TO_SHIP", "{placed_at}#{number:08}", when="to_ship")

    @belongs_to(on_delete="refuse", count="orders")
    def customer(self) -> Ref[Customer]:
        return ref(Customer, customer_id=self.customer_id)


class Line(Entity, table=shop):
    number: int
    sku: Id
    title: Name
    price: Price
    quantity: Quantity

    primary = key("ORDER#{number:08}", "LINE#{sku}")
    by_product = shop.GSI1("SOLD#{sku}", "{number:08}")

    @belongs_to(on_delete="cascade")
    def order(self) -> Ref[Order]:
        return ref(Order, number=self.number)

    @belongs_to(on_delete="refuse", count="sold")
    def product(self) -> Ref[Product]:
        return ref(Product, sku=self.sku)

    @counts("in_stock", floor=0, refusal=Refusal("sold-out", "There aren't enough in stock.", field="quantity"))
    def reserved(self) -> Ref[Product]:
        return ref(Product, sku=self.sku).adding(-self.quantity)


class OrderWithLines(Aggregate):
    order: Order
    lines: list[Line]


class CartItem(Entity, table=shop):
    customer_id: Id
    sku: Id
    quantity: Quantity
    expires: Ttl

    primary = key("CUSTOMER#{customer_id}", "CART#{sku}")


class Review(Entity, table=shop):
    """One for each customer and product: that is its key."""

    sku: Id
    customer_id: Id
    stars: Annotated[int, Field(ge=1, le=5)]
    text: str = ""
    written_at: datetime

    primary = key("PRODUCT#{sku}", "REVIEW#{customer_id}")
    newest = shop.GSI1("REVIEWS#{sku}", "{written_at}#{customer_id}")

    @belongs_to(on_delete="cascade", count="reviews")
    def product(self) -> Ref[Product]:
        return ref(Product, sku=self.sku)

    @counts("stars")
    def rating(self) -> Ref[Product]:
        return ref(Product, sku=self.sku).adding(self.stars)


class Shop(Design):
    tables = (shop,)
    entities = (Customer, Product, Delivery, Numbers, Order, Line, CartItem, Review)

    @pattern("Get customer")
    def customer(self, customer_id: str) -> Get[Customer]:
        return get(Customer, customer_id=customer_id)

    @pattern("Get customer by e-mail address")
    def customer_by_email(self, email: str) -> Lookup[Customer]:
        return lookup(Customer.email_guard, email=email)

    @pattern("Get product")
    def product(self, sku: str) -> Get[Product]:
        return get(Product, sku=sku)

    @pattern("List products of a category, cheapest first")
    def products(self, category: str) -> Query[Product]:
        return query(Product.by_price, category=category)

    @pattern("List products of a category up to a price")
    def cheaper_than(self, category: str, price: Decimal) -> Query[Product]:
        return query(Product.by_price, category=category, price=at_most(price))

    @pattern("List deliveries of a product, newest first")
    def deliveries(self, sku: str) -> Query[Delivery]:
        return query(Delivery.primary, sku=sku, newest_first=True)

    @pattern("Get order")
    def order(self, number: int) -> Get[Order]:
        return get(Order, number=number, consistent=True)

    @pattern("Get an order with its lines")
    def order_with_lines(self, number: int) -> Aggregated[OrderWithLines]:
        return aggregate(OrderWithLines, number=number)

    @pattern("List orders of a customer, newest first")
    def orders_of(self, customer_id: str) -> Query[Order]:
        return query(Order.by_customer, customer_id=customer_id, newest_first=True)

    @pattern("List orders of a customer since a time")
    def orders_since(self, customer_id: str, since: datetime) -> Query[Order]:
        return query(Order.by_customer, customer_id=customer_id, placed_at=at_least(since))

    @pattern("List paid orders to ship, oldest first")
    def to_ship(self) -> Query[Order]:
        return query(Order.shipping)

    @pattern("Count the orders to ship")
    def shipping_backlog(self) -> ItemCount:
        return count(query(Order.shipping))

    @pattern("List orders in which a product was sold")
    def orders_with(self, sku: str) -> Follow[Order]:
        return follow(query(Line.by_product, sku=sku), lambda line: ref(Order, number=line.number), Order)

    @pattern("List the cart of a customer")
    def cart(self, customer_id: str) -> Query[CartItem]:
        return query(CartItem.primary, customer_id=customer_id)

    @pattern("List reviews of a product, newest first")
    def reviews(self, sku: str) -> Query[Review]:
        return query(Review.newest, sku=sku, newest_first=True)

    @pattern("Get the last order number")
    def numbers(self) -> Get[Numbers]:
        return get(Numbers, series="orders", consistent=True)


def place_order(store: Store[Shop], customer_id: str, cart: Mapping[str, int]) -> Order:
    """The order, with the next number; refused if a product isn't in stock. All of it is written, or nothing."""
    found = [each for each in store.run(batch_get(Product, list(cart))) if each is not None]
    if len(found) < len(cart):
        raise LookupError("there is no such product")
    last = store.run(store.design.numbers())
    if last is None:
        raise LookupError("the shop isn't open: create its Numbers")
    taken = last.last
    total = sum((each.price * cart[each.sku] for each in found), Decimal(0))
    order = Order(number=taken + 1, customer_id=customer_id, placed_at=store.clock(), total=total)
    lines = [
        Line(number=order.number, sku=each.sku, title=each.title, price=each.price, quantity=cart[each.sku])
        for each in found
    ]
    number = patch(ref(Numbers, series="orders"), where=lambda numbers: numbers.last == taken, last=taken + 1)
    try:
        store.transact(number, create(order), *map(create, lines))
    except ConditionFailed:  # somebody else took the number
        return place_order(store, customer_id, cart)
    return order


def pay(store: Store[Shop], order: Order) -> None:
    order.status, order.to_ship = "paid", True
    store.run(update(order, where=lambda stored: stored.status == "placed"))


def ship(store: Store[Shop], order: Order) -> None:
    order.status, order.to_ship = "shipped", False
    store.run(update(order, where=lambda stored: stored.status == "paid"))


def cancel(store: Store[Shop], number: int) -> None:
    """Cancel an order that wasn't shipped: its lines go, and with them what they reserved."""
    found = store.run(store.design.order_with_lines(number))
    if found is None:
        raise LookupError(f"there is no order {number}")
    found.order.status, found.order.to_ship = "canceled", False
    store.transact(update(found.order, where=lambda stored: stored.status != "shipped"), *map(delete, found.lines))
