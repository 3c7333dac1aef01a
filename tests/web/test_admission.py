"""Whom a request counts against: the person who is recognized, or else the address."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from html import unescape
from typing import Any

import httpx
import pytest

from keyplan.data import utc_now
from keyplan.web import Caller
from keyplan.web.identity import tokens
from keyplan.web.identity.sessions import SESSION, Sessions
from keyplan.web.settings import Settings
from tests.web.answers import problem
from tests.web.library_pages import WITH_PAGES
from tests.web.page_forms import token_in
from tests.web.site import Site, changed, site

PLACES = ["api", "pages"]
OF_ADDRESS = "Too many requests from your network address: it may send 20 a minute."


class Busy:
    """The library with limits, in a minute that only ends when a test says so."""

    def __init__(self, served: Site) -> None:
        self.site = served
        self._now = utc_now().replace(second=12, microsecond=0)
        served.running.store.clock = lambda: self._now

    def next_minute(self) -> None:
        self._now += timedelta(minutes=1)

    def as_(self, place: str, sub: str | None = None, proof: str | None = None) -> httpx.Client:
        """Somebody who uses the API with a token, or the pages with a session; `proof` replaces that."""
        if place == "api":
            client = self.site.as_()
            proof = self.site.token(sub) if sub and proof is None else proof
            if proof is not None:
                client.headers["Authorization"] = f"Bearer {proof}"
            return client
        client = self.site.as_()
        client.base_url = httpx.URL(f"{self.site.url}/library")
        proof = Sessions(self.site.running.store).open(Caller(sub)) if sub and proof is None else proof
        if proof is not None:
            client.cookies.set(SESSION, proof, domain="127.0.0.1", path="/library/")
        return client

    def read(self, client: httpx.Client) -> httpx.Response:
        return client.get("/shelves" if client.base_url.path.startswith("/api") else "/")

    def exhaust(self, place: str) -> None:
        """Use up what the address may send, as visitors do."""
        visitor = self.as_(place)
        while self.read(visitor).status_code == 200:
            pass


@contextmanager
def busy_library(settings: Settings, **limits: int) -> Iterator[Busy]:
    with site(WITH_PAGES, changed(settings, **{"rate_address": 20, "rate_identity": 500, **limits})) as served:
        yield Busy(served)


@pytest.fixture
def busy(settings: Settings) -> Iterator[Busy]:
    with busy_library(settings) as library:
        yield library


@pytest.mark.parametrize("place", PLACES)
def test_people_behind_a_busy_address_are_served(busy: Busy, place: str) -> None:
    scorer = busy.as_(place, "ada")
    assert busy.read(scorer).status_code == 200
    busy.exhaust(place)
    assert [busy.read(scorer).status_code for _ in range(50)] == [200] * 50
    # Of the proofs that weren't seen before, a twentieth of the limit is checked.
    assert busy.read(busy.as_(place, "bob")).status_code == 200
    assert busy.read(busy.as_(place, "carol")).status_code == 429
    busy.next_minute()
    assert busy.read(busy.as_(place, "carol")).status_code == 200


@pytest.mark.parametrize("place", PLACES)
def test_requests_of_recognized_people_dont_count_against_their_address(busy: Busy, place: str) -> None:
    for sub in ("ada", "bob", "carol"):
        client = busy.as_(place, sub)
        assert [busy.read(client).status_code for _ in range(30)] == [200] * 30
    visitor = busy.as_(place)
    assert [busy.read(visitor).status_code for _ in range(21)] == [200] * 20 + [429]


@pytest.mark.parametrize("place", PLACES)
def test_a_person_has_a_limit_of_their_own(settings: Settings, place: str) -> None:
    with busy_library(settings, rate_identity=10) as busy:
        ada = busy.as_(place, "ada")
        assert [busy.read(ada).status_code for _ in range(11)] == [200] * 10 + [429]
        refused = busy.read(busy.as_(place, "ada"))
        assert refused.status_code == 429, "another token or session of the same person"
        assert refused.headers["retry-after"] == "48"
        assert "Too many requests: you may send 10 a minute. Try again in 48 seconds." in refused.text
        assert busy.read(busy.as_(place, "bob")).status_code == 200


@pytest.mark.parametrize("place", PLACES)
def test_bad_proofs_count_against_the_address(busy: Busy, place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once the address is over its limit, few of them are checked."""
    checked: list[str] = []

    def counted(what: str, check: Callable[..., Any]) -> Callable[..., Any]:
        def call(*given: object) -> object:
            checked.append(what)
            return check(*given)

        return call

    monkeypatch.setattr(tokens, "_is_signed", counted("a signature", tokens._is_signed))
    monkeypatch.setattr(Sessions, "find", counted("a session", Sessions.find))

    def forged(number: int) -> httpx.Response:
        made = busy.site.token(f"user-{number}") if place == "api" else f"{number:064}.nothing"
        proof = made[:-8] + "AAAAAAAA" if place == "api" else made
        return busy.read(busy.as_(place, proof=proof))

    first = [forged(number).status_code for number in range(20)]
    assert first == [401 if place == "api" else 200] * 20  # without a session, the page is shown as to a visitor
    assert len(checked) == 20
    later = [forged(number) for number in range(100, 130)]
    assert [each.status_code for each in later] == [429] * 30
    assert OF_ADDRESS in later[-1].text
    assert len(checked) <= 22, "one finds out that the limit is reached, and a twentieth of it is checked beyond that"
    assert busy.read(busy.as_(place)).status_code == 429, "visitors share the limit"


def test_an_ended_session_counts_against_the_address(busy: Busy) -> None:
    """Although it was valid a moment ago."""
    ada = busy.as_("pages", "ada")
    busy.read(ada)
    busy.exhaust("pages")
    assert busy.read(ada).status_code == 200
    Sessions(busy.site.running.store).close_all("ada")
    assert busy.read(ada).status_code == 429


def test_a_path_without_a_page_counts_too(busy: Busy) -> None:
    visitor = busy.as_("pages")
    assert [visitor.get("/nowhere").status_code for _ in range(21)] == [404] * 20 + [429]


def test_a_route_with_a_limit_of_its_own_counts_against_that(busy: Busy) -> None:
    """So people behind a busy address can sign in."""
    busy.exhaust("api")
    visitor = busy.as_("api")
    visitor.headers["Authorization"] = "Bearer none"
    answers = [visitor.post("/forgetful") for _ in range(6)]
    assert [each.status_code for each in answers] == [401] * 5 + [429]
    detail = problem(answers[-1], 429, "too-many-requests")["detail"]
    assert detail == (
        "Too many of these requests from your network address: it may send 5 a minute. Try again in 48 seconds."
    )


# What people see


def test_the_page_over_a_limit_says_so_and_asks_nobody_to_sign_in(busy: Busy) -> None:
    busy.exhaust("pages")
    for client in (busy.as_("pages"), *(busy.as_("pages", sub) for sub in ("ada", "bob"))):
        answer = busy.read(client)
    assert answer.status_code == 429
    assert answer.headers["content-type"].startswith("text/html")
    assert answer.headers["retry-after"] == "48"
    assert "<h1>Too many requests</h1>" in answer.text
    assert f"{OF_ADDRESS} Try again in 48 seconds." in answer.text
    assert "Sign in" not in answer.text
    assert SESSION in client.cookies, "the session wasn't even checked"


def new_shelf(client: httpx.Client, csrf: str, name: str) -> httpx.Response:
    return client.post("/shelves/new", data={"csrf": csrf, "form": "main", "name": name})


def test_a_form_over_the_limit_keeps_what_was_entered(settings: Settings) -> None:
    with busy_library(settings, rate_identity=10) as busy:
        ada = busy.as_("pages", "ada")
        csrf = token_in(ada.get("/shelves/new"))
        while busy.read(ada).status_code == 200:
            pass
        refused = new_shelf(ada, csrf, "Poems & <prose>")
        assert refused.status_code == 429
        assert refused.headers["retry-after"] == "48"
        assert 'value="Poems &amp; &lt;prose&gt;"' in refused.text
        assert "you may send 10 a minute" in refused.text
        assert "Put it up" in refused.text, "it is the form itself"
        assert ">ada</span>" in refused.text, "who is still signed in"
        # Showing the form costs as much as any page, so the second time it is sent from a page that reads nothing.
        again = new_shelf(ada, csrf, "Poems & <prose>")
        assert again.status_code == 429
        assert "Put it up" not in again.text
        assert "Send again" in again.text
        assert '<input type="hidden" name="name" value="Poems &amp; &lt;prose&gt;">' in again.text
        busy.next_minute()
        assert 'action="/library/shelves/new"' in again.text
        sent = new_shelf(ada, token_in(again), "Poems & <prose>")
        assert sent.status_code == 303
        assert "Poems & <prose>" in unescape(ada.get(sent.headers["location"].removeprefix("/library")).text)


def test_a_refusal_of_the_last_minute_does_not_hold_in_the_next(busy: Busy, monkeypatch: pytest.MonkeyPatch) -> None:
    """A request that is counted while others begin the next minute."""
    rates = busy.site.running.rates
    limit = rates.of_address("192.0.2.1")
    granted = rates._granted

    def none_left(subject: str, minute: int, most: int, wanted: int) -> int:
        monkeypatch.setattr(rates, "_granted", granted)
        busy.next_minute()
        rates.take(limit)
        return 0

    monkeypatch.setattr(rates, "_granted", none_left)
    rates.take(limit)  # it counts in the minute that has begun
    assert not rates.is_over(limit)
    rates.take(limit)
