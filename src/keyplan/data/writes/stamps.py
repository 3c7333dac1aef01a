"""Stamps: the times of creation and last change, and the version."""

from datetime import datetime

from keyplan.data.codec.entities import codec_of, stored_item
from keyplan.data.codec.times import moment
from keyplan.data.codec.values import Item, integer_of
from keyplan.design import Entity, InvalidValue
from keyplan.design.entities.entity_spec import EntitySpec
from keyplan.design.entities.specs import FieldSpec


def creation_stamps(entity: Entity, now: datetime) -> dict[str, object]:
    """The stamps, version and counters of a new item.

    Stamps that the caller set are kept; those that a copy has from the item that it was read from are not. A counter
    that the caller set raises `InvalidValue`.
    """
    spec, stored = entity.spec, stored_item(entity)
    stamps: dict[str, object] = {}
    for kind in ("created", "updated"):
        field = spec.by_kind.get(kind)
        if field is not None and not (field.name in entity.model_fields_set and _is_new(entity, field, stored)):
            stamps[field.name] = moment(now, spec.table.times)
    version = spec.by_kind.get("version")
    if version is not None:
        stamps[version.name] = 1
    if spec.counts:
        check_counts(entity)
        stamps |= {field.name: 0 for field in spec.counts}
    return stamps


def _is_new(entity: Entity, field: FieldSpec, stored: Item | None) -> bool:
    """Whether a field has another value than the item that the entity was read from."""
    if stored is None:
        return True
    value = entity.__dict__[field.name]
    return value is not None and codec_of(type(entity)).encode_value(field.name, value) != stored.get(field.stored)


def check_counts(entity: Entity) -> None:
    """Raise `InvalidValue` if a counter was assigned: it is neither 0 nor what was read."""
    if not entity.spec.counts:
        return
    stored = stored_item(entity) or {}
    for each in entity.spec.counts:
        if entity.__dict__[each.name] not in (0, integer_of(stored.get(each.stored))):
            raise counter_assigned(entity.spec, each.name)


def counter_assigned(spec: EntitySpec, name: str) -> InvalidValue:
    """The error for a counter that the caller set."""
    problem = "This number is maintained by the items that it counts, so it can't be set."
    return InvalidValue("count-changed", f"{spec.name}.{name}", problem, field=name)


def update_stamps(spec: EntitySpec, stored: Item, now: datetime) -> dict[str, object]:
    """The time of the change and the next version; an absent version counts as 0."""
    stamps: dict[str, object] = {}
    if updated := spec.by_kind.get("updated"):
        stamps[updated.name] = moment(now, spec.table.times)
    if version := spec.by_kind.get("version"):
        stamps[version.name] = integer_of(stored.get(version.stored)) + 1
    return stamps
