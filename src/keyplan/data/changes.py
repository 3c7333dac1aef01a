"""What a write changes in the item itself, and what it relies on there."""

from collections.abc import Callable, Hashable, Mapping, Sequence, Set
from datetime import datetime
from functools import cache, lru_cache
from typing import Any

from keyplan.data.codec import Item, whole_number
from keyplan.data.errors import NotFound, Refused, StaleVersion
from keyplan.data.expressions import Requirement, equals, is_there, there
from keyplan.data.items import EntityCodec, remember
from keyplan.data.plan import Action, added
from keyplan.design import Entity, InvalidValue
from keyplan.design.entity import EntitySpec
from keyplan.design.formats import TimePrecision
from keyplan.design.operations import guard_fields

Refusal = Callable[[type[Refused], str, Item | None], Refused]


class Baseline:
    """An item as it was read.

    What differs between it and what would be written today without anybody's doing (an older shape, defaults, another
    spelling of a number) is no change of the caller's.
    """

    def __init__(self, codec: EntityCodec[Any], stored: Item, now: Entity) -> None:
        self.codec = codec
        self.stored = stored
        self.entity: Entity = codec.decode(stored)
        # A default may be another each time, such as the present: what was read is not a change of the caller's.
        if len(self.entity.__pydantic_fields_set__) < len(codec.spec.fields):
            for name in codec.spec.fields.keys() - self.entity.model_fields_set - now.model_fields_set:
                if isinstance(now.__dict__[name], Hashable):
                    self.entity.__dict__[name] = now.__dict__[name]

    def changed(self, entity: Entity) -> set[str]:
        """The fields whose values would be stored otherwise than they are; numbers that other items keep aside."""
        before, fields = self.entity.__dict__, self.codec.spec.fields
        after, loose = entity.__dict__, self.codec.loose_fields
        differing = [name for name in fields if name in loose or before[name] != after[name]]
        return {
            name
            for name in differing
            if fields[name].kind != "count" and self._stored_otherwise(name, before[name], after[name])
        }

    def _stored_otherwise(self, name: str, before: object, now: object) -> bool:
        """Whether two values are stored differently; what is smaller than the stored precision makes no difference."""
        codec = self.codec
        encoded = None if now is None else codec.encode_value(name, now)
        try:
            return encoded != (None if before is None else codec.encode_value(name, before))
        except InvalidValue:
            return True  # what is stored could not be stored any more

    def changes(self, values: Mapping[str, object], changed: Set[str]) -> tuple[Item, set[str]]:
        """What to set and what to remove, of the values that are to be stored and the fields that were changed.

        Never a counter, never an attribute that the entity does not know. Index keys are compared with what is stored,
        and what `evolve` made of an older shape is written with the rest.
        """
        spec, stored = self.codec.spec, self.stored
        evolved = self.codec.evolved(stored)
        item = self.codec.written(values, changed if evolved is stored else spec.fields, stored)
        touched = {spec.fields[name].stored for name in changed}
        if spec.table.envelope and any(spec.fields[name].kind == "plain" for name in changed):
            touched.add(spec.table.envelope)
        if evolved is not stored:
            touched |= {name for name, value in evolved.items() if stored.get(name) != value}
        exact = {name for name in spec.exact_attributes if stored.get(name) != item.get(name)}
        written = (touched | exact) - spec.count_attributes
        sets = {name: value for name, value in item.items() if name in written}
        removes = {name for name in written & spec.known_attributes if name in stored and name not in item}
        if evolved is not stored:
            removes |= {name for name in stored if name not in evolved and name not in item}
        return sets, removes

    def after(self, sets: Item, removes: Set[str]) -> Item:
        """The whole item once it was changed, with what the entity does not know."""
        return {name: value for name, value in self.stored.items() if name not in removes} | sets

    def check(self, entity: Entity) -> None:
        """Refuse what an update can not change: the primary key, and numbers that other items keep."""
        spec = self.codec.spec
        changed = [name for name in spec.primary.fields if getattr(entity, name) != getattr(self.entity, name)]
        key = self.codec.key(entity.__dict__) if changed else {}
        if any(self.stored[name] != value for name, value in key.items()):
            problem = "it is part of the primary key; use move()"
            raise InvalidValue("key-changed", f"{spec.name}.{changed[0]}", problem, field=changed[0])
        for each in spec.counts:
            if getattr(entity, each.name) != getattr(self.entity, each.name):
                problem = "the number is kept by the items that it counts"
                raise InvalidValue("count-changed", f"{spec.name}.{each.name}", problem, field=each.name)


def has_consequences(spec: EntitySpec) -> bool:
    return bool(spec.uniques or spec.derived or spec.counters or spec.parents)


def unchanged(
    spec: EntitySpec, stored: Item, changed: Set[str], refused: Refusal, *, whole: bool = False
) -> list[Requirement]:
    """The item is as it was read: by its version, or by the values that the write relies on."""
    missing = Requirement(
        there(spec),
        lambda found: not is_there(spec, found),
        lambda found: refused(NotFound, "primary", found),
    )

    def stale(found: Item | None) -> Refused:
        return refused(StaleVersion, "version", found)

    def same(name: str) -> Requirement:
        value = stored.get(name)
        return Requirement(equals(name, value), lambda found: found is not None and found.get(name) != value, stale)

    return [missing, *map(same, _relied_on(spec, frozenset(changed), whole=whole))]


@lru_cache(maxsize=4096)
def _relied_on(spec: EntitySpec, changed: frozenset[str], *, whole: bool) -> Sequence[str]:
    """The attributes that must be as they were read, where these are changed."""
    return sorted(_relied_on_attributes(spec, changed, whole=whole))


def _relied_on_attributes(spec: EntitySpec, changed: Set[str], *, whole: bool) -> Set[str]:
    counts = spec.count_attributes & changed
    version = spec.by_kind.get("version")
    own = _own(spec)
    if version is not None:
        # A version alone does not tell an item from another that was created under its key since.
        created = spec.by_kind.get("created")
        same: Set[str] = {created.stored} if created else own if _follows_more(spec) else set()
        return {version.stored} | counts | ((_guarded(spec) | _parts_beside(spec, changed) | same) & own)
    if spec.table.envelope:
        return own | counts | {spec.table.envelope}
    if whole or has_consequences(spec):
        return own | counts
    return (own & changed) | _parts_beside(spec, changed) | counts


def _follows_more(spec: EntitySpec) -> bool:
    """Whether something follows from an item of which it is not known which fields it is made of."""
    return bool(spec.derived or spec.counters or spec.parents)


@cache
def _own(spec: EntitySpec) -> frozenset[str]:
    """The attributes of fields that an update may change."""
    return frozenset(field.stored for field in spec.fields.values() if _can_change(spec, field.name))


@cache
def _guarded(spec: EntitySpec) -> frozenset[str]:
    """The attributes that guards are made of."""
    names = {name for each in spec.uniques for name in (*guard_fields(each), *each.carries, each.when)}
    return frozenset(spec.fields[name].stored for name in names if name is not None)


def _can_change(spec: EntitySpec, name: str) -> bool:
    """Whether a field is an attribute of its own that an update may change."""
    field = spec.fields[name]
    if spec.table.envelope and not field.on_top and field.stored not in spec.key_attributes:
        return False
    return field.kind not in ("count", "updated") and name not in spec.primary.fields


def _parts_beside(spec: EntitySpec, changed: Set[str]) -> set[str]:
    """The attributes of fields that stand in one index key with a changed one: the key is only right if they hold."""
    return {name for attributes, own in _places(spec) if not changed.isdisjoint(attributes) for name in own}


@cache
def _places(spec: EntitySpec) -> tuple[tuple[frozenset[str], frozenset[str]], ...]:
    """For each place in an index: all attributes that have to do with it, and those that an update may change."""
    places = []
    for placement in spec.placements.values():
        fields = (*placement.fields, *((placement.when,) if placement.when else ()))
        stored = frozenset(spec.fields[name].stored for name in fields)
        changing = frozenset(spec.fields[name].stored for name in fields if _can_change(spec, name))
        places.append((stored | {part.attribute.name for part in placement.parts}, changing))
    return tuple(places)


# Stamps


def moment(now: datetime, times: TimePrecision) -> datetime:
    """The time as it will be read back."""
    return now.replace(microsecond=0 if times == "seconds" else now.microsecond // 1000 * 1000)


def creation_stamps(entity: Entity, now: datetime) -> dict[str, object]:
    """Created, updated and version of a new item, and numbers that nothing adds to yet; given stamps stand."""
    spec = entity.spec
    stamps: dict[str, object] = {}
    for kind in ("created", "updated"):
        field = spec.by_kind.get(kind)
        if field is not None and field.name not in entity.model_fields_set:
            stamps[field.name] = moment(now, spec.table.times)
    version = spec.by_kind.get("version")
    if version is not None:
        stamps[version.name] = 1
    return stamps | {field.name: 0 for field in spec.counts}


def update_stamps(spec: EntitySpec, stored: Item, now: datetime) -> dict[str, object]:
    """The time of the change, and the version after the stored one; absent counts as 0."""
    stamps: dict[str, object] = {}
    if updated := spec.by_kind.get("updated"):
        stamps[updated.name] = moment(now, spec.table.times)
    if version := spec.by_kind.get("version"):
        stamps[version.name] = whole_number(stored.get(version.stored)) + 1
    return stamps


def settle(entity: Entity, values: Mapping[str, object], item: Item, action: Action) -> None:
    """The write went through: the entity shows it, and remembers what is stored now."""
    if action.adds:
        item = {**item, **{name: added(item.get(name), amount) for name, amount in action.adds.items()}}
    entity.__dict__.update(values)
    for field in entity.spec.counts:
        if field.stored in item:
            entity.__dict__[field.name] = whole_number(item[field.stored])
    remember(entity, item)
