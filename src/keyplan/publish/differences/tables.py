"""What differs between two tables, and which of it DynamoDB can change in place.

AWS: "UpdateTable" and "UpdateTimeToLive" say what can be changed, and how much at a time; the key of a table, its local
indexes and its name can't be.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from keyplan.design.tables.attributes import KeyAttribute, Projection
from keyplan.publish.differences.changes import Difference, Effect
from keyplan.publish.shapes import IndexShape, TableShape, VectorShape

_RECREATED = "The index is deleted and created again; queries fail until it is filled. Use another name to avoid that."
_REMOVED = "The table is not deleted. Delete it yourself once nothing reads it."
_KEPT = "The design no longer says, so it stays as it is."


@dataclass(frozen=True)
class Pair:
    """A table before and after."""

    before: TableShape
    after: TableShape

    @property
    def is_found(self) -> bool:
        """Whether one side was found in a DynamoDB: only what the other one, a design, says is compared."""
        return not (self.before.id and self.after.id)


def paired(
    before: Sequence[TableShape], after: Sequence[TableShape]
) -> tuple[list[Pair], list[TableShape], list[TableShape]]:
    """The tables in both, those that were removed, and those that were added. They are matched by id, or by name."""
    by_id = {each.id: each for each in before if each.id}
    by_name = {each.name: each for each in before}
    pairs: list[Pair] = []
    added: list[TableShape] = []
    for each in after:
        found = by_id.get(each.id) if each.id and by_id else by_name.get(each.name)
        if found is None:
            added.append(each)
        else:
            pairs.append(Pair(found, each))
    matched = {pair.before for pair in pairs}
    return pairs, [each for each in before if each not in matched], added


def table_changes(before: Sequence[TableShape], after: Sequence[TableShape]) -> Iterator[Difference]:
    """What differs between the tables."""
    pairs, removed, added = paired(before, after)
    for each in added:
        yield Difference("added", f"table {each.name}", after=_key(each.hash, each.range), effect="in place")
        for index in each.indexes:
            yield Difference("added", f"index {each.name}.{index.name}", after=index_text(index), effect="in place")
    for each in removed:
        yield Difference("removed", f"table {each.name}", before=_key(each.hash, each.range), note=_REMOVED)
    for pair in pairs:
        yield from _changes(pair)


def _changes(pair: Pair) -> Iterator[Difference]:
    before, after = pair.before, pair.after
    place = f"table {after.name}"
    if before.name != after.name:
        yield Difference("changed", place, "name", before.name, after.name, "copy")
    keys = _key(before.hash, before.range), _key(after.hash, after.range)
    if keys[0] != keys[1]:
        yield Difference("changed", place, "key", *keys, "copy")
    yield from _index_changes(pair)
    yield from _vector_changes(pair)
    for what, old, new in _settings(pair):
        note = _KEPT if new == UNSAID else ""
        yield Difference("changed", place, what, old, new, "code" if note else "in place", note)
    if before.consumers != after.consumers and not pair.is_found:
        readers = ", ".join(before.consumers) or "none", ", ".join(after.consumers) or "none"
        yield Difference("changed", place, "readers of the stream", *readers)


# Indexes


def _index_changes(pair: Pair) -> Iterator[Difference]:
    old = {each.name: each for each in pair.before.indexes}
    new = {each.name: each for each in pair.after.indexes}
    for name, index in new.items():
        place = f"index {pair.after.name}.{name}"
        effect: Effect = "copy" if index.local else "in place"
        if name not in old:
            yield Difference("added", place, after=index_text(index), effect=effect)
            continue
        was = old[name]
        if was.local != index.local:
            yield Difference("changed", place, "kind", _kind(was), _kind(index), "copy")
        elif not same_index(was, index):
            note = "" if index.local else _RECREATED
            yield Difference("changed", place, "", index_text(was), index_text(index), effect, note)
        elif was.capacity != index.capacity and not _from_billing(pair):
            yield Difference("changed", place, "capacity", _units(was.capacity), _units(index.capacity), "in place")
    for name, index in old.items():
        if name not in new:
            effect = "copy" if index.local else "in place"
            yield Difference("removed", f"index {pair.after.name}.{name}", before=index_text(index), effect=effect)


def same_index(one: IndexShape, other: IndexShape) -> bool:
    """Whether two indexes have the same keys and the same attributes, in whichever order these are listed."""
    same_keys = (one.hash, one.range) == (other.hash, other.range)
    return same_keys and same_projection(one.projection, other.projection)


def same_projection(one: Projection, other: Projection) -> bool:
    return one.type == other.type and set(one.attributes) == set(other.attributes)


def _vector_changes(pair: Pair) -> Iterator[Difference]:
    old = {each.name: each for each in pair.before.vectors}
    new = {each.name: each for each in pair.after.vectors}
    for name, index in new.items():
        place = f"vector index {pair.after.name}.{name}"
        if name not in old:
            yield Difference("added", place, after=vector_text(index), effect="in place")
        elif not same_vectors(old[name], index):
            texts = vector_text(old[name]), vector_text(index)
            yield Difference("changed", place, "", *texts, "in place", _RECREATED)
    for name, index in old.items():
        if name not in new:
            place = f"vector index {pair.after.name}.{name}"
            yield Difference("removed", place, before=vector_text(index), effect="in place")


def same_vectors(one: VectorShape, other: VectorShape) -> bool:
    same = (one.attribute, one.dimensions, one.distance, one.partition) == (
        *(other.attribute, other.dimensions, other.distance, other.partition),
    )
    return same and set(one.filters) == set(other.filters) and same_projection(one.projection, other.projection)


# Settings

UNSAID = "not said"


def _settings(pair: Pair) -> Iterator[tuple[str, str, str]]:
    """The settings that differ, before and after."""
    before, after = pair.before, pair.after
    for what, old, new in (
        ("time to live", before.ttl or "off", after.ttl or "off"),
        ("stream", before.stream or "off", after.stream or "off"),
        ("billing", before.billing, after.billing),
        ("table class", before.table_class, after.table_class),
        ("point-in-time recovery", _days(before.recovery), _days(after.recovery)),
        ("deletion protection", _on(before.protected), _on(after.protected)),
        ("encryption", before.encryption or UNSAID, after.encryption or UNSAID),
    ):
        if old == new or (pair.is_found and UNSAID in (old, new)) or (what == "encryption" and is_same_key(pair)):
            continue
        yield what, old, new
    if before.capacity != after.capacity and not _from_billing(pair):
        yield "capacity", _units(before.capacity), _units(after.capacity)
    old_tags, new_tags = tags_to_compare(pair)
    if old_tags != new_tags:
        yield "tags", _pairs(old_tags), _pairs(new_tags)


def tags_to_compare(pair: Pair) -> tuple[Mapping[str, str], Mapping[str, str]]:
    """The tags before and after. A table that was found may have others, which the design doesn't know."""
    old, new = dict(pair.before.tags), dict(pair.after.tags)
    if not pair.before.id:
        old = {name: value for name, value in old.items() if name in new}
    elif not pair.after.id:
        new = {name: value for name, value in new.items() if name in old}
    return old, new


def _from_billing(pair: Pair) -> bool:
    """Whether capacities change because the table is paid in another way."""
    return pair.before.billing != pair.after.billing


def is_same_key(pair: Pair) -> bool:
    """Whether a table that was found may be encrypted as the design says: it tells the key, not who manages it."""
    sides = {pair.before.encryption or "", pair.after.encryption or ""}
    return pair.is_found and "AWS_MANAGED" in sides and any(each.startswith("arn:") for each in sides)


# Texts


def _key(hash_: Sequence[KeyAttribute], range_: Sequence[KeyAttribute]) -> str:
    parts = (" and ".join(f"{each.name} ({each.type})" for each in part) for part in (hash_, range_) if part)
    return ", ".join(parts)


def _kind(index: IndexShape) -> str:
    return "local" if index.local else "global"


def index_text(index: IndexShape) -> str:
    """An index as it is shown: its kind, key and attributes."""
    held = _held(index.projection)
    return f"{_kind(index)}, {_key(index.hash, index.range)}, {held}"


def _held(projection: Projection) -> str:
    if projection.type == "INCLUDE":
        return f"keys and {', '.join(projection.attributes)}"
    return "all attributes" if projection.type == "ALL" else "keys only"


def vector_text(index: VectorShape) -> str:
    within = f", within {index.partition.name}" if index.partition else ""
    filters = f", filters {', '.join(each.name for each in index.filters)}" if index.filters else ""
    size = f"{index.dimensions} dimensions, {index.distance.lower().replace('_', ' ')}"
    return f"{index.attribute}, {size}{within}{filters}, {_held(index.projection)}"


def _units(capacity: tuple[int, int] | None) -> str:
    return "per request" if capacity is None else f"{capacity[0]} read, {capacity[1]} write"


def _days(recovery: int | None) -> str:
    return UNSAID if recovery is None else f"{recovery} days" if recovery else "off"


def _on(protected: bool | None) -> str:
    return UNSAID if protected is None else "on" if protected else "off"


def _pairs(tags: Mapping[str, str]) -> str:
    return ", ".join(f"{name}={value}" for name, value in sorted(tags.items())) or "none"
