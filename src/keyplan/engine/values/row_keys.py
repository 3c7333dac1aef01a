"""Row keys: an item's key as bytes that SQLite sorts like DynamoDB.

The row key of an item is a four-byte hash of its partition key, the partition key, and the sort key, in forms whose
byte order is DynamoDB's order (S by UTF-8 bytes, N by value, B by unsigned bytes). Because of the hash, the order of a
Scan looks random, as on AWS; parallel segments are ranges of it. Each part ends with two zero bytes (a zero inside is
written 00 FF), so that parts can't run into each other. The row key of an index entry is made in the same way from the
index's own key, followed by the item's row key to distinguish entries with equal keys.
"""

from base64 import b64decode
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias, cast
from zlib import crc32

from keyplan.engine.errors import DynamoError, invalid_parameter, validation_error
from keyplan.engine.values import numbers
from keyplan.engine.values.attribute_values import AttributeValue, Item

HASH_BYTES = 4
# The checksums of similar keys differ in few bits; multiplying by 2^32 divided by the golden ratio spreads them, so
# that segments have about the same size. It takes half the time of a cryptographic hash.
_SPREAD = 0x9E3779B1
_MASK = 2**32 - 1
MAXIMUM_HASH_SIZE = 2048
MAXIMUM_RANGE_SIZE = 1024

KeyType: TypeAlias = Literal["S", "N", "B"]
KeyAttribute: TypeAlias = tuple[str, KeyType]
"""Name and type (S, N or B) of an attribute in a key."""

_CLOSE = b"\x00\x00"
_ZERO = 0  # searching bytes for a number takes a tenth of the time of searching for b"\x00"


_BYTES: dict[str, Callable[[str], bytes]] = {"S": str.encode, "N": numbers.sort_key, "B": b64decode}
"""The bytes that a value of each type is sorted by."""


def _bytes(value: AttributeValue) -> bytes:
    ((kind, content),) = value.items()
    return _BYTES[kind](cast(str, content))


def part(value: AttributeValue) -> bytes:
    """Return the bytes of one key attribute, with the end mark."""
    return _escaped(_bytes(value)) + _CLOSE


def open_part(value: AttributeValue) -> bytes:
    """Return the bytes of one key attribute without the end mark: the prefix of all values that begin with it."""
    return _escaped(_bytes(value))


def _escaped(data: bytes) -> bytes:
    return data.replace(b"\x00", b"\x00\xff") if _ZERO in data else data


def partition(values: Sequence[AttributeValue]) -> bytes:
    """Return the prefix of all row keys with this partition key."""
    parts = part(values[0]) if len(values) == 1 else b"".join(map(part, values))
    return (crc32(parts) * _SPREAD & _MASK).to_bytes(HASH_BYTES, "big") + parts


def prefix_end(prefix: bytes) -> bytes:
    """Return the smallest bytes that sort after everything with this prefix."""
    stripped = prefix.rstrip(b"\xff")
    return stripped[:-1] + bytes([stripped[-1] + 1]) if stripped else b""


@dataclass(frozen=True, slots=True)
class KeySchema:
    """The attributes of a key: one hash and at most one range attribute, or up to four of each in an index."""

    hash: tuple[KeyAttribute, ...]
    range: tuple[KeyAttribute, ...]
    attributes: tuple[KeyAttribute, ...] = field(init=False, compare=False)
    names: tuple[str, ...] = field(init=False, compare=False)
    hash_names: tuple[str, ...] = field(init=False, compare=False, repr=False)
    range_names: tuple[str, ...] = field(init=False, compare=False, repr=False)
    try_row_key: "TryRowKey" = field(init=False, compare=False, repr=False)
    """Returns the row key of an item if it has legal values for all attributes of this key, otherwise None."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "try_row_key", _try_row_key(self))
        object.__setattr__(self, "attributes", self.hash + self.range)
        object.__setattr__(self, "names", tuple(name for name, _ in self.attributes))
        object.__setattr__(self, "hash_names", tuple(name for name, _ in self.hash))
        object.__setattr__(self, "range_names", tuple(name for name, _ in self.range))

    def row_key(self, item: Item) -> bytes:
        """Return the row key of an item that has all attributes of this key."""
        key = partition([item[name] for name, _ in self.hash])
        for name, _ in self.range:
            key += part(item[name])
        return key

    def covers(self, item: Item) -> bool:
        """Return whether the item has a value for each attribute of this key; if not, it isn't in the index."""
        for name, kind in self.attributes:  # noqa: SIM110 - all() with a generator needs a second frame
            if name not in item or not item[name].get(kind):
                return False
        return True


TryRowKey: TypeAlias = Callable[[Item], bytes | None]


def _try_row_key(schema: KeySchema) -> TryRowKey:
    """A function that makes all checks and the row key; at once for nearly every key."""
    if len(schema.hash) != 1 or len(schema.range) > 1:
        return lambda item: schema.row_key(item) if schema.covers(item) and not _index_fault(schema, item) else None
    ((name, kind),) = schema.hash
    encode = _BYTES[kind]

    def partition_key(item: Item) -> bytes | None:
        try:
            data = encode(item[name][kind])
        except KeyError:  # it is missing or has a different type
            return None
        if not 0 < len(data) <= MAXIMUM_HASH_SIZE:
            return None
        closed = (data.replace(b"\x00", b"\x00\xff") if _ZERO in data else data) + _CLOSE
        return (crc32(closed) * _SPREAD & _MASK).to_bytes(HASH_BYTES, "big") + closed

    if not schema.range:
        return partition_key
    ((sort_name, sort_kind),) = schema.range
    encode_sort = _BYTES[sort_kind]

    def primary_key(item: Item) -> bytes | None:
        try:
            data, sort = encode(item[name][kind]), encode_sort(item[sort_name][sort_kind])
        except KeyError:
            return None
        if not 0 < len(data) <= MAXIMUM_HASH_SIZE or not 0 < len(sort) <= MAXIMUM_RANGE_SIZE:
            return None
        closed = (data.replace(b"\x00", b"\x00\xff") if _ZERO in data else data) + _CLOSE
        if _ZERO in sort:
            sort = sort.replace(b"\x00", b"\x00\xff")
        return (crc32(closed) * _SPREAD & _MASK).to_bytes(HASH_BYTES, "big") + closed + sort + _CLOSE

    return primary_key


def check_key(schema: KeySchema, key: Item) -> None:
    """Refuse a key that doesn't have exactly the table's key attributes, as GetItem, UpdateItem and DeleteItem do."""
    attributes = schema.attributes
    if len(key) != len(attributes):
        raise key_mismatch()
    for name, kind in attributes:
        value = key.get(name)
        if value is None or kind not in value:
            raise key_mismatch()
    check_key_values(schema, key)


def checked_key(schema: KeySchema, key: Item) -> bytes:
    """Return the row key of a key that must have exactly the table's key attributes."""
    row_key = schema.try_row_key(key) if len(key) == len(schema.attributes) else None
    if row_key is None:
        check_key(schema, key)
        return schema.row_key(key)
    return row_key


def key_mismatch() -> DynamoError:
    """AWS's error for a key that isn't the table's."""
    return validation_error("The provided key element does not match the schema")


def check_item_key(schema: KeySchema, item: Item) -> None:
    """Refuse an item without the table's key, as PutItem does."""
    for name, kind in schema.attributes:
        value = item.get(name)
        if value is None:
            raise invalid_parameter(f"Missing the key {name} in the item")
        if kind not in value:
            raise invalid_parameter(f"Type mismatch for key {name} expected: {kind} actual: {next(iter(value))}")
    check_key_values(schema, item)


def checked_item_key(schema: KeySchema, item: Item) -> bytes:
    """Return the row key of an item that must have the table's key."""
    row_key = schema.try_row_key(item)
    if row_key is None:
        check_item_key(schema, item)
        return schema.row_key(item)
    return row_key


def check_key_values(schema: KeySchema, item: Item) -> None:
    """Refuse values of a primary key that are empty or too long."""
    length = 0
    for name, kind in schema.attributes:
        content = cast(str, item[name].get(kind))
        if not content:
            raise validation_error(
                "One or more parameter values are not valid. The AttributeValue for a key attribute "
                f"cannot contain an empty {_WORDS[kind]} value. Key: {name}"
            )
        length += len(content)
    if length > _SURELY_SHORT:
        _check_key_sizes(schema, item)


_WORDS = {"S": "string", "B": "binary"}
# A character has at most four bytes in UTF-8.
_SURELY_SHORT = MAXIMUM_RANGE_SIZE // 4


def _check_key_sizes(schema: KeySchema, item: Item) -> None:
    """Refuse a partition key or sort key that is too long."""
    if _size(schema.hash, item) > MAXIMUM_HASH_SIZE:
        raise invalid_parameter(f"Size of hashkey has exceeded the maximum size limit of{MAXIMUM_HASH_SIZE} bytes")
    if schema.range and _size(schema.range, item) > MAXIMUM_RANGE_SIZE:
        raise invalid_parameter(
            f"Aggregated size of all range keys has exceeded the size limit of {MAXIMUM_RANGE_SIZE} bytes"
        )


def _size(attributes: tuple[KeyAttribute, ...], item: Item) -> int:
    return sum(len(_BYTES[kind](item[name][kind])) for name, kind in attributes)


class _IndexKeyFault(NamedTuple):
    """What is wrong with an attribute in the key of an index."""

    problem: Literal["type", "empty", "size"]
    name: str
    kind: str
    size: int = 0
    limit: int = 0


def _index_fault(schema: KeySchema, item: Item) -> _IndexKeyFault | None:
    """Each attribute must be legal, even if others are missing and the item isn't in the index."""
    for attributes, limit in ((schema.hash, MAXIMUM_HASH_SIZE), (schema.range, MAXIMUM_RANGE_SIZE)):
        total = 0
        for name, kind in attributes:
            value = item.get(name)
            if value is None:
                continue
            if kind not in value:
                return _IndexKeyFault("type", name, kind)
            if kind == "N":
                continue
            if not value.get(kind):
                return _IndexKeyFault("empty", name, kind)
            total += len(_BYTES[kind](value[kind]))
            if total > limit:
                return _IndexKeyFault("size", name, kind, total, limit)
    return None


def check_index_key(schema: KeySchema, index: str, item: Item) -> None:
    """Refuse an item with an index key attribute that has the wrong type, is empty or too long."""
    fault = _index_fault(schema, item)
    if fault is None:
        return
    if fault.problem == "type":
        raise index_key_mismatch(index, fault.name, fault.kind, item[fault.name])
    if fault.problem == "empty":
        raise validation_error(
            "One or more parameter values are not valid. A value specified for a secondary index key is not "
            f"supported. The AttributeValue for a key attribute cannot contain an empty {_WORDS[fault.kind]} value. "
            f"IndexName: {index}, IndexKey: {fault.name}"
        )
    raise invalid_parameter(
        f"Size limit exceeded for Index Key {fault.name} Actual Size: {fault.size} bytes "
        f"Max Size: {fault.limit} bytes IndexName: {index}"
    )


def index_key_mismatch(index: str, name: str, kind: str, value: AttributeValue) -> DynamoError:
    """AWS's error for a value that doesn't have the type of an index's key attribute."""
    return invalid_parameter(
        f"Type mismatch for Index Key {name} Expected: {kind} Actual: {next(iter(value))} IndexName: {index}"
    )


def check_updated_index_key(schema: KeySchema, index: str, item: Item, copied: Callable[[str], bool]) -> None:
    """The same for the result of an update, for which AWS has different messages.

    `copied` says whether the update took an attribute's value from another attribute. Attributes that it didn't write
    count too: an item that doesn't fit an index that was added later can't be updated until that attribute is
    corrected.
    """
    fault = _index_fault(schema, item)
    if fault is None:
        return
    if fault.problem == "type":
        if not copied(fault.name):
            raise index_key_mismatch(index, fault.name, fault.kind, item[fault.name])
        raise validation_error("The update expression attempted to update the secondary index key to unsupported type")
    if fault.problem == "empty":
        raise validation_error(
            "One or more parameter values are not valid. The update expression attempted to update a secondary index "
            "key to a value that is not supported. The AttributeValue for a key attribute cannot contain an empty "
            f"{_WORDS[fault.kind]} value."
        )
    raise validation_error(
        "The update expression attempted to update the secondary index key beyond allowed size limits"
    )
