"""funkedupshift's squash section over HTTP: players, matches and the table, with every rule and refusal."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from keyplan.apps.funkedupshift.entities import SquashPlayer
from keyplan.apps.funkedupshift.service import squash
from keyplan.data import create
from tests.apps.fus_site import ANY, FusSite, all_of, fus, match, match_body, reset, somebody
from tests.web.answers import pointers, problem
from tests.web.site import Site

READERS = ("admin", "member", "manager in Squash", "squash:read", "squash:write")
WRITERS = ("admin", "manager in Squash", "squash:write")
OTHERS = ("anyone", "signed in", "manager", "groups:write", "sites:write")


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FusSite]:
    with fus(tmp_path_factory.mktemp("fus")) as started:
        yield started


@pytest.fixture
def site(served: FusSite) -> Site:
    return reset(served)


@pytest.fixture(scope="module")
def steady(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A site that no test changes."""
    with fus(tmp_path_factory.mktemp("steady")) as served:
        match(somebody(served, "admin"))
        yield served


@pytest.fixture
def root(site: Site) -> httpx.Client:
    return somebody(site, "admin")


READS = ["/squash/players", "/squash/players/p1", "/squash/players/nobody", "/squash/matches", "/squash/table"]
WRITES: list[tuple[str, str, dict[str, object] | None]] = [
    ("POST", "/squash/players", {"name": "New"}),
    ("PATCH", "/squash/players/p1", {"name": "P1"}),
    ("DELETE", "/squash/players/p1", None),
    ("POST", "/squash/matches", match_body()),
    ("PATCH", "/squash/matches/none", {"date": "2026-01-01"}),
    ("DELETE", "/squash/matches/none", None),
]


@pytest.mark.parametrize("kind", OTHERS)
def test_to_others_nothing_of_it_is_there(steady: Site, kind: str) -> None:
    client = somebody(steady, kind)
    said = {client.get(path).json()["detail"] for path in READS}
    for path in READS:
        problem(client.get(path), 404, "not-found")
    for verb, path, body in WRITES:
        answer = client.request(verb, path, json=body, headers=ANY)
        said.add(str(problem(answer, 404, "not-found")["detail"]))
    for answer in (
        client.get("/squash/table", params={"date_from": "never"}),
        client.get("/squash/players", params={"limit": 0}),
        client.patch("/squash/players/p1", json={"name": "P1"}),
        client.post("/squash/players", content="no JSON", headers={"Content-Type": "application/json"}),
        client.post("/squash/matches", json={"unknown": 1}),
    ):
        said.add(str(problem(answer, 404, "not-found")["detail"]))
    assert len(said) == 1, "what is not there can't be told from what is"


@pytest.mark.parametrize("kind", ["member", "squash:read"])
def test_readers_may_not_change_anything(steady: Site, kind: str) -> None:
    client = somebody(steady, kind)
    for path in READS:
        assert client.get(path).status_code == (404 if "nobody" in path else 200)
    for verb, path, body in WRITES:
        problem(client.request(verb, path, json=body, headers=ANY), 403, "forbidden")


@pytest.mark.parametrize("kind", WRITERS)
def test_who_may_change(site: Site, kind: str) -> None:
    client = somebody(site, kind)
    made = client.post("/squash/players", json={"name": "New"}).json()
    assert client.patch(f"/squash/players/{made['player_id']}", json={"name": "N"}, headers=ANY).status_code == 200
    assert client.delete(f"/squash/players/{made['player_id']}", headers=ANY).status_code == 204
    path = f"/squash/matches/{match(client)['match_id']}"
    assert client.patch(path, json={"date": "2026-01-01"}, headers=ANY).status_code == 200
    assert client.delete(path, headers=ANY).status_code == 204


def test_a_membership_that_ends_ends_at_once(site: Site, root: httpx.Client) -> None:
    moe, mia = somebody(site, "member"), somebody(site, "manager in Squash")
    root.delete("/groups/Squash/members/moe")
    problem(moe.get("/squash/players"), 404, "not-found")
    root.delete("/groups/Squash/members/mia")
    problem(mia.post("/squash/players", json={"name": "x"}), 404, "not-found")


# Players


def test_players(site: Site, root: httpx.Client) -> None:
    made = root.post("/squash/players", json={"name": "Zoe", "email": "zoe@example.org", "user_id": "zoe-sub"}).json()
    path = f"/squash/players/{made['player_id']}"
    assert (made["name"], made["email"], made["user_id"], made["match_count"]) == (
        "Zoe",
        "zoe@example.org",
        "zoe-sub",
        0,
    )
    seen = somebody(site, "member").get(path).json()
    assert (seen["name"], seen["email"], seen["user_id"]) == ("Zoe", None, None)
    assert "example.org" not in somebody(site, "squash:read").get("/squash/players").text
    assert somebody(site, "squash:write").get(path).json() == made
    changed = root.patch(path, json={"email": None, "user_id": None}, headers={"If-Match": '"1"'}).json()
    assert (changed["name"], changed["email"], changed["user_id"]) == ("Zoe", None, None)
    problem(root.patch(path, json={"name": "x"}, headers={"If-Match": '"1"'}), 412, "stale-version")
    problem(root.patch(path, json={"name": "x"}), 428, "if-match-missing")
    assert pointers(problem(root.patch(path, json={"name": None}, headers=ANY), 422, "required")) == ["/name"]
    assert [each["name"] for each in all_of(root, "/squash/players", limit=2)][-1] == "P5"
    problem(root.delete(path), 428, "if-match-missing")
    assert root.delete(path, headers=ANY).status_code == 204
    problem(root.get(path), 404, "not-found")
    assert site.running.store.verify() == []


@pytest.mark.parametrize(
    "body", [{}, {"name": ""}, {"name": "x" * 101}, {"name": "x", "email": "x"}, {"name": "x", "user_id": "a#b"}]
)
def test_what_is_no_player(steady: Site, body: dict[str, str]) -> None:
    problem(somebody(steady, "admin").post("/squash/players", json=body), 422, "invalid")


def test_a_player_with_a_match_stays(site: Site, root: httpx.Client) -> None:
    made = match(root)
    problem(root.delete("/squash/players/p1", headers=ANY), 409, "has-matches")
    assert root.delete("/squash/players/p5", headers=ANY).status_code == 204
    assert root.get("/squash/players/p1").json()["match_count"] == 1
    assert root.delete(f"/squash/matches/{made['match_id']}", headers=ANY).status_code == 204
    assert root.delete("/squash/players/p1", headers=ANY).status_code == 204
    assert site.running.store.verify() == []


# Matches


def participations(site: Site) -> list[tuple[str, str]]:
    found = site.engine.scan(TableName="fus-main")["Items"]
    return sorted(
        (item["PK"]["S"].removeprefix("SQUASH#PLAYER#"), item["squashDate"]["S"])
        for item in found
        if item["SK"]["S"].startswith("MATCH#")
    )


def test_four_participations_follow_every_change(site: Site, root: httpx.Client) -> None:
    made = match(root)
    assert made | {"created_at": 0, "updated_at": 0} == {
        **match_body(),
        "match_id": made["match_id"],
        "created_at": 0,
        "updated_at": 0,
        "version": 1,
    }
    assert participations(site) == [(player, "2026-03-01") for player in ("p1", "p2", "p3", "p4")]
    path = f"/squash/matches/{made['match_id']}"
    change = {"team_a_player1_id": "p5", "date": "2026-04-02"}
    assert root.patch(path, json=change, headers={"If-Match": '"1"'}).json()["team_a_player1_id"] == "p5"
    assert participations(site) == [(player, "2026-04-02") for player in ("p2", "p3", "p4", "p5")]
    counts = {each["player_id"]: each["match_count"] for each in all_of(root, "/squash/players")}
    assert counts == {"p1": 0, "p2": 1, "p3": 1, "p4": 1, "p5": 1}
    problem(root.patch(path, json={"team_b_games": 0}, headers={"If-Match": '"1"'}), 412, "stale-version")
    problem(root.patch(path, json={"team_b_games": 0}), 428, "if-match-missing")
    assert root.patch(path, json={"team_b_games": 0}, headers=ANY).json()["team_b_games"] == 0
    problem(root.delete(path), 428, "if-match-missing")
    assert root.delete(path, headers=ANY).status_code == 204
    assert participations(site) == []
    for answer in (root.get(path), root.patch(path, json={}, headers=ANY), root.delete(path, headers=ANY)):
        problem(answer, 404, "not-found")
    assert site.running.store.verify() == []


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"team_b_player1_id": "p1"}, "same-player"),
        ({"team_a_player2_id": "p1"}, "same-player"),
        ({"winning_team": "B"}, "wrong-score"),
        ({"team_a_games": 2}, "wrong-score"),
        ({"team_b_games": 3}, "wrong-score"),
        ({"winning_team": "B", "team_b_games": 3}, "wrong-score"),
        ({"team_b_player2_id": "nobody"}, "no-such-player"),
        ({"date": "2026-02-30"}, "invalid"),
        ({"date": "1.3.2026"}, "invalid"),
        ({"winning_team": "C"}, "invalid"),
        ({"team_b_games": -1}, "invalid"),
        ({"team_a_games": 4}, "invalid"),
        ({"team_a_games": "3"}, "invalid"),
        ({"match_id": "mine"}, "invalid"),
    ],
)
def test_what_is_no_match(steady: Site, change: dict[str, Any], code: str) -> None:
    root = somebody(steady, "admin")
    refused = problem(root.post("/squash/matches", json=match_body(**change)), 422, code)
    if code == "no-such-player":
        assert pointers(refused) == ["/team_b_player2_id"]
    (made,) = root.get("/squash/matches").json()["items"]
    changed = root.patch(f"/squash/matches/{made['match_id']}", json=change, headers=ANY)
    problem(changed, 422, code)


def test_every_score_that_there_is(site: Site, root: httpx.Client) -> None:
    for winner, a, b in [("A", 3, 0), ("A", 3, 1), ("A", 3, 2), ("B", 0, 3), ("B", 1, 3), ("B", 2, 3)]:
        match(root, winning_team=winner, team_a_games=a, team_b_games=b)
    answer = root.patch(f"/squash/matches/{match(root)['match_id']}", json={"team_a_games": None}, headers=ANY)
    assert pointers(problem(answer, 422, "required")) == ["/team_a_games"]


def dates(client: httpx.Client, **params: Any) -> list[str]:
    return [each["date"] for each in all_of(client, "/squash/matches", **params)]


def test_matches_of_a_date_without_participations_and_with_full_pages(site: Site, root: httpx.Client) -> None:
    for number in range(12):
        match(root, "2026-03-01" if number % 2 else "2026-03-02")
    # all_of checks that every page except the last is full, although the index has five items for each match.
    found = all_of(root, "/squash/matches", date="2026-03-01", limit=4)
    assert len({each["match_id"] for each in found}) == 6
    assert {each["date"] for each in found} == {"2026-03-01"}
    assert dates(root, date="2026-03-03") == []


def test_matches_of_a_range_and_all_of_them(site: Site, root: httpx.Client) -> None:
    days = ["2026-01-05", "2026-03-01", "2025-12-31", "2026-01-31", "2026-02-01"]
    for day in days:
        match(root, day)
    assert dates(root, date_from="2026-01-05", date_to="2026-02-01", limit=2) == [
        "2026-01-05",
        "2026-01-31",
        "2026-02-01",
    ]
    assert dates(root, date_from="2026-02-01") == ["2026-02-01", "2026-03-01"]
    assert dates(root, date_to="2026-01-05") == ["2025-12-31", "2026-01-05"]
    for path in ("matches", "table"):
        empty = root.get(f"/squash/{path}", params={"date_from": "2026-02-02", "date_to": "2026-02-01"})
        assert pointers(problem(empty, 422, "empty-range")) == ["?date_to"]
    assert dates(root, limit=2) == sorted(days, reverse=True)
    refused = root.get("/squash/matches", params={"date": "2026-01-01", "date_from": "2026-01-01"})
    problem(refused, 422, "date-or-range")
    problem(root.get("/squash/matches?date=yesterday"), 422, "invalid")


def test_matches_of_players(site: Site, root: httpx.Client) -> None:
    match(root, "2026-02-01", players="p1 p2 p3 p4")
    match(root, "2026-01-01", players="p1 p3 p4 p5")
    match(root, "2026-03-01", players="p2 p3 p4 p5")
    assert dates(root, player="p1") == ["2026-02-01", "2026-01-01"]
    assert dates(root, player=["p1", "p2"], limit=2) == ["2026-03-01", "2026-02-01", "2026-01-01"]
    assert dates(root, player=["p1", "p2"], how="all") == ["2026-02-01"]
    assert dates(root, player=["p1", "p1"], how="all", limit=1) == ["2026-02-01", "2026-01-01"]
    assert dates(root, player="p1", date_from="2026-01-15") == ["2026-02-01"]
    assert dates(root, player="p1", date="2026-01-01") == ["2026-01-01"]
    assert dates(root, player="nobody") == []
    cursor = root.get("/squash/matches", params={"player": "p1", "limit": 1}).json()["next"]
    for params in ({"player": "p2"}, {"player": "p1", "how": "all"}, {}):
        refused = root.get("/squash/matches", params={**params, "cursor": cursor})
        assert pointers(problem(refused, 400, "bad-cursor")) == ["?cursor"]
    problem(root.get("/squash/matches", params={"player": "a#b"}), 422, "invalid")
    problem(root.get("/squash/matches", params={"player": ["p1"] * 9}), 422, "invalid")
    problem(root.get("/squash/matches", params={"player": "p1", "how": "some"}), 422, "invalid")


def test_a_player_s_matches_have_an_end(site: Site, root: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(squash, "MAX_MATCHES", 2)
    for name in ("p6", "p7", "p8"):
        site.running.store.run(create(SquashPlayer(id=name, name=name.upper())))
    match(root)
    path = f"/squash/matches/{match(root)['match_id']}"
    problem(root.post("/squash/matches", json=match_body()), 409, "too-many-matches")
    assert root.patch(path, json={"team_b_games": 2}, headers=ANY).status_code == 200, "it is in already"
    other = match(root, players="p5 p6 p7 p8")
    moved = root.patch(f"/squash/matches/{other['match_id']}", json={"team_a_player1_id": "p1"}, headers=ANY)
    assert problem(moved, 409, "too-many-matches")["detail"] == "P1 already has 2 matches, the maximum per player."
    assert root.patch(path, json={"team_a_player1_id": "p6"}, headers=ANY).status_code == 200
    assert site.running.store.verify() == []


# The table


def test_the_table(site: Site, root: httpx.Client) -> None:
    match(root, "2026-01-01", players="p1 p2 p3 p4", team_b_games=2)
    match(root, "2026-01-02", players="p1 p3 p2 p4", winning_team="B", team_a_games=0, team_b_games=3)
    match(root, "2026-02-01", players="p5 p4 p1 p2", team_b_games=0)
    whole = root.get("/squash/table").json()
    assert whole["matches"] == 3
    rows = {row.pop("player_id"): row for row in (dict(each) for each in whole["rows"])}
    assert rows == {
        "p2": {"name": "P2", "matches": 3, "wins": 2, "games_won": 6, "games_lost": 5},
        "p4": {"name": "P4", "matches": 3, "wins": 2, "games_won": 8, "games_lost": 3},
        "p5": {"name": "P5", "matches": 1, "wins": 1, "games_won": 3, "games_lost": 0},
        "p1": {"name": "P1", "matches": 3, "wins": 1, "games_won": 3, "games_lost": 8},
        "p3": {"name": "P3", "matches": 2, "wins": 0, "games_won": 2, "games_lost": 6},
    }
    assert [each["player_id"] for each in whole["rows"]] == ["p4", "p2", "p5", "p1", "p3"]
    january = root.get("/squash/table", params={"date_from": "2026-01-01", "date_to": "2026-01-31"}).json()
    assert (january["matches"], len(january["rows"])) == (2, 4)
    assert root.get("/squash/table", params={"date_from": "2027-01-01"}).json()["rows"] == []
    problem(root.get("/squash/table?date_from=x"), 422, "invalid")


def test_the_table_is_what_the_matches_say(site: Site, root: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(25):
        players = " ".join(f"p{1 + (number + each) % 5}" for each in range(4))
        match(root, f"2026-01-{1 + number:02}", players=players, team_b_games=number % 3)
    wins: Counter[str] = Counter()
    for each in all_of(root, "/squash/matches"):
        wins.update([each["team_a_player1_id"], each["team_a_player2_id"]])
    assert {row["player_id"]: row["wins"] for row in root.get("/squash/table").json()["rows"]} == wins
    monkeypatch.setattr(squash, "MAX_IN_TABLE", 24)
    problem(root.get("/squash/table"), 422, "too-many-matches")
    assert root.get("/squash/table?date_from=2026-01-02").status_code == 200
