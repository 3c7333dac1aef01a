"""Who may do what in WavyBlog: every route for every role, and two users who want each other's things."""

from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import httpx
import pytest

from keyplan.apps.wavyblog.api import SYSTEM
from keyplan.apps.wavyblog.entities import Category
from keyplan.data import create
from keyplan.web import ANYONE, SIGNED_IN
from tests.apps.blog_site import ANY, PASSWORD, add_user, blog, write
from tests.web.media_support import png
from tests.web.site import Site
from tests.web.test_api import pointers, problem

PEOPLE = {ANYONE: None, SIGNED_IN: "nobody", "user": "bob", "admin": "root"}
"""Somebody of each role. Who is signed in at another place only has no account here."""
_numbers = count()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with blog(tmp_path_factory.mktemp("roles")) as served:
        served.running.rates.take = lambda *args, **kwargs: None  # type: ignore[method-assign]  # nobody is slowed
        yield served


def new(what: str) -> str:
    return f"{what}_{next(_numbers)}"


def new_user(site: Site) -> str:
    name = new("user")
    add_user(site, name)
    return name


def new_category(site: Site) -> str:
    slug = new("category").replace("_", "-")
    site.running.store.run(create(Category(slug=slug, name=slug)))
    return slug


def new_post(site: Site, author: str, *, publish: bool = True) -> str:
    slug: str = write(site.as_(author), new("A title"), publish=publish)["slug"]
    return slug


def signed_in(site: Site, client: httpx.Client) -> httpx.Client:
    """The client, with the cookie of somebody's sign-in."""
    answer = site.as_().post("/login", json={"user": "ada", "password": PASSWORD})
    client.cookies.update(answer.cookies)
    return client


def upload(client: httpx.Client) -> str:
    """Send an image; what it is then known by."""
    picture = png()
    ticket = client.post("/images/upload", json={"content_type": "image/png", "size": len(picture)}).json()
    sent = httpx.post(client.base_url.join(ticket["url"]), data=ticket["fields"], files={"file": picture})
    assert sent.status_code in (201, 204), sent.text
    upload_id: str = ticket["upload_id"]
    return upload_id


def new_image(client: httpx.Client) -> str:
    image_id: str = client.post("/images", json={"upload_id": upload(client)}).json()["image_id"]
    return image_id


Send = Callable[[Site, httpx.Client, str], httpx.Response]
"""A good request; the third is whose the thing is that it is about."""

GOOD: dict[str, Send] = {
    "POST /register": lambda site, client, owner: client.post(
        "/register", json={"username": (name := new("name")), "email": f"{name}@example.org", "password": PASSWORD}
    ),
    "POST /login": lambda site, client, owner: client.post("/login", json={"user": "ada", "password": PASSWORD}),
    "POST /refresh": lambda site, client, owner: signed_in(site, client).post("/refresh"),
    "POST /logout": lambda site, client, owner: signed_in(site, client).post("/logout"),
    "GET /me": lambda site, client, owner: client.get("/me"),
    "POST /me/password": lambda site, client, owner: client.post(
        "/me/password", json={"password": PASSWORD, "new_password": PASSWORD}
    ),
    "POST /me/email": lambda site, client, owner: client.post(
        "/me/email", json={"password": PASSWORD, "email": f"{new('me')}@example.org"}
    ),
    "GET /me/posts": lambda site, client, owner: client.get("/me/posts"),
    "GET /me/images": lambda site, client, owner: client.get("/me/images"),
    "GET /posts": lambda site, client, owner: client.get("/posts"),
    "POST /posts": lambda site, client, owner: client.post("/posts", json={"title": "A", "content": "x"}),
    "GET /all-posts": lambda site, client, owner: client.get("/all-posts"),
    "POST /posts/delete": lambda site, client, owner: client.post(
        "/posts/delete", json={"slugs": [new_post(site, owner)]}
    ),
    "GET /posts/{slug}": lambda site, client, owner: client.get(f"/posts/{new_post(site, owner)}"),
    "PATCH /posts/{slug}": lambda site, client, owner: client.patch(
        f"/posts/{new_post(site, owner)}", json={"content": "y"}, headers=ANY
    ),
    "DELETE /posts/{slug}": lambda site, client, owner: client.delete(f"/posts/{new_post(site, owner)}", headers=ANY),
    "POST /posts/{slug}/publish": lambda site, client, owner: client.post(f"/posts/{new_post(site, owner)}/publish"),
    "POST /posts/{slug}/unpublish": lambda site, client, owner: client.post(
        f"/posts/{new_post(site, owner)}/unpublish"
    ),
    "GET /authors/{username}/posts": lambda site, client, owner: client.get("/authors/ada/posts"),
    "GET /categories": lambda site, client, owner: client.get("/categories"),
    "POST /categories": lambda site, client, owner: client.post("/categories", json={"name": new("name")}),
    "GET /categories/{slug}": lambda site, client, owner: client.get("/categories/travel"),
    "PATCH /categories/{slug}": lambda site, client, owner: client.patch(
        f"/categories/{new_category(site)}", json={"name": "X"}, headers=ANY
    ),
    "DELETE /categories/{slug}": lambda site, client, owner: client.delete(
        f"/categories/{new_category(site)}", headers=ANY
    ),
    "GET /categories/{slug}/posts": lambda site, client, owner: client.get("/categories/travel/posts"),
    "POST /images/upload": lambda site, client, owner: client.post(
        "/images/upload", json={"content_type": "image/png", "size": 100}
    ),
    "POST /images": lambda site, client, owner: client.post("/images", json={"upload_id": upload(site.as_(owner))}),
    "DELETE /images/{image_id}": lambda site, client, owner: client.delete(f"/images/{new_image(site.as_(owner))}"),
    "GET /users": lambda site, client, owner: client.get("/users"),
    "GET /users/{username}": lambda site, client, owner: client.get("/users/ada"),
    "PUT /users/{username}/role": lambda site, client, owner: client.put(
        f"/users/{new_user(site)}/role", json={"role": "admin"}
    ),
    "DELETE /users/{username}": lambda site, client, owner: client.delete(f"/users/{new_user(site)}", headers=ANY),
}
TABLE = {f"{verb} {path}": roles for verb, path, roles in SYSTEM.api.who_may_do_what()}


def test_every_route_is_looked_at() -> None:
    assert GOOD.keys() == TABLE.keys()
    assert all(roles.keys() == PEOPLE.keys() for roles in TABLE.values())


def test_the_table_is_what_was_decided() -> None:
    """Default deny: what is open to everybody, and what to users, is named here; the rest is the admins' matter."""
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
        # A thing of one's own, so that what is said after `if` holds.
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
    """All items that say that they are somebody's."""
    items = [item for table in ("WavyBlog", "WavyBlog-keyplan") for item in _scan(site, table)]
    # A minute's count of requests is not the caller's.
    return {str(item): item for item in items if name in str(item) and "RATE#" not in str(item)}


def _scan(site: Site, table: str) -> list[Any]:
    items: list[Any] = site.engine.scan(TableName=table)["Items"]
    return items


def test_nothing_of_another_can_be_changed(two: Site) -> None:
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


def test_nothing_of_another_can_be_read(two: Site) -> None:
    """No draft, no image in a list, no address, wherever one looks."""
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


def test_a_key_of_another_leads_to_nothing_of_theirs(two: Site) -> None:
    body, key = {"title": "Mine", "content": "secret draft"}, {"Idempotency-Key": "the same"}
    first = two.as_("ada").post("/posts", json=body, headers=key)
    second = two.as_("bob").post("/posts", json=body, headers=key)
    assert (first.json()["author"], second.json()["author"]) == ("ada", "bob")
    assert "idempotent-replayed" not in second.headers
    assert second.json()["slug"] == "mine-2"


def test_a_cursor_of_another_leads_to_nothing_of_theirs(two: Site) -> None:
    for number in range(3):
        write(two.as_("ada"), f"Draft {number}")
        write(two.as_("bob"), f"His {number}")
    cursor = two.as_("ada").get("/me/posts?limit=1").json()["next"]
    answer = two.as_("bob").get("/me/posts", params={"limit": 10, "cursor": cursor})
    assert pointers(problem(answer, 422, "invalid")) == ["?cursor"]
