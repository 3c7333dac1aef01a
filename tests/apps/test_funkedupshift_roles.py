"""Who may do what in funkedupshift: every route for every role, other people's data, and the OpenAPI document."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from keyplan.apps.funkedupshift.api import SYSTEM
from keyplan.apps.funkedupshift.service.access import ROLES
from tests.apps.fus_site import ANY, PEOPLE, fus, match, match_body, png, send_avatar, somebody
from tests.web.answers import problem
from tests.web.contract import check_against_document
from tests.web.site import Site

ROUTES = {f"{verb} {path}": may for verb, path, may in SYSTEM.api.who_may_do_what()}

BODIES: dict[str, dict[str, object]] = {
    "POST /sites": {"url": "https://new.example.org"},
    "PATCH /sites/{site_id}": {"title": "New"},
    "PUT /sites/{site_id}/rating": {"stars": 4},
    "POST /sites/{site_id}/comments": {"body": "x"},
    "PATCH /sites/{site_id}/comments/{comment_id}": {"body": "y"},
    "POST /groups": {"name": "new"},
    "PATCH /groups/{name}": {"description": "x"},
    "POST /groups/{name}/members": {"user_id": "new"},
    "PATCH /me": {"description": "x"},
    "POST /me/avatar/upload": {"content_type": "image/png", "size": 10},
    "PUT /me/avatar": {"upload_id": "none"},
    "POST /squash/players": {"name": "x"},
    "PATCH /squash/players/{player_id}": {"name": "x"},
    "POST /squash/matches": match_body(),
    "PATCH /squash/matches/{match_id}": {"team_b_games": 0},
}


@pytest.fixture(scope="module")
def ids(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Site, dict[str, str]]]:
    """A site, and the values for its paths; cleo wrote the comment."""
    with fus(tmp_path_factory.mktemp("roles")) as site:
        root = somebody(site, "admin")
        comment = site.as_("cleo").post("/sites/one/comments", json={"body": "x"}).json()["comment_id"]
        match_id = match(root)["match_id"]
        known = {"site_id": "one", "comment_id": comment, "name": "walkers", "user_id": "cleo"}
        yield site, {**known, "player_id": "p1", "match_id": match_id}


def ask(client: httpx.Client, route: str, values: dict[str, str], **more: Any) -> httpx.Response:
    verb, _, path = route.partition(" ")
    filled = path.replace(":path", "").format(**values)
    params = {"stars": "5"} if path == "/ratings" else None
    return client.request(verb, filled, json=BODIES.get(route), params=params, **more)


def refusal(role: str, route: str) -> int | None:
    """The status that a role gets for a route; None if it is allowed."""
    may = ROUTES[route][role]
    if "squash" in route:
        return None if role == "admin" else 404
    if may == "no":
        return 401 if role == "anyone" else 403
    if may.startswith("if it is your comment"):
        return None if role == "admin" and route.startswith("DELETE") else 403
    return None


@pytest.mark.parametrize("role", ROLES)
def test_every_route_for_a_role(ids: tuple[Site, dict[str, str]], role: str) -> None:
    """Changes nothing: requests that are allowed have a version that never existed, or refer to nothing."""
    site, values = ids
    client = somebody(site, role)
    for route in ROUTES:
        expected = refusal(role, route)
        if route.startswith("POST") and expected is None:
            answer = client.post(route.removeprefix("POST ").format(**values), json={"no": "such field"})
            assert answer.status_code == 422, answer.text
            continue
        harmless = {**values, "user_id": "nobody"} if "members/{user_id" in route else values
        answer = ask(client, route, harmless, headers={"If-Match": '"999"'})
        if expected is not None:
            assert answer.status_code == expected, (route, answer.text)
        else:
            assert answer.status_code in (200, 204, 404, 412), (route, answer.text)
            assert answer.status_code != 404 or answer.json()["detail"] != "Not found."


def test_every_method_of_the_service_says_who_may_call_it() -> None:
    assert {role for may in ROUTES.values() for role in may} == set(ROLES)
    assert ROUTES["POST /sites"] == {role: "yes" if role in ("sites:write", "admin") else "no" for role in ROLES}
    assert ROUTES["GET /groups"]["signed in"] == "no"
    assert ROUTES["GET /groups"]["manager"] == ROUTES["GET /groups"]["groups:write"] == "yes"


def test_a_bad_token_is_refused_everywhere(ids: tuple[Site, dict[str, str]]) -> None:
    site, values = ids
    client = site.as_("nonsense", verify=False)
    client.headers["Authorization"] = "Bearer nonsense"
    for route in ROUTES:
        problem(ask(client, route, values, headers=ANY), 401, "bad-token")


def test_two_users(tmp_path: Path) -> None:
    """Other people's data can't be read or changed."""
    with fus(tmp_path) as site:
        ada, bob = site.as_("ada-subject"), site.as_("bob")
        ada.patch("/me", json={"display_name": "Ada", "description": "hers alone"}, headers=ANY)
        ada.put("/sites/one/rating", json={"stars": 5, "note": "a private note"})
        comment = ada.post("/sites/one/comments", json={"body": "in public"}).json()
        upload = send_avatar(ada, png())
        picture = ada.put("/me/avatar", json={"upload_id": upload}).json()["avatar_url"]
        somebody(site, "admin").post("/groups/walkers/members", json={"user_id": "ada-subject"})
        before = {path: ada.get(path).json() for path in ("/me", "/me/ratings", "/sites/one/rating", "/me/memberships")}

        values = {"site_id": "one", "comment_id": comment["comment_id"], "name": "walkers", "user_id": "ada-subject"}
        values |= {"player_id": "p1", "match_id": "none"}
        for route in ROUTES:
            for client in (bob, site.as_()):
                answer = ask(client, route, values, headers=ANY)
                assert answer.status_code < 500
                for secret in ("ada-subject", "hers alone", "a private note", picture):
                    assert secret not in answer.text, route
        assert {path: ada.get(path).json() for path in before} == before
        assert ada.get(f"/sites/one/comments/{comment['comment_id']}").json()["body"] == "in public"
        assert httpx.get(site.url + picture).status_code == 200
        assert site.running.store.verify() == []


@pytest.mark.parametrize(
    ("kind", "only"),
    [("admin", ()), ("anyone", ("/sites", "/me", "/groups/{name}", "/squash/matches", "/squash/players/{player_id}"))],
)
def test_it_does_what_its_document_says(tmp_path: Path, kind: str, only: tuple[str, ...]) -> None:
    with fus(tmp_path) as site:
        match(somebody(site, "admin"))
        token = site.token(*PEOPLE[kind]) if PEOPLE[kind] else None
        held = check_against_document(site, token, examples=2, scenarios=3, methods=False, only=only)
        assert held.findings == []
        assert not [status for status in held.statuses if status >= 500]
        assert site.running.store.verify() == []
