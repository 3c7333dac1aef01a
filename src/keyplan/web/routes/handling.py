"""Runs a request: makes its service, and makes it take effect once."""

from collections.abc import Callable
from contextvars import ContextVar
from functools import partial
from typing import Any

from fastapi import Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from keyplan.web.routes.once import Keyed, carried_out_once
from keyplan.web.system.access import Caller
from keyplan.web.system.running import Running
from keyplan.web.system.service import Service
from keyplan.web.system.turns import in_turn, unless_it_writes


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


async def answered(work: Callable[[], Response], *, reads: bool, at_once: bool, subject: str) -> Response:
    """The result of a request's work, which runs in a thread. A read runs on the event loop with `at_once`.

    What writes waits for a turn of the subject: the person or the address that the request is from.
    """
    if not reads:
        return await in_turn(subject, work)
    return await unless_it_writes(subject, partial(_read_at_once if at_once else run_in_threadpool, work), work)


async def _read_at_once(work: Callable[[], Response]) -> Response:
    token = _at_once.set(True)
    try:
        return work()
    except _TakesLong:
        pass
    finally:
        _at_once.reset(token)
    return await run_in_threadpool(work)
