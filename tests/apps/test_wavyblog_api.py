"""WavyBlog over HTTP: every operation, every rule, each role and each refusal."""

from collections.abc import Iterator
from datetime import timedelta
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import bcrypt
import httpx
import pytest

from keyplan.apps.wavyblog.entities import RefreshToken, User
from keyplan.apps.wavyblog.service.accounts import ATTEMPTS, REFRESH_COOKIE
from keyplan.data import create
from keyplan.design import Secret
from tests.apps.blog_site import ANY, PASSWORD, add_posts, add_user, blog, write
from tests.web.answers import pointers, problem
from tests.web.site import Site

COOKIE = "wavyblog_refresh"


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with blog(tmp_path) as served:
        yield served


def sign_in(site: Site, user: str = "ada", password: str = PASSWORD) -> httpx.Client:
    """A client that signed in with a password, and has both tokens."""
    client = site.as_()
    answer = client.post("/login", json={"user": user, "password": password})
    assert answer.status_code == 200, answer.text
    client.headers["Authorization"] = f"Bearer {answer.json()['access_token']}"
    return client


# Accounts


def test_registering_signs_in(site: Site) -> None:
    client = site.as_()
    answer = client.post("/register", json={"username": "eve", "email": "Eve@Example.org", "password": "12345678"})
    assert answer.status_code == 201
    assert answer.json().keys() == {"access_token", "token_type", "expires_in"}
    assert answer.json()["expires_in"] == 3600
    cookie = answer.headers["set-cookie"]
    assert all(part in cookie for part in ("HttpOnly", "SameSite=strict", "Max-Age=1209600", "Path=/api/wavyblog/"))
    assert answer.headers["cache-control"] == "no-store"
    me = client.get("/me", headers={"Authorization": f"Bearer {answer.json()['access_token']}"}).json()
    assert (me["username"], me["email"], me["role"]) == ("eve", "Eve@Example.org", "user")
    stored = site.running.store.run(site.running.design.user("eve"))
    assert stored.password_hash.get_secret_value().startswith("$2b$10$")


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ({"username": "Eve"}, "/username"),
        ({"username": "ev"}, "/username"),
        ({"username": "e" * 33}, "/username"),
        ({"username": "e#v"}, "/username"),
        ({"email": "eve"}, "/email"),
        ({"email": "e\x00v\x1b@example.org"}, "/email"),
        ({"password": "1234567"}, "/password"),
        ({"password": "é" * 37}, "/password"),
        ({"password": "1234\x005678"}, "/password"),
        ({"role": "admin"}, "/role"),
    ],
)
def test_what_cannot_be_registered(site: Site, change: dict[str, str], where: str) -> None:
    body = {"username": "eve", "email": "eve@example.org", "password": "12345678", **change}
    answer = site.as_().post("/register", json=body)
    assert pointers(problem(answer, 422, "invalid")) == [where]
    assert site.running.store.run(site.running.design.user("eve")) is None


def test_names_and_addresses_are_unique(site: Site) -> None:
    body = {"username": "ada", "email": "new@example.org", "password": "12345678"}
    problem(site.as_().post("/register", json=body), 409, "username-taken")
    body = {"username": "eve", "email": "ADA@example.ORG", "password": "12345678"}
    problem(site.as_().post("/register", json=body), 409, "email-taken")
    assert site.running.store.verify() == []


def test_a_password_is_not_normalized(site: Site) -> None:
    body = {"username": "eve", "email": "eve@example.org", "password": "  12345678 "}
    assert site.as_().post("/register", json=body).status_code == 201
    problem(site.as_().post("/login", json={"user": "eve", "password": "12345678"}), 401, "wrong-credentials")
    assert sign_in(site, "eve", "  12345678 ").get("/me").status_code == 200


@pytest.mark.parametrize("user", ["ada", "ada@example.org", "ADA@example.org"])
def test_signing_in_by_name_or_address(site: Site, user: str) -> None:
    assert sign_in(site, user).get("/me").json()["username"] == "ada"


def test_an_unknown_user_and_a_wrong_password_look_the_same(site: Site) -> None:
    answers = [
        site.as_().post("/login", json={"user": user, "password": "wrong password"}).json()
        for user in ("ada", "nobody", "nobody@example.org", "NOT#a name", "ünknown")
    ]
    for answer in answers:
        answer.pop("request_id")
    assert all(answer == answers[0] for answer in answers)
    assert answers[0]["code"] == "wrong-credentials"


def test_an_unknown_user_and_a_wrong_password_take_the_same_work(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """Signing in takes the time of one bcrypt comparison, whether or not the user exists."""
    done: list[bytes] = []
    compared = bcrypt.checkpw

    def counted(password: bytes, known: bytes) -> bool:
        done.append(known[:7])
        return compared(password, known)

    monkeypatch.setattr(bcrypt, "checkpw", counted)
    for user in ("ada", "nobody", "nobody@example.org", "NOT#a name"):
        for password in ("wrong password", "x" * 1000, "é" * 37, ""):
            done.clear()
            problem(site.as_().post("/login", json={"user": user, "password": password}), 401, "wrong-credentials")
            assert done == [b"$2b$10$"]


@pytest.mark.parametrize("prefix", [b"2a", b"2b"])
def test_hashes_are_those_that_the_document_shows(site: Site, prefix: bytes) -> None:
    known = bcrypt.hashpw(b"from elsewhere", bcrypt.gensalt(11, prefix=prefix)).decode()
    user = User(username="old_one", email="old@example.org", password_hash=Secret(known))
    site.running.store.run(create(user))
    assert sign_in(site, "old_one", "from elsewhere").get("/me").status_code == 200


def test_what_is_no_hash_lets_nobody_in(site: Site) -> None:
    user = User(username="old_one", email="old@example.org", password_hash=Secret("md5:1234"))
    site.running.store.run(create(user))
    answer = site.as_().post("/login", json={"user": "old_one", "password": "md5:1234"})
    problem(answer, 401, "wrong-credentials")


def test_guessing_is_slowed_but_the_owner_is_not_locked_out(tmp_path: Path) -> None:
    with blog(tmp_path, trusted_proxies=["127.0.0.1"]) as site:
        guesser = site.as_(None)
        guesser.headers["X-Forwarded-For"] = "203.0.113.7"
        wrong = {"user": "ada", "password": "wrong password"}
        answers = [guesser.post("/login", json=wrong).status_code for _ in range(ATTEMPTS * 2 + 1)]
        assert 429 in answers
        answer = guesser.post("/login", json={"user": "ada", "password": PASSWORD})
        if answer.status_code == 429:  # unless a new minute started
            problem(answer, 429, "too-many-attempts")
        owner = site.as_(None)
        owner.headers["X-Forwarded-For"] = "198.51.100.2"
        assert owner.post("/login", json={"user": "ada", "password": PASSWORD}).status_code == 200


def test_refreshing_rotates_the_token(site: Site) -> None:
    client = sign_in(site)
    first = client.cookies[COOKIE]
    answer = client.post("/refresh")
    assert answer.status_code == 200
    assert client.cookies[COOKIE] != first
    token = answer.json()["access_token"]
    assert site.as_().get("/me", headers={"Authorization": f"Bearer {token}"}).status_code == 200
    assert client.post("/refresh").status_code == 200


def test_an_expired_token_does_not_prevent_signing_in_or_out(site: Site) -> None:
    """Programs send their token with every request."""
    client = sign_in(site)
    client.headers["Authorization"] = "Bearer over"
    problem(client.get("/posts"), 401, "bad-token")
    assert client.post("/refresh").status_code == 200
    assert client.post("/login", json={"user": "ada", "password": PASSWORD}).status_code == 200
    token = client.cookies[COOKIE]
    assert client.post("/logout").status_code == 204
    problem(site.as_(cookies={COOKIE: token}).post("/refresh"), 401, "bad-refresh-token")


def test_a_used_token_revokes_its_family(site: Site) -> None:
    client, other = sign_in(site), sign_in(site)
    stolen = client.cookies[COOKIE]
    assert client.post("/refresh").status_code == 200
    thief = site.as_(cookies={COOKIE: stolen})
    problem(thief.post("/refresh"), 401, "bad-refresh-token")
    problem(client.post("/refresh"), 401, "bad-refresh-token")
    problem(client.get("/me"), 401, "bad-token")
    assert other.get("/me").status_code == 200
    assert other.post("/refresh").status_code == 200, "another sign-in is another family"
    assert site.running.store.verify() == []


@pytest.mark.parametrize("token", [None, "", "nothing", "ada.nothing"])
def test_refreshing_with_nothing_good(site: Site, token: str | None) -> None:
    client = site.as_(cookies={COOKIE: token} if token is not None else {})
    problem(client.post("/refresh"), 401, "bad-refresh-token")


def test_a_refresh_token_ends_when_it_says_even_if_nobody_swept_it(site: Site) -> None:
    client = sign_in(site)
    clock = site.running.store.clock
    site.running.store.clock = lambda: clock() + timedelta(days=15)
    problem(client.post("/refresh"), 401, "bad-refresh-token")


def test_each_refresh_token_is_good_for_fourteen_days(site: Site) -> None:
    """Users who come back in time stay signed in."""
    client, clock = sign_in(site), site.running.store.clock
    for days in (13, 26, 39):
        site.running.store.clock = lambda days=days: clock() + timedelta(days=days)  # type: ignore[misc]
        answer = client.post("/refresh")
        assert answer.status_code == 200
        assert "Max-Age=1209600" in answer.headers["set-cookie"]
    site.running.store.clock = lambda: clock() + timedelta(days=54)
    problem(client.post("/refresh"), 401, "bad-refresh-token")


def test_an_access_token_is_good_for_an_hour(site: Site) -> None:
    clock, later = site.running.store.clock, timedelta()
    site.running.store.clock = lambda: clock() + later
    client = sign_in(site)
    later = timedelta(minutes=59)
    assert client.get("/me").status_code == 200
    later = timedelta(minutes=62)
    problem(client.get("/me"), 401, "bad-token")


def test_refresh_tokens_are_stored_as_hashes(site: Site) -> None:
    client = sign_in(site)
    items = site.engine.scan(TableName="WavyBlog-keyplan")["Items"]
    assert client.cookies[COOKIE].split(".")[1] not in str(items)
    assert [item for item in items if item["sk"]["S"].startswith("TOKEN#")]
    assert RefreshToken.spec.table.ttl == "expiresAt"
    assert REFRESH_COOKIE == COOKIE


def test_signing_out_revokes(site: Site) -> None:
    client = sign_in(site)
    token = client.cookies[COOKIE]
    answer = client.post("/logout")
    assert answer.status_code == 204
    assert "Max-Age=0" in answer.headers["set-cookie"]
    problem(site.as_(cookies={COOKIE: token}).post("/refresh"), 401, "bad-refresh-token")
    assert site.as_().post("/logout").status_code == 204


def test_signing_out_ends_the_access_token_at_once(site: Site) -> None:
    client, other = sign_in(site), sign_in(site)
    draft = write(client)["slug"]
    assert client.get(f"/posts/{draft}").status_code == 200
    assert client.post("/logout").status_code == 204
    problem(client.get("/me"), 401, "bad-token")
    problem(client.get(f"/posts/{draft}"), 401, "bad-token")
    problem(client.post("/posts", json={"title": "A", "content": "x"}), 401, "bad-token")
    assert other.get("/me").status_code == 200, "another sign-in goes on"


def test_signing_out_needs_no_cookie(site: Site) -> None:
    """The access token alone is enough to sign out."""
    client = sign_in(site)
    token = client.cookies[COOKIE]
    client.cookies.clear()
    assert client.post("/logout").status_code == 204
    problem(client.get("/me"), 401, "bad-token")
    problem(site.as_(cookies={COOKIE: token}).post("/refresh"), 401, "bad-refresh-token")


def test_a_new_password_ends_every_login(site: Site) -> None:
    client, other = sign_in(site), sign_in(site)
    wrong = client.post("/me/password", json={"password": "wrong one", "new_password": "another horse"})
    assert pointers(problem(wrong, 422, "wrong-password")) == ["/password"]
    answer = client.post("/me/password", json={"password": PASSWORD, "new_password": "another horse"})
    assert answer.status_code == 204
    for each in (client, other):
        problem(each.get("/me"), 401, "bad-token")
        problem(each.post("/refresh"), 401, "bad-refresh-token")
    problem(site.as_().post("/login", json={"user": "ada", "password": PASSWORD}), 401, "wrong-credentials")
    sign_in(site, "ada", "another horse")


def test_another_address_moves_the_guard(site: Site) -> None:
    client = sign_in(site)
    body = {"password": PASSWORD, "email": "Countess@example.org"}
    assert client.post("/me/email", json=body).json()["email"] == "Countess@example.org"
    sign_in(site, "countess@example.org")
    problem(site.as_().post("/login", json={"user": "ada@example.org", "password": PASSWORD}), 401, "wrong-credentials")
    taken = client.post("/me/email", json={"password": PASSWORD, "email": "BOB@example.org"})
    problem(taken, 409, "email-taken")
    problem(client.post("/me/email", json={"password": "no", "email": "x@y.z"}), 422, "wrong-password")
    assert site.running.store.verify() == []


def test_a_token_of_a_deleted_user_is_invalid(site: Site) -> None:
    client = sign_in(site, "bob")
    version = site.as_("root").get("/users/bob").headers["etag"]
    assert site.as_("root").delete("/users/bob", headers={"If-Match": version}).status_code == 204
    problem(client.get("/me"), 401, "bad-token")
    problem(client.post("/refresh"), 401, "bad-refresh-token")


# Posts


def test_a_post_is_a_draft_until_it_is_published(site: Site) -> None:
    ada = site.as_("ada")
    made = write(ada, "Hello, Wörld!", category="travel")
    assert made["slug"] == "hello-world"
    assert (made["author"], made["category"], made["is_published"]) == ("ada", "travel", False)
    path = "/posts/hello-world"
    problem(site.as_().get(path), 404, "not-found")
    problem(site.as_("bob").get(path), 404, "not-found")
    assert site.as_("root").get(path).status_code == 200
    assert site.as_().get("/posts").json()["items"] == []
    assert ada.post(f"{path}/publish").json()["is_published"] is True
    shown = site.as_().get(path)
    assert shown.json()["html"] == "<p>Some <em>text</em>.</p>\n"
    assert [each["slug"] for each in site.as_().get("/posts").json()["items"]] == ["hello-world"]
    assert ada.post(f"{path}/unpublish", headers={"If-Match": shown.headers["etag"]}).status_code == 200
    problem(site.as_().get(path), 404, "not-found")


def test_titles_that_are_alike_get_slugs_with_numbers(site: Site) -> None:
    ada = site.as_("ada")
    slugs = [write(ada, title)["slug"] for title in ("A title", "a TITLE!", "À title", "-- a title --")]
    assert slugs == ["a-title", "a-title-2", "a-title-3", "a-title-4"]
    assert [write(ada, title)["slug"] for title in ("日本", "???")] == ["post", "post-2"]
    assert site.running.store.verify() == []


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ({"title": ""}, "/title"),
        ({"title": "x" * 201}, "/title"),
        ({"content": None}, "/content"),
        ({"content": "x" * 307_201}, "/content"),
        ({"content": "é" * 153_601}, "/content"),
        ({"category": "Not A Slug"}, "/category"),
        ({"thumbnail_url": "javascript:alert(1)"}, "/thumbnail_url"),
        ({"thumbnail_url": "ftp://example.org/x"}, "/thumbnail_url"),
        ({"author": "bob"}, "/author"),
        ({"is_published": True}, "/is_published"),
    ],
)
def test_what_cannot_be_written(site: Site, change: dict[str, Any], where: str) -> None:
    answer = site.as_("ada").post("/posts", json={"title": "A", "content": "x", **change})
    assert pointers(problem(answer, 422, "invalid")) == [where]


def test_300_kilobytes_can_be_written(site: Site) -> None:
    made = write(site.as_("ada"), content="é" * 153_600)
    assert len(site.as_("ada").get(f"/posts/{made['slug']}").json()["content"].encode()) == 307_200


def test_a_post_needs_a_category_that_is_there(site: Site) -> None:
    ada = site.as_("ada")
    answer = ada.post("/posts", json={"title": "A", "content": "x", "category": "nowhere"})
    assert pointers(problem(answer, 422, "no-such-category")) == ["/category"]
    made = write(ada)
    answer = ada.patch(f"/posts/{made['slug']}", json={"category": "nowhere"}, headers=ANY)
    assert pointers(problem(answer, 422, "no-such-category")) == ["/category"]
    assert site.running.store.verify() == []


def test_changing_a_post(site: Site) -> None:
    ada = site.as_("ada")
    made = write(ada, "A title")
    path = f"/posts/{made['slug']}"
    changed = ada.patch(path, json={"content": "New", "category": "travel"}, headers={"If-Match": '"1"'})
    assert (changed.json()["content"], changed.json()["category"]) == ("New", "travel")
    assert changed.json()["title"] == "A title"
    problem(ada.patch(path, json={"content": "Newer"}, headers={"If-Match": '"1"'}), 412, "stale-version")
    problem(ada.patch(path, json={"content": "Newer"}), 428, "if-match-missing")
    answer = ada.patch(path, json={"content": None}, headers=ANY)
    assert pointers(problem(answer, 422, "required")) == ["/content"]
    counts = {each["slug"]: each["post_count"] for each in site.as_().get("/categories").json()["items"]}
    assert counts == {"travel": 1, "uncategorized": 0}
    assert ada.patch(path, json={"thumbnail_url": "https://example.org/a.jpg"}, headers=ANY).status_code == 200
    assert ada.patch(path, json={"thumbnail_url": None}, headers=ANY).json()["thumbnail_url"] is None
    assert site.running.store.verify() == []


def test_another_title_is_another_slug(site: Site) -> None:
    ada = site.as_("ada")
    first, second = write(ada, "First"), write(ada, "Second")
    moved = ada.patch("/posts/second", json={"title": "First"}, headers=ANY).json()
    assert moved["slug"] == "first-2"
    assert moved["created_at"] == second["created_at"]
    problem(ada.get("/posts/second"), 404, "not-found")
    assert write(ada, "Second")["slug"] == "second", "the old slug is free again"
    assert ada.patch("/posts/first", json={"title": "FIRST!"}, headers=ANY).json()["slug"] == first["slug"]
    assert site.running.store.verify() == []


def test_posts_are_deleted_one_by_one_or_together(site: Site) -> None:
    ada = site.as_("ada")
    for title in ("one", "two", "three"):
        write(ada, title)
    write(site.as_("bob"), "his")
    problem(ada.delete("/posts/one"), 428, "if-match-missing")
    problem(ada.delete("/posts/one", headers={"If-Match": '"9"'}), 412, "stale-version")
    assert ada.delete("/posts/one", headers={"If-Match": '"1"'}).status_code == 204
    for slugs, status, code in (
        (["two", "nothing"], 404, "not-found"),
        (["two", "his"], 404, "not-found"),
        ([], 422, "invalid"),
    ):
        problem(ada.post("/posts/delete", json={"slugs": slugs}), status, code)
    refusals = {ada.post("/posts/delete", json={"slugs": [slug]}).json()["detail"] for slug in ("nothing", "his")}
    assert refusals == {"Post not found."}, "nothing tells that there is a draft"
    assert ada.post("/posts/delete", json={"slugs": ["two", "three", "two"]}).status_code == 204
    assert ada.get("/me/posts").json()["items"] == []
    assert ada.get("/me").json()["post_count"] == 0
    assert site.running.store.verify() == []


def test_more_than_one_transaction_holds_is_not_deleted_at_all(site: Site) -> None:
    add_posts(site, 50)
    ada = site.as_("ada")
    slugs = [f"post-{each:03}" for each in range(50)]
    # Each post needs two actions, for its item and its guard; author and category need one each: 102 actions.
    problem(ada.post("/posts/delete", json={"slugs": slugs}), 422, "too-large")
    assert ada.get("/me").json()["post_count"] == 50
    assert ada.post("/posts/delete", json={"slugs": slugs[:49]}).status_code == 204
    assert ada.get("/me").json()["post_count"] == 1


def test_lists_of_posts(site: Site) -> None:
    ada, bob = site.as_("ada"), site.as_("bob")
    write(ada, "one", publish=True, category="travel")
    write(ada, "two")
    write(bob, "three", publish=True)

    def slugs(client: httpx.Client, path: str) -> list[str]:
        answer = client.get(path)
        assert answer.status_code == 200, answer.text
        return [each["slug"] for each in answer.json()["items"]]

    visitor = site.as_()
    assert sorted(slugs(visitor, "/posts")) == ["one", "three"]
    assert slugs(visitor, "/authors/ada/posts") == ["one"]
    assert slugs(visitor, "/categories/travel/posts") == ["one"]
    assert sorted(slugs(ada, "/me/posts")) == ["one", "two"]
    assert slugs(site.as_("root"), "/all-posts") == ["one", "three", "two"]
    problem(ada.get("/all-posts"), 403, "forbidden")
    problem(visitor.get("/me/posts"), 401, "no-token")
    problem(visitor.get("/authors/nobody/posts"), 404, "not-found")
    problem(visitor.get("/categories/nowhere/posts"), 404, "not-found")


def test_lists_have_the_drafts_that_the_caller_may_read(site: Site) -> None:
    """Visitors get no drafts, authors their own, admins all; the latest posts are the published ones, for everybody."""
    for author in ("ada", "bob"):
        write(site.as_(author), f"{author} out", publish=True, category="travel")
        write(site.as_(author), f"{author} draft", category="travel")

    def drafts(who: str | None, path: str) -> list[str]:
        client, items, params = site.as_(who), [], {"limit": "1"}
        while True:  # one post per page: posts that are left out leave no empty page
            page = client.get(path, params=params).json()
            items += page["items"]
            if page["next"] is None:
                return sorted(each["slug"] for each in items if not each["is_published"])
            assert len(page["items"]) == 1
            params["cursor"] = page["next"]

    both = ["ada-draft", "bob-draft"]
    lists = ("/posts", "/authors/ada/posts", "/authors/bob/posts", "/categories/travel/posts")
    assert [drafts(None, path) for path in lists] == [[], [], [], []]
    assert [drafts("ada", path) for path in lists] == [[], both[:1], [], both[:1]]
    assert [drafts("bob", path) for path in lists] == [[], [], both[1:], both[1:]]
    assert [drafts("root", path) for path in lists] == [[], both[:1], both[1:], both]


def test_pages_of_published_posts_are_full_though_drafts_are_between(site: Site) -> None:
    for each in range(60):
        add_posts(site, 1, slug=f"post-{each:03}", is_published=each % 4 == 0)
    seen, cursor, sizes = [], None, []
    while True:
        page = (
            site.as_().get("/authors/ada/posts", params={"limit": 6, **({"cursor": cursor} if cursor else {})}).json()
        )
        sizes.append(len(page["items"]))
        seen += [each["slug"] for each in page["items"]]
        cursor = page["next"]
        if cursor is None:
            break
    assert sizes[:2] == [6, 6]
    assert sum(sizes) == len(set(seen)) == 15


@pytest.mark.parametrize(
    "markdown",
    [
        "text <script>alert(1)</script>",
        "[x](javascript:alert(1))",
        "![x](data:text/html;base64,AAAA)",
        'text <img src=x onerror="alert(1)">',
        "[x](  vbscript:x )",
    ],
)
def test_html_is_safe(site: Site, markdown: str) -> None:
    """None of it becomes an element or an attribute; it may stay as text."""
    tags: list[object] = []
    parser = HTMLParser()
    parser.handle_starttag = lambda tag, attrs: tags.append((tag, attrs))  # type: ignore[method-assign]
    parser.feed(write(site.as_("ada"), content=markdown)["html"])
    assert tags == [("p", [])]


# Categories


def test_categories(site: Site) -> None:
    root = site.as_("root")
    made = root.post("/categories", json={"name": "Süße Dinge"})
    assert made.json() == {"slug": "susse-dinge", "name": "Süße Dinge", "post_count": 0, "version": 1}
    problem(root.post("/categories", json={"name": "Süße Dinge"}), 409, "slug-taken")
    assert pointers(problem(root.post("/categories", json={"name": "日本"}), 422, "no-slug")) == ["/slug"]
    assert root.post("/categories", json={"name": "日本", "slug": "nippon"}).status_code == 201
    renamed = root.patch("/categories/nippon", json={"name": "Japan"}, headers=ANY).json()
    assert (renamed["slug"], renamed["name"]) == ("nippon", "Japan")
    slugs = [each["slug"] for each in site.as_().get("/categories").json()["items"]]
    assert slugs == ["nippon", "susse-dinge", "travel", "uncategorized"]
    assert root.delete("/categories/nippon", headers=ANY).status_code == 204
    problem(site.as_().get("/categories/nippon"), 404, "not-found")


def test_a_category_in_use_stays(site: Site) -> None:
    made = write(site.as_("ada"), category="travel")
    root = site.as_("root")
    problem(root.delete("/categories/travel", headers=ANY), 409, "in-use")
    site.as_("ada").delete(f"/posts/{made['slug']}", headers=ANY)
    assert root.delete("/categories/travel", headers=ANY).status_code == 204


def test_uncategorized_is_always_there(site: Site) -> None:
    root = site.as_("root")
    problem(root.delete("/categories/uncategorized", headers=ANY), 409, "always-there")
    problem(root.patch("/categories/uncategorized", json={"slug": "other"}, headers=ANY), 409, "always-there")
    assert root.patch("/categories/uncategorized", json={"name": "Other"}, headers=ANY).status_code == 200


def test_a_category_takes_its_posts_along(site: Site) -> None:
    add_posts(site, 12, category="travel", is_published=True)
    root = site.as_("root")
    before = root.get("/categories/travel").json()
    problem(root.patch("/categories/travel", json={"slug": "uncategorized"}, headers=ANY), 409, "slug-taken")
    answer = root.patch("/categories/travel", json={"slug": "journeys", "name": "Journeys"}, headers=ANY)
    assert answer.json() == {"slug": "journeys", "name": "Journeys", "post_count": 12, "version": 1}
    assert before["post_count"] == 12
    problem(root.get("/categories/travel"), 404, "not-found")
    posts = site.as_().get("/categories/journeys/posts").json()["items"]
    assert len(posts) == 12
    assert {each["category"] for each in posts} == {"journeys"}
    assert site.running.store.verify() == []


# Users


def test_users_are_the_admins_matter(site: Site) -> None:
    root = site.as_("root")
    users = root.get("/users").json()["items"]
    assert [each["username"] for each in users] == ["ada", "bob", "root"]
    assert root.get("/users/ada").json()["email"] == "ada@example.org"
    problem(root.get("/users/nobody"), 404, "not-found")
    assert "password" not in root.get("/users").text.lower()
    ada = site.as_("ada")
    for answer in (ada.get("/users"), ada.get("/users/bob"), ada.put("/users/ada/role", json={"role": "admin"})):
        problem(answer, 403, "forbidden")


def test_a_role_holds_at_once(site: Site) -> None:
    root, ada = site.as_("root"), site.as_("ada")
    problem(ada.get("/users"), 403, "forbidden")
    assert root.put("/users/ada/role", json={"role": "admin"}).json()["role"] == "admin"
    assert ada.get("/users").status_code == 200
    assert ada.put("/users/root/role", json={"role": "user"}).status_code == 200
    problem(root.get("/users"), 403, "forbidden")


def test_the_last_admin_stays(site: Site) -> None:
    root = site.as_("root")
    problem(root.put("/users/root/role", json={"role": "user"}), 409, "last-one")
    problem(root.delete("/users/root", headers=ANY), 409, "last-one")
    add_user(site, "zoe", "admin")
    assert root.delete("/users/zoe", headers=ANY).status_code == 204
    problem(root.put("/users/root/role", json={"role": "user"}), 409, "last-one")
    assert site.running.store.verify() == []


def test_a_user_with_posts_stays(site: Site) -> None:
    write(site.as_("ada"))
    root = site.as_("root")
    problem(root.delete("/users/ada", headers=ANY), 409, "has-posts")
    site.as_("ada").post("/posts/delete", json={"slugs": ["a-title"]})
    assert root.delete("/users/ada", headers=ANY).status_code == 204
    body = {"username": "eve", "email": "ada@example.org", "password": "12345678"}
    assert site.as_().post("/register", json=body).status_code == 201, "the address is free again"
    assert site.running.store.verify() == []


def test_no_hash_ever_leaves(site: Site) -> None:
    """Neither in a response nor in an error about a user."""
    user = site.running.store.run(site.running.design.user("ada"))
    assert isinstance(user, User)
    secret = user.password_hash.get_secret_value()
    root = site.as_("root")
    texts = [root.get(path).text for path in ("/users", "/users/ada", "/me", "/openapi.json")]
    texts.append(repr(user))
    texts.append(root.patch("/users/ada").text)
    assert not [text for text in texts if secret in text or "$2b$" in text]
