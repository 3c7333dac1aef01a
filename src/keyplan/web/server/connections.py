"""Connections of clients: how many there may be, and how long they may take.

uvicorn has no time limit for headers, none for answers that aren't read, and no limit per address. `Connection` stands
between the socket and uvicorn's protocol and adds them. It uses only public interfaces: uvicorn accepts a protocol of
one's own, asyncio says when bytes arrive and when writing stops, and the application itself (`edge`) says when a
request begins and ends. The state of the lifespan (ASGI) connects them.
"""

import asyncio
import sys
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, nullcontext, suppress
from http import HTTPStatus
from typing import Any, cast

import uvicorn
from prometheus_client import Counter as Metric
from starlette.applications import Starlette
from starlette.types import Lifespan

from keyplan.web import compat
from keyplan.web.server.addresses import is_proxy, line_of
from keyplan.web.settings import Settings

CONNECTIONS = "keyplan.connections"
CONNECTION = "keyplan.connection"
"""The names under which the state of a request (`scope["state"]`) has these."""

_OTHER_FILES = 256
"""How many of the open files that the system allows are left for data, uploads and everything else."""
_SLOWEST_CHECK = 1.0

ENDED = Metric("keyplan_connections_ended", "Connections that were ended by a limit", ["limit"])


class Connections:
    """The connections of a process, and their limits."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.total = _total(settings)
        self._open: set[Connection] = set()
        self._by_address: Counter[str] = Counter()
        self._waiting: dict[Connection, None] = {}
        """Those without a request in progress, the one that has waited longest first."""
        self._pause = min(_SLOWEST_CHECK, settings.header_seconds / 4, settings.stall_seconds / 4)
        self._timer: asyncio.TimerHandle | None = None

    def admit(self, connection: "Connection") -> bool:
        """Count a new connection, unless there are too many. One that is waiting is closed in its favor.

        So whoever opens connections and sends nothing only loses them, and others are still served.
        """
        most, address = self.settings.connections_address, connection.address
        counted = bool(address) and not is_proxy(address, self.settings.proxies)
        if counted and 0 < most <= self._by_address[address] and not self._close_one(address):
            return False
        if len(self._open) >= self.total and not self._close_one(None):
            return False
        self._open.add(connection)
        self._by_address[address] += 1
        self.is_waiting(connection)
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(self._pause, self._check)
        return True

    def forget(self, connection: "Connection") -> None:
        """Stop counting a connection."""
        if connection in self._open:
            self._open.remove(connection)
            self._waiting.pop(connection, None)
            self._by_address[connection.address] -= 1
            if not self._by_address[connection.address]:
                del self._by_address[connection.address]

    def is_waiting(self, connection: "Connection") -> None:
        """Note that a connection has no request in progress."""
        if connection in self._open:
            self._waiting[connection] = None

    def is_busy(self, connection: "Connection") -> None:
        """Note that a connection has a request in progress."""
        self._waiting.pop(connection, None)

    def _close_one(self, address: str | None) -> bool:
        """Close the connection that has waited longest, of this address or of any. Returns whether there was one."""
        for each in self._waiting:
            if address is None or each.address == address:
                ENDED.labels("total" if address is None else "address").inc()
                self.forget(each)
                each.abort()
                return True
        return False

    def _check(self) -> None:
        loop = asyncio.get_running_loop()
        now = loop.time()
        for each in list(self._open):
            each.check(now)
        self._timer = loop.call_later(self._pause, self._check) if self._open else None


class Connection(asyncio.Protocol):
    """A client's connection. uvicorn makes one for each, and `_http` understands HTTP."""

    def __init__(
        self,
        config: uvicorn.Config,
        server_state: object,
        app_state: Mapping[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        self.address = ""
        self._connections: Connections = app_state[CONNECTIONS]
        self._loop = _loop or asyncio.get_running_loop()
        self._http = compat.http_protocol(
            self,
            self._connections.settings.header_limit,
            config=config,
            server_state=server_state,
            app_state={**app_state, CONNECTION: self},
            _loop=_loop,
        )
        self._transport: asyncio.Transport
        self._refused = False
        self._requests = 0
        self._has_sent = False
        self._headers_by: float | None = None
        """When the headers have to be complete; None between two requests, and while one is in progress."""
        self._read_by: float | None = None
        """When the client has to have read what was sent; None if it reads as fast as we send."""

    # asyncio calls these.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # uvloop's don't inherit from asyncio's
        peer = transport.get_extra_info("peername")
        self.address = line_of(peer[0]) if isinstance(peer, tuple) else ""
        if not self._connections.admit(self):
            self._refused = True
            ENDED.labels("refused").inc()
            self.refuse(503, "There are too many connections. Try again in a moment.")
            return
        self._await_headers()
        self._http.connection_made(transport)

    def connection_lost(self, exc: Exception | None) -> None:
        self._connections.forget(self)
        if not self._refused:
            self._http.connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._refused:
            return
        self._has_sent = True
        if self._headers_by is None and not self._requests:
            self._await_headers()
        self._http.data_received(data)

    def eof_received(self) -> bool | None:
        return None if self._refused else self._http.eof_received()

    def pause_writing(self) -> None:
        self._read_by = self._loop.time() + self._reading_time()
        self._http.pause_writing()

    def resume_writing(self) -> None:
        self._read_by = None
        self._http.resume_writing()

    # The application calls these.

    def request_began(self) -> None:
        """The headers of a request are complete."""
        self._requests += 1
        self._headers_by = None
        self._connections.is_busy(self)

    def request_ended(self) -> None:
        """A request is answered."""
        self._requests -= 1
        if not self._requests:
            self._connections.is_waiting(self)

    # `Connections` calls these.

    def check(self, now: float) -> None:
        """Close the connection if it took too long."""
        if self._transport.is_closing():  # which waits until the rest is read
            if self._read_by is None:
                self._read_by = now + self._reading_time()
        elif self._headers_by is not None and now > self._headers_by:
            ENDED.labels("headers").inc()
            if self._has_sent:
                self.refuse(408, "The headers of the request took too long.")
            else:  # browsers open connections in advance, and would take an answer for that of their next request
                self._transport.close()
        if self._read_by is not None and now > self._read_by:
            ENDED.labels("reading").inc()
            self.abort()

    def abort(self) -> None:
        """Close the connection immediately."""
        self._transport.abort()

    # uvicorn's protocol calls this too, in `compat`.

    def refuse(self, status: int, text: str) -> None:
        """Send an answer outside of any request, and close the connection."""
        head = [
            f"HTTP/1.1 {status} {HTTPStatus(status).phrase}",
            "Content-Type: text/plain; charset=utf-8",
            "X-Content-Type-Options: nosniff",
            f"Content-Length: {len(text) + 1}",
            "Connection: close",
        ]
        self._transport.write("\r\n".join([*head, "", f"{text}\n"]).encode("ascii"))
        self._transport.close()

    def _await_headers(self) -> None:
        self._headers_by = self._loop.time() + self._connections.settings.header_seconds

    def _reading_time(self) -> float:
        settings = self._connections.settings
        return settings.stall_seconds + self._transport.get_write_buffer_size() / settings.body_rate


def with_connections(settings: Settings, around: Lifespan[Any] | None = None) -> Lifespan[Any]:
    """A lifespan with the limits of connections in its state, where `Connection` finds them."""

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[dict[str, object]]:
        async with nullcontext() if around is None else around(app) as state:
            yield {**(state or {}), CONNECTIONS: Connections(settings)}

    return lifespan


def server_config(app: Any, settings: Settings, **options: Any) -> uvicorn.Config:  # noqa: ANN401 - uvicorn's own
    """uvicorn's configuration for an application, or for its name in worker processes."""
    return uvicorn.Config(
        app,
        http=f"{__name__}:{Connection.__name__}",  # by name, because worker processes get a copy
        ws="none",
        h11_max_incomplete_event_size=settings.header_limit,
        timeout_keep_alive=settings.idle_seconds,
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=10,
        **options,
    )


def allow_many_files() -> None:
    """Let this process and its children open as many files as the system allows: each connection is one."""
    if sys.platform == "win32":
        return
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 65536 if hard == resource.RLIM_INFINITY else min(hard, 65536)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with suppress(OSError, ValueError):  # then there are fewer connections
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def _total(settings: Settings) -> int:
    """How many connections there can be at once."""
    if sys.platform == "win32":
        return settings.connections_total
    import resource

    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return settings.connections_total
    return min(settings.connections_total, max(soft - _OTHER_FILES, soft // 2))
