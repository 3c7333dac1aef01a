"""Alarms and a dashboard, on the metrics that DynamoDB and Lambda send to CloudWatch.

AWS: "DynamoDB Metrics and dimensions": `ReadThrottleEvents` and `WriteThrottleEvents` are counted by table, or by
table and global index; `SystemErrors` and `SuccessfulRequestLatency` by table and operation. AWS: "Types of metrics
for Lambda functions": `IteratorAge` is the age in milliseconds of the last record of a batch from a stream. What is
counted by operation is added up by a query: AWS: "CloudWatch Metrics Insights query components and syntax", and in
graphs "Using search expressions".
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from keyplan.publish.shapes import TableShape, identifier

DYNAMODB, LAMBDA = "AWS/DynamoDB", "AWS/Lambda"
_MINUTE = 60
OLDEST_RECORD = 10 * _MINUTE * 1000
"""Milliseconds that a record of a stream may wait. After 24 hours, it would be lost."""
_WIDTH, _HEIGHT = 12, 6
"""The size of a widget; a dashboard is 24 wide."""


@dataclass(frozen=True)
class FunctionName:
    """The name of the function that reads a stream, which is known when the stack is deployed."""

    reader: str


@dataclass(frozen=True)
class Metric:
    """A metric of CloudWatch."""

    namespace: str
    name: str
    dimensions: tuple[tuple[str, str | FunctionName], ...]
    statistic: str = "Sum"


@dataclass(frozen=True)
class Alarm:
    """An alarm on a metric, on the sum of several, or on a query."""

    id: str
    name: str
    """Its name in an account, where names can't be made from those of a stack."""
    purpose: str
    watched: tuple[Metric, ...] | str
    above: int
    """It is raised when a period has more than this."""
    periods: int
    """In how many periods of a minute in a row."""


@dataclass(frozen=True)
class Widget:
    """A graph of metrics and search expressions."""

    title: str
    metrics: tuple[Metric | str, ...]


@dataclass(frozen=True)
class Dashboard:
    """A dashboard: two graphs in a row."""

    id: str
    name: str
    widgets: tuple[Widget, ...]


def alarms_of(tables: Sequence[TableShape], readers: Sequence[tuple[str, str, str]]) -> Iterator[Alarm]:
    """The alarms of tables, and of the readers of their streams: id, name, and the name of the table."""
    for table in tables:
        base = table.id.removesuffix("Table")
        purpose = f"Requests to {table.name} are throttled."
        yield Alarm(f"{base}Throttles", f"{table.name}: throttled", purpose, _throttles(table.name), 0, 5)
        for index in table.indexes:
            if not index.local:
                purpose = f"Index {index.name} of {table.name} is throttled, and with it writes of the table."
                id, name = f"{base}Index{identifier(index.name)}Throttles", f"{table.name}, {index.name}: throttled"
                yield Alarm(id, name, purpose, _throttles(table.name, index.name), 0, 5)
        schema = f'SCHEMA("{DYNAMODB}", Operation, TableName)'
        errors = f"SELECT SUM(SystemErrors) FROM {schema} WHERE TableName = '{table.name}'"
        purpose = f"DynamoDB can't answer requests to {table.name}."
        yield Alarm(f"{base}SystemErrors", f"{table.name}: system errors", purpose, errors, 0, 2)
    for id, name, read in readers:
        age = Metric(LAMBDA, "IteratorAge", (("FunctionName", FunctionName(id)),), "Maximum")
        purpose = f"{name} is more than 10 minutes behind the stream, which keeps records for 24 hours."
        yield Alarm(f"{id}IteratorAge", f"{read}: {name} is behind", purpose, (age,), OLDEST_RECORD, 5)


def _throttles(table: str, index: str | None = None) -> tuple[Metric, ...]:
    dimensions = _dimensions(table, index)
    return tuple(Metric(DYNAMODB, name, dimensions) for name in ("ReadThrottleEvents", "WriteThrottleEvents"))


def _dimensions(table: str, index: str | None = None) -> tuple[tuple[str, str], ...]:
    return (("TableName", table), *((("GlobalSecondaryIndexName", index),) if index else ()))


def dashboard_of(tables: Sequence[TableShape]) -> Dashboard:
    """The dashboard of a design, named after its first table: capacity, throttling, latency and errors of each."""
    name = re.sub(r"[^A-Za-z0-9_-]", "-", tables[0].name)
    return Dashboard("Dashboard", name, tuple(widget for table in tables for widget in _widgets(table)))


def _widgets(table: TableShape) -> Iterator[Widget]:
    parts = (None, *(index.name for index in table.indexes if not index.local))
    used = tuple(
        Metric(DYNAMODB, f"Consumed{kind}CapacityUnits", _dimensions(table.name, part))
        for part in parts
        for kind in ("Read", "Write")
    )
    throttled = tuple(metric for part in parts for metric in _throttles(table.name, part))
    refused = ("ConditionalCheckFailedRequests", "TransactionConflict")
    yield Widget(f"{table.name}: consumed capacity", used)
    yield Widget(f"{table.name}: throttled", throttled)
    yield Widget(f"{table.name}: latency, 99th percentile", (_search(table.name, "SuccessfulRequestLatency", "p99"),))
    yield Widget(
        f"{table.name}: errors, failed conditions, conflicts",
        (
            _search(table.name, "SystemErrors", "Sum"),
            *(Metric(DYNAMODB, name, _dimensions(table.name)) for name in refused),
        ),
    )


def _search(table: str, metric: str, statistic: str) -> str:
    """The metric of each operation on a table."""
    return (
        f'SEARCH(\'{{{DYNAMODB},Operation,TableName}} MetricName="{metric}" TableName="{table}"\', '
        f"'{statistic}', {_MINUTE})"
    )


def dashboard_body(dashboard: Dashboard, region: object) -> dict[str, Any]:
    """A dashboard as CloudWatch takes it. AWS: "Dashboard body structure and syntax"."""
    widgets = [_widget(widget, position, region) for position, widget in enumerate(dashboard.widgets)]
    return {"widgets": widgets}


def _widget(widget: Widget, position: int, region: object) -> dict[str, Any]:
    return {
        "type": "metric",
        "x": position % 2 * _WIDTH,
        "y": position // 2 * _HEIGHT,
        "width": _WIDTH,
        "height": _HEIGHT,
        "properties": {
            "title": widget.title,
            "region": region,
            "view": "timeSeries",
            "period": _MINUTE,
            "metrics": [_graph(each) for each in widget.metrics],
        },
    }


def _graph(metric: Metric | str) -> list[object]:
    if isinstance(metric, str):
        return [{"expression": metric}]
    dimensions = (part for pair in metric.dimensions for part in pair)
    return [metric.namespace, metric.name, *dimensions, {"stat": metric.statistic}]
