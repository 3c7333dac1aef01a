"""What a design costs: `Cost`, with a line for each pattern, write, table and service."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from keyplan.capacity.consumed import TableOrIndex, Units
from keyplan.capacity.prices import Charge, Price, Prices

LineKind: TypeAlias = Literal["pattern", "write", "capacity", "storage", "stream", "backup"]

GB = 2**30
"""A gigabyte as AWS bills it. The pricing page counts 42,177,000 writes of 1 KB as 40.22 GB."""


@dataclass(frozen=True)
class CostPart:
    """So much of something that is charged for, in a month."""

    place: TableOrIndex
    charge: Charge
    amount: float
    usd: float | None
    """None if the price isn't known."""


@dataclass(frozen=True)
class CostLine:
    """What a pattern, a write, or a table's storage costs in a month."""

    kind: LineKind
    name: str
    """The pattern, the write (`Post.create`), or the table with what is charged for."""
    parts: tuple[CostPart, ...]
    runs: float | None = None
    """How often a pattern or write runs in a month, with retries."""
    units: Mapping[TableOrIndex, Units] = field(default_factory=dict)
    """What one run consumes."""

    @property
    def usd(self) -> float:
        """What it costs, without parts whose price isn't known."""
        return sum(part.usd or 0.0 for part in self.parts)

    @property
    def is_complete(self) -> bool:
        """Whether the prices of all parts are known."""
        return all(part.usd is not None for part in self.parts)


@dataclass(frozen=True)
class Cost:
    """What a design costs in a month, in US dollars."""

    prices: Prices
    lines: tuple[CostLine, ...]
    """The most expensive first."""
    users: int
    requests: float
    """The requests of all users in a month."""
    free: float | None = None
    """What the free tier takes off; None if it wasn't asked for."""
    growth: float = 0.0
    """By how much storage grows more expensive each month."""
    missing: tuple[Charge, ...] = ()
    """What isn't in the sum, because its price isn't known."""
    unmetered: Mapping[str, str] = field(default_factory=dict)
    """What isn't in the sum, because it couldn't be metered, and why."""
    notes: tuple[str, ...] = ()

    @property
    def total(self) -> float:
        """The sum of everything whose price is known."""
        return sum(line.usd for line in self.lines) - (self.free or 0.0)

    @property
    def per_user(self) -> float | None:
        """What a user costs in a month."""
        return self.total / self.users if self.users else None

    @property
    def per_request(self) -> float | None:
        """What a request costs."""
        return self.total / self.requests if self.requests else None

    @property
    def used_prices(self) -> Mapping[Charge, Price]:
        """The prices that were used."""
        charges = dict.fromkeys(part.charge for line in self.lines for part in line.parts)
        return {charge: price for charge in charges if (price := self.prices.find(charge)) is not None}


def priced(prices: Prices, place: TableOrIndex, charge: Charge, amount: float) -> CostPart:
    """A part with its price, if that is known."""
    price = prices.find(charge)
    return CostPart(place, charge, amount, None if price is None else price.usd * amount)


def amounts(lines: Iterable[CostLine]) -> dict[Charge, float]:
    """How much of everything is charged for in a month."""
    sums: dict[Charge, float] = {}
    for line in lines:
        for part in line.parts:
            sums[part.charge] = sums.get(part.charge, 0.0) + part.amount
    return sums
