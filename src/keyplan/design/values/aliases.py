"""Aliases: types under another name, from `type Slug = ...`, `TypeAliasType` or `NewType`.

The fields of a declaration have the types that their aliases stand for, so that only this module has to know about
aliases. An alias that contains itself, such as pydantic's `JsonValue`, can't be replaced, and stays.
"""

import sys
import typing
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from copy import copy
from functools import cache
from types import UnionType
from typing import Annotated, Any, Literal, NewType, TypeVar, Union, get_args, get_origin, get_type_hints

import typing_extensions
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from keyplan.design.errors import DesignError

_ALIASES = (NewType, typing_extensions.TypeAliasType, getattr(typing, "TypeAliasType", NewType))  # from Python 3.12 on


def is_alias(annotation: object) -> bool:
    """Whether a type is an alias, also with type arguments."""
    return isinstance(annotation, _ALIASES) or isinstance(get_origin(annotation), _ALIASES)


def aliased(alias: Any) -> Any:  # noqa: ANN401 - types are of any kind
    """The type that an alias stands for."""
    if isinstance(alias, NewType):
        return alias.__supertype__
    origin = get_origin(alias) or alias
    return _with_arguments(_value(origin), origin.__type_params__, get_args(alias))


@cache
def _value(alias: Any) -> Any:  # noqa: ANN401 - types are of any kind
    """What an alias stands for, with names in quotes replaced by what they name."""

    def holder() -> None: ...

    module = sys.modules.get(alias.__module__)  # none for an alias from `exec`
    names = {**getattr(module, "__dict__", {}), alias.__name__: alias}
    with _defined(alias):
        holder.__annotations__ = {"value": alias.__value__}
        return get_type_hints(holder, names, include_extras=True)["value"]


def member_types(annotation: Any) -> dict[str, Any]:  # noqa: ANN401 - types are of any kind
    """The types of the members of a `TypedDict` or a named tuple."""
    kind = get_origin(annotation) or annotation
    with _defined(kind):
        hints = get_type_hints(kind, include_extras=True)
    parameters = getattr(kind, "__parameters__", ())
    return {name: _with_arguments(hint, parameters, get_args(annotation)) for name, hint in hints.items()}


@contextmanager
def _defined(kind: Any) -> Iterator[None]:  # noqa: ANN401 - types are of any kind
    """Refuse a type that names one that isn't defined."""
    try:
        yield
    except NameError as error:
        raise DesignError(
            "unknown-type",
            kind.__name__,
            f"{error.name} isn't defined in its module",
            "Define it at the top of the module, before the entity.",
        ) from None


def _with_arguments(annotation: Any, parameters: Iterable[Any], arguments: Iterable[Any]) -> Any:  # noqa: ANN401 - types
    """A type with these arguments in place of its type parameters; those without an argument may be anything."""
    given = dict(zip(parameters, arguments, strict=False))
    if isinstance(annotation, TypeVar):
        return given.get(annotation, Any)
    own = getattr(annotation, "__parameters__", ())
    return annotation[tuple(given.get(each, Any) for each in own)] if own else annotation


def mapped_type(annotation: Any, change: Callable[[Any], Any]) -> Any:  # noqa: ANN401 - types are of any kind
    """A type with each type inside it changed. The same object if nothing changed."""
    if hasattr(annotation, "__metadata__"):
        inner = change(annotation.__origin__)
        return annotation if inner is annotation.__origin__ else Annotated[(inner, *annotation.__metadata__)]
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is None or origin is Literal:
        return annotation
    changed = tuple(map(change, arguments))
    if same(changed, arguments):
        return annotation
    if origin in (Union, UnionType):
        return Union[changed]  # noqa: UP007 - of a tuple
    return origin[changed if len(changed) > 1 else changed[0]]


def same(ones: Any, others: Any) -> bool:  # noqa: ANN401 - sequences of anything
    """Whether two sequences contain the same objects."""
    return len(ones) == len(others) and all(one is other for one, other in zip(ones, others, strict=True))


def expanded(annotation: Any) -> Any:  # noqa: ANN401 - types are of any kind
    """A type with what its aliases stand for. The same object if it has none."""
    if not is_alias(annotation):
        return mapped_type(annotation, expanded)
    return annotation if _contains_itself(annotation) else expanded(aliased(annotation))


def _expanded_field(info: FieldInfo) -> FieldInfo:
    """A field with what the aliases in its type stand for. The same object if it has none."""
    kind = expanded(info.annotation)
    if kind is info.annotation:
        return info
    changed, marks = copy(info), getattr(kind, "__metadata__", ())
    changed.annotation = kind.__origin__ if marks else kind
    changed.metadata = [*(each for mark in marks for each in _flat(mark)), *info.metadata]
    return changed


def expand_aliases(model: type[BaseModel]) -> None:
    """Replace the aliases in the types of a model's fields. The model checks the same as before."""
    for name, info in model.model_fields.items():
        model.model_fields[name] = _expanded_field(info)


def _flat(mark: object) -> Iterator[object]:
    """A marker; for a `Field`, its limits by themselves, as pydantic has them in the metadata of a field."""
    if isinstance(mark, FieldInfo):
        yield from mark.metadata
        mark = copy(mark)
        mark.metadata = []
    yield mark


def _contains_itself(alias: object) -> bool:
    return any(each == alias for each in _aliases_in(aliased(alias), []))


def _aliases_in(annotation: object, seen: list[object]) -> Iterator[object]:
    """The aliases in a type, and those in what they stand for."""
    if is_alias(annotation):
        if annotation not in seen:
            seen.append(annotation)
            yield annotation
            yield from _aliases_in(aliased(annotation), seen)
    else:
        for argument in get_args(annotation):
            yield from _aliases_in(argument, seen)
