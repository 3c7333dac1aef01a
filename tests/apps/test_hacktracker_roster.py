"""hacktracker over HTTP: the roster; every rule and each refusal."""

import hashlib
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from keyplan.apps.hacktracker.entities import Player
from keyplan.data import create
from tests.apps.hack_site import ANY, Team, league, made
from tests.web.answers import pointers, problem
from tests.web.site import Site


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with league(tmp_path) as served:
        yield served


@pytest.fixture
def team(site: Site) -> Team:
    return Team(site)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Team]:
    """A team for requests that are refused, and so change nothing."""
    with league(tmp_path_factory.mktemp("shared")) as served:
        yield Team(served)


def test_a_roster_is_in_order_and_filtered(team: Team) -> None:
    team.add(None, last_name="Abel", positions=["SS", "2B"])
    team.add(0, last_name="Zero", status="sub")
    numbers = [(each["player_number"], each["last_name"]) for each in team.players()]
    assert numbers == [(0, "Zero"), (7, "No 7"), (8, "No 8"), (9, "No 9"), (None, "Abel"), (None, "Player")]
    assert [each["last_name"] for each in team.players(position="2B")] == ["Abel"]
    assert [each["last_name"] for each in team.players(status="sub")] == ["Zero"]
    assert [each["last_name"] for each in team.players(is_ghost=False)] == ["Player"]
    first = made(team.owner.get(f"{team.path}/players", params={"limit": 4}), 200)
    second = made(team.owner.get(f"{team.path}/players", params={"limit": 4, "cursor": first["next"]}), 200)
    assert [each["player_number"] for each in first["items"] + second["items"]] == [each[0] for each in numbers]
    assert second["next"] is None
    other = made(team.owner.post("/teams", json={"name": "Others"}))["team_id"]
    problem(team.owner.get(f"/teams/{other}/players", params={"cursor": first["next"]}), 400, "bad-cursor")


@pytest.mark.parametrize("place", [b"0009#9#No 9", b"\xff\xfe"])
def test_a_cursor_that_somebody_else_made_is_refused(team: Team, place: bytes) -> None:
    """A cursor in the old form, signed with a key that follows from the team's ID, which every member knows."""
    key = hashlib.sha256(f"roster of {team.id}".encode()).digest()
    mark = hashlib.blake2b(place, digest_size=8, key=key).digest()
    forged = urlsafe_b64encode(mark + place).decode().rstrip("=")
    problem(team.owner.get(f"{team.path}/players", params={"cursor": forged}), 400, "bad-cursor")


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ({"first_name": ""}, "/first_name"),
        ({"last_name": "x" * 31}, "/last_name"),
        ({"player_number": 100}, "/player_number"),
        ({"player_number": -1}, "/player_number"),
        ({"positions": ["SS", "2B", "C", "P"]}, "/positions"),
        ({"positions": ["XX"]}, "/positions/0"),
        ({"positions": ["P", "P"]}, "/positions"),
        ({"status": "gone"}, "/status"),
        ({"user_id": "eve"}, "/user_id"),
        ({"is_ghost": False}, "/is_ghost"),
    ],
)
def test_what_a_player_cannot_be(shared: Team, change: dict[str, Any], where: str) -> None:
    team = shared
    body = {"first_name": "A", "last_name": "B", **change}
    assert pointers(problem(team.owner.post(f"{team.path}/players", json=body), 422, "invalid")) == [where]
    answer = team.owner.patch(f"{team.path}/players/{team.mine}", json=change, headers=ANY)
    assert pointers(problem(answer, 422, "invalid")) == [where]


def test_a_number_belongs_to_one_player(team: Team) -> None:
    body = {"first_name": "A", "last_name": "B", "player_number": 7}
    problem(team.owner.post(f"{team.path}/players", json=body), 409, "number-taken")
    eight = f"{team.path}/players/{team.ghosts[1]}"
    problem(team.owner.patch(eight, json={"player_number": 7}, headers=ANY), 409, "number-taken")
    assert made(team.owner.patch(eight, json={"player_number": None}, headers=ANY), 200)["player_number"] is None
    team.add(8)


def test_changing_a_player(team: Team) -> None:
    path = f"{team.path}/players/{team.ghosts[0]}"
    problem(team.owner.patch(path, json={"status": "sub"}), 428, "if-match-missing")
    problem(team.owner.patch(path, json={"status": "sub"}, headers={"If-Match": '"9"'}), 412, "stale-version")
    assert pointers(problem(team.owner.patch(path, json={"positions": None}, headers=ANY), 422, "required"))
    tag = team.owner.get(path).headers["ETag"]
    assert made(team.as_("manager").patch(path, json={"status": "sub"}, headers={"If-Match": tag}), 200)["version"] == 2
    problem(team.owner.get(f"{team.path}/players/nobody"), 404, "not-found")


def test_players_edit_names_and_positions_of_their_own_record(team: Team) -> None:
    team.link(team.ghosts[0], "player")
    path, player = f"{team.path}/players/{team.ghosts[0]}", team.as_("player")
    changed = made(player.patch(path, json={"first_name": "Pat", "positions": ["C"]}, headers=ANY), 200)
    assert (changed["first_name"], changed["positions"], changed["is_me"]) == ("Pat", ["C"], True)
    problem(player.patch(path, json={"player_number": 1}, headers=ANY), 403, "forbidden")
    other = f"{team.path}/players/{team.ghosts[1]}"
    problem(player.patch(other, json={"first_name": "Pat"}, headers=ANY), 403, "forbidden")


def test_linking_and_unlinking_a_ghost(team: Team, site: Site) -> None:
    ghost = f"{team.path}/players/{team.ghosts[0]}"
    first, second = (made(team.owner.post(f"{ghost}/invitations"))["secret"] for _ in range(2))
    eve = site.as_("eve")
    offer = made(eve.get(f"/invitations/{first}"), 200)
    assert (offer["player_id"], offer["player_name"], offer["role"]) == (team.ghosts[0], "Ghost No 7", "player")
    assert made(eve.post("/invitations/accept", json={"secret": first}), 200)["role"] == "player"
    assert made(eve.get(ghost), 200)["is_me"]
    problem(site.as_("mallory").post("/invitations/accept", json={"secret": second}), 409, "is-linked")
    problem(team.owner.post(f"{ghost}/invitations"), 409, "is-linked")
    problem(team.owner.delete(ghost, headers=ANY), 409, "is-linked")
    game = team.game(play=True)
    team.bat(game, team.ghosts[0], result="HR")
    problem(team.owner.post(f"{ghost}/unlink", headers={"If-Match": '"99"'}), 412, "stale-version")
    assert made(team.owner.post(f"{ghost}/unlink"), 200)["is_ghost"]
    problem(team.owner.post(f"{ghost}/unlink"), 409, "is-ghost")
    team.bat(game, team.ghosts[0], result="1B")
    mine = made(eve.get("/me/statistics"), 200)
    assert (mine["total"]["home_runs"], mine["total"]["plate_appearances"]) == (1, 1)
    # Linked and unlinked again: at-bats in between are added, and nothing is counted twice.
    team.link(team.ghosts[0], "eve")
    team.bat(game, team.ghosts[0], result="2B")
    assert made(eve.get("/me/statistics"), 200)["total"]["plate_appearances"] == 2
    team.owner.post(f"{ghost}/unlink")
    assert made(eve.get("/me/statistics"), 200)["total"]["plate_appearances"] == 2
    assert site.running.store.verify() == []


def test_only_ghosts_without_at_bats_are_removed(team: Team, site: Site) -> None:
    ghosts = [f"{team.path}/players/{each}" for each in team.ghosts]
    problem(team.owner.delete(f"{team.path}/players/{team.mine}", headers=ANY), 409, "is-linked")
    problem(team.owner.delete(ghosts[0]), 428, "if-match-missing")
    game = team.game(play=True, lineup=team.ghosts[:2])
    team.bat(game, team.ghosts[0])
    problem(team.owner.delete(ghosts[0], headers=ANY), 409, "has-at-bats")
    problem(team.owner.delete(ghosts[1], headers=ANY), 409, "in-lineup")
    assert team.owner.delete(ghosts[2], headers=ANY).status_code == 204
    problem(team.owner.delete(ghosts[2], headers=ANY), 404, "not-found")
    team.move(game, "FINAL")
    assert team.owner.delete(ghosts[1], headers=ANY).status_code == 204
    assert made(team.owner.patch(ghosts[0], json={"status": "inactive"}, headers=ANY), 200)["status"] == "inactive"
    assert site.running.store.verify() == []


def test_a_roster_has_room_for_sixty(team: Team, site: Site) -> None:
    for number in range(60 - len(team.players())):
        site.running.store.run(create(Player(team_id=team.id, first_name="G", last_name=str(number))))
    problem(team.owner.post(f"{team.path}/players", json={"first_name": "A", "last_name": "B"}), 409, "roster-full")
    assert len(team.players()) == 60
