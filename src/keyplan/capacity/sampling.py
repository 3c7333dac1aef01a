"""How many items a real table has of each entity, and how large they are."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol, cast

from keyplan.capacity.traffic import ItemTraffic, Traffic
from keyplan.data import Item, codec_of, item_size
from keyplan.design import Design, Entity

__all__ = ["Sample", "sample_tables", "with_sample"]

_PAGE = 100


class _Client(Protocol):
    def describe_table(self, *, TableName: str) -> Mapping[str, Any]: ...  # noqa: N803 - boto3's name
    def scan(self, **request: Any) -> Mapping[str, Any]: ...  # noqa: ANN401 - boto3's own shape


@dataclass(frozen=True)
class Sample:
    """What the items of an entity are like in a table."""

    count: int
    """How many there are, by their share in the sample and the number of items in the table."""
    size: int
    """Their average size in bytes."""


def sample_tables(
    design: Design, client: object, most: int, progress: Callable[[int, int], None] = lambda done, total: None
) -> dict[str, Sample]:
    """The items of each entity, from so many items of each table. Only reads: DescribeTable and Scan.

    Mirrors and derived items are entities like others. DynamoDB counts the items of a table every six hours.
    """
    found: dict[str, Sample] = {}
    for number, table in enumerate(design.tables):
        progress(number, len(design.tables))
        entities = [entity for entity in design.entities if entity.spec.table is table]
        items = list(_items(cast(_Client, client), design.table_name(table), most))
        if items:
            described = cast(_Client, client).describe_table(TableName=design.table_name(table))["Table"]
            whole = max(int(described.get("ItemCount") or 0), len(items))
            for entity, sizes in _sizes(entities, items).items():
                found[entity] = Sample(round(len(sizes) * whole / len(items)), round(sum(sizes) / len(sizes)))
    return found


def with_sample(traffic: Traffic, sample: Mapping[str, Sample]) -> Traffic:
    """The traffic, with the number and the size of items from tables where it doesn't say them."""
    items = dict(traffic.items)
    for entity, each in sample.items():
        said = items.get(entity, ItemTraffic())
        items[entity] = replace(said, count=said.count or each.count, size=said.size or each.size)
    return replace(traffic, items=items)


def _items(client: _Client, table: str, most: int) -> Iterator[Item]:
    request: dict[str, Any] = {"TableName": table, "Limit": min(_PAGE, most)}
    read = 0
    while read < most:
        answer = client.scan(**request)
        yield from answer["Items"][: most - read]
        read += len(answer["Items"])
        if "LastEvaluatedKey" not in answer:
            return
        request["ExclusiveStartKey"] = answer["LastEvaluatedKey"]


def _sizes(entities: list[type[Entity]], items: list[Item]) -> dict[str, list[int]]:
    """The sizes of the items of each entity; items of none, such as guards, are left out."""
    sizes: dict[str, list[int]] = {}
    for item in items:
        for entity in entities:
            if codec_of(entity).recognizes(item):
                sizes.setdefault(entity.__name__, []).append(item_size(item))
                break
    return sizes
