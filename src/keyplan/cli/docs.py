"""`keyplan docs`: a design as a document."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from keyplan.cli.designs import Environment, design_named
from keyplan.cli.files import progress_bar
from keyplan.cli.opening import DesignName, connection_from, fail

if TYPE_CHECKING:
    from keyplan.publish.document import Document

Form = Literal["markdown", "html", "json"]


def docs(
    design: DesignName,
    form: Annotated[Form, typer.Option("--format", help="Format of the document.")] = "markdown",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON: short for --format json.")] = False,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Folder to write files to, instead of printing.", metavar="DIR"),
    ] = None,
    environment: Environment = None,
) -> None:
    """Write a design down: tables, indexes, item types, access patterns, transactions, costs, findings and diagrams.

    This imports DESIGN, which runs its module. Its examples run on a database in memory; nothing else is read or
    written. With --out, Markdown has its diagrams as SVG files beside it; without, as Mermaid.
    """
    from keyplan.cli.documents import document_of_design
    from keyplan.design import DesignError, InvalidValue

    try:
        declared = design_named(design, environment, connection_from({}))
        with progress_bar("Running examples"):
            document = document_of_design(declared, type(declared).__name__.removesuffix("Design"))
    except (DesignError, InvalidValue) as error:
        fail(f"Can't make examples of {design}: {error}")
    form = "json" if as_json else form
    if out is None:
        typer.echo(_text(document, form, None), nl=False)
        return
    name = design.rpartition(":")[2]
    for path in _write(document, form, out, document.title if name in ("DESIGN", "SYSTEM") else name):
        typer.echo(f"Wrote {path}")


def _text(document: Document, form: Form, pictures: str | None) -> str:
    from keyplan.publish.document import document_json, markdown, page

    if form == "markdown":
        return markdown(document, pictures)
    return page(document) if form == "html" else f"{document_json(document)}\n"


def _write(document: Document, form: Form, folder: Path, name: str) -> list[Path]:
    """Write a document, and for Markdown its pictures, into a folder; returns the files."""
    from keyplan.publish.document import slug

    name = slug(name)
    files = {f"{name}.{'md' if form == 'markdown' else form}": _text(document, form, name)}
    if form == "markdown":
        files |= {f"{name}/{each.name}.svg": each.svg for each in document.drawings}
    written = []
    for relative, text in files.items():
        path = folder / relative
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
        except OSError as error:
            fail(f"Can't write {path}: {error.strerror or error}")
        written.append(path)
    return written
