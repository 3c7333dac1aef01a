"""Example values for the fields of an entity, which fit those of the items that it refers to."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain, combinations
from typing import Any

from keyplan.design.entities.effects import Ref, Refs, named_by
from keyplan.design.entities.entity import Entity
from keyplan.design.entities.entity_spec import EntitySpec
from keyplan.design.entities.joint_limits import JointLimit
from keyplan.design.entities.specs import FieldSpec
from keyplan.design.entities.standins import FieldName, read_refs
from keyplan.design.examples.values import EXPIRY, example_value
from keyplan.design.operations.item_reads import guard_fields


@dataclass(frozen=True)
class _Link:
    """A field whose values are those of another entity's field."""

    entity: type[Entity]
    field: str
    place: int
    """The how many-eth field it is that refers to the same one: a game's teams are different ones."""


@cache
def links_of(entity: type[Entity]) -> Mapping[str, _Link]:
    """The fields of an entity that refer to others, by its parents and counters."""
    links: dict[str, _Link] = {}
    places: dict[tuple[type[Entity], str], list[str]] = {}
    plain = entity.model_validate(dict(_made(entity, 1, {})), by_name=True)
    for method in _relations(entity.spec):
        for target, field, name in _named(entity.spec, method, plain):
            seen = places.setdefault((target, field), [])
            if name not in seen:
                seen.append(name)
            links.setdefault(name, _Link(target, field, seen.index(name)))
    return links


def _relations(spec: EntitySpec) -> list[Callable[[Any], Refs]]:
    return [each.parent for each in spec.parents] + [each.target for each in spec.counters]


def _named(spec: EntitySpec, method: Callable[[Any], Refs], plain: Entity) -> Iterator[tuple[type[Entity], str, str]]:
    """The fields that a method takes the key of another item from: with the entity, and the field there.

    They are found with stand-ins. If the method answers for an item whose values all differ, its answer counts: it may
    take one field or another, depending on the item.
    """
    by_stand_in = [
        (each.entity, field, value.name)
        for each in read_refs(spec, method)
        for field, value in each.values.items()
        if isinstance(value, FieldName)
    ]
    found = []
    for each in refs_of(method, plain):
        for field, value in each.values.items():
            names = [name for name in spec.fields if _holds(plain.__dict__.get(name), value)]
            likely = [name for name in names if (each.entity, field, name) in by_stand_in]
            found += [(each.entity, field, name) for name in (likely or names)[:1]]
    yield from found or by_stand_in


def refs_of(method: Callable[[Any], Refs], item: Entity) -> Sequence[Ref[Any]]:
    """The items that a relation of an item names."""
    return named_by(method(item))


def _holds(held: object, value: object) -> bool:
    return value in held if isinstance(held, (list, tuple, set, frozenset)) else bool(held == value)


@cache
def identifying(entity: type[Entity]) -> frozenset[str]:
    """The fields that are in a key or in a guard, and those that say whether an item is in an index."""
    spec = entity.spec
    guards = (name for each in spec.uniques for name in (*guard_fields(each), *each.carries))
    vectors = (name for each in spec.vectors.values() for name in (each.vector, *each.elements))
    return frozenset(chain(spec.primary.fields, *(each.fields for each in spec.keys), guards, _flags(spec), vectors))


@cache
def values_of(entity: type[Entity], number: int) -> Mapping[str, object]:
    return dict(_made(entity, number, links_of(entity)))


def _flags(spec: EntitySpec) -> set[str]:
    """The fields that say whether an item is in an index, or has a guard."""
    return {when for when in (*(each.when for each in spec.keys), *(each.when for each in spec.uniques)) if when}


def _made(entity: type[Entity], number: int, links: Mapping[str, _Link]) -> Iterator[tuple[str, object]]:
    """The values of the fields that an example has; the others have their defaults."""
    spec = entity.spec
    flags = _flags(spec)
    for name, field in spec.fields.items():
        info = entity.declared_fields[name]
        if name in flags and (field.annotation is bool):
            yield name, True
        elif _is_made(entity, field):
            value = field_value(entity, name, number, links)
            if value is not None or info.is_required():
                yield name, value


def _is_made(entity: type[Entity], field: FieldSpec) -> bool:
    """Whether an example has a value for a field that isn't its default.

    State that the program sets later (a time of deletion, the role of an admin) has its default, like numbers that the
    store keeps. What callers may set is there, as a typical item has it.
    """
    info = entity.declared_fields[field.name]
    if info.is_required() or field.kind in ("created", "updated"):
        return True
    if field.kind in ("count", "version"):
        return False
    if info.default_factory is not None and info.default_factory not in (list, dict, set, frozenset, tuple):
        return True
    default = info.get_default(call_default_factory=True, validated_data={})
    if default is None:
        return field.name in identifying(entity) or field.access in ("open", "create-only")
    empty = default == "" or (isinstance(default, (list, dict, set, frozenset, tuple)) and not default)
    return empty and field.access in ("open", "create-only")


def field_value(entity: type[Entity], name: str, number: int, links: Mapping[str, _Link]) -> object:
    info = entity.declared_fields[name]
    field = entity.spec.fields[name]
    link = links.get(name)
    if field.kind in ("count", "version"):
        return 0
    if link is not None and link.entity is entity:
        # It refers to an item of its own kind: to the first one, which refers to none.
        return None if number == 1 and field.optional else _linked(entity, name, link, 1)
    if link is not None:
        return _linked(entity, name, link, number + link.place)
    if field.kind == "ttl":
        return EXPIRY
    return example_value(_shown(entity, name), info.annotation, info, number)


def _shown(entity: type[Entity], name: str) -> str:
    """The name that texts of a field begin with: an `id` or a `name` by itself is named like its entity."""
    return entity.__name__ if name in ("id", "name") else name


def _linked(entity: type[Entity], name: str, link: _Link, number: int) -> object:
    """A value that refers to an item of another entity, or several in a list, if the field can hold it."""
    info = entity.declared_fields[name]
    value = root_value(link.entity, link.field, number)
    if isinstance(value, (list, tuple)):
        return value
    own = example_value(name, info.annotation, info, number)
    if isinstance(own, (list, tuple, set, frozenset)):
        members = [root_value(link.entity, link.field, number + place) for place in range(len(own))]
        scalar = all(isinstance(each, type(value)) for each in own)
        return type(own)(members) if scalar else own
    return value if isinstance(own, type(value)) else own


@cache
def root_value(entity: type[Entity], field: str, number: int) -> object:
    link = links_of(entity).get(field)
    if link is not None and link.entity is not entity:
        return root_value(link.entity, link.field, number + link.place)
    info = entity.declared_fields[field]
    return example_value(_shown(entity, field), info.annotation, info, number)


def within_joint_limits(
    spec: EntitySpec, values: dict[str, object], given: Mapping[str, object]
) -> Mapping[str, object]:
    """The values, without optional ones that break a limit on several fields together."""
    required = {name for name, info in spec.entity.declared_fields.items() if info.is_required()}
    for limit in spec.limits.joint:
        optional = [name for name in limit.fields if name in values and name not in required and name not in given]
        for number in range(len(optional) + 1):
            kept = next((each for each in _without(values, optional, number) if not _breaks(spec, limit, each)), None)
            if kept is not None:
                values = kept
                break
    return values


def _without(values: dict[str, object], optional: Sequence[str], number: int) -> Iterator[dict[str, object]]:
    for dropped in combinations(sorted(optional), number):
        yield {name: value for name, value in values.items() if name not in dropped}


def _breaks(spec: EntitySpec, limit: JointLimit, values: Mapping[str, object]) -> bool:
    item = spec.entity.model_validate(values, by_name=True)
    return any(True for _ in limit.broken(spec.name, item.__dict__))
