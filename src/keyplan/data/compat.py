"""The private interfaces of pydantic that the data layer uses, each with the public way beside it.

A fast path is taken only with a release of pydantic that it was tested with; see `keyplan.design.compat`, which has the
switch for both packages.

| fast path | private interface | public interface | gain |
| --- | --- | --- | --- |
| `decodes_directly` | a class's core schema, its objects' slots | `model_validate` | 1.4 µs an item, not 2.7 |
| `field_validator` | the core schema of a field | a model of one field | 0.04 µs a value, not 1.0 |

With both, a get of an item of 1 KB takes 18.3 µs and not 20.7, a query of 100 of them 564 and not 756, an update 82 and
not 87 (`python -m bench.data.worker`, the engine in the same process, medians of 7 turns).

`has_validators` reads `__pydantic_decorators__`, for which there is no other way. Where pydantic has it no more, every
class is taken for one with validators, which costs a request in some patches and changes nothing else.
"""

from collections.abc import Callable, Iterator, Mapping
from copy import copy
from decimal import Decimal
from enum import Enum
from functools import cache
from types import NoneType
from typing import Any, NamedTuple, TypeAlias, cast

from pydantic import BaseModel, create_model
from pydantic_core import CoreConfig, SchemaValidator

from keyplan.design import Entity
from keyplan.design import compat as switch
from keyplan.design.absence import NOTHING

Schema: TypeAlias = Mapping[str, Any]
Validate: TypeAlias = Callable[[object], object]

_DIRECT: Mapping[str, type | None] = {"str": None, "bool": None, "int": int, "decimal": Decimal}
"""Schemas whose values need no check, with what makes them of the stored content where that is not the value itself."""

_IMMUTABLE = (str, int, float, bool, bytes, Decimal, Enum, NoneType)

_SILENT = {"title", "extra_fields_behavior"}
"""Settings of a class that make no difference to the values of its fields."""

_SLOTS = {"fields": "__dict__", "given": "__pydantic_fields_set__"}
_EMPTY_SLOTS = ("__pydantic_extra__", "__pydantic_private__")


class Conversion(NamedTuple):
    """How a field's value is made of stored content that needs no check; `make` is None where it is the content."""

    make: type | None


# Objects without validation


def decodes_directly(entity: type[Entity]) -> bool:
    """Whether objects of a class may be made field by field, since nothing in it sees more than one field's value."""
    return switch.fast_paths and not _has_hooks(entity)


def slot_setters() -> tuple[dict[str, Callable[[object, object], None]], list[Callable[[object, object], None]]]:
    """The functions that fill the slots of a new object: for its fields and their names, and those that stay empty."""
    slots: Mapping[str, Any] = vars(BaseModel)
    return {name: slots[slot].__set__ for name, slot in _SLOTS.items()}, [slots[slot].__set__ for slot in _EMPTY_SLOTS]


def direct_conversion(entity: type[Entity], name: str) -> Conversion | None:
    """How to make a field's value of its stored content without a check; None where it has to be validated."""
    schema = _without_default(_fields(entity)[name]["schema"])
    schema = schema["schema"] if schema["type"] == "nullable" else schema
    if schema.keys() <= {"type", "metadata"} and schema["type"] in _DIRECT and _is_silent(entity):
        return Conversion(_DIRECT[schema["type"]])
    return None


def lasting_default(entity: type[Entity], name: str) -> object:
    """A field's default where it can be shared by all objects, since nobody can change it; else `NOTHING`."""
    schema = _fields(entity)[name]["schema"]
    lasting = _is_silent(entity) and "validate_default" not in schema
    if lasting and isinstance(schema.get("default", ...), _IMMUTABLE):
        found: object = schema["default"]
        return found
    return NOTHING


def default_factory(entity: type[Entity], name: str) -> Callable[[], object]:
    """A function that makes a field's default for one object."""
    default = _schema_validator(entity, name).get_default_value

    def make() -> object:
        some = default()
        assert some is not None
        return some.value

    return make


# The value of one field


@cache
def field_validator(entity: type[Entity], name: str) -> Validate:
    """A function that makes a field's value of stored content, as the class does; fields inside it by their names."""
    return _by_schema(entity, name) if decodes_directly(entity) else _by_model(entity, name)


def _by_schema(entity: type[Entity], name: str) -> Validate:
    validate = _schema_validator(entity, name).validate_python
    if not any("validation_alias" in each for each in _inside(_field_schema(entity, name))):
        return validate
    return lambda value: validate(value, by_alias=False, by_name=True)


def _by_model(entity: type[Entity], name: str) -> Validate:
    """The same with public means: a class with the one field, which keeps the validators that are declared for it."""
    if _sees_whole_objects(entity):
        model = field_model(entity, name)
    else:
        others: dict[str, Any] = {other: (Any, None) for other in entity.model_fields if other != name}
        model = create_model(entity.__name__, __base__=entity, **others)
    return lambda value: model.model_validate({name: value}, by_alias=False, by_name=True).__dict__[name]


def _sees_whole_objects(entity: type[Entity]) -> bool:
    """Whether a class has code that would miss the other fields."""
    own = [each for each in entity.__mro__ if issubclass(each, Entity) and each is not Entity]
    hooks = {vars(each).get(name) for each in own for name in ("__init__", "model_post_init")} - {None}
    # pydantic makes a hook itself for a class with private attributes.
    made_here = any(not hook.__module__.startswith("pydantic.") for hook in hooks)
    return made_here or _decorators(entity, "model_validators")


@cache
def field_model(entity: type[Entity], name: str) -> type[BaseModel]:
    """A model of one field of an entity, which takes values as the entity does, but for validators of the class."""
    info = entity.model_fields[name]
    field: Any = {name: (info.annotation, copy(info))}
    return create_model(entity.__name__, __config__=entity.model_config, **field)


def has_validators(entity: type[Entity]) -> bool:
    """Whether a class has validators of its own, for fields or for the whole."""
    return _decorators(entity, "model_validators") or _decorators(entity, "field_validators")


def _decorators(entity: type[Entity], kind: str) -> bool:
    return bool(getattr(getattr(entity, "__pydantic_decorators__", None), kind, True))


# The core schema of a class


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


def _is_silent(entity: type[Entity]) -> bool:
    return _config(entity).keys() <= _SILENT


def _without_default(schema: Schema) -> Schema:
    return cast(Schema, schema["schema"]) if schema["type"] == "default" else schema


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
def _schema_validator(entity: type[Entity], name: str) -> SchemaValidator:
    return SchemaValidator(_field_schema(entity, name), cast(CoreConfig, _config(entity)))
