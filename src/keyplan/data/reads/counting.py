"""Counts: the number of items of a list, without loading them where that is possible."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from keyplan.data.codec.entities import DELETING, recognize
from keyplan.data.reads.key_conditions import may_hold_others
from keyplan.data.reads.list_requests import (
    Clock,
    Source,
    entities_of,
    expires_by,
    list_request,
    page_size,
    reach,
)
from keyplan.data.reads.lists import ListReader
from keyplan.data.reads.partitions import is_spread, stages
from keyplan.data.steps import Steps, call, together
from keyplan.design.operations.queries import ItemCount, Query
from keyplan.design.operations.reading import PAGE


def count(lists: ListReader, op: ItemCount, clock: Clock) -> Steps[int]:
    """The number of items, up to the list's limit; nothing is read beyond it."""
    source, most = op.source.changed(selection=None), op.source.size
    if most is not None:
        page_size(source)
    if isinstance(source, Query) and is_spread(source):
        return (yield from _count_partitions(lists, source, most, clock))
    now = expires_by(source, clock)
    operation, request, names, left_out = list_request(lists.design, source, now)
    alike = isinstance(source, Query) and left_out is None and not may_hold_others(lists.design, source)
    if not alike and isinstance(source, Query) and lists.lacks_attributes(source):
        return (yield from _count_loaded(lists, source, most, now))
    if alike:
        request["Select"] = "COUNT"
    else:
        request = _only_keys(source, request, names)
    total = read = 0
    while True:
        if most is not None:
            request["Limit"] = reach(most - total, read, total, filtered=source.filter is not None)
        answer = yield from call(operation, dict(request))
        read += answer["ScannedCount"]
        if alike:
            total += int(answer["Count"])
        else:
            total += sum(
                recognize(entities_of(source), item) is not None
                and DELETING not in item
                and not (left_out and left_out(item))
                for item in answer["Items"]
            )
        if most is not None and total >= most:
            return most
        if "LastEvaluatedKey" not in answer:
            return total
        request["ExclusiveStartKey"] = answer["LastEvaluatedKey"]


def _count_partitions(lists: ListReader, source: Query[Any], most: int | None, clock: Clock) -> Steps[int]:
    queries = [query for stage in stages(source) for query in stage]
    if most is None:
        return sum((yield from together([count(lists, ItemCount(query), clock) for query in queries])))
    total = 0
    for query in queries:
        if total < most:
            total += yield from count(lists, ItemCount(query.limit(most - total)), clock)
    return total


def _count_loaded(lists: ListReader, source: Source, most: int | None, now: datetime | None) -> Steps[int]:
    """The count when only whole items tell which entity they are of."""
    total, start = 0, None
    while True:
        found, start = yield from lists.read(source, start, PAGE if most is None else most - total, now)
        total += len(found)
        if start is None or total == most:
            return total


def _only_keys(op: Source, request: dict[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """The request for only those attributes that tell which entity an item is of."""
    kind = entities_of(op)[0].spec.table.type_attribute
    wanted = dict.fromkeys((*names, *((kind,) if kind else ()), DELETING))
    placeholders = {f"#k{number}": name for number, name in enumerate(wanted)}
    return {
        **request,
        "ProjectionExpression": ", ".join(placeholders),
        "ExpressionAttributeNames": {**request.get("ExpressionAttributeNames", {}), **placeholders},
    }
