# ruff: noqa: F811 - fixtures are imported by their names
"""The kit's pages in a real browser, used with a mouse, with a keyboard, and without JavaScript."""

from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta

import pytest
from playwright.sync_api import Page, expect

from keyplan.web import TooManyRequests
from keyplan.web.settings import Settings
from tests.web.browser import browser, browser_page, confirm, plain_page, screenshots  # noqa: F401 - fixtures
from tests.web.library_pages import WITH_PAGES
from tests.web.site import Site, changed, site


@pytest.fixture
def started(settings: Settings) -> Iterator[Site]:
    with site(WITH_PAGES, settings) as running:
        yield running


def become_alice(page: Page, started: Site) -> None:
    page.goto(f"{started.url}/library/sign-in")
    page.get_by_role("button", name="Alice Archer").click()
    expect(page.get_by_role("status")).to_have_text("Signed in as Alice Archer")


def test_the_index_page(browser_page: Page, started: Site) -> None:
    browser_page.goto(started.url)
    expect(browser_page.get_by_role("heading", level=1)).to_have_text("Keyplan")
    screenshots(browser_page, "index")
    browser_page.get_by_role("link", name="Site of Library").click()
    expect(browser_page).to_have_url(f"{started.url}/library/")
    browser_page.goto(started.url)
    browser_page.get_by_role("link", name="API of Library", exact=True).click()
    expect(browser_page).to_have_url(f"{started.url}/api/library/docs")


def test_signing_in_and_out(browser_page: Page, started: Site) -> None:
    page = browser_page
    page.goto(f"{started.url}/library/")
    page.get_by_role("link", name="New shelf").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Choose a user")
    screenshots(page, "sign-in")
    page.get_by_role("button", name="Alice Archer").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("New shelf")  # back to the page one wanted
    expect(page.get_by_text("Alice Archer", exact=True)).to_be_visible()
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("status")).to_have_text("Signed out")
    expect(page.get_by_role("link", name="Sign in")).to_be_visible()
    assert [each["name"] for each in page.context.cookies()] == []


def test_switching_users_with_the_keyboard(browser_page: Page, started: Site) -> None:
    page = browser_page
    page.goto(f"{started.url}/library/sign-in?to=/library/gone")
    page.get_by_label("User ID").focus()
    page.keyboard.type("carol")
    page.keyboard.press("Tab")
    page.keyboard.type("admin")
    page.keyboard.press("Enter")
    expect(page).to_have_url(f"{started.url}/library/")  # the page /gone redirects admins
    expect(page.get_by_text("carol", exact=True)).to_be_visible()


def fill_shelf(page: Page, started: Site) -> None:
    page.goto(f"{started.url}/library/shelves/new")
    page.get_by_role("button", name="Put it up").click()
    expect(page.get_by_role("alert")).to_contain_text("Required.")
    page.get_by_label("Name").fill("Poetry & Prose")
    page.get_by_role("button", name="Put it up").click()
    expect(page.get_by_role("status")).to_have_text("“Poetry & Prose” is up.")
    page.get_by_label("Title").fill("Odes")
    page.get_by_label("ISBN").fill("12")
    page.get_by_role("button", name="Put it there").click()
    expect(page.get_by_role("alert")).to_be_visible()
    expect(page.get_by_label("Title")).to_have_value("Odes")
    expect(page.get_by_label("ISBN")).to_have_attribute("aria-invalid", "true")


def finish_shelf(page: Page) -> None:
    page.get_by_label("ISBN").fill("1234567890")
    page.get_by_label("Pages").fill("100")
    page.get_by_role("button", name="Put it there").click()
    expect(page.get_by_role("cell", name="Odes")).to_be_visible()


def test_filling_in_a_form(browser_page: Page, started: Site) -> None:
    page = browser_page
    become_alice(page, started)
    fill_shelf(page, started)
    expect(page.get_by_role("alert")).to_be_focused()
    screenshots(page, "form")
    page.get_by_role("link", name="Isbn: Enter a valid isbn.").click()
    expect(page.get_by_label("ISBN")).to_be_focused()
    finish_shelf(page)
    page.get_by_role("button", name="Take it down").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Take down “Poetry & Prose”?")
    page.get_by_role("link", name="Cancel").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Poetry & Prose")
    page.get_by_role("button", name="Take it down").click()
    confirm(page)
    expect(page.get_by_role("status")).to_have_text("It is gone.")
    screenshots(page, "list")


def test_everything_works_without_javascript(plain_page: Page, started: Site) -> None:
    become_alice(plain_page, started)
    fill_shelf(plain_page, started)
    finish_shelf(plain_page)
    plain_page.get_by_role("button", name="Take it down").click()
    confirm(plain_page)
    expect(plain_page.get_by_role("status")).to_have_text("It is gone.")


def test_a_problem_page(browser_page: Page, started: Site) -> None:
    browser_page.goto(f"{started.url}/library/shelves/none")
    expect(browser_page.get_by_role("heading", level=1)).to_have_text("Not found")
    screenshots(browser_page, "problem")


def test_trying_an_operation_in_the_reference(browser_page: Page, started: Site) -> None:
    page = browser_page
    page.goto(f"{started.url}/api/library/docs")
    expect(page.get_by_role("heading", level=1)).to_have_text("Library API")
    create = page.locator("#create_shelf")
    create.get_by_text("Try it").click()
    create.get_by_label("Body").fill('{"name": "Maps"}')
    create.get_by_role("button", name="Send request").click()
    expect(create.get_by_role("status")).to_contain_text("401")  # not signed in yet
    page.get_by_label("User ID").fill("alice")
    page.get_by_role("button", name="Get token").click()
    expect(page.get_by_text("Token for alice, valid for one hour.")).to_be_visible()
    create.get_by_role("button", name="Send request").click()
    expect(create.get_by_role("status")).to_contain_text("201 Created")
    expect(create.get_by_role("status")).to_contain_text('"name": "Maps"')
    shelves = page.locator("#shelves")
    shelves.get_by_text("Try it").click()
    shelves.get_by_label("limit").fill("1")
    shelves.get_by_role("button", name="Send request").click()
    expect(shelves.get_by_role("status")).to_contain_text("?limit=1")
    expect(shelves.get_by_role("status")).to_contain_text("Maps")
    screenshots(page, "reference")
    page.reload()
    expect(page.get_by_label("Bearer token")).not_to_have_value("")  # remembered while the tab is open


def test_finding_an_operation_with_the_keyboard(browser_page: Page, started: Site) -> None:
    page = browser_page
    page.goto(f"{started.url}/api/library/docs")
    contents = page.get_by_role("navigation", name="Operations")
    expect(contents.get_by_role("link")).not_to_have_count(2)
    page.get_by_label("Filter").focus()
    page.keyboard.type("rename")
    expect(contents.locator("[data-entry]:visible")).to_have_count(1)
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page).to_have_url(f"{started.url}/api/library/docs#rename_shelf")
    page.locator("#rename_shelf").get_by_text("Try it").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#rename_shelf").get_by_label("shelf_id")).to_be_visible()


def test_the_reference_is_readable_without_javascript(plain_page: Page, started: Site) -> None:
    plain_page.goto(f"{started.url}/api/library/docs")
    expect(plain_page.get_by_text("Rename a shelf.")).to_be_visible()
    expect(plain_page.get_by_text("Enable JavaScript to try operations on this page.")).to_be_visible()
    expect(plain_page.get_by_text("Try it").first).to_be_hidden()


def test_a_form_over_the_limit_is_still_filled_in(browser_page: Page, settings: Settings) -> None:
    with site(WITH_PAGES, changed(settings, rate_identity=10)) as started:
        page, now = browser_page, started.running.store.clock().replace(second=12)
        started.running.store.clock = lambda: now  # all in one minute
        become_alice(page, started)
        page.goto(f"{started.url}/library/shelves/new")
        page.get_by_label("Name").fill("Poetry & Prose")
        limit = started.running.rates.of_identity("alice")
        while not started.running.rates.is_over(limit):
            with suppress(TooManyRequests):
                started.running.rates.take(limit)
        page.get_by_role("button", name="Put it up").click()
        expect(page.get_by_role("alert")).to_contain_text("you may send 10 a minute. Try again in 48 seconds.")
        expect(page.get_by_label("Name")).to_have_value("Poetry & Prose")
        expect(page.get_by_text("Alice Archer", exact=True)).to_be_visible()
        screenshots(page, "form-over-limit")
        page.get_by_role("button", name="Put it up").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("Too many requests")
        screenshots(page, "page-over-limit")
        later = now + timedelta(minutes=1)
        started.running.store.clock = lambda: later
        page.get_by_role("button", name="Send again").click()
        expect(page.get_by_role("status")).to_have_text("“Poetry & Prose” is up.")


def test_going_back_and_sending_a_form_again(browser_page: Page, started: Site) -> None:
    """The page with the form is loaded again, with what was typed before: as it was, it is the same form."""
    page = browser_page
    become_alice(page, started)
    page.goto(f"{started.url}/library/shelves/new")
    page.get_by_label("Name").fill("Poetry")
    page.get_by_role("button", name="Put it up").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Poetry")
    book, put = page.get_by_label("Title"), page.get_by_role("button", name="Put it there")
    book.fill("Odes")
    page.get_by_label("ISBN").fill("1234567890")
    put.click()
    expect(page.get_by_role("cell", name="Odes")).to_have_count(1)
    page.go_back()
    expect(book).to_have_value("Odes")
    put.click()
    expect(page.get_by_role("status")).to_have_text("The book is there.")
    expect(page.get_by_role("cell", name="Odes")).to_have_count(1)
    page.go_back()
    book.fill("More odes")
    page.get_by_label("ISBN").fill("1234567891")
    put.click()
    expect(page.get_by_role("status")).to_have_text("The book is there.")
    expect(page.get_by_role("cell", name="Odes", exact=True)).to_have_count(1)
    expect(page.get_by_role("cell", name="More odes")).to_have_count(1)
