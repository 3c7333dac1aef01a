"""What goes into and out of 3FC's API: fields put together, and what is computed."""

from typing import Annotated

from pydantic import Field

from keyplan.apps.threefc.fields import (
    GameCount,
    GameId,
    GameRef,
    GameShown,
    GameStart,
    GameStatus,
    GameTeams,
    GoalFields,
    GoalId,
    GrantRole,
    GrantUser,
    LeagueFields,
    LeagueId,
    LeagueShown,
    Named,
    PlayerFields,
    PlayerId,
    PlayerName,
    PlayerRef,
    PlayerShown,
    RosterShown,
    SeasonFields,
    SeasonId,
    SeasonRef,
    SeasonShown,
    SessionFields,
    SessionId,
    SessionShown,
    Slug,
    TeamFields,
    TeamId,
    TeamRef,
)
from keyplan.design import Versioned, about
from keyplan.web import Change, In, Out, Time

# Leagues


class NewLeague(Named, LeagueId, In):
    """A league. Without a slug, one is made from the name."""

    slug: Annotated[
        Slug | None, about("Short name", "Lowercase letters, digits and hyphens. Leave empty to make it from the name.")
    ] = None


class LeagueChange(Change[LeagueFields]):
    """Another name or slug."""


class LeagueOut(GrantRole, LeagueShown, Out):
    """A league, and the caller's role in it."""


class Grant(GrantRole, In):
    """What somebody may do in a league."""


class GrantOut(Versioned, GrantRole, GrantUser, Out):
    """A grant, as admins see it."""


class NewPlayer(PlayerFields, PlayerId, In):
    """A player of a league, and the user account, if there is one."""


class PlayerChange(Change[PlayerFields]):
    """The fields of a player to change. Fields left out stay as they are."""


class PlayerOut(PlayerShown, Out):
    """A player."""


# Seasons


class NewSeason(SeasonFields, SeasonId, In):
    """A season of a league."""


class SeasonChange(Change[SeasonFields]):
    """The fields of a season to change. Fields left out stay as they are."""


class SeasonOut(SeasonShown, Out):
    """A season."""


class NewTeam(TeamFields, TeamId, In):
    """A team of a season."""


class TeamChange(Change[TeamFields]):
    """The fields of a team to change. Fields left out stay as they are."""


class TeamOut(Versioned, TeamFields, SeasonRef, TeamId, GameCount, Out):
    """A team."""


class NewSession(SessionFields, SessionId, In):
    """A day on which games are played."""


class SessionOut(SessionShown, Out):
    """A session."""


# Games


class NewGame(GameTeams, GameStart, GameId, In):
    """A game of three teams of the season."""


class GameChange(GameStart, In):
    """Another start."""


class StatusChange(GameStatus, In):
    """The next status: from scheduled to live to finished, and back to live."""


class GameOut(GameShown, Out):
    """A game."""


class Assignment(PlayerRef, TeamRef, In):
    """A player, and the player's team in this game."""


class TeamChoice(TeamRef, In):
    """A player's team in this game."""


class RosterOut(RosterShown, Out):
    """A player on a team of a game."""


class NewGoal(GoalFields, In):
    """A goal: who conceded it, who scored it, and who assisted. An own goal has no scoring team."""


class GoalChange(Change[GoalFields]):
    """The fields of a goal to change. Fields left out stay as they are."""


class GoalOut(Versioned, GoalFields, GoalId, Out):
    """A goal."""


# Results


class TeamScore(TeamRef, Out):
    """The goals of a team in a game."""

    conceded: int
    scored: int


class Result(GameStatus, GameRef, Out):
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


class Row(Named, TeamRef, Out):
    """A team in the season table."""

    played: int
    won: int
    drawn: int
    lost: int
    conceded: int
    scored: int
    points: int


class SeasonTable(SeasonRef, Out):
    """The season table, made from its finished games."""

    game_count: Annotated[int, Field(description="Finished games.")]
    rows: Annotated[list[Row], Field(description="The best team first.")]


class ScorerOut(PlayerName, PlayerRef, Out):
    """A player's goals and assists in the finished games of a season."""

    goals: int
    assists: int
    own_goals: int
