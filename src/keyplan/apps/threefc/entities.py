"""3FC's table and what is in it, in the order and words of its document."""

from keyplan.apps.threefc import fields
from keyplan.design import (
    Count,
    Created,
    Entity,
    Ref,
    Refusal,
    Table,
    Updated,
    Versioned,
    belongs_to,
    counts,
    created,
    key,
    mirror,
    ref,
    unique,
    updated,
)

app = Table(
    "3fc-{env=dev}-app",
    key("pk", "sk"),
    case="camel",
    type_attribute="entityType",
    envelope="data",
    why="One table without indexes: everything is found by its key, and mirrors lead from a season or session back to "
    "its league. The envelope lets what is in an item change without a new schema.",
)

ON_A_TEAM = Refusal("on-a-team", "This player is already on a team in this game.")


class Record(Entity, abstract=True):
    """Item Envelope: `pk`, `sk`, `entityType`, `createdAt`, `updatedAt`, and `data` with the fields as a JSON text."""

    created_at: Created = created()
    updated_at: Updated = updated()


class League(fields.LeagueShown, Record, table=app, type="LEAGUE"):
    """League metadata."""

    admin_count: Count = 0

    primary = key("LEAGUE#{league_id}", "METADATA")


class Season(fields.SeasonShown, Record, table=app, type="SEASON"):
    """Season."""

    primary = key("LEAGUE#{league_id}", "SEASON#{season_id}")

    @belongs_to(
        on_delete="refuse",
        count="season_count",
        in_use=Refusal("in-use", "This league has seasons. Delete them first."),
    )
    def league(self) -> Ref[League]:
        """A league with seasons can't be deleted."""
        return ref(League, league_id=self.league_id)

    @mirror
    def by_id(self) -> "SeasonLookup":
        """Nothing in it ever changes, so that no update of a season has to write it."""
        return SeasonLookup.from_fields(self, updated_at=self.created_at)


class SeasonLookup(fields.SeasonScope, Record, table=app, type="SEASON_LOOKUP", noun="season"):
    """Season lookup mirror (for ACL scope resolution)."""

    primary = key("SEASON#{season_id}", "METADATA")


class Team(
    Versioned, fields.TeamFields, fields.SeasonScope, fields.TeamId, fields.GameCount, Record, table=app, type="TEAM"
):
    """Team."""

    primary = key("SEASON#{season_id}", "TEAM#{team_id}")

    @belongs_to(on_delete="cascade", count="team_count")
    def season(self) -> Ref[Season]:
        """Teams are deleted with their season, which has no games by then."""
        return ref(Season, league_id=self.league_id, season_id=self.season_id)


class Session(fields.SessionShown, Record, table=app, type="SESSION"):
    """Session."""

    primary = key("SEASON#{season_id}", "SESSION#{session_id}")

    @belongs_to(
        on_delete="refuse",
        count="session_count",
        in_use=Refusal("in-use", "This season has sessions. Delete them first."),
    )
    def season(self) -> Ref[Season]:
        """A season with sessions can't be deleted."""
        return ref(Season, league_id=self.league_id, season_id=self.season_id)

    @mirror
    def by_id(self) -> "SessionLookup":
        """As for a season."""
        return SessionLookup.from_fields(self, updated_at=self.created_at)


class SessionLookup(fields.SessionScope, Record, table=app, type="SESSION_LOOKUP", noun="session"):
    """Session lookup mirror (for ACL scope resolution)."""

    primary = key("SESSION#{session_id}", "METADATA")


class Game(fields.GameShown, Record, table=app, type="GAME"):
    """Game metadata."""

    primary = key("GAME#{game_id}", "METADATA")

    @belongs_to(
        on_delete="refuse",
        count="game_count",
        missing=Refusal("not-found"),
        in_use=Refusal("in-use", "This session has games. Delete them first."),
    )
    def session(self) -> Ref[Session]:
        """A session with games can't be deleted."""
        return ref(Session, season_id=self.season_id, session_id=self.session_id)

    @belongs_to(
        on_delete="refuse",
        count="game_count",
        missing=Refusal("no-such-team", "Choose teams of this season.", field="team_ids"),
        in_use=Refusal("in-use", "This team has games. Delete them first."),
    )
    def teams(self) -> list[Ref[Team]]:
        """A team with games can't be deleted; a game's teams belong to its season."""
        return [ref(Team, season_id=self.season_id, team_id=team_id) for team_id in self.team_ids]

    @counts("game_count")
    def season(self) -> Ref[Season]:
        """Keeps a season from having more games than its table can be made of."""
        return ref(Season, league_id=self.league_id, season_id=self.season_id)

    @mirror
    def in_session(self) -> "SessionGame":
        """Replaced when the start changes."""
        return SessionGame.from_fields(self)


class Goal(Versioned, fields.GoalFields, fields.GameRef, fields.GoalId, Record, table=app, type="GOAL"):
    """Goal event timeline."""

    primary = key("GAME#{game_id}", "GOAL#{third}#{minute:04}#{event_id}")

    @belongs_to(on_delete="cascade", count="goal_count", missing=Refusal("not-found"))
    def game(self) -> Ref[Game]:
        """Goals are deleted with their game."""
        return ref(Game, game_id=self.game_id)

    @belongs_to(
        on_delete="refuse",
        count="goal_count",
        in_use=Refusal("has-goals", "A goal names this player. Change or undo the goal first."),
    )
    def players(self) -> "list[Ref[Roster]]":
        """Scorer and assists are on the game's roster, and on the team that scored; of an own goal, on the other."""
        team_id = self.conceding_team_id if self.own_goal else self.scoring_team_id
        named = dict.fromkeys((self.scorer_id, *self.assist_ids)) if team_id else ()
        return [ref(Roster, game_id=self.game_id, team_id=team_id, player_id=each) for each in named if each]


class Roster(
    fields.RosterShown,
    fields.GameRef,
    Record,
    table=app,
    type="ROSTER",
    noun="roster entry",
    exists=ON_A_TEAM,
    claims=(("game_id", "player_id"),),
):
    """Roster assignment."""

    primary = key("GAME#{game_id}", "ROSTER#{team_id}#{player_id}")
    one_team = unique("GAME#{game_id}", "ROSTERPLAYER#{player_id}", carries="team_id", refusal=ON_A_TEAM)

    @belongs_to(on_delete="cascade", count="player_count")
    def game(self) -> Ref[Game]:
        """The roster is deleted with its game."""
        return ref(Game, game_id=self.game_id)


class SessionGame(fields.GameCopied, Record, table=app, type="SESSION_GAME", noun="game"):
    """Session -> game index: a copy of the game, in order of start."""

    primary = key("SESSION#{session_id}", "GAME#{game_start_ts}#{game_id}")


class Acl(Versioned, fields.GrantRole, fields.GrantUser, fields.LeagueRef, Record, table=app, type="ACL", noun="grant"):
    """League ACL grants."""

    primary = key("LEAGUE#{league_id}", "ACL#USER#{user_id}")

    @belongs_to(on_delete="cascade")
    def league(self) -> Ref[League]:
        """Grants are deleted with their league."""
        return ref(League, league_id=self.league_id)

    @counts(
        "admin_count",
        floor=1,
        refusal=Refusal("last-one", "A league needs an admin. Make somebody else an admin first."),
    )
    def admins(self) -> Ref[League]:
        """The last admin can't be removed or lowered."""
        return ref(League, league_id=self.league_id).adding(int(self.role == "admin"))

    @mirror
    def of_user(self) -> "UserLeague":
        """The same grant, found by user."""
        return UserLeague.from_fields(self)


class PlayerProfile(fields.PlayerShown, Record, table=app, type="PLAYER", noun="player"):
    """Player profile: a whole copy of the player, found by the id alone."""

    primary = key("PLAYER#{player_id}", "PROFILE")


class Player(fields.PlayerShown, Record, table=app, type="LEAGUE_PLAYER"):
    """A player, under the league, where a delete of the league finds it."""

    primary = key("LEAGUE#{league_id}", "PLAYER#{player_id}")

    @belongs_to(on_delete="cascade")
    def league(self) -> Ref[League]:
        """Players are deleted with their league."""
        return ref(League, league_id=self.league_id)

    @mirror
    def profile(self) -> PlayerProfile:
        """The same player, found without the league."""
        return PlayerProfile.from_fields(self)


class UserLeague(
    fields.GrantRole, fields.LeagueRef, fields.GrantUser, Record, table=app, type="USER_LEAGUE", noun="grant"
):
    """A grant, under the user who has it: "My leagues"."""

    primary = key("USER#{user_id}", "LEAGUE#{league_id}")
