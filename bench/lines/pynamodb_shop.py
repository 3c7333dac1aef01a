"""The slice of the shop with PynamoDB 6, in one table, with its discriminator for the kinds of items."""

# The library isn't in the project's environment, so type checkers don't find it.
# mypy: ignore-errors

import base64
import json
import os
from collections.abc import Mapping
from datetime import UTC, datetime

from pynamodb.attributes import DiscriminatorAttribute, NumberAttribute, UnicodeAttribute, VersionAttribute
from pynamodb.connection import Connection
from pynamodb.exceptions import DoesNotExist, PutError, TransactWriteError, UpdateError
from pynamodb.indexes import AllProjection, GlobalSecondaryIndex
from pynamodb.models import Model
from pynamodb.transactions import TransactWrite

HOST, REGION = os.environ["SHOP_ENDPOINT"], "us-east-1"


class ByCustomer(GlobalSecondaryIndex):
    class Meta:
        index_name = "GSI1"
        projection = AllProjection()

    GSI1PK = UnicodeAttribute(hash_key=True)
    GSI1SK = UnicodeAttribute(range_key=True)


class ToShip(GlobalSecondaryIndex):
    class Meta:
        index_name = "GSI2"
        projection = AllProjection()

    GSI2PK = UnicodeAttribute(hash_key=True)
    GSI2SK = UnicodeAttribute(range_key=True)


class Item(Model):
    class Meta:
        table_name = "Shop"
        host = HOST
        region = REGION
        billing_mode = "PAY_PER_REQUEST"

    PK = UnicodeAttribute(hash_key=True)
    SK = UnicodeAttribute(range_key=True)
    kind = DiscriminatorAttribute()
    GSI1PK = UnicodeAttribute(null=True)
    GSI1SK = UnicodeAttribute(null=True)
    GSI2PK = UnicodeAttribute(null=True)
    GSI2SK = UnicodeAttribute(null=True)
    by_customer = ByCustomer()
    shipping = ToShip()


class Customer(Item, discriminator="Customer"):
    customer_id = UnicodeAttribute()
    email = UnicodeAttribute()
    name = UnicodeAttribute()
    orders = NumberAttribute(default=0)

    @staticmethod
    def key(customer_id: str) -> tuple[str, str]:
        return f"CUSTOMER#{customer_id}", "CUSTOMER"


class EmailGuard(Item, discriminator="EmailGuard"):
    customer_id = UnicodeAttribute()

    @staticmethod
    def key(email: str) -> tuple[str, str]:
        return f"EMAIL#{email.lower()}", f"EMAIL#{email.lower()}"


class Product(Item, discriminator="Product"):
    sku = UnicodeAttribute()
    title = UnicodeAttribute()
    cents = NumberAttribute()
    stock = NumberAttribute(default=0)

    @staticmethod
    def key(sku: str) -> tuple[str, str]:
        return f"PRODUCT#{sku}", "PRODUCT"


class Delivery(Item, discriminator="Delivery"):
    sku = UnicodeAttribute()
    quantity = NumberAttribute()


class Numbers(Item, discriminator="Numbers"):
    last = NumberAttribute(default=0)


NUMBERS = ("NUMBERS#orders", "NUMBERS")


class Order(Item, discriminator="Order"):
    number = NumberAttribute()
    customer_id = UnicodeAttribute()
    status = UnicodeAttribute(default="placed")
    cents = NumberAttribute()
    placed_at = UnicodeAttribute()
    version = VersionAttribute()

    @staticmethod
    def key(number: int) -> tuple[str, str]:
        return f"ORDER#{number:08}", "ORDER"


class Line(Item, discriminator="Line"):
    number = NumberAttribute()
    sku = UnicodeAttribute()
    cents = NumberAttribute()
    quantity = NumberAttribute()


class Refused(Exception):
    """A rule refused the write."""


class Shop:
    refused = (PutError, UpdateError, TransactWriteError, Refused)

    def __init__(self) -> None:
        self.connection = Connection(region=REGION, host=HOST)
        Item.create_table(wait=True)
        Numbers(*NUMBERS).save()

    def _transaction(self) -> TransactWrite:
        return TransactWrite(connection=self.connection)

    @staticmethod
    def _get(model: type[Item], key: tuple[str, str]) -> Item | None:
        try:
            return model.get(*key, consistent_read=True)
        except DoesNotExist:
            return None

    def add_customer(self, customer_id: str, email: str, name: str) -> None:
        new = Item.PK.does_not_exist()
        with self._transaction() as write:
            write.save(
                Customer(*Customer.key(customer_id), customer_id=customer_id, email=email, name=name), condition=new
            )
            write.save(EmailGuard(*EmailGuard.key(email), customer_id=customer_id), condition=new)

    def customer_by_email(self, email: str) -> str | None:
        guard = self._get(EmailGuard, EmailGuard.key(email))
        customer = self._get(Customer, Customer.key(guard.customer_id)) if guard else None
        return customer.customer_id if customer else None

    def change_email(self, customer_id: str, email: str) -> None:
        customer = self._get(Customer, Customer.key(customer_id))
        if customer is None:
            raise Refused("no such customer")
        old = customer.email
        with self._transaction() as write:
            write.update(customer, actions=[Customer.email.set(email)], condition=Customer.email == old)
            if email.lower() != old.lower():
                write.delete(EmailGuard(*EmailGuard.key(old)))
                guard = EmailGuard(*EmailGuard.key(email), customer_id=customer_id)
                write.save(guard, condition=Item.PK.does_not_exist())

    def delete_customer(self, customer_id: str) -> None:
        customer = self._get(Customer, Customer.key(customer_id))
        if customer is None:
            return
        with self._transaction() as write:
            write.delete(customer, condition=(Customer.orders == 0) & (Customer.email == customer.email))
            write.delete(EmailGuard(*EmailGuard.key(customer.email)))

    def add_product(self, sku: str, title: str, cents: int) -> None:
        Product(*Product.key(sku), sku=sku, title=title, cents=cents).save(condition=Item.PK.does_not_exist())

    def deliver(self, sku: str, delivery_id: str, quantity: int) -> None:
        delivery = Delivery(f"PRODUCT#{sku}", f"DELIVERY#{delivery_id}", sku=sku, quantity=quantity)
        with self._transaction() as write:
            write.save(delivery, condition=Item.PK.does_not_exist())
            more = [Product.stock.add(quantity)]
            write.update(Product(*Product.key(sku)), actions=more, condition=Item.PK.exists())

    def stock(self, sku: str) -> int:
        product = self._get(Product, Product.key(sku))
        return int(product.stock) if product else 0

    def place_order(self, customer_id: str, cart: Mapping[str, int]) -> int:
        products = list(Product.batch_get([Product.key(sku) for sku in cart]))
        if len(products) < len(cart):
            raise Refused("no such product")
        numbers = self._get(Numbers, NUMBERS)
        last, new = int(numbers.last), Item.PK.does_not_exist()
        number, placed_at = last + 1, datetime.now(UTC).isoformat(timespec="milliseconds")
        order = Order(
            *Order.key(number),
            number=number,
            customer_id=customer_id,
            cents=sum(int(product.cents) * cart[product.sku] for product in products),
            placed_at=placed_at,
            GSI1PK=f"CUSTOMER#{customer_id}",
            GSI1SK=f"{placed_at}#{number:08}",
        )
        try:
            with self._transaction() as write:
                write.update(numbers, actions=[Numbers.last.set(number)], condition=Numbers.last == last)
                write.save(order, condition=new)
                one_more = [Customer.orders.add(1)]
                write.update(Customer(*Customer.key(customer_id)), actions=one_more, condition=Item.PK.exists())
                for product in products:
                    sku, quantity = product.sku, cart[product.sku]
                    line = Line(
                        f"ORDER#{number:08}",
                        f"LINE#{sku}",
                        number=number,
                        sku=sku,
                        cents=product.cents,
                        quantity=quantity,
                    )
                    write.save(line, condition=new)
                    write.update(product, actions=[Product.stock.add(-quantity)], condition=Product.stock >= quantity)
        except TransactWriteError as error:
            if error.cancellation_reasons[0] is not None:  # somebody else took the number
                return self.place_order(customer_id, cart)
            raise
        return number

    def _parts(self, number: int) -> tuple[Order, list[Line]]:
        items = list(Item.query(f"ORDER#{number:08}", consistent_read=True))
        (order,) = (item for item in items if isinstance(item, Order))
        return order, [item for item in items if isinstance(item, Line)]

    def order(self, number: int) -> tuple[str, dict[str, int]]:
        order, lines = self._parts(number)
        return order.status, {line.sku: int(line.quantity) for line in lines}

    def orders_of(self, customer_id: str, limit: int, cursor: str | None) -> tuple[list[int], str | None]:
        start = json.loads(base64.b64decode(cursor)) if cursor else None
        found = Item.by_customer.query(
            f"CUSTOMER#{customer_id}", scan_index_forward=False, limit=limit, last_evaluated_key=start
        )
        numbers = [int(order.number) for order in found]
        last = found.last_evaluated_key
        return numbers, base64.b64encode(json.dumps(last).encode()).decode() if last else None

    def pay(self, number: int) -> None:
        order, _ = self._parts(number)
        actions = [
            Order.status.set("paid"),
            Order.GSI2PK.set("TO_SHIP"),
            Order.GSI2SK.set(f"{order.placed_at}#{number:08}"),
        ]
        order.update(actions=actions, condition=Order.status == "placed")

    def to_ship(self) -> list[int]:
        return [int(order.number) for order in Item.shipping.query("TO_SHIP")]

    def cancel(self, number: int) -> None:
        order, lines = self._parts(number)
        actions = [Order.status.set("canceled"), Order.GSI2PK.remove(), Order.GSI2SK.remove()]
        with self._transaction() as write:
            write.update(order, actions=actions, condition=Order.status != "canceled")
            for line in lines:
                write.delete(line, condition=Item.PK.exists())
                back = [Product.stock.add(line.quantity)]
                write.update(Product(*Product.key(line.sku)), actions=back, condition=Item.PK.exists())
