"""The entities that an operation is on."""

from collections.abc import Iterator

from keyplan.data.writes.batches import DeleteAll, PutAll
from keyplan.data.writes.imports import ImportAll
from keyplan.data.writes.key_operations import DeleteByKey, Patch, Upsert
from keyplan.data.writes.operations import Check, CleanUpExpired, Put, Write
from keyplan.design import Entity, Op
from keyplan.design.operations.operation_entities import entities_read
from keyplan.design.operations.rewrites import Rewrite


def entities_of(op: object) -> Iterator[type[Entity]]:
    """The entities whose items an operation reads or writes by itself, without what follows from them."""
    match op:
        case Op():
            yield from entities_read(op)
        case Write(entity=entity) | Put(entity=entity) | CleanUpExpired(entity=entity):
            yield type(entity)
        case Check(target=target) | Patch(target=target) | Upsert(target=target) | DeleteByKey(target=target):
            yield target.entity
        case PutAll(entities=entities) | ImportAll(entities=entities):
            yield from dict.fromkeys(map(type, entities))
        case DeleteAll(targets=targets):
            yield from dict.fromkeys(target.entity for target in targets)
        case Rewrite(source=source, opening=opening, final=final):
            yield from entities_read(source)
            for write in opening:
                yield from entities_of(write)
            if final is not None:
                yield final.target.entity
