"""The keys of an entity: its primary key, and its keys in indexes."""

from collections.abc import Callable, Mapping
from typing import Any

from keyplan.data.codec.codegen import UNEXPECTED
from keyplan.data.codec.encoding import build_key_encoder
from keyplan.data.codec.sizes import checked_key, key_limit
from keyplan.data.codec.values import AttributeValue, Item
from keyplan.design import InvalidValue
from keyplan.design.entities.entity_spec import EntitySpec
from keyplan.design.entities.specs import KeyPart, KeySpec


class KeyCodec:
    """Encodes the keys of one entity; raises `InvalidValue` with the field for values that can't be in a key."""

    def __init__(self, spec: EntitySpec, encode_value: Callable[[str, object], AttributeValue | None]) -> None:
        self._spec = spec
        self._encode_value = encode_value
        self._field_attributes = {field.stored for field in spec.fields.values()}
        self._encode_primary_quickly = build_key_encoder(spec.primary, self.required)

    def primary(self, values: Mapping[str, object]) -> Item:
        """The primary key for these values."""
        try:
            return self._encode_primary_quickly(values)
        except UNEXPECTED:
            return self._encode_primary_thoroughly(values)

    def _encode_primary_thoroughly(self, values: Mapping[str, object]) -> Item:
        item: Item = {}
        for part in self._spec.primary.parts:
            item[part.attribute.name] = self.required(self._spec.primary, part, values)
        return item

    def required(self, key: KeySpec, part: KeyPart, values: Mapping[str, object]) -> Mapping[str, Any]:
        """The value of a required key attribute."""
        value = self.part(key, part, values)
        if value is None:
            missing = ", ".join(name for name in part.fields if values.get(name) is None)
            raise InvalidValue(
                "empty-key-value",
                f"{self._spec.name}.{missing}",
                "This value is part of the primary key, so it can't be absent.",
                field=missing,
            )
        return value

    def placement(self, placement: KeySpec, values: Mapping[str, object]) -> Item:
        """The attributes that put an item into an index; none if a value of the key is absent."""
        if placement.when is not None and not values.get(placement.when):
            return {}
        item: Item = {}
        whole = True
        for part in placement.parts:
            value = self.part(placement, part, values)
            if value is None:
                whole = False
            else:
                item[part.attribute.name] = value
        if whole:
            return item
        # The item isn't in the index; an attribute that also stores a field stays.
        return {name: value for name, value in item.items() if name in self._field_attributes}

    def stores_field(self, part: KeyPart) -> bool:
        """Whether a field is stored in this key attribute, so that it stays when the item leaves the index."""
        return part.attribute.name in self._field_attributes

    def part(self, key: KeySpec, part: KeyPart, values: Mapping[str, object]) -> Mapping[str, Any] | None:
        """The value of a key attribute; None if a field of it is absent."""
        if part.template is None:
            assert part.field is not None
            value = values.get(part.field)
            return None if value is None else self._native_part(key, part, part.field, value)
        text = part.template.write(values)
        if text is None:
            return None
        return {"S": checked_key(text, key_limit(key, part), part.template)}

    def _native_part(self, key: KeySpec, part: KeyPart, field: str, value: object) -> Mapping[str, Any]:
        """The value of a key attribute that is a number or bytes."""
        place = f"{self._spec.name}.{field}"
        encoded = self._encode_value(field, value)
        if encoded is None or part.attribute.type not in encoded:
            raise InvalidValue(
                "key-type",
                place,
                f"This value can't be a key: {part.attribute.name} is of type {part.attribute.type}.",
                field=field,
            )
        content = encoded[part.attribute.type]
        if part.attribute.type == "B" and not 0 < len(content) <= key_limit(key, part):
            problem = "A value in a key can't be empty." if not content else "This value is too long for a key."
            raise InvalidValue("key-too-long" if content else "empty-key-value", place, problem, field=field)
        return encoded
