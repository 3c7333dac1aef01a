"""Requirements between parents and children: a parent must exist, and children may refuse a delete or a move."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from functools import cache

from keyplan.data.codec.entities import DELETING, codec_of
from keyplan.data.codec.values import Item, integer_of
from keyplan.data.errors import DataError, InUse, NotFound, ParentMissing, described
from keyplan.data.expressions.conditions import attribute_not_exists, equals, item_exists
from keyplan.data.expressions.expiry import item_is_there
from keyplan.data.expressions.requirements import Requirement
from keyplan.data.relations import Relations
from keyplan.design import Entity, Ref
from keyplan.design.entities.entity_spec import EntitySpec
from keyplan.design.operations.conditions import Node

_NOT_BEING_DELETED = attribute_not_exists(DELETING)


def parent_exists(
    spec: EntitySpec, constraint: str, parent: Ref[Entity], now: datetime, *, growing: bool = True
) -> list[Requirement]:
    """The parent or counted item exists; if it gets one more child, it hasn't expired and isn't being deleted."""

    def missing(stored: Item | None) -> ParentMissing:
        sentence = f"Can't write {spec.name}: {described(parent.entity.__name__, parent.values)} doesn't exist"
        return ParentMissing(spec.name, constraint, parent.values, stored_entity(parent.entity, stored), sentence)

    if not growing:
        return [Requirement((item_exists(parent.entity.spec),), missing)]
    return [Requirement((*item_is_there(parent.entity.spec, now), _NOT_BEING_DELETED), missing)]


def stored_entity(entity: type[Entity], stored: Item | None) -> Entity | None:
    """The stored item as its entity, which hides secrets; for errors."""
    return codec_of(entity).decode_if_recognized(stored)


def parent_not_being_deleted(spec: EntitySpec, constraint: str, parent: Ref[Entity], now: datetime) -> Requirement:
    """The item isn't being deleted."""
    (exists,) = parent_exists(spec, constraint, parent, now)
    return Requirement((_NOT_BEING_DELETED,), exists.error)


def not_being_deleted(
    relations: Relations, entity: type[Entity], values: Mapping[str, object]
) -> tuple[Requirement, ...]:
    """The item's own cascading delete hasn't begun; empty for entities that are deleted in one request."""
    if not relations.cascading(entity):
        return ()
    return (
        Requirement(
            (_NOT_BEING_DELETED,),
            lambda stored: NotFound(
                entity.spec.name, "primary", values, None, f"{described(entity.spec.name, values)} is being deleted"
            ),
        ),
    )


def not_referred_to(relations: Relations, entity: type[Entity], values: Mapping[str, object]) -> Iterator[Requirement]:
    """No child refers to the item with this key that would refuse its deletion."""
    counts: dict[str, str] = {}
    for child, relation in relations.children(entity):
        if relation.on_delete == "refuse":
            assert relation.count is not None
            counts.setdefault(entity.spec.fields[relation.count].stored, child.__name__)
    for attribute, name in counts.items():
        yield _unused("delete", Ref(entity, values), attribute, name)


def not_moved_from_children(relations: Relations, entity: Entity, moved: Entity) -> Iterator[Requirement]:
    """No child refers to the item by the part of its key that a move changes."""
    for child, relation in relations.children(type(entity)):
        if relation.on_delete == "keep":
            continue
        if all(getattr(entity, name) == getattr(moved, name) for name in relation.fields):
            continue
        if relation.on_delete == "cascade":
            raise DataError(
                f"{entity.spec.name} can't be moved, because {child.__name__} items belong to it by its key: "
                "create it under the new key, rewrite its children, and delete the old one"
            )
        assert relation.count is not None
        named = Ref(type(entity), entity.key_values)
        yield _unused("move", named, entity.spec.fields[relation.count].stored, child.__name__)
    yield from not_being_deleted(relations, type(entity), entity.key_values)


def _unused(verb: str, named: Ref[Entity], attribute: str, child: str) -> Requirement:
    """The item's count of these children is zero."""

    def used(stored: Item | None) -> InUse:
        number = integer_of((stored or {}).get(attribute))
        children = f"1 {child} item refers" if number == 1 else f"{number} {child} items refer"
        name = named.entity.spec.name
        sentence = f"Can't {verb} {described(name, named.values)}: {children} to it"
        return InUse(name, child, named.values, stored_entity(named.entity, stored), sentence)

    return Requirement((_zero_or_absent(attribute),), used)


@cache
def _zero_or_absent(attribute: str) -> Node:
    return attribute_not_exists(attribute) | equals(attribute, {"N": "0"})
