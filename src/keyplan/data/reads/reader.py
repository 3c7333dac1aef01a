"""The steps of each read operation."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any

from keyplan.data.codec.entities import DELETING, codec_of
from keyplan.data.codec.sizes import LONGEST_HASH, LONGEST_RANGE, checked_key
from keyplan.data.codec.values import Item
from keyplan.data.expressions.conditions import item_exists
from keyplan.data.expressions.evaluation import holds
from keyplan.data.expressions.texts import Expression
from keyplan.data.reads.batch_get import batch_get
from keyplan.data.reads.large import load
from keyplan.data.reads.lists import ListReader
from keyplan.data.relations import Relations
from keyplan.data.steps import Steps, call
from keyplan.design import Design, InvalidValue, Op, Page, Ref, Table
from keyplan.design.effects import Guard
from keyplan.design.operations import (
    PAGE,
    BatchGet,
    Exists,
    Follow,
    Get,
    GuardTaken,
    ItemCount,
    Lookup,
    Merge,
    Query,
    Scan,
    Together,
)
from keyplan.design.templates import Template

LOOKS = 3
"""How often a lookup follows the same guard or mirror before it reports that the item doesn't exist."""


class Reader:
    """Reads the items of one design."""

    def __init__(self, design: Design, relations: Relations, secret: bytes | None) -> None:
        self._design = design
        self.lists = ListReader(design, relations, secret)

    def run(self, op: Op[Any]) -> Steps[Any]:
        """The steps of an operation."""
        match op:
            case Get():
                return self.get(op)
            case Exists():
                return self._exists(op)
            case Lookup():
                return self._lookup(op)
            case GuardTaken():
                return self._taken(op)
            case Query() | Scan():
                return self.lists.page(op)
            case Follow():
                return self._follow(op)
            case Merge():
                return self.lists.merge(op)
            case BatchGet():
                return self._batch_get(op)
            case Together():
                return self._together(op)
            case ItemCount():
                return self.lists.count(op)
        raise TypeError(f"{op!r} isn't a read operation")

    # One item

    def get(self, op: Get[Any]) -> Steps[Any]:
        codec = codec_of(op.entity)
        request: dict[str, Any] = {
            "TableName": self._design.table_name(op.entity.spec.table),
            "Key": codec.key(op.values),
        }
        if op.consistent:
            request["ConsistentRead"] = True
        answer = yield from call("get_item", request)
        item = answer.get("Item")
        if item is None or DELETING in item or not codec.recognizes(item):
            return None
        entity = codec.decode(item)
        return (yield from load(self._design, entity)) if codec.spec.large else entity

    def stored(self, named: Ref[Any]) -> Steps[Item | None]:
        """The stored item, read consistently, even if it is being deleted."""
        return (yield from self.stored_at(named.entity.spec.table, codec_of(named.entity).key(named.values)))

    def stored_at(self, table: Table, key: Item) -> Steps[Item | None]:
        """The item with this key, read consistently."""
        request = {"TableName": self._design.table_name(table), "Key": key, "ConsistentRead": True}
        answer = yield from call("get_item", request)
        item: Item | None = answer.get("Item")
        return item

    def _exists(self, op: Exists) -> Steps[bool]:
        spec = op.entity.spec
        type_name = (spec.table.type_attribute or "",) if spec.identified_by_type else ()
        expression = Expression()
        projection = ", ".join(expression.name(name) for name in (*spec.table.key_names, *type_name, DELETING))
        request = {
            "TableName": self._design.table_name(spec.table),
            "Key": codec_of(op.entity).key(op.values),
            "ProjectionExpression": projection,
        }
        answer = yield from call("get_item", request | expression.parameters())
        item: Item | None = answer.get("Item")
        return item is not None and DELETING not in item and holds(item_exists(spec), item)

    def _guard_item(
        self, guard: Guard[Any], values: Mapping[str, object], *, consistent: bool = False
    ) -> Steps[Item | None]:
        unique = guard.unique
        key: Item = {unique.table.hash[0].name: {"S": _guard_text(unique.hash, values, LONGEST_HASH)}}
        if unique.range is not None:
            key[unique.table.range[0].name] = {"S": _guard_text(unique.range, values, LONGEST_RANGE)}
        request: dict[str, Any] = {"TableName": self._design.table_name(unique.table), "Key": key}
        if consistent:
            request["ConsistentRead"] = True
        answer = yield from call("get_item", request)
        item: Item | None = answer.get("Item")
        return item

    def _lookup(self, op: Lookup[Any]) -> Steps[Any]:
        values = yield from self._led_to(op)
        looks = 0
        while values is not None and looks < LOOKS:
            entity = yield from self.get(Get(op.way.entity, values, op.consistent))
            if entity is not None:
                return entity
            # It may have moved in the meantime: then the guard or mirror leads elsewhere now.
            before, values = values, (yield from self._led_to(replace(op, consistent=True)))
            looks = looks + 1 if values == before else 0
        return None

    def _led_to(self, op: Lookup[Any]) -> Steps[dict[str, object] | None]:
        """The key in a guard or a mirror."""
        codec = codec_of(op.way.entity)
        if isinstance(op.way, Guard):
            item = yield from self._guard_item(op.way, op.values, consistent=op.consistent)
            found = None if item is None else dict(op.values) | codec.decode_fields(op.way.unique.carries, item)
        else:
            copy = yield from self.get(Get(op.way.derived.entities[0], op.values, op.consistent))
            found = None if copy is None else dict(copy.__dict__)
        return None if found is None else {name: found[name] for name in codec.spec.primary.fields}

    def _taken(self, op: GuardTaken) -> Steps[bool]:
        item = yield from self._guard_item(op.guard, op.values)
        return item is not None

    # Several sources

    def _follow(self, op: Follow[Any]) -> Steps[Page[Any]]:
        """A page of what the source's items point to. If targets are missing, more is read, within the budget."""
        source = replace(op.source, pattern=op.pattern, arguments=op.arguments)
        size = PAGE if source.size is None else source.size
        found: list[Any] = []
        read = 0
        while True:
            page = yield from self.lists.page(source.limit(size - len(found)))
            refs = [op.link(entity) for entity in page.items]
            targets = yield from self._items([named for named in refs if named is not None])
            found += [entity for entity in targets if entity is not None]
            read += len(page.items)
            if len(found) == size or page.next is None or not page.items or read >= source.budget:
                return Page(found, page.next)
            source = source.after(page.next)

    def _batch_get(self, op: BatchGet[Any]) -> Steps[list[Any]]:
        (found,) = yield from self._together(Together((op,)))
        return found

    def _together(self, op: Together[Any]) -> Steps[tuple[list[Any], ...]]:
        refs = [_refs(each) for each in op.gets]
        consistent = {self._design.table_name(each.entity.spec.table) for each in op.gets if each.consistent}
        items = iter((yield from self._items([named for each in refs for named in each], consistent)))
        return tuple([next(items) for _ in each] for each in refs)

    def _items(self, refs: list[Ref[Any]], consistent: Collection[str] = ()) -> Steps[list[Any]]:
        """Entities by their keys, in order; None for those that don't exist."""
        keys = [(self._design.table_name(n.entity.spec.table), codec_of(n.entity).key(n.values)) for n in refs]
        items = yield from batch_get(keys, consistent=consistent)
        return [_decoded(named, item) for named, item in zip(refs, items, strict=True)]


def _refs(op: BatchGet[Any]) -> list[Ref[Any]]:
    assert isinstance(op.keys, Iterable)
    fields = op.entity.spec.primary.fields
    return [Ref(op.entity, each if isinstance(each, Mapping) else {fields[0]: each}) for each in op.keys]


def _decoded(named: Ref[Any], item: Item | None) -> Any:  # noqa: ANN401 - of whatever entity was asked for
    codec = codec_of(named.entity)
    return codec.decode(item) if item is not None and DELETING not in item and codec.recognizes(item) else None


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
