"""What a design costs in a month: what was metered, times the traffic, times AWS's prices.

| module | what it is |
| --- | --- |
| `model` | `Cost` with its lines: one for each pattern, write, table and service |
| `tables` | how each table is run |
| `provisioned` | provisioned capacity with auto scaling, reserved or not |
| `requests` | what patterns and writes cost |
| `storage` | storage, and what is charged for the data in it |
"""

from collections.abc import Iterator, Mapping

from keyplan.capacity.cost.model import GB, Cost, CostLine, CostPart, amounts
from keyplan.capacity.cost.requests import loads, request_lines
from keyplan.capacity.cost.storage import billed_gigabytes, storage_lines, stored
from keyplan.capacity.cost.tables import run_tables
from keyplan.capacity.counts import growth_counts, item_counts
from keyplan.capacity.metering import MeteredDesign, item_sizes
from keyplan.capacity.prices import Charge, Prices
from keyplan.capacity.quantities import HOURS_OF_MONTH
from keyplan.capacity.traffic.model import Traffic
from keyplan.design import Design

__all__ = ["GB", "Cost", "CostLine", "CostPart", "cost_of"]

_SECONDS = HOURS_OF_MONTH * 3600
_NEAR = 0.1
"""By which part of what is said examples may be larger without a note."""


def cost_of(
    design: type[Design], metered: MeteredDesign, traffic: Traffic, prices: Prices, *, free_tier: bool = False
) -> Cost:
    """What a design costs in a month under a traffic. `metered` is what `meter` found for the same traffic."""
    tables = run_tables(design, traffic)
    lines, notes = request_lines(list(loads(metered, traffic)), tables, prices, traffic.peak)
    counts = item_counts(design, traffic)
    parts = stored(metered, counts)
    lines += storage_lines(parts, tables, traffic, prices)
    for run in tables.values():
        if run.mode != "on-demand" and run.table.vectors_by_name:
            notes.append(f"{run.name}: a table with vector indexes can't have provisioned capacity.")
    notes += _larger_items(design, metered, traffic)
    lines.sort(key=lambda line: (-line.usd, line.name))
    missing = dict.fromkeys(part.charge for line in lines for part in line.parts if part.usd is None)
    more = stored(metered, growth_counts(design, traffic))
    growth = 0.0
    for place, part in more.items():
        price = prices.find(Charge("storage", tables[place.table].infrequent))
        growth += billed_gigabytes(part) * (price.usd if price is not None else 0.0)
    return Cost(
        prices,
        tuple(lines),
        traffic.users,
        traffic.requests_per_second * _SECONDS,
        _free(lines, prices) if free_tier else None,
        growth,
        tuple(missing),
        _unmetered(metered, traffic, counts),
        tuple(notes),
    )


def _free(lines: list[CostLine], prices: Prices) -> float:
    """What the free tier takes off: of each charge, the units that are free each month in an account."""
    taken = 0.0
    for charge, amount in amounts(lines).items():
        price = prices.find(charge)
        if price is not None:
            taken += min(price.free, amount) * price.usd
    return taken


def _larger_items(design: type[Design], metered: MeteredDesign, traffic: Traffic) -> Iterator[str]:
    """The entities whose smallest examples are larger than their items are said to be."""
    for entity, wanted in item_sizes(design, traffic, {}).items():
        size = metered.sizes.get(entity.__name__, wanted)
        if size - wanted > _NEAR * wanted:
            said = f"priced with items of {size:,} bytes, not {wanted:,}"
            yield f"{entity.__name__} is {said}: its fields take that much."


def _unmetered(metered: MeteredDesign, traffic: Traffic, counts: Mapping[str, float]) -> dict[str, str]:
    """What the traffic has and couldn't be metered, and why; and the storage of items that couldn't be created."""
    wanted = {*traffic.patterns, *(f"{entity}.{kind}" for entity, kind in traffic.writes)}
    stored_items = {f"{entity}.create": f"the storage of {entity}" for entity, count in counts.items() if count}
    found = {name: why for name, why in metered.failures.items() if name in wanted}
    found |= {stored_items[name]: why for name, why in metered.failures.items() if name in stored_items}
    return found
