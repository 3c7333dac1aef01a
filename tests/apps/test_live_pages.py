# ruff: noqa: F811 - fixtures are imported by their names
"""Pages that follow a game, in a real browser: what happens elsewhere shows, and nothing that was entered is lost.

The systems with such a page are in `LIVE`, with what somebody else does to the game in the meantime.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from keyplan.web import Caller
from keyplan.web.identity.sessions import SESSION, Sessions
from tests.apps.journeys import JOURNEYS, Journey, enter, expect_entered, game_of, send
from tests.web.browser import Watch, browser  # noqa: F401 - fixtures
from tests.web.site import Site, settings_of, site

ANY = {"If-Match": "*"}
FOLLOWS = 3000
"""Milliseconds in which a page knows what happened elsewhere."""


@dataclass(frozen=True)
class Live:
    """What somebody else does to the game."""

    score: Callable[[httpx.Client, str], httpx.Response]
    end: Callable[[httpx.Client, str], httpx.Response]
    refused: str
    """What the form says when the game has ended."""


def _at_bat(client: httpx.Client, game: str) -> httpx.Response:
    batter = client.get(f"/games/{game}").json()["lineup"][1]
    return client.post(f"/games/{game}/at-bats", json={"player_id": batter, "result": "1B", "inning": 1, "outs": 0})


LIVE = {
    "hacktracker": Live(
        _at_bat,
        lambda client, game: client.post(f"/games/{game}/status", json={"status": "FINAL"}),
        "The game is not in progress.",
    ),
    "threefc": Live(
        lambda client, game: client.post(
            f"/games/{game}/goals",
            json={"conceding_team_id": "gold", "scoring_team_id": "red", "third": 1, "minute": 3},
        ),
        lambda client, game: client.put(f"/games/{game}/status", json={"status": "finished"}),
        "Goals can only be entered and changed while the game is live.",
    ),
}


@dataclass
class Followed:
    """A game, and somebody who scores it in a browser."""

    journey: Journey
    served: Site
    page: Page

    @property
    def live(self) -> Live:
        return LIVE[self.journey.system.name]

    @property
    def game(self) -> str:
        return game_of(self.served)

    def elsewhere(self, act: Callable[[httpx.Client, str], httpx.Response]) -> None:
        answer = act(self.served.as_(*self.journey.person), self.game)
        assert answer.is_success, answer.text

    def shown(self) -> str:
        return self.page.locator("[data-live]").inner_text()

    def expect_change(self, before: str) -> None:
        expect(self.page.locator("[data-live]")).not_to_have_text(before, use_inner_text=True, timeout=FOLLOWS)


def hurry(page: Page, until: Locator, count: int) -> None:
    """Let seconds pass at once in the page, until something is shown or no longer shown."""
    end = time.monotonic() + 15
    while until.count() != count:
        assert time.monotonic() < end
        page.clock.fast_forward(1000)


@pytest.fixture(params=[each for each in JOURNEYS if each.system.name in LIVE], ids=lambda journey: journey.system.name)
def followed(request: pytest.FixtureRequest, browser: Browser, tmp_path: Path) -> Iterator[Followed]:
    journey: Journey = request.param
    settings = settings_of(dev=True, path=tmp_path / "test.db", rate_identity=0, rate_address=0, request_seconds=30)
    with site(journey.system, settings) as served:
        journey.begin(served)
        context = browser.new_context()
        context.set_default_timeout(15_000)
        proof = Sessions(served.running.store).open(Caller(journey.person[0], frozenset(journey.person[1:])))
        path = f"/{journey.system.name}/"
        context.add_cookies([{"name": SESSION, "value": proof, "domain": "127.0.0.1", "path": path}])
        page = context.new_page()
        page.clock.install()
        watch = Watch(page)
        page.goto(served.url + f"/{journey.system.name}" + journey.add.path.format(game=game_of(served)))
        yield Followed(journey, served, page)
        context.close()
        assert watch.found == []


def test_every_live_page_is_in_the_table() -> None:
    apps = Path(__file__).parents[2] / "src" / "keyplan" / "apps"
    found = {path.parts[-3] for path in apps.glob("*/templates/*.html") if "data-live=" in path.read_text("utf-8")}
    assert found == LIVE.keys()


def test_what_happens_elsewhere_shows_while_something_is_half_entered(followed: Followed) -> None:
    page, entry = followed.page, followed.journey.add
    before = followed.journey.count(followed.served)
    enter(page, entry)
    shown = followed.shown()
    followed.elsewhere(followed.live.score)
    followed.expect_change(shown)
    expect_entered(page, entry)
    assert followed.journey.count(followed.served) == before + 1


def test_a_lost_connection_is_told_and_nothing_is_lost(followed: Followed) -> None:
    page, entry = followed.page, followed.journey.add
    enter(page, entry)
    shown = followed.shown()
    page.context.set_offline(True)
    lost = page.locator("main > [data-lost]")
    hurry(page, lost, 1)
    expect(lost).to_contain_text("No connection. Last updated at ")
    expect(lost).to_have_role("status")
    followed.elsewhere(followed.live.score)
    expect_entered(page, entry)
    page.context.set_offline(False)
    hurry(page, lost, 0)
    followed.expect_change(shown)
    expect_entered(page, entry)


def test_a_server_that_fails_is_told_like_a_lost_connection(followed: Followed) -> None:
    followed.page.route("**/live", lambda route: route.fulfill(status=503, body="busy"))
    lost = followed.page.locator("[data-lost]")
    hurry(followed.page, lost, 1)
    expect(lost).to_be_visible()
    followed.page.unroute("**/live")
    hurry(followed.page, lost, 0)


def test_a_game_that_ends_elsewhere_is_shown_as_ended(followed: Followed) -> None:
    form = followed.page.locator(followed.journey.add.selector)
    expect(form).to_be_visible()
    followed.elsewhere(followed.live.end)
    expect(form).to_have_count(0, timeout=FOLLOWS)


def test_a_game_that_ends_elsewhere_while_something_is_entered(followed: Followed) -> None:
    """The page isn't loaded again, but says what happened; what is sent anyway is refused, and stays in the page."""
    page, entry = followed.page, followed.journey.add
    before = followed.journey.count(followed.served)
    enter(page, entry)
    page.locator(f'{entry.selector} [name="{next(iter(entry.values))}"]').first.dispatch_event("input")
    followed.elsewhere(followed.live.end)
    warning = page.locator("main > [data-outdated=changed]")
    expect(warning).to_have_text(
        "This has changed in the meantime. Reload the page when you no longer need what you entered.", timeout=FOLLOWS
    )
    expect(warning).to_have_role("alert")
    expect_entered(page, entry)
    send(page, entry)
    expect(page.locator("main")).to_contain_text(followed.live.refused)
    assert followed.journey.count(followed.served) == before


def test_a_game_that_is_deleted_elsewhere_while_something_is_entered(followed: Followed) -> None:
    page, entry = followed.page, followed.journey.add
    enter(page, entry)
    page.route("**/live", lambda route: route.fulfill(status=404, body="gone"))
    warning = page.locator("main > [data-outdated=gone]")
    expect(warning).to_contain_text("Copy what you entered before you leave it.", timeout=FOLLOWS)
    expect_entered(page, entry)
