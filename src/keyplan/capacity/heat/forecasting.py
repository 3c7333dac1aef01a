"""`forecast`: where a design runs hot with so many users, and what would help."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from keyplan.capacity.consumed import TableOrIndex
from keyplan.capacity.heat.hot_keys import HotKey, Kind, hot_keys, relieved
from keyplan.capacity.heat.load import STEP_SECONDS, Load, load_of
from keyplan.capacity.heat.simulation import Simulated, simulate
from keyplan.capacity.metering import MeteredDesign
from keyplan.capacity.traffic.model import Traffic
from keyplan.design import Design

_USERS = [1, *(round(10 ** (exponent / 2)) for exponent in range(4, 21))]
"""The numbers of users for which keys are looked at: one, and from 100 to 10 billion."""


@dataclass(frozen=True)
class Forecast:
    """What will happen with so many users."""

    name: str
    load: Load
    simulated: Simulated
    hot: Sequence[HotKey]
    """The hottest keys, from 30 % of what a partition can serve on."""
    hot_from: dict[tuple[TableOrIndex, str, Kind], int]
    """The number of users from which on a key is asked for more than a partition can serve. 0: however few there are,
    because that isn't asked by users."""
    after: Simulated | None
    """The same day with what helps the keys that are too hot. None: none is."""
    left_out: dict[str, str]
    """What could not be metered, and why."""

    @property
    def users(self) -> int:
        return self.load.users

    @property
    def too_hot(self) -> list[HotKey]:
        """The keys that are asked for more than a partition can serve."""
        return [key for key in self.hot if key.load > 1]

    @property
    def peak_rate(self) -> float:
        """How many operations run in a second at the busiest time."""
        return sum(source.rates[self.load.peak_step] for source in self.load.sources)

    def throttled(self, simulated: Simulated | None = None) -> float:
        """The share of all operations that was refused."""
        day = simulated or self.simulated
        runs = {source.operation.name: 0.0 for source in self.load.sources}
        for source in self.load.sources:
            runs[source.operation.name] += source.runs
        total = sum(runs.values())
        return sum(day.throttled.get(name, 0.0) * each for name, each in runs.items()) / total if total else 0.0

    def hot_from_users(self, key: HotKey) -> int | None:
        """The number of users from which on a key is too hot; 0 if it always is, None if it never is."""
        return self.hot_from.get((*key.touch.identity, key.kind))


def forecast(
    design: type[Design],
    metered: MeteredDesign,
    traffic: Traffic,
    *,
    users: int | None = None,
    requests: int = 1_000_000,
    seed: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> Forecast:
    """Where a design runs hot under this traffic, with another number of users if one is given."""
    load = load_of(design, metered, traffic, users)
    found = hot_keys(load)
    too_hot = [key for key in found if key.load > 1]
    rounds = 2 if too_hot else 1
    simulated = simulate(load, requests, seed, _part(progress, 0, rounds))
    after = simulate(relieved(load, too_hot), requests, seed, _part(progress, 1, rounds)) if too_hot else None
    return Forecast(
        design.__name__, load, simulated, found, _hot_from(design, metered, traffic), after, dict(metered.failures)
    )


def _hot_from(
    design: type[Design], metered: MeteredDesign, traffic: Traffic
) -> dict[tuple[TableOrIndex, str, Kind], int]:
    """The number of users from which on each key is too hot, between two of which a line is drawn."""
    found: dict[tuple[TableOrIndex, str, Kind], int] = {}
    before: dict[tuple[TableOrIndex, str, Kind], float] = {}
    for number, users in enumerate(_USERS):
        now = {
            (*key.touch.identity, key.kind): key.load for key in hot_keys(load_of(design, metered, traffic, users), 0)
        }
        for identity, load in now.items():
            if load > 1 and identity not in found:
                low, less = (_USERS[number - 1], before.get(identity, 0.0)) if number else (0, 0.0)
                found[identity] = round(low + (users - low) * (1 - less) / (load - less)) if number else 0
        before = now
    return found


def _part(progress: Callable[[int, int], None] | None, number: int, of: int) -> Callable[[int, int], None] | None:
    if progress is None:
        return None
    return lambda done, total: progress(number * total + done, of * total)


def clock(step: int) -> str:
    """The time of day at which a step begins."""
    minutes = step * STEP_SECONDS // 60
    return f"{minutes // 60:02}:{minutes % 60:02}"
