"""What a write changes in the item itself, and what it relies on there."""

from collections.abc import Hashable, Mapping, Set
from typing import Any

from keyplan.data.codec.entities import EntityCodec, set_stored_item
from keyplan.data.codec.values import Item, integer_of
from keyplan.data.writes.actions import Action, incremented
from keyplan.design import Entity, InvalidValue


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
        if len(self.entity.model_fields_set) < len(codec.spec.fields):
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
        if name in codec.direct_fields:
            return True
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
        item = self.codec.encode_changed(values, changed if evolved is stored else spec.fields, stored)
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


def settle(entity: Entity, values: Mapping[str, object], item: Item, action: Action) -> None:
    """The write went through: the entity shows it, and remembers what is stored now."""
    if action.adds:
        item = {**item, **{name: incremented(item.get(name), amount) for name, amount in action.adds.items()}}
    entity.__dict__.update(values)
    for field in entity.spec.counts:
        if field.stored in item:
            entity.__dict__[field.name] = integer_of(item[field.stored])
    set_stored_item(entity, item)
