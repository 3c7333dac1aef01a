"""3FC with eight concurrent clients: no accepted change is lost, no rule is broken, and all data is consistent."""

import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from keyplan.engine import Engine
from tests.apps.threefc_site import ANY, START, TEAMS, Club, club, ok

CLIENTS = 8
GOAL = {"third": 1, "minute": 5, "conceding_team_id": "red", "scoring_team_id": "blue"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("threefc")


@pytest.fixture(scope="module")
def served(folder: Path) -> Iterator[Club]:
    with Engine(str(folder / "threefc.db")) as engine, club(folder, engine) as started:
        yield started


@pytest.fixture
def site(served: Club) -> Iterator[Club]:
    served.reset()
    yield served
    assert served.clean()


def at_once(act: Callable[[int], httpx.Response], number: int = CLIENTS) -> list[httpx.Response]:
    """The responses to this many concurrent calls; none of them is a server error."""
    with ThreadPoolExecutor(CLIENTS) as pool:
        answers = list(pool.map(act, range(number)))
    assert [answer.text for answer in answers if answer.status_code >= 500] == []
    return answers


def statuses(answers: list[httpx.Response]) -> Counter[int]:
    return Counter(answer.status_code for answer in answers)


def test_a_player_is_on_one_team(site: Club) -> None:
    """Eight assign the same three players to different teams."""
    site.game()
    for player_id in ("p0", "p3"):
        ok(site.olga.delete(f"/games/g1/roster/{player_id}", headers=ANY))

    def assign(number: int) -> httpx.Response:
        body = {"player_id": ("p0", "p3", "p6")[number % 3], "team_id": TEAMS[number // 3 % 3]}
        return site.olga.post("/games/g1/roster", json=body)

    assert statuses(at_once(assign, 24)) == {201: 3, 409: 21}
    names = [each["player_id"] for each in ok(site.olga.get("/games/g1/roster"))["items"]]
    assert sorted(names) == [f"p{number}" for number in range(7)]


def test_one_roster_edited_by_eight(site: Club) -> None:
    """Assign, move and remove at random: each player is on no team or on one, as the last accepted change says."""
    site.game()

    def edit(number: int) -> httpx.Response:
        player_id, team_id = f"p{number % 8}", TEAMS[number * 7 % 3]
        match number * 5 % 4:
            case 0:
                return site.olga.post("/games/g1/roster", json={"player_id": player_id, "team_id": team_id})
            case 1 | 2:
                return site.olga.put(f"/games/g1/roster/{player_id}", json={"team_id": team_id})
            case _:
                return site.olga.delete(f"/games/g1/roster/{player_id}", headers=ANY)

    counted = statuses(at_once(edit, 96))
    assert set(counted) <= {200, 201, 204, 404, 409}, counted
    names = [each["player_id"] for each in ok(site.olga.get("/games/g1/roster"))["items"]]
    assert len(names) == len(set(names))


def test_every_goal_counts(site: Club) -> None:
    """Eight clients enter goals of one game: each goal exists once, and the sheet adds up."""
    site.game()

    def score(number: int) -> httpx.Response:
        body = {**GOAL, "minute": number % 5, "scorer_id": ("p1", "p4")[number % 2]}
        return site.sam.post("/games/g1/goals", json=body)

    answers = at_once(score, 48)
    assert statuses(answers) == {201: 48}
    sheet = ok(site.vera.get("/games/g1/sheet"))
    assert {each["event_id"] for each in sheet["timeline"]} == {answer.json()["event_id"] for answer in answers}
    order = [(each["third"], each["minute"], each["event_id"]) for each in sheet["timeline"]]
    assert order == sorted(order)
    assert {each["player_id"]: each["goal_count"] for each in sheet["roster"] if each["goal_count"]} == {
        "p1": 24,
        "p4": 24,
    }
    assert sheet["result"]["scores"][-1] == {"team_id": "red", "conceded": 48, "scored": 0}


def test_nobody_slips_in_where_it_is_full(site: Club, monkeypatch: pytest.MonkeyPatch) -> None:
    """Eight concurrent clients for two free places of players, goals, games, sessions and teams: two succeed."""
    site.game()
    monkeypatch.setattr("keyplan.apps.threefc.service.games.PLAYERS", 8)
    monkeypatch.setattr("keyplan.apps.threefc.service.goals.GOALS", 2)
    monkeypatch.setattr("keyplan.apps.threefc.service.games.GAMES", 3)
    monkeypatch.setattr("keyplan.apps.threefc.service.seasons.SESSIONS", 3)
    monkeypatch.setattr("keyplan.apps.threefc.service.seasons.TEAMS", 6)
    for number in range(8, 14):
        ok(site.olga.post("/leagues/north/players", json={"player_id": f"p{number}", "display_name": "Pat"}))
    bodies: dict[str, Callable[[int], dict[str, Any]]] = {
        "/games/g1/roster": lambda number: {"player_id": f"p{number + 6}", "team_id": "red"},
        "/games/g1/goals": lambda number: {**GOAL, "minute": number},
        "/sessions/may-1/games": lambda number: {"game_start_ts": START, "team_ids": TEAMS},
        "/seasons/spring/sessions": lambda number: {"session_date": f"2026-05-1{number}"},
        "/seasons/spring/teams": lambda number: {"name": f"Team {number}", "colour": "red"},
    }
    for path, body in bodies.items():

        def add(number: int, path: str = path, body: Callable[[int], dict[str, Any]] = body) -> httpx.Response:
            return site.olga.post(path, json=body(number))

        answers = at_once(add)
        assert statuses(answers) == {201: 2, 409: 6}, path
        codes = {answer.json()["code"] for answer in answers if answer.status_code == 409}
        assert codes <= {"roster-full", "too-many-goals", "season-full"}


def test_goals_and_undos(site: Club) -> None:
    """The goals that were entered and not undone remain."""
    site.game()

    def act(number: int) -> httpx.Response:
        if number % 3 == 2:
            return site.sam.post("/games/g1/goals/undo")
        return site.sam.post("/games/g1/goals", json={**GOAL, "third": number % 3 + 1})

    answers = at_once(act, 48)
    assert set(statuses(answers)) <= {200, 201, 409}
    entered = {answer.json()["event_id"] for answer in answers if answer.status_code == 201}
    undone = [answer.json()["event_id"] for answer in answers if answer.status_code == 200]
    left = {each["event_id"] for each in ok(site.vera.get("/games/g1/goals"))["items"]}
    assert len(undone) == len(set(undone))
    assert left == entered - set(undone)


def test_two_taps_on_undo_take_back_one_goal(site: Club) -> None:
    site.game()
    goals = [site.goal() for _ in range(3)]

    def undo(number: int) -> httpx.Response:
        return site.sam.post("/games/g1/goals/undo", params={"event_id": goals[-1]["event_id"]})

    assert statuses(at_once(undo)) == {200: 1, 409: 7}
    assert len(ok(site.vera.get("/games/g1/goals"))["items"]) == 2


def test_no_goal_after_the_end(site: Club) -> None:
    """One client finishes the game while seven enter goals: every goal that was answered with 201 is on the sheet."""
    site.game()

    def act(number: int) -> httpx.Response:
        if number == 11:
            return site.sam.put("/games/g1/status", json={"status": "finished"})
        return site.sam.post("/games/g1/goals", json=GOAL)

    answers = at_once(act, 32)
    assert answers[11].status_code == 200
    counted = statuses(answers)
    assert counted[201] + counted[409] == 31
    assert counted[409], "some came too late"
    assert len(ok(site.vera.get("/games/g1/goals"))["items"]) == counted[201]


def test_one_goal_changed_by_eight(site: Club) -> None:
    """A change with an outdated version is refused; nobody's change is overwritten unseen."""
    site.game()
    goal = site.goal()
    path = f"/games/g1/goals/{goal['event_id']}"

    def change(number: int) -> httpx.Response:
        return site.sam.patch(path, json={"third": 3, "minute": 100 + number}, headers={"If-Match": '"1"'})

    answers = at_once(change)
    counted = statuses(answers)
    assert counted[200] == 1
    assert counted[412] == 7
    (winner,) = [answer.json() for answer in answers if answer.status_code == 200]
    assert ok(site.vera.get("/games/g1/goals"))["items"] == [winner]


def test_a_scorer_is_not_moved_away_from_a_goal(site: Club) -> None:
    for turn in range(5):
        game_id = f"turn-{turn}"
        site.game(game_id)

        def act(number: int, game_id: str = game_id) -> httpx.Response:
            if number % 2:
                return site.olga.put(f"/games/{game_id}/roster/p1", json={"team_id": "red"})
            return site.sam.post(f"/games/{game_id}/goals", json={**GOAL, "scorer_id": "p1"})

        at_once(act, 4)
        sheet = ok(site.vera.get(f"/games/{game_id}/sheet"))
        team = next(each["team_id"] for each in sheet["roster"] if each["player_id"] == "p1")
        assert team == ("blue" if sheet["timeline"] else "red")


def test_a_game_is_deleted_while_others_write_to_it(site: Club) -> None:
    for turn in range(3):
        game_id = f"turn-{turn}"
        site.game(game_id)

        def act(number: int, game_id: str = game_id) -> httpx.Response:
            if number == 3:
                return site.olga.delete(f"/games/{game_id}", headers=ANY)
            if number % 2:
                return site.olga.put(f"/games/{game_id}/roster/p1", json={"team_id": TEAMS[number % 3]})
            return site.sam.post(f"/games/{game_id}/goals", json=GOAL)

        answers = at_once(act, 12)
        assert set(statuses(answers)) <= {200, 201, 204, 404, 409, 412}, statuses(answers)
        if answers[3].status_code == 204:
            assert site.vera.get(f"/games/{game_id}/sheet").status_code == 404
            assert [each for each in site.changed() if each["pk"]["S"] == f"GAME#{game_id}"] == []


def test_two_last_admins_cannot_both_go(site: Club) -> None:
    for turn in range(4):
        other = f"admin-{turn}"
        ok(site.olga.put(f"/leagues/north/acl/{other}", json={"role": "admin"}))
        clients = {"olga": site.olga, other: site.site.as_(other)}

        def lower(number: int, names: tuple[str, str] = ("olga", other), clients: Any = clients) -> httpx.Response:
            answer: httpx.Response = clients[names[number]].put(
                f"/leagues/north/acl/{names[1 - number]}", json={"role": "viewer"}
            )
            return answer

        assert statuses(at_once(lower, 2))[200] == 1
        admins = [name for name, client in clients.items() if client.get("/leagues/north/acl").status_code == 200]
        assert len(admins) == 1
        if admins != ["olga"]:
            ok(clients[other].put("/leagues/north/acl/olga", json={"role": "admin"}))
            ok(site.olga.put(f"/leagues/north/acl/{other}", json={"role": "viewer"}))


def test_a_put_without_a_version_is_never_stale(site: Club) -> None:
    """A role, a status, a team: the last write wins, and the others happened before it."""
    roles = ("viewer", "scorekeeper")
    granted = at_once(
        lambda number: site.olga.put("/leagues/north/acl/zoe", json={"role": roles[number % 2]}), 2 * CLIENTS
    )
    assert statuses(granted) == {200: 2 * CLIENTS}
    site.game(status="scheduled")
    started = at_once(lambda number: site.sam.put("/games/g1/status", json={"status": "live"}))
    assert statuses(started) == {200: CLIENTS}
    assert {answer.json()["version"] for answer in started} == {2}
    moved = at_once(lambda number: site.olga.put("/games/g1/roster/p0", json={"team_id": TEAMS[number % 3]}), 24)
    assert statuses(moved) == {200: 24}
    entries = ok(site.vera.get("/games/g1/roster"))["items"]
    assert [each["player_id"] for each in entries].count("p0") == 1
    path = f"/games/g1/goals/{site.goal()['event_id']}"
    changed = at_once(lambda number: site.sam.patch(path, json={"minute": 10 + number}, headers=ANY))
    assert statuses(changed) == {200: CLIENTS}
    (goal,) = ok(site.vera.get("/games/g1/goals"))["items"]
    assert goal["version"] == CLIENTS + 1


def test_one_id_is_founded_once(site: Club) -> None:
    clients = [site.site.as_(f"founder-{number}") for number in range(CLIENTS)]
    answers = at_once(lambda number: clients[number].post("/leagues", json={"league_id": "west", "name": "West"}))
    assert statuses(answers) == {201: 1, 409: 7}
    assert Counter(client.get("/leagues/west").status_code for client in clients) == {200: 1, 404: 7}


def test_a_session_is_deleted_while_games_are_made(site: Club) -> None:
    for turn in range(4):
        session_id = f"turn-{turn}"
        ok(site.olga.post("/seasons/spring/sessions", json={"session_id": session_id, "session_date": "2026-05-08"}))

        def act(number: int, session_id: str = session_id) -> httpx.Response:
            if number == 1:
                return site.olga.delete(f"/sessions/{session_id}", headers=ANY)
            body = {"game_start_ts": START, "team_ids": TEAMS}
            return site.olga.post(f"/sessions/{session_id}/games", json=body)

        answers = at_once(act, 4)
        assert (answers[1].status_code == 204) == (201 not in statuses(answers))


def test_what_is_left_agrees_with_the_design(served: Club, folder: Path) -> None:
    served.reset()
    served.game()
    at_once(lambda number: served.sam.post("/games/g1/goals", json={**GOAL, "scorer_id": "p1"}))
    command = [sys.executable, "-m", "keyplan.cli", "verify", "threefc", "--path", str(folder / "threefc.db")]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 found" in done.stdout
