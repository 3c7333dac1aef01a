"""WavyBlog served over HTTP, with some people in it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from keyplan.apps.wavyblog.api import SYSTEM
from keyplan.apps.wavyblog.entities import Category, Post, User
from keyplan.apps.wavyblog.fields import Role
from keyplan.apps.wavyblog.service.accounts import hashed
from keyplan.data import create
from keyplan.engine import Engine
from keyplan.web.settings import Settings
from tests.web.site import Site, settings_of, site

PASSWORD = "correct horse"
_HASH = hashed(PASSWORD)
ANY = {"If-Match": "*"}


def settings(folder: Path, **given: Any) -> Settings:
    """Settings for a test, which ignore the environment. Passwords are hashed two at a time, in any order."""
    limits = {"rate_identity": 0, "rate_address": 0, "request_seconds": 60, "hashing_places": 400}
    fixed = {"dev": True, **limits, "hashing_seconds": 60, "hashing_threads": 2}
    return settings_of(path=folder / "blog.db", **{**fixed, **given})


@contextmanager
def blog(folder: Path, engine: Engine | None = None, **given: Any) -> Iterator[Site]:
    """WavyBlog with an admin, two authors and a category."""
    with site(SYSTEM, settings(folder, **given), engine) as served:
        if served.running.store.run(served.running.design.user("root")) is None:
            add_user(served, "root", "admin")
            add_user(served, "ada")
            add_user(served, "bob")
            served.running.store.run(create(Category(slug="travel", name="Travel")))
        yield served


def add_user(served: Site, name: str, role: Role = "user") -> None:
    """An account with the usual password."""
    user = User(username=name, email=f"{name}@example.org", password_hash=_HASH, role=role)
    served.running.store.run(create(user))


def write(client: httpx.Client, title: str = "A title", **more: object) -> dict[str, Any]:
    """A post."""
    answer = client.post("/posts", json={"title": title, "content": "Some *text*.", **more})
    assert answer.status_code == 201, answer.text
    made: dict[str, Any] = answer.json()
    return made


def add_posts(served: Site, number: int, **fields: Any) -> None:
    """Many posts, written directly through the store."""
    for each in range(number):
        post = Post(
            **{"slug": f"post-{each:03}", "title": f"Post {each}", "content": "x", "author_id": "ada", **fields}
        )
        served.running.store.run(create(post))
