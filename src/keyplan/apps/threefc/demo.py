"""Made-up data for 3FC: leagues in several towns, one of them with a live game; always the same."""

import random
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta
from itertools import product

from keyplan.apps.threefc.design import ThreeFC
from keyplan.apps.threefc.entities import Acl, Game, Goal, League, Player, Roster, Season, Session, Team
from keyplan.apps.threefc.fields import Role, Status, Third
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
"""Sessions of the season, and games of its first session, which took all day; some other sessions have three games."""
MARATHON, CALLED, SCORED = "demo-game-001-00", 105, 110
"""The only game of the second session, and its numbers of players and goals."""
_BEGAN = date(2026, 3, 1)


def fill(running: Running[ThreeFC], progress: Progress) -> None:
    """Create all of it. What exists already stays as it is, so that an interrupted run can be continued."""
    made = random.Random(1848)
    batches = [*_leagues(), *_league(), *_season(), *_games(made)]
    for done, batch in enumerate(batches):
        with suppress(Refused):
            running.store.transact(*(create(entity) for entity in batch))
        progress(done, len(batches))
    progress(len(batches), len(batches))


Batch = list[League | Acl | Player | Season | Team | Session | Game | Roster | Goal]
"""What is written in one transaction."""


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
    """Six teams that play, and many that have not played yet."""
    waiting = [f"{town} {name}" for town, name in product(TOWNS.split()[1:], [*COLOURS, "White", "Silver"])]
    others = [(name, COLOURS.get(name.split()[-1], "#9e9e9e")) for name in waiting]
    return [*COLOURS.items(), *others][:TEAMS]


def _games(made: random.Random) -> Iterator[Batch]:
    for session in range(SESSIONS):
        day = _BEGAN + timedelta(days=session)
        for number in range(_count(session)):
            start = datetime(day.year, day.month, day.day, 9, 0, tzinfo=UTC) + timedelta(minutes=10 * number)
            game_id = f"demo-game-{session:03}-{number:02}"
            called, goals, third = 15, made.choice([0, 2, 3, 4, 5, 6, 7]), 30
            if game_id == MARATHON:
                called, goals, third = CALLED, SCORED, 300
            game = _game(made, game_id, f"demo-session-{session:03}", start, _status(session, number))
            entries = _called(made, game, called)
            scored = [] if game.status == "scheduled" else list(_goals(made, entries, start, goals, third))
            yield from _in_batches(game, entries, scored)


def _count(session: int) -> int:
    return GAMES if session == 0 else 1 if session == 1 else 3 if session % 3 == 0 and session < 30 else 0


def _status(session: int, number: int) -> Status:
    if session != 27:
        return "finished"
    return "live" if number == 2 else "scheduled"


def _in_batches(game: Game, entries: Sequence[Roster], goals: Sequence[Goal]) -> Iterator[Batch]:
    """One transaction for all but the largest game."""
    yield [game, *entries[:15], *goals[:7]]
    for at in range(15, len(entries), 40):
        yield list(entries[at : at + 40])
    for at in range(7, len(goals), 20):
        yield list(goals[at : at + 20])


def _game(made: random.Random, game_id: str, session_id: str, start: datetime, status: Status) -> Game:
    team_ids = tuple(f"demo-team-{number:03}" for number in made.sample(range(len(COLOURS)), 3))
    place = {"game_id": game_id, "session_id": session_id, "season_id": SPRING, "league_id": MAIN}
    return Game.model_validate({**place, "game_start_ts": start, "status": status, "team_ids": team_ids})


def _called(made: random.Random, game: Game, number: int) -> list[Roster]:
    """This number of players, on the three teams in turn."""
    return [
        Roster(game_id=game.game_id, team_id=game.team_ids[at % 3], player_id=f"demo-player-{player:03}")
        for at, player in enumerate(made.sample(range(PLAYERS), number))
    ]


def _goals(made: random.Random, roster: Sequence[Roster], start: datetime, goals: int, minutes: int) -> Iterator[Goal]:
    """This number of goals, in thirds of this number of minutes; the minute of a goal is counted from the kick-off."""
    on_team: dict[str, list[str]] = {}
    for entry in roster[:15]:
        on_team.setdefault(entry.team_id, []).append(entry.player_id)
    for number, moment in enumerate(sorted(made.randrange(3 * minutes) for _ in range(goals))):
        conceding, scoring = made.sample(list(on_team), 2)
        own = made.random() < 0.1
        named = made.sample(on_team[conceding if own else scoring], 2)
        assisted = not own and made.random() < 0.6
        yield Goal(
            event_id=f"00{int(start.timestamp()):012}{number:012}",  # sorts before every id that is generated later
            game_id=roster[0].game_id,
            third=_THIRDS[moment // minutes],
            minute=moment,
            conceding_team_id=conceding,
            scoring_team_id=None if own else scoring,
            scorer_id=named[0],
            assist_ids=(named[1],) if assisted else (),
            own_goal=own,
        )


_THIRDS: tuple[Third, Third, Third] = (1, 2, 3)
