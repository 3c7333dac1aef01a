"""`/healthz`, `/readyz` and `/metrics`: never in the way of anybody, however often they are asked for."""

import asyncio
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import timedelta
from typing import Any, Generic, TypeVar

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Route

from keyplan.data import create, delete
from keyplan.design import HOUSEKEEPING, Entity, Id, Ttl, get, key, new_id, ref
from keyplan.web.models.problems import Unavailable
from keyplan.web.settings import Settings
from keyplan.web.system.observe import metrics
from keyplan.web.system.running import Running

T = TypeVar("T")

_LONGEST_CHECK = 5.0
"""A database that takes longer than this, in seconds, isn't ready."""


def health_route() -> BaseRoute:
    """`/healthz`: whether the event loop runs. It waits for nothing else, neither threads nor storage."""

    async def healthz(request: Request) -> Response:
        return PlainTextResponse("ok\n")

    return Route("/healthz", healthz)


def monitoring_routes(systems: Sequence[Running[Any]], settings: Settings) -> list[BaseRoute]:
    """`/readyz` and `/metrics`. Each is worked out once for all who ask at the same time, in a thread of its own."""
    ready = _Shared(lambda: _check(systems), settings.monitor_seconds)
    counted = _Shared(lambda: metrics(settings.workers > 1), settings.monitor_seconds)

    async def readyz(request: Request) -> Response:
        try:
            async with asyncio.timeout(_LONGEST_CHECK):
                await ready.result()
        except Exception as error:
            raise Unavailable("not-ready", "The database isn't responding correctly.") from error
        return PlainTextResponse("ready\n")

    async def show_metrics(request: Request) -> Response:
        return Response(await counted.result(), media_type="text/plain; version=0.0.4; charset=utf-8")

    return [Route("/readyz", readyz), Route("/metrics", show_metrics)]


class _Shared(Generic[T]):
    """A result that is worked out at most once at a time, and then used again for some seconds."""

    def __init__(self, work: Callable[[], T], seconds: float) -> None:
        self._work = work
        self._seconds = seconds
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="keyplan-monitoring")
        self._future: Future[T] | None = None
        self._until = 0.0

    async def result(self) -> T:
        if self._future is None or (self._future.done() and time.monotonic() >= self._until):
            self._future = self._thread.submit(self._worked_out)
        # Shielded: a caller who no longer waits doesn't end it for the others.
        return await asyncio.shield(asyncio.wrap_future(self._future))

    def _worked_out(self) -> T:
        try:
            return self._work()
        finally:
            self._until = time.monotonic() + self._seconds


def _check(systems: Sequence[Running[Any]]) -> None:
    for each in systems:
        _write_and_read(each)


class Probe(Entity, table=HOUSEKEEPING):
    """An item that is written to find out whether the system can write."""

    mark: Id = new_id()
    expires_at: Ttl

    primary = key("READY", "{mark}")


def _write_and_read(system: Running[Any]) -> None:
    store, probe = system.store, Probe(expires_at=system.store.clock() + timedelta(hours=1))
    store.run(create(probe))
    if store.run(get(Probe, consistent=True, mark=probe.mark)) is None:
        raise RuntimeError("a test item was written but can't be read")
    store.run(delete(ref(Probe, mark=probe.mark)))
