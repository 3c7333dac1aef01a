"""Changing an item that was not read: in one request where that is enough."""

from typing import Any

from keyplan.data.codec import AttributeValue
from keyplan.data.consequences import address_of
from keyplan.data.errors import ConditionFailed, NotFound, Refused, StaleVersion
from keyplan.data.expressions import Requirement, exists, for_fields
from keyplan.data.items import codec_of, remember
from keyplan.data.plan import Action, Plan
from keyplan.data.reads import Reader
from keyplan.data.steps import Steps
from keyplan.data.transactions import carry_out, send
from keyplan.data.writes import Context, Create, Increment, Patch, Put, Update
from keyplan.design import InvalidValue, Ref
from keyplan.design.conditions import recorded
from keyplan.design.entity import EntitySpec

TRIES = 10


def patch(work: Patch[Any], reader: Reader, context: Context) -> Steps[None]:
    """Change some fields. What an index key, a guard or a mirror needs beside them is read, and conditioned on."""
    spec = work.target.entity.spec
    _check(spec, work)
    if work.quiet and not _is_alone(spec, set(work.changes), looser=True):
        raise InvalidValue("not-a-stamp", spec.name, "a field in a key or in the envelope can not be touched")
    if work.quiet or _is_alone(spec, set(work.changes)):
        plan = Plan()
        _add(plan, work, context)
        yield from send(plan, context)
        return
    for attempt in range(TRIES):
        item = yield from reader.stored(work.target)
        if item is None:
            raise NotFound(spec.name, "primary", work.target.values)
        entity = codec_of(work.target.entity).decode(item)
        for name, change in work.changes.items():
            value = getattr(entity, name) + change.by if isinstance(change, Increment) else change
            setattr(entity, name, value)
        try:
            yield from carry_out([Update(entity, where=work.where)], context)
            return
        except StaleVersion:
            if attempt == TRIES - 1:
                raise


def put(work: Put[Any], reader: Reader, context: Context) -> Steps[None]:
    """Write an item in place of what is stored, whatever that is; what follows from both is put right."""
    entity = work.entity
    for attempt in range(TRIES):
        item = yield from reader.stored(Ref(type(entity), entity.key_values))
        remember(entity, item)
        try:
            yield from carry_out([Create(entity) if item is None else Update(entity)], context)
            return
        except Refused as refusal:
            if attempt == TRIES - 1 or refusal.constraint not in ("primary", "version"):
                raise


def _check(spec: EntitySpec, work: Patch[Any]) -> None:
    for name in work.changes:
        if name not in spec.fields:
            raise InvalidValue("unknown-field", f"{spec.name}.{name}", "no such field", field=name)
        if name in spec.primary.fields:
            raise InvalidValue(
                "key-changed", f"{spec.name}.{name}", "it is part of the primary key; use move()", field=name
            )


def _is_alone(spec: EntitySpec, changed: set[str], *, looser: bool = False) -> bool:
    """Whether nothing but the changed fields themselves is touched; looser: as far as keys and envelope show."""
    follows = spec.uniques or spec.derived or spec.counters or spec.parents
    if spec.table.envelope or (follows and not looser):
        return False
    keyed = {name for key in spec.placements.values() for name in (*key.fields, *((key.when,) if key.when else ()))}
    return changed.isdisjoint(keyed)


def _add(plan: Plan, work: Patch[Any], context: Context) -> Action:
    spec, codec = work.target.entity.spec, codec_of(work.target.entity)
    sets: dict[str, AttributeValue] = {}
    removes: set[str] = set()
    adds: dict[str, int] = {}
    for name, change in work.changes.items():
        stored = spec.fields[name].stored
        if isinstance(change, Increment):
            adds[stored] = change.by
            continue
        encoded = None if change is None else codec.encode_value(name, _validated(work, name, change))
        if encoded is None:
            removes.add(stored)
        else:
            sets[stored] = encoded
    if (updated := spec.by_kind.get("updated")) and not work.quiet:
        sets[updated.stored] = codec.encode_value(updated.name, context.now) or {"NULL": True}
    if (version := spec.by_kind.get("version")) and not work.quiet:
        adds[version.stored] = 1

    def refused(kind: type[Refused], stored_item: Any) -> Refused:  # noqa: ANN401 - an item or None
        return kind(spec.name, "primary", work.target.values, codec.decode(stored_item) if stored_item else None)

    missing = Requirement(
        exists(spec.table.hash[0].name), lambda item: item is None, lambda item: refused(NotFound, item)
    )
    action = plan.change(address_of(work.target), sets, removes, missing)
    action.adds |= adds
    if work.where is not None:
        action.where = for_fields(recorded(work.target.entity, work.where), codec)
        action.refused = lambda item: refused(ConditionFailed, item)
    return action


def _validated(work: Patch[Any], name: str, value: object) -> object:
    """The value as the entity's own field would take it."""
    blank = work.target.entity.model_construct()
    work.target.entity.__pydantic_validator__.validate_assignment(blank, name, value)
    return getattr(blank, name)
