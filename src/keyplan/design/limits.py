"""Limits: what a value must be besides its type, such as a length, a range or a pattern.

Limits are declared with a field's type: `Annotated[str, StringConstraints(max_length=200)]`, `Annotated[int,
Field(ge=1)]`, or `Annotated[str, limit(check)]` with a function of your own. They are checked whenever an item is
written. Creating and reading an entity checks types only: an item that was stored under looser limits can still be
read, listed and changed in its other fields.

Other validators (`BeforeValidator`, `AfterValidator` and so on) convert values, and always run.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from copy import copy
from dataclasses import dataclass
from functools import cached_property, reduce
from operator import or_
from types import UnionType
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin

from annotated_types import Ge, Gt, Interval, Le, Len, Lt, MaxLen, MinLen, MultipleOf
from pydantic import (
    BaseModel,
    ConfigDict,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    StringConstraints,
    TypeAdapter,
    ValidationError,
    ValidatorFunctionWrapHandler,
    create_model,
)
from pydantic.fields import FieldInfo
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

from keyplan.design.errors import InvalidValue
from keyplan.design.joint_limits import JointLimit

_LIMITS = (Gt, Ge, Lt, Le, Interval, MultipleOf, MinLen, MaxLen, Len)
_LIMITING = frozenset("pattern min_length max_length max_digits decimal_places multiple_of gt ge lt le".split())
"""The arguments of pydantic's `Field` that limit a value."""

WRITTEN: Final = "written"
"""The context in which pydantic checks what is about to be written: nothing converts it any more."""
CHECKED_ON_WRITE: Final = "checked on write"
"""The context in which a text of one line may be as it was stored: a form sends what nobody changed, too."""


@dataclass(frozen=True)
class Limit:
    """A limit that a function checks; see `limit`."""

    check: Callable[[Any], object]
    pattern: str | None = None
    in_bodies: bool = True

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_after_validator_function(self._checked, handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {**handler(schema), **({} if self.pattern is None else {"pattern": self.pattern})}

    def _checked(self, value: object) -> object:
        self.check(value)
        return value


def limit(check: Callable[[Any], object], *, pattern: str | None = None, in_bodies: bool = True) -> Limit:
    """A limit of your own: `Annotated[str, limit(check)]`. `check` raises `ValueError` with a sentence for people.

    `pattern` is the pattern in the API's OpenAPI document. With `in_bodies=False`, the limit is checked when an item is
    written but not when a body is read: use it if the service refuses such values with a code of its own.
    """
    return Limit(check, pattern, in_bodies)


# Types without their limits


def relaxed(annotation: Any) -> Any:  # noqa: ANN401 - types are of any kind
    """The type without limits. The same object if it has none."""
    metadata = getattr(annotation, "__metadata__", None)
    if metadata is not None:
        inner, kept = relaxed(annotation.__origin__), [each for mark in metadata for each in _kept(mark)]
        if inner is annotation.__origin__ and _same(kept, metadata):
            return annotation
        return Annotated[(inner, *kept)] if kept else inner
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return _relaxed_model(annotation)
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is None or origin is Literal:
        return annotation
    changed = tuple(relaxed(each) for each in arguments)
    if _same(changed, arguments):
        return annotation
    return reduce(or_, changed) if origin in (Union, UnionType) else origin[changed]


def relaxed_field(info: FieldInfo) -> FieldInfo:
    """The field without limits. The same object if it has none."""
    annotation, kept = relaxed(info.annotation), [each for mark in info.metadata for each in _kept(mark)]
    if annotation is info.annotation and _same(kept, info.metadata):
        return info
    changed = copy(info)
    changed.annotation, changed.metadata = annotation, kept
    return changed


def _same(ones: Any, others: Any) -> bool:  # noqa: ANN401 - sequences of anything
    return len(ones) == len(others) and all(one is other for one, other in zip(ones, others, strict=True))


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
    elif not isinstance(mark, (Limit, *_LIMITS)) and not _LIMITING & vars_of(mark).keys():
        yield mark


def vars_of(thing: object) -> Mapping[str, object]:
    """The attributes of an object, if it has any. pydantic collects some limits in such objects."""
    return getattr(thing, "__dict__", {})


class AsStored:
    """Reads a model inside an entity without checking its limits."""

    twin: type[BaseModel]
    """The model without its limits."""

    def __init__(self, model: type[BaseModel]) -> None:
        self.model = model

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        # With the twin inside, so that choices find their discriminator, and documents of the API its fields.
        return core_schema.no_info_wrap_validator_function(
            self._read, handler.generate_schema(self.twin), serialization=core_schema.simple_ser_schema("any")
        )

    def _read(self, value: object, read: ValidatorFunctionWrapHandler) -> object:
        if isinstance(value, self.model):
            return value
        found: BaseModel = read(value)
        object.__setattr__(found, "__class__", self.model)  # the twin differs in what it checks, and is nobody else's
        return found


_models: dict[type[BaseModel], Any] = {}


def _relaxed_model(model: type[BaseModel]) -> Any:  # noqa: ANN401 - a type
    if model not in _models:
        known = set(_models)
        _models[model] = model  # within itself, until a limit is found
        if _without_limits(model):
            for other in _models.keys() - known:  # they may contain this one
                del _models[other]
            reading = AsStored(model)
            _models[model] = Annotated[model, reading]
            settings = ConfigDict(from_attributes=True, defer_build=True)
            base = type(model.__name__, (model,), {"model_config": settings, "__doc__": None})
            changed = _without_limits(model)
            reading.twin = create_model(model.__name__, __base__=base, __doc__=model.__doc__, **changed)
    return _models[model]


def _without_limits(model: type[BaseModel]) -> dict[str, Any]:
    """The fields of a model that have limits, without them."""
    fields = {name: (info, relaxed_field(info)) for name, info in model.model_fields.items()}
    return {name: (new.annotation, new) for name, (old, new) in fields.items() if new is not old}


def relax(model: type[BaseModel]) -> None:
    """Remove the limits from a model's own fields, so that it checks types only."""
    for name, info in model.model_fields.items():
        model.model_fields[name] = relaxed_field(info)
    model.model_rebuild(force=True)


# Checking


class EntityLimits:
    """The limits of an entity's fields, which are checked when its items are written."""

    def __init__(self, place: str, declared: Mapping[str, FieldInfo], joint: Sequence[JointLimit] = ()) -> None:
        self.place = place
        self.joint = joint
        """The limits on several fields together."""
        self.fields = {name: info for name, info in declared.items() if relaxed_field(info) is not info}
        """The fields that have limits, as they were declared."""

    def check(self, values: Mapping[str, object]) -> None:
        """Refuse values over their limits with `InvalidValue`. Fields that aren't in `values` aren't checked."""
        for problem in self.broken(values):
            raise problem

    def check_changed(self, values: Mapping[str, object], changed: Set[str]) -> None:
        """Refuse values over their limits among the fields that were changed, and those limited together with them."""
        for problem in self._broken({name: values[name] for name in changed if name in self.fields}):
            raise problem
        for each in self.joint:
            for problem in () if changed.isdisjoint(each.fields) else each.broken(self.place, values):
                raise problem

    def broken(self, values: Mapping[str, object]) -> Iterator[InvalidValue]:
        """One error for each value that is over its limits, and for each joint limit."""
        yield from self._broken(values)
        for each in self.joint:
            yield from each.broken(self.place, values)

    def _broken(self, values: Mapping[str, object]) -> Iterator[InvalidValue]:
        if not self.fields or not values:
            return
        try:
            self._adapter.validate_python(self._plain(values), context=WRITTEN, by_alias=False, by_name=True)
        except ValidationError as error:
            for found in error.errors(include_url=False, include_input=False):
                name = str(found["loc"][0])
                where = ".".join(map(str, (self.place, *found["loc"])))
                yield InvalidValue(found["type"].replace("_", "-"), where, sentence(found["msg"]), field=name)

    def _plain(self, values: Mapping[str, object]) -> Mapping[str, object]:
        """The values with models as dicts, since pydantic doesn't check a model again."""
        if not self._nested:
            return values
        return {**values, **{name: _as_dicts(values[name]) for name in self._nested if name in values}}

    @cached_property
    def _adapter(self) -> TypeAdapter[BaseModel]:
        fields: dict[str, Any] = {}
        for name, info in self.fields.items():
            optional = copy(info)
            optional.default, optional.default_factory = None, None  # a missing value isn't checked
            fields[name] = (info.annotation, optional)
        return TypeAdapter(create_model(self.place, __config__=ConfigDict(extra="ignore"), **fields))

    @cached_property
    def _nested(self) -> list[str]:
        return [name for name, info in self.fields.items() if _has_model(info.annotation)]


def _as_dicts(value: object) -> object:
    """The value with the fields of models by their names, whatever the models say about how they are shown."""
    match value:
        case BaseModel():
            return {name: _as_dicts(each) for name, each in vars(value).items()}
        case dict():
            return {name: _as_dicts(each) for name, each in value.items()}
        case list() | tuple():
            return [_as_dicts(each) for each in value]
    return value


def _has_model(annotation: object) -> bool:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return True
    return any(map(_has_model, get_args(annotation)))


def sentence(message: str) -> str:
    """The message of a validator, without pydantic's prefix."""
    return message.removeprefix("Value error, ")
