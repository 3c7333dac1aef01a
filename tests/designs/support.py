"""Runs one scenario on every kind of store: in-process and over the wire, sync and async."""

import asyncio
import inspect
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Generic, Literal, TypeAlias, TypeVar, cast, get_args

import boto3

from keyplan.data import AsyncStore, Store
from keyplan.design import Design
from keyplan.engine import Database, Engine
from keyplan.engine.wire import serve_in_thread

Mode: TypeAlias = Literal["engine", "wire", "async engine", "async wire"]
MODES: tuple[Mode, ...] = get_args(Mode)

D = TypeVar("D", bound=Design)

_session = boto3.Session("any", "any", region_name="us-east-1")


class Clock:
    """A clock that stands still until it is moved, so that requests are the same in every run."""

    def __init__(self) -> None:
        self.time = datetime(2026, 3, 1, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.time

    def advance(self, **by: float) -> None:
        """Move the clock by this time: `advance(minutes=5)`."""
        self.time += timedelta(**by)


class Recorder:
    """Passes calls on to a client, and tells a listener about each."""

    def __init__(self, client: object, listener: Callable[[str, dict[str, Any]], None]) -> None:
        self.client = client
        self.listener = listener

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def call(**request: Any) -> Any:
            self.listener(name, request)
            return getattr(self.client, name)(**request)

        return call


class Blocking:
    """An `AsyncStore` with the methods of a `Store`: each call runs an event loop until it has its answer."""

    def __init__(self, store: AsyncStore[Any]) -> None:
        self._store = store
        self._loop = asyncio.new_event_loop()

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._store, name)
        if not inspect.ismethod(found):
            return found

        def call(*args: Any, **kwargs: Any) -> Any:
            result = found(*args, **kwargs)
            if inspect.isawaitable(result):
                return self._loop.run_until_complete(result)
            return self._loop.run_until_complete(_all_of(result)) if hasattr(result, "__aiter__") else result

        return call

    def close(self) -> None:
        self._loop.run_until_complete(self._loop.shutdown_default_executor())
        self._loop.close()


async def _all_of(items: Any) -> list[Any]:
    return [item async for item in items]


@dataclass(frozen=True)
class Opened(Generic[D]):
    """A store on new tables, the client of their streams, and the store's clock."""

    store: Store[D]
    streams: object
    clock: Clock


def _unheard(name: str, request: dict[str, Any]) -> None:
    """Nobody listens."""


@contextmanager
def opened(
    design: D, mode: Mode = "engine", listener: Callable[[str, dict[str, Any]], None] = _unheard
) -> Iterator[Opened[D]]:
    """A store of this kind on new tables. `listener` is told about every request that is sent after that."""
    with _client(mode) as (client, streams):
        clock, secret = Clock(), b"of the tests"
        Store(design, client).create_tables()
        heard = Recorder(client, listener)
        if not mode.startswith("async"):
            yield Opened(Store(design, heard, clock=clock, secret=secret), streams, clock)
            return
        blocking = Blocking(AsyncStore(design, heard, clock=clock, secret=secret))
        try:
            yield Opened(cast("Store[D]", blocking), streams, clock)
        finally:
            blocking.close()


@contextmanager
def _client(mode: Mode) -> Iterator[tuple[object, object]]:
    """A client of DynamoDB and one of its streams."""
    if mode.endswith("engine"):
        with Engine() as engine:
            yield engine, engine
        return
    with (
        closing(Database()) as database,
        serve_in_thread(database) as url,
        closing(_session.client("dynamodb", endpoint_url=url)) as client,
        closing(_session.client("dynamodbstreams", endpoint_url=url)) as streams,
    ):
        yield client, streams
