"""3FC over HTTP: leagues, grants, players, seasons, teams and sessions; every rule and each refusal."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest

from tests.apps.threefc_site import ANY, START, TEAMS, Club, club, ok
from tests.web.answers import pointers, problem


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Club]:
    with club(tmp_path_factory.mktemp("threefc")) as started:
        yield started


@pytest.fixture
def site(served: Club) -> Club:
    served.reset()
    return served


# Leagues


def test_the_creator_of_a_league_is_its_admin(site: Club) -> None:
    made = site.vera.post("/leagues", json={"name": "Évening  Lëague"})
    assert made.status_code == 201
    league = made.json()
    assert league.keys() == {"league_id", "name", "slug", "season_count", "role", "version"}
    assert (league["slug"], league["role"], league["season_count"]) == ("evening-league", "admin", 0)
    assert len(league["league_id"]) == 36
    path = f"/leagues/{league['league_id']}"
    assert ok(site.vera.get(path)) == league
    mine = ok(site.vera.get("/leagues"))["items"]
    assert {each["league_id"]: each["role"] for each in mine} == {"north": "viewer", league["league_id"]: "admin"}
    assert site.clean()


def test_a_league_of_somebody_else_is_not_founded_again(site: Club) -> None:
    before = site.changed()
    answer = site.eve.post("/leagues", json={"league_id": "north", "name": "Mine now"})
    problem(answer, 409, "already-exists")
    assert site.changed() == before
    problem(site.eve.get("/leagues/north"), 404, "not-found")
    assert ok(site.olga.get("/leagues/north"))["name"] == "Northern League"


@pytest.mark.parametrize(
    ("body", "where"),
    [
        ({"league_id": "a#b"}, "/league_id"),
        ({"league_id": ""}, "/league_id"),
        ({"league_id": "x" * 129}, "/league_id"),
        ({"league_id": "a/b"}, "/league_id"),
        ({"league_id": ".."}, "/league_id"),
        ({"name": ""}, "/name"),
        ({"name": "x" * 81}, "/name"),
        ({"slug": "No Slug"}, "/slug"),
        ({"role": "admin"}, "/role"),
    ],
)
def test_what_cannot_be_founded(site: Club, body: dict[str, Any], where: str) -> None:
    answer = site.olga.post("/leagues", json={"name": "New", **body})
    assert pointers(problem(answer, 422, "invalid")) == [where]


def test_a_name_without_letters_needs_a_slug(site: Club) -> None:
    assert pointers(problem(site.olga.post("/leagues", json={"name": "日本"}), 422, "no-slug")) == ["/slug"]
    assert ok(site.olga.post("/leagues", json={"name": "日本", "slug": "nippon"}))["slug"] == "nippon"


@pytest.mark.parametrize("league_id", ["x" * 128, "a b".replace(" ", "~"), "auth0|42", "Ünïcode", "0"])
def test_ids_are_the_callers_choice(site: Club, league_id: str) -> None:
    assert ok(site.olga.post("/leagues", json={"league_id": league_id, "name": "Chosen"}))["league_id"] == league_id
    assert ok(site.olga.get(f"/leagues/{league_id}"))["league_id"] == league_id


def test_renaming_a_league(site: Club) -> None:
    problem(site.olga.patch("/leagues/north", json={"name": "N"}), 428, "if-match-missing")
    problem(site.olga.patch("/leagues/north", json={"name": "N"}, headers={"If-Match": '"9"'}), 412, "stale-version")
    tag = site.olga.get("/leagues/north").headers["etag"]
    renamed = ok(site.olga.patch("/leagues/north", json={"name": "N", "slug": "n"}, headers={"If-Match": tag}))
    assert (renamed["name"], renamed["slug"], renamed["version"]) == ("N", "n", 2)
    answer = site.olga.patch("/leagues/north", json={"name": None}, headers=ANY)
    assert pointers(problem(answer, 422, "required")) == ["/name"]


def test_a_league_with_seasons_stays(site: Club) -> None:
    problem(site.olga.delete("/leagues/north", headers=ANY), 409, "in-use")
    assert ok(site.eve.get("/leagues/south"))["season_count"] == 0
    ok(site.eve.put("/leagues/south/acl/sam", json={"role": "viewer"}))
    ok(site.eve.post("/leagues/south/players", json={"player_id": "s1", "display_name": "Sue"}))
    problem(site.eve.delete("/leagues/south"), 428, "if-match-missing")
    assert site.eve.delete("/leagues/south", headers=ANY).status_code == 204
    for path in ("/leagues/south", "/leagues/south/players", "/leagues/south/acl", "/players/s1"):
        problem(site.eve.get(path), 404, "not-found")
    assert [each["league_id"] for each in ok(site.sam.get("/leagues"))["items"]] == ["north"]
    assert site.clean()


def test_a_large_league_is_deleted_with_all_its_players(site: Club) -> None:
    for number in range(130):
        ok(site.eve.post("/leagues/south/players", json={"player_id": f"s{number}", "display_name": "Sue"}))
    assert site.eve.delete("/leagues/south", headers=ANY).status_code == 204
    problem(site.eve.get("/players/s129"), 404, "not-found")
    assert site.clean()


# Grants


def test_grants(site: Club) -> None:
    grants = ok(site.olga.get("/leagues/north/acl"))["items"]
    assert [(each["user_id"], each["role"]) for each in grants] == [
        ("olga", "admin"),
        ("sam", "scorekeeper"),
        ("vera", "viewer"),
    ]
    raised = site.olga.put("/leagues/north/acl/vera", json={"role": "admin"}, headers={"If-Match": '"1"'})
    assert ok(raised) == {"user_id": "vera", "role": "admin", "version": 2}
    stale = site.olga.put("/leagues/north/acl/vera", json={"role": "viewer"}, headers={"If-Match": '"1"'})
    problem(stale, 412, "stale-version")
    new = site.olga.put("/leagues/north/acl/zoe", json={"role": "viewer"}, headers={"If-Match": '"1"'})
    problem(new, 412, "stale-version")
    assert ok(site.vera.put("/leagues/north/acl/eve", json={"role": "viewer"}))["role"] == "viewer"
    assert ok(site.eve.get("/leagues/north"))["role"] == "viewer"
    problem(site.olga.delete("/leagues/north/acl/eve"), 428, "if-match-missing")
    assert site.olga.delete("/leagues/north/acl/eve", headers=ANY).status_code == 204
    problem(site.eve.get("/leagues/north"), 404, "not-found")
    problem(site.olga.delete("/leagues/north/acl/eve", headers=ANY), 404, "not-found")
    answer = site.olga.put("/leagues/north/acl/eve", json={"role": "king"})
    assert pointers(problem(answer, 422, "invalid")) == ["/role"]
    assert site.clean()


@pytest.mark.parametrize("user_id", ["auth0|5f7c8ec7c33c6c004bbafe82", "https://id.example.org/u/7", "a b", "x" * 128])
def test_a_subject_is_kept_as_it_is(site: Club, user_id: str) -> None:
    path = f"/leagues/north/acl/{quote(user_id, safe='')}"
    assert ok(site.olga.put(path, json={"role": "viewer"}))["user_id"] == user_id
    somebody = site.site.as_(user_id)
    assert ok(somebody.get("/leagues/north"))["role"] == "viewer"
    assert site.olga.delete(path, headers=ANY).status_code == 204


def test_the_last_admin_stays(site: Club) -> None:
    for role in ("viewer", "scorekeeper"):
        problem(site.olga.put("/leagues/north/acl/olga", json={"role": role}), 409, "last-one")
    refused = problem(site.olga.delete("/leagues/north/acl/olga", headers=ANY), 409, "last-one")
    assert refused["detail"] == "A league needs an admin. Make somebody else an admin first."
    ok(site.olga.put("/leagues/north/acl/vera", json={"role": "admin"}))
    assert ok(site.olga.put("/leagues/north/acl/olga", json={"role": "viewer"}))["role"] == "viewer"
    problem(site.olga.get("/leagues/north/acl"), 403, "forbidden")
    problem(site.vera.delete("/leagues/north/acl/vera", headers=ANY), 409, "last-one")
    assert site.clean()


# Players


def test_players(site: Club) -> None:
    made = ok(site.olga.post("/leagues/north/players", json={"display_name": "Pat"}))
    assert made["user_id"] is None
    path = f"/players/{made['player_id']}"
    assert ok(site.vera.get(path)) == made
    changed = site.olga.patch(path, json={"display_name": "Pat B.", "user_id": "pat"}, headers={"If-Match": '"1"'})
    assert (ok(changed)["display_name"], ok(changed)["user_id"]) == ("Pat B.", "pat")
    problem(site.olga.patch(path, json={"user_id": None}), 428, "if-match-missing")
    problem(site.olga.patch(path, json={"user_id": None}, headers={"If-Match": '"1"'}), 412, "stale-version")
    answer = site.olga.patch(path, json={"display_name": None}, headers=ANY)
    assert pointers(problem(answer, 422, "required")) == ["/display_name"]
    assert ok(site.olga.patch(path, json={"user_id": None}, headers=ANY))["user_id"] is None
    problem(
        site.olga.post("/leagues/north/players", json={"player_id": "p1", "display_name": "X"}), 409, "already-exists"
    )
    names = [each["player_id"] for each in ok(site.vera.get("/leagues/north/players"))["items"]]
    assert sorted(names) == sorted([*(f"p{number}" for number in range(8)), made["player_id"]])
    assert site.clean()


def test_only_admins_see_the_account_of_a_player(site: Club) -> None:
    assert ok(site.olga.get("/players/p1"))["user_id"] == "user-1"
    for client in (site.sam, site.vera):
        assert ok(client.get("/players/p1"))["user_id"] is None
        assert "user-1" not in client.get("/leagues/north/players").text
        problem(client.get("/leagues/north/acl"), 403, "forbidden")


def test_a_player_of_another_league_is_not_overwritten(site: Club) -> None:
    before = site.changed()
    problem(
        site.eve.post("/leagues/south/players", json={"player_id": "p1", "display_name": "X"}), 409, "already-exists"
    )
    assert site.changed() == before


# Seasons


def test_seasons(site: Club) -> None:
    body = {"season_id": "autumn", "name": "Autumn", "starts_on": "2026-09-01", "ends_on": "2026-11-30"}
    made = ok(site.olga.post("/leagues/north/seasons", json=body))
    counts = {"session_count": 0, "team_count": 0, "game_count": 0}
    assert made == {**body, "league_id": "north", **counts, "version": 1}
    assert ok(site.vera.get("/seasons/autumn")) == made
    assert [each["season_id"] for each in ok(site.vera.get("/leagues/north/seasons"))["items"]] == ["autumn", "spring"]
    assert ok(site.vera.get("/leagues/north"))["season_count"] == 2
    problem(site.olga.patch("/seasons/autumn", json={"name": "A"}), 428, "if-match-missing")
    changed = site.olga.patch("/seasons/autumn", json={"name": "A", "ends_on": None}, headers={"If-Match": '"1"'})
    assert (ok(changed)["name"], ok(changed)["ends_on"], ok(changed)["starts_on"]) == ("A", None, "2026-09-01")
    problem(site.olga.patch("/seasons/autumn", json={"name": "B"}, headers={"If-Match": '"1"'}), 412, "stale-version")
    answer = site.olga.patch("/seasons/autumn", json={"ends_on": "2026-08-31"}, headers=ANY)
    assert pointers(problem(answer, 422, "ends-before-start")) == ["/ends_on"]
    answer = site.olga.patch("/seasons/autumn", json={"name": None}, headers=ANY)
    assert pointers(problem(answer, 422, "required")) == ["/name"]
    assert site.olga.delete("/seasons/autumn", headers=ANY).status_code == 204
    problem(site.olga.get("/seasons/autumn"), 404, "not-found")
    assert site.clean()


def test_a_season_does_not_end_before_it_starts(site: Club) -> None:
    body = {"name": "Odd", "starts_on": "2026-09-02", "ends_on": "2026-09-01"}
    assert pointers(problem(site.olga.post("/leagues/north/seasons", json=body), 422, "ends-before-start")) == [
        "/ends_on"
    ]
    body = {"name": "Short", "starts_on": "2026-09-01", "ends_on": "2026-09-01"}
    assert site.olga.post("/leagues/north/seasons", json=body).status_code == 201


def test_a_season_of_somebody_else_is_not_begun_again(site: Club) -> None:
    before = site.changed()
    for client, league in ((site.eve, "south"), (site.olga, "north")):
        answer = client.post(f"/leagues/{league}/seasons", json={"season_id": "spring", "name": "Mine"})
        problem(answer, 409, "already-exists")
    assert site.changed() == before
    problem(site.eve.get("/seasons/spring"), 404, "not-found")


def test_a_season_with_sessions_stays(site: Club) -> None:
    problem(site.olga.delete("/seasons/spring", headers=ANY), 409, "in-use")
    assert site.olga.delete("/sessions/may-1", headers=ANY).status_code == 204
    assert site.olga.delete("/seasons/spring", headers=ANY).status_code == 204
    problem(site.olga.get("/seasons/spring/teams"), 404, "not-found")
    assert site.clean()


# Teams


def test_teams(site: Club) -> None:
    made = ok(site.olga.post("/seasons/spring/teams", json={"name": "Pink", "colour": "#ff69b4"}))
    assert (made["name"], made["colour"], made["game_count"], made["version"]) == ("Pink", "#ff69b4", 0, 1)
    path = f"/seasons/spring/teams/{made['team_id']}"
    assert ok(site.vera.get(path)) == made
    problem(site.olga.patch(path, json={"name": "P"}), 428, "if-match-missing")
    changed = ok(site.olga.patch(path, json={"name": "P", "colour": "pink"}, headers={"If-Match": '"1"'}))
    assert (changed["name"], changed["colour"]) == ("P", "pink")
    problem(site.olga.patch(path, json={"name": "Q"}, headers={"If-Match": '"1"'}), 412, "stale-version")
    answer = site.olga.patch(path, json={"colour": None}, headers=ANY)
    assert pointers(problem(answer, 422, "required")) == ["/colour"]
    names = [each["team_id"] for each in ok(site.vera.get("/seasons/spring/teams"))["items"]]
    assert sorted(names) == sorted([*TEAMS, "green", made["team_id"]])
    answer = site.olga.post("/seasons/spring/teams", json={"team_id": "red", "name": "R", "colour": "red"})
    problem(answer, 409, "already-exists")
    problem(site.olga.delete(path), 428, "if-match-missing")
    assert site.olga.delete(path, headers=ANY).status_code == 204
    for answer in (
        site.olga.get(path),
        site.olga.delete(path, headers=ANY),
        site.olga.patch(path, json={}, headers=ANY),
    ):
        problem(answer, 404, "not-found")


@pytest.mark.parametrize("colour", ["", "re", "url(x)", "#12345", "red;", "rgb(1,2,3)", None])
def test_what_is_no_colour(site: Club, colour: str | None) -> None:
    answer = site.olga.post("/seasons/spring/teams", json={"name": "X", "colour": colour})
    assert pointers(problem(answer, 422, "invalid")) == ["/colour"]


def test_a_team_with_games_stays(site: Club) -> None:
    site.game()
    problem(site.olga.delete("/seasons/spring/teams/red", headers=ANY), 409, "in-use")
    assert site.olga.delete("/seasons/spring/teams/green", headers=ANY).status_code == 204
    assert site.olga.delete("/games/g1", headers=ANY).status_code == 204
    assert site.olga.delete("/seasons/spring/teams/red", headers=ANY).status_code == 204
    assert site.clean()


# Sessions


def test_sessions_are_shown_by_date(site: Club) -> None:
    for session_id, day in (("a", "2026-06-01"), ("z", "2026-04-01"), ("m", "2026-05-01"), ("k", "2026-05-15")):
        ok(site.olga.post("/seasons/spring/sessions", json={"session_id": session_id, "session_date": day}))
    listed = ok(site.vera.get("/seasons/spring/sessions"))["items"]
    assert [each["session_id"] for each in listed] == ["z", "m", "may-1", "k", "a"]
    seen: list[str] = []
    params: dict[str, Any] = {"limit": 2}
    while True:
        page = ok(site.vera.get("/seasons/spring/sessions", params=params))
        seen += [each["session_id"] for each in page["items"]]
        if page["next"] is None:
            break
        params["cursor"] = page["next"]
    assert seen == ["z", "m", "may-1", "k", "a"]
    for bad in ("forged", "é", params["cursor"] + "AAAA", ok(site.vera.get("/leagues/north/players?limit=1"))["next"]):
        answer = site.vera.get("/seasons/spring/sessions", params={"cursor": bad})
        assert pointers(problem(answer, 400, "bad-cursor")) == ["?cursor"]


def test_a_session(site: Club) -> None:
    made = ok(site.olga.post("/seasons/spring/sessions", json={"session_date": "2026-05-08"}))
    path = f"/sessions/{made['session_id']}"
    assert ok(site.vera.get(path)) == made
    assert (made["season_id"], made["league_id"], made["game_count"]) == ("spring", "north", 0)
    assert ok(site.vera.get("/seasons/spring"))["session_count"] == 2
    problem(site.olga.delete(path), 428, "if-match-missing")
    problem(site.olga.delete(path, headers={"If-Match": '"7"'}), 412, "stale-version")
    assert site.olga.delete(path, headers=ANY).status_code == 204
    problem(site.olga.get(path), 404, "not-found")
    assert site.clean()


def test_a_session_of_somebody_else_is_not_added_again(site: Club) -> None:
    ok(site.eve.post("/leagues/south/seasons", json={"season_id": "winter", "name": "Winter"}))
    before = site.changed()
    for client, season in ((site.eve, "winter"), (site.olga, "spring")):
        body = {"session_id": "may-1", "session_date": "2026-01-01"}
        problem(client.post(f"/seasons/{season}/sessions", json=body), 409, "already-exists")
    assert site.changed() == before
    problem(site.eve.get("/sessions/may-1"), 404, "not-found")


def test_a_season_has_500_sessions_at_most(site: Club, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("keyplan.apps.threefc.service.seasons.SESSIONS", 3)
    for number in (2, 3):
        ok(site.olga.post("/seasons/spring/sessions", json={"session_date": f"2026-05-0{number}"}))
    before = site.changed()
    problem(site.olga.post("/seasons/spring/sessions", json={"session_date": "2026-05-04"}), 409, "season-full")
    assert site.changed() == before


def test_a_season_has_200_teams_and_1000_games_at_most(site: Club, monkeypatch: pytest.MonkeyPatch) -> None:
    game = {"game_start_ts": START, "team_ids": TEAMS}
    made = ok(site.olga.post("/sessions/may-1/games", json=game))
    season = ok(site.vera.get("/seasons/spring"))
    assert (season["team_count"], season["game_count"]) == (4, 1)
    monkeypatch.setattr("keyplan.apps.threefc.service.seasons.TEAMS", 4)
    monkeypatch.setattr("keyplan.apps.threefc.service.games.GAMES", 1)
    before = site.changed()
    full = problem(site.olga.post("/seasons/spring/teams", json={"name": "X", "colour": "red"}), 409, "season-full")
    assert full["detail"] == "A season can have at most 4 teams."
    problem(site.olga.post("/sessions/may-1/games", json=game), 409, "season-full")
    assert site.changed() == before
    # Deleting one makes room for another.
    assert site.olga.delete("/seasons/spring/teams/green", headers=ANY).status_code == 204
    assert site.olga.post("/seasons/spring/teams", json={"name": "X", "colour": "red"}).status_code == 201
    assert site.olga.delete(f"/games/{made['game_id']}", headers=ANY).status_code == 204
    assert site.olga.post("/sessions/may-1/games", json=game).status_code == 201
    assert site.clean()


def test_a_session_with_games_stays(site: Club) -> None:
    site.game()
    problem(site.olga.delete("/sessions/may-1", headers=ANY), 409, "in-use")
    assert site.olga.delete("/games/g1", headers=ANY).status_code == 204
    assert site.olga.delete("/sessions/may-1", headers=ANY).status_code == 204
    problem(site.olga.post("/sessions/may-1/games", json={"game_start_ts": START, "team_ids": TEAMS}), 404, "not-found")
    assert site.clean()


def test_sent_twice_with_a_key_is_done_once(site: Club) -> None:
    headers = {"Idempotency-Key": "once"}
    made = [site.olga.post("/leagues", json={"name": "Twice"}, headers=headers) for _ in range(2)]
    assert made[0].json() == made[1].json()
    assert made[1].headers["idempotent-replayed"] == "true"
    assert len(ok(site.olga.get("/leagues"))["items"]) == 2
