"""Items that went without this layer: DynamoDB's time to live deletes an item, and nothing that follows from it.

What a delete would have done is made up for, given the item as it was last. A stream tells of a removal at least once,
perhaps to two at a time, so a marker in the housekeeping table goes with the transaction: there is one for each item
that was, whatever came to its key since. Children go afterwards, by a journal, as in any cascade.
"""

from contextlib import suppress
from datetime import timedelta
from typing import Any

from keyplan.data.codec.addresses import Address, address
from keyplan.data.codec.entities import DELETING, codec_of, stored_item
from keyplan.data.codec.values import Item
from keyplan.data.errors import AlreadyExists, DataError, StaleVersion
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
from keyplan.design.entity import EntitySpec

KEPT = timedelta(days=30)
"""How long a marker is kept: much longer than a stream keeps its records."""


class ExpiredCleanups:
    """Makes up for removals in one design."""

    def __init__(self, reader: Reader, cascades: Cascades) -> None:
        self._reader = reader
        self._cascades = cascades

    def settle(self, work: CleanUpExpired[Any], context: Context) -> Steps[bool]:
        """Take away what followed from an item that is gone; whether there was something to do, and nobody had."""
        entity, spec = work.entity, work.entity.spec
        stored = stored_item(entity) or codec_of(type(entity)).encode(entity)
        entity = codec_of(type(entity)).decode(stored)
        where, mark = address(spec.table, stored), _mark(spec, stored, context)
        follows = effects_of(entity)
        if DELETING in stored:
            follows.shares = {}  # it did not count any more
        begun = self._journal(entity, mark, context)
        if not follows.items and not follows.shares and begun is None:
            return False
        for attempt in range(ATTEMPTS):
            there = yield from self._there([where, _marker(mark), *follows.items], context)
            if _marker(mark) in there and begun is not None:
                yield from self._finish_begun(begun, context)
            if where in there or _marker(mark) in there:
                return False
            ours = {each: side for each, side in follows.items.items() if side.is_stored_as(there.get(each))}
            if not _untouched(follows, ours):
                return False
            plan = self._plan(spec, where, mark, Effects(ours, follows.shares), begun)
            try:
                yield from send_plan(plan, context)
                break
            except (AlreadyExists, StaleVersion):
                if attempt == ATTEMPTS - 1:
                    raise
                yield Wait(pause(attempt))
        if begun is not None:
            yield from self._finish(begun, context.alone())
        return True

    def resume(self, begun: Item, context: Context) -> Steps[None]:
        """Finish what a journal says."""
        yield from self._finish(begun, context)

    def _there(self, addresses: list[Address], context: Context) -> Steps[dict[Address, Item]]:
        """Those of the items that are there, as they are now."""
        names = context.design.table_names
        wanted = [(names[each.table], each.item) for each in addresses]
        items = yield from batch_get(wanted, consistent=names.values())
        return {each: item for each, item in zip(addresses, items, strict=True) if item is not None}

    def _plan(self, spec: EntitySpec, where: Address, mark: Item, follows: Effects, begun: Item | None) -> Plan:
        plan = Plan()
        plan.check(where, _nothing(spec, where))
        plan.put(_marker(mark), mark, _nothing(spec, _marker(mark)))
        plan_effect_changes(plan, spec, follows, Effects())
        for each, side in follows.items.items():
            plan.actions[each].requirements.append(_as_seen(spec, side))
        for action in plan.actions.values():
            action.floors.clear()  # it is gone, whatever rule it would have broken
        if begun is not None:
            begin(plan, begun)
        return plan

    # What belonged to it

    def _journal(self, entity: Entity, mark: Item, context: Context) -> Item | None:
        """The journal for the children; under a name that the next one who is told of the removal knows, too."""
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
        """Finish it for somebody who was told of the removal before and did not come to the end."""
        key = {"pk": begun["pk"], "sk": begun["sk"]}
        if (yield from self._reader.stored_at(HOUSEKEEPING, key)) is not None:
            yield from self._finish(begun, context.alone())

    def _finish(self, begun: Item, context: Context) -> Steps[None]:
        name = begun["name"]["S"]
        entity = next((each for each in context.design.entities if each.__name__ == name), None)
        if entity is None:
            raise DataError(f"what belonged to a {name} is to be deleted, and there is no such entity any more")
        values = codec_of(entity).decode_fields(entity.spec.primary.fields, begun["values"]["M"])
        with suppress(AlreadyExists):  # where it was created again, what is left belongs to that one
            yield from self._cascades.clear(Ref(entity, values), context, gone=True)
        plan = Plan()
        end(plan, begun)
        yield from send_plan(plan, context)


def _mark(spec: EntitySpec, stored: Item, context: Context) -> Item:
    """The marker of an item that was: of that one, and not of another that had its key before or has it since."""
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
    """The item that is to be deleted still is the one that followed."""
    keys = set(effect.table.key_names)
    known = {name: value for name, value in effect.own.items() if name not in keys} or effect.own
    changed = StaleVersion(spec.name, effect.constraint, effect.values)
    return Requirement(tuple(equals(name, value) for name, value in known.items()), lambda stored: changed)


def _untouched(follows: Effects, ours: dict[Address, EffectItem]) -> bool:
    """Whether nobody took away what followed: then the item was not deleted by a store, and its numbers still count.

    What expires by itself tells nothing; where nothing else follows, the marker has to do.
    """
    lasting = [each for each, side in follows.items.items() if side.table.ttl not in side.item]
    return not lasting or any(each in ours for each in lasting)
