# ruff: noqa: F811 - fixtures are imported by their names
"""WavyBlog in a real browser: reading, writing, images; on a phone; without JavaScript."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from moto.server import ThreadedMotoServer
from playwright.sync_api import Dialog, FilePayload, Page, expect

from keyplan.apps.wavyblog import demo
from keyplan.apps.wavyblog.api import SYSTEM
from keyplan.web.identity.sessions import Sessions
from tests.apps.wavyblog_pages_support import PASSWORD, POST, Served, blog, png, settings_in
from tests.web.browser import browser, browser_page, confirm, plain_page, screenshots  # noqa: F401 - fixtures
from tests.web.media_support import s3_client
from tests.web.site import Site, site

PICTURE: FilePayload = {"name": "sea.png", "mimeType": "image/png", "buffer": png()}


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    with blog(settings_in(tmp_path)) as started:
        yield started


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """The blog with its demo data."""
    with site(SYSTEM, settings_in(tmp_path_factory.mktemp("demo"))) as started:
        demo.fill(started.running, lambda done, total: None)
        yield started


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, str]]:
    """Settings for files in a bucket, of another host than the blog."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    endpoint = "http://{}:{}".format(*server.get_host_and_port())
    client: Any = s3_client(endpoint)
    client.create_bucket(Bucket="pictures")
    yield {"media_bucket": "pictures", "media_endpoint_url": endpoint}
    server.stop()


def sign_in(page: Page, url: str, name: str, password: str) -> None:
    page.goto(f"{url}/wavyblog/")
    page.get_by_role("link", name="Sign in").click()
    page.get_by_label("Username or e-mail address").fill(name)
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("status")).to_have_text(f"Signed in as {name}")


def choose(page: Page, *files: FilePayload) -> None:
    """Choose files to upload, once the script for uploads is loaded."""
    expect(page.get_by_label("Add images")).to_be_visible()
    page.get_by_label("Add images").set_input_files(list(files))


def register(page: Page, served: Served) -> None:
    page.goto(f"{served.site.url}/wavyblog/")
    page.get_by_role("link", name="Register").click()
    page.get_by_label("Username").fill("nele")
    page.get_by_label("E-mail address").fill("nele@example.org")
    page.get_by_label("Password").fill("12345678")
    page.get_by_role("button", name="Create account").click()
    expect(page.get_by_role("status")).to_have_text("Welcome, nele")


def test_reading(browser_page: Page, full: Site) -> None:
    page = browser_page
    page.goto(f"{full.url}/wavyblog/")
    expect(page.get_by_role("heading", level=1)).to_have_text("Latest posts")
    expect(page.locator("article")).to_have_count(12)
    screenshots(page, "wavyblog-latest")
    page.get_by_role("link", name="Next page").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Older posts")
    title = page.locator("article h2").nth(2).inner_text()
    page.get_by_role("link", name=title, exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text(title)
    screenshots(page, "wavyblog-post")
    page.locator("a[rel=author]").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Posts by")
    screenshots(page, "wavyblog-author")
    page.get_by_role("link", name="Categories").click()
    screenshots(page, "wavyblog-categories")
    page.get_by_role("link", name="Walks in Lisbon").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Walks in Lisbon")
    screenshots(page, "wavyblog-category")


def test_the_admin_s_pages(browser_page: Page, full: Site) -> None:
    page = browser_page
    sign_in(page, full.url, "mira_berg", demo.PASSWORD)
    for name in ("Your posts", "Images", "All posts", "Users", "Write"):
        page.get_by_role("link", name=name, exact=True).click()
        expect(page.get_by_role("link", name=name, exact=True)).to_have_attribute("aria-current", "page")
        screenshots(page, f"wavyblog-{name.lower().replace(' ', '-')}")
    choose(page, PICTURE)
    expect(page.get_by_text("sea.png uploaded.")).to_be_visible()
    first, *others = page.locator("[data-gallery] img").all()
    newest = first.get_attribute("src")
    assert len(others) == 6
    page.reload()
    expect(page.locator("[data-gallery] img").first).to_have_attribute("src", newest or "")
    page.goto(f"{full.url}/wavyblog/users/jonas_costa")
    screenshots(page, "wavyblog-user")
    page.get_by_role("button", name="Delete account").click()  # refused before the question
    expect(page.get_by_role("alert")).to_contain_text("This user has posts. Delete the posts first.")
    page.get_by_role("link", name="mira_berg").click()
    screenshots(page, "wavyblog-account")
    page.goto(f"{full.url}/wavyblog/categories/walks-in-lisbon/edit")
    screenshots(page, "wavyblog-edit-category")


def test_the_smallest_screens_need_no_scrolling_aside(browser_page: Page, full: Site) -> None:
    page = browser_page
    page.set_viewport_size({"width": 320, "height": 640})
    sign_in(page, full.url, "mira_berg", demo.PASSWORD)
    for path in ("", "my-posts", "write", "images", "users", "account", "categories/walks-in-lisbon", "new-category"):
        page.goto(f"{full.url}/wavyblog/{path}")
        assert page.evaluate("document.documentElement.scrollWidth") == 320, path


def test_forms_look_well(browser_page: Page, served: Served) -> None:
    page = browser_page
    page.goto(f"{served.site.url}/wavyblog/sign-in")
    screenshots(page, "wavyblog-sign-in")
    page.get_by_label("Username or e-mail address").fill("anna")
    page.get_by_label("Password").fill("wrong")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_be_focused()
    screenshots(page, "wavyblog-sign-in-refused")
    page.goto(f"{served.site.url}/wavyblog/register")
    screenshots(page, "wavyblog-register")


def test_register_write_preview_upload_publish(browser_page: Page, served: Served) -> None:
    page = browser_page
    register(page, served)
    page.get_by_role("link", name="Write", exact=True).click()
    page.get_by_label("Title", exact=True).fill("A day at sea")
    text = page.get_by_role("textbox", name="Text")
    text.fill("## Morning\n\nWaves, *waves*.\n\n")
    page.get_by_role("button", name="Preview").click()
    expect(page.locator("#preview em")).to_have_text("waves")
    expect(page.locator("#preview .as-title")).to_have_text("A day at sea")
    assert page.url.endswith("/write")  # in place
    text.press("Control+End")
    choose(page, PICTURE)
    expect(page.get_by_text("sea.png uploaded.")).to_be_visible()
    page.get_by_role("button", name="Insert").first.click()
    page.keyboard.type("The sea")  # over the description, which is selected
    expect(text).to_have_value(re.compile(r"\*waves\*\.\s+!\[The sea\]\(/media/wavyblog/images/\S+\.png\)$"))
    page.get_by_role("button", name="Use as cover").click()
    expect(page.get_by_label("Cover image")).to_have_value(re.compile("^/media/wavyblog/images/"))
    page.get_by_role("button", name="Preview").click()
    expect(page.get_by_role("img", name="The sea")).to_be_visible()
    expect(page.locator("#preview img.lead")).to_be_visible()
    screenshots(page, "wavyblog-writing")
    page.get_by_role("button", name="Publish").click()
    expect(page.get_by_role("status")).to_have_text("Post published")
    picture = page.get_by_role("img", name="The sea")
    expect(picture).to_be_visible()
    expect(picture).to_have_js_property("naturalWidth", 320)  # once it is loaded
    screenshots(page, "wavyblog-published")
    page.get_by_role("button", name="Sign out").click()
    page.get_by_role("link", name="A day at sea").click()
    expect(page.get_by_role("img", name="The sea")).to_be_visible()


def test_a_text_that_is_too_long_for_a_preview_shows_a_message(browser_page: Page, served: Served) -> None:
    page = browser_page
    sign_in(page, served.site.url, "anna", PASSWORD)
    page.get_by_role("link", name="Write", exact=True).click()
    page.get_by_role("textbox", name="Text").fill("word " * 65_000)
    page.get_by_role("button", name="Preview").click()
    expect(page.get_by_role("alert")).to_contain_text("It can have up to 307,200.")


def test_a_file_that_is_not_an_image_shows_an_error(browser_page: Page, served: Served) -> None:
    page = browser_page
    sign_in(page, served.site.url, "anna", PASSWORD)
    page.get_by_role("link", name="Images", exact=True).click()
    file: FilePayload = {"name": "sea.png", "mimeType": "image/png", "buffer": b"no image"}
    choose(page, file)
    expect(page.get_by_text("sea.png: The file is damaged, or isn't PNG.")).to_be_visible()
    text: FilePayload = {"name": "sea.pdf", "mimeType": "application/pdf", "buffer": b"%PDF-1.4"}
    choose(page, text)
    expect(page.get_by_text("sea.pdf can't be uploaded. Choose one of these: JPEG, PNG, GIF or WebP")).to_be_visible()
    large: FilePayload = {"name": "large.png", "mimeType": "image/png", "buffer": bytes(11 * 1048576)}
    choose(page, large)
    expect(page.get_by_text("large.png is too large (11 MB). The limit is 10 MB.")).to_be_visible()
    choose(page, file, PICTURE, text)  # one of three is an image: it is uploaded, and each has its line
    expect(page.locator(".gallery li")).to_have_count(1)
    expect(page.locator("[data-status] > span.error")).to_have_count(2)
    expect(page.get_by_text("sea.png uploaded.")).to_be_visible()
    page.get_by_role("button", name="Delete image").click()
    confirm(page)
    expect(page.get_by_text("No images yet.")).to_be_visible()


def test_several_images_at_once(browser_page: Page, served: Served) -> None:
    page = browser_page
    sign_in(page, served.site.url, "anna", PASSWORD)
    page.get_by_role("link", name="Write", exact=True).click()
    choose(page, PICTURE, {**PICTURE, "name": "sky.png"})
    expect(page.get_by_text("sky.png uploaded.")).to_be_visible()
    expect(page.locator("[data-gallery] li")).to_have_count(2)


def test_an_image_is_pasted_into_the_text(browser_page: Page, served: Served) -> None:
    page = browser_page
    sign_in(page, served.site.url, "anna", PASSWORD)
    page.get_by_role("link", name="Write", exact=True).click()
    expect(page.get_by_label("Add images")).to_be_visible()  # so the script that handles pasting is loaded
    text = page.get_by_role("textbox", name="Text")
    text.fill("Look: ")
    text.evaluate(
        """(field, bytes) => {
            const clipboard = new DataTransfer();
            clipboard.items.add(new File([new Uint8Array(bytes)], "pasted.png", { type: "image/png" }));
            field.dispatchEvent(new ClipboardEvent("paste", { clipboardData: clipboard, cancelable: true }));
        }""",
        list(png()),
    )
    expect(page.get_by_text("pasted.png uploaded.")).to_be_visible()
    expect(text).to_have_value(re.compile(r"^Look: !\[description\]\(/media/wavyblog/images/\S+\.png\)$"))


def test_what_is_not_saved_is_not_lost_by_a_wrong_click(browser_page: Page, served: Served) -> None:
    page = browser_page
    sign_in(page, served.site.url, "anna", PASSWORD)
    page.get_by_role("link", name="Write", exact=True).click()
    page.get_by_role("link", name="Categories").click()  # nothing was written
    expect(page.get_by_role("heading", level=1)).to_have_text("Categories")
    page.goto(f"{served.site.url}/wavyblog/posts/{POST}/edit")
    page.get_by_role("textbox", name="Text").fill("Not saved.")
    asked: list[str] = []

    def stay(dialog: Dialog) -> None:
        asked.append(dialog.type)
        dialog.dismiss()

    page.once("dialog", stay)
    page.get_by_role("link", name="Categories").click(no_wait_after=True)
    expect(page.get_by_role("textbox", name="Text")).to_have_value("Not saved.")
    assert asked == ["beforeunload"]
    page.get_by_role("button", name="Save post", exact=True).click()
    expect(page.get_by_role("status")).to_have_text("Post saved")
    assert asked == ["beforeunload"], "who saves is not asked"


def test_a_preview_after_the_session_has_ended_keeps_one_form(browser_page: Page, served: Served) -> None:
    """The script asks for the preview, and then shows the page that says so: both send the same form."""
    page = browser_page
    sign_in(page, served.site.url, "anna", PASSWORD)
    page.get_by_role("link", name="Write", exact=True).click()
    page.get_by_label("Title").fill("A long day")
    page.get_by_role("textbox", name="Text").fill("It was long.")
    Sessions(served.site.running.store).close_all("anna")
    page.get_by_role("button", name="Preview").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Your session has ended")
    sign_in(page, served.site.url, "anna", PASSWORD)
    page.locator("[data-unsent]").get_by_role("link").click()
    expect(page.get_by_label("Title")).to_have_value("A long day")
    page.get_by_role("button", name="Save draft").click()
    expect(page.get_by_role("status")).to_contain_text("saved")
    expect(page.locator("[data-unsent]")).to_have_count(0)
    page.get_by_role("link", name="Write", exact=True).click()
    expect(page.locator("[data-unsent]")).to_have_count(0)


def test_images_go_to_a_bucket_from_the_page_itself(browser_page: Page, bucket: dict[str, str], tmp_path: Path) -> None:
    page = browser_page
    with blog(settings_in(tmp_path, **bucket)) as served:
        sign_in(page, served.site.url, "anna", PASSWORD)
        page.get_by_role("link", name="Write", exact=True).click()
        choose(page, PICTURE)
        expect(page.get_by_text("sea.png uploaded.")).to_be_visible()
        picture = page.locator("[data-gallery] img")
        expect(picture).to_be_visible()
        expect(picture).to_have_js_property("naturalWidth", 320)  # once it is loaded


def test_a_stale_change(browser_page: Page, served: Served) -> None:
    page = browser_page
    sign_in(page, served.site.url, "anna", PASSWORD)
    page.goto(f"{served.site.url}/wavyblog/posts/{POST}/edit")
    served.who("admin").send(
        f"/posts/{POST}/edit", title="First words", content="Of the admin.", category="travel", version="1"
    )
    page.get_by_role("textbox", name="Text").fill("Mine.")
    page.get_by_role("button", name="Save post", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("This was changed in the meantime")
    expect(page.get_by_role("alert")).to_be_focused()
    expect(page.locator(".newer")).to_contain_text("Of the admin.")
    screenshots(page, "wavyblog-stale")
    page.get_by_role("button", name="Save post", exact=True).click()
    expect(page.get_by_text("Mine.")).to_be_visible()


def test_all_of_it_without_javascript(plain_page: Page, served: Served) -> None:
    page = plain_page
    register(page, served)
    page.get_by_role("link", name="Images", exact=True).click()
    page.get_by_label("Type of image").select_option("PNG")
    page.get_by_role("button", name="Add image").click()
    screenshots(page, "wavyblog-send-image")
    page.get_by_label("Image", exact=True).set_input_files(PICTURE)
    with page.expect_response("**/media/upload"):
        page.get_by_role("button", name="Upload file").click()
    page.get_by_role("button", name="Add image").click()  # the page is still there
    expect(page.get_by_role("status").first).to_have_text("Image added")
    markdown = page.locator("[data-added] input").input_value()
    page.get_by_role("link", name="Write", exact=True).click()
    page.get_by_label("Title", exact=True).fill("By hand")
    page.get_by_role("textbox", name="Text").fill(markdown)
    page.get_by_role("button", name="Preview").click()
    expect(page.locator("#preview img")).to_be_visible()
    expect(page.get_by_label("Title", exact=True)).to_have_value("By hand")
    page.get_by_role("button", name="Save draft").click()
    expect(page.get_by_text("This is a draft")).to_be_visible()
    screenshots(page, "wavyblog-draft")
    page.get_by_role("button", name="Publish").click()
    expect(page.get_by_role("status")).to_have_text("Post published")
    page.get_by_role("button", name="Delete post").click()
    confirm(page)
    expect(page.get_by_role("status")).to_have_text("Post deleted")


def test_keyboard_alone(browser_page: Page, served: Served) -> None:
    page = browser_page
    page.goto(f"{served.site.url}/wavyblog/")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to content")).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="First words")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("First words")
