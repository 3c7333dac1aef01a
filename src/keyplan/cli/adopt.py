"""`keyplan adopt`: a design for tables that exist."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from keyplan.cli.files import INTERRUPTED, Force, number, progress_bar
from keyplan.cli.opening import DataFile, EndpointUrl, OnAws, connection_from, fail, opened, place

if TYPE_CHECKING:
    from keyplan.adopt import Found, RoundTrip, SampledTable

_SAMPLE = 10_000
_RATE = 100.0


def adopt(
    tables: Annotated[
        list[str] | None, typer.Argument(help="Names of the tables.", metavar="TABLE...", show_default=False)
    ] = None,
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for design.py and report.md.", metavar="DIR")] = Path(
        "adopted"
    ),
    sample: Annotated[int, typer.Option("--sample", help="Items to read of each table.", min=1)] = _SAMPLE,
    rate: Annotated[float, typer.Option("--rate", help="Read units a second to use at most.", min=0.5)] = _RATE,
    sources: Annotated[
        list[Path] | None,
        typer.Option(
            "--from",
            help="Instead of a DynamoDB: the folder of an export or a file with items, a CloudFormation template, a "
            "NoSQL Workbench model, or the description of a table. Can be repeated, for items and their description.",
            metavar="PATH",
        ),
    ] = None,
    key: Annotated[
        str | None,
        typer.Option("--key", help="Key attributes of items without a description: PK or PK,SK.", metavar="PK,SK"),
    ] = None,
    with_values: Annotated[
        bool, typer.Option("--with-values", help="Show an example of each entity's items in the report.")
    ] = False,
    path: DataFile = None,
    endpoint_url: EndpointUrl = None,
    aws: OnAws = None,
    force: Force = False,
) -> None:
    """Write a design for existing tables, from their descriptions and a sample of their items.

    The tables are only read: slowly (--rate), and an interrupted run continues where it was. Writes DIR/design.py, a
    design that imports, and DIR/report.md, which says what isn't sure. Every item that was read is written through the
    design into an empty DynamoDB in memory and compared. Exits with 1 if one comes back different.
    """
    from keyplan.adopt import AdoptError

    targets = (out / "design.py", out / "report.md")
    taken = [each for each in targets if each.exists()]
    if taken and not force:
        fail(f"{taken[0]} exists. Use another --out, or --force to replace it.")
    try:
        if sources:
            from keyplan.adopt import tables_in

            sampled = tables_in(sources, tables or [], key, sample)
        else:
            sampled = _read(tables or [], out, sample, rate, path, endpoint_url, aws)
        found, source, checked = _worked_out(sampled)
    except AdoptError as error:
        fail(str(error))
    _write(found, source, checked, out, with_values=with_values)
    for name in [table.table.name for table in sampled]:
        (out / f"{name}.reading.jsonl").unlink(missing_ok=True)
    if not checked.whole:
        fail(f"{checked.items - checked.same:,} items come back different. See {targets[1]}.", 1)


def _read(
    tables: list[str],
    out: Path,
    sample: int,
    rate: float,
    path: Path | None,
    endpoint_url: str | None,
    aws: bool | None,
) -> list[SampledTable]:
    from botocore.exceptions import BotoCoreError

    from keyplan.adopt import Source

    settings = connection_from({"path": path, "endpoint_url": endpoint_url, "aws": aws})
    with opened(settings) as clients:
        source = Source(clients.dynamodb, sample, rate, out, place(settings))
        try:
            if not tables:
                fail(f"Name the tables to adopt. In {place(settings)}: {', '.join(source.names()) or 'none'}.")
            sampled = []
            for name in dict.fromkeys(tables):
                with progress_bar(f"Reading {name}") as progress:
                    sampled.append(source.sampled(name, progress))
        except KeyboardInterrupt:
            fail("Stopped. What was read is kept: run the command again, and it continues.", INTERRUPTED)
        except BotoCoreError as error:  # nobody answers, or there are no credentials
            fail(f"Can't read {', '.join(tables) or 'the tables'} in {place(settings)}: {error}")
        return sampled


def _worked_out(sampled: list[SampledTable]) -> tuple[Found, str, RoundTrip]:
    """What was found, the design's source, and how it did with all items."""
    from keyplan.adopt import check_items, design_source, find, loaded
    from keyplan.engine import Engine

    with progress_bar("Comparing items") as progress:
        found = find(sampled, progress)
    source = design_source(found)
    with progress_bar("Writing each item through the design") as progress, Engine(ttl_interval=None) as engine:
        return found, source, check_items(loaded(source), found, engine, progress)


def _write(found: Found, source: str, checked: RoundTrip, out: Path, *, with_values: bool) -> None:
    from keyplan.adopt import adoption_report

    try:
        out.mkdir(parents=True, exist_ok=True)
        (out / "design.py").write_text(source, "utf-8")
        (out / "report.md").write_text(adoption_report(found, checked, with_values=with_values), "utf-8")
    except OSError as error:
        fail(f"Can't write {error.filename or out}: {error.strerror or error}")
    keys = sum(len(entity.keys) + len(entity.guards) for entity in found.entities)
    entities, tables = number(len(found.entities), "entity", "entities"), number(len(found.tables), "table", "tables")
    if not checked.items:
        typer.echo(
            f"Wrote {out / 'design.py'}: {tables}. There are no items, so nothing says which entities there are."
        )
    else:
        typer.echo(f"Wrote {out / 'design.py'}: {entities} with {number(keys, 'key', 'keys')} in {tables}.")
        nulls = f", and {checked.nulls:,} apart from attributes that are NULL" if checked.nulls else ""
        typer.echo(f"{checked.same:,} of {checked.items:,} items come back unchanged{nulls}.")
    unsure = (
        number(len(found.doubts), "thing in it isn't", "things in it aren't") if found.doubts else "nothing in it is"
    )
    about = f": {unsure} {'sure' if found.doubts else 'unsure'}" if checked.items else ""
    typer.echo(f"Wrote {out / 'report.md'}{about}.")
    module = ".".join((*out.parts, "design"))
    if not out.is_absolute() and all(part.isidentifier() for part in out.parts):
        typer.echo(f"To review the design: keyplan review {module}:DESIGN")
