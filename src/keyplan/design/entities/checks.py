"""Checks of an entity's fields and of the names they are stored under."""

from collections.abc import Sequence
from itertools import product
from typing import TYPE_CHECKING

from keyplan.design.entities.specs import FieldSpec, KeySpec
from keyplan.design.errors import DesignError, recorded
from keyplan.design.values.absence import check_absence
from keyplan.design.values.annotations import KEY_TYPES, scalar
from keyplan.design.values.storable import check_storable

if TYPE_CHECKING:
    from keyplan.design.entities.entity_spec import EntitySpec

_OWN_NAME = 'Store it under a different name: Annotated[..., stored("Name")].'
_ONCE = ("created", "updated", "version", "ttl")
_RESERVED = "keyplan"


def check_fields(spec: "EntitySpec") -> None:
    """Refuse fields that can't be stored, or that would be read back as something else."""
    with recorded():
        check_storable(spec.entity, spec.name)
    with recorded():
        check_absence(spec.entity, spec.name)
    for field in spec.fields.values():
        with recorded():
            _check_stored_name(spec, field)
    _check_kinds(spec)


def check_keys(spec: "EntitySpec") -> None:
    """Refuse a primary key that may have no value or isn't of one item, and fields that would be lost in a key."""
    with recorded():
        _check_primary(spec)
    with recorded():
        _check_injective(spec)
    for key in spec.keys:
        with recorded():
            _check_computed(key)
    with recorded():
        _check_expiry(spec)
    for field in spec.fields.values():
        with recorded():
            _check_kept(spec, field)


def _check_kinds(spec: "EntitySpec") -> None:
    """Each kind of stamp may be used once, and the time to live must be where DynamoDB looks for it."""
    for kind in _ONCE:
        fields = [field for field in spec.fields.values() if field.kind == kind]
        with recorded():
            if len(fields) > 1:
                raise DesignError(
                    "same-kind",
                    f"{spec.name}.{fields[1].name}",
                    f"{fields[0].name} is already {kind.capitalize()}",
                    f"Make it a plain {'int' if kind == 'version' else 'datetime'}, or remove it.",
                )
    for field in spec.fields.values():
        with recorded():
            _check_time_to_live(spec, field)


def _check_time_to_live(spec: "EntitySpec", field: FieldSpec) -> None:
    if (field.kind == "ttl") != (field.stored == spec.table.ttl):
        raise DesignError(
            "ttl-attribute",
            f"{spec.name}.{field.name}",
            f"DynamoDB looks for the time to live of {spec.table.name} in {spec.table.ttl or 'no attribute'}",
            f'Store a Ttl there (stored("{spec.table.ttl}")), and nothing else.'
            if spec.table.ttl
            else f'Give the table ttl="{field.stored}".',
        )


def _check_stored_name(spec: "EntitySpec", field: FieldSpec) -> None:
    names = [field.stored for field in spec.fields.values()]
    if names.count(field.stored) > 1 and field is _first_stored_as(spec, field.stored):
        raise DesignError(
            "same-attribute",
            f"{spec.name}.{field.name}",
            f"two fields are stored as {field.stored!r}",
            'Give one of them a different name: Annotated[..., stored("Name")].',
        )
    if field.stored in (spec.table.type_attribute, spec.table.envelope) or field.stored.startswith(_RESERVED):
        raise DesignError(
            "taken-attribute",
            f"{spec.name}.{field.name}",
            f"{field.stored!r} is reserved for the store",
            _OWN_NAME,
        )


def _first_stored_as(spec: "EntitySpec", attribute: str) -> FieldSpec:
    return next(field for field in spec.fields.values() if field.stored == attribute)


def _check_primary(spec: "EntitySpec") -> None:
    for part in spec.primary.parts:
        for name in part.fields:
            default = part.template is not None and part.template.has_default(name)
            if spec.fields[name].optional and not default:
                raise DesignError(
                    "optional-key",
                    f"{spec.name}.primary.{name}",
                    "a field of the primary key must have a value",
                    "Remove None from the type, or give the key a default: {field|text}.",
                )


def _check_injective(spec: "EntitySpec") -> None:
    """Refuse a primary key that different items could share, because it has only the bucket or shard of a field."""
    templates = [part.template for part in spec.primary.parts if part.template is not None]
    whole = {name for part in spec.primary.parts if part.template is None for name in part.fields}
    whole.update(name for template in templates for name in template.readable_fields)
    for template in templates:
        for name in (slot.field for slot in template.slots if template.formats[slot].computed):
            if name not in whole:
                raise DesignError(
                    "not-injective",
                    f"{spec.name}.primary.{name}",
                    f"{template.text} doesn't contain the whole value, so different items could have the same key",
                    f"Add {{{name}}} to the primary key, as the last part of the sort key.",
                )


def _check_computed(key: KeySpec) -> None:
    """Refuse shards that spread nothing, and buckets and shards that reads couldn't follow."""
    for part in key.range:
        for slot in part.template.slots if part.template is not None else ():
            if slot.shards is not None:
                raise DesignError(
                    "shard-in-sort-key",
                    f"{key.place}.{slot.field}",
                    "a shard spreads items over partitions, and a sort key doesn't make partitions",
                    "Put the shard into the hash key.",
                )
    computed = [
        slot
        for part in key.hash
        if part.template is not None
        for slot in part.template.slots
        if part.template.formats[slot].computed
    ]
    for slot in computed:
        if slot.shards is not None and slot.shards.was is not None and key.index is None:
            raise DesignError(
                "shard-was",
                f"{key.place}.{slot.field}",
                "an item can't be looked for under two primary keys",
                "Use was= in the key of an index. To change a primary key, declare a second entity with the new "
                "key, and move the items by a rewrite: lambda old: (create(New.from_fields(old)), delete(old)).",
            )
    for kind in ([slot for slot in computed if slot.shards], [slot for slot in computed if not slot.shards]):
        if len(kind) > 1:
            raise DesignError(
                "computed-twice",
                f"{key.place}.{kind[1].field}",
                "a hash key can have one date bucket and one shard",
                "Keep one of them, and put the other value into the sort key.",
            )
    if computed and len(key.range) > 1:
        raise DesignError(
            "several-sort-keys",
            f"{key.place}.{computed[0].field}",
            "partitions can't be read as one list in the order of several sort key attributes",
            "Use one attribute as the sort key.",
        )


def _check_expiry(spec: "EntitySpec") -> None:
    """Refuse an index without the time to live: a query of it couldn't leave out items that have expired."""
    ttl = spec.by_kind.get("ttl")
    for placement in spec.placements.values():
        if ttl is not None and placement.index is not None and ttl.stored in spec.not_in(placement.index):
            raise DesignError(
                "ttl-not-projected",
                placement.place,
                f"the index {placement.index.name} lacks {ttl.stored}, so queries couldn't leave out expired items",
                f"Project {ttl.stored} into the index.",
            )


def _check_kept(spec: "EntitySpec", field: FieldSpec) -> None:
    """Refuse a field that is stored only in a key attribute from which it can't always be read back."""
    part = spec.key_attributes.get(field.stored)
    if part is None:
        _check_stray(spec, field)
    if part is None or part.template is None:
        return
    slots = [slot for slot in part.template.parts if not isinstance(slot, str) and slot.field != field.name]
    others = [slot for slot in slots if spec.fields[slot.field].optional and not slot.absent]
    whens = [key.when for key in spec.placements.values() if key.when and part in key.parts]
    if field.name not in part.template.readable_fields or others or whens:
        is_missing = field.name not in part.template.fields
        raise DesignError(
            "lost-value",
            f"{spec.name}.{field.name}",
            f"it is stored as {field.stored!r}, a key attribute that doesn't always contain it",
            f"Write {{{field.name}}} in the template {part.template.text!r}, or store it under a different name: "
            'Annotated[..., stored("Name")].'
            if is_missing
            else _OWN_NAME,
        )
    if part.template.by_field[field.name][1].inverted:
        raise DesignError(
            "inverted-value",
            f"{spec.name}.{field.name}",
            f"it is stored as {field.stored!r}, a key attribute in which it is inverted; conditions would be reversed",
            _OWN_NAME,
        )


def _check_stray(spec: "EntitySpec", field: FieldSpec) -> None:
    """Refuse a field that has the name of an index key but not its type."""
    kind = int if field.kind == "ttl" else scalar(field.annotation)
    for key in spec.table.key_attributes:
        if key.name == field.stored and kind not in KEY_TYPES[key.type]:
            raise DesignError(
                "key-type",
                f"{spec.name}.{field.name}",
                f"{field.stored} is a key of an index, which must be of type {key.type}",
                _OWN_NAME,
            )


def check_shared(others: Sequence[KeySpec], key: KeySpec) -> None:
    """Refuse two templates for an attribute that is in two keys."""
    for other, part in product(others, key.parts):
        theirs = next((each for each in other.parts if each.attribute.name == part.attribute.name), part)
        if theirs.source != part.source:
            raise DesignError(
                "two-templates",
                key.place,
                f"{part.attribute.name} is {theirs.source} in {other.name}",
                "Use the same template, or remove it.",
            )
