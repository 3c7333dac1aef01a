# ruff: noqa: F811 - fixtures are imported by their names
"""Journeys through all systems in a real browser: nothing that was typed is lost, and nothing is done twice.

`journeys.py` has the table. Each system is served once, and everything runs in one browser.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Route, ViewportSize, expect

from keyplan.cli.opening import system_names
from keyplan.web import Caller
from keyplan.web.identity.sessions import SESSION, Sessions
from tests.apps.journeys import JOURNEYS, Entry, Journey, enter, expect_entered, send
from tests.web.browser import ARGUMENTS, COMPLETE, ONE_PROCESS, Watch, browser, confirm, fits, new_context  # noqa: F401 - fixtures
from tests.web.site import Site, settings_of, site

SMALL: ViewportSize = {"width": 320, "height": 640}


@dataclass
class Traveled:
    """A served system, and somebody who uses it in a browser."""

    journey: Journey
    served: Site
    context: BrowserContext
    scripts: bool

    @property
    def url(self) -> str:
        return f"{self.served.url}/{self.journey.system.name}"

    def be(self, who: tuple[str, ...]) -> None:
        """Open a session, without the detour over the sign-in page."""
        proof = Sessions(self.served.running.store).open(Caller(who[0], frozenset(who[1:])))
        path = f"/{self.journey.system.name}/"
        self.context.add_cookies([{"name": SESSION, "value": proof, "domain": "127.0.0.1", "path": path}])

    def end_session(self) -> None:
        Sessions(self.served.running.store).close_all(self.journey.person[0])

    def open(self, entry: Entry, id: str = "") -> Page:
        """A new tab with the page of a form."""
        page = self.context.new_page()
        page.goto(self.url + entry.path.format(id=id, **self.journey.places(self.served)))
        return page

    def stored(self, id: str) -> dict[str, object]:
        """What is stored of what was entered."""
        return dict(self.journey.stored(self.served, id))


@pytest.fixture(scope="module", params=JOURNEYS, ids=lambda journey: journey.system.name)
def served(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Journey, Site]]:
    journey: Journey = request.param
    folder: Path = tmp_path_factory.mktemp(journey.system.name)
    settings = settings_of(dev=True, path=folder / "test.db", rate_identity=0, rate_address=0, request_seconds=30)
    with site(journey.system, settings) as started:
        journey.begin(started)
        yield journey, started


def traveled(browser: Browser, served: tuple[Journey, Site], *, scripts: bool) -> Iterator[Traveled]:
    watches: list[Watch] = []

    def watch(page: Page) -> None:
        watches.append(Watch(page))

    with new_context(browser, java_script_enabled=scripts) as context:
        context.on("page", watch)
        made = Traveled(*served, context, scripts)
        made.be(made.journey.person)
        yield made
        context.remove_listener("page", watch)
    assert [each for watch in watches for each in watch.found] == []


@pytest.fixture
def trip(browser: Browser, served: tuple[Journey, Site]) -> Iterator[Traveled]:
    yield from traveled(browser, served, scripts=True)


@pytest.fixture(params=[True, False], ids=["scripts", "plain"])
def any_trip(request: pytest.FixtureRequest, browser: Browser, served: tuple[Journey, Site]) -> Iterator[Traveled]:
    """With and without JavaScript."""
    yield from traveled(browser, served, scripts=request.param)


@pytest.fixture(params=[True, False], ids=["scripts", "plain"])
def scripts(request: pytest.FixtureRequest) -> bool:
    """With and without JavaScript."""
    with_scripts: bool = request.param
    return with_scripts


def expect_to_copy(page: Page, entry: Entry) -> None:
    """What was entered is there to be copied; what was chosen by its name, such as Travel for travel."""
    shown = page.locator("main [readonly]").evaluate_all("all => all.map(each => each.value)")
    assert {each.casefold() for each in entry.values.values()} <= {each.strip().casefold() for each in shown}, shown


def expect_saved(page: Page) -> None:
    expect(page.locator("main .notice")).to_be_visible()


def test_every_system_is_in_the_table() -> None:
    assert sorted(journey.system.name for journey in JOURNEYS) == sorted(system_names())


def test_two_tabs_change_the_same(any_trip: Traveled) -> None:
    """Nothing that was entered is lost, the newer value is shown beside it, and saving is a decision."""
    trip = any_trip
    entry, id = trip.journey.change, trip.journey.thing(trip.served)
    first, second = trip.open(entry, id), trip.open(entry, id)
    name = next(iter(entry.values))
    theirs = "From <b>the</b> second tab \u05e9\u05dc\u05d5\u05dd"
    enter(second, Entry(entry.path, {name: theirs}, entry.button))
    send(second, entry)
    expect_saved(second)
    enter(first, entry)
    send(first, entry)
    expect(first.locator("main .problems[role=alert]")).to_have_count(1)
    expect_entered(first, entry)
    assert trip.stored(id)[name] == theirs
    field = first.locator(f'{entry.selector} .newer:has([id^="newer-{name}"])')
    expect(field).to_contain_text(theirs)
    expect(field.locator("bdi")).to_have_text(theirs)
    first.set_viewport_size(SMALL)
    assert fits(first)
    send(first, entry)
    expect_saved(first)
    expected = {name: value for name, value in entry.values.items() if name in trip.stored(id)}
    assert trip.stored(id) == expected


def test_two_tabs_change_different_fields(any_trip: Traveled) -> None:
    """What only the other tab has changed isn't undone."""
    trip = any_trip
    entry, id = trip.journey.change, trip.journey.thing(trip.served)
    theirs, *mine = entry.values
    if not mine:
        mine = [theirs]  # a form with one field: what both enter is the same
    first, second = trip.open(entry, id), trip.open(entry, id)
    enter(second, Entry(entry.path, {theirs: entry.values[theirs]}, entry.button))
    send(second, entry)
    expect_saved(second)
    enter(first, Entry(entry.path, {name: entry.values[name] for name in mine}, entry.button))
    send(first, entry)
    expect(first.locator("main .problems[role=alert]")).to_have_count(1)
    expect_entered(first, entry)
    assert trip.stored(id)[theirs] == entry.values[theirs]
    send(first, entry)
    expect_saved(first)
    expected = {name: value for name, value in entry.values.items() if name in trip.stored(id)}
    assert trip.stored(id) == expected


def test_a_lost_answer(any_trip: Traveled) -> None:
    """The server gets a form, and the browser gets no answer: whoever sends it again does it once."""
    entry = any_trip.journey.add
    before = any_trip.journey.count(any_trip.served)
    page = any_trip.open(entry)
    enter(page, entry)
    lost: list[str] = []

    def lose(route: Route) -> None:
        if route.request.method == "POST" and not lost:
            lost.append(route.fetch(max_redirects=0).headers.get("location", ""))
            route.abort("connectionreset")
        else:
            route.continue_()

    page.route("**/*", lose)
    with page.expect_event("requestfailed"):
        send(page, entry)
    assert any_trip.journey.count(any_trip.served) == before + 1
    page.wait_for_url("chrome-error://**")
    page.reload()
    page.wait_for_url(f"{any_trip.served.url}{lost[0]}")
    assert any_trip.journey.count(any_trip.served) == before + 1


def test_going_back_to_a_form(any_trip: Traveled) -> None:
    """Whoever leaves a page by mistake finds everything that was entered."""
    for entry in (any_trip.journey.change, any_trip.journey.add):
        page = any_trip.open(entry, any_trip.journey.thing(any_trip.served))
        enter(page, entry)
        page.locator("a.brand").click()
        page.wait_for_url(f"{any_trip.url}/**")
        page.go_back()
        expect_entered(page, entry)


def test_going_back_to_a_form_that_was_changed_meanwhile(trip: Traveled) -> None:
    """The page is loaded again, with the newer version, and the browser brings back what was typed before."""
    entry, id = trip.journey.change, trip.journey.thing(trip.served)
    name = next(iter(entry.values))
    first, second = trip.open(entry, id), trip.open(entry, id)
    enter(first, entry)
    first.locator("a.brand").click()
    first.wait_for_url(f"{trip.url}/**")
    enter(second, Entry(entry.path, {name: "From the second tab"}, entry.button))
    send(second, entry)
    expect_saved(second)
    first.go_back()
    expect_entered(first, entry)
    send(first, entry)
    expect(first.locator("main .problems[role=alert]")).to_contain_text(re.compile("meantime|inzwischen"))
    expect_entered(first, entry)
    assert trip.stored(id)[name] == "From the second tab"


@pytest.fixture(scope="module")
def remembering(browser: Browser) -> Iterator[Browser]:
    """A browser that keeps whole pages for going back, as people's browsers do. Playwright turns that off."""
    options = ["--disable-back-forward-cache"]
    arguments = [each for each in ARGUMENTS if each != ONE_PROCESS]
    if COMPLETE is None:
        pytest.skip("*** NOT TESTED: only Chromium's headless shell is installed, which forgets pages. ***")
    made = browser.browser_type.launch(executable_path=COMPLETE, args=arguments, ignore_default_args=options)
    yield made
    made.close()


def test_going_back_and_sending_a_form_again(remembering: Browser, served: tuple[Journey, Site], scripts: bool) -> None:
    """The page has the key that it was sent with, and the form takes effect once."""
    context = remembering.new_context(java_script_enabled=scripts)
    context.set_default_timeout(15_000)
    trip = Traveled(*served, context, scripts)
    trip.be(trip.journey.person)
    entry, before = trip.journey.add, trip.journey.count(trip.served)
    page = trip.open(entry)
    address = page.url
    enter(page, entry)
    send(page, entry)
    page.wait_for_load_state()
    assert trip.journey.count(trip.served) == before + 1
    if (
        scripts or page.url != address
    ):  # Chromium keeps no page that leads to itself, and only a script has the key then
        page.go_back(wait_until="commit")
        expect_entered(page, entry)
        send(page, entry)
        page.wait_for_load_state()
        assert trip.journey.count(trip.served) == before + 1
    context.close()


def test_a_second_click(any_trip: Traveled) -> None:
    """Two clicks in a row send the same form twice, at least without JavaScript."""
    entry = any_trip.journey.add
    before = any_trip.journey.count(any_trip.served)
    page = any_trip.open(entry)
    enter(page, entry)
    page.locator(f"{entry.selector} {entry.button}").first.dblclick(no_wait_after=True)
    page.wait_for_load_state()
    expect(page.locator("h1")).to_have_count(1)
    assert any_trip.journey.count(any_trip.served) == before + 1


def test_an_ended_session(any_trip: Traveled) -> None:
    entry, id = any_trip.journey.change, any_trip.journey.thing(any_trip.served)
    page = any_trip.open(entry, id)
    before = any_trip.stored(id)
    enter(page, entry)
    any_trip.end_session()
    send(page, entry)
    expect_to_copy(page, entry)
    assert any_trip.stored(id) == before
    page.locator("main a.button").click()
    any_trip.journey.sign_in(page, any_trip.journey.person)
    expect(page.locator("[data-restored]")).to_be_visible()
    expect_entered(page, entry)
    send(page, entry)
    expect_saved(page)
    assert any_trip.stored(id) == {name: entry.values[name] for name in before}


def test_a_session_ends_while_something_is_entered(any_trip: Traveled) -> None:
    """Pages that follow a game notice it before the form is sent: they must not drop what was entered."""
    entry = any_trip.journey.add
    before = any_trip.journey.count(any_trip.served)
    page = any_trip.open(entry)
    enter(page, entry)
    any_trip.end_session()
    if any_trip.scripts and page.locator("[data-live]").count():
        expect(page.locator("[data-outdated=ended]")).to_be_visible()
        expect_entered(page, entry)
    send(page, entry)
    page.locator("main a.button").click()
    any_trip.journey.sign_in(page, any_trip.journey.person)
    expect(page.locator("[data-restored]")).to_be_visible()
    expect_entered(page, entry)
    assert any_trip.journey.count(any_trip.served) == before
    send(page, entry)
    page.wait_for_load_state()
    expect(page.locator("[data-restored]")).to_have_count(0)
    assert any_trip.journey.count(any_trip.served) == before + 1


def test_a_form_is_found_after_signing_in_another_way(any_trip: Traveled) -> None:
    """Not by the link of the page that said that the session has ended, but in another tab, later."""
    entry, id = any_trip.journey.change, any_trip.journey.thing(any_trip.served)
    page = any_trip.open(entry, id)
    enter(page, entry)
    any_trip.end_session()
    send(page, entry)
    expect(page.locator("main a.button")).to_be_visible()
    for who in (any_trip.journey.other, any_trip.journey.person):
        any_trip.be(who)
        tab = any_trip.context.new_page()
        tab.goto(f"{any_trip.url}/")
        expect(tab.locator("[data-unsent]")).to_have_count(int(who == any_trip.journey.person))
    tab.set_viewport_size(SMALL)
    assert fits(tab)
    tab.locator("[data-unsent] a").click()
    expect(tab.locator("[data-restored]")).to_be_visible()
    expect_entered(tab, entry)
    expect(tab.locator("[data-unsent]")).to_have_count(0)
    send(tab, entry)
    expect_saved(tab)
    expect(tab.locator("[data-unsent]")).to_have_count(0)


def test_a_kept_form_is_discarded_after_a_question(any_trip: Traveled) -> None:
    entry, id = any_trip.journey.change, any_trip.journey.thing(any_trip.served)
    page = any_trip.open(entry, id)
    enter(page, entry)
    any_trip.end_session()
    send(page, entry)
    any_trip.be(any_trip.journey.person)
    tab = any_trip.context.new_page()
    tab.set_viewport_size(SMALL)
    tab.goto(f"{any_trip.url}/")
    for is_sure in (False, True):
        tab.locator("[data-unsent] button").click()
        expect(tab.locator("main form:has(input[name=confirmed])")).to_be_visible()
        assert fits(tab)
        if not is_sure:
            tab.locator("main .actions a").click()
    confirm(tab)
    expect_saved(tab)
    expect(tab.locator("[data-unsent]")).to_have_count(0)


def test_somebody_else_signs_in_after_a_session_has_ended(trip: Traveled) -> None:
    entry, id = trip.journey.change, trip.journey.thing(trip.served)
    page = trip.open(entry, id)
    enter(page, entry)
    trip.end_session()
    send(page, entry)
    page.locator("main a.button").click()
    trip.journey.sign_in(page, trip.journey.other)
    expect(page.locator(".account form, .account button").first).to_be_visible()
    shown = page.content()
    assert not [value for value in entry.values.values() if len(value) > 12 and value.split("\n")[0] in shown]


def test_another_person_signs_in_in_a_second_tab(trip: Traveled) -> None:
    entry, id = trip.journey.change, trip.journey.thing(trip.served)
    page = trip.open(entry, id)
    before = trip.stored(id)
    enter(page, entry)
    trip.be(trip.journey.other)
    send(page, entry)
    expect(page.locator("main a.button")).to_be_visible()
    expect(page.locator("main [readonly]")).to_have_count(0)
    assert trip.stored(id) == before
    trip.be(trip.journey.person)
    page.goto(trip.served.url + _to(page))
    expect_entered(page, entry)


def _to(page: Page) -> str:
    """Where the link to the sign-in page leads back to."""
    address: str = page.locator("main a.button").evaluate("link => new URL(link.href).searchParams.get('to')")
    return address


def test_a_hidden_character_is_refused_beside_its_field(any_trip: Traveled) -> None:
    entry, id = any_trip.journey.change, any_trip.journey.thing(any_trip.served)
    page = any_trip.open(entry, id)
    before = any_trip.stored(id)
    enter(page, entry, **{any_trip.journey.line: "Two \u202ewords"})
    send(page, entry)
    field = page.locator(f'{entry.selector} [name="{any_trip.journey.line}"]')
    expect(field).to_have_attribute("aria-invalid", "true")
    expect(field).to_have_value("Two \u202ewords")
    expect(page.locator(f"{entry.selector} .error")).to_contain_text("U+202E")
    assert any_trip.stored(id) == before


def test_something_is_deleted_in_the_meantime(any_trip: Traveled) -> None:
    entry, id = any_trip.journey.change, any_trip.journey.thing(any_trip.served)
    page = any_trip.open(entry, id)
    enter(page, entry)
    any_trip.journey.remove(any_trip.served, id)
    send(page, entry)
    expect(page.locator("h1")).to_have_count(1)
    if page.locator(entry.selector).count():  # it can be saved as something new
        expect_entered(page, entry)
    else:
        expect_to_copy(page, entry)


def test_something_is_deleted_while_nobody_is_signed_in(trip: Traveled) -> None:
    entry, id = trip.journey.change, trip.journey.thing(trip.served)
    page = trip.open(entry, id)
    enter(page, entry)
    trip.end_session()
    send(page, entry)
    trip.journey.remove(trip.served, id)
    page.locator("main a.button").click()
    trip.journey.sign_in(page, trip.journey.person)
    expect(page.locator("main [readonly]").first).to_be_visible()
    expect_to_copy(page, entry)


def test_a_small_phone(trip: Traveled) -> None:
    """At 320 pixels nothing has to be scrolled sideways: the forms, a page with texts to copy, a form that is back,
    and what was saved."""
    entry, id = trip.journey.change, trip.journey.thing(trip.served)
    for each in (trip.journey.add, entry):
        page = trip.open(each, id)
        page.set_viewport_size(SMALL)
        page.wait_for_load_state()
        assert fits(page), page.url
    enter(page, entry)
    trip.end_session()
    send(page, entry)
    expect(page.locator("main a.button")).to_be_visible()
    assert fits(page), page.url
    page.locator("main a.button").click()
    trip.journey.sign_in(page, trip.journey.person)
    expect(page.locator("[data-restored]")).to_be_visible()
    assert fits(page), page.url
    send(page, entry)
    expect_saved(page)
    assert fits(page), page.url
    expected = {name: entry.values[name] for name in trip.stored(id)}
    assert trip.stored(id) == expected
