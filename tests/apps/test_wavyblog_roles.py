"""Who may do what in WavyBlog: every route for every role, and two users who try to reach each other's data."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from keyplan.apps.wavyblog.api import SYSTEM
from keyplan.web import ANYONE, SIGNED_IN
from tests.apps.blog_requests import GOOD, new_image, new_post, upload
from tests.apps.blog_site import ANY, PASSWORD, blog, write
from tests.web.answers import pointers, problem
from tests.web.site import Site

PEOPLE = {ANYONE: None, SIGNED_IN: "nobody", "user": "bob", "admin": "root"}
"""Somebody of each role. Who is signed in at another place only has no account here."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with blog(tmp_path_factory.mktemp("roles")) as served:
        served.without_limits()
        yield served


TABLE = {f"{verb} {path}": roles for verb, path, roles in SYSTEM.api.who_may_do_what()}


def test_every_route_is_looked_at() -> None:
    assert GOOD.keys() == TABLE.keys()
    assert all(roles.keys() == PEOPLE.keys() for roles in TABLE.values())


def test_the_table_is_what_was_decided() -> None:
    """Default deny: routes for everybody and for users are listed here; all others are for admins."""
    everybody = {route for route, roles in TABLE.items() if roles[ANYONE] == "yes"}
    assert everybody == {
        *("POST /register", "POST /login", "POST /refresh", "POST /logout"),
        *("GET /posts", "GET /posts/{slug}", "GET /authors/{username}/posts"),
        *("GET /categories", "GET /categories/{slug}", "GET /categories/{slug}/posts"),
    }
    if_mine = {route for route, roles in TABLE.items() if roles["user"].startswith("if ")}
    assert if_mine == {
        *("POST /posts/delete", "PATCH /posts/{slug}", "DELETE /posts/{slug}"),
        *("POST /posts/{slug}/publish", "POST /posts/{slug}/unpublish"),
    }
    admins = {route for route, roles in TABLE.items() if roles["user"] == "no"}
    assert admins == {
        *("GET /all-posts", "POST /categories", "PATCH /categories/{slug}", "DELETE /categories/{slug}"),
        *("GET /users", "GET /users/{username}", "PUT /users/{username}/role", "DELETE /users/{username}"),
    }
    assert all(roles["admin"] != "no" for roles in TABLE.values())


@pytest.mark.parametrize("role", PEOPLE)
@pytest.mark.parametrize("route", TABLE)
def test_each_role_may_what_the_table_says(site: Site, route: str, role: str) -> None:
    who = PEOPLE[role]
    client = site.as_(who)
    mine = role in ("user", "admin")
    answer = GOOD[route](site, client, who if mine and who else "ada")
    if TABLE[route][role] != "no":
        # The user's own item, so that the condition after `if` is met.
        assert answer.is_success, answer.text
    elif role == ANYONE:
        problem(answer, 401, "no-token")
    elif role == SIGNED_IN:
        problem(answer, 401, "bad-token")
    else:
        problem(answer, 403, "forbidden")


@pytest.mark.parametrize("route", [route for route, roles in TABLE.items() if roles["user"].startswith("if ")])
def test_what_is_somebody_elses_is_for_admins_only(site: Site, route: str) -> None:
    problem(GOOD[route](site, site.as_("bob"), "ada"), 403, "forbidden")
    assert GOOD[route](site, site.as_("root"), "ada").is_success


# Two users


@pytest.fixture
def two(tmp_path: Path) -> Iterator[Site]:
    with blog(tmp_path) as served:
        yield served


def everything_of(site: Site, name: str) -> dict[str, Any]:
    """All items that belong to a user."""
    items = [item for table in ("WavyBlog", "WavyBlog-keyplan") for item in _scan(site, table)]
    # As a word, since an id may contain it by chance. A minute's count of requests is not the caller's.
    theirs = re.compile(rf"\b{name}\b")
    return {str(item): item for item in items if theirs.search(str(item)) and "RATE#" not in str(item)}


def _scan(site: Site, table: str) -> list[Any]:
    items: list[Any] = site.engine.scan(TableName=table)["Items"]
    return items


def test_nothing_of_another_user_can_be_changed(two: Site) -> None:
    ada, bob = two.as_("ada"), two.as_("bob")
    draft, shown = new_post(two, "ada", publish=False), new_post(two, "ada")
    image, sent = new_image(ada), upload(ada)
    assert ada.post("/login", json={"user": "ada", "password": PASSWORD}).status_code == 200
    before = everything_of(two, "ada")
    assert len(before) >= 8, "account, guards, posts, image, upload, sign-in"
    for slug, status, code in ((draft, 404, "not-found"), (shown, 403, "forbidden")):
        problem(bob.patch(f"/posts/{slug}", json={"title": "Stolen"}, headers=ANY), status, code)
        problem(bob.delete(f"/posts/{slug}", headers=ANY), status, code)
        problem(bob.post(f"/posts/{slug}/publish"), status, code)
        problem(bob.post(f"/posts/{slug}/unpublish"), status, code)
        problem(bob.post("/posts/delete", json={"slugs": [slug]}), status, code)
        problem(bob.post("/posts/delete", json={"slugs": [new_post(two, "bob"), slug]}), status, code)
    problem(bob.delete(f"/images/{image}"), 404, "not-found")
    assert bob.post("/images", json={"upload_id": sent}).status_code == 404
    problem(bob.put("/users/ada/role", json={"role": "admin"}), 403, "forbidden")
    problem(bob.delete("/users/ada", headers=ANY), 403, "forbidden")
    problem(bob.post("/me/email", json={"password": PASSWORD, "email": "ADA@example.org"}), 409, "email-taken")
    assert everything_of(two, "ada") == before
    assert two.running.store.verify() == []
    assert ada.post("/images", json={"upload_id": sent}).status_code == 201, "it is still hers"


def test_nothing_of_another_user_can_be_read(two: Site) -> None:
    """No drafts, images in lists or e-mail addresses of others, on any route."""
    ada = two.as_("ada")
    draft = write(ada, "Hidden words", content="nobody reads this", category="travel")["slug"]
    write(ada, "Open words", publish=True, category="travel")
    image = new_image(ada)
    for client in (two.as_(), two.as_("bob")):
        problem(client.get(f"/posts/{draft}"), 404, "not-found")
        lists = [client.get(path) for path in ("/posts", "/authors/ada/posts", "/categories/travel/posts")]
        assert all([each["slug"] for each in answer.json()["items"]] == ["open-words"] for answer in lists)
        own = [client.get(path) for path in ("/me", "/me/posts", "/me/images", "/users", "/users/ada", "/all-posts")]
        for answer in (*lists, *own, client.get("/posts/open-words"), client.get("/categories/travel")):
            for secret in ("idden words", "idden-words", "nobody reads", image, "ada@example.org"):
                assert secret not in answer.text, answer.url
    assert two.as_("bob").get("/me/images").json()["items"] == []
    assert [each["slug"] for each in ada.get("/me/posts").json()["items"]] == ["open-words", draft]


def test_an_idempotency_key_of_another_user_reveals_nothing(two: Site) -> None:
    body, key = {"title": "Mine", "content": "secret draft"}, {"Idempotency-Key": "the same"}
    first = two.as_("ada").post("/posts", json=body, headers=key)
    second = two.as_("bob").post("/posts", json=body, headers=key)
    assert (first.json()["author"], second.json()["author"]) == ("ada", "bob")
    assert "idempotent-replayed" not in second.headers
    assert second.json()["slug"] == "mine-2"


def test_a_cursor_of_another_user_reveals_nothing(two: Site) -> None:
    for number in range(3):
        write(two.as_("ada"), f"Draft {number}")
        write(two.as_("bob"), f"His {number}")
    cursor = two.as_("ada").get("/me/posts?limit=1").json()["next"]
    answer = two.as_("bob").get("/me/posts", params={"limit": 10, "cursor": cursor})
    assert pointers(problem(answer, 400, "bad-cursor")) == ["?cursor"]
