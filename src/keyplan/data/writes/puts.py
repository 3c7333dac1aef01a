"""Puts: writing an item in place of whatever is stored under its key."""

from dataclasses import dataclass
from typing import Any

from keyplan.data.codec.addresses import address
from keyplan.data.codec.entities import codec_of, set_stored_item
from keyplan.data.codec.values import Item
from keyplan.data.errors import AlreadyExists, ItemChanged, Refused, described
from keyplan.data.expressions.conditions import item_exists
from keyplan.data.expressions.evaluation import holds
from keyplan.data.expressions.expiry import is_expired
from keyplan.data.reads.reader import Reader
from keyplan.data.relations import Relations
from keyplan.data.steps import Steps
from keyplan.data.writes.baseline import settle
from keyplan.data.writes.effects import has_effects
from keyplan.data.writes.operations import AfterWrite, Context, Create, Planned, Put, Replacing, Update
from keyplan.data.writes.plan import Plan
from keyplan.data.writes.stamps import check_counts
from keyplan.design import Entity, Ref
from keyplan.design.entities.entity_spec import EntitySpec


@dataclass(frozen=True)
class DirectPut:
    """A put that doesn't need to read the item that it replaces."""

    entity: Entity

    def add_to(self, plan: Plan, context: Context) -> AfterWrite:
        entity, codec = self.entity, codec_of(type(self.entity))
        entity.spec.limits.check(entity.__dict__)
        whole = codec.encode(entity)
        action = plan.put(address(entity.spec.table, whole), whole)
        return lambda: settle(entity, entity.__dict__, whole, action)


def prepare_put(work: Put[Any], reader: Reader, context: Context) -> Steps[Planned]:
    """A put as a write of the item, or as what brings the effects of the old and the new item in line."""
    entity = work.entity
    if _is_simple(entity.spec, context.relations):
        return DirectPut(entity)
    item = yield from reader.stored(Ref(type(entity), entity.key_values))
    if item is not None and not holds(item_exists(entity.spec), item):
        raise AlreadyExists(
            entity.spec.name,
            "primary",
            entity.key_values,
            None,
            f"{described(entity.spec.name, entity.key_values)} would replace another entity's item",
        )
    if item is not None and is_expired(codec_of(type(entity)).ttl, item, context.now):
        _stand_in(entity, None)
        return Replacing(address(entity.spec.table, item), item, Create(entity))
    _stand_in(entity, item)
    return Create(entity) if item is None else Update(entity)


def lost_race(work: Put[Any], refusal: Refused) -> bool:
    """Whether a put was refused because others created, changed or deleted the item since it was read."""
    if refusal.entity != work.entity.spec.name or refusal.values != work.entity.key_values:
        return False
    return isinstance(refusal, ItemChanged) or refusal.constraint == "primary"


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
