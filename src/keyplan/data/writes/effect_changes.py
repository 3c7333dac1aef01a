"""The difference between what followed from an item before and what follows from it now, as actions."""

from keyplan.data.codec.addresses import Address, address_of
from keyplan.data.errors import AlreadyExists, FloorReached, UniqueViolation
from keyplan.data.expressions.conditions import not_exists
from keyplan.data.expressions.requirements import Requirement
from keyplan.data.writes.actions import Floor
from keyplan.data.writes.effects import CounterShare, EffectItem, Effects
from keyplan.data.writes.plan import Plan
from keyplan.data.writes.relations import parent_exists, stored_entity
from keyplan.design.entity import EntitySpec


def plan_effect_changes(plan: Plan, spec: EntitySpec, before: Effects, after: Effects) -> None:
    """Add to the plan what turns the one into the other."""
    for where, side in before.items.items():
        if where not in after.items:
            plan.remove(where)
        elif after.items[where].item != side.item:
            _rewrite(plan, where, side, after.items[where])
    for where, side in after.items.items():
        if where not in before.items:
            plan.put(where, side.item, _free(spec, side))
    for key in {**before.shares, **after.shares}:
        _count(plan, spec, before.shares.get(key), after.shares.get(key))
    for where, (parent, named) in after.parents.items():
        if where not in before.parents:
            plan.check(where, *parent_exists(spec, parent.name, named))


def check_cascading_parents(plan: Plan, spec: EntitySpec, follows: Effects) -> None:
    """What the item would be deleted with is not being deleted: a cascade that passed its new key would miss it."""
    for where, (parent, named) in follows.parents.items():
        if parent.on_delete == "cascade":
            plan.check(where, *parent_exists(spec, parent.name, named))


def _rewrite(plan: Plan, where: Address, old: EffectItem, new: EffectItem) -> None:
    """All of a mirror's attributes are written, so that it is whole even if it was lost; others that it has stay."""
    keys = {name for name, _, _ in where.key}
    sets = {name: value for name, value in new.item.items() if name not in keys and name not in new.counts}
    plan.change(where, sets, {name for name in old.item if name not in new.item})


def _free(spec: EntitySpec, side: EffectItem) -> Requirement:
    """Nobody has this value, or this derived item's key."""
    kind = UniqueViolation if side.kind == "unique" else AlreadyExists
    return Requirement(
        not_exists(side.table.hash[0].name),
        lambda stored: stored is not None,
        lambda stored: kind(spec.name, side.constraint, side.values, stored),
    )


def _count(plan: Plan, spec: EntitySpec, before: CounterShare | None, after: CounterShare | None) -> None:
    share = after or before
    assert share is not None
    delta = (after.amount if after else 0) - (before.amount if before else 0)
    if not delta:
        return
    there = parent_exists(spec, share.constraint, share.target, growing=delta > 0)
    floor = None if share.floor is None else _floor(spec, share, share.floor)
    plan.add(address_of(share.target), share.attribute, delta, *there, floor=floor)


def _floor(spec: EntitySpec, share: CounterShare, least: int) -> Floor:
    problem = f"{share.attribute} of {share.target.entity.__name__} must not fall below {least}"
    return Floor(
        least,
        lambda stored: FloorReached(
            spec.name, share.constraint, share.target.values, stored_entity(share.target.entity, stored), problem
        ),
    )
