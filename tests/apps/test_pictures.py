"""Pictures on other hosts: links for everybody, so that no page tells them who reads it."""

# ruff: noqa: F811 - fixtures are imported by their names
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page

from keyplan.apps.vcm.entities import Media
from keyplan.apps.wavyblog.entities import Post
from keyplan.data import create
from tests.apps.vcm_site import club, put_media, write
from tests.apps.wavyblog_pages_support import Served, blog, settings_in
from tests.web.browser import browser, browser_page  # noqa: F401 - fixtures
from tests.web.site import Site

PICTURE = "https://tracker.example/a.png?reader=1"
CONTENT = f'Hello ![boat]({PICTURE}) [![sail]({PICTURE})](https://sail.example/) ![]({PICTURE}) ![x]({PICTURE} "T")'


def _publish(served: Served) -> None:
    served.site.running.store.run(
        create(
            Post(
                slug="tracked", title="Tracked", content=CONTENT, author_id="anna", is_published=True,
                thumbnail_url=PICTURE,
            )
        )
    )  # fmt: skip


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    with blog(settings_in(tmp_path)) as started:
        _publish(started)
        yield started


def test_no_page_of_the_blog_requests_them(browser_page: Page, served: Served) -> None:
    for path in ("/", "/posts/tracked", "/authors/anna", "/categories/uncategorized"):
        browser_page.goto(f"{served.site.url}/wavyblog{path}")  # fails if anything is requested from another host
        assert browser_page.locator("img").count() == 0
        assert browser_page.locator(f'a[href="{PICTURE}"]').count() > 0
    browser_page.goto(f"{served.site.url}/wavyblog/posts/tracked")
    assert browser_page.get_by_role("link", name="boat").get_attribute("href") == PICTURE
    assert browser_page.get_by_role("link", name="sail").get_attribute("href") == "https://sail.example/"


def test_neither_does_the_feed_or_the_api(served: Served) -> None:
    feed = served.visitor().get("/feed.atom").text
    assert "&lt;img" not in feed
    assert '&lt;a href="https://tracker.example/a.png?reader=1"' in feed
    answer = served.site.as_().get("/posts/tracked").json()
    assert "<img" not in answer["html"]
    assert (answer["content"], answer["thumbnail_url"]) == (CONTENT, PICTURE)  # what is stored stays


def test_a_listed_host_is_shown_and_allowed(tmp_path: Path) -> None:
    with blog(settings_in(tmp_path, image_hosts=["tracker.example"])) as served:
        _publish(served)
        page = served.visitor().get("/posts/tracked")
    assert len(re.findall(rf'<img [^>]*src="{re.escape(PICTURE)}"', page.text)) == 5
    assert "img-src 'self' data: https://tracker.example;" in page.headers["content-security-policy"]


# The club: media items whose files are elsewhere, from an import


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with club(tmp_path) as served:
        put_media(served, "ours")
        served.running.store.run(
            create(Media(id="theirs", url=PICTURE, alt="Netz", filename="a.png", s3_key="a.png", s3_bucket="old"))
        )
        image = {"type": "image", "attrs": {"mediaId": "theirs", "alt": "Ball"}}
        write(served, "Derby", publish=True, content={"type": "doc", "content": [image]}, imageIds=["theirs", "ours"])
        yield served


def test_no_page_of_the_club_requests_them(browser_page: Page, site: Site) -> None:
    for path in ("/", "/news", "/news/derby"):
        browser_page.goto(f"{site.url}/vcm{path}")
        assert browser_page.locator(f'a[href="{PICTURE}"]').count() == 1
    assert browser_page.get_by_role("link", name="Ball").get_attribute("href") == PICTURE
    assert browser_page.locator("main img").count() == 1
