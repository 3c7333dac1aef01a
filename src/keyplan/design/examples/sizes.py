"""Lengthens the texts of an example until its item has a size."""

from collections.abc import Sequence
from datetime import datetime
from hashlib import sha256

from keyplan.design.entities.entity import Entity
from keyplan.design.entities.entity_spec import EntitySpec
from keyplan.design.examples.fields import identifying

_MOST_FILLED = 350_000
"""The most bytes that an example is filled up to: an item has 400 KB, and keys and names take some."""


def fill(item: Entity, size: int) -> None:
    """Lengthen the longest texts until the item has about this size."""
    spec = item.spec
    lacking = min(size, _MOST_FILLED) - _stored_size(item)
    for name in _fillable(spec):
        value = getattr(item, name)
        if lacking <= 0 or not isinstance(value, str | bytes | None):
            continue
        most = _longest(spec, name)
        begun = value if isinstance(value, str) else ""
        filled = f"{begun} {_filler(name, min(lacking, _MOST_FILLED))}".lstrip()
        text = filled[: min(most, len(begun) + lacking)]
        content: object = text.encode() if isinstance(value, bytes) else text
        if not _accepts(spec, item, name, content):
            continue
        setattr(item, name, content)
        lacking -= len(text) - len(begun)


def _accepts(spec: EntitySpec, item: Entity, name: str, value: object) -> bool:
    return not any(True for _ in spec.limits.broken({**item.__dict__, name: value}))


def _fillable(spec: EntitySpec) -> Sequence[str]:
    """The fields that take any text, the longest first; before them, those that no index was told to include, because
    what is included is usually short; those that may be compressed last."""
    included = {
        name
        for placement in spec.placements.values()
        for name in (placement.index.projection.attributes if placement.index is not None else ())
    }
    names = [
        name
        for name, field in spec.fields.items()
        if field.annotation in (str, bytes) and field.kind == "plain" and name not in identifying(spec.entity)
    ]

    def order(name: str) -> tuple[object, ...]:
        field = spec.fields[name]
        return field.large is not None, field.stored in included, -_longest(spec, name), name

    return sorted(names, key=order)


def _longest(spec: EntitySpec, name: str) -> int:
    marks = spec.entity.declared_fields[name].metadata
    lengths = [length for mark in marks if isinstance(length := getattr(mark, "max_length", None), int)]
    return min(lengths, default=_MOST_FILLED)


def _filler(name: str, length: int) -> str:
    """Words that can't be compressed much, as texts in general can't be compressed to nothing."""
    words: list[str] = []
    have = 0
    while have <= length:
        words.append(sha256(f"{name} {len(words)}".encode()).hexdigest()[: 3 + len(words) % 7])
        have += len(words[-1]) + 1
    return " ".join(words)


def _stored_size(item: Entity) -> int:
    """About how many bytes an item has as stored: names and values, and its keys."""
    spec = item.spec
    fields = sum(len(each.stored) + _size_of(item.__dict__.get(name)) for name, each in spec.fields.items())
    keys = sum(
        len(part.attribute.name) + len(part.source) + sum(_size_of(item.__dict__.get(name)) for name in part.fields)
        for name, part in spec.key_attributes.items()
        if name not in {each.stored for each in spec.fields.values()}
    )
    return fields + keys + len(spec.type or "")


def _size_of(value: object) -> int:
    match value:
        case None:
            return 0
        case str():
            return len(value.encode())
        case bytes():
            return len(value)
        case datetime():
            return 24
        case bool():
            return 1
        case int() | float():
            return len(str(value)) // 2 + 2
        case list() | tuple() | set() | frozenset():
            return 3 + sum(_size_of(each) + 1 for each in value)
        case dict():
            return 3 + sum(len(str(name)) + _size_of(each) + 1 for name, each in value.items())
        case _:
            return len(str(value))
