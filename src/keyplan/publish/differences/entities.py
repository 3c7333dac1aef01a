"""What differs between entities and between access patterns, and what it takes for items that exist."""

import re
from collections.abc import Iterator, Mapping
from typing import TypeVar

from keyplan.publish.differences.changes import Difference, Effect, Kind
from keyplan.publish.differences.snapshots import EntityShape, FieldShape, KeyShape, PatternShape

T = TypeVar("T")

_ITEMS_STAY = "Its items stay in the table."
_STAYS_STORED = "The attribute stays in items that have it."
_LIMITS = "Items over the new limits can still be read; `keyplan verify` lists them."
_MORE_TEXTS = "Items stay as they are. Code with the old design can't read items with other values."
_FEWER_TEXTS = "Items with other values can't be read: `keyplan verify` lists them. The others stay as they are."
_TEXT = re.compile(r"'[^'|]*'")
_KEYS_STAY = "Items keep the attributes, which cost storage and index writes as long as the index exists."


def entity_changes(before: Mapping[str, EntityShape], after: Mapping[str, EntityShape]) -> Iterator[Difference]:
    """What differs between the entities."""
    for name, old, new in _both(before, after):
        place = f"entity {name}"
        if old is None and new is not None:
            yield Difference("added", place, after=_key(new.primary))
        elif new is None and old is not None:
            yield Difference("removed", place, before=_key(old.primary), note=_ITEMS_STAY)
        elif old is not None and new is not None:
            yield from _entity(name, old, new)


def _both(before: Mapping[str, T], after: Mapping[str, T]) -> Iterator[tuple[str, T | None, T | None]]:
    """What is in either, in the order of the new one, with what was removed at the end."""
    for name in (*after, *(name for name in before if name not in after)):
        old, new = before.get(name), after.get(name)
        if old != new:
            yield name, old, new


def _entity(name: str, old: EntityShape, new: EntityShape) -> Iterator[Difference]:
    place = f"entity {name}"
    for what, one, other in (
        ("table", old.table, new.table),
        ("type", old.type or "none", new.type or "none"),
        ("layout", old.layout, new.layout),
        ("primary key", _key(old.primary), _key(new.primary)),
    ):
        if one != other:
            yield Difference("changed", place, what, one, other, "rewrite")
    yield from _placements(name, old, new)
    yield from _fields(name, old, new)
    yield from _effects(name, old, new)
    if old.joint_limits != new.joint_limits:
        limits = ", ".join(old.joint_limits) or "none", ", ".join(new.joint_limits) or "none"
        yield Difference("changed", place, "limits on several fields", *limits, note=_LIMITS)


def _key(key: KeyShape) -> str:
    parts = " and ".join(key.hash), " and ".join(key.range)
    where = f"{key.index}: " if key.index else ""
    when = f", when {key.when}" if key.when else ""
    return f"{where}{', '.join(part for part in parts if part)}{when}"


def _placements(name: str, old: EntityShape, new: EntityShape) -> Iterator[Difference]:
    for each, before, after in _both(old.placements, new.placements):
        place = f"key {name}.{each}"
        if after is None and before is not None:
            yield Difference("removed", place, before=_key(before), note=_KEYS_STAY)
        elif before is None and after is not None:
            # Items are in a vector index, or in an index on fields, as soon as it exists.
            effect: Effect = "rekey" if _has_keys_of_its_own(after, new) else "code"
            yield Difference("added", place, after=_key(after), effect=effect)
        elif before is not None and after is not None:
            yield Difference("changed", place, "", _key(before), _key(after), "rekey")


def _has_keys_of_its_own(key: KeyShape, entity: EntityShape) -> bool:
    """Whether the key has attributes beside those of fields and of the primary key, which items have already."""
    there = {field.stored for field in entity.fields.values()} | {*entity.primary.attributes}
    return bool(key.when) or not there.issuperset(key.attributes)


def _fields(name: str, old: EntityShape, new: EntityShape) -> Iterator[Difference]:
    for each, before, after in _both(old.fields, new.fields):
        place = f"field {name}.{each}"
        if before is None and after is not None:
            effect: Effect = "code" if _may_be_missing(after) else "backfill"
            yield Difference("added", place, after=_field(after), effect=effect)
        elif after is None and before is not None:
            yield Difference("removed", place, before=_field(before), note=_STAYS_STORED)
        elif before is not None and after is not None:
            yield from _field_changes(place, before, after)


def _may_be_missing(field: FieldShape) -> bool:
    return field.optional or field.default is not None or field.kind in ("version", "count")


def _texts(kind: str) -> set[str]:
    """The texts of a type that is one of some, or `str`, all of which are stored as they are; none of another type."""
    found = kind.split(" | ")
    return set(found) if kind == "str" or all(_TEXT.fullmatch(each) for each in found) else set()


def _field_changes(place: str, old: FieldShape, new: FieldShape) -> Iterator[Difference]:
    for what, one, other in (
        ("attribute", old.stored, new.stored),
        ("type", old.type, new.type),
        ("kind", old.kind, new.kind),
        ("large", str(old.large), str(new.large)),
    ):
        if one != other and what == "type" and _texts(one) and _texts(other):
            fits = other == "str" or _texts(one) <= _texts(other)
            note = _MORE_TEXTS if fits else _FEWER_TEXTS
            yield Difference("changed", place, what, one, other, "code" if fits else "rewrite", note)
        elif one != other:
            yield Difference("changed", place, what, one, other, "rewrite")
    if _may_be_missing(old) != _may_be_missing(new):
        effect: Effect = "code" if _may_be_missing(new) else "backfill"
        before, after = ("optional" if _may_be_missing(each) else "required" for each in (old, new))
        yield Difference("changed", place, "requirement", before, after, effect)
    elif old.default != new.default:
        yield Difference("changed", place, "default", old.default or "none", new.default or "none")
    if old.limits != new.limits:
        limits = ", ".join(old.limits) or "none", ", ".join(new.limits) or "none"
        yield Difference("changed", place, "limits", *limits, note=_LIMITS)


def _field(field: FieldShape) -> str:
    words = ("" if field.kind == "plain" else field.kind, "optional" if field.optional else "", *field.limits)
    more = ", ".join(filter(None, words))
    return f"{field.type}, stored as {field.stored}{f' ({more})' if more else ''}"


def _effects(name: str, old: EntityShape, new: EntityShape) -> Iterator[Difference]:
    """Guards, mirrors, derived items, counters and parents: `keyplan verify --repair` brings items in line."""
    for each, before, after in _both(old.effects, new.effects):
        kind: Kind = "added" if before is None else "removed" if after is None else "changed"
        yield Difference(kind, f"rule {name}.{each}", "", before or "", after or "", "repair")


def pattern_changes(before: Mapping[str, PatternShape], after: Mapping[str, PatternShape]) -> Iterator[Difference]:
    """What differs between the access patterns."""
    for name, old, new in _both(before, after):
        place = f"pattern {name}"
        if old is None and new is not None:
            yield Difference("added", place, after=_requests(new))
        elif new is None and old is not None:
            yield Difference("removed", place, before=_requests(old))
        elif old is not None and new is not None:
            for what, one, other in (
                ("wording", old.wording, new.wording),
                ("parameters", ", ".join(old.parameters) or "none", ", ".join(new.parameters) or "none"),
                ("requests", _requests(old), _requests(new)),
            ):
                if one != other:
                    yield Difference("changed", place, what, one, other)


def _requests(pattern: PatternShape) -> str:
    return "; ".join(pattern.requests) or "not known"
