"""What is measured: the tables, items of 1 KB and the six requests. Standard library only, as peers import it too."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias, cast

Json: TypeAlias = "dict[str, Json] | list[Json] | str | int | float | bool | None"
Item: TypeAlias = dict[str, Json]
Request: TypeAlias = dict[str, Json]
OperationName: TypeAlias = Literal["put", "get", "query", "update", "transaction", "batch"]
Fresh: TypeAlias = Callable[[], tuple[str, str]]
"""Gives the number and the group of an item that was never written before."""

READS = "Orders"
"""Filled before the measuring, then read and updated. Its size never changes, so that rounds can be compared."""
WRITES = "Events"
"""Begins empty and takes every new item."""
INDEX = "by_customer"
PARTITION = 100
ITEM_BYTES = 1024

NUMBER_MARKER = "@@NUMBER@@@@"
GROUP_MARKER = "@@GROUP@@@@@"
SPACE = 10**12
STEP = 618_033_988_747
GROUPS = 10_007


@dataclass(frozen=True)
class Operation:
    name: OperationName
    title: str
    api: str
    method: str
    expects: str | None
    """`Member=start of its value` that the answer's body must have."""


OPERATIONS: dict[OperationName, Operation] = {
    operation.name: operation
    for operation in (
        Operation("put", "put 1 KB", "PutItem", "put_item", None),
        Operation("get", "get", "GetItem", "get_item", "Item={"),
        Operation("query", "query of 100 on a GSI", "Query", "query", f"Count={PARTITION}"),
        Operation("update", "conditional update", "UpdateItem", "update_item", None),
        Operation("transaction", "transaction of 4", "TransactWriteItems", "transact_write_items", None),
        Operation("batch", "batch write of 25", "BatchWriteItem", "batch_write_item", "UnprocessedItems={}"),
    )
}


def table_request(name: str) -> Request:
    attributes = ("pk", "sk", "customer_id", "placed_at")
    return {
        "TableName": name,
        "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [{"AttributeName": attribute, "AttributeType": "S"} for attribute in attributes],
        "KeySchema": _keys("pk", "sk"),
        "GlobalSecondaryIndexes": [
            {
                "IndexName": INDEX,
                "KeySchema": _keys("customer_id", "placed_at"),
                "Projection": {"ProjectionType": "ALL"},
            }
        ],
    }


def scattered(number: int) -> str:
    """The number's place in the key space: neighbours in time are far apart in the table."""
    return f"{number * STEP % SPACE:012d}"


def fresh_numbers(first: int, step: int = 1) -> Fresh:
    """New numbers for one thread; `step` threads with their own `first` never meet."""
    number = first - step

    def take() -> tuple[str, str]:
        nonlocal number
        number += step
        place = number * STEP % SPACE
        return f"{place:012d}", f"{place % GROUPS:012d}"

    return take


def markers() -> tuple[str, str]:
    """What the load client replaces by a new number."""
    return NUMBER_MARKER, GROUP_MARKER


class Workload:
    """Requests on a table of `size` items: the index has size / 100 partitions, each spread over the whole table."""

    def __init__(self, size: int, seed: int = 7) -> None:
        self.size = size
        self.partitions = size // PARTITION
        self._random = random.Random(seed)
        self._templates = [_template(self._random, number) for number in range(64)]

    def seed_batches(self) -> Iterator[Request]:
        """BatchWriteItem requests that fill the table. The items of a partition are written far apart, as in life."""
        for first in range(0, self.size, 25):
            items: list[Json] = [
                {"PutRequest": {"Item": self._seeded(n)}} for n in range(first, min(first + 25, self.size))
            ]
            yield {"RequestItems": {READS: items}}

    def build(self, name: OperationName, fresh: Fresh) -> Request:
        """One request of this operation; each call gives another one."""
        match name:
            case "put":
                return {"TableName": WRITES, "Item": self._new(fresh)}
            case "get":
                return {"TableName": READS, "Key": self._any_key()}
            case "query":
                return self._query()
            case "update":
                return self._update()
            case "transaction":
                return self._transaction(fresh)
            case "batch":
                puts: list[Json] = [{"PutRequest": {"Item": self._new(fresh)}} for _ in range(25)]
                return {"RequestItems": {WRITES: puts}}

    def _seeded(self, number: int) -> Item:
        item = {**self._templates[number % len(self._templates)], **self._key(number)}
        item["customer_id"] = {"S": f"CUSTOMER#{number % self.partitions:012d}"}
        item["placed_at"] = {"S": f"2026-03-14T09:26:53.{number % 1_000_000:06d}Z"}
        return item

    def _new(self, fresh: Fresh) -> Item:
        number, group = fresh()
        item = dict(self._templates[self._random.getrandbits(6)])
        item["pk"] = {"S": f"ORDER#{number}"}
        item["customer_id"] = {"S": f"CUSTOMER#{group}"}
        return item

    def _any_key(self) -> Item:
        return self._key(int(self._random.random() * self.size))

    @staticmethod
    def _key(number: int) -> Item:
        return {"pk": {"S": f"ORDER#{scattered(number)}"}, "sk": {"S": "HEAD#2026"}}

    def _query(self) -> Request:
        customer = f"CUSTOMER#{int(self._random.random() * self.partitions):012d}"
        return {
            "TableName": READS,
            "IndexName": INDEX,
            "KeyConditionExpression": "customer_id = :customer",
            "ExpressionAttributeValues": {":customer": {"S": customer}},
        }

    def _update(self) -> Request:
        return {
            "TableName": READS,
            "Key": self._any_key(),
            "UpdateExpression": "SET #status = :status, version = version + :one",
            "ConditionExpression": "attribute_exists(pk) AND version >= :zero",
            "ExpressionAttributeNames": {"#status": "status"},
            "ExpressionAttributeValues": {":status": {"S": "SHIPPED"}, ":one": {"N": "1"}, ":zero": {"N": "0"}},
        }

    def _transaction(self, fresh: Fresh) -> Request:
        """An order and its guard are written, a counter goes up, and a fourth item must be there."""
        guarded = "attribute_not_exists(pk)"
        one = int(self._random.random() * self.size)
        other = (one + 1 + int(self._random.random() * (self.size - 1))) % self.size
        return {
            "TransactItems": [
                {"Put": {"TableName": WRITES, "Item": self._new(fresh), "ConditionExpression": guarded}},
                {"Put": {"TableName": WRITES, "Item": self._new(fresh), "ConditionExpression": guarded}},
                {
                    "Update": {
                        "TableName": READS,
                        "Key": self._key(one),
                        "UpdateExpression": "ADD version :one",
                        "ExpressionAttributeValues": {":one": {"N": "1"}},
                    }
                },
                {
                    "ConditionCheck": {
                        "TableName": READS,
                        "Key": self._key(other),
                        "ConditionExpression": "attribute_exists(pk)",
                    }
                },
            ]
        }


def read_once(scan: Callable[[Request], Mapping[str, object]]) -> None:
    """Read all items, by the table and by the index: what is large is not to be measured while it is taken in."""
    for source in ({}, {"IndexName": INDEX}):
        request: Request = {"TableName": READS, "Select": "COUNT", **source}
        while True:
            answer = scan(request)
            if "LastEvaluatedKey" not in answer:
                break
            request["ExclusiveStartKey"] = cast(Request, answer["LastEvaluatedKey"])


def _keys(partition: str, sort: str) -> list[Json]:
    return [{"AttributeName": partition, "KeyType": "HASH"}, {"AttributeName": sort, "KeyType": "RANGE"}]


def _template(source: random.Random, number: int) -> Item:
    """An order of exactly 1 KB by DynamoDB's rule. Mostly flat: deeper items would cost those most who decode them."""
    word = ("amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "heron")
    tags: list[Json] = [*sorted(source.sample(word, 3))]
    item: Item = {
        "pk": {"S": f"ORDER#{number:012d}"},
        "sk": {"S": "HEAD#2026"},
        "customer_id": {"S": f"CUSTOMER#{number:012d}"},
        "placed_at": {"S": f"2026-03-14T09:26:53.{number:06d}Z"},
        "status": {"S": "CREATED"},
        "version": {"N": "1"},
        "total": {"N": f"{source.randint(10, 999)}.{source.randint(1, 9)}"},
        "paid": {"BOOL": True},
        "tags": {"SS": tags},
        "address": {
            "M": {
                "street": {"S": f"{source.randint(1, 200)} {source.choice(word)} street"},
                "city": {"S": "Gdańsk"},
                "postcode": {"S": f"{source.randrange(10**5):05d}"},
            }
        },
    }
    missing = ITEM_BYTES - sum(len(name) + _size(value) for name, value in item.items()) - len("note")
    text = " ".join(source.choice(word) for _ in range(missing))
    return {**item, "note": {"S": text[:missing]}}


def _size(value: Json) -> int:
    assert isinstance(value, dict)
    ((kind, content),) = value.items()
    if kind == "M" and isinstance(content, dict):
        return 3 + sum(1 + len(name) + _size(member) for name, member in content.items())
    if kind == "SS" and isinstance(content, list):
        return sum(len(str(element)) for element in content)
    if kind == "N":
        return (len(str(content).replace(".", "")) + 1) // 2 + 1
    return 1 if kind == "BOOL" else len(str(content).encode())
