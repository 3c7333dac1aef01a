"""The outermost layer: every request gets an ID, an address, limits, a log line, and always a response."""

import asyncio
import re
import time
from collections.abc import Sequence

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from keyplan.design import make_id
from keyplan.web.models.problems import ContentTooLarge, Problem, TimedOut, TooSlow, Unexpected
from keyplan.web.models.values import size_text
from keyplan.web.pages.mounting import SystemPages
from keyplan.web.pages.rendering import PAGES, problem_response
from keyplan.web.server.addresses import client_address, line_of
from keyplan.web.server.connections import CONNECTION, Connection
from keyplan.web.settings import Settings
from keyplan.web.system.observe import Trace, current, logger, observe

_GOOD_ID = re.compile(r"[A-Za-z0-9._-]{8,64}")
_NO_SNIFFING = (b"x-content-type-options", b"nosniff")
"""On every answer: a browser takes it for what its type says, and for nothing else."""
TEMPORARY_REDIRECT = 307
FILES = "/media/"
"""Files have their own limits: they can be large, and slow connections need time."""


class _Watch:
    """The sending side of a request, which remembers the status."""

    def __init__(self, send: Send, trace: Trace, origin: bytes, *, show_capacity: bool) -> None:
        self._send = send
        self._origin = origin
        self._trace = trace
        self._show_capacity = show_capacity
        self.status = 0

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = [*message["headers"], (b"x-request-id", self._trace.request_id.encode())]
            if _NO_SNIFFING not in headers:
                headers.append(_NO_SNIFFING)
            if self.status == TEMPORARY_REDIRECT:
                headers = [(name, self._within(value) if name == b"location" else value) for name, value in headers]
            if self._show_capacity:
                headers.append((b"x-dynamodb-capacity", self._trace.capacity().encode()))
            message = {**message, "headers": headers}
        await self._send(message)

    def _within(self, location: bytes) -> bytes:
        """The path of a redirect to this server: Starlette adds missing slashes, and the host of the request."""
        return b"/" + location[len(self._origin) :].lstrip(b"/\\") if location.startswith(self._origin) else location


class Edge:
    """An application with limits. `pages` are its systems', for problems that none of them answers."""

    def __init__(
        self,
        app: ASGIApp,
        settings: Settings,
        monitoring: ASGIApp | None = None,
        pages: Sequence[SystemPages] = (),
    ) -> None:
        self._app = app
        self._settings = settings
        self._pages = {each.name: each.problem for each in pages}
        self._monitoring = monitoring

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = dict(scope["headers"])
        trace = Trace(_request_id(headers), line_of(self._address(scope)))
        scope["keyplan"] = trace
        scope["keyplan.nesting"] = self._settings.nesting_limit
        scope[PAGES] = self._pages
        origin = scope["scheme"].encode() + b"://" + headers.get(b"host", b"")
        watch = _Watch(send, trace, origin, show_capacity=self._settings.dev)
        connection: Connection | None = scope.get("state", {}).get(CONNECTION)
        token = current.set(trace)
        began = time.perf_counter()
        if connection is not None:
            connection.request_began()
        try:
            problem = await self._served(scope, receive, watch, headers)
            if problem is not None and not watch.status:
                await problem_response(scope, problem)(scope, receive, watch)
        finally:
            if connection is not None:
                connection.request_ended()
            current.reset(token)
            observe(trace, scope["method"], watch.status or 499, time.perf_counter() - began)

    async def _served(self, scope: Scope, receive: Receive, send: Send, headers: dict[bytes, bytes]) -> Problem | None:
        """The problem, if the application didn't answer it itself."""
        of_files = scope["path"].startswith(FILES)
        try:
            if b"content-length" in headers or b"transfer-encoding" in headers:
                limit = None if of_files else self._settings.body_limit
                _check_length(headers, limit)
                receive = _Body(receive, limit, self._settings)
            async with asyncio.timeout(None if of_files else self._settings.request_seconds):
                await self._app_for(scope)(scope, receive, send)
        except TimeoutError:
            return TimedOut()
        except Problem as problem:
            return problem
        except Exception:  # noqa: BLE001 - whatever it was, the caller gets an answer
            logger.exception("unexpected", extra={"fields": {"request_id": scope["keyplan"].request_id}})
            return Unexpected()
        return None

    def _app_for(self, scope: Scope) -> ASGIApp:
        server = scope.get("server")
        is_for_monitoring = self._monitoring is not None and server and server[1] == self._settings.monitor_port
        return self._monitoring if self._monitoring is not None and is_for_monitoring else self._app

    def _address(self, scope: Scope) -> str:
        peer: str = scope["client"][0] if scope.get("client") else ""
        if not self._settings.proxies:
            return peer
        forwarded = [value for name, value in scope["headers"] if name == b"x-forwarded-for"]
        return client_address(peer, forwarded, self._settings.proxies)


def _request_id(headers: dict[bytes, bytes]) -> str:
    """The caller's ID for the request if it is valid, or a new one."""
    given = headers.get(b"x-request-id", b"").decode("latin-1")
    return given if _GOOD_ID.fullmatch(given) else make_id()


def _check_length(headers: dict[bytes, bytes], limit: int | None) -> None:
    length = headers.get(b"content-length", b"")
    if limit is not None and length.isdigit() and int(length) > limit:
        raise _too_large(limit)


class _Body:
    """The receiving side of a request with a body, which may not be too long or too slow.

    Only the time that the application waits for the client counts. So a large upload may take as long as it needs, as
    long as it arrives at the lowest speed that is allowed.
    """

    def __init__(self, receive: Receive, limit: int | None, settings: Settings) -> None:
        self._receive = receive
        self._limit = limit
        self._pause = settings.body_seconds
        self._rate = settings.body_rate
        self._received = 0
        self._waited = 0.0
        self._is_complete = False

    async def __call__(self) -> Message:
        if self._is_complete:  # what follows is that the client disconnects
            return await self._receive()
        left = self._pause + self._received / self._rate - self._waited
        began = time.monotonic()
        try:
            async with asyncio.timeout(min(self._pause, left)):
                message = await self._receive()
        except TimeoutError:
            raise TooSlow from None
        self._waited += time.monotonic() - began
        self._received += len(message.get("body", b""))
        if self._limit is not None and self._received > self._limit:
            raise _too_large(self._limit)
        self._is_complete = not message.get("more_body", False)
        return message


def _too_large(limit: int) -> ContentTooLarge:
    return ContentTooLarge("body-too-large", f"This is more than can be sent at once: at most {size_text(limit)}.")
