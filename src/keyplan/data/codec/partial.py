"""Some fields of an entity's items, and items of an index that lacks attributes: what is missing is read from keys.

A field whose attribute isn't projected into an index may be part of a key, of the table's or of the index's own, which
every index has. So an index that projects the rest needs no second read.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from pydantic import ValidationError

from keyplan.data import compat
from keyplan.data.codec.codegen import UNEXPECTED
from keyplan.data.codec.decoding import FieldSource, build_partial_decoder, build_recognizer, timed_fields
from keyplan.data.codec.entities import EntityCodec
from keyplan.data.codec.times import times_in
from keyplan.data.codec.values import Item
from keyplan.design.entities.entity import Entity
from keyplan.design.entities.entity_spec import EntitySpec
from keyplan.design.keys.templates import Template
from keyplan.design.tables.tables import Index


class PartialCodec:
    """Reads some fields of an entity's items."""

    def __init__(self, codec: EntityCodec[Any], names: Sequence[str], index: Index | None) -> None:
        self._codec = codec
        self._names = names
        sources = {name: _source(codec, name, index) for name in names}
        self._sources = {name: source for name, source in sources.items() if source is not None}
        # What the class computes from whole items needs whole items.
        self._whole = whole = codec.evolves or compat.needs_whole_items(codec.entity)
        places = {source.field.stored if source else _attribute_of(codec, name) for name, source in sources.items()}
        self.attributes = None if whole else frozenset(places)
        """The attributes to read; None for all."""
        envelope = codec.spec.table.envelope
        self._in_envelope = envelope in places
        inside = {} if not envelope else {name: each for name, each in self._sources.items() if not each.field.on_top}
        self._as_keys = frozenset(name for name, each in inside.items() if each.field.stored != envelope)
        """Fields of an envelope that are read from a key that is the field itself."""
        lacking = set() if index is None else set(codec.spec.not_in(index))
        by_type = codec.spec.table.type_attribute not in lacking
        self.recognizes = codec.recognizes if by_type else build_recognizer(codec.spec, by_type=False)
        """Whether an item is of this entity, as far as the index tells."""
        has_fields = not lacking if whole else all(source is not None for source in sources.values())
        self.in_index = index is None or (has_fields and (by_type or not codec.spec.identified_by_type))
        """Whether the index has all that is needed."""
        plain = not whole and not codec.spec.table.envelope and len(self._sources) == len(names)
        plain = plain and compat.decodes_directly(codec.entity)
        self._read_quickly = build_partial_decoder(codec.entity, self._sources) if plain else None

    def values(self, item: Item) -> dict[str, object]:
        """The values of the fields in an item."""
        if self._read_quickly is not None:
            try:
                return self._read_quickly(item)
            except UNEXPECTED:
                pass  # the thorough code handles it, or says what is wrong
        if self._whole:
            entity = self._codec.decode(item)
            return {name: getattr(entity, name) for name in self._names}
        return self._read_thoroughly(item)

    def _read_thoroughly(self, item: Item) -> dict[str, object]:
        found = self._codec.stored_values(item, in_envelope=self._in_envelope)
        for name, source in self._sources.items():
            stored = item.get(source.field.stored)
            if stored is not None and source.template is not None:
                found[name] = (source.template.read(stored.get("S", "")) or {}).get(name)
            elif stored is not None and name in self._as_keys:
                found[name] = self._codec.decode_value(name, stored)
        return {name: self._validated(item, name, found) for name in self._names}

    def _validated(self, item: Item, name: str, found: Mapping[str, object]) -> object:
        codec = self._codec
        entity: type[Entity] = codec.entity
        if name not in found:
            if entity.model_fields[name].is_required():
                raise codec.unreadable(item, name, "it is missing")
            return compat.default_factory(entity, name)()
        try:
            value: object = compat.field_validator(entity, name)(found[name])
        except ValidationError as error:
            problem = error.errors(include_url=False, include_input=False, include_context=False)[0]["msg"]
            raise codec.unreadable(item, name, problem) from None
        if name in timed_fields(codec.spec) and any(time.tzinfo is None for time in times_in(value)):
            raise codec.unreadable(item, name, "its time has no time zone")
        return value


def _attribute_of(codec: EntityCodec[Any], name: str) -> str:
    """The attribute that has the value of a field: its own, or the envelope."""
    field, envelope = codec.spec.fields[name], codec.spec.table.envelope
    return envelope if envelope and not field.on_top else field.stored


def _source(codec: EntityCodec[Any], name: str, index: Index | None) -> FieldSource | None:
    """Where a field is read from: its attribute, the envelope, or a key of an index that lacks both; None if it lacks
    the key, too."""
    source, spec = codec.sources[name], codec.spec
    places = [_attribute_of(codec, name)]
    if spec.table.envelope and source.field.kind == "plain":
        places.append(spec.table.envelope)  # it has the fields beside it, too
    place = next((each for each in places if index is None or _has(spec, index, each)), None)
    found = None
    if place is None and index is not None:
        native = [part for key in spec.keys if key.index is index for part in key.parts if part.template is None]
        place = next((part.attribute.name for part in native if part.field == name), None)
        if place is None:
            place, found = _key_with(spec, name, index) or (None, None)
    if place is None or place == source.field.stored:
        return source if place else None
    return FieldSource(replace(source.field, stored=place), source.codec, found)


def _has(spec: EntitySpec, index: Index, attribute: str) -> bool:
    """Whether items of an index have this attribute, if those of the table do."""
    keys = {each.name for each in (*spec.table.hash, *spec.table.range, *index.attributes)}
    return index.projection.type == "ALL" or attribute in keys or attribute in index.projection.attributes


def _key_with(spec: EntitySpec, name: str, index: Index) -> tuple[str, Template] | None:
    """The key attribute, of the table or of the index, that the value of a field can be read from."""
    for key in spec.keys:
        if key.index is None or key.index is index:
            for part in key.parts:
                if part.template is not None and name in part.template.readable_fields:
                    return part.attribute.name, part.template
    return None


class _Restored(NamedTuple):
    """An attribute that an index lacks, and the key that has its value."""

    field: str
    attribute: str
    key_attribute: str
    template: Template


def build_restorer(codec: EntityCodec[Any], index: Index) -> Callable[[Item], Item] | None:
    """A function that completes an item of an index with the attributes that only its keys have.

    None if something is missing that keys don't have, or that tells whose item it is.
    """
    spec = codec.spec
    lacking = spec.not_in(index)
    restored = []
    for field in spec.fields.values():
        if field.stored in lacking:
            found = _key_with(spec, field.name, index)
            if found is None:
                return None
            restored.append(_Restored(field.name, field.stored, *found))
    kind = spec.table.type_attribute
    tells = kind is not None and kind in lacking
    if (tells and spec.identified_by_type) or spec.table.envelope in lacking:
        return None

    def complete(item: Item) -> Item:
        whole = dict(item)
        for each in restored:
            values = each.template.read(item[each.key_attribute].get("S", ""))
            if values is None:
                return item  # of another entity
            value = values[each.field]
            encoded = None if value is None else codec.encode_value(each.field, value)
            if encoded is not None:
                whole[each.attribute] = encoded
        if tells and kind is not None and spec.type is not None:
            whole[kind] = {"S": spec.type}
        return whole

    return complete
