"""Single keys that ask more of a partition than it can give, however the tables are split."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from keyplan.capacity.consumed import TableOrIndex
from keyplan.capacity.heat.factors import SHARD, Factor
from keyplan.capacity.heat.load import STEPS, Load, Source
from keyplan.capacity.heat.partitions import READ_UNITS, WRITE_UNITS
from keyplan.capacity.heat.popularity import hottest_share
from keyplan.capacity.heat.touches import Operation, Touch

Kind: TypeAlias = Literal["reads", "writes"]
LIMITS: dict[Kind, int] = {"reads": READ_UNITS, "writes": WRITE_UNITS}
_COMFORTABLE = 0.5
"""How much of a partition's limit each shard may take."""
_LEAST_READ = 0.5


@dataclass(frozen=True)
class HotKey:
    """The hottest key of a kind: what it is asked for at the busiest time, and what would help."""

    touch: Touch
    """One of the touches of it, for its place and its text."""
    kind: Kind
    units: float
    """What is asked of it in a second."""
    step: int
    """When that is."""
    operations: tuple[tuple[str, float], ...]
    """The operations that ask for it, with their units, the most first."""
    is_item: bool
    """Whether it is a single item."""

    @property
    def place(self) -> TableOrIndex:
        return self.touch.place

    @property
    def limit(self) -> int:
        """What a partition can serve in a second."""
        return LIMITS[self.kind]

    @property
    def load(self) -> float:
        """The units as a part of the limit."""
        return self.units / self.limit

    @property
    def parts(self) -> int:
        """Into how many keys it has to be spread: a power of 2, so that each has room to grow."""
        wanted = 2
        while self.units / wanted > self.limit * _COMFORTABLE:
            wanted *= 2
        return wanted

    @property
    def reason(self) -> str:
        """Why DynamoDB can't help by splitting partitions."""
        if self.is_item:
            return "It is a single item, and a partition can't be split inside of an item."
        if not self.touch.splits:
            return "The table has a local secondary index, so all items of a hash key stay in one partition."
        if self.kind == "writes":
            return "New items all go to the same end of the item collection, so a split only moves the hot end."
        return "All requests read the same end of the item collection, so a split only moves the hot end."

    @property
    def remedy(self) -> str:
        """What would help."""
        if self.kind == "reads":
            return f"Cache what is read, or keep {self.parts} copies and read one of them at random."
        if self.is_item:
            return f"Spread it over {self.parts} items, and add them up when they are read."
        shards = [factor.values for factor in self.touch.factors if factor.root.startswith(SHARD)]
        if shards:
            return f"Spread the items over {self.parts * shards[0]:,} shards instead of {shards[0]:,}."
        return f"Spread the items over {self.parts} hash keys with a shard: {{shard(..., {self.parts})}}."


def hot_keys(load: Load, least: float = 0.3) -> list[HotKey]:
    """The hottest keys whose load can't be spread by splits, from this part of a partition's limit on."""
    found = [key for group in _groups(load).values() for key in _hottest(load, group) if key.load >= least]
    return sorted(found, key=lambda key: -key.load)


def _groups(load: Load) -> dict[tuple[TableOrIndex, str, bool], list[tuple[Source, Touch]]]:
    """The touches of the same keys, those of single items apart from those of ends of collections."""
    groups: dict[tuple[TableOrIndex, str, bool], list[tuple[Source, Touch]]] = {}
    for source in load.sources:
        for touch in source.operation.touches:
            together = touch.spot != "item" or not touch.splits
            if touch.spot != "spread" or not touch.splits:
                groups.setdefault((*touch.identity, together), []).append((source, touch))
    return groups


def _hottest(load: Load, group: Sequence[tuple[Source, Touch]]) -> Iterator[HotKey]:
    kinds: tuple[Kind, ...] = ("reads", "writes")
    for kind in kinds:
        shares = [
            (source, units * _top_share(load, source, touch))
            for source, touch in group
            if (units := getattr(touch, kind))
        ]
        if not shares:
            continue
        by_step = [sum(source.rates[step] * units for source, units in shares) for step in range(STEPS)]
        peak = max(by_step)
        step = by_step.index(peak)
        operations: dict[str, float] = {}
        for source, units in shares:
            name = source.operation.name
            operations[name] = operations.get(name, 0.0) + source.rates[step] * units
        ordered = tuple(sorted(operations.items(), key=lambda each: -each[1]))
        touch = group[0][1]
        yield HotKey(touch, kind, peak, step, ordered, all(each.spot == "item" for _, each in group))


def _top_share(load: Load, source: Source, touch: Touch) -> float:
    """The share of an operation's runs that ask for the most popular hash key."""
    share = 1.0
    for factor in touch.factors:
        if source.one and factor.draw != "copies":
            continue
        if factor.draw != "popular":
            share /= factor.values
        else:
            share *= hottest_share(factor.values, load.popularity_of(factor.entity))
    return share


def relieved(load: Load, keys: Sequence[HotKey]) -> Load:
    """The load as it would be with what helps each of these keys."""
    sources = [replace(source, operation=_relieved(source.operation, keys)) for source in load.sources]
    return replace(load, sources=sources)


def _relieved(operation: Operation, keys: Sequence[HotKey]) -> Operation:
    touches = operation.touches
    for key in keys:
        touches = tuple(_spread(touch, key) if touch.identity == key.touch.identity else touch for touch in touches)
    return replace(operation, touches=touches)


def _spread(touch: Touch, key: HotKey) -> Touch:
    """A touch of a key that has become several: copies that are written each, or shards that are read each."""
    part = Factor("part", f"part of {touch.signature}", "", key.parts, "copies")
    if any(factor.root == part.root for factor in touch.factors):
        return touch
    if key.kind == "reads":
        return replace(touch, factors=(*touch.factors, part), writes=touch.writes * key.parts)
    reads = max(touch.reads, _LEAST_READ * key.parts) if touch.reads else 0.0
    return replace(touch, factors=(*touch.factors, part), reads=reads)
