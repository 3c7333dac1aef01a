"""`keyplan token`: a development token for a system on this machine."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Annotated

import typer

from keyplan.cli.opening import fail, import_system, settings_from, system_names, unknown_system


def token(
    sub: Annotated[str, typer.Option(help="Subject of the token: the user to sign in as.", show_default=False)],
    system: Annotated[str, typer.Option(help="System that the token is for.", show_default=False)],
    group: Annotated[list[str] | None, typer.Option(help="Group that the user is in. Can be repeated.")] = None,
    hours: Annotated[float, typer.Option(help="Hours until the token expires.", min=0.001, max=24 * 366)] = 1,
    claim: Annotated[
        list[str] | None, typer.Option(metavar="NAME=VALUE", help="Another claim, as text. Can be repeated.")
    ] = None,
    path: Annotated[
        Path | None, typer.Option(help="Database file. The signing key is in the same folder.", metavar="FILE")
    ] = None,
) -> None:
    """Print a token that `keyplan serve --dev` accepts. Exits with 1 if there is no signing key yet."""
    if ":" in system:
        system = import_system(system).name
    elif system not in system_names():
        raise typer.BadParameter(unknown_system(system))
    claims = dict(_pair(each) for each in claim or ())
    settings = settings_from({"path": path})

    from keyplan.web.identity import DEV_ISSUER, SigningKey, TokenIssuer

    file = settings.dev_key_file
    try:
        issuer = TokenIssuer(DEV_ISSUER, SigningKey.read(file))
    except FileNotFoundError:
        fail(f"No signing key found ({file}). Run `keyplan serve --dev` first to create it.", 1)
    except (OSError, ValueError) as error:
        fail(f"Can't read the signing key: {error}", 1)
    try:
        made = issuer.token(system, sub, groups=group or (), lifetime=timedelta(hours=hours), claims=claims)
    except ValueError as error:
        raise typer.BadParameter(f"Can't issue this token: {error}.") from error
    typer.echo(made)


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise typer.BadParameter(f"{text!r} isn't of the form NAME=VALUE.")
    return name, value
