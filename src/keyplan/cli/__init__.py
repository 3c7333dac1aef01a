"""The command `keyplan`, with one module per command. The work itself is done in the other packages."""

from typing import Annotated

import typer

from keyplan.cli.adopt import adopt
from keyplan.cli.config import config
from keyplan.cli.cost import cost
from keyplan.cli.designs import patterns, tables, verify
from keyplan.cli.diff import diff
from keyplan.cli.docs import docs
from keyplan.cli.dynamodb import dynamodb
from keyplan.cli.files import backup, check, compact, restore
from keyplan.cli.forecast import forecast
from keyplan.cli.infra import infra
from keyplan.cli.opening import is_missing_extra
from keyplan.cli.review import review
from keyplan.cli.serve import serve
from keyplan.cli.table_files import export_table, import_table
from keyplan.cli.token import token
from keyplan.cli.vcm import vcm
from keyplan.cli.wavyblog import wavyblog
from keyplan.cli.work import work


class _Commands(typer.Typer):
    """The commands. If one needs a package that isn't installed, it says which extra to install."""

    def __call__(self, *args: object, **kwargs: object) -> object:
        try:
            return super().__call__(*args, **kwargs)
        except ModuleNotFoundError as error:
            if not is_missing_extra(error):
                raise
            needed = f"This command needs {error.name}, which isn't installed: pip install 'keyplan[systems]'"
            typer.echo(f"keyplan: {needed}", err=True)
            raise SystemExit(2) from None


main = _Commands(
    name="keyplan",
    help="DynamoDB designs that run.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",  # which wraps paragraphs to the width of the terminal
)
for _command in (
    serve,
    work,
    token,
    config,
    dynamodb,
    tables,
    patterns,
    verify,
    review,
    docs,
    cost,
    forecast,
    infra,
    diff,
    adopt,
    backup,
    restore,
    check,
    compact,
):
    main.command()(_command)
main.command("export")(export_table)
main.command("import")(import_table)
main.add_typer(wavyblog)
main.add_typer(vcm)


def _show_version(wanted: bool) -> None:
    if wanted:
        # Imported here because it takes longer than everything else in this module.
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
