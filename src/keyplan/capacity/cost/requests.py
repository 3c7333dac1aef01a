"""What patterns and writes cost: their requests, or their share of provisioned capacity."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from keyplan.capacity.consumed import TableOrIndex, Units, summed
from keyplan.capacity.cost.model import GB, CostLine, CostPart, LineKind, priced
from keyplan.capacity.cost.provisioned import capacity_parts, day_of, hourly_units
from keyplan.capacity.cost.tables import RunTable
from keyplan.capacity.metering import MeteredDesign
from keyplan.capacity.prices import Charge, Prices
from keyplan.capacity.quantities import HOURS_OF_MONTH
from keyplan.capacity.traffic.model import Traffic

_SECONDS = HOURS_OF_MONTH * 3600


@dataclass(frozen=True, eq=False)
class Load:
    """What a pattern or a write consumes in a month."""

    kind: LineKind
    name: str
    runs: float
    each: Mapping[TableOrIndex, Units]
    month: Mapping[TableOrIndex, Units]


def loads(metered: MeteredDesign, traffic: Traffic) -> Iterator[Load]:
    """What each pattern and write consumes in a month, with what finds nothing, is refused, and is repeated."""
    for name, pattern in traffic.patterns.items():
        if name in metered.patterns:
            found, nothing = metered.patterns[name].units, metered.missing[name].units
            runs = traffic.per_month(pattern.rate) * (1 + pattern.retries)
            yield Load("pattern", name, runs, found, _mixed(found, nothing, pattern.missing, runs))
    for (entity, kind), write in traffic.writes.items():
        if (entity, kind) in metered.writes:
            done = metered.writes[entity, kind]
            runs = traffic.per_month(write.rate) * (1 + write.retries)
            month = _mixed(done.units, done.refused, write.refused, runs)
            yield Load("write", f"{entity}.{kind}", runs, done.units, month)


def _mixed(
    usual: Mapping[TableOrIndex, Units], other: Mapping[TableOrIndex, Units], share: float, runs: float
) -> dict[TableOrIndex, Units]:
    """The units of so many runs, of which a share consumes something else."""
    return summed(
        (place, units * (runs * part))
        for each, part in ((usual, 1 - share), (other, share))
        for place, units in each.items()
    )


def request_lines(
    all_loads: list[Load], tables: Mapping[str, RunTable], prices: Prices, peak: float
) -> tuple[list[CostLine], list[str]]:
    """The lines of patterns and writes, of capacity that nothing uses, and what is to be said about them."""
    shares, notes = _provisioned(all_loads, tables, prices, peak)
    lines = []
    for load in all_loads:
        parts = [
            part for place, units in load.month.items() for part in _parts(tables[place.table], place, units, prices)
        ]
        parts += [part for key in list(shares) if key[0] is load for part in shares.pop(key)]
        lines.append(CostLine(load.kind, load.name, tuple(parts), load.runs, load.each))
    for (_, place), rest in shares.items():
        lines.append(CostLine("capacity", f"{place.index or place.table}: capacity that nothing uses", tuple(rest)))
    return lines, notes


def _parts(run: RunTable, place: TableOrIndex, units: Units, prices: Prices) -> Iterator[CostPart]:
    """What is charged by request: all of a table that is paid on demand, and vectors."""
    amounts = {"vector write": units.vectors / GB, "vector search": units.searched / GB, "Kinesis": 0.0}
    if run.use.kinesis and place.index is None:
        amounts["Kinesis"] = units.changes
    if run.mode == "on-demand":
        amounts |= {"write request": units.writes, "read request": units.reads}
    for item, amount in amounts.items():
        if amount:
            charge = Charge(item, run.infrequent and item != "Kinesis")  # type: ignore[arg-type]  # one of the items
            yield priced(prices, place, charge, amount)


def _provisioned(
    all_loads: list[Load], tables: Mapping[str, RunTable], prices: Prices, peak: float
) -> tuple[dict[tuple[Load | None, TableOrIndex], list[CostPart]], list[str]]:
    """The share of each load in provisioned capacity; that of no load is capacity that nothing uses."""
    shares: dict[tuple[Load | None, TableOrIndex], list[CostPart]] = {}
    notes: list[str] = []
    for run in tables.values():
        if run.mode == "on-demand" or (run.mode == "auto scaling" and not _is_loaded(run, all_loads)):
            continue
        for write in (False, True):
            by_place = _by_payer(run, all_loads, write=write)
            average = {place: sum(used.values()) / _SECONDS for place, used in by_place.items()}
            hours = {each: hourly_units(run, each, load, peak, write=write) for each, load in average.items()}
            notes += _overloaded(run, hours, average, peak, write=write)
            for part in capacity_parts(run, hours, prices, write=write):
                used = by_place[part.place]
                total = sum(used.values())
                for load, amount in used.items():
                    shares.setdefault((load, part.place), []).append(_share(part, amount / total))
                if not total:
                    shares.setdefault((None, part.place), []).append(part)
            if run.reserved != "no" and (run.infrequent or min(map(sum, zip(*hours.values(), strict=True))) < 100):
                kind = "write" if write else "read"
                notes.append(
                    f"{run.name}: no {kind} capacity is reserved: that takes 100 units at all hours, and Standard."
                )
    return shares, notes


def _is_loaded(run: RunTable, all_loads: list[Load]) -> bool:
    return any(place.table == run.name for load in all_loads for place in load.month)


def _by_payer(run: RunTable, all_loads: list[Load], *, write: bool) -> dict[TableOrIndex, dict[Load, float]]:
    """The units of each load in a month, in the table and each of its global indexes."""
    indexes = [TableOrIndex(run.name, index.name) for index in run.table.by_name.values() if not index.local]
    found: dict[TableOrIndex, dict[Load, float]] = {place: {} for place in (TableOrIndex(run.name), *indexes)}
    for load in all_loads:
        for place, units in load.month.items():
            amount = units.writes if write else units.reads
            if place.table == run.name and amount:
                used = found[run.payer(place)]
                used[load] = used.get(load, 0.0) + amount
    return found


def _overloaded(
    run: RunTable,
    hours: Mapping[TableOrIndex, list[int]],
    average: Mapping[TableOrIndex, float],
    peak: float,
    *,
    write: bool,
) -> Iterator[str]:
    if run.mode == "fixed":
        for place, units in hours.items():
            busiest = average[place] * max(day_of(peak))
            if busiest > units[0]:
                kind = "write" if write else "read"
                yield (
                    f"{place.index or place.table}: the busiest hour needs {busiest:,.1f} {kind} units a second, and "
                    f"{units[0]:,} are declared: requests will be throttled."
                )


def _share(part: CostPart, share: float) -> CostPart:
    return replace(part, amount=part.amount * share, usd=None if part.usd is None else part.usd * share)
