"""Forms that get no answer of their page: what was entered isn't lost."""

import re
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from html import unescape
from threading import Event, Thread

import httpx
import pytest
from playwright.sync_api import Page, expect

from keyplan.web.identity.admission import Admission
from keyplan.web.settings import Settings
from tests.web.browser import browser, browser_page, plain_page  # noqa: F401 - fixtures
from tests.web.library import Librarian, NewShelf, ShelfOut
from tests.web.library_pages import WITH_PAGES
from tests.web.page_forms import hidden_in, sign_in
from tests.web.site import Site, changed, site

LIMIT = 30_000


class Slow:
    """A site where shelves are created only when the gate is open."""

    def __init__(self, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
        self.settings = settings
        self.gate = Event()
        create = Librarian.create_shelf

        def slowly(librarian: Librarian, new: NewShelf) -> ShelfOut:
            self.gate.wait(30)
            return create(librarian, new)

        monkeypatch.setattr(Librarian, "create_shelf", slowly)

    @contextmanager
    def hurried(self) -> Iterator[None]:
        """Requests that may not take long, within the block: a busy machine needs more time for all others."""
        before = self.settings.request_seconds
        self.settings.__dict__["request_seconds"] = 0.5  # settings are frozen, and the server has these
        yield
        self.settings.__dict__["request_seconds"] = before


@pytest.fixture
def slow(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[Slow]:
    made = Slow(changed(settings, request_seconds=60), monkeypatch)
    yield made
    made.gate.set()


@pytest.fixture
def started(slow: Slow) -> Iterator[Site]:
    with site(WITH_PAGES, slow.settings) as running:
        yield running
        slow.gate.set()  # otherwise the server would wait for it


@pytest.fixture
def limited(settings: Settings) -> Iterator[Site]:
    with site(WITH_PAGES, changed(settings, body_limit=LIMIT)) as started:
        yield started


@pytest.fixture(params=["browser_page", "plain_page"])
def page(request: pytest.FixtureRequest) -> Page:
    """With and without JavaScript."""
    made: Page = request.getfixturevalue(request.param)
    return made


def fill(page: Page, started: Site, name: str) -> None:
    page.goto(f"{started.url}/library/sign-in?to=/library/shelves/new")
    page.get_by_role("button", name="Alice Archer").click()
    field = page.get_by_label("Name")
    field.evaluate("(input, text) => { input.removeAttribute('maxlength'); input.value = text }", name)


def send(page: Page) -> None:
    page.get_by_role("button", name="Put it up").click()


def shelves(started: Site) -> list[str]:
    return [each["name"] for each in started.as_().get("/shelves").json()["items"]]


def test_a_form_that_takes_too_long_is_sent_again_and_takes_effect_once(page: Page, started: Site, slow: Slow) -> None:
    fill(page, started, "Poetry & Prose")
    with slow.hurried():
        send(page)
        expect(page.get_by_role("heading", level=1)).to_have_text("Temporarily unavailable")
    expect(page.locator("main")).to_contain_text("It may still be completed.")
    expect(page.locator("main")).to_contain_text("This page has what you entered.")
    expect(page.get_by_role("link", name="Sign in")).to_have_count(0)
    slow.gate.set()
    page.get_by_role("button", name="Send again").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Poetry & Prose")
    assert shelves(started) == ["Poetry & Prose"]


@pytest.fixture
def alice(started: Site) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=f"{started.url}/library", timeout=30, headers={"Accept": "text/html"}) as client:
        sign_in(client, "alice")
        yield client


def test_a_form_of_another_site_that_takes_too_long_is_not_sent_again(
    alice: httpx.Client, slow: Slow, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would be ours then."""
    form = {**hidden_in(alice, "/shelves/new"), "name": "Theirs"}
    # Before the form's token is checked.
    monkeypatch.setattr(Admission, "admit", lambda *given: slow.gate.wait(30))
    with slow.hurried():
        ours = alice.post("/shelves/new", data=form)
        theirs = alice.post("/shelves/new", data=form, headers={"Sec-Fetch-Site": "cross-site"})
    assert (ours.status_code, theirs.status_code) == (503, 403)
    assert 'name="name" value="Theirs"' in ours.text
    assert "Theirs" not in theirs.text


def test_a_form_that_takes_too_long_is_sent_again_as_it_was(alice: httpx.Client, slow: Slow) -> None:
    form = {**hidden_in(alice, "/shelves/new"), "name": 'Mine & "yours"'}
    with slow.hurried():
        page = alice.post("/shelves/new", data=form)
    found = dict(re.findall(r'type="hidden" name="([^"]+)" value="([^"]*)"', page.text))
    assert {name: unescape(text) for name, text in found.items() if name != "csrf"} == {
        name: text for name, text in form.items() if name != "csrf"
    }


def test_a_form_with_a_password_that_takes_too_long_is_not_shown(
    alice: httpx.Client, slow: Slow, monkeypatch: pytest.MonkeyPatch
) -> None:
    form = {**hidden_in(alice, "/shelves/new"), "name": "Mine", "password": "correct horse"}
    monkeypatch.setattr(Admission, "admit", lambda *given: slow.gate.wait(30))
    with slow.hurried():
        page = alice.post("/shelves/new", data=form)
    assert page.status_code == 503
    assert "correct horse" not in page.text
    assert "Send again" not in page.text


def test_a_form_that_is_too_large_is_still_in_the_browser(page: Page, limited: Site) -> None:
    """Its body is never read, so that only the browser has it."""
    text = "x" * (LIMIT + 1)
    fill(page, limited, text)
    send(page)
    expect(page.get_by_role("heading", level=1)).to_have_text("Too large")
    expect(page.locator("main")).to_contain_text("Your browser still has what you entered")
    page.go_back()
    expect(page.get_by_label("Name")).to_have_value(text)
    page.get_by_label("Name").fill("Poetry")
    send(page)
    expect(page.get_by_role("heading", level=1)).to_have_text("Poetry")
    assert shelves(limited) == ["Poetry"]


@contextmanager
def stalling(started: Site) -> Iterator[tuple[str, Event]]:
    """A connection to the site that loses the end of each form until the event is set."""
    target = started.url.removeprefix("http://").split(":")
    listener = socket.create_server(("127.0.0.1", 0))
    works = Event()

    def forward(source: socket.socket, to: socket.socket, *, forms: bool) -> None:
        with source, suppress(OSError):
            while data := source.recv(65536):
                to.sendall(data[:-5] if forms and not works.is_set() and data.startswith(b"POST ") else data)
            to.shutdown(socket.SHUT_WR)

    threads, open_ones = list[Thread](), list[socket.socket]()

    def accept() -> None:
        with listener, suppress(OSError):
            while True:
                here, _ = listener.accept()
                there = socket.create_connection((target[0], int(target[1])))
                open_ones.extend((here, there))
                for source, to, forms in ((here, there, True), (there, here, False)):
                    threads.append(Thread(target=forward, args=[source, to], kwargs={"forms": forms}))
                    threads[-1].start()

    accepting = Thread(target=accept)
    accepting.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}", works
    finally:
        for ended in (listener, *open_ones):  # browsers keep connections
            with suppress(OSError):
                ended.shutdown(socket.SHUT_RDWR)
        for each in (accepting, *threads):
            each.join(10)


def test_a_form_that_does_not_arrive_is_still_in_the_browser(page: Page, settings: Settings) -> None:
    """The rest of its body is lost on the way. Sent again, it takes effect once."""
    with (
        site(WITH_PAGES, changed(settings, body_seconds=1, idle_seconds=1)) as started,
        stalling(started) as (url, works),
    ):
        works.set()
        page.goto(f"{url}/library/sign-in?to=/library/shelves/new")
        page.get_by_role("button", name="Alice Archer").click()
        page.get_by_label("Name").fill("Poetry")
        works.clear()
        send(page)
        expect(page.get_by_role("heading", level=1)).to_have_text("This took too long")
        expect(page.locator("main")).to_contain_text("Your browser still has what you entered")
        assert shelves(started) == []
        works.set()
        page.go_back()
        expect(page.get_by_label("Name")).to_have_value("Poetry")
        send(page)
        expect(page.get_by_role("heading", level=1)).to_have_text("Poetry")
        assert shelves(started) == ["Poetry"]
