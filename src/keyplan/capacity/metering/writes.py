"""Meters the writes of a design: each is run once, on the example of its entity."""

from collections.abc import Callable, Collection
from typing import Any

from keyplan.capacity.changes import changeable, other_value
from keyplan.capacity.metering.model import Metered, WriteName
from keyplan.capacity.metering.patterns import METERING_ERRORS
from keyplan.capacity.metering.sandbox import NUMBER, Sandbox
from keyplan.capacity.traffic.model import WriteKind
from keyplan.data import DataError, WriteOp, create, delete, patch, put, update, upsert
from keyplan.design import Entity, ref
from keyplan.design.examples.fields import refs_of

_NEW = 700
"""The number of an example that doesn't exist yet."""
_ROOM = 10_000
"""How far above its floor a number is while deletes are metered."""


class Unchangeable(DataError):
    """An entity without a field that an update could change."""

    code = "unchangeable"


class WriteMeter:
    """Meters the writes of a design in a sandbox, and collects why some couldn't be metered."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox
        self.metered: dict[WriteName, Metered] = {}
        self.failures: dict[str, str] = {}

    def meter(self, entity: type[Entity], kind: WriteKind, changes: Collection[str] = ()) -> Metered | None:
        """What a write consumes; None if it can't be metered."""
        name = entity.__name__
        if kind == "create" and name in self._sandbox.created:
            self.metered[name, kind] = self._sandbox.created[name]
        else:
            self._try(entity, kind, lambda: self._operation(entity, kind, changes))
        return self.metered.get((name, kind))

    def meter_refused_deletes(self) -> None:
        """Meter the deletes that were refused because others referred to the item: when those have been deleted."""
        for item in reversed(self._sandbox.order):
            name = type(item).__name__
            try:
                found = self._sandbox.read(item)
                if found is None:  # it went with an item that it belonged to
                    continue
                self._sandbox.client.begin()
                self._sandbox.store.run(delete(found))
            except METERING_ERRORS as error:
                if f"{name}.delete" in self.failures:
                    self.failures[f"{name}.delete"] = str(error)
                continue
            if self.failures.pop(f"{name}.delete", None) is not None:
                self.metered[name, "delete"] = self._sandbox.client.metered()

    def _try(self, entity: type[Entity], kind: WriteKind, operation: Callable[[], WriteOp[Any]]) -> None:
        client = self._sandbox.client
        try:
            op = operation()
            client.begin()
            self._sandbox.store.run(op)
            self.metered[entity.__name__, kind] = client.metered()
        except METERING_ERRORS as error:
            self.failures[f"{entity.__name__}.{kind}"] = str(error)
        finally:
            self._sandbox.restore()

    def _operation(self, entity: type[Entity], kind: WriteKind, changes: Collection[str]) -> WriteOp[Any]:
        base = self._sandbox.base(entity)
        if kind == "create":
            return create(self._sandbox.another(entity, _NEW))
        self._make_room(base)
        if kind == "put":
            values = self._changed(base, changes) if changeable(entity) else {}  # the same item isn't written again
            return put(base.model_copy(update=values))
        if kind in ("patch", "upsert"):
            values = self._changed(base, changes)
            if kind == "upsert":  # which may have to create the item, so it gives what has no default
                return upsert(ref(entity, **base.key_values), **(_required(base) | values))
            return patch(ref(entity, **base.key_values), **values)
        found = self._sandbox.read(base)
        if found is None:
            raise Unchangeable(f"there is no example of {entity.__name__} in the tables")
        if kind == "delete":
            return delete(found)
        for name, value in self._changed(found, changes).items():
            setattr(found, name, value)
        return update(found)

    def _changed(self, item: Entity, changes: Collection[str]) -> dict[str, Any]:
        """New values for the fields that are said to change, or for one, if possible one that is in no key."""
        entity = type(item)
        if changes:
            values = {name: self._other(item, name) for name in changes}
            missing = [name for name, value in values.items() if value is None]
            if missing:
                raise Unchangeable(f"no other example value is known for {', '.join(missing)} of {entity.__name__}")
            return values
        for name in changeable(entity):
            if (value := self._other(item, name)) is not None:
                return {name: value}
        raise Unchangeable(f"{entity.__name__} has no field that can be changed")

    def _other(self, item: Entity, name: str) -> object:
        """A value that a field doesn't have yet; None if none is known."""
        return other_value(item, name, [self._sandbox.another(type(item), NUMBER + more) for more in (1, 2)])

    def _make_room(self, item: Entity) -> None:
        """Let the numbers that an item counts in be so high that a write of it doesn't reach their floor."""
        for counter in item.spec.counters:
            for each in refs_of(counter.target, item):
                target = self._sandbox.read(self._sandbox.base(each.entity).model_copy(update=dict(each.values)))
                if counter.floor is not None and target is not None:
                    self._sandbox.place([target.model_copy(update={counter.field: counter.floor + _ROOM})])


def _required(item: Entity) -> dict[str, Any]:
    """The values without which the item couldn't be created by its key."""
    return {
        name: item.__dict__[name]
        for name, info in type(item).declared_fields.items()
        if info.is_required() and name not in item.key_values and item.spec.fields[name].kind in ("plain", "ttl")
    }
