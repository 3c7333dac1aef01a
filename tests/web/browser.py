"""A real browser for tests: Debian's Chromium, driven by Playwright.

    # ruff: noqa: F811 - fixtures are imported by their names
    from tests.web.browser import browser, browser_page  # noqa: F401 - fixtures

    def test_it(browser_page: Page, library: Site) -> None:
        browser_page.goto(library.url)

A test fails if a script on its page throws, if the console shows an error (such as a violation of the content security
policy), or if the page requests anything from another host. `KEYPLAN_SCREENSHOTS` names a folder for `screenshots`.
"""

import os
import shutil
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Request, sync_playwright

COMPLETE = os.environ.get("KEYPLAN_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
"""Chromium as people have it, which keeps pages for going back."""
CHROMIUM = os.environ.get("KEYPLAN_CHROMIUM") or shutil.which("chromium-headless-shell") or COMPLETE
"""The same without the windows around a page, if it is installed: that takes a third of the time."""
ONE_PROCESS = "--renderer-process-limit=1"
"""The tabs of a context need no processes of their own: starting one takes longer than showing a page."""
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
    ONE_PROCESS,
]
DESKTOP, PHONE = (1280, 900), (390, 844)
"""The window sizes in which pages are checked."""
_MISSING = "*** NOT TESTED: there is no Chromium, so no page was tested in a browser (apt-get install chromium). ***"


# One browser per file: while Playwright runs, tests of other files couldn't run an event loop in the same thread.
@pytest.fixture(scope="module")
def browser(request: pytest.FixtureRequest) -> Iterator[Browser]:
    """Chromium, started once per file. Without it, these tests are skipped, with a message that nobody can miss."""
    if CHROMIUM is None:
        with request.config.pluginmanager.getplugin("capturemanager").global_and_fixture_disabled():
            os.write(2, f"\n{_MISSING}\n".encode())
        pytest.skip(_MISSING)
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield started
        started.close()


class Watch:
    """Records what a page must not do."""

    def __init__(self, page: Page) -> None:
        self.found: list[str] = []
        page.on("pageerror", lambda error: self.found.append(f"a script failed: {error}"))
        page.on("console", self._on_console)
        page.on("request", self._on_request)  # not a route, without which the browser keeps files as usual

    def _on_console(self, message: ConsoleMessage) -> None:
        # The console also shows answers such as 422, which tests of forms expect.
        if message.type == "error" and "Failed to load resource" not in message.text:
            self.found.append(f"console error: {message.text}")

    def _on_request(self, request: Request) -> None:
        if urlsplit(request.url).hostname not in ("127.0.0.1", "localhost", None):
            self.found.append(f"requested from another host: {request.url}")


_unused: WeakKeyDictionary[Browser, dict[str, list[BrowserContext]]] = WeakKeyDictionary()
"""The contexts of a browser that no test uses, by their options."""


@contextmanager
def new_context(browser: Browser, **options: object) -> Iterator[BrowserContext]:
    """A browser context without cookies, with one empty tab.

    The first page in a new context takes eight times as long as the next one, and in a context without tabs four times
    as long. So a context that another test used is used again: pages keep nothing in the browser but cookies and what
    belongs to a tab.
    """
    unused = _unused.setdefault(browser, defaultdict(list))[str(sorted(options.items()))]
    if unused:
        context = unused.pop()
    else:
        size = {"width": DESKTOP[0], "height": DESKTOP[1]}
        context = browser.new_context(viewport=size, **options)  # type: ignore[arg-type]  # Playwright's own
        context.set_default_timeout(15_000)
        context.new_page()
    yield context
    for page in context.pages[1:]:
        page.close()
    context.set_offline(False)
    context.clear_cookies()
    unused.append(context)


def watched(browser: Browser, **options: object) -> Iterator[Page]:
    """A page in a context of its own. The test fails if the page does something it must not do."""
    with new_context(browser, **options) as context:
        page = context.new_page()
        watch = Watch(page)
        yield page
    assert watch.found == []


@pytest.fixture
def browser_page(browser: Browser) -> Iterator[Page]:
    """A page with JavaScript."""
    yield from watched(browser)


@pytest.fixture
def plain_page(browser: Browser) -> Iterator[Page]:
    """A page with JavaScript turned off."""
    yield from watched(browser, java_script_enabled=False)


def confirm(page: Page) -> None:
    """Say yes to the question of the page that asks before something that can't be undone."""
    page.locator("main form:has(input[name=confirmed]) button").click()


def fits(page: Page) -> bool:
    """Whether the page fits without scrolling sideways."""
    return bool(page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth"))


def screenshots(page: Page, name: str) -> None:
    """Check that a page fits on a desktop and on a phone, and save pictures if a folder is set."""
    folder = os.environ.get("KEYPLAN_SCREENSHOTS")
    page.wait_for_load_state()  # before its styles are loaded, a page can have any width
    for width, height in (DESKTOP, PHONE):
        page.set_viewport_size({"width": width, "height": height})
        assert fits(page), f"{name} is wider than {width} pixels"
        if folder:
            for scheme in ("light", "dark") if width == DESKTOP[0] else ("light",):
                page.emulate_media(color_scheme=scheme)
                page.screenshot(path=Path(folder) / f"{name}-{width}-{scheme}.png", full_page=True)
    page.emulate_media(color_scheme="light")
    page.set_viewport_size({"width": DESKTOP[0], "height": DESKTOP[1]})
