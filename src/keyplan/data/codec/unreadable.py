"""The error for a stored item that doesn't fit its entity: which item, which attribute, and what to do."""

from keyplan.data.codec.values import Item
from keyplan.data.errors import StoredDataError
from keyplan.design.entities.entity_spec import EntitySpec


def unreadable_item(spec: EntitySpec, item: Item, place: str, problem: str) -> StoredDataError:
    """The error for an item that doesn't fit its entity; `place` is a field, or a path inside one."""
    names = [part.attribute.name for part in spec.primary.parts]
    shown = ", ".join(f"{name}={next(iter(item[name].values()))!r}" for name in names if name in item)
    field = spec.fields.get(place.partition(".")[0])
    attribute = place if field is None else field.stored
    return StoredDataError(
        f"{spec.name}.{place} (attribute {attribute}) of the item {shown} doesn't fit the entity: {problem}. "
        "Correct the item, or convert it in evolve().",
        spec.name,
        attribute,
        {name: item[name] for name in names if name in item},
    )
