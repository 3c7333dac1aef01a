"""What storage costs, and what is charged for the data in it: recovery, backups, exports, imports, restores."""

from collections.abc import Iterator, Mapping

from keyplan.capacity.consumed import TableOrIndex
from keyplan.capacity.cost.model import GB, CostLine, CostPart, priced
from keyplan.capacity.cost.tables import RunTable
from keyplan.capacity.metering import MeteredDesign, StoredPart
from keyplan.capacity.prices import Charge, Prices
from keyplan.capacity.prices.model import Item
from keyplan.capacity.quantities import Rate
from keyplan.capacity.traffic.model import Traffic

OVERHEAD = 100
"""The bytes that AWS adds for each item in a table, and for each entry in an index, when it bills storage."""


def stored(metered: MeteredDesign, counts: Mapping[str, float]) -> dict[TableOrIndex, StoredPart]:
    """What so many items of each entity take in each table and index, with what follows from them."""
    sums: dict[TableOrIndex, StoredPart] = {}
    for entity, count in counts.items():
        for place, part in metered.stored.get(entity, {}).items():
            old = sums.get(place, StoredPart(0, 0))
            sums[place] = StoredPart(old.items + part.items * count, old.size + part.size * count)
    return {place: part for place, part in sums.items() if part.items}


def billed_gigabytes(part: StoredPart) -> float:
    """The storage that is billed, with what is added for each item."""
    return (part.size + OVERHEAD * part.items) / GB


def storage_lines(
    parts: Mapping[TableOrIndex, StoredPart], tables: Mapping[str, RunTable], traffic: Traffic, prices: Prices
) -> Iterator[CostLine]:
    """The lines of storage and of what is done with the data, for each table."""
    for run in tables.values():
        own = {place: part for place, part in parts.items() if place.table == run.name}
        charge = Charge("storage", run.infrequent)
        stored_parts = [priced(prices, place, charge, billed_gigabytes(part)) for place, part in own.items()]
        if stored_parts:
            yield CostLine("storage", f"{run.name}: storage", tuple(stored_parts))
        for name, part in _services(run, own, traffic, prices):
            if part.amount:
                yield CostLine("stream" if "stream" in name else "backup", f"{run.name}: {name}", (part,))


def _services(
    run: RunTable, own: Mapping[TableOrIndex, StoredPart], traffic: Traffic, prices: Prices
) -> Iterator[tuple[str, CostPart]]:
    place, use = TableOrIndex(run.name), run.use
    # Recovery, backups and exports have the table and its local indexes; a restore brings back all indexes.
    table = sum(part.size for each, part in own.items() if run.local(each)) / GB
    everything = sum(part.size for part in own.values()) / GB
    amounts: list[tuple[str, Item, float]] = [
        ("point-in-time recovery", "recovery", table * run.recovery),
        ("backups", "backup", table * use.backups),
        ("cold backups", "cold backup", table * use.cold_backups),
        ("restores", "restore", everything * _times(traffic, use.restores)),
        ("exports", "export", table * _times(traffic, use.exports)),
        ("imports", "import", table * _times(traffic, use.imports)),
        ("reads of the stream", "stream read", _times(traffic, use.stream_reads)),
    ]
    for name, item, amount in amounts:
        yield name, priced(prices, place, Charge(item), amount)


def _times(traffic: Traffic, rate: Rate | None) -> float:
    return traffic.per_month(rate) if rate is not None else 0.0
