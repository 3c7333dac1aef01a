"""Runs a request: makes its service, and makes it take effect once."""

from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

from fastapi import Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from keyplan.web.routes.once import Keyed, carried_out_once
from keyplan.web.system.access import Caller
from keyplan.web.system.running import Running
from keyplan.web.system.service import Service
from keyplan.web.system.turns import turns


def handled(
    request: Request,
    route: str,
    key: str | None,
    payload: object,
    act: Callable[[Service[Any]], Response],
) -> Response:
    """The response of a service's method; with an `Idempotency-Key`, the response to the first request with the key."""
    running: Running[Any] = request.app.state.running
    caller: Caller | None = request.state.caller
    address: str = request.scope["keyplan"].address
    if key is None:
        return act(running.service(caller, address))
    path = f"{request.url.path}?{request.url.query}"
    return carried_out_once(running, Keyed(caller, address, route, path, key, payload), act)


_at_once: ContextVar[bool] = ContextVar("keyplan_at_once", default=False)


class _TakesLong(Exception):
    """The work has to run in a thread instead of the event loop."""


def takes_long() -> None:
    """Declare that what follows is slow. A read that runs on the event loop then starts again in a thread."""
    if _at_once.get():
        raise _TakesLong


async def answered(work: Callable[[], Response], *, at_once: bool, writer: str | None = None) -> Response:
    """The result of a request's work, which runs in a thread, or with `at_once` on the event loop.

    `writer` is the person or the address that a request is from which writes: it waits for its turn.
    """
    if writer is not None:
        async with turns().of(writer):
            return await run_in_threadpool(work)
    if at_once:
        token = _at_once.set(True)
        try:
            return work()
        except _TakesLong:
            pass
        finally:
            _at_once.reset(token)
    return await run_in_threadpool(work)
