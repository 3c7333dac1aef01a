"""What an update changes, compared with the item as it was read."""

from collections.abc import Container, Hashable, Mapping, Set
from types import MappingProxyType
from typing import Any, TypeVar

from pydantic import BaseModel

from keyplan.data.codec.entities import EntityCodec, codec_of, set_stored_item
from keyplan.data.codec.settled import settled
from keyplan.data.codec.values import AttributeValue, Item, integer_of
from keyplan.data.expressions.evaluation import same_value
from keyplan.data.writes.actions import Action, incremented
from keyplan.data.writes.stamps import counter_assigned
from keyplan.design import Entity, InvalidValue
from keyplan.design.entities.large_values import NotLoaded, is_unread, is_uploaded

E = TypeVar("E", bound=Entity)


class Baseline:
    """An item as it was read.

    Only what the caller changed counts as a change. Differences between the stored item and how it would be encoded
    today (an older form, defaults, another spelling of a number) don't count.
    """

    def __init__(
        self,
        codec: EntityCodec[Any],
        stored: Item,
        now: Entity,
        as_stored: Mapping[str, AttributeValue | None] = MappingProxyType({}),
    ) -> None:
        self.codec = codec
        self.stored = stored
        self._as_stored = as_stored
        self.entity: Entity = codec.decode(stored)
        # A default may differ each time, such as the present moment, so what was read is taken over.
        if len(_given(self.entity)) < len(codec.spec.fields):
            for name in codec.spec.fields.keys() - self.entity.model_fields_set - now.model_fields_set:
                if isinstance(now.__dict__[name], Hashable):
                    self.entity.__dict__[name] = now.__dict__[name]

    def changed(self, entity: Entity) -> set[str]:
        """The names of the fields whose values changed, without counters."""
        before, fields = self.entity.__dict__, self.codec.spec.fields
        after, loose = entity.__dict__, self.codec.loose_fields
        differing = [name for name in fields if name in loose or before[name] != after[name]]
        changed = {
            name
            for name in differing
            if fields[name].kind != "count" and self._stored_otherwise(name, before[name], after[name])
        }
        if self._as_stored:
            old = self.codec.evolved(self.stored)
            changed |= {
                name for name, new in self._as_stored.items() if not _is_same(old.get(fields[name].stored), new)
            }
        if self.codec.spec.large:
            check_loaded(entity, changed)
            # A value that was written to object storage has a new name, even if it is the same value.
            changed |= {each.name for each in self.codec.spec.large if is_uploaded(after[each.name])}
        return changed

    def _stored_otherwise(self, name: str, before: object, now: object) -> bool:
        """Whether two different values are stored differently; differences below the stored precision aren't."""
        codec = self.codec
        if name in codec.direct_fields:
            return True
        encoded = None if now is None else codec.encode_value(name, now)
        try:
            return encoded != (None if before is None else codec.encode_value(name, before))
        except InvalidValue:
            return True  # the old value can't be encoded, so it is not equal

    def changes(self, values: Mapping[str, object], changed: Set[str]) -> tuple[Item, set[str]]:
        """The attributes to set and to remove, given the new values and the names of changed fields.

        Counters, the primary key and attributes that the entity doesn't know are left alone. Index keys are compared
        with the stored ones, and what `evolve` converted is written too.
        """
        spec, stored = self.codec.spec, self.stored
        evolved = self.codec.evolved(stored)
        item = self.codec.encode_changed(values, changed if evolved is stored else spec.fields, stored)
        for name, attribute in self._as_stored.items():
            if attribute is not None:
                item[spec.fields[name].stored] = attribute
            else:
                item.pop(spec.fields[name].stored, None)
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
        """The whole item after the update, with attributes that the entity doesn't know."""
        return {name: value for name, value in self.stored.items() if name not in removes} | sets

    def check(self, entity: Entity) -> None:
        """Raise `InvalidValue` if the primary key or a counter was changed, which an update can't write."""
        spec, before, after = self.codec.spec, self.entity.__dict__, entity.__dict__
        changed = [name for name in spec.primary.fields if after[name] != before[name]]
        if changed and any(self.stored[name] != value for name, value in self.codec.key(after).items()):
            problem = "This field is part of the primary key, which an update can't change. Use move()."
            raise InvalidValue("key-changed", f"{spec.name}.{changed[0]}", problem, field=changed[0])
        if spec.counts:
            self.check_counts(entity)

    def check_counts(self, entity: Entity) -> None:
        """Raise `InvalidValue` if a counter was changed."""
        spec = self.codec.spec
        for each in spec.counts:
            if getattr(entity, each.name) != getattr(self.entity, each.name):
                raise counter_assigned(spec, each.name)


def _is_same(one: AttributeValue | None, other: AttributeValue | None) -> bool:
    return one is other or same_value(one, other)


_given = BaseModel.model_fields_set.__get__  # the set itself, where an entity would make a copy for its caller


def check_loaded(entity: Entity, names: Container[str] | None = None) -> None:
    """Raise `NotLoaded` if a large value has to be written, one of these fields, and was not read."""
    for field in entity.spec.large:
        if (names is None or field.name in names) and is_unread(entity.__dict__[field.name]):
            raise NotLoaded(entity.spec.name, field.name, entity.key_values)


def settle(entity: E, values: Mapping[str, object], item: Item, action: Action) -> E:
    """After the write: update the entity and its stored item to what was written. Returns the entity."""
    if action.adds:
        item = {**item, **{name: incremented(item.get(name), amount) for name, amount in action.adds.items()}}
    entity.__dict__.update(values)
    hold_stored(entity, values, item)
    for field in entity.spec.counts:
        if field.stored in item:
            entity.__dict__[field.name] = integer_of(item[field.stored])
    set_stored_item(entity, item)
    return entity


def hold_stored(entity: E, values: Mapping[str, object], item: Item) -> E:
    """Give an entity these values as they are stored in its item. Returns the entity."""
    entity.__dict__.update(settled(codec_of(type(entity)), values, item))
    return entity
