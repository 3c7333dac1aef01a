"""`keyplan serve`: all systems on one port. `keyplan config`: the settings that hold."""

from __future__ import annotations

import gc
import json
import os
import signal
import socket
import tempfile
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager, nullcontext
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from keyplan.cli.opening import (
    Clients,
    DataFile,
    EndpointUrl,
    OnAws,
    database_in,
    fail,
    making_tables,
    opened,
    place,
    served_systems,
    settings_from,
)

if TYPE_CHECKING:
    from rich.progress import Progress as ProgressBar
    from rich.progress import TaskID
    from starlette.types import ASGIApp

    from keyplan.web import Running, Settings, System

_FLAGS = "_KEYPLAN_SERVE_FLAGS"
"""How the flags reach worker processes."""
_METRICS = "PROMETHEUS_MULTIPROC_DIR"


def serve(
    host: Annotated[str | None, typer.Option(help="Address to listen on.", metavar="ADDRESS")] = None,
    port: Annotated[int | None, typer.Option(min=0, max=65535, help="Port to listen on; 0 takes a free one.")] = None,
    path: DataFile = None,
    demo: Annotated[bool | None, typer.Option("--demo", help="Fill every system once with made-up data.")] = None,
    dev: Annotated[
        bool | None, typer.Option("--dev", help="Sign in as anybody, on this machine only; show capacities.")
    ] = None,
    workers: Annotated[int | None, typer.Option(min=1, max=64, help="How many processes serve.")] = None,
    dynamodb_port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="Answer as a DynamoDB endpoint on this port as well.")
    ] = None,
    endpoint_url: EndpointUrl = None,
    aws: OnAws = None,
    system: Annotated[
        list[str] | None, typer.Option(help="Serve only this system, or module:NAME; may be repeated.")
    ] = None,
) -> None:
    """Run the systems, until told to stop. Every setting can also be given as KEYPLAN_<NAME>, or in .env."""
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
    }
    settings = settings_from(flags)
    with ExitStack() as stack:
        if settings.workers > 1:
            stack.enter_context(_metrics_of_several())

        from keyplan.web.server import log_to_stderr

        log_to_stderr(settings.log_level)
        listener = stack.enter_context(_listening(settings.host, settings.port))
        stack.enter_context(_endpoint(settings))
        if settings.workers == 1:
            _serve_alone(settings, listener)
        else:
            _serve_together(settings, flags, listener)


@contextmanager
def _metrics_of_several() -> Iterator[None]:
    """A folder where processes keep their metrics for each other; prometheus_client looks for it when imported."""
    if os.environ.get(_METRICS):
        yield
        return
    with tempfile.TemporaryDirectory(prefix="keyplan-metrics-") as folder:
        os.environ[_METRICS] = folder
        yield


@contextmanager
def running_systems(settings: Settings, *, make: bool = True) -> Iterator[tuple[list[Running[Any]], Clients]]:
    """The systems at work, on the DynamoDB that the settings name. In a file, their tables are made where missing."""
    with opened(settings, make=make) as clients:
        # All that is made here stays, so that looking for garbage in it is in vain, now and later.
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
    _ = started.identity  # whose tokens are taken is settled before the first one comes
    if system.prepare is not None:
        system.prepare(started)
    return started


def _check_tables(system: Running[Any], settings: Settings) -> None:
    """Make tables in a file; elsewhere that is somebody's decision."""
    from keyplan.data import DataError

    name = system.system.name
    try:
        if settings.embedded:
            system.store.create_tables()
            return
        there = system.store.tables_exist()
    except DataError as error:
        fail(f"Can not use the tables of {name}: {error}")
    missing = [table for table, is_there in there.items() if not is_there]
    if missing:
        fail(f"There is no table {', '.join(missing)}. Make {name}'s tables: {making_tables(name, settings)}", 1)


@contextmanager
def _listening(host: str, port: int) -> Iterator[socket.socket]:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, port))
        except OSError as error:
            fail(f"Can not listen on {host}, port {port}: {error.strerror or error}")
        listener.set_inheritable(True)
        yield listener


def _endpoint(settings: Settings) -> Any:  # noqa: ANN401 - a context manager
    """The DynamoDB endpoint of the same file, where it is wanted."""
    if settings.dynamodb_port is None:
        return nullcontext()
    if not settings.embedded:
        fail("dynamodb_port is for a file: there is a DynamoDB endpoint already.")

    @contextmanager
    def endpoint() -> Iterator[None]:
        from keyplan.engine.wire import serve_in_thread

        port = settings.dynamodb_port or 0
        with database_in(settings.path, settings.durability) as database, ExitStack() as stack:
            try:
                url = stack.enter_context(serve_in_thread(database, port=port))
            except OSError as error:
                reason = error if error.errno is None else os.strerror(error.errno)  # asyncio says it at length
                fail(f"Can not listen on port {port} for DynamoDB: {reason}")
            typer.echo(f"DynamoDB endpoint on {url}")
            yield

    return endpoint()


def _serve_alone(settings: Settings, listener: socket.socket) -> None:
    with running_systems(settings) as (systems, clients):
        if settings.demo:
            _fill(systems)
        _run(_application(systems, clients, settings), listener, lambda: _announce(settings, listener))


def _serve_together(settings: Settings, flags: dict[str, Any], listener: socket.socket) -> None:
    from uvicorn.supervisors import Multiprocess

    with running_systems(settings) as (systems, _):
        if settings.demo:
            _fill(systems)
    os.environ[_FLAGS] = json.dumps(flags)
    listener.listen(2048)
    config = _config(f"{__name__}:worker_application", factory=True, workers=settings.workers)
    threading.Thread(target=_announce_first_answer, args=(settings, listener), daemon=True).start()
    Multiprocess(config, [listener]).run()


def _announce_first_answer(settings: Settings, listener: socket.socket) -> None:
    """The socket listens at once, but only a worker that is there answers."""
    host, port = listener.getsockname()[:2]
    with socket.create_connection((host, port)) as asking:
        asking.sendall(f"GET /healthz HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
        if asking.recv(1):
            _announce(settings, listener)


def worker_application() -> ASGIApp:
    """The application of one worker process among several."""
    from keyplan.web.server import log_to_stderr

    threading.Thread(target=_end_with_parent, daemon=True).start()
    settings = settings_from(json.loads(os.environ[_FLAGS]))
    log_to_stderr(settings.log_level)
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
    """A worker whose supervisor was killed would go on for ever, and keep the port."""
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

    return application(systems, settings, lifespan)


@asynccontextmanager
async def _nothing() -> AsyncIterator[None]:
    yield


def _config(app: Any, **options: Any) -> Any:  # noqa: ANN401 - uvicorn's own
    import uvicorn

    return uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=10,
        **options,
    )


def _run(app: ASGIApp, listener: socket.socket, ready: Callable[[], None]) -> None:
    import uvicorn

    class Server(uvicorn.Server):
        @contextmanager
        def capture_signals(self) -> Iterator[None]:
            """As uvicorn does it, but without dying of the signal afterwards: there are things to close."""
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

    Server(_config(app)).run(sockets=[listener])


def _announce(settings: Settings, listener: socket.socket) -> None:
    host, port = listener.getsockname()[:2]
    shown = f"[{host}]" if ":" in host else host
    typer.echo(f"Keyplan on http://{shown}:{port} ({place(settings)})")


def _fill(systems: list[Running[Any]]) -> None:
    """Fill the systems that were not filled yet."""
    from rich.console import Console
    from rich.progress import Progress

    from keyplan.web.server import filled

    with Progress(console=Console(stderr=True), transient=True) as bar:
        for each in systems:
            task = bar.add_task(each.system.title, total=None)
            filled(each, partial(_show_progress, bar, task))


def _show_progress(bar: ProgressBar, task: TaskID, done: int, total: int) -> None:
    bar.update(task, completed=done, total=total)


def config(
    as_json: Annotated[bool, typer.Option("--json", help="Write JSON, for programs.")] = False,
) -> None:
    """Show the settings that hold here, and where each is from; secrets are masked."""
    settings = settings_from({})
    if as_json:
        typer.echo(settings.model_dump_json(indent=2))
        return
    from keyplan.cli.designs import show

    from_file = _given_in_file()
    rows = [
        [
            f"KEYPLAN_{name.upper()}",
            _shown(getattr(settings, name)),
            _origin(name, settings, from_file),
            field.description or "",
        ]
        for name, field in type(settings).model_fields.items()
    ]
    show("Settings", ("Setting", "Value", "From", "What it is"), rows)


def _given_in_file() -> set[str]:
    from dotenv import dotenv_values

    return {name.upper() for name, value in dotenv_values(".env").items() if value}


def _origin(name: str, settings: Settings, from_file: set[str]) -> str:
    if name not in settings.model_fields_set:
        return "default"
    variable = f"KEYPLAN_{name.upper()}"
    in_environment = any(each.upper() == variable and value for each, value in os.environ.items())
    # Neither: the endpoint, by a variable of AWS's own.
    return ".env" if variable in from_file and not in_environment else "environment"


def _shown(value: object) -> str:
    return "" if value is None else str(value)
