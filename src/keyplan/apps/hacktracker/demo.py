"""Demo data for hacktracker: a league of softball teams, and the seasons of one team. Only the dates vary."""

import math
import random
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta

from keyplan.apps.hacktracker.design import HackTrackerDesign
from keyplan.apps.hacktracker.entities import AtBat, Game, Membership, Player, Team, User
from keyplan.apps.hacktracker.fields import GameStatus, HitLocation, Position, Result, Role
from keyplan.apps.hacktracker.service.teams import RESTORABLE_FOR
from keyplan.data import Part, Refused, create
from keyplan.web import Person, Progress, Running

PEOPLE = (
    Person("casey", "Casey Rivera", about="owns the Harbor Herons"),
    Person("demo-002", "Jordan Ito", about="deleted a hundred teams"),
    Person("demo-003", "Riley Costa", about="manages the Herons"),
    Person("demo-004", "Morgan Berg", about="scores for the whole league"),
    Person("demo-005", "Robin Novak", about="plays for the Herons"),
    Person("admin", "Admin", groups=("admin",), about="lists everything"),
)
"""Who you can sign in as."""
FIRST = "Alex Sam Jordan Riley Morgan Robin Drew Jamie Kai Quinn Lee Toni"
LAST = "Rivera Dahl Ito Costa Berg Novak Haas Okafor Lind Moreau Sato"
TOWNS = "Harbor Mill Cedar Union North River Granite Summit Prairie Lakeside Bay Fox"
NICKS = "Herons Sluggers Otters Mallards Bats Comets Badgers Foxes Pioneers"
PARKS = ("Lincoln Park Field 3", "Riverside Diamond", "Harbor Green", "Mill Pond Field")
POSITIONS: tuple[Position, ...] = ("P", "C", "1B", "2B", "3B", "SS", "LF", "CF", "RF", "OF", "DH", "UTIL")
HERONS = "demo-team-000"
USERS, TEAMS, DELETED, GAMES, SCORED = 120, 118, 104, 214, 106
PLAYING = f"demo-game-{SCORED - 1:03}"
"""The game that is in progress."""
_BEGAN = datetime(2025, 4, 5, 17, 30, tzinfo=UTC)
_BATCH = 20
_RESULTS: tuple[Result, ...] = ("1B", "2B", "3B", "HR", "BB", "HBP", "K", "OUT", "FC", "SAC", "SF", "E")
_OFTEN = (26, 8, 2, 5, 9, 1, 8, 30, 4, 1, 2, 4)
_ENDS = {"K", "OUT", "FC", "SAC", "SF"}


def fill(running: Running[HackTrackerDesign], progress: Progress) -> None:
    """Create people, teams, and the Herons' games. What exists stays as it is, so it can be run again."""
    made = random.Random(1845)
    # One game is in progress on the day on which the data is made.
    today = running.store.clock().replace(hour=17, minute=30, second=0, microsecond=0)
    batches = [*_people(), *_teams(), *_deleted(running.store.clock()), *_club(), *_games(made, today)]
    for done, parts in enumerate(batches):
        with suppress(Refused):
            running.store.transact(*parts)
        progress(done + 1, len(batches))


def _name(number: int) -> tuple[str, str]:
    first, last = FIRST.split(), LAST.split()
    return first[number % len(first)], last[number % len(last)]


def _user_id(number: int) -> str:
    return "casey" if number == 0 else f"demo-{number:03}"


def _users() -> Iterator[User]:
    for number in range(USERS):
        first, last = ("Casey", "Rivera") if number == 0 else _name(number)
        user_id = _user_id(number)
        yield User(
            user_id=user_id,
            cognito_sub=user_id,
            email=f"{first}.{last}.{number}@example.org".lower(),
            first_name=first,
            last_name=last,
        )


def _people() -> Iterator[list[Part]]:
    yield from _in_batches([create(user) for user in _users()])


def _teams() -> Iterator[list[Part]]:
    """A team for nearly every user. Morgan is scorekeeper in all of them."""
    towns, nicks = TOWNS.split(), NICKS.split()
    for number in range(TEAMS):
        owner, team_id = _user_id(number), f"demo-team-{number:03}"
        first, last = ("Casey", "Rivera") if number == 0 else _name(number)
        name = f"{towns[number % len(towns)]} {nicks[number // len(towns) % len(nicks)]}"
        team = Team(
            team_id=team_id,
            name=name,
            description="Slow pitch, Tuesdays and Saturdays." if number % 2 == 0 else None,
            owner_id=owner,
            team_type="PERSONAL" if number % 10 == 9 else "MANAGED",
            active_game_id=PLAYING if number == 0 else None,
        )
        parts = _new_team(
            team, (first, last), player_number=number % 100, positions=[POSITIONS[number % len(POSITIONS)]]
        )
        if number != 4 and team.team_type == "MANAGED":
            parts.append(create(_membership("demo-004", team_id, "scorekeeper")))
        yield parts


def _deleted(now: datetime) -> Iterator[list[Part]]:
    """The teams that Jordan created for every cup, and deleted a moment ago."""
    gone = {"owner_id": _user_id(2), "deleted_at": now, "expires_at": now + RESTORABLE_FOR}
    for number in range(DELETED):
        team = Team.model_validate({"team_id": f"demo-cup-{number:03}", "name": f"Cup team {number + 1}", **gone})
        yield _new_team(team, _name(2))


def _new_team(team: Team, name: tuple[str, str], **fields: object) -> list[Part]:
    """A team, with its owner as its first player."""
    names = {"first_name": name[0], "last_name": name[1]}
    linked = {"is_ghost": False, "user_id": team.owner_id, "linked_at": _BEGAN}
    player = {"team_id": team.team_id, "player_id": f"{team.team_id}-p00", **names, **linked, **fields}
    owner = _membership(team.owner_id, team.team_id, "owner")
    return [create(team), create(owner), create(Player.model_validate(player))]


def _membership(user_id: str, team_id: str, role: Role) -> Membership:
    return Membership(user_id=user_id, team_id=team_id, role=role, joined_at=_BEGAN)


def _club() -> Iterator[list[Part]]:
    """The Herons: many members, and a roster of fifteen."""
    parts: list[Part] = [
        create(_membership(_user_id(number), HERONS, "manager" if number == 3 else "player"))
        for number in range(1, USERS)
        if number != 4
    ]
    for number in range(1, 15):
        first, last = _name(number)
        linked = {"is_ghost": False, "user_id": _user_id(number), "linked_at": _BEGAN} if number in (3, 5, 6) else {}
        player = {
            "team_id": HERONS,
            "player_id": _heron(number),
            "first_name": first,
            "last_name": last,
            "player_number": 3 * number + 1,
            "positions": [POSITIONS[number % 12], POSITIONS[(number + 3) % 12]],
            "status": "sub" if number == 13 else "inactive" if number == 14 else "active",
            **linked,
        }
        parts.append(create(Player.model_validate(player)))
    yield from _in_batches(parts)


def _heron(number: int) -> str:
    return f"{HERONS}-p{number:02}"


def _games(made: random.Random, today: datetime) -> Iterator[list[Part]]:
    """Past games with their at-bats, one in progress, and upcoming ones. One was very long."""
    start = today - timedelta(days=SCORED // 2 * 7)
    towns, nicks = TOWNS.split(), NICKS.split()
    for number in range(GAMES):
        start += timedelta(days=3 if number % 2 else 4)
        scored = number < SCORED
        order = made.sample(range(13), 10)
        game = Game(
            game_id=f"demo-game-{number:03}",
            team_id=HERONS,
            status=_status(number),
            scheduled_start=start if number < GAMES - 3 else None,
            opponent_name=f"{made.choice(towns)} {made.choice(nicks[1:])}",
            location=made.choice(PARKS),
            season_id=f"{start.year} {'spring' if start.month < 7 else 'summer' if start.month < 9 else 'fall'}",
            opponent_score=made.randrange(2, 15) if scored else 0,
            lineup=[_heron(each) for each in order] if scored else [],
        )
        yield [create(game)]
        if scored:
            innings = 24 if number == 0 else 4 if number == SCORED - 1 else 5
            yield from _in_batches([create(each) for each in _at_bats(made, game, innings)])


def _status(number: int) -> GameStatus:
    if number < SCORED:
        return "IN_PROGRESS" if number == SCORED - 1 else "FINAL"
    return "POSTPONED" if number % 17 == 0 else "SCHEDULED"


def _at_bats(made: random.Random, game: Game, innings: int) -> Iterator[AtBat]:
    linked = {_heron(0): "casey", **{_heron(number): _user_id(number) for number in (3, 5, 6)}}
    count = 0
    for inning in range(1, innings + 1):
        outs = on = 0
        while outs < 3:
            player_id = game.lineup[count % len(game.lineup)]
            result = _result(made, on, outs)
            runs = _runs(made, result, on)
            on += (result not in _ENDS) - runs
            yield AtBat(
                game_id=game.game_id,
                at_bat_id=f"00-{game.game_id}-{count:03}",  # sorts before every ID that is generated later
                player_id=player_id,
                user_id=linked.get(player_id),
                team_id=HERONS,
                team_name="Harbor Herons",
                game_date=game.scheduled_start,
                result=result,
                inning=inning,
                outs=outs,
                runs=runs,
                rbi=0 if result == "E" else runs,
                hit_location=_hit_location(made, result),
            )
            outs += result in _ENDS
            count += 1


def _result(made: random.Random, on: int, outs: int) -> Result:
    """A result that is possible with this many on base: a sacrifice needs a runner, and fewer than two outs."""
    (result,) = made.choices(_RESULTS, _OFTEN)
    possible = on > 0 and (result == "FC" or outs < 2)
    return result if possible or result not in ("SAC", "SF", "FC") else "OUT"


def _runs(made: random.Random, result: Result, on: int) -> int:
    """The runs of a play with this many on base."""
    match result:
        case "HR":
            return on + 1
        case "3B":
            return on
        case "BB" | "HBP":
            return int(on == 3)
        case "SF":
            return 1
        case "1B" | "2B" | "E":
            return made.randint(max(0, on - 2), on)
    return 0


def _hit_location(made: random.Random, result: Result) -> HitLocation | None:
    """Where a ball in play landed: within the foul lines, farther for better hits."""
    far = {"1B": 0.5, "2B": 0.75, "3B": 0.88, "HR": 1.06, "OUT": 0.55, "FC": 0.3, "SF": 0.7, "E": 0.35}.get(result)
    if far is None:
        return None
    aside = made.uniform(-0.74, 0.74)
    # The fence is at 0.95 in the middle, and closer along the lines.
    reach = made.gauss(far, 0.1) * (0.95 - 0.3 * abs(aside))
    x, y = 0.5 + 0.9 * reach * math.sin(aside), reach * math.cos(aside)
    return HitLocation(x=round(min(1.0, max(0.0, x)), 3), y=round(min(1.0, max(0.03, y)), 3))


def _in_batches(parts: Sequence[Part]) -> Iterator[list[Part]]:
    """Several writes in one transaction, which is faster than one by one."""
    for start in range(0, len(parts), _BATCH):
        yield list(parts[start : start + _BATCH])
