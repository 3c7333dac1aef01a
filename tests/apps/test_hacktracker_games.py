"""hacktracker over HTTP: games, line-ups and at-bats; every rule and each refusal."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from keyplan.web.server.work import Worker
from tests.apps.hack_site import ANY, PLAY, Team, league, made
from tests.web.answers import pointers, problem
from tests.web.site import Site

STATUSES = ("SCHEDULED", "IN_PROGRESS", "FINAL", "POSTPONED")
LEGAL = {
    ("SCHEDULED", "IN_PROGRESS"),
    ("SCHEDULED", "POSTPONED"),
    ("POSTPONED", "SCHEDULED"),
    ("IN_PROGRESS", "FINAL"),
    ("FINAL", "IN_PROGRESS"),
}
WAYS = {
    "SCHEDULED": [],
    "POSTPONED": ["POSTPONED"],
    "IN_PROGRESS": ["IN_PROGRESS"],
    "FINAL": ["IN_PROGRESS", "FINAL"],
}


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with league(tmp_path) as served:
        yield served


@pytest.fixture
def team(site: Site) -> Team:
    return Team(site)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Team, str]]:
    """A team with a live game, for requests that are refused, and so change nothing."""
    with league(tmp_path_factory.mktemp("shared")) as served:
        made_team = Team(served)
        yield made_team, made_team.game(play=True)


# Games


def test_a_schedule_is_in_order_of_time(team: Team) -> None:
    days = {"c": "2026-07-03T18:00:00Z", "a": "2026-05-01T20:00:00+02:00", "b": "2026-06-02T18:00:00Z"}
    for name, start in days.items():
        team.game(opponent_name=name, scheduled_start=start, season_id="summer" if name != "b" else "other")
    team.game(opponent_name="d")

    def names(**params: str) -> list[str]:
        found = made(team.as_("player").get(f"{team.path}/games", params=params), 200)["items"]
        return [each["opponent_name"] for each in found]

    assert names() == ["a", "b", "c", "d"]
    assert names(season_id="summer") == ["a", "c"]
    first = made(team.owner.get(f"{team.path}/games"), 200)["items"][0]
    assert first["scheduled_start"] == "2026-05-01T18:00:00.000Z"
    team.game(opponent_name="far", scheduled_start="2999-01-01T00:00:00Z")
    team.game(opponent_name="old", scheduled_start="1990-01-01T00:00:00Z")
    assert names(when="past")[-1] == "old"
    assert names(when="coming")[-2:] == ["far", "d"]
    problem(team.owner.get(f"{team.path}/games?when=past&season_id=x"), 422, "one-of-two")
    page = made(team.owner.get(f"{team.path}/games?when=past&limit=1"), 200)
    again = {"when": "past", "limit": "9", "cursor": page["next"]}
    assert made(team.owner.get(f"{team.path}/games", params=again), 200)["items"][-1]["opponent_name"] == "old"


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ({"scheduled_start": "2026-05-01T20:00:00"}, "/scheduled_start"),
        ({"scheduled_start": "0001-01-01T00:00:00+14:00"}, "/scheduled_start"),
        ({"scheduled_start": "3000-01-01T00:00:00Z"}, "/scheduled_start"),
        ({"opponent_name": ""}, "/opponent_name"),
        ({"location": "x" * 101}, "/location"),
        ({"season_id": ""}, "/season_id"),
        ({"status": "FINAL"}, "/status"),
        ({"team_score": 3}, "/team_score"),
    ],
)
def test_what_a_game_cannot_be(shared: tuple[Team, str], change: dict[str, Any], where: str) -> None:
    team, game = shared
    assert pointers(problem(team.owner.post(f"{team.path}/games", json=change), 422, "invalid")) == [where]
    assert pointers(problem(team.owner.patch(f"/games/{game}", json=change, headers=ANY), 422, "invalid")) == [where]


def test_changing_a_game(team: Team) -> None:
    game = team.game()
    path = f"/games/{game}"
    problem(team.owner.patch(path, json={"opponent_score": 3}), 428, "if-match-missing")
    tag = team.owner.get(path).headers["ETag"]
    changed = team.as_("scorekeeper").patch(
        path, json={"opponent_score": 3, "location": "L"}, headers={"If-Match": tag}
    )
    assert (made(changed, 200)["opponent_score"], changed.json()["location"]) == (3, "L")
    problem(team.owner.patch(path, json={"location": None}, headers={"If-Match": tag}), 412, "stale-version")
    problem(team.owner.patch(path, json={"opponent_score": None}, headers=ANY), 422, "required")
    problem(team.owner.patch(path, json={"opponent_score": -1}, headers=ANY), 422, "invalid")
    assert made(team.owner.patch(path, json={"location": None}, headers=ANY), 200)["location"] is None


def test_a_time_is_taken_as_it_was_given(team: Team) -> None:
    sent = {"scheduled_start": "2026-05-01T20:00:00.123987+02:00"}
    first = made(team.owner.post(f"{team.path}/games", json=sent))
    given = {"scheduled_start": first["scheduled_start"]}
    assert given == {"scheduled_start": "2026-05-01T18:00:00.123Z"}
    again = made(team.owner.patch(f"/games/{first['game_id']}", json=given, headers=ANY), 200)
    assert (again["scheduled_start"], again["version"]) == (given["scheduled_start"], first["version"])


def test_at_bats_follow_their_game_to_another_day(team: Team, site: Site) -> None:
    game = team.game(play=True, scheduled_start="2026-05-01T18:00:00Z")
    at_bat = f"/games/{game}/at-bats/{team.bat(game, hit_location={'x': 0.5, 'y': 0.5})['at_bat_id']}"

    def date() -> object:
        return made(team.owner.get(f"/games/{game}/spray-chart"), 200)["points"][0]["game_date"]

    assert date() == "2026-05-01T18:00:00.000Z"
    made(team.owner.patch(f"/games/{game}", json={"scheduled_start": "2026-05-08T18:00:00Z"}, headers=ANY), 200)
    assert date() == "2026-05-08T18:00:00.000Z"
    made(team.owner.patch(f"/games/{game}", json={"scheduled_start": None}, headers=ANY), 200)
    assert date() is None
    Worker([site.running], site.engine).run_once()
    assert date() is None
    assert made(team.owner.get(at_bat), 200)["version"] == 1, "nobody changed the at-bat itself"
    assert site.running.store.verify() == []


def test_a_game_goes_with_its_at_bats(team: Team, site: Site) -> None:
    game = team.game(play=True)
    for _ in range(3):
        team.bat(game, runs=1)
    path = f"/games/{game}"
    problem(team.owner.delete(path), 428, "if-match-missing")
    problem(team.owner.delete(path, headers=ANY), 409, "in-progress")
    team.move(game, "FINAL")
    assert team.as_("scorekeeper").delete(path, headers=ANY).status_code == 204
    problem(team.owner.get(path), 404, "not-found")
    problem(team.owner.get(f"{path}/at-bats"), 404, "not-found")
    assert made(team.owner.get(f"{team.path}/players/{team.ghosts[0]}"), 200)["at_bat_count"] == 0
    assert site.running.store.verify() == []


# Status


def test_legal_moves_and_no_others(team: Team) -> None:
    for before in STATUSES:
        for after in STATUSES:
            game = team.game(lineup=team.ghosts)
            for step in WAYS[before]:
                team.move(game, step)
            answer = team.owner.post(f"/games/{game}/status", json={"status": after})
            if (before, after) in LEGAL:
                assert made(answer, 200)["status"] == after
            else:
                problem(answer, 409, "illegal-move")
            if made(team.owner.get(f"/games/{game}"), 200)["status"] == "IN_PROGRESS":
                team.move(game, "FINAL")
    assert made(team.owner.get(team.path), 200)["active_game_id"] is None


def test_one_game_is_in_progress(team: Team, site: Site) -> None:
    first, second = team.game(play=True), team.game(lineup=team.ghosts)
    assert made(team.owner.get(team.path), 200)["active_game_id"] == first
    problem(team.owner.post(f"/games/{second}/status", json={"status": "IN_PROGRESS"}), 409, "another-game")
    assert made(team.owner.get(f"/games/{second}"), 200)["status"] == "SCHEDULED"
    team.move(first, "FINAL")
    team.move(second, "IN_PROGRESS")
    problem(team.owner.post(f"/games/{first}/status", json={"status": "IN_PROGRESS"}), 409, "another-game")
    stale = team.owner.post(f"/games/{second}/status", json={"status": "FINAL"}, headers={"If-Match": '"1"'})
    problem(stale, 412, "stale-version")
    assert site.running.store.verify() == []


def test_only_the_owner_reopens_a_game(team: Team) -> None:
    game = team.game(play=True)
    assert team.as_("scorekeeper").post(f"/games/{game}/status", json={"status": "FINAL"}).status_code == 200
    for who in ("scorekeeper", "manager"):
        problem(team.as_(who).post(f"/games/{game}/status", json={"status": "IN_PROGRESS"}), 403, "forbidden")
    team.move(game, "IN_PROGRESS")


def test_a_game_is_reopened_whoever_has_left_the_roster_since(team: Team, site: Site) -> None:
    game = team.game(play=True)
    first = team.bat(game)
    team.move(game, "FINAL")
    players = [f"{team.path}/players/{each}" for each in team.ghosts]
    assert team.owner.delete(players[2], headers=ANY).status_code == 204
    made(team.owner.patch(players[0], json={"status": "inactive"}, headers=ANY), 200)
    team.move(game, "IN_PROGRESS")
    path = f"/games/{game}/at-bats/{first['at_bat_id']}"
    assert made(team.owner.patch(path, json={"result": "E"}, headers=ANY), 200)["result"] == "E"
    gone = {"player_id": team.ghosts[2], **PLAY}
    problem(team.owner.post(f"/games/{game}/at-bats", json=gone), 422, "not-in-lineup")
    made(team.owner.put(f"/games/{game}/lineup", json={"lineup": team.ghosts[1:2]}), 200)
    team.bat(game, team.ghosts[1])
    team.move(game, "FINAL")
    assert site.running.store.verify() == []


# Line-ups


def test_a_lineup_is_of_players_of_the_roster_each_once(team: Team) -> None:
    game = team.game()
    path, ghosts = f"/games/{game}/lineup", team.ghosts
    problem(team.owner.post(f"/games/{game}/status", json={"status": "IN_PROGRESS"}), 422, "no-lineup")
    for lineup, code, where in (
        ([ghosts[0], ghosts[0]], "twice-in-lineup", "/lineup"),
        ([ghosts[0], "nobody"], "not-on-roster", "/lineup/1"),
        (["a#b"], "invalid", "/lineup/0"),
        (["x"] * 61, "invalid", "/lineup"),
    ):
        assert pointers(problem(team.owner.put(path, json={"lineup": lineup}), 422, code)) == [where]
    team.owner.patch(f"{team.path}/players/{ghosts[2]}", json={"status": "inactive"}, headers=ANY)
    problem(team.owner.put(path, json={"lineup": ghosts}), 422, "not-on-roster")
    assert made(team.owner.put(path, json={"lineup": ghosts[:2]}), 200)["lineup"] == ghosts[:2]
    problem(team.owner.put(path, json={"lineup": []}, headers={"If-Match": '"1"'}), 412, "stale-version")
    # Players who were removed since then are found when the game starts.
    team.owner.delete(f"{team.path}/players/{ghosts[1]}", headers=ANY)
    answer = team.owner.post(f"/games/{game}/status", json={"status": "IN_PROGRESS"})
    assert pointers(problem(answer, 422, "not-on-roster")) == ["/lineup/1"]


def test_a_lineup_changes_while_the_game_is_played_but_not_after(team: Team) -> None:
    game = team.game(play=True, lineup=team.ghosts[:1])
    path = f"/games/{game}/lineup"
    problem(team.owner.post(f"/games/{game}/at-bats", json={"player_id": team.mine, **PLAY}), 422, "not-in-lineup")
    problem(team.owner.put(path, json={"lineup": []}), 422, "no-lineup")
    made(team.as_("scorekeeper").put(path, json={"lineup": [team.mine, team.ghosts[0]]}), 200)
    team.bat(game, team.mine)
    team.move(game, "FINAL")
    problem(team.owner.put(path, json={"lineup": []}), 409, "is-final")


# At-bats


def test_the_score_follows_the_at_bats(team: Team, site: Site) -> None:
    game = team.game(play=True)

    def score() -> object:
        return made(team.owner.get(f"/games/{game}"), 200)["team_score"]

    first = team.bat(game, runs=2, rbi=2, hit_location={"x": 0.25, "y": 0.75})
    second = team.bat(game, team.ghosts[1], result="HR", runs=4, rbi=4, outs=2)
    assert score() == 6
    found = made(team.as_("player").get(f"/games/{game}/at-bats"), 200)["items"]
    assert [each["at_bat_id"] for each in found] == [first["at_bat_id"], second["at_bat_id"]]
    path = f"/games/{game}/at-bats/{first['at_bat_id']}"
    assert made(team.owner.get(path), 200)["hit_location"] == {"x": 0.25, "y": 0.75}
    problem(team.owner.patch(path, json={"runs": 1}), 428, "if-match-missing")
    changed = team.as_("scorekeeper").patch(path, json={"runs": 1, "player_id": team.ghosts[2]}, headers=ANY)
    assert (made(changed, 200)["runs"], changed.json()["player_id"]) == (1, team.ghosts[2])
    assert score() == 5
    problem(team.owner.patch(path, json={"runs": 0}, headers={"If-Match": '"1"'}), 412, "stale-version")
    problem(team.owner.patch(path, json={"result": None}, headers=ANY), 422, "required")
    problem(team.owner.patch(path, json={"player_id": "nobody"}, headers=ANY), 422, "not-in-lineup")
    undo = f"/games/{game}/at-bats/undo"
    problem(team.owner.post(undo, params={"at_bat_id": first["at_bat_id"]}), 409, "not-the-last")
    assert (
        made(team.owner.post(undo, params={"at_bat_id": second["at_bat_id"]}), 200)["at_bat_id"] == second["at_bat_id"]
    )
    problem(team.owner.post(undo, params={"at_bat_id": second["at_bat_id"]}), 409, "not-the-last")
    assert score() == 1
    problem(team.owner.delete(path, headers={"If-Match": '"1"'}), 412, "stale-version")
    assert team.owner.delete(path, headers=ANY).status_code == 204
    assert score() == 0
    problem(team.owner.post(undo), 409, "nothing-to-undo")
    assert site.running.store.verify() == []


def test_an_at_bat_stays_with_who_batted_unless_it_was_another_player(team: Team) -> None:
    """Sending the same player along with a correction leaves the at-bat with whoever was linked at the time."""
    team.link(team.ghosts[0], "player")
    game = team.game(play=True)
    at_bat = team.bat(game, team.ghosts[0])
    path = f"/games/{game}/at-bats/{at_bat['at_bat_id']}"
    made(team.owner.post(f"{team.path}/players/{team.ghosts[0]}/unlink"), 200)
    team.link(team.ghosts[0], "scorekeeper")

    def batted(who: str) -> object:
        return made(team.as_(who).get("/me/statistics"), 200)["total"]["plate_appearances"]

    made(team.owner.patch(path, json={"player_id": team.ghosts[0], "result": "2B"}, headers=ANY), 200)
    assert (batted("player"), batted("scorekeeper")) == (1, 0)
    made(team.owner.patch(path, json={"player_id": team.ghosts[1]}, headers=ANY), 200)
    assert (batted("player"), batted("scorekeeper")) == (0, 0)
    made(team.owner.patch(path, json={"player_id": team.ghosts[0]}, headers=ANY), 200)
    assert (batted("player"), batted("scorekeeper")) == (0, 1)


def test_nothing_is_scored_in_a_game_that_is_not_played(team: Team) -> None:
    game = team.game(lineup=team.ghosts)
    body = {"player_id": team.ghosts[0], **PLAY}
    problem(team.owner.post(f"/games/{game}/at-bats", json=body), 409, "not-in-progress")
    team.move(game, "IN_PROGRESS")
    scored = team.bat(game)["at_bat_id"]
    team.move(game, "FINAL")
    path = f"/games/{game}/at-bats"
    for answer in (
        team.owner.post(path, json=body),
        team.owner.patch(f"{path}/{scored}", json={"runs": 1}, headers=ANY),
        team.owner.delete(f"{path}/{scored}", headers=ANY),
        team.owner.post(f"{path}/undo"),
    ):
        problem(answer, 409, "not-in-progress")
    problem(team.owner.get(f"{path}/none"), 404, "not-found")


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ({"result": "X"}, "/result"),
        ({"inning": 0}, "/inning"),
        ({"outs": 3}, "/outs"),
        ({"outs": -1}, "/outs"),
        ({"rbi": 5}, "/rbi"),
        ({"runs": 5}, "/runs"),
        ({"runs": -1}, "/runs"),
        ({"hit_location": {"x": 1.5, "y": 0}}, "/hit_location/x"),
        ({"hit_location": {"x": 0}}, "/hit_location/y"),
        ({"user_id": "eve"}, "/user_id"),
    ],
)
def test_what_an_at_bat_cannot_be(shared: tuple[Team, str], change: dict[str, Any], where: str) -> None:
    team, game = shared
    body = {"player_id": team.ghosts[0], **PLAY, **change}
    assert pointers(problem(team.owner.post(f"/games/{game}/at-bats", json=body), 422, "invalid")) == [where]


def test_an_at_bat_is_scored_once_by_a_repeated_request(team: Team) -> None:
    game = team.game(play=True)
    body = {"player_id": team.ghosts[0], **PLAY, "runs": 1}
    for _ in range(3):
        answer = team.owner.post(f"/games/{game}/at-bats", json=body, headers={"Idempotency-Key": "tap"})
        assert answer.status_code == 201
    assert made(team.owner.get(f"/games/{game}"), 200)["team_score"] == 1
