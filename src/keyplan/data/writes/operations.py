"""Write operations as plain values, and what each adds to a plan.

`add_to` adds the write of the item and the changes of its effects to a `Plan`. It returns a function to call once the
plan was carried out, which updates the entity: so an entity never shows what was not written.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType
from typing import Any, Generic, NamedTuple, Protocol, TypeAlias, TypeVar

from pydantic import ValidationError

from keyplan.data.codec.addresses import Address, address, address_of
from keyplan.data.codec.entities import EntityCodec, codec_of, set_stored_item, stored_item
from keyplan.data.codec.values import AttributeValue, Item
from keyplan.data.errors import AlreadyExists, ConditionFailed, DataError, NotFound, Refused, not_a_reference
from keyplan.data.expressions.conditions import attribute_not_exists, equals, stored_condition
from keyplan.data.expressions.expiry import item_is_there
from keyplan.data.expressions.requirements import Requirement
from keyplan.data.relations import Relations
from keyplan.data.writes.actions import Action
from keyplan.data.writes.baseline import Baseline, check_loaded, hold_stored, settle
from keyplan.data.writes.effect_changes import check_cascading_parents, plan_effect_changes
from keyplan.data.writes.effects import Effects, effects_left, effects_of, has_effects
from keyplan.data.writes.family import (
    not_being_deleted,
    not_moved_from_children,
    not_referred_to,
    parent_not_being_deleted,
)
from keyplan.data.writes.locking import unchanged_since_read
from keyplan.data.writes.plan import Plan
from keyplan.data.writes.stamps import creation_stamps, update_stamps
from keyplan.design import Design, Entity, InvalidValue, Ref, Refusal
from keyplan.design.entities.entity_spec import EntitySpec
from keyplan.design.entities.limit_checks import sentence
from keyplan.design.operations.conditions import recorded

E = TypeVar("E", bound=Entity)
R_co = TypeVar("R_co", covariant=True)

AfterWrite: TypeAlias = Callable[[], object]
"""To be called once the plan was carried out; returns what the write returns."""


class WriteOp(Generic[R_co]):
    """Something to write; `R` is what writing it returns."""


def nothing_beside(plan: Plan) -> "Sequence[Part]":
    """No other writes."""
    return ()


class Context(NamedTuple):
    """What planning a write needs besides the entity."""

    design: Design
    relations: Relations
    now: datetime
    beside: "Beside" = nothing_beside
    token: str | None = None
    """The caller's token for the transaction, by which DynamoDB carries it out once."""
    expired: Mapping[Address, Item] = MappingProxyType({})
    """Expired items that a create or a move may replace."""

    def alone(self) -> "Context":
        """The context for other steps of a write: parts beside it, and its token, belong to the step itself."""
        return self._replace(beside=nothing_beside, token=None)

    def replacing(self, where: Address, item: Item) -> "Context":
        """The context in which this expired item may be replaced."""
        return self._replace(expired={**self.expired, where: item})


class Planned(Protocol):
    """What can be added to a plan."""

    def add_to(self, plan: Plan, context: Context) -> AfterWrite:
        """Add what it does to a plan. Call the result when the plan was carried out."""
        ...


@dataclass(frozen=True)
class Replacing:
    """A write that may put an item in the place of an expired one."""

    where: Address
    item: Item
    write: Planned

    @property
    def entity(self) -> Entity:
        """The entity that is written."""
        entity: Entity = self.write.entity  # type: ignore[attr-defined]  # all that can replace an item have one
        return entity

    def add_to(self, plan: Plan, context: Context) -> "AfterWrite":
        """Add what the write does to a plan."""
        return self.write.add_to(plan, context.replacing(self.where, self.item))


@dataclass(frozen=True)
class Write(ABC, Generic[E]):
    """Something to write; `where` is the caller's own condition on the stored item, `otherwise` what callers are told
    if it doesn't hold."""

    entity: E
    where: Callable[[E], object] | None = field(default=None, kw_only=True)
    otherwise: Refusal | None = field(default=None, kw_only=True)

    @abstractmethod
    def add_to(self, plan: Plan, context: Context) -> AfterWrite:
        """Add what the write does to a plan. Call the result when the plan was carried out."""

    def add_where(self, action: Action) -> None:
        """Add the caller's own condition to the action."""
        if self.where is not None:
            kind = type(self.entity)
            condition = stored_condition(recorded(kind, self.where), codec_of(kind))
            action.where = Requirement((condition,), self._where_failed)

    def _where_failed(self, stored: Item | None) -> Refused:
        error = self.refusal(ConditionFailed, "where", stored)
        error.refusal = self.otherwise
        return error

    def refusal(self, kind: type[Refused], constraint: str, stored: Item | None) -> Refused:
        """The error for a rule that refuses this write."""
        codec = codec_of(type(self.entity))
        return kind(codec.spec.name, constraint, self.entity.key_values, codec.decode_if_recognized(stored))


class Create(Write[E], WriteOp[E]):
    """A new item; refused if it exists already."""

    def add_to(self, plan: Plan, context: Context) -> AfterWrite:
        entity, spec = self.entity, self.entity.spec
        codec = codec_of(type(entity))
        stamps = creation_stamps(entity, context.now)
        values = {**entity.__dict__, **stamps}
        spec.limits.check(values)
        item = codec.encode_values(values)
        action, replaced = _put(plan, context, codec, values, item)
        if has_effects(spec):
            fresh = entity.model_copy(update=stamps)
            check_loaded(fresh)
            plan_effect_changes(plan, spec, replaced, effects_of(fresh, item=item), context.now)
        return lambda: settle(entity, values, action.put or item, action)


@dataclass(frozen=True)
class Update(Write[E], WriteOp[E]):
    """The fields of an entity that changed since it was read."""

    quiet: bool = field(default=False, kw_only=True)
    """Whether it leaves the version and the time of the last change alone."""
    as_stored: Mapping[str, AttributeValue | None] = field(default_factory=dict, kw_only=True)
    """Fields whose attributes are known already; None for one to remove."""

    def add_to(self, plan: Plan, context: Context) -> AfterWrite:
        entity, spec = self.entity, self.entity.spec
        codec = codec_of(type(entity))
        stored = stored_item(entity)
        if stored is None:
            raise DataError(f"{spec.name} was not read from a store, so it can't be updated: create it")
        baseline = Baseline(codec, stored, entity, self.as_stored)
        baseline.check(entity)
        changed = baseline.changed(entity)
        if self.where is None and not changed:
            return lambda: hold_stored(entity, entity.__dict__, stored)
        spec.limits.check_changed(entity.__dict__, changed)
        stamps = {} if self.quiet else update_stamps(spec, stored, context.now)
        values = {**entity.__dict__, **stamps}
        changed |= stamps.keys()
        sets, removes = baseline.changes(values, changed)
        requirements = unchanged_since_read(spec, stored, sets.keys() | removes, self.refusal, context.now)
        if context.relations.is_parent(type(entity)):
            requirements += not_being_deleted(context.relations, type(entity), entity.key_values)
        action = plan.change(address(spec.table, stored), sets, removes, *requirements)
        self.add_where(action)
        whole = baseline.after(sets, removes)
        if has_effects(spec):
            fresh = entity.model_copy(update=stamps)
            changed |= {field.name for field in spec.large if field.stored in sets}  # what `evolve` converted
            before, after = effects_of(baseline.entity, changed), effects_of(fresh, changed, whole)
            plan_effect_changes(plan, spec, before, after, context.now)
        codec.check_size(whole)
        action.leaves = whole
        return lambda: settle(entity, values, whole, action)


class Delete(Write[E], WriteOp[None]):
    """The deletion of an item and its effects."""

    def add_to(self, plan: Plan, context: Context) -> AfterWrite:
        entity, spec = self.entity, self.entity.spec
        codec = codec_of(type(entity))
        stored = stored_item(entity)
        before = entity if stored is None else codec.decode(stored)
        if stored is None:
            stored = codec.encode(entity)
        requirements = unchanged_since_read(spec, stored, set(), self.refusal, whole=has_effects(spec))
        refusing = not_referred_to(context.relations, type(entity), entity.key_values)
        action = plan.remove(address(spec.table, stored), *requirements, *refusing)
        self.add_where(action)
        plan_effect_changes(plan, spec, effects_left(before, stored, context.now), Effects(), context.now)
        return lambda: set_stored_item(entity, None)


@dataclass(frozen=True)
class Move(Write[E], WriteOp[E]):
    """An item under another primary key, with all its attributes."""

    changes: Mapping[str, object] = field(default_factory=dict)

    def add_to(self, plan: Plan, context: Context) -> AfterWrite:
        entity, spec = self.entity, self.entity.spec
        codec = codec_of(type(entity))
        stored = stored_item(entity)
        if stored is None:
            raise DataError(f"{spec.name} was not read from a store, so it can't be moved")
        changed = with_changes(entity, self.changes)
        before = address(spec.table, stored)
        where = address(spec.table, codec.key(changed.__dict__))
        if where == before:
            set_stored_item(changed, stored)
            updated = Update(changed).add_to(plan, context)
            return lambda: _follow(entity, changed, updated)
        baseline = Baseline(codec, stored, changed)
        baseline.check_counts(changed)
        stamps = update_stamps(spec, stored, context.now)
        fresh = changed.model_copy(update=stamps)
        touched = baseline.changed(changed)
        spec.limits.check_changed(changed.__dict__, touched)
        touched |= stamps.keys()
        sets, removes = baseline.changes(fresh.__dict__, touched)
        moved = baseline.after(sets, removes) | codec.key(fresh.__dict__)
        codec.check_size(moved)
        requirements = unchanged_since_read(spec, stored, spec.count_attributes, self.refusal, context.now, whole=True)
        staying = not_moved_from_children(context.relations, entity, fresh)
        action = plan.remove(before, *requirements, *staying)
        self.add_where(action)
        put, replaced = _put(plan, context, codec, fresh.__dict__, moved)
        plan_effect_changes(plan, spec, replaced, Effects(), context.now)
        effects = effects_of(fresh, item=moved)
        plan_effect_changes(plan, spec, effects_of(baseline.entity), effects, context.now)
        check_cascading_parents(plan, spec, effects, context.now)
        return lambda: settle(entity, fresh.__dict__, put.put or moved, put)


def _follow(entity: E, changed: E, updated: AfterWrite) -> E:
    """Finish a move within one key, which was an update of a copy."""
    updated()
    entity.__dict__.update(changed.__dict__)
    set_stored_item(entity, stored_item(changed))
    return entity


def _put(
    plan: Plan, context: Context, codec: EntityCodec[E], values: Mapping[str, object], item: Item
) -> tuple[Action, Effects]:
    """Put an item where none exists, or in place of an expired one; returns the effects of that one.

    What counts on the expired item is still there, so its numbers stay.
    """
    spec, where = codec.spec, address(codec.spec.table, item)

    def taken(found: Item | None) -> Refused:
        key = {name: values[name] for name in spec.primary.fields}
        return AlreadyExists(spec.name, "primary", key, codec.decode_if_recognized(found))

    old = context.expired.get(where)
    if old is None:
        return plan.put(where, item, Requirement((attribute_not_exists(spec.table.hash[0].name),), taken)), Effects()
    item |= {name: old[name] for name in spec.count_attributes if name in old}
    same = unchanged_since_read(spec, old, set(), lambda kind, constraint, found: taken(found), whole=True)
    ttl = spec.by_kind["ttl"].stored
    action = plan.put(where, item, *same, Requirement((equals(ttl, old[ttl]),), taken))
    return action, effects_left(codec.decode(old), old, context.now)


def with_changes(entity: E, changes: Mapping[str, object]) -> E:
    """A copy of the entity with some fields changed and validated."""
    spec = entity.spec
    for name in changes.keys() - spec.fields.keys():
        raise InvalidValue("unknown-field", f"{spec.name}.{name}", "There is no such field.", field=name)
    fields = {name: entity.__dict__[name] for name in spec.fields}
    try:
        return type(entity).model_validate({**fields, **changes}, by_name=True)
    except ValidationError as error:
        raise invalid(spec, error) from None


def invalid(spec: EntitySpec, error: ValidationError) -> InvalidValue:
    """A validation error of a model as `InvalidValue`, without the value."""
    problem = error.errors(include_url=False, include_input=False, include_context=False)[0]
    field = str(problem["loc"][0]) if problem["loc"] else None
    return InvalidValue(
        "invalid", f"{spec.name}.{field}" if field else spec.name, sentence(problem["msg"]), field=field
    )


@dataclass(frozen=True)
class Check(WriteOp[None], Generic[E]):
    """A condition on an item that the transaction doesn't write."""

    target: Ref[E]
    where: Callable[[E], object] | None = None
    otherwise: Refusal | None = None

    def add_to(self, plan: Plan, context: Context) -> AfterWrite:
        spec = self.target.entity.spec
        codec = codec_of(self.target.entity)

        def refused(kind: type[Refused], stored: Item | None) -> Refused:
            error = kind(spec.name, "check", self.target.values, codec.decode_if_recognized(stored))
            error.refusal = self.otherwise
            return error

        requirements = [
            Requirement(item_is_there(spec, context.now), lambda stored: refused(NotFound, stored)),
            parent_not_being_deleted(spec, "check", self.target, context.now),
        ]
        if self.where is not None:
            condition = stored_condition(recorded(self.target.entity, self.where), codec)
            requirements.append(Requirement((condition,), lambda stored: refused(ConditionFailed, stored)))
        plan.check(address_of(self.target), *requirements)
        return lambda: None


def create(entity: E) -> Create[E]:
    """Create an item and its effects."""
    return Create(entity)


def update(entity: E, *, where: Callable[[E], object] | None = None, refusal: Refusal | None = None) -> Update[E]:
    """Write the fields that changed since the entity was read; with `where`, only if the stored item meets it.

    `refusal` is what callers of a system are told if it doesn't.
    """
    return Update(entity, where=where, otherwise=refusal)


def move(entity: E, **changes: object) -> Move[E]:
    """Change fields of the primary key: the item moves to the new key with all its attributes and effects."""
    return Move(entity, changes=changes)


def check(target: Ref[E], where: Callable[[E], object] | None = None, *, refusal: Refusal | None = None) -> Check[E]:
    """For a transaction: require that an item exists and meets the condition.

    `refusal` is what callers of a system are told otherwise.
    """
    if not isinstance(target, Ref):
        raise not_a_reference(target)
    return Check(target, where, refusal)


def put(entity: E) -> "Put[E]":
    """Write an item whether or not it exists. Refused only if another item has one of its unique values."""
    return Put(entity)


@dataclass(frozen=True)
class Put(WriteOp[E]):
    """An item to write in place of what is stored."""

    entity: E


@dataclass(frozen=True)
class CleanUpExpired(Generic[E]):
    """An item that DynamoDB's time to live deleted."""

    entity: E


def clean_up_expired(entity: E) -> CleanUpExpired[E]:
    """Clean up after an item that DynamoDB's time to live deleted, given the item as it was last.

    Its effects are deleted and it is no longer counted, as if it had been deleted by a store. It can be run any number
    of times, even at the same time; it does nothing while an item with this key exists. Returns whether it did
    anything.
    """
    return CleanUpExpired(entity)


class AlreadyWritten(Exception):
    """Raised by a `Beside` function: this plan was carried out before, so it is skipped as if it had succeeded."""


Beside: TypeAlias = Callable[[Plan], Sequence["Part"]]
"""Called with the plan of each write; returns the parts to write in the same request. An error refuses the write."""

Part: TypeAlias = Create[Any] | Update[Any] | Delete[Any] | Move[Any] | Check[Any]
"""A write that can be planned without reading, so that it can join any other write."""
