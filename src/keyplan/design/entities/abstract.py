"""Abstract entities: fields, keys and rules for other entities to inherit, without items of their own."""

from copy import copy
from typing import TYPE_CHECKING, Any, NoReturn

from keyplan.design.entities.effects import BelongsTo, Counter, Derived, Unique
from keyplan.design.errors import DesignError, Unusable
from keyplan.design.tables.tables import Table

if TYPE_CHECKING:
    from keyplan.design.entities.entity import Entity

_BOUND = (Unique, Derived, Counter, BelongsTo)
"""Rules that learn from their entity and its design what they apply to."""


def make_abstract(entity: "type[Entity]", table: Table | None) -> None:
    """Refuse every use of a class as an entity, except to inherit from it."""
    refusing: Any = _Refusing(entity.__name__)
    entity.inherited_table = table
    entity.spec = refusing
    entity.__pydantic_validator__ = refusing


class _Refusing:
    """In the place of what an entity has: refuses to be used, with the name of the abstract entity."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> NoReturn:
        if attribute.startswith("__"):
            raise AttributeError(attribute)
        raise DesignError(
            "abstract-entity",
            self._name,
            "it is abstract, so it has no items",
            "Use an entity that inherits from it.",
        )


def make_unusable(entity: "type[Entity]") -> None:
    """Refuse every use of a class whose declaration has errors that were recorded."""
    unusable: Any = _Unusable(entity.__name__)
    entity.spec = unusable


def is_unusable(entity: type) -> bool:
    """Whether a class is an entity whose declaration has errors."""
    return isinstance(vars(entity).get("spec"), _Unusable)


class _Unusable(_Refusing):
    """In the place of the declaration of an entity that has errors."""

    def __getattr__(self, attribute: str) -> NoReturn:
        if attribute.startswith("__"):
            raise AttributeError(attribute)
        raise Unusable(self._name)


def own_declarations(entity: "type[Entity]") -> None:
    """Give an entity its own copies of the rules that it inherits, since each is bound to one entity."""
    for base in entity.__mro__[1:]:
        for name, value in vars(base).items():
            if isinstance(value, _BOUND) and name not in vars(entity) and _is_inherited(entity, name, value):
                setattr(entity, name, copy(value))


def _is_inherited(entity: "type[Entity]", name: str, value: object) -> bool:
    """Whether the class has this declaration, and not another one of the same name."""
    return next(vars(base)[name] for base in entity.__mro__ if name in vars(base)) is value
