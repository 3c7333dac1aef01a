"""A league with data: seasons, teams, sessions, a game with its roster and goals."""

from datetime import UTC, date, datetime, timedelta

from keyplan.apps.threefc.design import ThreeFC
from keyplan.apps.threefc.entities import Acl, Game, Goal, League, Player, Roster, Season, Session, Team
from keyplan.data import Store, create

START = datetime(2026, 5, 1, 18, 0, tzinfo=UTC)
TEAMS = ("red", "blue", "gold")


def league(league_id: str, admin: str = "olga") -> tuple[League, Acl]:
    """A league and the grant of its creator, to be written together."""
    name = f"League {league_id}"
    return League(league_id=league_id, name=name, slug=league_id), Acl(league_id=league_id, user_id=admin, role="admin")


def game(game_id: str, minutes: int = 0, **fields: object) -> Game:
    """A live game of the first session."""
    place = {"session_id": "session-00", "season_id": "season-00", "league_id": "north", "team_ids": TEAMS}
    start = START + timedelta(minutes=minutes)
    return Game.model_validate({"game_id": game_id, "game_start_ts": start, "status": "live", **place, **fields})


def goal(event_id: str, third: int, minute: int, **fields: object) -> Goal:
    """A goal of the first game that red concedes and blue scores."""
    teams = {"conceding_team_id": "red", "scoring_team_id": "blue"}
    given = {"event_id": event_id, "game_id": "game-00", "third": third, "minute": minute}
    return Goal.model_validate({**given, **teams, **fields})


def fill(store: Store[ThreeFC], scale: int = 1) -> None:
    """The league `north` and others; twice as much of everything with a scale of 2."""
    for league_id in ("east", "north", *(f"other-{number:02}" for number in range(5 * scale))):
        made, grant = league(league_id)
        store.transact(create(made), create(grant))
    for number in range(5 * scale):
        season_id = f"season-{number:02}"
        store.run(create(Season(season_id=season_id, league_id="north", name="Spring", starts_on=date(2026, 3, 1))))
        store.run(create(Acl(league_id="north", user_id=f"user-{number:02}", role="viewer")))
    for team_id in (*TEAMS, *(f"team-{number:02}" for number in range(5 * scale))):
        colour = team_id if team_id in TEAMS else "gray"
        team = {"season_id": "season-00", "league_id": "north", "name": team_id.title(), "colour": colour}
        store.run(create(Team.model_validate({"team_id": team_id, **team})))
    for number in range(5 * scale):
        held = {"session_id": f"session-{number:02}", "session_date": START.date() + timedelta(days=7 * number)}
        store.run(create(Session.model_validate({"season_id": "season-00", "league_id": "north", **held})))
        # The higher the number, the earlier the start.
        store.run(create(game(f"game-{number:02}", minutes=-15 * number)))
    for number in range(9 * scale):
        player = Player(player_id=f"player-{number:02}", league_id="north", display_name=f"Player {number:02}")
        store.run(create(player))
        store.run(create(Roster(game_id="game-00", team_id=TEAMS[number % 3], player_id=player.player_id)))
    for number, (third, minute) in enumerate([(2, 5), (1, 10), (1, 9), (3, 0), (1, 10), (2, 100)] * scale):
        store.run(create(goal(f"event-{number:02}", third, minute)))
