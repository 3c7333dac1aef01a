"""Cleaning up after expired items that DynamoDB deleted.

DynamoDB's time to live deletes an item, but not its effects.

The cleanup does what a delete would have done, given the item as it was last. A stream reports a removal at least once,
perhaps to two handlers at the same time, so the transaction also writes a marker to the housekeeping table, one for
each expired item. Children are deleted afterwards, with a journal, as in any cascading delete.
"""

from contextlib import suppress
from datetime import timedelta
from typing import Any

from keyplan.data.codec.addresses import Address, address
from keyplan.data.codec.entities import DELETING, codec_of, stored_item
from keyplan.data.codec.values import Item
from keyplan.data.errors import AlreadyExists, DataError, ItemChanged
from keyplan.data.expressions.conditions import attribute_not_exists, equals
from keyplan.data.expressions.requirements import Requirement
from keyplan.data.jobs.cascades import Cascades
from keyplan.data.jobs.journals import JOURNALS, begin, digest, end
from keyplan.data.reads.batch_get import batch_get
from keyplan.data.reads.reader import Reader
from keyplan.data.steps import ATTEMPTS, Steps, Wait, pause
from keyplan.data.writes.effect_changes import plan_effect_changes
from keyplan.data.writes.effects import EffectItem, Effects, effects_of
from keyplan.data.writes.operations import CleanUpExpired, Context
from keyplan.data.writes.plan import Plan
from keyplan.data.writes.transactions import send_plan
from keyplan.design import HOUSEKEEPING, Entity, Ref
from keyplan.design.entities.entity_spec import EntitySpec

KEPT = timedelta(days=30)
"""How long a marker is kept: much longer than a stream keeps its records (24 hours)."""


class ExpiredCleanups:
    """Cleans up after expired items of one design."""

    def __init__(self, reader: Reader, cascades: Cascades) -> None:
        self._reader = reader
        self._cascades = cascades

    def settle(self, work: CleanUpExpired[Any], context: Context) -> Steps[bool]:
        """Delete the effects of an expired item; returns whether there were any, and nobody else had done it."""
        entity, spec = work.entity, work.entity.spec
        stored = stored_item(entity) or codec_of(type(entity)).encode(entity)
        entity = codec_of(type(entity)).decode(stored)
        where, mark = address(spec.table, stored), _mark(spec, stored, context)
        effects = effects_of(entity)
        if DELETING in stored:
            effects.shares = {}  # it was no longer counted
        begun = self._journal(entity, mark, context)
        if not effects.items and not effects.shares and begun is None:
            return False
        for attempt in range(ATTEMPTS):
            existing = yield from self._existing([where, _marker(mark), *effects.items], context)
            if _marker(mark) in existing and begun is not None:
                yield from self._finish_begun(begun, context)
            if where in existing or _marker(mark) in existing:
                return False
            ours = {each: effect for each, effect in effects.items.items() if effect.is_stored_as(existing.get(each))}
            if not _untouched(effects, ours):
                return False
            plan = self._plan(spec, where, mark, Effects(ours, effects.shares), begun, context)
            try:
                yield from send_plan(plan, context)
                break
            except (AlreadyExists, ItemChanged):
                if attempt == ATTEMPTS - 1:
                    raise
                yield Wait(pause(attempt))
        if begun is not None:
            yield from self._finish(begun, context.alone())
        return True

    def resume(self, begun: Item, context: Context) -> Steps[None]:
        """Finish the job of a journal."""
        yield from self._finish(begun, context)

    def _existing(self, addresses: list[Address], context: Context) -> Steps[dict[Address, Item]]:
        """The items at these addresses that exist now."""
        names = context.design.table_names
        wanted = [(names[each.table], each.item) for each in addresses]
        items = yield from batch_get(wanted, consistent=names.values())
        return {each: item for each, item in zip(addresses, items, strict=True) if item is not None}

    def _plan(
        self, spec: EntitySpec, where: Address, mark: Item, effects: Effects, begun: Item | None, context: Context
    ) -> Plan:
        plan = Plan()
        plan.check(where, _nothing(spec, where))
        plan.put(_marker(mark), mark, _nothing(spec, _marker(mark)))
        plan_effect_changes(plan, spec, effects, Effects(), context.now)
        for each, effect in effects.items.items():
            plan.actions[each].requirements += (_as_seen(spec, effect),)
        for action in plan.actions.values():
            action.floors.clear()  # the item is already deleted, so floors can't refuse it
        if begun is not None:
            begin(plan, begun)
        return plan

    # Children

    def _journal(self, entity: Entity, mark: Item, context: Context) -> Item | None:
        """The journal for deleting the children; its key is the same for everybody who handles the same removal."""
        spec, codec = entity.spec, codec_of(type(entity))
        if not context.relations.cascading(type(entity)):
            return None
        values = {name: codec.encode_value(name, value) for name, value in entity.key_values.items()}
        return {
            "pk": {"S": JOURNALS},
            "sk": mark["pk"],
            "kind": {"S": "gone"},
            "name": {"S": spec.name},
            "startedAt": {"S": context.now.isoformat()},
            "values": {"M": {spec.fields[name].stored: value for name, value in values.items() if value is not None}},
        }

    def _finish_begun(self, begun: Item, context: Context) -> Steps[None]:
        """Finish a cleanup that another process began and didn't finish."""
        key = {"pk": begun["pk"], "sk": begun["sk"]}
        if (yield from self._reader.stored_at(HOUSEKEEPING, key)) is not None:
            yield from self._finish(begun, context.alone())

    def _finish(self, begun: Item, context: Context) -> Steps[None]:
        name = begun["name"]["S"]
        entity = next((each for each in context.design.entities if each.__name__ == name), None)
        if entity is None:
            raise DataError(
                f"the children of an expired {name} were not all deleted, and the design no longer has this entity"
            )
        values = codec_of(entity).decode_fields(entity.spec.primary.fields, begun["values"]["M"])
        with suppress(AlreadyExists):  # if the item was created again, the children that are left belong to it
            yield from self._cascades.clear(Ref(entity, values), context, gone=True)
        plan = Plan()
        end(plan, begun)
        yield from send_plan(plan, context)


def _mark(spec: EntitySpec, stored: Item, context: Context) -> Item:
    """The marker of an expired item: of this one, not of others with the same key before or since."""
    created = spec.by_kind.get("created")
    key = {part.attribute.name: stored[part.attribute.name] for part in spec.primary.parts}
    which = stored.get(created.stored) if created is not None else None
    return {
        "pk": {"S": f"GONE#{digest(spec.table.name, key, which or stored)}"},
        "sk": {"S": "GONE"},
        "name": {"S": spec.name},
        "expiresAt": {"N": str(int((context.now + KEPT).timestamp()))},
    }


def _marker(mark: Item) -> Address:
    return address(HOUSEKEEPING, mark)


def _nothing(spec: EntitySpec, where: Address) -> Requirement:
    condition = attribute_not_exists(where.key[0][0])
    return Requirement((condition,), lambda stored: AlreadyExists(spec.name, "primary", {}))


def _as_seen(spec: EntitySpec, effect: EffectItem) -> Requirement:
    """The effect item is unchanged since it was read."""
    keys = set(effect.table.key_names)
    known = {name: value for name, value in effect.own.items() if name not in keys} or effect.own
    changed = ItemChanged(spec.name, effect.constraint, effect.values)
    return Requirement(tuple(equals(name, value) for name, value in known.items()), lambda stored: changed)


def _untouched(effects: Effects, ours: dict[Address, EffectItem]) -> bool:
    """Whether effects of the item still exist: then no store deleted it, and it is still counted.

    Effects that expire themselves don't tell. If there are no others, only the marker prevents a second cleanup.
    """
    lasting = [each for each, effect in effects.items.items() if not effect.expires]
    return not lasting or any(each in ours for each in lasting)
