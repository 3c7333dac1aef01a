"""3FC's design: the access patterns in the order and words of its document."""

from keyplan.apps.threefc.departures import ACCEPTED, DEPARTURES
from keyplan.apps.threefc.entities import (
    Acl,
    Game,
    Goal,
    League,
    Player,
    PlayerProfile,
    Roster,
    Season,
    SeasonLookup,
    Session,
    SessionGame,
    SessionLookup,
    Team,
    UserLeague,
    app,
)
from keyplan.apps.threefc.fields import SESSIONS
from keyplan.design import Design, Get, Lookup, Query, accept, collection, get, lookup, pattern, query

SHEET = 1000
"""More items than a game can have (a player is two), so that the game sheet is one query."""
OPERATION = "whoever runs the system decides how it is backed up; on one file, `keyplan backup` copies everything"
"""Why the tables don't say how they are protected."""


class ThreeFC(Design):
    """Scoring for three-sided football: leagues with seasons, sessions and games, and who may do what in a league.

    A league has seasons, a season has teams and sessions, and a session has games. Goals are events on a timeline that
    is read in order, so minutes are padded with zeros. What a user may do in a game is decided by the grants of its
    league, which the lookup items of seasons and sessions lead to.

    First come the access patterns of the document, then others that the API needs.
    """

    tables = (app,)
    entities = (
        League,
        Season,
        SeasonLookup,
        Team,
        Session,
        SessionLookup,
        Game,
        Goal,  # deleted before the roster, which it refers to, when a game is deleted
        Roster,
        SessionGame,
        Acl,
        PlayerProfile,
        Player,
        UserLeague,
    )
    accepted = (
        accept("not-protected", "ThreeFC", because=OPERATION),
        accept("no-recovery", "ThreeFC", because=OPERATION),
        *ACCEPTED,
    )

    @pattern("Create/read league metadata")
    def league(self, league_id: str) -> Get[League]:
        return get(League, league_id=league_id)

    @pattern("Create/list seasons for a league")
    def seasons(self, league_id: str) -> Query[Season]:
        return query(Season.primary, league_id=league_id)

    @pattern("Create/list teams for a season")
    def teams(self, season_id: str) -> Query[Team]:
        return query(Team.primary, season_id=season_id)

    @pattern("Create/list sessions for a season")
    def sessions(self, season_id: str) -> Query[Session]:
        """By id; all of them in one page, to be shown by date."""
        return query(Session.primary, season_id=season_id).limit(SESSIONS)

    @pattern("Create/read game metadata")
    def game(self, game_id: str) -> Get[Game]:
        return get(Game, game_id=game_id)

    @pattern("Link/list games for a session (`SESSION#{sessionId}` query)")
    def games(self, session_id: str) -> Query[SessionGame]:
        """In order of start."""
        return query(SessionGame.primary, session_id=session_id)

    @pattern("Create/read player profile")
    def profile(self, player_id: str) -> Get[PlayerProfile]:
        return get(PlayerProfile, player_id=player_id)

    @pattern("Grant/list league ACL entries")
    def grants(self, league_id: str) -> Query[Acl]:
        return query(Acl.primary, league_id=league_id)

    @pattern("Assign/list game roster entries")
    def roster(self, game_id: str) -> Query[Roster]:
        """By team."""
        return query(Roster.primary, game_id=game_id)

    @pattern("Create/list goal events for a game in deterministic timeline order", decides="which goal is undone")
    def timeline(self, game_id: str) -> Query[Goal]:
        """Consistent, because undo removes the goal that was entered last, maybe a moment ago."""
        return query(Goal.primary, game_id=game_id, consistent=True)

    # Not in the document

    @pattern("Season lookup (for ACL scope resolution)")
    def season_scope(self, season_id: str) -> Get[SeasonLookup]:
        return get(SeasonLookup, season_id=season_id)

    @pattern("Session lookup (for ACL scope resolution)")
    def session_scope(self, session_id: str) -> Get[SessionLookup]:
        return get(SessionLookup, session_id=session_id)

    @pattern("Grant of a user in a league", decides="what the user may do in the league")
    def grant(self, league_id: str, user_id: str) -> Get[Acl]:
        """Consistent, so that a revoked grant counts no longer."""
        return get(Acl, league_id=league_id, user_id=user_id, consistent=True)

    @pattern("My leagues")
    def my_leagues(self, user_id: str) -> Query[UserLeague]:
        """With the role in each."""
        return query(UserLeague.primary, user_id=user_id)

    @pattern("Read season")
    def season(self, league_id: str, season_id: str) -> Get[Season]:
        return get(Season, league_id=league_id, season_id=season_id)

    @pattern("Read team")
    def team(self, season_id: str, team_id: str) -> Get[Team]:
        return get(Team, season_id=season_id, team_id=team_id)

    @pattern("Read session")
    def session(self, season_id: str, session_id: str) -> Get[Session]:
        return get(Session, season_id=season_id, session_id=session_id)

    @pattern("Players of a league")
    def players(self, league_id: str) -> Query[Player]:
        return query(Player.primary, league_id=league_id)

    @pattern("Player of a league")
    def player(self, league_id: str, player_id: str) -> Get[Player]:
        """To change it: the profile, a copy, says which league it belongs to."""
        return get(Player, league_id=league_id, player_id=player_id)

    @pattern("Roster entry of a player in a game")
    def roster_entry(self, game_id: str, player_id: str) -> Lookup[Roster]:
        """Through the guard that keeps a player on one team of a game."""
        return lookup(Roster.one_team, game_id=game_id, player_id=player_id)

    @pattern("Game sheet: game, roster and timeline in one query")
    def game_sheet(self, game_id: str) -> Query[Game | Roster | Goal]:
        """In the order of the sort key: the timeline, the game, the roster."""
        return collection(Game, Roster, Goal, game_id=game_id).limit(SHEET)

    departures = DEPARTURES


DESIGN = ThreeFC
