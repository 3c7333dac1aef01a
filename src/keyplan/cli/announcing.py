"""What `keyplan serve` says when it is ready: in a terminal to a person, elsewhere in one line."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from keyplan.addresses import is_loopback
from keyplan.cli.opening import place, served_systems

if TYPE_CHECKING:
    from keyplan.web import Person, Settings, System

LogFormat = Annotated[
    Literal["auto", "text", "json"] | None,
    typer.Option(
        "--log-format", help="Log readable lines (text) or JSON. The default is text in a terminal, otherwise JSON."
    ),
]
_SHOWN_PEOPLE = 3


def announce(settings: Settings, listening: tuple[str, int], endpoint: str | None) -> None:
    """Say where the server is, and what to do about it. `endpoint` is the URL of the DynamoDB endpoint, if any."""
    host, port = listening
    url = _url(host, port)
    if sys.stdout.isatty():
        _introduce(settings, url, endpoint)
    else:
        if endpoint is not None:
            typer.echo(f"DynamoDB endpoint on {endpoint}")
        typer.echo(f"Keyplan on {url} ({place(settings)})")
        if settings.monitor_port is not None:
            typer.echo(f"Monitoring on {_url(settings.monitor_host, settings.monitor_port)}")
    _warn(settings, host)


def _url(host: str, port: int) -> str:
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


def _introduce(settings: Settings, url: str, endpoint: str | None) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False)
    table = Table.grid(padding=(0, 2))
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for system in served_systems(settings.systems):
        path = f"/{system.name}/" if system.pages is not None else f"/api/{system.name}/docs"
        table.add_row(system.title, Text(f"{settings.base_url or url}{path}", style="cyan"))
        if people := _people(system, settings):
            table.add_row("", Text(f"Sign in as {people}"))
    table.add_row("", "")
    for label, value in _facts(settings, endpoint):
        table.add_row(label, Text(value))
    console.print()
    console.print(Text.assemble(("Keyplan", "bold green"), " on ", (url, "bold cyan"), ". Press Ctrl+C to stop."))
    console.print()
    console.print(table)
    console.print()


def _facts(settings: Settings, endpoint: str | None) -> Iterator[tuple[str, str]]:
    if settings.embedded:
        yield "Data", str(settings.path.absolute())
        if settings.media_bucket is None:
            yield "Uploads", str(settings.media_folder.absolute())
    else:
        yield "Data", place(settings)
    if settings.media_bucket is not None:
        yield "Uploads", f"S3 bucket {settings.media_bucket}"
    if endpoint is not None:
        yield "DynamoDB", endpoint
    if settings.monitor_port is not None:
        yield "Monitoring", f"{_url(settings.monitor_host, settings.monitor_port)}/readyz and /metrics"
    if settings.dev:
        yield "Mode", "development: anyone on this machine can sign in as anyone"


def _people(system: System[Any], settings: Settings) -> str:
    """The people whom one can sign in as: with one click in development, or with the passwords of the demo data."""
    pages = system.pages
    if pages is None or not (settings.demo if pages.sign_in else settings.dev):
        return ""
    shown = [_person(each) for each in pages.people[:_SHOWN_PEOPLE]]
    more = len(pages.people) - len(shown)
    return f"{', '.join(shown)} and {more} more" if more > 0 else _listed(shown)


def _listed(texts: Sequence[str]) -> str:
    return " or ".join(filter(None, [", ".join(texts[:-1]), *texts[-1:]]))


def _person(person: Person) -> str:
    return f"{person.name} ({person.about})" if person.about else person.name


def _warn(settings: Settings, host: str) -> None:
    """Say what it means to listen to the network, unless there is a proxy."""
    if is_loopback(host) or settings.trusted_proxies:
        return
    logging.getLogger("keyplan").warning(
        f"{host} isn't a loopback address: everybody who can reach this machine over the network can use the server, "
        "and connections aren't encrypted. Put a proxy with TLS in front of it, let only the proxy reach this port, "
        "and set KEYPLAN_TRUSTED_PROXIES and KEYPLAN_BASE_URL."
    )
