"""Writes over expired items that DynamoDB hasn't deleted yet: over their keys, and over the unique values they hold.

An expired item counts as absent, so a write that it is in the way of takes its place. What followed from it is deleted,
always on the condition that it is still the expired one: somebody may prolong it at the same time.
"""

from collections.abc import Sequence
from typing import Any

from keyplan.data.codec.addresses import Address, address, address_of
from keyplan.data.codec.entities import DELETING, codec_of, stored_item
from keyplan.data.codec.values import Item
from keyplan.data.errors import AlreadyExists, ConditionFailed, InUse, ItemChanged, NotFound, Refused, UniqueViolation
from keyplan.data.expressions.conditions import attribute_not_exists, equals
from keyplan.data.expressions.expiry import is_expired
from keyplan.data.expressions.requirements import Requirement
from keyplan.data.jobs.cascades import Cascades
from keyplan.data.reads.reader import Reader
from keyplan.data.steps import ATTEMPTS, ClientFailure, Steps
from keyplan.data.writes.operations import Context, Delete, Planned
from keyplan.data.writes.plan import Plan
from keyplan.data.writes.transactions import send_plan, write_parts
from keyplan.design import Entity, Ref
from keyplan.design.entities.effects import Guard
from keyplan.design.entities.entity_spec import EntitySpec


class Replacements:
    """Writes that replace expired items of one design."""

    def __init__(self, reader: Reader, cascades: Cascades) -> None:
        self._reader = reader
        self._cascades = cascades

    def write(self, parts: Sequence[Planned], context: Context) -> Steps[tuple[Any, ...]]:
        """Write all parts in one request, or nothing. Where an expired item is in the way, it is replaced.

        What followed from it is deleted in the same transaction, and the items that belonged to it before that.
        """
        for attempt in range(ATTEMPTS):
            try:
                return (yield from write_parts(parts, context))
            except AlreadyExists as refusal:
                old = _expired_one(refusal, context)
                if old is None or attempt == ATTEMPTS - 1:
                    raise
                if context.relations.cascading(type(old)):
                    if not (yield from self.discard(old, context)):
                        raise
                else:
                    item = stored_item(old) or {}
                    context = context.replacing(address(old.spec.table, item), item)
            except UniqueViolation as refusal:
                # One without a cause is between two parts of this write.
                known = attempt < ATTEMPTS - 1 and isinstance(refusal.__cause__, ClientFailure)
                if not known or not (yield from self.free(refusal, context)):
                    raise
        raise AssertionError  # the last attempt returns or raises

    def discard(self, old: Entity, context: Context) -> Steps[bool]:
        """Delete an expired item with all that followed from it, if it is still the expired one.

        Returns False if other items keep it from being deleted.
        """
        ttl = old.spec.by_kind["ttl"].name
        deletion = Delete(old, where=lambda stored: getattr(stored, ttl) == getattr(old, ttl))
        try:
            if context.relations.cascading(type(old)):
                yield from self._cascades.delete(deletion, context.alone())
            else:
                yield from write_parts([deletion], context.alone())
        except InUse:
            return False
        except (NotFound, ItemChanged, ConditionFailed):
            pass  # somebody else replaces or prolongs it
        return True

    def free(self, refusal: UniqueViolation, context: Context) -> Steps[bool]:
        """Delete the expired item that holds a unique value; returns whether there was one.

        Only a guard that carries the primary key tells whose it is. If DynamoDB has deleted the item already, its guard
        is deleted, unless the cleanup after the item needs it.
        """
        entity = context.design.find_entity(refusal.entity)
        guard = refusal.stored
        if entity is None or not isinstance(guard, dict) or "ttl" not in entity.spec.by_kind:
            return False
        unique = next(each for each in entity.spec.uniques if each.name == refusal.constraint)
        holder = self._reader.holder(Guard(entity, unique), refusal.values, guard)
        if holder is None:
            return False
        item = yield from self._reader.stored(holder)
        if item is None:
            return (yield from self._free_orphan(holder, address(unique.table, guard), guard, context))
        codec = codec_of(entity)
        if DELETING in item or not codec.recognizes(item) or not is_expired(codec.ttl, item, context.now):
            return False
        return (yield from self.discard(codec.decode(item), context))

    def _free_orphan(self, holder: Ref[Entity], where: Address, guard: Item, context: Context) -> Steps[bool]:
        spec = holder.entity.spec
        if context.relations.guards_tell(holder.entity):
            return False
        plan = Plan()
        plan.remove(where, _unchanged(spec, guard))
        plan.check(address_of(holder), _absent(spec, holder))
        try:
            yield from send_plan(plan, context.alone())
        except (AlreadyExists, ItemChanged):
            return False
        return True


def _expired_one(refusal: AlreadyExists, context: Context) -> Entity | None:
    """The item that is in the way, if it has expired and may be replaced."""
    old = refusal.stored
    item = stored_item(old) if isinstance(old, Entity) else None
    if not isinstance(old, Entity) or item is None or DELETING in item:
        return None
    return old if is_expired(codec_of(type(old)).ttl, item, context.now) else None


def _unchanged(spec: EntitySpec, guard: Item) -> Requirement:
    same = tuple(equals(name, value) for name, value in guard.items())
    return Requirement(same, lambda found: ItemChanged(spec.name, "unchanged", {}))


def _absent(spec: EntitySpec, holder: Ref[Entity]) -> Requirement:
    nothing = attribute_not_exists(spec.table.hash[0].name)

    def there(found: Item | None) -> Refused:
        return AlreadyExists(spec.name, "primary", holder.values)

    return Requirement((nothing,), there)
