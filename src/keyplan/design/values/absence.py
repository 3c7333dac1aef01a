"""What a missing attribute means.

None and the empty set are not stored: DynamoDB has no empty sets, and leaving out an attribute keeps its item out of an
index. So a missing attribute must mean one thing only, and a declaration in which it could mean two is refused.
"""

from collections.abc import Iterator, Set
from types import NoneType, UnionType
from typing import Any, Final, Union, get_args, get_origin

from pydantic import BaseModel, JsonValue
from pydantic.fields import FieldInfo

from keyplan.design.errors import DesignError

NOTHING: Final = object()
"""A missing attribute has no meaning: the value is required."""

_ANYTHING = (Any, object, JsonValue)


def when_absent(info: FieldInfo) -> object:
    """What a missing attribute means for a field without a default: None, an empty set, or `NOTHING`."""
    if not info.is_required():
        return NOTHING
    if _takes_none(info.annotation):
        return None
    return () if _is_set(info.annotation) else NOTHING


def check_absence(model: type[BaseModel], place: str, seen: frozenset[type[BaseModel]] = frozenset()) -> None:
    """Refuse a model with a field whose None or empty set would be read back as something else."""
    for name, info in model.model_fields.items():
        _check_field(info, f"{place}.{name}")
        for part in _parts(info.annotation):
            if isinstance(part, type) and issubclass(part, BaseModel) and part not in seen:
                check_absence(part, f"{place}.{name}", seen | {part})


def _check_field(info: FieldInfo, place: str) -> None:
    if any(_is_optional_set(part) for part in _parts(info.annotation)):
        raise DesignError(
            "empty-or-none",
            place,
            "neither None nor an empty set is stored, so they can't be told apart",
            "Remove None from the type: a missing set is an empty set.",
        )
    if _takes_none(info.annotation) and _default(info) is not None:
        raise DesignError(
            "lost-none",
            place,
            "None is not stored, and would be read back as the default",
            "Make None the default, or remove None from the type.",
        )
    if _is_set(info.annotation) and _default(info):
        raise DesignError(
            "lost-empty-set",
            place,
            "an empty set is not stored, and would be read back as the default",
            "Remove the default, and pass the members when you create the entity.",
        )


def _default(info: FieldInfo) -> object:
    """The default. A function of other fields counts as a default that isn't None."""
    if info.is_required():
        return None
    if info.default_factory_takes_validated_data:
        return info.default_factory
    return info.get_default(call_default_factory=True)


def _plain(annotation: Any) -> Any:  # noqa: ANN401 - types are of any kind
    return _plain(get_args(annotation)[0]) if hasattr(annotation, "__metadata__") else annotation


def _is_set(annotation: object) -> bool:
    kind = _plain(annotation)
    origin = get_origin(kind) or kind
    return isinstance(origin, type) and issubclass(origin, Set)


def _takes_none(annotation: object) -> bool:
    kind = _plain(annotation)
    return kind in _ANYTHING or (get_origin(kind) in (Union, UnionType) and NoneType in get_args(kind))


def _is_optional_set(annotation: object) -> bool:
    kind = _plain(annotation)
    return get_origin(kind) in (Union, UnionType) and _takes_none(kind) and any(map(_is_set, get_args(kind)))


def _parts(annotation: object) -> Iterator[object]:
    """A type and the types inside it."""
    yield annotation
    for argument in get_args(annotation):
        yield from _parts(argument)
