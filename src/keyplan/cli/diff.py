"""`keyplan diff`: what differs between two designs, or between a design and what is deployed."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from keyplan.cli.designs import Environment, design_named
from keyplan.cli.files import progress_bar
from keyplan.cli.opening import DataFile, EndpointUrl, OnAws, connection_from, fail, opened, place

if TYPE_CHECKING:
    from keyplan.connection import Connection
    from keyplan.publish.differences import Snapshot

DEPLOYED = "deployed"
_SIDE = (
    "A system, module:NAME of a design (which is imported, which runs its module), REV:module:NAME for the design in a "
    "revision of git, a file written by --snapshot, or deployed for the tables in a DynamoDB."
)


def diff(
    before: Annotated[str, typer.Argument(help=_SIDE, metavar="A", show_default=False)],
    after: Annotated[str | None, typer.Argument(help="Like A.", metavar="B", show_default=False)] = None,
    form: Annotated[
        Literal["text", "markdown", "json"], typer.Option("--format", help="Format of the report.")
    ] = "text",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON: short for --format json.")] = False,
    snapshot: Annotated[
        bool, typer.Option("--snapshot", help="Instead of comparing, print what A is as JSON, to compare later.")
    ] = False,
    environment: Environment = None,
    path: DataFile = None,
    endpoint_url: EndpointUrl = None,
    aws: OnAws = None,
) -> None:
    """Show what differs between A and B, what can be changed in place and in which order, and what needs a migration.

    This imports the designs, which runs their modules. --path, --endpoint-url and --aws say where the deployed tables
    are; of these, only what the other side says is compared. Exits with 0 if there is no difference, with 1 if there is
    one, and with 2 if something went wrong.
    """
    settings = connection_from({"path": path, "endpoint_url": endpoint_url, "aws": aws})
    if snapshot:
        if after is not None or before == DEPLOYED:
            raise typer.BadParameter("--snapshot takes one design.")
        from keyplan.publish.differences import snapshot_json

        typer.echo(snapshot_json(_read(before, environment, settings)), nl=False)
        return
    if after is None:
        raise typer.BadParameter("Name what to compare with: keyplan diff A B.")
    from keyplan.publish.differences import compare, difference_report

    old, new = _both(before, after, environment, settings)
    if old.name == new.name:  # two versions of a design
        old, new = replace(old, name=before), replace(new, name=after)
    found = compare(old, new)
    typer.echo(difference_report(found, "json" if as_json else form), nl=False)
    if found.changes:
        raise typer.Exit(1)


def _both(
    before: str, after: str, environment: Sequence[str] | None, settings: Connection
) -> tuple[Snapshot, Snapshot]:
    if before == after == DEPLOYED:
        raise typer.BadParameter("Only one side can be deployed.")
    if after == DEPLOYED:
        known = _read(before, environment, settings)
        return known, _deployed(known, settings)
    other = _read(after, environment, settings)
    return (_deployed(other, settings) if before == DEPLOYED else _read(before, environment, settings)), other


def _read(side: str, environment: Sequence[str] | None, settings: Connection) -> Snapshot:
    """The snapshot of a side that isn't deployed."""
    from keyplan.publish.differences import snapshot_of

    if side.count(":") > 1:
        revision, _, design = side.partition(":")
        return _in_revision(revision, design, environment)
    if side.endswith(".json") or (":" not in side and not side.endswith(".py") and Path(side).is_file()):
        return _from_file(Path(side))
    return snapshot_of(design_named(side, environment, settings))


def _from_file(file: Path) -> Snapshot:
    from keyplan.publish.differences import SnapshotError, read_snapshot

    try:
        return read_snapshot(file.read_text("utf-8"))
    except OSError as error:
        fail(f"Can't read {file}: {error.strerror or error}")
    except (UnicodeDecodeError, SnapshotError) as error:
        fail(f"Can't read {file}: {error}")


def _deployed(known: Snapshot, settings: Connection) -> Snapshot:
    """The tables of a snapshot, as they are in the DynamoDB of these settings."""
    from botocore.exceptions import BotoCoreError, ClientError

    from keyplan.publish.differences import deployed

    where = place(settings)
    with opened(settings) as clients, progress_bar(f"Reading the tables in {where}"):
        try:
            return deployed(clients.dynamodb, [table.name for table in known.tables], where)
        except (ClientError, BotoCoreError) as error:
            fail(f"Can't read the tables in {where}: {error}")


# Revisions of git


def _in_revision(revision: str, design: str, environment: Sequence[str] | None) -> Snapshot:
    """A design as it was in a revision: another process imports it from a copy, which is deleted afterwards."""
    from tempfile import TemporaryDirectory

    from keyplan.publish.differences import read_snapshot

    if not revision or revision.startswith("-"):
        raise typer.BadParameter(f"{revision!r} isn't a revision. Write REV:module:NAME.")
    root = Path(_git("rev-parse", "--show-toplevel"))
    inner = _git("rev-parse", "--show-prefix")
    commit = _git(
        "rev-parse", "--verify", f"{revision}^{{commit}}", refused=f"The repository has no revision {revision}."
    )
    with progress_bar(f"Reading {revision}"), TemporaryDirectory(prefix="keyplan-diff-") as folder:
        copy = Path(folder)
        _extract(root, commit, copy)
        here = copy / inner
        if not here.is_dir():
            fail(f"The revision {revision} has no folder {inner}.")
        given = [part for each in environment or () for part in ("--environment", each)]
        paths = [str(here), str(copy), str(copy / "src"), *filter(None, [os.environ.get("PYTHONPATH")])]
        done = subprocess.run(
            [sys.executable, "-m", "keyplan.cli", "diff", "--snapshot", design, *given],
            cwd=here,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode != 0:
        fail(f"Can't read {design} in revision {revision}: {_message(done.stderr)}")
    return read_snapshot(done.stdout)


def _message(printed: str) -> str:
    """The message of a command that failed: its own, or else the last line, without the frame around it."""
    lines = [text for line in printed.splitlines() if (text := line.strip("│╭╮╰╯─ "))]
    own = [line.removeprefix("keyplan: ") for line in lines if line.startswith("keyplan: ")]
    return next(iter(own or lines[-1:]), "it says nothing")


def _extract(root: Path, commit: str, target: Path) -> None:
    """Copy the files of a commit."""
    import tarfile

    try:
        with subprocess.Popen(["git", "-C", str(root), "archive", commit], stdout=subprocess.PIPE) as git:
            assert git.stdout is not None
            with tarfile.open(fileobj=git.stdout, mode="r|") as archive:
                archive.extractall(target, filter="data")
    except (tarfile.TarError, OSError) as error:
        fail(f"Can't read the files of {commit}: {error}")
    if git.returncode:
        fail(f"Can't read the files of {commit}.")


def _git(*arguments: str, refused: str | None = None) -> str:
    """What git answers. Ends the command if it refuses, with its reason or this one."""
    try:
        done = subprocess.run(["git", *arguments], capture_output=True, text=True, check=False)
    except FileNotFoundError:
        fail("Revisions need git, which isn't installed.")
    if done.returncode != 0:
        fail(refused or f"git {' '.join(arguments)}: {done.stderr.strip().removeprefix('fatal: ')}")
    return done.stdout.strip()
