"""Runs a request: makes its service, and makes it take effect once."""

from collections.abc import Callable
from typing import Any

from fastapi import Request
from starlette.responses import Response

from keyplan.web.routes.once import Keyed, carried_out_once
from keyplan.web.system.access import Caller
from keyplan.web.system.running import Running
from keyplan.web.system.service import Service


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
