"""Reading items quickly: functions for each entity that recognise its items and make entities of them."""

from collections.abc import Callable, Mapping
from decimal import Decimal
from enum import Enum
from functools import partial
from typing import Annotated, Any, NamedTuple, TypeVar

from pydantic import BaseModel, TypeAdapter
from pydantic.fields import FieldInfo

from keyplan.data.codec import Codec, Item
from keyplan.data.codegen import Code
from keyplan.design import Entity
from keyplan.design.annotations import inner_markers, without_none
from keyplan.design.entity import EntitySpec
from keyplan.design.fields import Kind, NoSeparator, OnTop, Stored
from keyplan.design.formats import ANY
from keyplan.design.templates import SEPARATOR, Slot, Template

E = TypeVar("E", bound=Entity)

_DIRECTLY: Mapping[object, type | None] = {str: None, bool: None, int: int, Decimal: Decimal}
"""Types whose values need no check, with what makes them of the stored content where that is not the value itself."""

_IMMUTABLE = (str, int, float, bool, bytes, Decimal, Enum, type(None))


class Source(NamedTuple):
    """Where the value of a field is: in an attribute of its own, or in a key that is made by a template."""

    stored: str
    codec: Codec
    template: Template | None = None


def quick_reader(entity: type[E], sources: Mapping[str, Source]) -> Callable[[Item], E] | None:
    """A function from items to entities; None where a class has hooks of its own that have to see its values."""
    if _has_hooks(entity):
        return None
    code = Code("item")
    fields, absent = [], []
    for name, source in sources.items():
        info = entity.model_fields[name]
        value = _value(code, name, info, source)
        if not info.is_required():
            value = f"{value} if {source.stored!r} in item else {_default(code, info)}"
            absent.append(f"if {source.stored!r} not in item: given.remove({name!r})")
        fields.append(f"{name!r}: {value},")
    members = {
        "__dict__": "fields",
        "__pydantic_fields_set__": "given",
        "__pydantic_extra__": "None",
        "__pydantic_private__": "None",
    }
    code.lines += [
        *("fields = {", *fields, "}"),
        f"given = set({code.named(frozenset(sources))})",
        *absent,
        f"entity = {code.named(object.__new__)}({code.named(entity)})",
        *(f"{code.named(BaseModel.__dict__[slot].__set__)}(entity, {value})" for slot, value in members.items()),
        f"{code.named(Entity.__dict__['__keyplan_stored__'].__set__)}(entity, item)",
    ]
    read: Callable[[Item], E] = code.function("entity")
    return read


def _has_hooks(entity: type[Entity]) -> bool:
    found = entity.__pydantic_decorators__
    hooks = (found.validators, found.field_validators, found.root_validators, found.model_validators)
    return any(hooks) or bool(entity.__private_attributes__) or entity.__pydantic_post_init__ is not None


def _value(code: Code, name: str, info: FieldInfo, source: Source) -> str:
    """The expression of a field's value."""
    if source.template is not None:
        value = f"{code.named(source.template.read)}(item[{source.stored!r}]['S'])[{name!r}]"
    elif source.codec.tag is None:
        value = f"{code.named(source.codec.decode)}(item[{source.stored!r}])"
    else:
        value = f"item[{source.stored!r}][{source.codec.tag!r}]"
    markers = (*info.metadata, *inner_markers(info.annotation))
    constrained = any(not isinstance(marker, Kind | NoSeparator | OnTop | Stored) for marker in markers)
    annotation, _ = without_none(info.annotation)
    if not constrained and annotation in _DIRECTLY and source.codec.tag is not None and source.template is None:
        make = _DIRECTLY[annotation]
        return value if make is None else f"{code.named(make)}({value})"
    checked: Any = Annotated[info.annotation, *info.metadata] if info.metadata else info.annotation
    return f"{code.named(TypeAdapter(checked).validator.validate_python)}({value})"


def _default(code: Code, info: FieldInfo) -> str:
    """The expression of what stands for an absent value; what could be changed is made anew for each item."""
    if info.default_factory is None and isinstance(info.default, _IMMUTABLE):
        return code.named(info.default)
    return f"{code.named(partial(info.get_default, call_default_factory=True))}()"


def recogniser(spec: EntitySpec) -> Callable[[Item], bool]:
    """Whether an item is of an entity, by its type attribute and the shape of its key."""
    code = Code("item")
    looks = []
    if spec.table.type_attribute is not None and spec.type is not None:
        looks.append(f"item.get({spec.table.type_attribute!r}) == {{'S': {spec.type!r}}}")
    keys = [(part.template, f"item[{part.attribute.name!r}]['S']") for part in spec.primary.parts]
    looks += [_look(code, template, text) for template, text in keys if template is not None]
    looking: Callable[[Item], bool] = code.function(" and ".join(looks) or "True")
    return looking


def _look(code: Code, template: Template, text: str) -> str:
    """The expression that says whether a text is a key of the template, without reading it where a look will do."""
    match template.parts if isinstance(template.parts[0], str) else ("", *template.parts):
        case (str(literal),):
            return f"{text} == {literal!r}"
        case (str(literal), Slot() as slot) if template.formats[slot].read is str:
            start, chosen = len(literal), template.formats[slot]
            begins = f"{text}.startswith({literal!r}) and len({text}) > {start}"
            if chosen.shapes == ((ANY,),):
                return begins
            if chosen.bare:
                return f"{begins} and {text}.find({SEPARATOR!r}, {start}) < 0"
    return f"{code.named(template.read)}({text}) is not None"
