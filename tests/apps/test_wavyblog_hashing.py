"""A burst of sign-ins to WavyBlog: few run and wait, the others are told to come back, and everybody else is served."""

import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import replace
from html import unescape
from itertools import islice
from pathlib import Path
from typing import Any

import bcrypt
import httpx
import pytest

from keyplan.apps.wavyblog.api import SYSTEM
from keyplan.apps.wavyblog.service import Blog
from keyplan.web import Api
from tests.apps.blog_site import PASSWORD, blog, settings
from tests.web.answers import problem
from tests.web.page_forms import token_in
from tests.web.site import Site
from tests.web.site import site as served_site

PLACES, THREADS = 8, 2
BUSY = "Too many people are signing in right now. Try again in a few seconds."


class Held:
    """Comparisons of passwords that wait until a test lets them go on."""

    def __init__(self) -> None:
        self.go_on = threading.Event()
        self.begun = threading.Semaphore(0)
        self.running = 0

    def wait_for(self, number: int) -> None:
        """Wait until this many have begun."""
        for _ in range(number):
            assert self.begun.acquire(timeout=20)

    def checkpw(self, password: bytes, stored: bytes) -> bool:
        self.running += 1
        self.begun.release()
        self.go_on.wait(60)
        return password == PASSWORD.encode()


CLIENT = httpx.Client(timeout=60, limits=httpx.Limits(max_connections=None, max_keepalive_connections=0))


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Iterator[Held]:
    waiting = Held()
    monkeypatch.setattr(bcrypt, "checkpw", waiting.checkpw)
    yield waiting
    waiting.go_on.set()


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    limits: dict[str, Any] = {"hashing_places": PLACES, "hashing_threads": THREADS, "hashing_seconds": 30}
    with blog(tmp_path, trusted_proxies=["127.0.0.1"], **limits) as served:
        yield served


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(200) as threads:
        yield threads


def log_in(site: Site, address: str, user: str = "ada", password: str = PASSWORD) -> httpx.Response:
    body, headers = {"user": user, "password": password}, {"X-Forwarded-For": address}
    return CLIENT.post(f"{site.api}/login", json=body, headers=headers)


def fill(site: Site, held: Held, pool: ThreadPoolExecutor) -> list[Future[httpx.Response]]:
    """Take all places, from four addresses, two each."""
    sent = [pool.submit(log_in, site, f"10.0.0.{number % 4}") for number in range(PLACES)]
    held.wait_for(THREADS)
    queue = site.running.hashing
    while queue._held.total() < PLACES:
        threading.Event().wait(0.005)
    return sent


def test_everybody_else_is_served_during_200_sign_ins(site: Site, held: Held, pool: ThreadPoolExecutor) -> None:
    sent = [pool.submit(log_in, site, f"10.0.{number % 50}.1") for number in range(200)]
    held.wait_for(THREADS)
    reader, writer = site.as_(), site.as_("bob")
    for _ in range(20):
        assert reader.get("/posts").status_code == 200
        assert reader.get(f"{site.url}/wavyblog/").status_code == 200
        assert writer.post("/posts", json={"title": "Meanwhile", "content": "x"}).status_code == 201
    assert held.running == THREADS
    held.go_on.set()
    statuses = Counter(each.result().status_code for each in sent)
    assert statuses.keys() == {200, 503}
    assert statuses[200] >= PLACES


def test_whoever_finds_no_place_is_told_to_come_back(site: Site, held: Held, pool: ThreadPoolExecutor) -> None:
    waiting = fill(site, held, pool)
    answers = [log_in(site, "10.0.9.9", *who) for who in (("ada",), ("ada", "wrong"), ("nobody",), ("a@b.example",))]
    for answer in answers:
        assert problem(answer, 503, "sign-in-busy")["detail"] == BUSY
        assert int(answer.headers["retry-after"]) >= 1
    assert held.running == THREADS, "nothing was looked up or compared for them"
    held.go_on.set()
    assert [each.result().status_code for each in waiting] == [200] * PLACES
    assert log_in(site, "10.0.9.9").status_code == 200, "there are places again"


def test_an_address_has_at_most_a_quarter_of_the_places(site: Site, held: Held, pool: ThreadPoolExecutor) -> None:
    sent = [pool.submit(log_in, site, "10.0.0.1") for _ in range(20)]
    refused = list(islice(as_completed(sent, timeout=20), 20 - PLACES // 4))
    assert [each.result().status_code for each in refused] == [503] * 18
    assert [each.done() for each in sent].count(False) == PLACES // 4
    other = pool.submit(log_in, site, "10.0.0.2")
    held.go_on.set()
    assert other.result().status_code == 200
    assert Counter(each.result().status_code for each in sent) == {200: PLACES // 4, 503: 18}


def test_whoever_waits_too_long_is_told_to_come_back(tmp_path: Path, held: Held, pool: ThreadPoolExecutor) -> None:
    with blog(tmp_path, hashing_places=8, hashing_threads=1, hashing_seconds=0.05) as site:
        first = pool.submit(log_in, site, "")
        held.wait_for(1)
        answers = [log_in(site, "", user) for user in ("ada", "nobody")]
        held.go_on.set()
        assert [problem(each, 503, "sign-in-busy")["detail"] for each in answers] == [BUSY, BUSY]
        assert first.result().status_code == 200


def test_the_form_keeps_the_name(site: Site, held: Held, pool: ThreadPoolExecutor) -> None:
    waiting = fill(site, held, pool)
    with httpx.Client(base_url=f"{site.url}/wavyblog", headers={"X-Forwarded-For": "10.0.9.9"}) as visitor:
        form = {"csrf": token_in(visitor.get("/sign-in")), "form": "main", "to": ""}
        answer = visitor.post("/sign-in", data={**form, "user": "ada", "password": PASSWORD})
        assert answer.status_code == 503
        assert int(answer.headers["retry-after"]) >= 1
        assert BUSY in unescape(answer.text)
        assert 'value="ada"' in answer.text
        assert PASSWORD not in answer.text
        form |= {"username": "grace", "email": "g@example.org", "password": PASSWORD}
        answer = visitor.post("/register", data=form)
        assert answer.status_code == 503
        assert 'value="grace"' in answer.text
        assert 'value="g@example.org"' in answer.text
        held.go_on.set()
        assert [each.result().status_code for each in waiting] == [200] * PLACES
        again = {**form, "csrf": token_in(answer)}
        assert visitor.post("/register", data=again).status_code == 303


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/register", {"username": "grace", "email": "g@example.org", "password": PASSWORD}),
        ("/me/password", {"password": PASSWORD, "new_password": "another one"}),
        ("/me/email", {"password": PASSWORD, "email": "g@example.org"}),
    ],
)
def test_everything_that_hashes_waits_in_the_same_queue(
    site: Site, held: Held, pool: ThreadPoolExecutor, path: str, body: dict[str, str]
) -> None:
    fill(site, held, pool)
    ada = site.as_("ada")
    problem(ada.post(path, json=body), 503, "sign-in-busy")
    held.go_on.set()


def test_a_route_that_doesnt_say_that_it_hashes_fails(tmp_path: Path) -> None:
    """So none can be forgotten: hashing in the threads that serve everybody is a fault."""
    api = Api(Blog)
    api.post("/login", Blog.login, status=200)
    with served_site(replace(SYSTEM, api=api), settings(tmp_path)) as site:
        problem(log_in(site, ""), 500, "internal-error")


def test_people_behind_a_busy_address_can_sign_in(tmp_path: Path) -> None:
    with (
        blog(tmp_path, rate_address=5) as site,
        httpx.Client(base_url=f"{site.url}/wavyblog", timeout=30) as visitor,
    ):
        now = site.running.store.clock()
        site.running.store.clock = lambda: now  # all in one minute
        assert [visitor.get("/").status_code for _ in range(6)] == [200] * 5 + [429]
        csrf = token_in(visitor.get("/sign-in"))
        form = {"csrf": csrf, "form": "main", "user": "ada", "password": PASSWORD, "to": ""}
        assert visitor.post("/sign-in", data=form).status_code == 303
        assert "Signed in as ada" in visitor.get("/").text
        assert visitor.get("/register").status_code == 200
