# ruff: noqa: F811 - fixtures are imported by their names
"""Every page of every system can be used by everybody: axe-core finds nothing, and everything can be hit with a thumb.

Each system is served once, with its demo data, and everything runs in one browser.
"""

import re
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field

import pytest
from playwright.sync_api import Browser, Page

from keyplan.web.identity.sessions import SESSION
from tests.apps.every_page import NOBODY, TOURS, Shown, Tour, Toured, toured
from tests.web.axe import axe, problems  # noqa: F401 - fixture
from tests.web.browser import browser, new_context  # noqa: F401 - fixture


@dataclass
class Looked:
    """A system that is looked at in a browser."""

    toured: Toured
    tabs: dict[str, Page]
    """One for each person, who is signed in."""
    seen: set[str] = field(default_factory=set)
    """The kinds of elements that were looked at in every way."""

    def address(self, shown: Shown) -> str:
        return f"{self.toured.served.url}{shown.address}"

    def open(self, shown: Shown) -> Page:
        """Show a page to the person who got it."""
        page = self.tabs[shown.who]
        page.goto(self.address(shown))
        return page

    def problems(self, shown: Shown, what: str) -> list[str]:
        """What is wrong with the page that this person sees now."""
        return [f"{shown.address} {what}, {each}" for each in problems(self.tabs[shown.who], self.seen)]


@pytest.fixture(scope="module", params=TOURS, ids=lambda tour: tour.system.name)
def looked(
    request: pytest.FixtureRequest, axe: None, browser: Browser, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Looked]:
    tour: Tour = request.param
    with toured(tour, tmp_path_factory.mktemp("tour")) as started, ExitStack() as stack:
        contexts = {who: stack.enter_context(new_context(browser)) for who in (*started.proofs, NOBODY)}
        for who, proof in started.proofs.items():
            path = f"{started.prefix}/"
            contexts[who].add_cookies([{"name": SESSION, "value": proof, "domain": "127.0.0.1", "path": path}])
        yield Looked(started, {who: context.new_page() for who, context in contexts.items()})


def different(toured: Toured) -> Iterator[Shown]:
    """The pages of the system and the kit, without those of the same shape. One problem of each status."""
    seen: set[tuple[object, ...]] = set()
    for shown in toured.pages:
        kind = (shown.route, shown.shape) if shown.status == 200 else (shown.status, shown.who == NOBODY)
        if shown.html and shown.route not in toured.tour.parts and kind not in seen:
            seen.add(kind)
            yield shown
    if toured.tour is TOURS[0]:  # these are the same for all systems
        yield Shown(NOBODY, "/", "/", 200, "")
        yield Shown(NOBODY, "docs", f"/api{toured.prefix}/docs", 200, "")


def test_axe_finds_nothing_on_any_page(looked: Looked) -> None:
    found: list[str] = []
    for shown in different(looked.toured):
        looked.open(shown)
        found += looked.problems(shown, f"as {shown.who}")
    assert not found, "\n".join(found)


def with_forms(toured: Toured) -> Iterator[Shown]:
    """One page for each page route with a form that has fields, as somebody who may use it sees it."""
    seen: set[str] = set()
    for shown in toured.pages:
        if shown.status == 200 and 'name="form"' in shown.html and shown.route not in seen:
            seen.add(shown.route)
            yield shown


_SPOIL = """() => {
  const typed = "input:not([type=hidden], [type=checkbox], [type=radio]), textarea, select";
  const forms = [...document.querySelectorAll("form:has(> input[name=form])")];
  const form = forms.find(each => each.querySelector(typed)) ?? forms[0];
  form.noValidate = true;
  const version = form.querySelector("[name=version]");
  if (version) version.value = "0"; // so that it shows what others changed, too
  for (const field of form.querySelectorAll(typed)) {
    const empty = field.required || field.tagName === "SELECT";
    for (const limit of ["maxlength", "min", "max", "step"]) field.removeAttribute(limit);
    if (!["text", "password", "textarea", "select-one", "select-multiple"].includes(field.type)) field.type = "text";
    field.value = empty ? "" : "\\u202e";
  }
  return forms.indexOf(form);
}"""
"""Enters what isn't valid: nothing where something is required, and elsewhere what is neither a number nor a name."""
_EXPIRE = """() => { for (const each of document.querySelectorAll("input[name=csrf]")) each.value = "old"; }"""
_SEND = """number => document.querySelectorAll("form:has(> input[name=form])")[number].submit()"""


def refused(page: Page, address: str) -> int:
    """Send the form of a page with what isn't valid, or else with a token that has expired. Returns the status."""
    for script in (_SPOIL, _EXPIRE):
        page.goto(address)
        number = page.evaluate(_SPOIL)
        page.evaluate(script)
        with page.expect_navigation() as sent:
            page.evaluate(_SEND, number)
        if sent.value.status >= 400:
            return sent.value.status
    return sent.value.status


def test_axe_finds_nothing_on_refused_forms(looked: Looked) -> None:
    found: list[str] = []
    tried = list(with_forms(looked.toured))
    for shown in tried:
        page = looked.tabs[shown.who]
        assert refused(page, looked.address(shown)) >= 400, f"{shown.address} was accepted"
        assert page.locator(".problems").count(), f"{shown.address}: its form doesn't say what is wrong"
        found += looked.problems(shown, "refused")
    assert tried
    assert not found, "\n".join(found)


_PREVIEW, _QUESTION = "button[formaction]", "button.danger"
_BUTTONS = {
    _PREVIEW: re.compile(r"<button[^>]* formaction="),
    _QUESTION: re.compile(r'<button[^>]* class="[^"]*danger'),
}


def test_axe_finds_nothing_on_previews_and_questions(looked: Looked) -> None:
    """Every preview of a text, and one page that asks before something that can't be undone."""
    found: list[str] = []
    tried: list[str] = []
    for shown in different(looked.toured):
        for button, pattern in _BUTTONS.items():
            if shown.status != 200 or not pattern.search(shown.html) or (button == _QUESTION and _QUESTION in tried):
                continue
            page = looked.open(shown)
            for text in page.locator("main textarea:visible").all():
                text.fill("# A heading\n\nA *text* with [a link](https://example.org) and\n\n- a list")
            page.locator(f"main {button}").first.click()
            page.wait_for_load_state()
            tried.append(button)
            found += looked.problems(shown, button)
    assert _QUESTION in tried
    assert (_PREVIEW in tried) == (looked.toured.tour.system.name in ("vcm", "wavyblog"))
    assert not found, "\n".join(found)


def test_axe_would_find_something(browser: Browser, axe: None) -> None:
    """A page with one mistake of each kind, to know that the rules are on."""
    page = browser.new_page()
    page.set_content(
        '<html lang="en"><title>Bad</title><main><h1>Bad</h1><p style="color: #999; background: #fff">Pale</p>'
        '<img src="data:," width="9" height="9"><button style="width: 9px; height: 9px" aria-label="A"></button>'
        '<button style="width: 9px; height: 9px" aria-label="B"></button></main></html>'
    )
    seen: set[str] = set()
    told = problems(page, seen)
    assert all(rule in " ".join(told) for rule in ("color-contrast", "image-alt", "target-size"))
    assert _pale(told) == ["1280 px, light", "1280 px, dark", "390 px, dark", "390 px, light"]
    assert len(_small(told)) == 4  # two buttons, on two screens
    again = problems(page, seen)
    assert _pale(again) == []  # this kind was seen
    assert _small(again) == _small(told)
    page.close()


def _pale(told: list[str]) -> list[str]:
    return [each.partition(": color-contrast")[0] for each in told if "color-contrast" in each]


def _small(told: list[str]) -> list[str]:
    return [each for each in told if " px: <button" in each]
