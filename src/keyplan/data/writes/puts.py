"""Puts: writing an item in place of whatever is stored under its key."""

from typing import Any

from keyplan.data.codec.addresses import address
from keyplan.data.codec.entities import codec_of, set_stored_item
from keyplan.data.codec.values import Item
from keyplan.data.errors import AlreadyExists, ItemChanged, Refused, described
from keyplan.data.expressions.conditions import item_exists
from keyplan.data.expressions.evaluation import holds
from keyplan.data.reads.reader import Reader
from keyplan.data.relations import Relations
from keyplan.data.steps import ATTEMPTS, Steps, Wait, pause
from keyplan.data.writes.effects import has_effects
from keyplan.data.writes.operations import Context, Create, Put, Update
from keyplan.data.writes.plan import Plan
from keyplan.data.writes.stamps import check_counts
from keyplan.data.writes.transactions import send_plan, write_parts
from keyplan.design import Entity, Ref
from keyplan.design.entity import EntitySpec


def put_steps(work: Put[Any], reader: Reader, context: Context) -> Steps[None]:
    """The steps of a put. The effects of the old and the new item are brought in line."""
    entity = work.entity
    if _is_simple(entity.spec, context.relations):
        entity.spec.limits.check(entity.__dict__)
        plan = Plan()
        whole = codec_of(type(entity)).encode(entity)
        plan.put(address(entity.spec.table, whole), whole)
        yield from send_plan(plan, context)
        entity.__dict__.update(codec_of(type(entity)).settled(entity.__dict__, whole))
        set_stored_item(entity, whole)
        return
    for attempt in range(ATTEMPTS):
        item = yield from reader.stored(Ref(type(entity), entity.key_values))
        if item is not None and not holds(item_exists(entity.spec), item):
            raise AlreadyExists(
                entity.spec.name,
                "primary",
                entity.key_values,
                None,
                f"{described(entity.spec.name, entity.key_values)} would replace another entity's item",
            )
        _stand_in(entity, item)
        try:
            yield from write_parts([Create(entity) if item is None else Update(entity)], context)
            return
        except Refused as refusal:
            if attempt == ATTEMPTS - 1 or not (refusal.constraint == "primary" or isinstance(refusal, ItemChanged)):
                raise
            yield Wait(pause(attempt))


def _is_simple(spec: EntitySpec, relations: Relations) -> bool:
    """Whether an item can be put without reading the one it replaces, because neither has effects."""
    looked_after = {field.kind for field in spec.fields.values()} - {"plain", "ttl"}
    return not (looked_after or has_effects(spec) or relations.is_parent(spec.entity) or spec.identified_by_type)


def _stand_in(entity: Entity, item: Item | None) -> None:
    """Treat an entity as read from this item; fields that the store maintains take their stored values."""
    check_counts(entity)
    set_stored_item(entity, item)
    if item is not None:
        before = codec_of(type(entity)).decode(item)
        for field in entity.spec.fields.values():
            kept = field.kind == "created" and field.name not in entity.model_fields_set
            if kept or field.kind in ("count", "version"):
                entity.__dict__[field.name] = getattr(before, field.name)
