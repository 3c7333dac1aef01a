"""Runs one scenario on every kind of store: in-process and over the wire, sync and async.

`make test-engines` runs them on other servers, where every kind of store is over the wire.
"""

import asyncio
import inspect
import os
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any, Generic, Literal, TypeAlias, TypeVar, cast, get_args

import boto3

from keyplan.data import AsyncStore, Store
from keyplan.design import Design
from keyplan.engine import Database, Engine
from keyplan.engine.wire import serve_in_thread
from tests.engines.servers import INDEX_LAG, endpoint

Mode: TypeAlias = Literal["engine", "wire", "async engine", "async wire"]
MODES: tuple[Mode, ...] = get_args(Mode)

D = TypeVar("D", bound=Design)


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
    """Passes calls on to a client, tells a listener about each, and knows when the last write ended."""

    def __init__(self, client: object, listener: Callable[[str, dict[str, Any]], None]) -> None:
        self.client = client
        self.listener = listener
        self.written_at = 0.0

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def call(**request: Any) -> Any:
            self.listener(name, request)
            try:
                return getattr(self.client, name)(**request)
            finally:
                if "write" in name or name in ("put_item", "update_item", "delete_item"):
                    self.written_at = time.monotonic()

        return call


class Unhurried:
    """A store that begins nothing until indexes have what was written before.

    On AWS they lag behind as well, and a program that wants to read its own writes waits. What one operation sends is
    not held up: if it reads an index, it must expect one that lags behind.
    """

    def __init__(self, store: object, recorder: Recorder) -> None:
        self._store = store
        self._recorder = recorder

    def __getattr__(self, name: str) -> Any:
        self._wait()  # whoever asks for the client may make another store of it
        found = getattr(self._store, name)
        if not inspect.isroutine(found):
            return found

        def call(*args: Any, **kwargs: Any) -> Any:
            self._wait()
            return found(*args, **kwargs)

        return call

    def _wait(self) -> None:
        time.sleep(max(0.0, self._recorder.written_at + INDEX_LAG - time.monotonic()))


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
    with _client(mode) as (client, streams), ExitStack() as stack:
        clock, secret = Clock(), b"of the tests"
        Store(design, client).create_tables()
        heard = Recorder(client, listener)
        store: object = Store(design, heard, clock=clock, secret=secret)
        if mode.startswith("async"):
            blocking = Blocking(AsyncStore(design, heard, clock=clock, secret=secret))
            store = stack.enter_context(closing(blocking))
        if endpoint():
            store = Unhurried(store, heard)
        yield Opened(cast("Store[D]", store), streams, clock)


@contextmanager
def _client(mode: Mode) -> Iterator[tuple[object, object]]:
    """A client of DynamoDB and one of its streams."""
    if mode.endswith("engine") and not endpoint():
        with Engine() as engine:
            yield engine, engine
        return
    session = _session(os.environ["AWS_ACCESS_KEY_ID"])
    with (
        _address() as url,
        closing(session.client("dynamodb", endpoint_url=url)) as client,
        closing(session.client("dynamodbstreams", endpoint_url=url)) as streams,
    ):
        yield client, streams


@cache
def _session(access_key: str) -> boto3.Session:
    """A session with the credentials in the environment. To make one takes as long as a whole scenario."""
    return boto3.Session(access_key, os.environ["AWS_SECRET_ACCESS_KEY"], region_name="us-east-1")


@contextmanager
def _address() -> Iterator[str]:
    """Where there is an empty DynamoDB."""
    if found := endpoint():
        yield found
    else:
        with closing(Database()) as database, serve_in_thread(database) as url:
            yield url
