"""Reading items quickly: functions for each entity that recognize its items and make entities of them.

What a field takes is asked of pydantic's own schema of the class, so that an entity that was read quickly is the one
that the class itself would have made.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from enum import Enum
from functools import cache
from types import NoneType
from typing import Any, NamedTuple, TypeAlias, TypeVar, cast

from pydantic import BaseModel
from pydantic_core import CoreConfig, SchemaValidator

from keyplan.data.codec.codegen import GeneratedFunction
from keyplan.data.codec.values import AttributeValue, Item, ValueCodec
from keyplan.design import Entity
from keyplan.design.absence import NOTHING
from keyplan.design.entity import EntitySpec, FieldSpec, SharedNames
from keyplan.design.formats import ANY
from keyplan.design.templates import SEPARATOR, Slot, Template

E = TypeVar("E", bound=Entity)
Schema: TypeAlias = Mapping[str, Any]

_DIRECTLY: Mapping[str, type | None] = {"str": None, "bool": None, "int": int, "decimal": Decimal}
"""Schemas whose values need no check, with what makes them of the stored content where that is not the value itself."""

_IMMUTABLE = (str, int, float, bool, bytes, Decimal, Enum, NoneType)

_SILENT = {"title", "extra_fields_behavior"}
"""Settings of a class that make no difference to the values of its fields."""


class FieldSource(NamedTuple):
    """Where the value of a field is: in an attribute of its own, or in a key that is made by a template."""

    field: FieldSpec
    codec: ValueCodec
    template: Template | None = None


def build_decoder(entity: type[E], sources: Mapping[str, FieldSource]) -> Callable[[Item], E] | None:
    """A function from items to entities; None where a class has hooks of its own that have to see the whole item."""
    if _has_hooks(entity):
        return None
    code = GeneratedFunction("item")
    code.lines += _reading(code, entity, sources)
    read: Callable[[Item], E] = code.function("entity")
    return read


def build_list_decoder(
    entity: type[E], sources: Mapping[str, FieldSource], *, without: str
) -> Callable[[Sequence[Item]], list[E]] | None:
    """The same for a list of items: all are of this entity, and none has the attribute, or it is not as written."""
    if _has_hooks(entity):
        return None
    code = GeneratedFunction("items")
    others = f"{without!r} in item or not ({_looks(code, entity.spec)})"
    each = [f"if {others}: raise ValueError", *_reading(code, entity, sources), "found.append(entity)"]
    code.lines += ["found = []", "for item in items:", *(f"    {line}" for line in each)]
    read: Callable[[Sequence[Item]], list[E]] = code.function("found")
    return read


def _reading(code: GeneratedFunction, entity: type[Entity], sources: Mapping[str, FieldSource]) -> list[str]:
    """The lines that make an entity of an item."""
    fields, absences = [], {}
    for name, source in sources.items():
        value, there = _value(code, entity, source), f"{source.field.stored!r} in item"
        if not entity.model_fields[name].is_required():
            value = f"{value} if {there} else {_default(code, entity, name)}"
            absences[there] = f"    if not {there}: given.remove({name!r})"
        elif source.field.absent is not NOTHING:
            instead = f"{code.named(field_validator(entity, name))}({source.field.absent!r})"
            value = f"{value} if {there} else {instead}"
        fields.append(f"{name!r}: {value},")
    members = {
        "__dict__": "fields",
        "__pydantic_fields_set__": "given",
        "__pydantic_extra__": "None",
        "__pydantic_private__": "None",
    }
    own = [f"if not ({' and '.join(absences)}):", f"    given = set({code.named(frozenset(sources))})"]
    return [
        *("fields = {", *fields, "}"),
        f"given = {code.named(SharedNames(sources))}",
        *((*own, *absences.values()) if absences else ()),
        f"entity = {code.named(object.__new__)}({code.named(entity)})",
        *(f"{code.named(BaseModel.__dict__[slot].__set__)}(entity, {value})" for slot, value in members.items()),
        f"{code.named(Entity.__dict__['__keyplan_stored__'].__set__)}(entity, item)",
    ]


# pydantic's schema of a class


def _class(entity: type[Entity]) -> Schema:
    """The schema of a class, without the definitions that it may name."""
    whole: Schema = entity.__pydantic_core_schema__
    schema: Schema = whole["schema"] if whole["type"] == "definitions" else whole
    if schema["type"] == "definition-ref":  # of a class that holds others of its kind
        return next(each for each in whole["definitions"] if each["ref"] == schema["schema_ref"])
    return schema


def _model(entity: type[Entity]) -> Schema:
    """The part of a class's schema that makes its objects, within whatever functions stand around it."""
    return _within(_class(entity), "model")


def _fields(entity: type[Entity]) -> Mapping[str, Schema]:
    return cast(Mapping[str, Schema], _within(_model(entity)["schema"], "model-fields")["fields"])


def _within(schema: Schema, kind: str) -> Schema:
    while schema["type"] != kind:
        schema = schema["schema"]
    return schema


def _has_hooks(entity: type[Entity]) -> bool:
    """Whether something sees more than the value of one field: functions around the class, or with a look at others."""
    model = _model(entity)
    if model is not _class(entity) or model["schema"]["type"] != "model-fields":
        return True
    if model.get("custom_init") or "post_init" in model or _config(entity).get("extra_fields_behavior") == "allow":
        return True
    return any(
        each.get("type") == "with-info" or each.get("default_factory_takes_data")
        for each in _inside(entity.__pydantic_core_schema__)
    )


def _config(entity: type[Entity]) -> Mapping[str, object]:
    return cast(Mapping[str, object], _model(entity).get("config") or {})


def _inside(schema: object) -> Iterator[Schema]:
    """A schema and the schemas inside it."""
    if isinstance(schema, Mapping):
        yield schema
        for each in schema.values():
            yield from _inside(each)
    elif isinstance(schema, list | tuple):
        for each in schema:
            yield from _inside(each)


def _field_schema(entity: type[Entity], name: str) -> Schema:
    """The schema of a field by itself."""
    whole: Schema = entity.__pydantic_core_schema__
    schema: Schema = _fields(entity)[name]["schema"]
    if whole["type"] != "definitions":
        return schema
    return {"type": "definitions", "schema": schema, "definitions": whole["definitions"]}


@cache
def _validator(entity: type[Entity], name: str) -> SchemaValidator:
    return SchemaValidator(_field_schema(entity, name), cast(CoreConfig, _config(entity)))


@cache
def field_validator(entity: type[Entity], name: str) -> Callable[[object], object]:
    """A function that makes a field's value of stored content, as the class does; fields inside it by their names."""
    validate = _validator(entity, name).validate_python
    if not any("validation_alias" in each for each in _inside(_field_schema(entity, name))):
        return validate
    return lambda value: validate(value, by_alias=False, by_name=True)


def _value(code: GeneratedFunction, entity: type[Entity], source: FieldSource) -> str:
    """The expression of a field's value."""
    name, stored = source.field.name, source.field.stored
    validated = f"{code.named(field_validator(entity, name))}"
    if source.template is not None:
        return f"{validated}({code.named(source.template.read)}(item[{stored!r}]['S'])[{name!r}])"
    if source.codec.tag is None:
        return f"{validated}({code.named(source.codec.decode)}({code.named(_present)}(item[{stored!r}])))"
    value = f"item[{stored!r}][{source.codec.tag!r}]"
    schema = _without_default(_fields(entity)[name]["schema"])
    schema = schema["schema"] if schema["type"] == "nullable" else schema
    if schema.keys() <= {"type", "metadata"} and schema["type"] in _DIRECTLY and _is_silent(entity):
        make = _DIRECTLY[schema["type"]]
        return value if make is None else f"{code.named(make)}({value})"
    return f"{validated}({value})"


def _present(value: AttributeValue) -> AttributeValue:
    """A stored value that is not NULL, which counts as absent."""
    if "NULL" in value:
        raise ValueError("NULL")
    return value


def _is_silent(entity: type[Entity]) -> bool:
    return _config(entity).keys() <= _SILENT


def _without_default(schema: Schema) -> Schema:
    return cast(Schema, schema["schema"]) if schema["type"] == "default" else schema


def _default(code: GeneratedFunction, entity: type[Entity], name: str) -> str:
    """The expression of what stands for an absent value; what could be changed is made anew for each item."""
    schema = _fields(entity)[name]["schema"]
    if _is_silent(entity) and "validate_default" not in schema and isinstance(schema.get("default", ...), _IMMUTABLE):
        return code.named(schema["default"])
    return f"{code.named(_validator(entity, name).get_default_value)}().value"


def build_recognizer(spec: EntitySpec) -> Callable[[Item], bool]:
    """Whether an item is of an entity, by its type attribute and the shape of its key."""
    code = GeneratedFunction("item")
    looking: Callable[[Item], bool] = code.function(_looks(code, spec))
    return looking


def _looks(code: GeneratedFunction, spec: EntitySpec) -> str:
    """The expression that says whether an item is of an entity."""
    looks = []
    if spec.table.type_attribute is not None and spec.type is not None:
        looks.append(f"item.get({spec.table.type_attribute!r}) == {{'S': {spec.type!r}}}")
    keys = [(part.template, f"item[{part.attribute.name!r}]['S']") for part in spec.primary.parts]
    looks += [_look(code, template, text) for template, text in keys if template is not None]
    return " and ".join(looks) or "True"


def _look(code: GeneratedFunction, template: Template, text: str) -> str:
    """The expression that says whether a text is a key of the template, without reading it where a look will do."""
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
