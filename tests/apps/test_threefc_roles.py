"""Who may do what in 3FC: every route for every role, two leagues side by side, and what checking costs."""

import logging
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from keyplan.apps.threefc.api import SYSTEM
from keyplan.apps.threefc.entities import Goal, Roster
from keyplan.apps.threefc.fields import GOALS, PLAYERS
from keyplan.apps.threefc.service.access import ADMIN, READ, SCORE
from keyplan.data import create
from tests.apps.threefc_site import ANY, ROLES, START, TEAMS, Club, club, ok
from tests.web.answers import problem

ALLOWED = {
    f"if {READ}": {"viewer", "scorekeeper", "admin"},
    f"if {SCORE}": {"scorekeeper", "admin"},
    f"if {SCORE}; to reopen a game, an admin": {"scorekeeper", "admin"},
    f"if {ADMIN}": {"admin"},
    "yes": {"stranger", "viewer", "scorekeeper", "admin"},
}


@dataclass(frozen=True)
class Call:
    """A valid request for a route; `event` in its path is the existing goal."""

    path: str
    body: object = None
    status: int = 200


GOAL = {"third": 1, "minute": 5, "conceding_team_id": "red", "scoring_team_id": "blue"}
CALLS = {
    "GET /leagues": Call("/leagues"),
    "POST /leagues": Call("/leagues", {"name": "New"}, 201),
    "GET /leagues/{league_id}": Call("/leagues/north"),
    "PATCH /leagues/{league_id}": Call("/leagues/north", {"name": "N"}),
    "DELETE /leagues/{league_id}": Call("/leagues/north", status=409),  # it has seasons
    "GET /leagues/{league_id}/acl": Call("/leagues/north/acl"),
    "PUT /leagues/{league_id}/acl/{user_id:path}": Call("/leagues/north/acl/zoe", {"role": "viewer"}),
    "DELETE /leagues/{league_id}/acl/{user_id:path}": Call("/leagues/north/acl/vera", status=204),
    "GET /leagues/{league_id}/players": Call("/leagues/north/players"),
    "POST /leagues/{league_id}/players": Call("/leagues/north/players", {"display_name": "Pat"}, 201),
    "GET /players/{player_id}": Call("/players/p1"),
    "PATCH /players/{player_id}": Call("/players/p1", {"display_name": "Pat"}),
    "GET /leagues/{league_id}/seasons": Call("/leagues/north/seasons"),
    "POST /leagues/{league_id}/seasons": Call("/leagues/north/seasons", {"name": "New"}, 201),
    "GET /seasons/{season_id}": Call("/seasons/spring"),
    "PATCH /seasons/{season_id}": Call("/seasons/spring", {"name": "S"}),
    "DELETE /seasons/{season_id}": Call("/seasons/spring", status=409),  # it has sessions
    "GET /seasons/{season_id}/table": Call("/seasons/spring/table"),
    "GET /seasons/{season_id}/scorers": Call("/seasons/spring/scorers"),
    "GET /seasons/{season_id}/teams": Call("/seasons/spring/teams"),
    "POST /seasons/{season_id}/teams": Call("/seasons/spring/teams", {"name": "New", "colour": "pink"}, 201),
    "GET /seasons/{season_id}/teams/{team_id}": Call("/seasons/spring/teams/red"),
    "PATCH /seasons/{season_id}/teams/{team_id}": Call("/seasons/spring/teams/red", {"name": "R"}),
    "DELETE /seasons/{season_id}/teams/{team_id}": Call("/seasons/spring/teams/green", status=204),
    "GET /seasons/{season_id}/sessions": Call("/seasons/spring/sessions"),
    "POST /seasons/{season_id}/sessions": Call("/seasons/spring/sessions", {"session_date": "2026-05-08"}, 201),
    "GET /sessions/{session_id}": Call("/sessions/may-1"),
    "DELETE /sessions/{session_id}": Call("/sessions/may-1", status=409),  # it has games
    "GET /sessions/{session_id}/games": Call("/sessions/may-1/games"),
    "POST /sessions/{session_id}/games": Call(
        "/sessions/may-1/games", {"game_start_ts": START, "team_ids": TEAMS}, 201
    ),
    "GET /sessions/{session_id}/results": Call("/sessions/may-1/results"),
    "GET /games/{game_id}": Call("/games/g1"),
    "PATCH /games/{game_id}": Call("/games/g1", {"game_start_ts": START}),
    "PUT /games/{game_id}/status": Call("/games/g1/status", {"status": "finished"}),
    "DELETE /games/{game_id}": Call("/games/g1", status=204),
    "GET /games/{game_id}/sheet": Call("/games/g1/sheet"),
    "GET /games/{game_id}/result": Call("/games/g1/result"),
    "GET /games/{game_id}/roster": Call("/games/g1/roster"),
    "POST /games/{game_id}/roster": Call("/games/g1/roster", {"player_id": "p6", "team_id": "red"}, 201),
    "PUT /games/{game_id}/roster/{player_id}": Call("/games/g1/roster/p0", {"team_id": "gold"}),
    "DELETE /games/{game_id}/roster/{player_id}": Call("/games/g1/roster/p0", status=204),
    "GET /games/{game_id}/goals": Call("/games/g1/goals"),
    "POST /games/{game_id}/goals": Call("/games/g1/goals", GOAL, 201),
    "POST /games/{game_id}/goals/undo": Call("/games/g1/goals/undo"),
    "PATCH /games/{game_id}/goals/{event_id}": Call("/games/g1/goals/event", {"minute": 6}),
}
ROUTES = [(f"{verb} {path}", may) for verb, path, may in SYSTEM.api.who_may_do_what()]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Club]:
    with club(tmp_path_factory.mktemp("threefc")) as started:
        yield started


def begin(served: Club) -> str:
    """A live game with a goal; its id."""
    served.reset()
    served.game()
    return str(served.goal()["event_id"])


def send(client: httpx.Client, route: str, event_id: str, **replaced: str) -> httpx.Response:
    call = CALLS[route]
    path = call.path.replace("event", event_id)
    for old, new in replaced.items():
        path = path.replace(f"/{old}", f"/{new}")
    options: dict[str, Any] = {"json": call.body} if call.body is not None else {}
    return client.request(route.split()[0], path, headers=ANY, **options)


def test_every_route_is_tried() -> None:
    assert [route for route, _ in ROUTES] == list(CALLS)


@pytest.mark.parametrize(("route", "may"), ROUTES, ids=[route for route, _ in ROUTES])
def test_who_may(served: Club, route: str, may: dict[str, str]) -> None:
    """As in the table: visitors get 401, users without a grant get 404, and other roles get 403."""
    assert may["anyone"] == "no"
    allowed = ALLOWED[may["signed in"]]
    event_id = begin(served)
    before = served.changed()
    problem(send(served.nobody, route, event_id), 401, "no-token")
    for role in ROLES.keys() - allowed:
        hidden = role == "stranger"
        answer = send(served.as_(role), route, event_id)
        problem(answer, 404 if hidden else 403, "not-found" if hidden else "forbidden")
        assert int(answer.headers["x-dynamodb-capacity"].split(",")[0].removeprefix("calls=")) <= 2
    assert served.changed() == before
    for number, role in enumerate(sorted(allowed)):
        if number and not route.startswith("GET"):
            event_id = begin(served)
        answer = send(served.as_(role), route, event_id)
        assert answer.status_code == CALLS[route].status, answer.text
    assert served.clean()


def test_what_is_not_ones_own_looks_as_if_it_was_not_there(served: Club) -> None:
    """The response is exactly the same for items of another league and for items that don't exist."""
    event_id = begin(served)
    absent = {"north": "nowhere", "spring": "never", "may-1": "no-day", "g1": "no-game", "p1": "no-one"}

    def told(answer: httpx.Response) -> dict[str, Any]:
        return {name: value for name, value in answer.json().items() if name != "request_id"}

    for route, may in ROUTES:
        if may["signed in"] != "yes":
            others, none = send(served.eve, route, event_id), send(served.eve, route, event_id, **absent)
            assert told(others) == told(none), route
            assert others.status_code == 404


def test_two_leagues_do_not_reach_each_other(served: Club) -> None:
    """An admin of one league can't move anything between leagues."""
    begin(served)
    eve = served.eve
    ok(eve.post("/leagues/south/seasons", json={"season_id": "winter", "name": "Winter"}))
    for team_id in ("red", "cyan", "lime"):
        ok(eve.post("/seasons/winter/teams", json={"team_id": team_id, "name": team_id, "colour": team_id}))
    ok(eve.post("/seasons/winter/sessions", json={"session_id": "jan-1", "session_date": "2026-01-01"}))
    own = {"game_id": "w1", "game_start_ts": START, "team_ids": ["red", "cyan", "lime"]}
    ok(eve.post("/sessions/jan-1/games", json=own))
    ok(eve.put("/games/w1/status", json={"status": "live"}))
    before = [each for each in served.changed() if "south" not in str(each)]
    problem(eve.post("/sessions/jan-1/games", json={**own, "game_id": "g1"}), 409, "already-exists")
    problem(eve.post("/sessions/jan-1/games", json={**own, "game_id": "w2", "team_ids": TEAMS}), 422, "no-such-team")
    problem(eve.post("/games/w1/roster", json={"player_id": "p1", "team_id": "red"}), 422, "no-such-player")
    answer = eve.post("/games/w1/goals", json={**GOAL, "scoring_team_id": "cyan", "scorer_id": "p1"})
    problem(answer, 422, "not-on-the-team")
    assert [each["league_id"] for each in ok(eve.get("/leagues"))["items"]] == ["south"]
    for path in ("/seasons/spring/teams/red", "/games/g1/sheet", "/players/p1", "/sessions/may-1/games"):
        problem(eve.get(path), 404, "not-found")
    assert [each for each in served.changed() if "south" not in str(each)] == before
    assert ok(served.olga.get("/leagues"))["items"][0]["league_id"] == "north"
    assert served.clean()


@pytest.fixture
def reads(served: Club, caplog: pytest.LogCaptureFixture) -> Callable[[str], list[str]]:
    """The calls to DynamoDB for a GET by vera."""

    def asked(path: str) -> list[str]:
        caplog.clear()
        with caplog.at_level(logging.INFO, logger="keyplan"):
            assert served.vera.get(path).status_code == 200
            until = time.monotonic() + 5
            while not (found := [each for each in caplog.records if each.getMessage() == "request"]):
                assert time.monotonic() < until, "it is logged once it was answered"
                time.sleep(0.001)
        (record,) = found
        return [call["operation"] for call in record.fields["dynamodb"]]  # type: ignore[attr-defined]  # the kit's own

    return asked


@pytest.mark.parametrize(
    ("path", "scope", "then"),
    [
        ("/leagues/north", ["get_item"], ["get_item"]),
        ("/leagues/north/seasons", ["get_item"], ["query"]),
        ("/seasons/spring", ["get_item", "get_item"], ["get_item"]),
        ("/seasons/spring/teams", ["get_item", "get_item"], ["get_item", "query"]),
        ("/seasons/spring/sessions", ["get_item", "get_item"], ["query"]),
        ("/sessions/may-1", ["get_item", "get_item"], ["get_item"]),
        ("/sessions/may-1/games", ["get_item", "get_item"], ["query", "batch_get_item"]),
        # A query for the one game that has goals.
        ("/sessions/may-1/results", ["get_item", "get_item"], ["query", "batch_get_item", "query"]),
        ("/seasons/spring/table", ["get_item", "get_item"], ["get_item", "query", "query", "query"]),
        # The game itself says which league it belongs to.
        ("/games/g1", ["get_item", "get_item"], []),
        ("/games/g1/roster", ["get_item", "get_item"], ["query"]),
        ("/games/g1/goals", ["get_item", "get_item"], ["query"]),
        # The game sheet is one query, and the grant.
        ("/games/g1/sheet", ["query", "get_item"], []),
        ("/games/g1/result", ["query", "get_item"], []),
        ("/players/p1", ["get_item", "get_item"], ["get_item"]),
    ],
)
def test_rights_take_two_reads_at_most(
    served: Club, reads: Callable[[str], list[str]], path: str, scope: list[str], then: list[str]
) -> None:
    begin(served)
    assert len(scope) <= 2
    assert reads(path) == scope + then


def test_the_sheet_of_a_full_game_is_one_query(served: Club, reads: Callable[[str], list[str]]) -> None:
    begin(served)
    store = served.site.running.store
    entries = [Roster(game_id="g1", team_id=TEAMS[at % 3], player_id=f"full-{at:03}") for at in range(PLAYERS - 6)]
    body = {"game_id": "g1", "third": 2, "conceding_team_id": "red", "scoring_team_id": "blue"}
    goals = [Goal.model_validate({**body, "minute": at}) for at in range(GOALS - 1)]
    for at in range(0, GOALS, 30):
        store.transact(
            *(create(each) for each in entries[at : at + 30]), *(create(each) for each in goals[at : at + 30])
        )
    assert reads("/games/g1/sheet") == ["query", "get_item"]
    sheet = ok(served.vera.get("/games/g1/sheet"))
    assert (len(sheet["roster"]), len(sheet["timeline"])) == (PLAYERS, GOALS)
    assert (sheet["game"]["player_count"], sheet["game"]["goal_count"]) == (PLAYERS, GOALS)
    problem(served.sam.post("/games/g1/goals", json=GOAL), 409, "too-many-goals")
    problem(served.olga.post("/games/g1/roster", json={"player_id": "p7", "team_id": "red"}), 409, "roster-full")
    assert served.olga.delete("/games/g1", headers=ANY).status_code == 204
    assert served.clean()


def test_a_grant_holds_at_once(served: Club) -> None:
    begin(served)
    problem(served.vera.post("/games/g1/goals", json=GOAL), 403, "forbidden")
    ok(served.olga.put("/leagues/north/acl/vera", json={"role": "scorekeeper"}))
    assert served.vera.post("/games/g1/goals", json=GOAL).status_code == 201
    assert served.olga.delete("/leagues/north/acl/vera", headers=ANY).status_code == 204
    problem(served.vera.get("/games/g1"), 404, "not-found")
    assert "north" not in served.vera.get("/leagues").text
