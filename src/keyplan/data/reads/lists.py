"""Lists: pages of queries and scans, and merged queries."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any

from keyplan.data.codec.entities import codec_of
from keyplan.data.codec.values import Item
from keyplan.data.errors import BadCursor
from keyplan.data.expressions.texts import Expression
from keyplan.data.reads.batch_get import batch_get
from keyplan.data.reads.cursors import position_of
from keyplan.data.reads.list_requests import (
    Clock,
    Source,
    entities_of,
    expires_by,
    index_of,
    list_request,
    needed,
    page_size,
    position_names,
    projection,
    reach,
)
from keyplan.data.reads.partitions import is_spread, read_partitions
from keyplan.data.reads.sealing import Sealer
from keyplan.data.reads.taking import Taker, item_of, partial_codec, restorer, take_entities, values_of
from keyplan.data.relations import Relations
from keyplan.data.steps import Steps, call, together
from keyplan.design import Design, Page
from keyplan.design.operations.queries import Merge, Query
from keyplan.design.operations.reading import Unreadable


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
        self.design = design
        self._relations = relations
        self.sealer = Sealer(design, secret)

    # One source

    def page(self, op: Source, clock: Clock) -> Steps[Page[Any]]:
        """A page of a list, with its cursors."""
        size = page_size(op)
        start = None
        if op.cursor is not None:
            start, op = yield from self.sealer.open(op)
        plain = not op.cursors and op.unreadable == "raise" and op.selection is None
        if plain and not (isinstance(op, Query) and op.backward):
            items, position = yield from self.read(op, start, size, expires_by(op, clock))
            return Page(items, None if position is None else (yield from self.sealer.seal(op, position)))
        return (yield from self._page_with_cursors(op, start, size, clock))

    def _page_with_cursors(self, op: Source, start: Item | None, size: int, clock: Clock) -> Steps[Page[Any]]:
        skipped: list[Unreadable] = []
        source = op.changed(skipped=skipped)
        backward = isinstance(op, Query) and op.backward
        if isinstance(op, Query) and backward:
            source = source.changed(newest_first=not op.newest_first)
        found, position = yield from self.read(source, start, size, expires_by(op, clock))
        if backward:
            found.reverse()
            skipped.reverse()
        names = position_names(op)
        places = [position_of(item_of(each), names) for each in found]
        first, last = (places[0], places[-1]) if places else (None, None)
        ends = (position, last) if backward else (first if op.cursor is not None else None, position)
        sealed = yield from self.sealer.seal_all(op, (*ends, *(places if op.cursors else ())))
        cursors = [each for each in sealed[2:] if each is not None]
        return Page(values_of(found), sealed[1], sealed[0], cursors, skipped)

    def read(
        self, op: Source, start: Item | None, size: int, now: datetime | None = None
    ) -> Steps[tuple[list[Any], Item | None]]:
        """Up to `size` entities, and where to continue; None at the end. With `now`, without those that have expired.

        If the filter, the entity or a bound leaves items out, more are read, until the budget is used up. Where the
        list doesn't return entities, they are `Taken`.
        """
        if isinstance(op, Query) and is_spread(op):
            read_one = partial(self.read, now=now)
            return (yield from read_partitions(read_one, op, start, size, position_names(op)))
        in_part = isinstance(op, Query) and self.lacks_attributes(op)
        operation, request, names, left_out = list_request(self.design, op, now, projected=not in_part)
        codecs = [codec_of(entity) for entity in entities_of(op)]
        taker = None
        if op.selection is not None or op.unreadable != "raise":
            index = None if in_part else index_of(op)
            taker = Taker(codecs, left_out, op.selection, index, op.unreadable, op.skipped)
        budget = op.budget if op.filter is not None else max(op.budget, size)
        found: list[Any] = []
        read = 0
        while True:
            limit = reach(size - len(found), read, len(found), filtered=op.filter is not None)
            request["Limit"] = min(limit, budget - read)
            if start is not None:
                request["ExclusiveStartKey"] = start
            answer = yield from call(operation, dict(request))
            read += answer["ScannedCount"]
            start = answer.get("LastEvaluatedKey")
            items = answer["Items"]
            if in_part and items:
                items = yield from self._completed(op, items, names)
            left = size - len(found)
            found += take_entities(codecs, items, left_out, left) if taker is None else taker.take(items, left)
            if len(found) == size:
                last = item_of(found[-1])
                return found, None if start is None and last is items[-1] else position_of(last, names)
            if start is None or read >= budget:
                return found, start

    # Indexes that lack attributes

    def lacks_attributes(self, op: Query[Any]) -> bool:
        """Whether the index lacks attributes that are needed, even if only the mark of items that are being deleted."""
        index = op.key.index
        if index is None or index.projection.type == "ALL":
            return False
        if op.selection is not None:
            return not partial_codec(op.selection.entity, op.selection.fields, index).in_index
        return any(self._relations.is_parent(each) or each.spec.not_in(index) for each in op.entities)

    def _completed(self, op: Source, items: Sequence[Item], names: Sequence[str]) -> Steps[list[Item]]:
        """Items of an index with the attributes that it lacks, from their keys or else from the table."""
        index = index_of(op)
        assert index is not None
        entities = entities_of(op)
        if op.selection is None and not any(map(self._relations.is_parent, entities)):
            restorers = [restorer(entity, index) for entity in entities]
            known = [each for each in restorers if each is not None]
            if len(known) == len(entities):
                return [_restored(op, known, item) for item in items]
        return (yield from self._whole(op, items, names))

    def _whole(self, op: Source, items: Sequence[Item], names: Sequence[str]) -> Steps[list[Item]]:
        """The table's items for those of an index, without those whose index key has changed since."""
        table = entities_of(op)[0].spec.table
        name = self.design.table_name(table)
        keys = [(name, {each: item[each] for each in table.key_names}) for item in items]
        fields = None
        if op.selection is not None:
            fields = partial_codec(op.selection.entity, op.selection.fields).attributes
        projections = {}
        if op.selection is not None and fields is not None:
            expression = Expression()
            text = projection(expression, (*names, *needed(op.selection.entity), *sorted(fields)))
            projections = {name: {"ProjectionExpression": text, **expression.parameters()}}
        whole = yield from batch_get(keys, projections=projections)
        pairs = zip(items, whole, strict=True)
        return [full for item, full in pairs if full and all(full.get(name) == item[name] for name in names)]

    # Several sources

    def merge(self, op: Merge[Any], clock: Clock) -> Steps[Page[Any]]:
        """The next items of all queries, in order. More of a query is read only when nothing of it is left."""
        size = page_size(op)
        positions: list[Any] = [None] * len(op.queries)
        if op.cursor is not None:
            positions, op = yield from self.sealer.open(op)
            if len(positions) != len(op.queries):
                raise BadCursor("the cursor belongs to another list")
        skipped: list[Unreadable] = []
        streams = [
            _Stream(
                query.changed(unreadable=op.unreadable, skipped=skipped),
                position,
                None if position == "end" else position,
            )
            for query, position in zip(op.queries, positions, strict=True)
        ]
        taken: list[Any] = []
        cursors: list[str] = []
        while len(taken) < size:
            dry = yield from self._fill(streams, size - len(taken), clock)
            if dry:
                break
            ready = [stream for stream in streams if stream.waiting]
            if not ready:
                break
            choose = max if op.newest_first else min
            chosen = choose(ready, key=lambda stream: op.order(values_of(stream.waiting)[0]))  # type: ignore[arg-type, return-value]  # the caller's keys compare
            entity = chosen.waiting.popleft()
            chosen.position = position_of(item_of(entity), position_names(chosen.query))
            taken.append(entity)
            if op.cursors:
                cursors.append((yield from self.sealer.seal(op, [_end(stream) for stream in streams])))
        ends = [_end(stream) for stream in streams]
        after = None if all(end == "end" for end in ends) else (yield from self.sealer.seal(op, ends))
        return Page(values_of(taken), after, None, cursors, skipped)

    def _fill(self, streams: Sequence[_Stream], wanted: int, clock: Clock) -> Steps[bool]:
        """Read more of each query with no items waiting; returns whether one used up its budget and found none."""
        empty = [stream for stream in streams if stream.unread and not stream.waiting]
        if not empty:
            return False
        reads = [self.read(each.query, each.after, wanted, expires_by(each.query, clock)) for each in empty]
        results = yield from together(reads)
        dry = False
        for stream, (found, after) in zip(empty, results, strict=True):
            stream.after, stream.begun = after, True
            stream.waiting.extend(found)
            dry = dry or (not found and after is not None)
        return dry


def _restored(op: Source, restorers: Sequence[Any], item: Item) -> Item:
    """An item of an index with the attributes that only its keys have, by the entity that it is of."""
    for entity, restore in zip(entities_of(op), restorers, strict=True):
        whole: Item = restore(item)
        if codec_of(entity).recognizes(whole):
            return whole
    return item


def _end(stream: _Stream) -> object:
    """Where a query has got to: after the last item taken, or after all that was read if no item is waiting."""
    if stream.waiting or not stream.begun:
        return stream.position
    return "end" if stream.after is None else stream.after
