"""`keyplan work`: run background work in a process of its own, and handle stream records that were set aside."""

from __future__ import annotations

import json
import signal
import threading
from typing import TYPE_CHECKING, Annotated, Any

import typer

from keyplan.cli.opening import DataFile, EndpointUrl, OnAws, fail, settings_from
from keyplan.cli.serve import running_systems

if TYPE_CHECKING:
    from keyplan.data.streams import SetAside
    from keyplan.web import Running, Settings


def work(
    path: DataFile = None,
    endpoint_url: EndpointUrl = None,
    aws: OnAws = None,
    system: Annotated[
        list[str] | None,
        typer.Option(help="Only for this system. module:NAME is imported, which runs the module. Can be repeated."),
    ] = None,
    set_aside: Annotated[
        str | None,
        typer.Option(
            metavar="SYSTEM", help="Instead of working, list the stream records that were set aside in this system."
        ),
    ] = None,
    retry: Annotated[
        str | None, typer.Option(metavar="ID", help="With --set-aside: run the handler on this record again.")
    ] = None,
    discard: Annotated[str | None, typer.Option(metavar="ID", help="With --set-aside: delete this record.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="With --set-aside: print JSON.")] = False,
) -> None:
    """Run the systems' background work (jobs, sweeps, stream handlers) until stopped.

    Any number of workers can run, alongside the servers or, with KEYPLAN_WORK=false there, instead of them.
    """
    if set_aside is None and (retry or discard):
        raise typer.BadParameter("--retry and --discard need --set-aside SYSTEM.")
    if retry and discard:
        raise typer.BadParameter("--retry and --discard can't be used together.")
    systems = [set_aside] if set_aside is not None else system or None
    settings = settings_from({"path": path, "endpoint_url": endpoint_url, "aws": aws, "systems": systems})
    if set_aside is None:
        _work(settings)
        return
    with running_systems(settings, create=False) as ((running,), _):
        if retry is not None:
            _retry(running, retry)
        elif discard is not None:
            _discard(running, discard)
        else:
            _list(running, as_json)


def _work(settings: Settings) -> None:
    from keyplan.web.server import Worker, log_to_stderr

    log_to_stderr(settings.log_level, settings.log_format)
    stopping = threading.Event()
    for each in (signal.SIGTERM, signal.SIGINT):
        signal.signal(each, lambda number, frame: stopping.set())
    with running_systems(settings) as (systems, clients):
        worker = Worker(systems, clients.streams, lease_seconds=settings.lease_seconds)
        worker.start()
        typer.echo(f"Working for {', '.join(each.system.name for each in systems)}")
        stopping.wait()
        worker.stop()


def _list(running: Running[Any], as_json: bool) -> None:
    from keyplan.data.streams import set_aside

    found = list(set_aside(running.store))
    if as_json:
        typer.echo(json.dumps([_described(each) for each in found], indent=2, ensure_ascii=False))
        return
    if not found:
        typer.echo("No records are set aside.")
    for each in found:
        typer.echo(f"{each.aside_id}  {each.set_aside_at:%Y-%m-%d %H:%M:%SZ}  {each.kind} {each.entity}")
        typer.echo(f"    {each.handler}, {each.tries} tries: {each.error}")


def _described(aside: SetAside) -> dict[str, Any]:
    """A record that was set aside, without the item that it is about."""
    return aside.model_dump(mode="json", exclude={"content", "pieces", "version"})


def _retry(running: Running[Any], aside_id: str) -> None:
    from keyplan.data import DataError
    from keyplan.data.streams import retry

    try:
        retry(running.store, aside_id, running.system.handlers, running)
    except DataError as error:
        fail(_explained(error, aside_id), 1)
    typer.echo(f"{aside_id} handled.")


def _discard(running: Running[Any], aside_id: str) -> None:
    from keyplan.data import DataError
    from keyplan.data.streams import discard

    try:
        discard(running.store, aside_id)
    except DataError as error:
        fail(_explained(error, aside_id), 1)
    typer.echo(f"{aside_id} discarded.")


def _explained(error: Exception, aside_id: str) -> str:
    from keyplan.data import NotFound

    return f"No record {aside_id} is set aside." if isinstance(error, NotFound) else str(error)
