"""What at-bats add up to. No statistics are stored: every number is counted from the at-bats themselves."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction

from keyplan.apps.hacktracker.entities import AtBat
from keyplan.apps.hacktracker.fields import Result
from keyplan.apps.hacktracker.models import InningLine, Point, SprayChart, Statistics

BASES: Mapping[Result, int] = {"1B": 1, "2B": 2, "3B": 3, "HR": 4}
"""The hits, and how many bases each is worth."""
NO_AT_BAT: frozenset[Result] = frozenset({"BB", "HBP", "SAC", "SF"})
"""Plate appearances that don't count as at-bats in the averages."""
MOST_POINTS = 1000
"""Points of a spray chart at most."""


def statistics_of(at_bats: Iterable[AtBat]) -> Statistics:
    """The statistics of some at-bats."""
    taken = list(at_bats)
    results = Counter(each.result for each in taken)
    at_bat_count = sum(number for result, number in results.items() if result not in NO_AT_BAT)
    hits = sum(results[result] for result in BASES)
    bases = sum(results[result] * worth for result, worth in BASES.items())
    on_base = hits + results["BB"] + results["HBP"]
    obp = _share(on_base, at_bat_count + results["BB"] + results["HBP"] + results["SF"])
    slg = _share(bases, at_bat_count)
    return Statistics(
        games=len({each.game_id for each in taken}),
        plate_appearances=len(taken),
        at_bats=at_bat_count,
        hits=hits,
        singles=results["1B"],
        doubles=results["2B"],
        triples=results["3B"],
        home_runs=results["HR"],
        total_bases=bases,
        walks=results["BB"],
        hit_by_pitch=results["HBP"],
        strikeouts=results["K"],
        sacrifices=results["SAC"],
        sacrifice_flies=results["SF"],
        fielders_choices=results["FC"],
        errors=results["E"],
        rbi=sum(each.rbi for each in taken),
        runs=sum(each.runs for each in taken),
        avg=_rounded(_share(hits, at_bat_count)),
        obp=_rounded(obp),
        slg=_rounded(slg),
        # Of the exact numbers: the sum of two rounded ones may be off in its last digit.
        ops=None if obp is None or slg is None else _rounded(obp + slg),
    )


def _share(part: int, whole: int) -> Fraction | None:
    return Fraction(part, whole) if whole else None


def _rounded(value: Fraction | None) -> float | None:
    if value is None:
        return None
    exact = Decimal(value.numerator) / Decimal(value.denominator)
    return float(exact.quantize(Decimal("0.001"), ROUND_HALF_UP))


def by_inning(at_bats: Sequence[AtBat]) -> list[InningLine]:
    """The runs of every inning up to the last that was batted in."""
    runs: Counter[int] = Counter()
    for each in at_bats:
        runs[each.inning] += each.runs
    return [InningLine(inning=inning, runs=runs[inning]) for inning in range(1, max(runs, default=0) + 1)]


def spray_chart_of(at_bats: Iterable[AtBat]) -> SprayChart:
    """Where the balls of some at-bats went, the latest first."""
    hits = [(each, each.hit_location) for each in at_bats if each.hit_location is not None]
    hits.sort(key=lambda hit: hit[0].at_bat_id, reverse=True)
    return SprayChart(points=[Point.from_fields(each, x=at.x, y=at.y) for each, at in hits[:MOST_POINTS]])
