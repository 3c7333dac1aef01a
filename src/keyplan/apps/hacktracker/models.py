"""What goes into and out of hacktracker's API."""

from datetime import UTC, datetime
from typing import Annotated, Literal, TypeAlias

from pydantic import AfterValidator, AwareDatetime, Field, StringConstraints

from keyplan.apps.hacktracker.entities import (
    AtBat,
    Game,
    GameStatus,
    HitLocation,
    Membership,
    MemberStatus,
    Player,
    PlayerName,
    Position,
    Result,
    Role,
    Team,
    User,
)
from keyplan.web import In, Out, Time, UserId

LINEUP = 60
"""Batters in a line-up at most: as many as a roster has players."""

ItemId: TypeAlias = Annotated[str, StringConstraints(pattern=r"^[^#/\x00-\x20\x7f]{1,128}$", strip_whitespace=False)]
"""An id in an address or a body: ours, or one that came from elsewhere."""
Text: TypeAlias = Annotated[str, StringConstraints(min_length=1, max_length=100)]
Email: TypeAlias = Annotated[
    str, StringConstraints(max_length=254, pattern=r"^[^@\s\x00-\x1f]+@[^@\s\x00-\x1f]+\.[^@\s\x00-\x1f]+$")
]
Season: TypeAlias = Annotated[str, StringConstraints(min_length=1, max_length=50)]
TeamName: TypeAlias = Annotated[str, StringConstraints(min_length=3, max_length=50)]
Description: TypeAlias = Annotated[str, StringConstraints(max_length=1000)]
Number: TypeAlias = Annotated[int, Field(ge=0, le=99)]
PlayerStatus: TypeAlias = Literal["active", "inactive", "sub"]
Score: TypeAlias = Annotated[int, Field(ge=0, le=999)]
Inning: TypeAlias = Annotated[int, Field(ge=1, le=99)]
Outs: TypeAlias = Annotated[int, Field(ge=0, le=2)]
UpToFour: TypeAlias = Annotated[int, Field(ge=0, le=4)]
Given: TypeAlias = Literal["manager", "player", "scorekeeper"]
"""A role that can be given; an owner is made by a transfer."""
Secret: TypeAlias = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{20,100}$")]


def _in_our_time(start: datetime) -> datetime:
    if not 1900 <= start.year <= 2999:
        raise ValueError("a game is played between the years 1900 and 2999")
    return start.astimezone(UTC)


def _each_once(values: list[Position]) -> list[Position]:
    if len(set(values)) < len(values):
        raise ValueError("each position stands once")
    return values


Start: TypeAlias = Annotated[AwareDatetime, AfterValidator(_in_our_time)]
Positions: TypeAlias = Annotated[list[Position], Field(max_length=3), AfterValidator(_each_once)]


# People


class AccountChange(In):
    """What is to be changed of one's account; what is not named stays."""

    email: Email | None = None
    first_name: PlayerName | None = None
    last_name: PlayerName | None = None
    phone_number: Annotated[str, StringConstraints(pattern=r"^\+?[0-9][0-9 ()/.-]{3,29}$")] | None = None


class Account(Out):
    """An account, as its owner and admins see it."""

    user_id: str
    email: str | None
    first_name: str | None
    last_name: str | None
    phone_number: str | None
    owned_team_count: Annotated[int, Field(description="Teams to transfer or delete before the account can go.")]
    deleted_at: Time | None
    created_at: Time
    version: int

    @classmethod
    def of(cls, user: User) -> "Account":
        return cls.model_validate(user)


# Teams


class NewTeam(In):
    """A team. A PERSONAL one has one player, its owner, and takes no other."""

    name: TeamName
    description: Description | None = None
    team_type: Literal["MANAGED", "PERSONAL"] = "MANAGED"


class TeamChange(In):
    """What is to be changed of a team; what is not named stays."""

    name: TeamName | None = None
    description: Description | None = None


class TeamHead(Out):
    """A team in a list."""

    team_id: str
    name: str
    team_type: Literal["MANAGED", "PERSONAL"]
    player_count: int
    active_game_id: Annotated[str | None, Field(description="The game that is in progress.")]
    created_at: Time

    @classmethod
    def of(cls, team: Team) -> "TeamHead":
        return cls.model_validate(team)


class MyTeam(TeamHead):
    """A team of one's own, with one's role in it."""

    role: Role

    @classmethod
    def seen(cls, team: Team, role: Role) -> "MyTeam":
        """As somebody with this role sees it."""
        return cls.model_validate({**TeamHead.of(team).model_dump(), "role": role})


class DeletedTeam(Out):
    """A deleted team of one's own, which can be restored for a while."""

    team_id: str
    name: str
    deleted_at: Time
    expires_at: Time

    @classmethod
    def of(cls, team: Team) -> "DeletedTeam":
        return cls.model_validate(team)


class TeamOut(MyTeam):
    """A team."""

    description: str | None
    updated_at: Time
    version: int

    @classmethod
    def seen(cls, team: Team, role: Role) -> "TeamOut":
        """As somebody with this role sees it."""
        return cls.model_validate({**team.model_dump(), "role": role})


class NewOwner(In):
    """Who is to own the team: an active member."""

    user_id: UserId


# Members


class MemberOut(Out):
    """A member of a team. The id is there for those who manage members, and for oneself."""

    user_id: str | None
    name: str
    role: Role
    status: MemberStatus
    joined_at: Time | None


class MembershipOut(MemberOut):
    """A membership, to be changed."""

    version: int

    @classmethod
    def of(cls, membership: Membership, name: str) -> "MembershipOut":
        return cls.model_validate({**membership.model_dump(), "name": name})


class RoleChange(In):
    """Another role."""

    role: Given


class InvitationOut(Out):
    """An invitation to pass on. The secret is shown this once."""

    secret: str
    link: Annotated[str, Field(description="Where it is accepted, in a browser.")]
    expires_at: Time


class Accepted(In):
    """An invitation that one has got."""

    secret: Secret


class Offer(Out):
    """What an invitation offers."""

    team_id: str
    team_name: str
    role: Annotated[Given, Field(description="The role of who is not a member yet.")]
    player_id: Annotated[str | None, Field(description="The player that one becomes.")]
    player_name: str | None
    expires_at: Time


# Players


class NewPlayer(In):
    """A player without an account."""

    first_name: PlayerName
    last_name: PlayerName
    player_number: Number | None = None
    positions: Positions = Field(default_factory=list)
    status: PlayerStatus = "active"


class PlayerChange(In):
    """What is to be changed of a player; what is not named stays."""

    first_name: PlayerName | None = None
    last_name: PlayerName | None = None
    player_number: Number | None = None
    positions: Positions | None = None
    status: PlayerStatus | None = None


class PlayerOut(Out):
    """A player on a roster."""

    team_id: str
    player_id: str
    first_name: str
    last_name: str
    player_number: int | None
    positions: list[Position]
    status: PlayerStatus
    is_ghost: Annotated[bool, Field(description="Whether the player has no account.")]
    is_me: bool
    linked_at: Time | None
    at_bat_count: int
    version: int

    @classmethod
    def of(cls, player: Player, me: str) -> "PlayerOut":
        return cls.model_validate({**player.model_dump(), "is_me": player.user_id == me})


# Games


class NewGame(In):
    """A game. Its line-up is set later."""

    scheduled_start: Start | None = None
    opponent_name: Text | None = None
    location: Text | None = None
    season_id: Season | None = None


class GameChange(In):
    """What is to be changed of a game; what is not named stays."""

    scheduled_start: Start | None = None
    opponent_name: Text | None = None
    location: Text | None = None
    season_id: Season | None = None
    opponent_score: Score | None = None


class StatusMove(In):
    """The status that a game moves to."""

    status: GameStatus


class Lineup(In):
    """Players in batting order."""

    lineup: Annotated[list[ItemId], Field(max_length=LINEUP)]


class GameOut(Out):
    """A game."""

    game_id: str
    team_id: str
    status: GameStatus
    scheduled_start: Time | None
    opponent_name: str | None
    location: str | None
    season_id: str | None
    team_score: int
    opponent_score: int
    lineup: list[str]
    created_at: Time
    updated_at: Time
    version: int

    @classmethod
    def of(cls, game: Game) -> "GameOut":
        return cls.model_validate(game)


# At-bats


class NewAtBat(In):
    """What happened at bat."""

    player_id: Annotated[ItemId | None, Field(description="The batter; may be left out in a PERSONAL team.")] = None
    result: Result
    inning: Inning
    outs: Outs
    rbi: UpToFour = 0
    runs: Annotated[UpToFour, Field(description="Runs scored on the play.")] = 0
    hit_location: HitLocation | None = None


class AtBatChange(In):
    """What is to be changed of an at-bat; what is not named stays."""

    player_id: ItemId | None = None
    result: Result | None = None
    inning: Inning | None = None
    outs: Outs | None = None
    rbi: UpToFour | None = None
    runs: UpToFour | None = None
    hit_location: HitLocation | None = None


class AtBatOut(Out):
    """An at-bat."""

    game_id: str
    at_bat_id: str
    player_id: str
    result: Result
    inning: int
    outs: int
    rbi: int
    runs: int
    hit_location: HitLocation | None
    created_at: Time
    version: int

    @classmethod
    def of(cls, at_bat: AtBat) -> "AtBatOut":
        return cls.model_validate(at_bat)
