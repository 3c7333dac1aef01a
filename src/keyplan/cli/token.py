"""`keyplan token`: a token for a system on this machine, from the issuer for development."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Annotated

import typer

from keyplan.cli.opening import fail, named, settings_from, system_names


def token(
    sub: Annotated[str, typer.Option(help="Who to be: the token's subject.", show_default=False)],
    system: Annotated[str, typer.Option(help="The system that the token is for.", show_default=False)],
    group: Annotated[list[str] | None, typer.Option(help="A group to be in. May be repeated.")] = None,
    hours: Annotated[float, typer.Option(help="How long it is good.", min=0.001, max=24 * 366)] = 1,
    claim: Annotated[
        list[str] | None, typer.Option(metavar="NAME=VALUE", help="One more claim, a text. May be repeated.")
    ] = None,
    path: Annotated[
        Path | None, typer.Option(help="The file with the data, beside which the key is.", metavar="FILE")
    ] = None,
) -> None:
    """Write a token for development, as `keyplan serve --dev` takes it. Exit code 1: there is no key yet."""
    known = system_names()
    if ":" in system:
        system = named(system).name
    elif system not in known:
        raise typer.BadParameter(f"{system!r} is none of the systems: {', '.join(known)}.")
    claims = dict(_pair(each) for each in claim or ())
    settings = settings_from({"path": path})

    from keyplan.web.identity import DEV_ISSUER, SigningKey, TokenIssuer

    file = settings.dev_key_file
    try:
        issuer = TokenIssuer(DEV_ISSUER, SigningKey.read(file))
    except FileNotFoundError:
        fail(f"There is no key for development yet ({file}). Start `keyplan serve --dev` first; it makes one.", 1)
    except (OSError, ValueError) as error:
        fail(f"The key for development can not be read: {error}", 1)
    try:
        made = issuer.token(system, sub, groups=group or (), lifetime=timedelta(hours=hours), claims=claims)
    except ValueError as error:
        raise typer.BadParameter(f"No such token: {error}.") from error
    typer.echo(made)


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise typer.BadParameter(f"{text!r} is not of the form NAME=VALUE.")
    return name, value
