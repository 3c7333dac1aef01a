"""Everything that a design declares about an entity, computed once when its class is created."""

from dataclasses import replace
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Literal, get_args, get_origin

from pydantic.fields import FieldInfo

from keyplan.design.entities.checks import check_fields, check_keys, check_shared
from keyplan.design.entities.effects import BelongsTo, Counter, Derived, Unique
from keyplan.design.entities.joint_limits import JointLimit, joint_limits_of
from keyplan.design.entities.large_checks import check_large
from keyplan.design.entities.large_values import large_of
from keyplan.design.entities.limit_checks import EntityLimits
from keyplan.design.entities.refusals import Refusal
from keyplan.design.entities.specs import FieldSpec, KeyPart, KeySpec
from keyplan.design.entities.vectors import VectorSpec, bind_vectors
from keyplan.design.errors import DesignError, Unusable, recorded
from keyplan.design.fields.declarations import (
    NoSeparator,
    OnTop,
    Stored,
    access_of,
    kind_of,
    label_of,
    markers,
    public_name,
    stored_name,
)
from keyplan.design.keys.formats import Format, check_invertible, choices, format_of, inverted, sharded
from keyplan.design.keys.templates import Slot, Template, parse
from keyplan.design.tables.attributes import KeyAttribute
from keyplan.design.tables.tables import Index, Key, Placement, Table
from keyplan.design.tables.vector_indexes import VectorPlacement
from keyplan.design.values.absence import when_absent
from keyplan.design.values.annotations import KEY_TYPES, scalar, without_none
from keyplan.design.words import Claims, Expected, checked_claims

if TYPE_CHECKING:
    from keyplan.design.entities.entity import Entity

DECLARATIONS = (Key, Placement, VectorPlacement, Unique, Derived, Counter, BelongsTo)
"""What can be declared in an entity besides its fields."""


class EntitySpec:
    """Everything that a design declares about an entity."""

    def __init__(
        self,
        entity: "type[Entity]",
        table: Table,
        type_name: str | None,
        noun: str | None = None,
        refusal: Refusal | None = None,
        expected: Expected | None = None,
        claims: Claims = (),
    ) -> None:
        self.entity = entity
        self.expected = expected
        """How many items there will be, and how large, if that is known."""
        self.noun = noun or _words(entity.__name__)
        """The word for one item, in messages."""
        self.refusal = refusal
        """The error that callers get when they create an item that already exists."""
        self.table = table
        self.type = None if type_name is None else str.__str__(type_name)  # also for members of a StrEnum
        self.name = entity.__name__
        self.broken: set[str] = set()
        """The declarations that have errors, which were recorded."""
        if table.broken:
            raise Unusable(self.name)
        with recorded():
            self._check_type()
        self.fields = {name: self._field(name, info) for name, info in entity.declared_fields.items()}
        self.claims: tuple[tuple[str, ...], ...] = ()
        """The fields, or combinations of fields, that no two items may share."""
        with recorded():
            self.claims = checked_claims(self.name, claims, self.fields)
        joint: list[JointLimit] = []
        with recorded():
            joint = joint_limits_of(entity, entity.declared_fields)
        self.limits = EntityLimits(self.name, entity.declared_fields, joint)
        check_fields(self)
        declared = dict(self._declared)
        primary = declared.pop("primary", None)
        if not isinstance(primary, Key):
            raise DesignError("no-key", self.name, "it has no primary key", 'Declare primary = key("...", "...").')
        self.primary = self._key("primary", primary, None, table.hash, table.range, None)
        self.placements: dict[str, KeySpec] = {}
        self.vectors: dict[str, VectorSpec] = {}
        """The vector indexes that its items are in."""
        self.uniques: list[Unique] = []
        self.derived: list[Derived[Entity]] = []
        self.counters: list[Counter[Entity]] = []
        self.parents: list[BelongsTo[Entity]] = []
        for name, value in declared.items():
            self.broken.add(name)
            with recorded():
                self._add(name, value)
                self.broken.remove(name)
        self.by_kind = {field.kind: field for field in self.fields.values() if field.kind != "plain"}
        self.identified_by_type = False
        """Whether only the type attribute distinguishes its items from another entity's or from guards. Set by the
        design."""
        check_keys(self)
        self.large = tuple(field for field in self.fields.values() if field.large is not None)
        """The fields whose values may be larger than an item."""
        check_large(self)

    def check_usable(self, name: str) -> None:
        """Raise `Unusable` if a declaration has errors."""
        if name in self.broken:
            raise Unusable(f"{self.name}.{name}")

    def _check_type(self) -> None:
        if self.type is not None and self.table.type_attribute is None:
            raise DesignError(
                "no-type-attribute",
                self.name,
                f"{self.table.name} has no type attribute, so type={self.type!r} would be lost",
                "Give the table type_attribute=..., or remove the type.",
            )

    @cached_property
    def _declared(self) -> dict[str, object]:
        """The declarations of the class and its bases. A class overrides its bases."""
        found: dict[str, object] = {}
        for base in reversed(self.entity.__mro__):
            found |= {name: value for name, value in vars(base).items() if isinstance(value, DECLARATIONS)}
        return found

    def _field(self, name: str, info: FieldInfo) -> FieldSpec:
        annotation, optional = without_none(info.annotation)
        kind, marked = kind_of(info), markers(info)
        given = next((mark.name for mark in marked if isinstance(mark, Stored)), None)
        return FieldSpec(
            name=name,
            stored=given or stored_name(name, self.table.case),
            annotation=annotation,
            optional=optional,
            kind=kind,
            no_separator=any(isinstance(mark, NoSeparator) for mark in marked),
            on_top=kind != "plain" or any(isinstance(mark, OnTop) for mark in marked),
            absent=0 if kind in ("version", "count") and info.is_required() else when_absent(info),
            access=access_of(info),
            public=public_name(name, info),
            label=label_of(name, info),
            help=info.description,
            large=large_of(info),
        )

    def _add(self, name: str, value: object) -> None:
        if isinstance(value, Placement):
            index = self.table.by_name.get(value.index.name)
            if value.index.broken:
                raise Unusable(f"{self.name}.{name}")
            if index is not value.index:
                raise DesignError(
                    "foreign-index",
                    f"{self.name}.{name}",
                    f"index {value.index.name} belongs to table {value.index.table_name}",
                    f"Use an index of {self.table.name}.",
                )
            self._check_when(name, value.when)
            placed = self._key(name, value.key, index, index.hash, index.range, value.when)
            check_shared((self.primary, *self.placements.values()), placed)
            self.placements[name] = placed
        elif isinstance(value, VectorPlacement):
            self.vectors[name] = bind_vectors(self, name, value)
        elif isinstance(value, Unique):
            self._check_when(name, value.when)
            self._bind_guard(name, value)
            self.uniques.append(value)
        elif isinstance(value, Derived):
            self.derived.append(value)
        elif isinstance(value, Counter):
            self.counters.append(value)
        elif isinstance(value, BelongsTo):
            self.parents.append(value)

    def _check_when(self, name: str, when: str | None) -> None:
        if when is not None and when not in self.fields:
            raise DesignError(
                "no-such-field", f"{self.name}.{name}", f"when={when!r} isn't a field", "Use a field of the entity."
            )

    def _bind_guard(self, name: str, guard: Unique) -> None:
        table: object = guard.given_table or self.table
        if not isinstance(table, Table):
            raise DesignError("not-a-table", f"{self.name}.{name}", f"{table!r} isn't a table", "Use the Table itself.")
        guard.table = table
        guard.hash = self._guard_template(guard.hash_text, f"{self.name}.{name}")
        if guard.table.range:
            guard.range = self._guard_template(guard.range_text or guard.hash_text, f"{self.name}.{name}")
        for field in guard.carries:
            if field not in self.fields:
                raise DesignError(
                    "no-such-field",
                    f"{self.name}.{name}",
                    f"carries {field!r}, which isn't a field",
                    "Use a field of the entity.",
                )

    def _guard_template(self, text: str, place: str) -> Template:
        template = self.template(text, place)
        for slot in template.slots:
            if slot.shards is not None:
                raise DesignError(
                    "shard-in-guard",
                    f"{place}.{slot.field}",
                    "a guard is one item, so a shard spreads nothing",
                    f"Use {{{slot.field}}}.",
                )
        return template

    def _key(
        self,
        name: str,
        key: Key,
        index: Index | None,
        hash_: tuple[KeyAttribute, ...],
        range_: tuple[KeyAttribute, ...],
        when: str | None,
    ) -> KeySpec:
        place = f"{self.name}.{name}"
        too_few = bool(range_) and not key.range and index is None
        if len(key.hash) != len(hash_) or len(key.range) > len(range_) or too_few:
            wanted = ", ".join(attribute.name for attribute in hash_ + range_)
            raise DesignError(
                "key-parts", place, "the key has the wrong number of parts", f"Give one part for each of: {wanted}."
            )
        if index is not None and len(key.range) < len(range_) and not self._is_primary(range_):
            missing = ", ".join(attribute.name for attribute in range_[len(key.range) :])
            wanted = ", ".join(attribute.name for attribute in hash_ + range_)
            raise DesignError("key-parts", place, f"no template for {missing}", f"Give one part for each of: {wanted}.")
        hash_parts = tuple(self._part(a, text, place) for a, text in zip(hash_, key.hash, strict=True))
        texts = key.range or tuple("" for _ in range_)
        range_parts = tuple(
            self._part(a, text, place) if text else self._primary_part(a) for a, text in zip(range_, texts, strict=True)
        )
        return KeySpec(name, place, index, hash_parts, range_parts, when)

    def _is_primary(self, attributes: tuple[KeyAttribute, ...]) -> bool:
        names = {part.attribute.name for part in self.primary.parts}
        return all(attribute.name in names for attribute in attributes)

    def _primary_part(self, attribute: KeyAttribute) -> KeyPart:
        return next(part for part in self.primary.parts if part.attribute.name == attribute.name)

    def _part(self, attribute: KeyAttribute, text: str, place: str) -> KeyPart:
        if attribute.type == "S":
            return KeyPart(attribute, self.template(text, place), None)
        parts = parse(text, place)
        if len(parts) != 1 or isinstance(parts[0], str) or parts[0] != Slot(parts[0].field):
            raise DesignError(
                "key-type",
                place,
                f"{attribute.name} is of type {attribute.type}, and a template is text",
                "Give a single field: {field}.",
            )
        field = self._known(parts[0].field, place)
        if field.kind in ("count", "version") and field.stored != attribute.name:
            raise self._number_in_key(field, place)
        kind = int if field.kind == "ttl" else scalar(field.annotation)
        if kind not in KEY_TYPES[attribute.type]:
            raise DesignError(
                "key-type",
                f"{place}.{field.name}",
                f"{attribute.name} is of type {attribute.type}, and the field isn't",
                "Use a field of that type, or make the key attribute an S.",
            )
        return KeyPart(attribute, None, field.name, (datetime,) if field.kind == "ttl" else KEY_TYPES[attribute.type])

    def _known(self, field: str, place: str) -> FieldSpec:
        if field not in self.fields:
            known = ", ".join(self.fields)
            raise DesignError("no-such-field", place, f"{field!r} isn't a field", f"The fields are: {known}.")
        return self.fields[field]

    def template(self, text: str, place: str) -> Template:
        """A template over this entity's fields."""
        parts = parse(text, place)
        formats: dict[Slot, Format] = {}
        for part in parts:
            if isinstance(part, str):
                continue
            field = self._known(part.field, place)
            if field.kind in ("count", "version"):
                raise self._number_in_key(field, place)
            chosen = self._format(field, part, f"{place}.{part.field}")
            kind = scalar(field.annotation)
            formats[part] = replace(chosen, kinds=(kind,) if isinstance(kind, type) else ())
        return Template(text, parts, formats, place)

    def _number_in_key(self, field: FieldSpec, place: str) -> DesignError:
        return DesignError(
            "number-in-key",
            f"{place}.{field.name}",
            "the store changes this number without writing the item, so the key would become outdated",
            f"Give the index a numeric key attribute with the field's name: {field.stored}:N.",
        )

    def _format(self, field: FieldSpec, slot: Slot, place: str) -> Format:
        annotation, times = field.annotation, self.table.times
        if slot.shards is not None:
            return sharded(annotation, slot.shards, place, times)
        if slot.inverted:
            check_invertible(annotation, place)
        if get_origin(annotation) is Literal and not slot.spec:
            return choices({value: value for value in get_args(annotation)}, place)
        chosen = format_of(annotation, slot.spec, place, times, fold=slot.fold, bare=field.no_separator)
        return inverted(chosen) if slot.inverted else chosen

    def not_in(self, index: Index) -> list[str]:
        """The attributes of an item that aren't projected into an index."""
        if index.projection.type == "ALL":
            return []
        keys = self.table.hash + self.table.range + index.attributes
        held = {*index.projection.attributes, *(each.name for each in keys)}
        own = [field.stored for field in self.fields.values() if field.on_top or not self.table.envelope]
        beside = [name for name in (self.table.envelope, self.table.type_attribute if self.type else None) if name]
        return [name for name in (*own, *beside) if name not in held]

    @cached_property
    def counts(self) -> tuple[FieldSpec, ...]:
        """The `Count` fields, which are kept up to date by writes of other items."""
        return tuple(field for field in self.fields.values() if field.kind == "count")

    @cached_property
    def count_attributes(self) -> frozenset[str]:
        """The stored attributes of the `Count` fields."""
        return frozenset(field.stored for field in self.counts)

    @cached_property
    def keys(self) -> tuple[KeySpec, ...]:
        """The primary key and the keys in indexes."""
        return (self.primary, *self.placements.values())

    @cached_property
    def key_attributes(self) -> dict[str, KeyPart]:
        """The stored attributes of all keys, with where their values come from."""
        return {part.attribute.name: part for spec in self.keys for part in spec.parts}

    @cached_property
    def exact_attributes(self) -> frozenset[str]:
        """The attributes whose stored values never differ from what an update would write: index keys and the type."""
        return frozenset((*self.key_attributes, *filter(None, (self.table.type_attribute,)))) - {*self.table.key_names}

    @cached_property
    def known_attributes(self) -> frozenset[str]:
        """The stored attributes of all fields and keys."""
        return frozenset((*(field.stored for field in self.fields.values()), *self.key_attributes))

    def access(self, declared: Key | Placement) -> KeySpec:
        """The key behind `Post.primary` or `Post.by_author`."""
        for name, value in self._declared.items():
            if value is declared:
                self.check_usable(name)
                return self.primary if name == "primary" else self.placements[name]
        raise DesignError("not-its-key", self.name, "the key isn't declared in this entity", "Use one that is.")

    def may_be_mistaken_for(self, other: "EntitySpec") -> bool:
        """Whether an item could belong to either entity, by its primary key and its type attribute."""
        if self.table.type_attribute and self.type and other.type and self.type != other.type:
            return False
        return self.may_share_keys_with(other)

    def may_share_keys_with(self, other: "EntitySpec") -> bool:
        """Whether a primary key could belong to either entity."""
        for mine, theirs in zip(self.primary.parts, other.primary.parts, strict=True):
            if mine.template and theirs.template and not mine.template.may_equal(theirs.template):
                return False
        return True


def _words(name: str) -> str:
    """The name of a class in words: `TeamMember` becomes `team member`."""
    return "".join(f" {letter.lower()}" if letter.isupper() else letter for letter in name).strip()
