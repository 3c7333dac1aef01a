"""Writes as plain data, and what each of them does.

A write names an entity; working it out adds to a `Plan`: the item itself, and the difference in what follows from it.
What it returns is called once the plan was carried out, so that an entity never shows what was not written.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Generic, TypeAlias, TypeVar

from keyplan.data.codec import Item
from keyplan.data.consequences import Address, address, address_of, consequences
from keyplan.data.difference import difference, no_children, not_deleting
from keyplan.data.errors import AlreadyExists, ConditionFailed, DataError, NotFound, Refused, StaleVersion
from keyplan.data.expressions import Requirement, equals, exists, for_fields, not_exists
from keyplan.data.items import codec_of, remember, stored_of
from keyplan.data.plan import Action, Plan
from keyplan.design import Design, Entity, InvalidValue, Ref
from keyplan.design.conditions import recorded
from keyplan.design.entity import EntitySpec

E = TypeVar("E", bound=Entity)

Done = Callable[[], None]


@dataclass(frozen=True)
class Context:
    """What working out a write needs beside the entity."""

    design: Design
    now: datetime


@dataclass(frozen=True)
class Write(ABC, Generic[E]):
    """Something to write; `where` is the caller's own condition on the stored item."""

    entity: E
    where: Callable[[E], object] | None = field(default=None, kw_only=True)

    @abstractmethod
    def add_to(self, plan: Plan, context: Context) -> Done:
        """Add what the write does to a plan; the result is to be called when the plan was carried out."""

    def _address(self) -> Address:
        return address(self.entity.spec.table, codec_of(type(self.entity)).key(self.entity.__dict__))

    def add_where(self, action: Action) -> None:
        """Put the caller's own condition on the action."""
        if self.where is not None:
            kind = type(self.entity)
            action.where = for_fields(recorded(kind, self.where), codec_of(kind))
            action.refused = lambda stored: self._refused(ConditionFailed, "where", stored)

    def _refused(self, kind: type[Refused], constraint: str, stored: Item | None) -> Refused:
        codec = codec_of(type(self.entity))
        return kind(codec.spec.name, constraint, self.entity.key_values, codec.decode(stored) if stored else None)


class Create(Write[E]):
    """A new item, refused where it is there already."""

    def add_to(self, plan: Plan, context: Context) -> Done:
        entity, spec = self.entity, self.entity.spec
        fresh = entity.model_copy(update=_creation_stamps(entity, context.now))
        item = codec_of(type(entity)).encode(fresh)
        where = self._address()
        missing = Requirement(
            not_exists(spec.table.hash[0].name),
            lambda stored: stored is not None,
            lambda stored: self._refused(AlreadyExists, "primary", stored),
        )
        action = plan.put(where, item, missing)
        self.add_where(action)
        difference(plan, spec, consequences(None), consequences(fresh))
        return lambda: _settle(entity, fresh, action.put or item)


class Update(Write[E]):
    """The difference between the entity as it was read and as it is now."""

    def add_to(self, plan: Plan, context: Context) -> Done:
        entity, spec = self.entity, self.entity.spec
        codec = codec_of(type(entity))
        stored = stored_of(entity)
        if stored is None:
            raise DataError(f"{spec.name} was not read from a store, so there is nothing to compare with: create it")
        sets, removes = _changes(spec, stored, codec.encode(entity))
        if not sets and not removes and self.where is None:
            return lambda: None
        fresh = entity.model_copy(update=_update_stamps(entity, context.now))
        item = codec.encode(fresh)
        sets, removes = _changes(spec, stored, item)
        where = self._address()
        if any(stored[attribute.name] != item[attribute.name] for attribute in spec.table.hash + spec.table.range):
            raise InvalidValue("key-changed", spec.name, "a field of the primary key was changed; use move()")
        action = plan.change(where, sets, removes, *self._requirements(stored, sets.keys() | removes))
        self.add_where(action)
        if _has_consequences(spec):
            difference(plan, spec, consequences(codec.decode(stored)), consequences(fresh))
        left = {name: value for name, value in stored.items() if name not in removes}
        return lambda: _settle(entity, fresh, {**left, **sets})

    def _requirements(self, stored: Item, changed: set[str]) -> list[Requirement]:
        return unchanged(self, stored, changed)


class Delete(Write[E]):
    """The item goes, with what follows from it."""

    def add_to(self, plan: Plan, context: Context) -> Done:
        entity, spec = self.entity, self.entity.spec
        codec = codec_of(type(entity))
        stored = stored_of(entity)
        before = entity if stored is None else codec.decode(stored)
        requirements = unchanged(self, stored or codec.encode(entity), set(), whole=_has_consequences(spec))
        refusing = no_children(context.design, entity)
        action = plan.remove(self._address(), *requirements, *refusing)
        self.add_where(action)
        difference(plan, spec, consequences(before), consequences(None))
        return lambda: remember(entity, None)


@dataclass(frozen=True)
class Move(Write[E]):
    """The item under another primary key, with everything that is stored in it."""

    changes: Mapping[str, object] = field(default_factory=dict)

    def add_to(self, plan: Plan, context: Context) -> Done:
        entity, spec = self.entity, self.entity.spec
        codec = codec_of(type(entity))
        stored = stored_of(entity)
        if stored is None:
            raise DataError(f"{spec.name} was not read from a store, so there is nothing to move")
        unknown = [name for name in self.changes if name not in spec.fields]
        if unknown:
            raise InvalidValue("unknown-field", spec.name, f"no such field: {', '.join(unknown)}", field=unknown[0])
        changed = type(entity).model_validate({**entity.__dict__, **self.changes})
        fresh = changed.model_copy(update=_update_stamps(entity, context.now))
        item = codec.encode(fresh)
        _, removes = _changes(spec, stored, item)
        carried = {name: value for name, value in stored.items() if name not in removes}
        counts = {field.stored for field in spec.fields.values() if field.kind == "count"}
        moved = {**carried, **{name: value for name, value in item.items() if name not in counts}}
        before = address(spec.table, {a.name: stored[a.name] for a in spec.table.hash + spec.table.range})
        missing = Requirement(
            not_exists(spec.table.hash[0].name),
            lambda found: found is not None,
            lambda found: AlreadyExists(spec.name, "primary", fresh.key_values, codec.decode(found) if found else None),
        )
        action = plan.remove(before, *unchanged(self, stored, counts, whole=True))
        self.add_where(action)
        plan.put(address(spec.table, codec.key(fresh.__dict__)), moved, missing)
        difference(plan, spec, consequences(codec.decode(stored)), consequences(fresh))
        return lambda: _settle(entity, fresh, moved)


@dataclass(frozen=True)
class Check(Generic[E]):
    """A condition on an item that is not written, as part of a transaction."""

    target: Ref[E]
    where: Callable[[E], object] | None = None

    def add_to(self, plan: Plan, context: Context) -> Done:
        spec = self.target.entity.spec
        codec = codec_of(self.target.entity)

        def refused(kind: type[Refused], stored: Item | None) -> Refused:
            return kind(spec.name, "check", self.target.values, codec.decode(stored) if stored else None)

        requirements = [
            Requirement(
                exists(spec.table.hash[0].name),
                lambda stored: stored is None,
                lambda stored: refused(NotFound, stored),
            ),
            *not_deleting(spec, self.target),
        ]
        if self.where is not None:
            node = for_fields(recorded(self.target.entity, self.where), codec)
            requirements.append(Requirement(node, lambda stored: True, lambda stored: refused(ConditionFailed, stored)))
        plan.check(address_of(self.target), *requirements)
        return lambda: None


def create(entity: E, *, where: Callable[[E], object] | None = None) -> Create[E]:
    """Create the item and everything that follows from it."""
    return Create(entity, where=where)


def update(entity: E, *, where: Callable[[E], object] | None = None) -> Update[E]:
    """Write what was changed in the entity since it was read; with `where`, only if the stored item meets it."""
    return Update(entity, where=where)


def delete(entity: E, *, where: Callable[[E], object] | None = None) -> Delete[E]:
    """Delete the item and everything that follows from it."""
    return Delete(entity, where=where)


def move(entity: E, **changes: object) -> Move[E]:
    """Change fields of the primary key: the item moves, with all it holds and all that follows from it."""
    return Move(entity, changes=changes)


def check(target: Ref[E], where: Callable[[E], object] | None = None) -> Check[E]:
    """As part of a transaction: the item is there, and meets the condition."""
    return Check(target, where)


def put(entity: E) -> "Put[E]":
    """Write the item whether it is there or not; refuses only a unique value that another item has."""
    return Put(entity)


@dataclass(frozen=True)
class Put(Generic[E]):
    """The item as it is given, in place of what is stored."""

    entity: E


@dataclass(frozen=True)
class Increment:
    """In a patch: add to what is stored."""

    by: int


def increment(by: int = 1) -> Increment:
    """In a patch: add this to the field."""
    return Increment(by)


@dataclass(frozen=True)
class Patch(Generic[E]):
    """A change of some fields of an item that was not read."""

    target: Ref[E]
    changes: Mapping[str, object]
    where: Callable[[E], object] | None = None


def patch(target: Ref[E], *, where: Callable[[E], object] | None = None, **changes: object) -> Patch[E]:
    """Change fields of an item by its key. One request where that is enough; a conditioned read before it where an
    index key, a guard or anything else needs more than the changed fields."""
    return Patch(target, changes, where)


def unchanged(write: Write[Any], stored: Item, changed: set[str], *, whole: bool = False) -> list[Requirement]:
    """The item is as it was read: by its version, or by the values that the write relies on."""
    spec = write.entity.spec
    missing = Requirement(
        exists(spec.table.hash[0].name),
        lambda found: found is None,
        lambda found: write._refused(NotFound, "primary", found),
    )
    version = spec.by_kind.get("version")
    if version is not None:
        names = {version.stored, *(changed & {f.stored for f in spec.fields.values() if f.kind == "count"})}
    elif whole or _has_consequences(spec):
        names = {f.stored for f in spec.fields.values() if f.kind == "plain" and f.stored not in spec.key_attributes}
    else:
        names = changed & {f.stored for f in spec.fields.values() if f.kind == "plain"} | _parts_beside(spec, changed)

    def same(name: str) -> Requirement:
        return Requirement(
            equals(name, stored.get(name)),
            lambda found: found is not None and found.get(name) != stored.get(name),
            lambda found: write._refused(StaleVersion, "version", found),
        )

    return [missing, *(same(name) for name in sorted(names))]


def _parts_beside(spec: EntitySpec, changed: set[str]) -> set[str]:
    """The attributes of fields that stand in one index key with a changed one: the key is only right if they hold."""
    names: set[str] = set()
    for placement in spec.placements.values():
        if any(part.attribute.name in changed for part in placement.parts):
            fields = (*placement.fields, *((placement.when,) if placement.when else ()))
            names |= {spec.fields[name].stored for name in fields}
    primary = {name for part in spec.primary.parts for name in part.fields}
    return {
        name
        for name in names
        if name not in spec.key_attributes and name not in {spec.fields[f].stored for f in primary}
    }


def _has_consequences(spec: EntitySpec) -> bool:
    return bool(spec.uniques or spec.derived or spec.counters or spec.parents)


def _changes(spec: EntitySpec, stored: Item, item: Item) -> tuple[Item, set[str]]:
    """What to set and what to remove; never a counter, never an attribute that the entity does not know."""
    counts = {field.stored for field in spec.fields.values() if field.kind == "count"}
    known = {field.stored for field in spec.fields.values()} | spec.key_attributes.keys()
    sets = {n: value for n, value in item.items() if n not in counts and stored.get(n) != value}
    removes = {n for n in stored if n in known and n not in counts and n not in item}
    return sets, removes


def _creation_stamps(entity: Entity, now: datetime) -> dict[str, object]:
    """Created, updated and version of a new item; what the caller gave stands."""
    stamps: dict[str, object] = {}
    for kind in ("created", "updated"):
        spec = entity.spec.by_kind.get(kind)
        if spec is not None and spec.name not in entity.model_fields_set:
            stamps[spec.name] = now
    version = entity.spec.by_kind.get("version")
    if version is not None:
        stamps[version.name] = 1
    return stamps


def _update_stamps(entity: Entity, now: datetime) -> dict[str, object]:
    stamps: dict[str, object] = {}
    if updated := entity.spec.by_kind.get("updated"):
        stamps[updated.name] = now
    if version := entity.spec.by_kind.get("version"):
        stamps[version.name] = getattr(entity, version.name) + 1
    return stamps


def _settle(entity: Entity, fresh: Entity, item: Item) -> None:
    """The write went through: the entity shows it, and remembers what is stored now."""
    entity.__dict__.update(fresh.__dict__)
    remember(entity, item)


Part: TypeAlias = Create[Any] | Update[Any] | Delete[Any] | Move[Any] | Check[Any]
"""What a transaction is made of."""
