"""Large values as they are stored: in the item, compressed, in parts of the same partition, or in object storage.

An attribute that isn't the text or the bytes themselves is a map:

| member | meaning |
| --- | --- |
| `form` | `plain` or `zlib`: how the content is stored |
| `bytes` | the size of the content |
| `content` | the stored content; or one of the two below |
| `parts` | the number of parts |
| `object` | the name of the object |
| `sha256` | the digest of the content, with parts or an object |

The key of a part is made from the key of its item, the attribute and a number, so a new value replaces the parts of the
old one. Each part has the digest of the value that it belongs to, and a reader takes only parts with the digest that it
read in the item. So what it puts together is always one value as it was written, and never parts of two.
"""

import zlib
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence, Set
from hashlib import sha256
from typing import Any, NamedTuple

from keyplan.data.codec.values import AttributeValue, Item, ValueCodec
from keyplan.data.errors import DataError, TooLarge
from keyplan.design import InvalidValue, Table
from keyplan.design.entities.entity_spec import EntitySpec
from keyplan.design.entities.large_values import PARTS, Unread
from keyplan.design.entities.specs import FieldSpec

CONTENT, DIGEST, CHECKSUM = "keyplanContent", "keyplanDigest", "keyplanChecksum"
"""The attributes of a part: its share of the content, the digest of the whole value, and the CRC-32 of its share."""

PART_BYTES = 376_832
MOST_PARTS = 10
"""With these, an item and all its parts can be deleted in one transaction, however large the item itself is."""
MOST_BYTES = 64 * 1_048_576
"""The largest content, before compression. Nothing larger is decompressed."""
LONG_TO_COMPRESS, LONG_TO_DECOMPRESS = 32_768, 262_144
"""From these sizes on, it takes about a millisecond: an event loop should do something else."""
_NOT_COMPRESSED = 1_024
_RECENT = 4


class Packed(NamedTuple):
    """A value in its stored form."""

    form: str
    content: bytes
    size: int
    digest: bytes

    def parts(self) -> Sequence[bytes]:
        """The content, split into parts."""
        return [self.content[start : start + PART_BYTES] for start in range(0, len(self.content), PART_BYTES)]


class _Recent:
    """The values that were packed last, so that planning a write compresses a value once."""

    def __init__(self) -> None:
        self._values: OrderedDict[int, tuple[object, Packed]] = OrderedDict()

    def find(self, value: object) -> Packed | None:
        """The packed form of this very object."""
        found = self._values.get(id(value))
        return found[1] if found is not None and found[0] is value else None

    def add(self, value: object, packed: Packed) -> None:
        self._values[id(value)] = (value, packed)
        while len(self._values) > _RECENT:
            self._values.popitem(last=False)

    def remove(self, value: object) -> None:
        self._values.pop(id(value), None)


_recent = _Recent()


def packed(value: str | bytes, *, keep: bool) -> Packed:
    """A value in its stored form. With `keep`, it will be asked for again."""
    found = _recent.find(value)
    if found is None:
        raw = value.encode() if isinstance(value, str) else bytes(value)
        if len(raw) > MOST_BYTES:
            raise TooLarge(f"the value has {len(raw)} bytes, and a large value can have {MOST_BYTES}")
        small = zlib.compress(raw)
        form, content = ("zlib", small) if len(small) < len(raw) else ("plain", raw)
        found = Packed(form, content, len(raw), sha256(raw).digest())
    if keep:
        _recent.add(value, found)
    else:
        _recent.remove(value)
    return found


def takes_long(spec: EntitySpec, values: Mapping[str, object]) -> bool:
    """Whether it takes long to compress the large values of an entity."""
    known = [value for field in spec.large if isinstance(value := values[field.name], str | bytes)]
    return sum(map(len, known)) >= LONG_TO_COMPRESS


def large_codec(field: FieldSpec) -> ValueCodec:
    """The codec of a large value."""
    assert field.large is not None
    inline, in_parts = field.large.inline, field.large.kept_in == "parts"
    tag = "S" if field.annotation is str else "B"

    def encode(value: str | bytes | Unread) -> AttributeValue:
        if isinstance(value, Unread):
            stored: AttributeValue = value.stored
            return stored
        if len(value) * 4 <= _NOT_COMPRESSED or len(_raw(value)) <= _NOT_COMPRESSED:
            return {tag: value}
        made = packed(value, keep=True)
        if len(made.content) <= inline:
            if made.form == "plain":
                return {tag: value}
            return _map(made, {"content": {"B": made.content}})
        if not in_parts:
            return object_value(made, "")  # `upload` gives it a name, and a plan refuses it without one
        return _map(made, {"parts": {"N": str(len(made.parts()))}, "sha256": {"B": made.digest}})

    def decode(attribute: AttributeValue) -> object:
        members: Mapping[str, Any] | None = attribute.get("M")
        if members is None:
            return attribute["S"] if tag == "S" else bytes(attribute["B"])
        if "content" in members:
            return _value(tag, unpacked(members, bytes(members["content"]["B"])))
        if "parts" not in members and "object" not in members:
            raise ValueError("not a large value")
        return Unread(attribute, bytes(members["sha256"]["B"]), int(members["bytes"]["N"]))

    return ValueCodec(encode, decode)


def _raw(value: str | bytes) -> bytes:
    try:
        return value.encode() if isinstance(value, str) else value
    except UnicodeEncodeError:
        raise InvalidValue("invalid", "text", "This text isn't valid Unicode: it contains a lone surrogate.") from None


def _map(made: Packed, more: Mapping[str, AttributeValue]) -> AttributeValue:
    return {"M": {"form": {"S": made.form}, "bytes": {"N": str(made.size)}, **more}}


def object_value(made: Packed, name: str) -> AttributeValue:
    """The attribute of a value that is in object storage under this name."""
    return _map(made, {"object": {"S": name}, "sha256": {"B": made.digest}})


def unpacked(members: Mapping[str, Any], content: bytes) -> bytes:
    """The content of a value, decompressed; raises `ValueError` if it isn't what was stored."""
    size = int(members["bytes"]["N"])
    if members["form"]["S"] == "zlib":
        if size > MOST_BYTES:
            raise ValueError(f"it has {size} bytes")
        unzip = zlib.decompressobj()
        try:
            content = unzip.decompress(content, size + 1)
        except zlib.error as error:
            raise ValueError(str(error)) from None
        if not unzip.eof:
            raise ValueError("it has another size than it should have")
    if len(content) != size or ("sha256" in members and sha256(content).digest() != bytes(members["sha256"]["B"])):
        raise ValueError("its content was damaged")
    return content


def _value(tag: str, raw: bytes) -> str | bytes:
    return raw.decode() if tag == "S" else raw


def whole_value(field: FieldSpec, unread: Unread, content: bytes) -> str | bytes:
    """The value from its stored content; raises `ValueError` if the content isn't complete."""
    return _value("S" if field.annotation is str else "B", unpacked(unread.stored["M"], content))


# Parts


def part_count(attribute: AttributeValue | None) -> int:
    """The number of parts of a stored value."""
    members: Mapping[str, Any] = (attribute or {}).get("M", {})
    return int(members["parts"]["N"]) if "parts" in members else 0


def object_name(attribute: AttributeValue | None) -> str | None:
    """The name of a stored value's object."""
    members: Mapping[str, Any] = (attribute or {}).get("M", {})
    return members["object"]["S"] if "object" in members else None


def part_keys(table: Table, item: Item, field: FieldSpec) -> Iterator[Item]:
    """The keys of the parts of a field in an item."""
    hash_, range_ = table.key_names
    owner = sha256(item[range_]["S"].encode()).hexdigest()[:32]
    for number in range(part_count(item.get(field.stored))):
        yield {hash_: item[hash_], range_: {"S": f"{PARTS}{owner}#{field.stored}#{number:02}"}}


def part_items(
    spec: EntitySpec, values: Mapping[str, object], item: Item, changed: Set[str] | None
) -> Iterator[tuple[FieldSpec, Item]]:
    """The parts of an entity's item. With `changed`, none if they don't depend on these fields.

    The content of a part is left out if the value was not read, or is none of the changed ones.
    """
    ttl = spec.by_kind.get("ttl")
    if changed is not None and changed.isdisjoint({field.name for field in (*spec.large, *((ttl,) if ttl else ()))}):
        return
    expires = {ttl.stored: item[ttl.stored]} if ttl is not None and ttl.stored in item else {}
    total = 0
    for field in spec.large:
        count = part_count(item.get(field.stored))
        total += count
        if object_name(item.get(field.stored)) == "":
            raise DataError(
                f"{spec.name}.{field.name} is kept in object storage, and this write can't put objects there"
            )
        if total > MOST_PARTS:
            raise TooLarge(
                f"the large values of {spec.name} would take {total} parts of {PART_BYTES} bytes, and an item can have "
                f'{MOST_PARTS}, to fit into a transaction of 4 MB. Use object storage: large(kept_in="objects").'
            )
        if count:
            digest = item[field.stored]["M"]["sha256"]
            known = changed is None or field.name in changed
            shares = _shares(values[field.name], bytes(digest["B"])) if known else None
            for number, key in enumerate(part_keys(spec.table, item, field)):
                yield field, part_item(key, digest, expires, shares[number] if shares else None)


def _shares(value: object, digest: bytes) -> Sequence[bytes] | None:
    """The contents of a value's parts; None if the value isn't known."""
    known = value.value if isinstance(value, Unread) else value
    if not isinstance(known, str | bytes):
        return None
    made = packed(known, keep=False)
    return made.parts() if made.digest == digest else None


def part_item(key: Item, digest: AttributeValue, expires: Item, content: bytes | None) -> Item:
    """A part; without its content if that isn't known."""
    known = {**key, DIGEST: digest, **expires}
    if content is None:
        return known
    return {**known, CONTENT: {"B": content}, CHECKSUM: {"B": _checksum(content)}}


def _checksum(content: bytes) -> bytes:
    return zlib.crc32(content).to_bytes(4, "big")


def is_part(table: Table, item: Item) -> bool:
    """Whether an item is a part of a large value."""
    return len(table.key_names) > 1 and item[table.key_names[1]].get("S", "").startswith(PARTS) and DIGEST in item


def is_intact(part: Item) -> bool:
    """Whether the content of a part is what was written."""
    content = part.get(CONTENT, {}).get("B", b"")
    return part.get(CHECKSUM) == {"B": _checksum(bytes(content))}
