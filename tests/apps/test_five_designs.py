"""Random writes to the five designs; after each of them, all data is consistent.

Refusals come exactly where the plain model has a reason, `verify` finds nothing, every item is as the model has it, and
every access pattern answers as the model does. The runs are the same each time; `KEYPLAN_TEST_LONG=1`
(`make test-long`) has others, longer and more of them.
"""

import os
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, timedelta
from itertools import count
from typing import Any, ClassVar

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from keyplan.data import Clause, DataError, Refused, Store, at, create, delete, move, patch, put, update, upsert
from keyplan.design import Entity, Follow, InvalidValue, Merge, Page, Query, Ref, Scan, get, scan
from keyplan.engine import Engine
from tests.apps.plain_model import Change, Key, Plain, answer, collisions, key_of, order_of
from tests.apps.small_values import FUTURE, PLAYS, Play

LONG = bool(os.environ.get("KEYPLAN_TEST_LONG"))
PHASES = tuple(Phase) if LONG else (Phase.explicit, Phase.generate)
"""Finding the shortest run that fails takes minutes; `make test` shows the first one."""


def _ticking() -> Callable[[], datetime]:
    ticks = count()
    return lambda: FUTURE + timedelta(seconds=next(ticks))


def shown(entity: Entity | None) -> object:
    """An entity in a form that can be compared: its kind and its values."""
    return None if entity is None else (type(entity).__name__, entity.model_dump())


def in_any_order(entities: Iterable[Entity]) -> list[object]:
    """Entities in a fixed order, so that they can be compared."""
    return [
        shown(each) for each in sorted(entities, key=lambda each: [type(each).__name__, *map(str, key_of(each)[1])])
    ]


class Playing(RuleBasedStateMachine):
    """One design on its own database, and its plain model."""

    play: ClassVar[Play]

    def __init__(self) -> None:
        super().__init__()
        self.engine = Engine()
        self.store: Store[Any] = Store(self.play.design(), self.engine, clock=_ticking(), secret=b"of tests")
        self.store.create_tables()
        self.plain = Plain()
        design = self.store.design
        follows = {each for entity in design.entities for made in entity.spec.derived for each in made.entities}
        self.kinds = [each for each in design.entities if each not in follows | self.play.fixed]
        self.old: dict[Key, Entity] = {}
        """Copies as they were read some time ago."""

    def teardown(self) -> None:
        self.engine.close()

    @initialize()
    def start(self) -> None:
        for together in self.play.start:
            made = [each.model_copy(deep=True) for each in together]
            self.store.transact(*map(create, made))
            self.plain.live |= {key_of(each): each.model_copy(deep=True) for each in made}

    # Writes

    def carry_out(self, changes: list[Change], write: Callable[[], object], *more: str) -> bool:
        """Write if the model allows it; otherwise expect one of the refusals that the model returns."""
        reasons = self.plain.refusals(changes) | set(more)
        if any(_over_limit(after) for _, after in changes if after is not None):
            with pytest.raises(InvalidValue):
                write()
            return False
        try:
            write()
        except Refused as refused:
            if refused.code not in reasons:
                raise
            return False
        assert not reasons
        self.plain.live = self.plain.after(changes)
        # A version tells the states of one item apart, not an item from one that is created under its key later.
        self.old = {key: entity for key, entity in self.old.items() if key in self.plain.live}
        return True

    def adopt(self, key: Key, before: Entity | None = None) -> None:
        """The stamps are the store's to set; so is the version, where a write need not know that it changes nothing."""
        stored, entity = self.stored(key), self.plain.live[key]
        kinds = key[0].spec.by_kind
        names = [kinds[kind].name for kind in ("created", "updated") if kind in kinds]
        if before is not None and "version" in kinds and not _differ(before, entity):
            names.append(kinds["version"].name)
            assert getattr(stored, names[-1]) - getattr(before, names[-1]) in (0, 1)
        entity.__dict__.update({name: getattr(stored, name) for name in names})

    def made(self, data: st.DataObject) -> Entity:
        """A new entity, usually with existing parents."""
        kind: type[Entity] = data.draw(st.sampled_from(self.kinds), "kind")
        values: dict[str, Any] = data.draw(st.fixed_dictionaries(self.play.fields(kind)), "values")
        for _ in range(9):
            if not _over_limit(kind.model_validate(values)):
                break
            values = data.draw(st.fixed_dictionaries(self.play.fields(kind)), "other values")
        for parent in kind.spec.parents:
            there = [each for key, each in self.plain.live.items() if key[0] is parent.entity]
            if there and data.draw(st.integers(0, 3), "of a parent") > 0:
                chosen = data.draw(st.sampled_from(there), parent.name)
                fields = {mine: getattr(chosen, theirs) for theirs, mine in parent.fields.items()}
                values |= {name: value for name, value in fields.items() if not isinstance(values[name], list | tuple)}
        return kind.model_validate(values)

    @rule(data=st.data())
    def create(self, data: st.DataObject) -> None:
        entity = self.made(data)
        if self.carry_out([(None, _version(entity, 1))], lambda: self.store.run(create(entity))):
            self.adopt(key_of(entity))

    @rule(data=st.data())
    def create_two(self, data: st.DataObject) -> None:
        both = [self.made(data), self.made(data)]
        pair = {key_of(each): each for each in both}
        if len(pair) < 2 or collisions(both):
            return  # the same item or guard twice can't be one transaction
        changes: list[Change] = [(None, _version(each, 1)) for each in both]
        if self.carry_out(changes, lambda: self.store.transact(*map(create, both))):
            for each in both:
                self.adopt(key_of(each))

    @rule(data=st.data())
    def put(self, data: st.DataObject) -> None:
        entity = self.made(data)
        before = self.plain.live.get(key_of(entity))
        if before is None:
            after = _version(entity, 1)
        else:
            after = _changed(before, {name: getattr(entity, name) for name in self.play.fields(type(entity))})
        if self.carry_out([(before, after)], lambda: self.store.run(put(entity))):
            self.adopt(key_of(entity), before)

    def some(self, data: st.DataObject) -> Entity:
        """One of the existing entities, as it is read."""
        keys = [key for key in self.plain.live if key[0] not in self.play.fixed]
        key = data.draw(st.sampled_from(keys), "item")
        if key not in self.old:
            self.old[key] = self.stored(key)
        return self.stored(key)

    def stored(self, key: Key) -> Entity:
        values: dict[str, Any] = self.plain.live[key].key_values
        found: object = self.store.run(get(key[0], **values))
        assert isinstance(found, Entity)
        return found

    def new_values(self, data: st.DataObject, entity: Entity, *, of_key: bool) -> dict[str, Any]:
        primary = entity.spec.primary.fields
        fields = {n: each for n, each in self.play.fields(type(entity)).items() if (n in primary) == of_key}
        names = data.draw(st.lists(st.sampled_from(sorted(fields)), min_size=1, max_size=3, unique=True), "fields")
        drawn: dict[str, Any] = data.draw(st.fixed_dictionaries({name: fields[name] for name in names}), "values")
        return drawn

    def _changeable(self, entity: Entity) -> bool:
        return any(name not in entity.spec.primary.fields for name in self.play.fields(type(entity)))

    @precondition(lambda self: any(key[0] not in self.play.fixed for key in self.plain.live))
    @rule(data=st.data())
    def update(self, data: st.DataObject) -> None:
        entity = self.some(data)
        if not self._changeable(entity):
            return
        before, values = self.plain.live[key_of(entity)], self.new_values(data, entity, of_key=False)
        for name, value in values.items():
            setattr(entity, name, value)
        if self.carry_out([(before, _changed(before, values))], lambda: self.store.run(update(entity))):
            self.adopt(key_of(entity))

    @precondition(lambda self: any(key[0] not in self.play.fixed for key in self.plain.live))
    @rule(data=st.data())
    def patch(self, data: st.DataObject) -> None:
        entity = self.some(data)
        if not self._changeable(entity):
            return
        before, values = self.plain.live[key_of(entity)], self.new_values(data, entity, of_key=False)
        named = Ref(type(entity), entity.key_values)
        after = _changed(before, values)
        if self.carry_out([(before, after)], lambda: self.store.run(patch(named, **values))):
            self.adopt(key_of(entity), before)

    @precondition(lambda self: any(key[0] not in self.play.fixed for key in self.plain.live))
    @rule(data=st.data())
    def patch_by_clauses(self, data: st.DataObject) -> None:
        """Numbers are added to, lists appended to, and sets changed by members; with the result of any kind."""
        entity = self.some(data)
        fields = [name for name in self.play.fields(type(entity)) if name not in entity.spec.primary.fields]
        if not fields:
            return
        names = data.draw(st.lists(st.sampled_from(fields), min_size=1, max_size=3, unique=True), "fields")
        drawn = data.draw(st.fixed_dictionaries({n: self.play.fields(type(entity))[n] for n in names}), "values")
        before = self.plain.live[key_of(entity)]
        made = {name: _clause(name, getattr(before, name), value) for name, value in drawn.items()}
        values = {name: value for name, (_, value) in made.items()}
        returning: Any = data.draw(st.sampled_from([None, "new", "old", "updated"]), "returning")
        op: Any = patch(
            Ref(type(entity), entity.key_values),
            lambda one: [make(one) for make, _ in made.values()],
            returning=returning,
        )
        got: list[Any] = []
        if self.carry_out([(before, _changed(before, values))], lambda: got.append(self.store.run(op))):
            self.adopt(key_of(entity), before)
            if returning is not None:
                whole = before if returning == "old" else self.stored(key_of(entity))
                for name in values:
                    assert _got(got[0], name) == getattr(whole, name)

    @rule(data=st.data())
    def upsert(self, data: st.DataObject) -> None:
        entity = self.made(data)
        before = self.plain.live.get(key_of(entity))
        values = {name: getattr(entity, name) for name in self.play.fields(type(entity))}
        rest = {name: value for name, value in values.items() if name not in entity.spec.primary.fields}
        after = _version(entity, 1) if before is None else _changed(before, values)
        op = upsert(Ref(type(entity), entity.key_values), **rest)
        if self.carry_out([(before, after)], lambda: self.store.run(op)):
            self.adopt(key_of(entity), before)

    @precondition(lambda self: any(key[0] not in self.play.fixed for key in self.plain.live))
    @rule(data=st.data())
    def delete_by_key(self, data: st.DataObject) -> None:
        entity = self.some(data)
        named = Ref(type(entity), entity.key_values)
        self.carry_out([(self.plain.live[key_of(entity)], None)], lambda: self.store.run(delete(named)))

    @precondition(lambda self: any(key[0] not in self.play.fixed for key in self.plain.live))
    @rule(data=st.data())
    def move(self, data: st.DataObject) -> None:
        entity = self.some(data)
        before = self.plain.live[key_of(entity)]
        values = self.new_values(data, entity, of_key=True)
        after = _changed(before, values)
        if self._has_what_goes_along(entity, after):
            with pytest.raises(DataError):
                self.store.run(move(entity, **values))
        elif self.carry_out([(before, after)], lambda: self.store.run(move(entity, **values))):
            self.adopt(key_of(after))

    def _has_what_goes_along(self, entity: Entity, after: Entity) -> bool:
        """Whether it may have children that are deleted with it, which a move would leave behind."""
        return any(
            parent.entity is type(entity)
            and parent.on_delete == "cascade"
            and any(getattr(entity, name) != getattr(after, name) for name in parent.fields)
            for kind in self.store.design.entities
            for parent in kind.spec.parents
        )

    @precondition(lambda self: any(key[0] not in self.play.fixed for key in self.plain.live))
    @rule(data=st.data())
    def delete(self, data: st.DataObject) -> None:
        entity = self.some(data)
        self.carry_out([(self.plain.live[key_of(entity)], None)], lambda: self.store.run(delete(entity)))

    @precondition(lambda self: any("version" in key[0].spec.by_kind for key in self.old))
    @rule(data=st.data())
    def use_an_old_copy(self, data: st.DataObject) -> None:
        versioned = [key for key in self.old if "version" in key[0].spec.by_kind]
        key = data.draw(st.sampled_from(versioned), "old copy")
        entity = self.old.pop(key)
        as_read = entity.model_copy(deep=True)
        there = self.plain.live.get(key)
        after = None
        if self._changeable(entity) and data.draw(st.booleans(), "update"):
            values = self.new_values(data, entity, of_key=False)
            for name, value in values.items():
                setattr(entity, name, value)
            if not _differ(as_read, entity):
                return
            after = _changed(there or as_read, values)
        write: Any = delete(entity) if after is None else update(entity)
        if there is None or _differ(as_read, there):
            with pytest.raises((Refused, InvalidValue)):
                self.store.run(write)
        elif self.carry_out([(there, after)], lambda: self.store.run(write)) and after is not None:
            self.adopt(key)

    # Reads

    @rule(data=st.data())
    def read(self, data: st.DataObject) -> None:
        name = data.draw(st.sampled_from(sorted(self.store.design.patterns)), "pattern")
        pattern = self.store.design.patterns[name]
        arguments = data.draw(self.play.arguments(pattern._build), "arguments")
        op: Any = getattr(self.store.design, name)(**arguments)
        expected = answer(op, self.plain.entities())
        if not isinstance(op, Query | Merge | Follow | Scan):
            found: Any = self.store.run(op)
            many = isinstance(found, list)
            assert (list(map(shown, found)) if many else _plain(found)) == (
                list(map(shown, expected)) if many else _plain(expected)
            )
            return
        items = list(_pages(self.store, op.limit(2)))
        assert in_any_order(items) == in_any_order(expected)
        if isinstance(op, Query):
            assert [order_of(op, each) for each in items] == [order_of(op, each) for each in expected]
        if isinstance(op, Merge):
            assert [op.order(each) for each in items] == [op.order(each) for each in expected]

    @invariant()
    def everything_agrees(self) -> None:
        assert [str(finding) for finding in self.store.verify()] == []
        found = [each for kind in self.store.design.entities for each in self.store.each(scan(kind).limit(1000))]
        expected = self.plain.entities().values()
        assert in_any_order(found) == in_any_order(expected)


def _clause(name: str, before: Any, drawn: Any) -> tuple[Callable[[Any], Clause], Any]:
    """A clause for a field, made of a value for it, and the value that the field has then."""
    if type(before) is int and type(drawn) is int:
        return lambda one: at(getattr(one, name)).add(drawn), before + drawn
    if isinstance(before, list) and isinstance(drawn, list) and drawn:
        return lambda one: at(getattr(one, name)).append(*drawn), [*before, *drawn]
    if isinstance(before, set | frozenset) and drawn:
        return lambda one: at(getattr(one, name)).add(*drawn), before | drawn
    return lambda one: at(getattr(one, name)).set(drawn), drawn


def _got(result: Any, name: str) -> object:
    return getattr(result, name) if isinstance(result, Entity) else result.get(lambda one: getattr(one, name))


def _plain(value: object) -> object:
    return shown(value) if isinstance(value, Entity) else value


def _version(entity: Entity, version: int) -> Entity:
    field = entity.spec.by_kind.get("version")
    return entity.model_copy(update={field.name: version} if field else {}, deep=True)


def _differ(one: Entity, other: Entity) -> bool:
    """Whether fields differ that the store doesn't set."""
    kept = {each.name for each in one.spec.fields.values() if each.kind in ("count", "updated")}
    return one.model_dump(exclude=kept) != other.model_dump(exclude=kept)


def _over_limit(entity: Entity) -> bool:
    return any(entity.spec.limits.broken(entity.__dict__))


def _changed(before: Entity, values: dict[str, Any]) -> Entity:
    """The entity with other values, and with the next version where that makes a difference."""
    after = type(before).model_validate({**before.__dict__, **values})
    field = before.spec.by_kind.get("version")
    if field is None or not _differ(before, after):
        return after
    return _version(after, getattr(before, field.name) + 1)


def _pages(store: Store[Any], op: Any) -> Iterator[Any]:
    while True:
        page: Page[Any] = store.run(op)
        yield from page.items
        if page.next is None:
            return
        op = op.after(page.next)


@pytest.mark.parametrize("name", PLAYS)
def test_design(name: str) -> None:
    machine = type(f"Playing{name}", (Playing,), {"play": PLAYS[name]})
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=80 if LONG else 20,
            stateful_step_count=80 if LONG else 40,
            derandomize=not LONG,
            deadline=None,
            phases=PHASES,
            suppress_health_check=list(HealthCheck),
        ),
    )
