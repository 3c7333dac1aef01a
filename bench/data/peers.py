"""The peers, each used as its documentation shows. A library is imported only where it is installed."""

# The libraries are not in the project's environment, so type checkers don't find them.
# mypy: disable-error-code="import-not-found, misc, call-arg, no-any-return"

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from datetime import datetime
from decimal import Decimal
from typing import Any

from bench.data.workload import INDEX, Order, Subject, Task, customer_key, key_of

REGION = "us-east-1"
ACCESS = "bench"
"""The access key and its secret."""


class _Peer:
    """What all peers share: an object that was read is kept for its updates."""

    def __init__(self) -> None:
        self._read: dict[str, Any] = {}

    def getting(self, order_id: str) -> Task:
        raise NotImplementedError

    def _known(self, order_id: str) -> Any:  # noqa: ANN401 - of the peer's own class
        if order_id not in self._read:
            self._read[order_id] = self.getting(order_id)()
        return self._read[order_id]


def pynamodb(url: str, table: str) -> Subject:
    from pynamodb import attributes
    from pynamodb.indexes import AllProjection, GlobalSecondaryIndex
    from pynamodb.models import Model

    class ByCustomer(GlobalSecondaryIndex):
        class Meta:
            index_name = INDEX
            projection = AllProjection()

        GSI1PK = attributes.UnicodeAttribute(hash_key=True)
        GSI1SK = attributes.UnicodeAttribute(range_key=True)

    class PynamoOrder(Model):
        class Meta:
            table_name = table
            host = url
            region = REGION
            aws_access_key_id = ACCESS
            aws_secret_access_key = ACCESS

        PK = attributes.UnicodeAttribute(hash_key=True)
        SK = attributes.UnicodeAttribute(range_key=True)
        GSI1PK = attributes.UnicodeAttribute()
        GSI1SK = attributes.UnicodeAttribute()
        order_id = attributes.UnicodeAttribute()
        customer_id = attributes.UnicodeAttribute()
        placed_at = attributes.UTCDateTimeAttribute()
        status = attributes.UnicodeAttribute()
        total = attributes.NumberAttribute()
        paid = attributes.BooleanAttribute()
        tags = attributes.UnicodeSetAttribute()
        note = attributes.UnicodeAttribute()
        version = attributes.VersionAttribute()
        by_customer = ByCustomer()

    class Pynamo(_Peer):
        def putting(self, values: Order) -> Task:
            made = {**values.keys, **asdict(values), "tags": set(values.tags), "total": float(values.total)}
            return PynamoOrder(**made).save

        def getting(self, order_id: str) -> Task:
            key = key_of(order_id)
            return lambda: PynamoOrder.get(key["PK"], key["SK"])

        def updating(self, order_id: str, status: str) -> Task:
            order = self._known(order_id)
            return lambda: order.update(actions=[PynamoOrder.status.set(status)])

        def querying(self, customer_id: str) -> Callable[[], Sequence[object]]:
            return lambda: list(PynamoOrder.by_customer.query(customer_key(customer_id)))

    return Pynamo()


def pydynantic(url: str, table: str) -> Subject:
    import boto3
    import pydynantic as library

    client = boto3.Session(ACCESS, ACCESS, region_name=REGION).client("dynamodb", endpoint_url=url)
    indexes = {INDEX: {"pk": "GSI1PK", "sk": "GSI1SK"}}
    shelf = library.Table(name=table, pk="PK", sk="SK", indexes=indexes, client=client)

    class PydynanticOrder(library.Entity, table=shelf, name="order"):
        order_id: str
        customer_id: str
        placed_at: datetime
        status: str
        total: Decimal
        paid: bool
        tags: set[str]
        note: str
        version: int = library.version_attr()

        class Meta:
            primary = library.key(pk="ORDER#{order_id}", sk="HEAD")
            by_customer = library.key(index=INDEX, pk="CUSTOMER#{customer_id}", sk="ORDER#{placed_at}#{order_id}")

    class Pydynantic(_Peer):
        def putting(self, values: Order) -> Task:
            order = PydynanticOrder(**asdict(values))
            return lambda: PydynanticOrder.put(order)

        def getting(self, order_id: str) -> Task:
            return lambda: PydynanticOrder.get(order_id=order_id)

        def updating(self, order_id: str, status: str) -> Task:
            return lambda: PydynanticOrder.update(order_id=order_id, set={"status": status})

        def querying(self, customer_id: str) -> Callable[[], Sequence[object]]:
            return lambda: PydynanticOrder.query.by_customer(customer_id=customer_id).all()

    return Pydynantic()


def pydynox(url: str, table: str) -> Subject:
    from pydynox import DynamoDBClient, Model, ModelConfig, attributes
    from pydynox.indexes import GlobalSecondaryIndex

    client = DynamoDBClient(region=REGION, access_key=ACCESS, secret_key=ACCESS, endpoint_url=url)

    class PydynoxOrder(Model):
        model_config = ModelConfig(table=table, client=client)
        PK = attributes.StringAttribute(partition_key=True)
        SK = attributes.StringAttribute(sort_key=True)
        GSI1PK = attributes.StringAttribute()
        GSI1SK = attributes.StringAttribute()
        order_id = attributes.StringAttribute()
        customer_id = attributes.StringAttribute()
        placed_at = attributes.DatetimeAttribute()
        status = attributes.StringAttribute()
        total = attributes.DecimalAttribute()
        paid = attributes.BooleanAttribute()
        tags = attributes.StringSetAttribute()
        note = attributes.StringAttribute()
        version = attributes.NumberAttribute()
        by_customer = GlobalSecondaryIndex(index_name=INDEX, partition_key="GSI1PK", sort_key="GSI1SK")

    class Pydynox(_Peer):
        def putting(self, values: Order) -> Task:
            order = PydynoxOrder(**values.keys, **{**asdict(values), "tags": set(values.tags)}, version=1)
            return lambda: order.sync_save()

        def getting(self, order_id: str) -> Task:
            key = key_of(order_id)
            return lambda: PydynoxOrder.sync_get(PK=key["PK"], SK=key["SK"])

        def updating(self, order_id: str, status: str) -> Task:
            # Its VersionAttribute is not kept by update(), so the condition is the caller's.
            order = self._known(order_id)

            def change() -> None:
                version = order.version
                order.sync_update(status=status, version=version + 1, condition=PydynoxOrder.version == version)

            return change

        def querying(self, customer_id: str) -> Callable[[], Sequence[object]]:
            return lambda: list(PydynoxOrder.by_customer.sync_query(GSI1PK=customer_key(customer_id)))

    return Pydynox()


def dyntastic(url: str, table: str) -> Subject:
    import os

    from dyntastic import A, Dyntastic

    os.environ.update(AWS_ACCESS_KEY_ID=ACCESS, AWS_SECRET_ACCESS_KEY=ACCESS)

    class DyntasticOrder(Dyntastic):
        __table_name__ = table
        __table_host__ = url
        __table_region__ = REGION
        __hash_key__ = "PK"
        __range_key__ = "SK"
        PK: str
        SK: str
        GSI1PK: str
        GSI1SK: str
        order_id: str
        customer_id: str
        placed_at: datetime
        status: str
        total: Decimal
        paid: bool
        tags: set[str]
        note: str
        version: int = 1

    class Dyn(_Peer):
        def putting(self, values: Order) -> Task:
            order = DyntasticOrder(**values.keys, **asdict(values))
            return lambda: order.save()

        def getting(self, order_id: str) -> Task:
            key = key_of(order_id)
            return lambda: DyntasticOrder.get(key["PK"], key["SK"])

        def updating(self, order_id: str, status: str) -> Task:
            order = self._known(order_id)

            def change() -> None:
                version = order.version
                order.update(A.status.set(status), A.version.set(version + 1), condition=A.version == version)

            return change

        def querying(self, customer_id: str) -> Callable[[], Sequence[object]]:
            return lambda: list(DyntasticOrder.query(A.GSI1PK.eq(customer_key(customer_id)), index=INDEX))

    return Dyn()


PEERS: dict[str, Callable[[str, str], Subject]] = {
    "pynamodb": pynamodb,
    "pydynantic": pydynantic,
    "pydynox": pydynox,
    "dyntastic": dyntastic,
}
