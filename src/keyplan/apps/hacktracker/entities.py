"""The table of hacktracker and its items, in the order and words of its document."""

from datetime import datetime
from typing import Annotated

from keyplan.apps.hacktracker import fields
from keyplan.design import (
    HIDDEN,
    Created,
    CreatedAt,
    Entity,
    Id,
    Ref,
    Refusal,
    Table,
    UpdatedAt,
    belongs_to,
    counts,
    created,
    index,
    key,
    mirror,
    ref,
    stored,
    unique,
)

hacktracker = Table(
    "hacktracker-{environment=dev}",
    key("PK", "SK"),
    billing="PAY_PER_REQUEST",
    case="camel",
    ttl="expiresAt",
    stream="NEW_AND_OLD_IMAGES",
    indexes={
        "GSI1": index(
            key("GSI1PK", "GSI1SK"), why="The user of a Cognito subject. Nothing else leads from a token to it."
        ),
        "GSI2": index(key("GSI2PK", "GSI2SK"), why="All users, teams or games: one index instead of one for each."),
        "GSI3": index(key("GSI3PK", "GSI3SK"), why="A team's games in the order of their start: schedule and history."),
        "GSI4": index(key("GSI4PK", "GSI4SK"), why="The players of a user in all teams, also after a team is deleted."),
        "GSI5": index(key("GSI5PK", "GSI5SK"), why="A player's at-bats, from which statistics are made."),
    },
    why="One table, so that related items are read together, change in one transaction and are operated as one. Most "
    "questions are answered by the table's own key, and each index costs storage and writes.",
)


class User(fields.AccountStored, UpdatedAt, Entity, table=hacktracker):
    """User Profile."""

    cognito_sub: Annotated[Id | None, HIDDEN, stored("GSI1PK")] = None
    """The token's subject, also the userId of those who signed up. An anonymized user has none."""

    primary = key("USER#{user_id}", "METADATA")
    by_cognito_sub = hacktracker.GSI1("COGNITO#{cognito_sub}", "USER")
    all = hacktracker.GSI2("ENTITY#USER", "METADATA#{user_id}")


class Team(fields.TeamListed, fields.TeamFields, fields.TeamDeletion, fields.Tracked, Entity, table=hacktracker):
    """Team Profile."""

    owner_id: Annotated[Id, HIDDEN]

    primary = key("TEAM#{team_id}", "METADATA")
    all = hacktracker.GSI2("ENTITY#TEAM", "METADATA#{team_id}")

    @belongs_to(on_delete="refuse", count="owned_team_count")
    def owner(self) -> Ref[User] | None:
        """A deleted team no longer counts as owned."""
        return None if self.deleted_at else ref(User, user_id=self.owner_id)


class Membership(fields.MemberStored, fields.Tracked, Entity, table=hacktracker, noun="member"):
    """Team Membership."""

    primary = key("USER#{user_id}", "TEAM#{team_id}")

    @belongs_to(on_delete="keep", missing=Refusal("not-found"))
    def team(self) -> Ref[Team]:
        return ref(Team, team_id=self.team_id)

    @mirror
    def under_team(self) -> "Member":
        return Member.from_fields(self)


class Member(fields.MemberStored, Entity, table=hacktracker):
    """The membership under its team."""

    primary = key("TEAM#{team_id}", "MEMBER#{user_id}")


class Player(fields.PlayerStored, fields.Tracked, Entity, table=hacktracker, claims=(("team_id", "player_number"),)):
    """Player (Roster Record): a ghost, or linked to a user."""

    user_id: Annotated[Id | None, HIDDEN] = None
    removed_at: Annotated[datetime | None, HIDDEN] = None
    """When the team was removed. The record of a linked player is kept for the user's statistics."""

    primary = key("TEAM#{team_id}", "PLAYER#{player_id}")
    by_user = hacktracker.GSI4("USER#{user_id}", "PLAYER#{player_id}")
    number_guard = unique(
        "TEAM#{team_id}",
        "NUMBER#{player_number:02}",
        carries="player_id",
        refusal=Refusal("number-taken", "Another player on the team already has this number."),
    )

    @belongs_to(on_delete="refuse", count="player_count", missing=Refusal("not-found"))
    def team(self) -> Ref[Team] | None:
        return None if self.removed_at else ref(Team, team_id=self.team_id)


class FormerPlayer(Entity, table=hacktracker):
    """A user was linked to this player and batted. Written when they are unlinked, so that GSI4 still leads to the
    at-bats."""

    team_id: Annotated[Id, stored("PK")]
    user_id: Id
    player_id: Id
    unlinked_at: Created = created()

    primary = key("TEAM#{team_id}", "FORMER#{user_id}#{player_id}")
    by_user = hacktracker.GSI4("USER#{user_id}", "PLAYER#{player_id}")


class Game(fields.GameStored, Entity, table=hacktracker):
    """Game Info."""

    primary = key("GAME#{game_id}", "METADATA")
    all = hacktracker.GSI2("ENTITY#GAME", "METADATA#{game_id}")
    by_team = hacktracker.GSI3("TEAM#{team_id}", "GAME#{scheduled_start|9999}#{game_id}")

    @belongs_to(on_delete="keep", missing=Refusal("not-found"))
    def team(self) -> Ref[Team]:
        return ref(Team, team_id=self.team_id)


class AtBat(
    fields.AtBatStored, fields.AtBatDated, fields.ForTeam, fields.Tracked, Entity, table=hacktracker, noun="at-bat"
):
    """An at-bat. It carries what the statistics of its user need after the team is gone."""

    user_id: Annotated[Id | None, HIDDEN] = None
    """The user who batted. Stays when the player is unlinked."""
    removed_at: Annotated[datetime | None, HIDDEN] = None
    """When the team was removed. The at-bat is kept without its game and its player."""

    primary = key("GAME#{game_id}", "ATBAT#{at_bat_id}")
    by_player = hacktracker.GSI5("PLAYER#{player_id}", "ATBAT#{at_bat_id}")

    @belongs_to(on_delete="cascade")
    def game(self) -> Ref[Game] | None:
        """Deleting a game deletes its at-bats."""
        return None if self.removed_at else ref(Game, game_id=self.game_id)

    @belongs_to(
        on_delete="refuse",
        count="at_bat_count",
        in_use=Refusal("has-at-bats", "This player has at-bats. Make them inactive instead."),
    )
    def player(self) -> Ref[Player] | None:
        """A player with at-bats can't be removed."""
        return None if self.removed_at else ref(Player, team_id=self.team_id, player_id=self.player_id)

    @counts("team_score")
    def scored(self) -> Ref[Game] | None:
        """The team's score is the sum of the runs."""
        return None if self.removed_at else ref(Game, game_id=self.game_id).adding(self.runs)


class Invitation(fields.InvitationFields, CreatedAt, UpdatedAt, Entity, table=hacktracker):
    """An offer, known by a secret, of a membership with a role or of a ghost to be linked to. It works once."""

    secret_hash: Annotated[Id, HIDDEN, stored("PK")]
    role: fields.GivenRole | None = None
    invited_by: Annotated[Id, HIDDEN]

    primary = key("INVITE#{secret_hash}", "METADATA")

    @belongs_to(on_delete="keep", missing=Refusal("not-found"))
    def team(self) -> Ref[Team]:
        return ref(Team, team_id=self.team_id)
