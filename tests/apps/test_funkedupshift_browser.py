# ruff: noqa: F811 - fixtures are imported by their names
"""funkedupshift in a real browser: on a desktop, on a phone and without JavaScript; and its demo data."""

import time
from collections.abc import Iterator

import pytest
from playwright.sync_api import FilePayload, Page, expect

from keyplan.apps.funkedupshift import demo
from keyplan.apps.funkedupshift.api import SYSTEM
from keyplan.apps.funkedupshift.fields import STARS
from keyplan.apps.funkedupshift.pages.shared import PEOPLE
from tests.apps.fus_site import all_of, png, settings
from tests.web.browser import browser, browser_page, confirm, plain_page, screenshots  # noqa: F401 - fixtures
from tests.web.site import Site, site

PICTURE: FilePayload = {"name": "me.png", "mimeType": "image/png", "buffer": png(shade=200)}


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """funkedupshift with its demo data."""
    with site(SYSTEM, settings(tmp_path_factory.mktemp("demo"))) as started:
        demo.fill(started.running, lambda done, total: None)
        yield started


def be(page: Page, full: Site, name: str) -> None:
    page.goto(f"{full.url}/funkedupshift/sign-in")
    page.locator("button.person").filter(has_text=name).first.click()
    expect(page.get_by_role("status")).to_have_text(f"Signed in as {name}")


def test_the_demo_data_has_long_lists_and_is_made_once(full: Site) -> None:
    root, ada = full.as_("sam", "admin"), full.as_("ada")
    newest = root.get("/sites?limit=1").json()["items"][0]["site_id"]
    player = root.get("/squash/table").json()["rows"][0]["player_id"]
    lists: list[tuple[str, dict[str, object]]] = [
        ("/sites", {}),
        ("/sites", {"tag": "web"}),
        ("/sites", {"text": "kept by"}),
        (f"/sites/{newest}/comments", {}),
        (f"/sites/{newest}/ratings", {}),
        ("/groups", {}),
        ("/groups/Squash/members", {}),
        ("/users/ada/memberships", {}),
        ("/squash/players", {}),
        ("/squash/matches", {}),
        ("/squash/matches", {"date_from": "2025-01-01"}),
        ("/squash/matches", {"date": root.get("/squash/matches?limit=1").json()["items"][0]["date"]}),
        ("/squash/matches", {"player": player}),
    ]
    lists += [("/ratings", {"stars": stars}) for stars in STARS]
    for path, params in lists:
        assert len(all_of(root, path, **params)) > 100, (path, params)
    for path in ("/me/ratings", "/me/memberships"):
        assert len(all_of(ada, path)) > 100
    count = len(all_of(root, "/squash/matches"))
    began = time.process_time()
    demo.fill(full.running, lambda done, total: None)
    assert time.process_time() - began < 5
    assert len(all_of(root, "/squash/matches")) == count
    assert full.running.store.verify() == []
    assert ada.get("/me").json()["avatar_url"].startswith("/media/funkedupshift/profile/avatars/ada/")
    names = [full.as_(person.sub, *person.groups).get("/me").json()["display_name"] for person in PEOPLE]
    assert names == [person.name for person in PEOPLE]


def test_reading(browser_page: Page, full: Site) -> None:
    page = browser_page
    page.goto(f"{full.url}/funkedupshift/")
    expect(page.get_by_role("heading", level=1)).to_have_text("Sites worth sharing")
    expect(page.locator(".sites > li")).to_have_count(25)
    screenshots(page, "fus-catalog")
    page.get_by_label("Search").fill("LIGHTHOUSES")
    page.get_by_role("button", name="Search sites").click()
    expect(page.locator(".sites > li")).to_have_count(10)
    page.locator(".sites a.tag", has_text="web").first.click()
    expect(page.get_by_label("Tag", exact=True)).to_have_value("web")
    page.get_by_role("link", name="Next page").click()
    expect(page.get_by_role("link", name="Previous page")).to_be_visible()
    page.goto(f"{full.url}/funkedupshift/")
    page.locator(".sites h2 a").first.click()
    expect(page.locator("meter")).to_have_count(5)
    expect(page.get_by_text("to comment.")).to_be_visible()
    screenshots(page, "fus-site")
    page.goto(f"{full.url}/funkedupshift/squash")
    expect(page.get_by_role("heading", level=1)).to_have_text("Not found")
    screenshots(page, "fus-not-found")


def test_rating_and_commenting_without_javascript(plain_page: Page, full: Site) -> None:
    page = plain_page
    be(page, full, "Moe")
    page.locator(".sites h2 a").nth(3).click()
    title = page.get_by_role("heading", level=1).inner_text()
    page.get_by_role("radio", name="4").check()
    page.get_by_label("Note").fill("For later.")
    page.get_by_role("button", name="Rate site").click()
    expect(page.get_by_role("status")).to_have_text("Rating saved")
    expect(page.get_by_role("radio", name="4")).to_be_checked()
    page.get_by_label("Comment", exact=True).fill("Well, well.\nReally.")
    page.get_by_role("button", name="Add comment").click()
    expect(page.get_by_role("status")).to_have_text("Comment added")
    expect(page.locator(".comments")).to_contain_text("Well, well.")
    page.get_by_role("link", name="Edit comment").click()
    page.get_by_label("Comment", exact=True).fill("Other words.")
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".comments")).to_contain_text("Other words.")
    screenshots(page, "fus-site-signed-in")
    page.get_by_role("button", name="Delete comment").click()
    confirm(page)
    expect(page.get_by_role("status")).to_have_text("Comment deleted")
    page.get_by_role("link", name="Your ratings").click()
    expect(page.get_by_role("link", name=title, exact=True)).to_be_visible()
    screenshots(page, "fus-my-ratings")


def test_a_profile_with_a_picture_without_javascript(plain_page: Page, full: Site) -> None:
    page = plain_page
    be(page, full, "Max")
    page.get_by_role("link", name="Max", exact=True).click()
    page.get_by_label("Description").fill("Looks after things.")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("status")).to_have_text("Profile saved")
    page.get_by_label("Type of picture").select_option("PNG")
    page.get_by_role("button", name="Choose file").click()
    screenshots(page, "fus-send-avatar")
    page.get_by_label("Picture", exact=True).set_input_files(PICTURE)
    with page.expect_response("**/media/upload"):
        page.get_by_role("button", name="Upload file").click()
    page.get_by_role("button", name="Use picture").click()
    expect(page.get_by_role("status")).to_have_text("Picture saved")
    expect(page.get_by_role("img", name="Your picture")).to_be_visible()
    screenshots(page, "fus-profile")
    page.get_by_role("button", name="Remove picture").click()
    expect(page.get_by_role("img", name="Your picture")).to_have_count(0)


def test_a_picture_is_sent_when_it_is_chosen(browser_page: Page, full: Site) -> None:
    page = browser_page
    be(page, full, "Moe")
    page.get_by_role("link", name="Moe", exact=True).click()
    expect(page.get_by_label("Choose a picture")).to_be_visible()  # the script is loaded
    page.get_by_label("Choose a picture").set_input_files({"name": "no.txt", "mimeType": "text/plain", "buffer": b"x"})
    expect(page.locator("[data-status]")).to_have_text(
        "no.txt can't be uploaded. Choose one of these: JPEG, PNG, GIF or WebP, at most 5 MB."
    )
    expect(page.get_by_label("Choose a picture")).to_be_visible()  # the script is loaded
    page.get_by_label("Choose a picture").set_input_files({**PICTURE, "buffer": b"not a picture"})
    expect(page.locator("[data-status] .error")).to_contain_text("The file is damaged")
    page.get_by_label("Display name").fill("Moe the Great")  # it isn't lost, and can be saved afterwards
    page.get_by_label("Choose a picture").set_input_files(PICTURE)
    expect(page.locator("[data-status]")).to_contain_text("uploaded.")
    expect(page.get_by_role("img", name="Your picture")).to_be_visible()
    page.get_by_role("button", name="Save profile").click()
    expect(page.get_by_role("status").first).to_have_text("Profile saved")
    expect(page.get_by_label("Display name")).to_have_value("Moe the Great")
    page.get_by_role("button", name="Remove picture").click()
    expect(page.get_by_role("img", name="Your picture")).to_have_count(0)


def test_groups(browser_page: Page, full: Site) -> None:
    page = browser_page
    be(page, full, "Max")
    page.get_by_role("link", name="Groups", exact=True).click()
    screenshots(page, "fus-groups")
    page.get_by_role("link", name="Create group").click()
    page.get_by_label("Name").fill("manager")
    page.get_by_role("button", name="Create group").click()
    expect(page.get_by_role("alert")).to_be_focused()
    screenshots(page, "fus-new-group")
    page.get_by_label("Name").fill("newcomers")
    page.get_by_role("button", name="Create group").click()
    page.get_by_label("User ID").fill("ada")
    page.get_by_role("button", name="Add member").click()
    expect(page.get_by_role("status")).to_have_text("ada added")
    screenshots(page, "fus-group")
    page.goto(f"{full.url}/funkedupshift/groups/Squash")
    expect(page.get_by_text("Only admins can see and change the members of Squash.")).to_be_visible()
    page.goto(f"{full.url}/funkedupshift/memberships?user_id=ada")
    screenshots(page, "fus-memberships")
    expect(page.get_by_role("link", name="Squash")).to_have_count(0)


def test_squash(browser_page: Page, full: Site) -> None:
    page = browser_page
    be(page, full, "Mia")
    page.get_by_role("link", name="Squash", exact=True).click()
    expect(page.get_by_text("324 matches, all time")).to_be_visible()
    screenshots(page, "fus-squash-table")
    page.get_by_label("From").fill("2025-10-01")
    page.get_by_label("To").fill("2025-10-31")
    page.get_by_role("button", name="Show table").click()
    expect(page.get_by_role("link", name="All time")).to_be_visible()
    screenshots(page, "fus-squash-table-of-october")
    page.get_by_role("link", name="Matches").click()
    screenshots(page, "fus-squash-matches")
    page.get_by_role("link", name="Add match").click()
    for name, label in (("team_a_player1_id", "Ada Abel"), ("team_a_player2_id", "Ada Brandt")):
        page.locator(f"[name={name}]").select_option(label)
    for name, label in (("team_b_player1_id", "Ada Celik"), ("team_b_player2_id", "Ada Abel")):
        page.locator(f"[name={name}]").select_option(label)
    page.locator("[name=team_a_games]").select_option("3")
    page.locator("[name=team_b_games]").select_option("0")
    page.get_by_role("button", name="Add match").click()
    expect(page.get_by_role("alert")).to_contain_text("four different players")
    screenshots(page, "fus-squash-match")
    page.locator("[name=team_b_player2_id]").select_option("Ada Dorn")
    page.get_by_role("button", name="Add match").click()
    expect(page.get_by_role("status")).to_have_text("Match added")
    expect(page.locator(".matches > li").first).to_contain_text("Ada Abel & Ada Brandt 3:0 Ada Celik & Ada Dorn")
    page.get_by_role("link", name="Players").click()
    screenshots(page, "fus-squash-players")
    page.get_by_role("link", name="Edit Ada Abel").click()
    page.get_by_role("button", name="Delete player").click()
    confirm(page)
    expect(page.get_by_role("alert")).to_contain_text("Can't delete this player")
    screenshots(page, "fus-squash-player")


def test_keeping_the_catalog(browser_page: Page, full: Site) -> None:
    page = browser_page
    be(page, full, "Sam")
    page.get_by_role("link", name="Add site").click()
    page.get_by_label("URL").fill("https://sea.example/")
    page.get_by_label("Title").fill("All about the sea")
    page.get_by_label("Tags").fill("C#\nnature")
    screenshots(page, "fus-new-site")
    page.get_by_role("button", name="Add site").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("All about the sea")
    page.get_by_role("link", name="c#", exact=True).click()
    expect(page.get_by_role("link", name="All about the sea")).to_be_visible()
    page.get_by_role("link", name="All ratings").click()
    screenshots(page, "fus-ratings")
    page.goto(f"{full.url}/funkedupshift/")
    page.get_by_role("link", name="All about the sea").click()
    screenshots(page, "fus-site-admin")
    page.get_by_role("button", name="Delete site").click()
    confirm(page)
    expect(page.get_by_role("status")).to_have_text("Site deleted")


def test_keyboard_alone(browser_page: Page, full: Site) -> None:
    page = browser_page
    page.goto(f"{full.url}/funkedupshift/")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to content")).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    expect(page.get_by_label("Search")).to_be_focused()
    page.keyboard.type("tides")
    page.keyboard.press("Enter")
    expect(page.locator(".sites > li")).to_have_count(10)


def test_a_member_who_is_added_twice_changes_nothing_of_the_group(browser_page: Page, full: Site) -> None:
    page, user = browser_page, "twice-added"
    be(page, full, "Sam")
    page.goto(f"{full.url}/funkedupshift/groups/editors")
    description = page.get_by_label("Description").input_value()
    allowed = page.locator("input[name=permissions]:checked").count()
    assert description
    assert allowed
    for _ in range(2):
        page.get_by_label("User ID").fill(user)
        page.get_by_role("button", name="Add member").click()
    expect(page.get_by_role("alert")).to_contain_text("already")
    expect(page.get_by_label("User ID")).to_have_value(user)
    page.get_by_role("button", name="Save group").click()
    expect(page.get_by_role("status")).to_have_text("Group saved")
    expect(page.get_by_label("Description")).to_have_value(description)
    expect(page.locator("input[name=permissions]:checked")).to_have_count(allowed)
