"""Large values before a write is planned: written to object storage, or read for a move.

An object is written under a new name, and then the item that names it, so no item ever names an object that doesn't
exist yet. It never gets another item: a move writes it again. So `sweep_objects` can tell from the items alone which
objects are still needed. If the write of the item fails, the object is one that no item names.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any
from uuid import uuid4

from keyplan.data.codec.entities import codec_of, set_stored_item, stored_item
from keyplan.data.codec.large import LONG_TO_COMPRESS, object_name, object_value, packed, takes_long
from keyplan.data.reads.large import load
from keyplan.data.steps import ObjectCall, Steps, computed
from keyplan.data.writes.locking import stale
from keyplan.data.writes.operations import AfterWrite, Context, Delete, Move, Planned, Replacing, Update, Write
from keyplan.data.writes.patches import ReadPatch
from keyplan.data.writes.plan import Plan
from keyplan.data.writes.upserts import ReadUpsert
from keyplan.design import Design, Entity, Table
from keyplan.design.entities.large_values import Unread, is_uploaded
from keyplan.design.entities.specs import FieldSpec

WRITTEN = "%Y%m%dT%H%M%SZ"
"""The time in the name of an object, from which `sweep_objects` knows its age."""


def with_large_values(parts: Sequence[Planned], context: Context) -> Steps[Sequence[Planned]]:
    """The parts of a write, ready to plan: large values that they need are read, and objects are written."""
    ready: list[Planned] = []
    for part in parts:
        prepared = yield from _prepared(part, context)
        ready.append(prepared)
    return ready


def _prepared(part: Planned, context: Context) -> Steps[Planned]:
    if isinstance(part, ReadPatch | ReadUpsert | Replacing):
        return replace(part, write=(yield from _prepared(part.write, context)))
    if not isinstance(part, Write) or not part.entity.spec.large or isinstance(part, Delete):
        return part
    return (yield from _ready(part, context))


def _ready(write: Write[Any], context: Context) -> Steps[Planned]:
    entity: Entity = write.entity
    if isinstance(write, Move):
        found = yield from load(context.design, entity)
        if found is not entity:  # somebody replaced the value, or deleted the item
            kind, constraint = stale(entity.spec)
            raise kind(entity.spec.name, constraint, entity.key_values, found)
    wanted = yield from values_for_objects(entity)
    if isinstance(write, Update):
        wanted = [each for each in wanted if _is_new(entity, each)]
    if not wanted:
        return write
    fresh = entity.model_copy()
    set_stored_item(fresh, stored_item(entity))
    yield from upload(fresh, wanted, context)
    return _Uploaded(replace(write, entity=fresh), entity)


def values_for_objects(entity: Entity) -> Steps[list[FieldSpec]]:
    """The fields whose values go to object storage."""
    codec, values = codec_of(type(entity)), entity.__dict__
    kept = [each for each in entity.spec.large if each.large is not None and each.large.kept_in == "objects"]
    known = [each for each in kept if isinstance(values[each.name], str | bytes)]

    def chosen() -> list[FieldSpec]:
        return [each for each in known if object_name(codec.encode_value(each.name, values[each.name])) is not None]

    return (yield from computed(chosen, long=bool(known) and takes_long(entity.spec, values)))


def _is_new(entity: Entity, field: FieldSpec) -> bool:
    """Whether a value isn't the one that is stored already."""
    codec, stored = codec_of(type(entity)), stored_item(entity)
    if stored is None or codec.evolved(stored) is not stored:
        return True
    return bool(codec.decode(stored).__dict__[field.name] != entity.__dict__[field.name])


def upload(fresh: Entity, fields: Sequence[FieldSpec], context: Context) -> Steps[None]:
    """Write these values to object storage; the entity, a copy, then has their names."""
    spec = fresh.spec
    spec.limits.check_changed(fresh.__dict__, {field.name for field in fields})
    for field in fields:
        value = fresh.__dict__[field.name]
        made = yield from computed(partial(packed, value, keep=False), long=len(value) >= LONG_TO_COMPRESS)
        name = f"{object_prefix(context.design, spec.table)}{spec.name}/{context.now:{WRITTEN}}-{uuid4().hex}"
        yield ObjectCall("put", (name, made.content))
        fresh.__dict__[field.name] = Unread(object_value(made, name), made.digest, made.size, value)


def object_prefix(design: Design, table: Table) -> str:
    """What the names of a table's objects begin with."""
    return f"{design.table_name(table)}/"


def plain_values(entity: Entity) -> dict[str, object]:
    """The values of an entity, with those that were written to object storage as they are."""
    return {name: value.value if is_uploaded(value) else value for name, value in entity.__dict__.items()}


@dataclass(frozen=True)
class _Uploaded:
    """A write of a copy whose large values are in object storage."""

    write: Write[Any]
    entity: Entity

    def add_to(self, plan: Plan, context: Context) -> AfterWrite:
        settle = self.write.add_to(plan, context)

        def done() -> object:
            settle()
            self.entity.__dict__.update(plain_values(self.write.entity))
            set_stored_item(self.entity, stored_item(self.write.entity))
            return self.entity

        return done
