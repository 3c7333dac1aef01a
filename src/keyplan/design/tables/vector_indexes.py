"""The vector indexes of a table, in DynamoDB's terms."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Generic, Literal, TypeAlias, TypeVar

from keyplan.design.errors import DesignError
from keyplan.design.tables.attributes import ALL, KeyAttribute, Projection, attributes_of

E = TypeVar("E")

Distance: TypeAlias = Literal["cosine", "euclidean", "dot product"]
"""How two vectors are compared. The nearest have the smallest distance, or the largest dot product."""

MOST_DIMENSIONS = 4096
MOST_INDEXES = 5
MOST_FILTERS = 18


def check_dimensions(place: str, dimensions: int) -> None:
    """Refuse a size that no vector can have."""
    if not 1 <= dimensions <= MOST_DIMENSIONS:
        raise DesignError(
            "vector-dimensions", place, f"{dimensions} can't be the size of a vector", f"Use 1 to {MOST_DIMENSIONS}."
        )


@dataclass(frozen=True)
class VectorIndexKey:
    """A vector index as a table declares it; see `vector_index`."""

    attribute: str
    dimensions: int
    distance: Distance
    partition: str | None
    filters: tuple[str, ...]
    projection: Projection


def vector_index(
    attribute: str,
    dimensions: int,
    *,
    distance: Distance = "cosine",
    partition: str | None = None,
    filters: Sequence[str] = (),
    projection: Projection = ALL,
) -> VectorIndexKey:
    """A vector index on a stored attribute.

    Every search is within one value of the attribute `partition`, and can be limited to values of `filters`. Like those
    of keys, these names can include a type: `size:N`.
    """
    return VectorIndexKey(attribute, dimensions, distance, partition, tuple(filters), projection)


@dataclass(frozen=True, eq=False)
class VectorIndex:
    """A vector index of a table."""

    table_name: str
    name: str
    attribute: str
    dimensions: int
    distance: Distance
    partition: KeyAttribute | None
    filters: tuple[KeyAttribute, ...]
    projection: Projection
    broken: bool = False
    """Whether its declaration has errors, which were recorded."""

    @property
    def place(self) -> str:
        return f"{self.table_name}.{self.name}"

    @property
    def elements(self) -> tuple[KeyAttribute, ...]:
        """The attributes that a search can be limited by."""
        return self.filters if self.partition is None else (self.partition, *self.filters)


def bound_index(table_name: str, name: str, declared: VectorIndexKey) -> VectorIndex:
    """The index of a table; refuses what DynamoDB would reject."""
    place = f"{table_name}.{name}"
    check_dimensions(place, declared.dimensions)
    partition = attributes_of((declared.partition,), place) if declared.partition is not None else ()
    filters = attributes_of(declared.filters, place)
    names = [each.name for each in (*partition, *filters)]
    if len(filters) > MOST_FILTERS:
        problem = f"it has {len(filters)} filters"
        raise DesignError("vector-filters", place, problem, f"Use at most {MOST_FILTERS}.")
    if len(set(names)) != len(names) or declared.attribute in names:
        problem = "an attribute is in it twice, which DynamoDB rejects"
        raise DesignError("same-name-twice", place, problem, "Use different attributes.")
    return VectorIndex(
        table_name,
        name,
        declared.attribute,
        declared.dimensions,
        declared.distance,
        partition[0] if partition else None,
        filters,
        declared.projection,
    )


def broken_vector_index(table_name: str, name: str) -> VectorIndex:
    """Stands for an index whose declaration has errors."""
    return VectorIndex(table_name, name, "", 0, "cosine", None, (), ALL, broken=True)


def check_vector_indexes(table_name: str, indexes: Iterable[VectorIndex], *, billing: str) -> None:
    """Refuse indexes that DynamoDB would reject together."""
    made = list(indexes)
    if len(made) > MOST_INDEXES:
        problem = f"it has {len(made)} vector indexes"
        raise DesignError("vector-indexes", table_name, problem, f"Use at most {MOST_INDEXES}.")
    if made and billing != "PAY_PER_REQUEST":
        problem = "only tables that are paid per request can have vector indexes"
        raise DesignError("vector-billing", table_name, problem, "Leave out billing and capacity.")
    for one, other in combinations(made, 2):
        if one.attribute == other.attribute and one.dimensions != other.dimensions:
            raise DesignError(
                "vector-dimensions",
                other.place,
                f"{one.name} on the same attribute has {one.dimensions} dimensions, and this one {other.dimensions}",
                "Use the same number, or another attribute.",
            )


@dataclass(frozen=True)
class VectorAccess(Generic[E]):
    """A vector index in which an entity's items can be searched: `nearest(Note.by_meaning, ...)`."""

    entity: type[E]
    placement: "VectorPlacement"


@dataclass(frozen=True, eq=False)
class VectorPlacement:
    """Says that an entity's items are in a vector index."""

    index: VectorIndex

    def __get__(self, instance: object, owner: type[E]) -> VectorAccess[E]:
        return VectorAccess(owner, self)
