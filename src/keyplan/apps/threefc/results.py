"""What goes out of 3FC's API that is put together or computed: sheets, results, tables, scorers."""

from typing import Annotated

from pydantic import Field

from keyplan.apps.threefc.entities import Status
from keyplan.apps.threefc.models import GameOut, GoalOut, RosterOut, TeamOut
from keyplan.web import Out, Time


class TeamScore(Out):
    """What a team has in a game."""

    team_id: str
    conceded: int
    scored: int


class Result(Out):
    """How a game stands, or ended."""

    game_id: str
    status: Status
    scores: Annotated[list[TeamScore], Field(description="The best first.")]
    winner_id: Annotated[str | None, Field(description="None for a draw.")]
    drawn_ids: Annotated[list[str], Field(description="The teams that share the top; none where there is a winner.")]


class GameResult(Out):
    """A game of a list, and how it stands or ended."""

    game: GameOut
    result: Result


class Sheet(Out):
    """Everything about a game."""

    game: GameOut
    roster: Annotated[list[RosterOut], Field(description="By team.")]
    timeline: list[GoalOut]
    result: Result
    changed_at: Annotated[
        Time, Field(description="When the game itself was changed last: while it is live, as a rule, its kick-off.")
    ]
    version: Annotated[int, Field(description="Another one as soon as anything on the sheet is changed.")]

    @property
    def last_goal(self) -> GoalOut | None:
        """The goal that was entered last."""
        return max(self.timeline, key=lambda goal: goal.event_id, default=None)


class LineUp(Out):
    """Who plays in a game, by name."""

    teams: list[TeamOut]
    players: dict[str, str]


class Row(Out):
    """A team in the season table."""

    team_id: str
    name: str
    played: int
    won: int
    drawn: int
    lost: int
    conceded: int
    scored: int
    points: int


class SeasonTable(Out):
    """The season table, of its finished games."""

    season_id: str
    game_count: int
    rows: Annotated[list[Row], Field(description="The best first.")]


class ScorerOut(Out):
    """What a player did in the finished games of a season."""

    player_id: str
    display_name: str
    goals: int
    assists: int
    own_goals: int
