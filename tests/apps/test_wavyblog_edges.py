"""WavyBlog's edge cases: reused names, long texts, and interrupted or concurrent renames."""

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import httpx
import pytest
from typer.testing import CliRunner

from keyplan.apps.wavyblog import markdown
from keyplan.apps.wavyblog.service import categories
from keyplan.apps.wavyblog.upkeep import sweep
from keyplan.cli import main
from keyplan.engine import Engine
from tests.apps.blog_passwords import while_a_password_is_checked
from tests.apps.blog_site import ANY, PASSWORD, add_posts, add_user, blog, write
from tests.web.answers import problem
from tests.web.site import Site


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with blog(tmp_path) as served:
        yield served


def bearer(answer: httpx.Response) -> dict[str, str]:
    return {"Authorization": f"Bearer {answer.json()['access_token']}"}


# Reused names


def test_a_token_is_of_an_account_and_not_of_a_name(site: Site) -> None:
    """Someone who takes the name of a deleted account is a different user."""
    add_user(site, "eve")
    visitor = site.as_()
    old = bearer(visitor.post("/login", json={"user": "eve", "password": PASSWORD}))
    assert visitor.get("/me", headers=old).status_code == 200
    assert site.as_("root").delete("/users/eve", headers=ANY).status_code == 204
    problem(visitor.get("/me", headers=old), 401, "bad-token")
    taken = visitor.post("/register", json={"username": "eve", "email": "eve@example.com", "password": "12345678"})
    problem(visitor.get("/me", headers=old), 401, "bad-token")
    new = bearer(taken)
    assert visitor.get("/me", headers=new).json()["email"] == "eve@example.com"
    draft = visitor.post("/posts", json={"title": "Secret", "content": "x"}, headers=new).json()["slug"]
    problem(visitor.get(f"/posts/{draft}", headers=old), 401, "bad-token")
    problem(visitor.post("/posts", json={"title": "Forged", "content": "x"}, headers=old), 401, "bad-token")
    assert visitor.get(f"/posts/{draft}", headers=new).status_code == 200


def test_make_admin_needs_somebody(tmp_path: Path) -> None:
    file = tmp_path / "blog.db"
    with Engine(str(file)) as engine, blog(tmp_path, engine):
        pass
    for name, code, said in [
        ("ada", 0, "ada is now an admin."),
        ("ada", 0, "ada is now an admin."),
        ("eve", 1, 'User "eve" not found.'),
        ("a#b", 1, 'User "a#b" not found.'),
        ("", 1, 'User "" not found.'),
    ]:
        result = CliRunner().invoke(main, ["wavyblog", "make-admin", name, "--path", str(file)])
        assert result.exit_code == code, result.output
        assert said in result.output


# Long texts


def test_a_long_text_holds_up_nobody(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is rendered to HTML once, in a thread."""
    made: list[str] = []
    rendered = markdown._clean

    def slowly(html: str, *more: Any) -> str:
        made.append(threading.current_thread().name)
        if begun.is_set():
            others.wait(20)
        return rendered(html, *more)

    begun, others = threading.Event(), threading.Event()
    monkeypatch.setattr(markdown, "_clean", slowly)
    ada = site.as_("ada")
    write(ada, "Long", content="[" * (markdown.LONG + 1), publish=True)
    write(ada, "Short", content="Brief.", publish=True)
    markdown._kept_long_html.cache_clear()
    made.clear()
    begun.set()
    reader = threading.Thread(target=site.as_().get, args=["/posts/long"])
    reader.start()
    while not made:
        time.sleep(0.01)
    assert site.as_().get("/posts/short").status_code == 200, "the event loop is free"
    others.set()
    reader.join()
    assert site.as_().get("/posts/long").json()["html"].startswith("<p>[[[")
    assert len(made) == 1


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("# Title\n\nOne *fine* [day](https://example.org).", "One fine day."),
        ("Before.\n\n- shoes\n- a jacket\n\nBehind.", "Before. Behind."),
        ("1. First\n2) Second", "First 2) Second"),
        ("![sea](/media/x.png)\n\n| a | b |\n| - | - |\n\n> Quoted.", "Quoted."),
        ("snake_case and \\*stars\\*", "snake_case and stars"),
        ("", ""),
        ("word " * 100, "word " * 47 + "word …"),
    ],
)
def test_an_excerpt_is_what_the_text_says(text: str, shown: str) -> None:
    assert markdown.excerpt(text) == shown


def test_the_feed_has_a_summary_of_a_long_post(site: Site) -> None:
    ada = site.as_("ada")
    write(ada, "Long", content="Very *long*. " * 2000, publish=True)
    write(ada, "Short", content="Brief.", publish=True)
    atom = {"a": "http://www.w3.org/2005/Atom"}
    feed = ElementTree.fromstring(httpx.get(f"{site.url}/wavyblog/feed.atom").content)
    entries = {entry.findtext("a:title", None, atom): entry for entry in feed.findall("a:entry", atom)}
    assert entries["Long"].find("a:content", atom) is None
    assert (entries["Long"].findtext("a:summary", None, atom) or "").startswith("Very long. Very long.")
    assert entries["Short"].findtext("a:content", None, atom) == "<p>Brief.</p>\n"


# Signing in while the password changes


def test_a_password_that_changes_while_it_is_checked_lets_nobody_in(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    change = {"password": PASSWORD, "new_password": "another one"}
    while_a_password_is_checked(monkeypatch, lambda: site.as_("ada").post("/me/password", json=change))
    visitor = site.as_()
    problem(visitor.post("/login", json={"user": "ada", "password": PASSWORD}), 401, "wrong-credentials")
    assert "wavyblog_refresh" not in visitor.cookies
    store = site.running.store
    assert list(store.each(site.running.design.token_families("ada"))) == []
    assert visitor.post("/login", json={"user": "ada", "password": "another one"}).status_code == 200


# Concurrent renames


def test_a_category_that_posts_move_to_stays_until_they_are_there(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(categories, "_AT_ONCE", -1)
    add_posts(site, 12, category="travel", is_published=True)
    root = site.as_("root")
    assert root.patch("/categories/travel", json={"slug": "journeys"}, headers=ANY).status_code == 200
    problem(root.delete("/categories/journeys", headers=ANY), 409, "being-renamed")
    problem(root.patch("/categories/journeys", json={"slug": "trips"}, headers=ANY), 409, "being-renamed")
    problem(root.patch("/categories/travel", json={"slug": "trips"}, headers=ANY), 409, "being-renamed")
    problem(root.patch("/categories/travel", json={"name": "Lost"}, headers=ANY), 409, "being-renamed")
    assert root.patch("/categories/journeys", json={"name": "Journeys"}, headers=ANY).status_code == 200
    sweep(site.running)
    problem(root.get("/categories/travel"), 404, "not-found")
    assert root.get("/categories/journeys").json()["post_count"] == 12
    assert root.patch("/categories/journeys", json={"slug": "trips"}, headers=ANY).status_code == 200
    sweep(site.running)
    assert root.get("/categories/trips").json()["post_count"] == 12
    assert site.running.store.verify() == []


def test_a_renamed_category_keeps_the_time_at_which_it_was_made(site: Site) -> None:
    store, design = site.running.store, site.running.design
    before = store.run(design.category("travel"))
    time.sleep(1.1)
    site.as_("root").patch("/categories/travel", json={"slug": "journeys"}, headers=ANY)
    after = store.run(design.category("journeys"))
    assert (after.category_id, after.created_at) == (before.category_id, before.created_at)
    assert after.awaited_count == 0
