"""Which types of fields can be stored."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import date
from decimal import Decimal
from enum import Enum
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin
from uuid import UUID

from pydantic import BaseModel, Secret, SecretBytes, SecretStr

from keyplan.design.errors import DesignError
from keyplan.design.values.aliases import aliased, is_alias, member_types
from keyplan.design.values.annotations import has_members

_MEMBERS = (str, int, float, Decimal, bytes, date, UUID, Secret, SecretStr, SecretBytes)
"""What can be in a set."""
_NO_NAMES = (bytes, BaseModel, Collection, Secret, SecretStr, SecretBytes, NoneType, UnionType)
"""What can't be the key of a dict."""
_STORABLE = (str, int, float, Decimal, bytes, date, UUID, Enum, BaseModel, Secret, SecretStr, SecretBytes, NoneType)


def check_storable(model: type[BaseModel], place: str, seen: frozenset[type[BaseModel]] = frozenset()) -> None:
    """Refuse a model with a field whose type can't be stored."""
    for name, info in model.model_fields.items():
        sets = [each for each in types_in(info.annotation) if get_origin(each) in (set, frozenset)]
        for (member,) in map(get_args, sets):
            if not _may_be_members(member):
                raise DesignError(
                    "no-codec",
                    f"{place}.{name}",
                    f"a set of {_shown(member)} can't be stored: DynamoDB has sets of texts, numbers or bytes",
                    "Use a list, or a set of a text for each member.",
                )
        dicts = [each for each in types_in(info.annotation) if get_origin(each) in (dict, Mapping)]
        for name_type, _ in map(get_args, dicts):
            if not _may_be_names(name_type):
                raise DesignError(
                    "no-codec",
                    f"{place}.{name}",
                    f"a dict with keys of {_shown(name_type)} can't be stored: the names in a map are texts",
                    "Use keys of one type that can be read from a text: texts, numbers, dates, UUIDs, enums of texts.",
                )
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
    """The classes that a type is made of, also those inside aliases, `TypedDict`s and named tuples."""
    for each in types_in(annotation):
        origin = get_origin(each)
        if isinstance(each, type) and origin is None:
            yield each
        elif isinstance(origin, type) and origin is not UnionType:
            yield origin


def types_in(annotation: object, seen: frozenset[object] = frozenset()) -> Iterator[object]:
    """A type and all types inside it, without markers and aliases."""
    inner: Iterable[object] = get_args(annotation)
    if hasattr(annotation, "__metadata__"):
        inner = get_args(annotation)[:1]
    elif is_alias(annotation):
        inner = [] if annotation in seen else [aliased(annotation)]
        seen |= {annotation}
    else:
        yield annotation
    if has_members(annotation):
        inner = [] if annotation in seen else member_types(annotation).values()
        seen |= {annotation}
    for each in inner:
        yield from types_in(each, seen)


def _may_be_members(annotation: object) -> bool:
    """Whether values of a type can be the members of a set."""
    if hasattr(annotation, "__metadata__"):
        return _may_be_members(get_args(annotation)[0])
    if is_alias(annotation):
        return _may_be_members(aliased(annotation))
    origin = get_origin(annotation)
    if origin in (Union, UnionType):
        return all(map(_may_be_members, get_args(annotation)))
    if origin is Literal:
        return _are_alike(get_args(annotation))
    kind = origin or annotation
    if not isinstance(kind, type) or kind in (object, Any):
        return True  # anything, which is checked when it is written
    if issubclass(kind, Enum):
        return _are_alike([member.value for member in kind])
    if not issubclass(kind, (*_STORABLE, Collection)):
        return _is_storable(kind)  # a class with a pydantic schema of its own
    return issubclass(kind, _MEMBERS) and kind is not bool


def _may_be_names(annotation: object) -> bool:
    """Whether the keys of a dict can be read back from the texts that they are stored as."""
    if hasattr(annotation, "__metadata__"):
        return _may_be_names(get_args(annotation)[0])
    if is_alias(annotation):
        return _may_be_names(aliased(annotation))
    origin = get_origin(annotation)
    if origin is Literal:
        return all(isinstance(value, str) for value in get_args(annotation))
    kind = origin or annotation
    if not isinstance(kind, type) or kind in (object, Any):
        return kind in (object, Any)  # texts when they are read
    if issubclass(kind, Enum):
        return issubclass(kind, int) or all(isinstance(member.value, str) for member in kind)
    if issubclass(kind, str):
        return True
    return not issubclass(kind, _NO_NAMES) and _is_storable(kind)


def _are_alike(values: Iterable[object]) -> bool:
    """Whether all values are texts, all numbers, or all bytes."""
    return any(
        all(isinstance(value, kinds) and not isinstance(value, bool) for value in values)
        for kinds in (str, (int, float, Decimal), bytes)
    )


def _shown(annotation: object) -> str:
    """A type as it is written: without `class` around it."""
    return annotation.__name__ if isinstance(annotation, type) and not get_args(annotation) else str(annotation)


def _is_storable(kind: type) -> bool:
    """Whether a class can be stored. A class with a pydantic schema of its own may give any value, so it can."""
    known = issubclass(kind, (*_STORABLE, Collection, Mapping)) or kind in (object, Any)
    return known or hasattr(kind, "__get_pydantic_core_schema__")
