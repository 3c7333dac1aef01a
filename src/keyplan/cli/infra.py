"""`keyplan infra`: templates that deploy a design's tables."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from keyplan.cli.designs import Environment, design_named
from keyplan.cli.opening import DesignName, connection_from, fail

if TYPE_CHECKING:
    from keyplan.publish.differences import Differences, Snapshot
    from keyplan.publish.infra import Rendered, Stack

TABLES = "tables.json"
"""The file beside a template that says which tables it has, for the next time."""


def infra(
    design: DesignName,
    form: Annotated[
        Literal["cloudformation", "terraform", "cdk", "sam", "iam"],
        typer.Option("--format", help="What to write. iam: only the policies, with one for each access pattern."),
    ],
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Folder to write to. By default, the file is printed.", metavar="DIR"),
    ] = None,
    environment: Environment = None,
    replace: Annotated[
        bool,
        typer.Option(
            "--replace", help="Write the template even if it replaces or drops tables that are in the one in --out."
        ),
    ] = False,
) -> None:
    """Write a template for a design's tables, with indexes, alarms, a dashboard and IAM policies.

    This imports DESIGN, which runs its module. Tables are retained: removing them from a template, or deleting a
    stack, leaves them alone. With --out, the folder also gets tables.json, which lists what the template has. If it is
    there already, a template that would replace a table (its name, its key or its local indexes changed), or leave one
    out, isn't written without --replace: the exit code is 1.
    """
    from keyplan.publish.differences import snapshot_of
    from keyplan.publish.infra import InfraError, render, stack_of

    made = design_named(design, environment, connection_from({}))
    try:
        stack = stack_of(made)
    except InfraError as error:
        fail(f"Can't write a template for {design}: {error}")
    rendered = render(stack, form)
    if out is None:
        typer.echo(rendered.text, nl=False)
    elif form == "iam":
        _write(out, {rendered.file: rendered.text})
        typer.echo(f"Wrote {out / rendered.file}.")
    else:
        _write_template(rendered, stack, snapshot_of(made), out, replace=replace, in_order=form != "terraform")
    for note in rendered.notes:
        typer.echo(f"Note: {note}", err=True)


def _write_template(
    rendered: Rendered, stack: Stack, snapshot: Snapshot, out: Path, *, replace: bool, in_order: bool
) -> None:
    """Write a template, and what it has."""
    from keyplan.publish.differences import snapshot_json

    target = out / rendered.file
    if not replace:
        _check_earlier(target, out / TABLES, snapshot, in_order=in_order)
    _write(out, {rendered.file: rendered.text, TABLES: snapshot_json(snapshot)})
    parts = (("table", stack.tables), ("alarm", stack.alarms), ("policy", stack.policies))
    typer.echo(f"Wrote {target}: {', '.join(_count(len(every), noun) for noun, every in parts)}.")


def _write(out: Path, files: Mapping[str, str]) -> None:
    try:
        out.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            (out / name).write_text(text, "utf-8")
    except OSError as error:
        fail(f"Can't write {error.filename or out}: {error.strerror or error}")


def _count(number: int, noun: str) -> str:
    several = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{number} {noun if number == 1 else several}"


def _check_earlier(target: Path, tables: Path, snapshot: Snapshot, *, in_order: bool) -> None:
    """End the command if the template would replace tables of the one that is there."""
    from keyplan.publish.differences import SnapshotError, compare, read_snapshot, replaced

    if not tables.exists():
        if target.exists():
            fail(
                f"{target} exists, and there is no {tables} that says which tables it has. Use --replace to replace it."
            )
        return
    try:
        earlier = read_snapshot(tables.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, SnapshotError) as error:
        fail(f"Can't read {tables}: {error}")
    found = replaced(earlier.tables, snapshot.tables)
    if found:
        for change in found:
            what = f", {change.what}" if change.what else ""
            values = " -> ".join(filter(None, (change.before, change.after)))
            typer.echo(f"{change.kind} {change.place}{what}: {values}", err=True)
        fail(
            "These changes would replace tables, or leave them out of the template. `keyplan diff` says what it takes. "
            "Use --replace to write the template anyway.",
            1,
        )
    if in_order:
        _warn_of_indexes(compare(earlier, snapshot))


def _warn_of_indexes(found: Differences) -> None:
    """Say which changes of global indexes CloudFormation refuses.

    AWS: "AWS::DynamoDB::Table" (one index is created or deleted in an update) and "AWS::DynamoDB::Table
    GlobalSecondaryIndex" (key and projection: updates are not supported).
    """
    for change in found.changes:
        if change.kind == "changed" and change.place.startswith("index ") and not change.what:
            name = change.place.removeprefix("index ")
            typer.echo(f"Note: CloudFormation can't change the index {name}. Give it another name.", err=True)
    steps = [each for each in found.steps if "index" in each.does]
    for table in dict.fromkeys(each.table for each in steps):
        count = sum(each.table == table for each in steps)
        if count > 1:
            typer.echo(
                f"Note: {count} indexes of {table} are created or deleted. CloudFormation does one in an update, so "
                "deploy a template for each: leave the others out of the design for now.",
                err=True,
            )
