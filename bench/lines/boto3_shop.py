"""The slice of the shop with boto3 and nothing else."""

import base64
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from boto3.dynamodb.types import TypeDeserializer, TypeSerializer

TABLE = "Shop"
_serialize = TypeSerializer().serialize
_deserialize = TypeDeserializer().deserialize


def _item(**values: object) -> dict[str, Any]:
    return {name: _serialize(value) for name, value in values.items()}


def _values(item: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _deserialize(value) for name, value in item.items()}


def _customer_key(customer_id: str) -> dict[str, Any]:
    return _item(PK=f"CUSTOMER#{customer_id}", SK="CUSTOMER")


def _guard_key(email: str) -> dict[str, Any]:
    return _item(PK=f"EMAIL#{email.lower()}", SK=f"EMAIL#{email.lower()}")


def _product_key(sku: str) -> dict[str, Any]:
    return _item(PK=f"PRODUCT#{sku}", SK="PRODUCT")


def _order_key(number: int) -> dict[str, Any]:
    return _item(PK=f"ORDER#{number:08}", SK="ORDER")


_NUMBERS = _item(PK="NUMBERS#orders", SK="NUMBERS")
_NEW = "attribute_not_exists(PK)"


class Refused(Exception):
    """A rule refused the write."""


class Shop:
    refused = Refused

    def __init__(self, client: Any) -> None:  # noqa: ANN401 - boto3 makes its clients at run time
        self.client = client
        names = ("PK", "SK", "GSI1PK", "GSI1SK", "GSI2PK", "GSI2SK")
        self.client.create_table(
            TableName=TABLE,
            BillingMode="PAY_PER_REQUEST",
            AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"} for name in names],
            KeySchema=[{"AttributeName": "PK", "KeyType": "HASH"}, {"AttributeName": "SK", "KeyType": "RANGE"}],
            GlobalSecondaryIndexes=[
                {
                    "IndexName": index,
                    "KeySchema": [
                        {"AttributeName": f"{index}PK", "KeyType": "HASH"},
                        {"AttributeName": f"{index}SK", "KeyType": "RANGE"},
                    ],
                    "Projection": {"ProjectionType": "ALL"},
                }
                for index in ("GSI1", "GSI2")
            ],
        )
        self.client.get_waiter("table_exists").wait(TableName=TABLE)
        self.client.put_item(TableName=TABLE, Item={**_NUMBERS, **_item(last=0)})

    def _transact(self, *parts: dict[str, Any]) -> None:
        for part in parts:
            for members in part.values():
                members["TableName"] = TABLE
        try:
            self.client.transact_write_items(TransactItems=list(parts))
        except self.client.exceptions.TransactionCanceledException as error:
            raise Refused(error.response["CancellationReasons"]) from error

    def _get(self, key: dict[str, Any]) -> dict[str, Any] | None:
        answer = self.client.get_item(TableName=TABLE, Key=key, ConsistentRead=True)
        return _values(answer["Item"]) if "Item" in answer else None

    def add_customer(self, customer_id: str, email: str, name: str) -> None:
        customer = _item(customer_id=customer_id, email=email, name=name, orders=0)
        self._transact(
            {"Put": {"Item": {**_customer_key(customer_id), **customer}, "ConditionExpression": _NEW}},
            {
                "Put": {
                    "Item": {**_guard_key(email), **_item(customer_id=customer_id)},
                    "ConditionExpression": _NEW,
                }
            },
        )

    def customer_by_email(self, email: str) -> str | None:
        guard = self._get(_guard_key(email))
        customer = self._get(_customer_key(guard["customer_id"])) if guard else None
        return customer["customer_id"] if customer else None

    def change_email(self, customer_id: str, email: str) -> None:
        customer = self._get(_customer_key(customer_id))
        if customer is None:
            raise Refused("no such customer")
        change = {
            "Update": {
                "Key": _customer_key(customer_id),
                "UpdateExpression": "SET email = :new",
                "ConditionExpression": "email = :old",
                "ExpressionAttributeValues": _item(**{":new": email, ":old": customer["email"]}),
            }
        }
        if email.lower() == customer["email"].lower():
            self._transact(change)
            return
        self._transact(
            change,
            {"Delete": {"Key": _guard_key(customer["email"])}},
            {
                "Put": {
                    "Item": {**_guard_key(email), **_item(customer_id=customer_id)},
                    "ConditionExpression": _NEW,
                }
            },
        )

    def delete_customer(self, customer_id: str) -> None:
        customer = self._get(_customer_key(customer_id))
        if customer is None:
            return
        self._transact(
            {
                "Delete": {
                    "Key": _customer_key(customer_id),
                    "ConditionExpression": "orders = :none AND email = :email",
                    "ExpressionAttributeValues": _item(**{":none": 0, ":email": customer["email"]}),
                }
            },
            {"Delete": {"Key": _guard_key(customer["email"])}},
        )

    def add_product(self, sku: str, title: str, cents: int) -> None:
        item = {**_product_key(sku), **_item(sku=sku, title=title, cents=cents, stock=0)}
        try:
            self.client.put_item(TableName=TABLE, Item=item, ConditionExpression=_NEW)
        except self.client.exceptions.ConditionalCheckFailedException as error:
            raise Refused("the product exists") from error

    def deliver(self, sku: str, delivery_id: str, quantity: int) -> None:
        delivery = _item(PK=f"PRODUCT#{sku}", SK=f"DELIVERY#{delivery_id}", sku=sku, quantity=quantity)
        self._transact(
            {"Put": {"Item": delivery, "ConditionExpression": _NEW}},
            {
                "Update": {
                    "Key": _product_key(sku),
                    "UpdateExpression": "ADD stock :quantity",
                    "ConditionExpression": "attribute_exists(PK)",
                    "ExpressionAttributeValues": _item(**{":quantity": quantity}),
                }
            },
        )

    def stock(self, sku: str) -> int:
        product = self._get(_product_key(sku))
        return int(product["stock"]) if product else 0

    def place_order(self, customer_id: str, cart: Mapping[str, int]) -> int:
        products = [self._get(_product_key(sku)) for sku in cart]
        found = [product for product in products if product]
        if len(found) < len(cart):
            raise Refused("no such product")
        numbers = self._get(_NUMBERS)
        last = int(numbers["last"]) if numbers else 0
        number, placed_at = last + 1, datetime.now(UTC).isoformat(timespec="milliseconds")
        order = _item(
            number=number,
            customer_id=customer_id,
            status="placed",
            cents=sum(product["cents"] * cart[product["sku"]] for product in found),
            placed_at=placed_at,
            version=1,
            GSI1PK=f"CUSTOMER#{customer_id}",
            GSI1SK=f"{placed_at}#{number:08}",
        )
        parts: list[dict[str, Any]] = [
            {
                "Update": {
                    "Key": _NUMBERS,
                    "UpdateExpression": "SET #last = :number",
                    "ConditionExpression": "#last = :last",
                    "ExpressionAttributeNames": {"#last": "last"},
                    "ExpressionAttributeValues": _item(**{":number": number, ":last": last}),
                }
            },
            {"Put": {"Item": {**_order_key(number), **order}, "ConditionExpression": _NEW}},
            {
                "Update": {
                    "Key": _customer_key(customer_id),
                    "UpdateExpression": "ADD orders :one",
                    "ConditionExpression": "attribute_exists(PK)",
                    "ExpressionAttributeValues": _item(**{":one": 1}),
                }
            },
        ]
        for product in found:
            sku, quantity = product["sku"], cart[product["sku"]]
            line = _item(number=number, sku=sku, cents=product["cents"], quantity=quantity)
            keys = _item(PK=f"ORDER#{number:08}", SK=f"LINE#{sku}")
            parts.append({"Put": {"Item": {**keys, **line}, "ConditionExpression": _NEW}})
            parts.append(
                {
                    "Update": {
                        "Key": _product_key(sku),
                        "UpdateExpression": "ADD stock :less",
                        "ConditionExpression": "stock >= :quantity",
                        "ExpressionAttributeValues": _item(**{":less": -quantity, ":quantity": quantity}),
                    }
                }
            )
        try:
            self._transact(*parts)
        except Refused as refused:
            if refused.args[0][0]["Code"] == "ConditionalCheckFailed":  # somebody else took the number
                return self.place_order(customer_id, cart)
            raise
        return number

    def _parts(self, number: int) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        answer = self.client.query(
            TableName=TABLE,
            KeyConditionExpression="PK = :pk",
            ExpressionAttributeValues=_item(**{":pk": f"ORDER#{number:08}"}),
            ConsistentRead=True,
        )
        items = [_values(item) for item in answer["Items"]]
        (order,) = (item for item in items if item["SK"] == "ORDER")
        return order, [item for item in items if item["SK"].startswith("LINE#")]

    def order(self, number: int) -> tuple[str, dict[str, int]]:
        order, lines = self._parts(number)
        return order["status"], {line["sku"]: int(line["quantity"]) for line in lines}

    def orders_of(self, customer_id: str, limit: int, cursor: str | None) -> tuple[list[int], str | None]:
        start = {"ExclusiveStartKey": json.loads(base64.b64decode(cursor))} if cursor else {}
        answer = self.client.query(
            TableName=TABLE,
            IndexName="GSI1",
            KeyConditionExpression="GSI1PK = :pk",
            ExpressionAttributeValues=_item(**{":pk": f"CUSTOMER#{customer_id}"}),
            ScanIndexForward=False,
            Limit=limit,
            **start,
        )
        last = answer.get("LastEvaluatedKey")
        following = base64.b64encode(json.dumps(last).encode()).decode() if last else None
        return [int(_values(item)["number"]) for item in answer["Items"]], following

    def pay(self, number: int) -> None:
        order, _ = self._parts(number)
        try:
            self.client.update_item(
                TableName=TABLE,
                Key=_order_key(number),
                UpdateExpression="SET #status = :paid, version = :next, GSI2PK = :queue, GSI2SK = :place",
                ConditionExpression="#status = :placed AND version = :version",
                ExpressionAttributeNames={"#status": "status"},
                ExpressionAttributeValues=_item(
                    **{
                        ":paid": "paid",
                        ":placed": "placed",
                        ":next": order["version"] + 1,
                        ":version": order["version"],
                        ":queue": "TO_SHIP",
                        ":place": f"{order['placed_at']}#{number:08}",
                    }
                ),
            )
        except self.client.exceptions.ConditionalCheckFailedException as error:
            raise Refused("the order changed") from error

    def to_ship(self) -> list[int]:
        answer = self.client.query(
            TableName=TABLE,
            IndexName="GSI2",
            KeyConditionExpression="GSI2PK = :pk",
            ExpressionAttributeValues=_item(**{":pk": "TO_SHIP"}),
        )
        return [int(_values(item)["number"]) for item in answer["Items"]]

    def cancel(self, number: int) -> None:
        order, lines = self._parts(number)
        parts: list[dict[str, Any]] = [
            {
                "Update": {
                    "Key": _order_key(number),
                    "UpdateExpression": "SET #status = :canceled, version = :next REMOVE GSI2PK, GSI2SK",
                    "ConditionExpression": "#status <> :canceled AND version = :version",
                    "ExpressionAttributeNames": {"#status": "status"},
                    "ExpressionAttributeValues": _item(
                        **{
                            ":canceled": "canceled",
                            ":next": order["version"] + 1,
                            ":version": order["version"],
                        }
                    ),
                }
            }
        ]
        for line in lines:
            key = _item(PK=line["PK"], SK=line["SK"])
            parts.append({"Delete": {"Key": key, "ConditionExpression": "attribute_exists(PK)"}})
            parts.append(
                {
                    "Update": {
                        "Key": _product_key(line["sku"]),
                        "UpdateExpression": "ADD stock :quantity",
                        "ConditionExpression": "attribute_exists(PK)",
                        "ExpressionAttributeValues": _item(**{":quantity": line["quantity"]}),
                    }
                }
            )
        self._transact(*parts)
