"""Deletes that cascade: an item and all that belongs to it.

The parent is marked first, in the transaction that writes the journal: from then on nothing can be created under it
and reads do not find it. Then the children go, each with what follows from it, and at last the parent together with
the journal. What is written beside a delete goes with the first of these transactions, and with no other.
"""

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

from keyplan.data.codec.addresses import Address, address, address_of
from keyplan.data.codec.entities import DELETING, codec_of, set_stored_item, stored_item
from keyplan.data.codec.values import Item
from keyplan.data.errors import AlreadyExists, DataError, NotFound, StaleVersion
from keyplan.data.expressions.conditions import attribute_not_exists, equals
from keyplan.data.expressions.requirements import Requirement
from keyplan.data.jobs.journals import begin, end, journal
from keyplan.data.reads.reader import Reader
from keyplan.data.steps import ATTEMPTS, Steps, Wait, pause
from keyplan.data.writes.actions import Action
from keyplan.data.writes.effect_changes import plan_effect_changes
from keyplan.data.writes.effects import Effects, effects_of, has_effects
from keyplan.data.writes.family import not_being_deleted, not_referred_to
from keyplan.data.writes.locking import unchanged_since_read
from keyplan.data.writes.operations import Context, Delete
from keyplan.data.writes.plan import Plan
from keyplan.data.writes.transactions import send_plan
from keyplan.design import Entity, Ref
from keyplan.design.effects import BelongsTo, named_by
from keyplan.design.entity import KeySpec
from keyplan.design.operations import Query

TOGETHER = 25


class Cascades:
    """Works out the cascades of one design."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    def delete(self, write: Delete[Any], context: Context, gone: Address | None = None) -> Steps[None]:
        """Delete an item and all that belongs to it; as a child of what is `gone`, only while that is."""
        entity = write.entity
        stored = stored_item(entity) or codec_of(type(entity)).encode(entity)
        where = address(entity.spec.table, stored)
        begun = journal(context, "cascade", entity.spec.name, {"key": {"M": where.item}})
        yield from self._mark(write, stored, where, context, begun, gone)
        yield from self._finish(type(entity), stored, where.item, context.alone(), begun)
        set_stored_item(entity, None)

    def resume(self, begun: Item, context: Context) -> Steps[None]:
        """Finish what a journal says."""
        name, key = begun["name"]["S"], begun["key"]["M"]
        entity = next((each for each in context.design.entities if each.__name__ == name), None)
        if entity is None:
            raise DataError(f"a delete of {name} was begun and not finished, and there is no such entity any more")
        item = yield from self._marked(entity, key, begun)
        yield from self._finish(entity, item, key, context, begun)

    def _mark(
        self, write: Delete[Any], stored: Item, where: Address, context: Context, begun: Item, gone: Address | None
    ) -> Steps[None]:
        """In one transaction: nothing refuses the delete, the parent is marked and no longer counts, and a journal."""
        entity, spec = write.entity, write.entity.spec
        requirements = [
            *unchanged_since_read(spec, stored, set(), write.refusal, whole=has_effects(spec)),
            *not_being_deleted(context.relations, type(entity), entity.key_values),
            *not_referred_to(context.relations, entity),
        ]
        plan = Plan()
        action = plan.change(where, {DELETING: begun["startedAt"]}, set(), *requirements)
        write.add_where(action)
        follows = effects_of(codec_of(type(entity)).decode(stored))
        plan_effect_changes(plan, spec, Effects(shares=follows.shares), Effects())
        _only_while(plan, gone)
        begin(plan, begun)
        yield from send_plan(plan, context)

    def _finish(self, entity: type[Entity], item: Item | None, key: Item, context: Context, begun: Item) -> Steps[None]:
        """The children go, then the parent (as it is known to be stored, or None) and the journal."""
        if item is not None:
            yield from self.clear(Ref(entity, codec_of(entity).decode(item).key_values), context)
        for attempt in range(ATTEMPTS):
            plan = Plan()
            if item is not None:
                self._add_last(plan, entity, item, begun)
            end(plan, begun)
            try:
                yield from send_plan(plan, context)
                return
            except (NotFound, StaleVersion):
                # Another runner was first, or somebody still changed the item.
                if attempt == ATTEMPTS - 1:
                    raise
                yield Wait(pause(attempt))
                item = yield from self._marked(entity, key, begun)

    def _marked(self, entity: type[Entity], key: Item, begun: Item) -> Steps[Item | None]:
        """The parent, if it still is the one that the journal is about, and not one that was created since."""
        item = yield from self._reader.stored_at(entity.spec.table, key)
        return item if item is not None and item.get(DELETING) == begun["startedAt"] else None

    def _add_last(self, plan: Plan, entity: type[Entity], item: Item, begun: Item) -> None:
        """The parent goes. What would have refused that was asked when it was marked, and it does not count since."""
        spec = entity.spec
        last = codec_of(entity).decode(item)
        refusal = Delete(last).refusal
        marked = Requirement((equals(DELETING, begun["startedAt"]),), lambda stored: refusal(NotFound, "primary", None))
        requirements = unchanged_since_read(spec, item, set(), refusal, whole=has_effects(spec))
        plan.remove(address(spec.table, item), marked, *requirements)
        plan_effect_changes(plan, spec, Effects(items=effects_of(last).items), Effects())

    # Children

    def clear(self, parent: Ref[Any], context: Context, *, gone: bool = False) -> Steps[None]:
        """Delete what belongs to an item; of one that is `gone`, only until there is one in its place."""
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
        """Delete the children that a query finds; whether it must be asked again."""
        again = False
        start: Item | None = None
        while True:
            found, start = yield from self._reader.lists.read(source, start, TOGETHER)
            for child in found:
                if any(address_of(named) == parent for named in named_by(relation.parent(child))):
                    done = yield from self._delete_one(child, context, parent if gone else None)
                    # An index may still miss what was written a moment ago, so it is asked until it has nothing.
                    again = again or not done or source.key.index is not None
            if start is None:
                return again

    def _delete_one(self, entity: Entity, context: Context, gone: Address | None) -> Steps[bool]:
        """Whether the item is gone; not where somebody changed it since it was read."""
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
        except StaleVersion:
            return False
        return True


def _only_while(plan: Plan, gone: Address | None) -> None:
    """The plan holds only while there is nothing at this address; and there is nothing to be counted there, then."""
    if gone is None:
        return
    nothing = Requirement(
        (attribute_not_exists(gone.key[0][0]),),
        lambda stored: AlreadyExists(gone.table, "primary", {}, None, "it was created again"),
    )
    plan.actions[gone] = Action(gone, presence=[nothing])


def _known_values(parent: Mapping[str, object], relation: BelongsTo[Any], key: KeySpec) -> Iterator[dict[str, object]]:
    """What is known of the children's key: all of the hash key, and the beginning of the sort key.

    What the parent does not know of it has a few values, and is asked for with each.
    """
    for choice in product(*relation.over.values()):
        values = {mine: parent[theirs] for theirs, mine in relation.fields.items()}
        values |= dict(zip(relation.over, choice, strict=True))
        known = {name: values[name] for part in key.hash for name in part.fields}
        for name in (name for part in key.range for name in part.fields):
            if name not in values:
                break
            known[name] = values[name]
        yield known
