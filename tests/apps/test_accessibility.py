# ruff: noqa: F811 - fixtures are imported by their names
"""Every page of every system can be used by everybody: axe-core finds nothing, and everything can be hit with a thumb.

One browser for each system, so that the systems are tested at the same time.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext

from keyplan.web.identity.sessions import SESSION
from tests.apps.every_page import NOBODY, TOURS, Shown, Tour, Toured, toured
from tests.web.axe import axe, small_targets, violations  # noqa: F401 - fixture
from tests.web.browser import browser  # noqa: F401 - fixture


def different(toured: Toured) -> Iterator[Shown]:
    """The pages of the system and the kit, without what others saw in the same way. One problem of each status."""
    seen: set[tuple[object, ...]] = set()
    for shown in toured.pages:
        kind = (shown.route, shown.main) if shown.status == 200 else (shown.status, shown.who == NOBODY)
        if shown.html and shown.route not in toured.tour.parts and kind not in seen:
            seen.add(kind)
            yield shown
    if toured.tour is TOURS[0]:  # these are the same for all systems
        yield Shown(NOBODY, "/", "/", 200, "")
        yield Shown(NOBODY, "docs", f"/api{toured.prefix}/docs", 200, "")


def contexts(browser: Browser, toured: Toured) -> dict[str, BrowserContext]:
    """A browser for each person, signed in."""
    made = {who: browser.new_context() for who in (*toured.proofs, NOBODY)}
    for who, proof in toured.proofs.items():
        made[who].add_cookies([{"name": SESSION, "value": proof, "domain": "127.0.0.1", "path": f"{toured.prefix}/"}])
    return made


@pytest.mark.usefixtures("axe")
@pytest.mark.parametrize("tour", TOURS, ids=lambda tour: tour.system.name)
def test_axe_finds_nothing_on_any_page(tour: Tour, browser: Browser, tmp_path: Path) -> None:
    found: list[str] = []
    with toured(tour, tmp_path) as started:
        pages = {who: context.new_page() for who, context in contexts(browser, started).items()}
        for shown in different(started):
            page = pages[shown.who]
            page.goto(f"{started.served.url}{shown.address}")
            told = [*violations(page), *small_targets(page)]
            found += [f"{shown.address} as {shown.who}, {each}" for each in told]
        for page in pages.values():
            page.context.close()
    assert not found, "\n".join(found)


def test_axe_would_find_something(browser: Browser, axe: None) -> None:
    """A page with one mistake of each kind, to know that the rules are on."""
    page = browser.new_page()
    page.set_content(
        '<html lang="en"><title>Bad</title><main><h1>Bad</h1><p style="color: #999; background: #fff">Pale</p>'
        '<img src="data:," width="9" height="9"><button style="width: 9px; height: 9px" aria-label="A"></button>'
        '<button style="width: 9px; height: 9px" aria-label="B"></button></main></html>'
    )
    told = " ".join(violations(page))
    assert all(rule in told for rule in ("color-contrast", "image-alt", "target-size"))
    assert len(small_targets(page)) == 4  # two buttons, on two screens
    page.close()
