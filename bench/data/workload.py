"""What is measured: orders of 1 KB as typed objects. Standard library only, as peers import it too."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Literal, Protocol, TypeAlias

OperationName: TypeAlias = Literal["get", "put", "update", "patch", "patch-new", "query"]
OPERATIONS: dict[OperationName, str] = {
    "get": "get",
    "put": "put of a new item",
    "update": "update of one field under its version",
    "patch": "patch of one field by key",
    "patch-new": "the same, with the new item as an object",
    "query": "query of 100 on a GSI",
}
PATCHES: tuple[OperationName, ...] = ("patch", "patch-new")
"""Of Keyplan and its own requests only: what peers offer here differs too much."""
PARTITION = 100
INDEX = "GSI1"
_BEGAN = datetime(2026, 3, 14, 9, 26, 53, tzinfo=UTC)
_NOTE = "amber birch cedar delta ember fjord grove heron " * 13

Task: TypeAlias = Callable[[], object]
"""A call, ready to be timed; its arguments are prepared beforehand."""


@dataclass(frozen=True)
class Order:
    """The values of an order; each library has a class of its own for them."""

    order_id: str
    customer_id: str
    placed_at: datetime
    status: str
    total: Decimal
    paid: bool
    tags: frozenset[str]
    note: str

    @property
    def keys(self) -> dict[str, str]:
        """The key attributes, for libraries that do not make them."""
        return {
            **key_of(self.order_id),
            "GSI1PK": customer_key(self.customer_id),
            "GSI1SK": f"ORDER#{self.placed_at:%Y-%m-%dT%H:%M:%SZ}#{self.order_id}",
        }


def key_of(order_id: str) -> dict[str, str]:
    return {"PK": f"ORDER#{order_id}", "SK": "HEAD"}


def customer_key(customer_id: str) -> str:
    return f"CUSTOMER#{customer_id}"


def order(number: int, customer: int) -> Order:
    return Order(
        order_id=f"{number:012d}",
        customer_id=f"{customer:012d}",
        placed_at=_BEGAN + timedelta(seconds=number),
        status="CREATED",
        total=Decimal(number % 1000) + Decimal("0.5"),
        paid=number % 2 == 0,
        tags=frozenset({"amber", "birch", "cedar"}),
        note=_NOTE,
    )


class Subject(Protocol):
    """A library on an existing table. Each method prepares one call."""

    def putting(self, values: Order) -> Task: ...

    def getting(self, order_id: str) -> Task:
        """The call gives the order as an object."""

    def updating(self, order_id: str, status: str) -> Task:
        """A new status, under the version that was read or written last."""

    def querying(self, customer_id: str) -> Callable[[], Sequence[object]]:
        """The call gives the customer's orders as objects."""


class PatchSubject(Subject, Protocol):
    """A library whose patches are measured too."""

    def patching(self, order_id: str, status: str, *, whole: bool) -> Task:
        """A new status, whatever the version; with `whole`, the call gives the new order as an object."""


def table_request(name: str) -> dict[str, object]:
    attributes = ("PK", "SK", "GSI1PK", "GSI1SK")
    return {
        "TableName": name,
        "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [{"AttributeName": each, "AttributeType": "S"} for each in attributes],
        "KeySchema": _keys("PK", "SK"),
        "GlobalSecondaryIndexes": [
            {"IndexName": INDEX, "KeySchema": _keys("GSI1PK", "GSI1SK"), "Projection": {"ProjectionType": "ALL"}}
        ],
    }


def _keys(partition: str, sort: str) -> list[dict[str, str]]:
    return [{"AttributeName": partition, "KeyType": "HASH"}, {"AttributeName": sort, "KeyType": "RANGE"}]
