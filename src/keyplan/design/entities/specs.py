"""What a design declares about a field and about a key."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import NamedTuple

from keyplan.design.entities.large_values import Large
from keyplan.design.errors import DesignError, InvalidValue
from keyplan.design.fields.declarations import FieldAccess, FieldKind
from keyplan.design.keys.formats import Format
from keyplan.design.keys.templates import Slot, Template
from keyplan.design.tables.attributes import KeyAttribute
from keyplan.design.tables.tables import Index
from keyplan.design.values.absence import NOTHING


@dataclass(frozen=True)
class FieldSpec:
    """A field: how it is stored, and how it is shown."""

    name: str
    stored: str
    annotation: object
    """The type without `None` and without markers."""
    optional: bool
    kind: FieldKind
    no_separator: bool
    on_top: bool
    """Whether it is also stored outside the envelope, where conditions can read it."""
    absent: object = NOTHING
    """The value if the attribute is missing and there is no default."""
    access: FieldAccess = "open"
    """Who may set and see it."""
    public: str = ""
    """The name that callers use for it."""
    label: str = ""
    """Its label in forms and messages."""
    help: str | None = None
    """Its help text in forms."""
    large: Large | None = None
    """How it is stored, if it may be larger than an item."""


@dataclass(frozen=True)
class KeyPart:
    """One attribute of a key and where its value comes from: a template, or the field itself for N and B keys."""

    attribute: KeyAttribute
    template: Template | None
    field: str | None
    kinds: tuple[type, ...] = ()
    """The classes of the field's values, for N and B keys."""

    @cached_property
    def fields(self) -> tuple[str, ...]:
        """The fields that its value is made of."""
        if self.template is not None:
            return self.template.fields
        return (self.field,) if self.field else ()

    def kinds_of(self, field: str) -> tuple[type, ...]:
        """The classes of values that a field surely takes."""
        return self.kinds if self.template is None else self.template.by_field[field][1].kinds

    def check(self, place: str, field: str, value: object) -> None:
        """Refuse a value of another type than the field's with `InvalidValue`."""
        if value is None or isinstance(value, StandIn):
            return
        if self.template is not None:
            self.template.piece(field, value)
        elif isinstance(value, bool) or not isinstance(value.value if isinstance(value, Enum) else value, self.kinds):
            names = " or ".join(kind.__name__ for kind in self.kinds)
            raise InvalidValue("wrong-type", f"{place}.{field}", f"{value!r} isn't of type {names}", field=field)

    @property
    def source(self) -> str:
        """Where its value comes from, as it was declared."""
        return self.template.text if self.template is not None else f"{{{self.field}}}"


class StandIn:
    """Stands in for a value of a key while a design is checked."""


class ComputedPart(NamedTuple):
    """A date bucket or a shard in a hash key."""

    template: Template
    slot: Slot
    format: Format


@dataclass(frozen=True)
class KeySpec:
    """A key of an entity: its primary key, or its key in an index."""

    name: str
    place: str
    """Where it was declared: `Post.by_author`."""
    index: Index | None
    hash: tuple[KeyPart, ...]
    range: tuple[KeyPart, ...]
    when: str | None = None

    @cached_property
    def parts(self) -> tuple[KeyPart, ...]:
        return self.hash + self.range

    @cached_property
    def fields(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(field for part in self.parts for field in part.fields))

    @cached_property
    def computed(self) -> Mapping[str, "ComputedPart"]:
        """The fields that are in the hash key as a date bucket or a shard only."""
        templates = [part.template for part in self.hash if part.template is not None]
        parts = [ComputedPart(each, slot, each.formats[slot]) for each in templates for slot in each.slots]
        whole = {part.field for part in self.hash} | {part.slot.field for part in parts if not part.format.computed}
        return {part.slot.field: part for part in parts if part.slot.field not in whole}

    @cached_property
    def partition_fields(self) -> tuple[str, ...]:
        """The fields that a query needs: those of the hash key, without those that are in it as a shard only."""
        fields = dict.fromkeys(name for part in self.hash for name in part.fields)
        return tuple(name for name in fields if name not in self.computed or self.computed[name].slot.shards is None)

    @cached_property
    def range_fields(self) -> tuple[str, ...]:
        """The fields of the sort key whose values the hash key doesn't determine."""
        fields = dict.fromkeys(name for part in self.range for name in part.fields)
        return tuple(name for name in fields if name in self.computed or name not in self.partition_fields)

    @cached_property
    def range_buckets(self) -> frozenset[str]:
        """The fields that are in the sort key as a date bucket only."""
        return frozenset(
            name for part in self.range if part.template is not None for name in part.template.computed_slots
        )

    @cached_property
    def field_set(self) -> frozenset[str]:
        return frozenset(self.fields)

    @cached_property
    def _checks(self) -> Mapping[str, tuple[tuple[type, ...], KeyPart]]:
        """For each field, the classes of values that need no check, and the part of the key that checks others."""
        return {name: (part.kinds_of(name), part) for part in reversed(self.parts) for name in part.fields}

    def check_values(self, values: Mapping[str, object]) -> None:
        """Refuse values of another type than their field's with `InvalidValue`."""
        checks = self._checks
        for name, value in values.items():
            kinds, part = checks[name]
            if type(value) not in kinds:
                part.check(self.place, name, value)

    def check_all(self, values: Mapping[str, object]) -> None:
        """Refuse missing and unknown fields, and values of another type than their field's."""
        if values.keys() == self.field_set:
            self.check_values(values)
            return
        missing = [name for name in self.fields if name not in values]
        unknown = [name for name in values if name not in self.fields]
        problems = [f"no value for {', '.join(missing)}"] if missing else []
        problems += [f"{', '.join(unknown)} isn't in the key"] if unknown else []
        remedy = f"The fields of the key are: {', '.join(self.fields) or 'none'}."
        raise DesignError("key-fields", self.place, ", and ".join(problems), remedy)
