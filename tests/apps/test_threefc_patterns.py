"""Every access pattern of 3FC: its result, its requests, and its cost."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from keyplan.apps.threefc.design import ThreeFC
from tests.apps.support import WAYS, Case, Way, World, run_case, scanning, units, without_case, world
from tests.apps.threefc_data import fill


def _field(name: str) -> Callable[[object], object]:
    return lambda item: getattr(item, name, None)


def _scored(goal: object) -> object:
    return _field("third")(goal), _field("minute")(goal), _field("event_id")(goal)


TIMELINE = [(1, 9, "event-02"), (1, 10, "event-01"), (1, 10, "event-04"), (2, 5, "event-00"), (2, 100, "event-05")]

CASES = [
    # Create/read league metadata.
    Case("league", ("north",), "League north", ["get_item"], _field("name")),
    Case("league", ("south",), None, ["get_item"]),
    # Create/list seasons for a league.
    Case("seasons", ("north",), ["season-00", "season-01"], ["query"], _field("season_id"), limit=2),
    Case("seasons", ("east",), [], ["query"], limit=2),
    # Create/list teams for a season.
    Case("teams", ("season-00",), ["blue", "gold", "red"], ["query"], _field("team_id"), limit=3),
    # Create/list sessions for a season.
    Case("sessions", ("season-00",), ["session-00", "session-01"], ["query"], _field("session_id"), limit=2),
    # Create/read game metadata.
    Case("game", ("game-00",), ("red", "blue", "gold"), ["get_item"], _field("team_ids")),
    Case("game", ("game-99",), None, ["get_item"]),
    # Link/list games for a session (`SESSION#{sessionId}` query).
    Case("games", ("session-01",), [], ["query"], limit=2),
    # Create/read player profile.
    Case("profile", ("player-03",), "north", ["get_item"], _field("league_id")),
    # Grant/list league ACL entries.
    Case("grants", ("north",), ["olga", "user-00"], ["query"], _field("user_id"), limit=2),
    # Assign/list game roster entries.
    Case("roster", ("game-00",), ["player-01", "player-04", "player-07"], ["query"], _field("player_id"), limit=3),
    # Create/list goal events for a game in deterministic timeline order.
    Case("timeline", ("game-00",), TIMELINE, ["query"], _scored, limit=5),
    # Beside the document's
    Case("season_scope", ("season-03",), "north", ["get_item"], _field("league_id")),
    Case("season_scope", ("season-99",), None, ["get_item"]),
    Case("session_scope", ("session-03",), "season-00", ["get_item"], _field("season_id")),
    Case("grant", ("north", "user-01"), "viewer", ["get_item"], _field("role")),
    Case("grant", ("north", "stranger"), None, ["get_item"]),
    Case("my_leagues", ("olga",), ["east", "north"], ["query"], _field("league_id"), limit=2),
    Case("my_leagues", ("stranger",), [], ["query"], limit=2),
    Case("my_leagues", ("user-00",), [("north", "viewer")], ["query"], lambda grant: (grant.league_id, grant.role)),
    Case("season", ("north", "season-01"), "Spring", ["get_item"], _field("name")),
    Case("team", ("season-00", "gold"), "Gold", ["get_item"], _field("name")),
    Case("session", ("season-00", "session-01"), "session-01", ["get_item"], _field("session_id")),
    Case("players", ("north",), ["player-00", "player-01"], ["query"], _field("player_id"), limit=2),
    Case("player", ("north", "player-03"), "Player 03", ["get_item"], _field("display_name")),
    Case("roster_entry", ("game-00", "player-04"), "blue", ["get_item", "get_item"], _field("team_id")),
    Case("roster_entry", ("game-00", "player-99"), None, ["get_item"]),
    Case("game_sheet", ("game-01",), ["game-01"], ["query"], _field("game_id")),
]

# These lists begin with items that a larger league has more of, so the expected items fit only the smaller league.
STARTS = Case("games", ("session-00",), ["game-04", "game-03"], ["query"], _field("game_id"), limit=2)
CASES.append(STARTS)


@pytest.fixture(scope="module")
def app() -> Iterator[World[ThreeFC]]:
    with world(ThreeFC({"env": "test"}), fill) as made:
        yield made


@pytest.fixture(scope="module")
def larger_app() -> Iterator[World[ThreeFC]]:
    with world(ThreeFC({"env": "test"}), lambda store: fill(store, scale=2)) as made:
        yield made


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_pattern(app: World[ThreeFC], way: Way, case: Case) -> None:
    run_case(app, way, case)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_cost_does_not_grow(app: World[ThreeFC], larger_app: World[ThreeFC], way: Way, case: Case) -> None:
    assert 0 < units(app, way, case) == units(larger_app, way, case)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("league", 0.5),
        ("seasons", 0.5),
        # A consistent read costs twice as much.
        ("grant", 1.0),
        ("my_leagues", 0.5),
        ("roster_entry", 1.0),
    ],
)
def test_cost(app: World[ThreeFC], way: Way, pattern: str, expected: float) -> None:
    case = next(case for case in CASES if case.pattern == pattern)
    assert units(app, way, case) == expected


def test_every_pattern_is_tried() -> None:
    assert without_case(ThreeFC, CASES) == []


def test_nothing_scans() -> None:
    assert scanning(CASES) == set()


@pytest.mark.parametrize("way", WAYS)
def test_game_sheet_is_one_query(app: World[ThreeFC], way: Way) -> None:
    store = app.stores[way]
    with app.recorders[way].recording() as sent:
        sheet = store.run(store.design.game_sheet("game-00"))
    assert [call.shown for call in sent] == ["query"]
    assert sheet.next is None
    assert Counter(type(item).__name__ for item in sheet.items) == {"Goal": 6, "Game": 1, "Roster": 9}
    assert sheet.items[:6] == store.run(store.design.timeline("game-00")).items


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("case", [case for case in CASES if case.limit], ids=lambda case: case.id)
def test_small_pages_give_the_same_list(app: World[ThreeFC], way: Way, case: Case) -> None:
    store = app.stores[way]
    whole = store.run(replace(case, limit=100).op(store.design))
    cursor, items = None, []
    while True:
        page = store.run(case.op(store.design).after(cursor))  # type: ignore[attr-defined]  # all of these have pages
        items += page.items
        cursor = page.next
        if cursor is None:
            break
    assert items == whole.items


def test_the_table_is_named_by_the_environment() -> None:
    (table,) = ThreeFC.tables
    assert ThreeFC().table_name(table) == "3fc-dev-app"
    assert ThreeFC({"env": "prod"}).table_name(table) == "3fc-prod-app"
