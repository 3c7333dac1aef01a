"""What commands write down about a design: its document, with what the review finds and what patterns consume."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from keyplan.capacity.metering import Metered
    from keyplan.design import Design
    from keyplan.publish.document import Cost, Document, Remark


def document_of_design(design: Design, title: str = "") -> Document:
    """The document of a design. Its examples run on databases in memory."""
    from keyplan.engine import Engine
    from keyplan.publish.document import document_of

    with Engine() as engine:
        kind = type(design)
        return document_of(design, engine, title=title, remarks=_remarks(kind), costs=_costs(kind))


def _remarks(design: type[Design]) -> Iterator[Remark]:
    from keyplan.publish.document import Remark
    from keyplan.review import Reviewed, review

    found = review(Reviewed(design))
    for each in (*found.findings, *found.accepted):
        yield Remark(each.rule.code, each.severity, each.place.text, each.happens, each.remedy, each.accepted)


def _costs(design: type[Design]) -> Iterator[Cost]:
    from keyplan.capacity.metering import meter
    from keyplan.engine import Engine

    with Engine() as engine:
        metered = meter(design, engine)
    yield from _named(metered.patterns)
    yield from _named({f"{kind} {entity}": each for (entity, kind), each in metered.writes.items()})


def _named(metered: Mapping[str, Metered]) -> Iterator[Cost]:
    from keyplan.publish.document import Cost, Use

    for name, each in metered.items():
        uses = (Use(place.table, place.index, units.reads, units.writes) for place, units in each.units.items())
        yield Cost(name, tuple(uses))
