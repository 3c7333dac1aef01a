"""Who won, and who leads: the arithmetic of three-sided football."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

WIN, DRAW = 3, 1


class Scored(Protocol):
    """A goal, stored or shown."""

    @property
    def conceding_team_id(self) -> str: ...
    @property
    def scoring_team_id(self) -> str | None: ...
    @property
    def scorer_id(self) -> str | None: ...
    @property
    def assist_ids(self) -> Sequence[str]: ...
    @property
    def own_goal(self) -> bool: ...


@dataclass(frozen=True)
class Score:
    """The goals of a team in a game."""

    team_id: str
    conceded: int
    scored: int

    @property
    def rank(self) -> tuple[int, int]:
        """Fewest conceded, then most scored; the smallest wins."""
        return self.conceded, -self.scored


@dataclass(frozen=True)
class Outcome:
    """The scores of a game, the best first, and the teams at the top."""

    scores: tuple[Score, ...]

    @property
    def top(self) -> list[str]:
        """The teams at the top: one wins, several draw."""
        return [score.team_id for score in self.scores if score.rank == self.scores[0].rank]

    @property
    def winner(self) -> str | None:
        return self.top[0] if len(self.top) == 1 else None


def outcome(team_ids: Iterable[str], goals: Iterable[Scored]) -> Outcome:
    """The scores of a game after these goals. Tied teams are in the order of the game."""
    conceded: Counter[str] = Counter()
    scored: Counter[str] = Counter()
    for goal in goals:
        conceded[goal.conceding_team_id] += 1
        if goal.scoring_team_id is not None and not goal.own_goal:
            scored[goal.scoring_team_id] += 1
    scores = [Score(team_id, conceded[team_id], scored[team_id]) for team_id in team_ids]
    return Outcome(tuple(sorted(scores, key=lambda score: score.rank)))


@dataclass
class Standing:
    """The results of a team in a season."""

    team_id: str
    name: str
    won: int = 0
    drawn: int = 0
    lost: int = 0
    conceded: int = 0
    scored: int = 0

    @property
    def played(self) -> int:
        return self.won + self.drawn + self.lost

    @property
    def points(self) -> int:
        return WIN * self.won + DRAW * self.drawn

    @property
    def rank(self) -> tuple[int, int, int, str, str]:
        """Most points, then fewest conceded, most scored, name."""
        return -self.points, self.conceded, -self.scored, self.name.casefold(), self.team_id

    def add(self, score: Score, top: Sequence[str]) -> None:
        """Count a game."""
        self.conceded += score.conceded
        self.scored += score.scored
        if score.team_id not in top:
            self.lost += 1
        elif len(top) == 1:
            self.won += 1
        else:
            self.drawn += 1


def season_table(names: Mapping[str, str], games: Iterable[Outcome]) -> list[Standing]:
    """The season table after these games, the best team first; `names` are those of the teams, by id."""
    table = {team_id: Standing(team_id, name) for team_id, name in names.items()}
    for game in games:
        for score in game.scores:
            table[score.team_id].add(score, game.top)
    return sorted(table.values(), key=lambda standing: standing.rank)


@dataclass
class Tally:
    """The goals and assists of a player."""

    goals: int = 0
    assists: int = 0
    own_goals: int = 0


def tallies(goals: Iterable[Scored]) -> dict[str, Tally]:
    """The goals and assists of each player whom a goal names."""
    found: dict[str, Tally] = {}
    for goal in goals:
        if goal.scorer_id is not None:
            tally = found.setdefault(goal.scorer_id, Tally())
            tally.goals += not goal.own_goal
            tally.own_goals += goal.own_goal
        for player_id in goal.assist_ids:
            found.setdefault(player_id, Tally()).assists += 1
    return found
