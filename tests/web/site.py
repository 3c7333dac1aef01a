"""A real server for tests: a system on an in-memory engine, over HTTP."""

import asyncio
import socket
import threading
from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx
import uvicorn
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from keyplan.engine import Engine
from keyplan.web.identity.issuer import dev_issuer
from keyplan.web.routes.document import responses_of
from keyplan.web.server import application, running, server_config
from keyplan.web.settings import Settings
from keyplan.web.system.rates import RateLimit
from keyplan.web.system.running import Running, System


def settings_of(**given: Any) -> Settings:
    """Settings for a test, without reading any file."""
    build: Any = Settings
    settings: Settings = build(_env_file=None, **given)
    return settings


def changed(settings: Settings, **given: Any) -> Settings:
    """The same settings with some of them changed, validated again."""
    return settings_of(**settings.model_dump(exclude_unset=True) | given)


class _PromptServer(uvicorn.Server):
    """uvicorn's server without its pauses of a tenth of a second, which take longer than most tests."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = threading.Event()

    def stop(self) -> None:
        """Stop it, from another thread."""
        self._loop.call_soon_threadsafe(self._stopping.set)

    async def main_loop(self) -> None:
        self._loop, self._stopping = asyncio.get_running_loop(), asyncio.Event()
        self.ready.set()
        ticking = asyncio.create_task(super().main_loop())  # which keeps the date
        await self._stopping.wait()
        ticking.cancel()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        for server in self.servers:
            server.close()
        for connection in list(self.server_state.connections):
            connection.shutdown()
        try:
            async with asyncio.timeout(0.1):
                await self._until_nothing_is_open()
        except TimeoutError:
            await super().shutdown(sockets)
        else:
            await self.lifespan.shutdown()

    async def _until_nothing_is_open(self) -> None:
        while self.server_state.connections or self.server_state.tasks:
            await asyncio.sleep(0.001)
        for server in self.servers:
            await server.wait_closed()


@contextmanager
def served(app: ASGIApp, settings: Settings | None = None) -> Iterator[str]:
    """Serve an application on a free local port until the block ends; with settings, as `keyplan serve` does."""
    listener = socket.create_server(("127.0.0.1", 0))
    if settings is None:
        config = uvicorn.Config(app, log_config=None, access_log=False, proxy_headers=False)
    else:
        config = server_config(app, settings)
    server = _PromptServer(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    while not server.ready.wait(0.1):
        assert thread.is_alive(), "the server doesn't start"
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.stop()
        thread.join()
        listener.close()


class Documented:
    """An application whose answers are compared with the OpenAPI document: each status must be in it."""

    def __init__(self, app: ASGIApp, system: Running[Any]) -> None:
        self._app = app
        prefix = f"/api/{system.system.name}"
        self._known = {
            (each.verb, f"{prefix}{each.path}"): set(responses_of(each)) for each in system.system.api.routes
        }
        self.violations: set[str] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def watched(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._check(scope["method"], scope["keyplan"].route, message["status"])
            await send(message)

        await self._app(scope, receive, watched)

    def _check(self, method: str, route: str, status: int) -> None:
        documented = self._known.get(("GET" if method == "HEAD" else method, route))
        if documented is not None and status not in documented:
            self.violations.add(f"{method} {route} answered {status}, which its document doesn't have")


@dataclass
class Site:
    """A served system, and clients for it."""

    url: str
    engine: Engine
    running: Running[Any]
    _stack: ExitStack = field(default_factory=ExitStack)

    @property
    def api(self) -> str:
        return f"{self.url}/api/{self.running.system.name}"

    def without_limits(self) -> None:
        """Let through as many requests as anybody sends."""

        async def take_async(limit: RateLimit) -> None:
            pass

        self.running.rates.take = lambda limit: None  # type: ignore[method-assign]  # only in tests
        self.running.rates.take_async = take_async  # type: ignore[method-assign]  # only in tests

    def token(self, sub: str, *groups: str) -> str:
        return dev_issuer(self.running.settings).token(self.running.system.name, sub, groups=groups)

    def as_(self, sub: str | None = None, *groups: str, **options: Any) -> httpx.Client:
        """A client of the API, with or without a token."""
        headers = {"Authorization": f"Bearer {self.token(sub, *groups)}"} if sub else {}
        client = httpx.Client(base_url=self.api, headers=headers, timeout=30, **options)
        return self._stack.enter_context(client)


@contextmanager
def site(
    system: System[Any], settings: Settings, engine: Engine | None = None, undocumented: Collection[str] = ()
) -> Iterator[Site]:
    """A system with its tables, served over HTTP. An answer of its API that isn't documented fails the test."""
    with ExitStack() as stack:
        engine = engine or stack.enter_context(Engine())
        started = running(system, settings, engine)
        started.store.create_tables()
        if system.prepare is not None:
            system.prepare(started)
        app = Documented(application([started], settings), started)
        url = stack.enter_context(served(app, settings))
        yield Site(url, engine, started, stack)
    found = app.violations.difference(undocumented)
    assert not found, "\n".join(sorted(found))
