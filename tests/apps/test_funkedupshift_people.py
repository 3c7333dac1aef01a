"""funkedupshift's people over HTTP: groups and memberships, with every rule and refusal."""

import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from keyplan.apps.funkedupshift.service.access import ALLOWS
from keyplan.web.identity.issuer import GROUPS_CLAIM, dev_issuer
from tests.apps.fus_site import ANY, FusSite, all_of, fus, reset, somebody
from tests.web.answers import pointers, problem
from tests.web.site import Site


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
        yield served


def make(client: httpx.Client, name: str, *permissions: str) -> dict[str, Any]:
    answer = client.post("/groups", json={"name": name, "permissions": permissions})
    assert answer.status_code == 201, answer.text
    made: dict[str, Any] = answer.json()
    return made


def let_in(client: httpx.Client, group: str, user: str) -> httpx.Response:
    return client.post(f"/groups/{group}/members", json={"user_id": user})


# Groups


def test_groups_are_kept_by_managers(site: Site) -> None:
    manager = somebody(site, "manager")
    made = make(manager, "runners")
    assert (made["name"], made["permissions"], made["version"]) == ("runners", [], 1)
    problem(manager.post("/groups", json={"name": "runners"}), 409, "name-taken")
    changed = manager.patch("/groups/runners", json={"description": "They run."}, headers={"If-Match": '"1"'})
    assert changed.json()["description"] == "They run."
    problem(manager.patch("/groups/runners", json={}, headers={"If-Match": '"1"'}), 412, "stale-version")
    problem(manager.patch("/groups/runners", json={}), 428, "if-match-missing")
    assert manager.get("/groups/runners").json() == changed.json()
    names = [each["name"] for each in all_of(manager, "/groups", limit=2)]
    assert names == sorted(names)
    assert {"Squash", "runners", "walkers"} <= set(names)
    problem(manager.delete("/groups/runners"), 428, "if-match-missing")
    assert manager.delete("/groups/runners", headers=ANY).status_code == 204
    for answer in (
        manager.get("/groups/runners"),
        manager.patch("/groups/runners", json={}, headers=ANY),
        manager.delete("/groups/runners", headers=ANY),
        manager.get("/groups/runners/members"),
        let_in(manager, "runners", "ada"),
        manager.delete("/groups/runners/members/ada"),
    ):
        problem(answer, 404, "not-found")


@pytest.mark.parametrize("name", ["admin", "ADMIN", "Manager", "user", "uSeR", "", "a b", "a#b", "x" * 65, "ä"])
def test_names_that_no_group_can_have(steady: Site, name: str) -> None:
    answer = somebody(steady, "admin").post("/groups", json={"name": name})
    assert pointers(problem(answer, 422, "invalid")) == ["/name"]


@pytest.mark.parametrize("permissions", [["squash:all"], "sites:write", ["SITES:WRITE"], [1], ["sites:write"] * 5])
def test_permissions_that_there_are_not(steady: Site, permissions: object) -> None:
    problem(somebody(steady, "admin").post("/groups", json={"name": "g", "permissions": permissions}), 422, "invalid")
    answer = somebody(steady, "admin").patch("/groups/walkers", json={"permissions": permissions}, headers=ANY)
    problem(answer, 422, "invalid")


def test_a_permission_holds_from_when_it_is_granted_until_it_is_revoked(site: Site) -> None:
    root, ada = somebody(site, "admin"), site.as_("ada")
    assert make(root, "editors", "sites:write", "sites:write")["permissions"] == ["sites:write"]
    body = {"url": "https://x.example.org"}
    problem(ada.post("/sites", json=body), 403, "forbidden")
    assert let_in(root, "editors", "ada").status_code == 201
    assert ada.post("/sites", json=body).status_code == 201
    root.patch("/groups/editors", json={"permissions": []}, headers=ANY)
    problem(ada.post("/sites", json=body), 403, "forbidden")
    root.patch("/groups/editors", json={"permissions": ["sites:write"]}, headers=ANY)
    assert ada.post("/sites", json=body).status_code == 201
    assert root.delete("/groups/editors/members/ada").status_code == 204
    problem(ada.post("/sites", json=body), 403, "forbidden")
    answer = root.patch("/groups/editors", json={"permissions": None}, headers=ANY)
    assert pointers(problem(answer, 422, "required")) == ["/permissions"]


def test_every_permission_has_an_effect(site: Site) -> None:
    url = {"url": "https://x.example.org"}
    tried: dict[str, tuple[str, str, dict[str, str] | None, int]] = {
        "sites:write": ("POST", "/sites", url, 403),
        "groups:write": ("POST", "/groups", {"name": "new"}, 403),
        "squash:read": ("GET", "/squash/players", None, 404),
        "squash:write": ("POST", "/squash/players", {"name": "New"}, 404),
    }
    assert tried.keys() == ALLOWS.keys()
    for permission, (verb, path, body, refused) in tried.items():
        for kind in ("signed in", *(tried.keys() - {permission, "squash:write"})):
            expected = 403 if (kind, permission) == ("squash:read", "squash:write") else refused
            assert somebody(site, kind).request(verb, path, json=body).status_code == expected, (kind, permission)
        answer = somebody(site, permission).request(verb, path, json=body)
        assert answer.status_code == (200 if verb == "GET" else 201), answer.text


def test_a_deleted_group_stops_its_power_at_once(site: Site) -> None:
    root, moe = somebody(site, "admin"), somebody(site, "member")
    for number in range(120):
        let_in(root, "Squash", f"user-{number}")
    assert moe.get("/squash/players").status_code == 200
    # The cascade stops after its first step: the group is marked, and all memberships still exist.
    client = site.running.store.client
    site.running.store.client = _FailsAfter(client, 1)
    with pytest.raises(httpx.HTTPError):
        root.delete("/groups/Squash", headers=ANY, timeout=30).raise_for_status()
    site.running.store.client = client
    problem(moe.get("/squash/players"), 404, "not-found")
    problem(root.get("/groups/Squash"), 404, "not-found")
    problem(let_in(root, "Squash", "eve"), 404, "not-found")
    problem(root.post("/groups", json={"name": "Squash"}), 409, "name-taken")
    assert moe.get("/me/memberships").json()["items"] == root.get("/users/moe/memberships").json()["items"] == []
    assert site.running.store.resume() == 1
    assert moe.get("/me/memberships").json()["items"] == []
    assert root.post("/groups", json={"name": "Squash"}).status_code == 201
    problem(moe.get("/squash/players"), 404, "not-found")
    assert site.running.store.verify() == []


class _FailsAfter:
    """A client that fails after this many transactions."""

    def __init__(self, client: Any, good: int) -> None:
        self._client, self._left = client, good

    def __getattr__(self, name: str) -> Any:
        if name in ("transact_write_items", "batch_write_item"):
            self._left -= 1
            if self._left < 0:
                raise RuntimeError("the process is gone")
        return getattr(self._client, name)


# Who may grant what


def test_a_manager_cannot_reach_squash(site: Site) -> None:
    """Not by any combination of what managers may do."""
    manager, keeper = somebody(site, "manager"), somebody(site, "groups:write")
    for client, sub in ((manager, "max"), (keeper, "gil")):
        problem(client.get("/squash/players"), 404, "not-found")
        refused = [
            let_in(client, "Squash", sub),
            let_in(client, "with-squash-read", sub),
            let_in(client, "with-squash-write", sub),
            client.post("/groups", json={"name": "mine", "permissions": ["squash:read"]}),
            client.patch("/groups/walkers", json={"permissions": ["squash:write"]}, headers=ANY),
            client.patch("/groups/Squash", json={"permissions": []}, headers=ANY),
            client.delete("/groups/Squash", headers=ANY),
            client.delete("/groups/Squash/members/moe"),
            client.delete("/groups/with-squash-read/members/rae"),
            client.delete("/groups/with-squash-read", headers=ANY),
            client.get("/groups/Squash/members"),
        ]
        for answer in refused:
            problem(answer, 403, "forbidden")
        problem(client.get("/squash/players"), 404, "not-found")
    root = somebody(site, "admin")
    assert root.delete("/groups/Squash", headers=ANY).status_code == 204
    problem(manager.post("/groups", json={"name": "Squash"}), 403, "forbidden")
    assert manager.post("/groups", json={"name": "squash"}).status_code == 201, "another name"
    assert let_in(manager, "squash", "max").status_code == 201
    problem(manager.get("/squash/players"), 404, "not-found")
    assert site.running.store.verify() == []


def test_nobody_hands_on_what_they_have_not(site: Site) -> None:
    manager, keeper, member = (somebody(site, kind) for kind in ("manager", "groups:write", "manager in Squash"))
    for client in (manager, keeper, member):
        problem(client.post("/groups", json={"name": "x", "permissions": ["sites:write"]}), 403, "forbidden")
        problem(let_in(client, "with-sites-write", "eve"), 403, "forbidden")
    # They may grant the permissions that they have, except squash.
    make(manager, "keepers", "groups:write")
    assert let_in(keeper, "keepers", "eve").status_code == 201
    assert site.as_("eve").get("/groups").status_code == 200
    problem(let_in(member, "Squash", "eve"), 403, "forbidden")
    problem(member.post("/groups", json={"name": "x", "permissions": ["squash:read"]}), 403, "forbidden")
    let_in(somebody(site, "admin"), "with-sites-write", "gil")
    assert let_in(keeper, "with-sites-write", "eve").status_code == 201


def test_a_manager_can_revoke_what_they_could_not_grant(site: Site) -> None:
    manager, sue = somebody(site, "manager"), somebody(site, "sites:write")
    path = "/groups/with-sites-write"
    assert manager.patch(path, json={"description": "Kept."}, headers=ANY).json()["permissions"] == ["sites:write"]
    both = {"permissions": ["sites:write", "groups:write"]}
    assert manager.patch(path, json=both, headers=ANY).status_code == 200, "what is new they may hand on"
    problem(let_in(manager, "with-sites-write", "max"), 403, "forbidden")
    assert manager.delete(f"{path}/members/sue").status_code == 204
    problem(sue.post("/sites", json={"url": "https://x.example.org"}), 403, "forbidden")
    assert manager.patch(path, json={"permissions": []}, headers=ANY).status_code == 200
    problem(manager.patch(path, json={"permissions": ["sites:write"]}, headers=ANY), 403, "forbidden")
    assert let_in(manager, "with-sites-write", "max").status_code == 201, "it allows nothing any more"
    assert manager.delete(path, headers=ANY).status_code == 204
    assert site.running.store.verify() == []


@pytest.mark.parametrize(
    "groups", [("Squash",), ("admins",), ("Admin",), ("squash:read", "sites:write"), ("with-sites-write",)]
)
def test_groups_of_the_token_are_no_custom_groups(steady: Site, groups: tuple[str, ...]) -> None:
    eve = steady.as_("eve", *groups)
    problem(eve.get("/squash/players"), 404, "not-found")
    problem(eve.post("/sites", json={"url": "https://x.example.org"}), 403, "forbidden")
    problem(eve.get("/groups"), 403, "forbidden")


def with_claim(site: Site, claim: object) -> httpx.Client:
    """A user whose token has their groups in this form."""
    issuer = dev_issuer(site.running.settings)
    lasts = {"iat": int(time.time()), "exp": int(time.time()) + 600}
    said = {"iss": issuer.name, "sub": "eve", "aud": "funkedupshift", "token_use": "access", GROUPS_CLAIM: claim}
    client = site.as_(verify=False)
    client.headers["Authorization"] = f"Bearer {issuer.signing_key.signed({**said, **lasts})}"
    return client


@pytest.mark.parametrize(
    ("claim", "roles"),
    [
        (["a", "admin"], ["SuperAdmin"]),
        ('["a", "admin"]', ["SuperAdmin"]),
        ("[a admin]", ["SuperAdmin"]),
        ("[a, admin]", ["SuperAdmin"]),
        ("[manager,admin]", ["SuperAdmin", "manager"]),
        ([], []),
        ("[]", []),
        # A set, not a text in which a name might occur.
        (["administrators", "not admin", "Admin"], []),
        ('["administrators", "not admin"]', []),
        ("[administrators submanager]", []),
    ],
)
def test_the_groups_claim_in_its_three_forms(steady: Site, claim: object, roles: list[str]) -> None:
    eve = with_claim(steady, claim)
    assert eve.get("/me").json()["roles"] == roles
    assert eve.get("/squash/table").status_code == (200 if "SuperAdmin" in roles else 404)
    assert eve.get("/groups").status_code == (200 if roles else 403)


@pytest.mark.parametrize("claim", [[1], {"admin": True}, '{"admin": true}', True])
def test_what_is_no_groups_claim_gives_nothing(steady: Site, claim: object) -> None:
    answer = with_claim(steady, claim).get("/groups")
    assert answer.status_code in (401, 403), answer.text


# Memberships


def test_memberships(site: Site) -> None:
    root, manager = somebody(site, "admin"), somebody(site, "manager")
    made = let_in(manager, "walkers", "ada").json()
    assert (made["group_name"], made["user_id"], made["added_by"]) == ("walkers", "ada", "max")
    problem(let_in(manager, "walkers", "ada"), 409, "member-already")
    site.as_("ada").patch("/me", json={"display_name": "Ada"}, headers=ANY)
    (shown,) = manager.get("/groups/walkers/members").json()["items"]
    assert shown == {**made, "display_name": "Ada"}
    let_in(root, "Squash", "ada")
    assert [each["group_name"] for each in root.get("/users/ada/memberships").json()["items"]] == ["Squash", "walkers"]
    assert [each["group_name"] for each in manager.get("/users/ada/memberships").json()["items"]] == ["walkers"]
    mine = site.as_("ada").get("/me/memberships").json()["items"]
    assert [set(each) for each in mine] == [{"group_name", "added_at"}] * 2
    assert {each["user_id"] for each in root.get("/groups/Squash/members").json()["items"]} == {"ada", "mia", "moe"}
    assert manager.delete("/groups/walkers/members/ada").status_code == 204
    problem(manager.delete("/groups/walkers/members/ada"), 404, "not-found")
    assert manager.get("/users/nobody/memberships").json()["items"] == []
    assert site.running.store.verify() == []


@pytest.mark.parametrize("sub", ["auth0|1", "https://issuer.example/u/7", "a b", "ü", "x" * 128])
def test_subjects_of_any_form(site: Site, sub: str) -> None:
    manager = somebody(site, "manager")
    assert let_in(manager, "walkers", sub).status_code == 201
    assert site.as_(sub).get("/me/memberships").json()["items"][0]["group_name"] == "walkers"
    at = f"/{quote(sub, safe='')}"
    assert len(manager.get(f"/users{at}/memberships").json()["items"]) == 1
    assert manager.delete(f"/groups/walkers/members{at}").status_code == 204


@pytest.mark.parametrize("sub", ["", "a#b", "x" * 129])
def test_what_is_no_subject(steady: Site, sub: str) -> None:
    assert pointers(problem(let_in(somebody(steady, "manager"), "walkers", sub), 422, "invalid")) == ["/user_id"]


def test_long_lists_of_members(site: Site) -> None:
    manager = somebody(site, "manager")
    for number in range(9):
        let_in(manager, "walkers", f"user-{number}")
    assert len(all_of(manager, "/groups/walkers/members", limit=4)) == 9
    root = somebody(site, "admin")
    for number in range(5):
        make(manager, f"g{number}")
        let_in(root, f"g{number}", "moe")
    assert len(all_of(manager, "/users/moe/memberships", limit=2)) == 5
    assert len(all_of(somebody(site, "member"), "/me/memberships", limit=2)) == 6
