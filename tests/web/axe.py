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

_BY_COLORS = ["color-contrast", "link-in-text-block"]
_BY_SIZE = ["target-size", "scrollable-region-focusable"]
_Scheme: TypeAlias = Literal["light", "dark"]
_MOST_ROWS = 8
"""So many rows of a list or table are checked: the others are like them, and a page of 50 takes four times as long."""

_THIN_OUT = """most => {
  for (const list of document.querySelectorAll("ul, ol, tbody, select, datalist, fieldset, dl"))
    for (const row of [...list.children].slice(most)) row.remove();
}"""
_KINDS = """() => {
  const contents = ["id", "href", "src", "alt", "title", "name", "value", "for"];
  const own = each => {
    const names = each.getAttributeNames().filter(name => !contents.includes(name));
    return [each.tagName, ...["class", "type", "style"].map(name => each.getAttribute(name)), ...names].join(" ");
  };
  const kinds = new Map([[document.body, own(document.body)]]);
  const elements = [...document.querySelectorAll("body *")];
  for (const each of elements) kinds.set(each, `${kinds.get(each.parentElement)} > ${own(each)}`);
  return elements.map(each => kinds.get(each));
}"""
"""Everything that a style sheet can tell elements by, for each element."""
_RUN = """async ([only, numbers]) => {
  const but = { "target-size": { enabled: true }, "color-contrast": { enabled: false } };
  const rules = only ? { runOnly: only } : { rules: but };
  const elements = document.querySelectorAll("body *");
  const where = numbers ? { include: numbers.map(number => elements[number]) } : document;
  const found = await axe.run(where, { ...rules, resultTypes: ["violations"], preload: false });
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


def problems(page: Page, seen: set[str] | None = None) -> list[str]:
    """What keeps people from using the page that is shown: what axe-core finds, and what is too small to be hit.

    Colors are checked on a desktop and on a phone, light and dark. `seen` are the kinds of elements whose colors were
    checked on other pages with the same style sheets. This page's kinds are added.
    """
    page.evaluate(_script())  # as the developer tools would: the page's content security policy allows no other script
    page.evaluate(_THIN_OUT, _MOST_ROWS)
    new = _first_of_each_kind(page, set() if seen is None else seen)
    return [
        *_found(page, DESKTOP, "light"),
        *_small_targets(page, DESKTOP),
        *_found(page, DESKTOP, "light", _BY_COLORS, new),
        *_found(page, DESKTOP, "dark", _BY_COLORS, new),
        *_found(page, PHONE, "dark", _BY_COLORS, new),
        *_found(page, PHONE, "light", _BY_COLORS, new),
        *_found(page, PHONE, "light", _BY_SIZE),
        *_small_targets(page, PHONE),
    ]


def _first_of_each_kind(page: Page, seen: set[str]) -> list[int]:
    """The numbers of the elements that are the first ones of their kind. Adds their kinds to those that were seen."""
    first: list[int] = []
    for number, kind in enumerate(page.evaluate(_KINDS)):
        if kind not in seen:
            seen.add(kind)
            first.append(number)
    return first


def _found(
    page: Page,
    size: tuple[int, int],
    scheme: _Scheme,
    only: list[str] | None = None,
    among: list[int] | None = None,
) -> list[str]:
    """What axe-core finds by some rules, or by all but contrast, in some elements or in all."""
    if among == []:
        return []
    page.set_viewport_size({"width": size[0], "height": size[1]})
    page.emulate_media(color_scheme=scheme)
    return [f"{size[0]} px, {scheme}: {each}" for each in page.evaluate(_RUN, [only, among])]


def _small_targets(page: Page, size: tuple[int, int]) -> list[str]:
    """What can be clicked and is smaller than 24 by 24 CSS pixels; axe-core accepts it where enough space is around."""
    page.set_viewport_size({"width": size[0], "height": size[1]})
    return [f"{size[0]} px: {each}" for each in page.evaluate(_SMALL)]
