"""Reading a field's annotation: its type without None, its markers, and the type it has in a key."""

from collections.abc import Iterator
from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from types import NoneType, UnionType
from typing import Literal, Union, get_args, get_origin
from uuid import UUID

from typing_extensions import is_typeddict  # also for its own, which pydantic needs before Python 3.12

KEY_TYPES = {"S": (str, datetime, date, UUID), "N": (int, Decimal, float), "B": (bytes,)}
"""The Python types that can be stored in a key attribute of each type."""


def without_none(annotation: object) -> tuple[object, bool]:
    """The type without `None` and markers, and whether `None` was allowed."""
    if get_origin(annotation) in (Union, UnionType):
        arguments = [argument for argument in get_args(annotation) if argument is not NoneType]
        if len(arguments) < len(get_args(annotation)):
            return (_plain(arguments[0]) if len(arguments) == 1 else Union[tuple(arguments)]), True  # noqa: UP007
    return _plain(annotation), False


def plain_type(annotation: object) -> object:
    """The type without `None` and markers."""
    return without_none(annotation)[0]


def scalar(annotation: object) -> object:
    """The type of a value. For a `Literal` or an enum, the type of its values."""
    if get_origin(annotation) is Literal:
        return type(get_args(annotation)[0])
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return type(next(iter(annotation)).value)
    return annotation


def _plain(annotation: object) -> object:
    return _plain(get_args(annotation)[0]) if hasattr(annotation, "__metadata__") else annotation


def has_members(annotation: object) -> bool:
    """Whether a type is a `TypedDict` or a named tuple, also with type arguments."""
    kind = get_origin(annotation) or annotation
    return is_typeddict(kind) or (isinstance(kind, type) and issubclass(kind, tuple) and hasattr(kind, "_fields"))


def inner_markers(annotation: object) -> Iterator[object]:
    """The markers inside an optional type: `Ttl | None`."""
    if get_origin(annotation) in (Union, UnionType):
        for argument in get_args(annotation):
            yield from getattr(argument, "__metadata__", ())
