"""Generated decoders: functions for one entity that recognize its items and turn them into entities.

Fields are validated by pydantic's own schema of the class, so that the result is what the class itself would build.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import NamedTuple, TypeVar

from keyplan.data import compat
from keyplan.data.codec.codegen import GeneratedFunction
from keyplan.data.codec.times import check_zones, may_hold_times
from keyplan.data.codec.values import AttributeValue, Item, ValueCodec
from keyplan.design import Entity
from keyplan.design.compat import SharedNames
from keyplan.design.entities.entity_spec import EntitySpec
from keyplan.design.entities.specs import FieldSpec
from keyplan.design.keys.formats import ANY
from keyplan.design.keys.templates import SEPARATOR, Slot, Template
from keyplan.design.values.absence import NOTHING

E = TypeVar("E", bound=Entity)


class FieldSource(NamedTuple):
    """Where a field is stored: in an attribute of its own, or in a key attribute with a template."""

    field: FieldSpec
    codec: ValueCodec
    template: Template | None = None


def build_decoder(entity: type[E], sources: Mapping[str, FieldSource]) -> Callable[[Item], E] | None:
    """A function that decodes an item; None if the class must validate all fields together."""
    if not compat.decodes_directly(entity):
        return None
    code = GeneratedFunction("item")
    code.lines += _reading(code, entity, sources)
    read: Callable[[Item], E] = code.function("entity")
    return read


def build_list_decoder(
    entity: type[E], sources: Mapping[str, FieldSource], *, without: str
) -> Callable[[Sequence[Item]], list[E]] | None:
    """A function that decodes a list of items of this entity, none of which has the attribute `without`."""
    if not compat.decodes_directly(entity):
        return None
    code = GeneratedFunction("items")
    others = f"{without!r} in item or not ({_looks(code, entity.spec)})"
    each = [f"if {others}: raise ValueError", *_reading(code, entity, sources), "found.append(entity)"]
    code.lines += ["found = []", "for item in items:", *(f"    {line}" for line in each)]
    read: Callable[[Sequence[Item]], list[E]] = code.function("found")
    return read


def _reading(code: GeneratedFunction, entity: type[Entity], sources: Mapping[str, FieldSource]) -> list[str]:
    """The lines that build an entity from an item."""
    fields, absences = [], {}
    for name, source in sources.items():
        there = f"{source.field.stored!r} in item"
        if not entity.model_fields[name].is_required():
            absences[there] = f"    if not {there}: given.remove({name!r})"
        fields.append(f"{name!r}: {_value_or_default(code, entity, source)},")
    filled, empty = compat.slot_setters()
    own = [f"if not ({' and '.join(absences)}):", f"    given = set({code.named(frozenset(sources))})"]
    unsure = [name for name in sources if compat.has_unchecked_times(entity, name)]
    return [
        *("fields = {", *fields, "}"),
        *(f"{code.named(check_zones)}(fields[{name!r}])" for name in unsure),
        f"given = {code.named(SharedNames(sources))}",
        *((*own, *absences.values()) if absences else ()),
        f"entity = {code.named(object.__new__)}({code.named(entity)})",
        *(f"{code.named(fill)}(entity, {value})" for value, fill in filled.items()),
        *(f"{code.named(leave)}(entity, None)" for leave in empty),
        f"{code.named(Entity.__dict__['__keyplan_stored__'].__set__)}(entity, item)",
    ]


@cache
def timed_fields(spec: EntitySpec) -> tuple[str, ...]:
    """The fields that are or may contain times as text."""
    return tuple(f.name for f in spec.fields.values() if f.kind != "ttl" and may_hold_times(f.annotation))


def build_partial_decoder(
    entity: type[Entity], sources: Mapping[str, FieldSource]
) -> Callable[[Item], dict[str, object]]:
    """A function that decodes some fields of an item."""
    code = GeneratedFunction("item")
    fields = [f"{name!r}: {_value_or_default(code, entity, source)}" for name, source in sources.items()]
    code.lines.append(f"fields = {{{', '.join(fields)}}}")
    unsure = [name for name in sources if compat.has_unchecked_times(entity, name)]
    code.lines += [f"{code.named(check_zones)}(fields[{name!r}])" for name in unsure]
    read: Callable[[Item], dict[str, object]] = code.function("fields")
    return read


def _value_or_default(code: GeneratedFunction, entity: type[Entity], source: FieldSource) -> str:
    """The expression of a field's value, or of its default if it isn't stored."""
    name, value, there = source.field.name, _value(code, entity, source), f"{source.field.stored!r} in item"
    if not entity.model_fields[name].is_required():
        return f"{value} if {there} else {_default(code, entity, name)}"
    if source.field.absent is not NOTHING:
        return f"{value} if {there} else {_validated(code, entity, name, repr(source.field.absent))}"
    return value


def _value(code: GeneratedFunction, entity: type[Entity], source: FieldSource) -> str:
    """The expression of a field's value."""
    name, stored = source.field.name, source.field.stored
    if source.template is not None:
        return _validated(code, entity, name, f"{code.named(source.template.read)}(item[{stored!r}]['S'])[{name!r}]")
    if source.codec.tag is None:
        content = f"{code.named(source.codec.decode)}({code.named(_present)}(item[{stored!r}]))"
        return _validated(code, entity, name, content)
    content = f"item[{stored!r}][{source.codec.tag!r}]"
    conversion = compat.direct_conversion(entity, name)
    if conversion is None:
        return _validated(code, entity, name, content)
    return content if conversion.make is None else f"{code.named(conversion.make)}({content})"


def _validated(code: GeneratedFunction, entity: type[Entity], name: str, content: str) -> str:
    return f"{code.named(compat.field_validator(entity, name))}({content})"


def _present(value: AttributeValue) -> AttributeValue:
    """The stored value; raises for NULL, which counts as absent."""
    if "NULL" in value:
        raise ValueError("NULL")
    return value


def _default(code: GeneratedFunction, entity: type[Entity], name: str) -> str:
    """The expression of a field's default; a mutable one is created for each item."""
    lasting = compat.lasting_default(entity, name)
    if lasting is not NOTHING:
        return code.named(lasting)
    return f"{code.named(compat.default_factory(entity, name))}()"


def build_recognizer(spec: EntitySpec, *, by_type: bool = True) -> Callable[[Item], bool]:
    """A function that says whether an item is of an entity, by its type attribute and the form of its key."""
    code = GeneratedFunction("item")
    looking: Callable[[Item], bool] = code.function(_looks(code, spec, by_type=by_type))
    return looking


def _looks(code: GeneratedFunction, spec: EntitySpec, *, by_type: bool = True) -> str:
    """The expression that is true for items of an entity."""
    looks = []
    if by_type and spec.table.type_attribute is not None and spec.type is not None:
        looks.append(f"item.get({spec.table.type_attribute!r}) == {{'S': {spec.type!r}}}")
    keys = [(part.template, f"item[{part.attribute.name!r}]['S']") for part in spec.primary.parts]
    looks += [_look(code, template, text) for template, text in keys if template is not None]
    return " and ".join(looks) or "True"


def _look(code: GeneratedFunction, template: Template, text: str) -> str:
    """The expression that is true for keys of a template; parses the key only where necessary."""
    match template.parts if isinstance(template.parts[0], str) else ("", *template.parts):
        case (str(literal),):
            return f"{text} == {literal!r}"
        case (str(literal), Slot(absent="") as slot) if template.formats[slot].read is str:
            start, chosen = len(literal), template.formats[slot]
            begins = f"{text}.startswith({literal!r}) and len({text}) > {start}"
            if chosen.shapes == ((ANY,),):
                return begins
            if chosen.bare:
                return f"{begins} and {text}.find({SEPARATOR!r}, {start}) < 0"
    return f"{code.named(template.read)}({text}) is not None"
