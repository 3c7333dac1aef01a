"""Carrying out reads: each operation as steps."""

import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, TypeVar

from keyplan.data.codec import Item
from keyplan.data.cursors import FROZEN, Cursors, position_of
from keyplan.data.errors import BadCursor
from keyplan.data.expressions import Expression, all_of, for_fields
from keyplan.data.items import codec_of, recognise
from keyplan.data.plan import DELETING
from keyplan.data.ranges import key_condition
from keyplan.data.steps import ClientFailure, Steps, Wait, call, pause
from keyplan.design import Design, Entity, Op, Page, Ref, Table
from keyplan.design.effects import Guard
from keyplan.design.operations import BatchGet, Count, Exists, Follow, Get, GuardTaken, Lookup, Merge, Query, Scan

E = TypeVar("E", bound=Entity)

BATCH = 100
_SLACK = 25
"""A filtered page reads at least so many items at a time."""


class Reader:
    """Works out reads for one design."""

    def __init__(self, design: Design, secret: bytes | None) -> None:
        self._design = design
        self._known_cursors = None if secret is None else Cursors(secret)

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
                return self._page(op)
            case Follow():
                return self._follow(op)
            case Merge():
                return self._merge(op)
            case BatchGet():
                return self._batch_get(op)
            case Count():
                return self._count(op)
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
        text = unique.hash.write(values)
        assert text is not None
        key: Item = {unique.table.hash[0].name: {"S": text}}
        if unique.range is not None:
            range_text = unique.range.write(values)
            assert range_text is not None
            key[unique.table.range[0].name] = {"S": range_text}
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

    # Pages

    def _cursors(self) -> Steps[Cursors]:
        """Cursors with the secret that was given, or with the one that the design's housekeeping table keeps."""
        if self._known_cursors is None:
            self._known_cursors = Cursors((yield from self._kept_secret()))
        return self._known_cursors

    def _kept_secret(self) -> Steps[bytes]:
        """The secret that all processes on these tables share; the first that needs it makes it."""
        table = self._design.table_name(self._design.housekeeping)
        key: Item = {"pk": {"S": "SECRET"}, "sk": {"S": "cursors"}}
        while True:
            answer = yield from call("get_item", {"TableName": table, "Key": key, "ConsistentRead": True})
            if "Item" in answer:
                secret: bytes = answer["Item"]["secret"]["B"]
                return secret
            item = {**key, "secret": {"B": secrets.token_bytes(32)}}
            try:
                yield from call(
                    "put_item", {"TableName": table, "Item": item, "ConditionExpression": "attribute_not_exists(pk)"}
                )
            except ClientFailure as failure:
                if failure.code != "ConditionalCheckFailedException":
                    raise

    def _frozen(self, op: Query[Any] | Scan[Any], moment: datetime | None) -> Query[Any] | Scan[Any]:
        """A later page of a pattern is of the moment of its first one."""
        if moment is None or op.pattern is None or FROZEN not in op.arguments:
            return op
        built: Callable[..., Any] = getattr(self._design, op.pattern)
        first: Query[Any] | Scan[Any] | Follow[Any] = built(**{**op.arguments, FROZEN: moment})
        source = first.source if isinstance(first, Follow) else first
        return replace(source, pattern=op.pattern, arguments=first.arguments, size=op.size, budget=op.budget)

    def _page(self, op: Query[Any] | Scan[Any]) -> Steps[Page[Any]]:
        start = None
        if op.cursor is not None:
            cursors = yield from self._cursors()
            start, moment = cursors.open(_subject(op), _arguments(op), op.cursor)
            op = self._frozen(op, moment)
        items, position = yield from self.read(op, start, op.size)
        after = None
        if position is not None:
            cursors = yield from self._cursors()
            after = cursors.seal(_subject(op), _arguments(op), position)
        return Page([entity for entity, _ in items], after)

    def read(
        self, op: Query[Any] | Scan[Any], start: Item | None, size: int
    ) -> Steps[tuple[list[tuple[Any, Item]], Item | None]]:
        """Up to `size` entities with their positions, and where to go on; None at the end.

        What the filter, the entity's shape or a bound leaves out is made up for, until the budget is used up.
        """
        operation, request, names, excluded = self.request(op)
        entities = op.entities if isinstance(op, Query) else (op.entity,)
        found: list[tuple[Any, Item]] = []
        read = 0
        while True:
            wanted = size - len(found)
            request["Limit"] = min(max(wanted, _SLACK) if op.filter is not None else wanted, op.budget - read)
            if start is not None:
                request["ExclusiveStartKey"] = start
            answer = yield from call(operation, dict(request))
            read += answer["ScannedCount"]
            start = answer.get("LastEvaluatedKey")
            for item in answer["Items"]:
                codec = recognise(entities, item)
                if codec is None or DELETING in item or (excluded and item.get(excluded[0]) == excluded[1]):
                    continue
                position = position_of(item, names)
                found.append((codec.decode(item), position))
                if len(found) == size:
                    done = start is None and item is answer["Items"][-1]
                    return found, None if done else position
            if start is None or read >= op.budget:
                return found, start

    def request(
        self, op: Query[Any] | Scan[Any]
    ) -> tuple[str, dict[str, Any], tuple[str, ...], tuple[str, Any] | None]:
        """The request of a page, the attributes of its positions, and a sort key that it must leave out."""
        spec = (op.entities[0] if isinstance(op, Query) else op.entity).spec
        table = spec.table
        names = tuple(attribute.name for attribute in table.hash + table.range)
        request: dict[str, Any] = {"TableName": self._design.table_name(table)}
        expression = Expression()
        excluded = None
        if isinstance(op, Query):
            condition = key_condition(op)
            excluded = condition.excluded
            node = all_of(condition.nodes)
            assert node is not None
            request["KeyConditionExpression"] = expression.condition(node)
            if op.key.index is not None:
                request["IndexName"] = op.key.index.name
                names += tuple(a.name for a in op.key.index.attributes if a.name not in names)
            if op.newest_first:
                request["ScanIndexForward"] = False
            if op.consistent:
                request["ConsistentRead"] = True
        if op.filter is not None:
            request["FilterExpression"] = expression.condition(for_fields(op.filter, codec_of(spec.entity)))
        operation = "query" if isinstance(op, Query) else "scan"
        return operation, request | expression.parameters(), names, excluded

    def _count(self, op: Count) -> Steps[int]:
        operation, request, _, _ = self.request(op.source)
        request["Select"] = "COUNT"
        total = 0
        while True:
            answer = yield from call(operation, dict(request))
            total += int(answer["Count"])
            if "LastEvaluatedKey" not in answer:
                return total
            request["ExclusiveStartKey"] = answer["LastEvaluatedKey"]

    # Several sources

    def _follow(self, op: Follow[Any]) -> Steps[Page[Any]]:
        source = replace(op.source, pattern=op.pattern, arguments=op.arguments)
        page = yield from self._page(source)
        refs = [op.link(entity) for entity in page.items]
        found = yield from self._items([named for named in refs if named is not None])
        return Page([entity for entity in found if entity is not None], page.next)

    def _merge(self, op: Merge[Any]) -> Steps[Page[Any]]:
        positions: list[Any] = [None] * len(op.queries)
        subject, arguments = op.pattern or "merge", op.arguments or _arguments(op.queries[0])
        cursors = yield from self._cursors()
        if op.cursor is not None:
            positions, _ = cursors.open(subject, arguments, op.cursor)
            if len(positions) != len(op.queries):
                raise BadCursor("the cursor is not one of this list")
        waiting: list[tuple[Any, int, Item]] = []
        more = [False] * len(op.queries)
        for number, each in enumerate(op.queries):
            if positions[number] == "end":
                continue
            found, after = yield from self.read(each, positions[number], op.size)
            more[number] = after is not None
            waiting += [(entity, number, position) for entity, position in found]
            if not found and after is None:
                positions[number] = "end"
        waiting.sort(key=lambda entry: op.order(entry[0]), reverse=op.newest_first)  # type: ignore[arg-type, return-value]  # the caller's keys compare
        taken, left = waiting[: op.size], waiting[op.size :]
        for _, number, position in taken:
            positions[number] = position
        for number in range(len(positions)):
            if not more[number] and not any(entry[1] == number for entry in left):
                positions[number] = "end"
        over = all(position == "end" for position in positions)
        return Page([e for e, _, _ in taken], None if over else cursors.seal(subject, arguments, positions))

    def _batch_get(self, op: BatchGet[Any]) -> Steps[list[Any]]:
        assert isinstance(op.keys, Sequence)
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
            if left:
                yield Wait(pause(attempt))
                attempt += 1
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


def _subject(op: Query[Any] | Scan[Any]) -> str:
    if op.pattern is not None:
        return op.pattern
    if isinstance(op, Scan):
        return f"scan {op.entity.__name__}"
    return f"{'+'.join(entity.__name__ for entity in op.entities)}.{op.key.name}"


def _arguments(op: Query[Any] | Scan[Any]) -> Mapping[str, object]:
    if op.pattern is not None:
        return op.arguments
    if isinstance(op, Scan):
        return {"filter": op.filter}
    return {"values": sorted(op.values.items()), "bound": op.bound, "filter": op.filter, "back": op.newest_first}
