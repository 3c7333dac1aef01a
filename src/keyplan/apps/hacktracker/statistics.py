"""Statistics: what at-bats add up to. Nothing is stored; every number is counted from the at-bats themselves."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from typing import Annotated

from pydantic import Field

from keyplan.apps.hacktracker.entities import AtBat, Result
from keyplan.web import Out, Time

BASES: Mapping[Result, int] = {"1B": 1, "2B": 2, "3B": 3, "HR": 4}
"""The hits, and how many bases each is worth."""
NO_AT_BAT: frozenset[Result] = frozenset({"BB", "HBP", "SAC", "SF"})
"""Plate appearances that are no at-bat in the sense of the averages."""


class Statistics(Out):
    """Batting statistics. Averages have three decimals, and are none where there is nothing to divide by."""

    games: int
    plate_appearances: int
    at_bats: Annotated[int, Field(description="All but BB, HBP, SAC and SF.")]
    hits: int
    singles: int
    doubles: int
    triples: int
    home_runs: int
    total_bases: int
    walks: int
    hit_by_pitch: int
    strikeouts: int
    sacrifices: int
    sacrifice_flies: int
    fielders_choices: int
    errors: Annotated[int, Field(description="Reached base by an error.")]
    rbi: int
    runs: Annotated[int, Field(description="Runs scored on the plays.")]
    avg: Annotated[float | None, Field(description="H / AB")]
    obp: Annotated[float | None, Field(description="(H + BB + HBP) / (AB + BB + HBP + SF)")]
    slg: Annotated[float | None, Field(description="Total bases / AB")]
    ops: Annotated[float | None, Field(description="OBP + SLG")]

    @classmethod
    def of(cls, at_bats: Iterable[AtBat]) -> "Statistics":
        """What these add up to."""
        taken = list(at_bats)
        results = Counter(each.result for each in taken)
        at_bat_count = sum(number for result, number in results.items() if result not in NO_AT_BAT)
        hits = sum(results[result] for result in BASES)
        bases = sum(results[result] * worth for result, worth in BASES.items())
        on_base = hits + results["BB"] + results["HBP"]
        obp = _share(on_base, at_bat_count + results["BB"] + results["HBP"] + results["SF"])
        slg = _share(bases, at_bat_count)
        return cls(
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


class PlayerLine(Out):
    """A player's line in a table of statistics."""

    player_id: str
    name: str
    player_number: int | None
    statistics: Statistics


class PlayerStatistics(Out):
    """The statistics of a player."""

    team_id: str
    player_id: str
    season_id: str | None
    statistics: Statistics


class TeamStatistics(Out):
    """The statistics of a team, and of each of its players who batted."""

    team_id: str
    season_id: str | None
    total: Statistics
    players: list[PlayerLine]


class SeasonLine(Out):
    """The statistics of a team under one season label; none: games without one."""

    season_id: str | None
    statistics: Statistics


class Seasons(Out):
    """The statistics of a team, season by season."""

    team_id: str
    seasons: list[SeasonLine]


class InningLine(Out):
    """What was scored in an inning."""

    inning: int
    runs: int


class BoxScore(Out):
    """The statistics of a game: who batted in which order, and what was scored when."""

    game_id: str
    team_score: int
    opponent_score: int
    innings: list[InningLine]
    total: Statistics
    players: list[PlayerLine]


class TeamLine(Out):
    """What somebody batted for one team."""

    team_id: str
    team_name: str
    statistics: Statistics


class UserStatistics(Out):
    """What somebody batted for all their teams, those included that are gone."""

    season_id: str | None
    total: Statistics
    teams: list[TeamLine]


class Point(Out):
    """Where a ball went: x from left to right, y from home plate outwards, both from 0 to 1."""

    x: float
    y: float
    result: Result
    player_id: str
    game_id: str
    at_bat_id: str
    game_date: Time | None

    @classmethod
    def of(cls, at_bat: AtBat) -> "Point":
        assert at_bat.hit_location is not None
        where = at_bat.hit_location
        return cls.model_validate({**at_bat.model_dump(), "x": where.x, "y": where.y})


class SprayChart(Out):
    """The points of a spray chart, the latest first; at most 1000."""

    points: list[Point]

    @classmethod
    def of(cls, at_bats: Iterable[AtBat]) -> "SprayChart":
        hit = [each for each in at_bats if each.hit_location is not None]
        hit.sort(key=lambda each: each.at_bat_id, reverse=True)
        return cls(points=[Point.of(each) for each in hit[:MOST_POINTS]])


MOST_POINTS = 1000


def by_inning(at_bats: Sequence[AtBat]) -> list[InningLine]:
    """The runs of every inning up to the last that was batted in."""
    runs: Counter[int] = Counter()
    for each in at_bats:
        runs[each.inning] += each.runs
    return [InningLine(inning=inning, runs=runs[inning]) for inning in range(1, max(runs, default=0) + 1)]
