"""Effect changes: the actions that turn the effects of an item before a write into those after it."""

from datetime import datetime

from keyplan.data.codec.addresses import Address
from keyplan.data.codec.large import CONTENT, DIGEST, PART_BYTES
from keyplan.data.errors import AlreadyExists, FloorReached, NotFound, UniqueViolation, described
from keyplan.data.expressions.conditions import attribute_exists, attribute_not_exists
from keyplan.data.expressions.expiry import expired
from keyplan.data.expressions.requirements import Requirement
from keyplan.data.writes.actions import Floor
from keyplan.data.writes.effects import CounterShare, EffectItem, Effects
from keyplan.data.writes.family import parent_exists, stored_entity
from keyplan.data.writes.plan import Plan
from keyplan.design.entities.entity_spec import EntitySpec
from keyplan.design.entities.large_values import NotLoaded


def plan_effect_changes(plan: Plan, spec: EntitySpec, before: Effects, after: Effects, now: datetime) -> None:
    """Add to the plan what turns the effects before into those after."""
    for where, effect in before.items.items():
        if where not in after.items:
            plan.remove(where).frees = PART_BYTES if effect.kind == "part" else 0
        elif effect.kind == "part":
            _change_part(plan, spec, where, effect, after.items[where], now)
        elif after.items[where].item != effect.item:
            _rewrite(plan, where, effect, after.items[where])
    for where, effect in after.items.items():
        if where not in before.items:
            _put(plan, spec, where, effect, now)
    for key in {**before.shares, **after.shares}:
        belongs = after.parents[key[0]][0].name if key[0] in after.parents else None
        _count(plan, spec, key[0], before.shares.get(key), after.shares.get(key), belongs, now)
    for where, (relation, parent) in after.parents.items():
        # A parent that counts its children is required to exist by the counting.
        if where not in before.parents and relation.count is None:
            plan.check(where, *parent_exists(spec, relation.name, parent, now))


def check_cascading_parents(plan: Plan, spec: EntitySpec, effects: Effects, now: datetime) -> None:
    """Require that no parent is being deleted: a cascade that has passed the item's new key would miss it."""
    for where, (relation, parent) in effects.parents.items():
        if relation.on_delete == "cascade":
            plan.check(where, *parent_exists(spec, relation.name, parent, now))


def _put(plan: Plan, spec: EntitySpec, where: Address, effect: EffectItem, now: datetime) -> None:
    """Write an effect. What is left of an older part is replaced: DynamoDB may have deleted only its item so far."""
    if effect.kind != "part":
        plan.put(where, effect.item, _free(spec, effect, now))
    elif CONTENT in effect.item:
        plan.put(where, effect.item)
    else:
        raise NotLoaded(spec.name, effect.constraint, effect.values)


def _change_part(plan: Plan, spec: EntitySpec, where: Address, old: EffectItem, new: EffectItem, now: datetime) -> None:
    """Replace a part of another value; of the same value, only the time to live can change."""
    if old.item[DIGEST] != new.item[DIGEST]:
        _put(plan, spec, where, new, now)
        return
    ttl = new.table.ttl
    if ttl is not None and old.item.get(ttl) != new.item.get(ttl):
        lost = f"A part of {spec.name}.{new.constraint} is missing: write the value again"
        there = Requirement(
            (attribute_exists(DIGEST),),
            lambda stored: NotFound(spec.name, new.constraint, new.values, None, lost),
        )
        sets = {ttl: new.item[ttl]} if ttl in new.item else {}
        plan.change(where, sets, set() if sets else {ttl}, there)


def _rewrite(plan: Plan, where: Address, old: EffectItem, new: EffectItem) -> None:
    """Set all attributes of the new item, so that it is complete even if it was lost; unknown attributes stay."""
    keys = {name for name, _, _ in where.key}
    sets = {name: value for name, value in new.own.items() if name not in keys}
    plan.change(where, sets, {name for name in old.item if name not in new.item})


def _free(spec: EntitySpec, effect: EffectItem, now: datetime) -> Requirement:
    """No item has this unique value or this key yet, or only one that has expired."""
    kind = UniqueViolation if effect.kind == "unique" else AlreadyExists
    free = attribute_not_exists(effect.table.hash[0].name)
    return Requirement(
        (free | expired(effect.table.ttl, now) if effect.table.ttl and effect.expires else free,),
        lambda stored: kind(spec.name, effect.constraint, effect.values, stored),
    )


def _count(
    plan: Plan,
    spec: EntitySpec,
    where: Address,
    before: CounterShare | None,
    after: CounterShare | None,
    relation: str | None,
    now: datetime,
) -> None:
    """Add the difference to a counter; where its item is a parent too, a missing one is that relation's matter."""
    share = after or before
    assert share is not None
    old, new = before.amount if before else 0, after.amount if after else 0
    if old == new:
        return
    more = abs(new) > abs(old)  # amounts may be negative: a reservation takes from the stock
    exists = parent_exists(spec, relation or share.constraint, share.target, now, growing=more)
    floor = None if share.floor is None else _floor(spec, share, share.floor)
    plan.add(where, share.attribute, new - old, *exists, floor=floor, more=more)


def _floor(spec: EntitySpec, share: CounterShare, least: int) -> Floor:
    target = described(share.target.entity.__name__, share.target.values)
    sentence = f"Can't write {spec.name}: {share.attribute} of {target} would fall below {least}"
    return Floor(
        least,
        lambda stored: FloorReached(
            spec.name, share.constraint, share.target.values, stored_entity(share.target.entity, stored), sentence
        ),
    )
