"""`keyplan cost`: what a design costs on AWS, under the load that a traffic file describes."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from keyplan.cli.designs import Environment, design_named
from keyplan.cli.files import Force, progress_bar
from keyplan.cli.opening import (
    DataFile,
    DesignName,
    EndpointUrl,
    OnAws,
    connection_from,
    design_of,
    fail,
    opened,
    place,
)

if TYPE_CHECKING:
    from keyplan.capacity.cost import Cost
    from keyplan.capacity.metering import Altered, MeteredDesign
    from keyplan.capacity.prices import Prices
    from keyplan.capacity.savings import Saving
    from keyplan.capacity.traffic import Traffic
    from keyplan.connection import Connection
    from keyplan.design import Design

_REGION = "us-east-1"
_TRAFFIC = Path("traffic.yaml")


def cost(
    design: DesignName,
    traffic: Annotated[
        Path, typer.Option("--traffic", "-t", help="Traffic file: how often patterns and writes run.", metavar="FILE")
    ] = _TRAFFIC,
    init: Annotated[bool, typer.Option("--init", help="Write a starter traffic file, and exit.")] = False,
    record: Annotated[
        list[Path] | None,
        typer.Option(
            "--record",
            help="Write a traffic file with the rates in this log of `keyplan serve`, as lines of JSON, and exit. Can "
            "be repeated; - is the standard input.",
            metavar="LOG",
        ),
    ] = None,
    region: Annotated[
        str | None,
        typer.Option("--region", help=f"Region of AWS. The default is {_REGION}, or the region of --prices."),
    ] = None,
    prices: Annotated[
        Path | None,
        typer.Option("--prices", help="AWS's price list of DynamoDB as JSON, for other regions.", metavar="FILE"),
    ] = None,
    free_tier: Annotated[bool, typer.Option("--free-tier", help="Subtract what is free each month.")] = False,
    sample: Annotated[
        int | None,
        typer.Option(
            "--sample",
            help="Read this many items of each of the design's tables (in the file, at the endpoint or on AWS), for "
            "numbers and sizes of items that aren't in the traffic file.",
            min=1,
        ),
    ] = None,
    path: DataFile = None,
    endpoint_url: EndpointUrl = None,
    aws: OnAws = None,
    environment: Environment = None,
    form: Annotated[
        Literal["text", "markdown", "json"], typer.Option("--format", help="Format of the report.")
    ] = "text",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON: short for --format json.")] = False,
    force: Force = False,
) -> None:
    """Calculate what a design costs on AWS in a month, and what would make it cheaper.

    This imports DESIGN, which runs its module. Every pattern and write that the traffic file names is run once in a
    DynamoDB in memory, with items of the sizes that the file or the design says, and what that consumes is multiplied
    with the traffic and with AWS's prices. Nothing is sent to AWS. What would be cheaper is metered in the same way.
    """
    kind = design_of(design)
    if init or record:
        _write(traffic, _recorded(record, kind) if record else _starter(kind), design, force=force)
        return
    rates = _read(traffic, kind, design)
    if sample is not None:
        flags = {"path": path, "endpoint_url": endpoint_url, "aws": aws}
        rates = _sampled(rates, design, environment, connection_from(flags), sample)
    known = _prices(prices, region)
    from keyplan.design import DesignError, InvalidValue

    try:
        metered, found, savings = _calculated(kind, rates, known, free_tier=free_tier)
    except (DesignError, InvalidValue) as error:
        fail(f"Can't make examples of {design}: {error}")
    _show(design, found, savings, "json" if as_json else form)
    if rates.patterns and not metered.patterns:
        fail("No pattern could be metered.", 1)


def _starter(design: type[Design]) -> str:
    from keyplan.capacity.traffic import starter

    return starter(design)


def _recorded(logs: list[Path], design: type[Design]) -> str:
    from fileinput import input as lines_of

    from keyplan.capacity.recording import RecordingError
    from keyplan.capacity.recording import record as recorded

    try:
        with lines_of(logs, encoding="utf-8", errors="replace") as lines:
            return recorded(lines, design).text(design)
    except RecordingError as error:
        fail(f"Can't record traffic: {error}. It takes lines of JSON: keyplan serve with KEYPLAN_LOG_FORMAT=json.")
    except OSError as error:
        fail(f"Can't read {error.filename}: {error.strerror or error}")


def _write(file: Path, text: str, design: str, *, force: bool) -> None:
    if file.exists() and not force:
        fail(f"{file} exists. Use another --traffic, or --force to replace it.")
    try:
        file.write_text(text, "utf-8")
    except OSError as error:
        fail(f"Can't write {file}: {error.strerror or error}")
    typer.echo(f"Wrote {file}. Edit it, and run: keyplan cost {design} --traffic {file}")


def _read(file: Path, design: type[Design], name: str) -> Traffic:
    from keyplan.capacity.traffic import TrafficError, read_traffic

    try:
        return read_traffic(file, design)
    except TrafficError as error:
        fail(str(error))
    except FileNotFoundError:
        given = "" if file == _TRAFFIC else f" --traffic {file}"
        fail(f"Can't read {file}: file not found. To write a starter: keyplan cost {name} --init{given}")
    except OSError as error:
        fail(f"Can't read {file}: {error.strerror or error}")


def _sampled(traffic: Traffic, design: str, environment: list[str] | None, settings: Connection, most: int) -> Traffic:
    from botocore.exceptions import BotoCoreError, ClientError

    from keyplan.capacity.sampling import sample_tables, with_sample

    named = design_named(design, environment, settings)
    with opened(settings) as clients, progress_bar("Reading items") as progress:
        try:
            return with_sample(traffic, sample_tables(named, clients.dynamodb, most, progress))
        except (BotoCoreError, ClientError) as error:
            fail(f"Can't read the tables of {design} in {place(settings)}: {error}")


def _prices(file: Path | None, region: str | None) -> Prices:
    from keyplan.capacity.prices import PriceError, known_prices, read_price_list

    try:
        return known_prices(region or _REGION) if file is None else read_price_list(file, region)
    except PriceError as error:
        fail(str(error))
    except (OSError, UnicodeDecodeError) as error:
        fail(f"Can't read {file}: {getattr(error, 'strerror', None) or error}")


def _calculated(
    design: type[Design], traffic: Traffic, prices: Prices, *, free_tier: bool
) -> tuple[MeteredDesign, Cost, list[Saving]]:
    from keyplan.capacity.cost import cost_of
    from keyplan.capacity.metering import meter
    from keyplan.capacity.savings import find_savings
    from keyplan.engine import Engine

    def again(traffic: Traffic, altered: Altered) -> MeteredDesign:
        with Engine(ttl_interval=None) as engine:
            return meter(design, engine, traffic, altered=altered)

    with progress_bar("Metering") as progress, Engine(ttl_interval=None) as engine:
        metered = meter(design, engine, traffic, progress=progress)
    found = cost_of(design, metered, traffic, prices, free_tier=free_tier)
    with progress_bar("Looking for savings") as progress:
        savings = find_savings(design, metered, traffic, prices, again, free_tier=free_tier, progress=progress)
    return metered, found, savings


def _show(name: str, found: Cost, savings: list[Saving], form: Literal["text", "markdown", "json"]) -> None:
    from datetime import UTC, datetime

    from keyplan.capacity.report import json_report, markdown_report, text_report

    today = datetime.now(UTC).date()
    if form == "json":
        typer.echo(json.dumps(json_report(name, found, savings, today), indent=2))
    else:
        sys.stdout.write((text_report if form == "text" else markdown_report)(name, found, savings, today))
