"""`simulate`: a day of requests on a model of partitions."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from zlib import crc32

import numpy as np
import numpy.typing as npt

from keyplan.capacity.consumed import TableOrIndex
from keyplan.capacity.heat.factors import Factor
from keyplan.capacity.heat.load import STEP_SECONDS, STEPS, Load, Source
from keyplan.capacity.heat.partitions import SORT_BITS, Floats, Numbers, Partitions, Positions, Served
from keyplan.capacity.heat.popularity import Ranks, drawn
from keyplan.capacity.heat.touches import Touch

_MASK = np.uint64(2**SORT_BITS - 1)
_RARE = 1024
"""The rank from which on keys are so rare, each by itself, that only all of them together matter."""
_MOST_RUNS = 5_000
"""How many runs one that is drawn may stand for. More would look like a hot key by themselves."""
_CALM = 0.4
"""How much of its limit a partition uses at most, if no day is needed in which partitions are split."""
_SETTLING = 0.2
"""The part of the requests with which a day is simulated beforehand, in which partitions are split."""


@dataclass
class PlaceHeat:
    """What a table or an index went through in a day."""

    place: TableOrIndex
    reads: Floats
    """Read units a second, by step."""
    writes: Floats
    refused: Floats
    """The share of the units that was refused, by step."""
    used: list[Floats] = field(default_factory=list)
    """How much of its limit each partition used, by step."""
    first_partitions: int = 0
    partitions: int = 0


@dataclass(frozen=True)
class Simulated:
    """A day of requests, as it went."""

    requests: int
    """How many were drawn."""
    throttled: Mapping[str, float]
    """The share of the runs of each operation that were refused in a table or index, over the day."""
    worst: Mapping[str, tuple[float, int]]
    """The highest share in a step, and in which step, for the operations that were refused at all."""
    places: Mapping[TableOrIndex, PlaceHeat]
    causes: Mapping[str, Mapping[TableOrIndex, float]]
    """Where the refused runs of an operation were refused: the share of its runs, by place."""


class _Day:
    """The simulation of a day, step by step."""

    def __init__(
        self, load: Load, requests: int, random: np.random.Generator, partitions: dict[TableOrIndex, Partitions]
    ):
        self.load = load
        self.random = random
        self.partitions = partitions
        self.scale = max(1.0, load.runs / max(1, requests))
        """How many runs one that is drawn stands for."""
        self.drawn = 0
        self.heat = {place: PlaceHeat(place, np.zeros(STEPS), np.zeros(STEPS), np.zeros(STEPS)) for place in partitions}
        self.runs: dict[str, float] = {}
        self.refused: dict[str, float] = {}
        self.worst: dict[str, tuple[float, int]] = {}
        self.causes: dict[str, dict[TableOrIndex, float]] = {}

    def step(self, number: int) -> None:
        """Draw the requests of a step, serve them, and split what is too busy."""
        drawings = [_Drawing(self, source, number) for source in self.load.sources]
        served: dict[TableOrIndex, Served] = {}
        for place, partitions in self.partitions.items():
            positions, reads, writes = _at(drawings, place)
            owners = partitions.find(positions)
            asked = _summed(owners, reads, len(partitions)), _summed(owners, writes, len(partitions))
            served[place] = partitions.serve(*asked, STEP_SECONDS)
            self._note(place, number, served[place])
        for drawing in drawings:
            self._count(drawing, number, served)
        for place, partitions in self.partitions.items():
            positions, reads, writes = _at(drawings, place)
            if len(positions):
                partitions.split(positions, reads / 3 + writes)

    def _note(self, place: TableOrIndex, number: int, served: Served) -> None:
        heat, total = self.heat[place], float(served.reads.sum() + served.writes.sum())
        heat.reads[number] = served.reads.sum() / STEP_SECONDS
        heat.writes[number] = served.writes.sum() / STEP_SECONDS
        refused = (served.reads * served.refused_reads + served.writes * served.refused_writes).sum()
        heat.refused[number] = refused / total if total else 0.0
        limits = np.maximum(served.reads / (3000 * STEP_SECONDS), served.writes / (1000 * STEP_SECONDS))
        heat.used.append(np.sort(limits)[::-1])

    def _count(self, drawing: "_Drawing", number: int, served: Mapping[TableOrIndex, Served]) -> None:
        """A run is refused if one of its reads and writes is, also the write to an index."""
        if not drawing.count:
            return
        name, passed = drawing.source.operation.name, np.ones(drawing.count)
        for touch, positions in drawing.touched:
            owners = self.partitions[touch.place].find(positions)
            answer = served[touch.place]
            refused = np.zeros(drawing.count)
            if touch.reads:
                refused = answer.refused_reads[owners]
            if touch.writes:
                refused = np.maximum(refused, answer.refused_writes[owners])
            passed *= 1 - refused
            if lost := float(refused.sum()) * self.scale:
                causes = self.causes.setdefault(name, {})
                causes[touch.place] = causes.get(touch.place, 0.0) + lost
        lost = float((1 - passed).sum())
        self.runs[name] = self.runs.get(name, 0.0) + drawing.count * self.scale
        self.refused[name] = self.refused.get(name, 0.0) + lost * self.scale
        share = lost / drawing.count
        if share > self.worst.get(name, (0.0, 0))[0]:
            self.worst[name] = (share, number)

    def result(self) -> Simulated:
        for place, heat in self.heat.items():
            heat.first_partitions, heat.partitions = self.partitions[place].first, len(self.partitions[place])
        throttled = {name: self.refused[name] / runs for name, runs in self.runs.items()}
        causes = {
            name: {place: lost / self.runs[name] for place, lost in each.items()} for name, each in self.causes.items()
        }
        return Simulated(self.drawn, throttled, self.worst, self.heat, causes)


class _Drawing:
    """The runs of an operation in a step: which keys they ask for."""

    def __init__(self, day: _Day, source: Source, step: int) -> None:
        self.source = source
        expected = source.rates[step] * STEP_SECONDS / day.scale
        self.count = int(expected) + int(day.random.random() < expected % 1)
        self._day = day
        self._ranks: dict[str, Ranks] = {}
        day.drawn += self.count
        self.touched: list[tuple[Touch, Positions]] = (
            [(touch, self._positions(touch)) for touch in source.operation.touches] if self.count else []
        )

    def _positions(self, touch: Touch) -> Positions:
        keys = np.full(self.count, crc32(touch.signature.encode()), dtype=np.uint64)
        rare = np.zeros(self.count, dtype=np.bool_)
        for factor in touch.factors:
            if factor.root not in self._ranks:
                self._ranks[factor.root] = self._drawn(factor)
            ranks = self._ranks[factor.root]
            keys = _mixed(keys * np.uint64(0x9E3779B97F4A7C15) + ranks.astype(np.uint64))
            rare |= ranks >= _RARE
        hashes = _mixed(keys)
        if rare.any():
            hashes[rare] = (self._even(int(rare.sum())) * 2.0**64).astype(np.uint64)
        hashes &= ~_MASK
        if not touch.splits or touch.spot == "end":
            return hashes
        if touch.spot == "item":
            return hashes | (_mixed(keys + np.uint64(1)) & _MASK)
        return hashes | self._day.random.integers(0, 2**SORT_BITS, self.count, dtype=np.uint64)

    def _drawn(self, factor: Factor) -> Ranks:
        if self.source.one and factor.draw != "copies":
            return np.zeros(self.count, dtype=np.int64)
        uniform = self._even(self.count)
        if factor.draw != "popular":
            return (uniform * factor.values).astype(np.int64)
        return drawn(self._day.random, uniform, factor.values, self._day.load.popularity_of(factor.entity))

    def _even(self, count: int) -> Floats:
        """Numbers from 0 to 1 in a random order, one in each part of so many: more even than drawn alone, because each
        stands for many."""
        found = (np.arange(count) + self._day.random.random(count)) / count
        self._day.random.shuffle(found)
        return np.minimum(found, 1 - 2**-53)

    def weights(self, touch: Touch) -> tuple[Floats, Floats]:
        """The units that each run reads and writes."""
        scale = self._day.scale
        return np.full(self.count, touch.reads * scale), np.full(self.count, touch.writes * scale)


def _at(drawings: Sequence[_Drawing], place: TableOrIndex) -> tuple[Positions, Floats, Floats]:
    """What all runs of a step ask for at a place."""
    here = [
        (positions, *drawing.weights(touch))
        for drawing in drawings
        for touch, positions in drawing.touched
        if touch.place == place
    ]
    if not here:
        return np.empty(0, dtype=np.uint64), np.empty(0), np.empty(0)
    positions, reads, writes = zip(*here, strict=True)
    return np.concatenate(positions), np.concatenate(reads), np.concatenate(writes)


def _summed(owners: Numbers, units: Floats, count: int) -> Floats:
    """The units by partition."""
    return np.bincount(owners, units, count).astype(np.float64)


def _mixed(values: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Numbers spread over all 64 bits, the same for the same number (the finalizer of SplitMix64)."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


def simulate(
    load: Load, requests: int = 1_000_000, seed: int = 1, progress: Callable[[int, int], None] | None = None
) -> Simulated:
    """A day of the load, by at least so many requests drawn at random, each of which stands for some.

    A day before it, drawn with fewer requests, splits the partitions as they would be after some time.
    """
    random = np.random.default_rng(seed)
    partitions = {place: _partitions(load, place) for place in load.places}
    least = int(load.runs / _MOST_RUNS)
    settling = _Day(load, max(1, least, int(requests * _SETTLING)), random, partitions)
    settling.step(load.peak_step)
    if any(float(heat.used[-1].max()) > _CALM for heat in settling.heat.values()):
        for number in range(STEPS):
            settling.step(number)
            _report(progress, number, 2 * STEPS)
    day = _Day(load, max(least, requests), random, partitions)
    for number in range(STEPS):
        day.step(number)
        _report(progress, STEPS + number, 2 * STEPS)
    _report(progress, 2 * STEPS, 2 * STEPS)
    return day.result()


def _partitions(load: Load, place: TableOrIndex) -> Partitions:
    size, run = load.sizes.get(place, 0.0), load.tables[place.table]
    if run.mode == "on-demand":
        return Partitions(size)
    if run.mode == "fixed":
        return Partitions(size, run.table.capacity or (0, 0), fixed=True)
    reads = sum(s.peak * t.reads for s in load.sources for t in s.operation.touches if t.place == place)
    writes = sum(s.peak * t.writes for s in load.sources for t in s.operation.touches if t.place == place)
    return Partitions(size, (reads, writes))


def _report(progress: Callable[[int, int], None] | None, done: int, of: int) -> None:
    if progress is not None:
        progress(done, of)
