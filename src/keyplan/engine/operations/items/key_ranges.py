"""Ranges of row keys, and the key conditions that describe them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from keyplan.engine.errors import invalid_parameter
from keyplan.engine.expressions import KeyCondition
from keyplan.engine.storage.catalog import Index
from keyplan.engine.values.attribute_values import AttributeValue, content_of
from keyplan.engine.values.row_keys import (
    KeySchema,
    check_index_key,
    check_key_values,
    open_part,
    part,
    partition,
    prefix_end,
)

_SHORT = 256
"""The number of characters that always fit into the 1,024 bytes of a sort key."""


@dataclass(slots=True)
class Range:
    """A range of row keys, in one direction. `high` is None for the end of the table."""

    low: bytes
    high: bytes | None
    backward: bool = False

    def contains(self, key: bytes) -> bool:
        return self.low <= key and (self.high is None or key < self.high)

    def start_after(self, key: bytes) -> None:
        """Exclude what earlier pages have returned, up to and including this key."""
        if self.backward:
            self.high = key
        else:
            self.low = key + b"\x00"


def prefix_range(prefix: bytes, *, backward: bool = False) -> Range:
    """Return the range of all row keys with this prefix."""
    return Range(prefix, prefix_end(prefix), backward)


def check_key_condition(schema: KeySchema, index: Index | None, bound: KeyCondition) -> None:
    """Refuse values in the condition that don't have the types of the key, or aren't legal in it."""
    for attribute, value in zip(schema.hash, bound.hash, strict=True):
        if not _is_short(attribute[1], value):
            _check_value(KeySchema((attribute,), ()), index, value)
    for attribute, (_, operands) in zip(schema.range, bound.range, strict=False):
        for value in operands:
            if not _is_short(attribute[1], value):
                _check_value(KeySchema((), (attribute,)), index, value)


def _check_value(attribute: KeySchema, index: Index | None, value: AttributeValue) -> None:
    """Refuse a value that can't be in the key, with AWS's message for the key of a table or of an index."""
    alone = {attribute.names[0]: value}
    if index is None:
        check_key_values(attribute, alone)
    else:
        check_index_key(attribute, index.name, alone)


def _is_short(kind: str, value: AttributeValue) -> bool:
    """Whether a value, which must be of this type, is neither empty nor possibly too long for a key."""
    if kind not in value:
        raise invalid_parameter("Condition parameter type does not match schema type")
    return kind == "N" or 0 < len(cast(str, content_of(value))) < _SHORT


def range_of(bound: KeyCondition, *, backward: bool = False) -> Range:
    """Return the range of row keys that the condition describes."""
    prefix = partition(bound.hash)
    if not bound.range:
        return prefix_range(prefix, backward=backward)
    *equal, (operator, operands) = bound.range
    for _, values in equal:
        prefix += part(values[0])
    low, high = _last_bounds(prefix, operator, operands)
    return Range(low, high, backward)


def _last_bounds(prefix: bytes, operator: str, operands: Sequence[AttributeValue]) -> tuple[bytes, bytes]:
    """The bounds of a condition on the last attribute, within the prefix."""
    if operator == "begins_with":
        begin = prefix + open_part(operands[0])
        return begin, prefix_end(begin)
    first = prefix + part(operands[0])
    match operator:
        case "=":
            return first, prefix_end(first)
        case "<":
            return prefix, first
        case "<=":
            return prefix, prefix_end(first)
        case ">":
            return prefix_end(first), prefix_end(prefix)
        case ">=":
            return first, prefix_end(prefix)
    return first, prefix_end(prefix + part(operands[1]))
