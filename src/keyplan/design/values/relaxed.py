"""Types without their limits, with which entities are made and read.

Limits are also removed inside lists, dicts, unions and aliases, and inside models, `TypedDict`s and named tuples that
are part of an entity.
"""

from collections.abc import Iterator, Mapping
from copy import copy
from types import new_class
from typing import Annotated, Any, NotRequired, Required, TypeGuard, get_args, get_origin

from annotated_types import Ge, Gt, Interval, Le, Len, Lt, MaxLen, MinLen, MultipleOf
from pydantic import (
    BaseModel,
    ConfigDict,
    GetCoreSchemaHandler,
    StringConstraints,
    ValidatorFunctionWrapHandler,
    create_model,
)
from pydantic.fields import FieldInfo
from pydantic_core import CoreSchema, core_schema
from typing_extensions import ReadOnly, TypeAliasType, is_typeddict

from keyplan.design.values.aliases import aliased, expanded, is_alias, mapped_type, member_types, same
from keyplan.design.values.annotations import has_members
from keyplan.design.values.limits import Limit

_LIMITS = (Gt, Ge, Lt, Le, Interval, MultipleOf, MinLen, MaxLen, Len)
_LIMITING = frozenset("pattern min_length max_length max_digits decimal_places multiple_of gt ge lt le".split())
"""The arguments of pydantic's `Field` that limit a value."""


def relaxed(annotation: Any) -> Any:  # noqa: ANN401 - types are of any kind
    """The type without limits. The same object if it has none."""
    plain = expanded(annotation)
    if plain is not annotation:
        loose = relaxed(plain)
        return annotation if loose is plain else loose
    metadata = getattr(annotation, "__metadata__", None)
    if metadata is not None:
        done = any(isinstance(mark, AsStored) for mark in metadata)
        inner = annotation.__origin__ if done else relaxed(annotation.__origin__)
        kept = [each for mark in metadata for each in _kept(mark)]
        if inner is annotation.__origin__ and same(kept, metadata):
            return annotation
        return Annotated[(inner, *kept)] if kept else inner
    if _is_model(annotation) or has_members(annotation) or is_alias(annotation):
        return _relaxed_part(annotation)
    return mapped_type(annotation, relaxed)


def relaxed_field(info: FieldInfo) -> FieldInfo:
    """The field without limits. The same object if it has none."""
    annotation, kept = relaxed(info.annotation), [each for mark in info.metadata for each in _kept(mark)]
    if annotation is info.annotation and same(kept, info.metadata):
        return info
    changed = copy(info)
    changed.annotation, changed.metadata = annotation, kept
    return changed


def relax(model: type[BaseModel]) -> None:
    """Remove the limits from a model's own fields, so that it checks types only."""
    for name, info in model.model_fields.items():
        model.model_fields[name] = relaxed_field(info)
    model.model_rebuild(force=True)


def is_limit(mark: object) -> bool:
    """Whether a marker of a type limits its values."""
    return [*_kept(mark)] != [mark]


def _kept(mark: Any) -> Iterator[Any]:  # noqa: ANN401 - a marker can be anything
    """A marker of a type without its limits, if anything is left of it."""
    if isinstance(mark, StringConstraints):
        conversions = StringConstraints(
            strip_whitespace=mark.strip_whitespace, to_upper=mark.to_upper, to_lower=mark.to_lower, strict=mark.strict
        )
        if conversions == mark:
            yield mark
        elif conversions != StringConstraints():
            yield conversions
    elif isinstance(mark, FieldInfo):
        yield relaxed_field(mark)
    elif not isinstance(mark, (Limit, *_LIMITS)) and not _LIMITING & _vars_of(mark).keys():
        yield mark


def _vars_of(thing: object) -> Mapping[str, object]:
    """The attributes of an object, if it has any. pydantic collects some limits in such objects."""
    return getattr(thing, "__dict__", {})


# Parts: types that have members with types of their own. A part may contain itself.


class AsStored:
    """Reads a part of an entity without checking its limits."""

    twin: Any
    """The part's type without its limits."""

    def __init__(self, kind: Any) -> None:  # noqa: ANN401 - types are of any kind
        self.kind = kind

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        # With the twin inside, so that choices find their discriminator, and documents of the API its fields.
        schema = handler.generate_schema(self.twin)
        if not isinstance(self.twin, type) or is_typeddict(self.twin):
            return schema
        read = self._read_model if issubclass(self.twin, BaseModel) else self._read_tuple
        return core_schema.no_info_wrap_validator_function(
            read, schema, serialization=core_schema.simple_ser_schema("any")
        )

    def _read_model(self, value: object, read: ValidatorFunctionWrapHandler) -> object:
        if type(value) is not dict and isinstance(value, self.kind):  # `isinstance` is slow with pydantic's models
            return value
        found: BaseModel = read(value)
        object.__setattr__(found, "__class__", self.kind)  # the twin differs in what it checks, and is nobody else's
        return found

    def _read_tuple(self, value: object, read: ValidatorFunctionWrapHandler) -> object:
        return self.kind._make(read(value))


_parts: dict[Any, Any] = {}
_VALUE = "value"
"""The only member of an alias."""
_ABOUT = ("__module__", "__doc__", "__pydantic_config__")
"""What a `TypedDict` doesn't inherit."""


def _is_model(kind: object) -> TypeGuard[type[BaseModel]]:
    return isinstance(kind, type) and get_origin(kind) is None and issubclass(kind, BaseModel)


def _relaxed_part(kind: Any) -> Any:  # noqa: ANN401 - types are of any kind
    if kind not in _parts:
        known = set(_parts)
        _parts[kind] = kind  # within itself, until a limit is found
        if _without_limits(kind):
            for other in _parts.keys() - known:  # they may contain this one
                del _parts[other]
            reading = AsStored(kind)
            _parts[kind] = Annotated[kind, reading]
            reading.twin = _twin(kind, _without_limits(kind))
    return _parts[kind]


def _without_limits(kind: Any) -> dict[str, Any]:  # noqa: ANN401 - types are of any kind
    """The members of a part that have limits, without them."""
    if _is_model(kind):
        fields = {name: (info, relaxed_field(info)) for name, info in kind.model_fields.items()}
        return {name: (new.annotation, new) for name, (old, new) in fields.items() if new is not old}
    members = {_VALUE: aliased(kind)} if is_alias(kind) else member_types(kind)
    pairs = {name: (each, relaxed(each)) for name, each in members.items()}
    return {name: new for name, (old, new) in pairs.items() if new is not old}


def _twin(kind: Any, changed: dict[str, Any]) -> Any:  # noqa: ANN401 - types are of any kind
    """A part's type without its limits."""
    if is_alias(kind):
        return TypeAliasType((get_origin(kind) or kind).__name__, changed[_VALUE])
    if _is_model(kind):
        settings = ConfigDict(from_attributes=True, defer_build=True)
        base = type(kind.__name__, (kind,), {"model_config": settings, "__doc__": None})
        return create_model(kind.__name__, __base__=base, __doc__=kind.__doc__, **changed)
    declared, members = get_origin(kind) or kind, member_types(kind) | changed
    if is_typeddict(declared):
        members = {name: _qualified(declared, name, each) for name, each in members.items()}
    kept = {name: getattr(declared, name) for name in _ABOUT if hasattr(declared, name)}
    return new_class(declared.__name__, (declared,), exec_body=lambda made: made.update(kept, __annotations__=members))


def _qualified(kind: Any, name: str, member: Any) -> Any:  # noqa: ANN401 - types are of any kind
    """The type of a member of a `TypedDict`, with whether it is required."""
    inner = member
    while get_origin(inner) in (Annotated, ReadOnly):
        inner = get_args(inner)[0]
    if get_origin(inner) in (Required, NotRequired):
        return member
    return Required[member] if name in kind.__required_keys__ else NotRequired[member]
