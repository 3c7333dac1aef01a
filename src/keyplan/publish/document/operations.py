"""Access patterns in words: which operation, on which table and index, under which key condition and filter."""

from dataclasses import dataclass
from typing import Any

from keyplan import design as known
from keyplan.design import Design, Entity, Guard, Op
from keyplan.design.designs.patterns import Parameter
from keyplan.design.entities.specs import KeySpec
from keyplan.design.entities.vectors import VectorSpec
from keyplan.publish.document.conditions import filter_text, key_condition, value_text


def operation_name(op: Op[object]) -> str:
    """The name of an operation, in the words of `keyplan.design`."""
    match op:
        case known.Query(entities=entities, key=key):
            name = "collection" if len(entities) > 1 else "query"
            parts = [part.format for part in key.computed.values()]
            spread = ["date buckets" for part in parts if part.bucket is not None]
            spread += [f"{sum(part.shards.counts)} shards" for part in parts if part.shards is not None]
            return f"{name} of {', each of '.join(spread)}" if spread else name
        case known.Follow():
            return "follow: query, then batch get"
        case known.Merge(queries=queries):
            return f"merge of {len(queries)} queries"
        case known.Lookup(way=way):
            return f"lookup: {'guard' if isinstance(way, Guard) else 'mirror'}, then get"
        case known.ItemCount(source=source):
            return f"count of a {operation_name(source)}"
        case known.Nearest():
            return "nearest vectors"
        case known.GuardTaken():
            return "taken: guard"
        case known.BatchGet():
            return "batch get"
        case known.Together(gets=gets):
            return f"batch get of {len(gets)} entities"
        case known.TransactGet(gets=gets):
            return f"transactional get of {len(gets)} items"
        case known.Aggregated():
            return "aggregate"
    return type(op).__name__.lower()


THEN = "then "
"""What the condition of a second step begins with."""
FOR_EACH = " for each of "
"""What follows the condition of a read of several keys."""


@dataclass(frozen=True)
class Reading:
    """What an operation reads, in words."""

    table: str
    index: str | None = None
    condition: str = ""
    filter: str = ""
    order: str = ""


def reading_of(design: Design, op: Op[Any]) -> Reading:
    """What an operation reads; for one with several steps, each step's condition in a line."""
    match op:
        case known.Query():
            return _query(design, op)
        case known.Get() | known.BatchGet():
            return Reading(_table(design, op.entity), None, _by_key(op.entity, op), "", _consistency(op.consistent))
        case known.Lookup():
            return _lookup(design, op)
        case known.GuardTaken(guard=guard, values=values):
            table = design.table_name(guard.unique.table)
            return Reading(table, None, _guard(guard, values), "", "strongly consistent")
        case known.Scan(entity=entity, filter=filter, consistent=consistent):
            text = "" if filter is None else filter_text(entity, filter)
            return Reading(_table(design, entity), None, "", text, _consistency(consistent))
        case known.Nearest(access=access, values=values):
            return _nearest(design, op.entity, access, values)
    return _of_parts(design, op)


def _of_parts(design: Design, op: Op[Any]) -> Reading:
    """What the parts of an operation read, one in a line."""
    parts: tuple[Op[Any], ...] = ()
    match op:
        case known.Follow(source=source):
            first = reading_of(design, source)
            target = op.target.spec.primary
            then = key_condition(target, {name: Parameter(name) for name in target.fields})
            return Reading(first.table, first.index, f"{first.condition}\n{THEN}{then}", first.filter, first.order)
        case known.ItemCount(source=source):
            return reading_of(design, source)
        case known.Merge(queries=queries):
            parts = queries
        case known.Together(gets=gets) | known.TransactGet(gets=gets):
            parts = gets
        case known.Aggregated():
            parts = (op.source,)
        case _ if hasattr(op, "entity") and hasattr(op, "values"):
            return Reading(_table(design, op.entity), None, _by_key(op.entity, op))
    readings = [reading_of(design, each) for each in parts]
    if not readings:
        return Reading("")
    conditions = dict.fromkeys(each.condition for each in readings)
    tables = dict.fromkeys(each.table for each in readings)
    filters = dict.fromkeys(each.filter for each in readings if each.filter)
    return Reading(", ".join(tables), readings[0].index, "\n".join(conditions), "\n".join(filters), readings[0].order)


def _query(design: Design, op: known.Query[Any]) -> Reading:
    condition = key_condition(op.key if len(op.entities) == 1 else _hash_only(op.key), op.values, op.bound)
    text = "" if op.filter is None else filter_text(op.entities[0], op.filter)
    index = op.key.index.name if op.key.index else None
    order = ["newest first" if op.newest_first else "", _consistency(op.consistent)]
    return Reading(_table(design, op.entities[0]), index, condition, text, ", ".join(filter(None, order)))


def _hash_only(key: KeySpec) -> KeySpec:
    """The key of a collection, which is read as a whole."""
    return KeySpec(key.name, key.place, key.index, key.hash, (), key.when)


def _table(design: Design, entity: type[Entity]) -> str:
    return design.table_name(entity.spec.table)


def _consistency(consistent: bool) -> str:
    return "strongly consistent" if consistent else ""


def _by_key(entity: type[Entity], op: Any) -> str:  # noqa: ANN401 - a read by the primary key, of one item or several
    values = getattr(op, "values", None)
    if values is not None:
        return key_condition(entity.spec.primary, values)
    keys = op.keys
    each = keys[0] if isinstance(keys, list | tuple) and len(keys) == 1 else {}
    names = entity.spec.primary.fields
    values = each if isinstance(each, dict) and each else {name: Parameter(name) for name in names}
    many = f"{FOR_EACH}{value_text(keys)}" if isinstance(keys, Parameter) else ""
    return key_condition(entity.spec.primary, values) + many


def _guard(guard: Guard[Any], values: Any) -> str:  # noqa: ANN401 - values of a key
    unique = guard.unique
    spec = KeySpec(unique.name, unique.name, None, *_guard_parts(unique))
    return key_condition(spec, values)


def _guard_parts(unique: Any) -> Any:  # noqa: ANN401 - the parts of a guard's key
    from keyplan.design.entities.specs import KeyPart

    hash_part = KeyPart(unique.table.hash[0], unique.hash, None)
    return (hash_part,), tuple(KeyPart(each, unique.range or unique.hash, None) for each in unique.table.range)


def _lookup(design: Design, op: known.Lookup[Any]) -> Reading:
    entity = op.way.entity
    if isinstance(op.way, Guard):
        table, first = design.table_name(op.way.unique.table), _guard(op.way, op.values)
    else:
        mirror = op.way.derived.entities[0]
        table, first = _table(design, mirror), key_condition(mirror.spec.primary, op.values)
    values = {name: op.values.get(name, Parameter(name)) for name in entity.spec.primary.fields}
    then = key_condition(entity.spec.primary, values)
    tables = dict.fromkeys((table, _table(design, entity)))
    return Reading(", ".join(tables), None, f"{first}\n{THEN}{then}", "", _consistency(op.consistent))


def _nearest(design: Design, entity: type[Entity], access: VectorSpec, values: Any) -> Reading:  # noqa: ANN401 - as given
    limits = " AND ".join(f"{entity.spec.fields[name].stored} = {value_text(each)}" for name, each in values.items())
    return Reading(_table(design, entity), access.index.name, limits, "", f"by {access.index.distance} distance")
