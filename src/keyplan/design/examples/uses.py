"""Where a pattern uses its parameters: as the values of which fields."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from keyplan.design.designs.patterns import Parameter
from keyplan.design.entities.entity import Entity
from keyplan.design.operations.bounds import Bound
from keyplan.design.operations.conditions import FieldPath, Node
from keyplan.design.operations.item_collections import Aggregated
from keyplan.design.operations.item_reads import BatchGet, Exists, Get, GuardTaken, Lookup, Together, TransactGet
from keyplan.design.operations.nearest import Nearest
from keyplan.design.operations.queries import Follow, ItemCount, Merge, Query, Scan
from keyplan.design.operations.reading import Op


@dataclass(frozen=True)
class Use:
    """Where a pattern's parameter is used: as the value of a field."""

    name: str
    entity: type[Entity]
    fields: tuple[str, ...]
    kind: str = "="

    def value(self, item: Entity) -> object:
        """The value that finds this item."""
        found = [getattr(item, name, None) for name in self.fields]
        if self.kind == "keys":
            return [found[0] if len(found) == 1 else dict(zip(self.fields, found, strict=True))]
        value = found[0]
        if self.kind in ("<", ">") and isinstance(value, date):
            return value + timedelta(days=1 if self.kind == "<" else -1)
        if self.kind in ("<", ">") and isinstance(value, int | float):
            return value + (1 if self.kind == "<" else -1)
        if self.kind == "contains" and isinstance(value, (list, tuple, set, frozenset)):
            return next(iter(value), None)
        return value


def uses_of(op: Op[object]) -> Iterator[Use]:
    """Where the parameters of a pattern are used, in keys before filters."""
    match op:
        case Get(entity=entity, values=values) | Exists(entity=entity, values=values):
            yield from _equal(entity, values)
        case Lookup(way=way, values=values) | GuardTaken(guard=way, values=values):
            yield from _equal(way.entity, values)
        case Query(entities=entities, values=values, bound=bound, filter=filter):
            yield from _equal(entities[0], values)
            if bound is not None:
                yield from _bounded(entities[0], *bound)
            yield from _filtered(entities[0], filter)
        case Scan(entity=entity, filter=filter):
            yield from _filtered(entity, filter)
        case BatchGet(entity=entity, keys=keys):
            yield from _keys(entity, keys)
        case Nearest(entity=entity, access=access, vector=vector, values=values):
            yield from _equal(entity, {access.vector: vector, **values})
        case Follow(source=source) | ItemCount(source=source) | Aggregated(source=source):
            yield from uses_of(source)
        case Merge(queries=parts) | Together(gets=parts) | TransactGet(gets=parts):
            for part in parts:
                yield from uses_of(part)


def _parameter(value: object) -> str | None:
    """The parameter that a value is, or that it is computed from."""
    return value.name.partition(" ")[0] if isinstance(value, Parameter) else None


def _equal(entity: type[Entity], values: Mapping[str, object]) -> Iterator[Use]:
    for field, value in values.items():
        if name := _parameter(value):
            yield Use(name, entity, (field,))


def _keys(entity: type[Entity], keys: object) -> Iterator[Use]:
    if name := _parameter(keys):
        yield Use(name, entity, entity.spec.primary.fields, "keys")
    elif isinstance(keys, Sequence):
        for each in keys:
            yield from _equal(entity, each if isinstance(each, Mapping) else {entity.spec.primary.fields[0]: each})


def _bounded(entity: type[Entity], field: str, bound: Bound) -> Iterator[Use]:
    for value, kind in ((bound.low, ">"), (bound.high, "<")):
        if name := _parameter(value):
            yield Use(name, entity, (field,), kind if bound.kind in ("<", ">", "<=", ">=") else "=")


def _filtered(entity: type[Entity], node: object) -> Iterator[Use]:
    if not isinstance(node, Node):
        return
    path = next((each for each in node.operands if isinstance(each, FieldPath)), None)
    for operand in node.operands:
        name = _parameter(operand)
        if name and path is not None and path.names[0] in entity.spec.fields:
            kind = {"<=": "<", ">=": ">"}.get(node.operator, node.operator)
            yield Use(name, entity, (str(path.names[0]),), kind)
        yield from _filtered(entity, operand)


def queries_in(op: Op[object]) -> Iterator[Query[Any]]:
    """The queries that an operation consists of."""
    match op:
        case Query():
            yield op
        case Follow(source=source) | ItemCount(source=source) | Aggregated(source=source):
            yield from queries_in(source)
        case Merge(queries=queries):
            yield from queries
