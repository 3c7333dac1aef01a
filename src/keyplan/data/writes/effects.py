"""What follows from an item elsewhere, and the difference between before and after.

Guards, mirrors, derived and reference items are items of their own; counters and parents are numbers and conditions on
other items. All of them are worked out from the entity alone, so a write needs only compare what followed from the
old one with what follows from the new, and `verify` what follows with what is stored.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

from keyplan.data.codec.addresses import Address, address, address_of
from keyplan.data.codec.entities import codec_of
from keyplan.data.codec.sizes import LONGEST_HASH, LONGEST_RANGE, checked_key
from keyplan.data.codec.values import Item
from keyplan.data.expressions.conditions import fields_of
from keyplan.design import Entity, Ref, Table
from keyplan.design.effects import BelongsTo, Derived, Unique, named_by

EffectKind: TypeAlias = Literal["unique", "mirror", "derived", "reference"]


@dataclass(frozen=True)
class EffectItem:
    """An item that follows from another."""

    kind: EffectKind
    constraint: str
    table: Table
    item: Item
    values: dict[str, object]
    """The values that it was made of, for errors."""
    counts: frozenset[str] = frozenset()
    """Its attributes that are numbers which other items keep."""
    known: frozenset[str] = frozenset()
    """The attributes that it may have; one of them that it should not have is wrong."""


@dataclass(frozen=True)
class CounterShare:
    """What an item adds to a number elsewhere."""

    constraint: str
    target: Ref[Any]
    attribute: str
    amount: int
    floor: int | None


@dataclass
class Effects:
    """All that follows from one item."""

    items: dict[Address, EffectItem] = field(default_factory=dict)
    shares: dict[tuple[Address, str, str], CounterShare] = field(default_factory=dict)
    """By the counted item, the attribute and the constraint."""
    parents: dict[Address, tuple[BelongsTo[Any], Ref[Any]]] = field(default_factory=dict)


def effects_of(entity: Entity | None) -> Effects:
    """What follows from an entity; nothing from None."""
    found = Effects()
    if entity is None:
        return found
    spec = entity.spec
    for unique in spec.uniques:
        guard = _guard(entity, unique)
        if guard is not None:
            found.items[address(unique.table, guard.item)] = guard
    for derived in spec.derived:
        for other in derived.make(entity):
            side = _side(entity, other, derived)
            found.items[address(side.table, side.item)] = side
    for share in _shares(entity):
        where = address_of(share.target)
        same = found.shares.get((where, share.attribute, share.constraint))
        found.shares[where, share.attribute, share.constraint] = (
            share if same is None else replace(share, amount=share.amount + same.amount)
        )
    for parent in spec.parents:
        for named in named_by(parent.parent(entity)):
            found.parents[address_of(named)] = (parent, named)
    return found


def _side(entity: Entity, other: Entity, derived: Derived[Any]) -> EffectItem:
    """An item that follows from an entity. Stamps that it does not give are the entity's own, or none."""
    spec = other.spec
    stamps = {f.name: entity.spec.by_kind.get(f.kind) for f in spec.fields.values() if f.kind in ("created", "updated")}
    missing = {name: mine for name, mine in stamps.items() if name not in other.model_fields_set}
    given = {name: getattr(entity, mine.name) for name, mine in missing.items() if mine is not None}
    item = codec_of(type(other)).encode(other.model_copy(update=given) if given else other)
    for name in missing.keys() - given.keys():
        item.pop(spec.fields[name].stored, None)
    return EffectItem(
        derived.kind, derived.name, spec.table, item, other.key_values, spec.count_attributes, spec.known_attributes
    )


def _shares(entity: Entity) -> Iterator[CounterShare]:
    spec = entity.spec
    for counter in spec.counters:
        for named in named_by(counter.target(entity)):
            if named.amount:
                attribute = named.entity.spec.fields[counter.field].stored
                yield CounterShare(counter.name, named, attribute, named.amount, counter.floor)
    for parent in spec.parents:
        if parent.count is not None:
            for named in named_by(parent.parent(entity)):
                attribute = named.entity.spec.fields[parent.count].stored
                yield CounterShare(parent.name, named, attribute, 1, None)


def _guard(entity: Entity, unique: Unique) -> EffectItem | None:
    """The guard item of a unique value; None where the value is absent."""
    values = fields_of(entity)
    if unique.when is not None and not values.get(unique.when):
        return None
    text = unique.hash.write(values)
    if text is None:
        return None
    item: Item = {unique.table.hash[0].name: {"S": checked_key(text, LONGEST_HASH, unique.hash)}}
    if unique.range is not None:
        range_text = unique.range.write(values)
        if range_text is None:
            return None
        item[unique.table.range[0].name] = {"S": checked_key(range_text, LONGEST_RANGE, unique.range)}
    codec = codec_of(type(entity))
    for name in unique.carries:
        encoded = codec.encode_value(name, values[name])
        if encoded is not None:
            item[codec.spec.fields[name].stored] = encoded
    fields = dict.fromkeys((*unique.hash.fields, *(unique.range.fields if unique.range else ())))
    known = frozenset(codec.spec.fields[name].stored for name in unique.carries)
    return EffectItem(
        "unique", unique.name, unique.table, item, {name: values[name] for name in fields}, frozenset(), known
    )
