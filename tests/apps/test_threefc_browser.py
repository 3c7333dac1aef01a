# ruff: noqa: F811 - fixtures are imported by their names
"""3FC in a real browser: a game scored from a phone on the touchline, while others follow it."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from keyplan.apps.threefc import demo
from keyplan.apps.threefc.api import SYSTEM
from tests.apps.threefc_site import Club, club, ok, settings
from tests.web.browser import PHONE, browser, browser_page, confirm, plain_page, screenshots, watched  # noqa: F401 - fixtures
from tests.web.site import Site, site

BETWEEN_BARS = 664
"""What a phone's browser leaves of its screen's 844 pixels."""
FOLLOWS = 2000
"""Milliseconds in which everybody's page knows."""


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Club]:
    with club(tmp_path) as started:
        started.game()
        yield started


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """3FC with its demo data."""
    with site(SYSTEM, settings(tmp_path_factory.mktemp("demo"))) as started:
        demo.fill(started.running, lambda done, total: None)
        yield started


@pytest.fixture
def phone(browser: Browser) -> Iterator[Page]:
    """A page on a phone, to be tapped."""
    for page in watched(browser, has_touch=True, is_mobile=True):
        page.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
        yield page


def enter(page: Page, url: str, name: str, path: str) -> None:
    """Sign in as a user of the demo, and continue to a page."""
    page.goto(f"{url}/threefc{path}")
    page.get_by_role("button", name=name).click()
    page.wait_for_url(f"{url}/threefc{path}")


def conceded(page: Page, *numbers: int) -> None:
    expect(page.locator(".figure")).to_have_text([str(number) for number in numbers], timeout=FOLLOWS)


def test_two_taps_and_everybody_knows(phone: Page, browser_page: Page, served: Club) -> None:
    for minute in range(4):  # earlier goals don't push the pad away
        served.goal("gold" if minute % 2 else "blue", "red", minute=minute)
    enter(phone, served.site.url, "Sam Okafor", "/games/g1")
    phone.reload()  # without the message about signing in
    enter(browser_page, served.site.url, "Vera Lind", "/games/g1")
    conceded(browser_page, 0, 2, 2)
    expect(browser_page.get_by_role("form", name="Log goal")).to_have_count(0)

    conceding = phone.get_by_role("group", name="1. Who conceded?")
    scoring = phone.get_by_role("group", name="2. Who scored?")
    for target in (conceding.get_by_role("radio").first, scoring.locator("button").first):
        box = target.bounding_box()
        assert box is not None
        assert min(box["width"], box["height"]) >= 44, "large enough for a thumb"
        assert box["y"] + box["height"] <= BETWEEN_BARS, "there is nothing to scroll"

    conceding.get_by_role("radio", name="Red").tap()
    scoring.get_by_role("button", name="Blue").tap()
    tapped = time.monotonic()
    conceded(browser_page, 1, 2, 2)
    assert time.monotonic() - tapped < FOLLOWS / 1000
    expect(browser_page.get_by_role("status").filter(has_text="leads")).to_contain_text("Red leads.")
    conceded(phone, 1, 2, 2)

    conceding.get_by_role("radio", name="Gold").tap()
    scoring.get_by_role("button", name="Own goal").tap()
    conceded(browser_page, 1, 2, 3)
    expect(browser_page.locator(".timeline")).to_contain_text("own goal")
    screenshots(browser_page, "threefc-following")

    phone.get_by_role("button", name="Undo").tap()
    conceded(browser_page, 1, 2, 2)
    conceded(phone, 1, 2, 2)
    goal = max(ok(served.vera.get("/games/g1/goals"))["items"], key=lambda each: each["event_id"])
    assert (goal["conceding_team_id"], goal["scoring_team_id"]) == ("red", "blue")
    screenshots(phone, "threefc-pad")

    phone.get_by_role("button", name="End game").tap()
    confirm(phone)
    expect(browser_page.get_by_text("Red won.")).to_be_visible(timeout=2 * FOLLOWS)
    assert served.clean()


def test_a_tap_that_was_begun_is_not_lost_when_others_score(phone: Page, served: Club) -> None:
    """The score is updated; the scoring pad stays unchanged."""
    enter(phone, served.site.url, "Sam Okafor", "/games/g1")
    phone.get_by_role("group", name="1. Who conceded?").get_by_role("radio", name="Red").tap()
    phone.get_by_label("Minute").fill("77")
    served.goal("gold", "blue")
    conceded(phone, 0, 0, 1)
    phone.get_by_role("group", name="2. Who scored?").get_by_role("button", name="Blue").tap()
    conceded(phone, 1, 0, 1)
    expect(phone.locator(".timeline")).to_contain_text("77′")


def test_the_pad_disappears_when_somebody_else_finishes_the_game(phone: Page, served: Club) -> None:
    enter(phone, served.site.url, "Sam Okafor", "/games/g1")
    pad = phone.get_by_role("form", name="Log goal")
    expect(pad).to_be_visible()
    ok(served.olga.put("/games/g1/status", json={"status": "finished"}))
    expect(pad).to_have_count(0, timeout=2 * FOLLOWS)


def test_all_of_a_game_without_javascript(plain_page: Page, served: Club) -> None:
    page = plain_page
    enter(page, served.site.url, "Sam Okafor", "/games/g1")
    page.get_by_role("group", name="1. Who conceded?").get_by_role("radio", name="Red").click()
    page.get_by_role("group", name="2. Who scored?").get_by_role("button", name="Gold").click()
    conceded(page, 1, 0, 0)
    page.get_by_role("link", name="Edit goal").click()
    page.get_by_label("Scorer").select_option("Player 2 (Gold)")
    page.get_by_label("Player 5 (Gold)").check()
    screenshots(page, "threefc-goal")
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".timeline")).to_contain_text("Player 2, assisted by Player 5")
    page.get_by_role("button", name="Undo").click()
    conceded(page, 0, 0, 0)


def test_looking_around(browser_page: Page, full: Site) -> None:
    page = browser_page
    page.goto(f"{full.url}/threefc/")
    screenshots(page, "threefc-welcome")
    enter(page, full.url, "Olga Brandt", "/leagues/demo-league")
    screenshots(page, "threefc-league")
    page.get_by_role("link", name="Your leagues").click()
    expect(page.locator(".shelf li")).to_have_count(50)
    screenshots(page, "threefc-home")
    for path, name in (
        (f"/seasons/{demo.SPRING}", "season"),
        (f"/seasons/{demo.SPRING}/scorers", "scorers"),
        (f"/seasons/{demo.SPRING}/teams", "teams"),
        (f"/sessions/{demo.TODAY}", "session"),
        ("/games/demo-game-000-00", "finished"),
        ("/games/demo-game-000-00/roster", "roster"),
        ("/games/demo-game-027-02", "live"),
        ("/leagues/demo-league/people", "people"),
        ("/leagues/demo-league/players", "players"),
        ("/new-league", "new-league"),
    ):
        page.goto(f"{full.url}/threefc{path}")
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        screenshots(page, f"threefc-{name}")


def test_a_refused_form_leaves_the_other_forms_of_its_page_as_they_are(browser_page: Page, served: Club) -> None:
    page = browser_page
    enter(page, served.site.url, "Olga Brandt", "/leagues/north/people")
    page.get_by_label("Role of olga", exact=True).select_option("viewer")
    page.get_by_role("button", name="Change role of olga").click()
    summary = page.get_by_role("alert")
    expect(summary).to_contain_text("A league needs an admin.")
    expect(page.get_by_label("Role of olga", exact=True)).to_have_value("viewer")  # as it was chosen
    expect(page.get_by_label("Role of sam", exact=True)).to_have_value("scorekeeper")
    adding = page.locator("form.row")
    expect(adding.get_by_label("User ID")).to_have_value("")
    adding.get_by_label("User ID").fill("a#b")
    adding.get_by_role("button").click()
    summary.get_by_role("link").click()
    expect(adding.get_by_label("User ID")).to_be_focused()
    expect(adding.get_by_label("User ID")).to_have_value("a#b")
    expect(page.get_by_label("Role of olga", exact=True)).to_have_value("admin")
