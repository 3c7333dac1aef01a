"""`keyplan serve`: run the systems on one port."""

from __future__ import annotations

import gc
import json
import os
import signal
import socket
import tempfile
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from keyplan.addresses import is_loopback
from keyplan.cli.announcing import LogFormat, announce
from keyplan.cli.opening import (
    Clients,
    DataFile,
    EndpointUrl,
    OnAws,
    create_tables_command,
    credentials,
    database_in,
    fail,
    opened,
    served_systems,
    settings_from,
)

if TYPE_CHECKING:
    from rich.progress import Progress as ProgressBar
    from rich.progress import TaskID
    from starlette.types import ASGIApp

    from keyplan.web import Running, Settings, System
    from keyplan.web.server import ReadyPage

_FLAGS = "_KEYPLAN_SERVE_FLAGS"
"""The variable that passes the options on to worker processes."""
_METRICS = "PROMETHEUS_MULTIPROC_DIR"
_PROGRESS_SECONDS = 5.0


def serve(
    host: Annotated[str | None, typer.Option(help="Address to listen on.", metavar="ADDRESS")] = None,
    port: Annotated[int | None, typer.Option(min=0, max=65535, help="Port to listen on; 0 for any free port.")] = None,
    path: DataFile = None,
    demo: Annotated[bool | None, typer.Option("--demo", help="Fill each system with demo data, once.")] = None,
    dev: Annotated[
        bool | None,
        typer.Option("--dev", help="Let anyone on this machine sign in as anyone, and show consumed capacity."),
    ] = None,
    workers: Annotated[int | None, typer.Option(min=1, max=64, help="Number of processes.")] = None,
    dynamodb_port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="Also run a DynamoDB endpoint on this port.")
    ] = None,
    endpoint_url: EndpointUrl = None,
    aws: OnAws = None,
    system: Annotated[
        list[str] | None,
        typer.Option(help="Serve only this system. module:NAME is imported, which runs the module. Can be repeated."),
    ] = None,
    log_format: LogFormat = None,
) -> None:
    """Run the systems until stopped.

    Settings are also read from the environment and .env, such as --port from KEYPLAN_PORT.
    """
    flags = {
        "host": host,
        "port": port,
        "path": path and str(path),
        "demo": demo,
        "dev": dev,
        "workers": workers,
        "dynamodb_port": dynamodb_port,
        "endpoint_url": endpoint_url,
        "aws": aws,
        "systems": system or None,
        "log_format": log_format,
    }
    settings = settings_from(flags)
    with ExitStack() as stack:
        if settings.workers > 1:
            stack.enter_context(_shared_metrics())

        from keyplan.web.server import allow_many_files, log_to_stderr

        log_to_stderr(settings.log_level, settings.log_format)
        allow_many_files()
        listeners = [stack.enter_context(_listening(settings.host, settings.port))]
        if settings.monitor_port is not None:
            listeners.append(stack.enter_context(_listening(settings.monitor_host, settings.monitor_port)))
            flags["monitor_port"] = listeners[1].getsockname()[1]  # if it was 0, it is known only now
            settings = settings.model_copy(update={"monitor_port": flags["monitor_port"]})
        endpoint = stack.enter_context(_endpoint(settings))
        ready = partial(announce, settings, listeners[0].getsockname()[:2], endpoint)
        if settings.workers == 1:
            _serve_in_this_process(settings, listeners, ready)
        else:
            _serve_with_workers(settings, flags, listeners, ready)


@contextmanager
def _shared_metrics() -> Iterator[None]:
    """A folder in which processes share their metrics. prometheus_client looks for it when it is imported."""
    if os.environ.get(_METRICS):
        yield
        return
    with tempfile.TemporaryDirectory(prefix="keyplan-metrics-") as folder:
        os.environ[_METRICS] = folder
        yield


@contextmanager
def running_systems(settings: Settings, *, create: bool = True) -> Iterator[tuple[list[Running[Any]], Clients]]:
    """The systems on the DynamoDB that the settings choose. In a file, missing tables are created."""
    with opened(settings, create=create) as clients:
        # Everything created here lives as long as the process, so the garbage collector need not look at it.
        gc.disable()
        try:
            systems = [_started(each, settings, clients) for each in served_systems(settings.systems)]
            gc.freeze()
        finally:
            gc.enable()
        yield systems, clients


def _started(system: System[Any], settings: Settings, clients: Clients) -> Running[Any]:
    from keyplan.web.server import running

    started = running(system, settings, clients.dynamodb)
    _check_tables(started, settings)
    _ = started.identity  # fails now, not with the first token, if it is misconfigured
    if system.prepare is not None:
        system.prepare(started)
    return started


def _check_tables(system: Running[Any], settings: Settings) -> None:
    """Create missing tables in a file. Elsewhere the operator decides, so missing tables end the command."""
    from keyplan.data import DataError

    name = system.system.name
    try:
        if settings.embedded:
            system.store.create_tables()
            return
        exists = system.store.tables_exist()
    except DataError as error:
        fail(f"Can't use the tables of {name}: {error}")
    missing = [table for table, found in exists.items() if not found]
    if missing:
        command = create_tables_command(name, settings)
        fail(f"Table not found: {', '.join(missing)}. Create the tables of {name} with: {command}", 1)


@contextmanager
def _listening(host: str, port: int) -> Iterator[socket.socket]:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, port))
        except OSError as error:
            fail(f"Can't listen on {host}, port {port}: {error.strerror or error}")
        listener.set_inheritable(True)
        yield listener


@contextmanager
def _endpoint(settings: Settings) -> Iterator[str | None]:
    """The URL of a DynamoDB endpoint on the same file, if the settings ask for one."""
    if settings.dynamodb_port is None:
        yield None
        return
    if not settings.embedded:
        fail("dynamodb_port needs a file, and can't be combined with endpoint_url or aws.")

    from keyplan.engine.wire import Credentials, serve_in_thread

    secret = settings.dynamodb_secret_key
    keys = credentials(
        settings.dynamodb_access_key, secret.get_secret_value() if secret else None, settings.dynamodb_secret_key_file
    )
    exposed = next((each for each in (settings.dynamodb_host, settings.host) if not is_loopback(each)), None)
    if keys is None and exposed is not None:
        fail(
            f"dynamodb_port gives everybody who can reach it all data, and {exposed} isn't a loopback address. Set an "
            "access key for it: KEYPLAN_DYNAMODB_ACCESS_KEY, and KEYPLAN_DYNAMODB_SECRET_KEY_FILE or "
            "KEYPLAN_DYNAMODB_SECRET_KEY."
        )
    port = settings.dynamodb_port
    with database_in(settings.path, settings.durability, settings.dynamodb_s3) as database, ExitStack() as stack:
        try:
            url = stack.enter_context(
                serve_in_thread(
                    database,
                    host=settings.dynamodb_host,
                    port=port,
                    credentials=None if keys is None else Credentials(*keys),
                    allowed_hosts=settings.dynamodb_allowed_hosts.split(),
                )
            )
        except OSError as error:
            reason = error if error.errno is None else os.strerror(error.errno)  # asyncio's message is long
            fail(f"Can't listen on port {port} for DynamoDB: {reason}")
        yield url


def _serve_in_this_process(settings: Settings, listeners: list[socket.socket], ready: Callable[[], None]) -> None:
    with running_systems(settings) as (systems, clients):
        if settings.demo:
            _fill(systems)
        _run(_application(systems, clients, settings), settings, listeners, ready)


def _serve_with_workers(
    settings: Settings, flags: dict[str, Any], listeners: list[socket.socket], ready: Callable[[], None]
) -> None:
    from uvicorn.supervisors import Multiprocess

    from keyplan.web.server import server_config

    with running_systems(settings) as (systems, _):
        if settings.demo:
            _fill(systems)
    os.environ[_FLAGS] = json.dumps(flags)
    for each in listeners:
        each.listen(2048)
    config = server_config(f"{__name__}:worker_application", settings, factory=True, workers=settings.workers)
    threading.Thread(target=_call_with_first_answer, args=(listeners[0], ready), daemon=True).start()
    Multiprocess(config, listeners).run()


def _call_with_first_answer(listener: socket.socket, ready: Callable[[], None]) -> None:
    """Announce the server when the first worker answers: the socket accepts connections before that."""
    host, port = listener.getsockname()[:2]
    with socket.create_connection((host, port)) as asking:
        asking.sendall(f"GET /healthz HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
        if asking.recv(1):
            ready()


def worker_application() -> ASGIApp:
    """The application, for one of several worker processes."""
    from keyplan.web.server import log_to_stderr

    threading.Thread(target=_end_with_parent, daemon=True).start()
    settings = settings_from(json.loads(os.environ[_FLAGS]))
    log_to_stderr(settings.log_level, settings.log_format)
    context = running_systems(settings)
    systems, clients = context.__enter__()

    @asynccontextmanager
    async def until_stopped() -> AsyncIterator[None]:
        try:
            yield
        finally:
            context.__exit__(None, None, None)

    return _application(systems, clients, settings, until_stopped)


def _end_with_parent() -> None:
    """Stop when the supervisor dies: a worker without one would keep the port forever."""
    from multiprocessing import parent_process

    parent = parent_process()
    if parent is not None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)


def _application(
    systems: list[Running[Any]],
    clients: Clients,
    settings: Settings,
    around: Callable[[], Any] | None = None,
) -> ASGIApp:
    """The application, with background work while it runs."""
    from keyplan.web.server import Worker, application

    @asynccontextmanager
    async def lifespan(app: object) -> AsyncIterator[None]:
        async with (around or _nothing)():
            worker = Worker(systems, clients.streams, lease_seconds=settings.lease_seconds) if settings.work else None
            if worker is not None:
                worker.start()
            try:
                yield
            finally:
                if worker is not None:
                    worker.stop()

    designs = {each.system.name: partial(_design_page, each) for each in systems}
    return application(systems, settings, lifespan, designs=designs)


def _design_page(system: Running[Any]) -> ReadyPage:
    """The document of a system's design, as a page."""
    from keyplan.cli.documents import document_of_design
    from keyplan.publish.document import document_json, page, page_style
    from keyplan.web.server import ReadyPage

    document = document_of_design(system.store.design, system.system.title)
    return ReadyPage(
        page(document, home=("Keyplan", "/"), icon="/static/icon.svg"), page_style(), document_json(document)
    )


@asynccontextmanager
async def _nothing() -> AsyncIterator[None]:
    yield


def _run(app: ASGIApp, settings: Settings, listeners: list[socket.socket], ready: Callable[[], None]) -> None:
    import uvicorn

    from keyplan.web.server import server_config

    class Server(uvicorn.Server):
        @contextmanager
        def capture_signals(self) -> Iterator[None]:
            """Like uvicorn's, but without raising the signal again afterwards, so that the database is closed."""
            before = {each: signal.signal(each, self.handle_exit) for each in (signal.SIGINT, signal.SIGTERM)}
            try:
                yield
            finally:
                for each, handler in before.items():
                    signal.signal(each, handler)

        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            if self.started:
                ready()

    Server(server_config(app, settings)).run(sockets=listeners)


def _fill(systems: list[Running[Any]]) -> None:
    """Fill the systems that have no demo data yet, and show how far it is, outside a terminal in lines."""
    from rich.console import Console
    from rich.progress import Progress

    from keyplan.web.server import filled

    console = Console(stderr=True)
    if not console.is_terminal:
        for each in systems:
            filled(each, ProgressLines(each.system.title))
        return
    with Progress(console=console, transient=True) as bar:
        for each in systems:
            task = bar.add_task(each.system.title, total=None)
            filled(each, partial(_show_progress, bar, task))


def _show_progress(bar: ProgressBar, task: TaskID, done: int, total: int) -> None:
    bar.update(task, completed=done, total=total)


class ProgressLines:
    """Says how far the demo data of a system is, every few seconds."""

    def __init__(self, title: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._title = title
        self._clock = clock
        self._said = clock()

    def __call__(self, done: int, total: int) -> None:
        if self._clock() - self._said >= _PROGRESS_SECONDS:
            self._said = self._clock()
            typer.echo(f"Demo data of {self._title}: {done} of {total}", err=True)
