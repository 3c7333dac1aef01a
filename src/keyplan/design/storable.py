"""Which types of fields can be stored."""

from collections.abc import Collection, Iterator, Mapping
from datetime import date
from decimal import Decimal
from enum import Enum
from types import NoneType, UnionType
from typing import Any, get_args, get_origin, is_typeddict
from uuid import UUID

from pydantic import BaseModel, Secret, SecretBytes, SecretStr

from keyplan.design.errors import DesignError

_STORABLE = (str, int, float, Decimal, bytes, date, UUID, Enum, BaseModel, Secret, SecretStr, SecretBytes, NoneType)


def check_storable(model: type[BaseModel], place: str, seen: frozenset[type[BaseModel]] = frozenset()) -> None:
    """Refuse a model with a field whose type can't be stored."""
    for name, info in model.model_fields.items():
        for kind in classes_in(info.annotation):
            if not _is_storable(kind):
                raise DesignError(
                    "no-codec",
                    f"{place}.{name}",
                    f"a {kind.__name__} can't be stored",
                    "Use text, numbers, bytes, times, dates, UUIDs, enums, or lists, sets, dicts and models of them.",
                )
            if issubclass(kind, BaseModel) and kind not in seen:
                check_storable(kind, f"{place}.{name}", seen | {kind})


def classes_in(annotation: object) -> Iterator[type]:
    """The classes that a type is made of."""
    origin = get_origin(annotation)
    if hasattr(annotation, "__metadata__"):
        yield from classes_in(get_args(annotation)[0])
    elif isinstance(annotation, type) and origin is None:
        yield annotation
    else:
        if isinstance(origin, type) and origin is not UnionType:
            yield origin
        for argument in get_args(annotation):
            yield from classes_in(argument)


def _is_storable(kind: type) -> bool:
    """Whether a class can be stored. A class with a pydantic schema of its own may give any value, so it can."""
    known = issubclass(kind, (*_STORABLE, Collection, Mapping)) or kind in (object, Any) or is_typeddict(kind)
    return known or hasattr(kind, "__get_pydantic_core_schema__")
