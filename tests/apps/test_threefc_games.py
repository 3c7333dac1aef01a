"""3FC over HTTP: games, rosters, goals, the sheet and the result; every rule and each refusal."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest

from keyplan.data import update
from tests.apps.threefc_site import ANY, START, TABLE, TEAMS, Club, club, ok
from tests.web.answers import pointers, problem


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Club]:
    with club(tmp_path_factory.mktemp("threefc")) as started:
        yield started


@pytest.fixture
def site(served: Club) -> Club:
    served.reset()
    return served


# Games


def test_a_game(site: Club) -> None:
    body = {"game_id": "g1", "game_start_ts": "2026-05-01T20:00:00.1239+02:00", "team_ids": TEAMS}
    made = site.olga.post("/sessions/may-1/games", json=body)
    assert made.status_code == 201
    assert made.json() == {
        "game_id": "g1",
        "session_id": "may-1",
        "season_id": "spring",
        "league_id": "north",
        "game_start_ts": "2026-05-01T18:00:00.123Z",
        "status": "scheduled",
        "team_ids": list(TEAMS),
        "player_count": 0,
        "goal_count": 0,
        "version": 1,
    }
    assert ok(site.vera.get("/games/g1")) == made.json()
    again = {"game_start_ts": made.json()["game_start_ts"]}
    assert ok(site.olga.patch("/games/g1", json=again, headers=ANY)) == made.json()
    assert ok(site.vera.get("/sessions/may-1"))["game_count"] == 1
    assert ok(site.vera.get("/seasons/spring/teams/red"))["game_count"] == 1
    problem(site.olga.post("/sessions/may-1/games", json=body), 409, "already-exists")
    assert site.clean()


@pytest.mark.parametrize(
    ("change", "code", "where"),
    [
        ({"team_ids": ["red", "blue"]}, "invalid", "/team_ids/2"),
        ({"team_ids": ["red", "blue", "gold", "green"]}, "invalid", "/team_ids"),
        ({"team_ids": ["red", "blue", "red"]}, "invalid", "/team_ids"),
        ({"team_ids": ["red", "blue", "purple"]}, "no-such-team", "/team_ids"),
        ({"game_start_ts": "2026-05-01T18:00:00"}, "invalid", "/game_start_ts"),
        ({"game_start_ts": "tomorrow"}, "invalid", "/game_start_ts"),
        ({"game_start_ts": "0001-01-01T00:00:00+14:00"}, "invalid", "/game_start_ts"),
        ({"game_start_ts": "9999-12-31T23:59:59-14:00"}, "invalid", "/game_start_ts"),
        ({"status": "live"}, "invalid", "/status"),
    ],
)
def test_what_is_no_game(site: Club, change: dict[str, Any], code: str, where: str) -> None:
    body = {"game_start_ts": START, "team_ids": TEAMS, **change}
    assert pointers(problem(site.olga.post("/sessions/may-1/games", json=body), 422, code)) == [where]
    assert site.clean()


def test_a_team_of_another_season_does_not_play(site: Club) -> None:
    ok(site.olga.post("/leagues/north/seasons", json={"season_id": "autumn", "name": "Autumn"}))
    ok(site.olga.post("/seasons/autumn/teams", json={"team_id": "violet", "name": "V", "colour": "violet"}))
    body = {"game_start_ts": START, "team_ids": ["red", "blue", "violet"]}
    problem(site.olga.post("/sessions/may-1/games", json=body), 422, "no-such-team")


def test_games_of_a_session_come_by_their_start(site: Club) -> None:
    for game_id, hour in (("a", 20), ("b", 18), ("c", 19)):
        body = {"game_id": game_id, "game_start_ts": f"2026-05-01T{hour}:00:00Z", "team_ids": TEAMS}
        ok(site.olga.post("/sessions/may-1/games", json=body))

    def order() -> list[tuple[str, str, int]]:
        games = ok(site.vera.get("/sessions/may-1/games"))["items"]
        return [(each["game_id"], each["status"], each["version"]) for each in games]

    assert order() == [("b", "scheduled", 1), ("c", "scheduled", 1), ("a", "scheduled", 1)]
    problem(site.olga.patch("/games/a", json={"game_start_ts": START}), 428, "if-match-missing")
    tag = {"If-Match": '"1"'}
    moved = ok(site.olga.patch("/games/a", json={"game_start_ts": "2026-05-01T17:30:00Z"}, headers=tag))
    assert moved["version"] == 2
    problem(site.olga.patch("/games/a", json={"game_start_ts": START}, headers=tag), 412, "stale-version")
    ok(site.sam.put("/games/b/status", json={"status": "live"}))
    assert order() == [("a", "scheduled", 2), ("b", "live", 2), ("c", "scheduled", 1)]
    assert site.clean()


def test_the_way_of_a_game(site: Club) -> None:
    site.game(status="scheduled")

    def put(client: Any, status: str, **headers: str) -> Any:
        return client.put("/games/g1/status", json={"status": status}, headers=headers)

    problem(put(site.sam, "finished"), 409, "wrong-status")
    assert ok(put(site.sam, "live", **{"If-Match": '"1"'}))["status"] == "live"
    assert ok(put(site.sam, "live"))["version"] == 2, "it is live already"
    problem(put(site.sam, "finished", **{"If-Match": '"1"'}), 412, "stale-version")
    problem(put(site.olga, "scheduled"), 409, "wrong-status")
    assert ok(put(site.sam, "finished"))["status"] == "finished"
    problem(put(site.sam, "live"), 403, "forbidden")
    problem(put(site.olga, "scheduled"), 409, "wrong-status")
    assert ok(put(site.olga, "live"))["status"] == "live"
    answer = put(site.olga, "cancelled")
    assert pointers(problem(answer, 422, "invalid")) == ["/status"]


def test_a_game_goes_with_everything(site: Club) -> None:
    before = sorted(str(each["sk"]) for each in site.changed())
    site.game()
    for _ in range(3):
        site.goal(scorer_id="p1")
    problem(site.olga.delete("/games/g1"), 428, "if-match-missing")
    assert site.olga.delete("/games/g1", headers=ANY).status_code == 204
    assert sorted(str(each["sk"]) for each in site.changed()) == before
    for path in ("", "/sheet", "/result", "/roster", "/goals"):
        problem(site.olga.get(f"/games/g1{path}"), 404, "not-found")
    assert ok(site.olga.get("/sessions/may-1/games"))["items"] == []
    assert site.clean()


def test_nothing_is_seen_of_what_is_being_deleted(site: Club) -> None:
    """A game, a season and a league whose deletion was interrupted: nobody sees them or their parts anymore."""
    site.game(status="finished")
    site.game("later", game_start_ts="2026-05-01T20:00:00Z")
    ok(site.olga.post("/leagues/north/seasons", json={"season_id": "autumn", "name": "Autumn"}))
    ok(site.olga.post("/seasons/autumn/teams", json={"team_id": "violet", "name": "V", "colour": "violet"}))
    ok(site.eve.post("/leagues/south/players", json={"player_id": "s1", "display_name": "Sue"}))
    ok(site.eve.post("/leagues", json={"league_id": "west", "name": "West"}))
    for pk, sk in (("GAME#g1", "METADATA"), ("LEAGUE#north", "SEASON#autumn"), ("LEAGUE#south", "METADATA")):
        site.site.engine.update_item(
            TableName=TABLE,
            Key={"pk": {"S": pk}, "sk": {"S": sk}},
            UpdateExpression="SET keyplanDeleting = :now",
            ExpressionAttributeValues={":now": {"S": "2026-05-01T18:00:00.000Z"}},
        )
    for path in ("", "/sheet", "/result", "/roster", "/goals"):
        problem(site.olga.get(f"/games/g1{path}"), 404, "not-found")
    # A page is filled up with what comes after.
    for path in ("games", "results"):
        (shown,) = ok(site.olga.get(f"/sessions/may-1/{path}?limit=1"))["items"]
        assert shown.get("game", shown)["game_id"] == "later"
    assert ok(site.olga.get("/seasons/spring/table"))["game_count"] == 0
    for path in ("", "/teams", "/teams/violet", "/table"):
        problem(site.olga.get(f"/seasons/autumn{path}"), 404, "not-found")
    assert [each["season_id"] for each in ok(site.olga.get("/leagues/north/seasons"))["items"]] == ["spring"]
    for path in ("/leagues/south", "/leagues/south/players", "/leagues/south/acl", "/players/s1"):
        problem(site.eve.get(path), 404, "not-found")
    assert [each["league_id"] for each in ok(site.eve.get("/leagues?limit=1"))["items"]] == ["west"]
    refused = site.olga.post("/games/g1/roster", json={"player_id": "p7", "team_id": "red"})
    problem(refused, 404, "not-found")
    for path in ("players", "seasons"):
        body = {"display_name": "X"} if path == "players" else {"name": "X"}
        problem(site.eve.post(f"/leagues/south/{path}", json=body), 409, "parent-missing")
    team = {"name": "X", "colour": "red"}
    problem(site.olga.post("/seasons/autumn/teams", json=team), 409, "parent-missing")


# Rosters


def test_the_roster(site: Club) -> None:
    site.game()
    entries = ok(site.vera.get("/games/g1/roster"))["items"]
    assert [(each["team_id"], each["player_id"]) for each in entries] == [
        ("blue", "p1"),
        ("blue", "p4"),
        ("gold", "p2"),
        ("gold", "p5"),
        ("red", "p0"),
        ("red", "p3"),
    ]
    made = site.olga.post("/games/g1/roster", json={"player_id": "p6", "team_id": "red"})
    assert made.status_code == 201
    assert made.json() == {"player_id": "p6", "team_id": "red", "goal_count": 0, "version": 1}
    for team_id in ("red", "blue"):
        answer = site.olga.post("/games/g1/roster", json={"player_id": "p6", "team_id": team_id})
        problem(answer, 409, "on-a-team")
    moved = ok(site.olga.put("/games/g1/roster/p6", json={"team_id": "gold"}))
    assert (moved["team_id"], moved["version"]) == ("gold", 2)
    stale = site.olga.put("/games/g1/roster/p6", json={"team_id": "red"}, headers={"If-Match": '"1"'})
    problem(stale, 412, "stale-version")
    teams = [each["team_id"] for each in ok(site.vera.get("/games/g1/roster"))["items"] if each["player_id"] == "p6"]
    assert teams == ["gold"]
    problem(site.olga.delete("/games/g1/roster/p6"), 428, "if-match-missing")
    assert site.olga.delete("/games/g1/roster/p6", headers=ANY).status_code == 204
    problem(site.olga.delete("/games/g1/roster/p6", headers=ANY), 404, "not-found")
    problem(site.olga.put("/games/g1/roster/p6", json={"team_id": "red"}), 404, "not-found")
    assert site.clean()


def test_who_cannot_be_assigned(site: Club) -> None:
    site.game()
    ok(site.eve.post("/leagues/south/players", json={"player_id": "s1", "display_name": "Sue"}))
    for player_id in ("p99", "s1"):
        answer = site.olga.post("/games/g1/roster", json={"player_id": player_id, "team_id": "red"})
        assert pointers(problem(answer, 422, "no-such-player")) == ["/player_id"]
    for team_id in ("green", "purple"):
        answer = site.olga.post("/games/g1/roster", json={"player_id": "p6", "team_id": team_id})
        assert pointers(problem(answer, 422, "no-such-team")) == ["/team_id"]
        answer = site.olga.put("/games/g1/roster/p0", json={"team_id": team_id})
        assert pointers(problem(answer, 422, "no-such-team")) == ["/team_id"]


def test_a_roster_and_a_timeline_end_somewhere(site: Club, monkeypatch: pytest.MonkeyPatch) -> None:
    site.game()
    site.goal()
    monkeypatch.setattr("keyplan.apps.threefc.service.games.PLAYERS", 6)
    monkeypatch.setattr("keyplan.apps.threefc.service.goals.GOALS", 1)
    before = site.changed()
    problem(site.olga.post("/games/g1/roster", json={"player_id": "p6", "team_id": "red"}), 409, "roster-full")
    body = {"third": 1, "minute": 5, "conceding_team_id": "red", "scoring_team_id": "blue"}
    problem(site.sam.post("/games/g1/goals", json=body), 409, "too-many-goals")
    assert site.changed() == before
    # A change doesn't count as another one, and a removal makes room.
    ok(site.olga.put("/games/g1/roster/p0", json={"team_id": "gold"}))
    ok(site.olga.delete("/games/g1/roster/p0", headers=ANY))
    assert site.olga.post("/games/g1/roster", json={"player_id": "p6", "team_id": "red"}).status_code == 201
    ok(site.sam.post("/games/g1/goals/undo"))
    assert site.sam.post("/games/g1/goals", json=body).status_code == 201
    assert site.clean()


def test_who_scored_stays_on_the_team(site: Club) -> None:
    site.game()
    site.goal(scorer_id="p1", assist_ids=["p4"])
    for player_id in ("p1", "p4"):
        problem(site.olga.delete(f"/games/g1/roster/{player_id}", headers=ANY), 409, "has-goals")
        problem(site.olga.put(f"/games/g1/roster/{player_id}", json={"team_id": "red"}), 409, "has-goals")
        assert ok(site.olga.put(f"/games/g1/roster/{player_id}", json={"team_id": "blue"}))["goal_count"] == 1
    ok(site.sam.post("/games/g1/goals/undo"))
    assert ok(site.olga.put("/games/g1/roster/p1", json={"team_id": "red"}))["team_id"] == "red"
    assert site.clean()


# Goals


def test_a_goal(site: Club) -> None:
    site.game()
    made = site.goal(third=2, minute=41, scorer_id="p1", assist_ids=["p4"])
    event_id = made.pop("event_id")
    assert len(event_id) == 26
    assert made == {
        "third": 2,
        "minute": 41,
        "conceding_team_id": "red",
        "scoring_team_id": "blue",
        "scorer_id": "p1",
        "assist_ids": ["p4"],
        "own_goal": False,
        "version": 1,
    }
    own = site.goal("gold", None, scorer_id="p2")
    assert (own["own_goal"], own["scoring_team_id"], own["scorer_id"]) == (True, None, "p2")
    assert len(ok(site.vera.get("/games/g1/goals"))["items"]) == 2
    assert site.clean()


GOAL: dict[str, Any] = {"third": 1, "minute": 5, "conceding_team_id": "red", "scoring_team_id": "blue"}
OWN: dict[str, Any] = {"scoring_team_id": None, "own_goal": True}
REFUSED = [
    ({"third": 0}, "invalid", "/third"),
    ({"third": 4}, "invalid", "/third"),
    ({"minute": -1}, "invalid", "/minute"),
    ({"minute": 1000}, "invalid", "/minute"),
    ({"minute": "5"}, "invalid", "/minute"),
    ({"conceding_team_id": None}, "invalid", "/conceding_team_id"),
    ({"conceding_team_id": "green"}, "no-such-team", "/conceding_team_id"),
    ({"scoring_team_id": "green"}, "no-such-team", "/scoring_team_id"),
    ({"scoring_team_id": "red"}, "same-team", "/scoring_team_id"),
    ({"scoring_team_id": None}, "no-scoring-team", "/scoring_team_id"),
    ({"own_goal": True}, "own-goal", "/scoring_team_id"),
    ({**OWN, "assist_ids": ["p0"]}, "own-goal", "/assist_ids"),
    ({"scorer_id": "p0"}, "not-on-the-team", "/scorer_id"),
    ({"scorer_id": "p2"}, "not-on-the-team", "/scorer_id"),
    ({"scorer_id": "p7"}, "not-on-the-team", "/scorer_id"),
    ({**OWN, "scorer_id": "p1"}, "not-on-the-team", "/scorer_id"),
    ({"assist_ids": ["p0"]}, "not-on-the-team", "/assist_ids"),
    ({"scorer_id": "p1", "assist_ids": ["p2"]}, "not-on-the-team", "/assist_ids"),
    ({"scorer_id": "p1", "assist_ids": ["p1"]}, "same-player", "/assist_ids"),
    ({"assist_ids": ["p1", "p1"]}, "same-player", "/assist_ids"),
    ({"assist_ids": ["p1", "p4", "p6", "p7"]}, "invalid", "/assist_ids"),
    ({"event_id": "01ARZ3NDEKTSV4RRFFQ69G5FAV"}, "invalid", "/event_id"),
]


@pytest.mark.parametrize(("change", "code", "where"), REFUSED)
def test_what_is_no_goal(site: Club, change: dict[str, Any], code: str, where: str) -> None:
    site.game()
    answer = site.sam.post("/games/g1/goals", json={**GOAL, **change})
    assert pointers(problem(answer, 422, code)) == [where]
    assert ok(site.vera.get("/games/g1/goals"))["items"] == []


@pytest.mark.parametrize(("change", "code", "where"), REFUSED)
def test_what_a_goal_cannot_become(site: Club, change: dict[str, Any], code: str, where: str) -> None:
    site.game()
    made = site.goal()
    code = "required" if where == "/conceding_team_id" and change[where[1:]] is None else code
    answer = site.sam.patch(f"/games/g1/goals/{made['event_id']}", json=change, headers=ANY)
    assert pointers(problem(answer, 422, code)) == [where]
    assert ok(site.vera.get("/games/g1/goals"))["items"] == [made]


@pytest.mark.parametrize("status", ["scheduled", "finished"])
def test_goals_only_while_live(site: Club, status: str) -> None:
    site.game()
    made = site.goal()
    game = site.site.running.store.run(site.site.running.design.game("g1"))
    game.status = status
    site.site.running.store.run(update(game))
    problem(site.sam.post("/games/g1/goals", json=GOAL), 409, "not-live")
    path = f"/games/g1/goals/{made['event_id']}"
    problem(site.sam.patch(path, json={"minute": 6}, headers=ANY), 409, "not-live")
    problem(site.sam.patch(path, json={"scorer_id": "p1"}, headers=ANY), 409, "not-live")
    problem(site.olga.post("/games/g1/goals/undo"), 409, "not-live")
    assert ok(site.vera.get("/games/g1/goals"))["items"] == [made]


def test_changing_a_goal(site: Club) -> None:
    site.game()
    made = site.goal(scorer_id="p1")
    path = f"/games/g1/goals/{made['event_id']}"
    problem(site.sam.patch(path, json={"minute": 6}), 428, "if-match-missing")
    changed = ok(site.sam.patch(path, json={"third": 3, "minute": 100}, headers={"If-Match": '"1"'}))
    assert changed == {**made, "third": 3, "minute": 100, "version": 2}
    problem(site.sam.patch(path, json={"minute": 6}, headers={"If-Match": '"1"'}), 412, "stale-version")
    other = {"conceding_team_id": "blue", "scoring_team_id": "gold", "scorer_id": "p2", "assist_ids": ["p5"]}
    changed = ok(site.sam.patch(path, json=other, headers=ANY))
    assert changed == {**made, "third": 3, "minute": 100, **other, "version": 3}
    own: dict[str, Any] = {"scoring_team_id": None, "own_goal": True, "scorer_id": None, "assist_ids": []}
    changed = ok(site.sam.patch(path, json=own, headers=ANY))
    assert (changed["own_goal"], changed["scorer_id"], changed["minute"]) == (True, None, 100)
    assert ok(site.vera.get("/games/g1/goals"))["items"] == [changed]
    assert {each["goal_count"] for each in ok(site.vera.get("/games/g1/roster"))["items"]} == {0}
    unknown = "/games/g1/goals/01ARZ3NDEKTSV4RRFFQ69G5FAV"
    problem(site.sam.patch(unknown, json={"minute": 6}, headers=ANY), 404, "not-found")
    assert site.clean()


def test_undo_takes_back_what_was_entered_last(site: Club) -> None:
    site.game()
    problem(site.sam.post("/games/g1/goals/undo"), 409, "no-goal")
    late, early = site.goal(third=3, minute=90), site.goal(third=1, minute=2)
    answer = site.sam.post("/games/g1/goals/undo", params={"event_id": late["event_id"]})
    problem(answer, 409, "not-the-last")
    undone = site.sam.post("/games/g1/goals/undo", params={"event_id": early["event_id"]})
    assert undone.status_code == 200
    assert undone.json() == early, "the last one entered, which is not the last one in the timeline"
    assert ok(site.sam.post("/games/g1/goals/undo")) == late
    assert ok(site.vera.get("/games/g1/goals"))["items"] == []
    assert site.clean()


def test_a_goal_that_was_changed_is_still_the_last_one_entered(site: Club) -> None:
    site.game()
    first, last = site.goal(minute=1), site.goal(minute=50)
    ok(site.sam.patch(f"/games/g1/goals/{first['event_id']}", json={"third": 3}, headers=ANY))
    assert ok(site.sam.post("/games/g1/goals/undo"))["event_id"] == last["event_id"]


def test_the_timeline_is_in_order(site: Club) -> None:
    """Thirds, minutes of one to three digits, and ties in the order of entry."""
    site.game()
    entered = [(2, 5), (1, 10), (1, 9), (3, 0), (1, 10), (1, 100), (2, 100), (2, 99), (1, 0), (1, 10), (3, 999), (3, 7)]
    goals = [site.goal(third=third, minute=minute) for third, minute in entered]
    timeline = ok(site.vera.get("/games/g1/goals"))["items"]
    assert [(each["third"], each["minute"]) for each in timeline] == sorted(entered)
    ties = [each["event_id"] for each in timeline if (each["third"], each["minute"]) == (1, 10)]
    assert ties == [goals[number]["event_id"] for number in (1, 4, 9)]
    assert all(one["event_id"] < other["event_id"] for one, other in pairwise(goals))
    seen: list[Any] = []
    params: dict[str, Any] = {"limit": 5}
    while True:
        page = ok(site.vera.get("/games/g1/goals", params=params))
        seen += page["items"]
        if page["next"] is None:
            break
        params["cursor"] = page["next"]
    assert seen == timeline == ok(site.vera.get("/games/g1/sheet"))["timeline"]
    # A tie that results from a change keeps the order of entry, too.
    ok(site.sam.patch(f"/games/g1/goals/{goals[0]['event_id']}", json={"third": 1, "minute": 10}, headers=ANY))
    timeline = ok(site.vera.get("/games/g1/goals"))["items"]
    ties = [each["event_id"] for each in timeline if (each["third"], each["minute"]) == (1, 10)]
    assert ties == [goals[number]["event_id"] for number in (0, 1, 4, 9)]


def test_a_goal_that_is_sent_twice_with_a_key_counts_once_and_in_order(site: Club) -> None:
    site.game()
    first = site.goal()
    keyed = [site.sam.post("/games/g1/goals", json=GOAL, headers={"Idempotency-Key": "goal"}) for _ in range(2)]
    assert keyed[0].json() == keyed[1].json()
    last = site.goal()
    timeline = [each["event_id"] for each in ok(site.vera.get("/games/g1/goals"))["items"]]
    assert timeline == [first["event_id"], keyed[0].json()["event_id"], last["event_id"]]


# The sheet and the result


def test_the_sheet(site: Club) -> None:
    game = site.game()
    goal = site.goal(scorer_id="p1")
    answer = site.vera.get("/games/g1/sheet")
    sheet = ok(answer)
    assert sheet["game"] == {**game, "goal_count": 1}
    assert sheet["roster"] == ok(site.vera.get("/games/g1/roster"))["items"]
    assert sheet["timeline"] == [goal]
    assert sheet["result"] == ok(site.vera.get("/games/g1/result"))
    assert answer.headers["etag"].startswith(f'"{sheet["version"]}-')


def test_a_sheet_is_another_one_after_every_change(site: Club) -> None:
    site.game(status="scheduled")
    tags: list[str] = []

    def look() -> None:
        answer = site.vera.get("/games/g1/sheet", headers={"If-None-Match": tags[-1] if tags else ""})
        assert answer.status_code == 200, "there is something new"
        tags.append(answer.headers["etag"])
        assert site.vera.get("/games/g1/sheet", headers={"If-None-Match": tags[-1]}).status_code == 304

    look()
    ok(site.sam.put("/games/g1/status", json={"status": "live"}))
    look()
    goal = site.goal()
    look()
    ok(site.sam.patch(f"/games/g1/goals/{goal['event_id']}", json={"scorer_id": "p1"}, headers=ANY))
    look()
    ok(site.olga.put("/games/g1/roster/p0", json={"team_id": "gold"}))
    look()
    ok(site.olga.delete("/games/g1/roster/p5", headers=ANY))
    look()
    ok(site.olga.patch("/games/g1", json={"game_start_ts": START.replace("18", "19")}, headers=ANY))
    look()
    ok(site.sam.post("/games/g1/goals/undo"))
    look()
    ok(site.sam.put("/games/g1/status", json={"status": "finished"}))
    look()
    assert len(set(tags)) == len(tags)


def test_the_result(site: Club) -> None:
    site.game()
    none = ok(site.vera.get("/games/g1/result"))
    assert (none["winner_id"], none["drawn_ids"], none["status"]) == (None, list(TEAMS), "live")
    site.goal("red", "blue")
    site.goal("gold", None)
    assert ok(site.vera.get("/games/g1/result")) == {
        "game_id": "g1",
        "status": "live",
        "scores": [
            {"team_id": "blue", "conceded": 0, "scored": 1},
            {"team_id": "red", "conceded": 1, "scored": 0},
            {"team_id": "gold", "conceded": 1, "scored": 0},
        ],
        "winner_id": "blue",
        "drawn_ids": [],
    }
    site.goal("blue", "gold")
    # All conceded one; blue and gold scored one each.
    drawn = ok(site.vera.get("/games/g1/result"))
    assert (drawn["winner_id"], drawn["drawn_ids"]) == (None, ["blue", "gold"])


def test_the_results_of_a_session(site: Club, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(4):
        game_id = f"r{number}"
        site.game(game_id, game_start_ts=f"2026-05-01T1{9 - number}:00:00Z")
        for _ in range(number):
            site.goal("red", "blue", game_id)

    def pages(limit: int) -> list[list[dict[str, Any]]]:
        found: list[list[dict[str, Any]]] = []
        params: dict[str, Any] = {"limit": limit}
        while True:
            page = ok(site.vera.get("/sessions/may-1/results", params=params))
            found.append(page["items"])
            if page["next"] is None:
                return found
            params["cursor"] = page["next"]

    (shown,) = pages(50)
    assert [each["game"] for each in shown] == ok(site.vera.get("/sessions/may-1/games"))["items"]
    assert [each["game"]["game_id"] for each in shown] == ["r3", "r2", "r1", "r0"]
    for each in shown:
        assert each["result"] == ok(site.vera.get(f"/games/{each['game']['game_id']}/result"))
    assert [each["result"]["winner_id"] for each in shown] == ["blue", "blue", "blue", None]
    # A page ends when its goals would need more than one request.
    monkeypatch.setattr("keyplan.apps.threefc.service.games.READ_AT_ONCE", 4)
    assert [[each["game"]["game_id"] for each in page] for page in pages(50)] == [["r3"], ["r2", "r1", "r0"]]
    assert [each for page in pages(2) for each in page] == shown
