"""WavyBlog with concurrent clients, and with interruptions."""

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from keyplan.apps.wavyblog.design import WavyBlog
from keyplan.apps.wavyblog.entities import Category, Post
from keyplan.data import Store, create
from keyplan.engine import Engine
from tests.apps.blog_site import ANY, PASSWORD, add_posts, add_user, blog, write
from tests.web.site import Site

COOKIE = "wavyblog_refresh"


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with Engine(str(tmp_path / "blog.db")) as engine, blog(tmp_path, engine) as served:
        yield served


def at_once(number: int, act: Callable[[int], httpx.Response]) -> Counter[int]:
    """How often each status was returned, with this many concurrent calls."""
    with ThreadPoolExecutor(min(number, 16)) as pool:
        return Counter(answer.status_code for answer in pool.map(act, range(number)))


def test_one_address_is_registered_once(site: Site) -> None:
    def register(number: int) -> httpx.Response:
        body = {"username": f"user_{number}", "email": "same@example.org", "password": "12345678"}
        return httpx.post(f"{site.api}/register", json=body, timeout=60)

    site.without_limits()  # 30 a minute is for guests
    assert at_once(50, register) == {201: 1, 409: 49}
    assert site.running.store.verify() == []


def test_posts_of_one_title_get_slugs_of_their_own(site: Site) -> None:
    token = site.token("ada")

    def post(number: int) -> httpx.Response:
        body = {"title": "Same", "content": str(number)}
        return httpx.post(f"{site.api}/posts", json=body, headers={"Authorization": f"Bearer {token}"}, timeout=60)

    assert at_once(50, post) == {201: 50}
    slugs = [each["slug"] for each in site.as_("ada").get("/me/posts?limit=100").json()["items"]]
    assert sorted(slugs) == sorted(["same", *(f"same-{number}" for number in range(2, 51))])
    assert site.as_("ada").get("/me").json()["post_count"] == 50
    assert site.running.store.verify() == []


def test_a_category_is_deleted_while_posts_move_into_it(site: Site) -> None:
    root, ada = site.as_("root"), site.as_("ada")
    for turn in range(6):
        slug = f"turn-{turn}"
        root.post("/categories", json={"name": slug})
        written = write(ada, f"Moving {turn}")

        def act(number: int, slug: str = slug, path: str = f"/posts/{written['slug']}") -> httpx.Response:
            if number:
                return ada.patch(path, json={"category": slug}, headers=ANY)
            return root.delete(f"/categories/{slug}", headers=ANY)

        with ThreadPoolExecutor(2) as pool:
            deleted, moved = pool.map(act, range(2))
        assert (deleted.status_code, moved.status_code) in {(204, 422), (409, 200)}
    assert site.running.store.verify() == []


def test_two_last_admins_cannot_both_go(site: Site) -> None:
    for turn in range(6):
        name = f"admin_{turn}"
        add_user(site, name, "admin")
        tokens = [site.token("root"), site.token(name)]

        def demote(number: int, name: str = name, tokens: list[str] = tokens) -> httpx.Response:
            other = ("root", name)[1 - number]
            headers = {"Authorization": f"Bearer {tokens[number]}"}
            return httpx.put(f"{site.api}/users/{other}/role", json={"role": "user"}, headers=headers)

        counted = at_once(2, demote)
        assert counted[200] == 1, counted
        admins = [each for each in ("root", name) if site.as_(each).get("/users").status_code == 200]
        assert len(admins) == 1
        if admins != ["root"]:
            site.as_(name).put("/users/root/role", json={"role": "admin"})
            site.as_("root").put(f"/users/{name}/role", json={"role": "user"})
    assert site.running.store.verify() == []


def test_a_refresh_token_that_is_used_twice_at_once_is_good_once_at_most(site: Site) -> None:
    for _ in range(4):
        client = site.as_()
        client.post("/login", json={"user": "ada", "password": PASSWORD})
        token = client.cookies[COOKIE]

        def refresh(number: int, token: str = token) -> httpx.Response:
            return httpx.post(f"{site.api}/refresh", cookies={COOKIE: token})

        with ThreadPoolExecutor(4) as pool:
            answers = list(pool.map(refresh, range(4)))
        good = [answer for answer in answers if answer.status_code == 200]
        assert len(good) <= 1
        assert all(answer.status_code == 401 for answer in answers if answer not in good)
        # The token was used twice, so all tokens that came from it are revoked, whoever has them.
        for answer in good:
            assert httpx.post(f"{site.api}/refresh", cookies={COOKIE: answer.cookies[COOKIE]}).status_code == 401
            bearer = {"Authorization": f"Bearer {answer.json()['access_token']}"}
            assert httpx.get(f"{site.api}/me", headers=bearer).status_code == 401
    assert site.running.store.verify() == []


def test_renames_and_deletes_in_parallel(site: Site, tmp_path: Path) -> None:
    add_posts(site, 40, is_published=True)
    tokens = [site.token("ada"), site.token("root")]

    def act(number: int) -> httpx.Response:
        with httpx.Client(
            base_url=site.api, headers={"Authorization": f"Bearer {tokens[number % 2]}"}, timeout=60
        ) as client:
            path = f"/posts/post-{number % 40:03}"
            match number % 4:
                case 0:
                    return client.patch(path, json={"title": f"Renamed {number % 8}"}, headers=ANY)
                case 1:
                    return client.delete(path, headers=ANY)
                case 2:
                    return client.patch(path, json={"category": "travel"}, headers=ANY)
                case _:
                    return client.post(f"{path}/unpublish")

    counted = at_once(160, act)
    assert not {status for status in counted if status >= 500}, counted
    assert site.running.store.verify() == []
    command = [sys.executable, "-m", "keyplan.cli", "verify", "wavyblog", "--path", str(tmp_path / "blog.db")]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


def _serve(folder: Path) -> tuple[subprocess.Popen[str], str]:
    command = [sys.executable, "-m", "keyplan.cli", "serve", "--dev", "--port", "0", "--system", "wavyblog"]
    known = {**os.environ, "KEYPLAN_SWEEP_SECONDS": "0.2", "KEYPLAN_LEASE_SECONDS": "2", "KEYPLAN_LOG_LEVEL": "error"}
    process = subprocess.Popen(command, cwd=folder, env=known, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    line = process.stdout.readline()
    return process, line.split()[2]


def test_a_category_rename_survives_being_killed(tmp_path: Path) -> None:
    """500 posts; killed in the middle; finished after the restart, with no post lost or doubled."""
    with Engine(str(tmp_path / "keyplan.db")) as engine:
        store = Store(WavyBlog(), engine)
        store.create_tables()
        with blog(tmp_path, engine) as served:
            served.running.store.run(create(Category(slug="big", name="Big")))
            add_posts(served, 500, category="big")
    process, url = _serve(tmp_path)
    token = _token(tmp_path, "root")
    auth: dict[str, Any] = {"headers": {"Authorization": f"Bearer {token}", "If-Match": "*"}, "timeout": 60}
    try:
        answer = httpx.patch(f"{url}/api/wavyblog/categories/big", json={"slug": "bigger"}, **auth)
        assert answer.status_code == 200
        while (moved := _count(url, "bigger")) < 50:
            time.sleep(0.01)
        os.kill(process.pid, signal.SIGKILL)
    finally:
        process.kill()
        process.communicate()
    assert moved < 500
    process, url = _serve(tmp_path)
    try:
        until = time.monotonic() + 60
        while _count(url, "bigger") < 500 or httpx.get(f"{url}/api/wavyblog/categories/big").status_code != 404:
            assert time.monotonic() < until, _count(url, "bigger")
            time.sleep(0.1)
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=20)
    assert process.returncode == 0
    with Engine(str(tmp_path / "keyplan.db")) as engine:
        store = Store(WavyBlog(), engine)
        posts: list[Post] = list(store.each(store.design.posts().limit(100)))
        assert len(posts) == len({post.post_id for post in posts}) == 500
        assert {post.category for post in posts} == {"bigger"}
        assert store.verify() == []


def _count(url: str, slug: str) -> int:
    answer = httpx.get(f"{url}/api/wavyblog/categories/{slug}")
    return answer.json()["post_count"] if answer.status_code == 200 else 0


def _token(folder: Path, sub: str) -> str:
    command = [sys.executable, "-m", "keyplan.cli", "token", "--sub", sub, "--system", "wavyblog"]
    return subprocess.run(command, capture_output=True, text=True, check=True, cwd=folder).stdout.strip()
