"""Stamps: the times of creation and last change, and the version."""

from datetime import datetime

from keyplan.data.codec.values import Item, integer_of
from keyplan.design import Entity
from keyplan.design.entity import EntitySpec
from keyplan.design.formats import TimePrecision


def moment(now: datetime, times: TimePrecision) -> datetime:
    """The time with the precision that is stored."""
    return now.replace(microsecond=0 if times == "seconds" else now.microsecond // 1000 * 1000)


def creation_stamps(entity: Entity, now: datetime) -> dict[str, object]:
    """The stamps, version and counters of a new item; stamps that the caller set are kept."""
    spec = entity.spec
    stamps: dict[str, object] = {}
    for kind in ("created", "updated"):
        field = spec.by_kind.get(kind)
        if field is not None and field.name not in entity.model_fields_set:
            stamps[field.name] = moment(now, spec.table.times)
    version = spec.by_kind.get("version")
    if version is not None:
        stamps[version.name] = 1
    return stamps | {field.name: 0 for field in spec.counts}


def update_stamps(spec: EntitySpec, stored: Item, now: datetime) -> dict[str, object]:
    """The time of the change and the next version; an absent version counts as 0."""
    stamps: dict[str, object] = {}
    if updated := spec.by_kind.get("updated"):
        stamps[updated.name] = moment(now, spec.table.times)
    if version := spec.by_kind.get("version"):
        stamps[version.name] = integer_of(stored.get(version.stored)) + 1
    return stamps
