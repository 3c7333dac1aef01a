"""`keyplan backup`, `restore`, `check` and `compact`: what an operator does with a whole database file."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from keyplan.cli.opening import DataFile, check_usable, connection_from, fail, media_folder

if TYPE_CHECKING:
    from keyplan.engine.operator import Progress

INTERRUPTED = 130
"""The exit code of a command that was stopped, as shells have it."""

Force = Annotated[bool, typer.Option("--force", help="Replace a file that exists.")]


def backup(
    target: Annotated[Path, typer.Argument(help="File to write.", metavar="DEST", show_default=False)],
    path: DataFile = None,
    force: Force = False,
) -> None:
    """Write a backup of a database file, which may be in use.

    The backup is a database file as of the moment when the command started, and can be opened like any other. Uploaded
    files aren't in it: the command says where they are.
    """
    from keyplan.engine.operator import back_up

    file = existing_file(path)
    with explained(file), progress_bar("Backing up") as progress:
        size = back_up(file, target, force=force, progress=progress)
    typer.echo(f"Wrote {target} ({size:,} bytes).")
    _say_where_uploads_are(file)


def restore(
    source: Annotated[
        Path, typer.Argument(help="Backup, or another database file.", metavar="SRC", show_default=False)
    ],
    path: DataFile = None,
    force: Force = False,
    without_log: Annotated[
        bool,
        typer.Option(
            "--without-log",
            help="Restore a file whose log (-wal) is lost, without the writes that were only in the log.",
        ),
    ] = False,
) -> None:
    """Replace a database file with a backup.

    The backup is checked first, as by `keyplan check`. No process may have the file open that is replaced.
    """
    from keyplan.engine.operator import restore as restore_file

    file = _file(path)
    with explained(file), progress_bar("Checking") as progress:
        size = restore_file(source, file, force=force, without_log=without_log, progress=progress)
    typer.echo(f"Restored {file} ({size:,} bytes).")
    _say_where_uploads_are(file)


def check(path: DataFile = None) -> None:
    """Check a whole database file for damage, without changing anything.

    It checks the checksum of every page, every index against its table, backups, histories and streams. The file may be
    in use. A file of an older release is upgraded first, as by every command that opens it.
    """
    from keyplan.engine.operator import check_file

    file = existing_file(path)
    with explained(file, if_damaged=1), progress_bar("Checking") as progress:
        found = check_file(file, progress)
    for problem in found.problems:
        typer.echo(problem, err=True)
    if found.problems:
        fail(f"{file} is damaged. Restore it from a backup (`keyplan restore`).", 1)
    typer.echo(
        f"No damage found in {file}: {number(found.pages, 'page')}, {number(found.tables, 'table')} with "
        f"{number(found.items, 'item')}, {number(found.entries, 'index entry', 'index entries')}, "
        f"{number(found.records, 'stream record')}, {number(found.backups, 'backup')}, "
        f"{number(found.changes, 'change')} of history ({number(found.history_bytes, 'byte')})."
    )


def compact(path: DataFile = None) -> None:
    """Make a database file smaller by removing unused pages. No other process may have the file open."""
    from keyplan.engine.operator import compact as compact_file

    file = existing_file(path)
    with explained(file), progress_bar("Compacting") as progress:
        before, after = compact_file(file, progress=progress)
    typer.echo(f"{file} has {after:,} bytes (before: {before:,}).")


def number(count: int, one: str, several: str = "") -> str:
    """A number with its noun."""
    return f"{count:,} {one if count == 1 else several or one + 's'}"


def existing_file(path: Path | None) -> Path:
    """The database file of a command, which must exist."""
    file = _file(path)
    if not file.is_file():
        fail(f"Can't open {file}: file not found{'' if path else '. Give the path of the database with --path.'}")
    return file


def _file(path: Path | None) -> Path:
    settings = connection_from({"path": path})
    if not settings.embedded or str(settings.path) == ":memory:":
        fail("This command works on a database file. Give its path with --path.")
    check_usable(settings.path)
    return settings.path


@contextmanager
def explained(file: Path, *, if_damaged: int = 2) -> Iterator[None]:
    """Ends the command with a message if something can't be done. `DamagedFile` and `OperatorError` name the file."""
    import apsw

    from keyplan.engine import DamagedFile
    from keyplan.engine.operator import OperatorError

    try:
        with _terminated_like_interrupted():
            yield
    except KeyboardInterrupt as interrupt:
        fail(f"Stopped. {interrupt}".rstrip(), INTERRUPTED)
    except OperatorError as error:
        fail(str(error))
    except DamagedFile as error:
        fail(str(error), if_damaged)
    except apsw.FullError:
        fail("There isn't enough space on the disk. Free some, or use another disk.")
    except apsw.IOError as error:
        fail(f"Can't use {file}: {error}. The disk may be full: a database that is in use needs files beside it.")
    except apsw.Error as error:
        fail(f"Can't use {file}: {error}")
    except OSError as error:
        fail(f"{error.filename or file}: {error.strerror or error}")
    except ValueError as error:
        if not str(error).startswith("KEYPLAN_"):
            raise
        fail(str(error))  # a setting of storage/limits.py


@contextmanager
def _terminated_like_interrupted() -> Iterator[None]:
    """SIGTERM, like Ctrl-C, lets the command delete the file that it hasn't completed."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def progress_bar(title: str) -> Iterator[Progress]:
    """A progress bar on a terminal; nothing elsewhere."""
    from rich.console import Console
    from rich.progress import Progress as Bar

    console = Console(stderr=True)
    with Bar(console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(title, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def _say_where_uploads_are(file: Path) -> None:
    folder = media_folder(file)
    if folder is not None and folder.is_dir():
        typer.echo(f"Not included: the uploaded files in {folder}. Copy the folder as well.")
