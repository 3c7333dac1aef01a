"""What each fast path of `keyplan.web.compat` gains: CPU time of a request with and without it, in this process.

`python -m bench.api.fast_paths`
"""

import asyncio
import json
import time
from statistics import median

from starlette.types import ASGIApp, Message

from keyplan.apps.wavyblog.api import SYSTEM
from keyplan.engine import Engine
from keyplan.web import Settings, compat
from keyplan.web.server import application, filled, running

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


def main() -> None:
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
