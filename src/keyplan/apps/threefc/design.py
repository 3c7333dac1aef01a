"""3FC's design: the access patterns in the order and words of its document, and where it departs from it."""

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
from keyplan.design import (
    Design,
    Get,
    Lookup,
    Query,
    collection,
    departure,
    get,
    lookup,
    pattern,
    query,
)

SESSIONS, TEAMS, GAMES = 500, 200, 1000
"""What a season has at most: sessions are sorted by date, and its table is made, after reading all of them."""
PLAYERS, GOALS = 150, 300
"""What a game has at most."""
SHEET = 1000
"""More items than a game has (a player is two), so that the game sheet is one query."""


class ThreeFC(Design):
    """The supported access patterns of the document, and those that the API needs beside them."""

    tables = (app,)
    entities = (
        League,
        Season,
        SeasonLookup,
        Team,
        Session,
        SessionLookup,
        Game,
        Goal,  # goes before the roster, which it keeps, when a game is deleted
        Roster,
        SessionGame,
        Acl,
        PlayerProfile,
        Player,
        UserLeague,
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

    @pattern("Create/list goal events for a game in deterministic timeline order")
    def timeline(self, game_id: str) -> Query[Goal]:
        """Read strongly: undo takes back the goal that was entered last, a moment ago."""
        return query(Goal.primary, game_id=game_id, consistent=True)

    # Beside the document's

    @pattern("Season lookup (for ACL scope resolution)")
    def season_scope(self, season_id: str) -> Get[SeasonLookup]:
        return get(SeasonLookup, season_id=season_id)

    @pattern("Session lookup (for ACL scope resolution)")
    def session_scope(self, session_id: str) -> Get[SessionLookup]:
        return get(SessionLookup, session_id=session_id)

    @pattern("Grant of a user in a league")
    def grant(self, league_id: str, user_id: str) -> Get[Acl]:
        """Consistent, so that a grant that was taken away is gone."""
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
        """To change it: the profile, a copy, says which league it is of."""
        return get(Player, league_id=league_id, player_id=player_id)

    @pattern("Roster entry of a player in a game")
    def roster_entry(self, game_id: str, player_id: str) -> Lookup[Roster]:
        """Through the guard that keeps a player on one team of a game."""
        return lookup(Roster.one_team, game_id=game_id, player_id=player_id)

    @pattern("Game sheet: game, roster and timeline in one query")
    def game_sheet(self, game_id: str) -> Query[Game | Roster | Goal]:
        """In the order of the sort key: the timeline, the game, the roster."""
        return collection(Game, Roster, Goal, game_id=game_id).limit(SHEET)

    departures = (
        departure(
            document="Seasons, rosters and timelines have no bounds",
            here=f"a season has at most {SESSIONS} sessions, {TEAMS} teams and {GAMES} games, a game at most {PLAYERS} "
            f"players and {GOALS} goals; the write that would be one more is refused",
            because="sessions by date, the season table and the game sheet are made of all of them, in one request",
        ),
        departure(
            document="Item envelope: pk, sk, entityType, createdAt, updatedAt, data (JSON payload string)",
            here="version, status, role and the counters stand beside data as attributes; version and counters only "
            "there, status and role in both",
            because="a condition, a filter or an ADD can not see into a JSON text",
        ),
        departure(
            document="The envelope allows payload evolution without schema rewrites",
            here="kept; every change of a field writes the whole text, under the item's version",
            because="DynamoDB has no schema for attributes outside keys, so the text gains nothing there, and two "
            "writers of different fields would otherwise undo each other",
        ),
        departure(
            document="Create league, season, session, game, player; grant; assign",
            here="every create is one transaction over the item, its mirror, its index item and its counters, and each "
            "item must not be there yet; the creator's ACL grant is in the league's",
            because="a put overwrites: whoever created somebody's league again would become its admin",
        ),
        departure(
            document="Season lookup mirror and session lookup mirror",
            here="they hold the ids of what is above them and nothing else; teams and sessions have a leagueId",
            because="rights are found with one read, and no update has to write a mirror",
        ),
        departure(
            document="League ACL grants: pk=LEAGUE#{leagueId}, sk=ACL#USER#{userId}",
            here="mirrored as pk=USER#{userId}, sk=LEAGUE#{leagueId}, entityType USER_LEAGUE",
            because="nobody could list their own leagues without a scan",
        ),
        departure(
            document="Player profile: pk=PLAYER#{playerId}, sk=PROFILE",
            here="a whole copy of an item pk=LEAGUE#{leagueId}, sk=PLAYER#{playerId}, entityType LEAGUE_PLAYER; both "
            "are written together",
            because="the players of a league could neither be listed nor deleted with it without a scan",
        ),
        departure(
            document="Roster assignment: pk=GAME#{gameId}, sk=ROSTER#{teamId}#{playerId}",
            here="with a guard, pk=GAME#{gameId}, sk=ROSTERPLAYER#{playerId}, that holds the team",
            because="the team is part of the key, so one player could be on two teams of a game",
        ),
        departure(
            document="Goal events and roster assignments do not know of each other",
            here="a goal's scorer and assists must be assigned to the team, and are neither moved nor removed while "
            "the goal names them",
            because="a goal of somebody who does not play could be entered, or be left behind, while others write",
        ),
        departure(
            document="Session -> game index: pk=SESSION#{sessionId}, sk=GAME#{gameStartTs}#{gameId}",
            here="a copy of the game, written by the create and changes of the game, replaced when the start changes",
            because="a list of games needs their status and teams, and a separate link could be forgotten or go stale",
        ),
        departure(
            document="Goal event: sk=GOAL#{third}#{gameMinuteSortable}#{eventId}",
            here="the minute has four digits and the eventId is a ULID; a change of third or minute replaces the item",
            because="ties keep the order of entry; a key can not be changed",
        ),
        departure(
            document="List sessions for a season",
            here=f"by id, as the key says; all of them (at most {SESSIONS}) are read and then sorted by sessionDate",
            because="the date is not in the key; ids made here are in order of creation",
        ),
        departure(
            document="no counters",
            here="seasonCount and adminCount on a league, sessionCount, teamCount and gameCount on a season, gameCount "
            "on a session and a team, playerCount and goalCount on a game, goalCount on a roster assignment",
            because="that nothing depends on what is deleted, that an admin is not the last one, and that there is "
            "room for one more, can not be decided on a query while others write",
        ),
        departure(
            document="Implementation in api/src/data/repository.ts, keys.ts and types.ts",
            here="this package",
            because="it is written in Python",
        ),
    )


DESIGN = ThreeFC
