"""Forms whose session has ended: kept for the same person in the same browser, or shown for copying."""

import re
from collections.abc import Iterator
from datetime import timedelta
from html import unescape

import httpx
import pytest

from keyplan.web import Caller
from keyplan.web.identity.sessions import SESSION, Sessions
from keyplan.web.pages import kept
from keyplan.web.settings import Settings
from tests.web.library_pages import WITH_PAGES
from tests.web.page_forms import hidden_in, shelf_of, sign_in, token_in
from tests.web.site import Site, site

BOOK = {"title": "Emma & Co", "isbn": "123456", "pages": "7"}
"""A book whose ISBN is too short."""


@pytest.fixture
def started(settings: Settings) -> Iterator[Site]:
    with site(WITH_PAGES, settings) as running:
        yield running


@pytest.fixture
def browser(started: Site) -> Iterator[httpx.Client]:
    """A browser in which alice is signed in."""
    with httpx.Client(base_url=f"{started.url}/library", timeout=30) as client:
        sign_in(client, "alice")
        yield client


def end_sessions(started: Site, sub: str = "alice") -> None:
    Sessions(started.running.store).close_all(sub)


def sign_in_link(page: httpx.Response) -> str:
    """Where the link to the sign-in page leads back to."""
    found = re.search(r'class="button" href="/library/sign-in\?to=([^"]*)"', page.text)
    assert found, page.text
    return str(httpx.URL(f"http://x/?to={unescape(found[1])}").params["to"])


def ended(started: Site, browser: httpx.Client, **more: str) -> tuple[httpx.Response, str]:
    """Fill in the form for a book after the session has ended. Returns the page, and where to go on."""
    shelf = shelf_of(browser)
    form = {**hidden_in(browser, shelf), **BOOK, **more}
    end_sessions(started)
    page = browser.post(f"{shelf}/books", data=form)
    assert page.status_code == 401
    assert "<h1>Your session has ended</h1>" in page.text
    return page, sign_in_link(page)


def signed_in(browser: httpx.Client, sub: str, to: str, groups: str = "") -> httpx.Response:
    """The page that somebody gets to after signing in."""
    return browser.get(str(sign_in(browser, sub, groups, to).headers["location"]).removeprefix("/library"))


def test_the_form_comes_back_for_the_same_person(started: Site, browser: httpx.Client) -> None:
    page, to = ended(started, browser)
    assert "Sign in again, and the form comes back as you filled it in." in page.text
    assert re.findall(r'readonly value="([^"]*)"', page.text) == ["Emma &amp; Co", "123456", "7"]
    assert browser.get(to.removeprefix("/library")).status_code == 200, "whoever isn't signed in sees the page"
    assert "Emma" not in browser.get(to.removeprefix("/library")).text
    back = signed_in(browser, "alice", to)
    assert back.status_code == 200
    assert "as you filled it in before you signed in again" in back.text
    for value in ("Emma &amp; Co", "123456", "7"):
        assert f'value="{value}"' in back.text
    assert browser.get(to.removeprefix("/library")).text.count("Emma"), "also after a reload"
    assert "Emma" not in browser.get(to.removeprefix("/library").partition("?")[0]).text
    address = to.removeprefix("/library")
    form = hidden_in(browser, address)
    sent = browser.post(f"{address.partition('?')[0]}/books", data={**form, **BOOK, "isbn": "1234567890"})
    assert sent.status_code == 303


def unsent(page: httpx.Response) -> str | None:
    """Where the link to a kept form leads."""
    found = re.search(r'data-unsent>.*?href="([^"]*)"', page.text, re.DOTALL)
    return unescape(found[1]).removeprefix("/library") if found else None


def test_every_page_leads_to_it_until_it_was_shown(started: Site, browser: httpx.Client) -> None:
    _, to = ended(started, browser)
    assert unsent(browser.get("/")) is None, "nobody is signed in"
    sign_in(browser, "bob")
    assert unsent(browser.get("/")) is None
    sign_in(browser, "alice")
    assert {unsent(browser.get(path)) for path in ("/", "/shelves/new", "/time-zone", "/none")} == {
        to.removeprefix("/library")
    }
    back = browser.get(str(unsent(browser.get("/"))))
    assert 'value="Emma &amp; Co"' in back.text
    assert unsent(back) is None
    assert unsent(browser.get("/")) is None
    assert "Emma" in browser.get(to.removeprefix("/library")).text, "it stays where it is"


GOOD = {**BOOK, "isbn": "1234567890"}


def books(started: Site, shelf: str) -> list[str]:
    return [each["title"] for each in started.as_("alice").get(f"{shelf}/books").json()["items"]]


def test_a_form_that_was_saved_is_no_longer_kept(started: Site, browser: httpx.Client) -> None:
    _, to = ended(started, browser, **GOOD)
    signed_in(browser, "alice", to)
    address = to.removeprefix("/library")
    shelf = address.partition("?")[0]
    form = {**hidden_in(browser, address), **GOOD}
    saved = browser.post(f"{shelf}/books", data=form)
    assert saved.status_code == 303
    again = browser.get(address)  # a reload, or Back
    assert again.status_code == 200
    assert "as you filled it in before" not in again.text
    assert 'value="Emma &amp; Co"' not in again.text
    assert browser.post(f"{shelf}/books", data=form).headers["location"] == saved.headers["location"]
    assert books(started, shelf) == ["Emma & Co"]


def test_a_form_that_was_sent_again_by_a_reload_is_no_longer_kept(started: Site, browser: httpx.Client) -> None:
    """Alice signs in in another tab, and the browser sends the form again with its old token."""
    shelf = shelf_of(browser)
    form = {**hidden_in(browser, shelf), **GOOD}
    end_sessions(started)
    for _ in range(2):
        assert browser.post(f"{shelf}/books", data=form).status_code == 401
    sign_in(browser, "alice")
    assert unsent(browser.get("/")) is not None
    shown = browser.post(f"{shelf}/books", data=form)
    assert (shown.status_code, "This form has expired" in shown.text) == (403, True)
    fields = dict(re.findall(r'type="hidden" name="([^"]+)" value="([^"]*)"', shown.text.partition('value="Emma')[0]))
    assert fields["idempotency_key"] == form["idempotency_key"]
    assert browser.post(f"{shelf}/books", data={**form, "csrf": fields["csrf"]}).status_code == 303
    assert unsent(browser.get("/")) is None
    assert books(started, shelf) == ["Emma & Co"]


def test_a_kept_form_says_what_it_is_and_can_be_discarded(started: Site, browser: httpx.Client) -> None:
    _, to = ended(started, browser)
    sign_in(browser, "alice")
    page = browser.get("/shelves/new?from=here")
    notice = re.search(r"<div[^>]* data-unsent>.*?</div>", page.text, re.DOTALL)
    assert notice
    assert "wasn&#39;t saved: “Emma &amp; Co”, <time" in notice[0]
    fields = {name: unescape(value) for name, value in re.findall(r'name="([^"]+)" value="([^"]*)"', notice[0])}
    sign_in(browser, "bob")
    assert browser.post("/unsent-form", data=fields).status_code == 403
    asked = browser.post("/unsent-form", data={**fields, "csrf": token_in(browser.get("/"))})
    assert "<h1>Discard the form?</h1>" in asked.text, "somebody else doesn't learn what is in it"
    yes = {**fields, "confirmed": "yes"}
    assert browser.post("/unsent-form", data={**yes, "csrf": token_in(browser.get("/"))}).status_code == 303
    assert "Emma" in signed_in(browser, "alice", to).text, "somebody else can't discard it"
    asked = browser.post("/unsent-form", data={**fields, "csrf": token_in(browser.get("/"))})
    assert "<h1>Discard the form “Emma &amp; Co”?</h1>" in asked.text
    assert "data-unsent" not in asked.text
    assert "Emma" in browser.get(to.removeprefix("/library")).text, "nothing happened yet"
    discarded = browser.post("/unsent-form", data={**yes, "csrf": token_in(browser.get("/"))})
    assert discarded.headers["location"] == "/library/shelves/new?from=here"
    page = browser.get("/")
    assert "Form discarded" in page.text
    assert unsent(page) is None
    assert "Emma" not in browser.get(to.removeprefix("/library")).text


def test_the_latest_forms_come_one_after_the_other(started: Site, browser: httpx.Client) -> None:
    shelf = shelf_of(browser)
    for title in ("Agnes", "Bella", "Carla", "Dora"):
        form = {**hidden_in(browser, shelf), **BOOK, "title": title}
        end_sessions(started)
        assert browser.post(f"{shelf}/books", data=form).status_code == 401
        sign_in(browser, "alice")
    shown = []
    while (address := unsent(browser.get("/"))) is not None:
        shown += re.findall(r'name="title" value="([^"]*)"', browser.get(address).text)
    assert shown == ["Dora", "Carla", "Bella"]


def test_the_query_of_the_page_with_the_form_is_kept(started: Site, browser: httpx.Client) -> None:
    shelf = shelf_of(browser)
    form = {**hidden_in(browser, shelf), **BOOK}
    end_sessions(started)
    browser.post(f"{shelf}/books", data=form, headers={"Referer": f"{started.url}/library{shelf}?tab=2"})
    sign_in(browser, "alice")
    address = str(unsent(browser.get("/")))
    assert address.startswith(f"{shelf}?tab=2&kept=")
    assert "Emma" in browser.get(address).text


@pytest.mark.parametrize("cookie", ["x", "....", "0" * 5000, "a.b.c.d.e.f"])
def test_a_cookie_without_a_form_is_ignored(started: Site, browser: httpx.Client, cookie: str) -> None:
    for name in (kept.UNSEEN, kept.COOKIE):
        browser.cookies.set(name, cookie, domain="127.0.0.1", path="/library/")
    page = browser.get("/")
    assert (page.status_code, unsent(page)) == (200, None)


def test_somebody_else_in_the_same_browser_never_sees_it(started: Site, browser: httpx.Client) -> None:
    _, to = ended(started, browser)
    for sub, groups in (("bob", ""), ("root", "admin")):
        page = signed_in(browser, sub, to, groups)
        assert page.status_code == 200
        assert "Emma" not in page.text
    assert "Emma" in signed_in(browser, "alice", to).text


def test_another_browser_of_the_same_person_does_not_show_it(started: Site, browser: httpx.Client) -> None:
    _, to = ended(started, browser)
    with httpx.Client(base_url=f"{started.url}/library") as other:
        assert "Emma" not in signed_in(other, "alice", to).text
        other.cookies.set(kept.COOKIE, "guessed", domain="127.0.0.1", path="/library/")
        assert "Emma" not in other.get(to.removeprefix("/library")).text


def test_what_is_stored_is_encrypted_and_expires(started: Site, browser: httpx.Client) -> None:
    _, to = ended(started, browser)
    items = started.engine.scan(TableName="Library-keyplan")["Items"]
    stored = [item for item in items if item["pk"]["S"].startswith("KEPT")]
    assert len(stored) == 2
    assert all("expiresAt" in item for item in stored)
    assert "Emma" not in str(stored)
    assert "127.0.0.1" not in str(stored)
    clock = started.running.store.clock
    started.running.store.clock = lambda: clock() + timedelta(minutes=61)
    assert "Emma" not in signed_in(browser, "alice", to).text


@pytest.mark.parametrize("size", [500_000, 600_000])
def test_a_long_text_is_kept_up_to_a_limit(started: Site, browser: httpx.Client, size: int) -> None:
    page, to = ended(started, browser, title="x" * size)
    assert ("kept=" in to) == (size < kept.LONGEST)
    assert "x" * size in page.text, "it can be copied in any case"
    back = signed_in(browser, "alice", to)
    assert ("x" * size in back.text) == (size < kept.LONGEST)


def test_an_address_can_not_fill_the_store(
    started: Site, browser: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept, "MOST_FORMS", 3)
    shelf = shelf_of(browser)
    form = {**hidden_in(browser, shelf), **BOOK}
    end_sessions(started)
    found = []
    for _ in range(5):
        with httpx.Client(base_url=f"{started.url}/library") as anybody:  # without any cookie
            found.append("kept=" in sign_in_link(anybody.post(f"{shelf}/books", data=form)))
    assert found == [True, True, True, False, False]


def test_passwords_and_buttons_are_not_kept(started: Site, browser: httpx.Client) -> None:
    page, to = ended(started, browser, password="correct horse", new_password="battery")
    back = signed_in(browser, "alice", to)
    for text in (page.text, back.text):
        assert "correct horse" not in text
        assert "battery" not in text
    shelf = to.removeprefix("/library").partition("?")[0]
    form = hidden_in(browser, shelf)
    del form["form"]
    end_sessions(started)
    assert "kept=" not in sign_in_link(browser.post(f"{shelf}/delete", data={**form, "version": "1"}))


def test_a_form_that_another_site_sends_is_not_kept(started: Site, browser: httpx.Client) -> None:
    shelf = shelf_of(browser)
    form = {**hidden_in(browser, shelf), **BOOK}
    end_sessions(started)
    sent = browser.post(f"{shelf}/books", data=form, headers={"Sec-Fetch-Site": "cross-site"})
    assert sent.status_code == 403
    items = started.engine.scan(TableName="Library-keyplan")["Items"]
    assert not [item for item in items if item["pk"]["S"].startswith("KEPT")]


def test_what_was_entered_can_be_copied_if_the_item_is_gone(started: Site, browser: httpx.Client) -> None:
    shelf = shelf_of(browser)
    form = {**hidden_in(browser, shelf), **BOOK}
    root = started.as_("root", "admin")
    assert root.delete(shelf, headers={"If-Match": "*"}).status_code == 204
    page = browser.post(f"{shelf}/books", data={**form, "isbn": "1234567890"})
    assert page.status_code == 404
    assert "<h1>Not found</h1>" in page.text
    assert 'readonly value="Emma &amp; Co"' in page.text


def test_what_was_kept_can_be_copied_if_the_item_is_gone(started: Site, browser: httpx.Client) -> None:
    _, to = ended(started, browser)
    shelf = to.removeprefix("/library").partition("?")[0]
    started.as_("root", "admin").delete(shelf, headers={"If-Match": "*"})
    page = signed_in(browser, "alice", to)
    assert page.status_code == 404
    assert 'readonly value="Emma &amp; Co"' in page.text
    end_sessions(started)
    page = signed_in(browser, "root", to, "admin")
    assert page.status_code == 404
    assert "Emma" not in page.text


def test_what_was_entered_can_be_copied_if_the_permission_is_gone(started: Site, browser: httpx.Client) -> None:
    shelf = started.as_("bob").post("/shelves", json={"name": "Bob's"}).json()["shelf_id"]
    form = {**hidden_in(browser, f"/shelves/{shelf}"), **BOOK, "isbn": "1234567890"}
    page = browser.post(f"/shelves/{shelf}/books", data=form)
    assert page.status_code == 403
    assert 'readonly value="Emma &amp; Co"' in page.text


def test_a_form_of_somebody_else_who_was_signed_in_before(started: Site, browser: httpx.Client) -> None:
    """Alice fills in a form, and in another tab root signs in."""
    shelf = shelf_of(browser)
    form = {**hidden_in(browser, shelf), **BOOK}
    sign_in(browser, "root", "admin")
    page = browser.post(f"{shelf}/books", data=form)
    assert page.status_code == 403
    assert "<h1>You are signed in as another user</h1>" in page.text
    assert "Emma" not in page.text
    to = sign_in_link(page)
    assert "Emma" not in browser.get(to.removeprefix("/library")).text
    assert "Emma" in signed_in(browser, "alice", to).text


def test_a_form_of_an_earlier_session_of_the_same_person_is_shown_again(started: Site, browser: httpx.Client) -> None:
    shelf = shelf_of(browser)
    form = {**hidden_in(browser, shelf), **BOOK, "isbn": "1234567890"}
    proof = Sessions(started.running.store).open(Caller("alice"))
    browser.cookies.clear()
    browser.cookies.set(SESSION, proof, domain="127.0.0.1", path="/library/")
    page = browser.post(f"{shelf}/books", data=form)
    assert page.status_code == 403
    assert 'value="Emma &amp; Co"' in page.text
    assert "readonly" not in page.text
    fields = dict(re.findall(r'type="hidden" name="([^"]+)" value="([^"]*)"', page.text))
    assert browser.post(f"{shelf}/books", data={**form, "csrf": fields["csrf"]}).status_code == 303


def test_a_sign_in_form_with_an_old_token_is_shown_again(started: Site) -> None:
    with httpx.Client(base_url=f"{started.url}/library") as anybody:
        page = anybody.post("/sign-in", data={"csrf": "old", "form": "main", "sub": "alice", "groups": "readers"})
        assert page.status_code == 403
        assert 'value="alice"' in page.text
        assert 'value="readers"' in page.text
