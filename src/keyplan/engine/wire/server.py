"""The endpoint: DynamoDB and DynamoDB Streams over HTTP on one port.

Requests that arrive in the same turn of the event loop, from all connections, are executed together in the loop itself,
so that their writes share one storage transaction, and that nearly every request needs no other thread. What can't be
answered at once is for later (see `executor`): slices of a page in later turns of the loop, one in each; the rest in
threads. There is one for writes, which may wait for the write lock of another process, while reads go on in the loop;
one for large requests, so that only one of them at a time is in memory as objects; and two for reads that take long.

`Server` runs on an existing event loop, `serve_in_thread` starts its own for tests and notebooks, and `run` is the main
loop of a server process.
"""

import asyncio
import contextlib
import gc
import logging
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from keyplan.engine import protocol
from keyplan.engine.errors import DynamoError
from keyplan.engine.executor import Answer, Later, LoopExecutor, Outcome, Request
from keyplan.engine.wire import http
from keyplan.engine.wire.connection import Connection
from keyplan.engine.wire.hosts import Hosts
from keyplan.engine.wire.sigv4 import Authenticator, Credentials

log = logging.getLogger("keyplan.engine")

# The most requests executed together: limits the answers in memory (1 MB a query) and how long other clients wait.
MAX_BATCH = 64
# Python's lock is taken from a thread after this time, when another one wants it. A request in the loop needs it
# several times, so with Python's default of 5 ms one busy thread would make it wait for 20 ms.
SWITCH_SECONDS = 0.0005
# Seconds that a stopping server waits for requests in progress.
GRACE = 5.0
BACKLOG = 1024


class Server:
    """An endpoint on the running event loop; call `start` and `stop`. The caller closes the database.

    It answers to `host`, to the names of the loopback interface, and to `allowed_hosts`. `names_callers` says that the
    database wants to know who sends a request, because regions are separate.
    """

    def __init__(
        self,
        database: LoopExecutor,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        credentials: Credentials | None = None,
        allowed_hosts: Sequence[str] = (),
        names_callers: bool = False,
    ) -> None:
        self.responses = http.Responses(cross_origin=credentials is not None)
        self.authenticator = Authenticator(credentials)
        self.names_callers = names_callers
        self.hosts = Hosts([host, *allowed_hosts], origins=credentials is not None)
        self.connections: set[Connection] = set()
        self.stopping = False
        self.second = 0
        self._database = database
        self._host = host
        self._port = port
        self._calls: list[tuple[str, Request]] = []
        self._callers: list[Connection] = []
        self._slices: deque[tuple[Connection, Later]] = deque()
        self._writes: list[tuple[Connection, Later]] = []
        self._scheduled = False
        self._writing = False
        self._beside = 0
        # Their threads are started when they are needed.
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="keyplan-writes")
        self._reader = ThreadPoolExecutor(1, thread_name_prefix="keyplan-requests")
        self._readers = ThreadPoolExecutor(2, thread_name_prefix="keyplan-reads")

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
        for pool in (self._writer, self._reader, self._readers):
            # What still waits for the write lock of another process gives up when the database is closed.
            pool.shutdown(wait=not self._beside, cancel_futures=True)

    # Connections call these.

    def submit(self, connection: Connection, operation: str, request: Request) -> None:
        """Queue a request; it is executed together with all others from this turn of the event loop."""
        self._calls.append((operation, request))
        self._callers.append(connection)
        self._schedule()

    def submit_unread(self, connection: Connection, read: Callable[[], tuple[str, Request]]) -> None:
        """Read and execute a large request in the thread for large requests."""
        self._run_beside(self._reader, connection, lambda: self._database.execute_beside(*read()))

    def disconnected(self, connection: Connection) -> None:
        """Forget a connection."""
        self.connections.discard(connection)

    def _schedule(self) -> None:
        if not self._scheduled:
            self._scheduled = True
            self._loop.call_soon(self._turn)

    def _turn(self) -> None:
        """Execute the requests that have arrived, and read one slice of a page."""
        self._scheduled = False
        if self._calls:
            self._execute()
        if self._slices:
            connection, rest = self._slices.popleft()
            self._handle(connection, protocol.run(rest.go_on))
        if self._calls or self._slices:
            self._schedule()

    def _execute(self) -> None:
        calls, callers = self._calls, self._callers
        self._calls, self._callers = calls[MAX_BATCH:], callers[MAX_BATCH:]
        del calls[MAX_BATCH:], callers[MAX_BATCH:]
        # While writes wait in the thread, later ones queue up behind them.
        outcomes = protocol.execute_now(self._database, calls, may_write=not self._writing)
        if None in outcomes:
            left = [position for position, outcome in enumerate(outcomes) if outcome is None]
            self._calls[:0] = [calls[position] for position in left]
            self._callers[:0] = [callers[position] for position in left]
        for connection, outcome in zip(callers, outcomes, strict=True):
            if type(outcome) is dict:  # nearly all are
                self._answer(connection, outcome)
            elif outcome is not None:
                self._handle(connection, outcome)

    def _handle(self, connection: Connection, outcome: Outcome) -> None:
        """Send an answer, or see to the rest of a request."""
        if not isinstance(outcome, Later):
            self._answer(connection, outcome)
        elif outcome.place == "loop":
            self._slices.append((connection, outcome))
            self._schedule()
        elif outcome.place == "reads":
            self._run_beside(self._readers, connection, outcome.go_on)
        else:
            self._writes.append((connection, outcome))
            if not self._writing:
                self._write()

    def _write(self) -> None:
        """Execute the waiting writes in their thread."""
        batch = self._writes[:MAX_BATCH]
        del self._writes[:MAX_BATCH]
        writes = [write for _, write in batch]
        self._writing = True
        self._beside += 1
        future = self._loop.run_in_executor(self._writer, protocol.execute_writes, self._database, writes)
        future.add_done_callback(partial(self._written, batch))

    def _written(
        self, batch: list[tuple[Connection, Later]], done: "asyncio.Future[list[Answer | DynamoError]]"
    ) -> None:
        self._beside -= 1
        self._writing = False
        if self._writes:
            self._write()
        if not done.cancelled():
            for (connection, _), answer in zip(batch, done.result(), strict=True):
                self._answer(connection, answer)

    def _run_beside(self, pool: ThreadPoolExecutor, connection: Connection, work: Callable[[], Outcome]) -> None:
        self._beside += 1
        future = self._loop.run_in_executor(pool, protocol.run, work)
        future.add_done_callback(partial(self._done_beside, connection))

    def _done_beside(self, connection: Connection, done: "asyncio.Future[Outcome]") -> None:
        self._beside -= 1
        if not done.cancelled():
            self._handle(connection, done.result())

    def _answer(self, connection: Connection, answer: Answer | DynamoError) -> None:
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
    database: LoopExecutor,
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    credentials: Credentials | None = None,
    allowed_hosts: Sequence[str] = (),
    names_callers: bool = False,
) -> Iterator[str]:
    """Run an endpoint in a thread of this process until the `with` block ends; yields its URL."""
    loop = new_event_loop()
    server = Server(
        database,
        host=host,
        port=port,
        credentials=credentials,
        allowed_hosts=allowed_hosts,
        names_callers=names_callers,
    )
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
    sys.setswitchinterval(SWITCH_SECONDS)
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
