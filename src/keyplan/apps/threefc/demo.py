"""Made-up data for 3FC: leagues in several towns, one of them in the middle of a game; always the same."""

import random
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta
from itertools import product

from keyplan.apps.threefc.design import ThreeFC
from keyplan.apps.threefc.entities import (
    Acl,
    Game,
    Goal,
    League,
    Player,
    Role,
    Roster,
    Season,
    Session,
    Status,
    Team,
    Third,
)
from keyplan.data import Refused, create
from keyplan.web import Progress, Running

ORGANISER, SCOREKEEPER, SPECTATOR = "olga", "sam", "vera"
"""Who is admin, scorekeeper and viewer in all leagues of the demo."""
TOWNS = "Hackney Leith Altona Malmö Utrecht Turku Ghent Porto Graz Lyon Brno Cork Riga Split Bergen"
KINDS = "Sunday Three|Park League|Works Cup|Triangle League|Evening Hexagon|Harbour Cup|Hill League"
FIRST = "Ada Bo Cleo Dario Efe Fia Gus Hana Ivo Juno Kemi Lars Mona Nico Oona Pia Quinn Rosa Sami Tove"
LAST = "Adeyemi Berg Costa Dahl Endo Fischer Greco Haas Ito"
COLOURS = {
    "Red": "#c62828",
    "Blue": "#1565c0",
    "Gold": "#f9a825",
    "Green": "#2e7d32",
    "Violet": "#6a1b9a",
    "Black": "#212121",
}
MAIN, SPRING, TODAY = "demo-league", "demo-2026-spring", "demo-session-000"
LEAGUES, SEASONS, TEAMS, PLAYERS, PEOPLE = 104, 104, 104, 120, 104
SESSIONS, GAMES = 104, 104
"""Sessions of the season, and games of its first one, which went on day and night; some others have three games."""
_BEGAN = date(2026, 3, 1)


def fill(running: Running[ThreeFC], progress: Progress) -> None:
    """All of it. What is there already stays, so it can be gone on with."""
    made = random.Random(1848)
    batches = [*_leagues(), *_league(), *_season(), *_games(made)]
    for done, batch in enumerate(batches):
        with suppress(Refused):
            running.store.transact(*(create(entity) for entity in batch))
        progress(done, len(batches))
    progress(len(batches), len(batches))


Batch = list[League | Acl | Player | Season | Team | Session | Game | Roster | Goal]
"""What is written together."""


def _leagues() -> Iterator[Batch]:
    names = [f"{town} {kind}" for kind, town in product(KINDS.split("|"), TOWNS.split())]
    for number, name in enumerate(names[:LEAGUES]):
        league_id = MAIN if number == 0 else f"demo-league-{number:03}"
        slug = name.lower().replace(" ", "-").replace("ö", "o")
        league = League(league_id=league_id, name=name, slug=slug)
        roles: dict[str, Role] = {ORGANISER: "admin", SCOREKEEPER: "scorekeeper", SPECTATOR: "viewer"}
        yield [league, *(Acl(league_id=league_id, user_id=user_id, role=role) for user_id, role in roles.items())]


def _league() -> Iterator[Batch]:
    names = [f"{first} {last}" for last, first in product(LAST.split(), FIRST.split())]
    for number, name in enumerate(names[:PLAYERS]):
        user_id = SPECTATOR if number == 0 else None
        yield [Player(player_id=f"demo-player-{number:03}", league_id=MAIN, display_name=name, user_id=user_id)]
    for number in range(PEOPLE):
        role: Role = "scorekeeper" if number % 10 == 0 else "viewer"
        yield [Acl(league_id=MAIN, user_id=f"demo-user-{number:03}", role=role)]
    yield [Season(season_id=SPRING, league_id=MAIN, name="Spring 2026", starts_on=_BEGAN, ends_on=date(2026, 7, 31))]
    for number in range(1, SEASONS):
        year, part = 2025 - number // 4, ("Winter", "Autumn", "Summer", "Spring")[number % 4]
        yield [Season(season_id=f"demo-season-{number:03}", league_id=MAIN, name=f"{part} {year}")]


def _season() -> Iterator[Batch]:
    for number, (name, colour) in enumerate(_teams()):
        team = {"team_id": f"demo-team-{number:03}", "name": name, "colour": colour}
        yield [Team.model_validate({"season_id": SPRING, "league_id": MAIN, **team})]
    for number in range(SESSIONS):
        day = _BEGAN + timedelta(days=number)
        session = {"session_id": f"demo-session-{number:03}", "session_date": day}
        yield [Session.model_validate({"season_id": SPRING, "league_id": MAIN, **session})]


def _teams() -> list[tuple[str, str]]:
    """Six that play, and many that wait for a place."""
    waiting = [f"{town} {name}" for town, name in product(TOWNS.split()[1:], [*COLOURS, "White", "Silver"])]
    others = [(name, COLOURS.get(name.split()[-1], "#9e9e9e")) for name in waiting]
    return [*COLOURS.items(), *others][:TEAMS]


def _games(made: random.Random) -> Iterator[Batch]:
    for session in range(SESSIONS):
        count = GAMES if session == 0 else 3 if session % 3 == 0 and session < 30 else 0
        day = _BEGAN + timedelta(days=session)
        for number in range(count):
            start = datetime(day.year, day.month, day.day, 9, 0, tzinfo=UTC) + timedelta(minutes=10 * number)
            last = session == 27 and number == count - 1
            status: Status = "live" if last else "scheduled" if session == 27 else "finished"
            yield from _game(made, f"demo-game-{session:03}-{number:02}", f"demo-session-{session:03}", start, status)


def _game(made: random.Random, game_id: str, session_id: str, start: datetime, status: Status) -> Iterator[Batch]:
    team_ids = tuple(f"demo-team-{number:03}" for number in made.sample(range(len(COLOURS)), 3))
    place = {"game_id": game_id, "session_id": session_id, "season_id": SPRING, "league_id": MAIN}
    game = Game.model_validate({**place, "game_start_ts": start, "status": status, "team_ids": team_ids})
    called = made.sample(range(PLAYERS), 15)
    on_team = {team_id: [f"demo-player-{number:03}" for number in called[at::3]] for at, team_id in enumerate(team_ids)}
    entries = [Roster(game_id=game_id, team_id=team, player_id=one) for team, ones in on_team.items() for one in ones]
    goals = [] if status == "scheduled" else list(_goals(made, game_id, on_team, start))
    yield [game, *entries, *goals]


def _goals(made: random.Random, game_id: str, on_team: dict[str, list[str]], start: datetime) -> Iterator[Goal]:
    moments = sorted((made.randint(1, 3), made.randint(0, 29)) for _ in range(made.choice([0, 2, 3, 4, 5, 6, 7])))
    for number, (third, minute) in enumerate(moments):
        conceding, scoring = made.sample(list(on_team), 2)
        own = made.random() < 0.1
        named = made.sample(on_team[conceding if own else scoring], 2)
        assisted = not own and made.random() < 0.6
        yield Goal(
            event_id=f"00{int(start.timestamp()):012}{number:012}",  # before all that are entered from now on
            game_id=game_id,
            third=_THIRDS[third - 1],
            minute=minute,
            conceding_team_id=conceding,
            scoring_team_id=None if own else scoring,
            scorer_id=named[0],
            assist_ids=(named[1],) if assisted else (),
            own_goal=own,
        )


_THIRDS: tuple[Third, Third, Third] = (1, 2, 3)
