"""What each fast path of `keyplan.web.compat` gains: CPU time of a request with and without it, in this process.

`python -m bench.api.fast_paths`
"""

import asyncio
import json
import time
from statistics import median
from typing import Any

import uvicorn
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.server import ServerState

from keyplan.apps.wavyblog.api import SYSTEM
from keyplan.engine import Engine
from keyplan.web import Settings, compat
from keyplan.web.server import application, filled, running
from keyplan.web.server.connections import CONNECTIONS, Connection, Connections

ROUNDS, REQUESTS = 30, 100


def blog(engine: Engine, *, fast: bool, fill: bool = False) -> ASGIApp:
    """WavyBlog with its demo data, without limits on requests."""
    settings = Settings(rate_identity=0, rate_address=0)
    system = running(SYSTEM, settings, engine)
    if fill:
        system.store.create_tables()
        filled(system, lambda done, steps: None)
    compat.fast_paths = fast
    app = application([system], settings)
    asyncio.run(answered(app, "/api/wavyblog/posts", "limit=1"))  # routes are made with the first request
    return app


async def answered(app: ASGIApp, path: str, query: str = "") -> bytes:
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Message) -> None:
        sent.append(message)

    scope = {
        "type": "http",
        "method": "GET",
        "scheme": "http",
        "http_version": "1.1",
        "path": path,
        "query_string": query.encode(),
        "headers": [(b"host", b"127.0.0.1")],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 80),
    }
    await app(scope, receive, send)
    assert sent[0]["status"] == 200, sent
    body: bytes = sent[1]["body"]
    return body


async def microseconds(app: ASGIApp, path: str, query: str) -> float:
    began = time.process_time()
    for _ in range(REQUESTS):
        await answered(app, path, query)
    return (time.process_time() - began) / REQUESTS * 1e6


class _Transport(asyncio.Transport):
    """Takes what is written, and says when an answer is complete."""

    def __init__(self) -> None:
        super().__init__({"peername": ("127.0.0.1", 1), "sockname": ("127.0.0.1", 80)})
        self.answered = asyncio.Event()

    def write(self, data: bytes | bytearray | memoryview) -> None:
        if bytes(data).endswith(b"hello"):
            self.answered.set()

    def is_closing(self) -> bool:
        return False

    def get_write_buffer_size(self) -> int:
        return 0

    def resume_reading(self) -> None: ...


async def _hello(scope: Scope, receive: Receive, send: Send) -> None:
    await PlainTextResponse("hello")(scope, receive, send)


async def protocol_microseconds(way: str) -> float:
    """The CPU time of a GET request in the protocol: ours on each parser, and uvicorn's own."""
    settings = Settings()
    compat.fast_http = way == "httptools"
    config = uvicorn.Config(_hello, http="httptools", log_config=None, access_log=False)
    config.load()
    kind: Any = config.http_protocol_class if way == "uvicorn" else Connection
    made = kind(config=config, server_state=ServerState(), app_state={CONNECTIONS: Connections(settings)})
    transport = _Transport()
    made.connection_made(transport)
    request = b"GET /api/wavyblog/posts HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: */*\r\nUser-Agent: bench\r\n\r\n"
    began = time.process_time()
    for _ in range(REQUESTS):
        made.data_received(request)
        await transport.answered.wait()
        transport.answered.clear()
    return (time.process_time() - began) / REQUESTS * 1e6


def protocols() -> None:
    ways = ("httptools", "h11", "uvicorn")
    spent: dict[str, list[float]] = {way: [] for way in ways}
    for _ in range(ROUNDS):
        for way in ways:
            spent[way].append(asyncio.run(protocol_microseconds(way)))
    ours, public, bare = (median(spent[way]) for way in ways)
    print(f"protocol: {ours:.0f} µs fast, {public:.0f} µs public, gain {public - ours:.0f} µs; uvicorn {bare:.0f} µs")


def main() -> None:
    protocols()
    with Engine() as engine:
        apps = {"fast": blog(engine, fast=True, fill=True), "public": blog(engine, fast=False)}
        listed = asyncio.run(answered(apps["fast"], "/api/wavyblog/posts", "limit=1"))
        slug = json.loads(listed)["items"][0]["slug"]
        for name, path, query in (
            ("get-post", f"/api/wavyblog/posts/{slug}", ""),
            ("list-posts", "/api/wavyblog/posts", "limit=20"),
        ):
            spent: dict[str, list[float]] = {"fast": [], "public": []}
            for turn in range(ROUNDS):
                for way in sorted(apps, reverse=turn % 2 == 0):
                    spent[way].append(asyncio.run(microseconds(apps[way], path, query)))
            fast, public = median(spent["fast"]), median(spent["public"])
            print(f"{name}: {fast:.0f} µs fast, {public:.0f} µs public, gain {public - fast:.0f} µs")


if __name__ == "__main__":
    main()
