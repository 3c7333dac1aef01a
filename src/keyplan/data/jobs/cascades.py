"""Cascading deletes: an item and all that belongs to it.

The first transaction marks the parent and writes the journal. From then on no child can be created, and reads don't
find the parent. Then the children are deleted with their effects, and at last the parent together with the journal.
Parts beside the delete are written with the first transaction only.
"""

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

from keyplan.data.codec.addresses import Address, address, address_of
from keyplan.data.codec.entities import DELETING, codec_of, set_stored_item, stored_item
from keyplan.data.codec.values import Item
from keyplan.data.errors import AlreadyExists, DataError, ItemChanged, NotFound
from keyplan.data.expressions.conditions import attribute_not_exists, equals
from keyplan.data.expressions.requirements import Requirement
from keyplan.data.jobs.journals import begin, end, journal
from keyplan.data.reads.reader import Reader
from keyplan.data.steps import ATTEMPTS, Steps, Wait, pause
from keyplan.data.writes.actions import Action
from keyplan.data.writes.effect_changes import plan_effect_changes
from keyplan.data.writes.effects import Effects, effects_left, effects_of, has_effects
from keyplan.data.writes.family import not_being_deleted, not_referred_to
from keyplan.data.writes.key_deletes import read_delete
from keyplan.data.writes.key_operations import DeleteByKey
from keyplan.data.writes.locking import unchanged_since_read
from keyplan.data.writes.operations import Context, Delete
from keyplan.data.writes.plan import Plan
from keyplan.data.writes.transactions import send_plan
from keyplan.design import Entity, Ref
from keyplan.design.entities.effects import BelongsTo, named_by
from keyplan.design.entities.specs import KeySpec
from keyplan.design.operations.queries import Query

TOGETHER = 25


class Cascades:
    """Carries out the cascading deletes of one design."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    def delete(self, write: Delete[Any], context: Context, gone: Address | None = None) -> Steps[None]:
        """Delete an item and all that belongs to it; with `gone`, only while there is no item at that address."""
        entity = write.entity
        stored = stored_item(entity) or codec_of(type(entity)).encode(entity)
        where = address(entity.spec.table, stored)
        begun = journal(context, "cascade", entity.spec.name, {"key": {"M": where.item}})
        yield from self._mark(write, stored, where, context, begun, gone)
        yield from self._finish(type(entity), stored, where.item, context.alone(), begun)
        set_stored_item(entity, None)

    def delete_by_key(self, work: DeleteByKey[Any], context: Context) -> Steps[None]:
        """Read an item, and delete it and all that belongs to it."""
        for attempt in range(ATTEMPTS):
            write = yield from read_delete(work, self._reader)
            try:
                return (yield from self.delete(write, context))
            except ItemChanged:
                if attempt == ATTEMPTS - 1:
                    raise
            yield Wait(pause(attempt))

    def resume(self, begun: Item, context: Context) -> Steps[None]:
        """Finish the job of a journal."""
        name, key = begun["name"]["S"], begun["key"]["M"]
        entity = next((each for each in context.design.entities if each.__name__ == name), None)
        if entity is None:
            raise DataError(f"a delete of {name} was not finished, and the design no longer has this entity")
        item = yield from self._marked(entity, key, begun)
        yield from self._finish(entity, item, key, context, begun)

    def _mark(
        self, write: Delete[Any], stored: Item, where: Address, context: Context, begun: Item, gone: Address | None
    ) -> Steps[None]:
        """Mark the parent, stop counting it and write the journal, in one transaction that children can refuse."""
        entity, spec = write.entity, write.entity.spec
        requirements = [
            *unchanged_since_read(spec, stored, set(), write.refusal, whole=has_effects(spec)),
            *not_being_deleted(context.relations, type(entity), entity.key_values),
            *not_referred_to(context.relations, type(entity), entity.key_values),
        ]
        plan = Plan()
        action = plan.change(where, {DELETING: begun["startedAt"]}, set(), *requirements)
        write.add_where(action)
        effects = effects_of(codec_of(type(entity)).decode(stored))
        plan_effect_changes(plan, spec, Effects(shares=effects.shares), Effects(), context.now)
        _only_while(plan, gone)
        begin(plan, begun)
        yield from send_plan(plan, context)

    def _finish(self, entity: type[Entity], item: Item | None, key: Item, context: Context, begun: Item) -> Steps[None]:
        """Delete the children, then the parent (`item`, if it still exists) and the journal."""
        if item is not None:
            yield from self.clear(Ref(entity, codec_of(entity).decode(item).key_values), context)
        for attempt in range(ATTEMPTS):
            plan = Plan()
            if item is not None:
                self._add_last(plan, entity, item, context, begun)
            end(plan, begun)
            try:
                yield from send_plan(plan, context)
                return
            except (NotFound, ItemChanged):
                # Another process was faster, or somebody changed the item.
                if attempt == ATTEMPTS - 1:
                    raise
                yield Wait(pause(attempt))
                item = yield from self._marked(entity, key, begun)

    def _marked(self, entity: type[Entity], key: Item, begun: Item) -> Steps[Item | None]:
        """The parent, if it is still the one that was marked, and not one that was created since."""
        item = yield from self._reader.stored_at(entity.spec.table, key)
        return item if item is not None and item.get(DELETING) == begun["startedAt"] else None

    def _add_last(self, plan: Plan, entity: type[Entity], item: Item, context: Context, begun: Item) -> None:
        """Delete the parent. Children could refuse when it was marked, and it has not been counted since."""
        spec = entity.spec
        last = codec_of(entity).decode(item)
        refusal = Delete(last).refusal
        marked = Requirement((equals(DELETING, begun["startedAt"]),), lambda stored: refusal(NotFound, "primary", None))
        requirements = unchanged_since_read(spec, item, set(), refusal, whole=has_effects(spec))
        plan.remove(address(spec.table, item), marked, *requirements)
        left = effects_left(last, item, context.now)
        plan_effect_changes(plan, spec, Effects(items=left.items), Effects(), context.now)

    # Children

    def clear(self, parent: Ref[Any], context: Context, *, gone: bool = False) -> Steps[None]:
        """Delete the children of an item; with `gone`, only while the item doesn't exist."""
        for child, relation in context.relations.deletion_order(parent.entity):
            yield from self._delete_children(parent, child, relation, context, gone)

    def _delete_children(
        self, parent: Ref[Any], child: type[Entity], relation: BelongsTo[Any], context: Context, gone: bool
    ) -> Steps[None]:
        spec = child.spec
        key = spec.primary if relation.via == "primary" else spec.placements[relation.via]
        for values in _known_values(parent.values, relation, key):
            source: Query[Any] = Query((child,), key, values, consistent=key.index is None)
            attempt = 0
            while (yield from self._delete_found(source, relation, address_of(parent), context, gone)):
                yield Wait(pause(min(attempt, 3)))
                attempt += 1

    def _delete_found(
        self, source: Query[Any], relation: BelongsTo[Any], parent: Address, context: Context, gone: bool
    ) -> Steps[bool]:
        """Delete the children that a query finds; returns whether to run the query again."""
        again = False
        start: Item | None = None
        while True:
            found, start = yield from self._reader.lists.read(source, start, TOGETHER)
            for child in found:
                if any(address_of(named) == parent for named in named_by(relation.parent(child))):
                    done = yield from self._delete_one(child, context, parent if gone else None)
                    # An index lags behind the table, so it is queried until it finds nothing.
                    again = again or not done or source.key.index is not None
            if start is None:
                return again

    def _delete_one(self, entity: Entity, context: Context, gone: Address | None) -> Steps[bool]:
        """Delete a child; returns False if somebody changed it since it was read."""
        write = Delete(entity)
        try:
            if context.relations.cascading(type(entity)):
                yield from self.delete(write, context, gone)
            else:
                plan = Plan()
                write.add_to(plan, context)
                _only_while(plan, gone)
                yield from send_plan(plan, context)
        except NotFound:
            return True
        except ItemChanged:
            return False
        return True


def _only_while(plan: Plan, gone: Address | None) -> None:
    """Require that no item exists at this address, which then has no counters to change either."""
    if gone is None:
        return
    nothing = Requirement(
        (attribute_not_exists(gone.key[0][0]),),
        lambda stored: AlreadyExists(gone.table, "primary", {}, None, f"An item of {gone.table} was created again"),
    )
    plan.actions[gone] = Action(gone, presence=(nothing,))


def _known_values(parent: Mapping[str, object], relation: BelongsTo[Any], key: KeySpec) -> Iterator[dict[str, object]]:
    """What the parent's values tell of its children's keys: the partition key, and the beginning of the sort key.

    If the parent doesn't know a field of the partition key, one set of values for each value in `over`.
    """
    for choice in product(*relation.over.values()):
        values = {mine: parent[theirs] for theirs, mine in relation.fields.items()}
        values |= dict(zip(relation.over, choice, strict=True))
        known = {name: values[name] for name in key.partition_fields}
        for name in (name for part in key.range for name in part.fields):
            if name not in values:
                break
            known[name] = values[name]
        yield known
