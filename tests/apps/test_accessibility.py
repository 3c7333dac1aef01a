# ruff: noqa: F811 - fixtures are imported by their names
"""Every page of every system can be used by everybody: axe-core finds nothing, and everything can be hit with a thumb.

One browser for each system, so that the systems are tested at the same time.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page

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


@pytest.mark.usefixtures("axe")
@pytest.mark.parametrize("tour", TOURS, ids=lambda tour: tour.system.name)
def test_axe_finds_nothing_on_refused_forms(tour: Tour, browser: Browser, tmp_path: Path) -> None:
    found: list[str] = []
    with toured(tour, tmp_path) as started:
        pages = {who: context.new_page() for who, context in contexts(browser, started).items()}
        tried = list(with_forms(started))
        for shown in tried:
            page = pages[shown.who]
            assert refused(page, f"{started.served.url}{shown.address}") >= 400, f"{shown.address} was accepted"
            assert page.locator(".problems").count(), f"{shown.address}: its form doesn't say what is wrong"
            found += [f"{shown.address} refused, {each}" for each in [*violations(page), *small_targets(page)]]
        for page in pages.values():
            page.context.close()
    assert tried
    assert not found, "\n".join(found)


@pytest.mark.usefixtures("axe")
@pytest.mark.parametrize("tour", TOURS, ids=lambda tour: tour.system.name)
def test_axe_finds_nothing_on_previews_and_questions(tour: Tour, browser: Browser, tmp_path: Path) -> None:
    """Every preview of a text, and one page that asks before something that can't be undone."""
    previews, question = "button[formaction]", "button.danger"
    found: list[str] = []
    with toured(tour, tmp_path) as started:
        pages = {who: context.new_page() for who, context in contexts(browser, started).items()}
        tried: list[str] = []
        for shown in different(started):
            for button in (previews, question):
                if shown.status != 200 or (button == question and question in tried):
                    continue
                page = pages[shown.who]
                if page.url != f"{started.served.url}{shown.address}":
                    page.goto(f"{started.served.url}{shown.address}")
                if not page.locator(f"main {button}").count():
                    continue
                for text in page.locator("main textarea:visible").all():
                    text.fill("# A heading\n\nA *text* with [a link](https://example.org) and\n\n- a list")
                page.locator(f"main {button}").first.click()
                page.wait_for_load_state()
                tried.append(button)
                found += [f"{shown.address} {button}, {each}" for each in [*violations(page), *small_targets(page)]]
        for page in pages.values():
            page.context.close()
    assert question in tried
    assert (previews in tried) == (tour.system.name in ("vcm", "wavyblog"))
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
