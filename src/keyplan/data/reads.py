"""Carrying out reads: each operation as steps."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from keyplan.data.codec import Item
from keyplan.data.errors import Throttled
from keyplan.data.expressions import Expression
from keyplan.data.items import LONGEST_HASH, LONGEST_RANGE, checked_key, codec_of
from keyplan.data.pages import Pages
from keyplan.data.plan import DELETING
from keyplan.data.steps import RETRIES, Steps, Wait, call, pause
from keyplan.design import Design, Entity, InvalidValue, Op, Page, Ref, Table
from keyplan.design.effects import Guard
from keyplan.design.operations import BatchGet, Count, Exists, Follow, Get, GuardTaken, Lookup, Merge, Query, Scan
from keyplan.design.templates import Template

E = TypeVar("E", bound=Entity)

BATCH = 100


class Reader:
    """Works out reads for one design."""

    def __init__(self, design: Design, secret: bytes | None) -> None:
        self._design = design
        self.pages = Pages(design, secret)

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
                return self.pages.page(op)
            case Follow():
                return self._follow(op)
            case Merge():
                return self.pages.merge(op)
            case BatchGet():
                return self._batch_get(op)
            case Count():
                return self.pages.count(op)
        raise TypeError(f"{op!r} is no operation to read with")

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
        if item is None or DELETING in item or not codec.recognises(item):
            return None
        return codec.decode(item)

    def stored(self, named: Ref[Any]) -> Steps[Item | None]:
        """The stored item, as it is now and whatever is being done to it."""
        return (yield from self.stored_at(named.entity.spec.table, codec_of(named.entity).key(named.values)))

    def stored_at(self, table: Table, key: Item) -> Steps[Item | None]:
        """The item with this key, as it is now."""
        request = {"TableName": self._design.table_name(table), "Key": key, "ConsistentRead": True}
        answer = yield from call("get_item", request)
        item: Item | None = answer.get("Item")
        return item

    def _exists(self, op: Exists) -> Steps[bool]:
        names = [attribute.name for attribute in op.entity.spec.table.hash + op.entity.spec.table.range]
        expression = Expression()
        projection = ", ".join(expression.name(name) for name in (*names, DELETING))
        request = {
            "TableName": self._design.table_name(op.entity.spec.table),
            "Key": codec_of(op.entity).key(op.values),
            "ProjectionExpression": projection,
        }
        answer = yield from call("get_item", request | expression.parameters())
        return "Item" in answer and DELETING not in answer["Item"]

    def _guard_item(self, guard: Guard[Any], values: Mapping[str, object]) -> Steps[Item | None]:
        unique = guard.unique
        key: Item = {unique.table.hash[0].name: {"S": _guard_text(unique.hash, values, LONGEST_HASH)}}
        if unique.range is not None:
            key[unique.table.range[0].name] = {"S": _guard_text(unique.range, values, LONGEST_RANGE)}
        answer = yield from call("get_item", {"TableName": self._design.table_name(unique.table), "Key": key})
        item: Item | None = answer.get("Item")
        return item

    def _lookup(self, op: Lookup[Any]) -> Steps[Any]:
        item = yield from self._guard_item(op.guard, op.values)
        if item is None:
            return None
        codec = codec_of(op.guard.entity)
        values = dict(op.values) | codec.carried(op.guard.unique.carries, item)
        primary = {name: values[name] for name in codec.spec.primary.fields}
        return (yield from self.get(Get(op.guard.entity, primary)))

    def _taken(self, op: GuardTaken) -> Steps[bool]:
        item = yield from self._guard_item(op.guard, op.values)
        return item is not None

    # Several sources

    def _follow(self, op: Follow[Any]) -> Steps[Page[Any]]:
        source = replace(op.source, pattern=op.pattern, arguments=op.arguments)
        page = yield from self.pages.page(source)
        refs = [op.link(entity) for entity in page.items]
        found = yield from self._items([named for named in refs if named is not None])
        return Page([entity for entity in found if entity is not None], page.next)

    def _batch_get(self, op: BatchGet[Any]) -> Steps[list[Any]]:
        assert isinstance(op.keys, Iterable)
        fields = op.entity.spec.primary.fields
        keys = [each if isinstance(each, Mapping) else {fields[0]: each} for each in op.keys]
        return (yield from self._items([Ref(op.entity, key) for key in keys], consistent=op.consistent))

    def _items(self, refs: list[Ref[Any]], *, consistent: bool = False) -> Steps[list[Any]]:
        """Many items by their keys, in order, each asked for once, 100 at a time, until all are answered."""
        wanted: dict[tuple[str, str], tuple[Ref[Any], Item]] = {}
        places: list[tuple[str, str]] = []
        for named in refs:
            key = codec_of(named.entity).key(named.values)
            place = (self._design.table_name(named.entity.spec.table), repr(key))
            places.append(place)
            wanted.setdefault(place, (named, key))
        found: dict[tuple[str, str], Any] = {}
        pending = [(table, key) for (table, _), (_, key) in wanted.items()]
        attempt = 0
        while pending:
            chunk, pending = pending[:BATCH], pending[BATCH:]
            left = yield from self._chunk(chunk, found, consistent)
            pending += left
            attempt = 0 if len(left) < len(chunk) else attempt + 1
            if attempt > RETRIES:
                raise Throttled("batch_get_item", "UnprocessedKeys", f"{len(left)} keys are still not answered")
            if left:
                yield Wait(pause(attempt))
        return [self._decoded(wanted[place][0], found.get(place)) for place in places]

    def _chunk(
        self, chunk: list[tuple[str, Item]], found: dict[tuple[str, str], Any], consistent: bool
    ) -> Steps[list[tuple[str, Item]]]:
        tables: dict[str, Any] = {}
        for table, key in chunk:
            tables.setdefault(table, {"Keys": [], **({"ConsistentRead": True} if consistent else {})})["Keys"].append(
                key
            )
        answer = yield from call("batch_get_item", {"RequestItems": tables})
        names = {table: tuple(keys["Keys"][0]) for table, keys in tables.items()}
        for table, items in answer["Responses"].items():
            for item in items:
                found[table, repr({name: item[name] for name in names[table]})] = item
        return [(table, key) for table, keys in answer.get("UnprocessedKeys", {}).items() for key in keys["Keys"]]

    def _decoded(self, named: Ref[Any], item: Item | None) -> Any:  # noqa: ANN401 - of whatever entity was asked for
        codec = codec_of(named.entity)
        return codec.decode(item) if item is not None and DELETING not in item and codec.recognises(item) else None


def _guard_text(template: Template, values: Mapping[str, object], limit: int) -> str:
    text = template.write(values)
    if text is None:
        missing = next(name for name in template.fields if values.get(name) is None)
        raise InvalidValue("empty-key-value", f"{template.place}.{missing}", "the value is missing", field=missing)
    return checked_key(text, limit, template)
