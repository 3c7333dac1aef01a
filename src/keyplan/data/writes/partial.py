"""Partial views: the fields of an item that a write returned."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Generic, NoReturn, TypeVar, cast

from keyplan.design import Entity, InvalidValue

E = TypeVar("E", bound=Entity)
V = TypeVar("V")


class Partial(Generic[E]):
    """Some fields of an item: `partial.get(lambda book: book.year)`. It is not an entity, so no field is missing."""

    __slots__ = ("_entity", "_values")

    def __init__(self, entity: type[E], values: Mapping[str, object]) -> None:
        self._entity = entity
        self._values = dict(values)

    @property
    def fields(self) -> frozenset[str]:
        """The names of its fields."""
        return frozenset(self._values)

    def get(self, field: Callable[[E], V]) -> V:
        """The value of a field, or of what is inside it. Raises `InvalidValue` for a field that it doesn't have."""
        return field(cast(E, _Fields(self._entity, self._values)))

    if not TYPE_CHECKING:  # type checkers know by themselves that there are no other attributes

        def __getattr__(self, name: str) -> NoReturn:
            entity = self._entity.__name__
            known = (
                f". Its fields are read by get(lambda item: item.{name})" if name in self._entity.spec.fields else ""
            )
            raise AttributeError(f"Partial[{entity}] has no attribute {name}{known}")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Partial) and (self._entity, self._values) == (other._entity, other._values)

    __hash__ = None  # type: ignore[assignment]  # its values may be lists

    def __repr__(self) -> str:
        return f"Partial[{self._entity.__name__}]({', '.join(f'{n}={v!r}' for n, v in self._values.items())})"


class _Fields:
    """The fields of a partial view, as attributes."""

    def __init__(self, entity: type[Entity], values: Mapping[str, object]) -> None:
        self._entity = entity
        self.__dict__.update(values)

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        problem = "This field isn't in the result, because the write didn't change it."
        raise InvalidValue("not-returned", f"{self._entity.__name__}.{name}", problem, field=name)
