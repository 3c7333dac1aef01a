"""Connections that are silent, slow, idle or too many, over real sockets."""

import asyncio
import socket
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from threading import Event

import pytest
from prometheus_client import REGISTRY
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from keyplan.web import Problem, compat
from keyplan.web.pages.rendering import problem_response
from keyplan.web.server.connections import Connections, with_connections
from keyplan.web.server.edge import Edge
from keyplan.web.settings import Settings
from tests.web.site import changed, served

pytestmark = pytest.mark.usefixtures("both_ways")

LONG = 60
"""Seconds after which a test gives up. A server that works is never that slow, not even on a busy machine."""
BIG = 8_000_000


def only(**short: float) -> dict[str, float]:
    """Limits that never end anything in a test, but for those that the test is about.

    What a test sends in time must be in time on a busy machine too, so it has seconds for it.
    """
    return {"header_seconds": LONG, "body_seconds": LONG, "stall_seconds": LONG, "idle_seconds": LONG, **short}


class Server:
    """A small application behind the limits of a real server."""

    def __init__(self, url: str) -> None:
        host, port = url.removeprefix("http://").split(":")
        self.address = (host, int(port))
        self._stack = ExitStack()

    def connect(self, sent: bytes = b"") -> socket.socket:
        made = self._stack.enter_context(socket.create_connection(self.address, timeout=LONG))
        made.sendall(sent)
        return made

    def connect_from(self, address: str, sent: bytes = b"") -> socket.socket:
        made = self._stack.enter_context(socket.create_connection(self.address, LONG, (address, 0)))
        made.sendall(sent)
        return made

    def close(self) -> None:
        self._stack.close()


class Gate:
    """Requests that have arrived, and wait until they may continue."""

    def __init__(self) -> None:
        self.opened = Event()
        self.entered = 0

    async def handle(self, request: Request) -> Response:
        self.entered += 1
        await run_in_threadpool(self.opened.wait, LONG)
        return PlainTextResponse("done")


gate = Gate()


async def _length(request: Request) -> Response:
    return PlainTextResponse(str(len(await request.body())))


async def _ticks(request: Request) -> Response:
    """Sends a little, for longer than all the short limits."""

    async def parts() -> AsyncIterator[bytes]:
        for _ in range(15):
            yield b"tick "
            await asyncio.sleep(0.1)

    return StreamingResponse(parts())


async def _big(request: Request) -> Response:
    return Response(b"x" * BIG)


async def _on_problem(request: Request, error: Exception) -> Response:
    assert isinstance(error, Problem)
    return problem_response(request.scope, error)


@contextmanager
def limited(settings: Settings, **limits: object) -> Iterator[Server]:
    """The application with these limits."""
    chosen = changed(settings, **limits)
    routes = [
        Route("/length", _length, methods=["POST"]),
        Route("/media/length", _length, methods=["POST"]),
        Route("/ticks", _ticks),
        Route("/big", _big),
        Route("/gate", gate.handle),
        Route("/", lambda request: PlainTextResponse("hello")),
    ]
    handlers = {Problem: _on_problem}
    app = Edge(Starlette(routes=routes, exception_handlers=handlers, lifespan=with_connections(chosen)), chosen)
    gate.opened, gate.entered = Event(), 0
    with served(app, chosen) as url:
        server = Server(url)
        try:
            yield server
        finally:
            gate.opened.set()
            server.close()


def get(path: str = "/", *headers: str) -> bytes:
    return "\r\n".join([f"GET {path} HTTP/1.1", "Host: x", *headers, "", ""]).encode()


def post(path: str, length: int) -> bytes:
    return f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Length: {length}\r\n\r\n".encode()


def rest(connection: socket.socket) -> bytes:
    """Everything that arrives until the server closes the connection."""
    parts = []
    try:
        while part := connection.recv(65536):
            parts.append(part)
    except ConnectionResetError:
        pass
    return b"".join(parts)


def answer(connection: socket.socket, end: bytes = b"hello") -> bytes:
    """An answer on a connection that stays open."""
    found = b""
    while not found.endswith(end):
        part = connection.recv(65536)
        assert part, found
        found += part
    return found


def ended(limit: str) -> float:
    """How many connections a limit has ended."""
    return REGISTRY.get_sample_value("keyplan_connections_ended_total", {"limit": limit}) or 0


def until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + LONG
    while not condition():
        assert time.monotonic() < end, "it doesn't happen"
        time.sleep(0.01)


def is_closed(connection: socket.socket) -> bool:
    """Whether the server has closed a connection; doesn't wait."""
    connection.setblocking(False)
    try:
        return connection.recv(1) == b""
    except BlockingIOError:
        return False
    except ConnectionError:
        return True
    finally:
        connection.settimeout(LONG)


def number_closed(connections: Sequence[socket.socket]) -> int:
    return sum(map(is_closed, connections))


# Headers


def test_a_silent_connection_is_closed(settings: Settings) -> None:
    with limited(settings, **only(header_seconds=0.3)) as server:
        assert rest(server.connect()) == b""


@pytest.mark.parametrize("sent", [b"G", b"GET / HTTP/1.1\r\nHost: x\r\n", b"\r\n"])
def test_half_sent_headers_end_the_connection(settings: Settings, sent: bytes) -> None:
    with limited(settings, **only(header_seconds=0.5)) as server:
        received: list[bytes] = []

        def is_refused() -> bool:
            received.append(rest(server.connect(sent)))
            return received[-1] != b""  # nothing was sent in time, so it was closed as a silent one

        until(is_refused)
        assert received[-1].startswith((b"HTTP/1.1 408 ", b"HTTP/1.1 400 "))


def test_headers_that_trickle_in_end_the_connection(settings: Settings) -> None:
    """Each byte is on time, and still the whole takes too long."""
    before = ended("headers")
    with limited(settings, **only(header_seconds=0.3)) as server:
        connection = server.connect(b"GET / HTTP/1.1\r\nX: ")
        until(lambda: _trickles_out(connection))
        assert ended("headers") == before + 1


def _trickles_out(connection: socket.socket) -> bool:
    try:
        connection.send(b"x")
    except ConnectionError:
        return True
    time.sleep(0.04)
    return False


def test_half_sent_headers_after_an_answer_end_the_connection(settings: Settings) -> None:
    with limited(settings, **only(header_seconds=2)) as server:
        connection = server.connect(get())
        answer(connection)
        connection.sendall(b"GET / HTTP/1.1\r\n")
        assert rest(connection).startswith(b"HTTP/1.1 408 ")


def test_headers_that_are_too_large_are_refused(settings: Settings) -> None:
    with limited(settings) as server:
        connection = server.connect(get()[:-2] + b"X-Long: ")
        until(lambda: _are_refused(connection))
        assert rest(connection)[:13] in (b"HTTP/1.1 431 ", b"HTTP/1.1 400 ", b"")


def _are_refused(connection: socket.socket) -> bool:
    try:
        connection.sendall(b"x" * 10_000)
    except ConnectionError:
        return True
    time.sleep(0.01)
    return False


def test_headers_that_are_too_large_are_refused_in_one_packet(settings: Settings) -> None:
    if not compat.fast_http:
        pytest.skip("h11 reads them if they are complete at once")
    with limited(settings) as server:
        received = rest(server.connect(get("/", f"X-Long: {'x' * 70_000}")))
        assert received.startswith(b"HTTP/1.1 431 ")
        assert b"x-content-type-options: nosniff" in received.lower()


def test_headers_within_the_limit_are_read(settings: Settings) -> None:
    with limited(settings) as server:
        connection = server.connect(get("/", f"X-Long: {'x' * 60_000}"))
        assert answer(connection).startswith(b"HTTP/1.1 200 ")


def test_a_body_does_not_count_as_headers(settings: Settings) -> None:
    """Also if it comes with the headers of the next request in one packet."""
    with limited(settings) as server:
        connection = server.connect(post("/length", 200_000) + b"x" * 200_000 + get()[:-2])
        connection.sendall(b"\r\n")
        received = answer(connection)
        assert b"200000" in received
        assert received.count(b"HTTP/1.1 200 ") == 2


def test_what_is_not_http_is_refused(settings: Settings) -> None:
    with limited(settings) as server:
        received = rest(server.connect(b"\x16\x03\x01\x02\x00 TLS?\r\n\r\n"))
        assert received.startswith(b"HTTP/1.1 400 ")


# Bodies


@pytest.mark.parametrize("path", ["/length", "/media/length"])
def test_a_body_that_stops_ends_the_connection(settings: Settings, path: str) -> None:
    with limited(settings, **only(body_seconds=0.3)) as server:
        received = rest(server.connect(post(path, 100_000) + b"x" * 50_000))
        assert received.startswith(b"HTTP/1.1 408 ")
        assert b"body-too-slow" in received


@pytest.mark.parametrize("path", ["/length", "/media/length"])
def test_a_body_that_trickles_in_ends_the_connection(settings: Settings, path: str) -> None:
    with limited(settings, **only(body_seconds=0.3, body_rate=1000)) as server:
        connection = server.connect(post(path, 100_000))
        until(lambda: _trickles_out(connection))


def test_a_slow_upload_that_goes_on_is_received(settings: Settings) -> None:
    """It takes longer than any pause may, but is faster than the lowest speed."""
    with limited(settings, **only(body_seconds=2, body_rate=1000)) as server:
        connection = server.connect(post("/media/length", 10_000))
        for _ in range(10):
            time.sleep(0.25)
            connection.sendall(b"x" * 1000)
        assert answer(connection, b"10000").startswith(b"HTTP/1.1 200 ")


def test_what_is_sent_after_the_answer_is_not_read_forever(settings: Settings) -> None:
    """The body was refused by its announced length, and the client sends it anyway."""
    with limited(settings, **only(header_seconds=2, body_seconds=0.3, idle_seconds=1), body_limit=1000) as server:
        connection = server.connect(post("/length", 100_000))
        assert connection.recv(65536).startswith(b"HTTP/1.1 413 ")
        until(lambda: _trickles_out(connection))


# Idling and answers


def test_an_idle_connection_is_closed(settings: Settings) -> None:
    with limited(settings, **only(idle_seconds=1)) as server:
        began = time.monotonic()
        assert rest(server.connect(get())).endswith(b"hello")
        assert time.monotonic() - began > 0.8, "it waits for another request"


def test_an_answer_that_streams_is_not_idle(settings: Settings) -> None:
    with limited(settings, **only(body_seconds=0.3, stall_seconds=0.3, idle_seconds=1)) as server:
        received = rest(server.connect(get("/ticks", "Connection: close")))
        assert received.count(b"tick ") == 15


def test_a_request_that_takes_long_is_not_idle(settings: Settings) -> None:
    with limited(settings, **only(body_seconds=0.3, stall_seconds=0.3, idle_seconds=1)) as server:
        connection = server.connect(get("/gate"))
        until(lambda: gate.entered == 1)
        time.sleep(1.5)
        gate.opened.set()
        assert answer(connection, b"done").startswith(b"HTTP/1.1 200 ")


def test_an_answer_that_nobody_reads_ends_the_connection(settings: Settings) -> None:
    before = ended("reading")
    with limited(settings, **only(stall_seconds=0.3, body_rate=10_000_000)) as server:
        connection = server.connect(get("/big"))
        until(lambda: ended("reading") > before)
        assert len(rest(connection)) < BIG


def test_an_answer_that_is_read_slowly_is_sent(settings: Settings) -> None:
    with limited(settings, **only(idle_seconds=1)) as server:
        connection = server.connect(get("/big", "Connection: close"))
        time.sleep(1)
        assert len(rest(connection)) > BIG


# Too many


def test_silent_connections_do_not_keep_others_out(settings: Settings) -> None:
    with limited(settings, connections_address=8) as server:
        silent = [server.connect() for _ in range(20)]
        connection = server.connect(get())
        assert answer(connection).startswith(b"HTTP/1.1 200 ")
        until(lambda: number_closed(silent) == 13)
        assert all(map(is_closed, silent[:13])), "those that waited longest are closed"


def test_requests_in_progress_are_not_closed_in_favor_of_others(settings: Settings) -> None:
    with limited(settings, connections_address=4) as server:
        busy = [server.connect(get("/gate", "Connection: close")) for _ in range(4)]
        until(lambda: gate.entered == 4)
        assert b" 200 " not in rest(server.connect(get()))
        assert number_closed(busy) == 0
        gate.opened.set()
        assert all(rest(each).endswith(b"done") for each in busy)
        assert answer(server.connect(get())).startswith(b"HTTP/1.1 200 ")


def test_each_address_has_its_own_limit(settings: Settings) -> None:
    with limited(settings, connections_address=4) as server:
        busy = [server.connect_from("127.0.0.2", get("/gate")) for _ in range(4)]
        until(lambda: gate.entered == 4)
        assert answer(server.connect(get())).startswith(b"HTTP/1.1 200 ")
        assert number_closed(busy) == 0


def test_trusted_proxies_have_no_limit_per_address(settings: Settings) -> None:
    with limited(settings, connections_address=4, trusted_proxies=["127.0.0.1"]) as server:
        silent = [server.connect() for _ in range(12)]
        assert answer(server.connect(get())).startswith(b"HTTP/1.1 200 ")
        assert number_closed(silent) == 0


def test_all_addresses_together_have_a_limit(settings: Settings) -> None:
    with limited(settings, connections_total=8, connections_address=4) as server:
        silent = [server.connect_from(f"127.0.0.{number % 9 + 2}") for number in range(30)]
        assert answer(server.connect(get())).startswith(b"HTTP/1.1 200 ")
        until(lambda: number_closed(silent) == 23)


def test_1100_silent_connections_do_not_make_the_server_unreachable(settings: Settings) -> None:
    with limited(settings) as server:
        silent = [server.connect() for _ in range(1100)]
        assert answer(server.connect(get())).startswith(b"HTTP/1.1 200 ")
        until(lambda: number_closed(silent) >= 1100 - settings.connections_address)


def test_the_total_leaves_files_for_everything_else(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    import resource

    monkeypatch.setattr(resource, "getrlimit", lambda which: (1024, 1024))
    assert Connections(settings).total == 768
    monkeypatch.setattr(resource, "getrlimit", lambda which: (65536, 65536))
    assert Connections(settings).total == 4096


# Keep-alive and pipelining work as before


def test_several_requests_on_one_connection(settings: Settings) -> None:
    with limited(settings) as server:
        connection = server.connect()
        for _ in range(3):
            connection.sendall(get())
            assert answer(connection).startswith(b"HTTP/1.1 200 ")
        connection.sendall(get() * 5)
        received = b""
        while received.count(b"hello") < 5:
            received += connection.recv(65536)
        assert received.count(b"HTTP/1.1 200 ") == 5
