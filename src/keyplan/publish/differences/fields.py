"""Types, limits and defaults of fields, as text that is the same for the same declaration."""

import re
from collections.abc import Iterator
from enum import Enum
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined
from typing_extensions import TypeAliasType

_NUMBERS = (
    *("ge", "gt", "le", "lt", "multiple_of", "min_length", "max_length", "max_digits", "decimal_places"),
    *("strip_whitespace", "to_lower", "to_upper"),
)
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")


def type_text(annotation: object) -> str:
    """A type without its limits: `list[str]`, `'draft' | 'published'`."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if isinstance(annotation, TypeAliasType):
        return annotation.__name__
    if origin is Annotated:
        return type_text(arguments[0])
    if origin is Literal:
        return " | ".join(repr(each.value if isinstance(each, Enum) else each) for each in arguments)
    if origin in (Union, UnionType):
        return " | ".join(type_text(each) for each in arguments)
    if origin is not None and arguments:
        return f"{_name(origin)}[{', '.join(type_text(each) for each in arguments)}]"
    if annotation is Ellipsis:
        return "..."
    if isinstance(annotation, type):
        return _class_text(annotation)
    return _ADDRESS.sub("", str(annotation))


def _class_text(kind: type) -> str:
    """A class; with its parts, if it says what a value is made of."""
    if kind is NoneType:
        return "None"
    if issubclass(kind, Enum):
        return f"{kind.__name__}({', '.join(repr(each.value) for each in kind)})"
    if issubclass(kind, BaseModel) and kind.model_fields:
        parts = ", ".join(f"{name}: {type_text(info.annotation)}" for name, info in kind.model_fields.items())
        return f"{kind.__name__}({parts})"
    return kind.__name__


def _name(origin: object) -> str:
    return origin.__name__ if isinstance(origin, type) else str(origin)


def limits_text(info: FieldInfo) -> tuple[str, ...]:
    """The limits of a field's value, and of the values in it."""
    own = [text for each in info.metadata for text in _limits(each)]
    inner = list(_inner_limits(info.annotation, ""))
    return tuple(dict.fromkeys((*own, *inner)))


def _inner_limits(annotation: object, place: str) -> Iterator[str]:
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        for each in arguments[1:]:
            yield from (f"{place}{text}" for text in _limits(each))
        yield from _inner_limits(arguments[0], place)
        return
    is_option = origin in (Union, UnionType)
    for each in arguments if origin is not Literal else ():
        yield from _inner_limits(each, place if is_option else f"each {place}")


def _limits(mark: object) -> Iterator[str]:
    """What a mark in a field's type says about values, if it does."""
    nested: Any = getattr(mark, "metadata", None)
    if isinstance(mark, FieldInfo):
        yield from (text for each in nested for text in _limits(each))
        return
    for name in _NUMBERS:
        value = getattr(mark, name, None)
        if value is not None and not callable(value):
            yield f"{name}={value!r}"
    check = getattr(mark, "check", None) or getattr(mark, "func", None)
    if callable(check):
        yield str(getattr(check, "__name__", type(check).__name__)).lstrip("_")
    elif isinstance(getattr(mark, "pattern", None), str):
        yield f"pattern={getattr(mark, 'pattern', '')!r}"


def default_text(info: FieldInfo) -> str | None:
    """The default of a field; None if it has none."""
    if info.default_factory is not None:
        name = getattr(info.default_factory, "__name__", type(info.default_factory).__name__)
        return f"{name.lstrip('_')}()"
    if info.default is PydanticUndefined:
        return None
    return _ADDRESS.sub("", repr(info.default))
