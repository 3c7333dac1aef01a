"""`keyplan forecast`: where a design runs hot under a given load."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from keyplan.cli.files import progress_bar
from keyplan.cli.opening import DesignName, design_of, fail

if TYPE_CHECKING:
    from keyplan.capacity.heat import Forecast


def forecast(
    design: DesignName,
    traffic: Annotated[
        Path,
        typer.Option("--traffic", "-t", help="Traffic file. `keyplan cost --init` writes a starter.", metavar="FILE"),
    ] = Path("traffic.yaml"),
    users: Annotated[
        str | None, typer.Option("--users", help="Number of users, instead of the one in the file, such as 10M.")
    ] = None,
    requests: Annotated[
        str, typer.Option("--requests", help="How many requests to simulate, such as 10M. More are more accurate.")
    ] = "1M",
    seed: Annotated[
        int, typer.Option("--seed", help="Seed of the random requests: the same seed gives the same forecast.")
    ] = 1,
    form: Annotated[
        Literal["text", "markdown", "json"], typer.Option("--format", help="How to print the forecast.")
    ] = "text",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON: short for --format json.")] = False,
    svg: Annotated[
        Path | None, typer.Option("--svg", help="Also write a heat map of the partitions.", metavar="FILE")
    ] = None,
) -> None:
    """Say which keys of a design run hot under a given load, how much is refused and when, and what would help.

    This imports DESIGN, which runs its module. A day of requests is drawn at random and sent through a model of
    DynamoDB's partitions. Nothing is sent to a DynamoDB. Needs NumPy, which the extra `forecast` installs.
    """
    try:
        from keyplan.capacity.heat import forecast_json, forecast_markdown, forecast_text, heat_map
    except ModuleNotFoundError as error:
        if error.name != "numpy":
            raise
        fail("Forecasts need NumPy. Install it with: pip install 'keyplan[forecast]'")
    found = _forecast(design, traffic, users, requests, seed)
    if svg is not None:
        try:
            svg.write_text(heat_map(found), "utf-8")
        except OSError as error:
            fail(f"Can't write {svg}: {error.strerror or error}")
    if as_json or form == "json":
        typer.echo(json.dumps(forecast_json(found), indent=2, ensure_ascii=False))
    else:
        typer.echo((forecast_markdown if form == "markdown" else forecast_text)(found), nl=False)


def _forecast(name: str, file: Path, users: str | None, requests: str, seed: int) -> Forecast:
    from keyplan.capacity.heat import forecast as forecast_of
    from keyplan.capacity.metering import meter
    from keyplan.capacity.traffic import TrafficError, read_traffic
    from keyplan.engine import Engine

    kind = design_of(name)
    try:
        traffic = read_traffic(file, kind)
    except TrafficError as error:
        fail(str(error))
    except OSError as error:
        remedy = f"To write a starter: keyplan cost {name} --init --traffic {file}"
        fail(f"Can't read {file}: {error.strerror or error}. {remedy}")
    wanted = None if users is None else _count("--users", users)
    drawn = _count("--requests", requests)
    with progress_bar("Metering") as progress, Engine(ttl_interval=None) as engine:
        metered = meter(kind, engine, traffic, progress=progress)
    with progress_bar("Drawing requests") as progress:
        return forecast_of(kind, metered, traffic, users=wanted, requests=drawn, seed=seed, progress=progress)


def _count(option: str, text: str) -> int:
    from keyplan.capacity.traffic import QuantityError, parse_count

    try:
        found = parse_count(text)
    except QuantityError as error:
        fail(f"{option}: {error}")
    if not found:
        fail(f"{option}: 0 is too few. Write a number such as 50_000 or 10M.")
    return found
