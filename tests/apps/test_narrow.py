"""Every page of every system on a phone of 320 px, with words of 200 letters and names of another direction."""

# ruff: noqa: F811 - fixtures are imported by their names
import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from keyplan.design import OneLine
from keyplan.engine import Engine
from keyplan.web.identity.sessions import SESSION
from tests.apps.every_page import TOURS, Tour, Toured, toured
from tests.web.browser import browser, watched  # noqa: F401 - fixtures

LONG = "Donaudampfschiff" * 12 + "kapitän!"
TURNED = "\u202eturned"
MORE_TEXTS = {"body", "content", "description", "excerpt", "note", "team_name", "display_name", "alt"}
"""Fields with texts that aren't one line."""
_TOO_WIDE = """() => {
    const room = document.documentElement.clientWidth;
    if (document.documentElement.scrollWidth <= room) return [];
    const isWide = (each) => each.getBoundingClientRect().right > room + 1;
    const wide = [...document.querySelectorAll("body *")].filter(isWide);
    return wide.slice(0, 5).map((each) => `${each.tagName}.${each.className}`).concat(`of ${room}`);
}"""

_BROKEN = """() => {
    const broken = [];
    for (const each of document.querySelectorAll("button, .button, summary, td, th")) {
        if (!each.checkVisibility()) continue;
        const texts = document.createTreeWalker(each, NodeFilter.SHOW_TEXT);
        while (texts.nextNode()) {
            for (const word of texts.currentNode.data.matchAll(/\\p{L}{2,12}(?!\\p{L})/gu)) {
                if (/\\p{L}/u.test(texts.currentNode.data[word.index - 1] || "")) continue;
                const range = document.createRange();
                range.setStart(texts.currentNode, word.index);
                range.setEnd(texts.currentNode, word.index + word[0].length);
                if (range.getClientRects().length > 1) broken.push(`${each.tagName}.${each.className} ${word[0]}`);
            }
        }
    }
    return broken.slice(0, 5);
}"""
"""Short words that go on in the next line, in the middle of the word."""


def _marks(info: Any) -> Iterator[object]:
    yield from getattr(info, "metadata", getattr(info, "__metadata__", ()))
    inner = getattr(info, "annotation", None) or getattr(info, "__origin__", None)
    for each in (inner, *getattr(info, "__args__", ())):
        if each is not None and each is not info:
            yield from _marks(each)


def _texts(tour: Toured) -> dict[str, str]:
    """A text to store in each attribute that has one for people, by its stored name, without those that are keys."""
    design, engine = tour.served.running.design, tour.served.engine
    found = {"text": LONG}  # in rich text
    for entity in design.entities:
        for name, info in entity.declared_fields.items():
            one_line = any(isinstance(mark, OneLine) for mark in _marks(info))
            if one_line or name in MORE_TEXTS:
                stored = f"{LONG}{TURNED}" if one_line else LONG
                found |= {entity.spec.fields[name].stored: stored, name: stored}
    for table in engine.list_tables()["TableNames"]:
        for each in engine.describe_table(TableName=table)["Table"]["AttributeDefinitions"]:
            found.pop(each["AttributeName"], None)
    return found


def _rewritten(value: Any, texts: dict[str, str], name: str = "") -> Any:
    """A stored value with other texts: of DynamoDB, or of an envelope of JSON."""
    if isinstance(value, dict):
        return {key: _rewritten(each, texts, name if key in ("S", "L") else key) for key, each in value.items()}
    if isinstance(value, list):
        return [_rewritten(each, texts, name) for each in value]
    if not isinstance(value, str):
        return value
    if value.startswith("{"):
        return json.dumps(_rewritten(json.loads(value), texts), ensure_ascii=False)
    return f"{value[:4]} {texts[name]}" if name in texts else value


def _rewrite(engine: Engine, texts: dict[str, str]) -> int:
    """Change the texts of all items in the tables, to what could be stored before there were limits."""
    count = 0
    for table in engine.list_tables()["TableNames"]:
        start: Any = {}
        while start is not None:
            page = engine.scan(TableName=table, **start)
            for item in page["Items"]:
                made = _rewritten(item, texts)
                if made != item:
                    engine.put_item(TableName=table, Item=made)
                    count += 1
            start = {"ExclusiveStartKey": page["LastEvaluatedKey"]} if "LastEvaluatedKey" in page else None
    return count


@pytest.fixture(scope="module", params=TOURS, ids=lambda tour: tour.system.name)
def tour(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Toured]:
    given: Tour = request.param
    with toured(given, tmp_path_factory.mktemp("narrow")) as started:
        assert _rewrite(started.served.engine, _texts(started)) > 50
        yield started


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    yield from watched(browser)


def test_no_page_scrolls_sideways_or_breaks_short_words(tour: Toured, page: Page) -> None:
    page.set_viewport_size({"width": 320, "height": 640})
    seen: set[str] = set()
    too_wide: dict[str, list[str]] = {}
    broken: dict[str, list[str]] = {}
    for shown in tour.pages:
        if shown.status != 200 or not shown.html or shown.route in seen | tour.tour.parts:
            continue
        seen.add(shown.route)
        page.context.clear_cookies()
        if shown.who in tour.proofs:
            proof = tour.proofs[shown.who]
            page.context.add_cookies(
                [{"name": SESSION, "value": proof, "domain": "127.0.0.1", "path": f"{tour.prefix}/"}]
            )
        page.goto(tour.served.url + shown.address)
        if found := page.evaluate(_TOO_WIDE):
            too_wide[shown.address] = found
        if found := page.evaluate(_BROKEN):
            broken[shown.address] = found
    assert (too_wide, broken) == ({}, {})


def test_what_is_stored_already_is_isolated_everywhere(tour: Toured) -> None:
    """An override of direction in a name ends with the name: in an element, or between two characters."""
    found = 0
    for shown in tour.pages:
        for override in re.finditer("\u202e", shown.html):
            before = shown.html[: override.start()]
            in_element = before.rfind("<bdi>") > before.rfind("</bdi>")
            in_characters = before.rfind("\u2068") > before.rfind("\u2069")
            found += in_element or in_characters
            assert in_element or in_characters or _in_value(before), (shown.address, before[-400:])
    assert found > 20


def _in_value(before: str) -> bool:
    """Whether this is in a field, or in an attribute that nobody reads."""
    tag = before[before.rfind("<") :]
    return ">" not in tag or tag.startswith("<textarea")
