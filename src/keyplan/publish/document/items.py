"""Item types: the entities of a design and the guards of their unique values, each with its keys and attributes."""

import inspect
from collections.abc import Iterator, Mapping
from decimal import Decimal

from keyplan.design import Design, Entity
from keyplan.design.entities.effects import Unique
from keyplan.design.entities.entity_spec import EntitySpec
from keyplan.design.entities.specs import KeyPart, KeySpec
from keyplan.design.examples import example_of
from keyplan.design.tables.tables import Table
from keyplan.publish.document.examples import Examples
from keyplan.publish.document.fields import limits_text, schema_of, type_text
from keyplan.publish.document.model import AttributeText, Item, ItemType, KeyPlace
from keyplan.publish.document.requests import shown

_NAMES = {"S": "String", "N": "Number", "B": "Binary"}
Address = tuple[str, ...]
"""The table of an item by its declared name, and the values of its key as text."""


def key_places(spec: KeySpec) -> tuple[KeyPlace, ...]:
    """The attributes of an entity's key, with the templates that their values come from."""
    return (
        *(KeyPlace(part.attribute.name, part.attribute.type, "partition key", part.source) for part in spec.hash),
        *(KeyPlace(part.attribute.name, part.attribute.type, "sort key", part.source) for part in spec.range),
    )


def guard_places(unique: Unique) -> tuple[KeyPlace, ...]:
    """The attributes of a guard's key, with their templates."""
    table, sort = unique.table, unique.range or unique.hash
    return (
        KeyPlace(table.hash[0].name, table.hash[0].type, "partition key", unique.hash.text),
        *(KeyPlace(each.name, each.type, "sort key", sort.text) for each in table.range),
    )


def guard_name(entity: type[Entity], unique: Unique) -> str:
    """The name of a guard: `User.email_guard`."""
    return f"{entity.__name__}.{unique.name}"


def address_of(entity: Entity) -> Address:
    """Where an item is."""
    spec = type(entity).spec
    return (spec.table.name, *(_part(part, entity.__dict__) for part in spec.primary.parts))


def address_by(spec: EntitySpec, values: Mapping[str, object]) -> Address:
    """Where the item of an entity with these key values is."""
    return (spec.table.name, *(_part(part, values) for part in spec.primary.parts))


def guard_address(unique: Unique, entity: Entity) -> Address | None:
    """Where the guard of an item is, or None if it has none."""
    if unique.when is not None and not getattr(entity, unique.when):
        return None
    hash_value = unique.hash.write(entity.__dict__)
    sort = (unique.range or unique.hash).write(entity.__dict__)
    if hash_value is None or sort is None:
        return None
    return (unique.table.name, hash_value, sort) if unique.table.range else (unique.table.name, hash_value)


def address_in(table: Table, item: Item) -> Address:
    """Where a stored item is, or that with this key."""
    values = [next(iter(item[name].items())) for name in table.key_names]
    return (
        table.name,
        *(str(Decimal(content).normalize()) if kind == "N" else str(content) for kind, content in values),
    )


def _part(part: KeyPart, values: Mapping[str, object]) -> str:
    if part.template is not None:
        return part.template.write(values) or ""
    value = values[str(part.field)]
    stamp = value.timestamp() if hasattr(value, "timestamp") else value
    return str(Decimal(str(stamp)).normalize()) if part.attribute.type == "N" else str(stamp)


def item_types(design: Design, examples: Examples) -> Iterator[ItemType]:
    """The item types of a design, each entity followed by the guards of its unique values."""
    found = {
        address_in(table, item): item for table in design.all_tables for item in examples.stored.get(table.name, ())
    }
    for entity in design.entities:
        example = _example(design, entity, examples)
        yield _entity(design, entity, None if example is None else found.get(address_of(example)))
        for unique in entity.spec.uniques:
            address = None if example is None else guard_address(unique, example)
            yield _guard(design, entity, unique, None if address is None else found.get(address))


def _example(design: Design, entity: type[Entity], examples: Examples) -> Entity | None:
    if entity.__name__ in examples.problems:
        return None
    written = examples.written.get(entity.__name__)
    return written.entity if written is not None else example_of(design, entity)


def names_by_address(examples: Examples) -> dict[Address, str]:
    """Which item type the stored items are, by their addresses."""
    found: dict[Address, str] = {}
    for item in examples.items:
        entity = type(item)
        found[address_of(item)] = entity.__name__
        for unique in entity.spec.uniques:
            address = guard_address(unique, item)
            if address is not None:
                found[address] = guard_name(entity, unique)
        for derived in entity.spec.derived:
            for copy in derived.make(item):
                found[address_of(copy)] = type(copy).__name__
    return found


def _entity(design: Design, entity: type[Entity], item: Item | None) -> ItemType:
    spec = entity.spec
    keys = [(design.table_name(spec.table), key_places(spec.primary))]
    keys += [(str(each.index.name), key_places(each)) for each in spec.placements.values() if each.index is not None]
    return ItemType(
        name=entity.__name__,
        kind=_kind(design, entity),
        about=inspect.cleandoc(entity.__doc__ or ""),
        table=design.table_name(spec.table),
        keys=tuple(keys),
        attributes=tuple(_attributes(entity, item)),
        facts=tuple(_facts(spec)),
        example=item,
    )


def _kind(design: Design, entity: type[Entity]) -> str:
    makers = {
        f"{'mirror' if each.kind == 'mirror' else each.kind + ' item'} of {maker.__name__}": None
        for maker in design.entities
        for each in maker.spec.derived
        if entity in each.entities
    }
    return ", ".join(makers) or "entity"


def _facts(spec: EntitySpec) -> Iterator[tuple[str, str]]:
    if spec.expected is not None:
        words = {"items": "items", "size": "bytes each", "partition": "at most under one partition key"}
        words["growth"] = "more each month"
        given = [(getattr(spec.expected, name), text) for name, text in words.items()]
        yield "Expected", ", ".join(f"{value:,} {text}" for value, text in given if value is not None)
    for claim in spec.claims:
        yield "Unique", ", ".join(claim)
    for each in spec.limits.joint:
        text = (inspect.getdoc(each.check) or each.name).partition("\n")[0]
        yield "Limit", f"{text.rstrip('.')} ({', '.join(sorted(each.fields))})"
    for name, placed in spec.placements.items():
        if placed.when is not None and placed.index is not None:
            yield "Sparse", f"{name}: in {placed.index.name} only when {placed.when} is set"


def _attributes(entity: type[Entity], item: Item | None) -> Iterator[AttributeText]:
    spec = entity.spec
    primary = [part.attribute.name for part in spec.primary.parts]
    for name in primary:
        yield _key_attribute(spec, name, item)
    if spec.table.type_attribute and spec.type and spec.table.type_attribute not in spec.key_attributes:
        yield _plain(spec.table.type_attribute, "String", f"always `{spec.type}`", "the entity's type", item)
    for field in spec.fields.values():
        if field.stored not in spec.key_attributes:
            info = entity.declared_fields[field.name]
            schema = schema_of(info)
            inside = bool(spec.table.envelope) and not field.on_top
            stored = None if inside or item is None else item.get(field.stored)
            yield AttributeText(
                f"{spec.table.envelope}.{field.stored}" if inside else field.stored,
                field.name,
                type_text(field, schema, stored),
                not field.optional,
                limits_text(field, info, schema),
                " ".join((field.help or "").split()),
                "" if stored is None else shown(stored),
            )
    if spec.table.envelope:
        yield _plain(spec.table.envelope, "String", "", "the fields as a JSON text", item)
    for name in spec.key_attributes:
        if name not in primary:
            yield _key_attribute(spec, name, item)


def _key_attribute(spec: EntitySpec, name: str, item: Item | None) -> AttributeText:
    part = spec.key_attributes[name]
    roles = [
        f"{role} of {key.index.name if key.index else 'the table'}"
        for key in spec.keys
        for role, parts in (("partition key", key.hash), ("sort key", key.range))
        if any(each.attribute.name == name for each in parts)
    ]
    stored = None if item is None else item.get(name)
    field = next((each for each in spec.fields.values() if each.stored == name), None)
    example = "" if stored is None else shown(stored)
    about, limits = ", ".join(dict.fromkeys(roles)), f"`{part.source}`"
    if field is not None:
        info = spec.entity.declared_fields[field.name]
        own = limits_text(field, info, schema_of(info))
        limits += f", {own}" if own else ""
    return AttributeText(
        name,
        field.name if field is not None else "",
        _NAMES[part.attribute.type],
        name in spec.table.key_names or _is_always_in_an_index(spec, name),
        limits,
        about,
        example,
    )


def _is_always_in_an_index(spec: EntitySpec, name: str) -> bool:
    """Whether all items of an entity have a key attribute of an index, because none of its values may be missing."""
    keys = [key for key in spec.placements.values() if any(part.attribute.name == name for part in key.parts)]
    return any(
        key.when is None
        and not any(
            spec.fields[field].optional and not (part.template is not None and part.template.has_default(field))
            for part in key.parts
            for field in part.fields
        )
        for key in keys
    )


def _plain(name: str, kind: str, limits: str, about: str, item: Item | None) -> AttributeText:
    stored = None if item is None else item.get(name)
    return AttributeText(name, "", kind, True, limits, about, "" if stored is None else shown(stored))


def _guard(design: Design, entity: type[Entity], unique: Unique, item: Item | None) -> ItemType:
    places = guard_places(unique)
    about = f"Claims a value that only one {entity.__name__} may have. It is written and deleted with its item."
    if unique.when is not None:
        about += f" Only items in which `{unique.when}` is true have one."
    keys = [
        AttributeText(
            each.attribute,
            "",
            _NAMES[each.type],
            True,
            f"`{each.template}`",
            f"{each.role} of the table",
            _of(item, each.attribute),
        )
        for each in places
    ]
    carried = [_carried(entity, name, item) for name in unique.carries]
    refusal = unique.refusal.detail if unique.refusal is not None and unique.refusal.detail else ""
    table = design.table_name(unique.table)
    return ItemType(
        name=guard_name(entity, unique),
        kind=f"guard of {entity.__name__}",
        about=about,
        table=table,
        keys=((table, places),),
        attributes=(*keys, *carried),
        facts=(("Refused as", refusal),) if refusal else (),
        example=item,
    )


def _of(item: Item | None, name: str) -> str:
    return "" if item is None or name not in item else shown(item[name])


def _carried(entity: type[Entity], name: str, item: Item | None) -> AttributeText:
    field, info = entity.spec.fields[name], entity.declared_fields[name]
    stored = None if item is None else item.get(field.stored)
    schema = schema_of(info)
    kind, limits = type_text(field, schema, stored), limits_text(field, info, schema)
    return AttributeText(
        field.stored, name, kind, not field.optional, limits, f"leads to the {entity.__name__}", _of(item, field.stored)
    )
