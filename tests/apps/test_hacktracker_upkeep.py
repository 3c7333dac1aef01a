"""hacktracker's background work: if it is interrupted at any moment, the next process finishes it."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from keyplan.apps.hacktracker.api import SYSTEM
from keyplan.apps.hacktracker.design import HackTrackerDesign
from keyplan.apps.hacktracker.entities import Game, Membership, Player, Team, User
from keyplan.data import create, update
from keyplan.engine import Engine
from keyplan.web.server.application import running
from keyplan.web.server.work import Worker
from keyplan.web.system.running import Running
from tests.apps.hack_site import settings
from tests.apps.hacktracker_data import at_bat, new_team, user
from tests.data.support import Killed, Mortal

TABLE = "hacktracker-dev"


class Time:
    """The time, which tests can set."""

    def __init__(self) -> None:
        self.now = datetime(2026, 5, 1, 18, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture
def engine(time: Time) -> Iterator[Engine]:
    with Engine(clock=lambda: time.now.timestamp()) as made:
        yield made


@pytest.fixture
def hack(tmp_path: Path, engine: Engine, time: Time) -> Running[HackTrackerDesign]:
    started = running(SYSTEM, settings(tmp_path), engine)
    started.store.clock = time
    started.store.create_tables()
    return started


def work_off(hack: Running[HackTrackerDesign], streams: Engine) -> None:
    worker = Worker([hack], streams)
    while worker.run_once():
        pass


def killed_again_and_again(
    folder: Path,
    engine: Engine,
    hack: Running[HackTrackerDesign],
    time: Time,
    turn: Callable[[int], Callable[[], None]],
    step: int = 1,
) -> None:
    """Interrupt the consequences of an action at each call in turn; another process continues.

    `turn` makes it happen, and gives what has to hold afterwards.
    """
    calls, survived = 0, False
    while not survived:
        calls += step
        holds = turn(calls)
        time.now += timedelta(minutes=1)
        mortal = running(SYSTEM, settings(folder), Mortal(engine, calls, after=calls % 2 == 0))
        mortal.store.clock = time
        try:
            work_off(mortal, engine)
            survived = True
        except Killed:
            pass
        time.now += timedelta(minutes=1)  # the leases of the killed process have expired
        work_off(hack, engine)
        holds()
    assert calls > 10
    assert hack.store.verify() == []


def small_team(hack: Running[HackTrackerDesign], name: str) -> None:
    """A team with everything a team can have: linked players, a ghost, a member, and two games with at-bats."""
    store = hack.store
    store.transact(create(user(f"{name}-owner")), create(user(f"{name}-guest")))
    new_team(store, Team(team_id=name, name="Sluggers", owner_id=f"{name}-owner"))
    store.run(create(Membership(user_id=f"{name}-guest", team_id=name, role="player")))
    for number in (1, 2):
        ghost = {"team_id": name, "player_id": f"{name}-{number}", "first_name": "G", "last_name": "Host"}
        store.run(create(Player.model_validate({**ghost, "player_number": number})))
    for number in (1, 2):
        game_id = f"{name}-game-{number}"
        store.run(create(Game(game_id=game_id, team_id=name, status="FINAL", scheduled_start=hack.store.clock())))
        for batter in (f"{name}-owner", f"{name}-1"):
            fields = {"player_id": batter, "user_id": f"{name}-owner", "team_id": name}
            store.run(create(at_bat(game_id, f"{game_id}-{batter}", game_date=hack.store.clock(), **fields)))


def keys_of(engine: Engine, name: str) -> list[tuple[str, str]]:
    """The items of a team, with the kinds of their sort keys."""
    found = engine.scan(TableName=TABLE)["Items"]
    keys = ((item["PK"]["S"], item["SK"]["S"]) for item in found)
    mine = [(pk, sk) for pk, sk in keys if name in pk or name in sk]
    return sorted((pk.partition("#")[0], sk.partition("#")[0]) for pk, sk in mine)


def test_a_removed_team_is_cleared_away_whatever_happens(
    tmp_path: Path, engine: Engine, hack: Running[HackTrackerDesign], time: Time
) -> None:
    def turn(number: int) -> Callable[[], None]:
        name = f"team{number:03}"
        small_team(hack, name)
        team = hack.store.run(hack.design.team(name))
        assert team is not None
        team.deleted_at, team.expires_at = time.now, time.now + timedelta(days=30)
        hack.store.run(update(team))
        work_off(hack, engine)
        time.now += timedelta(days=31)
        engine.sweep_expired()

        def holds() -> None:
            left = keys_of(engine, name)
            # Two accounts, the owner's record, and the at-bats: no team, member, ghost, number or game.
            assert left == [("GAME", "ATBAT")] * 4 + [("TEAM", "PLAYER")] + [("USER", "METADATA")] * 2, number
            batted = hack.store.run(hack.design.user_at_bats(f"{name}-owner", f"{name}-owner")).items
            assert [each.removed_at is not None for each in batted] == [True, True]

        return holds

    killed_again_and_again(tmp_path, engine, hack, time, turn, step=7)


def test_a_deleted_account_leaves_its_teams_whatever_happens(
    tmp_path: Path, engine: Engine, hack: Running[HackTrackerDesign], time: Time
) -> None:
    def turn(number: int) -> Callable[[], None]:
        name = f"team{number:03}"
        small_team(hack, name)
        guest = hack.store.run(hack.design.user(f"{name}-guest"))
        ghost = hack.store.run(hack.design.player(name, f"{name}-2"))
        assert guest is not None
        assert ghost is not None
        ghost.first_name, ghost.user_id, ghost.is_ghost, ghost.linked_at = "Pat", guest.user_id, False, time.now
        hack.store.run(update(ghost))
        work_off(hack, engine)
        hack.store.run(update(_anonymous(guest, time.now)))

        def holds() -> None:
            assert hack.store.run(hack.design.membership(f"{name}-guest", name)) is None
            record = hack.store.run(hack.design.player(name, f"{name}-2"))
            assert record is not None
            assert (record.is_ghost, record.user_id, record.first_name) == (True, None, "Former"), number

        return holds

    killed_again_and_again(tmp_path, engine, hack, time, turn)


def _anonymous(gone: User, now: datetime) -> User:
    gone.cognito_sub = gone.email = gone.first_name = gone.last_name = None
    gone.deleted_at = now
    return gone


def test_at_bats_follow_their_game_whatever_happens(
    tmp_path: Path, engine: Engine, hack: Running[HackTrackerDesign], time: Time
) -> None:
    def turn(number: int) -> Callable[[], None]:
        name = f"team{number:03}"
        small_team(hack, name)
        work_off(hack, engine)
        game = hack.store.run(hack.design.game(f"{name}-game-1"))
        assert game is not None
        game.scheduled_start = later = time.now + timedelta(days=7)
        hack.store.run(update(game))

        def holds() -> None:
            at_bats = hack.store.run(hack.design.game_at_bats(game.game_id)).items
            assert {(each.game_date, each.version) for each in at_bats} == {(later, 1)}, number

        return holds

    killed_again_and_again(tmp_path, engine, hack, time, turn)
