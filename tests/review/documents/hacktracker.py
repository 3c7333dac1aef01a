"""HackTracker, as its design document wrote it."""

from datetime import datetime
from typing import Annotated, Literal

from keyplan.design import (
    Created,
    Design,
    Entity,
    Id,
    Query,
    Table,
    Updated,
    created,
    key,
    pattern,
    query,
    stored,
    updated,
)
from keyplan.review.declaring import errors_recorded

with errors_recorded() as ERRORS:
    hacktracker = Table(
        "hacktracker-{environment=dev}",
        key("PK", "SK"),
        case="camel",
        indexes={
            "GSI1": key("GSI1PK", "GSI1SK"),
            "GSI2": key("GSI2PK", "GSI2SK"),
            "GSI3": key("GSI3PK", "GSI3SK"),
            "GSI4": key("GSI4PK", "GSI4SK"),  # reserved for the future
            "GSI5": key("GSI5PK", "GSI5SK"),  # reserved for the future
        },
    )

    class Stamped(Entity, abstract=True):
        created_at: Created = created()
        updated_at: Updated = updated()

    class User(Stamped, table=hacktracker):
        user_id: Id
        cognito_sub: Annotated[Id, stored("cognitoSub")]
        email: str
        first_name: str
        last_name: str
        phone_number: str

        primary = key("USER#{user_id}", "METADATA")
        by_cognito_sub = hacktracker.GSI1("COGNITO#{cognito_sub}", "USER")
        listed = hacktracker.GSI2("ENTITY#USER", "METADATA#{user_id}")

    class Membership(Entity, table=hacktracker):
        user_id: Id
        team_id: Id
        role: Literal["owner", "manager", "player", "scorekeeper"]
        status: str
        joined_at: datetime
        invited_by: Id | None = None

        primary = key("USER#{user_id}", "TEAM#{team_id}")

    class Team(Stamped, table=hacktracker):
        team_id: Id
        name: str
        description: str
        owner_id: Id
        team_type: Annotated[Literal["MANAGED", "PERSONAL"], stored("team_type")]

        primary = key("TEAM#{team_id}", "METADATA")
        listed = hacktracker.GSI2("ENTITY#TEAM", "METADATA#{team_id}")

    class Player(Stamped, table=hacktracker):
        player_id: Id
        team_id: Id
        first_name: str
        last_name: str
        player_number: int
        positions: list[str]
        status: Literal["active", "inactive", "sub"]
        is_ghost: bool
        user_id: Id | None = None
        linked_at: datetime | None = None

        primary = key("TEAM#{team_id}", "PLAYER#{player_id}")

    class Game(Stamped, table=hacktracker):
        game_id: Id
        team_id: Id
        status: Literal["SCHEDULED", "IN_PROGRESS", "FINAL", "POSTPONED"]
        scheduled_start: datetime | None = None
        opponent_name: str | None = None
        location: str | None = None
        season_id: Id | None = None
        team_score: int = 0
        opponent_score: int = 0
        lineup: list[Id]

        primary = key("GAME#{game_id}", "METADATA")
        listed = hacktracker.GSI2("ENTITY#GAME", "METADATA#{game_id}")
        by_team = hacktracker.GSI3("TEAM#{team_id}", "GAME#{game_id}")

    class HackTracker(Design):
        tables = (hacktracker,)
        entities = (User, Membership, Team, Player, Game)

        @pattern("Find user by Cognito authentication sub", returns=1, decides="who the caller is")
        def user_by_cognito_sub(self, cognito_sub: str) -> Query[User]:
            return query(User.by_cognito_sub, cognito_sub=cognito_sub)

        @pattern("List all users")
        def users(self) -> Query[User]:
            return query(User.listed)

        @pattern("List all teams")
        def teams(self) -> Query[Team]:
            return query(Team.listed).limit(50)

        @pattern("List all games")
        def games(self) -> Query[Game]:
            return query(Game.listed)

        @pattern("Team games")
        def team_games(self, team_id: str) -> Query[Game]:
            return query(Game.by_team, team_id=team_id)

        @pattern("Team roster")
        def roster(self, team_id: str) -> Query[Player]:
            return query(Player.primary, team_id=team_id)

        @pattern("User's teams")
        def user_teams(self, user_id: str) -> Query[Membership]:
            return query(Membership.primary, user_id=user_id)


DESIGN = HackTracker
