"""What goes into and out of 3FC's API: fields put together, and what is computed."""

from typing import Annotated

from pydantic import Field

from keyplan.apps.threefc import fields
from keyplan.design import Versioned, about
from keyplan.web import Change, In, Out, Time

# Leagues


class NewLeague(fields.Named, fields.LeagueId, In):
    """A league. Without a slug, one is made from the name."""

    slug: Annotated[
        fields.Slug | None,
        about("Short name", "Lowercase letters, digits and hyphens. Leave empty to make it from the name."),
    ] = None


class LeagueChange(Change[fields.LeagueFields]):
    """Another name or slug."""


class LeagueOut(fields.GrantRole, fields.LeagueShown, Out):
    """A league, and the caller's role in it."""


class Grant(fields.GrantRole, In):
    """What somebody may do in a league."""


class GrantOut(Versioned, fields.GrantRole, fields.GrantUser, Out):
    """A grant, as admins see it."""


class NewPlayer(fields.PlayerFields, fields.PlayerId, In):
    """A player of a league, and the user account, if there is one."""


class PlayerChange(Change[fields.PlayerFields]):
    """The fields of a player to change. Fields left out stay as they are."""


class PlayerOut(fields.PlayerShown, Out):
    """A player."""


# Seasons


class NewSeason(fields.SeasonFields, fields.SeasonId, In):
    """A season of a league."""


class SeasonChange(Change[fields.SeasonFields]):
    """The fields of a season to change. Fields left out stay as they are."""


class SeasonOut(fields.SeasonShown, Out):
    """A season."""


class NewTeam(fields.TeamFields, fields.TeamId, In):
    """A team of a season."""


class TeamChange(Change[fields.TeamFields]):
    """The fields of a team to change. Fields left out stay as they are."""


class TeamOut(Versioned, fields.TeamFields, fields.SeasonRef, fields.TeamId, fields.GameCount, Out):
    """A team."""


class NewSession(fields.SessionFields, fields.SessionId, In):
    """A day on which games are played."""


class SessionOut(fields.SessionShown, Out):
    """A session."""


# Games


class NewGame(fields.GameTeams, fields.GameStart, fields.GameId, In):
    """A game of three teams of the season."""


class GameChange(fields.GameStart, In):
    """Another start."""


class StatusChange(fields.GameStatus, In):
    """The next status: from scheduled to live to finished, and back to live."""


class GameOut(fields.GameShown, Out):
    """A game."""


class Assignment(fields.PlayerRef, fields.TeamRef, In):
    """A player, and the player's team in this game."""


class TeamChoice(fields.TeamRef, In):
    """A player's team in this game."""


class RosterOut(fields.RosterShown, Out):
    """A player on a team of a game."""


class NewGoal(fields.GoalFields, In):
    """A goal: who conceded it, who scored it, and who assisted. An own goal has no scoring team."""


class GoalChange(Change[fields.GoalFields]):
    """The fields of a goal to change. Fields left out stay as they are."""


class GoalOut(Versioned, fields.GoalFields, fields.GoalId, Out):
    """A goal."""


# Results


class TeamScore(fields.TeamRef, Out):
    """The goals of a team in a game."""

    conceded: int
    scored: int


class Result(fields.GameStatus, fields.GameRef, Out):
    """The score of a game, so far or final."""

    scores: Annotated[list[TeamScore], Field(description="The best team first.")]
    winner_id: Annotated[str | None, Field(description="None for a draw.")]
    drawn_ids: Annotated[list[str], Field(description="The teams tied at the top; none if there is a winner.")]


class GameResult(Out):
    """A game in a list, with its score."""

    game: GameOut
    result: Result


class Sheet(Out):
    """Everything about a game."""

    game: GameOut
    roster: Annotated[list[RosterOut], Field(description="By team.")]
    timeline: list[GoalOut]
    result: Result
    changed_at: Annotated[
        Time, Field(description="When the game itself was last changed: while it is live, usually its kick-off.")
    ]
    version: Annotated[int, Field(description="Changes whenever anything on the sheet changes.")]

    @property
    def last_goal(self) -> GoalOut | None:
        """The goal that was entered last."""
        return max(self.timeline, key=lambda goal: goal.event_id, default=None)


class LineUp(Out):
    """The names of those who play in a game."""

    teams: list[TeamOut]
    players: dict[str, str]


class Row(fields.Named, fields.TeamRef, Out):
    """A team in the season table."""

    played: int
    won: int
    drawn: int
    lost: int
    conceded: int
    scored: int
    points: int


class SeasonTable(fields.SeasonRef, Out):
    """The season table, made from its finished games."""

    game_count: Annotated[int, Field(description="Finished games.")]
    rows: Annotated[list[Row], Field(description="The best team first.")]


class ScorerOut(fields.PlayerName, fields.PlayerRef, Out):
    """A player's goals and assists in the finished games of a season."""

    goals: int
    assists: int
    own_goals: int
