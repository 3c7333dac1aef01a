"""Every access pattern of hacktracker: its result, its requests, and its cost."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest

from keyplan.apps.hacktracker.design import HackTrackerDesign
from tests.apps.hacktracker_data import START, fill
from tests.apps.support import WAYS, Case, Way, World, run_case, scanning, units, without_case, world


def field(name: str) -> Callable[[Any], object]:
    """A field of an item; None if there is no item."""
    return lambda entity: getattr(entity, name, None)


def numbered(prefix: str, *numbers: int) -> list[str]:
    return [f"{prefix}-{number:03}" for number in numbers]


user_id, team_id, player_id = field("user_id"), field("team_id"), field("player_id")
game_id, at_bat_id = field("game_id"), field("at_bat_id")
SOON, LATER = START + timedelta(weeks=3), START + timedelta(weeks=26)

CASES = [
    # Primary keys
    Case("user", ("user-003",), "user-003@example.com", ["get_item"], field("email")),
    Case("user", ("nobody",), None, ["get_item"]),
    Case("membership", ("user-000", "team-000"), "owner", ["get_item"], field("role")),
    Case("membership", ("user-001", "team-002"), None, ["get_item"]),
    Case("team", ("team-000",), "Team 000", ["get_item"], field("name")),
    Case("player", ("team-000", "player-004"), 4, ["get_item"], field("player_number")),
    Case("game", ("game-000",), 10, ["get_item"], field("team_score")),
    # GSI1: User Lookup by Cognito Sub
    Case("user_by_cognito_sub", ("user-003",), ["user-003"], ["query GSI1"], user_id),
    Case("user_by_cognito_sub", ("nobody",), [], ["query GSI1"], user_id),
    # GSI2: Entity Listing
    Case("users", (), numbered("user", 0, 1, 2), ["query GSI2"], user_id, limit=3),
    # A deleted team is not shown.
    Case("teams", (), numbered("team", 0, 2, 3), ["query GSI2"], team_id, limit=3),
    Case("games", (), numbered("game", 0, 1, 2), ["query GSI2"], game_id, limit=3),
    # GSI3: Games by Team
    Case("season_games", ("team-000", "spring"), numbered("game", 27, 25), ["query GSI3"], game_id, limit=2),
    Case("team_games", ("team-000",), numbered("game", 27, 26, 25), ["query GSI3"], game_id, limit=3),
    Case("team_games", ("team-002",), [], ["query GSI3"], game_id, limit=3),
    Case("coming_games", ("team-000", LATER), numbered("game", 2, 1), ["query GSI3"], game_id, limit=2),
    Case("past_games", ("team-000", SOON), numbered("game", 26, 27), ["query GSI3"], game_id, limit=2),
    # GSI4: User's Players
    Case("user_players", ("user-003",), ["team-003-owner"], ["query GSI4"], player_id),
    Case("former_players", ("user-000",), ["player-003"], ["query GSI4"], player_id, limit=1),
    # GSI5: Player Stats
    Case("player_at_bats", ("team-000-owner",), numbered("at-bat-000", 0, 1), ["query GSI5"], at_bat_id, limit=2),
    Case(
        "user_at_bats",
        ("player-003", "user-000"),
        ["at-bat-000-former", "at-bat-002-former"],
        ["query GSI5"],
        at_bat_id,
        limit=2,
    ),
    # Direct PK/SK Queries
    Case("roster", ("team-000",), [*numbered("player", *range(1, 12)), "team-000-owner"], ["query"], player_id),
    Case("memberships", ("user-000",), numbered("team", 0, 2), ["query"], team_id, limit=2),
    Case("user_teams", ("user-000",), ["Team 000", "Team 002"], ["query", "batch_get_item"], field("name"), limit=2),
    Case("members", ("team-000",), numbered("user", 0, 1, 2), ["query"], user_id, limit=3),
    Case("player_by_number", ("team-000", 7), "player-007", ["get_item", "get_item"], player_id),
    Case("player_by_number", ("team-000", 70), None, ["get_item"], player_id),
    Case("game_at_bats", ("game-000",), numbered("at-bat-000", 0, 1, 2), ["query"], at_bat_id, limit=3),
    Case("last_at_bats", ("game-000",), ["at-bat-000-former", "at-bat-000-009"], ["query"], at_bat_id, limit=2),
    Case("at_bat", ("game-000", "at-bat-000-003"), "1B", ["get_item"], field("result")),
    Case(
        "users_by_ids",
        (["user-003", "nobody"],),
        ["user-003", None],
        ["batch_get_item"],
        lambda users: [user_id(user) for user in users],
    ),
    Case(
        "teams_by_ids",
        (["team-000", "team-001", "no team"],),
        [False, True, None],
        ["batch_get_item"],
        lambda teams: [team and team.deleted_at is not None for team in teams],
    ),
    Case(
        "games_by_ids",
        (["game-003", "no game", "game-001"],),
        ["game-003", None, "game-001"],
        ["batch_get_item"],
        lambda games: [game_id(game) for game in games],
    ),
    Case("invitation", ("hash-001",), "player-004", ["get_item"], player_id),
    Case("invitation", ("hash-999",), None, ["get_item"], player_id),
]

DESIGN = HackTrackerDesign({"environment": "test"})


@pytest.fixture(scope="module")
def league() -> Iterator[World[HackTrackerDesign]]:
    with world(DESIGN, fill) as made:
        yield made


@pytest.fixture(scope="module")
def larger_league() -> Iterator[World[HackTrackerDesign]]:
    with world(DESIGN, lambda store: fill(store, scale=2)) as made:
        yield made


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_pattern(league: World[HackTrackerDesign], way: Way, case: Case) -> None:
    run_case(league, way, case)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_cost_does_not_grow(
    league: World[HackTrackerDesign], larger_league: World[HackTrackerDesign], way: Way, case: Case
) -> None:
    assert 0 < units(league, way, case) == units(larger_league, way, case)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("pattern", "arguments", "limit", "expected"),
    [
        ("user", ("user-003",), None, 0.5),
        # Decisions are made on strong reads.
        ("membership", ("user-000", "team-000"), None, 1.0),
        ("user_by_cognito_sub", ("user-003",), None, 0.5),
        ("team_games", ("team-000",), 3, 0.5),
        # Twelve players of 0.3 KB.
        ("roster", ("team-000",), None, 0.5),
        # One query, and two teams by their keys.
        ("user_teams", ("user-000",), 2, 1.5),
        ("player_by_number", ("team-000", 7), None, 1.0),
    ],
)
def test_cost(
    league: World[HackTrackerDesign],
    way: Way,
    pattern: str,
    arguments: tuple[object, ...],
    limit: int | None,
    expected: float,
) -> None:
    assert units(league, way, Case(pattern, arguments, None, [], limit=limit)) == expected


def test_every_pattern_is_tried() -> None:
    assert without_case(HackTrackerDesign, CASES) == []


def test_nothing_scans() -> None:
    assert scanning(CASES) == set()


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("pattern", "arguments", "total"),
    [
        ("users", (), 30),
        ("teams", (), 29),
        ("games", (), 30),
        ("team_games", ("team-000",), 30),
        ("season_games", ("team-000", "fall"), 15),
        ("player_at_bats", ("team-000-owner",), 39),
        ("user_at_bats", ("player-003", "user-000"), 15),
        ("user_players", ("user-000",), 15),
        ("user_teams", ("user-000",), 15),
        ("members", ("team-000",), 30),
        ("game_at_bats", ("game-000",), 11),
    ],
)
def test_pages_go_on_where_they_stopped(
    league: World[HackTrackerDesign], way: Way, pattern: str, arguments: tuple[object, ...], total: int
) -> None:
    store = league.stores[way]
    whole = Case(pattern, arguments, None, [], limit=100).op(store.design)
    op: Any = Case(pattern, arguments, None, [], limit=4).op(store.design)
    found, page = [], store.run(op)
    while True:
        assert len(page.items) == 4 or page.next is None
        found += page.items
        if page.next is None:
            break
        page = store.run(op.after(page.next))
    assert len(found) == total
    assert found == store.run(whole).items


def test_games_are_in_order_of_time_and_undated_ones_last(league: World[HackTrackerDesign]) -> None:
    store = league.stores["in-process"]
    games = store.run(store.design.team_games("team-000").limit(100)).items
    starts = [game.scheduled_start for game in games[:-2]]
    assert starts == sorted(start for start in starts if start)
    assert [game.game_id for game in games[-2:]] == ["game-028", "game-029"]


def test_the_table_is_named_by_the_environment() -> None:
    (table,) = HackTrackerDesign.tables
    assert HackTrackerDesign().table_name(table) == "hacktracker-dev"
    assert HackTrackerDesign({"environment": "prod"}).table_name(table) == "hacktracker-prod"
