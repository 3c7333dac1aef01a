"""3FC's table and what is in it, in the order and words of its document."""

from datetime import date, datetime
from typing import Annotated, Literal, TypeAlias

from pydantic import AfterValidator, Field

from keyplan.design import (
    Count,
    Created,
    Entity,
    Id,
    Ref,
    Table,
    Updated,
    Version,
    belongs_to,
    counts,
    created,
    key,
    mirror,
    new_id,
    new_ulid,
    on_top,
    ref,
    unique,
    updated,
)

app = Table("3fc-{env=dev}-app", key("pk", "sk"), case="camel", type_attribute="entityType", envelope="data")

Role: TypeAlias = Literal["admin", "scorekeeper", "viewer"]
Status: TypeAlias = Literal["scheduled", "live", "finished"]
Third: TypeAlias = Literal[1, 2, 3]


def _different(team_ids: tuple[str, str, str]) -> tuple[str, str, str]:
    if len(set(team_ids)) < 3:
        raise ValueError("a game has three different teams")
    return team_ids


Teams: TypeAlias = Annotated[tuple[Id, Id, Id], AfterValidator(_different)]


class Record(Entity):
    """Item Envelope: `pk`, `sk`, `entityType`, `createdAt`, `updatedAt`, and `data` with the fields as a JSON text."""

    created_at: Created = created()
    updated_at: Updated = updated()


class League(Record, table=app, type="LEAGUE"):
    """League metadata."""

    league_id: Id = new_id()
    name: str
    slug: str
    version: Version = 0
    season_count: Count = 0
    admin_count: Count = 0

    primary = key("LEAGUE#{league_id}", "METADATA")


class Season(Record, table=app, type="SEASON"):
    """Season."""

    season_id: Id = new_id()
    league_id: Id
    name: str
    starts_on: date | None = None
    ends_on: date | None = None
    version: Version = 0
    session_count: Count = 0
    team_count: Count = 0
    game_count: Count = 0

    primary = key("LEAGUE#{league_id}", "SEASON#{season_id}")

    @belongs_to(on_delete="refuse", count="season_count")
    def league(self) -> Ref[League]:
        """A league with seasons can't be deleted."""
        return ref(League, league_id=self.league_id)

    @mirror
    def by_id(self) -> "SeasonLookup":
        """Nothing in it ever changes, so that no update of a season has to write it."""
        stamps = {"created_at": self.created_at, "updated_at": self.created_at}
        return SeasonLookup(season_id=self.season_id, league_id=self.league_id, **stamps)


class SeasonLookup(Record, table=app, type="SEASON_LOOKUP"):
    """Season lookup mirror (for ACL scope resolution)."""

    season_id: Id
    league_id: Id

    primary = key("SEASON#{season_id}", "METADATA")


class Team(Record, table=app, type="TEAM"):
    """Team."""

    team_id: Id = new_id()
    season_id: Id
    league_id: Id
    name: str
    colour: str
    version: Version = 0
    game_count: Count = 0

    primary = key("SEASON#{season_id}", "TEAM#{team_id}")

    @belongs_to(on_delete="cascade", count="team_count")
    def season(self) -> Ref[Season]:
        """Teams go with their season, which has no games any more when it may go."""
        return ref(Season, league_id=self.league_id, season_id=self.season_id)


class Session(Record, table=app, type="SESSION"):
    """Session."""

    session_id: Id = new_id()
    season_id: Id
    league_id: Id
    session_date: date
    version: Version = 0
    game_count: Count = 0

    primary = key("SEASON#{season_id}", "SESSION#{session_id}")

    @belongs_to(on_delete="refuse", count="session_count")
    def season(self) -> Ref[Season]:
        """A season with sessions can't be deleted."""
        return ref(Season, league_id=self.league_id, season_id=self.season_id)

    @mirror
    def by_id(self) -> "SessionLookup":
        """As for a season."""
        stamps = {"created_at": self.created_at, "updated_at": self.created_at}
        place = {"season_id": self.season_id, "league_id": self.league_id}
        return SessionLookup.model_validate({"session_id": self.session_id, **place, **stamps})


class SessionLookup(Record, table=app, type="SESSION_LOOKUP"):
    """Session lookup mirror (for ACL scope resolution)."""

    session_id: Id
    season_id: Id
    league_id: Id

    primary = key("SESSION#{session_id}", "METADATA")


class Game(Record, table=app, type="GAME"):
    """Game metadata."""

    game_id: Id = new_id()
    session_id: Id
    season_id: Id
    league_id: Id
    game_start_ts: datetime
    status: Annotated[Status, on_top()] = "scheduled"
    team_ids: Teams
    version: Version = 0
    player_count: Count = 0
    goal_count: Count = 0

    primary = key("GAME#{game_id}", "METADATA")

    @belongs_to(on_delete="refuse", count="game_count")
    def session(self) -> Ref[Session]:
        """A session with games can't be deleted."""
        return ref(Session, season_id=self.season_id, session_id=self.session_id)

    @belongs_to(on_delete="refuse", count="game_count")
    def teams(self) -> list[Ref[Team]]:
        """A team with games can't be deleted; a game's teams are of its season."""
        return [ref(Team, season_id=self.season_id, team_id=team_id) for team_id in self.team_ids]

    @counts("game_count")
    def season(self) -> Ref[Season]:
        """So that a season has no more games than its table can be made of."""
        return ref(Season, league_id=self.league_id, season_id=self.season_id)

    @mirror
    def in_session(self) -> "SessionGame":
        """Replaced when the start changes."""
        return SessionGame.model_validate(self.model_dump(exclude={"player_count", "goal_count"}))


class Goal(Record, table=app, type="GOAL"):
    """Goal event timeline."""

    event_id: Id = new_ulid()
    game_id: Id
    third: Third
    minute: Annotated[int, Field(ge=0, le=999)]
    conceding_team_id: Id
    scoring_team_id: Id | None = None
    scorer_id: Id | None = None
    assist_ids: Annotated[tuple[Id, ...], Field(max_length=3)] = ()
    own_goal: bool = False
    version: Version = 0

    primary = key("GAME#{game_id}", "GOAL#{third}#{minute:04}#{event_id}")

    @belongs_to(on_delete="cascade", count="goal_count")
    def game(self) -> Ref[Game]:
        """Deleting a game takes its goals along."""
        return ref(Game, game_id=self.game_id)

    @belongs_to(on_delete="refuse", count="goal_count")
    def players(self) -> "list[Ref[Roster]]":
        """Scorer and assists are on the game's roster, and on the team that scored; of an own goal, on the other."""
        team_id = self.conceding_team_id if self.own_goal else self.scoring_team_id
        named = dict.fromkeys((self.scorer_id, *self.assist_ids)) if team_id else ()
        return [ref(Roster, game_id=self.game_id, team_id=team_id, player_id=each) for each in named if each]


class Roster(Record, table=app, type="ROSTER"):
    """Roster assignment."""

    game_id: Id
    team_id: Id
    player_id: Id
    version: Version = 0
    goal_count: Count = 0
    """Goals that name the player, who stays on the team as long as there are any."""

    primary = key("GAME#{game_id}", "ROSTER#{team_id}#{player_id}")
    one_team = unique("GAME#{game_id}", "ROSTERPLAYER#{player_id}", carries="team_id")

    @belongs_to(on_delete="cascade", count="player_count")
    def game(self) -> Ref[Game]:
        """Deleting a game takes its roster along."""
        return ref(Game, game_id=self.game_id)


class SessionGame(Record, table=app, type="SESSION_GAME"):
    """Session -> game index: a copy of the game, in order of start."""

    game_id: Id
    session_id: Id
    season_id: Id
    league_id: Id
    game_start_ts: datetime
    status: Annotated[Status, on_top()]
    team_ids: Teams
    version: Version = 0

    primary = key("SESSION#{session_id}", "GAME#{game_start_ts}#{game_id}")


class Acl(Record, table=app, type="ACL"):
    """League ACL grants."""

    league_id: Id
    user_id: Id
    role: Annotated[Role, on_top()]
    version: Version = 0

    primary = key("LEAGUE#{league_id}", "ACL#USER#{user_id}")

    @belongs_to(on_delete="cascade")
    def league(self) -> Ref[League]:
        """Grants go with their league."""
        return ref(League, league_id=self.league_id)

    @counts("admin_count", floor=1)
    def admins(self) -> Ref[League]:
        """The last admin can't be removed or lowered."""
        return ref(League, league_id=self.league_id).adding(int(self.role == "admin"))

    @mirror
    def of_user(self) -> "UserLeague":
        """The same grant, found by user."""
        return UserLeague.model_validate(self.model_dump(exclude={"version"}))


class PlayerProfile(Record, table=app, type="PLAYER"):
    """Player profile: a whole copy of the player, found by the id alone."""

    player_id: Id
    league_id: Id
    display_name: str
    user_id: Id | None = None
    version: Version = 0

    primary = key("PLAYER#{player_id}", "PROFILE")


class Player(Record, table=app, type="LEAGUE_PLAYER"):
    """A player, under the league, where a delete of the league finds it."""

    player_id: Id = new_id()
    league_id: Id
    display_name: str
    user_id: Id | None = None
    version: Version = 0

    primary = key("LEAGUE#{league_id}", "PLAYER#{player_id}")

    @belongs_to(on_delete="cascade")
    def league(self) -> Ref[League]:
        """Players go with their league."""
        return ref(League, league_id=self.league_id)

    @mirror
    def profile(self) -> PlayerProfile:
        """The same player, found without the league."""
        return PlayerProfile.model_validate(self.model_dump())


class UserLeague(Record, table=app, type="USER_LEAGUE"):
    """A grant, under the user who has it: "My leagues"."""

    user_id: Id
    league_id: Id
    role: Annotated[Role, on_top()]

    primary = key("USER#{user_id}", "LEAGUE#{league_id}")
