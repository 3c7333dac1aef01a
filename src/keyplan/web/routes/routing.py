"""The methods of a path, and applications that are made when they are needed."""

import threading
from collections.abc import Callable

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.routing import Match
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from keyplan.web.models.problems import WrongMethod


def wrong_method(request: Request) -> WrongMethod:
    """The problem for a method that a path doesn't support. `Allow` has the methods of all its routes."""
    found: set[str] = set()
    for route in request.app.routes:
        if route.matches(request.scope)[0] is not Match.NONE:
            found |= getattr(route, "methods", None) or set()
    return only(*found, *(["HEAD"] if "GET" in found else []))


def only(*methods: str) -> WrongMethod:
    """The problem for a method other than these."""
    allowed = ", ".join(sorted(set(methods)))
    return WrongMethod("wrong-method", f"Allowed methods: {allowed}.", headers={"Allow": allowed})


class HeadAsGet:
    """An application that answers HEAD like GET, with the same headers and without the body."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "HEAD":
            await self._app(scope, receive, send)
            return

        async def without_body(message: Message) -> None:
            await send({**message, "body": b""} if message["type"] == "http.response.body" else message)

        await self._app({**scope, "method": "GET"}, receive, without_body)


class Later:
    """An application that is made with its first request, so that the server starts quickly."""

    def __init__(self, make: Callable[[], ASGIApp]) -> None:
        self._make = make
        self._making = threading.Lock()
        self._app: ASGIApp | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._app is None:
            await run_in_threadpool(self._see_to_it)
        assert self._app is not None
        await self._app(scope, receive, send)

    def _see_to_it(self) -> None:
        with self._making:
            if self._app is None:
                self._app = self._make()
