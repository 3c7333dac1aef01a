"""The entries of vector indexes: made from items, and refused where AWS refuses the vector.

An entry's keys are the values of the index's search schema, in its order, as a JSON array with null for what the item
lacks. Values are in normal form, so equal values are equal texts.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from struct import Struct
from typing import NamedTuple, TypeAlias

import orjson

from keyplan.engine.errors import DynamoError, invalid_parameter
from keyplan.engine.storage.catalog import Table, VectorIndex
from keyplan.engine.values.attribute_values import AttributeValue, Item, type_of
from keyplan.engine.values.row_keys import check_index_key, check_updated_index_key, index_key_mismatch

LARGEST_FLOAT = "3.4028235E+38"


class Entry(NamedTuple):
    """What a vector index stores of an item: the vector as 32-bit floats, and the values of the search schema."""

    vector: bytes
    keys: bytes


Entries: TypeAlias = list[Entry | None]
"""An item's entry in each vector index of its table; None if it isn't in that index."""


def entries_of(table: Table, item: Item) -> Entries:
    """Return the entries of an item in the vector indexes; refuse an item that doesn't fit one of them."""
    packed: dict[str, bytes] = {}
    entries: Entries = []
    for index in table.vector_indexes:
        check_index_key(index.partition_schema, index.name, item)
        entries.append(_entry(index, item, packed))
    return entries


def entries_of_update(table: Table, item: Item, copied: Callable[[str], bool]) -> Entries:
    """The same for the result of an update; `copied` says whether it took an attribute's value from another one."""
    packed: dict[str, bytes] = {}
    entries: Entries = []
    for index in table.vector_indexes:
        check_updated_index_key(index.partition_schema, index.name, item, copied)
        entries.append(_entry(index, item, packed))
    return entries


def entry_for_backfill(index: VectorIndex, item: Item) -> Entry | None:
    """Return the entry of an item that was written before the index could refuse it; None if it doesn't fit."""
    try:
        check_index_key(index.partition_schema, index.name, item)
        return _entry(index, item, {})
    except DynamoError:
        return None


def in_index(index: VectorIndex, item: Item | None) -> bool:
    """Return whether an item that was written to the table has an entry."""
    if item is None or index.attribute not in item:
        return False
    return index.partition is None or index.partition[0] in item


def same_entry(index: VectorIndex, old: Item, new: Item) -> bool:
    """Return whether both items, which are in the index, have the same entry."""
    names = (index.attribute, *(name for name, _ in index.schema))
    return all(old.get(name) == new.get(name) for name in names)


def _entry(index: VectorIndex, item: Item, packed: dict[str, bytes]) -> Entry | None:
    for name, kind in index.filters:
        if name in item and kind not in item[name]:
            raise index_key_mismatch(index.name, name, kind, item[name])
    value = item.get(index.attribute)
    if value is None:
        return None
    vector = packed.get(index.attribute)
    if vector is None:  # all indexes on one attribute have the same dimensions
        vector = packed[index.attribute] = _vector(index, value)
    if not in_index(index, item):
        return None
    return Entry(vector, orjson.dumps([item.get(name) for name, _ in index.schema]))


def _vector(index: VectorIndex, value: AttributeValue) -> bytes:
    name, where = index.attribute, f"IndexName: {index.name}"
    if "L" not in value:
        raise invalid_parameter(f"Invalid type for parameter {name}, Expected: L, Actual: {type_of(value)}. {where}")
    numbers = value["L"]
    if len(numbers) != index.dimensions:
        raise invalid_parameter(
            f"Invalid size for parameter {name}, Expected: {index.dimensions}, Actual: {len(numbers)}. {where}"
        )
    try:
        return pack(numbers)
    except NotAFloat as problem:
        raise invalid_parameter(problem.message(name, where)) from None


class NotAFloat(ValueError):
    """An element of a vector that isn't a 32-bit float."""

    def __init__(self, position: int, value: AttributeValue) -> None:
        super().__init__(position, value)
        self.position = position
        self.value = value

    def message(self, name: str, where: str) -> str:
        """Return what is wrong, with the place of the element."""
        place = f"{name}[{self.position}]"
        if "N" not in self.value:
            return f"Invalid type for parameter {place}, Expected: N, Actual: {type_of(self.value)}. {where}"
        return (
            f"Invalid value for parameter {place}, Expected: a 32-bit floating point number of at most "
            f"{LARGEST_FLOAT}, Actual: {self.value['N']}. {where}"
        )


def pack(numbers: Sequence[AttributeValue]) -> bytes:
    """Return numbers as 32-bit floats; raise `NotAFloat` for the first element that isn't one."""
    try:
        return _floats(len(numbers)).pack(*[float(number["N"]) for number in numbers])
    except (KeyError, OverflowError):
        raise next(NotAFloat(place, number) for place, number in enumerate(numbers) if not _fits(number)) from None


def _fits(number: AttributeValue) -> bool:
    try:
        _floats(1).pack(float(number["N"]))
    except (KeyError, OverflowError):
        return False
    return True


@lru_cache(maxsize=64)
def _floats(count: int) -> Struct:
    return Struct(f"<{count}f")
