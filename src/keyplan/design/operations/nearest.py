"""`nearest`: a search for the items whose vectors are nearest to another one."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Generic, TypeVar, cast, overload

from pydantic import BaseModel

from keyplan.design.entities.entity import Entity
from keyplan.design.entities.specs import StandIn
from keyplan.design.entities.vectors import VectorSpec
from keyplan.design.errors import DesignError, InvalidValue, Unusable
from keyplan.design.operations.reading import Op, T_co
from keyplan.design.operations.selections import Selection, select
from keyplan.design.tables.vector_indexes import VectorAccess

T = TypeVar("T")
M = TypeVar("M", bound=BaseModel)
E = TypeVar("E", bound=Entity)

MOST_NEAREST = 100
"""The most items that DynamoDB finds."""


@dataclass(frozen=True)
class Near(Generic[T_co]):
    """An item that was found, with its score: a distance, of which smaller is nearer, or a dot product."""

    item: T_co
    score: float


@dataclass(frozen=True)
class Nearest(Op[Sequence[Near[T_co]]]):
    """The items whose vectors are nearest to another one, the nearest first."""

    entity: type[Entity]
    access: VectorSpec
    vector: object
    """The numbers, or a stand-in for a pattern's parameter."""
    values: Mapping[str, object]
    size: int
    expired: bool = False
    """Whether to include items whose time to live has passed."""
    selection: Selection | None = None
    """What it returns, if not whole entities."""

    def limit(self, size: int) -> "Nearest[T_co]":
        """Find at most this many items."""
        _check_size(self.access, size)
        return self.changed(size=size)

    @overload
    def only(self, chosen: type[M]) -> "Nearest[M]": ...
    @overload
    def only(self, chosen: Callable[[T_co], T]) -> "Nearest[T]": ...
    def only(self, chosen: Callable[[Any], Any] | type[BaseModel]) -> "Nearest[Any]":
        """Read only some fields: `.only(lambda post: (post.title, post.slug))`, or those of a view."""
        return cast("Nearest[Any]", self.changed(selection=select(self.entity, chosen)))


def nearest(access: VectorAccess[E], vector: Sequence[float], *, expired: bool = False, **values: object) -> Nearest[E]:
    """The 10 items whose vectors are nearest to this one, or another number with `.limit(...)`.

    Give a value for the partition of the index, and for any of its filters.
    """
    if type(access) is not VectorAccess:
        problem = f"{access!r} isn't a vector index of an entity"
        raise DesignError("not-a-vector-index", "nearest", problem, "Use one, such as Note.by_meaning.")
    entity = access.entity
    spec = next((each for each in entity.spec.vectors.values() if each.index is access.placement.index), None)
    if spec is None:
        raise Unusable(f"{entity.__name__}.{access.placement.index.name}")
    _check_values(spec, values)
    searched = vector if isinstance(vector, StandIn) else _numbers(spec, vector)
    return Nearest.made(entity=entity, access=spec, vector=searched, values=values, size=10, expired=expired)


def _numbers(spec: VectorSpec, vector: Sequence[float]) -> tuple[float | Decimal, ...]:
    """The numbers of a vector, which can be a list, a NumPy array, or anything else with numbers."""
    numbers: list[float | Decimal] = []
    try:
        for number in cast("Iterable[Any]", vector):
            if isinstance(number, str | bytes):
                raise TypeError
            numbers.append(number if isinstance(number, int | Decimal) else float(number))
    except (TypeError, ValueError):
        problem = "A vector is a sequence of numbers, such as (0.25, 0.5)."
        raise InvalidValue("wrong-type", spec.place, problem, field=spec.vector) from None
    if len(numbers) != spec.index.dimensions:
        problem = f"This vector has {len(numbers)} numbers, and needs {spec.index.dimensions}."
        raise InvalidValue("vector-size", spec.place, problem, field=spec.vector)
    return tuple(numbers)


def _check_values(spec: VectorSpec, values: Mapping[str, object]) -> None:
    unknown = [name for name in values if name not in spec.elements]
    if unknown:
        raise DesignError(
            "vector-fields",
            spec.place,
            f"a search can't be limited by {', '.join(unknown)}",
            f"The fields of the index are: {', '.join(spec.elements) or 'none'}.",
        )
    needed = spec.needed
    if needed is not None and needed not in values:
        problem = f"no value for {needed}, which the index is partitioned by"
        raise DesignError("vector-fields", spec.place, problem, f"Give a value: {needed}=...")


def _check_size(spec: VectorSpec, size: int) -> None:
    if type(size) is not int or not 1 <= size <= MOST_NEAREST:
        problem = f"A search finds 1 to {MOST_NEAREST} items, not {size!r}."
        raise InvalidValue("page-size", spec.place, problem)
