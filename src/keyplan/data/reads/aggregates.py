"""Aggregates: the items of a partition as one object. What it has no place for is an error, never left out."""

from collections.abc import Sequence
from typing import Any, TypeVar

from keyplan.data.codec.entities import stored_item
from keyplan.data.errors import StoredDataError
from keyplan.design import Aggregate, Entity
from keyplan.design.operations.item_collections import AggregatePart, parts_of
from keyplan.design.operations.reading import Unreadable

G = TypeVar("G", bound=Aggregate)


def built(kind: type[G], entities: Sequence[Entity], unreadable: Sequence[Unreadable]) -> G | None:
    """The aggregate of these items, without those that can't be read; None without a root."""
    root, *_ = parts = parts_of(kind)
    for each in unreadable:  # without its root, an aggregate would seem not to exist
        if isinstance(each.error, StoredDataError) and each.error.entity == root.entity.spec.name:
            raise each.error
    by_entity: dict[type[Entity], list[Entity]] = {part.entity: [] for part in parts}
    for entity in entities:
        by_entity[type(entity)].append(entity)
    values: dict[str, Any] = {}
    for part in parts:
        found = by_entity[part.entity]
        if part.holds != "list" and len(found) > 1:
            raise _several(kind, part, found[1])
        values[part.name] = found if part.holds == "list" else found[0] if found else None
    if values[root.name] is None:
        return None
    made = kind(**values)
    made._unreadable = unreadable
    return made


def _several(kind: type[Aggregate], part: AggregatePart, second: Entity) -> StoredDataError:
    """The error for a second item where there may be one."""
    spec, item = part.entity.spec, stored_item(second) or {}
    key = {name: item[name] for name in spec.table.key_names if name in item}
    shown = ", ".join(f"{name}={next(iter(value.values()))!r}" for name, value in key.items())
    to_do = "Read a collection" if part.holds == "root" else f"Declare it as list[{spec.name}]"
    return StoredDataError(
        f"{kind.__name__}.{part.name}: there are several {spec.name} items, such as {shown}. {to_do}.",
        spec.name,
        part.name,
        key,
    )
