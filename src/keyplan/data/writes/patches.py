"""Patches: changing an item by its key, in one request if that is enough."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from pydantic import ValidationError

from keyplan.data import compat
from keyplan.data.codec.addresses import address_of
from keyplan.data.codec.entities import DELETING, codec_of, set_stored_item
from keyplan.data.codec.values import AttributeValue
from keyplan.data.errors import ConditionFailed, DataError, NotFound, Refused, StaleVersion
from keyplan.data.expressions.conditions import item_exists, stored_condition
from keyplan.data.expressions.evaluation import holds
from keyplan.data.expressions.requirements import Requirement
from keyplan.data.reads.reader import Reader
from keyplan.data.steps import ATTEMPTS, Steps, Wait, pause
from keyplan.data.writes.actions import Action
from keyplan.data.writes.effects import effects_of
from keyplan.data.writes.family import not_being_deleted
from keyplan.data.writes.operations import (
    AfterWrite,
    Context,
    Delete,
    Increment,
    Part,
    Patch,
    Planned,
    Update,
    with_changes,
)
from keyplan.data.writes.plan import Plan
from keyplan.data.writes.transactions import write_parts
from keyplan.design import Entity, InvalidValue
from keyplan.design.conditions import recorded
from keyplan.design.entity import EntitySpec
from keyplan.design.limit_checks import sentence
from keyplan.design.operations import guard_fields


def patch_steps(work: Patch[Any], reader: Reader, context: Context) -> Steps[None]:
    """The steps of a patch. If more than the changed fields is needed, the item is read and conditions are added."""
    for attempt in range(ATTEMPTS):
        part = yield from _prepare(work, reader)
        try:
            yield from write_parts([part], context)
            return
        except StaleVersion:
            if attempt == ATTEMPTS - 1 or isinstance(part, DirectPatch):
                raise
            yield Wait(pause(attempt))


def prepare_parts(parts: Sequence[Part | Patch[Any]], reader: Reader, context: Context) -> Steps[list[Planned]]:
    """The parts of a transaction, ready to plan; items that patches need are read."""
    found: list[Planned] = []
    for part in parts:
        if isinstance(part, Delete) and context.relations.cascading(type(part.entity)):
            raise DataError(f"deleting {part.entity.spec.name} cascades, so it can't be part of a transaction")
        found.append((yield from _prepare(part, reader)) if isinstance(part, Patch) else part)
    return found


@dataclass(frozen=True)
class DirectPatch:
    """A patch that doesn't need to read its item."""

    work: Patch[Any]

    def add_to(self, plan: Plan, context: Context) -> AfterWrite:
        _add(plan, self.work, context)
        return lambda: None


def _prepare(work: Patch[Any], reader: Reader) -> Steps[Planned]:
    """A patch as one conditional write, or as an update of the item that was read."""
    spec = work.target.entity.spec
    _check(spec, work)
    if work.quiet:
        yield from _check_stamps(work, reader)
    if work.quiet or (_is_alone(spec, set(work.changes)) and not _needs_other_values(work)):
        return DirectPatch(work)
    item = yield from reader.stored(work.target)
    if item is None or DELETING in item or not holds(item_exists(spec), item):
        raise NotFound(spec.name, "primary", work.target.values)
    entity = codec_of(work.target.entity).decode(item)
    changed = with_changes(entity, {name: _value(entity, name, change) for name, change in work.changes.items()})
    set_stored_item(changed, item)
    return Update(changed, where=work.where)


def _check_stamps(work: Patch[Any], reader: Reader) -> Steps[None]:
    """Raise `InvalidValue` if a key, the envelope or an effect depends on a touched field."""
    spec = work.target.entity.spec
    refusal = InvalidValue(
        "not-a-stamp",
        spec.name,
        "touch() can't set fields that keys, the envelope or other items depend on. Use patch().",
    )
    if not _is_alone(spec, set(work.changes), looser=True) or _needs_other_values(work):
        raise refusal
    if spec.derived or spec.counters or spec.parents:
        item = yield from reader.stored(work.target)
        if item is not None and holds(item_exists(spec), item):
            entity = codec_of(work.target.entity).decode(item)
            touched = with_changes(entity, {name: _value(entity, name, each) for name, each in work.changes.items()})
            if effects_of(entity) != effects_of(touched):
                raise refusal


def _needs_other_values(work: Patch[Any]) -> bool:
    """Whether the item must be read to check limits: it adds to a number, or changes a field with a joint limit."""
    limits = work.target.entity.spec.limits
    if any(not each.fields.isdisjoint(work.changes) for each in limits.joint):
        return True
    return any(isinstance(change, Increment) and name in limits.fields for name, change in work.changes.items())


def _value(entity: Entity, name: str, change: object) -> object:
    return (getattr(entity, name) or 0) + change.by if isinstance(change, Increment) else change


def _check(spec: EntitySpec, work: Patch[Any]) -> None:
    for name in work.changes:
        if name not in spec.fields:
            raise InvalidValue("unknown-field", f"{spec.name}.{name}", "There is no such field.", field=name)
        if name in spec.primary.fields:
            raise InvalidValue(
                "key-changed",
                f"{spec.name}.{name}",
                "This field is part of the primary key, which a patch can't change. Use move().",
                field=name,
            )
        if spec.fields[name].kind in ("count", "version", "updated"):
            raise InvalidValue(
                "looked-after",
                f"{spec.name}.{name}",
                "This field is maintained by the store, so it can't be set.",
                field=name,
            )
        if isinstance(change := work.changes[name], Increment):
            _check_increment(spec, name, change.by)


def _check_increment(spec: EntitySpec, name: str, by: object) -> None:
    if spec.fields[name].annotation not in (int, float, Decimal):
        raise InvalidValue("wrong-type", f"{spec.name}.{name}", "increment() works on numbers only.", field=name)
    if not isinstance(by, int):
        raise InvalidValue("wrong-type", f"{spec.name}.{name}", "increment() takes a whole number.", field=name)


def _is_alone(spec: EntitySpec, changed: set[str], *, looser: bool = False) -> bool:
    """Whether only the changed fields are written; `looser` ignores effects that may depend on any field."""
    has_other_effects = spec.derived or spec.counters or spec.parents
    if spec.table.envelope or (has_other_effects and not looser):
        return False
    if compat.has_validators(spec.entity):
        return looser
    if (updated := spec.by_kind.get("updated")) and not looser:
        changed = changed | {updated.name}
    keyed = {name for key in spec.placements.values() for name in (*key.fields, *((key.when,) if key.when else ()))}
    guarded = {name for each in spec.uniques for name in (*guard_fields(each), *each.carries, each.when)}
    return changed.isdisjoint(keyed | guarded)


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
        value = _validated(work.target.entity, name, change)
        spec.limits.check_changed({name: value}, {name})
        encoded = None if value is None else codec.encode_value(name, value)
        if encoded is None:
            removes.add(stored)
        else:
            sets[stored] = encoded
    if (updated := spec.by_kind.get("updated")) and not work.quiet:
        sets[updated.stored] = codec.encode_value(updated.name, context.now) or {"NULL": True}
    if (version := spec.by_kind.get("version")) and not work.quiet:
        adds[version.stored] = 1

    def refused(kind: type[Refused], stored_item: Any) -> Refused:  # noqa: ANN401 - an item or None
        return kind(spec.name, "primary", work.target.values, codec.decode_if_recognized(stored_item))

    missing = Requirement((item_exists(spec),), lambda item: refused(NotFound, item))
    staying = not_being_deleted(context.relations, work.target.entity, work.target.values)
    where = address_of(work.target)
    codec.check_size({**where.item, **sets})
    action = plan.change(where, sets, removes, missing, *staying)
    action.adds |= adds
    if work.where is not None:
        condition = stored_condition(recorded(work.target.entity, work.where), codec)
        action.where = Requirement((condition,), lambda item: refused(ConditionFailed, item))
    return action


def _validated(entity: type[Entity], name: str, value: object) -> object:
    """The value, validated as the entity's field."""
    try:
        return compat.field_model(entity, name).model_validate({name: value}, by_name=True).__dict__[name]
    except ValidationError as error:
        problem = sentence(error.errors(include_url=False, include_input=False, include_context=False)[0]["msg"])
        raise InvalidValue("invalid", f"{entity.__name__}.{name}", problem, field=name) from None
