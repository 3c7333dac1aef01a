"""`Load`: the operations of a design with their rates over a day."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from keyplan.capacity.consumed import TableOrIndex
from keyplan.capacity.cost.tables import RunTable, run_tables
from keyplan.capacity.heat.factors import Values
from keyplan.capacity.heat.touches import Operation, operations
from keyplan.capacity.metering import MeteredDesign
from keyplan.capacity.traffic.model import Traffic
from keyplan.capacity.traffic.shape import HOURS, Popularity
from keyplan.design import Design

STEP_SECONDS = 300
"""A step of the simulation: as long as what a partition can save for a burst lasts."""
STEPS = HOURS * 3600 // STEP_SECONDS
_CALM = 0.15
"""The least busy hour of a day, compared with the average, where only the peak is known."""


@dataclass(frozen=True)
class Source:
    """An operation with its rate in each step of a day."""

    operation: Operation
    rates: Sequence[float]
    """How often it runs in a second, by step."""
    one: bool = False
    """Whether all runs are for the most popular values."""

    @property
    def peak(self) -> float:
        """Its highest rate."""
        return max(self.rates)

    @property
    def runs(self) -> float:
        """How often it runs in a day."""
        return sum(self.rates) * STEP_SECONDS


@dataclass(frozen=True)
class Load:
    """What meets the tables in a day, with so many users."""

    users: int
    sources: Sequence[Source]
    popularity: Mapping[str, Popularity]
    sizes: Mapping[TableOrIndex, float] = field(default_factory=dict)
    """The bytes in each table and index."""
    tables: Mapping[str, RunTable] = field(default_factory=dict)
    """How each table is run, by its name."""

    @property
    def places(self) -> list[TableOrIndex]:
        """The tables and indexes that are touched, in order."""
        found = {touch.place for source in self.sources for touch in source.operation.touches}
        return sorted(found, key=lambda place: (place.table, place.index or ""))

    @property
    def runs(self) -> float:
        """How many operations run in a day."""
        return sum(source.runs for source in self.sources)

    @property
    def peak_step(self) -> int:
        """The busiest step of the day."""
        rates = [sum(source.rates[step] for source in self.sources) for step in range(STEPS)]
        return rates.index(max(rates))

    def popularity_of(self, entity: str) -> Popularity:
        """How unequally the items of an entity are asked for."""
        return self.popularity.get(entity, DEFAULT_POPULARITY)


DEFAULT_POPULARITY = Popularity()


def load_of(design: type[Design], metered: MeteredDesign, traffic: Traffic, users: int | None = None) -> Load:
    """The load of a traffic file, with another number of users if one is given."""
    scaled = replace(traffic, users=traffic.users if users is None else users)
    values = Values(design, traffic, scaled.users)
    weights = step_weights(traffic)
    by_name = {each.name: each for each in operations(design, metered, traffic, values)}
    sources = []
    for name, rate in _rates(scaled).items():
        if name in by_name:
            sources.append(Source(by_name[name], [rate * weight for weight in weights]))
    for job in traffic.jobs:
        if job.run in by_name:
            rate = scaled.per_second(job.rate)
            sources.append(Source(by_name[job.run], [rate * part for part in _within(job.start, job.hours)], job.one))
    tables = run_tables(design, traffic)
    sizes: dict[TableOrIndex, float] = {}
    for entity in design.entities:
        for place, stored in metered.stored.get(entity.__name__, {}).items():
            home = tables[place.table].payer(place)
            sizes[home] = sizes.get(home, 0.0) + stored.size * values.count(entity)
    return Load(scaled.users, sources, traffic.popularity, sizes, tables)


def _rates(traffic: Traffic) -> dict[str, float]:
    """How often each pattern and write runs in a second on average, with what is repeated."""
    rates = {name: traffic.per_second(each.rate) * (1 + each.retries) for name, each in traffic.patterns.items()}
    for (name, kind), each in traffic.writes.items():
        rates[f"{name}.{kind}"] = traffic.per_second(each.rate) * (1 + each.retries)
    return rates


def step_weights(traffic: Traffic) -> list[float]:
    """How busy each step of a day is, compared with the average of all."""
    if traffic.hours:
        average = sum(traffic.hours) / HOURS
        hours = [each / average for each in traffic.hours]
    else:
        hours = _curve(traffic.peak)
    return [hours[step * STEP_SECONDS // 3600] for step in range(STEPS)]


def _curve(peak: float) -> list[float]:
    """24 hours with their peak in the evening, as many times as busy as the average."""
    if peak <= 1:
        return [1.0] * HOURS
    low, high = 0.0, 200.0
    for _ in range(60):  # the sharper the curve, the higher its peak
        sharp = (low + high) / 2
        hours = _hours(sharp)
        low, high = (sharp, high) if max(hours) < peak else (low, sharp)
    return _hours(low)


def _hours(sharp: float) -> list[float]:
    shape = [math.exp(sharp * (math.cos((hour - 20) / HOURS * 2 * math.pi) - 1)) for hour in range(HOURS)]
    average = sum(shape) / HOURS
    return [each / average for each in shape]


def _within(start: float, hours: float) -> list[float]:
    """The part of each step in which a job runs."""
    parts = [0.0] * STEPS
    first, last = start * 3600 / STEP_SECONDS, (start + hours) * 3600 / STEP_SECONDS
    for step in range(math.floor(first), math.ceil(last)):
        parts[step % STEPS] = min(last, step + 1) - max(first, step)
    return parts
