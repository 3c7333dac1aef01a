"""The command `keyplan`. Each command has a module of its own here; what it does, it finds elsewhere."""

from typing import Annotated

import typer

from keyplan.cli.designs import patterns, tables, verify
from keyplan.cli.dynamodb import dynamodb
from keyplan.cli.opening import is_missing_extra
from keyplan.cli.serve import config, serve
from keyplan.cli.token import token
from keyplan.cli.vcm import vcm
from keyplan.cli.wavyblog import wavyblog
from keyplan.cli.work import work


class _Commands(typer.Typer):
    """Says which extra to install where a command needs packages that are not there."""

    def __call__(self, *args: object, **kwargs: object) -> object:
        try:
            return super().__call__(*args, **kwargs)
        except ModuleNotFoundError as error:
            if not is_missing_extra(error):
                raise
            needed = f"this command needs {error.name}, which is not installed: pip install 'keyplan[systems]'"
            typer.echo(f"keyplan: {needed}", err=True)
            raise SystemExit(2) from None


main = _Commands(
    name="keyplan",
    help="DynamoDB designs that run.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
for _command in (serve, work, token, config, dynamodb, tables, patterns, verify):
    main.command()(_command)
main.add_typer(wavyblog)
main.add_typer(vcm)


def _show_version(wanted: bool) -> None:
    if wanted:
        # Here and not above: it takes longer to import than everything else of this module.
        from importlib.metadata import version

        typer.echo(f"keyplan {version('keyplan')}")
        raise typer.Exit


@main.callback()
def _keyplan(
    show_version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """DynamoDB designs that run."""
