"""Vectors: fields that hold one, the vector indexes of a table, and where an entity's vectors are found.

A vector is a field of numbers, usually an embedding of the item's content: `Annotated[tuple[float, ...], vector(384)]`.
A table declares its vector indexes; `by_meaning = notes.nearest_by("ByMeaning")` in an entity says that its items are
in one of them, and `nearest(Note.by_meaning, ...)` is a search for the items whose vectors are nearest to another one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING

from pydantic.fields import FieldInfo

from keyplan.design.errors import DesignError, Unusable, recorded
from keyplan.design.fields.declarations import markers
from keyplan.design.tables.attributes import KeyAttribute
from keyplan.design.tables.vector_indexes import VectorIndex, VectorPlacement, check_dimensions
from keyplan.design.values.annotations import KEY_TYPES, scalar
from keyplan.design.values.limits import Limit

if TYPE_CHECKING:
    from keyplan.design.entities.entity_spec import EntitySpec

_LARGEST_FLOAT = 3.4028235e38


@dataclass(frozen=True)
class Vector(Limit):
    """Marks a vector; see `vector`."""

    dimensions: int = 0


def vector(dimensions: int) -> Vector:
    """A vector of so many numbers: `Annotated[tuple[float, ...], vector(384)]`. Its size is checked on write."""
    with recorded():
        check_dimensions("vector", dimensions)

    def check(value: Sequence[float]) -> None:
        if len(value) != dimensions:
            raise ValueError(f"This vector has {len(value)} numbers, and needs {dimensions}.")
        if not all(abs(number) <= _LARGEST_FLOAT for number in value):  # also refuses NaN
            raise ValueError("The numbers of a vector must fit into 32-bit floats.")

    return Vector(check, dimensions=dimensions)


def vector_of(info: FieldInfo) -> Vector | None:
    """How large a field's vector is, if it is one."""
    return next((mark for mark in markers(info) if isinstance(mark, Vector)), None)


@dataclass(frozen=True)
class VectorSpec:
    """A vector index from the view of an entity: which fields its attributes are."""

    name: str
    place: str
    index: VectorIndex
    vector: str
    """The field with the vector."""
    elements: Mapping[str, KeyAttribute] = field(default_factory=dict)
    """The fields that a search can be limited by, with their attributes."""
    by_type: bool = False
    """Whether a search can be limited to the entity's own items, by the type attribute."""

    @property
    def needed(self) -> str | None:
        """The field that a search needs a value of."""
        partition = self.index.partition
        return next((name for name, attribute in self.elements.items() if attribute == partition), None)


def bind_vectors(spec: "EntitySpec", name: str, placement: VectorPlacement) -> VectorSpec:
    """Find the fields of an entity that are the attributes of a vector index."""
    index, place, table = placement.index, f"{spec.name}.{name}", spec.table
    if index.broken:
        raise Unusable(place)
    if table.vectors_by_name.get(index.name) is not index:
        problem = f"index {index.name} belongs to table {index.table_name}"
        raise DesignError("foreign-index", place, problem, f"Use an index of {table.name}.")
    if table.envelope:
        problem = f"the fields of {table.name} are stored in the envelope {table.envelope!r}, which an index can't read"
        raise DesignError("vector-envelope", place, problem, "Use a table without an envelope.")
    by_attribute = {each.stored: each for each in spec.fields.values()}
    found = by_attribute.get(index.attribute)
    size = None if found is None else vector_of(spec.entity.declared_fields[found.name])
    if found is None or size is None or size.dimensions != index.dimensions:
        problem = f"no field is stored as {index.attribute} and is a vector of {index.dimensions} numbers"
        remedy = f"Declare one: Annotated[tuple[float, ...], vector({index.dimensions})]."
        raise DesignError("vector-field", place, problem, remedy)
    elements: dict[str, KeyAttribute] = {}
    by_type = False
    for element in index.elements:
        if element.name == table.type_attribute and spec.type is not None:
            by_type = True
            continue
        held = by_attribute.get(element.name)
        part = spec.key_attributes.get(element.name)
        if held is None or (part is not None and part.fields != (held.name,)):
            problem = f"{element.name} of the index isn't the attribute of a field"
            raise DesignError("vector-element", place, problem, "Name the stored attribute of a field in the index.")
        if scalar(held.annotation) not in KEY_TYPES[element.type]:
            problem = f"{element.name} of the index is of type {element.type}, and the field {held.name} isn't"
            raise DesignError("key-type", place, problem, f"Write the type in the index: {element.name}:N.")
        elements[held.name] = element
    return VectorSpec(name, place, index, found.name, elements, by_type)


def check_shared_vectors(specs: Sequence["EntitySpec"]) -> None:
    """Refuse an index with several entities' items that a search couldn't limit to one of them."""
    for one, other in combinations(specs, 2):
        for mine, theirs in ((a, b) for a in one.vectors.values() for b in other.vectors.values()):
            if mine.index is theirs.index and not (mine.by_type and theirs.by_type):
                with recorded():
                    raise DesignError(
                        "vector-shared",
                        f"{mine.place} and {theirs.place}",
                        "a search would find items of both entities, and leave out the others after it has found them",
                        "Add the table's type attribute to the filters of the index, or use an index for each.",
                    )
