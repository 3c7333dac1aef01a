"""The entities that an operation reads."""

from collections.abc import Iterator

from keyplan.design.entity import Entity
from keyplan.design.item_collections import Aggregated
from keyplan.design.nearest import Nearest
from keyplan.design.operations import (
    BatchGet,
    Exists,
    Follow,
    Get,
    GuardTaken,
    ItemCount,
    Lookup,
    Merge,
    Op,
    Query,
    Scan,
    Together,
    TransactGet,
)


def entities_read(op: Op[object]) -> Iterator[type[Entity]]:
    """The entities whose items an operation can return."""
    match op:
        case Nearest(entity=entity):
            yield entity
        case Get(entity=entity) | Exists(entity=entity) | BatchGet(entity=entity) | Scan(entity=entity):
            yield entity
        case Lookup(way=way) | GuardTaken(guard=way):
            yield way.entity
        case Query(entities=entities):
            yield from entities
        case Follow(source=source, target=target):
            yield from (*source.entities, target)
        case Merge(queries=parts) | Together(gets=parts) | TransactGet(gets=parts):
            for part in parts:
                yield from entities_read(part)
        case ItemCount(source=source) | Aggregated(source=source):
            yield from entities_read(source)
