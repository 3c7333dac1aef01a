"""Where the design does not do what its document says, and why."""

from keyplan.apps.threefc.fields import GAMES, GOALS, PLAYERS, SESSIONS, TEAMS
from keyplan.design import accept, departure

DEPARTURES = [
    departure(
        document="Seasons, rosters and timelines have no bounds",
        here=f"a season has at most {SESSIONS} sessions, {TEAMS} teams and {GAMES} games, a game at most {PLAYERS} "
        f"players and {GOALS} goals; a write that would add one more is refused",
        because="sessions by date, the season table and the game sheet are made from all of them, in one request",
    ),
    departure(
        document="Item envelope: pk, sk, entityType, createdAt, updatedAt, data (JSON payload string)",
        here="version, status, role and the counters are attributes beside data; version and counters only there, "
        "status and role in both places",
        because="a condition, a filter or an ADD can't see inside a JSON string",
    ),
    departure(
        document="The envelope allows payload evolution without schema rewrites",
        here="kept; every change of a field writes the whole string, under the item's version",
        because="DynamoDB has no schema for attributes outside keys, so the string gains nothing there, and two "
        "writers of different fields would otherwise undo each other's changes",
    ),
    departure(
        document="Create league, season, session, game, player; grant; assign",
        here="every create is one transaction over the item, its mirror, its index item and its counters, and none of "
        "the items may exist already; the creator's ACL grant is part of the league's",
        because="a put overwrites: anyone who created an existing league again would become its admin",
    ),
    departure(
        document="Season lookup mirror and session lookup mirror",
        here="they hold the ids of their parents and nothing else; teams and sessions have a leagueId",
        because="permissions are found with one read, and no update has to write a mirror",
    ),
    departure(
        document="League ACL grants: pk=LEAGUE#{leagueId}, sk=ACL#USER#{userId}",
        here="mirrored as pk=USER#{userId}, sk=LEAGUE#{leagueId}, entityType USER_LEAGUE",
        because="without it, nobody could list their own leagues except by a scan",
    ),
    departure(
        document="Player profile: pk=PLAYER#{playerId}, sk=PROFILE",
        here="a whole copy of an item pk=LEAGUE#{leagueId}, sk=PLAYER#{playerId}, entityType LEAGUE_PLAYER; both "
        "are written together",
        because="without it, the players of a league could be neither listed nor deleted with it except by a scan",
    ),
    departure(
        document="Roster assignment: pk=GAME#{gameId}, sk=ROSTER#{teamId}#{playerId}",
        here="with a guard, pk=GAME#{gameId}, sk=ROSTERPLAYER#{playerId}, that holds the team",
        because="the team is part of the key, so one player could be on two teams of a game",
    ),
    departure(
        document="Goal events and roster assignments do not know of each other",
        here="a goal's scorer and assists must be on the team's roster, and can be neither moved nor removed while "
        "the goal names them",
        because="otherwise, with several writers, a goal could name somebody who does not play",
    ),
    departure(
        document="Session -> game index: pk=SESSION#{sessionId}, sk=GAME#{gameStartTs}#{gameId}",
        here="a copy of the game, written whenever the game is, and replaced when the start changes",
        because="a list of games needs their status and teams, and a separate link could be forgotten or become stale",
    ),
    departure(
        document="Goal event: sk=GOAL#{third}#{gameMinuteSortable}#{eventId}",
        here="the minute has four digits and the eventId is a ULID; a change of third or minute replaces the item",
        because="goals of the same minute keep the order of entry; a key can't be changed",
    ),
    departure(
        document="List sessions for a season",
        here=f"by id, as the key says; all of them (at most {SESSIONS}) are read and then sorted by sessionDate",
        because="the date is not in the key; generated ids are in order of creation",
    ),
    departure(
        document="no counters",
        here="seasonCount and adminCount on a league, sessionCount, teamCount and gameCount on a season, gameCount "
        "on a session and a team, playerCount and goalCount on a game, goalCount on a roster assignment",
        because="whether anything depends on what is deleted, whether an admin is the last one, and whether there is "
        "room for one more can't be decided by a query while others write",
    ),
    departure(
        document="Implementation in api/src/data/repository.ts, keys.ts and types.ts",
        here="this package",
        because="it is written in Python",
    ),
]

ACCEPTED = (
    accept(
        "mixed-list",
        "ThreeFC.game_sheet",
        because="the guard of each player on the roster is in the game's partition, and one query for the whole sheet "
        "is worth the few bytes",
    ),
)
"""What a review finds and is accepted, and why."""
