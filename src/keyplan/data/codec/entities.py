"""The codec of an entity: its attributes, keys, index keys and envelope, and which items are its own."""

from collections.abc import Container, Iterable, Mapping, Sequence
from copy import deepcopy
from typing import Any, Generic, TypeVar

from pydantic import ValidationError

from keyplan.data import compat
from keyplan.data.codec.codegen import UNEXPECTED
from keyplan.data.codec.decoding import (
    FieldSource,
    build_decoder,
    build_list_decoder,
    build_recognizer,
    timed_fields,
)
from keyplan.data.codec.encoding import build_encoder
from keyplan.data.codec.envelopes import pack, restored, unpack
from keyplan.data.codec.key_codec import KeyCodec
from keyplan.data.codec.large import large_codec
from keyplan.data.codec.sizes import (
    LONGEST_HASH,
    LONGEST_RANGE,
    MAXIMUM_ITEM,
    is_unicode,
    json_size,
    size_with_local_indexes,
    value_size,
)
from keyplan.data.codec.times import times_in
from keyplan.data.codec.unreadable import unreadable_item
from keyplan.data.codec.values import AttributeValue, Encode, Item, ValueCodec, index_key_codec, ttl_codec, value_codec
from keyplan.data.errors import StoredDataError
from keyplan.design import Entity, InvalidValue, plain_type
from keyplan.design.entities.specs import FieldSpec
from keyplan.design.keys.templates import Template
from keyplan.design.values.absence import NOTHING

E = TypeVar("E", bound=Entity)

DELETING = "keyplanDeleting"
"""The attribute that marks an item whose cascading delete has begun; no item can be created under it."""


class EntityCodec(Generic[E]):
    """Encodes and decodes the items of one entity."""

    def __init__(self, entity: type[E]) -> None:
        self.entity = entity
        self.spec = spec = entity.spec
        self._envelope = spec.table.envelope
        self.ttl = spec.by_kind["ttl"].stored if "ttl" in spec.by_kind else None
        """The attribute with the time to live, if the entity has one."""
        # An item of this size fits, whatever its entries in local indexes contain.
        self._surely_fits = MAXIMUM_ITEM // (1 + sum(index.local for index in spec.table.by_name.values()))
        self._absent = {name: field.absent for name, field in spec.fields.items() if field.absent is not NOTHING}
        self._codecs = {name: self._codec(field) for name, field in spec.fields.items()}
        keyed = {name: part for name, part in spec.key_attributes.items() if part.template is not None}
        self.keys = KeyCodec(spec, self.encode_value)
        self.key = self.keys.primary
        """The primary key for an entity's values."""
        # A field whose attribute is a key attribute is stored by the key's template, and decoded with it.
        self._from_keys: list[tuple[str, str, Template]] = []
        self._templates: dict[str, Template] = {}
        self._tagged: list[tuple[str, str, str]] = []
        self._others: list[tuple[str, str, ValueCodec]] = []
        for name, field in spec.fields.items():
            codec = self._codecs[name]
            if field.stored in keyed:
                template = keyed[field.stored].template
                assert template is not None
                self._from_keys.append((name, field.stored, template))
                self._templates[name] = template
            elif self._envelope and not field.on_top:
                continue
            elif codec.tag is not None:
                self._tagged.append((name, field.stored, codec.tag))
            else:
                self._others.append((name, field.stored, codec))
        large = {field.name for field in spec.large}
        self.loose_fields = frozenset(name for name, codec in self._codecs.items() if codec.tag is None) - large
        """Fields whose values can be equal in Python and be stored differently, such as lists with True or 1."""
        self.direct_fields = frozenset(name for name, codec in self._codecs.items() if codec.direct)
        """Fields whose values are stored as they are, so that different values are always stored differently."""
        self._encoders = [(name, stored, self._codecs[name]) for name, stored, _ in self._tagged + self._others]
        self._native_keys = {name for name, stored, _ in self._encoders if stored in spec.key_attributes}
        self._write_quickly = build_encoder(spec, self._encoders, self.keys.required, self.keys.placement)
        self._write_keys = build_encoder(spec, (), self.keys.required, self.keys.placement)
        self.recognizes = build_recognizer(spec)
        """Whether an item is of this entity, by its type attribute and the form of its key."""
        self.evolves = entity.evolve.__func__ is not Entity.evolve.__func__  # type: ignore[attr-defined]  # classmethods
        """Whether its items may be stored in an older form."""
        self.sources = {n: FieldSource(f, self._codecs[n], self._templates.get(n)) for n, f in spec.fields.items()}
        """Where each field is stored."""
        quickly = not self.evolves and not self._envelope
        self._read_quickly = build_decoder(entity, self.sources) if quickly else None
        self._read_list_quickly = build_list_decoder(entity, self.sources, without=DELETING) if quickly else None

    def _codec(self, field: FieldSpec) -> ValueCodec:
        if field.large is not None:
            return large_codec(field)
        codec = ttl_codec() if field.kind == "ttl" else value_codec(field.annotation, self.spec.table.times)
        # DynamoDB treats an attribute with an index key's name as a key, whether or not the entity means it.
        part = self.spec.key_attributes.get(field.stored)
        is_checked = part is not None and (part.template is not None or plain_type(field.annotation) is not bytes)
        indexes = () if is_checked else self.spec.table.by_name.values()
        ranges = {each.name for index in indexes for each in index.range}
        if field.stored in ranges | {each.name for index in indexes for each in index.hash}:
            return index_key_codec(codec, LONGEST_RANGE if field.stored in ranges else LONGEST_HASH)
        return codec

    # Writing

    def encode(self, entity: E, before: Item | None = None) -> Item:
        """The whole item; raises `InvalidValue` if it is too large."""
        return self.encode_values(entity.__dict__, before)

    def encode_values(self, values: Mapping[str, object], before: Item | None = None) -> Item:
        """The whole item of an entity with these values; raises `InvalidValue` if it is too large."""
        item = self._whole(values)
        self._wrap(item, values, before)
        self.check_size(item)
        return item

    def _whole(self, values: Mapping[str, object]) -> Item:
        """The item without its envelope."""
        try:
            return self._write_quickly(values)
        except UNEXPECTED:
            return self._written_thoroughly(values)

    def encode_changed(self, values: Mapping[str, object], changed: Container[str], before: Item) -> Item:
        """The attributes that a change of some fields can affect: theirs, the keys and the envelope, in field order.

        A field that is itself an index key is included whether or not the item is in the index.
        """
        item: Item = {}
        try:
            for name, stored, codec in self._encoders:
                if (name in changed or name in self._native_keys) and values[name] is not None:
                    encoded = codec.encode(values[name])
                    if encoded is not None:
                        item[stored] = encoded
            item |= self._write_keys(values)
        except UNEXPECTED:
            item = self._written_thoroughly(values)
        self._wrap(item, values, before)
        return item

    def _wrap(self, item: Item, values: Mapping[str, object], before: Item | None) -> None:
        """Add the envelope; members of it that aren't fields are kept as they were `before`."""
        if self._envelope:
            item[self._envelope] = {"S": self._packed(values, before)}

    def _written_thoroughly(self, values: Mapping[str, object]) -> Item:
        """The item without its envelope, for any values; raises `InvalidValue` if one can't be stored."""
        item: Item = self.key(values)
        if self.spec.type is not None and self.spec.table.type_attribute is not None:
            item[self.spec.table.type_attribute] = {"S": self.spec.type}
        for name, stored, _ in self._encoders:
            encoded = None if values[name] is None else self.encode_value(name, values[name])
            if encoded is not None:
                item[stored] = encoded
        for placement in self.spec.placements.values():
            item.update(self.keys.placement(placement, values))
        return item

    def encoder(self, name: str) -> Encode:
        """The function that encodes a field's values."""
        return self._codecs[name].encode

    def encode_value(self, name: str, value: object) -> Mapping[str, Any] | None:
        """A field's value as it is stored."""
        try:
            return self._codecs[name].encode(value)
        except InvalidValue as error:
            raise InvalidValue(error.code, f"{self.spec.name}.{name}", error.problem, field=name) from None
        except UNEXPECTED:
            kind = type(value).__name__
            raise InvalidValue(
                "wrong-type",
                f"{self.spec.name}.{name}",
                f"This field doesn't accept a value of type {kind}.",
                field=name,
            ) from None

    def encode_operand(self, name: str, operator: str, value: object) -> Mapping[str, Any] | None:
        """A value to compare with a field's attribute in a condition; None if its Python type decides the encoding."""
        template = self._templates.get(name)
        if template is None:
            return None if operator in ("contains", "begins_with") else self.encode_value(name, value)
        if operator == "contains" and len(template.parts) > 1:
            problem = f"contains can't be used on a field that is stored as {template.text}."
            raise InvalidValue("not-by-itself", f"{self.spec.name}.{name}", problem, field=name)
        if operator in ("contains", "begins_with"):
            return {"S": template.prefix({}) + template.piece(name, value)}
        text = template.write({name: value})
        return None if text is None else {"S": text}

    def _packed(self, values: Mapping[str, object], before: Item | None) -> str:
        """The text of the envelope: fields under their stored names, and other members as they were before."""
        members = {}
        for name, field in self.spec.fields.items():
            if field.kind == "plain" and values[name] is not None:
                encoded = self.encode_value(name, values[name])
                if encoded is not None:
                    members[field.stored] = encoded
        known = {field.stored for field in self.spec.fields.values()}
        old = {} if before is None else self._unpacked(before)
        return pack(members, {name: value for name, value in old.items() if name not in known})

    def _unpacked(self, item: Item) -> dict[str, Any]:
        assert self._envelope is not None
        try:
            return unpack(item[self._envelope]["S"])
        except (KeyError, ValueError):
            raise self.unreadable(item, self._envelope, "it isn't a JSON object") from None

    def check_size(self, item: Item) -> None:
        """Raise `InvalidValue` with the largest field if an item is too large."""
        if json_size(item) <= self._surely_fits:
            return
        try:
            size = size_with_local_indexes(self.spec.table, item)
        except UnicodeEncodeError:
            wrong = next(name for name in item if not is_unicode(item[name]))
            raise self._unfit(
                "invalid", wrong, "This text isn't valid Unicode: it contains a lone surrogate."
            ) from None
        if size > MAXIMUM_ITEM:
            largest = max(item, key=lambda name: value_size(item[name]))
            problem = f"The item has {size} bytes, more than {MAXIMUM_ITEM}. Shorten this value, the largest."
            raise self._unfit("item-too-large", largest, problem)

    def _unfit(self, code: str, attribute: str, problem: str) -> InvalidValue:
        field = next((f.name for f in self.spec.fields.values() if f.stored == attribute), attribute)
        return InvalidValue(code, f"{self.spec.name}.{field}", problem, field=field)

    # Reading

    def evolved(self, item: Item) -> Item:
        """The item in the entity's current form."""
        if not self.evolves:
            return item
        try:
            return self.entity.evolve(deepcopy(item))
        except Exception as error:  # the class's own code, which an item in an unknown form may break
            raise self.unreadable(item, "item", f"evolve() failed with {error!r}") from error

    def decode(self, item: Item) -> E:
        """The entity of a stored item; it remembers the item."""
        if self._read_quickly is not None:
            try:
                return self._read_quickly(item)
            except UNEXPECTED:
                pass  # the thorough code handles it, or says what is wrong
        return self._decode_thoroughly(item)

    def decode_if_recognized(self, item: Item | None) -> E | None:
        """The entity of an item; None if there is no item, or if it is of another entity."""
        return self.decode(item) if item is not None and self.recognizes(item) else None

    def decode_all(self, items: Sequence[Item]) -> list[E] | None:
        """The entities of a list of items, if all are of this entity and none is being deleted; otherwise None."""
        if self._read_list_quickly is not None:
            try:
                return self._read_list_quickly(items)
            except UNEXPECTED:
                pass
        return None

    def _decode_thoroughly(self, item: Item) -> E:
        try:
            values = self.stored_values(self.evolved(item))
            entity = self.entity.model_validate(values, by_alias=False, by_name=True)
        except ValidationError as error:
            problem = error.errors(include_url=False, include_input=False, include_context=False)[0]
            place = ".".join(map(str, problem["loc"])) or "item"
            raise self.unreadable(item, place, problem["msg"]) from None
        for name in timed_fields(self.spec):
            if name in entity.model_fields_set and any(time.tzinfo is None for time in times_in(entity.__dict__[name])):
                raise self.unreadable(item, name, "its time has no time zone")
        set_stored_item(entity, item)
        return entity

    def stored_values(self, item: Item, *, in_envelope: bool = True) -> dict[str, object]:
        """The values in an item, decoded but not validated, by field; with those `in_envelope`, if there is one."""
        values: dict[str, object] = {}
        if self._envelope and in_envelope:
            self._unpack(item, values)
        try:
            values |= {name: item[stored][tag] for name, stored, tag in self._tagged if stored in item}
        except KeyError:
            values |= self._tagged_values(item)
        for name, stored, codec in self._others:
            value = item.get(stored)
            if value is not None and "NULL" not in value:
                try:
                    values[name] = codec.decode(value)
                except UNEXPECTED:
                    raise self.unreadable(item, name, f"it is stored as {next(iter(value))}") from None
        for name, stored, template in self._from_keys:
            if stored in item:
                read = template.read(item[stored].get("S", ""))
                if read is None:
                    raise self.unreadable(item, name, f"its key doesn't match {template.text}")
                values[name] = read[name]
        return {**self._absent, **values}

    def _tagged_values(self, item: Item) -> dict[str, object]:
        """The values of attributes that are stored as they are; NULL counts as absent."""
        values: dict[str, object] = {}
        for name, stored, tag in self._tagged:
            value = item.get(stored, {"NULL": True})
            if tag in value:
                values[name] = value[tag]
            elif "NULL" not in value:
                raise self.unreadable(item, name, f"it is stored as {next(iter(value))}")
        return values

    def _unpack(self, item: Item, values: dict[str, object]) -> None:
        packed = self._unpacked(item)
        for name, field in self.spec.fields.items():
            if field.stored in packed:
                try:
                    values[name] = restored(field.annotation, packed[field.stored])
                except (TypeError, ValueError):
                    raise self.unreadable(item, name, f"it isn't of type {field.annotation} in the envelope") from None

    def unreadable(self, item: Item, place: str, problem: str) -> StoredDataError:
        """The error for an item that doesn't fit the entity."""
        return unreadable_item(self.spec, item, place, problem)

    def has_own_attribute(self, name: str) -> bool:
        """Whether a field is stored in an attribute of its own, rather than in the envelope or in a key."""
        return name not in self._templates and (not self._envelope or self.spec.fields[name].on_top)

    def decode_value(self, name: str, value: AttributeValue) -> object:
        """What the stored value of a field stands for, or the key that it is stored in; not validated yet."""
        template = self._templates.get(name)
        try:
            return self._codecs[name].decode(value) if template is None else (template.read(value["S"]) or {})[name]
        except UNEXPECTED:
            raise self.unreadable({}, name, f"it is stored as {next(iter(value))}") from None

    def absent_value(self, name: str) -> object:
        """The value of a field that isn't stored."""
        absent = self.spec.fields[name].absent
        return self.entity.model_fields[name].get_default(call_default_factory=True) if absent is NOTHING else absent

    def decode_fields(self, names: Iterable[str], item: Item) -> dict[str, object]:
        """The values of some fields in another item, such as a guard."""
        values = {}
        for name in names:
            stored = self.spec.fields[name].stored
            try:
                values[name] = compat.field_validator(self.entity, name)(self._codecs[name].decode(item[stored]))
            except UNEXPECTED:
                raise StoredDataError(
                    f"the guard {item} of {self.spec.name} has no valid {self.spec.name}.{name} (attribute {stored}); "
                    "verify reports it, and repair corrects it",
                    self.spec.name,
                    stored,
                    dict(item),
                ) from None
        return values


_codecs: dict[type[Entity], EntityCodec[Any]] = {}


def codec_of(entity: type[E]) -> EntityCodec[E]:
    """The codec of an entity, made once."""
    codec = _codecs.get(entity)
    if codec is None:
        codec = _codecs[entity] = EntityCodec(entity)
    return codec


def recognize(entities: Iterable[type[E]], item: Item) -> EntityCodec[E] | None:
    """The codec of the entity that an item is of; None if it is of none of these."""
    for entity in entities:
        codec = codec_of(entity)
        if codec.recognizes(item):
            return codec
    return None


_stored = Entity.__dict__["__keyplan_stored__"]  # the slot itself: much faster where it is empty


def stored_item(entity: Entity) -> Item | None:
    """The item that an entity was read from or last written as."""
    try:
        item: Item | None = _stored.__get__(entity)
    except AttributeError:
        return None
    return item


def set_stored_item(entity: Entity, item: Item | None) -> None:
    """Take an item for the one that an entity was read from."""
    _stored.__set__(entity, item)
