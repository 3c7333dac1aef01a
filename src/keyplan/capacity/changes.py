"""Which fields of an entity a write can change, and to what: other values than those of its example."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from enum import Enum
from typing import Literal, get_args, get_origin

from keyplan.design import Entity
from keyplan.design.examples.fields import field_value, identifying, links_of

_LONG = 100
"""How many characters a text has at least whose length decides how large an item is."""


def changeable(entity: type[Entity]) -> list[str]:
    """The fields that an update may change: first those that are in no key and that callers may set."""
    spec = entity.spec
    usable = [
        field
        for name, field in spec.fields.items()
        if field.kind in ("plain", "ttl") and name not in spec.primary.fields and field.large is None
    ]
    last = {*identifying(entity), *links_of(entity)}
    return [field.name for field in sorted(usable, key=lambda field: (field.name in last, field.access != "open"))]


def choices_of(entity: type[Entity], name: str) -> Sequence[object]:
    """The values that a field may have, if its type lists them."""
    annotation = entity.spec.fields[name].annotation
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return list(annotation)
    return get_args(annotation) if get_origin(annotation) is Literal else ()


def other_value(item: Entity, name: str, others: Sequence[Entity]) -> object:
    """A value that a field of an item doesn't have yet, and that refers to nothing new; None if none is known.

    `others` are examples of the same entity, as large as the item.
    """
    entity, old = type(item), getattr(item, name)
    values: list[object]
    if name in links_of(entity):
        values = [field_value(entity, name, 1, links_of(entity))]
    else:
        values = [not old] if isinstance(old, bool) else [*choices_of(entity, name)]
        values += [getattr(each, name) for each in others]
        values += [field_value(entity, name, number, {}) for number in (3, 4)]
        values += [old - timedelta(days=1)] if isinstance(old, datetime) else []
    if isinstance(old, str) and len(old) > _LONG and entity.spec.fields[name].annotation is str:
        # A text of the same length first, so that the item stays as large as it is said to be.
        same = [each + old[len(each) :] for each in values if isinstance(each, str) and len(each) < len(old)]
        values = [*same, *(each[: len(old)] for each in values if isinstance(each, str)), *values]
    return next((each for each in values if each is not None and each != old and _fits(item, name, each)), None)


def _fits(item: Entity, name: str, value: object) -> bool:
    return not any(True for _ in item.spec.limits.broken({**item.__dict__, name: value}))
