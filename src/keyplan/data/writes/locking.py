"""Optimistic locking: the requirement that an item hasn't changed since it was read."""

from collections.abc import Callable, Sequence, Set
from datetime import datetime
from functools import cache, lru_cache

from keyplan.data.codec.values import Item
from keyplan.data.errors import ItemChanged, NotFound, Refused, StaleVersion
from keyplan.data.expressions.conditions import equals, item_exists
from keyplan.data.expressions.expiry import item_is_there
from keyplan.data.expressions.requirements import Requirement
from keyplan.data.writes.effects import has_effects
from keyplan.design.entities.entity_spec import EntitySpec
from keyplan.design.operations.item_reads import guard_fields

Refusal = Callable[[type[Refused], str, Item | None], Refused]


def unchanged_since_read(
    spec: EntitySpec,
    stored: Item,
    changed: Set[str],
    refused: Refusal,
    now: datetime | None = None,
    *,
    whole: bool = False,
) -> list[Requirement]:
    """The item exists and hasn't changed since it was read: by its version, or by the values the write relies on.

    With `now`, it hasn't expired either.
    """
    present = (item_exists(spec),) if now is None else item_is_there(spec, now)
    exists = Requirement(present, lambda found: refused(NotFound, "primary", found))
    attributes = _relied_on(spec, frozenset(changed), whole=whole)
    if spec.large:
        large = {field.stored for field in spec.large if field.stored in changed or "M" in stored.get(field.stored, {})}
        attributes = sorted({*attributes, *large})
    if not attributes:
        return [exists]
    if spec.table.envelope:  # an index that has the envelope may lack the keys of others, which follow from it
        attributes = [name for name in attributes if name in stored or name not in _beside_envelope(spec)]
    same = tuple([equals(name, stored.get(name)) for name in attributes])
    return [exists, Requirement(same, lambda found: refused(*stale(spec), found))]


def stale(spec: EntitySpec) -> tuple[type[ItemChanged], str]:
    """The error and the constraint for an item that was changed since it was read."""
    return (StaleVersion, "version") if "version" in spec.by_kind else (ItemChanged, "unchanged")


@lru_cache(maxsize=4096)
def _relied_on(spec: EntitySpec, changed: frozenset[str], *, whole: bool) -> Sequence[str]:
    """The attributes that must be unchanged for a write that changes these."""
    return sorted(_relied_on_attributes(spec, changed, whole=whole))


def _relied_on_attributes(spec: EntitySpec, changed: Set[str], *, whole: bool) -> Set[str]:
    counts = spec.count_attributes & changed
    version = spec.by_kind.get("version")
    own = _own(spec)
    if version is not None:
        # The version alone doesn't tell whether the item was deleted and created again.
        created = spec.by_kind.get("created")
        same: Set[str] = {created.stored} if created else own if _follows_more(spec) else set()
        return {version.stored} | counts | ((_guarded(spec) | _parts_beside(spec, changed) | same) & own)
    if spec.table.envelope:
        return own | counts | {spec.table.envelope}
    if whole or has_effects(spec):
        return own | counts
    return (own & changed) | _parts_beside(spec, changed) | counts


def _follows_more(spec: EntitySpec) -> bool:
    """Whether items have effects that may depend on any of their fields."""
    return bool(spec.derived or spec.counters or spec.parents)


@cache
def _own(spec: EntitySpec) -> frozenset[str]:
    """The attributes of fields that an update can change."""
    return frozenset(field.stored for field in spec.fields.values() if _can_change(spec, field.name))


@cache
def _guarded(spec: EntitySpec) -> frozenset[str]:
    """The attributes that guards depend on."""
    names = {name for each in spec.uniques for name in (*guard_fields(each), *each.carries, each.when)}
    return frozenset(spec.fields[name].stored for name in names if name is not None)


@cache
def _beside_envelope(spec: EntitySpec) -> frozenset[str]:
    """The index keys that are fields of the envelope."""
    return frozenset(field.stored for field in spec.fields.values() if not field.on_top) & spec.key_attributes.keys()


def _can_change(spec: EntitySpec, name: str) -> bool:
    """Whether a field has an attribute of its own that an update can change."""
    field = spec.fields[name]
    if spec.table.envelope and not field.on_top and field.stored not in spec.key_attributes:
        return False
    return field.kind not in ("count", "updated") and name not in spec.primary.fields


def _parts_beside(spec: EntitySpec, changed: Set[str]) -> set[str]:
    """The attributes of fields that share an index key with a changed one: the new key is built from them too."""
    return {name for attributes, own in _places(spec) if not changed.isdisjoint(attributes) for name in own}


@cache
def _places(spec: EntitySpec) -> tuple[tuple[frozenset[str], frozenset[str]], ...]:
    """For each index: all attributes that its key depends on, and those that an update can change."""
    places = []
    for placement in spec.placements.values():
        fields = (*placement.fields, *((placement.when,) if placement.when else ()))
        stored = frozenset(spec.fields[name].stored for name in fields)
        changing = frozenset(spec.fields[name].stored for name in fields if _can_change(spec, name))
        places.append((stored | {part.attribute.name for part in placement.parts}, changing))
    return tuple(places)
