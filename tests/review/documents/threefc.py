"""3FC, as its design document wrote it."""

from datetime import datetime
from typing import Literal

from keyplan.design import (
    Created,
    Design,
    Entity,
    Get,
    Id,
    Query,
    Table,
    Updated,
    created,
    get,
    key,
    mirror,
    pattern,
    query,
    updated,
)
from keyplan.review.declaring import errors_recorded

with errors_recorded() as ERRORS:
    app = Table("3fc-{env=dev}-app", key("pk", "sk"), case="camel", type_attribute="entityType", envelope="data")

    class Record(Entity, abstract=True):
        created_at: Created = created()
        updated_at: Updated = updated()

    class League(Record, table=app, type="LEAGUE"):
        league_id: Id

        primary = key("LEAGUE#{league_id}", "METADATA")

    class SeasonLookup(Record, table=app, type="SEASON_LOOKUP"):
        season_id: Id
        league_id: Id

        primary = key("SEASON#{season_id}", "METADATA")

    class Season(Record, table=app, type="SEASON"):
        league_id: Id
        season_id: Id

        primary = key("LEAGUE#{league_id}", "SEASON#{season_id}")

        @mirror
        def lookup_mirror(self) -> SeasonLookup:
            return SeasonLookup.from_fields(self)

    class Team(Record, table=app, type="TEAM"):
        season_id: Id
        team_id: Id

        primary = key("SEASON#{season_id}", "TEAM#{team_id}")

    class SessionLookup(Record, table=app, type="SESSION_LOOKUP"):
        session_id: Id
        season_id: Id

        primary = key("SESSION#{session_id}", "METADATA")

    class Session(Record, table=app, type="SESSION"):
        season_id: Id
        session_id: Id

        primary = key("SEASON#{season_id}", "SESSION#{session_id}")

        @mirror
        def lookup_mirror(self) -> SessionLookup:
            return SessionLookup.from_fields(self)

    class SessionGame(Record, table=app, type="SESSION_GAME"):
        session_id: Id
        game_id: Id
        game_start_ts: datetime

        primary = key("SESSION#{session_id}", "GAME#{game_start_ts}#{game_id}")

    class Game(Record, table=app, type="GAME"):
        session_id: Id
        game_id: Id
        game_start_ts: datetime

        primary = key("GAME#{game_id}", "METADATA")

        @mirror
        def in_session(self) -> SessionGame:
            return SessionGame.from_fields(self)

    class Goal(Record, table=app, type="GOAL"):
        game_id: Id
        third: Literal[1, 2, 3]
        game_minute: int
        event_id: Id

        primary = key("GAME#{game_id}", "GOAL#{third}#{game_minute:03}#{event_id}")

    class Roster(Record, table=app, type="ROSTER"):
        game_id: Id
        team_id: Id
        player_id: Id

        primary = key("GAME#{game_id}", "ROSTER#{team_id}#{player_id}")

    class Acl(Record, table=app, type="ACL"):
        league_id: Id
        user_id: Id

        primary = key("LEAGUE#{league_id}", "ACL#USER#{user_id}")

    class PlayerProfile(Record, table=app, type="PLAYER"):
        player_id: Id

        primary = key("PLAYER#{player_id}", "PROFILE")

    class ThreeFC(Design):
        tables = (app,)
        entities = (
            League,
            Season,
            SeasonLookup,
            Team,
            Session,
            SessionLookup,
            Game,
            Goal,
            Roster,
            SessionGame,
            Acl,
            PlayerProfile,
        )

        @pattern("Create/read league metadata")
        def league(self, league_id: str) -> Get[League]:
            return get(League, league_id=league_id)

        @pattern("Create/list seasons for a league")
        def seasons(self, league_id: str) -> Query[Season]:
            return query(Season.primary, league_id=league_id)

        @pattern("Season lookup (for ACL scope resolution)", decides="which league's grants count")
        def season_lookup(self, season_id: str) -> Get[SeasonLookup]:
            return get(SeasonLookup, season_id=season_id)

        @pattern("Create/list teams for a season")
        def teams(self, season_id: str) -> Query[Team]:
            return query(Team.primary, season_id=season_id)

        @pattern("Create/list sessions for a season")
        def sessions(self, season_id: str) -> Query[Session]:
            return query(Session.primary, season_id=season_id)

        @pattern("Session lookup (for ACL scope resolution)", decides="which league's grants count")
        def session_lookup(self, session_id: str) -> Get[SessionLookup]:
            return get(SessionLookup, session_id=session_id)

        @pattern("Create/read game metadata")
        def game(self, game_id: str) -> Get[Game]:
            return get(Game, game_id=game_id)

        @pattern("Link/list games for a session")
        def games(self, session_id: str) -> Query[SessionGame]:
            return query(SessionGame.primary, session_id=session_id)

        @pattern("Create/read player profile")
        def profile(self, player_id: str) -> Get[PlayerProfile]:
            return get(PlayerProfile, player_id=player_id)

        @pattern("Grant/list league ACL entries", decides="what the user may do in the league")
        def grants(self, league_id: str) -> Query[Acl]:
            return query(Acl.primary, league_id=league_id)

        @pattern("Assign/list game roster entries")
        def roster(self, game_id: str) -> Query[Roster]:
            return query(Roster.primary, game_id=game_id)

        @pattern("Create/list goal events for a game in deterministic timeline order")
        def timeline(self, game_id: str) -> Query[Goal]:
            return query(Goal.primary, game_id=game_id)


DESIGN = ThreeFC
