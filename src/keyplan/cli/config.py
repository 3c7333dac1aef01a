"""`keyplan config`: show the settings."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated

import typer

from keyplan.cli.designs import show
from keyplan.cli.opening import settings_from

if TYPE_CHECKING:
    from keyplan.web import Settings


def config(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show all settings and where each comes from. Secrets are masked."""
    settings = settings_from({})
    if as_json:
        typer.echo(settings.model_dump_json(indent=2))
        return
    from_file = _set_in_file()
    rows = [
        [
            f"KEYPLAN_{name.upper()}",
            _shown(getattr(settings, name)),
            _origin(name, settings, from_file),
            field.description or "",
        ]
        for name, field in type(settings).model_fields.items()
    ]
    show("Settings", ("Setting", "Value", "From", "Description"), rows)


def _set_in_file() -> set[str]:
    from dotenv import dotenv_values

    return {name.upper() for name, value in dotenv_values(".env").items() if value}


def _origin(name: str, settings: Settings, from_file: set[str]) -> str:
    if name not in settings.model_fields_set:
        return "default"
    variable = f"KEYPLAN_{name.upper()}"
    in_environment = any(each.upper() == variable and value for each, value in os.environ.items())
    # The endpoint may come from one of AWS's variables instead.
    return ".env" if variable in from_file and not in_environment else "environment"


def _shown(value: object) -> str:
    return "" if value is None else str(value)
