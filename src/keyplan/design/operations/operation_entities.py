"""The entities that an operation reads."""

from collections.abc import Iterator

from keyplan.design.entities.entity import Entity
from keyplan.design.operations.item_collections import Aggregated
from keyplan.design.operations.item_reads import BatchGet, Exists, Get, GuardTaken, Lookup, Together, TransactGet
from keyplan.design.operations.nearest import Nearest
from keyplan.design.operations.queries import Follow, ItemCount, Merge, Query, Scan
from keyplan.design.operations.reading import Op


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
