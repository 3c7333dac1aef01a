"""Objects of large values: which of them items name, and deleting those that none names."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

from keyplan.data.codec.large import object_name
from keyplan.data.expressions.texts import Expression
from keyplan.data.steps import ObjectCall, Steps, call
from keyplan.data.writes.large import WRITTEN, object_prefix
from keyplan.data.writes.operations import Context
from keyplan.design import Design, Table


def sweep_objects(context: Context, older_than: timedelta) -> Steps[int]:
    """Delete the objects that no item names and that are older than this; returns how many.

    Names are listed before the items are read, and an object belongs to one item for good. So what is older than any
    write takes, and isn't named, was replaced, or its item was deleted or never written.
    """
    limit, deleted = context.now - older_than, 0
    for table in context.design.all_tables:
        specs = [entity.spec for entity in context.design.entities if entity.spec.table is table]
        attributes = {field.stored for spec in specs for field in spec.large}
        if not attributes:
            continue
        listed = yield from object_names(context.design, table)
        old = {name for name in listed if _written(name) < limit}
        if old:
            old -= yield from _named(context, table, attributes)
        for name in sorted(old):
            yield ObjectCall("delete", (name,))
            deleted += 1
    return deleted


def object_names(design: Design, table: Table) -> Steps[list[str]]:
    """The names of all objects of a table's items."""
    names: Iterable[str] = yield ObjectCall("names", (object_prefix(design, table),))
    return list(names)


def _written(name: str) -> datetime:
    """When an object was written; never, for a name that isn't one of ours."""
    try:
        return datetime.strptime(name.rpartition("/")[2].partition("-")[0], WRITTEN).replace(tzinfo=UTC)
    except ValueError:
        return datetime.max.replace(tzinfo=UTC)


def _named(context: Context, table: Table, attributes: Iterable[str]) -> Steps[set[str]]:
    """The objects that the items of a table name."""
    expression = Expression()
    request: dict[str, Any] = {
        "TableName": context.design.table_name(table),
        "ConsistentRead": True,
        "ProjectionExpression": ", ".join(expression.name(name) for name in sorted(attributes)),
    } | expression.parameters()
    found: set[str] = set()
    while True:
        answer = yield from call("scan", dict(request))
        names = (object_name(value) for item in answer["Items"] for value in item.values())
        found |= {name for name in names if name is not None}
        if "LastEvaluatedKey" not in answer:
            return found
        request["ExclusiveStartKey"] = answer["LastEvaluatedKey"]
