"""Guard items, which keep values unique: encoded by generated code, or by the thorough code for unusual values."""

from collections.abc import Callable, Mapping
from typing import Any

from keyplan.data.codec.codegen import UNEXPECTED, GeneratedFunction
from keyplan.data.codec.encoding import add_key_text
from keyplan.data.codec.entities import EntityCodec
from keyplan.data.codec.sizes import LONGEST_HASH, LONGEST_RANGE, checked_key
from keyplan.data.codec.values import Item
from keyplan.design.entities.effects import Unique
from keyplan.design.operations.item_reads import guard_fields


class GuardCodec:
    """Encodes the guard items of one `unique` rule of an entity."""

    def __init__(self, codec: EntityCodec[Any], unique: Unique) -> None:
        self.unique = unique
        self.key_fields = tuple(dict.fromkeys(guard_fields(unique)))
        """The fields in its key."""
        self.fields = frozenset(filter(None, (*self.key_fields, *unique.carries, unique.when)))
        """All fields that a guard depends on."""
        self.carried = frozenset(codec.spec.fields[name].stored for name in unique.carries)
        """The attributes that a guard has besides its key."""
        self._codec = codec
        self._encode_quickly = self._generate()

    def encode(self, values: Mapping[str, object]) -> Item | None:
        """The guard item for an entity's values; None if a value is absent, or `when` says so."""
        try:
            return self._encode_quickly(values)
        except UNEXPECTED:
            return self._encode_thoroughly(values)

    def _generate(self) -> Callable[[Mapping[str, object]], Item | None]:
        unique, spec = self.unique, self._codec.spec
        code = GeneratedFunction("fields")
        if unique.when is not None:
            code.lines.append(f"if not fields[{unique.when!r}]: return None")
        if unique.hash.slots and not unique.hash.slots[0].absent:
            code.lines.append(f"if fields[{unique.hash.slots[0].field!r}] is None: return None")
        text = add_key_text(code, unique.hash)
        members = [f"{unique.table.hash[0].name!r}: {{'S': {text}}}"]
        if unique.range is not None:
            same = unique.range.text == unique.hash.text
            range_text = text if same else add_key_text(code, unique.range)
            members.append(f"{unique.table.range[0].name!r}: {{'S': {range_text}}}")
        code.lines.append(f"item = {{{', '.join(members)}}}")
        for name in unique.carries:
            encode = code.named(self._codec.encoder(name))
            code.lines.append(f"value = {encode}(fields[{name!r}])")
            code.lines.append(f"if value is not None: item[{spec.fields[name].stored!r}] = value")
        made: Callable[[Mapping[str, object]], Item | None] = code.function("item")
        return made

    def _encode_thoroughly(self, values: Mapping[str, object]) -> Item | None:
        """The same for any values; raises `InvalidValue` with the field if one can't be stored."""
        unique = self.unique
        if unique.when is not None and not values.get(unique.when):
            return None
        text = unique.hash.write(values)
        if text is None:
            return None
        item: Item = {unique.table.hash[0].name: {"S": checked_key(text, LONGEST_HASH, unique.hash)}}
        if unique.range is not None:
            range_text = unique.range.write(values)
            if range_text is None:
                return None
            item[unique.table.range[0].name] = {"S": checked_key(range_text, LONGEST_RANGE, unique.range)}
        for name in unique.carries:
            encoded = self._codec.encode_value(name, values[name])
            if encoded is not None:
                item[self._codec.spec.fields[name].stored] = encoded
        return item
