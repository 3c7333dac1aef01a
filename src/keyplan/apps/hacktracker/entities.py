"""The table of hacktracker and its items, in the order and words of its document."""

from datetime import datetime
from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, Field, StringConstraints

from keyplan.design import (
    Count,
    Created,
    Entity,
    Id,
    Ref,
    Table,
    Ttl,
    Updated,
    Version,
    belongs_to,
    counts,
    created,
    key,
    mirror,
    new_id,
    ref,
    stored,
    unique,
    updated,
)

Role: TypeAlias = Literal["owner", "manager", "player", "scorekeeper"]
MemberStatus: TypeAlias = Literal["active", "invited", "left"]
Position: TypeAlias = Literal["P", "C", "1B", "2B", "3B", "SS", "LF", "CF", "RF", "OF", "DH", "UTIL"]
GameStatus: TypeAlias = Literal["SCHEDULED", "IN_PROGRESS", "FINAL", "POSTPONED"]
Result: TypeAlias = Literal["K", "BB", "HBP", "1B", "2B", "3B", "HR", "OUT", "SAC", "SF", "FC", "E"]
PlayerName: TypeAlias = Annotated[str, StringConstraints(min_length=1, max_length=30)]

hacktracker = Table(
    "hacktracker-{environment=dev}",
    key("PK", "SK"),
    billing="PAY_PER_REQUEST",
    case="camel",
    ttl="expiresAt",
    stream="NEW_AND_OLD_IMAGES",
    indexes={
        "GSI1": key("GSI1PK", "GSI1SK"),
        "GSI2": key("GSI2PK", "GSI2SK"),
        "GSI3": key("GSI3PK", "GSI3SK"),
        "GSI4": key("GSI4PK", "GSI4SK"),
        "GSI5": key("GSI5PK", "GSI5SK"),
    },
)


class User(Entity, table=hacktracker):
    """User Profile."""

    user_id: Id
    cognito_sub: Annotated[Id | None, stored("GSI1PK")] = None
    """The token's subject, also the userId of those who signed up; an anonymised user has none."""
    email: str | None = None
    first_name: str | None = None
    last_name: str | None = None
    phone_number: str | None = None
    owned_team_count: Count = 0
    """Teams that must be transferred or deleted before the user can go."""
    deleted_at: datetime | None = None
    created_at: Created = created()
    updated_at: Updated = updated()
    version: Version = 0

    primary = key("USER#{user_id}", "METADATA")
    by_cognito_sub = hacktracker.GSI1("COGNITO#{cognito_sub}", "USER")
    all = hacktracker.GSI2("ENTITY#USER", "METADATA#{user_id}")


class Team(Entity, table=hacktracker):
    """Team Profile."""

    team_id: Id = new_id()
    name: Annotated[str, StringConstraints(min_length=3, max_length=50)]
    description: str | None = None
    owner_id: Id
    team_type: Annotated[Literal["MANAGED", "PERSONAL"], stored("team_type")] = "MANAGED"
    active_game_id: Id | None = None
    """The one game that is in progress."""
    player_count: Count = 0
    """Players on the roster, of whom there are few enough to be read at once."""
    deleted_at: datetime | None = None
    expires_at: Ttl | None = None
    """When a deleted team is gone for good."""
    created_at: Created = created()
    updated_at: Updated = updated()
    version: Version = 0

    primary = key("TEAM#{team_id}", "METADATA")
    all = hacktracker.GSI2("ENTITY#TEAM", "METADATA#{team_id}")

    @belongs_to(on_delete="refuse", count="owned_team_count")
    def owner(self) -> Ref[User] | None:
        """A deleted team no longer holds its owner back."""
        return None if self.deleted_at else ref(User, user_id=self.owner_id)


class Membership(Entity, table=hacktracker):
    """Team Membership."""

    user_id: Id
    team_id: Id
    role: Role
    status: MemberStatus = "active"
    joined_at: datetime | None = None
    invited_by: Id | None = None
    created_at: Created = created()
    updated_at: Updated = updated()
    version: Version = 0

    primary = key("USER#{user_id}", "TEAM#{team_id}")

    @belongs_to(on_delete="keep")
    def team(self) -> Ref[Team]:
        return ref(Team, team_id=self.team_id)

    @mirror
    def under_team(self) -> "Member":
        return Member(
            team_id=self.team_id,
            user_id=self.user_id,
            role=self.role,
            status=self.status,
            joined_at=self.joined_at,
            invited_by=self.invited_by,
        )


class Member(Entity, table=hacktracker):
    """The membership under its team."""

    team_id: Id
    user_id: Id
    role: Role
    status: MemberStatus
    joined_at: datetime | None = None
    invited_by: Id | None = None

    primary = key("TEAM#{team_id}", "MEMBER#{user_id}")


class Player(Entity, table=hacktracker):
    """Player (Roster Record): a ghost, or linked to a user."""

    team_id: Id
    player_id: Id = new_id()
    first_name: PlayerName
    last_name: PlayerName
    player_number: Annotated[int, Field(ge=0, le=99)] | None = None
    positions: Annotated[list[Position], Field(max_length=3)] = Field(default_factory=list)
    status: Literal["active", "inactive", "sub"] = "active"
    is_ghost: bool = True
    user_id: Id | None = None
    linked_at: datetime | None = None
    removed_at: datetime | None = None
    """When the team was removed: the record of a linked player stays, without it, for the user's statistics."""
    at_bat_count: Count = 0
    created_at: Created = created()
    updated_at: Updated = updated()
    version: Version = 0

    primary = key("TEAM#{team_id}", "PLAYER#{player_id}")
    by_user = hacktracker.GSI4("USER#{user_id}", "PLAYER#{player_id}")
    number_guard = unique("TEAM#{team_id}", "NUMBER#{player_number:02}", carries="player_id")

    @belongs_to(on_delete="refuse", count="player_count")
    def team(self) -> Ref[Team] | None:
        return None if self.removed_at else ref(Team, team_id=self.team_id)


class FormerPlayer(Entity, table=hacktracker):
    """That a user was linked to a player and batted: written by unlinking, so that GSI4 still leads to the at-bats."""

    team_id: Annotated[Id, stored("PK")]
    user_id: Id
    player_id: Id
    unlinked_at: Created = created()

    primary = key("TEAM#{team_id}", "FORMER#{user_id}#{player_id}")
    by_user = hacktracker.GSI4("USER#{user_id}", "PLAYER#{player_id}")


class Game(Entity, table=hacktracker):
    """Game Info."""

    game_id: Id = new_id()
    team_id: Id
    status: GameStatus = "SCHEDULED"
    scheduled_start: datetime | None = None
    opponent_name: str | None = None
    location: str | None = None
    season_id: str | None = None
    """A free label."""
    team_score: Count = 0
    opponent_score: Annotated[int, Field(ge=0)] = 0
    lineup: list[Id] = Field(default_factory=list)
    """Player ids in batting order."""
    created_at: Created = created()
    updated_at: Updated = updated()
    version: Version = 0

    primary = key("GAME#{game_id}", "METADATA")
    all = hacktracker.GSI2("ENTITY#GAME", "METADATA#{game_id}")
    by_team = hacktracker.GSI3("TEAM#{team_id}", "GAME#{scheduled_start|9999}#{game_id}")

    @belongs_to(on_delete="keep")
    def team(self) -> Ref[Team]:
        return ref(Team, team_id=self.team_id)


class HitLocation(BaseModel):
    """Where a ball went, in parts of the field's width and depth."""

    x: Annotated[float, Field(ge=0, le=1)]
    y: Annotated[float, Field(ge=0, le=1)]


class AtBat(Entity, table=hacktracker):
    """An at-bat. It carries what the statistics of its user need when the team is gone."""

    game_id: Id
    at_bat_id: Id = new_id()
    player_id: Id
    user_id: Id | None = None
    """Who batted; stays when the player is unlinked."""
    team_id: Id
    team_name: str
    game_date: datetime | None = None
    result: Result
    inning: Annotated[int, Field(ge=1)]
    outs: Annotated[int, Field(ge=0, le=2)]
    rbi: Annotated[int, Field(ge=0, le=4)] = 0
    runs: Annotated[int, Field(ge=0, le=4)] = 0
    """Runs scored on the play."""
    hit_location: HitLocation | None = None
    removed_at: datetime | None = None
    """When the team was removed: the at-bat stays, without its game and its player."""
    created_at: Created = created()
    updated_at: Updated = updated()
    version: Version = 0

    primary = key("GAME#{game_id}", "ATBAT#{at_bat_id}")
    by_player = hacktracker.GSI5("PLAYER#{player_id}", "ATBAT#{at_bat_id}")

    @belongs_to(on_delete="cascade")
    def game(self) -> Ref[Game] | None:
        """Deleting a game deletes its at-bats."""
        return None if self.removed_at else ref(Game, game_id=self.game_id)

    @belongs_to(on_delete="refuse", count="at_bat_count")
    def player(self) -> Ref[Player] | None:
        """A player with at-bats can't be removed."""
        return None if self.removed_at else ref(Player, team_id=self.team_id, player_id=self.player_id)

    @counts("team_score")
    def scored(self) -> Ref[Game] | None:
        """The team's score is the sum of the runs."""
        return None if self.removed_at else ref(Game, game_id=self.game_id).adding(self.runs)


class Invitation(Entity, table=hacktracker):
    """An offer, known by a secret, of a membership with a role or of a ghost to be linked. It can be used once."""

    secret_hash: Annotated[Id, stored("PK")]
    team_id: Id
    role: Literal["manager", "player", "scorekeeper"] | None = None
    player_id: Id | None = None
    """The ghost to be linked."""
    invited_by: Id
    expires_at: Ttl
    created_at: Created = created()
    updated_at: Updated = updated()

    primary = key("INVITE#{secret_hash}", "METADATA")

    @belongs_to(on_delete="keep")
    def team(self) -> Ref[Team]:
        return ref(Team, team_id=self.team_id)
