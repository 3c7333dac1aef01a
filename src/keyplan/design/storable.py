"""Which types of fields can be stored."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import date
from decimal import Decimal
from enum import Enum
from types import NoneType, UnionType
from typing import Any, get_args, get_origin
from uuid import UUID

from pydantic import BaseModel, Secret, SecretBytes, SecretStr

from keyplan.design.aliases import aliased, is_alias, member_types
from keyplan.design.annotations import has_members
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


def classes_in(annotation: object, seen: frozenset[object] = frozenset()) -> Iterator[type]:
    """The classes that a type is made of, also those inside aliases, `TypedDict`s and named tuples."""
    origin = get_origin(annotation)
    inner: Iterable[object] = get_args(annotation)
    if hasattr(annotation, "__metadata__"):
        inner = get_args(annotation)[:1]
    elif is_alias(annotation):
        inner = [] if annotation in seen else [aliased(annotation)]
        seen |= {annotation}
    elif isinstance(annotation, type) and origin is None:
        yield annotation
    elif isinstance(origin, type) and origin is not UnionType:
        yield origin
    if has_members(annotation):
        inner = [] if annotation in seen else member_types(annotation).values()
        seen |= {annotation}
    for each in inner:
        yield from classes_in(each, seen)


def _is_storable(kind: type) -> bool:
    """Whether a class can be stored. A class with a pydantic schema of its own may give any value, so it can."""
    known = issubclass(kind, (*_STORABLE, Collection, Mapping)) or kind in (object, Any)
    return known or hasattr(kind, "__get_pydantic_core_schema__")
