"""Keys that put too much into one partition.

The figures are from AWS's "Best practices for designing and using partition keys effectively in DynamoDB" and "DynamoDB
burst and adaptive capacity"."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from keyplan.design.entities.entity_spec import EntitySpec
from keyplan.design.entities.specs import KeySpec, StandIn
from keyplan.design.operations.queries import Query
from keyplan.review.changed_lines import with_shards
from keyplan.review.keys import grows, is_time_only, partitions
from keyplan.review.reviewed import Reviewed, is_housekeeping
from keyplan.review.rule import Severity, Violation, rule

_FEW_ITEMS = 10_000
"""So many items in a partition are no problem, unless they are asked for thousands of times a second."""
_SLOW_GROWTH = 10_000_000
"""So many items a month are four a second on average, and some dozens at peak times."""
_MOST_WRITES, _MOST_READS = 1_000, 3_000
"""The units that one partition takes in a second (AWS: "Best practices for designing and using partition keys")."""
_MANY_SHARDS = 16
_MUCH = 0.1
"""From this part of it on, a partition may become hot: the load isn't even, neither over time nor over the values."""


class _Load(NamedTuple):
    """What is known of the traffic of one partition: requests a second, each at least one unit, or half a unit."""

    writes: float
    reads: float

    @property
    def is_high(self) -> bool:
        return self.writes >= _MUCH * _MOST_WRITES or self.reads / 2 >= _MUCH * _MOST_READS

    @property
    def severity(self) -> Severity:
        return "error" if self.writes > _MOST_WRITES or self.reads / 2 > _MOST_READS else "warning"


class _Narrow(NamedTuple):
    """A key under which many items are in few partitions."""

    spec: EntitySpec
    key: KeySpec
    number: int
    """How many hash values there are at a time."""
    load: _Load | None

    @property
    def severity(self) -> Severity:
        """It is known to be a problem only if the design says how many items there will be, or the traffic is known."""
        if self.load is not None:
            return self.load.severity
        return "info" if self.spec.expected is None or self.spec.expected.items is None else "warning"

    @property
    def where(self) -> str:
        return self.spec.table.name if self.key.index is None else f"the index {self.key.index.name}"

    @property
    def many(self) -> str:
        expected = self.spec.expected
        number = None if expected is None else expected.items
        if number is not None:
            return f"{number:,} {self.spec.noun} items"
        return f"{'its' if self._is_sparse else 'all'} {self.spec.noun} items"

    @property
    def limits(self) -> str:
        limits = f"one partition takes {_MOST_WRITES:,} write and {_MOST_READS:,} read units a second"
        if self.load is None:
            return limits
        which = " for one of them" if self.number > 1 else ""
        return f"{self.load.writes:,.0f} writes and {self.load.reads:,.0f} reads a second{which}, and {limits}"

    @property
    def is_known_to_be_many(self) -> bool:
        """Whether the design or the traffic says that there is much, so that to say it is no remedy."""
        return self.load is not None or (self.spec.expected is not None and self.spec.expected.items is not None)

    @property
    def says_growth(self) -> bool:
        """Whether the design says how many items are added."""
        return self.spec.expected is not None and self.spec.expected.growth is not None

    @property
    def _is_sparse(self) -> bool:
        """Whether only some of the items have the key."""
        return self.key.when is not None or any(self.spec.fields[name].optional for name in self.key.fields)


def _narrow(reviewed: Reviewed) -> Iterator[_Narrow]:
    """The keys with few hash values under which there can be many items, or much traffic."""
    for spec in reviewed.specs:
        for key in () if is_housekeeping(spec.table) else spec.keys:
            number = partitions(spec, key)
            if number is None or _is_one_item(spec, key):
                continue
            load = _load(reviewed, spec, key, number)
            if not _stays_small(spec, key, number) if load is None else load.is_high:
                yield _Narrow(spec, key, number, load)


def _load(reviewed: Reviewed, spec: EntitySpec, key: KeySpec, number: int) -> _Load | None:
    """The traffic of each partition of a key, if it is known."""
    if reviewed.rates is None:
        return None
    writes = sum(rate for name, rate in reviewed.rates.items() if name.startswith(f"{spec.name}."))
    shares = {
        pattern.name: 1 if _asks_for_one_value(query, key) else number
        for pattern, query in reviewed.queries
        if _reads(query, spec, key)
    }
    return _Load(writes / number, sum(reviewed.rates.get(name, 0) / share for name, share in shares.items()))


def _reads(query: Query[Any], spec: EntitySpec, key: KeySpec) -> bool:
    return spec.entity in query.entities and query.key.index is key.index


def _asks_for_one_value(query: Query[Any], key: KeySpec) -> bool:
    """Whether a query always asks for the same hash value, such as `status="open"`."""
    names = (name for part in key.hash for name in part.fields)
    return all(name in query.values and not isinstance(query.values[name], StandIn) for name in names)


def _is_one_item(spec: EntitySpec, key: KeySpec) -> bool:
    """Whether there is at most one item for each hash value."""
    return not set(spec.primary.fields) - {name for part in key.hash for name in part.fields}


def _stays_small(spec: EntitySpec, key: KeySpec, count: int) -> bool:
    """Whether the design says that there are few items for each hash value, and that they become few more.

    Where new items are at one end, it is enough that they are few: the others are seldom asked for.
    """
    expected = spec.expected
    if expected is not None and expected.growth is not None and grows(spec, key):
        return expected.growth <= _SLOW_GROWTH * count
    if expected is None or expected.items is None:
        return False
    return expected.items <= _FEW_ITEMS * count and (expected.growth or 0) <= _SLOW_GROWTH * count


def _spread(reviewed: Reviewed, each: _Narrow, word: str) -> tuple[str, str]:
    """What to do about a key with few hash values, and the lines."""
    if not each.is_known_to_be_many:
        return "Spread them over shards, or say that there are few of them.", word
    lines = with_shards(reviewed, each.spec, each.key)
    if each.load is None and not each.says_growth and grows(each.spec, each.key):
        return "Spread them over shards, or say that few are added: growth=... of expect, in a month.", lines
    return "Spread them over shards, or put something with many values into the hash key.", lines


@rule(
    "KP402",
    "one-partition",
    group="hot",
    severity="warning",
    title="One hash value for all items",
)
def one_partition(reviewed: Reviewed) -> Iterator[Violation]:
    """All items of an entity have the same hash value in the table or in an index.

    DynamoDB spreads items by their hash values. Items with the same one share the throughput of a partition: 1,000
    write units and 3,000 read units a second. It can split them over more partitions by their sort keys, but that takes
    time, and the items of a busy list are often next to each other. An index that can't keep up slows down the writes
    of its table. A query on such a list is a scan by another name: it reads all items of the type.

    For a few thousand items this is fine: say so with `expected=expect(items=...)`. Otherwise spread them by a shard:
    `key("USERS#{shard(user_id, 8)}", ...)`, which Keyplan reads as one list, or list them by what they belong to.
    """
    for each in _narrow(reviewed):
        if each.number == 1 and not grows(each.spec, each.key):
            yield Violation(
                reviewed.at(each.spec, key=each.key),
                f"{each.where} has {each.many} in one partition: {each.limits}",
                *_spread(reviewed, each, "expected=expect(items=...)"),
                severity=each.severity,
            )


@rule(
    "KP403",
    "few-partitions",
    group="hot",
    severity="warning",
    title="A hash key with few values",
)
def few_partitions(reviewed: Reviewed) -> Iterator[Violation]:
    """The hash key of the table or of an index is made of values of which there are few: a status, a kind, yes or no.

    Each value is a partition, with 1,000 write units and 3,000 read units a second, no matter how many items there are.
    And the values are seldom equally frequent: most articles are published, most orders are shipped.

    For a few thousand items this is fine: say so with `expected=expect(items=...)`. Otherwise put what the items belong
    to in front (`{tenant_id}#{status}`), add a shard, or make the index sparse, with only those items in it that are
    asked for (`when="is_open"`).
    """
    for each in _narrow(reviewed):
        if each.number > 1 and not grows(each.spec, each.key):
            yield Violation(
                reviewed.at(each.spec, key=each.key),
                f"{each.where} has {each.many} in {each.number} partitions: {each.limits}",
                *_spread(reviewed, each, "expected=expect(items=...)"),
                severity=each.severity,
            )


@rule(
    "KP404",
    "growing-end",
    group="hot",
    severity="warning",
    title="New items always at the same end of a few partitions",
)
def growing_end(reviewed: Reviewed) -> Iterator[Violation]:
    """The hash key has few values, and the sort key grows with time, so that all new items come to the same place.

    DynamoDB splits a partition that becomes hot, by its sort keys. That helps if requests are for all of them. Here
    each write goes to the end, and so do most reads, of the newest items: after each split all of them are in the last
    part again, and 1,000 writes a second remain the limit. An index that can't keep up slows down its table's writes.

    If new items are few, say so: `expected=expect(growth=...)` is how many there are in a month. Otherwise spread them:
    `key("PUBLISHED#{shard(post_id, 8)}", "{created_at}")`, which Keyplan reads as one list in order.
    """
    for each in _narrow(reviewed):
        if grows(each.spec, each.key):
            shown = "one partition" if each.number == 1 else f"{each.number} partitions"
            yield Violation(
                reviewed.at(each.spec, key=each.key),
                f"{each.where} has {each.many} in {shown}, each new one at the same end, so that splitting doesn't "
                f"help: {each.limits}",
                *_spread(reviewed, each, "expected=expect(growth=...)"),
                severity=each.severity,
            )


@rule(
    "KP405",
    "time-partition",
    group="hot",
    severity="warning",
    title="A partition for each day",
)
def time_partition(reviewed: Reviewed) -> Iterator[Violation]:
    """The hash key is a time or a date, so that everything that happens now is in one partition.

    Yesterday's partition rests, and today's takes all writes and most reads: 1,000 write units a second, however large
    the table is. A finer unit doesn't help, since the present is still one partition.

    Put something with many values in front of the time (`{device_id}#{at:%Y-%m-%d}`), or add a shard:
    `{at:%Y-%m-%d}#{shard(event_id, 16)}`. If there are few items a day, say so with `expected=expect(growth=...)`.
    """
    for spec in reviewed.specs:
        growth = None if spec.expected is None else spec.expected.growth
        for key in () if is_housekeeping(spec.table) else spec.keys:
            load = _load(reviewed, spec, key, 1)
            is_hot = not (growth is not None and growth <= _SLOW_GROWTH) if load is None else load.is_high
            if is_time_only(spec, key) and is_hot:
                each = _Narrow(spec, key, 1, load)
                yield Violation(
                    reviewed.at(spec, key=key),
                    f"{each.where} has all {spec.noun} items of the same time in one partition: {each.limits}",
                    "Put something with many values in front of the time, or add a shard.",
                    with_shards(reviewed, spec, key, _MANY_SHARDS),
                    severity="warning" if growth is not None and load is None else each.severity,
                )
