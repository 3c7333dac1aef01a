"""Who may do what in hacktracker: every operation for every role, and nothing in other teams."""

from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import httpx
import pytest

from keyplan.apps.hacktracker.api import SYSTEM
from keyplan.apps.hacktracker.service.access import A_MANAGER, A_MEMBER, A_SCORER, THE_OWNER
from tests.apps.hack_site import ANY, OUTSIDERS, PLAY, ROLES, Team, league, made
from tests.web.answers import problem
from tests.web.site import Site

WHO_MAY = {f"{verb} {path}": roles for verb, path, roles in SYSTEM.api.who_may_do_what()}
PEOPLE = ("", *OUTSIDERS, *ROLES)

BY_RULE = {
    A_MEMBER: set(ROLES),
    A_SCORER: {"owner", "manager", "scorekeeper"},
    A_MANAGER: {"owner", "manager"},
    THE_OWNER: {"owner"},
}
"""What the words of the table stand for. They begin with these; what follows is tried in tests of its own."""

BODIES: dict[str, dict[str, Any]] = {
    "PATCH /me": {"first_name": "Kim"},
    "POST /teams": {"name": "New team"},
    "PATCH /teams/{team_id}": {"name": "Renamed"},
    "POST /teams/{team_id}/transfer": {"user_id": "nobody"},
    "PUT /teams/{team_id}/members/{user_id:path}/role": {"role": "player"},
    "POST /teams/{team_id}/invitations": {"role": "player"},
    "POST /invitations/accept": {"secret": "x" * 43},
    "POST /teams/{team_id}/players": {"first_name": "A", "last_name": "B"},
    "PATCH /teams/{team_id}/players/{player_id}": {"first_name": "C"},
    "POST /teams/{team_id}/games": {},
    "PATCH /games/{game_id}": {"opponent_name": "Reds"},
    "PUT /games/{game_id}/lineup": {"lineup": []},
    "POST /games/{game_id}/status": {"status": "POSTPONED"},
    "POST /games/{game_id}/at-bats": {"player_id": "nobody", **PLAY},
    "PATCH /games/{game_id}/at-bats/{at_bat_id}": {"rbi": 1},
}
"""Something that could be sent; whether it makes sense is not asked before whether one may."""
LAST = {"DELETE /me", "DELETE /teams/{team_id}"}
"""What would change who somebody is; it is tried with a version that is not there."""


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Team]:
    with league(tmp_path_factory.mktemp("roles")) as served:
        yield Team(served).with_outsiders()


def allowed(rule: str, who: str) -> bool:
    """Whether the table allows it for this user."""
    if rule in ("yes", "no"):
        return rule == "yes"
    words = rule.removeprefix("if ")
    if words == "you have the invitation":
        return False  # nobody has it here
    for start in sorted(BY_RULE, key=len, reverse=True):
        if words.startswith(start):
            return who in BY_RULE[start]
    raise AssertionError(f"the test does not know what {words!r} means")


def sent(team: Team, operation: str, who: str) -> httpx.Response:
    verb, path = operation.replace(":path", "").split(" ")
    known = {"team_id": team.id, "user_id": "nobody", "secret": "x" * 43, "at_bat_id": "none"}
    if "{player_id}" in path:
        known["player_id"] = team.add(None) if verb == "DELETE" else team.ghosts[0]
    if "{game_id}" in path:
        known["game_id"] = team.game()
    headers = {"If-Match": '"99"' if operation in LAST else "*"}
    answer = team.as_(who).request(verb, path.format(**known), json=BODIES.get(operation), headers=headers)
    if path.endswith("/leave") and answer.is_success:
        team.join(who, who)
    return answer


@pytest.mark.parametrize("operation", sorted(WHO_MAY))
def test_every_operation_as_everybody(team: Team, operation: str) -> None:
    for who in PEOPLE:
        role = "anyone" if not who else "admin" if who == "root" else "signed in"
        rule = WHO_MAY[operation][role]
        answer = sent(team, operation, who)
        if not who:
            problem(answer, 401, "no-token")
        elif allowed(rule, who):
            # It may fail, but not for lack of permission.
            assert answer.status_code not in (401, 403), f"{who}: {answer.text}"
        elif rule == "no":
            problem(answer, 403, "forbidden")
        elif "{secret}" in operation or "accept" in operation:
            problem(answer, 404, "no-such-invitation")
        else:
            # For users who aren't members, the team doesn't exist.
            status = 404 if who in OUTSIDERS else 403
            assert answer.status_code == status, f"{who}: {answer.status_code} {answer.text}"
    assert WHO_MAY[operation]["anyone"] == "no"


@pytest.mark.parametrize("operation", sorted(each for each in WHO_MAY if each.startswith(("PATCH", "DELETE"))))
def test_nothing_is_changed_without_saying_which_version(team: Team, operation: str) -> None:
    verb, path = operation.replace(":path", "").split(" ")
    known = {"team_id": team.id, "player_id": team.mine, "user_id": "player", "game_id": "g", "at_bat_id": "a"}
    answer = team.owner.request(verb, path.format(**known), json=BODIES.get(operation))
    problem(answer, 428, "if-match-missing")


def test_every_body_belongs_to_an_operation() -> None:
    assert set(BODIES) | LAST <= set(WHO_MAY)


# Two users, two teams


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with league(tmp_path) as served:
        yield served


def test_nothing_of_another_team_is_read_or_changed(site: Site) -> None:
    """Operations by a stranger with IDs of a team, mixed with IDs of their own, find nothing."""
    team = Team(site)
    game = team.game(play=True)
    at_bat = team.bat(game)["at_bat_id"]
    stranger = site.as_("stranger")
    own = made(stranger.post("/teams", json={"name": "Others"}))["team_id"]
    own_player = made(stranger.get(f"/teams/{own}/players"), 200)["items"][0]["player_id"]
    before = _everything(team, game)
    theirs = {"team_id": team.id, "player_id": team.ghosts[0], "user_id": "owner", "game_id": game}
    theirs |= {"at_bat_id": at_bat, "secret": "x" * 43}
    for operation in WHO_MAY:
        verb, path = operation.replace(":path", "").split(" ")
        if "{" not in path:
            continue
        for mixed in ({}, {"team_id": own}, {"player_id": own_player}):
            if mixed and ("{player_id}" not in path and "{user_id}" not in path):
                continue
            answer = stranger.request(verb, path.format(**{**theirs, **mixed}), json=BODIES.get(operation), headers=ANY)
            assert answer.status_code == 404, f"{operation} {mixed}: {answer.status_code} {answer.text}"
    assert _everything(team, game) == before
    assert site.running.store.verify() == []


def _everything(team: Team, game: str) -> list[object]:
    paths = ["", "/players", "/members", "/games", "/statistics", "/seasons"]
    found: list[object] = [team.owner.get(f"{team.path}{path}").json() for path in paths]
    return [*found, team.owner.get(f"/games/{game}").json(), team.owner.get(f"/games/{game}/at-bats").json()]


def test_at_bats_of_one_game_are_not_found_in_another(site: Site) -> None:
    team = Team(site)
    game = team.game(play=True)
    at_bat = team.bat(game)["at_bat_id"]
    other = team.game()
    problem(team.owner.get(f"/games/{other}/at-bats/{at_bat}"), 404, "not-found")
    problem(team.owner.delete(f"/games/{other}/at-bats/{at_bat}", headers=ANY), 404, "not-found")


def test_personal_data_is_seen_by_those_who_manage_it(site: Site) -> None:
    team = Team(site)
    site.as_("player").patch("/me", json={"email": "p@example.org", "first_name": "Pat"}, headers=ANY)
    for who, path in product(("player", "scorekeeper"), ("/members", "/players", "", "/statistics")):
        shown = team.as_(who).get(f"{team.path}{path}").text
        assert "p@example.org" not in shown
        assert '"owner"' not in shown.replace('"role":"owner"', "")
    mine = [each["user_id"] for each in made(team.as_("player").get(f"{team.path}/members"), 200)["items"]]
    assert sorted(each for each in mine if each) == ["player"]
    managed = [each["user_id"] for each in made(team.as_("manager").get(f"{team.path}/members"), 200)["items"]]
    assert sorted(managed) == sorted(ROLES)
    problem(team.as_("player").get(f"{team.path}/members/owner"), 403, "forbidden")
    assert made(team.as_("player").get(f"{team.path}/members/player"), 200)["name"] == "Pat"
