"""The difference between what followed from an item before and what follows from it now, as actions."""

from collections.abc import Iterator

from keyplan.data.codec import Item
from keyplan.data.consequences import Address, Consequences, Share, SideItem, address_of
from keyplan.data.errors import AlreadyExists, FloorReached, InUse, ParentMissing, UniqueViolation
from keyplan.data.expressions import Encoded, Requirement, at_least_number, exists, not_exists
from keyplan.data.plan import Plan
from keyplan.design import Design, Entity, Ref
from keyplan.design.conditions import FieldPath, Node
from keyplan.design.entity import EntitySpec

DELETING = "keyplanDeleting"
"""The attribute that marks an item whose cascade is under way; nothing may be created under it."""


def difference(plan: Plan, spec: EntitySpec, before: Consequences, after: Consequences) -> None:
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
            plan.check(where, *parent_there(spec, parent.name, named))


def _rewrite(plan: Plan, where: Address, old: SideItem, new: SideItem) -> None:
    """All of a mirror's attributes are written, so that it is whole even if it was lost; others that it has stay."""
    keys = {name for name, _, _ in where.key}
    sets = {name: value for name, value in new.item.items() if name not in keys}
    plan.change(where, sets, {name for name in old.item if name not in new.item})


def _free(spec: EntitySpec, side: SideItem) -> Requirement:
    """Nobody has this value, or this derived item's key."""
    kind = UniqueViolation if side.kind == "unique" else AlreadyExists
    return Requirement(
        not_exists(side.table.hash[0].name),
        lambda stored: stored is not None,
        lambda stored: kind(spec.name, side.constraint, side.values, stored),
    )


def _count(plan: Plan, spec: EntitySpec, before: Share | None, after: Share | None) -> None:
    share = after or before
    assert share is not None
    delta = (after.amount if after else 0) - (before.amount if before else 0)
    if not delta:
        return
    requirements = parent_there(spec, share.constraint, share.target, growing=delta > 0)
    if delta < 0 and share.floor is not None:
        requirements.append(_above_floor(spec, share, share.floor, delta))
    plan.add(address_of(share.target), share.attribute, delta, *requirements)


def _above_floor(spec: EntitySpec, share: Share, floor: int, delta: int) -> Requirement:
    def below(stored: Item | None) -> bool:
        return stored is not None and int(stored.get(share.attribute, {"N": "0"})["N"]) + delta < floor

    return Requirement(
        at_least_number(share.attribute, floor - delta),
        below,
        lambda stored: FloorReached(
            spec.name,
            share.constraint,
            share.target.values,
            stored,
            f"{share.attribute} of {share.target.entity.__name__} must not fall below {floor}",
        ),
    )


def parent_there(spec: EntitySpec, constraint: str, named: Ref[Entity], *, growing: bool = True) -> list[Requirement]:
    """The item that another belongs to or is counted on is there, and is not being deleted."""

    def missing(stored: Item | None) -> ParentMissing:
        return ParentMissing(
            spec.name, constraint, named.values, stored, f"there is no such {named.entity.__name__}, or no longer"
        )

    table = named.entity.spec.table
    there = Requirement(exists(table.hash[0].name), lambda stored: stored is None, missing)
    if not growing:
        return [there]
    staying = Requirement(not_exists(DELETING), lambda stored: bool(stored and DELETING in stored), missing)
    return [there, staying]


def not_deleting(spec: EntitySpec, named: Ref[Entity]) -> list[Requirement]:
    """The item is not being deleted."""
    return parent_there(spec, "check", named)[1:]


def no_children(design: Design, entity: Entity) -> Iterator[Requirement]:
    """Nothing belongs to the item that would refuse its deletion."""
    for other in design.entities:
        for parent in other.spec.parents:
            if parent.entity is type(entity) and parent.on_delete == "refuse":
                assert parent.count is not None
                yield _unused(entity, entity.spec.fields[parent.count].stored, other.__name__)


def _unused(entity: Entity, attribute: str, child: str) -> Requirement:
    zero = Node("=", (FieldPath((attribute,)), Encoded({"N": "0"})))
    return Requirement(
        Node("OR", (not_exists(attribute), zero)),
        lambda stored: bool(stored) and stored is not None and stored.get(attribute, {"N": "0"})["N"] != "0",
        lambda stored: InUse(
            entity.spec.name, child, entity.key_values, stored, f"it can not be deleted while there is a {child} of it"
        ),
    )
