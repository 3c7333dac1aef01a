"""Selections: the fields that a read returns, when it doesn't return whole entities.

They are chosen by a function of the entity, such as `lambda post: (post.title, post.slug)`, or by a view: a pydantic
model whose fields are fields of the entity. The function is called once with a stand-in, which records the fields, and
then for each item. So it can return anything that is made of fields: a tuple, a named tuple, a data class, one field.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel

from keyplan.design.errors import DesignError
from keyplan.design.operations.conditions import FieldPath, FieldStandIn
from keyplan.design.values.annotations import without_none

if TYPE_CHECKING:
    from keyplan.design.entities.entity import Entity

_REMEDY = "Return a field, or a tuple of fields: lambda post: (post.title, post.slug)."

E = TypeVar("E", bound="Entity")


@dataclass(frozen=True, eq=False)
class Selection:
    """Some fields of an entity, and what is made of their values."""

    entity: "type[Entity]"
    fields: tuple[str, ...]
    make: Callable[[dict[str, object]], object]


def select(entity: type[E], chosen: Callable[[E], object] | type[BaseModel]) -> Selection:
    """The selection of a view, or of a function of the entity."""
    if isinstance(chosen, type):
        return _of_view(entity, chosen)
    recorder = _Recorder(entity)
    try:
        result = chosen(recorder)  # type: ignore[arg-type]  # a stand-in for the entity
    except TypeError as error:
        raise DesignError(
            "only", entity.__name__, f"the function doesn't only choose fields: {error}", _REMEDY
        ) from None
    fields = tuple(recorder.seen)
    if not fields or not _is_made_of_fields(result):
        raise DesignError("only", entity.__name__, "the function doesn't choose fields", _REMEDY)

    def make(values: dict[str, object]) -> object:
        item = object.__new__(_Values)
        item.__dict__ = values
        return chosen(item)  # type: ignore[arg-type]  # it has the chosen fields

    return Selection(entity, fields, make)


class _Values:
    """The chosen fields of an item, as attributes."""


class _Recorder:
    """Stands in for an entity and records which fields are chosen."""

    def __init__(self, entity: "type[Entity]") -> None:
        self._entity = entity
        self.seen: dict[str, None] = {}

    def __getattr__(self, name: str) -> FieldStandIn:
        _check_field(self._entity, name, f"{self._entity.__name__}.{name}")
        if self._entity.spec.fields[name].large is not None:
            problem = "it is a large value, of which a list has no content"
            raise DesignError("only", f"{self._entity.__name__}.{name}", problem, "Get the whole entity.")
        self.seen[name] = None
        return FieldStandIn(FieldPath((name,)))


def _is_made_of_fields(result: object) -> bool:
    """Whether a function returned fields, and no condition on them."""
    parts = result if isinstance(result, tuple) else (result,)
    return bool(parts) and all(isinstance(part, FieldStandIn) or not hasattr(part, "operands") for part in parts)


def _of_view(entity: "type[Entity]", view: type[BaseModel]) -> Selection:
    if not getattr(view, "model_fields", None):
        raise DesignError("view", view.__name__, "it isn't a pydantic model with fields", "Declare its fields.")
    for name, info in view.model_fields.items():
        place = f"{view.__name__}.{name}"
        _check_field(entity, name, place)
        own = without_none(entity.declared_fields[name].annotation)
        kind, optional = without_none(info.annotation)
        if kind != own[0] or (own[1] and not optional):
            problem = f"it isn't of the type that it has in {entity.__name__}"
            raise DesignError("view-type", place, problem, "Use the same type, or inherit it from shared Fields.")

    def make(values: Mapping[str, Any]) -> BaseModel:
        return view.model_construct(**values)  # decoded and checked as the entity's fields are

    return Selection(entity, tuple(view.model_fields), make)


def _check_field(entity: "type[Entity]", name: str, place: str) -> None:
    if name not in entity.model_fields:
        known = ", ".join(entity.model_fields)
        raise DesignError("no-such-field", place, f"{entity.__name__} has no such field", f"The fields are: {known}.")
