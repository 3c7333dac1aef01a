"""`keyplan export` and `keyplan import`: a table as a file of lines of DynamoDB JSON."""

from pathlib import Path
from typing import Annotated

import typer

from keyplan.cli.files import Force, existing_file, explained, number, progress_bar
from keyplan.cli.opening import DataFile, fail

TableName = Annotated[
    str,
    typer.Argument(
        help="Name of the table, or its ARN if it is of another region or account.",
        metavar="TABLE",
        show_default=False,
    ),
]


def export_table(
    table: TableName,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="File to write. The default is TABLE.json.gz.", metavar="FILE"),
    ] = None,
    path: DataFile = None,
    force: Force = False,
) -> None:
    """Write all items of a table to a file, one item in DynamoDB JSON per line.

    If the name of the file ends in .gz, it is compressed. The database may be in use.
    """
    from keyplan.engine.operator import export_table as export

    target = output or Path(f"{table.rpartition('/')[2]}.json.gz")
    file = existing_file(path)
    with explained(file), progress_bar("Exporting") as progress:
        count = export(file, table, target, force=force, progress=progress)
    typer.echo(f"Wrote {number(count, 'item')} to {target}.")


def import_table(
    table: TableName,
    source: Annotated[
        Path,
        typer.Argument(help="File with one item per line, with or without gzip.", metavar="FILE", show_default=False),
    ],
    path: DataFile = None,
) -> None:
    """Write the items of a file to a table that exists, one item in DynamoDB JSON per line, as `keyplan export` does.

    Items with the same key are replaced. A line that isn't an item is reported, and the others are imported.
    """
    from keyplan.engine.operator import import_table as import_lines

    file = existing_file(path)
    if not source.is_file():
        fail(f"Can't read {source}: {'it is a folder' if source.is_dir() else 'file not found'}")
    with explained(file), progress_bar("Importing") as progress:
        done = import_lines(file, table, source, progress=progress)
    for line, problem in done.problems:
        typer.echo(f"line {line}: {problem}", err=True)
    if done.bad > len(done.problems):
        typer.echo(f"... and {done.bad - len(done.problems):,} more.", err=True)
    typer.echo(f"Imported {number(done.items, 'item')} to {table}.")
    if done.bad:
        fail(f"{number(done.bad, 'line')} not imported. Fix what is reported, and import the file again.", 1)
