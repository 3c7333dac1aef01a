"""Tables and indexes: their keys and settings, and which items are in them."""

from collections.abc import Iterator, Sequence

from keyplan.data import create_table_requests
from keyplan.design import HOUSEKEEPING, Design, Entity, Table
from keyplan.design.tables.attributes import KeyAttribute, Projection
from keyplan.design.tables.tables import Index
from keyplan.design.tables.vector_indexes import VectorIndex
from keyplan.design.words import MOST_RECOVERY_DAYS
from keyplan.publish.document.items import guard_name, guard_places, key_places
from keyplan.publish.document.model import Held, IndexText, KeyPlace, PatternText, TableText


def tables(design: Design, patterns: Sequence[PatternText]) -> Iterator[TableText]:
    """The tables of a design; the housekeeping table only if entities of the design are in it."""
    requests = {request["TableName"]: request for request, _ in create_table_requests(design)}
    for table in design.all_tables:
        actual = design.table_name(table)
        holds = tuple(_held(design, table))
        if table is HOUSEKEEPING and not holds:
            continue
        yield TableText(
            name=table.name if table is not HOUSEKEEPING else actual,
            actual=actual,
            keys=_places(table.hash, table.range),
            settings=tuple(_settings(table)),
            why=table.why,
            holds=holds,
            indexes=tuple(_indexes(design, table, patterns)),
            housekeeping=table is HOUSEKEEPING,
            request=requests[actual],
        )


def _places(hash_: Sequence[KeyAttribute], range_: Sequence[KeyAttribute]) -> tuple[KeyPlace, ...]:
    return (
        *(KeyPlace(each.name, each.type, "partition key") for each in hash_),
        *(KeyPlace(each.name, each.type, "sort key") for each in range_),
    )


def _held(design: Design, table: Table) -> Iterator[Held]:
    for entity in design.entities:
        if entity.spec.table is table:
            yield Held(entity.__name__, key_places(entity.spec.primary))
        for unique in entity.spec.uniques:
            if unique.table is table:
                when = f"only when {unique.when} is true" if unique.when else ""
                yield Held(guard_name(entity, unique), guard_places(unique), when)


def _settings(table: Table) -> Iterator[tuple[str, str]]:
    capacity = f" ({table.capacity[0]} read and {table.capacity[1]} write units)" if table.capacity else ""
    yield "Billing", {"PAY_PER_REQUEST": "on demand (PAY_PER_REQUEST)"}.get(table.billing, table.billing) + capacity
    if table.type_attribute:
        yield "Type attribute", f"`{table.type_attribute}`"
    if table.envelope:
        yield "Envelope", f"`{table.envelope}`, with the fields as a JSON text"
    if table.ttl:
        yield "Time to live", f"`{table.ttl}`"
    if table.stream:
        yield "Stream", f"`{table.stream}`"
    for each in table.consumers:
        yield "Stream consumer", each.name + (f", failures go to {each.failures}" if each.failures else "")
    if table.protected is not None:
        yield "Deletion protection", "on" if table.protected else "off"
    if table.recovery is not None:
        days = MOST_RECOVERY_DAYS if table.recovery is True else table.recovery
        yield "Point-in-time recovery", f"{days} days" if days else "off"
    if table.table_class != "STANDARD":
        yield "Table class", table.table_class
    if table.encryption:
        yield "Encryption", table.encryption
    if table.tags:
        yield "Tags", ", ".join(f"{name}={value}" for name, value in table.tags.items())


def _indexes(design: Design, table: Table, patterns: Sequence[PatternText]) -> Iterator[IndexText]:
    actual = design.table_name(table)
    for index in table.by_name.values():
        holds = tuple(_held_in(design, index))
        yield IndexText(
            name=index.name,
            kind="local" if index.local else "global",
            keys=_places(index.hash, index.range),
            projection=_projection(index.projection),
            why=index.why,
            holds=holds,
            patterns=_readers(patterns, actual, index.name),
        )
    for vectors in table.vectors_by_name.values():
        yield _vector_index(design, vectors, _readers(patterns, actual, vectors.name))


def _readers(patterns: Sequence[PatternText], table: str, index: str) -> tuple[str, ...]:
    return tuple(each.name for each in patterns if each.index == index and table in each.table.split(", "))


def _held_in(design: Design, index: Index) -> Iterator[Held]:
    for entity in design.entities:
        for placed in entity.spec.placements.values():
            if placed.index is index:
                yield Held(entity.__name__, key_places(placed), _when(entity, placed.when))


def _when(entity: type[Entity], when: str | None) -> str:
    return "" if when is None else f"only when {entity.spec.fields[when].stored} is set"


def _projection(projection: Projection) -> str:
    if projection.type == "INCLUDE":
        return f"keys and {', '.join(projection.attributes)}"
    return {"ALL": "all attributes", "KEYS_ONLY": "keys only"}[projection.type]


def _vector_index(design: Design, index: VectorIndex, patterns: tuple[str, ...]) -> IndexText:
    keys = [KeyPlace(index.partition.name, index.partition.type, "partition key")] if index.partition else []
    holds = [
        Held(entity.__name__, ())
        for entity in design.entities
        if any(each.index is index for each in entity.spec.vectors.values())
    ]
    why = f"{index.dimensions} dimensions of `{index.attribute}`, by {index.distance} distance"
    return IndexText(index.name, "vector", tuple(keys), _projection(index.projection), why, tuple(holds), patterns)
