"""Writing many simple items: up to 25 per request, until DynamoDB has taken all."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from keyplan.data.codec.addresses import Address, address, address_of
from keyplan.data.codec.entities import codec_of, set_stored_item
from keyplan.data.codec.settled import settled
from keyplan.data.codec.values import Item
from keyplan.data.errors import DataError, Throttled
from keyplan.data.steps import RETRIES, Steps, Wait, call, pause
from keyplan.data.writes.effects import has_effects
from keyplan.data.writes.operations import Context
from keyplan.data.writes.plan import Plan
from keyplan.data.writes.stamps import creation_stamps
from keyplan.design import Entity, Ref
from keyplan.design.entities.entity_spec import EntitySpec

E = TypeVar("E", bound=Entity)

TOGETHER = 25


@dataclass(frozen=True)
class PutAll(Generic[E]):
    """Many items to put, each in place of what is stored under its key."""

    entities: tuple[E, ...]


@dataclass(frozen=True)
class DeleteAll(Generic[E]):
    """Many items to delete, whether or not they exist."""

    targets: tuple[Ref[E], ...]


def put_all(entities: Iterable[E]) -> PutAll[E]:
    """Put many items without conditions. Only for entities without guards, counters, parents or a version."""
    return PutAll(tuple(entities))


def delete_all(targets: Iterable[Ref[E]]) -> DeleteAll[E]:
    """Delete many items without conditions. Only for entities without guards, counters, parents or a version."""
    return DeleteAll(tuple(targets))


def write_all(work: PutAll[Any] | DeleteAll[Any], context: Context) -> Steps[int]:
    """Write a batch; returns the number of items. If it fails, the items written before stay."""
    wanted: dict[Address, dict[str, Any]] = {}
    items: list[tuple[Entity, Entity, Item]] = []
    if isinstance(work, PutAll):
        for entity in work.entities:
            _check(entity.spec, context)
            fresh = entity.model_copy(update=creation_stamps(entity, context.now))
            entity.spec.limits.check(fresh.__dict__)
            item = codec_of(type(entity)).encode(fresh)
            items.append((entity, fresh, item))
            wanted[address(entity.spec.table, item)] = {"PutRequest": {"Item": item}}
    else:
        for target in work.targets:
            _check(target.entity.spec, context)
            where = address_of(target)
            wanted[where] = {"DeleteRequest": {"Key": where.item}}
    if context.beside(Plan()):
        raise DataError("a batch isn't a transaction, so nothing can be written beside it")
    yield from send_batch(wanted, context)
    for entity, fresh, item in items:
        entity.__dict__.update({**fresh.__dict__, **settled(codec_of(type(entity)), fresh.__dict__, item)})
        set_stored_item(entity, item)
    return len(wanted)


def send_batch(wanted: Mapping[Address, dict[str, Any]], context: Context) -> Steps[None]:
    """Send the requests for these items, and again what DynamoDB leaves unprocessed."""
    names = context.design.table_names
    pending = [(names[where.table], request) for where, request in wanted.items()]
    attempt = 0
    while pending:
        chunk, pending = pending[:TOGETHER], pending[TOGETHER:]
        tables: dict[str, list[dict[str, Any]]] = {}
        for table, request in chunk:
            tables.setdefault(table, []).append(request)
        answer = yield from call("batch_write_item", {"RequestItems": tables})
        left = [(table, request) for table, rest in answer.get("UnprocessedItems", {}).items() for request in rest]
        pending += left
        attempt = 0 if len(left) < len(chunk) else attempt + 1
        if left:
            error = Throttled("batch_write_item", "UnprocessedItems", f"{len(left)} items are still unprocessed")
            if attempt > RETRIES:
                raise error
            yield Wait(pause(attempt), error, first=attempt <= 1)


def _check(spec: EntitySpec, context: Context) -> None:
    """Raise `DataError` for an entity that needs conditions or transactions, which a batch doesn't have."""
    looked_after = {"version", "count"} & {field.kind for field in spec.fields.values()}
    if looked_after or has_effects(spec) or context.relations.is_parent(spec.entity):
        raise DataError(f"{spec.name} has guards, counters, parents or a version: use create() or import_all()")
