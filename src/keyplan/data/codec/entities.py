"""Entities to items and back: attributes, keys, index keys, envelopes, and telling which entity an item is of."""

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
)
from keyplan.data.codec.encoding import build_encoder
from keyplan.data.codec.envelopes import pack, restored, unpack
from keyplan.data.codec.sizes import (
    LONGEST_HASH,
    LONGEST_RANGE,
    MAXIMUM_ITEM,
    checked_key,
    is_unicode,
    json_size,
    key_limit,
    size_with_local_indexes,
    value_size,
)
from keyplan.data.codec.values import Encode, Item, ValueCodec, index_key_codec, ttl_codec, value_codec
from keyplan.data.errors import StoredDataError
from keyplan.design import Entity, InvalidValue
from keyplan.design.absence import NOTHING
from keyplan.design.entity import FieldSpec, KeyPart, KeySpec
from keyplan.design.templates import Template

E = TypeVar("E", bound=Entity)

DELETING = "keyplanDeleting"
"""The attribute that marks an item whose cascade is under way; nothing may be created under it."""


class EntityCodec(Generic[E]):
    """Writes and reads the items of one entity."""

    def __init__(self, entity: type[E]) -> None:
        self.entity = entity
        self.spec = spec = entity.spec
        self._envelope = spec.table.envelope
        # An item of so many bytes has room for its entries in local indexes, whatever they hold.
        self._surely_fits = MAXIMUM_ITEM // (1 + sum(index.local for index in spec.table.by_name.values()))
        self._absent = {name: field.absent for name, field in spec.fields.items() if field.absent is not NOTHING}
        self._codecs = {name: self._codec(field) for name, field in spec.fields.items()}
        keyed = {name: part for name, part in spec.key_attributes.items() if part.template is not None}
        # A field whose attribute is a key attribute is stored as that key says, and read back from it.
        self._from_keys: list[tuple[str, str, Template]] = []
        self._templates: dict[str, Template] = {}
        self._kept = {field.stored for field in spec.fields.values()}
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
        self.loose_fields = frozenset(name for name, codec in self._codecs.items() if codec.tag is None)
        """Fields whose values may be equal in Python and still be stored differently: True somewhere inside, and 1."""
        self.direct_fields = frozenset(name for name, codec in self._codecs.items() if codec.direct)
        """Fields whose values are stored as they are: two that differ are stored differently."""
        self._encoders = [(name, stored, self._codecs[name]) for name, stored, _ in self._tagged + self._others]
        self._native_keys = {name for name, stored, _ in self._encoders if stored in spec.key_attributes}
        self._write_quickly = build_encoder(spec, self._encoders, self._key_value, self.placement)
        self._write_keys = build_encoder(spec, (), self._key_value, self.placement)
        self.recognizes = build_recognizer(spec)
        """Whether an item is of this entity, by its type attribute and the shape of its key."""
        self._evolves = entity.evolve.__func__ is not Entity.evolve.__func__  # type: ignore[attr-defined]  # classmethods
        sources = None if self._evolves or self._envelope else self._sources()
        self._read_quickly = None if sources is None else build_decoder(entity, sources)
        self._read_list_quickly = None if sources is None else build_list_decoder(entity, sources, without=DELETING)

    def _sources(self) -> dict[str, FieldSource]:
        fields, templates = self.spec.fields.items(), self._templates
        return {name: FieldSource(field, self._codecs[name], templates.get(name)) for name, field in fields}

    def _codec(self, field: FieldSpec) -> ValueCodec:
        codec = ttl_codec() if field.kind == "ttl" else value_codec(field.annotation, self.spec.table.times)
        # DynamoDB takes an index key of an item for one, whether the entity means it or not.
        indexes = self.spec.table.by_name.values() if field.stored not in self.spec.key_attributes else ()
        ranges = {each.name for index in indexes for each in index.range}
        if field.stored in ranges | {each.name for index in indexes for each in index.hash}:
            return index_key_codec(codec, LONGEST_RANGE if field.stored in ranges else LONGEST_HASH)
        return codec

    # Writing

    def encode(self, entity: E, before: Item | None = None) -> Item:
        """The whole item; refused where it is too large."""
        item = self._whole(entity.__dict__)
        self._wrap(item, entity.__dict__, before)
        self.check_size(item)
        return item

    def _whole(self, values: Mapping[str, object]) -> Item:
        """The item without its envelope."""
        try:
            return self._write_quickly(values)
        except UNEXPECTED:
            return self._written_thoroughly(values)

    def encode_changed(self, values: Mapping[str, object], changed: Container[str], before: Item) -> Item:
        """What may be stored otherwise after a change of some fields: their attributes, keys and the envelope.

        In the order of the fields. A field that is an index key as it is stays whether or not the item is in the index.
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
        """Add the envelope, which keeps what it held `before` beside the fields."""
        if self._envelope:
            item[self._envelope] = {"S": self._packed(values, before)}

    def _written_thoroughly(self, values: Mapping[str, object]) -> Item:
        """The same; where that can not be, what is wrong with which field."""
        item: Item = self.key(values)
        if self.spec.type is not None and self.spec.table.type_attribute is not None:
            item[self.spec.table.type_attribute] = {"S": self.spec.type}
        for name, stored, _ in self._encoders:
            encoded = None if values[name] is None else self.encode_value(name, values[name])
            if encoded is not None:
                item[stored] = encoded
        for placement in self.spec.placements.values():
            item.update(self.placement(placement, values))
        return item

    def encoder(self, name: str) -> Encode:
        """The function that encodes a field's values."""
        return self._codecs[name].encode

    def encode_value(self, name: str, value: object) -> Mapping[str, Any] | None:
        """One field's value, as it is stored."""
        try:
            return self._codecs[name].encode(value)
        except InvalidValue as error:
            raise InvalidValue(error.code, f"{self.spec.name}.{name}", error.problem, field=name) from None
        except UNEXPECTED:
            kind = type(value).__name__
            raise InvalidValue(
                "wrong-type", f"{self.spec.name}.{name}", f"a {kind} is no value of this field", field=name
            ) from None

    def encode_operand(self, name: str, operator: str, value: object) -> Mapping[str, Any] | None:
        """What a condition compares a field's attribute with: a value like those that the attribute holds."""
        template = self._templates.get(name)
        if template is None:
            return None if operator in ("contains", "begins_with") else self.encode_value(name, value)
        if operator == "contains" and len(template.parts) > 1:
            problem = f"it is stored as {template.text}, of which any part could contain it"
            raise InvalidValue("not-by-itself", f"{self.spec.name}.{name}", problem, field=name)
        if operator in ("contains", "begins_with"):
            return {"S": template.prefix({}) + template.piece(name, value)}
        text = template.write({name: value})
        return None if text is None else {"S": text}

    def _packed(self, values: Mapping[str, object], before: Item | None) -> str:
        """The fields that are in the envelope, under their stored names, with what else it held before."""
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
            raise self._unreadable(item, self._envelope, "it is no JSON object") from None

    def check_size(self, item: Item) -> None:
        """Refuse an item that is too large, naming its largest field."""
        if json_size(item) <= self._surely_fits:
            return
        try:
            size = size_with_local_indexes(self.spec.table, item)
        except UnicodeEncodeError:
            wrong = next(name for name in item if not is_unicode(item[name]))
            raise self._unfit("invalid", wrong, "a text in it is no Unicode: it holds half of a character") from None
        if size > MAXIMUM_ITEM:
            largest = max(item, key=lambda name: value_size(item[name]))
            problem = f"the item has {size} bytes, more than {MAXIMUM_ITEM}; this field is the largest"
            raise self._unfit("item-too-large", largest, problem)

    def _unfit(self, code: str, attribute: str, problem: str) -> InvalidValue:
        field = next((f.name for f in self.spec.fields.values() if f.stored == attribute), attribute)
        return InvalidValue(code, f"{self.spec.name}.{field}", problem, field=field)

    def key(self, values: Mapping[str, object]) -> Item:
        """The primary key of these values."""
        item: Item = {}
        for part in self.spec.primary.parts:
            item[part.attribute.name] = self._key_value(self.spec.primary, part, values)
        return item

    def _key_value(self, key: KeySpec, part: KeyPart, values: Mapping[str, object]) -> Mapping[str, Any]:
        """The value of an attribute of a key that an item must have."""
        value = self.key_part(key, part, values)
        if value is None:
            missing = ", ".join(name for name in part.fields if values.get(name) is None)
            raise InvalidValue(
                "empty-key-value", f"{self.spec.name}.{missing}", "a value of the primary key is missing", field=missing
            )
        return value

    def placement(self, placement: KeySpec, values: Mapping[str, object]) -> Item:
        """The attributes that put an item into an index; none where a value is absent."""
        if placement.when is not None and not values.get(placement.when):
            return {}
        item: Item = {}
        whole = True
        for part in placement.parts:
            value = self.key_part(placement, part, values)
            if value is None:
                whole = False
            else:
                item[part.attribute.name] = value
        if whole:
            return item
        # Out of the index; but an attribute that also stores a field of the entity stays.
        return {name: value for name, value in item.items() if name in self._kept}

    def key_part(self, key: KeySpec, part: KeyPart, values: Mapping[str, object]) -> Mapping[str, Any] | None:
        """The value of one attribute of a key; None where a field of it is absent."""
        if part.template is None:
            assert part.field is not None
            value = values.get(part.field)
            return None if value is None else self._native_part(key, part, part.field, value)
        text = part.template.write(values)
        if text is None:
            return None
        return {"S": checked_key(text, key_limit(key, part), part.template)}

    def _native_part(self, key: KeySpec, part: KeyPart, field: str, value: object) -> Mapping[str, Any]:
        """A number or bytes as key."""
        place = f"{self.spec.name}.{field}"
        encoded = self.encode_value(field, value)
        if encoded is None or part.attribute.type not in encoded:
            raise InvalidValue(
                "key-type", place, f"{part.attribute.name} is of type {part.attribute.type}", field=field
            )
        content = encoded[part.attribute.type]
        if part.attribute.type == "B" and not 0 < len(content) <= key_limit(key, part):
            problem = "a value in a key must not be empty" if not content else "the key is too long"
            raise InvalidValue("key-too-long" if content else "empty-key-value", place, problem, field=field)
        return encoded

    # Reading

    def evolved(self, item: Item) -> Item:
        """The item in today's shape."""
        return self.entity.evolve(deepcopy(item)) if self._evolves else item

    def decode(self, item: Item) -> E:
        """The entity of a stored item, which remembers what was stored."""
        if self._read_quickly is not None:
            try:
                return self._read_quickly(item)
            except UNEXPECTED:
                pass  # the thorough way knows what to make of it, or what to say
        return self._decode_thoroughly(item)

    def decode_if_recognized(self, item: Item | None) -> E | None:
        """The entity of an item that stands in the way of a write; None where there is none, or of another entity."""
        return self.decode(item) if item is not None and self.recognizes(item) else None

    def decode_all(self, items: Sequence[Item]) -> list[E] | None:
        """The entities of a list, if all of it is of this entity and none is being deleted; else each is looked at."""
        if self._read_list_quickly is not None:
            try:
                return self._read_list_quickly(items)
            except UNEXPECTED:
                pass
        return None

    def _decode_thoroughly(self, item: Item) -> E:
        try:
            values = self._values(self.evolved(item))
            entity = self.entity.model_validate(values, by_alias=False, by_name=True)
        except ValidationError as error:
            problem = error.errors(include_url=False, include_input=False, include_context=False)[0]
            place = ".".join(map(str, problem["loc"])) or "item"
            raise self._unreadable(item, place, problem["msg"]) from None
        object.__setattr__(entity, "__keyplan_stored__", item)
        return entity

    def _values(self, item: Item) -> dict[str, object]:
        values: dict[str, object] = {}
        if self._envelope:
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
                    raise self._unreadable(item, name, f"it is stored as {next(iter(value))}") from None
        for name, stored, template in self._from_keys:
            if stored in item:
                read = template.read(item[stored].get("S", ""))
                if read is None:
                    raise self._unreadable(item, name, f"its key does not look like {template.text}")
                values[name] = read[name]
        return {**self._absent, **values}

    def _tagged_values(self, item: Item) -> dict[str, object]:
        """The values that need only be taken out, where one is not of its type: NULL counts as absent."""
        values: dict[str, object] = {}
        for name, stored, tag in self._tagged:
            value = item.get(stored, {"NULL": True})
            if tag in value:
                values[name] = value[tag]
            elif "NULL" not in value:
                raise self._unreadable(item, name, f"it is stored as {next(iter(value))}")
        return values

    def _unpack(self, item: Item, values: dict[str, object]) -> None:
        packed = self._unpacked(item)
        for name, field in self.spec.fields.items():
            if field.stored in packed:
                try:
                    values[name] = restored(field.annotation, packed[field.stored])
                except (TypeError, ValueError):
                    raise self._unreadable(item, name, f"it is no {field.annotation} in the envelope") from None

    def _unreadable(self, item: Item, place: str, problem: str) -> StoredDataError:
        names = [part.attribute.name for part in self.spec.primary.parts]
        shown = ", ".join(f"{name}={next(iter(item[name].values()))!r}" for name in names if name in item)
        field = self.spec.fields.get(place.partition(".")[0])
        attribute = place if field is None else field.stored
        return StoredDataError(
            f"{self.spec.name}.{place} (attribute {attribute}) of the item {shown} does not fit the entity: {problem}. "
            "Correct the item, or upgrade it in evolve().",
            self.spec.name,
            attribute,
            {name: item[name] for name in names if name in item},
        )

    def decode_fields(self, names: Iterable[str], item: Item) -> dict[str, object]:
        """Fields that another item carries, such as a guard."""
        values = {}
        for name in names:
            stored = self.spec.fields[name].stored
            try:
                values[name] = compat.field_validator(self.entity, name)(self._codecs[name].decode(item[stored]))
            except UNEXPECTED:
                raise StoredDataError(
                    f"the guard {item} of {self.spec.name} holds no {self.spec.name}.{name} (attribute {stored}); "
                    "verify finds it, and repair puts it right",
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
    """The codec of the entity that an item is of; None where it is of none of them."""
    for entity in entities:
        codec = codec_of(entity)
        if codec.recognizes(item):
            return codec
    return None


def stored_item(entity: Entity) -> Item | None:
    """The item that an entity was read from or written as last."""
    return getattr(entity, "__keyplan_stored__", None)


def set_stored_item(entity: Entity, item: Item | None) -> None:
    """Take note of what is stored of an entity."""
    object.__setattr__(entity, "__keyplan_stored__", item)
