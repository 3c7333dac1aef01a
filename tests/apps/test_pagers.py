# ruff: noqa: F811 - fixtures are imported by their names
"""Going through a long list and back, in a real browser without JavaScript."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.apps.blog_site import add_posts, blog, write
from tests.web.browser import browser, plain_page  # noqa: F401 - fixtures
from tests.web.site import Site


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with blog(tmp_path) as served:
        add_posts(served, 55, is_published=True)
        yield served


def titles(page: Page) -> list[str]:
    return page.locator(".posts h2").all_inner_texts()


def go(page: Page, name: str) -> list[str]:
    page.get_by_role("link", name=name).click()
    return titles(page)


def test_forward_and_back(plain_page: Page, site: Site) -> None:
    page = plain_page
    page.goto(f"{site.url}/wavyblog/")
    expect(page.locator(".order")).to_have_text("Newest first")
    pages = [titles(page)]
    expect(page.get_by_role("link", name="Previous page")).to_have_count(0)
    while page.get_by_role("link", name="Next page").count():
        pages.append(go(page, "Next page"))
    assert sum(map(len, pages)) == 55
    assert len(pages) > 3
    shared = page.url
    for expected in pages[-2::-1]:
        assert go(page, "Previous page") == expected
    expect(page).to_have_url(f"{site.url}/wavyblog/")
    page.go_back()  # the browser's own button knows these pages too
    assert titles(page) == pages[1]
    page.goto(shared)
    assert go(page, "Previous page") == pages[-2]


def test_what_is_added_in_the_meantime_is_not_skipped(plain_page: Page, site: Site) -> None:
    page = plain_page
    page.goto(f"{site.url}/wavyblog/")
    first = titles(page)
    second = go(page, "Next page")
    write(site.as_("ada"), "Written meanwhile", publish=True)  # sorts after the others, even in the same second
    again = go(page, "Previous page")
    assert again == ["Written meanwhile", *first[:-1]]
    assert go(page, "Next page") == [first[-1], *second[:-1]]
