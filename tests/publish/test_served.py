# ruff: noqa: F811 - fixtures are imported by their names
"""The pages that `keyplan serve` shows of designs: in a browser, on a desktop and on a phone, by everybody."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.all_designs import SYSTEMS
from tests.web.axe import axe, problems  # noqa: F401 - fixture
from tests.web.browser import PHONE, browser, browser_page, screenshots  # noqa: F401 - fixtures
from tests.web.command import Server, serve


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serve(tmp_path_factory.mktemp("serve"), systems=(), API_SECRET="swordfish") as started:
        yield started


def test_the_front_page_leads_to_each_design(browser_page: Page, server: Server) -> None:
    """A violation of the content security policy would fail the test."""
    browser_page.goto(server.url)
    expect(browser_page.get_by_role("link", name="Design of")).to_have_count(len(SYSTEMS))
    browser_page.get_by_role("link", name="Design of WavyBlog").click()
    expect(browser_page.get_by_role("heading", level=1)).to_have_text("WavyBlog")
    color = browser_page.evaluate("getComputedStyle(document.querySelector('table code')).fontFamily")
    assert "monospace" in color, "its style sheet is used"
    contents = browser_page.get_by_role("navigation", name="Contents")
    contents.get_by_text("Access patterns (26)").click()
    contents.get_by_role("link", name="6. Get Posts by User").click()
    expect(browser_page.get_by_role("heading", name="6. Get Posts by User")).to_be_in_viewport()
    browser_page.get_by_role("link", name="Keyplan", exact=True).click()
    browser_page.get_by_role("link", name="Findings in HackTracker").click()
    expect(browser_page.get_by_role("heading", name="Findings")).to_be_in_viewport()
    assert server.get("/designs/hacktracker.json").json()["title"] == "HackTracker"


@pytest.mark.parametrize("name", ["threefc", "wavyblog"])
def test_a_page_fits_the_screen(browser_page: Page, server: Server, name: str) -> None:
    """Only tables, code and pictures are wider, and scroll by themselves."""
    browser_page.goto(f"{server.url}/designs/{name}")
    for size in (PHONE, (1280, 900)):
        browser_page.set_viewport_size({"width": size[0], "height": size[1]})
        assert browser_page.evaluate("document.documentElement.scrollWidth") == size[0]
    assert "swordfish" not in browser_page.content(), "a variable of the environment"
    screenshots(browser_page, f"design-{name}")


def test_a_page_can_be_printed(browser_page: Page, server: Server) -> None:
    """All of it, on a sheet of A4, without what is only of use on a screen."""
    browser_page.set_viewport_size({"width": 794, "height": 1123})
    browser_page.goto(f"{server.url}/designs/wavyblog")
    example = browser_page.locator("main pre", has_text="dynamodb.get_item(").first
    expect(example).to_be_hidden()
    browser_page.emulate_media(media="print")
    expect(example).to_be_visible()
    expect(browser_page.get_by_role("navigation", name="Contents")).to_be_hidden()
    assert browser_page.evaluate("document.documentElement.scrollWidth") <= 794


_THIN_OUT = """() => {
  let number = 0;
  for (const each of [...document.querySelectorAll("#content > *")]) {
    if (each.tagName === "H2") number = 0;
    if (each.tagName === "H3") number += 1;
    if (number > 2) each.remove();
  }
  for (const each of document.querySelectorAll("main details")) each.open = true;
  for (const each of document.querySelectorAll("svg")) [...each.children].slice(60).forEach(child => child.remove());
}"""
"""Two parts of each kind are checked: the others are like them. What is folded is opened."""


def test_axe_finds_nothing(browser_page: Page, server: Server, axe: None) -> None:
    seen: set[str] = set()
    for address in ("/", "/designs/wavyblog"):
        browser_page.goto(f"{server.url}{address}")
        browser_page.evaluate(_THIN_OUT)
        assert problems(browser_page, seen) == []
