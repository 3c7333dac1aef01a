"""What the keys of a design mean: how many partitions they make, how they sort, and which items are side by side."""

from collections.abc import Sequence
from datetime import date, datetime
from enum import Enum
from itertools import takewhile
from typing import Any, Literal, NamedTuple, get_args, get_origin

from keyplan.design.entities.effects import Unique
from keyplan.design.entities.entity_spec import EntitySpec
from keyplan.design.entities.specs import KeyPart, KeySpec
from keyplan.design.keys.templates import Slot, Template
from keyplan.design.operations.queries import Query
from keyplan.design.tables.attributes import KeyAttribute
from keyplan.design.tables.tables import Index
from keyplan.design.values.ids import IdFactory
from keyplan.review.reviewed import Reviewed

FEW = 100
"""The most values of a hash key that count as few."""


class Range(NamedTuple):
    """The least and the greatest number that a field's limits allow; None where there is no limit."""

    least: int | None
    most: int | None


def number_range(spec: EntitySpec, field: str) -> Range:
    """The numbers that a field can have, as far as its limits are pydantic's."""
    least: list[int] = []
    most: list[int] = []
    for mark in spec.entity.declared_fields[field].metadata:
        for name, values, more in (("ge", least, 0), ("gt", least, 1), ("le", most, 0), ("lt", most, -1)):
            value = getattr(mark, name, None)
            if isinstance(value, int) and not isinstance(value, bool):
                values.append(value + more)
    return Range(max(least, default=None), min(most, default=None))


def choices(spec: EntitySpec, field: str) -> tuple[object, ...] | None:
    """The values that a field can have, if they are few and known."""
    annotation = spec.fields[field].annotation
    if annotation is bool:
        return (False, True)
    if get_origin(annotation) is Literal:
        return get_args(annotation)
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return tuple(member.value for member in annotation)
    if annotation is int:
        least, most = number_range(spec, field)
        if least is not None and most is not None and most - least < FEW:
            return tuple(range(least, most + 1))
    return None


def partitions(spec: EntitySpec, key: KeySpec) -> int | None:
    """How many hash values an entity's items can have under a key: None if many, or if they are spread over shards."""
    number = 1
    for part in key.hash:
        for slot in _slots(part):
            is_bucket = part.template is not None and part.template.formats[slot].bucket is not None
            values = choices(spec, slot.field)
            if values is None or is_bucket or slot.shards is not None:
                return None
            number *= len(values)
    return number if number <= FEW else None


def _slots(part: KeyPart) -> tuple[Slot, ...]:
    """The places of fields in a part of a key; a field of its own in those of type N and B."""
    if part.template is not None:
        return part.template.slots
    return (Slot(part.field),) if part.field else ()


def is_time_only(spec: EntitySpec, key: KeySpec) -> bool:
    """Whether a hash key is made of a time or a date, and otherwise of values that are few at most."""
    times = 0
    for part in key.hash:
        for slot in _slots(part):
            if slot.shards is not None:
                return False
            if spec.fields[slot.field].annotation in (date, datetime):
                times += 1
            elif choices(spec, slot.field) is None:
                return False
    return times > 0


def sort_slots(key: KeySpec) -> tuple[Slot, ...]:
    """The places of fields in a sort key, from the left."""
    return tuple(slot for part in key.range for slot in _slots(part))


def first_sorting(query: Query[Any]) -> Slot | None:
    """The place of the field by which a query sorts its items: the first one without a value."""
    fixed = {name for name in query.values if name not in query.key.computed}
    return next((slot for slot in sort_slots(query.key) if slot.field not in fixed), None)


def grows(spec: EntitySpec, key: KeySpec) -> bool:
    """Whether new items come after all others in the order of a sort key, or before all others."""
    slots = sort_slots(key)
    if not slots:
        return False
    field = spec.fields[slots[0].field]
    return field.kind in ("created", "updated") or is_made(spec, field.name)


def whole_fields(key: KeySpec) -> set[str]:
    """The fields whose values a key tells exactly."""
    found = {part.field for part in key.parts if part.field}
    for part in key.parts:
        if part.template is not None:
            found |= part.template.readable_fields
    return found


def is_unique(reviewed: Reviewed, spec: EntitySpec, key: KeySpec) -> bool:
    """Whether no two items can have the same values in a key."""
    known = _determined(reviewed, spec, whole_fields(key))
    written = {(slot.field, slot.fold) for part in key.parts for slot in _slots(part)}
    slots = [guard_slots(each) for each in spec.uniques if each.when is None]
    return set(spec.primary.fields) <= known or any(
        all(slot.field in known or (slot.field, slot.fold) in written for slot in each) for each in slots
    )


def _determined(reviewed: Reviewed, spec: EntitySpec, fields: set[str]) -> set[str]:
    """The fields, and those of the keys of the items that the ids among them belong to: each id was made once."""
    found = set(fields)
    for other in reviewed.specs:
        made = {name for name in other.primary.fields if is_made(other, name)}
        if made & found:
            found.update(other.primary.fields)
    return found & set(spec.fields)


def is_made(spec: EntitySpec, field: str) -> bool:
    """Whether a field is an id that Keyplan makes, in order of time."""
    return isinstance(spec.entity.declared_fields[field].default_factory, IdFactory)


def guard_slots(guard: Unique) -> tuple[Slot, ...]:
    """The places of fields in the key of a guard."""
    return (*guard.hash.slots, *(guard.range.slots if guard.range else ()))


# Side by side


class Neighbor(NamedTuple):
    """Items whose keys are in the same table or index: those of an entity, or its guards."""

    spec: EntitySpec
    shown: str
    hash: Sequence[KeyPart | Template]
    range: Sequence[KeyPart | Template]
    attributes: frozenset[str]
    """The attributes that they can have."""
    key: KeySpec | None = None
    """The key of an entity. None: they are guards."""


def neighbors(reviewed: Reviewed, query: Query[Any]) -> Sequence[Neighbor]:
    """The items of other entities, and the guards, in the table or index that a query reads."""
    found: list[Neighbor] = []
    table = query.entities[0].spec.table
    for spec in reviewed.specs:
        if spec.table is table and spec.entity not in query.entities:
            keys = keys_in(spec, query.key.index)
            found += [Neighbor(spec, spec.name, key.hash, key.range, spec.known_attributes, key) for key in keys]
        if query.key.index is None:
            found += [_guards(spec, guard) for guard in spec.uniques if guard.table is table]
    return found


def keys_in(spec: EntitySpec, index: Index | None) -> Sequence[KeySpec]:
    """The keys of an entity's items in the table or in an index, also in one that they are in by chance."""
    by_chance = key_by_chance(spec, index) if index is not None else None
    return [by_chance] if by_chance is not None else [key for key in spec.keys if key.index is index]


def key_by_chance(spec: EntitySpec, index: Index) -> KeySpec | None:
    """The key of an entity's items in an index that it has no placement in, if they have all key attributes anyway."""
    if any(key.index is index for key in spec.keys):
        return None
    fields = {field.stored: field.name for field in spec.fields.values() if field.on_top or not spec.table.envelope}
    known = {part.attribute.name: part for part in spec.primary.parts}
    known |= {
        name: KeyPart(KeyAttribute(name, "S"), None, field) for name, field in fields.items() if name not in known
    }
    attributes = [attribute.name for attribute in index.attributes]
    if not all(name in known for name in attributes) or set(attributes) <= set(spec.table.key_names):
        return None
    hash_parts, range_parts = ([known[each.name] for each in part] for part in (index.hash, index.range))
    return KeySpec(index.name, spec.name, index, tuple(hash_parts), tuple(range_parts))


def _guards(spec: EntitySpec, guard: Unique) -> Neighbor:
    carried = frozenset(spec.fields[name].stored for name in guard.carries)
    parts = (guard.range,) if guard.range else ()
    return Neighbor(spec, f"the guards {spec.name}.{guard.name}", (guard.hash,), parts, carried)


def surely_reads(reviewed: Reviewed, query: Query[Any], other: Neighbor) -> bool:
    """Whether a query surely reads items of a neighbor too, if there are any with the same values."""
    own = query.entities[0].spec
    return _same_partition(reviewed, own, query.key, other) and (
        len(query.entities) > 1 or _begins_alike(own, query, other)
    )


def prefix_parts(query: Query[Any]) -> tuple[str | Slot, ...]:
    """What the sort keys that a query reads begin with: texts, and the places of the fields that have a value."""
    template = query.key.range[0].template if query.key.range and len(query.entities) == 1 else None
    if template is None:
        return ()
    return tuple(
        takewhile(lambda part: isinstance(part, str) or part.field in query.values, template.parts),
    )


def _begins_alike(own: EntitySpec, query: Query[Any], other: Neighbor) -> bool:
    """Whether the sort keys of a neighbor begin like those that a query reads."""
    if query.bound is not None:
        return False  # it leaves some of them out, perhaps all
    first = query.key.range[0] if query.key.range else None
    if first is None or first.template is None:
        return first is None or first.field not in query.values
    prefix = prefix_parts(query)
    if not prefix:
        return True
    theirs = _template(other.range[0]) if other.range else None
    if theirs is None:
        return False
    *whole, last = prefix
    rest = theirs.parts[len(whole) : len(whole) + 1]
    if not rest or not _aligned(own, whole, other.spec, theirs.parts[: len(whole)]):
        return False
    if isinstance(last, str) and isinstance(rest[0], str):
        return rest[0].startswith(last)
    return _aligned(own, [last], other.spec, rest)


def _same_partition(reviewed: Reviewed, own: EntitySpec, key: KeySpec, other: Neighbor) -> bool:
    """Whether items of an entity and of its neighbor surely have the same hash key where they belong together."""
    if other.key is not None and _made_in_same_partition(reviewed, own, key, other.spec, other.key):
        return True
    for part, theirs in zip(key.hash, other.hash, strict=True):
        template = _template(theirs)
        if part.template is not None and template is not None:
            if not _aligned(own, part.template.parts, other.spec, template.parts):
                return False
        else:
            field = _only_field(part)
            if not isinstance(theirs, KeyPart) or field is None or field != _only_field(theirs):
                return False
    return True


def _only_field(part: KeyPart) -> str | None:
    """The field that a part of a key is, without any text around it."""
    if part.template is None:
        return part.field
    slots = [slot for slot in part.template.parts if not isinstance(slot, str)]
    return slots[0].field if len(part.template.parts) == len(slots) == 1 and slots[0] == Slot(slots[0].field) else None


def _template(part: KeyPart | Template) -> Template | None:
    return part.template if isinstance(part, KeyPart) else part


def _aligned(own: EntitySpec, parts: Sequence[str | Slot], other: EntitySpec, theirs: Sequence[str | Slot]) -> bool:
    """Whether parts of two templates are the same texts and the same fields, in the same formats."""
    if len(parts) != len(theirs):
        return False
    return all(_is_same(own, mine, other, each) for mine, each in zip(parts, theirs, strict=True))


def _is_same(own: EntitySpec, mine: str | Slot, other: EntitySpec, theirs: str | Slot) -> bool:
    if isinstance(mine, str) or isinstance(theirs, str):
        return mine == theirs
    same_form = (mine.fold, mine.spec, mine.inverted, mine.shards) == (
        theirs.fold,
        theirs.spec,
        theirs.inverted,
        theirs.shards,
    )
    same_field = (
        mine.field == theirs.field or _is_parents(own, mine, other, theirs) or _is_parents(other, theirs, own, mine)
    )
    kinds = own.fields[mine.field].annotation, other.fields[theirs.field].annotation
    return same_form and same_field and kinds[0] == kinds[1]


def _is_parents(child: EntitySpec, mine: Slot, parent: EntitySpec, theirs: Slot) -> bool:
    """Whether a child's field has the value of a field of its parent's key."""
    return any(each.entity is parent.entity and each.fields.get(theirs.field) == mine.field for each in child.parents)


def _made_in_same_partition(
    reviewed: Reviewed, own: EntitySpec, key: KeySpec, other: EntitySpec, theirs: KeySpec
) -> bool:
    """Whether one of them is made from the other, and gets the same hash key."""
    for maker, maker_key, made, made_key in ((own, key, other, theirs), (other, theirs, own, key)):
        item = reviewed.example(maker)
        for each in reviewed.made_from(maker):
            if type(each) is made.entity and item is not None:
                return _hash_texts(maker_key, item.__dict__) == _hash_texts(made_key, each.__dict__)
    return False


def copies_beside(reviewed: Reviewed, spec: EntitySpec, key: KeySpec) -> int:
    """How many items are made from one of an entity's and are in the same partition of the same table or index."""
    item = reviewed.example(spec)
    if item is None:
        return 0
    texts = _hash_texts(key, item.__dict__)
    return sum(
        _hash_texts(each, made.__dict__) == texts
        for made in reviewed.made_from(spec)
        if made.spec.table is spec.table
        for each in keys_in(made.spec, key.index)
    )


def _hash_texts(key: KeySpec, values: dict[str, object]) -> list[str]:
    """The hash key of an item, as text."""
    texts = ((values[part.field] if part.field else part.template and part.template.write(values)) for part in key.hash)
    return list(map(str, texts))
