"""Shared by the tests of the five designs: a client that records calls, and tables of access patterns.

A `World` is a design with data on a database of its own, reached in-process and through boto3 over the wire. A `Case`
says what one access pattern gives and what it sends; `run_case` and `same_cost` check it.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeAlias, TypeVar

import boto3
from botocore.config import Config

from keyplan.data import Store
from keyplan.design import Design, Op, Page
from keyplan.engine import Engine
from keyplan.engine.wire import serve_in_thread

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient

D = TypeVar("D", bound=Design)

Way: TypeAlias = Literal["in-process", "wire"]
WAYS: tuple[Way, ...] = ("in-process", "wire")

_MEASURED = {
    "get_item",
    "put_item",
    "update_item",
    "delete_item",
    "query",
    "scan",
    "batch_get_item",
    "batch_write_item",
    "transact_get_items",
    "transact_write_items",
}


@dataclass(frozen=True)
class Sent:
    """A call to the database: the store's request, and the capacity that it consumed."""

    operation: str
    request: Mapping[str, Any]
    units: float

    @property
    def shown(self) -> str:
        """The operation, with the index where it reads one: `query`, `query GSI1`."""
        index = self.request.get("IndexName")
        return f"{self.operation} {index}" if index else self.operation


class Meanwhile:
    """A client that runs a function once, right before the first write."""

    def __init__(self, client: object, act: Callable[[], object]) -> None:
        self._client, self._acts = client, [act]

    def __getattr__(self, name: str) -> Any:
        if name in ("transact_write_items", "update_item") and self._acts:
            self._acts.pop()()
        return getattr(self._client, name)


class Recorder:
    """A client that forwards every call, asks for the consumed capacity, and records both."""

    def __init__(self, client: object) -> None:
        self.client = client
        self.sent: list[Sent] = []

    def __getattr__(self, name: str) -> Callable[..., Any]:
        method: Callable[..., Any] = getattr(self.client, name)
        if name not in _MEASURED:
            return method

        def call(**request: Any) -> Any:
            answer = method(**request, ReturnConsumedCapacity="TOTAL")
            consumed = answer.get("ConsumedCapacity", [])
            parts = consumed if isinstance(consumed, list) else [consumed]
            self.sent.append(Sent(name, request, sum(part["CapacityUnits"] for part in parts)))
            return answer

        return call

    @contextmanager
    def recording(self) -> Iterator[list[Sent]]:
        """Record the calls that are made within the block."""
        calls: list[Sent] = []
        before = len(self.sent)
        yield calls
        calls.extend(self.sent[before:])


@dataclass
class World(Generic[D]):
    """A design with data, as a store in the same process and as one over HTTP."""

    stores: dict[Way, Store[D]]
    recorders: dict[Way, Recorder]


@contextmanager
def world(design: D, fill: Callable[[Store[D]], object]) -> Iterator[World[D]]:
    """A fresh database with the design's tables and what `fill` writes through a store."""
    with Engine() as engine, serve_in_thread(engine.database) as url:
        wire = _boto3(url)
        recorders: dict[Way, Recorder] = {"in-process": Recorder(engine), "wire": Recorder(wire)}
        stores = {way: Store(design, recorder, secret=b"cursors of tests") for way, recorder in recorders.items()}
        stores["in-process"].create_tables()
        fill(stores["in-process"])
        yield World(stores, recorders)
        wire.close()


def _boto3(url: str) -> "DynamoDBClient":
    session = boto3.Session(region_name="us-east-1")
    return session.client("dynamodb", endpoint_url=url, config=Config(retries={"max_attempts": 0}))


def _as_is(result: Any) -> object:
    return result


@dataclass(frozen=True)
class Case:
    """An access pattern with arguments, the expected result, and the expected calls.

    `expected` is compared with `show(result)`; for a page, with `show` of each item. `sends` are the calls in order,
    with the index where one is read: `["query GSI1"]`.
    """

    pattern: str
    arguments: tuple[object, ...]
    expected: object
    sends: Sequence[str]
    show: Callable[[Any], object] = _as_is
    limit: int | None = None
    kwargs: Mapping[str, object] = field(default_factory=dict)

    @property
    def id(self) -> str:
        return f"{self.pattern}-{'-'.join(str(argument) for argument in self.arguments)}"

    def op(self, design: Design) -> Op[Any]:
        """The operation that the pattern builds."""
        op: Any = getattr(design, self.pattern)(*self.arguments, **self.kwargs)
        return op if self.limit is None else op.limit(self.limit)  # type: ignore[no-any-return]  # of any pattern


def run_case(world: World[Any], way: Way, case: Case) -> None:
    """Check the pattern's result and its calls. The first calls must be those that are shown unsent."""
    store, recorder = world.stores[way], world.recorders[way]
    op = case.op(store.design)
    shown = store.requests(op)
    with recorder.recording() as sent:
        result = store.run(op)
    found = [case.show(item) for item in result.items] if isinstance(result, Page) else case.show(result)
    assert found == case.expected
    assert [call.shown for call in sent] == list(case.sends)
    assert shown
    assert shown == [(call.operation, call.request) for call in sent[: len(shown)]]


def units(world: World[Any], way: Way, case: Case) -> float:
    """The capacity that the pattern consumes."""
    store, recorder = world.stores[way], world.recorders[way]
    with recorder.recording() as sent:
        store.run(case.op(store.design))
    return sum(call.units for call in sent)


def without_case(design: type[Design], cases: Sequence[Case]) -> list[str]:
    """The patterns of a design that no case runs."""
    tried = {case.pattern for case in cases}
    return [name for name in design.patterns if name not in tried]


def scanning(cases: Sequence[Case]) -> set[str]:
    """The patterns that read a whole table."""
    return {case.pattern for case in cases if any(call.startswith("scan") for call in case.sends)}
