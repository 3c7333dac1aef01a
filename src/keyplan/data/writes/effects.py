"""Effects: what follows from an item elsewhere.

Guards, mirrors, derived items, references and parts of large values are items of their own. Counters are numbers on
other items, and parents are items that must exist. All of them depend on the entity and its item alone, so a write
compares the effects before and after, and `verify` compares the effects with what is stored.
"""

from collections.abc import Set
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cache
from typing import Any, Literal, TypeAlias

from keyplan.data.codec.addresses import Address, address, address_of
from keyplan.data.codec.entities import codec_of, stored_item
from keyplan.data.codec.guards import GuardCodec
from keyplan.data.codec.large import part_items
from keyplan.data.codec.values import Item
from keyplan.data.expressions.expiry import is_expired
from keyplan.design import Entity, Ref, Table
from keyplan.design.entities.effects import BelongsTo, Derived, named_by
from keyplan.design.entities.entity_spec import EntitySpec

EffectKind: TypeAlias = Literal["unique", "mirror", "derived", "reference", "part"]


@dataclass(frozen=True, slots=True)
class EffectItem:
    """A guard, mirror, derived item or reference of an item, or a part of one of its large values."""

    kind: EffectKind
    constraint: str
    table: Table
    item: Item
    values: dict[str, object]
    """The values in its key, for errors."""
    counts: frozenset[str] = frozenset()
    """Its attributes that are counters, which other items change."""
    known: frozenset[str] = frozenset()
    """The attributes that it may have; if it has one that it shouldn't, that is wrong."""

    @property
    def own(self) -> Item:
        """Its attributes without counters."""
        return {name: value for name, value in self.item.items() if name not in self.counts}

    @property
    def expires(self) -> bool:
        """Whether it has a time to live of its own."""
        return self.table.ttl in self.item

    def is_stored_as(self, found: Item | None) -> bool:
        """Whether a stored item is this one; another item may have its key by now."""
        return found is not None and all(found.get(name) == value for name, value in self.own.items())


@dataclass(frozen=True, slots=True)
class CounterShare:
    """What an item adds to a number elsewhere."""

    constraint: str
    target: Ref[Any]
    attribute: str
    amount: int
    floor: int | None


@dataclass(slots=True)
class Effects:
    """All effects of one item."""

    items: dict[Address, EffectItem] = field(default_factory=dict)
    shares: dict[tuple[Address, str, str], CounterShare] = field(default_factory=dict)
    """By the counted item, the attribute and the constraint."""
    parents: dict[Address, tuple[BelongsTo[Any], Ref[Any]]] = field(default_factory=dict)

    def _add_share(self, where: Address, share: CounterShare) -> None:
        key = (where, share.attribute, share.constraint)
        same = self.shares.get(key)
        self.shares[key] = share if same is None else replace(share, amount=share.amount + same.amount)

    def _add_guards(self, entity: Entity, changed: Set[str] | None) -> None:
        for guard in _guards(type(entity)):
            if changed is not None and guard.fields.isdisjoint(changed):
                continue
            values = entity.__dict__
            item = guard.encode(values)
            if item is not None:
                unique = guard.unique
                made_of = {name: values[name] for name in guard.key_fields}
                self.items[address(unique.table, item)] = EffectItem(
                    "unique", unique.name, unique.table, item, made_of, frozenset(), guard.carried
                )

    def _add_counters(self, entity: Entity) -> None:
        for counter in entity.spec.counters:
            for target in named_by(counter.target(entity)):
                if target.amount:
                    attribute = target.entity.spec.fields[counter.field].stored
                    share = CounterShare(counter.name, target, attribute, target.amount, counter.floor)
                    self._add_share(address_of(target), share)

    def _add_parents(self, entity: Entity) -> None:
        for relation in entity.spec.parents:
            for parent in named_by(relation.parent(entity)):
                where = address_of(parent)
                self.parents[where] = (relation, parent)
                if relation.count is not None:
                    attribute = parent.entity.spec.fields[relation.count].stored
                    self._add_share(where, CounterShare(relation.name, parent, attribute, 1, None))

    def _add_parts(self, entity: Entity, changed: Set[str] | None, item: Item | None) -> None:
        table, values = entity.spec.table, entity.key_values
        known = frozenset((table.ttl,) if table.ttl else ())
        for large, part in part_items(entity.spec, entity.__dict__, item or {}, changed):
            self.items[address(table, part)] = EffectItem("part", large.name, table, part, values, frozenset(), known)


def has_effects(spec: EntitySpec) -> bool:
    """Whether items of an entity have effects."""
    return bool(spec.uniques or spec.derived or spec.counters or spec.parents or spec.large)


def effects_of(entity: Entity | None, changed: Set[str] | None = None, item: Item | None = None) -> Effects:
    """The effects of an entity; none for None. With `changed`, only guards and parts that depend on these fields.

    `item` is the entity's item, if it isn't the one that the entity was read from.
    """
    found = Effects()
    if entity is None:
        return found
    spec = entity.spec
    if spec.uniques:
        found._add_guards(entity, changed)
    for derived in spec.derived:
        for other in derived.make(entity):
            made = _effect_item(entity, other, derived)
            found.items[address(made.table, made.item)] = made
    if spec.counters:
        found._add_counters(entity)
    if spec.parents:
        found._add_parents(entity)
    if spec.large:
        found._add_parts(entity, changed, item or stored_item(entity))
    return found


def effects_left(entity: Entity, stored: Item, now: datetime) -> Effects:
    """The effects that are left of a stored item.

    If it has expired, those that expire with it are as good as deleted: another item may have taken their keys.
    """
    found = effects_of(entity, item=stored)
    if is_expired(codec_of(type(entity)).ttl, stored, now):
        found.items = {
            where: effect for where, effect in found.items.items() if not effect.expires or effect.kind == "part"
        }
    return found


@cache
def _guards(entity: type[Entity]) -> tuple[GuardCodec, ...]:
    return tuple(GuardCodec(codec_of(entity), unique) for unique in entity.spec.uniques)


def _effect_item(entity: Entity, other: Entity, derived: Derived[Any]) -> EffectItem:
    """A derived item. Stamps that it doesn't set are copied from the entity, or left out."""
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
