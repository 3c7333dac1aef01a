"""What a request did: its DynamoDB calls, with capacity and purpose, its log line, and its metrics. No values."""

import json
import logging
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from typing import Any, Literal

import orjson
from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest, multiprocess

from keyplan.capacity.consumed import INDEXES, METERED, WRITES
from keyplan.data import Answer
from keyplan.web.system.runs import Run, current_run

logger = logging.getLogger("keyplan")

REQUESTS = Counter("keyplan_requests", "Requests answered", ["route", "method", "status"])
SECONDS = Histogram(
    "keyplan_request_seconds",
    "Time to answer a request",
    ["route"],
    buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10),
)
CALLS = Counter("keyplan_dynamodb_calls", "Calls to DynamoDB", ["operation", "table"])
CAPACITY = Counter("keyplan_dynamodb_capacity_units", "Capacity consumed", ["kind", "table"])


# Looking up the counter of a label takes longer than counting.
_requests = cache(REQUESTS.labels)
_seconds = cache(SECONDS.labels)
_calls = cache(CALLS.labels)
_capacity = cache(CAPACITY.labels)


@dataclass(slots=True)
class DynamoCall:
    """A call to DynamoDB, with what it consumed, as the answer says it: an entry for each table."""

    operation: str
    index: str | None
    consumed: Sequence[Mapping[str, Any]]
    milliseconds: float
    run: Run | None = None
    """What the call was for."""

    @property
    def kind(self) -> str:
        return "write" if self.operation in WRITES else "read"

    def shown(self) -> Iterator[dict[str, object]]:
        """For the log: an entry for each table, with what its indexes consumed, and the bytes of vector indexes."""
        for each in self.consumed:
            entry = {
                "operation": self.operation,
                "table": each["TableName"],
                "index": self.index,
                "units": units_of(each),
            }
            parts = [part for member in INDEXES for part in each.get(member, {}).items()]
            if indexes := {name: part["CapacityUnits"] for name, part in parts if part["CapacityUnits"]}:
                entry["indexes"] = indexes
            vectors = sum(part["VectorWriteRequestBytes"] for part in each.get("VectorIndexes", {}).values())
            if vectors := vectors + each.get("VectorSearchRequestBytes", 0):
                entry["bytes"] = vectors
            entry["ms"] = self.milliseconds
            if self.run is not None:
                entry |= {"by": ", ".join(self.run.names), "run": self.run.number}
            yield entry


def units_of(consumed: Mapping[str, Any]) -> float:
    """The units of a table, with those of its indexes."""
    units: float = consumed.get("CapacityUnits", 0.0)
    return units


@dataclass
class Trace:
    """What is known about a request while it is served."""

    request_id: str
    address: str
    route: str = ""
    calls: list[DynamoCall] = field(default_factory=list)
    runs: list[Run] = field(default_factory=list)
    """What the stores were asked for, as far as it took a call."""

    def add(self, call: DynamoCall) -> None:
        """Add a call that was made."""
        if call.run is not None and call.run.number is None:
            call.run.number = len(self.runs)
            self.runs.append(call.run)
        self.calls.append(call)

    def capacity(self) -> str:
        """The capacity so far, as a header shows it."""
        sums = {"read": 0.0, "write": 0.0}
        for call in self.calls:
            sums[call.kind] += sum(map(units_of, call.consumed))
        return f"calls={len(self.calls)}, read={sums['read']:g}, write={sums['write']:g}"


current: ContextVar[Trace | None] = ContextVar("keyplan_trace", default=None)


class ObservedClient:
    """A DynamoDB client that records its calls in the current request."""

    def __init__(self, client: object) -> None:
        self._client = client

    def __getattr__(self, name: str) -> Callable[..., Answer]:
        method: Callable[..., Answer] = getattr(self._client, name)
        if name in METERED:
            method = _observed(name, method)
        setattr(self, name, method)
        return method


def _observed(operation: str, method: Callable[..., Answer]) -> Callable[..., Answer]:
    def call(**request: Any) -> Answer:  # noqa: ANN401 - boto3's own shape
        trace = current.get()
        began = time.perf_counter()
        answer: Answer = {}
        try:
            answer = method(**{**request, "ReturnConsumedCapacity": "INDEXES"})
            return answer
        finally:
            spent = round((time.perf_counter() - began) * 1000, 3)
            made = DynamoCall(operation, request.get("IndexName"), _consumed(request, answer), spent, current_run.get())
            for each in made.consumed:
                _calls(operation, each["TableName"]).inc()
                _capacity(made.kind, each["TableName"]).inc(units_of(each))
            if trace is not None:
                trace.add(made)

    return call


def _consumed(request: dict[str, Any], answer: Answer) -> list[Mapping[str, Any]]:
    """The entries of an answer. A refused call consumes capacity, too, but DynamoDB doesn't say how much."""
    found = answer.get("ConsumedCapacity") or [{"TableName": name} for name in _tables(request)]
    if isinstance(found, list):
        return found
    return [found if "TableName" in found else {"TableName": request["TableName"], **found}]


def _tables(request: dict[str, Any]) -> Iterator[str]:
    if "TableName" in request:
        yield request["TableName"]
    yield from request.get("RequestItems", {})
    for action in request.get("TransactItems", ()):
        yield from (part["TableName"] for part in action.values())


def observe(trace: Trace, method: str, status: int, seconds: float) -> None:
    """Count and log a request that was answered."""
    route = trace.route or "other"
    _requests(route, method, str(status)).inc()
    _seconds(route).observe(seconds)
    if logger.isEnabledFor(logging.INFO):
        # Without `logger.info`, which looks for the line of code that it is called from.
        record = logging.LogRecord(logger.name, logging.INFO, __file__, 0, "request", None, None)
        record.fields = {
            "request_id": trace.request_id,
            "method": method,
            # The path of an unknown route can contain anything, so only routes are logged.
            "route": route,
            "status": status,
            "ms": round(seconds * 1000, 3),
            "dynamodb": [entry for call in trace.calls for entry in call.shown()],
            "runs": [run.shown() for run in trace.runs],
        }
        logger.handle(record)


class JsonLines(logging.Formatter):
    """Log records as lines of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "message": record.getMessage(),
            "logger": record.name,
            "process": record.process,
        }
        line |= getattr(record, "fields", {})
        if record.exc_info:
            line["error"] = self.formatException(record.exc_info)
        try:
            return orjson.dumps(line, default=str).decode()
        except TypeError:  # a lone surrogate, which only escapes can represent
            return json.dumps(line, default=str)


_COLORS = {"dim": 2, "bold": 1, "red": 31, "green": 32, "yellow": 33, "cyan": 36}


class TextLines(logging.Formatter):
    """Log records as lines for people: one for each request, with its status in color."""

    def __init__(self, *, color: bool) -> None:
        super().__init__()
        self._color = color

    def format(self, record: logging.LogRecord) -> str:
        fields: dict[str, Any] = getattr(record, "fields", {})
        at = self._in("dim", time.strftime("%H:%M:%S", time.localtime(record.created)))
        if record.getMessage() == "request" and "status" in fields:
            return f"{at}  {self._request(fields)}"
        color = "red" if record.levelno >= logging.ERROR else "yellow" if record.levelno >= logging.WARNING else "cyan"
        about = "".join(f"  {name}={value}" for name, value in fields.items())
        line = f"{at}  {self._in(color, record.levelname.lower())}  {record.getMessage()}{self._in('dim', about)}"
        return f"{line}\n{self.formatException(record.exc_info)}" if record.exc_info else line

    def _request(self, fields: dict[str, Any]) -> str:
        status = int(fields["status"])
        color = ("cyan", "green", "cyan", "yellow", "red")[min(max(status // 100, 1), 5) - 1]
        calls = fields["dynamodb"]
        units = sum(call["units"] for call in calls)
        cost = f"{len(calls)} call{'' if len(calls) == 1 else 's'}, {units:g} units" if calls else ""
        shown = f"{self._in(color, str(status))}  {fields['method']:<6} {fields['route']}"
        took = f"{fields['ms']:.0f} ms"
        return f"{shown}  {self._in('dim', f'{took}, {cost}' if cost else took)}"

    def _in(self, color: str, text: str) -> str:
        return f"\x1b[{_COLORS[color]}m{text}\x1b[0m" if self._color else text


def log_to_stderr(level: str, form: Literal["auto", "text", "json"] = "json") -> None:
    """Log to stderr, as lines of JSON or of text; `auto` is text in a terminal. NO_COLOR turns colors off."""
    in_terminal = sys.stderr.isatty()
    as_text = form == "text" or (form == "auto" and in_terminal)
    color = in_terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(TextLines(color=color) if as_text else JsonLines())
    for name in ("keyplan", "uvicorn.error"):
        log = logging.getLogger(name)
        log.handlers[:] = [handler]
        log.propagate = False
        log.setLevel(level.upper())
    if as_text:  # that it starts and stops is said elsewhere
        quiet = logging.getLogger("uvicorn.error")
        quiet.setLevel(max(quiet.level, logging.WARNING))


def metrics(several_processes: bool) -> bytes:
    """All metrics in Prometheus' text format, from all worker processes."""
    if not several_processes:
        return generate_latest()
    registry = CollectorRegistry()
    multiprocess.MultiProcessCollector(registry)  # type: ignore[no-untyped-call]  # prometheus_client is half typed
    return generate_latest(registry)
