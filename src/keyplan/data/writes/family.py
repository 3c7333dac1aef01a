"""Requirements between parents and children: a parent must exist, and children may refuse a delete or a move."""

from collections.abc import Iterator, Mapping
from functools import cache

from keyplan.data.codec.entities import DELETING, codec_of
from keyplan.data.codec.values import Item
from keyplan.data.errors import DataError, InUse, NotFound, ParentMissing
from keyplan.data.expressions.conditions import attribute_not_exists, equals, item_exists
from keyplan.data.expressions.requirements import Requirement
from keyplan.data.relations import Relations
from keyplan.design import Entity, Ref
from keyplan.design.conditions import Node
from keyplan.design.entity import EntitySpec

_NOT_BEING_DELETED = attribute_not_exists(DELETING)


def parent_exists(spec: EntitySpec, constraint: str, parent: Ref[Entity], *, growing: bool = True) -> list[Requirement]:
    """The item that another belongs to or is counted on exists; where it gets one more, it is not being deleted."""

    def missing(stored: Item | None) -> ParentMissing:
        problem = f"there is no such {parent.entity.__name__}, or no longer"
        return ParentMissing(spec.name, constraint, parent.values, stored_entity(parent.entity, stored), problem)

    present = item_exists(parent.entity.spec)
    return [Requirement((present, _NOT_BEING_DELETED) if growing else (present,), missing)]


def stored_entity(entity: type[Entity], stored: Item | None) -> Entity | None:
    """What is stored, as the entity: an error never carries more than the entity shows, secrets least of all."""
    return codec_of(entity).decode_if_recognized(stored)


def parent_not_being_deleted(spec: EntitySpec, constraint: str, parent: Ref[Entity]) -> Requirement:
    """The deletion of an item that is checked has not begun."""
    (exists,) = parent_exists(spec, constraint, parent)
    return Requirement((_NOT_BEING_DELETED,), exists.error)


def not_being_deleted(
    relations: Relations, entity: type[Entity], values: Mapping[str, object]
) -> tuple[Requirement, ...]:
    """The item's own deletion has not begun; nothing for items that are deleted in one request."""
    if not relations.cascading(entity):
        return ()
    return (
        Requirement(
            (_NOT_BEING_DELETED,),
            lambda stored: NotFound(entity.spec.name, "primary", values, None, "it is being deleted"),
        ),
    )


def not_referred_to(relations: Relations, entity: Entity) -> Iterator[Requirement]:
    """No item belongs to this one that would refuse its deletion."""
    counts: dict[str, str] = {}
    for child, relation in relations.children(type(entity)):
        if relation.on_delete == "refuse":
            assert relation.count is not None
            counts.setdefault(entity.spec.fields[relation.count].stored, child.__name__)
    for attribute, name in counts.items():
        yield _unused(entity, attribute, name)


def not_moved_from_children(relations: Relations, entity: Entity, moved: Entity) -> Iterator[Requirement]:
    """No item belongs to this one by the part of its key that a move changes."""
    for child, relation in relations.children(type(entity)):
        if relation.on_delete == "keep":
            continue
        if all(getattr(entity, name) == getattr(moved, name) for name in relation.fields):
            continue
        if relation.on_delete == "cascade":
            raise DataError(
                f"{entity.spec.name} can not be moved, since each {child.__name__} belongs to it by its key: "
                "create it under the new key, rewrite what belongs to it, and delete the old one"
            )
        assert relation.count is not None
        yield _unused(entity, entity.spec.fields[relation.count].stored, child.__name__)
    yield from not_being_deleted(relations, type(entity), entity.key_values)


def _unused(entity: Entity, attribute: str, child: str) -> Requirement:
    return Requirement(
        (_zero_or_absent(attribute),),
        lambda stored: InUse(
            entity.spec.name,
            child,
            entity.key_values,
            stored_entity(type(entity), stored),
            f"it can not be deleted while there is a {child} of it",
        ),
    )


@cache
def _zero_or_absent(attribute: str) -> Node:
    return attribute_not_exists(attribute) | equals(attribute, {"N": "0"})
