"""What would make a design cheaper, and by how much: each change is made in memory, metered and priced again.

The changes: eventually consistent reads, indexes that no pattern reads, indexes that hold more than patterns read from
them, items that are slightly larger than a step of what is billed, another table class, and another capacity mode.
Each is calculated by itself; several together don't add up exactly.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

from keyplan.capacity.consumed import TableOrIndex
from keyplan.capacity.cost import Cost, cost_of
from keyplan.capacity.cost.tables import RunTable, run_tables
from keyplan.capacity.counts import item_counts
from keyplan.capacity.metering import Altered, MeteredDesign
from keyplan.capacity.metering.altered import UNALTERED, IndexHolds, is_consistent
from keyplan.capacity.metering.patterns import filtered_fields
from keyplan.capacity.prices import Prices
from keyplan.capacity.traffic.model import ItemTraffic, TableUse, Traffic
from keyplan.design import Design, Table
from keyplan.design.examples.uses import queries_in
from keyplan.design.operations.queries import ItemCount, Query
from keyplan.design.tables.attributes import Projection
from keyplan.design.tables.tables import Index

__all__ = ["Meter", "Saving", "find_savings"]

_LEAST = 0.005
"""The US dollars a month from which on a change is worth saying."""
_STEP = 1024
_SLIGHTLY = 0.2
"""How much of a step an item may be above it to count as slightly larger."""


class Meter(Protocol):
    """Meters the design under a traffic, on a client of its own."""

    def __call__(self, traffic: Traffic, altered: Altered, /) -> MeteredDesign: ...


@dataclass(frozen=True)
class Saving:
    """A change that would make the design cheaper."""

    change: str
    usd: float
    """By how much, in a month."""
    by_line: Mapping[str, float]
    """By how much each line of the cost would change, by its name."""


@dataclass(frozen=True)
class _Variant:
    """A change: of the traffic file, or of the design in memory."""

    change: str
    traffic: Traffic
    altered: Altered = UNALTERED
    only: str | None = None
    """The only pattern that it concerns."""
    metered_again: bool = True
    adds: bool = False
    """Whether it is another change with something more, which is worth saying only if it saves more."""
    fits: Callable[[MeteredDesign], bool] = lambda metered: True
    """Whether the design still works with it."""


def find_savings(
    design: type[Design],
    metered: MeteredDesign,
    traffic: Traffic,
    prices: Prices,
    meter: Meter,
    *,
    free_tier: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> list[Saving]:
    """The changes that would make a design cheaper, the one that saves most first."""
    now = cost_of(design, metered, traffic, prices, free_tier=free_tier)
    variants = list(_variants(design, metered, traffic))
    found: list[Saving] = []
    for number, variant in enumerate(variants):
        if progress is not None:
            progress(number, len(variants))
        after = metered if not variant.metered_again else _metered(metered, variant, meter)
        if not variant.fits(after):
            continue
        cost = cost_of(design, after, variant.traffic, prices, free_tier=free_tier)
        saved = now.total - cost.total
        is_known = variant.adds and any(abs(saved - each.usd) < _LEAST for each in found)
        if set(cost.missing) <= set(now.missing) and saved >= _LEAST and not is_known:
            found.append(Saving(variant.change, saved, _differences(now, cost)))
    return sorted(found, key=lambda each: (-each.usd, each.change))


def _metered(metered: MeteredDesign, variant: _Variant, meter: Meter) -> MeteredDesign:
    if variant.only is None:
        return meter(variant.traffic, variant.altered)
    name = variant.only
    alone = replace(variant.traffic, patterns={name: variant.traffic.patterns[name]}, writes={})
    again = meter(alone, variant.altered)
    if name not in again.patterns:
        return metered
    patterns = {**metered.patterns, name: again.patterns[name]}
    return replace(metered, patterns=patterns, missing={**metered.missing, name: again.missing[name]})


def _differences(now: Cost, after: Cost) -> dict[str, float]:
    later: dict[str, float] = {}
    for line in after.lines:
        later[line.name] = later.get(line.name, 0.0) + line.usd
    return {line.name: line.usd - later.get(line.name, 0.0) for line in now.lines if line.usd != later.get(line.name)}


def _variants(design: type[Design], metered: MeteredDesign, traffic: Traffic) -> Iterator[_Variant]:
    for name in traffic.patterns:
        pattern = design.patterns[name]
        if is_consistent(pattern.symbolic) and pattern.decides is None:
            change = f"let {name} read eventually consistently, if it may miss what was written in the last second"
            yield _Variant(change, traffic, Altered(eventual=frozenset({name})), only=name)
    for run in run_tables(design, traffic).values():
        for index in run.table.by_name.values():
            yield from _index_variants(design, run, index, metered, traffic)
        yield from _table_variants(run, traffic)
    yield from _size_variants(design, metered, traffic)


# Indexes


def _index_variants(
    design: type[Design], run: RunTable, index: Index, metered: MeteredDesign, traffic: Traffic
) -> Iterator[_Variant]:
    place = TableOrIndex(run.name, index.name)
    if index in _indexes_followed(design):
        return
    readers = {name: list(_reads(design, name, index)) for name in design.patterns}
    readers = {name: reads for name, reads in readers.items() if reads}
    if not readers:
        change = f"drop the index {index.name} of {run.name}, which no pattern reads"
        yield _Variant(change, traffic, Altered(dropped=frozenset({place})))
        return
    needed = [_needed(read, run.table) for reads in readers.values() for read in reads]
    if index.projection.type == "KEYS_ONLY" or any(each is None for each in needed):
        return
    keys = {*run.table.key_names, *(each.name for each in index.attributes)}
    attributes = sorted({name for each in needed if each is not None for name in each} - keys)
    if index.projection.type == "INCLUDE" and set(attributes) >= set(index.projection.attributes):
        return
    narrower = Projection("INCLUDE", tuple(attributes)) if attributes else Projection("KEYS_ONLY")
    held = ", ".join(attributes) or "keys only"
    change = f"let the index {index.name} of {run.name} hold only what patterns read from it ({held})"
    known = {name: metered.patterns[name].items for name in readers if name in metered.patterns}

    def fits(after: MeteredDesign) -> bool:
        return all(name in after.patterns and after.patterns[name].items == items for name, items in known.items())

    yield _Variant(change, traffic, Altered(projections={place: IndexHolds(narrower, tuple(keys))}), fits=fits)


def _indexes_followed(design: type[Design]) -> list[Index]:
    """The indexes by which the data layer finds the items that belong to one."""
    keys = [entity.spec.placements.get(each.via) for entity in design.entities for each in entity.spec.parents]
    return [key.index for key in keys if key is not None and key.index is not None]


def _reads(design: type[Design], name: str, index: Index) -> Iterator[tuple[Query[Any], bool]]:
    """The queries of an index in a pattern, and whether they only count."""
    op = design.patterns[name].symbolic
    for query in queries_in(op):
        if query.key.index is index:
            yield query, isinstance(op, ItemCount)


def _needed(read: tuple[Query[Any], bool], table: Table) -> set[str] | None:
    """The attributes that a query needs of an index; None if it needs all."""
    query, counts = read
    if query.selection is None and not counts:
        return None
    spec = query.entities[0].spec
    fields = {*filtered_fields(query.filter), *(query.selection.fields if query.selection is not None else ())}
    kept = {spec.fields[name].stored for name in fields if name in spec.fields}
    return kept | {name for name in (table.type_attribute, table.ttl) if name}


# Tables and items


def _table_variants(run: RunTable, traffic: Traffic) -> Iterator[_Variant]:
    def used(**changes: object) -> Traffic:
        use: TableUse = replace(run.use, **changes)  # type: ignore[arg-type]  # its fields
        return replace(traffic, tables={**traffic.tables, run.name: use})

    other = "Standard" if run.infrequent else "Standard-IA"
    yield _Variant(f"give {run.name} the table class {other}", used(infrequent=not run.infrequent), metered_again=False)
    if run.mode != "on-demand":
        yield _Variant(f"pay {run.name} on demand", used(capacity="on-demand", reserved="no"), metered_again=False)
    elif not run.table.vectors_by_name:
        busy = f"provisioned capacity for {run.name}, with auto scaling at {run.use.utilization:.0%}"
        yield _Variant(busy, used(capacity="provisioned"), metered_again=False)
    if not run.infrequent and not run.table.vectors_by_name and run.reserved == "no":
        busy = f"provisioned capacity for {run.name}, with what all hours need reserved for a year"
        yield _Variant(busy, used(capacity="provisioned", reserved="1 year"), metered_again=False, adds=True)


def _size_variants(design: type[Design], metered: MeteredDesign, traffic: Traffic) -> Iterator[_Variant]:
    counts = item_counts(design, traffic)
    for entity in design.entities:
        size = metered.sizes.get(entity.__name__, 0)
        above = size % _STEP
        if size > _STEP and 0 < above <= _SLIGHTLY * _STEP:
            target = size - above
            said = traffic.items.get(entity.__name__) or ItemTraffic(round(counts[entity.__name__]))
            items = {**traffic.items, entity.__name__: replace(said, size=target)}
            change = f"make items of {entity.__name__} smaller by {above} bytes, so that they have {target:,}"
            yield _Variant(change, replace(traffic, items=items), fits=_has_size(entity.__name__, target))


def _has_size(entity: str, size: int) -> Callable[[MeteredDesign], bool]:
    return lambda metered: metered.sizes[entity] <= size
