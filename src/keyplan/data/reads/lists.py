"""Lists: pages of queries and scans, merged queries, and counts."""

import secrets
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, NamedTuple, TypeAlias

from keyplan.data.codec.entities import DELETING, EntityCodec, codec_of, recognize, stored_item
from keyplan.data.codec.large import CONTENT
from keyplan.data.codec.values import Item
from keyplan.data.errors import BadCursor
from keyplan.data.expressions.conditions import all_of, attribute_not_exists, stored_condition
from keyplan.data.expressions.texts import Expression
from keyplan.data.reads.batch_get import batch_get
from keyplan.data.reads.cursors import FROZEN, Cursors, position_of
from keyplan.data.reads.key_conditions import key_condition, may_hold_others
from keyplan.data.reads.partitions import is_spread, read_partitions, stages
from keyplan.data.relations import Relations
from keyplan.data.steps import ClientFailure, Steps, call
from keyplan.design import HOUSEKEEPING, Design, Entity, InvalidValue, Page, Table
from keyplan.design.operations import PAGE, Follow, ItemCount, Merge, Query, Scan

SECRETS = "SECRET"

Source: TypeAlias = Query[Any] | Scan[Any]


class ListRequest(NamedTuple):
    """The request for a list, the attributes of its positions, and a sort key to leave out of the answer."""

    operation: str
    request: dict[str, Any]
    names: tuple[str, ...]
    excluded: tuple[str, Any] | None


@dataclass
class _Stream:
    """One of the queries of a merged list: what was read, and how far."""

    query: Query[Any]
    position: Any
    """After the last item that was taken; None at the start, "end" at the end."""
    after: Item | None
    """Where to continue reading; None if everything was read."""
    waiting: deque[Any] = field(default_factory=deque)
    begun: bool = False

    @property
    def unread(self) -> bool:
        return self.position != "end" and (not self.begun or self.after is not None)


class ListReader:
    """Reads the lists of one design."""

    def __init__(self, design: Design, relations: Relations, secret: bytes | None) -> None:
        self._design = design
        self._relations = relations
        self._known_cursors = None if secret is None else Cursors(secret)

    # Cursors

    def cursors(self) -> Steps[Cursors]:
        """Cursors with the given secret, or with the one in the design's housekeeping table."""
        if self._known_cursors is None:
            self._known_cursors = Cursors((yield from self._kept_secret()))
        return self._known_cursors

    def _kept_secret(self) -> Steps[bytes]:
        """The secret that all processes on these tables share; the first that needs it creates it."""
        table = self._design.table_name(HOUSEKEEPING)
        key: Item = {"pk": {"S": SECRETS}, "sk": {"S": "cursors"}}
        while True:
            answer = yield from call("get_item", {"TableName": table, "Key": key, "ConsistentRead": True})
            if "Item" in answer:
                return bytes(answer["Item"]["secret"]["B"])
            item = {**key, "secret": {"B": secrets.token_bytes(32)}}
            try:
                yield from call(
                    "put_item", {"TableName": table, "Item": item, "ConditionExpression": "attribute_not_exists(pk)"}
                )
            except ClientFailure as failure:
                if failure.code != "ConditionalCheckFailedException":
                    raise

    def _open(self, op: Source | Merge[Any]) -> Steps[tuple[Any, Any]]:
        """The position in the operation's cursor, and the operation with the `now` of its first page."""
        assert op.cursor is not None
        cursors = yield from self.cursors()
        position, moment = cursors.open(self._subject(op), _arguments(op), op.cursor)
        return position, self._frozen(op, moment)

    def _seal(self, op: Source | Merge[Any], position: object) -> Steps[str]:
        cursors = yield from self.cursors()
        return cursors.seal(self._subject(op), _arguments(op), position)

    def _subject(self, op: Source | Merge[Any]) -> str:
        return f"{type(self._design).__name__}.{op.pattern or _name(op)}"

    def _frozen(self, op: Source | Merge[Any], moment: datetime | None) -> Source | Merge[Any]:
        """The operation with the `now` of its first page."""
        if moment is None or op.pattern is None or FROZEN not in op.arguments:
            return op
        built: Callable[..., Any] = getattr(self._design, op.pattern)
        first: Any = built(**{**op.arguments, FROZEN: moment})
        source = first.source if isinstance(first, Follow) else first
        kept = {"size": op.size, "cursor": op.cursor, "pattern": op.pattern, "arguments": first.arguments}
        frozen: Source | Merge[Any] = replace(source, **kept)
        return frozen

    # One source

    def page(self, op: Source) -> Steps[Page[Any]]:
        size = _size(op)
        start = None
        if op.cursor is not None:
            start, op = yield from self._open(op)
        items, position = yield from self.read(op, start, size)
        after = None if position is None else (yield from self._seal(op, position))
        return Page(items, after)

    def read(self, op: Source, start: Item | None, size: int) -> Steps[tuple[list[Any], Item | None]]:
        """Up to `size` entities, and where to continue; None at the end.

        If the filter, the entity or a bound leaves items out, more are read, until the budget is used up.
        """
        if isinstance(op, Query) and is_spread(op):
            return (yield from read_partitions(self.read, op, start, size, position_names(op)))
        operation, request, names, excluded = self.request(op)
        entities = op.entities if isinstance(op, Query) else (op.entity,)
        codecs = [codec_of(entity) for entity in entities]
        in_part = isinstance(op, Query) and self._holds_only_part(op)
        budget = op.budget if op.filter is not None else max(op.budget, size)
        found: list[Any] = []
        read = 0
        while True:
            reach = _reach(size - len(found), read, len(found), filtered=op.filter is not None)
            request["Limit"] = min(reach, budget - read)
            if start is not None:
                request["ExclusiveStartKey"] = start
            answer = yield from call(operation, dict(request))
            read += answer["ScannedCount"]
            start = answer.get("LastEvaluatedKey")
            items = answer["Items"]
            if in_part and items:
                items = yield from self._whole(entities[0].spec.table, items, names)
            found += _taken(codecs, items, excluded, size - len(found))
            if len(found) == size:
                last = _read_as(found[-1])
                return found, None if start is None and last is items[-1] else position_of(last, names)
            if start is None or read >= budget:
                return found, start

    def _holds_only_part(self, op: Query[Any]) -> bool:
        """Whether the index lacks attributes of the items, even if only the mark of those that are being deleted."""
        if op.key.index is None or op.key.index.projection.type == "ALL":
            return False
        return any(self._relations.is_parent(each) or each.spec.not_in(op.key.index) for each in op.entities)

    def _whole(self, table: Table, items: Sequence[Item], names: Sequence[str]) -> Steps[list[Item]]:
        """The table's items for those of an index, without those whose index key has changed since."""
        name = self._design.table_name(table)
        keys = [(name, {each: item[each] for each in table.key_names}) for item in items]
        whole = yield from batch_get(keys)
        pairs = zip(items, whole, strict=True)
        return [full for item, full in pairs if full and all(full.get(name) == item[name] for name in names)]

    def request(self, op: Source) -> ListRequest:
        """The request for a page, without its limit."""
        spec = (op.entities[0] if isinstance(op, Query) else op.entity).spec
        table = spec.table
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
            if op.newest_first:
                request["ScanIndexForward"] = False
            if op.consistent:
                request["ConsistentRead"] = True
        filters = [] if op.filter is None else [stored_condition(op.filter, codec_of(spec.entity))]
        if isinstance(op, Scan) and table.has_parts:
            filters.append(attribute_not_exists(CONTENT))
        filtered = all_of(filters)
        if filtered is not None:
            request["FilterExpression"] = expression.condition(filtered)
        operation = "query" if isinstance(op, Query) else "scan"
        return ListRequest(operation, request | expression.parameters(), position_names(op), excluded)

    # Counts

    def count(self, op: ItemCount) -> Steps[int]:
        """The number of items, up to the query's limit; nothing is read beyond it."""
        source, most = op.source, op.source.size
        if most is not None:
            _size(source)
        if is_spread(source):
            return (yield from self._count_partitions(source, most))
        operation, request, names, excluded = self.request(source)
        alike = excluded is None and not may_hold_others(self._design, source)
        if not alike and self._holds_only_part(source):
            return (yield from self._count_loaded(source, most))
        if alike:
            request["Select"] = "COUNT"
        else:
            request = self._only_keys(source, request, names)
        total = read = 0
        while True:
            if most is not None:
                request["Limit"] = _reach(most - total, read, total, filtered=source.filter is not None)
            answer = yield from call(operation, dict(request))
            read += answer["ScannedCount"]
            if alike:
                total += int(answer["Count"])
            else:
                total += sum(
                    recognize(source.entities, item) is not None
                    and DELETING not in item
                    and not (excluded and item.get(excluded[0]) == excluded[1])
                    for item in answer["Items"]
                )
            if most is not None and total >= most:
                return most
            if "LastEvaluatedKey" not in answer:
                return total
            request["ExclusiveStartKey"] = answer["LastEvaluatedKey"]

    def _count_loaded(self, source: Query[Any], most: int | None) -> Steps[int]:
        """The count when only whole items tell which entity they are of."""
        total, start = 0, None
        while True:
            found, start = yield from self.read(source, start, PAGE if most is None else most - total)
            total += len(found)
            if start is None or total == most:
                return total

    def _count_partitions(self, source: Query[Any], most: int | None) -> Steps[int]:
        total = 0
        for query in (query for stage in stages(source) for query in stage):
            if most is None or total < most:
                left = query if most is None else query.limit(most - total)
                total += yield from self.count(ItemCount(left))
        return total

    def _only_keys(self, op: Query[Any], request: dict[str, Any], names: Sequence[str]) -> dict[str, Any]:
        """The request for only those attributes that tell which entity an item is of."""
        kind = op.entities[0].spec.table.type_attribute
        wanted = dict.fromkeys((*names, *((kind,) if kind else ()), DELETING))
        placeholders = {f"#k{number}": name for number, name in enumerate(wanted)}
        return {
            **request,
            "ProjectionExpression": ", ".join(placeholders),
            "ExpressionAttributeNames": {**request["ExpressionAttributeNames"], **placeholders},
        }

    # Several sources

    def merge(self, op: Merge[Any]) -> Steps[Page[Any]]:
        """The next items of all queries, in order. More of a query is read only when nothing of it is left."""
        size = _size(op)
        positions: list[Any] = [None] * len(op.queries)
        if op.cursor is not None:
            positions, op = yield from self._open(op)
            if len(positions) != len(op.queries):
                raise BadCursor("the cursor belongs to another list")
        streams = [
            _Stream(query, position, None if position == "end" else position)
            for query, position in zip(op.queries, positions, strict=True)
        ]
        taken: list[Any] = []
        while len(taken) < size:
            dry = yield from self._fill(streams, size - len(taken))
            if dry:
                break
            ready = [stream for stream in streams if stream.waiting]
            if not ready:
                break
            choose = max if op.newest_first else min
            chosen = choose(ready, key=lambda stream: op.order(stream.waiting[0]))  # type: ignore[arg-type, return-value]  # the caller's keys compare
            entity = chosen.waiting.popleft()
            chosen.position = position_of(_read_as(entity), position_names(chosen.query))
            taken.append(entity)
        ends = [_end(stream) for stream in streams]
        after = None if all(end == "end" for end in ends) else (yield from self._seal(op, ends))
        return Page(taken, after)

    def _fill(self, streams: Sequence[_Stream], wanted: int) -> Steps[bool]:
        """Read more of each query with no items waiting; returns whether one used up its budget and found none."""
        dry = False
        for stream in streams:
            if stream.unread and not stream.waiting:
                found, stream.after = yield from self.read(stream.query, stream.after, wanted)
                stream.begun = True
                stream.waiting.extend(found)
                dry = dry or (not found and stream.after is not None)
        return dry


def _read_as(entity: Entity) -> Item:
    """The item that an entity was just read from."""
    item = stored_item(entity)
    assert item is not None
    return item


def _taken(
    codecs: Sequence[EntityCodec[Any]], items: Sequence[Item], excluded: tuple[str, Any] | None, most: int
) -> list[Any]:
    """The first entities among the items, at most `most`."""
    if len(codecs) == 1 and excluded is None and len(items) <= most:
        entities = codecs[0].decode_all(items)
        if entities is not None:
            return entities
    found: list[Any] = []
    for item in items:
        if DELETING in item or (excluded and item.get(excluded[0]) == excluded[1]):
            continue
        for codec in codecs:
            if codec.recognizes(item):
                found.append(codec.decode(item))
                break
        if len(found) == most:
            break
    return found


def position_names(op: Source) -> tuple[str, ...]:
    """The attributes of a position in a list: the keys of the table and of the index."""
    index = op.key.index if isinstance(op, Query) else None
    names: tuple[str, ...] = (op.entities[0] if isinstance(op, Query) else op.entity).spec.table.key_names
    return names + tuple(a.name for a in index.attributes if a.name not in names) if index else names


def _end(stream: _Stream) -> object:
    """Where a query has got to: after the last item taken, or after all that was read if no item is waiting."""
    if stream.waiting or not stream.begun:
        return stream.position
    return "end" if stream.after is None else stream.after


def _reach(wanted: int, read: int, found: int, *, filtered: bool) -> int:
    """How many items to read to find as many as are still wanted.

    As many as wanted while nothing was left out; with a filter, twice as many at first. After that, twice what was
    read so far: this takes few requests, and reads at most a few times more than necessary.
    """
    if found == read:
        return 2 * wanted if filtered and not read else wanted
    return max(wanted, 2 * read)


def _size(op: Source | Merge[Any]) -> int:
    if op.size is None:
        return PAGE
    if op.size < 1:
        raise InvalidValue("page-size", op.pattern or _name(op), f"A limit must be 1 or more, not {op.size!r}.")
    return op.size


def _name(op: Source | Merge[Any]) -> str:
    match op:
        case Scan():
            return f"scan {op.entity.__name__}"
        case Merge():
            return "+".join(_name(query) for query in op.queries)
    return f"{'+'.join(entity.__name__ for entity in op.entities)}.{op.key.name}"


def _arguments(op: Source | Merge[Any]) -> Mapping[str, object]:
    """What a cursor is bound to besides the name: the pattern's arguments, or else all values of the operation."""
    if op.pattern is not None:
        return op.arguments
    match op:
        case Scan():
            return {"filter": op.filter}
        case Merge():
            return {str(number): sorted(_arguments(query).items()) for number, query in enumerate(op.queries)}
    return {"values": sorted(op.values.items()), "bound": op.bound, "filter": op.filter, "back": op.newest_first}
