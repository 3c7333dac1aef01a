# ruff: noqa: F811 - fixtures are imported by their names
"""hacktracker in a real browser: scoring with taps, following a game, and what it looks like on a phone."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from keyplan.apps.hacktracker import demo
from keyplan.apps.hacktracker.api import SYSTEM
from tests.apps.hack_site import Team, league, made, settings
from tests.web.browser import browser, browser_page, screenshots, watched  # noqa: F401 - fixtures
from tests.web.site import Site, site


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Site]:
    with league(tmp_path) as started:
        yield started


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """The demo."""
    with site(SYSTEM, settings(tmp_path_factory.mktemp("demo"))) as started:
        demo.fill(started.running, lambda done, total: None)
        yield started


def sign_in(page: Page, served: Site, name: str, path: str = "/") -> None:
    page.goto(f"{served.url}/hacktracker/sign-in?to=/hacktracker{path}")
    form = page.locator("form", has=page.locator("input[name=groups]"))
    form.locator("input[name=sub]").fill(name)
    form.get_by_role("button").click()
    page.wait_for_url(f"**/hacktracker{path}")


def test_a_game_is_scored_with_taps_and_followed(browser_page: Page, browser: Browser, served: Site) -> None:
    team = Team(served)
    game = team.game(play=True, opponent_name="Larks")
    page = browser_page
    sign_in(page, served, "scorekeeper", f"/games/{game}/score")
    follower = next(others := watched(browser))
    sign_in(follower, served, "player", f"/games/{game}")
    expect(page.get_by_label("At bat")).to_have_value(team.ghosts[0])
    # Two taps: where it went, and what it was.
    field = page.locator("[data-field]")
    box = field.bounding_box()
    assert box is not None
    field.click(position={"x": box["width"] * 0.25, "y": box["height"] * 0.3})
    page.get_by_role("button", name="HR Home run").click()
    expect(page.locator("[data-live] .score")).to_contain_text("Sluggers 1 0 Larks")
    expect(page.get_by_label("At bat")).to_have_value(team.ghosts[1])
    (at_bat,) = made(team.owner.get(f"/games/{game}/at-bats"), 200)["items"]
    assert at_bat["hit_location"] == {"x": pytest.approx(0.25, abs=0.02), "y": pytest.approx(0.72, abs=0.02)}
    assert (at_bat["runs"], at_bat["rbi"]) == (1, 1)
    # All other open pages are updated within two seconds, without a reload.
    expect(follower.locator("[data-live] .score")).to_contain_text("Sluggers 1 0 Larks", timeout=2000)
    expect(follower.locator("[data-live]")).to_contain_text("Ghost No 7")
    # Another scorer enters an at-bat: the form continues with the next batter.
    team.bat(game, team.ghosts[1], result="OUT")
    expect(page.get_by_label("At bat")).to_have_value(team.ghosts[2], timeout=3000)
    expect(page.get_by_label("Outs")).to_have_value("1")
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("status")).to_have_text("OUT undone")
    expect(page.get_by_label("At bat")).to_have_value(team.ghosts[1])
    page.get_by_role("button", name="Opponent +1").click()
    expect(page.locator("[data-live] .score")).to_contain_text("Sluggers 1 1 Larks")
    expect(follower.locator("[data-live] .score")).to_contain_text("Sluggers 1 1 Larks", timeout=3000)
    assert next(others, None) is None, "and nothing went wrong on that page"
    assert served.running.store.verify() == []


def test_a_refused_play_keeps_the_place_that_was_tapped(browser_page: Page, served: Site) -> None:
    page, team = browser_page, Team(served)
    sign_in(page, served, "scorekeeper", f"/games/{team.game(play=True)}/score")
    page.locator("[data-field]").click(position={"x": 60, "y": 60})
    marked = page.locator("[data-marker]").get_attribute("cx")
    page.get_by_label("Inning").fill("0")
    page.locator("[data-play]").evaluate("form => { form.noValidate = true }")
    page.get_by_role("button", name="Single").click()
    expect(page.get_by_role("alert")).to_contain_text("Inning")
    expect(page.locator("[data-x]")).not_to_have_value("")
    expect(page.locator("[data-marker]")).to_have_attribute("cx", str(marked))


def test_a_game_that_others_score_is_ended_with_the_version_that_is_shown(browser_page: Page, served: Site) -> None:
    page, team = browser_page, Team(served)
    game = team.game(play=True, opponent_name="Larks")
    sign_in(page, served, "owner", f"/games/{game}")
    scored = {"opponent_score": 1}
    made(team.as_("scorekeeper").patch(f"/games/{game}", json=scored, headers={"If-Match": "*"}), 200)
    expect(page.locator("[data-live] .score")).to_contain_text("Sluggers 0 1 Larks", timeout=3000)
    page.get_by_role("button", name="End game").click()
    page.locator("form", has=page.locator("[name=confirmed]")).get_by_role("button", name="End game").click()
    expect(page.get_by_role("status")).to_have_text("Game ended")


def test_the_desk_is_another_page_when_the_game_is_over(browser_page: Page, served: Site) -> None:
    team = Team(served)
    game = team.game(play=True)
    sign_in(browser_page, served, "scorekeeper", f"/games/{game}/score")
    expect(browser_page.locator("[data-play]")).to_be_visible()
    team.move(game, "FINAL")
    expect(browser_page.get_by_text("This game is not in progress.")).to_be_visible(timeout=3000)
    expect(browser_page.locator("[data-play]")).to_have_count(0)


def test_a_user_whose_session_ended_is_asked_to_sign_in(browser_page: Page, served: Site) -> None:
    """The response of the sign-in isn't inserted into the game's page."""
    team = Team(served)
    game = team.game(play=True)
    sign_in(browser_page, served, "player", f"/games/{game}")
    expect(browser_page.locator("[data-live] .score")).to_be_visible()
    browser_page.context.clear_cookies()
    browser_page.wait_for_url("**/hacktracker/sign-in?**", timeout=3000)
    expect(browser_page.locator("[data-live]")).to_have_count(0)


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("front", "/"),
        ("team", f"/teams/{demo.HERONS}"),
        ("roster", f"/teams/{demo.HERONS}/roster"),
        ("members", f"/teams/{demo.HERONS}/members"),
        ("statistics", f"/teams/{demo.HERONS}/statistics"),
        ("player", f"/teams/{demo.HERONS}/players/{demo.HERONS}-p05"),
        ("game", "/games/demo-game-003"),
        ("score", f"/games/{demo.PLAYING}/score"),
        ("lineup", f"/games/{demo.PLAYING}/lineup"),
        ("me", "/me"),
    ],
)
def test_what_it_looks_like(browser_page: Page, full: Site, name: str, path: str) -> None:
    sign_in(browser_page, full, "casey", path)
    expect(browser_page.get_by_role("heading", level=1)).to_be_visible()
    screenshots(browser_page, f"hacktracker-{name}")
