"""WavyBlog's pages over real HTTP: who may open each page, and what its forms do and refuse."""

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from html import unescape
from pathlib import Path

import httpx
import pytest

from keyplan.apps.wavyblog.entities import Post
from keyplan.apps.wavyblog.pages import pages
from keyplan.data import create
from keyplan.design import InvalidValue
from tests.apps.wavyblog_pages_support import DRAFT, PASSWORD, POST, Served, blog, settings_in

ROLES = ("visitor", "other", "author", "admin")


@pytest.fixture(scope="module")
def steady(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A blog that no test changes."""
    with blog(settings_in(tmp_path_factory.mktemp("steady"))) as served:
        yield served


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    with blog(settings_in(tmp_path)) as started:
        yield started


# Who gets which page

ALL, KNOWN, ADMINS = (200, 200, 200, 200), (303, 200, 200, 200), (303, 403, 403, 200)
SHOWN = {
    "/": ALL,
    "/posts/{slug}": ALL,
    "/authors/{username}": ALL,
    "/categories": ALL,
    "/categories/{slug}": ALL,
    "/feed.atom": ALL,
    "/sign-in": ALL,
    "/register": ALL,
    "/account": KNOWN,
    "/account/password": KNOWN,
    "/account/email": KNOWN,
    "/write": KNOWN,
    "/my-posts": KNOWN,
    "/images": KNOWN,
    "/posts/{slug}/edit": (303, 403, 200, 200),
    "/all-posts": ADMINS,
    "/users": ADMINS,
    "/users/{username}": ADMINS,
    "/new-category": ADMINS,
    "/categories/{slug}/edit": ADMINS,
}
VALUES = {
    "/posts": {"slug": POST},
    "/categories": {"slug": "travel"},
    "/authors": {"username": "anna"},
    "/users": {"username": "anna"},
    "/images": {"image_id": "img_1"},
}


def filled(path: str) -> str:
    values = next((each for start, each in VALUES.items() if path.startswith(f"{start}/")), {})
    return path.format(**values)


def declared(verb: str) -> set[str]:
    return {page.path for page in pages.routes if page.verb == verb}


def test_the_table_has_every_page() -> None:
    assert declared("GET") == SHOWN.keys()


@pytest.mark.parametrize("path", SHOWN)
def test_every_page_for_every_role(steady: Served, path: str) -> None:
    answers = [steady.who(role).get(filled(path)) for role in ROLES]
    assert tuple(answer.status_code for answer in answers) == SHOWN[path]
    for answer in answers:
        assert "content-security-policy" in answer.headers
        if answer.status_code == 303:
            assert answer.headers["location"].startswith("/wavyblog/sign-in?to=%2Fwavyblog%2F")


@pytest.mark.parametrize(
    ("path", "statuses"), [(f"/posts/{DRAFT}", (404, 404, 200, 200)), (f"/posts/{DRAFT}/edit", (303, 404, 200, 200))]
)
def test_a_draft_is_there_for_its_author_and_admins_only(steady: Served, path: str, statuses: tuple[int, ...]) -> None:
    assert tuple(steady.who(role).get(path).status_code for role in ROLES) == statuses


@pytest.mark.parametrize("path", ["/posts/none", "/posts/NONE", "/authors/nobody", "/categories/none", "/nowhere"])
def test_what_is_not_there_is_a_page_that_says_so(steady: Served, path: str) -> None:
    answer = steady.visitor().get(path)
    assert answer.status_code == 404
    assert "<h1>Not found</h1>" in answer.text


def test_categories_are_called_by_their_names(steady: Served) -> None:
    for path in ("/", "/authors/anna", "/categories/travel", f"/posts/{POST}", "/my-posts"):
        assert "Travel &amp; more" in steady.who("author").get(path).text, path
    assert "Travel &amp; more" in steady.who("admin").get("/all-posts").text


def test_the_menu_is_the_same_where_something_is_wrong(steady: Served) -> None:
    for role, links in {"visitor": 1, "author": 4, "admin": 6}.items():
        for path in ("/", "/posts/nothing", "/nothing/at/all", "/?cursor=bad"):
            menu = re.search(r"<nav.*?</nav>", steady.who(role).get(path).text, re.DOTALL)
            assert menu is not None
            assert menu[0].count("<a ") == links, path


@pytest.mark.parametrize("role", ["visitor", "other"])
@pytest.mark.parametrize(
    "path", ["/", "/authors/anna", "/categories/travel", "/categories", "/feed.atom", f"/posts/{POST}", "/write"]
)
def test_no_list_shows_somebody_else_s_draft(steady: Served, role: str, path: str) -> None:
    text = steady.who(role).get(path).text
    assert "Half done" not in text
    assert DRAFT not in text


@pytest.mark.parametrize("role", ["visitor", "other", "author"])
def test_public_pages_show_no_address(steady: Served, role: str) -> None:
    reader = steady.who(role)
    for path, statuses in SHOWN.items():
        if statuses == ALL:
            assert "example.org" not in reader.get(filled(path)).text, path


def test_everybody_sees_their_own_address_only_and_admins_see_all(steady: Served) -> None:
    assert "otto@example.org" in steady.who("other").get("/account").text
    assert "anna@" not in steady.who("other").get("/account").text
    users = steady.who("admin").get("/users").text
    assert "anna@example.org" in users
    assert "otto@example.org" in users


# Who may send which form

OF_VERSION = {"version": "1"}
EDITED = {"title": "Mine now", "content": "x", "category": "travel", "thumbnail_url": "", "version": "1"}
NOT_MINE, NOT_ADMIN = (401, 403, None, None), (401, 403, 403, None)
SENT: dict[str, tuple[dict[str, str], tuple[int | None, ...]]] = {
    "/write": ({"title": "T", "content": "x", "category": "travel"}, (401, None, None, None)),
    "/write/preview": ({"content": "x"}, (401, None, None, None)),
    "/posts/{slug}/edit": (EDITED, NOT_MINE),
    "/posts/{slug}/edit/preview": (EDITED, NOT_MINE),
    "/posts/{slug}/publish": (OF_VERSION, NOT_MINE),
    "/posts/{slug}/unpublish": (OF_VERSION, NOT_MINE),
    "/posts/{slug}/delete": (OF_VERSION, NOT_MINE),
    "/my-posts/delete": ({"slugs": POST}, NOT_MINE),
    "/images/new": ({"content_type": "image/png"}, (401, None, None, None)),
    "/images/add": ({"upload_id": "none"}, (401, 404, 404, 404)),
    "/images/{image_id}/delete": ({}, (401, 404, 404, 404)),
    "/account/password": ({"password": PASSWORD, "new_password": "another one"}, (401, None, None, None)),
    "/account/email": ({"password": PASSWORD, "email": "new@example.org"}, (401, None, None, None)),
    "/users/{username}/role": ({"role": "admin", "version": "1"}, NOT_ADMIN),
    "/users/{username}/delete": (OF_VERSION, NOT_ADMIN),
    "/new-category": ({"name": "Mine"}, NOT_ADMIN),
    "/categories/{slug}/edit": ({"name": "Mine", "slug": "mine", "version": "1"}, NOT_ADMIN),
    "/categories/{slug}/delete": (OF_VERSION, NOT_ADMIN),
}
"""For each form what is sent, and how each role is refused; None: it is not."""


def test_the_table_has_every_form() -> None:
    assert declared("POST") == SENT.keys() | {"/sign-in", "/register"}


@pytest.mark.parametrize("path", SENT)
def test_forms_are_refused_without_permission(steady: Served, path: str) -> None:
    values, statuses = SENT[path]
    for role, status in zip(ROLES, statuses, strict=True):
        if status is not None:
            answer = steady.who(role).send(filled(path), **values)
            assert answer.status_code == status, role
    page = steady.visitor().get(f"/posts/{POST}")
    assert "First words" in page.text
    assert "Travel &amp; more" in page.text


@pytest.mark.parametrize("path", [*SENT, "/sign-in", "/register", "/sign-out"])
def test_every_form_needs_its_token(steady: Served, path: str) -> None:
    values, _ = SENT.get(path, ({"username": "eve", "email": "eve@example.org", "password": PASSWORD}, ()))
    for role in ROLES:
        reader = steady.who(role)
        assert reader.post(filled(path), {**values}).status_code == 403
        assert reader.post(filled(path), {**values, "csrf": steady.visitor().token()}).status_code == 403


@pytest.mark.parametrize("path", [*SHOWN, f"/posts/{DRAFT}"])
def test_every_form_on_a_page_has_its_token(steady: Served, path: str) -> None:
    text = steady.who("admin").get(filled(path)).text
    for form in re.findall(r"<form.*?</form>", text, re.DOTALL):
        assert 'method="post"' in form
        assert form.count('name="csrf"') == 1


@pytest.mark.parametrize("path", [*SHOWN, f"/posts/{DRAFT}"])
def test_pages_are_well_made(steady: Served, path: str) -> None:
    page = steady.who("admin").get(filled(path))
    assert page.status_code == 200
    if "html" not in page.headers["content-type"]:
        return
    text = page.text
    assert len(re.findall(r"<h1[ >]", text.partition('class="preview"')[0])) == 1
    assert "<title>" in text
    assert '<html lang="en">' in text
    ids = re.findall(r'\bid="([^"]+)"', text)
    assert len(ids) == len(set(ids))
    for label in re.findall(r'<label for="([^"]+)"', text):
        assert label in ids
    assert not re.search(r"<style|\sstyle=|<script(?! type=\"module\" src=)|\son\w+=", text)
    assert not re.search(r'(?:src|href)="https?://', text)  # nothing from elsewhere


# Reading


def numbered(served: Served, count: int, **more: object) -> None:
    for number in range(count):
        at = datetime(2025, 6, 1, tzinfo=UTC) + timedelta(hours=number)
        values = {"title": f"Post {number}.", "author_id": "otto", "is_published": True, "content": "Words.", **more}
        served.site.running.store.run(
            create(Post(slug=f"post-{number}", created_at=at, **values))  # type: ignore[arg-type]  # by their names
        )


@pytest.mark.parametrize("path", ["/", "/authors/otto", "/categories/uncategorized"])
def test_posts_come_the_newest_first_and_page_by_page(served: Served, path: str) -> None:
    numbered(served, 30)
    reader, seen, at = served.visitor(), [], path
    for _ in range(3):
        text = reader.get(at).text
        seen += re.findall(r">Post (\d+)\.</a>", text)
        following = re.search(r'rel="next" href="([^"]+)"', text)
        if following is None:
            break
        at = unescape(following[1])
    assert seen == [str(number) for number in reversed(range(30))]
    assert "First page" in text


def test_a_bad_cursor_shows_an_error(steady: Served) -> None:
    assert steady.visitor().get("/?cursor=none").status_code == 400


def test_markdown_is_shown_as_safe_html(served: Served) -> None:
    content = "## Way\n\n<script>alert(1)</script> [x](javascript:alert(2)) ![boat](/media/wavyblog/a.png)"
    numbered(served, 1, content=content, thumbnail_url="https://pictures.example/a.jpg", title="<b>Bold</b>")
    page = served.visitor().get("/posts/post-0")
    assert "<h2>Way</h2>" in page.text
    assert "<script>alert" not in page.text
    assert 'href="javascript' not in page.text
    assert '<img src="/media/wavyblog/a.png" alt="boat">' in page.text
    assert 'src="https://pictures.example/a.jpg"' not in page.text
    assert '<a href="https://pictures.example/a.jpg" rel="nofollow noopener">' in page.text
    assert "&lt;b&gt;Bold&lt;/b&gt;" in page.text
    assert "img-src 'self' data:;" in page.headers["content-security-policy"]


def test_a_mailbox_is_no_picture(served: Served) -> None:
    with pytest.raises(InvalidValue, match="The address of an image starts with https:// or http://"):
        numbered(served, 1, thumbnail_url="mailto:a@example.net")


def test_a_draft_is_marked(steady: Served) -> None:
    author = steady.who("author")
    assert "This is a draft. Only you and admins can see it." in author.get(f"/posts/{DRAFT}").text
    assert 'name="robots" content="noindex"' in author.get(f"/posts/{DRAFT}").text
    assert "noindex" not in author.get(f"/posts/{POST}").text
    for path in ("/my-posts", "/authors/anna", "/categories/travel"):
        assert author.get(path).text.count(">Draft<") == 1


def test_only_users_who_may_change_a_post_see_the_buttons(steady: Served) -> None:
    offered = [f"/posts/{POST}/edit" in steady.who(role).get(f"/posts/{POST}").text for role in ROLES]
    assert offered == [False, False, True, True]


def test_reading_sets_no_cookie(steady: Served) -> None:
    for path in ("/", f"/posts/{POST}", "/categories", "/feed.atom"):
        assert "set-cookie" not in steady.visitor().get(path).headers


# The feed

ATOM = "{http://www.w3.org/2005/Atom}"


def text_of(element: ET.Element, name: str) -> str:
    found = element.findall(ATOM + name)
    assert len(found) == 1, name
    return found[0].text or ""


def feed_in(answer: httpx.Response) -> ET.Element:
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/atom+xml"
    return ET.fromstring(answer.content)


def test_the_feed_is_atom(served: Served) -> None:
    numbered(served, 25, content="A [link](/wavyblog/) and ![pic](/media/wavyblog/a.png) & \x0b <b>")
    root = feed_in(served.visitor().get("/feed.atom"))
    base = served.site.url
    assert root.tag == f"{ATOM}feed"
    assert text_of(root, "title") == "WavyBlog"
    assert text_of(root, "id") == f"{base}/wavyblog/"
    links = {each.get("rel"): each.get("href") for each in root.findall(f"{ATOM}link")}
    assert links == {"self": f"{base}/wavyblog/feed.atom", "alternate": f"{base}/wavyblog/"}
    entries = root.findall(f"{ATOM}entry")
    assert [text_of(each, "title") for each in entries] == [f"Post {number}." for number in range(24, 4, -1)]
    assert text_of(root, "updated") == max(text_of(each, "updated") for each in entries)
    assert len({text_of(each, "id") for each in entries}) == 20
    first = entries[0]
    assert text_of(first, "id").startswith("urn:uuid:")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", text_of(first, "updated"))
    assert text_of(first, "published") == "2025-06-02T00:00:00Z"
    link = first.find(f"{ATOM}link")
    assert link is not None
    assert link.get("href") == f"{base}/wavyblog/posts/post-24"
    author = first.find(f"{ATOM}author")
    assert author is not None
    assert text_of(author, "name") == "otto"
    content = first.find(f"{ATOM}content")
    assert content is not None
    assert content.get("type") == "html"
    assert f'<a href="{base}/wavyblog/"' in (content.text or "")
    assert f'<img src="{base}/media/wavyblog/a.png" alt="pic">' in (content.text or "")
    assert "&lt;b&gt;" in (content.text or "")


def test_the_feed_s_addresses_are_those_that_the_world_sees(tmp_path: Path) -> None:
    with blog(settings_in(tmp_path, base_url="https://waves.example")) as served:
        root = feed_in(served.visitor().get("/feed.atom"))
        assert text_of(root, "id") == "https://waves.example/wavyblog/"
        assert "127.0.0.1" not in ET.tostring(root, encoding="unicode")


def test_a_post_keeps_its_id_in_the_feed(served: Served) -> None:
    def entry() -> ET.Element:
        found = feed_in(served.visitor().get("/feed.atom")).find(f"{ATOM}entry")
        assert found is not None
        return found

    before = text_of(entry(), "id")
    author = served.who("author")
    assert author.send(f"/posts/{POST}/edit", **EDITED).status_code == 303
    assert text_of(entry(), "title") == "Mine now"
    assert text_of(entry(), "id") == before


def test_the_feed_is_sent_once_and_not_again(served: Served) -> None:
    reader = served.visitor()
    first = reader.get("/feed.atom")
    again = reader.get("/feed.atom", **{"If-None-Match": first.headers["etag"]})
    assert again.status_code == 304
    assert again.content == b""
    numbered(served, 1)
    assert reader.get("/feed.atom", **{"If-None-Match": first.headers["etag"]}).status_code == 200


def test_an_empty_feed_is_one(served: Served) -> None:
    served.who("author").send("/my-posts/delete", slugs=[POST, DRAFT])
    root = feed_in(served.visitor().get("/feed.atom"))
    assert text_of(root, "updated") == "2025-01-01T00:00:00Z"
    assert root.findall(f"{ATOM}entry") == []


def test_pages_name_the_feed(steady: Served) -> None:
    link = '<link rel="alternate" type="application/atom+xml" title="WavyBlog" href="/wavyblog/feed.atom">'
    assert link in steady.visitor().get("/").text
