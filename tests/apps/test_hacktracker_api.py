"""hacktracker over HTTP: accounts, teams and members; every rule and each refusal."""

import hashlib
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from keyplan.apps.hacktracker.entities import Invitation
from keyplan.data import create
from keyplan.web.identity.issuer import dev_issuer
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


# Accounts


def test_the_first_call_makes_an_account_of_what_the_token_says(site: Site) -> None:
    claims = {"email": "jo@example.org", "given_name": "Jo", "family_name": "Doe", "phone_number": "x" * 99}
    token = dev_issuer(site.running.settings).token("hacktracker", "auth0|jo", claims=claims)
    client = site.as_()
    client.headers["Authorization"] = f"Bearer {token}"
    me = made(client.get("/me"), 200)
    assert (me["user_id"], me["email"], me["first_name"], me["last_name"]) == (
        "auth0|jo",
        "jo@example.org",
        "Jo",
        "Doe",
    )
    assert me["phone_number"] is None, "what is odd is left out"
    assert made(client.get("/me"), 200) == me
    assert site.running.store.run(site.running.design.user_by_cognito_sub("auth0|jo")).items[0].user_id == "auth0|jo"


def test_invalid_values_in_a_token_are_not_copied_to_the_account(site: Site) -> None:
    claims = {"email": "nobody", "given_name": " Jo ", "family_name": "x" * 31, "phone_number": 5}
    token = dev_issuer(site.running.settings).token("hacktracker", "jo", claims=claims)
    client = site.as_()
    client.headers["Authorization"] = f"Bearer {token}"
    me = made(client.get("/me"), 200)
    found = (me["email"], me["first_name"], me["last_name"], me["phone_number"])
    assert found == (None, "Jo", None, None)
    assert site.running.store.verify() == []


@pytest.mark.parametrize("path", ["/me", "/teams", "/me/statistics", "/teams/none", "/games/none", "/users"])
def test_whatever_somebody_asks_for_first_makes_the_account(shared: Team, path: str) -> None:
    name = f"first{path.replace('/', '-')}"
    shared.as_(name).get(path)
    (found,) = [each for each in _users(shared.site) if each["user_id"] == name]
    assert (found["owned_team_count"], found["version"]) == (0, 1)


def _users(site: Site) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = made(site.as_("root", "admin").get("/users", params={"limit": 100}), 200)["items"]
    return items


def test_one_changes_ones_own_account(site: Site) -> None:
    ada = site.as_("ada")
    change = {"email": "ada@example.org", "first_name": "Ada", "phone_number": "+15555551234"}
    problem(ada.patch("/me", json=change), 428, "if-match-missing")
    changed = ada.patch("/me", json=change, headers={"If-Match": ada.get("/me").headers["ETag"]})
    assert made(changed, 200).items() >= change.items()
    problem(ada.patch("/me", json=change, headers={"If-Match": '"1"'}), 412, "stale-version")
    assert made(ada.patch("/me", json={"email": None}, headers=ANY), 200)["email"] is None


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ({"email": "ada"}, "/email"),
        ({"first_name": ""}, "/first_name"),
        ({"last_name": "x" * 31}, "/last_name"),
        ({"phone_number": "call me"}, "/phone_number"),
        ({"user_id": "eve"}, "/user_id"),
    ],
)
def test_what_an_account_cannot_be(shared: Team, change: dict[str, str], where: str) -> None:
    answer = shared.owner.patch("/me", json=change, headers=ANY)
    assert pointers(problem(answer, 422, "invalid")) == [where]


def test_an_account_is_deleted_and_its_statistics_stay(team: Team, site: Site) -> None:
    team.link(team.ghosts[0], "player")
    game = team.game(play=True)
    team.bat(game, team.ghosts[0])
    before = made(team.owner.get(f"{team.path}/statistics"), 200)
    player = team.as_("player")
    player.patch("/me", json={"first_name": "Pat", "email": "p@example.org"}, headers=ANY)
    record = f"{team.path}/players/{team.ghosts[0]}"
    made(player.patch(record, json={"first_name": "Patrizia", "last_name": "Pampelmuse"}, headers=ANY), 200)
    assert player.delete("/me", headers=ANY).status_code == 204
    for answer in (player.get("/me"), player.get("/teams"), player.post("/teams", json={"name": "Again"})):
        problem(answer, 401, "bad-token")
    after = made(team.owner.get(f"{team.path}/statistics"), 200)
    assert [line.pop("name") for line in after["players"]] == ["Former Player"]
    assert [line.pop("name") for line in before["players"]] == ["Ghost No 7"]
    assert after == before
    assert made(team.owner.get(record), 200)["is_ghost"]
    everything = str(site.engine.scan(TableName="hacktracker-dev")["Items"])
    for said in ("Pat", "Pampelmuse", "p@example.org"):
        assert said not in everything
    assert "player" not in [each["user_id"] for each in made(team.owner.get(f"{team.path}/members"), 200)["items"]]
    stored = site.running.store.run(site.running.design.user("player"))
    assert (stored.email, stored.first_name, stored.cognito_sub) == (None, None, None)
    assert site.running.store.verify() == []


def test_owned_teams_go_before_the_account(team: Team) -> None:
    problem(team.owner.delete("/me", headers=ANY), 409, "owns-teams")
    assert team.owner.delete(team.path, headers=ANY).status_code == 204
    assert team.owner.delete("/me", headers=ANY).status_code == 204


# Teams


def test_a_team_begins_with_its_owner(site: Site) -> None:
    ada = site.as_("ada")
    ada.patch("/me", json={"first_name": "Ada", "last_name": "L"}, headers=ANY)
    team = made(ada.post("/teams", json={"name": "Engines", "description": "We count."}))
    assert (team["role"], team["team_type"], team["player_count"]) == ("owner", "MANAGED", 1)
    assert "owner_id" not in team
    (player,) = made(ada.get(f"/teams/{team['team_id']}/players"), 200)["items"]
    assert (player["first_name"], player["is_me"], player["is_ghost"]) == ("Ada", True, False)
    (member,) = made(ada.get(f"/teams/{team['team_id']}/members"), 200)["items"]
    assert (member["user_id"], member["name"], member["role"]) == ("ada", "Ada L", "owner")
    assert made(ada.get("/me"), 200)["owned_team_count"] == 1
    assert [each["name"] for each in made(ada.get("/teams"), 200)["items"]] == ["Engines"]


def test_a_team_is_made_once_by_a_repeated_request(site: Site) -> None:
    ada = site.as_("ada")
    answers = [ada.post("/teams", json={"name": "Once"}, headers={"Idempotency-Key": "k"}) for _ in range(3)]
    assert len({answer.json()["team_id"] for answer in answers}) == 1
    assert len(made(ada.get("/teams"), 200)["items"]) == 1


@pytest.mark.parametrize(
    ("body", "where"),
    [
        ({"name": "ab"}, "/name"),
        ({"name": "x" * 51}, "/name"),
        ({}, "/name"),
        ({"name": "Reds", "team_type": "OTHER"}, "/team_type"),
        ({"name": "Reds", "owner_id": "eve"}, "/owner_id"),
    ],
)
def test_what_a_team_cannot_be(shared: Team, body: dict[str, str], where: str) -> None:
    assert pointers(problem(shared.owner.post("/teams", json=body), 422, "invalid")) == [where]


def test_changing_a_team(team: Team) -> None:
    tag = team.owner.get(team.path).headers["ETag"]
    changed = team.as_("manager").patch(team.path, json={"name": "Renamed"}, headers={"If-Match": tag})
    assert made(changed, 200)["name"] == "Renamed"
    problem(team.owner.patch(team.path, json={"name": "Late"}, headers={"If-Match": tag}), 412, "stale-version")
    problem(team.owner.patch(team.path, json={"name": "None"}), 428, "if-match-missing")
    assert pointers(problem(team.owner.patch(team.path, json={"name": None}, headers=ANY), 422, "required")) == [
        "/name"
    ]
    assert made(team.owner.patch(team.path, json={"description": "x"}, headers=ANY), 200)["name"] == "Renamed"


def test_a_deleted_team_is_hidden_and_restored(team: Team, site: Site) -> None:
    game = team.game(play=True)
    team.bat(game)
    problem(team.owner.post(f"{team.path}/restore"), 409, "not-deleted")
    problem(team.owner.delete(team.path), 428, "if-match-missing")
    problem(team.as_("manager").delete(team.path, headers=ANY), 403, "forbidden")
    assert team.owner.delete(team.path, headers=ANY).status_code == 204
    for path in (team.path, f"{team.path}/players", f"/games/{game}", f"/games/{game}/at-bats"):
        problem(team.owner.get(path), 404, "not-found")
    for path, body in ((f"{team.path}/players", {"first_name": "A", "last_name": "B"}), (f"{team.path}/games", {})):
        problem(team.owner.post(path, json=body), 404, "not-found")
    root = site.as_("root", "admin")
    for who, path in ((team.owner, "/teams"), (root, "/all-teams"), (root, "/all-games")):
        assert made(who.get(path), 200)["items"] == []
    (deleted,) = made(team.owner.get("/teams/deleted"), 200)["items"]
    kept = datetime.fromisoformat(deleted["expires_at"]) - datetime.fromisoformat(deleted["deleted_at"])
    assert abs(kept - timedelta(days=30)) < timedelta(seconds=2)
    assert made(team.as_("manager").get("/teams/deleted"), 200)["items"] == []
    problem(team.as_("manager").post(f"{team.path}/restore"), 404, "not-found")
    assert team.as_("manager").post(f"{team.path}/restore").json()["detail"] == "Team not found."
    assert made(team.owner.post(f"{team.path}/restore"), 200)["active_game_id"] == game
    assert made(team.owner.get("/me"), 200)["owned_team_count"] == 1
    assert len(made(team.owner.get(f"/games/{game}/at-bats"), 200)["items"]) == 1
    assert made(team.owner.get("/teams/deleted"), 200)["items"] == []
    assert site.running.store.verify() == []


def test_a_team_changes_hands(team: Team, site: Site) -> None:
    for who, code in (("nobody", "not-a-member"), ("owner", "not-a-member")):
        answer = team.owner.post(f"{team.path}/transfer", json={"user_id": who})
        assert pointers(problem(answer, 422, code)) == ["/user_id"]
    stale = team.owner.post(f"{team.path}/transfer", json={"user_id": "player"}, headers={"If-Match": '"99"'})
    problem(stale, 412, "stale-version")
    assert made(team.owner.post(f"{team.path}/transfer", json={"user_id": "player"}), 200)["role"] == "manager"
    assert made(team.as_("player").get(team.path), 200)["role"] == "owner"
    assert made(team.owner.get("/me"), 200)["owned_team_count"] == 0
    assert made(team.as_("player").get("/me"), 200)["owned_team_count"] == 1
    problem(team.owner.delete(team.path, headers=ANY), 403, "forbidden")
    assert site.running.store.verify() == []


def test_a_personal_team_has_one_player(site: Site) -> None:
    ada = site.as_("ada")
    team = made(ada.post("/teams", json={"name": "Just me", "team_type": "PERSONAL"}))
    path = f"/teams/{team['team_id']}"
    (player,) = made(ada.get(f"{path}/players"), 200)["items"]
    for answer in (
        ada.post(f"{path}/players", json={"first_name": "A", "last_name": "B"}),
        ada.post(f"{path}/invitations", json={"role": "player"}),
        ada.post(f"{path}/players/{player['player_id']}/invitations"),
        ada.post(f"{path}/players/{player['player_id']}/unlink"),
    ):
        problem(answer, 422, "personal-team")
    game = made(ada.post(f"{path}/games", json={}))["game_id"]
    problem(ada.put(f"/games/{game}/lineup", json={"lineup": [player["player_id"]]}), 422, "personal-team")
    made(ada.post(f"/games/{game}/status", json={"status": "IN_PROGRESS"}), 200)
    batted = made(ada.post(f"/games/{game}/at-bats", json={"result": "HR", "inning": 1, "outs": 0, "runs": 1}))
    assert batted["player_id"] == player["player_id"]
    other = {"result": "HR", "inning": 1, "outs": 0, "player_id": "nobody"}
    problem(ada.post(f"/games/{game}/at-bats", json=other), 422, "not-in-lineup")
    assert made(ada.get("/me/statistics"), 200)["total"]["home_runs"] == 1


# Members


def test_an_invitation_is_used_once(team: Team, site: Site) -> None:
    invitation = made(team.owner.post(f"{team.path}/invitations", json={"role": "scorekeeper"}))
    assert invitation["link"] == f"/hacktracker/join/{invitation['secret']}"
    eve, mallory = site.as_("eve"), site.as_("mallory")
    offer = made(eve.get(f"/invitations/{invitation['secret']}"), 200)
    assert (offer["team_name"], offer["role"], offer["player_id"]) == ("Sluggers", "scorekeeper", None)
    problem(
        team.as_("player").post("/invitations/accept", json={"secret": invitation["secret"]}), 409, "already-member"
    )
    assert made(eve.post("/invitations/accept", json={"secret": invitation["secret"]}), 200)["role"] == "scorekeeper"
    problem(mallory.post("/invitations/accept", json={"secret": invitation["secret"]}), 404, "no-such-invitation")
    problem(mallory.get(f"/invitations/{invitation['secret']}"), 404, "no-such-invitation")
    stored: Any = site.engine.scan(TableName="hacktracker-dev")["Items"]
    assert invitation["secret"] not in str(stored), "only a hash of it is stored"


def test_an_invitation_that_is_too_old_is_none(team: Team, site: Site) -> None:
    secret = "s" * 43
    old = Invitation(
        secret_hash=hashlib.sha256(secret.encode()).hexdigest(),
        team_id=team.id,
        role="player",
        invited_by="owner",
        expires_at=datetime.now().astimezone() - timedelta(seconds=5),
    )
    site.running.store.run(create(old))
    problem(site.as_("eve").post("/invitations/accept", json={"secret": secret}), 404, "no-such-invitation")


def test_an_invitation_to_a_deleted_team_is_none(team: Team, site: Site) -> None:
    secret = made(team.owner.post(f"{team.path}/invitations", json={"role": "player"}))["secret"]
    team.owner.delete(team.path, headers=ANY)
    problem(site.as_("eve").get(f"/invitations/{secret}"), 404, "no-such-invitation")
    problem(site.as_("eve").post("/invitations/accept", json={"secret": secret}), 404, "no-such-invitation")


def test_an_invitation_lapses_when_its_maker_loses_the_right(team: Team, site: Site) -> None:
    """An invitation is valid as long as the person who made it still has the right to make it."""
    eve, member = site.as_("eve"), f"{team.path}/members/manager"
    ends: dict[str, Callable[[], httpx.Response]] = {
        "removed": lambda: team.owner.delete(member, headers=ANY),
        "of a lesser role": lambda: team.owner.put(f"{member}/role", json={"role": "scorekeeper"}),
        "left": lambda: team.as_("manager").post(f"{team.path}/leave"),
        "gone": lambda: team.as_("manager").delete("/me", headers=ANY),
    }
    for number, (how, end) in enumerate(ends.items()):
        paths = (f"{team.path}/invitations", f"{team.path}/players/{team.ghosts[0]}/invitations")
        secrets = [made(team.as_("manager").post(path, json={"role": "player"}))["secret"] for path in paths]
        assert end().is_success, how
        for secret in secrets:
            problem(eve.get(f"/invitations/{secret}"), 409, "invitation-lapsed")
            problem(eve.post("/invitations/accept", json={"secret": secret}), 409, "invitation-lapsed")
        problem(eve.get(team.path), 404, "not-found")
        if how == "of a lesser role":
            assert team.owner.delete(member, headers=ANY).is_success
        if number < len(ends) - 1:
            team.join("manager", "manager")
            assert eve.get(f"/invitations/{secrets[0]}").is_success, "who may again, may"
    assert team.players(is_ghost=True)[0]["player_id"] == team.ghosts[0]
    assert site.running.store.verify() == []


def test_an_invitation_is_invalid_as_soon_as_its_maker_deleted_their_account(
    team: Team, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Memberships are removed one by one after the account. Until then, they give no permissions."""
    monkeypatch.setattr("keyplan.apps.hacktracker.service.accounts.leave_everything", lambda running, user_id: None)
    paths = (f"{team.path}/invitations", f"{team.path}/players/{team.ghosts[0]}/invitations")
    secrets = [made(team.as_("manager").post(path, json={"role": "player"}))["secret"] for path in paths]
    assert team.as_("manager").delete("/me", headers=ANY).is_success
    assert made(team.owner.get(f"{team.path}/members/manager"), 200)["status"] == "active"
    eve = site.as_("eve")
    for secret in secrets:
        problem(eve.get(f"/invitations/{secret}"), 409, "invitation-lapsed")
        problem(eve.post("/invitations/accept", json={"secret": secret}), 409, "invitation-lapsed")
    problem(eve.get(team.path), 404, "not-found")


def test_an_invitation_of_a_manager_is_the_owner_s(team: Team, site: Site) -> None:
    """The previous owner is a manager now, and managers can't appoint managers."""
    secrets = {
        role: made(team.owner.post(f"{team.path}/invitations", json={"role": role}))["secret"]
        for role in ("manager", "scorekeeper")
    }
    made(team.owner.post(f"{team.path}/transfer", json={"user_id": "player"}), 200)
    eve = site.as_("eve")
    problem(eve.get(f"/invitations/{secrets['manager']}"), 409, "invitation-lapsed")
    problem(eve.post("/invitations/accept", json={"secret": secrets["manager"]}), 409, "invitation-lapsed")
    assert made(eve.post("/invitations/accept", json={"secret": secrets["scorekeeper"]}), 200)["role"] == "scorekeeper"


def test_nobody_invites_themselves_back(team: Team, site: Site) -> None:
    manager, member = team.as_("manager"), f"{team.path}/members/manager"
    paths = (f"{team.path}/invitations", f"{team.path}/players/{team.ghosts[0]}/invitations")
    secrets = [made(manager.post(path, json={"role": "player"}))["secret"] for path in paths]
    ends: tuple[Callable[[], httpx.Response], ...] = (
        lambda: team.owner.put(f"{member}/role", json={"role": "player"}),
        lambda: manager.post(f"{team.path}/leave"),
        lambda: team.owner.delete(member, headers=ANY),
    )
    for end in ends:
        assert end().is_success
        problem(manager.post("/invitations/accept", json={"secret": secrets[1]}), 409, "invitation-lapsed")
    problem(manager.post("/invitations/accept", json={"secret": secrets[0]}), 409, "invitation-lapsed")
    problem(manager.get(team.path), 404, "not-found")
    team.join("manager", "manager")
    assert made(manager.post("/invitations/accept", json={"secret": secrets[1]}), 200)["role"] == "manager"
    assert site.running.store.verify() == []


def test_managers_give_lesser_roles_only(team: Team) -> None:
    manager = team.as_("manager")
    problem(manager.post(f"{team.path}/invitations", json={"role": "manager"}), 403, "forbidden")
    assert manager.post(f"{team.path}/invitations", json={"role": "player"}).status_code == 201
    problem(team.owner.post(f"{team.path}/invitations", json={"role": "owner"}), 422, "invalid")
    role = f"{team.path}/members/player/role"
    problem(manager.put(role, json={"role": "manager"}), 403, "forbidden")
    assert made(manager.put(role, json={"role": "scorekeeper"}), 200)["role"] == "scorekeeper"
    assert made(team.owner.put(role, json={"role": "manager"}), 200)["role"] == "manager"
    problem(manager.put(role, json={"role": "player"}), 403, "forbidden")
    problem(manager.delete(f"{team.path}/members/player", headers=ANY), 403, "forbidden")
    problem(team.owner.put(f"{team.path}/members/owner/role", json={"role": "player"}), 409, "owner-stays")
    problem(team.owner.put(role, json={"role": "player"}, headers={"If-Match": '"99"'}), 412, "stale-version")
    problem(team.owner.put(f"{team.path}/members/nobody/role", json={"role": "player"}), 404, "not-found")


def test_leaving_and_being_removed(team: Team, site: Site) -> None:
    problem(team.owner.post(f"{team.path}/leave"), 409, "owner-stays")
    player = team.as_("player")
    assert player.post(f"{team.path}/leave").status_code == 204
    problem(player.get(team.path), 404, "not-found")
    assert made(team.owner.get(f"{team.path}/members/player"), 200)["status"] == "left"
    problem(team.owner.put(f"{team.path}/members/player/role", json={"role": "player"}), 409, "has-left")
    team.join("player", "scorekeeper")
    assert made(player.get(team.path), 200)["role"] == "scorekeeper"
    member = f"{team.path}/members/scorekeeper"
    problem(team.owner.delete(member), 428, "if-match-missing")
    problem(team.owner.delete(member, headers={"If-Match": '"99"'}), 412, "stale-version")
    problem(team.owner.delete(f"{team.path}/members/owner", headers=ANY), 409, "owner-stays")
    tag = team.owner.get(member).headers["ETag"]
    assert team.as_("manager").delete(member, headers={"If-Match": tag}).status_code == 204
    problem(team.as_("scorekeeper").get(team.path), 404, "not-found")
    problem(team.owner.get(member), 404, "not-found")
    assert site.running.store.verify() == []


@pytest.mark.parametrize("user_id", ["auth0|5f7c8ec7c33c6c004bbafe82", "https://id.example.org/u/7", " a b", "x" * 128])
def test_a_subject_is_kept_as_it_is(team: Team, site: Site, user_id: str) -> None:
    member = f"{team.path}/members/{quote(user_id, safe='')}"
    team.join(user_id, "player")
    assert made(team.owner.get(member), 200)["user_id"] == user_id
    assert made(team.owner.put(f"{member}/role", json={"role": "manager"}), 200)["role"] == "manager"
    made(team.owner.post(f"{team.path}/transfer", json={"user_id": user_id}), 200)
    somebody = team.as_(user_id)
    assert made(somebody.get(team.path), 200)["role"] == "owner"
    made(somebody.post(f"{team.path}/transfer", json={"user_id": "owner"}), 200)
    assert team.owner.delete(member, headers=ANY).status_code == 204
    problem(somebody.get(team.path), 404, "not-found")
    assert site.running.store.verify() == []


# Lists


def test_lists_go_on_where_they_stopped_and_are_filled_up(team: Team, site: Site) -> None:
    names = [f"Team {number:02}" for number in range(12)]
    ids = [made(team.owner.post("/teams", json={"name": name}))["team_id"] for name in names]
    for team_id in ids[2:8]:
        team.owner.delete(f"/teams/{team_id}", headers=ANY)
    found: list[str] = []
    cursor = None
    while True:
        page = made(team.owner.get("/teams", params={"limit": 3, **({"cursor": cursor} if cursor else {})}), 200)
        found += [each["name"] for each in page["items"]]
        cursor = page["next"]
        assert len(page["items"]) == 3 or cursor is None
        if cursor is None:
            break
    assert found == ["Sluggers", *names[:2], *names[8:]]
    assert len(made(team.owner.get("/teams/deleted"), 200)["items"]) == 6
    root = site.as_("root", "admin")
    assert [each["name"] for each in made(root.get("/all-teams"), 200)["items"]] == found
    assert {each["user_id"] for each in made(root.get("/users"), 200)["items"]} >= {"owner", "root"}
    problem(team.owner.get("/teams", params={"cursor": "no"}), 400, "bad-cursor")
