"""What callers send and get: the base classes of a system's models, which take the fields that an entity declares.

A field is declared once, in a class of `keyplan.design.Fields`. What inherits from it and from `In` is a body that
callers send, with the same limits; what inherits from it and from `Out` is an answer; and `Change[PostFields]` is a
partial change, in which every field may be left out.
"""

from collections.abc import Callable, Iterator, Mapping
from copy import copy
from datetime import datetime
from types import NoneType
from typing import Annotated, Any, ClassVar, Generic, Literal, Self, TypeVar, cast

from pydantic import BaseModel, ConfigDict, Field, GetCoreSchemaHandler, GetJsonSchemaHandler, TypeAdapter, create_model
from pydantic.fields import FieldInfo
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError, PydanticUndefined, core_schema

from keyplan.design import (
    CHECKED_ON_WRITE,
    AsStored,
    DesignError,
    Fields,
    IdFactory,
    Limit,
    access_of,
    classes_in,
    joint_limits_of,
    mapped_type,
    public_name,
    relaxed_field,
    takes_none,
    values_in_common,
)
from keyplan.web.models.problems import FieldProblem
from keyplan.web.models.values import Time

F = TypeVar("F", bound=Fields)
T = TypeVar("T")
U = TypeVar("U")


def inherited_fields(model: type[BaseModel]) -> Iterator[str]:
    """The fields that a model takes from a declaration, without those that it declares itself."""
    for name in model.model_fields:
        declaring = next(base for base in model.__mro__ if name in vars(base).get("__annotations__", {}))
        if issubclass(declaring, Fields) and not issubclass(declaring, In | Out):
            yield name


class _Made(BaseModel):
    """Base class of models that are made from others."""

    @classmethod
    def from_fields(cls, source: BaseModel, /, **more: object) -> Self:
        """A model with the fields that `source` has, too, such as an entity, and with `more`, by Python names."""
        values = {**values_in_common(cls, source), **more}
        return cls.model_validate(values, context=CHECKED_ON_WRITE, by_name=True, by_alias=False)

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: object) -> None:
        super().__pydantic_init_subclass__(**kwargs)
        declared = list(inherited_fields(cls))
        for name in declared:
            cls.model_fields[name] = cls._adapted(name, copy(cls.model_fields[name]))
        if declared:
            cls.model_rebuild(force=True)

    @classmethod
    def _adapted(cls, name: str, info: FieldInfo) -> FieldInfo:
        """A declared field as this kind of model has it."""
        return info


class In(_Made):
    """Base class of what callers send. Unknown fields are refused.

    A class with a field that callers may not set can't be made. An ID that the server makes may be left out.
    """

    model_config = ConfigDict(extra="forbid", str_strip_whitespace=True)

    @classmethod
    def problems_beside(cls, values: Mapping[str, object]) -> Iterator[FieldProblem]:
        """What is wrong with values together, of which each on its own is valid: the declared limits on several fields.

        The values are as they were sent, and others may be missing. Writing checks all of it again.
        """
        yield from broken_limits(cls, values)

    @classmethod
    def _adapted(cls, name: str, info: FieldInfo) -> FieldInfo:
        _refuse_unless_settable(cls.__name__, name, info)
        if isinstance(info.default_factory, IdFactory):
            # The ID is made with the entity: a request that is sent again must have the same body.
            info.annotation, info.default_factory, info.default = info.annotation | None, None, None  # type: ignore[operator, assignment]  # a type
        return _named(name, _as_sent(info), for_answers=False)


def assign(made: BaseModel, name: str, value: object) -> None:
    """Give a field a value, converted and checked by itself as in a body. Raises `ValidationError`."""
    TypeAdapter(type(made)).validator.validate_assignment(made, name, value, context=CHECKED_ON_WRITE)


def broken_limits(model: type[BaseModel], values: Mapping[str, object]) -> Iterator[FieldProblem]:
    """What breaks the limits on several fields that a body inherits, by the names that callers use."""
    declaring: type[BaseModel] = getattr(model, "declaration", model)
    limits = joint_limits_of(declaring, [*_limited_fields(declaring)])
    made = model.model_construct()
    known: dict[str, object] = {}
    for name, info in model.model_fields.items():
        if (sent_as := info.alias or name) in values:
            assign(made, name, values[sent_as])
        if sent_as in values or not info.is_required():
            known[name] = getattr(made, name)
    for each in limits:
        for error in each.broken(model.__name__, known):
            yield FieldProblem(f"/{error.field}" if error.field else "", error.problem, error.code)


def _limited_fields(model: type[BaseModel]) -> Iterator[str]:
    for base in model.__mro__:
        for each in vars(base).values():
            yield from getattr(each, "limited_fields", ())


class Out(_Made):
    """Base class of what callers get: `PostOut.from_fields(post)`.

    Declared fields have no limits here, so that items that were stored under other limits can be shown, and no
    defaults, so that none is forgotten.
    """

    model_config = ConfigDict(from_attributes=True, serialize_by_alias=True)

    time_precision: ClassVar[Literal["milliseconds", "seconds"]] = "milliseconds"
    """The precision of its times; as in the system's tables."""

    @classmethod
    def _adapted(cls, name: str, info: FieldInfo) -> FieldInfo:
        for hidden in _hidden_in(f"{cls.__name__}.{name}", info):
            raise DesignError(
                "not-to-be-seen", hidden, "the field is hidden, so callers can't see it", "Leave it out of the answer."
            )
        info = copy(relaxed_field(info))
        info.annotation = _with_parts_shown(info.annotation)
        info.default, info.default_factory = PydanticUndefined, None
        if cls.time_precision == "milliseconds":
            info.annotation = _with_times(info.annotation)
        return _named(name, info, for_answers=True)


def _hidden_in(place: str, info: FieldInfo, seen: frozenset[type] = frozenset()) -> Iterator[str]:
    """Where a field, or a part of it, is hidden."""
    if access_of(info) == "hidden":
        yield place
    for part in classes_in(info.annotation):
        if issubclass(part, BaseModel) and part not in seen:
            for name, inner in part.model_fields.items():
                yield from _hidden_in(f"{place}.{name}", inner, seen | {part})


def _refuse_unless_settable(body: str, name: str, info: FieldInfo) -> None:
    access = access_of(info)
    if access in ("read-only", "hidden"):
        raise DesignError(
            "not-to-be-set",
            f"{body}.{name}",
            f"the field is {access}, so callers can't set it",
            "Leave it out of the body, or declare it with CREATE_ONLY or OPEN.",
        )


def _named(name: str, info: FieldInfo, *, for_answers: bool) -> FieldInfo:
    """The field under the name that callers use."""
    public = public_name(name, info)
    if public != name:
        info.alias_priority = 2
        if for_answers:
            info.serialization_alias = public
        else:
            info.alias = info.validation_alias = info.serialization_alias = public
    return info


def _with_times(annotation: Any) -> Any:  # noqa: ANN401 - types are of any kind
    """The type with times as callers get them."""
    return Time if annotation is datetime else mapped_type(annotation, _with_times)


def _with_parts_shown(annotation: Any) -> Any:  # noqa: ANN401 - types are of any kind
    """The type with models that are a part of the entity as callers get them: without limits."""
    marks = getattr(annotation, "__metadata__", ())
    found = (mark.twin for mark in marks if isinstance(mark, AsStored))
    return next(found, None) or mapped_type(annotation, _with_parts_shown)


def _as_sent(info: FieldInfo) -> FieldInfo:
    """The field as a body has it: parts of it refuse unknown fields too, and the service's own limits are left out."""
    info.annotation, info.metadata = _type_sent(info.annotation), [*filter(_holds_in_bodies, info.metadata)]
    return info


def _type_sent(annotation: Any) -> Any:  # noqa: ANN401 - types are of any kind
    if isinstance(annotation, type) and issubclass(annotation, Fields) and not issubclass(annotation, In):
        return _part(annotation)
    if hasattr(annotation, "__metadata__"):
        kept = [*filter(_holds_in_bodies, annotation.__metadata__)]
        inner = _type_sent(annotation.__origin__)
        return Annotated[(inner, *kept)] if kept else inner
    return mapped_type(annotation, _type_sent)


def _holds_in_bodies(mark: object) -> bool:
    return not isinstance(mark, Limit) or mark.in_bodies


_parts: dict[type[Fields], type[Fields]] = {}


def _part(declaration: type[Fields]) -> type[Fields]:
    """A part of a body, such as the address of an event: what `Fields` declare, and nothing else."""
    if declaration in _parts.values():
        return declaration  # of a body that inherits from another
    if declaration not in _parts:
        for name, info in declaration.model_fields.items():
            _refuse_unless_settable(declaration.__name__, name, info)
        settings = {"model_config": In.model_config, "__module__": __name__}
        strict = type(declaration.__name__, (declaration,), settings)
        made: type[Fields] = create_model(f"{declaration.__name__}In", __base__=strict, __doc__=declaration.__doc__)
        _parts[declaration] = made  # it may contain others of its kind
        for name, info in made.model_fields.items():
            made.model_fields[name] = _as_sent(copy(info))
        made.model_rebuild(force=True)
    return _parts[declaration]


class _NotNull:
    """Refuses null with a sentence for people.

    As a type that takes null, refused afterwards: what a validator before it hands on is no JSON any more, and strict
    reading would refuse a date.
    """

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        nullable = core_schema.nullable_schema(handler(source))
        return core_schema.no_info_after_validator_function(_refuse_null, nullable)

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return handler(schema["schema"]["schema"])


def _refuse_null(value: object) -> object:
    if value is None:
        raise PydanticCustomError("required", "Required.")
    return value


class _Picked:
    """Stands for a declaration while a lambda picks one of its fields."""

    def __getattr__(self, name: str) -> str:
        return name


class Change(In, Generic[F]):
    """Base class of partial changes: `class PostChange(Change[PostFields])` has every field that callers may change.

    A field that is left out stays as it is. Null is refused if the field is required.
    """

    declaration: ClassVar[type[Fields]]

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: object) -> None:
        arguments: tuple[Any, ...] = cls.__pydantic_generic_metadata__["args"]
        if arguments and isinstance(arguments[0], type):
            cls.declaration = declaration = cast("type[Fields]", arguments[0])
            _refuse_own_names(cls.__name__, declaration)
            declared = declaration.model_fields.items()
            changeable = {name: _optional(name, info) for name, info in declared if access_of(info) == "open"}
            cls.__annotations__ = {name: info.annotation for name, info in changeable.items()}
            cls.model_fields.update(changeable)
        super().__pydantic_init_subclass__(**kwargs)

    def gives(self, which: Callable[[F], object]) -> bool:
        """Whether a field is to be changed: `change.gives(lambda post: post.title)`."""
        return _name(which) in self.model_fields_set

    def get(self, which: Callable[[F], T], otherwise: U) -> T | U:
        """The new value of a field: `change.get(lambda post: post.title, post.title)`; else `otherwise`."""
        name = _name(which)
        return cast(T, getattr(self, name)) if name in self.model_fields_set else otherwise

    @property
    def values(self) -> dict[str, object]:
        """The declared fields that are to be changed, with their new values."""
        declared = self.declaration.model_fields
        return {name: getattr(self, name) for name in declared if name in self.model_fields_set}

    def apply_to(self, thing: F) -> None:
        """Set the fields that were given."""
        for name, value in self.values.items():
            setattr(thing, name, value)


def _refuse_own_names(change: str, declaration: type[Fields]) -> None:
    for name in ("gives", "get", "values", "apply_to"):
        if name in declaration.model_fields:
            raise DesignError(
                "taken-name",
                f"{change}.{name}",
                f"a change has {name} itself",
                f'Name the field otherwise, with public("{name}") for callers.',
            )


def _name(which: Callable[[Any], object]) -> str:
    return cast(str, which(_Picked()))


def _optional(name: str, declared: FieldInfo) -> FieldInfo:
    info = copy(declared)
    info.default, info.default_factory = (
        PydanticUndefined,
        NoneType,
    )  # the value of a field that was left out is never shown
    if not takes_none(info):
        info.metadata = [*info.metadata, _NotNull()]
    return _named(name, _as_sent(info), for_answers=False)


class FieldProblemOut(BaseModel):
    """What is wrong with one value."""

    pointer: str = Field(
        description="A JSON pointer into the body, `?name` of a query parameter, or the name of another one."
    )
    code: str
    detail: str


class ProblemOut(BaseModel):
    """What went wrong (RFC 9457)."""

    model_config = ConfigDict(title="Problem")

    type: str
    title: str
    status: int
    code: str = Field(description="A stable code for programs.")
    detail: str = Field(description="A sentence for people.")
    request_id: str
    errors: list[FieldProblemOut] | None = None
