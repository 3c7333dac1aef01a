"""Reading large values: the parts or the objects that an item names.

An item and its parts are read one after the other, and somebody may replace the value in between. Then parts are
missing or have another digest than the item says, and the item is read again, this time in one request with the parts.
What is returned is always one value as it was written.
"""

from functools import partial
from typing import Any

from keyplan.data.codec.entities import DELETING, codec_of, stored_item
from keyplan.data.codec.large import CONTENT, DIGEST, LONG_TO_DECOMPRESS, object_name, part_keys, whole_value
from keyplan.data.codec.values import Item
from keyplan.data.errors import Conflict, StoredDataError
from keyplan.data.reads.batch_get import batch_get
from keyplan.data.steps import ObjectCall, Steps, Wait, computed, pause
from keyplan.design import Design, Entity
from keyplan.design.entities.large_values import Unread
from keyplan.design.entities.specs import FieldSpec

LOOKS = 4
"""How often an item with the same value is read before its parts count as lost."""
ATTEMPTS = 50
"""How often an item is read while others keep replacing its value."""


def unread_fields(entity: Entity) -> list[tuple[FieldSpec, Unread]]:
    """The large values of an entity that were not read."""
    values = [(field, entity.__dict__[field.name]) for field in entity.spec.large]
    return [(field, value) for field, value in values if type(value) is Unread and not value.is_loaded]


def load(design: Design, entity: Entity, *, expired: bool = False) -> Steps[Any]:
    """The entity with its large values; None if it was deleted in the meantime.

    DynamoDB deletes an expired item and its parts in any order: a value whose parts are gone stays unread then.
    """
    codec, looks = codec_of(type(entity)), 0
    unread = unread_fields(entity)
    for attempt in range(ATTEMPTS):
        if not unread:
            return entity
        if attempt > 1:
            yield Wait(pause(min(attempt, 4)))
        item, parts = yield from _read(design, entity, unread, again=attempt > 0)
        if item is None or DELETING in item or not codec.recognizes(item):
            return None
        before = {field.name: value for field, value in unread}
        if attempt:
            entity = codec.decode(item)
            unread = unread_fields(entity)
        contents = yield from _contents(entity, item, unread, parts)
        missing = [field for field, _ in unread if contents[field.name] is None]
        if not missing:
            entity.__dict__.update(contents)
            return entity
        looks = looks + 1 if before == {field.name: value for field, value in unread} else 1
        if looks == LOOKS and expired:
            return entity
        if looks == LOOKS:
            raise _lost(entity, item, missing[0])
    name = f"{entity.spec.name}.{unread[0][0].name}"
    raise Conflict("batch_get_item", "LargeValueReplaced", f"others kept replacing {name} while it was read")


def _read(
    design: Design, entity: Entity, unread: list[tuple[FieldSpec, Unread]], *, again: bool
) -> Steps[tuple[Item | None, dict[str, Item | None]]]:
    """The item, and the parts of these fields by their keys; the item as it was read before, or read again."""
    table, item = entity.spec.table, stored_item(entity)
    assert item is not None
    keys = [key for field, _ in unread for key in part_keys(table, item, field)]
    asked = [{name: item[name] for name in table.key_names}, *keys] if again else keys
    name = design.table_name(table)
    found = yield from batch_get([(name, key) for key in asked], consistent=[name])
    if again:
        item, *found = found
    return item, {repr(key): part for key, part in zip(keys, found, strict=True)}


def _contents(
    entity: Entity, item: Item, unread: list[tuple[FieldSpec, Unread]], parts: dict[str, Item | None]
) -> Steps[dict[str, str | bytes | None]]:
    """The values of these fields; None for those whose parts or object aren't the ones that the item names."""
    values: dict[str, str | bytes | None] = {}
    for field, value in unread:
        name = object_name(value.stored)
        if name is not None:
            content: bytes | None = yield ObjectCall("get", (name,))
        else:
            content = _joined([parts.get(repr(key)) for key in part_keys(entity.spec.table, item, field)], value)
        if content is None:
            values[field.name] = None
            continue
        long = value.size >= LONG_TO_DECOMPRESS
        values[field.name] = yield from computed(partial(_whole, field, value, content), long=long)
    return values


def _joined(parts: list[Item | None], value: Unread) -> bytes | None:
    """The content of the parts, if all of them are of this value."""
    contents = [part[CONTENT]["B"] for part in parts if part is not None and part.get(DIGEST) == {"B": value.digest}]
    return b"".join(map(bytes, contents)) if len(contents) == len(parts) else None


def _whole(field: FieldSpec, value: Unread, content: bytes) -> str | bytes | None:
    try:
        return whole_value(field, value, content)
    except ValueError:
        return None


def _lost(entity: Entity, item: Item, field: FieldSpec) -> StoredDataError:
    spec = entity.spec
    key = {name: item[name] for name in spec.table.key_names}
    shown = ", ".join(f"{name}={next(iter(value.values()))!r}" for name, value in key.items())
    what = "its object doesn't exist or was changed" if object_name(item.get(field.stored)) else "parts are missing"
    return StoredDataError(
        f"{spec.name}.{field.name} (attribute {field.stored}) of the item {shown} can't be read: {what}. "
        "Lists still read the item without it, and an update can write the value again.",
        spec.name,
        field.stored,
        key,
    )
