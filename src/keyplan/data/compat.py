"""The private interfaces of pydantic that the data layer uses, each with the public way beside it.

A fast path is taken only with a release of pydantic that it was tested with; see `keyplan.design.compat`, which has the
switch for both packages.

| fast path | private interface | public interface | gain |
| --- | --- | --- | --- |
| `decodes_directly` | a class's core schema, its objects' slots | `model_validate` | 1.4 µs per item instead of 2.7 |
| `field_validator` | the core schema of a field | a model of one field | 0.04 µs per value instead of 1.0 |

With both, getting an item of 1 KB takes 18.3 µs instead of 20.7, a query of 100 such items 564 instead of 756, and an
update 82 instead of 87 (`python -m bench.data.worker`, engine in the same process, medians of 7 runs).

`has_validators` reads `__pydantic_decorators__`, since pydantic has no other way to ask. If a release doesn't have it,
every class counts as having validators: some patches then read their item first, and nothing else changes.
"""

from collections.abc import Callable, Iterator, Mapping
from copy import copy
from decimal import Decimal
from enum import Enum
from functools import cache, partial
from types import NoneType
from typing import Any, NamedTuple, TypeAlias, cast

from pydantic import AfterValidator, BaseModel, BeforeValidator, PlainValidator, WrapValidator, create_model
from pydantic_core import CoreConfig, SchemaValidator

from keyplan.design import Entity
from keyplan.design import compat as switch
from keyplan.design.values.absence import NOTHING

Schema: TypeAlias = Mapping[str, Any]
Validate: TypeAlias = Callable[[object], object]

_DIRECT: Mapping[str, type | None] = {"str": None, "bool": None, "int": int, "decimal": Decimal}
"""Schemas whose values need no validation, with the type to convert stored content to; None to take it as it is."""

_IMMUTABLE = (str, int, float, bool, bytes, Decimal, Enum, NoneType)

_SILENT = {"title", "extra_fields_behavior"}
"""Settings of a class that make no difference to the values of its fields."""

_VALIDATORS = (AfterValidator, BeforeValidator, PlainValidator, WrapValidator)

_OWN = {"model", "dataclass"}
"""Schemas for which pydantic may use the validator of their class instead."""

_SLOTS = {"fields": "__dict__", "given": "__pydantic_fields_set__"}
_EMPTY_SLOTS = ("__pydantic_extra__", "__pydantic_private__")


class Conversion(NamedTuple):
    """How stored content becomes a field's value without validation; with None as `make`, it is taken as it is."""

    make: type | None


# Objects without validation


def decodes_directly(entity: type[Entity]) -> bool:
    """Whether entities of a class can be built field by field, because no validator sees more than one field."""
    return switch.fast_paths and not _has_hooks(entity)


def needs_whole_items(entity: type[Entity]) -> bool:
    """Whether a class computes something from several fields, so that none of them can be read by itself."""
    return _has_hooks(entity) if switch.fast_paths else _may_have_hooks(entity)


def slot_setters() -> tuple[dict[str, Callable[[object, object], None]], list[Callable[[object, object], None]]]:
    """The functions that set the slots of a new object: for its fields and their names, and those to set to None."""
    slots: Mapping[str, Any] = vars(BaseModel)
    return {name: slots[slot].__set__ for name, slot in _SLOTS.items()}, [slots[slot].__set__ for slot in _EMPTY_SLOTS]


def direct_conversion(entity: type[Entity], name: str) -> Conversion | None:
    """How to convert a field's stored content without validation; None if it must be validated."""
    schema = _without_default(_fields(entity)[name]["schema"])
    schema = schema["schema"] if schema["type"] == "nullable" else schema
    if schema.keys() <= {"type", "metadata"} and schema["type"] in _DIRECT and _is_silent(entity):
        return Conversion(_DIRECT[schema["type"]])
    return None


def lasting_default(entity: type[Entity], name: str) -> object:
    """A field's default if it is immutable, so that all objects can share it; otherwise `NOTHING`."""
    schema = _fields(entity)[name]["schema"]
    lasting = _is_silent(entity) and "validate_default" not in schema
    if lasting and isinstance(schema.get("default", ...), _IMMUTABLE):
        found: object = schema["default"]
        return found
    return NOTHING


def default_factory(entity: type[Entity], name: str) -> Callable[[], object]:
    """A function that returns a new default for a field."""
    if not switch.fast_paths:
        return partial(entity.model_fields[name].get_default, call_default_factory=True)
    default = _schema_validator(entity, name).get_default_value

    def make() -> object:
        some = default()
        assert some is not None
        return some.value

    return make


# The value of one field


@cache
def field_validator(entity: type[Entity], name: str) -> Validate:
    """A function that validates one field's stored content as its class does. Nested fields go by their names."""
    return _by_schema(entity, name) if decodes_directly(entity) else _by_model(entity, name)


def has_unchecked_times(entity: type[Entity], name: str) -> bool:
    """Whether a field contains times that its validator accepts without a zone, so that they must be checked.

    A validator of the class may add the zone, and pydantic reads a nested model by the model's own schema.
    """
    kinds = {str(each.get("type")) for each in _inside(_field_schema(entity, name))}
    return "datetime" in kinds and any(kind in _OWN or kind.startswith("function-") for kind in kinds)


def _by_schema(entity: type[Entity], name: str) -> Validate:
    validate = _schema_validator(entity, name).validate_python
    if not any("validation_alias" in each for each in _inside(_field_schema(entity, name))):
        return validate
    return lambda value: validate(value, by_alias=False, by_name=True)


def _by_model(entity: type[Entity], name: str) -> Validate:
    """The same with public means: a class that requires only this field, with the validators declared for it."""
    if _sees_whole_objects(entity):
        model = field_model(entity, name)
    else:
        others: dict[str, Any] = {other: (Any, None) for other in entity.model_fields if other != name}
        bases: Any = (_NoTable, entity)
        model = create_model(entity.__name__, __base__=bases, **others)
    return lambda value: model.model_validate({name: value}, by_alias=False, by_name=True).__dict__[name]


class _NoTable:
    """Keeps a class that only validates from being declared as another entity of the table that it inherits."""

    inherited_table = None


def _sees_whole_objects(entity: type[Entity]) -> bool:
    """Whether a class has code that needs the other fields too."""
    own = [each for each in entity.__mro__ if issubclass(each, Entity) and each is not Entity]
    hooks = {vars(each).get(name) for each in own for name in ("__init__", "model_post_init")} - {None}
    # pydantic itself adds a hook to classes with private attributes.
    made_here = any(not hook.__module__.startswith("pydantic.") for hook in hooks)
    return made_here or _decorators(entity, "model_validators")


@cache
def field_model(entity: type[Entity], name: str) -> type[BaseModel]:
    """A model with one field of an entity, without the validators of its class."""
    info = entity.model_fields[name]
    field: Any = {name: (info.annotation, copy(info))}
    return create_model(entity.__name__, __config__=entity.model_config, **field)


def has_validators(entity: type[BaseModel]) -> bool:
    """Whether a class declares validators for fields or for the whole model."""
    return _decorators(entity, "model_validators") or _decorators(entity, "field_validators")


def _decorators(entity: type[BaseModel], kind: str) -> bool:
    return bool(getattr(getattr(entity, "__pydantic_decorators__", None), kind, True))


# The core schema of a class


def _class(entity: type[Entity]) -> Schema:
    """The schema of a class, without definitions around it."""
    whole: Schema = entity.__pydantic_core_schema__
    schema: Schema = whole["schema"] if whole["type"] == "definitions" else whole
    if schema["type"] == "definition-ref":  # a class that contains itself
        return next(each for each in whole["definitions"] if each["ref"] == schema["schema_ref"])
    return schema


def _model(entity: type[Entity]) -> Schema:
    """The part of a class's schema that builds its objects, without validators around it."""
    return _within(_class(entity), "model")


def _fields(entity: type[Entity]) -> Mapping[str, Schema]:
    return cast(Mapping[str, Schema], _within(_model(entity)["schema"], "model-fields")["fields"])


def _within(schema: Schema, kind: str) -> Schema:
    while schema["type"] != kind:
        schema = schema["schema"]
    return schema


def _has_hooks(entity: type[Entity]) -> bool:
    """Whether a validator sees more than one field's value: one of the whole class, or one that gets other values."""
    model = _model(entity)
    if model is not _class(entity) or model["schema"]["type"] != "model-fields":
        return True
    if model.get("custom_init") or "post_init" in model or _config(entity).get("extra_fields_behavior") == "allow":
        return True
    return any(
        each.get("type") == "with-info" or each.get("default_factory_takes_data")
        for each in _inside(entity.__pydantic_core_schema__)
    )


def _may_have_hooks(entity: type[Entity]) -> bool:
    """The same with public means. What can't be told counts, such as whether a validator looks at other fields."""
    if _sees_whole_objects(entity) or _decorators(entity, "field_validators"):
        return True
    return any(
        info.default_factory_takes_validated_data or any(isinstance(each, _VALIDATORS) for each in info.metadata)
        for info in entity.model_fields.values()
    )


def _config(entity: type[Entity]) -> Mapping[str, object]:
    return cast(Mapping[str, object], _model(entity).get("config") or {})


def _is_silent(entity: type[Entity]) -> bool:
    return _config(entity).keys() <= _SILENT


def _without_default(schema: Schema) -> Schema:
    return cast(Schema, schema["schema"]) if schema["type"] == "default" else schema


def _inside(schema: object) -> Iterator[Schema]:
    """A schema and all schemas nested in it."""
    if isinstance(schema, Mapping):
        yield schema
        for each in schema.values():
            yield from _inside(each)
    elif isinstance(schema, list | tuple):
        for each in schema:
            yield from _inside(each)


def _field_schema(entity: type[Entity], name: str) -> Schema:
    """The schema of one field."""
    whole: Schema = entity.__pydantic_core_schema__
    schema: Schema = _fields(entity)[name]["schema"]
    if whole["type"] != "definitions":
        return schema
    return {"type": "definitions", "schema": schema, "definitions": whole["definitions"]}


@cache
def _schema_validator(entity: type[Entity], name: str) -> SchemaValidator:
    schema = _field_schema(entity, name)
    if not has_unchecked_times(entity, name):
        schema = _with_zones(schema)
    return SchemaValidator(schema, cast(CoreConfig, _config(entity)))


def _with_zones(schema: Any) -> Any:  # noqa: ANN401 - schemas are of any kind
    """The schema, but times without a zone are refused."""
    if isinstance(schema, list):
        return [_with_zones(each) for each in schema]
    if isinstance(schema, Mapping):
        required = {"tz_constraint": "aware"} if schema.get("type") == "datetime" else {}
        return {name: _with_zones(each) for name, each in schema.items()} | required
    return schema
