# ruff: noqa: F811 - fixtures are imported by their names
"""Pictures in a real browser: text fits its boxes, nothing overlaps, and it can be read on light and on dark."""

from html import escape

import pytest
from playwright.sync_api import Page

from keyplan.publish.diagrams import STYLE, Edge, Node, Relations, draw
from tests.all_designs import SYSTEMS
from tests.publish.documents import document
from tests.web.browser import browser, browser_page  # noqa: F401 - fixtures

_MEASURE = """() => {
  const found = [];
  for (const svg of document.querySelectorAll("svg")) {
    const name = svg.querySelector("title").textContent;
    const area = svg.viewBox.baseVal;
    const boxes = [...svg.querySelectorAll("rect")].map(each => each.getBBox());
    const texts = [...svg.querySelectorAll("text")].map(each => ({ text: each.textContent, box: each.getBBox() }));
    for (const { text, box } of texts) {
      if (box.x < 0 || box.y < 0 || box.x + box.width > area.width || box.y + box.height > area.height)
        found.push(`${name}: ${text} is outside of the picture`);
      const around = boxes.filter(each => each.x <= box.x && box.x <= each.x + each.width
        && each.y <= box.y + box.height / 2 && box.y + box.height / 2 <= each.y + each.height);
      const smallest = around.sort((a, b) => a.width * a.height - b.width * b.height)[0];
      if (smallest && (box.x + box.width > smallest.x + smallest.width + 0.5
        || box.y + box.height > smallest.y + smallest.height + 2))
        found.push(`${name}: ${text} doesn't fit its box`);
    }
    texts.sort((a, b) => a.box.y - b.box.y);
    texts.forEach((one, at) => {
      for (const other of texts.slice(at + 1)) {
        if (other.box.y > one.box.y + one.box.height - 3) break;
        const apart = other.box.x >= one.box.x + one.box.width || one.box.x >= other.box.x + other.box.width;
        if (!apart) found.push(`${name}: ${one.text} overlaps ${other.text}`);
      }
    });
    const cards = [...svg.querySelectorAll("rect.card")].map(each => each.getBBox());
    cards.forEach((one, at) => {
      for (const other of cards.slice(at + 1))
        if (one.x < other.x + other.width && other.x < one.x + one.width
          && one.y < other.y + other.height && other.y < one.y + one.height)
          found.push(`${name}: two boxes overlap`);
    });
  }
  return found;
}"""

_CONTRAST = """() => {
  const channel = value => value <= 10 ? value / 3294 : ((value / 255 + 0.055) / 1.055) ** 2.4;
  const light = color => {
    const [r, g, b] = color.match(/[0-9.]+/g).map(Number);
    return 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
  };
  const ratio = (one, other) => {
    const [high, low] = [light(one), light(other)].sort((a, b) => b - a);
    return (high + 0.05) / (low + 0.05);
  };
  const found = new Set();
  for (const svg of document.querySelectorAll("svg")) {
    const rects = [...svg.querySelectorAll("rect")];
    for (const text of svg.querySelectorAll("text")) {
      const at = text.getBBox();
      const behind = rects.filter(each => {
        const box = each.getBBox();
        return box.x <= at.x && at.x <= box.x + box.width && box.y <= at.y + 5 && at.y + 5 <= box.y + box.height;
      }).pop();
      const back = behind ? getComputedStyle(behind).fill : getComputedStyle(document.body).backgroundColor;
      const value = ratio(getComputedStyle(text).fill, back);
      if (value < 4.5) found.add(`${text.getAttribute("class")} on ${back}: ${value.toFixed(2)}`);
    }
    for (const line of svg.querySelectorAll("path, polygon")) {
      const color = getComputedStyle(line)[line.tagName === "path" ? "stroke" : "fill"];
      const value = ratio(color, getComputedStyle(document.body).backgroundColor);
      if (value < 3) found.add(`${line.getAttribute("class")}: ${value.toFixed(2)}`);
    }
  }
  return [...found];
}"""
"""Text needs a contrast of 4.5 to 1 and lines 3 to 1 (WCAG 2.2: contrast minimum, non-text contrast)."""


def shown(page: Page, pictures: str) -> None:
    colors = "body{margin:0;background:#fff}@media (prefers-color-scheme: dark){body{background:#0d1117}}"
    page.set_content(f"<!doctype html><style>{STYLE}{colors}</style>{pictures}")


@pytest.mark.parametrize("name", SYSTEMS)
def test_pictures_can_be_read(browser_page: Page, name: str) -> None:
    shown(browser_page, "".join(each.inline for each in document(f"apps/{name}").drawings))
    for scheme in ("light", "dark"):
        browser_page.emulate_media(color_scheme=scheme)
        assert browser_page.evaluate(_CONTRAST) == []
    assert browser_page.evaluate(_MEASURE) == []


WIDE = "データベース設計" * 6


def test_long_and_wide_texts_fit(browser_page: Page) -> None:
    """Also text of other scripts, and many entities that depend on each other in circles."""
    names = [f"Entity{number}" + "Name" * (number % 7) for number in range(24)]
    nodes = [
        Node(
            name, [("key", WIDE), ("GSI1", "W" * 150), ("unique", f"{escape('<b>')}#{{a}}#{{b_very_long_field_name}}")]
        )
        for name in names
    ]
    edges = [Edge(names[at], names[at * at % 24], "cascade", "a") for at in range(24)]
    edges += [Edge(names[at], names[at // 3], "copy", "b") for at in range(1, 24)]
    drawing = draw("many", "", "Many", "Many entities.", Relations(nodes, edges))
    shown(browser_page, drawing.inline)
    assert browser_page.evaluate(_MEASURE) == []


def test_the_check_would_find_something(browser_page: Page) -> None:
    shown(
        browser_page,
        '<svg class="kp" width="100" height="60" viewBox="0 0 100 60"><title>Bad</title>'
        '<rect class="card" x="0" y="0" width="40" height="20"/><rect class="card" x="30" y="5" width="40" height="9"/>'
        '<text x="5" y="15" fill="#eee" font-size="12">wider than its box</text><text x="8" y="17">over</text></svg>',
    )
    found = "\n".join(browser_page.evaluate(_MEASURE))
    assert all(each in found for each in ("outside", "fit its box", "overlaps", "two boxes"))
