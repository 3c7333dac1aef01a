"""The steps of each read operation."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from keyplan.data.codec.entities import DELETING, codec_of
from keyplan.data.codec.sizes import LONGEST_HASH, LONGEST_RANGE, checked_key
from keyplan.data.codec.values import Item
from keyplan.data.expressions.conditions import item_exists
from keyplan.data.expressions.evaluation import holds
from keyplan.data.expressions.expiry import is_expired
from keyplan.data.reads.aggregates import built
from keyplan.data.reads.counting import count
from keyplan.data.reads.fetching import Wanted, fetch, projected, transact_get, wanted_by
from keyplan.data.reads.large import load
from keyplan.data.reads.list_requests import Clock, expires_by, needed
from keyplan.data.reads.lists import ListReader
from keyplan.data.reads.nearest import nearest
from keyplan.data.reads.taking import values_of
from keyplan.data.relations import Relations
from keyplan.data.steps import Steps, call
from keyplan.design import Design, Entity, InvalidValue, Op, Page, Ref, Table
from keyplan.design.entities.effects import Guard
from keyplan.design.keys.templates import Template
from keyplan.design.operations.item_collections import Aggregated
from keyplan.design.operations.item_reads import BatchGet, Exists, Get, GuardTaken, Lookup, Together, TransactGet
from keyplan.design.operations.nearest import Nearest
from keyplan.design.operations.queries import Follow, ItemCount, Merge, Query, Scan
from keyplan.design.operations.reading import PAGE, Unreadable

LOOKS = 3
"""How often a lookup follows the same guard or mirror before it reports that the item doesn't exist."""


class Reader:
    """Reads the items of one design."""

    def __init__(self, design: Design, relations: Relations, secret: bytes | None) -> None:
        self._design = design
        self._names = design.table_names
        self._relations = relations
        self.lists = ListReader(design, relations, secret)

    def run(self, op: Op[Any], clock: Clock) -> Steps[Any]:
        """The steps of an operation. Items that have expired by the clock are left out, unless it asks for them."""
        match op:
            case Get():
                return self.get(op, clock)
            case Exists():
                return self._exists(op, clock)
            case Lookup():
                return self._lookup(op, clock)
            case GuardTaken():
                return self._taken(op, clock)
            case Query() | Scan():
                return self.lists.page(op, clock)
            case Follow():
                return self._follow(op, clock)
            case Merge():
                return self.lists.merge(op, clock)
            case BatchGet():
                return self._batch_get(op, clock)
            case Together():
                return self._together(op, clock)
            case TransactGet(gets=gets):
                return transact_get(self._design, gets, clock)  # type: ignore[arg-type]  # `transact_get` takes gets only
            case Aggregated():
                return self._aggregate(op, clock)
            case Nearest():
                return nearest(self._design, op, clock)
            case ItemCount():
                return count(self.lists, op, clock)
        raise TypeError(f"{op!r} isn't a read operation")

    # One item

    def get(self, op: Get[Any], clock: Clock) -> Steps[Any]:
        if op.selection is not None:
            some = yield from self._stored_as(op)
            return Wanted(op.entity, op.values, op.selection, op.expired).result(some, clock)
        codec = codec_of(op.entity)
        request: dict[str, Any] = {"TableName": self._names[codec.spec.table.name], "Key": codec.key(op.values)}
        if op.consistent:
            request["ConsistentRead"] = True
        answer = yield from call("get_item", request)
        item = answer.get("Item")
        if item is None or DELETING in item or not codec.recognizes(item):
            return None
        if codec.ttl is None and not codec.spec.large:
            return codec.decode(item)
        expired = is_expired(codec.ttl, item, clock())
        if expired and not op.expired:
            return None
        entity = codec.decode(item)
        return (yield from load(self._design, entity, expired=expired)) if codec.spec.large else entity

    def stored(self, named: Ref[Any]) -> Steps[Item | None]:
        """The stored item, read consistently, even if it is being deleted."""
        return (yield from self.stored_at(named.entity.spec.table, codec_of(named.entity).key(named.values)))

    def stored_at(self, table: Table, key: Item) -> Steps[Item | None]:
        """The item with this key, read consistently."""
        request = {"TableName": self._design.table_name(table), "Key": key, "ConsistentRead": True}
        answer = yield from call("get_item", request)
        item: Item | None = answer.get("Item")
        return item

    def _exists(self, op: Exists, clock: Clock) -> Steps[bool]:
        spec, ttl = op.entity.spec, codec_of(op.entity).ttl
        request = {
            "TableName": self._design.table_name(spec.table),
            "Key": codec_of(op.entity).key(op.values),
            **projected(needed(op.entity)),
        }
        answer = yield from call("get_item", request)
        item: Item | None = answer.get("Item")
        if item is None or DELETING in item or not holds(item_exists(spec), item):
            return False
        return ttl is None or not is_expired(ttl, item, clock())

    def _guard_item(
        self, guard: Guard[Any], values: Mapping[str, object], clock: Clock | None, *, consistent: bool = False
    ) -> Steps[Item | None]:
        """The guard; with a clock, only while it hasn't expired."""
        unique = guard.unique
        key: Item = {unique.table.hash[0].name: {"S": _guard_text(unique.hash, values, LONGEST_HASH)}}
        if unique.range is not None:
            key[unique.table.range[0].name] = {"S": _guard_text(unique.range, values, LONGEST_RANGE)}
        request: dict[str, Any] = {"TableName": self._design.table_name(unique.table), "Key": key}
        if consistent:
            request["ConsistentRead"] = True
        answer = yield from call("get_item", request)
        item: Item | None = answer.get("Item")
        if item is not None and clock is not None and unique.table.ttl in item:
            return None if is_expired(unique.table.ttl, item, clock()) else item
        return item

    def _lookup(self, op: Lookup[Any], clock: Clock) -> Steps[Any]:
        values = yield from self._led_to(op, clock)
        codec, looks = codec_of(op.way.entity), 0
        while values is not None and looks < LOOKS:
            item = yield from self._stored_as(Get(op.way.entity, values, op.consistent, selection=op.selection))
            if item is not None and DELETING not in item and codec.recognizes(item):
                found = Wanted(op.way.entity, values, op.selection, op.expired).result(item, clock)
                if isinstance(found, Entity) and codec.spec.large:
                    expired = is_expired(codec.ttl, item, clock())
                    return (yield from load(self._design, found, expired=expired))
                return found
            # It may have moved in the meantime: then the guard or mirror leads elsewhere now.
            before, values = values, (yield from self._led_to(replace(op, consistent=True), clock))
            looks = looks + 1 if values == before else 0
        return None

    def _stored_as(self, op: Get[Any]) -> Steps[Item | None]:
        """The stored item, or the attributes of it that the operation needs."""
        wanted = Wanted(op.entity, op.values, op.selection)
        request: dict[str, Any] = {"TableName": self._design.table_name(op.entity.spec.table), "Key": wanted.key}
        if op.consistent:
            request["ConsistentRead"] = True
        if wanted.attributes is not None:
            request |= projected(wanted.attributes)
        answer = yield from call("get_item", request)
        item: Item | None = answer.get("Item")
        return item

    def _led_to(self, op: Lookup[Any], clock: Clock) -> Steps[dict[str, object] | None]:
        """The key in a guard or a mirror."""
        codec = codec_of(op.way.entity)
        if isinstance(op.way, Guard):
            item = yield from self._guard_item(
                op.way, op.values, None if op.expired else clock, consistent=op.consistent
            )
            holder = None if item is None else self.holder(op.way, op.values, item)
            return None if holder is None else dict(holder.values)
        mirror = op.way.derived.entities[0]
        copy = yield from self.get(Get(mirror, op.values, op.consistent, expired=op.expired), clock)
        return None if copy is None else {name: copy.__dict__[name] for name in codec.spec.primary.fields}

    def holder(self, guard: Guard[Any], values: Mapping[str, object], item: Item) -> Ref[Any] | None:
        """The item that a guard is of; None if the guard doesn't carry its primary key."""
        codec = codec_of(guard.entity)
        found = {**values, **codec.decode_fields(guard.unique.carries, item)}
        primary = codec.spec.primary.fields
        return Ref(guard.entity, {name: found[name] for name in primary}) if found.keys() >= set(primary) else None

    def _taken(self, op: GuardTaken, clock: Clock) -> Steps[bool]:
        item = yield from self._guard_item(op.guard, op.values, clock)
        if item is None:
            return False
        codec, holder = codec_of(op.guard.entity), self.holder(op.guard, op.values, item)
        if codec.ttl is None or op.guard.unique.table.ttl in item or holder is None:
            return True
        # The guard doesn't expire with its item, which a write would replace.
        stored = yield from self.stored(holder)
        if stored is None:
            return self._relations.guards_tell(holder.entity)
        return not is_expired(codec.ttl, stored, clock())

    # Several sources

    def _follow(self, op: Follow[Any], clock: Clock) -> Steps[Page[Any]]:
        """A page of what the source's items point to. If targets are missing, more is read, within the budget."""
        source = op.source if op.pattern is None else op.source.changed(pattern=op.pattern, arguments=op.arguments)
        size, choice = PAGE if source.size is None else source.size, source.unreadable
        if choice == "raw":
            source = source.changed(unreadable="skip")
        walk = _Walk(source.backward)
        while True:
            page = yield from self.lists.page(source.limit(size - len(walk.items)), clock)
            refs = [op.link(entity) for entity in page.items]
            wanted = [
                Wanted(named.entity, named.values, op.selection, source.expired, choice)
                for named in refs
                if named is not None
            ]
            targets = iter((yield from fetch(self._design, wanted, clock)))
            found = [None if named is None else next(targets) for named in refs]
            walk.add(page, found, skip=choice == "skip")
            if len(walk.items) == size or walk.end is None or not page.items or walk.read >= source.budget:
                return walk.page()
            source = source.before(walk.end) if source.backward else source.after(walk.end)

    def _together(self, op: Together[Any], clock: Clock) -> Steps[tuple[list[Any], ...]]:
        wanted = [wanted_by(each) for each in op.gets]
        consistent = {self._design.table_name(each.entity.spec.table) for each in op.gets if each.consistent}
        every = [each for group in wanted for each in group]
        results = iter((yield from fetch(self._design, every, clock, consistent)))
        return tuple([next(results) for _ in group] for group in wanted)

    def _batch_get(self, op: BatchGet[Any], clock: Clock) -> Steps[list[Any]]:
        (found,) = yield from self._together(Together((op,)), clock)
        return found

    def _aggregate(self, op: Aggregated[Any], clock: Clock) -> Steps[Any]:
        """All items of a partition, as an aggregate."""
        found: list[Any] = []
        skipped: list[Unreadable] = []
        source = op.source.changed(unreadable=op.unreadable, skipped=skipped)
        start: Item | None = None
        now = expires_by(source, clock)
        while True:
            more, start = yield from self.lists.read(source, start, source.budget, now)
            found += values_of(more)
            if start is None:
                return built(op.aggregate, found, skipped)


class _Walk:
    """What was found of a followed list so far, in the order of the list."""

    def __init__(self, backward: bool) -> None:
        self._backward = backward
        self.items: list[Any] = []
        self._cursors: list[str] = []
        self._unreadable: list[Unreadable] = []
        self.read = 0
        self._first: Page[Any] | None = None
        self._last: Page[Any] = Page([])

    def add(self, page: Page[Any], targets: Sequence[Any], *, skip: bool) -> None:
        """Add what a page of the source points to; with `skip`, what can't be read is only reported."""
        self._first = self._first or page
        self._last = page
        self.read += len(page.items)
        skipped = [target for target in targets if skip and isinstance(target, Unreadable)]
        unread = [*page.unreadable, *skipped]
        there = [n for n, target in enumerate(targets) if target is not None and target not in skipped]
        found = [targets[number] for number in there]
        cursors = [page.cursors[number] for number in there] if page.cursors else []
        self._unreadable = [*unread, *self._unreadable] if self._backward else [*self._unreadable, *unread]
        self.items = found + self.items if self._backward else self.items + found
        self._cursors = cursors + self._cursors if self._backward else self._cursors + cursors

    @property
    def end(self) -> str | None:
        """Where the list continues, in the direction of the walk."""
        return self._last.previous if self._backward else self._last.next

    def page(self) -> Page[Any]:
        """The page that was found."""
        first = self._first or self._last
        low, high = (self._last, first) if self._backward else (first, self._last)
        return Page(self.items, high.next, low.previous, self._cursors, self._unreadable)


def _guard_text(template: Template, values: Mapping[str, object], limit: int) -> str:
    text = template.write(values)
    if text is None:
        missing = next(name for name in template.fields if values.get(name) is None)
        raise InvalidValue(
            "empty-key-value",
            f"{template.place}.{missing}",
            "This value is part of the key, so it can't be absent.",
            field=missing,
        )
    return checked_key(text, limit, template)
