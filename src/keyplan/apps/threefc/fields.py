"""3FC's fields, in the order and words of its document: what each of them holds, its limits, and who may set it.

The classes are small, because an envelope stores its members in this order, and because most answers leave out what
their address says already. An entity, a body or an answer is put together from them in `entities` and `models`.
"""

from datetime import UTC, date, datetime
from typing import Annotated, Literal, TypeAlias

from pydantic import AfterValidator, Field, StringConstraints, WithJsonSchema
from pydantic_core import PydanticCustomError

from keyplan.design import (
    CREATE_ONLY,
    READ_ONLY,
    Count,
    Fields,
    Id,
    NoSeparator,
    OneLine,
    Refusal,
    UserId,
    Versioned,
    about,
    limit,
    limits,
    new_id,
    new_ulid,
    on_top,
)

Role: TypeAlias = Literal["admin", "scorekeeper", "viewer"]
Status: TypeAlias = Literal["scheduled", "live", "finished"]
Third: TypeAlias = Literal[1, 2, 3]

SLUG_LENGTH = 80

SESSIONS, TEAMS, GAMES = 500, 200, 1000
"""How many a season can have: sessions are sorted by date, and its table is made, after reading all of them."""
PLAYERS, GOALS = 150, 300
"""How many a game can have."""

ItemId: TypeAlias = Annotated[
    str,
    NoSeparator(),
    StringConstraints(strip_whitespace=False, pattern=r"^[^.#/\x00-\x20\x7f][^#/\x00-\x20\x7f]{0,127}$"),
    Field(description="Up to 128 characters that can be part of a URL path, without # and /."),
]
"""An id that a caller chose, or that was generated."""
EventId: TypeAlias = Annotated[str, StringConstraints(pattern=r"^[0-9A-HJKMNP-TV-Z]{26}$")]
"""The id of a goal in an address."""
Name: TypeAlias = Annotated[str, OneLine(max_length=80)]
Slug: TypeAlias = Annotated[str, StringConstraints(pattern=r"^[a-z0-9](-?[a-z0-9]){0,79}$", max_length=SLUG_LENGTH)]
Colour: TypeAlias = Annotated[str, StringConstraints(pattern=r"^(#[0-9a-fA-F]{6}|[a-zA-Z]{3,30})$")]
Minute: TypeAlias = Annotated[int, Field(ge=0, le=999)]


def _check_moment(moment: datetime) -> None:
    if moment.tzinfo is None:
        raise PydanticCustomError("timezone_aware", "Include a time zone, such as Z or +02:00.")
    if not 1900 <= moment.year <= 9998:
        raise ValueError("the year must be between 1900 and 9998")


def _in_milliseconds(moment: datetime) -> datetime:
    """The time as it is stored."""
    moment = moment if moment.tzinfo is None else moment.astimezone(UTC)
    return moment.replace(microsecond=moment.microsecond // 1000 * 1000)


def _check_different(team_ids: tuple[str, str, str]) -> None:
    if len(set(team_ids)) < 3:
        raise ValueError("choose three different teams")


Moment: TypeAlias = Annotated[datetime, limit(_check_moment), AfterValidator(_in_milliseconds)]
Teams: TypeAlias = Annotated[
    tuple[Id, Id, Id],
    limit(_check_different),
    # Answers describe them as a list of three, which more clients understand than `prefixItems`.
    WithJsonSchema({"type": "array", "items": {"type": "string"}, "minItems": 3, "maxItems": 3}, mode="serialization"),
]


class Named(Fields):
    """What people call a league, a season or a team."""

    name: Annotated[Name, about("Name")]


class GameCount(Fields):
    """How many games refer to a season, a session or a team."""

    game_count: Count = 0


# League


class LeagueId(Fields):
    """The id of a league, chosen by who creates it."""

    league_id: Annotated[ItemId, CREATE_ONLY] = new_id()


class LeagueRef(Fields):
    """The league that something belongs to."""

    league_id: Annotated[ItemId, READ_ONLY]


class LeagueFields(Named):
    """What callers say about a league."""

    slug: Annotated[Slug, about("Short name", "Lowercase letters, digits and hyphens.", example="sunday-three")]


class LeagueShown(Versioned, LeagueFields, LeagueId):
    """What callers see of a league."""

    season_count: Count = 0


# Season


class SeasonId(Fields):
    """The id of a season."""

    season_id: Annotated[ItemId, CREATE_ONLY] = new_id()


class SeasonRef(Fields):
    """The season that something belongs to."""

    season_id: Annotated[ItemId, READ_ONLY]


class SeasonScope(LeagueRef, SeasonRef):
    """Season lookup mirror (for ACL scope resolution)."""


class SeasonFields(Named):
    """What callers say about a season."""

    starts_on: Annotated[date | None, about("First day")] = None
    ends_on: Annotated[date | None, about("Last day")] = None

    @limits("starts_on", "ends_on")
    def ends_after_start(self) -> Refusal | None:
        """A season's last day isn't before its first."""
        if self.starts_on and self.ends_on and self.ends_on < self.starts_on:
            return Refusal("ends-before-start", "The last day can't be before the first day.", field="ends_on")
        return None


class SeasonShown(Versioned, SeasonFields, LeagueRef, SeasonId, GameCount):
    """What callers see of a season."""

    session_count: Count = 0
    team_count: Count = 0


# Team


class TeamId(Fields):
    """The id of a team."""

    team_id: Annotated[ItemId, CREATE_ONLY] = new_id()


class TeamFields(Named):
    """What callers say about a team."""

    colour: Annotated[Colour, about("Color", "A CSS color name, or # and six hexadecimal digits.", example="#c62828")]


# Session


class SessionId(Fields):
    """The id of a session."""

    session_id: Annotated[ItemId, CREATE_ONLY] = new_id()


class SessionRef(Fields):
    """The session that something belongs to."""

    session_id: Annotated[ItemId, READ_ONLY]


class SessionScope(SeasonScope, SessionRef):
    """Session lookup mirror (for ACL scope resolution)."""


class SessionFields(Fields):
    """What callers say about a session."""

    session_date: Annotated[date, about("Date")]


class SessionShown(Versioned, SessionFields, SeasonScope, SessionId, GameCount):
    """What callers see of a session."""


# Game


class GameId(Fields):
    """The id of a game."""

    game_id: Annotated[ItemId, CREATE_ONLY] = new_id()


class GameRef(Fields):
    """The game that something belongs to."""

    game_id: Annotated[ItemId, READ_ONLY]


class GameStart(Fields):
    """When a game starts."""

    game_start_ts: Annotated[Moment, about("Start")]


class GameStatus(Fields):
    """Where a game is: from scheduled to live to finished, and back to live."""

    status: Annotated[Status, on_top(), about("Status")]


class GameTeams(Fields):
    """Three teams of the season."""

    team_ids: Annotated[Teams, CREATE_ONLY, about("Teams")]


class GameCopied(Versioned, GameTeams, GameStatus, GameStart, SessionScope, GameId):
    """Session -> game index: what a session's list has of its games."""


class GameShown(GameCopied):
    """What callers see of a game."""

    player_count: Count = 0
    goal_count: Count = 0


# Goal


class GoalId(Fields):
    """The id of a goal; a ULID, so that goals of the same minute keep the order of entry."""

    event_id: Id = new_ulid()


class GoalDetails(Fields):
    """When a goal was scored, against whom, and by whom."""

    third: Annotated[Third, about("Third")]
    minute: Annotated[Minute, about("Minute")]
    conceding_team_id: Annotated[ItemId, about("Conceding team")]
    scoring_team_id: Annotated[ItemId | None, about("Scoring team")] = None
    scorer_id: Annotated[ItemId | None, about("Scorer")] = None
    assist_ids: Annotated[tuple[ItemId, ...], Field(max_length=3), about("Assists", "Up to three players.")] = ()


class GoalFields(GoalDetails):
    """What callers say about a goal. An own goal has no scoring team."""

    own_goal: Annotated[bool, about("Own goal")] = False

    @limits("own_goal", "conceding_team_id", "scoring_team_id", "assist_ids")
    def scored_by_another_team(self) -> Refusal | None:
        """An own goal has neither a scoring team nor assists; any other goal has a team that scored it."""
        if self.own_goal and self.scoring_team_id is not None:
            return Refusal("own-goal", "An own goal has no scoring team.", field="scoring_team_id")
        if self.own_goal and self.assist_ids:
            return Refusal("own-goal", "An own goal has no assists.", field="assist_ids")
        if not self.own_goal and self.scoring_team_id is None:
            sentence = "Choose the team that scored, or make it an own goal."
            return Refusal("no-scoring-team", sentence, field="scoring_team_id")
        if self.scoring_team_id == self.conceding_team_id:
            return Refusal("same-team", "A team can't score against itself.", field="scoring_team_id")
        return None

    @limits("scorer_id", "assist_ids")
    def different_players(self) -> Refusal | None:
        """Nobody assists twice, or assists their own goal."""
        if len(set(self.assist_ids)) < len(self.assist_ids):
            return Refusal("same-player", "Choose each player only once.", field="assist_ids")
        if self.scorer_id in self.assist_ids:
            return Refusal("same-player", "The scorer can't assist the same goal.", field="assist_ids")
        return None


# Roster


class TeamRef(Fields):
    """A team of a game."""

    team_id: Annotated[ItemId, about("Team")]


class PlayerRef(Fields):
    """A player of a game."""

    player_id: Annotated[ItemId, about("Player")]


class RosterShown(Versioned, PlayerRef, TeamRef):
    """What callers see of a roster entry."""

    goal_count: Annotated[
        Count, about("Goals", "Goals that name the player. While there are any, the player stays.")
    ] = 0


# ACL


class GrantUser(Fields):
    """Who has a role in a league."""

    user_id: Annotated[UserId, about("User ID", "The ID that the person signs in with.")]


class GrantRole(Fields):
    """What somebody may do in a league."""

    role: Annotated[Role, on_top(), about("Role")]


# Player


class PlayerId(Fields):
    """The id of a player."""

    player_id: Annotated[ItemId, CREATE_ONLY] = new_id()


class PlayerName(Fields):
    """What people call a player."""

    display_name: Annotated[Name, about("Name")]


class PlayerFields(PlayerName):
    """What callers say about a player."""

    user_id: Annotated[UserId | None, about("User ID", "Optional. Only admins see it.")] = None


class PlayerShown(Versioned, PlayerFields, LeagueRef, PlayerId):
    """What callers see of a player."""
