"""What goes into and out of 3FC's API."""

from datetime import UTC, date, datetime
from typing import Annotated, TypeAlias

from pydantic import AfterValidator, AwareDatetime, Field, StringConstraints

from keyplan.apps.threefc.entities import (
    Acl,
    Game,
    Goal,
    League,
    Player,
    PlayerProfile,
    Role,
    Roster,
    Season,
    Session,
    Status,
    Team,
    Teams,
    Third,
)
from keyplan.web import In, Out, Time, UserId

SLUG_LENGTH = 80


def _in_milliseconds(moment: datetime) -> datetime:
    if not 1900 <= moment.year <= 9998:
        raise ValueError("a time is in the years 1900 to 9998")
    moment = moment.astimezone(UTC)
    return moment.replace(microsecond=moment.microsecond // 1000 * 1000)


ItemId: TypeAlias = Annotated[
    str,
    StringConstraints(strip_whitespace=False, pattern=r"^[^.#/\x00-\x20\x7f][^#/\x00-\x20\x7f]{0,127}$"),
    Field(description="Up to 128 characters that can stand in an address; no # and no /."),
]
"""An id that a caller chose, or that was made."""
EventId: TypeAlias = Annotated[str, StringConstraints(pattern=r"^[0-9A-HJKMNP-TV-Z]{26}$")]
Name: TypeAlias = Annotated[str, StringConstraints(min_length=1, max_length=80)]
Slug: TypeAlias = Annotated[str, StringConstraints(pattern=r"^[a-z0-9](-?[a-z0-9]){0,79}$", max_length=SLUG_LENGTH)]
Colour: TypeAlias = Annotated[
    str,
    StringConstraints(pattern=r"^(#[0-9a-fA-F]{6}|[a-zA-Z]{3,30})$"),
    Field(description="As in CSS: a name, or # and six digits."),
]
Minute: TypeAlias = Annotated[int, Field(ge=0, le=999)]
Moment: TypeAlias = Annotated[AwareDatetime, AfterValidator(_in_milliseconds)]


# Leagues


class NewLeague(In):
    """A league. Its slug is made of its name, unless it is given."""

    league_id: ItemId | None = None
    name: Name
    slug: Slug | None = None


class LeagueChange(In):
    """Another name or slug."""

    name: Name | None = None
    slug: Slug | None = None


class LeagueOut(Out):
    """A league, and what the caller is in it."""

    league_id: str
    name: str
    slug: str
    season_count: int
    role: Role
    version: int

    @classmethod
    def of(cls, league: League, role: Role) -> "LeagueOut":
        return cls.model_validate({**league.model_dump(), "role": role})


class Grant(In):
    """What somebody may do in a league."""

    role: Role


class GrantOut(Out):
    """A grant, as admins see it."""

    user_id: str
    role: Role
    version: int

    @classmethod
    def of(cls, grant: Acl) -> "GrantOut":
        return cls.model_validate(grant)


class NewPlayer(In):
    """A player of a league, and the user it is, where that is known."""

    player_id: ItemId | None = None
    display_name: Name
    user_id: UserId | None = None


class PlayerChange(In):
    """What is to be changed of a player; what is not named stays."""

    display_name: Name | None = None
    user_id: UserId | None = None


class PlayerOut(Out):
    """A player."""

    player_id: str
    league_id: str
    display_name: str
    user_id: Annotated[str | None, Field(description="For admins only.")]
    version: int

    @classmethod
    def of(cls, player: Player | PlayerProfile, role: Role) -> "PlayerOut":
        shown = cls.model_validate(player)
        return shown if role == "admin" else shown.model_copy(update={"user_id": None})


# Seasons


class NewSeason(In):
    """A season of a league."""

    season_id: ItemId | None = None
    name: Name
    starts_on: date | None = None
    ends_on: date | None = None


class SeasonChange(In):
    """What is to be changed of a season; what is not named stays."""

    name: Name | None = None
    starts_on: date | None = None
    ends_on: date | None = None


class SeasonOut(Out):
    """A season."""

    season_id: str
    league_id: str
    name: str
    starts_on: date | None
    ends_on: date | None
    session_count: int
    team_count: int
    game_count: int
    version: int

    @classmethod
    def of(cls, season: Season) -> "SeasonOut":
        return cls.model_validate(season)


class NewTeam(In):
    """A team of a season."""

    team_id: ItemId | None = None
    name: Name
    colour: Colour


class TeamChange(In):
    """What is to be changed of a team; what is not named stays."""

    name: Name | None = None
    colour: Colour | None = None


class TeamOut(Out):
    """A team."""

    team_id: str
    season_id: str
    name: str
    colour: str
    game_count: int
    version: int

    @classmethod
    def of(cls, team: Team) -> "TeamOut":
        return cls.model_validate(team)


class NewSession(In):
    """A day on which games are played."""

    session_id: ItemId | None = None
    session_date: date


class SessionOut(Out):
    """A session."""

    session_id: str
    season_id: str
    league_id: str
    session_date: date
    game_count: int
    version: int

    @classmethod
    def of(cls, session: Session) -> "SessionOut":
        return cls.model_validate(session)


# Games


class NewGame(In):
    """A game of three teams of the season."""

    game_id: ItemId | None = None
    game_start_ts: Moment
    team_ids: Teams


class GameChange(In):
    """Another start."""

    game_start_ts: Moment


class StatusChange(In):
    """Where the game goes on: from scheduled to live to finished, and back to live."""

    status: Status


class GameOut(Out):
    """A game."""

    game_id: str
    session_id: str
    season_id: str
    league_id: str
    game_start_ts: Time
    status: Status
    team_ids: Annotated[list[str], Field(min_length=3, max_length=3)]
    player_count: int
    goal_count: int
    version: int

    @classmethod
    def of(cls, game: Game) -> "GameOut":
        return cls.model_validate(game)


class Assignment(In):
    """A player, and the team that the player is on in this game."""

    player_id: ItemId
    team_id: ItemId


class TeamChoice(In):
    """The team that a player is on in this game."""

    team_id: ItemId


class RosterOut(Out):
    """A player on a team of a game."""

    player_id: str
    team_id: str
    goal_count: Annotated[int, Field(description="Goals that name the player; as long as there are any, it stays.")]
    version: int

    @classmethod
    def of(cls, entry: Roster) -> "RosterOut":
        return cls.model_validate(entry)


class NewGoal(In):
    """A goal: who conceded it, who scored it, and who had a part in it. An own goal has no scoring team."""

    third: Third
    minute: Minute
    conceding_team_id: ItemId
    scoring_team_id: ItemId | None = None
    scorer_id: ItemId | None = None
    assist_ids: Annotated[tuple[ItemId, ...], Field(max_length=3)] = ()
    own_goal: bool = False


class GoalChange(In):
    """What is to be changed of a goal; what is not named stays."""

    third: Third | None = None
    minute: Minute | None = None
    conceding_team_id: ItemId | None = None
    scoring_team_id: ItemId | None = None
    scorer_id: ItemId | None = None
    assist_ids: Annotated[tuple[ItemId, ...], Field(max_length=3)] | None = None
    own_goal: bool | None = None


class GoalOut(Out):
    """A goal."""

    event_id: str
    third: Third
    minute: int
    conceding_team_id: str
    scoring_team_id: str | None
    scorer_id: str | None
    assist_ids: list[str]
    own_goal: bool
    version: int

    @classmethod
    def of(cls, goal: Goal) -> "GoalOut":
        return cls.model_validate(goal)
