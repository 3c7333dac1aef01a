"""The endpoint: DynamoDB and DynamoDB Streams over HTTP on one port.

Requests that arrive in the same turn of the event loop, from all connections, are executed together, so that their
writes share one storage transaction. `Server` runs on an existing event loop, `serve_in_thread` starts its own for
tests and notebooks, and `run` is the main loop of a server process.
"""

import asyncio
import contextlib
import gc
import logging
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

from keyplan.engine import protocol
from keyplan.engine.errors import DynamoError
from keyplan.engine.executor import Answer, Executor, Request
from keyplan.engine.wire import http
from keyplan.engine.wire.connection import Connection
from keyplan.engine.wire.sigv4 import Authenticator, Credentials

log = logging.getLogger("keyplan.engine")

# The most requests executed together: limits the answers in memory (1 MB a query) and how long other clients wait.
MAX_BATCH = 64
# Seconds that a stopping server waits for requests in progress.
GRACE = 5.0
BACKLOG = 1024


class Server:
    """An endpoint on the running event loop; call `start` and `stop`. The caller closes the database.

    With `background`, the database runs in its own thread while the next requests are collected. That is faster if
    commits wait for the disk (durability "full"); otherwise the switch between threads costs more than it gains.
    """

    def __init__(
        self,
        database: Executor,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        credentials: Credentials | None = None,
        background: bool = False,
    ) -> None:
        self.responses = http.Responses(cross_origin=credentials is not None)
        self.authenticator = Authenticator(credentials)
        self.connections: set[Connection] = set()
        self.stopping = False
        self.second = 0
        self._database = database
        self._host = host
        self._port = port
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="keyplan-database") if background else None
        self._calls: list[tuple[str, Request]] = []
        self._callers: list[Connection] = []
        self._scheduled = False

    @property
    def url(self) -> str:
        """The URL of the endpoint, once it is started."""
        host = f"[{self._host}]" if ":" in self._host else self._host
        return f"http://{host}:{self._port}"

    async def start(self) -> None:
        """Start listening. Raises OSError if the address can't be used."""
        self._loop = asyncio.get_running_loop()
        self._listener = await self._loop.create_server(
            lambda: Connection(self), self._host, self._port, backlog=BACKLOG
        )
        self._port = self._listener.sockets[0].getsockname()[1]
        self._next_second()

    async def stop(self) -> None:
        """Accept no more connections, answer the requests that have arrived, and close."""
        self.stopping = True
        self._listener.close()
        for connection in list(self.connections):
            connection.finish()
        deadline = self._loop.time() + GRACE
        while self.connections and self._loop.time() < deadline:
            await asyncio.sleep(0.01)
        for connection in list(self.connections):
            connection.abort()
        self._timer.cancel()
        if self._worker is not None:
            self._worker.shutdown()

    # Connections call these.

    def submit(self, connection: Connection, operation: str, request: Request) -> None:
        """Queue a request; it is executed together with all others from this turn of the event loop."""
        self._calls.append((operation, request))
        self._callers.append(connection)
        if not self._scheduled:
            self._scheduled = True
            self._loop.call_soon(self._execute)

    def disconnected(self, connection: Connection) -> None:
        """Forget a connection."""
        self.connections.discard(connection)

    def _execute(self) -> None:
        calls, callers = self._calls, self._callers
        self._calls, self._callers = calls[MAX_BATCH:], callers[MAX_BATCH:]
        del calls[MAX_BATCH:], callers[MAX_BATCH:]
        if self._worker is None:
            self._deliver(callers, protocol.execute_many(self._database, calls))
            return
        future = self._loop.run_in_executor(self._worker, protocol.execute_many, self._database, calls)
        future.add_done_callback(lambda done: self._deliver(callers, done.result()))

    def _deliver(self, callers: Sequence[Connection], answers: Sequence[Answer | DynamoError]) -> None:
        # Schedule the next batch first: sending an answer below may submit the connection's next request.
        self._scheduled = bool(self._calls)
        if self._scheduled:
            self._loop.call_soon(self._execute)
        for connection, answer in zip(callers, answers, strict=True):
            status, body = protocol.encode(answer)
            try:
                connection.answer(status, body)
            except Exception:
                # A failure with one client must not cost the others their answers.
                log.exception("An answer can't be sent")
                connection.abort()

    def _next_second(self) -> None:
        self.second += 1
        self.responses.new_second()
        for connection in list(self.connections):
            connection.check_time()
        self._timer = self._loop.call_later(1.0, self._next_second)


def new_event_loop() -> asyncio.AbstractEventLoop:
    """Return uvloop's event loop where uvloop is installed (not on Windows), otherwise asyncio's."""
    try:
        import uvloop
    except ImportError:
        return asyncio.new_event_loop()
    return uvloop.new_event_loop()


@contextlib.contextmanager
def serve_in_thread(
    database: Executor,
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    credentials: Credentials | None = None,
    background: bool = False,
) -> Iterator[str]:
    """Run an endpoint in a thread of this process until the `with` block ends; yields its URL."""
    loop = new_event_loop()
    server = Server(database, host=host, port=port, credentials=credentials, background=background)
    thread = threading.Thread(target=loop.run_forever, name="keyplan-endpoint", daemon=True)
    thread.start()
    try:
        asyncio.run_coroutine_threadsafe(server.start(), loop).result()
        try:
            yield server.url
        finally:
            asyncio.run_coroutine_threadsafe(server.stop(), loop).result()
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


def run(server: Server, ready: Callable[[], None]) -> None:
    """Run a server until SIGTERM or SIGINT, then stop it cleanly; `ready` is called when it listens."""
    # What is loaded now stays loaded, and requests create no reference cycles, so collections may be rare.
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        runner.run(_run(server, ready))


async def _run(server: Server, ready: Callable[[], None]) -> None:
    await server.start()
    stop_requested = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        try:
            loop.add_signal_handler(number, stop_requested.set)
        except NotImplementedError:  # Windows
            signal.signal(number, lambda *_: loop.call_soon_threadsafe(stop_requested.set))
    ready()
    await stop_requested.wait()
    await server.stop()
