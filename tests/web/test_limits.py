"""The limits of one request: time, length, depth; and the address it comes from."""

import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from keyplan.data import create
from keyplan.engine import Engine
from keyplan.web import SIGNED_IN, Api, allow
from keyplan.web.settings import Settings
from tests.web.answers import pointers, problem, shelf
from tests.web.command import locked
from tests.web.library import SYSTEM, Librarian, NewShelf, Shelf, ShelfOut
from tests.web.library_pages import WITH_PAGES
from tests.web.site import Site, settings_of, site

pytestmark = pytest.mark.usefixtures("both_ways")

JSON = {"Content-Type": "application/json"}


# Time

go_on = threading.Event()


class Slow(Librarian):
    """A librarian who waits for a signal."""

    @allow(SIGNED_IN)
    def put_up(self, new: NewShelf) -> ShelfOut:
        """Create a shelf, slowly."""
        go_on.wait(30)
        return ShelfOut.model_validate(self.store.run(create(Shelf(name=new.name, owner=self.me.sub))))


@pytest.fixture
def slow(settings: Settings) -> Iterator[Site]:
    api = Api(Slow)
    api.post("/slow", Slow.put_up)
    api.get("/shelves", Slow.shelves)
    go_on.clear()
    hurried = settings.model_copy(update={"request_seconds": 0.3})
    with site(replace(SYSTEM, api=api), hurried) as served:
        yield served
        go_on.set()  # otherwise the server would wait for it


def test_writers_behind_a_held_lock_let_others_read(tmp_path: Path) -> None:
    """Another process holds the lock of the file, and one person writes more than there are threads for.

    With this limit, 59 of the writes are counted before the file is needed for it.
    """
    file = tmp_path / "held.db"
    with (
        Engine(str(file)) as engine,
        site(WITH_PAGES, settings_of(dev=True, path=file, rate_identity=600), engine) as held,
    ):
        ada, bob = held.as_("ada", limits=httpx.Limits(max_connections=80)), held.as_("bob")
        browser = httpx.Client(base_url=f"{held.url}/library", timeout=30)
        for each in (ada.get("/shelves"), bob.get("/shelves"), browser.get("/")):
            assert each.status_code == 200
        with ThreadPoolExecutor(60) as pool, closing(browser):
            with locked(file):
                writing = [pool.submit(ada.post, "/shelves", json={"name": f"Shelf {number}"}) for number in range(60)]
                time.sleep(0.5)
                longest = 0.0
                for _ in range(35):  # more than a share of the limit on requests, which is counted in the file
                    for reader, path in ((bob, "/shelves"), (browser, "/")):
                        began = time.monotonic()
                        assert reader.get(path).status_code == 200
                        longest = max(longest, time.monotonic() - began)
            assert {each.result().status_code for each in writing} == {201}
    assert longest < 2


def test_a_request_that_takes_too_long_times_out(slow: Site) -> None:
    began = time.monotonic()
    answer = slow.as_("ada").post("/slow", json={"name": "Novels"})
    assert 0.3 <= time.monotonic() - began < 10
    problem(answer, 503, "timeout")
    assert answer.headers["retry-after"] == "1"
    assert slow.as_().get("/shelves").json()["items"] == [], "other requests are served meanwhile"


def test_a_request_that_timed_out_can_be_repeated(slow: Site) -> None:
    """It still runs to its end, and its Idempotency-Key leads to the result."""
    client = slow.as_("ada")
    client.headers["Idempotency-Key"] = "mine"
    problem(client.post("/slow", json={"name": "Novels"}), 503, "timeout")
    problem(client.post("/slow", json={"name": "Novels"}), 409, "request-under-way")
    go_on.set()
    until = time.monotonic() + 20
    while (answer := client.post("/slow", json={"name": "Novels"})).status_code == 409:
        assert time.monotonic() < until
        time.sleep(0.02)
    assert answer.status_code == 201
    [made] = slow.as_().get("/shelves").json()["items"]
    assert answer.json() == made


def test_a_body_that_arrives_too_slowly_times_out(slow: Site) -> None:
    host, port = slow.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=10) as sending:
        head = f"POST /api/library/slow HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {slow.token('ada')}\r\n"
        sending.sendall(f"{head}Content-Length: 100\r\n\r\n{{".encode())
        answer = sending.recv(4096)
    assert answer.startswith(b"HTTP/1.1 503 ")


# Length and depth


def chunks(total: int) -> Iterator[bytes]:
    while total > 0:
        yield b" " * min(total, 10_000)
        total -= 10_000


@pytest.mark.parametrize("chunked", [False, True])
def test_the_length_of_a_body_is_limited(settings: Settings, chunked: bool) -> None:
    body = b'{"name": "Novels"}'
    limited = settings.model_copy(update={"body_limit": 30_000})
    with site(SYSTEM, limited) as library:
        ada = library.as_("ada")

        def post(length: int) -> httpx.Response:
            def parts() -> Iterator[bytes]:
                yield from chunks(length - len(body))
                yield body

            return ada.post("/shelves", content=parts() if chunked else b"".join(parts()), headers=JSON)

        problem(post(30_001), 413, "body-too-large")
        assert post(30_000).status_code == 201


def test_a_body_that_is_too_long_is_refused_before_it_is_sent(library: Site) -> None:
    """The announced length is enough to refuse it."""
    host, port = library.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=10) as sending:
        head = "POST /api/library/shelves HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999\r\n\r\n"
        sending.sendall(head.encode())
        assert sending.recv(4096).startswith(b"HTTP/1.1 413 ")


@pytest.mark.parametrize(("depth", "code"), [(8, "invalid"), (9, "too-deep")])
@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}")])
def test_the_depth_of_a_body_is_limited(settings: Settings, depth: int, code: str, opening: str, closing: str) -> None:
    with site(SYSTEM, settings.model_copy(update={"nesting_limit": 8})) as library:
        body = opening * depth + ("1" if opening != "[" else "") + closing * depth
        problem(library.as_("ada").post("/shelves", content=body, headers=JSON), 422, code)


# Values


@pytest.mark.parametrize(
    ("pages", "good"),
    [(7, True), (7.0, True), (7.5, False), ("7", False), (True, False), (None, False), ([7], False), (1e300, False)],
)
def test_numbers_must_be_json_numbers(library: Site, pages: object, good: bool) -> None:
    ada = library.as_("ada")
    path = f"/shelves/{shelf(ada)['shelf_id']}/books"
    answer = ada.post(path, json={"isbn": "1234567890", "title": "Emma", "pages": pages})
    if good:
        assert answer.status_code == 201
    else:
        assert pointers(problem(answer, 422, "invalid")) == ["/pages"]


@pytest.mark.parametrize(
    ("tag", "status"),
    [
        ('"' + "9" * 5000 + '"', 412),
        ('"²"', 400),
        ('""', 412),
        ('W/"1"', 412),
        ('"-1"', 412),
        ('"1e0"', 412),
        ('"3", "1"', 200),
        ('"3" ,\t"1"', 200),
        ("*", 200),
        ("1", 400),
        ('"1', 400),
        ('"1" "2"', 400),
        ("*, *", 400),
        (",", 400),
        ('"1",', 400),
        ("W/1", 400),
        ('"a,b"', 400),
        ("", 400),
    ],
)
def test_if_match_takes_only_etags(library: Site, tag: str, status: int) -> None:
    ada = library.as_("ada")
    path = f"/shelves/{shelf(ada)['shelf_id']}"
    answer = ada.patch(path, json={"name": "B"}, headers={b"If-Match": tag.encode("latin-1")})
    assert answer.status_code == status
    if status == 400:
        problem(answer, 400, "bad-if-match")


# Addresses


def refused(settings: Settings, trusted: list[str], forwarded: list[str]) -> int:
    """How many of these requests, each with its own forwarded address, are refused."""
    limited = settings.model_copy(update={"rate_address": 1, "trusted_proxies": trusted})
    with site(SYSTEM, limited) as library, ThreadPoolExecutor(4) as pool:
        # all within one minute
        at = library.running.store.clock()
        library.running.store.clock = lambda: at

        def ask(header: str) -> int:
            lines = [("X-Forwarded-For", line) for line in header.split("\n")]
            return httpx.get(f"{library.api}/shelves", headers=lines, timeout=30).status_code

        return list(pool.map(ask, forwarded)).count(429)


def test_the_address_is_the_last_one_before_our_proxies(settings: Settings) -> None:
    different = ["10.0.0.1", "10.0.0.2", "2001:db8::1"]
    assert refused(settings, [], different) == 2
    assert refused(settings, ["192.0.2.1"], different) == 2, "this proxy is not ours"
    assert refused(settings, ["127.0.0.1"], different) == 0
    # What the caller itself puts in front isn't trusted.
    assert refused(settings, ["127.0.0.1"], [f"{each}, 10.1.1.1" for each in different]) == 2
    # Several proxies, all of them ours.
    assert refused(settings, ["127.0.0.0/8", "10.9.0.0/16"], [f"{each} ,10.9.1.1, 10.9.1.2" for each in different]) == 0
    assert refused(settings, ["127.0.0.0/8", "10.9.0.0/16"], [f"{each}\n10.9.1.1" for each in different]) == 0
    # Whoever has one IPv6 address has its whole network.
    assert refused(settings, ["127.0.0.1"], ["2001:db8::1", "2001:db8::2:1", "2001:db8:0:1::1"]) == 1
    assert refused(settings, ["127.0.0.1"], ["::ffff:10.0.0.1", "::ffff:10.0.0.2", "10.0.0.1"]) == 1
    # Anything that isn't an address is ignored.
    assert refused(settings, ["127.0.0.1"], ["", "unknown", "10.0.0.1:80", "1.2.3.4, x"]) == 3
