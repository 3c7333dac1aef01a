"""`keyplan vcm`: administering vcm, the club's site."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from keyplan.cli.opening import DataFile, EndpointUrl, OnAws, fail, settings_from

if TYPE_CHECKING:
    from keyplan.apps.vcm.payload.migrate import Options, Report
    from keyplan.web import Settings

vcm = typer.Typer(name="vcm", help="Administer vcm, the club's site.", no_args_is_help=True)


@vcm.callback()
def _vcm() -> None:
    """Administer vcm, the club's site."""


@vcm.command("import")
def import_payload(
    export: Annotated[
        Path, typer.Argument(help="Folder with one JSON file per collection.", metavar="FOLDER", show_default=False)
    ],
    media: Annotated[
        Path | None, typer.Option(help="Folder with the media files. The default is media in the export.")
    ] = None,
    authors: Annotated[Path | None, typer.Option(help="JSON file that maps Payload users to token subjects.")] = None,
    keep_lexical: Annotated[bool, typer.Option("--keep-lexical", help="Also store the original rich text.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Report what would be written, and write nothing.")
    ] = False,
    allow_unconverted: Annotated[
        bool, typer.Option("--allow-unconverted", help="Import the rest even if something can't be converted.")
    ] = False,
    path: DataFile = None,
    endpoint_url: EndpointUrl = None,
    aws: OnAws = None,
) -> None:
    """Import an export from Payload. If interrupted, run it again to continue. Don't edit the site meanwhile."""
    from keyplan.apps.vcm.payload.migrate import Options

    report = _migrated(
        settings_from({"path": path, "endpoint_url": endpoint_url, "aws": aws, "systems": ["vcm"]}),
        Options(
            export,
            media,
            _authors(authors),
            keep_lexical=keep_lexical,
            dry_run=dry_run,
            allow_unconverted=allow_unconverted,
        ),
    )
    _print_report(report, dry_run)


def _migrated(settings: Settings, options: Options) -> Report:
    from rich.console import Console
    from rich.progress import Progress

    from keyplan.apps.vcm.payload.export import ExportError
    from keyplan.apps.vcm.payload.migrate import migrate
    from keyplan.cli.serve import running_systems
    from keyplan.data import DataError
    from keyplan.design import InvalidValue

    with (
        running_systems(settings) as ((club,), _),
        Progress(console=Console(stderr=True), transient=True) as bar,
    ):
        tasks = {name: bar.add_task(name.capitalize(), total=None) for name in _STEPS}

        def show_progress(step: str, done: int, total: int) -> None:
            bar.update(tasks[step], completed=done, total=total)

        try:
            return migrate(club, options, show_progress)
        except (ExportError, DataError, InvalidValue) as error:
            bar.stop()
            fail(str(error), 1)


_STEPS = ("reading", "files", "writing", "checking")


def _authors(path: Path | None) -> dict[str, str]:
    if path is None:
        return {}
    try:
        found = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        fail(f"Can't read {path}: {error}")
    if not isinstance(found, dict) or not all(isinstance(each, str) for each in found.values()):
        fail(f"{path} must be a JSON object that maps Payload users to token subjects.")
    return {str(user): subject for user, subject in found.items()}


def _print_report(report: Report, dry_run: bool) -> None:
    for name in report.missing:
        typer.echo(f"{name}.json not found.", err=True)
    for issue in report.issues:
        typer.echo(str(issue), err=True)
    for fault in report.faults:
        typer.echo(f"check: {fault}", err=True)
    verb = "written" if report.wrote else "to be written"
    for name, tally in report.tallies.items():
        typer.echo(f"{name}: {tally.records} records, {tally.written} {verb}, {tally.there} already there")
    if report.resumed:
        typer.echo("Continued an interrupted import.")
    if dry_run:
        typer.echo(f"Nothing was written. {len(report.issues)} can't be converted.")
        raise typer.Exit(1 if report.issues else 0)
    if not report.wrote:
        fail("Nothing was written. Fix the export, or use --allow-unconverted.", 1)
    if report.faults:
        fail("Some checks failed.", 1)
    typer.echo("All checks passed.")
