"""What follows from an item elsewhere, and the difference between before and after.

Guards, mirrors, derived and reference items are items of their own; counters and parents are numbers and conditions on
other items. All of them are worked out from the entity alone, so a write needs only compare what followed from the
old one with what follows from the new, and `verify` what follows with what is stored.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, TypeAlias

from keyplan.data.codec import Item
from keyplan.data.expressions import fields_of
from keyplan.data.items import codec_of
from keyplan.design import Entity, Ref, Table
from keyplan.design.effects import BelongsTo, Unique

SideKind: TypeAlias = Literal["unique", "mirror", "derived", "reference"]


class Address(NamedTuple):
    """Where an item is: its table's declared name and its key, in a form that can be compared."""

    table: str
    key: tuple[tuple[str, str, str | bytes], ...]

    @property
    def item(self) -> Item:
        return {name: {tag: content} for name, tag, content in self.key}


def address(table: Table, key: Item) -> Address:
    """The address of the item with this key."""
    return Address(table.name, tuple((name, *next(iter(value.items()))) for name, value in sorted(key.items())))


@dataclass(frozen=True)
class SideItem:
    """An item that follows from another."""

    kind: SideKind
    constraint: str
    table: Table
    item: Item
    values: dict[str, object]
    """The values that it was made of, for errors."""


@dataclass(frozen=True)
class Share:
    """What an item adds to a number elsewhere."""

    constraint: str
    target: Ref[Any]
    attribute: str
    amount: int
    floor: int | None


@dataclass
class Consequences:
    """All that follows from one item."""

    items: dict[Address, SideItem] = field(default_factory=dict)
    shares: dict[tuple[Address, str, str], Share] = field(default_factory=dict)
    """By the counted item, the attribute and the constraint."""
    parents: dict[Address, tuple[BelongsTo[Any], Ref[Any]]] = field(default_factory=dict)


def consequences(entity: Entity | None) -> Consequences:
    """What follows from an entity; nothing from None."""
    found = Consequences()
    if entity is None:
        return found
    spec = entity.spec
    for unique in spec.uniques:
        guard = _guard(entity, unique)
        if guard is not None:
            found.items[address(unique.table, _key_of(unique.table, guard.item))] = guard
    for derived in spec.derived:
        for other in derived.make(entity):
            item = codec_of(type(other)).encode(other)
            table = other.spec.table
            side = SideItem(derived.kind, derived.name, table, item, other.key_values)
            found.items[address(table, _key_of(table, item))] = side
    for share in _shares(entity):
        where = address_of(share.target)
        found.shares[where, share.attribute, share.constraint] = share
    for parent in spec.parents:
        named = parent.parent(entity)
        if named is not None:
            found.parents[address_of(named)] = (parent, named)
    return found


def address_of(named: Ref[Any]) -> Address:
    """The address of the item that a reference names."""
    return address(named.entity.spec.table, codec_of(named.entity).key(named.values))


def _key_of(table: Table, item: Item) -> Item:
    return {attribute.name: item[attribute.name] for attribute in table.hash + table.range}


def _shares(entity: Entity) -> Iterator[Share]:
    spec = entity.spec
    for counter in spec.counters:
        named = counter.target(entity)
        if named is not None and named.amount:
            attribute = named.entity.spec.fields[counter.field].stored
            yield Share(counter.name, named, attribute, named.amount, counter.floor)
    for parent in spec.parents:
        if parent.count is not None:
            named = parent.parent(entity)
            if named is not None:
                attribute = named.entity.spec.fields[parent.count].stored
                yield Share(parent.name, named, attribute, 1, None)


def _guard(entity: Entity, unique: Unique) -> SideItem | None:
    """The guard item of a unique value; None where the value is absent."""
    values = fields_of(entity)
    if unique.when is not None and not values.get(unique.when):
        return None
    text = unique.hash.write(values)
    if text is None:
        return None
    item: Item = {unique.table.hash[0].name: {"S": text}}
    if unique.range is not None:
        range_text = unique.range.write(values)
        if range_text is None:
            return None
        item[unique.table.range[0].name] = {"S": range_text}
    codec = codec_of(type(entity))
    for name in unique.carries:
        encoded = codec.encode_value(name, values[name])
        if encoded is not None:
            item[codec.spec.fields[name].stored] = encoded
    fields = dict.fromkeys((*unique.hash.fields, *(unique.range.fields if unique.range else ())))
    return SideItem("unique", unique.name, unique.table, item, {name: values[name] for name in fields})
