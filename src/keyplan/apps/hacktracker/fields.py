"""The fields of hacktracker, each declared once, in the order of its document."""

from datetime import datetime
from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, Field, StringConstraints
from pydantic_core import PydanticCustomError

from keyplan.design import (
    CREATE_ONLY,
    READ_ONLY,
    Count,
    CreatedAt,
    Fields,
    Id,
    NoSeparator,
    OneLine,
    Refusal,
    Ttl,
    UpdatedAt,
    Versioned,
    about,
    check_address,
    limit,
    limits,
    new_id,
    stored,
)

ROSTER = 60
"""The most players that a team can have: the roster is sorted after reading all of them."""

# Values

ItemId: TypeAlias = Annotated[
    str, NoSeparator(), StringConstraints(pattern=r"^[^#/\x00-\x20\x7f]{1,128}$", strip_whitespace=False)
]
"""An id in an address or a body: one of ours, or one that was imported."""
Email: TypeAlias = Annotated[
    str,
    StringConstraints(max_length=254, pattern=r"^[^@\s\x00-\x1f]+@[^@\s\x00-\x1f]+\.[^@\s\x00-\x1f]+$"),
    limit(check_address),
]
PhoneNumber: TypeAlias = Annotated[str, StringConstraints(pattern=r"^\+?[0-9][0-9 ()/.-]{3,29}$")]
PersonName: TypeAlias = Annotated[str, OneLine(max_length=30)]
TeamName: TypeAlias = Annotated[str, OneLine(min_length=3, max_length=50)]
Description: TypeAlias = Annotated[str, StringConstraints(max_length=1000)]
TeamType: TypeAlias = Literal["MANAGED", "PERSONAL"]
Role: TypeAlias = Literal["owner", "manager", "player", "scorekeeper"]
GivenRole: TypeAlias = Literal["manager", "player", "scorekeeper"]
"""A role that can be given to a member. Only a transfer makes an owner."""
MemberStatus: TypeAlias = Literal["active", "invited", "left"]
ShirtNumber: TypeAlias = Annotated[int, Field(ge=0, le=99)]
Position: TypeAlias = Literal["P", "C", "1B", "2B", "3B", "SS", "LF", "CF", "RF", "OF", "DH", "UTIL"]
PlayerStatus: TypeAlias = Literal["active", "inactive", "sub"]
Text: TypeAlias = Annotated[str, OneLine(max_length=100)]
Season: TypeAlias = Annotated[str, OneLine(max_length=50)]
AnySeason: TypeAlias = Annotated[str, StringConstraints(min_length=1, max_length=50)]
"""A season that games are looked up by: also one that was stored before seasons had to be visible."""
GameStatus: TypeAlias = Literal["SCHEDULED", "IN_PROGRESS", "FINAL", "POSTPONED"]
Score: TypeAlias = Annotated[int, Field(ge=0, le=999)]
BattingOrder: TypeAlias = Annotated[list[ItemId], Field(max_length=ROSTER)]
Result: TypeAlias = Literal["K", "BB", "HBP", "1B", "2B", "3B", "HR", "OUT", "SAC", "SF", "FC", "E"]
Inning: TypeAlias = Annotated[int, Field(ge=1, le=99)]
Outs: TypeAlias = Annotated[int, Field(ge=0, le=2)]
UpToFour: TypeAlias = Annotated[int, Field(ge=0, le=4)]


def _each_once(values: list[Position]) -> None:
    if len(set(values)) < len(values):
        raise ValueError("choose each position only once")


def _can_be_played(start: datetime) -> None:
    if start.tzinfo is None:
        raise PydanticCustomError("timezone_aware", "Input should have timezone info")
    if not 1900 <= start.year <= 2999:
        raise ValueError("enter a year between 1900 and 2999")


Positions: TypeAlias = Annotated[list[Position], Field(max_length=3), limit(_each_once)]
Start: TypeAlias = Annotated[datetime, limit(_can_be_played)]


class HitLocation(BaseModel):
    """Where a ball went: x from left to right, y from home plate outwards, both from 0 to 1."""

    x: Annotated[float, Field(ge=0, le=1)]
    y: Annotated[float, Field(ge=0, le=1)]


# What many things have


class Tracked(CreatedAt, UpdatedAt, Versioned):
    """All three."""


class OfTeam(Fields):
    """The team that something belongs to."""

    team_id: Annotated[Id, READ_ONLY]


class OfSeason(Fields):
    """The season that a game belongs to."""

    season_id: Annotated[Season | None, about("Season", "A label of your own, such as 2026 spring.")] = None


# Users


class AccountNames(Fields):
    """What the other members of a team call somebody."""

    first_name: Annotated[PersonName | None, about("First name")] = None
    last_name: Annotated[PersonName | None, about("Last name")] = None


class Contact(Fields):
    """How to reach somebody."""

    email: Annotated[Email | None, about("Email address")] = None
    phone_number: Annotated[PhoneNumber | None, about("Phone number", "Digits, with a + for the country code.")] = None


class AccountFields(AccountNames, Contact):
    """What people say about themselves."""


class AccountStored(AccountFields, CreatedAt, Versioned):
    """An account, as its owner and admins see it."""

    user_id: Annotated[Id, READ_ONLY]
    owned_team_count: Annotated[Count, about("Teams owned", "Transfer or delete them to delete the account.")] = 0
    deleted_at: Annotated[datetime | None, READ_ONLY] = None


# Teams


class TeamNamed(Fields):
    """What a team is called."""

    name: Annotated[TeamName, about("Team name")]


class TeamTyped(Fields):
    """What kind of team it is."""

    team_type: Annotated[
        TeamType,
        CREATE_ONLY,
        stored("team_type"),
        about("Type", "A PERSONAL team has one player, its owner, and no other members."),
    ] = "MANAGED"


class TeamFields(TeamNamed, TeamTyped):
    """What callers say about a team."""

    description: Annotated[Description | None, about("Description")] = None


class TeamIdentified(TeamNamed):
    """A team's id and name."""

    team_id: Id = new_id()


class TeamListed(TeamIdentified, TeamTyped, CreatedAt):
    """A team in a list."""

    player_count: Annotated[Count, about("Players", "Players on the roster.")] = 0
    active_game_id: Annotated[Id | None, READ_ONLY, about("Active game", "The one game that is in progress.")] = None


class TeamDeletion(Fields):
    """When a team was deleted, and until when it can be restored."""

    deleted_at: Annotated[datetime | None, READ_ONLY] = None
    expires_at: Ttl | None = None


# Members


class InRole(Fields):
    """A role in a team."""

    role: Annotated[Role, READ_ONLY]


class MemberFields(InRole):
    """What all members see of a member."""

    status: Annotated[MemberStatus, READ_ONLY] = "active"
    joined_at: Annotated[datetime | None, READ_ONLY] = None


class MemberStored(OfTeam, MemberFields):
    """A membership, as it is stored under the user and under the team."""

    user_id: Id
    invited_by: Id | None = None


# Players


class PlayerNames(Fields):
    """What a player is called."""

    first_name: Annotated[PersonName, about("First name")]
    last_name: Annotated[PersonName, about("Last name")]


class PlayerNumbered(Fields):
    """A player's number."""

    player_number: Annotated[ShirtNumber | None, about("Number", "0 to 99, unique in the team.")] = None


class PlayerFields(PlayerNumbered, PlayerNames):
    """What a team's managers say about a player."""

    positions: Annotated[Positions, about("Positions", "Choose up to three.")] = Field(default_factory=list)
    status: Annotated[PlayerStatus, about("Status")] = "active"


class PlayerIdentified(Fields):
    """A player's id."""

    player_id: Id = new_id()


class PlayerStored(OfTeam, PlayerIdentified, PlayerFields, Versioned):
    """A player, as members see them."""

    is_ghost: Annotated[bool, READ_ONLY, about("Ghost", "Whether the player has no account.")] = True
    linked_at: Annotated[datetime | None, READ_ONLY] = None
    at_bat_count: Count = 0


# Games


class GameFields(OfSeason):
    """What is known about a game when it is scheduled."""

    scheduled_start: Annotated[Start | None, about("Start")] = None
    opponent_name: Annotated[Text | None, about("Opponent")] = None
    location: Annotated[Text | None, about("Location")] = None


class OpponentScored(Fields):
    """What the opponent scored, which is entered by hand."""

    opponent_score: Annotated[Score, about("Opponent's score")] = 0


class GameEditable(GameFields, OpponentScored):
    """What can be changed about a game."""


class GameScored(OpponentScored):
    """A game's id and score."""

    game_id: Id = new_id()
    team_score: Annotated[Count, about("Team's score", "The sum of the runs.")] = 0


class GameStored(OfTeam, GameScored, GameEditable, Tracked):
    """A game, as members see it."""

    status: Annotated[GameStatus, READ_ONLY] = "SCHEDULED"
    lineup: Annotated[BattingOrder, READ_ONLY, about("Line-up", "Player ids in batting order.")] = Field(
        default_factory=list
    )

    @limits("lineup")
    def bat_once(self) -> Refusal | None:
        """Each player has one place in the line-up."""
        if len(set(self.lineup)) < len(self.lineup):
            return Refusal("twice-in-lineup", "Each player can be in the line-up only once.", field="lineup")
        return None


# At-bats


class OfBatter(Fields):
    """Who batted."""

    player_id: Annotated[ItemId, about("At bat")]


class WithResult(Fields):
    """How an at-bat ended."""

    result: Annotated[Result, about("Result")]


class InInning(Fields):
    """An inning, and the runs in it."""

    inning: Annotated[Inning, about("Inning")]
    runs: Annotated[UpToFour, about("Runs", "Runs scored on the play.")] = 0


class AtBatPlay(WithResult, InInning):
    """What happened in an at-bat."""

    outs: Annotated[Outs, about("Outs", "Outs before the play.")]
    rbi: Annotated[UpToFour, about("RBI", "Runs batted in.")] = 0
    hit_location: Annotated[HitLocation | None, about("Hit location")] = None


class AtBatFields(OfBatter, AtBatPlay):
    """What a scorekeeper says about an at-bat."""


class AtBatIdentified(Fields):
    """An at-bat's ids."""

    game_id: Annotated[Id, READ_ONLY]
    at_bat_id: Id = new_id()


class AtBatDated(Fields):
    """When the game of an at-bat began."""

    game_date: Annotated[datetime | None, READ_ONLY] = None


class AtBatStored(AtBatIdentified, AtBatFields, CreatedAt, Versioned):
    """An at-bat, as members see it."""


class ForTeam(OfTeam):
    """A team, and what it was called."""

    team_name: Annotated[str, READ_ONLY]


# Invitations


class InvitationExpiry(Fields):
    """Until when an invitation can be accepted."""

    expires_at: Ttl


class InvitationFields(OfTeam, InvitationExpiry):
    """What an invitation is for."""

    player_id: Annotated[Id | None, READ_ONLY, about("Player", "The player without an account that is offered.")] = None
