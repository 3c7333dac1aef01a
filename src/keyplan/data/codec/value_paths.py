"""Value paths: the type of a value inside a field, and how it is stored and checked.

A path is walked along the declared types: a nested model's fields, the entries of a dict, the elements of a list. Where
a type doesn't say what is inside (`Any`, a union of models, a `TypedDict`), the path is not typed from there on: such a
value can only be changed in an item that was read, whose field is validated as a whole.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import UnionType
from typing import Annotated, Any, Literal, NamedTuple, TypeAlias, Union, get_args, get_origin

from annotated_types import Len, MaxLen, MinLen
from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic.fields import FieldInfo

from keyplan.data import compat
from keyplan.data.codec.codegen import UNEXPECTED
from keyplan.data.codec.entities import codec_of
from keyplan.data.codec.values import AttributeValue, Encode, encode_untyped, map_name, model_codecs, value_codec
from keyplan.design import Entity, InvalidValue
from keyplan.design.entities.limit_checks import EntityLimits, sentence
from keyplan.design.fields.declarations import markers
from keyplan.design.keys.formats import TimePrecision
from keyplan.design.values.absence import NOTHING, when_absent
from keyplan.design.values.aliases import is_alias
from keyplan.design.values.annotations import has_members, plain_type
from keyplan.design.values.limits import WRITTEN
from keyplan.design.values.relaxed import is_limit, relaxed_field

Path: TypeAlias = tuple[str | int, ...]
PartKind: TypeAlias = Literal["member", "element", "entry"]
"""A field, also of a nested model; an element of a list; an entry of a dict."""

_VALUE = "value"
_ANY_ELEMENT = "*"
"""Stands for each element or entry in the shape of a path, so that they share what is known about their type."""


@dataclass(frozen=True)
class PathType:
    """What is declared about the value at a path, whichever elements and entries lead to it."""

    place: str
    field: str
    kind: PartKind
    info: FieldInfo | None
    """Its declaration, with its limits; None if the type isn't known."""
    encode: Encode
    validate: Callable[[object], object]
    times: TimePrecision
    must_read: bool
    """Whether it can only be changed in an item that was read: a validator must see more than this value."""
    around: FieldInfo | None = None
    """The declaration of the list, dict or model that it is in."""

    @cached_property
    def plain(self) -> object:
        """The type without `None` and markers; None if it isn't known."""
        return None if self.info is None else plain_type(self.info.annotation)

    @cached_property
    def holds(self) -> Literal["members", "elements"] | None:
        """Whether it is a set, or a list of any length."""
        origin, arguments = get_origin(self.plain), get_args(self.plain)
        if origin in (set, frozenset) or self.plain in (set, frozenset):
            return "members"
        of_any_length = origin in (list, Sequence) or (origin is tuple and arguments[-1] is Ellipsis)
        return "elements" if of_any_length else None

    @cached_property
    def is_converted(self) -> bool:
        """Whether a validator of its own must see the whole value."""
        return self.info is not None and any(map(_is_validator, marks_of(self.info)))

    @cached_property
    def is_counted(self) -> bool:
        """Whether what it is in has limits on its length, so that it can't be added or removed unseen."""
        return self.around is not None and any(isinstance(each, _LENGTHS) for each in marks_of(self.around))

    @cached_property
    def limits(self) -> EntityLimits:
        return EntityLimits(self.place, {} if self.info is None else {_VALUE: self.info})

    @cached_property
    def is_required(self) -> bool:
        """Whether an item must have it: it has no default, and can't be None or an empty set."""
        info = self.info
        return self.kind == "member" and info is not None and info.is_required() and when_absent(info) is NOTHING

    def default(self) -> object:
        """The value if it isn't stored: its default, or None."""
        info = self.info
        if self.kind != "member" or info is None or info.is_required() or info.default_factory_takes_validated_data:
            return None
        return info.get_default(call_default_factory=True)

    @cached_property
    def content(self) -> "PathType":
        """The type of a set's members or a list's elements."""
        arguments = get_args(self.plain)
        info = FieldInfo.from_annotation(arguments[0]) if arguments else None
        check = _validator(self.place, self.field, info)
        return PathType(self.place, self.field, "element", info, self.encode, check, self.times, self.must_read)

    def checked(self, value: object) -> object:
        """The value, validated and within its limits."""
        valid = self.validate(value)
        for problem in self.limits.broken({_VALUE: valid}):
            raise InvalidValue(problem.code, self.place, problem.problem, field=self.field)
        return valid

    def stored(self, value: object) -> AttributeValue | None:
        """A valid value as it is stored; None if it isn't."""
        encoded = None if value is None else self.encode(value)
        return {"NULL": True} if encoded is None and self.kind != "member" else encoded

    def operand(self, operator: str, value: object) -> AttributeValue:
        """A value to compare with this one in a condition; its Python type decides for a part of it."""
        if self.info is None or operator == "begins_with" or (operator == "contains" and not self.holds):
            return encode_untyped(value, self.times)
        if operator == "contains":
            return self._member(value)
        try:
            return self.encode(value) or {"NULL": True}
        except UNEXPECTED:
            problem = f"This value can't be compared with one of type {type(value).__name__}."
            raise InvalidValue("wrong-type", self.place, problem, field=self.field) from None

    def _member(self, value: object) -> AttributeValue:
        """A member of a set or an element of a list to look for, as it is stored."""
        if self.content.info is None:
            return encode_untyped(value, self.times)
        ((tag, (member,)),) = (self.encode([self.content.validate(value)]) or {"L": [{"NULL": True}]}).items()
        stored: AttributeValue = member if tag == "L" else {tag[0]: member}
        return stored

    def stored_content(self, values: Sequence[object]) -> AttributeValue:
        """Members of a set or elements of a list, validated and as they are stored together."""
        return self.encode([self.content.checked(each) for each in values]) or {"NULL": True}


class ValuePath(NamedTuple):
    """A value inside an entity's items: an attribute, or what is at a path inside it."""

    names: Path
    """The stored attribute, and the names and indexes of what is inside it."""
    type: PathType


LAST_INDEX = 2**32 - 2
"""The last index that DynamoDB accepts in a path."""

_fields: dict[tuple[type[Entity], Path], ValuePath] = {}
_types: dict[tuple[type[Entity], tuple[str, ...]], PathType] = {}
_keys: dict[tuple[type[Entity], tuple[str, ...]], TypeAdapter[object]] = {}
"""The types of the keys of dicts, by the shape of the path to the dict."""


def value_path(entity: type[Entity], path: Path) -> ValuePath:
    """The value at a path of names and indexes; raises `InvalidValue` if the types say that there is none."""
    known_field = _fields.get((entity, path))
    if known_field is not None:
        return known_field
    name = str(path[0])
    names: list[str | int] = [entity.spec.fields[name].stored]
    shape = [name]
    step = _Step("member", entity.declared_fields[name], codec_of(entity).encoder(name), must_read=False)
    for number, part in enumerate(path[1:], start=2):
        step, stored = _inside(entity, path[:number], tuple(shape), step)
        if isinstance(stored, int) and not 0 <= stored <= LAST_INDEX:
            count = "An index of a list can't be negative: count from the beginning."
            problem = count if stored < 0 else f"DynamoDB's indexes of lists end at {LAST_INDEX}."
            raise _wrong(entity, path[:number], "index-out-of-range", problem)
        names.append(stored)
        shape.append(str(part) if step.kind == "member" or step.info is None else _ANY_ELEMENT)
    known = entity, tuple(shape)
    found = _types.get(known)
    if found is None:
        found = _types[known] = _path_type(entity, tuple(shape), step)
    way = ValuePath(tuple(names), found)
    if len(path) == 1:
        _fields[entity, path] = way
    return way


class _Step(NamedTuple):
    """Where a walk along a path has come to."""

    kind: PartKind
    info: FieldInfo | None
    encode: Encode
    must_read: bool
    around: tuple[FieldInfo | None, ...] = ()
    """The declarations of what it is in, from the field on."""


def _inside(entity: type[Entity], path: Path, shape: tuple[str, ...], outer: _Step) -> tuple[_Step, str | int]:
    """The step to the last part of a path, and the stored name of that part."""
    part, times = path[-1], entity.spec.table.times
    kind = None if outer.info is None else plain_type(outer.info.annotation)
    origin, arguments = get_origin(kind), get_args(kind)
    if isinstance(kind, type) and origin is None and issubclass(kind, BaseModel):
        if part not in kind.model_fields:
            known = ", ".join(kind.model_fields)
            raise _wrong(entity, path, "unknown-field", f"{kind.__name__} has no such field. Its fields are: {known}.")
        must_read = outer.must_read or compat.has_validators(kind)
        name = str(part)
        return _Step(
            "member", kind.model_fields[name], model_codecs(kind, times)[name].encode, must_read, _around(outer)
        ), name
    if origin in (dict, Mapping):
        return _element("entry", arguments[1], outer, entity), _entry_name(entity, path, shape, arguments[0])
    if origin in (list, Sequence, tuple):
        if not isinstance(part, int):
            raise _wrong(entity, path, "no-such-path", "An element of a list is named by its index.")
        if origin is not tuple or arguments[-1] is Ellipsis:
            return _element("element", arguments[0], outer, entity), part
        if part >= len(arguments):
            raise _wrong(entity, path, "index-out-of-range", f"This list has {len(arguments)} elements.")
        return _Step("element", None, outer.encode, must_read=True), part  # each has a type of its own
    if not _may_hold_others(kind):
        raise _wrong(entity, path, "no-such-path", "There is nothing inside this value to change by itself.")
    return _Step("entry", None, value_codec(Any, times).encode, must_read=True), part


def _entry_name(entity: type[Entity], path: Path, shape: tuple[str, ...], annotation: Any) -> str:  # noqa: ANN401 - a type
    """The stored name of an entry. Refuses a key that isn't one of the dict: the item couldn't be read any more."""
    key: object = path[-1]
    try:
        if annotation is not Any and not (annotation is str and type(key) is str):
            adapter = _keys.get((entity, shape))
            if adapter is None:
                adapter = _keys[entity, shape] = TypeAdapter(annotation)
            key = adapter.validate_python(key, context=WRITTEN, by_name=True)
        return map_name(key)
    except ValidationError as error:
        raise _refused(".".join(map(str, (entity.__name__, *path))), str(path[0]), error) from None
    except InvalidValue as error:
        raise _wrong(entity, path, error.code, error.problem) from None


def _element(kind: PartKind, annotation: Any, outer: _Step, entity: type[Entity]) -> _Step:  # noqa: ANN401 - a type
    encode = value_codec(annotation, entity.spec.table.times).encode
    return _Step(kind, FieldInfo.from_annotation(annotation), encode, outer.must_read, _around(outer))


def _around(outer: _Step) -> tuple[FieldInfo | None, ...]:
    return (*outer.around, outer.info)


_LENGTHS = (MinLen, MaxLen, Len)


def marks_of(info: FieldInfo) -> Iterator[object]:
    """The markers of a value, also inside `Annotated[int, Field(ge=1)] | None`."""
    for mark in markers(info):
        yield from mark.metadata if isinstance(mark, FieldInfo) else (mark,)


def _is_validator(mark: object) -> bool:
    return hasattr(mark, "__get_pydantic_core_schema__") and not is_limit(mark)


def _sees_inside(info: FieldInfo | None) -> bool:
    """Whether a value has validators or limits that depend on what is inside it; its length doesn't."""
    marks = () if info is None else marks_of(info)
    return any(_is_validator(mark) or (is_limit(mark) and not isinstance(mark, _LENGTHS)) for mark in marks)


def _may_hold_others(kind: object) -> bool:
    """Whether values of a type may have other values inside that the type doesn't say."""
    if kind in (None, Any, object, dict, list, tuple) or get_origin(kind) in (Union, UnionType):
        return True
    return has_members(kind) or is_alias(kind)


def _wrong(entity: type[Entity], path: Path, code: str, problem: str) -> InvalidValue:
    return InvalidValue(code, ".".join(map(str, (entity.__name__, *path))), problem, field=str(path[0]))


def _path_type(entity: type[Entity], shape: tuple[str, ...], step: _Step) -> PathType:
    place, name = ".".join((entity.__name__, *shape)), shape[0]

    def as_field(value: object) -> object:
        return validated_field(entity, name, value)

    check = as_field if len(shape) == 1 else _validator(place, name, step.info)
    times = entity.spec.table.times
    must_read = step.must_read or any(map(_sees_inside, step.around))
    around = step.around[-1] if step.around else None
    return PathType(place, name, step.kind, step.info, step.encode, check, times, must_read, around)


def _validator(place: str, field: str, info: FieldInfo | None) -> Callable[[object], object]:
    """A function that validates a value as it is declared, without its limits."""
    if info is None:
        return lambda value: value
    loose = relaxed_field(info)
    annotation: Any = Annotated[(loose.annotation, *loose.metadata)] if loose.metadata else loose.annotation
    adapter: TypeAdapter[object] = TypeAdapter(annotation)

    def check(value: object) -> object:
        try:
            return adapter.validate_python(value, by_name=True)
        except ValidationError as error:
            raise _refused(place, field, error) from None

    return check


def validated_field(entity: type[Entity], name: str, value: object) -> object:
    """The value, validated as the entity's field, without its limits."""
    try:
        return compat.field_model(entity, name).model_validate({name: value}, by_name=True).__dict__[name]
    except ValidationError as error:
        raise _refused(f"{entity.__name__}.{name}", name, error) from None


def _refused(place: str, field: str, error: ValidationError) -> InvalidValue:
    """A validation error of one value as `InvalidValue`, without the value."""
    problem = sentence(error.errors(include_url=False, include_input=False, include_context=False)[0]["msg"])
    return InvalidValue("invalid", place, problem, field=field)
