"""Which patches need no more than what they say, and which index keys they change.

A patch that isn't direct is an update of the item that was read.

| a patch is direct unless | because |
| --- | --- |
| the table has an envelope, or the entity has `evolve` | the stored form of the item isn't known |
| the entity has derived items, counters or parents | they may depend on any field |
| the entity, or a value that it changes in part, has validators | they see all of it |
| what it changes is inside a value with a limit, or changes the number of entries of one | the limit is on all of it |
| a changed field is in a guard | the old guard has to be deleted |
| a changed field is in an index key with fields that aren't given | the new key is made of all of them |
| a changed field has a joint limit with fields that aren't given | the limit is on all of them |
| DynamoDB computes a value whose limits can't be conditions | the new value isn't known |
| it changes members of a set inside another value | DynamoDB adds to sets at the top level only |

It depends on which fields are changed and how, not on values, so it is worked out once for each kind of patch.
"""

from collections.abc import Mapping, Sequence, Set
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias

from keyplan.data import compat
from keyplan.data.codec.entities import EntityCodec, codec_of
from keyplan.data.codec.value_paths import Path, value_path
from keyplan.data.codec.values import AttributeValue
from keyplan.data.writes.clauses import Clause, Verb
from keyplan.data.writes.computed_limits import can_be_conditions
from keyplan.design import Entity
from keyplan.design.entities.entity_spec import EntitySpec
from keyplan.design.entities.specs import KeyPart, KeySpec
from keyplan.design.operations.item_reads import guard_fields

ClauseShape: TypeAlias = tuple[Path, Verb, int]
"""A clause without its values: its path, its verb, and the number of values, up to 2."""


class Route(NamedTuple):
    """How a direct patch is carried out."""

    key_parts: tuple[tuple[KeySpec, KeyPart], ...]
    """The index key attributes that it writes."""
    joint_limits: bool
    """Whether joint limits have to be checked."""


def shape_of(clauses: Sequence[Clause]) -> tuple[ClauseShape, ...]:
    """What the route of a patch depends on."""
    return tuple([(clause.path, clause.verb, min(len(clause.values), 2)) for clause in clauses])


@lru_cache(maxsize=4096)
def direct_route(spec: EntitySpec, shape: tuple[ClauseShape, ...], *, keys: bool = True) -> Route | None:
    """How clauses of this shape are carried out without reading the item; None if it has to be read.

    Without `keys`, the index keys are left to the caller.
    """
    entity = spec.entity
    if spec.table.envelope or codec_of(entity).evolves or compat.has_validators(entity):
        return None
    if spec.derived or spec.counters or spec.parents or not all(_is_known(entity, each) for each in shape):
        return None
    given = frozenset(str(path[0]) for path, verb, _ in shape if len(path) == 1 and verb in ("set", "remove"))
    changed = {str(path[0]) for path, _, _ in shape}
    if updated := spec.by_kind.get("updated"):
        given, changed = given | {updated.name}, changed | {updated.name}
    known = given | exact_key_fields(spec)
    if not changed.isdisjoint(_guarded(spec)):
        return None
    joint = [each for each in spec.limits.joint if not changed.isdisjoint(each.fields)]
    if not all(each.fields <= known for each in joint):
        return None
    parts = _key_parts(spec, changed, known) if keys else ()
    return None if parts is None else Route(tuple(parts), bool(joint))


@lru_cache(maxsize=4096)
def writes_stamps_only(spec: EntitySpec, shape: tuple[ClauseShape, ...]) -> bool:
    """Whether only the fields themselves are written, so that `touch` can write them.

    Effects that may depend on any field aren't considered; neither are the validators of the class.
    """
    changed = {str(path[0]) for path, _, _ in shape}
    keyed = {name for key in spec.placements.values() for name in (*key.fields, key.when)}
    joint = {name for each in spec.limits.joint for name in each.fields}
    if spec.table.envelope or not changed.isdisjoint(keyed | joint | _guarded(spec)):
        return False
    return all(_is_known(spec.entity, each) for each in shape)


def _is_known(entity: type[Entity], shape: ClauseShape) -> bool:
    """Whether what a clause writes, and whether it is within its limits, can be said without the item."""
    path, verb, number = shape
    kind = value_path(entity, path).type
    in_key = not codec_of(entity).has_own_attribute(str(path[0]))
    if kind.must_read or kind.info is None or (in_key and verb not in ("set", "remove")):
        return False
    if kind.is_counted and (kind.kind == "entry" or verb == "remove"):
        return False
    if verb in ("add_members", "delete_members") and len(path) > 1:
        return False
    return verb in ("set", "remove", "set_default") or (not kind.is_converted and can_be_conditions(kind, verb, number))


def _guarded(spec: EntitySpec) -> Set[str]:
    """The fields that guards and parts of large values depend on."""
    names = {name for each in spec.uniques for name in (*guard_fields(each), *each.carries, each.when)}
    parted = {field.name for field in spec.fields.values() if spec.large and (field.large or field.kind == "ttl")}
    return {name for name in names if name is not None} | parted


def exact_key_fields(spec: EntitySpec) -> frozenset[str]:
    """The fields of the primary key whose stored values are those in the key, not others that are folded to them."""
    folded = {slot.field for part in spec.primary.parts if part.template for slot in part.template.slots if slot.fold}
    return frozenset(spec.primary.fields) - folded


def _key_parts(spec: EntitySpec, changed: Set[str], known: Set[str]) -> list[tuple[KeySpec, KeyPart]] | None:
    """The index key attributes to write; None if one depends on a field that isn't known."""
    found: list[tuple[KeySpec, KeyPart]] = []
    for placement in spec.placements.values():
        fields = {*placement.fields, *((placement.when,) if placement.when else ())}
        touched = fields & changed
        parts = [part for part in placement.parts if part.attribute.name not in spec.table.key_names]
        made = [part for part in parts if not _is_own(spec, part)]
        if not touched or not made:
            continue  # the key attributes are the fields themselves
        # A field that may be absent decides whether the item is in the index at all.
        appears = any(name == placement.when or spec.fields[name].optional for name in touched)
        stays = codec_of(spec.entity).keys.stores_field
        made = [part for part in made if not touched.isdisjoint(part.fields) or (appears and not stays(part))]
        if not made:
            continue
        unknown = fields - known
        doubtful = any(name == placement.when or spec.fields[name].optional for name in unknown)
        if doubtful and not all(map(stays, made)):
            return None
        if any(not unknown.isdisjoint(part.fields) for part in made):
            return None
        found += [(placement, part) for part in made]
    return found


def _is_own(spec: EntitySpec, part: KeyPart) -> bool:
    """Whether a key attribute is the attribute of its field, so that a change of the field changes the key."""
    return part.template is None and part.field is not None and spec.fields[part.field].stored == part.attribute.name


def index_key_changes(
    entity: type[Entity], route: Route, values: Mapping[str, object]
) -> tuple[dict[str, AttributeValue], set[str]]:
    """The index key attributes to set and to remove, given the values that are known."""
    sets: dict[str, AttributeValue] = {}
    removes: set[str] = set()
    codec = codec_of(entity)
    for placement, part in route.key_parts:
        value = codec.keys.part(placement, part, values)
        if value is not None and (codec.keys.stores_field(part) or _is_in_index(codec, placement, values)):
            sets[part.attribute.name] = value
        else:
            removes.add(part.attribute.name)
    return sets, removes - sets.keys()


def _is_in_index(codec: EntityCodec[Any], placement: KeySpec, values: Mapping[str, object]) -> bool:
    """Whether all parts of the key exist; those with fields that aren't known do, since these can't be absent."""
    if placement.when is not None and not values[placement.when]:
        return False
    known = [part for part in placement.parts if all(name in values for name in part.fields)]
    return all(codec.keys.part(placement, part, values) is not None for part in known)
