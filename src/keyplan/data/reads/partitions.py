"""Queries that are spread over several partitions, by date buckets or shards, read as one list.

The buckets of a range follow one another. The shards of a bucket, or of a key without one, are merged in the order of
the sort key; items with the same sort key, in the order of their shards. So every item has one place in the list, and
where a page ended is the key of one item, as in a query of one partition: the other partitions continue from its sort
key. If the number of shards was changed, an item that is rewritten while the list is read may be found under its former
and its new shard. It is returned once, if no other item has its sort key.
"""

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import islice
from typing import Any, TypeAlias

from keyplan.data.codec.sizes import LONGEST_HASH, checked_key
from keyplan.data.codec.values import Item
from keyplan.data.errors import BadCursor
from keyplan.data.reads.cursors import position_of
from keyplan.data.reads.key_conditions import empty_range
from keyplan.data.reads.taking import item_of
from keyplan.data.steps import Steps, together
from keyplan.design import Entity, InvalidValue
from keyplan.design.entities.specs import ComputedPart
from keyplan.design.keys.formats import Format, bucket_time
from keyplan.design.keys.templates import Slot
from keyplan.design.operations.queries import Query

MOST_BUCKETS = 256
"""How many date buckets a query may read."""

Read: TypeAlias = Callable[[Query[Any], Item | None, int], Steps[tuple[list[Any], Item | None]]]
"""Reads up to so many entities of one partition, from a position on; returns them, and where to continue."""


def is_spread(query: Query[Any]) -> bool:
    """Whether a query may have to read several partitions."""
    return bool(query.key.computed) and query.partition is None


def stages(query: Query[Any]) -> list[list[Query[Any]]]:
    """The query of each partition. Those of a stage are merged, and one stage is read after the other."""
    buckets: list[dict[Slot, str]] = [{}]
    shards: list[dict[Slot, str]] = [{}]
    for name, part in query.key.computed.items():
        if part.format.shards is None:
            buckets = [{part.slot: text} for text in _buckets(query, name, part)]
        else:
            shards = [{part.slot: text} for text in _shards(query, name, part.format)]
    found = [[_partition(query, bucket | shard) for shard in shards] for bucket in buckets]
    return found if query.key.range else [[each] for stage in found for each in stage]


def _buckets(query: Query[Any], name: str, part: ComputedPart) -> list[str]:
    """The bucket of a value, or those of a range in the order of the list."""
    if query.bound is None or query.bound[0] != name:
        return [part.template.piece(name, query.values[name])]
    bound, bucket = query.bound[1], part.format.bucket
    assert bucket is not None
    annotation = query.entities[0].spec.fields[name].annotation
    for value in (bound.low, bound.high):
        part.template.piece(name, value)  # refuses what isn't a time
    low, high = bucket_time(bound.low, annotation), bucket_time(bound.high, annotation)
    if low > high:
        raise empty_range(query.key.place, name, bound)
    found = [part.format.write(start) for start in islice(bucket.starts(low, high), MOST_BUCKETS + 1)]
    if len(found) > MOST_BUCKETS:
        problem = f"The range has more than {MOST_BUCKETS} date buckets. Query a shorter range."
        raise InvalidValue("too-many-buckets", f"{query.key.place}.{name}", problem, field=name)
    return found[::-1] if query.newest_first != _is_inverted(query, name) else found


def _is_inverted(query: Query[Any], name: str) -> bool:
    """Whether a field is in the sort key in reverse."""
    templates = [part.template for part in query.key.range if part.template is not None and name in part.fields]
    return any(template.by_field[name][1].inverted for template in templates)


def _shards(query: Query[Any], name: str, chosen: Format) -> list[str]:
    """All shards, or those of the field's value if it is known; the former ones first."""
    assert chosen.shards is not None
    value = query.values.get(name)
    if value is None:
        return list(chosen.shards.texts())
    return [write(value) for write in (chosen.former, chosen.write) if write is not None]


def _partition(query: Query[Any], pieces: Mapping[Slot, str]) -> Query[Any]:
    """The query of one partition."""
    texts = {}
    for part in query.key.hash:
        if part.template is not None and not pieces.keys().isdisjoint(part.template.slots):
            text = part.template.write(query.values, pieces)
            if text is None:
                missing = next(name for name in part.fields if query.values.get(name) is None)
                problem = "This value is part of the key, so it can't be absent."
                raise InvalidValue("empty-key-value", f"{query.key.place}.{missing}", problem, field=missing)
            texts[part.attribute.name] = checked_key(text, LONGEST_HASH, part.template)
    return query.changed(partition=texts)


def read_partitions(
    read: Read, query: Query[Any], start: Item | None, size: int, names: tuple[str, ...]
) -> Steps[tuple[list[Any], Item | None]]:
    """Up to `size` entities of all partitions, and where to continue; None at the end.

    `names` are the attributes of a position.
    """
    found: list[Any] = []
    remaining = stages(query)
    if start is not None:
        remaining = remaining[_stage_of(remaining, start) :]
    while remaining:
        stage = remaining.pop(0)
        if len(stage) == 1:
            more, position = yield from read(stage[0], start, size - len(found))
        else:
            more, position = yield from _Merger(read, stage, start, names).read(size - len(found))
        start = None
        found += more
        if position is not None:
            return found, position
        if len(found) == size:
            return found, position_of(item_of(found[-1]), names) if remaining else None
    return found, None


def _stage_of(remaining: Sequence[Sequence[Query[Any]]], start: Item) -> int:
    for number, stage in enumerate(remaining):
        if any(_is_in(start, query) for query in stage):
            return number
    raise BadCursor("the cursor belongs to another list")


def _is_in(position: Item, query: Query[Any]) -> bool:
    """Whether a position is in this partition."""
    return all(position.get(name) == {"S": text} for name, text in (query.partition or {}).items())


@dataclass
class _Stream:
    """One of the partitions of a merged list: what was read, and how far."""

    number: int
    query: Query[Any]
    start: Item | None = None
    """Where to continue reading."""
    skipped: object = None
    """The sort key whose items were returned before."""
    unread: bool = True
    found_nothing: bool = False
    """Whether it used up its budget at `start` without finding anything."""
    waiting: deque[tuple[Any, Entity]] = field(default_factory=deque)

    @property
    def is_dry(self) -> bool:
        """Whether more has to be read to know its next item."""
        return self.unread and not self.waiting and not self.found_nothing


class _Merger:
    """Merges partitions in the order of their sort key."""

    def __init__(self, read: Read, stage: Sequence[Query[Any]], start: Item | None, names: tuple[str, ...]) -> None:
        self._read = read
        self._names = names
        self._sort_key = stage[0].key.range[0].attribute.name
        self._table_key = stage[0].entities[0].spec.table.key_names
        self._backward = stage[0].newest_first
        self._returned: tuple[object, list[Item]] = (None, [])
        """The last sort key, and the keys of the items with it."""
        self._streams = [_Stream(number, query) for number, query in enumerate(stage)]
        if start is not None:
            self._continue_after(start)

    def _continue_after(self, start: Item) -> None:
        """Continue after the item with this key: from its sort key on in the other partitions."""
        here = next(stream for stream in self._streams if _is_in(start, stream.query))
        here.start = start
        order = self._order(start)
        self._note(start, order)
        for stream in self._streams:
            if stream is not here:
                stream.query = stream.query.changed(beyond=start[self._sort_key])
                if (stream.number < here.number) != self._backward:
                    stream.skipped = order

    def read(self, size: int) -> Steps[tuple[list[Any], Item | None]]:
        """Up to `size` entities, and where to continue; None at the end."""
        taken: list[Entity] = []
        while len(taken) < size:
            while dry := [each for each in self._streams if each.is_dry]:
                yield from together([self._fill(stream, size - len(taken)) for stream in dry])
            ready = [stream for stream in self._streams if stream.waiting or stream.found_nothing]
            if not ready:
                return taken, None
            chosen = (max if self._backward else min)(ready, key=self._place)
            if not chosen.waiting:
                return taken, chosen.start  # the place up to which everything was read
            order, entity = chosen.waiting.popleft()
            if self._note(item_of(entity), order):
                taken.append(entity)
        if not any(stream.waiting or stream.unread for stream in self._streams):
            return taken, None
        return taken, position_of(item_of(taken[-1]), self._names)

    def _fill(self, stream: _Stream, wanted: int) -> Steps[None]:
        """Read some more of a partition: twice its share of what is wanted, so that few partitions are read again."""
        share = -(-2 * wanted // len(self._streams))
        found, stream.start = yield from self._read(stream.query, stream.start, min(wanted, share))
        stream.unread = stream.start is not None
        stream.found_nothing = stream.unread and not found
        ordered = ((self._order(item_of(entity)), entity) for entity in found)
        stream.waiting.extend(each for each in ordered if each[0] != stream.skipped)

    def _place(self, stream: _Stream) -> tuple[Any, int]:
        """The place in the list of the next item of a partition."""
        assert stream.waiting or stream.start is not None
        order = stream.waiting[0][0] if stream.waiting else self._order(stream.start or {})
        return order, stream.number

    def _order(self, item: Item) -> Any:  # noqa: ANN401 - texts, numbers or bytes
        ((tag, content),) = item[self._sort_key].items()
        return Decimal(content) if tag == "N" else content

    def _note(self, item: Item, order: object) -> bool:
        """Remember an item that is returned; returns whether it is new."""
        key = {name: item[name] for name in self._table_key}
        if self._returned[0] != order:
            self._returned = (order, [])
        if key in self._returned[1]:
            return False
        self._returned[1].append(key)
        return True
