"""The same store in three ways: in the process, over HTTP by boto3, and with asyncio."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any, TypeVar

import boto3
from botocore.config import Config

from keyplan.data import AsyncStore, Store
from keyplan.design import Design
from keyplan.engine import Engine
from keyplan.engine.wire import serve_in_thread
from tests.data.support import Recorder

D = TypeVar("D", bound=Design)

WAYS = ("in-process", "wire", "asyncio")


class Awaited:
    """An `AsyncStore` whose coroutines are awaited, so that tests are written once."""

    def __init__(self, store: AsyncStore[Any]) -> None:
        self._store = store
        self._loop = asyncio.new_event_loop()

    def __getattr__(self, name: str) -> Callable[..., Any]:
        method = getattr(self._store, name)

        def call(*args: Any, **kwargs: Any) -> Any:
            if name in ("each", "pages"):
                return self._loop.run_until_complete(_all(method(*args, **kwargs)))
            return self._loop.run_until_complete(method(*args, **kwargs))

        return call

    def close(self) -> None:
        self._loop.run_until_complete(self._loop.shutdown_default_executor())
        self._loop.close()


async def _all(found: Any) -> list[Any]:
    return [each async for each in found]


@contextmanager
def store_in(way: str, design: D, clock: Callable[[], datetime]) -> Iterator[tuple[Any, Recorder]]:
    """A store of the design on a new engine with its tables, and what it sends."""
    with Engine() as engine, serve_in_thread(engine.database) as url:
        session = boto3.Session(region_name="us-east-1")
        boto = session.client("dynamodb", endpoint_url=url, config=Config(retries={"max_attempts": 0}))
        sent = Recorder(boto if way == "wire" else engine)
        Store(design, engine).create_tables()
        if way != "asyncio":
            yield Store(design, sent, clock=clock, secret=b"of the tests"), sent
        else:
            awaited = Awaited(AsyncStore(design, sent, clock=clock, secret=b"of the tests"))
            yield awaited, sent
            awaited.close()
        boto.close()
