"""axe-core in tests: what it finds wrong with a page, on a desktop and on a phone, light and dark.

`npm ci` in tests/axe installs it, which `make test` does. Without it these tests are skipped, with a message that
nobody can miss.
"""

import os
from functools import cache
from pathlib import Path
from typing import Literal, TypeAlias

import pytest
from playwright.sync_api import Page

from tests.web.browser import DESKTOP, PHONE

_SCRIPT = Path(__file__).parents[1] / "axe/node_modules/axe-core/axe.min.js"
_MISSING = "*** NOT TESTED: axe-core isn't installed (npm ci in tests/axe), so accessibility was not tested. ***"

_Look: TypeAlias = tuple[tuple[int, int], Literal["light", "dark"], list[str] | None]
_BY_COLORS = ["color-contrast", "link-in-text-block"]
_LOOKS: tuple[_Look, ...] = (
    (DESKTOP, "light", None),
    (PHONE, "light", [*_BY_COLORS, "target-size", "scrollable-region-focusable"]),
    (PHONE, "dark", _BY_COLORS),
    (DESKTOP, "dark", _BY_COLORS),
)
"""How a page is looked at, and the rules whose result may differ from the first look; None for all rules."""
_MOST_ROWS = 8
"""So many rows of a list or table are checked: the others are like them, and a page of 50 takes four times as long."""

_THIN_OUT = """most => {
  for (const list of document.querySelectorAll("ul, ol, tbody, select, datalist, fieldset, dl"))
    for (const row of [...list.children].slice(most)) row.remove();
}"""
_RUN = """async only => {
  const rules = only ? { runOnly: only } : { rules: { "target-size": { enabled: true } } };
  const found = await axe.run(document, { ...rules, resultTypes: ["violations"], preload: false });
  return found.violations.flatMap(rule => rule.nodes.map(node => `${rule.id}: ${node.html} (${node.failureSummary})`));
}"""
_SMALL = """() => [...document.querySelectorAll("a[href], button, select, textarea, summary, input")].flatMap(each => {
  const { width, height } = each.getBoundingClientRect();
  const inText = each.tagName === "A" && getComputedStyle(each).display === "inline";
  const small = each.checkVisibility() && width > 0 && !inText && (width < 24 || height < 24);
  return small ? [`${width} x ${height} px: ${each.outerHTML.slice(0, 200)}`] : [];
})"""
"""Links within a text are as high as its lines, as WCAG 2.5.8 has it."""


@pytest.fixture(scope="session")
def axe(request: pytest.FixtureRequest) -> None:
    """Skips the test if axe-core isn't installed."""
    if not _SCRIPT.exists():
        with request.config.pluginmanager.getplugin("capturemanager").global_and_fixture_disabled():
            os.write(2, f"\n{_MISSING}\n".encode())
        pytest.skip(_MISSING)


@cache
def _script() -> str:
    return _SCRIPT.read_text()


def violations(page: Page) -> list[str]:
    """What axe-core finds on the page that is shown."""
    page.evaluate(_script())  # as the developer tools would: the page's content security policy allows no other script
    page.evaluate(_THIN_OUT, _MOST_ROWS)
    found: list[str] = []
    for (width, height), scheme, only in _LOOKS:
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(color_scheme=scheme)
        found += [f"{width} px, {scheme}: {each}" for each in page.evaluate(_RUN, only)]
    page.emulate_media(color_scheme="light")
    return found


def small_targets(page: Page) -> list[str]:
    """What can be clicked and is smaller than 24 by 24 CSS pixels; axe-core accepts it where enough space is around."""
    found: list[str] = []
    for width, height in (PHONE, DESKTOP):
        page.set_viewport_size({"width": width, "height": height})
        found += [f"{width} px: {each}" for each in page.evaluate(_SMALL)]
    return found
