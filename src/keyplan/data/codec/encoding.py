"""Generated encoders: functions for one entity that turn its values into an item."""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from keyplan.data.codec.codegen import GeneratedFunction
from keyplan.data.codec.values import AttributeValue, Item, ValueCodec
from keyplan.design.entities.entity_spec import EntitySpec
from keyplan.design.entities.specs import KeyPart, KeySpec
from keyplan.design.keys.templates import SEPARATOR, Slot, Template

KeyValue: TypeAlias = Callable[[KeySpec, KeyPart, Mapping[str, object]], AttributeValue]
Place: TypeAlias = Callable[[KeySpec, Mapping[str, object]], Item]

_SHORT = 250
"""Texts up to this many characters fit into every key, even with 4 bytes for each character."""


def build_encoder(
    spec: EntitySpec, attributes: Sequence[tuple[str, str, ValueCodec]], key_value: KeyValue, place: Place
) -> Callable[[Mapping[str, object]], Item]:
    """A function that encodes an entity's values.

    Rare cases are left to the thorough code: keys that aren't texts, and index keys that an item may not have.
    """
    code = GeneratedFunction("fields")
    code.lines.append(f"item = {{{_key(code, spec.primary, key_value)}}}")
    if spec.type is not None and spec.table.type_attribute is not None:
        code.lines.append(f"item[{spec.table.type_attribute!r}] = {{'S': {spec.type!r}}}")
    for name, stored, codec in attributes:
        _attribute(code, name, stored, codec)
    for placement in spec.placements.values():
        if placement.when is None and not any(spec.fields[name].optional for name in placement.fields):
            code.lines.append(f"item.update({{{_key(code, placement, key_value)}}})")
        else:
            code.lines.append(f"item.update({code.named(place)}({code.named(placement)}, fields))")
    write: Callable[[Mapping[str, object]], Item] = code.function("item")
    return write


def build_key_encoder(key: KeySpec, key_value: KeyValue) -> Callable[[Mapping[str, object]], Item]:
    """A function that encodes a key from an entity's values."""
    code = GeneratedFunction("fields")
    encode: Callable[[Mapping[str, object]], Item] = code.function(f"{{{_key(code, key, key_value)}}}")
    return encode


def _attribute(code: GeneratedFunction, name: str, stored: str, codec: ValueCodec) -> None:
    code.lines += [f"value = fields[{name!r}]", "if value is not None:"]
    if codec.direct:
        code.lines.append(f"    item[{stored!r}] = {{{codec.tag!r}: value}}")
    else:
        code.lines.append(f"    value = {code.named(codec.encode)}(value)")
        code.lines.append(f"    if value is not None: item[{stored!r}] = value")


def _key(code: GeneratedFunction, key: KeySpec, key_value: KeyValue) -> str:
    """The source of a key's attributes, as members of an item."""
    members = []
    for part in key.parts:
        if part.template is None:
            value = f"{code.named(key_value)}({code.named(key)}, {code.named(part)}, fields)"
        else:
            value = f"{{'S': {add_key_text(code, part.template)}}}"
        members.append(f"{part.attribute.name!r}: {value}")
    return ", ".join(members)


def add_key_text(code: GeneratedFunction, template: Template) -> str:
    """Add the lines that build the text of a key; returns the name of its variable."""
    text = f"text{len(code.lines)}"
    if template.can_be_ambiguous or any(slot.absent for slot in template.slots):
        value = f"{code.named(template.write)}(fields)"
    else:
        value = " + ".join(
            repr(part) if isinstance(part, str) else _piece(code, template, part) for part in template.parts
        )
    code.lines.append(f"{text} = {value}")
    if template.slots:
        code.lines.append(f"if len({text}) > {_SHORT}: raise ValueError")
    return text


def _piece(code: GeneratedFunction, template: Template, slot: Slot) -> str:
    """Add the lines that format a field's value for a key; returns the name of its variable."""
    chosen = template.formats[slot]
    piece, value = f"piece{len(code.lines)}", f"fields[{slot.field!r}]"
    code.lines.append(f"{piece} = {value if chosen.as_is else f'{code.named(chosen.write)}({value})'}")
    wrong = [f"not {piece}"]
    wrong.append(f"type({piece}) is not str" if chosen.as_is else f"{value} is None")
    if chosen.bare:
        wrong.append(f"{SEPARATOR!r} in {piece}")
    code.lines.append(f"if {' or '.join(wrong)}: raise ValueError")
    return piece
