# ruff: noqa: F811 - fixtures are imported by their names
"""What can't be undone asks first, in every system, with and without JavaScript."""

import inspect
import re
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from keyplan.apps.threefc.service import Football
from keyplan.apps.wavyblog.service.accounts import caller_of
from keyplan.web import Caller, Pages, View
from keyplan.web.identity.sessions import SESSION, Sessions
from keyplan.web.system.access import permission_of
from keyplan.web.system.page_routes import PageRoute
from tests.apps.blog_images import added
from tests.apps.blog_site import blog, write
from tests.apps.every_page import TOURS, Tour
from tests.apps.hack_site import PLAY, Team
from tests.apps.hack_site import league as hack_league
from tests.apps.one_way import deletes, methods_called
from tests.apps.threefc_site import Club, club
from tests.apps.vcm_site import club as volleyball_club
from tests.apps.vcm_site import png, upload
from tests.web.axe import axe, problems  # noqa: F401 - fixture
from tests.web.browser import browser, browser_page, plain_page  # noqa: F401 - fixtures
from tests.web.site import Site

COMES_BACK = {
    "funkedupshift.put_avatar": "the new picture replaces the old one, which its owner has",
    "hacktracker.accept_invitation": "the invitation is used up by joining",
    "hacktracker.undo": "a tap scores it again",
    "threefc.undo_goal": "two taps score it again",
    "threefc.remove_player": "a tap adds the player again",
    "wavyblog.change_password": "what is deleted are sessions: people sign in again",
    "wavyblog.logout": "what is deleted is a session",
    "wavyblog.refresh": "what is deleted is a token that was used",
}
"""Methods of services that delete something and aren't declared as one-way, and why."""


@pytest.mark.parametrize("tour", TOURS, ids=lambda tour: tour.system.name)
def test_what_deletes_is_declared_as_one_way(tour: Tour) -> None:
    service = tour.system.api.service
    found = {name: method for name, method in inspect.getmembers(service, inspect.isfunction) if permission_of(method)}
    deleting = {f"{tour.system.name}.{name}" for name, method in found.items() if deletes(method, service)}
    declared = {f"{tour.system.name}.{name}" for name, method in found.items() if is_one_way(method)}
    assert len(deleting) >= 5
    assert deleting - declared == {name for name in COMES_BACK if name.startswith(f"{tour.system.name}.")}


@pytest.mark.parametrize("tour", TOURS, ids=lambda tour: tour.system.name)
def test_every_form_that_cannot_be_undone_asks(tour: Tour) -> None:
    assert tour.system.pages is not None
    forms = [each for each in tour.system.pages.routes if each.verb == "POST"]
    assert [each.path for each in forms if each.confirm is None and does_one_way(each, tour)] == []
    assert len([each for each in forms if each.confirm is not None]) >= 5


def test_a_new_form_that_deletes_and_does_not_ask_is_found() -> None:
    tour = next(each for each in TOURS if each.system.name == "threefc")

    def sweep(view: View[Football], game_id: str) -> None:
        helper(view, game_id)

    assert does_one_way(PageRoute("POST", "/sweep/{game_id}", sweep), tour)  # type: ignore[arg-type]  # no response
    with pytest.raises(TypeError, match=r"Ask first, with confirm="):
        Pages("keyplan.apps.threefc").form("/games/{game_id}/delete", Football.delete_game, to="/")


def helper(view: View[Football], game_id: str) -> None:
    view.service.delete_game(game_id, None)


def is_one_way(method: Callable[..., object]) -> bool:
    permission = permission_of(method)
    return permission is not None and permission.one_way


def does_one_way(route: PageRoute, tour: Tour) -> bool:
    return any(is_one_way(each) for each in methods_called(route.function, tour.system.api.service))


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
    expect(browser_page.get_by_role("heading", level=1)).to_have_text("Delete the game Red – Blue – Gold?")
    assert problems(browser_page) == []


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
        expect(plain_page.locator("main li")).to_have_text(["Three", "One"])
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
    expect(page.get_by_role("heading", level=1)).to_have_text("End the game Red – Blue – Gold?")
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
    assert "Delete the game Red – Blue – Gold?" not in answer.text


def test_nobody_is_asked_who_would_be_refused(league: Club) -> None:
    viewer = league.browser("viewer")
    for path, values in (("status", {"status": "finished"}), ("delete", {"version": "1"})):
        answer = viewer.send(f"/games/g1/{path}", at="/new-league", confirmed=[], **values)
        assert answer.status_code == 403
        assert "the game Red" not in answer.text
    answer = league.browser("admin").send("/games/g1/status", status="scheduled", confirmed=[])
    assert answer.status_code == 409
    assert league.sam.get("/games/g1").json()["status"] == "live"


def test_what_was_done_already_takes_no_question(league: Club) -> None:
    browser = league.browser("scorekeeper")
    assert browser.send("/games/g1/status", status="finished").status_code == 303
    again = browser.send("/games/g1/status", status="finished", confirmed=[])
    assert (again.status_code, again.headers["location"]) == (303, "/threefc/games/g1")


def test_a_game_that_others_score_is_ended_in_the_state_that_the_question_shows(
    plain_page: Page, tmp_path: Path
) -> None:
    page = plain_page
    with hack_league(tmp_path) as site:
        team = Team(site)
        game = team.game(play=True, opponent_name="Larks")
        others = team.as_("scorekeeper")

        def score(runs: int) -> None:
            answer = others.patch(f"/games/{game}", json={"opponent_score": runs}, headers={"If-Match": "*"})
            assert answer.status_code == 200

        sign_in(page, site, Caller("owner"))
        page.goto(f"{site.url}/hacktracker/games/{game}")
        score(1)
        page.get_by_role("button", name="End game").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("End the game against Larks?")
        expect(page.get_by_text("The score is 0–1.")).to_be_visible()
        score(2)
        page.get_by_role("button", name="End game").click()
        expect(page.get_by_role("alert")).to_have_text("This was changed in the meantime.")
        expect(page.get_by_text("The score is 0–2.")).to_be_visible()
        assert others.get(f"/games/{game}").json()["status"] == "IN_PROGRESS"
        page.get_by_role("button", name="End game").click()
        expect(page.get_by_role("status")).to_have_text("Game ended")
        assert others.get(f"/games/{game}").json()["opponent_score"] == 2


def test_a_game_without_an_opponent_and_a_play_are_named(plain_page: Page, tmp_path: Path) -> None:
    page = plain_page
    with hack_league(tmp_path) as site:
        team = Team(site)
        game = team.game(play=True)
        play = team.owner.post(f"/games/{game}/at-bats", json={**PLAY, "player_id": team.ghosts[0]}).json()
        sign_in(page, site, Caller("owner"))
        page.goto(f"{site.url}/hacktracker/games/{game}/plays/{play['at_bat_id']}")
        page.get_by_role("button", name="Remove play").click()
        title = page.get_by_role("heading", level=1)
        expect(title).to_have_text("Remove the play of Ghost No 7 in inning 1 (single)?")
        page.get_by_role("button", name="Remove play").click()
        expect(page.get_by_role("status")).to_have_text("Play removed")
        page.goto(f"{site.url}/hacktracker/games/{game}")
        page.get_by_role("button", name="End game").click()
        expect(title).to_have_text("End the game?")


def test_the_question_shows_the_image(plain_page: Page, tmp_path: Path) -> None:
    page = plain_page
    with blog(tmp_path) as site:
        made = added(site.as_("ada"), png())
        sign_in(page, site, caller_of(site.running.store.run(site.running.design.user("ada"))))
        page.goto(f"{site.url}/wavyblog/images")
        page.get_by_role("button", name="Delete image").click()
        day = datetime.fromisoformat(made["created_at"])
        expect(page.get_by_role("heading", level=1)).to_have_text(f"Delete the image of {day:%-d %B %Y, %H:%M}?")
        expect(page.get_by_role("img")).to_have_attribute("src", made["url"])
        page.get_by_role("button", name="Delete image").click()
        expect(page.get_by_role("status")).to_have_text("Image deleted")


def test_the_question_shows_the_picture_in_german(plain_page: Page, tmp_path: Path) -> None:
    page = plain_page
    with volleyball_club(tmp_path) as site:
        made = upload(site, alt="Die Halle")
        sign_in(page, site, Caller("mona", frozenset({"Moderator"})))
        page.goto(f"{site.url}/vcm/redaktion/medien")
        page.get_by_role("button", name="löschen").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("Bild „Die Halle“ löschen?")
        expect(page.get_by_role("img", name="Die Halle")).to_have_attribute("src", made["url"])
        page.get_by_role("button", name="löschen").click()
        expect(page.get_by_role("status")).to_have_text("Bild gelöscht")


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
