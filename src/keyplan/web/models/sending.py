"""The body of a request: JSON, parsed once, within limits, and checked strictly.

pydantic checks strictly by two sets of rules. Those for Python refuse a string for a time; those for JSON don't, but
read text only. The body is a Python value by then: it was parsed to find out whether it is JSON, and how deep. So each
model has a twin that takes a Python value and checks it by the rules for JSON.
"""

from collections.abc import Callable
from copy import copy
from dataclasses import is_dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_origin, is_typeddict
from uuid import UUID

import orjson
from pydantic import BaseModel, JsonValue, Strict, TypeAdapter, WrapValidator, create_model
from pydantic_core import to_json
from starlette.requests import Request

from keyplan.design import mapped_type
from keyplan.web.models.bodies import In
from keyplan.web.models.problems import BadRequest, Unprocessable


class LimitedRequest(Request):
    """A request whose JSON is read within limits."""

    async def json(self) -> Any:  # noqa: ANN401 - any JSON
        """The parsed body. Raises a problem if it isn't valid JSON."""
        if not hasattr(self, "_within_limits"):
            body = await self.body()
            try:
                value = orjson.loads(body)
            except orjson.JSONDecodeError as error:
                raise BadRequest("not-json", f"The body isn't valid JSON: {error}.") from error
            most = self.scope.get("keyplan.nesting", 32)
            self._within_limits = _read(value, most, most)
        return self._within_limits


def _read(value: object, most: int, left: int) -> object:
    """JSON with integers for whole numbers, such as 1.0: JSON has one kind of number. Refuses what is nested deeper."""
    match value:
        case float() if value.is_integer() and abs(value) < 2**53:
            return int(value)
        case list() | dict() if not left:
            raise Unprocessable("too-deep", f"The body is nested more than {most} levels deep.")
        case list():
            return [_read(each, most, left - 1) for each in value]
        case dict():
            return {name: _read(each, most, left - 1) for name, each in value.items()}
    return value


def as_sent(model: type[In]) -> Any:  # noqa: ANN401 - a type
    """A type that reads JSON strictly: 0 isn't a boolean and "1" isn't a number, but a string can be a time."""
    twin = _twin(model)

    def strictly(value: object, lax: object) -> BaseModel:
        return twin.model_validate(value)

    return Annotated[model, WrapValidator(strictly)]


_twins: dict[type[BaseModel], type[BaseModel]] = {}


def _twin(model: type[BaseModel]) -> type[BaseModel]:
    """The model with each field checked as strictly as in JSON. What it makes is also an instance of the model."""
    if model not in _twins:
        twin = create_model(model.__name__, __base__=model, __doc__=model.__doc__, __module__=model.__module__)
        _twins[model] = twin  # it may contain others of its kind
        for name, declared in twin.model_fields.items():
            info = copy(declared)
            info.annotation = _strict(declared.annotation)
            twin.model_fields[name] = info
        twin.model_rebuild(force=True)
    return _twins[model]


_OF_OTHERS = (Union, UnionType, list, dict, tuple, set, frozenset)
"""Types that are made of other types: choices and collections."""
_IN_JSON = (int, float, bool)
"""Types that JSON has, so that nothing else is converted to them."""
_AS_TEXT = (datetime, date, time, timedelta)
"""Types that are sent as text, and as nothing else."""
_AS_THEY_ARE = (str, NoneType, Decimal, UUID, bytes, list, dict, tuple, set, frozenset, Any, ...)
"""For these, both sets of rules allow the same JSON."""


def _strict(annotation: Any) -> Any:  # noqa: ANN401 - types are of any kind
    """The type, checked as strictly as in JSON."""
    if hasattr(annotation, "__metadata__") or get_origin(annotation) in _OF_OTHERS:
        return mapped_type(annotation, _strict)
    if annotation in _AS_THEY_ARE or get_origin(annotation) is Literal:
        return annotation
    if annotation is JsonValue:
        return Any  # it is JSON; texts in it stay as they are
    if annotation in _IN_JSON:
        return Annotated[annotation, Strict()]
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return _twin(annotation)
    return Annotated[annotation, WrapValidator(_text(annotation) if annotation in _AS_TEXT else _own_json(annotation))]


@cache
def _text(kind: Any) -> Callable[[object, object], object]:  # noqa: ANN401 - a type
    adapter = TypeAdapter[object](kind)

    def check(value: object, lax: object) -> object:
        if isinstance(value, str):
            return adapter.validate_strings(value, strict=True)
        return adapter.validate_python(value, strict=True)

    return check


def _own_json(kind: Any) -> Callable[[object, object], object]:  # noqa: ANN401 - a type
    """Checks a value of any other type, such as an IP address or a data class, as JSON of its own."""
    adapter = TypeAdapter[object](kind, config=None if is_dataclass(kind) or is_typeddict(kind) else In.model_config)
    return lambda value, lax: adapter.validate_json(to_json(value), strict=True)
