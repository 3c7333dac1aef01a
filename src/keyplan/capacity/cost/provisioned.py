"""Provisioned capacity: how many units an hour has under auto scaling, and what they cost.

A day has 24 hours whose loads follow a smooth curve with the average and the peak of the traffic. In each hour, as much
is provisioned as keeps the target utilization, and at least one unit. Auto scaling is thought to be at the target at
all times; in fact it follows within minutes. Reserved capacity is what every hour of the day needs, in steps of 100.
"""

import math
from collections.abc import Mapping
from functools import cache
from typing import Final

from keyplan.capacity.consumed import TableOrIndex
from keyplan.capacity.cost.model import CostPart, priced
from keyplan.capacity.cost.tables import RunTable
from keyplan.capacity.prices import Charge, Prices
from keyplan.capacity.prices.model import Item
from keyplan.capacity.quantities import HOURS_OF_MONTH
from keyplan.capacity.traffic.model import Reserved

_HOURS: Final = 24
_BLOCK: Final = 100
"""Reserved capacity is sold in steps of so many units."""
_MONTHS: Mapping[Reserved, int] = {"1 year": 12, "3 years": 36}
_BUSIEST: Final = 20
"""The hour with the most load; which one it is doesn't matter."""


@cache
def day_of(peak: float) -> tuple[float, ...]:
    """The load of each hour of a day, as a multiple of the average; the highest is `peak`."""
    angles = [math.cos(2 * math.pi * (hour - _BUSIEST) / _HOURS) for hour in range(_HOURS)]
    low, high = 0.0, 500.0  # the steepness: 0 is an even day, and in the limit all load is in one hour
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if _curve(angles, middle)[_BUSIEST] < peak else (low, middle)
    return _curve(angles, high if peak > 1 else 0.0)


def _curve(angles: list[float], steepness: float) -> tuple[float, ...]:
    loads = [math.exp(steepness * (angle - 1)) for angle in angles]
    return tuple(load * _HOURS / sum(loads) for load in loads)


def hourly_units(run: RunTable, place: TableOrIndex, load: float, peak: float, *, write: bool) -> list[int]:
    """The units that are provisioned in each hour of a day for a load of so many units a second on average."""
    if run.mode == "fixed":
        declared = run.table.capacity or (0, 0)
        return [declared[1 if write else 0]] * _HOURS
    return [max(1, math.ceil(load * hour / run.use.utilization)) for hour in day_of(peak)]


def capacity_parts(
    run: RunTable, hours: Mapping[TableOrIndex, list[int]], prices: Prices, *, write: bool
) -> list[CostPart]:
    """What the capacity of a table and its indexes costs in a month, reserved or not."""
    kind = "write" if write else "read"
    item: Item = "write capacity" if write else "read capacity"
    per_hour = HOURS_OF_MONTH / _HOURS
    total = [sum(each) for each in zip(*hours.values(), strict=True)]
    reserved = 0
    if run.reserved != "no" and not run.infrequent:
        reserved = min(total) // _BLOCK * _BLOCK
    all_units = sum(total)
    parts = []
    for place, units in hours.items():
        share = sum(units) / all_units if all_units else 0.0
        rest = (all_units - reserved * _HOURS) * share * per_hour
        parts.append(priced(prices, place, Charge(item, run.infrequent), rest))
        if reserved and run.reserved != "no":
            each = reserved * share
            hourly: Item = f"reserved {kind} {run.reserved}"  # type: ignore[assignment]  # one of the items
            upfront: Item = f"{hourly} upfront"  # type: ignore[assignment]  # one of the items
            parts.append(priced(prices, place, Charge(hourly), each * HOURS_OF_MONTH))
            parts.append(priced(prices, place, Charge(upfront), each / _MONTHS[run.reserved]))
    return parts
