"""The difference between what followed from an item before and what follows from it now, as actions."""

from collections.abc import Iterator, Mapping

from keyplan.data.codec import Item
from keyplan.data.consequences import Address, Consequences, Share, SideItem, address_of
from keyplan.data.errors import AlreadyExists, DataError, FloorReached, InUse, NotFound, ParentMissing, UniqueViolation
from keyplan.data.expressions import Encoded, Requirement, is_there, not_exists, there
from keyplan.data.families import children_of
from keyplan.data.items import DELETING, codec_of
from keyplan.data.plan import Floor, Plan
from keyplan.design import Design, Entity, Ref
from keyplan.design.conditions import FieldPath, Node
from keyplan.design.entity import EntitySpec


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


def still_there(plan: Plan, spec: EntitySpec, follows: Consequences) -> None:
    """What the item would be deleted with is not being deleted: a cascade that passed its new key would miss it."""
    for where, (parent, named) in follows.parents.items():
        if parent.on_delete == "cascade":
            plan.check(where, *parent_there(spec, parent.name, named))


def _rewrite(plan: Plan, where: Address, old: SideItem, new: SideItem) -> None:
    """All of a mirror's attributes are written, so that it is whole even if it was lost; others that it has stay."""
    keys = {name for name, _, _ in where.key}
    sets = {name: value for name, value in new.item.items() if name not in keys and name not in new.counts}
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
    there = parent_there(spec, share.constraint, share.target, growing=delta > 0)
    floor = None if share.floor is None else _floor(spec, share, share.floor)
    plan.add(address_of(share.target), share.attribute, delta, *there, floor=floor)


def _floor(spec: EntitySpec, share: Share, least: int) -> Floor:
    problem = f"{share.attribute} of {share.target.entity.__name__} must not fall below {least}"
    return Floor(
        least,
        lambda stored: FloorReached(
            spec.name, share.constraint, share.target.values, _decoded(share.target.entity, stored), problem
        ),
    )


def parent_there(spec: EntitySpec, constraint: str, named: Ref[Entity], *, growing: bool = True) -> list[Requirement]:
    """The item that another belongs to or is counted on is there, and is not being deleted."""

    def missing(stored: Item | None) -> ParentMissing:
        problem = f"there is no such {named.entity.__name__}, or no longer"
        return ParentMissing(spec.name, constraint, named.values, _decoded(named.entity, stored), problem)

    parent = named.entity.spec
    present = Requirement(there(parent), lambda stored: not is_there(parent, stored), missing)
    if not growing:
        return [present]
    staying = Requirement(not_exists(DELETING), lambda stored: bool(stored and DELETING in stored), missing)
    return [present, staying]


def _decoded(entity: type[Entity], stored: Item | None) -> Entity | None:
    """What is stored, as the entity: an error never carries more than the entity shows, secrets least of all."""
    return codec_of(entity).shown(stored)


def not_deleting(spec: EntitySpec, named: Ref[Entity]) -> list[Requirement]:
    """The item is not being deleted."""
    return parent_there(spec, "check", named)[1:]


def unmarked(design: Design, entity: type[Entity], values: Mapping[str, object]) -> list[Requirement]:
    """The item's deletion has not begun; nothing for items that are deleted at once."""
    if not any(children_of(design, entity)):
        return []
    return [
        Requirement(
            not_exists(DELETING),
            lambda stored: bool(stored and DELETING in stored),
            lambda stored: NotFound(entity.spec.name, "primary", values, None, "it is being deleted"),
        )
    ]


def stays_with_children(design: Design, entity: Entity, moved: Entity) -> Iterator[Requirement]:
    """Nothing belongs to the item by the part of its key that a move changes."""
    for other in design.entities:
        for parent in other.spec.parents:
            if parent.entity is not type(entity) or parent.on_delete == "keep":
                continue
            if all(getattr(entity, name) == getattr(moved, name) for name in parent.fields):
                continue
            if parent.on_delete == "cascade":
                raise DataError(
                    f"{entity.spec.name} can not be moved, since each {other.__name__} belongs to it by its key: "
                    "create it under the new key, rewrite what belongs to it, and delete the old one"
                )
            assert parent.count is not None
            yield _unused(entity, entity.spec.fields[parent.count].stored, other.__name__)
    yield from unmarked(design, type(entity), entity.key_values)


def no_children(design: Design, entity: Entity) -> Iterator[Requirement]:
    """Nothing belongs to the item that would refuse its deletion."""
    counts: dict[str, str] = {}
    for other in design.entities:
        for parent in other.spec.parents:
            if parent.entity is type(entity) and parent.on_delete == "refuse":
                assert parent.count is not None
                counts.setdefault(entity.spec.fields[parent.count].stored, other.__name__)
    for attribute, child in counts.items():
        yield _unused(entity, attribute, child)


def _unused(entity: Entity, attribute: str, child: str) -> Requirement:
    none = {"N": "0"}
    zero = Node("=", (FieldPath((attribute,)), Encoded(none)))
    return Requirement(
        Node("OR", (not_exists(attribute), zero)),
        lambda stored: bool(stored and stored.get(attribute, none) != none),
        lambda stored: InUse(
            entity.spec.name,
            child,
            entity.key_values,
            _decoded(type(entity), stored),
            f"it can not be deleted while there is a {child} of it",
        ),
    )
