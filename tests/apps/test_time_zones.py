# ruff: noqa: F811 - fixtures are imported by their names
"""Times on the pages, in a real browser: in the viewer's zone, or in the club's."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from keyplan.web import Caller
from keyplan.web.identity.sessions import SESSION, Sessions
from tests.apps.threefc_site import Club, club
from tests.apps.vcm_site import club as volleyball_club
from tests.web.browser import browser, plain_page, watched  # noqa: F401 - fixtures
from tests.web.site import Site

GAME = "2026-05-01T18:00:00Z"


@pytest.fixture
def league(tmp_path: Path) -> Iterator[Club]:
    with club(tmp_path) as started:
        started.game("g1", status="scheduled")
        yield started


@pytest.fixture
def new_yorker(browser: Browser) -> Iterator[Page]:
    """A browser whose clock is New York's."""
    yield from watched(browser, timezone_id="America/New_York")


def sign_in(page: Page, site: Site, sub: str, *groups: str) -> None:
    proof = Sessions(site.running.store).open(Caller(sub, frozenset(groups)))
    path = f"/{site.running.system.name}/"
    page.context.add_cookies([{"name": SESSION, "value": proof, "domain": "127.0.0.1", "path": path}])


def test_times_are_in_the_zone_of_the_browser(new_yorker: Page, league: Club) -> None:
    page = new_yorker
    sign_in(page, league.site, "olga")
    page.goto(f"{league.site.url}/threefc/games/g1")
    expect(page.get_by_text("1 May 2026, 14:00 EDT")).to_be_visible()
    page.goto(f"{league.site.url}/threefc/games/g1/edit")
    start = page.get_by_label("Start")
    expect(start).to_have_value("2026-05-01T14:00")
    expect(start).to_have_accessible_description("Time zone: America/New_York")
    start.fill("2026-05-01T15:30")
    page.get_by_role("button", name="Save game").click()
    expect(page.get_by_text("1 May 2026, 15:30 EDT")).to_be_visible()
    assert league.olga.get("/games/g1").json()["game_start_ts"] == "2026-05-01T19:30:00.000Z"


def test_a_form_means_the_zone_that_it_shows(new_yorker: Page, league: Club) -> None:
    """The zone was changed in another tab, after the form was opened."""
    page = new_yorker
    sign_in(page, league.site, "olga")
    page.goto(f"{league.site.url}/threefc/games/g1/edit")
    expect(page.get_by_label("Start")).to_have_value("2026-05-01T14:00")
    other = page.context.new_page()
    other.goto(f"{league.site.url}/threefc/time-zone")
    other.get_by_label("Time zone").select_option("Europe/Berlin")
    other.get_by_role("button", name="Save time zone").click()
    expect(other.get_by_role("status")).to_have_text("Times are in Europe/Berlin")
    page.get_by_label("Start").fill("2026-05-01T15:30")
    page.get_by_role("button", name="Save game").click()
    expect(page.get_by_text("1 May 2026, 21:30 CEST")).to_be_visible()


def test_without_javascript_the_zone_is_chosen_on_a_page(plain_page: Page, league: Club) -> None:
    page = plain_page
    sign_in(page, league.site, "olga")
    page.goto(f"{league.site.url}/threefc/games/g1")
    expect(page.get_by_text("1 May 2026, 18:00 UTC")).to_be_visible()
    page.get_by_role("link", name="Time zone: UTC").click()
    page.get_by_label("Time zone").select_option("Asia/Kathmandu")
    page.get_by_role("button", name="Save time zone").click()
    expect(page.get_by_text("1 May 2026, 23:45 UTC+05:45")).to_be_visible()  # back on the page of the game
    page.get_by_role("link", name="Time zone: Asia/Kathmandu").click()
    expect(page.get_by_label("Time zone")).to_have_value("Asia/Kathmandu")
    page.get_by_label("Time zone").select_option("")
    page.get_by_role("button", name="Save time zone").click()
    expect(page.get_by_text("1 May 2026, 18:00 UTC")).to_be_visible()


def _send_twice(route: Route) -> None:
    """The answer to the first is lost."""
    if route.request.method == "POST":
        route.fetch(max_redirects=0)
    route.continue_()


def test_a_skipped_and_a_doubled_hour(plain_page: Page, league: Club) -> None:
    page = plain_page
    sign_in(page, league.site, "olga")
    page.goto(f"{league.site.url}/threefc/time-zone")
    page.get_by_label("Time zone").select_option("America/New_York")
    page.get_by_role("button", name="Save time zone").click()
    page.goto(f"{league.site.url}/threefc/games/g1/edit")
    page.get_by_label("Start").fill("2026-03-08T02:30")
    page.get_by_role("button", name="Save game").click()
    expect(page.get_by_role("alert")).to_contain_text("clocks go from 02:00 to 03:00")
    expect(page.get_by_label("Start")).to_have_value("2026-03-08T02:30")
    page.get_by_label("Start").fill("2026-11-01T01:30")
    page.route("**/games/g1/edit", _send_twice)
    page.get_by_role("button", name="Save game").click()
    about = "Clocks show 01:30 twice on 1 November 2026 in America/New_York. The first one (EDT, not EST) was saved."
    expect(page.locator(".notice")).to_have_text(f"Game saved. {about}")
    assert league.olga.get("/games/g1").json()["game_start_ts"] == "2026-11-01T05:30:00.000Z"


def test_a_club_has_one_zone_for_everybody(new_yorker: Page, tmp_path: Path) -> None:
    page = new_yorker
    with volleyball_club(tmp_path) as site:
        sign_in(page, site, "mona", "Moderator")
        page.goto(f"{site.url}/vcm/redaktion/termine/neu")
        page.get_by_label("Titel").fill("Frühsport")
        start = page.get_by_label("Beginn")
        expect(start).to_have_accessible_description("Zeitzone: Europe/Berlin")
        start.fill("2030-03-31T02:30")
        page.get_by_label("Titel").fill("Früh\u200bsport")
        page.get_by_role("button", name="Speichern", exact=True).click()
        expect(page.get_by_role("alert").get_by_role("listitem")).to_have_count(2)  # all that is wrong at once
        expect(page.get_by_role("alert")).to_contain_text("U+200B")
        page.get_by_label("Titel").fill("Frühsport")
        says = "02:30 Uhr gibt es am 31. März 2030 in Europe/Berlin nicht: Die Uhren springen von 02:00 auf 03:00."
        expect(page.get_by_role("alert")).to_contain_text(says)
        start.fill("2030-10-27T02:30")
        page.get_by_role("button", name="Speichern", exact=True).click()
        said = "am 27. Oktober 2030 in Europe/Berlin zweimal. Gespeichert wurde die erste (CEST, nicht CET)."
        expect(page.get_by_role("status")).to_contain_text(said)
        expect(page.get_by_text("02:30 Uhr (CEST)")).to_be_visible()
