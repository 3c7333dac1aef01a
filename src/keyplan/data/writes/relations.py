"""Requirements between parents and children: a parent must exist, and children may refuse a delete or a move."""

from collections.abc import Iterator, Mapping

from keyplan.data.codec.entities import DELETING, codec_of
from keyplan.data.codec.values import Item
from keyplan.data.errors import DataError, InUse, NotFound, ParentMissing
from keyplan.data.expressions.conditions import Encoded, is_stored, not_exists, there
from keyplan.data.expressions.requirements import Requirement
from keyplan.data.writes.children import cascading_children
from keyplan.design import Design, Entity, Ref
from keyplan.design.conditions import FieldPath, Node
from keyplan.design.entity import EntitySpec


def parent_exists(spec: EntitySpec, constraint: str, named: Ref[Entity], *, growing: bool = True) -> list[Requirement]:
    """The item that another belongs to or is counted on is there, and is not being deleted."""

    def missing(stored: Item | None) -> ParentMissing:
        problem = f"there is no such {named.entity.__name__}, or no longer"
        return ParentMissing(spec.name, constraint, named.values, stored_entity(named.entity, stored), problem)

    parent = named.entity.spec
    present = Requirement(there(parent), lambda stored: not is_stored(parent, stored), missing)
    if not growing:
        return [present]
    staying = Requirement(not_exists(DELETING), lambda stored: bool(stored and DELETING in stored), missing)
    return [present, staying]


def stored_entity(entity: type[Entity], stored: Item | None) -> Entity | None:
    """What is stored, as the entity: an error never carries more than the entity shows, secrets least of all."""
    return codec_of(entity).decode_if_recognized(stored)


def not_deleting(spec: EntitySpec, named: Ref[Entity]) -> list[Requirement]:
    """The item is not being deleted."""
    return parent_exists(spec, "check", named)[1:]


def not_being_deleted(design: Design, entity: type[Entity], values: Mapping[str, object]) -> list[Requirement]:
    """The item's deletion has not begun; nothing for items that are deleted at once."""
    if not any(cascading_children(design, entity)):
        return []
    return [
        Requirement(
            not_exists(DELETING),
            lambda stored: bool(stored and DELETING in stored),
            lambda stored: NotFound(entity.spec.name, "primary", values, None, "it is being deleted"),
        )
    ]


def not_moved_from_children(design: Design, entity: Entity, moved: Entity) -> Iterator[Requirement]:
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
    yield from not_being_deleted(design, type(entity), entity.key_values)


def not_referred_to(design: Design, entity: Entity) -> Iterator[Requirement]:
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
            stored_entity(type(entity), stored),
            f"it can not be deleted while there is a {child} of it",
        ),
    )
