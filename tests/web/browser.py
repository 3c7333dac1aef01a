"""A real browser for tests: Debian's Chromium, driven by Playwright.

    # ruff: noqa: F811 - fixtures are imported by their names
    from tests.web.browser import browser, browser_page  # noqa: F401 - fixtures

    def test_it(browser_page: Page, library: Site) -> None:
        browser_page.goto(library.url)

A page fails its test when a script of it throws, when its console shows an error (which a breach of the content
security policy is), or when anything is asked of another host. `KEYPLAN_SCREENSHOTS` names a folder for `screenshots`.
"""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, Request, Route, sync_playwright

CHROMIUM = os.environ.get("KEYPLAN_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
]
DESKTOP, PHONE = (1280, 900), (390, 844)
"""The sizes that pages are looked at in."""
_MISSING = "*** NOT TESTED: there is no Chromium, so no page was tried in a browser (apt-get install chromium). ***"


# For one file at a time: as long as it runs, no event loop can be run in the same thread by tests of other files.
@pytest.fixture(scope="module")
def browser(request: pytest.FixtureRequest) -> Iterator[Browser]:
    """Chromium, once for the tests of a file; without it they are skipped, which is said where nobody can miss it."""
    if CHROMIUM is None:
        with request.config.pluginmanager.getplugin("capturemanager").global_and_fixture_disabled():
            os.write(2, f"\n{_MISSING}\n".encode())
        pytest.skip(_MISSING)
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield started
        started.close()


class Watch:
    """What a page must not do."""

    def __init__(self, page: Page) -> None:
        self.found: list[str] = []
        page.on("pageerror", lambda error: self.found.append(f"a script failed: {error}"))
        page.on("console", self._said)
        page.route("**/*", self._asked)

    def _said(self, message: ConsoleMessage) -> None:
        # An answer such as 422 is shown in the console, too; tests of forms want it.
        if message.type == "error" and "Failed to load resource" not in message.text:
            self.found.append(f"the console says: {message.text}")

    def _asked(self, route: Route, request: Request) -> None:
        if urlsplit(request.url).hostname in ("127.0.0.1", "localhost", None):
            route.continue_()
        else:
            self.found.append(f"another host was asked: {request.url}")
            route.abort()


def watched(browser: Browser, **options: object) -> Iterator[Page]:
    """A page in a browser of its own, without cookies; its faults are the test's."""
    context = browser.new_context(viewport={"width": DESKTOP[0], "height": DESKTOP[1]}, **options)  # type: ignore[arg-type]  # Playwright's own
    context.set_default_timeout(15_000)
    page = context.new_page()
    watch = Watch(page)
    yield page
    context.close()
    assert watch.found == []


@pytest.fixture
def browser_page(browser: Browser) -> Iterator[Page]:
    """A page."""
    yield from watched(browser)


@pytest.fixture
def plain_page(browser: Browser) -> Iterator[Page]:
    """A page of somebody who has JavaScript switched off."""
    yield from watched(browser, java_script_enabled=False)


def fits(page: Page) -> bool:
    """Whether nothing has to be scrolled sideways."""
    return bool(page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth"))


def screenshots(page: Page, name: str) -> None:
    """Look at a page on a desk and on a phone: it must fit. Pictures are kept where one wants them."""
    folder = os.environ.get("KEYPLAN_SCREENSHOTS")
    page.wait_for_load_state()  # what is there before its styles are may be of any width
    for width, height in (DESKTOP, PHONE):
        page.set_viewport_size({"width": width, "height": height})
        assert fits(page), f"{name} is wider than {width} pixels"
        if folder:
            for scheme in ("light", "dark") if width == DESKTOP[0] else ("light",):
                page.emulate_media(color_scheme=scheme)
                page.screenshot(path=Path(folder) / f"{name}-{width}-{scheme}.png", full_page=True)
    page.emulate_media(color_scheme="light")
    page.set_viewport_size({"width": DESKTOP[0], "height": DESKTOP[1]})
