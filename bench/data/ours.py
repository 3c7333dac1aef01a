"""Keyplan's data layer, and its requests sent without it, on the engine or on a boto3 client."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any

from bench.data import workload
from bench.data.workload import INDEX, PARTITION, Task
from keyplan.data import Patch, Store, at, create, patch, update
from keyplan.design import Created, Design, Entity, Id, Table, Version, created, get, key, pattern, query, ref
from keyplan.design.operations.item_reads import Get
from keyplan.design.operations.queries import Query

orders = Table("orders", key("PK", "SK"), indexes={INDEX: key("GSI1PK", "GSI1SK")}, times="seconds")


class Order(Entity, table=orders):
    order_id: Id
    customer_id: Id
    placed_at: Created = created()
    status: str
    total: Decimal
    paid: bool
    tags: set[str]
    note: str
    version: Version = 0

    primary = key("ORDER#{order_id}", "HEAD")
    by_customer = orders.GSI1("CUSTOMER#{customer_id}", "ORDER#{placed_at}#{order_id}")


class Shop(Design):
    tables = (orders,)
    entities = (Order,)

    @pattern("Get an order")
    def order(self, order_id: str) -> Get[Order]:
        return get(Order, order_id=order_id)

    @pattern("Orders of a customer")
    def orders_of(self, customer_id: str) -> Query[Order]:
        return query(Order.by_customer, customer_id=customer_id)


class Keyplan:
    """Access patterns and writes, as in an application."""

    def __init__(self, client: object) -> None:
        self._store = Store(Shop(), client, secret=b"bench" * 8)
        self._read: dict[str, Order] = {}

    def putting(self, values: workload.Order) -> Task:
        entity = _entity(values)
        return lambda: self._store.run(create(entity))

    def getting(self, order_id: str) -> Task:
        return lambda: self._store.run(self._store.design.order(order_id))

    def updating(self, order_id: str, status: str) -> Task:
        if order_id not in self._read:
            found = self._store.run(self._store.design.order(order_id))
            assert found is not None
            self._read[order_id] = found
        entity = self._read[order_id]

        def change() -> object:
            entity.status = status
            return self._store.run(update(entity))

        return change

    def patching(self, order_id: str, status: str, *, whole: bool) -> Task:
        if whole:
            return lambda: self._store.run(_patch_whole(order_id, status))
        return lambda: self._store.run(_patch(order_id, status))

    def querying(self, customer_id: str) -> Callable[[], Sequence[object]]:
        return lambda: self._store.run(self._store.design.orders_of(customer_id).limit(PARTITION)).items


class Raw:
    """The requests that Keyplan would send, built beforehand, with undecoded answers."""

    def __init__(self, client: object) -> None:
        self._client: Any = client
        self._store = Store(Shop(), None, secret=b"bench" * 8)
        self._read: dict[str, Order] = {}

    def putting(self, values: workload.Order) -> Task:
        return self._call(create(_entity(values)))

    def getting(self, order_id: str) -> Task:
        task = self._call(self._store.design.order(order_id))

        def item() -> object:
            answer = task()
            assert isinstance(answer, Mapping)
            return answer.get("Item")

        return item

    def updating(self, order_id: str, status: str) -> Task:
        # A store builds the update's request; then it is told that the update succeeded.
        if order_id not in self._read:
            found = Store(Shop(), self._client).run(self._store.design.order(order_id))
            assert found is not None
            self._read[order_id] = found
        entity = self._read[order_id]
        entity.status = status
        made = update(entity)
        task = self._call(made)
        Store(Shop(), _Nodding()).run(made)
        return task

    def patching(self, order_id: str, status: str, *, whole: bool) -> Task:
        return self._call(_patch_whole(order_id, status) if whole else _patch(order_id, status))

    def querying(self, customer_id: str) -> Callable[[], Sequence[object]]:
        task = self._call(self._store.design.orders_of(customer_id).limit(PARTITION))

        def items() -> Sequence[object]:
            answer = task()
            assert isinstance(answer, Mapping)
            found: Sequence[object] = answer["Items"]
            return found

        return items

    def _call(self, operation: object) -> Task:
        ((name, request),) = self._store.requests(operation)
        method = getattr(self._client, name)
        return lambda: method(**request)


class _Nodding:
    """A client that accepts every write."""

    def update_item(self, **request: object) -> dict[str, object]:
        return {}


def _patch(order_id: str, status: str) -> Patch[Order]:
    return patch(ref(Order, order_id=order_id), lambda order: at(order.status).set(status))


def _patch_whole(order_id: str, status: str) -> Patch[Order, Order]:
    return patch(ref(Order, order_id=order_id), lambda order: at(order.status).set(status), returning="new")


def _entity(values: workload.Order) -> Order:
    return Order(
        order_id=values.order_id,
        customer_id=values.customer_id,
        placed_at=values.placed_at,
        status=values.status,
        total=values.total,
        paid=values.paid,
        tags=set(values.tags),
        note=values.note,
    )
