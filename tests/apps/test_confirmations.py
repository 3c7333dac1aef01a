# ruff: noqa: F811 - fixtures are imported by their names
"""What can't be undone asks first, in every system, with and without JavaScript."""

import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from keyplan.apps.wavyblog.service.accounts import caller_of
from keyplan.web import Caller
from keyplan.web.identity.sessions import SESSION, Sessions
from keyplan.web.system.page_routes import PageRoute
from tests.apps.blog_site import blog, write
from tests.apps.every_page import TOURS, Tour
from tests.apps.threefc_site import Club, club
from tests.apps.vcm_site import club as volleyball_club
from tests.web.axe import axe, small_targets, violations  # noqa: F401 - fixture
from tests.web.browser import browser, browser_page, plain_page  # noqa: F401 - fixtures
from tests.web.site import Site

ONE_WAY = re.compile(r"(?:^|_)(?:delete|remove|revoke|leave|transfer|unlink|end|finish|change_role|grant|move_game)")
ONE_WAY_TOO = {"change_status"}
"""Methods of services that delete, end or hand over something, by their names."""
ASKS_NOTHING = {
    "/games/{game_id}/roster/{player_id}/remove": "a tap adds the player again",
}
"""Forms that call one and don't ask, and why."""


def methods_of(route: PageRoute) -> set[str]:
    """The names of the methods of the service that a form calls."""
    if route.method is not None:
        return {route.method.__name__}
    return set(re.findall(r"service\.(\w+)\(", inspect.getsource(route.function)))


def is_one_way(route: PageRoute) -> bool:
    return any(ONE_WAY.search(name) or name in ONE_WAY_TOO for name in methods_of(route))


@pytest.mark.parametrize("tour", TOURS, ids=lambda tour: tour.system.name)
def test_every_form_that_cannot_be_undone_asks(tour: Tour) -> None:
    assert tour.system.pages is not None
    forms = [each for each in tour.system.pages.routes if each.verb == "POST"]
    silent = [each.path for each in forms if is_one_way(each) and each.confirm is None]
    assert [path for path in silent if path not in ASKS_NOTHING] == []
    assert [each.path for each in forms if each.confirm is not None and each.path in ASKS_NOTHING] == []
    assert len([each for each in forms if each.confirm is not None]) >= 5


def sign_in(page: Page, site: Site, caller: Caller) -> None:
    proof = Sessions(site.running.store).open(caller)
    path = f"/{site.running.system.name}/"
    page.context.add_cookies([{"name": SESSION, "value": proof, "domain": "127.0.0.1", "path": path}])


@pytest.fixture(params=["browser_page", "plain_page"])
def page(request: pytest.FixtureRequest) -> Page:
    """A browser with JavaScript, and one without."""
    given: Page = request.getfixturevalue(request.param)
    return given


def test_a_post_is_deleted_after_a_question(page: Page, tmp_path: Path) -> None:
    with blog(tmp_path) as site:
        ada = site.as_("ada")
        slug = write(ada, "All about waves")["slug"]
        user = site.running.store.run(site.running.design.user("ada"))
        sign_in(page, site, caller_of(user))
        at = f"{site.url}/wavyblog/posts/{slug}"
        page.goto(at)
        page.get_by_role("button", name="Delete post").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("Delete the post “All about waves”?")
        expect(page.get_by_text("This can't be undone.")).to_be_visible()
        assert ada.get(f"/posts/{slug}").status_code == 200
        page.get_by_role("link", name="Cancel").click()
        expect(page).to_have_url(at)
        page.get_by_role("button", name="Delete post").click()
        page.get_by_role("button", name="Delete post").click()
        expect(page.get_by_role("status")).to_have_text("Post deleted")
        assert ada.get(f"/posts/{slug}").status_code == 404


def test_axe_finds_nothing_on_the_page_that_asks(browser_page: Page, league: Club, axe: None) -> None:
    sign_in(browser_page, league.site, Caller("olga"))
    browser_page.goto(f"{league.site.url}/threefc/games/g1/edit")
    browser_page.get_by_role("button", name="Delete game").click()
    expect(browser_page.get_by_role("heading", level=1)).to_have_text("Delete this game?")
    assert [*violations(browser_page), *small_targets(browser_page)] == []


def test_what_was_chosen_is_still_chosen_after_the_question(plain_page: Page, tmp_path: Path) -> None:
    with blog(tmp_path) as site:
        ada = site.as_("ada")
        for title in ("One", "Two", "Three"):
            write(ada, title)
        sign_in(plain_page, site, caller_of(site.running.store.run(site.running.design.user("ada"))))
        plain_page.goto(f"{site.url}/wavyblog/my-posts")
        for title in ("One", "Three"):
            plain_page.get_by_role("checkbox", name=re.compile(title)).check()
        plain_page.get_by_role("button", name=re.compile("Delete")).click()
        expect(plain_page.get_by_role("heading", level=1)).to_have_text("Delete 2 posts?")
        plain_page.get_by_role("button", name="Delete posts").click()
        expect(plain_page.get_by_role("status")).to_have_text("2 posts deleted")
        assert [each["title"] for each in ada.get("/me/posts").json()["items"]] == ["Two"]


@pytest.fixture
def league(tmp_path: Path) -> Iterator[Club]:
    with club(tmp_path) as started:
        started.game("g1")
        yield started


def test_ending_a_game_asks_and_scoring_does_not(plain_page: Page, league: Club) -> None:
    page = plain_page
    sign_in(page, league.site, Caller("sam"))
    page.goto(f"{league.site.url}/threefc/games/g1")
    page.get_by_role("button", name=re.compile("Finish|End")).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("End this game?")
    assert league.sam.get("/games/g1").json()["status"] == "live"
    page.get_by_role("button", name="End game").click()
    assert league.sam.get("/games/g1").json()["status"] == "finished"
    asked = {route.path for route in league.site.running.system.pages.routes if route.confirm is not None}  # type: ignore[union-attr]  # it has pages
    assert not asked & {"/games/{game_id}/goals", "/games/{game_id}/undo"}


def test_only_an_admin_takes_a_question(plain_page: Page, league: Club) -> None:
    page = plain_page
    sign_in(page, league.site, Caller("olga"))
    page.goto(f"{league.site.url}/threefc/leagues/north/people")
    for role, asks in (("viewer", False), ("admin", True)):
        page.get_by_label("User ID").fill("kim")
        page.get_by_label("Role", exact=True).select_option(role)
        page.get_by_role("button", name="Add person").click()
        if asks:
            expect(page.get_by_role("heading", level=1)).to_have_text("Make kim an admin?")
            page.get_by_role("button", name="Make admin").click()
        expect(page.get_by_role("status")).to_contain_text("kim is now")


def test_nobody_is_asked_who_is_not_signed_in(league: Club) -> None:
    nobody = league.browser("nobody")
    answer = nobody.send("/games/g1/delete", at="/sign-in", version="1", confirmed=[])
    assert answer.status_code == 401
    assert "Delete this game?" not in answer.text


def test_an_editor_asks_in_german(plain_page: Page, tmp_path: Path) -> None:
    page = plain_page
    with volleyball_club(tmp_path) as site:
        made = (
            site.as_("mona", "Moderator")
            .post("/locations", json={"name": "Halle Nord", "street": "A 1", "postalCode": "68159", "city": "Mannheim"})
            .json()
        )
        sign_in(page, site, Caller("mona", frozenset({"Moderator"})))
        page.goto(f"{site.url}/vcm/redaktion/orte/{made['id']}")
        page.get_by_role("button", name="löschen").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("Ort „Halle Nord“ löschen?")
        expect(page.get_by_text("Das lässt sich nicht rückgängig machen.")).to_be_visible()
        expect(page.get_by_role("link", name="Abbrechen")).to_be_visible()
        page.get_by_role("button", name="löschen").click()
        expect(page.get_by_role("status")).to_have_text("Ort gelöscht")
