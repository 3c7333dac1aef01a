"""What commands write down about a design: its document, with what the review finds and what patterns consume."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from keyplan.capacity.metering import Metered
    from keyplan.design import Design
    from keyplan.publish.document import Consumption, Document, Remark


def document_of_design(design: Design, title: str = "") -> Document:
    """The document of a design. Its examples run on databases in memory."""
    from keyplan.engine import Engine
    from keyplan.publish.document import document_of

    with Engine() as engine:
        kind = type(design)
        return document_of(design, engine, title=title, remarks=_remarks(kind), costs=_costs(design))


def _remarks(design: type[Design]) -> Iterator[Remark]:
    from keyplan.publish.document import Remark
    from keyplan.review import Reviewed, review

    found = review(Reviewed(design))
    for each in (*found.findings, *found.accepted):
        yield Remark(each.rule.code, each.severity, each.place.text, each.happens, each.remedy, each.accepted)


def _costs(design: Design) -> list[Consumption]:
    """What patterns and writes consume; nothing if an entity has no example that could be metered."""
    from keyplan.capacity.metering import meter
    from keyplan.cli.designs import open_names
    from keyplan.design import DesignError, InvalidValue
    from keyplan.engine import Engine

    kind = type(design)
    with Engine() as engine:
        try:
            metered = meter(kind, engine)
        except (DesignError, InvalidValue):
            return []
    metered_design = kind({name: name for name in open_names(kind)})  # in metered names, each stands for itself
    tables = {metered_design.table_name(table): design.table_name(table) for table in design.all_tables}
    writes = {f"{verb} {entity}": each for (entity, verb), each in metered.writes.items()}
    return [_cost(name, each, tables) for name, each in {**metered.patterns, **writes}.items()]


def _cost(name: str, metered: Metered, tables: Mapping[str, str]) -> Consumption:
    from keyplan.publish.document import Consumption, Use

    units = metered.units.items()
    uses = (Use(tables[place.table], place.index, each.reads, each.writes) for place, each in units)
    return Consumption(name, tuple(uses))
