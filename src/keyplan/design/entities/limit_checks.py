"""Checks the limits of an entity's fields when its items are written."""

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from copy import copy
from functools import cache, cached_property, partial
from typing import Any

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError, create_model
from pydantic.fields import FieldInfo

from keyplan.design.entities.joint_limits import JointLimit
from keyplan.design.errors import InvalidValue
from keyplan.design.values.limits import WRITTEN
from keyplan.design.values.relaxed import relaxed_field
from keyplan.design.values.storable import classes_in


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
        for problem in self._broken(values):
            raise problem
        for each in self.joint:
            for problem in each.broken(self.place, values):
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
        return _with_models(self.fields)


def _as_dicts(value: object) -> object:
    """The value with the fields of models by their names, whatever the models say about how they are shown."""
    kind: type = type(value)
    convert = _conversion(kind)
    return value if convert is None else convert(value)


@cache
def _conversion(kind: type) -> Callable[[Any], object] | None:
    """How values of a class become dicts. Looked up by class, because `isinstance` is slow with pydantic's models."""
    if issubclass(kind, BaseModel):
        return partial(_model_as_dict, _with_models(kind.model_fields))
    if issubclass(kind, dict):
        return lambda value: {name: _as_dicts(each) for name, each in value.items()}
    if issubclass(kind, (list, tuple, set, frozenset)):
        return lambda value: [_as_dicts(each) for each in value]
    return None


def _model_as_dict(parts: Sequence[str], value: BaseModel) -> dict[str, object]:
    fields = value.__dict__.copy()
    for name in parts:
        if name in fields:
            fields[name] = _as_dicts(fields[name])
    return fields


def _with_models(fields: Mapping[str, FieldInfo]) -> list[str]:
    """The fields that contain models."""
    found = {name: classes_in(info.annotation) for name, info in fields.items()}
    return [name for name, kinds in found.items() if any(issubclass(kind, BaseModel) for kind in kinds)]


def sentence(message: str) -> str:
    """The message of a validator, without pydantic's prefix."""
    return message.removeprefix("Value error, ")
