"""WavyBlog's forms over real HTTP: images, users and categories."""

import re
from collections.abc import Iterator
from html import escape, unescape
from pathlib import Path

import httpx
import pytest

from keyplan.apps.wavyblog.entities import Image, User
from keyplan.data import create, update
from tests.apps.wavyblog_pages_support import (
    POST,
    Reader,
    Served,
    blog,
    hidden,
    notice_of,
    png,
    problems_of,
    settings_in,
)


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    with blog(settings_in(tmp_path)) as started:
        yield started


NEW = {"title": "A day at sea", "category": "travel"}


# Images


def upload(served: Served, reader: Reader, data: bytes) -> httpx.Response:
    """Add an image as a person without JavaScript does: request an upload, send it, add it."""
    page = reader.send("/images/new", content_type="image/png")
    assert page.status_code == 200
    form = re.search(r"<form[^>]*data-send>.*?</form>", page.text, re.DOTALL)
    assert form
    fields = {unescape(a): unescape(b) for a, b in re.findall(r'name="([^"]+)" value="([^"]*)"', form[0])}
    action = re.search(r'action="([^"]+)"', form[0])
    assert action
    sent = httpx.post(served.site.url + action[1], data=fields, files={"file": ("a.png", data)})
    assert sent.status_code == 204  # which makes a browser stay on the page
    return reader.send("/images/add", form="", upload_id=hidden(page, "upload_id"))


def test_an_image_is_uploaded_and_used(served: Served) -> None:
    author = served.who("author")
    page = author.follow(upload(served, author, png()))
    assert notice_of(page) == "Image added"
    assert "New image" in page.text
    found = re.search(r'value="!\[description\]\((/media/wavyblog/images/[^)]+\.png)\)"', page.text)
    assert found
    assert httpx.get(served.site.url + found[1]).content == png()
    assert found[1] in author.get("/write").text
    assert found[1] not in served.who("other").get("/images").text
    answer = author.send("/write", **{**NEW, "content": f"![sea]({found[1]})", "thumbnail_url": found[1]})
    text = author.follow(answer).text
    assert f'<img src="{found[1]}" alt="sea">' in text
    assert re.search(rf'<img (?=[^>]*class="lead")[^>]*src="{re.escape(found[1])}"', text)


def test_an_image_that_was_added_is_shown_wherever_it_is_in_the_list(served: Served) -> None:
    """IDs from another source may sort after today's IDs, and fill the first page."""
    store = served.site.running.store
    for number in range(30):
        store.run(create(Image(image_id=f"old-{number}", username="anna", file="x", content_type="image/png", size=1)))
    reader = served.who("author")
    assert 'class="added"' not in reader.get("/images").text
    assert 'class="added"' in reader.get("/images?added=old-0").text
    assert 'class="added"' not in reader.get("/images?added=gone").text
    assert 'class="added"' not in served.who("other").get("/images?added=old-0").text


def test_what_is_no_image_is_refused(served: Served) -> None:
    author = served.who("author")
    answer = upload(served, author, b"GIF89a is not a PNG")
    assert answer.status_code == 422
    assert problems_of(answer) == ["The file is GIF, but PNG was expected."]
    assert author.send("/images/new", content_type="image/svg+xml").status_code == 422
    assert author.send("/images/new", content_type="image/png", size="99999999").status_code == 422


def test_a_missing_file_shows_an_error(served: Served) -> None:
    author = served.who("author")
    page = author.send("/images/new", content_type="image/png")
    answer = author.send("/images/add", form="", upload_id=hidden(page, "upload_id"))
    assert answer.status_code == 409
    assert problems_of(answer) == ["The file hasn't been uploaded yet."]


def test_nobody_adds_or_deletes_somebody_else_s_image(served: Served) -> None:
    author, other = served.who("author"), served.who("other")
    page = author.send("/images/new", content_type="image/png")
    assert other.send("/images/add", upload_id=hidden(page, "upload_id")).status_code == 404
    page = author.follow(upload(served, author, png()))
    found = re.search(r'action="(/wavyblog/images/[^/]+/delete)"', page.text)
    assert found
    assert other.send(found[1]).status_code == 404
    assert notice_of(author.follow(author.send(found[1]))) == "Image deleted"
    assert "No images yet." in author.get("/images").text


# Users and categories


def test_roles(served: Served) -> None:
    admin, author = served.who("admin"), served.who("author")
    assert author.get("/users").status_code == 403
    answer = admin.send("/users/anna/role", role="admin", version=hidden(admin.get("/users/anna"), "version"))
    assert notice_of(admin.follow(answer)) == "anna is now an admin"
    assert author.get("/users").status_code == 200
    stale = admin.send("/users/anna/role", role="user", version="99")
    assert stale.status_code == 412
    answer = author.send("/users/mira/role", role="user", version=hidden(author.get("/users/mira"), "version"))
    assert notice_of(author.follow(answer)) == "mira is now an author"
    assert admin.get("/users").status_code == 403


def test_the_last_admin_stays(served: Served) -> None:
    admin = served.who("admin")
    answer = admin.send("/users/mira/role", form="", role="user", version=hidden(admin.get("/users/mira"), "version"))
    assert answer.status_code == 409
    assert problems_of(answer) == ["There must be at least one admin. Make another user an admin first."]


def test_a_user_is_deleted_and_signed_out(served: Served) -> None:
    admin, other = served.who("admin"), served.who("other")
    busy = admin.send("/users/anna/delete", form="", version=hidden(admin.get("/users/anna"), "version"))
    assert busy.status_code == 409
    assert problems_of(busy) == ["This user has posts. Delete the posts first."]
    answer = admin.send("/users/otto/delete", version=hidden(admin.get("/users/otto"), "version"))
    assert notice_of(admin.follow(answer)) == "Account otto deleted"
    assert other.get("/account").status_code == 303
    assert admin.get("/users/otto").status_code == 404


def test_a_session_without_an_account_shows_a_message(served: Served) -> None:
    ghost = served.as_("ghost")
    page = ghost.get("/account")
    assert page.status_code == 401
    assert "<h1>Your session has expired</h1>" in page.text
    assert "This account was deleted." in page.text
    assert "Sign out" not in page.text
    assert '<a class="button" href="/wavyblog/sign-in">Sign in</a>' in page.text
    assert ghost.get("/account").status_code == 303, "it has no session by now"


def test_a_text_is_not_lost_with_its_session(served: Served) -> None:
    text = "It took three days to write all of this down, <b>and</b> it is good."
    written = {**NEW, "content": text, "csrf": "", "form": "main"}
    author = served.who("author")
    written["csrf"] = author.token("/write")
    again = served.who("author")  # the same person, signed in again
    author.client.cookies = again.client.cookies
    page = author.post("/write", dict(written))
    assert page.status_code == 403
    assert unescape(page.text).count(text) == 1
    assert "This form has expired." in page.text
    saved = author.post("/write", {**written, "csrf": hidden(page, "csrf")})
    assert saved.status_code == 303
    author.client.cookies.clear()
    page = author.post("/write", dict(written))
    assert page.status_code == 401
    assert "<h1>Your session has ended</h1>" in page.text
    assert re.search(r'href="/wavyblog/sign-in\?to=%2Fwavyblog%2Fwrite%3Fkept%3D[0-9a-f]{16}">Sign in</a>', page.text)
    assert f"{escape(text)}</textarea>" in page.text
    assert "<b>and</b>" not in page.text


def test_a_password_is_never_shown(served: Served) -> None:
    author = served.who("author")
    secret = "a password that is much longer than forty characters"
    sent = author.post("/account/password", {"csrf": "old", "password": secret, "new_password": secret})
    assert sent.status_code in (401, 403)
    assert secret not in sent.text


def test_categories_are_made_renamed_and_deleted(served: Served) -> None:
    admin = served.who("admin")
    page = admin.follow(admin.send("/new-category", name="Food & drink", slug=""))
    assert notice_of(page) == "Category “Food & drink” created"
    assert "Food &amp; drink" in served.visitor().get("/categories").text
    version = hidden(admin.get("/categories/food-drink/edit"), "version")
    answer = admin.send("/categories/food-drink/edit", name="Food", slug="food", version=version)
    assert notice_of(admin.follow(answer)) == "Category renamed. Its posts are moving."
    version = hidden(admin.get("/categories/food"), "version")
    answer = admin.send("/categories/food/delete", version=version)
    assert notice_of(admin.follow(answer)) == "Category deleted"
    assert served.visitor().get("/categories/food").status_code == 404


def test_a_renamed_category_takes_its_posts_along(served: Served) -> None:
    admin = served.who("admin")
    version = hidden(admin.get("/categories/travel/edit"), "version")
    assert admin.send("/categories/travel/edit", name="Trips", slug="trips", version=version).status_code == 303
    assert "First words" in served.visitor().get("/categories/trips").text
    assert ">Trips</a>" in served.visitor().get(f"/posts/{POST}").text


@pytest.mark.parametrize(
    ("path", "values", "says"),
    [
        ("/new-category", {"name": "Travel", "slug": ""}, "A category with this address already exists."),
        ("/categories/travel/delete", {"version": ""}, "This category has posts. Move or delete them first."),
        ("/categories/uncategorized/delete", {"version": ""}, "The category uncategorized can't be deleted."),
        (
            "/categories/uncategorized/edit",
            {"name": "X", "slug": "other", "version": ""},
            "The address of uncategorized can't be changed.",
        ),
        (
            "/categories/travel/edit",
            {"name": "X", "slug": "uncategorized", "version": ""},
            "A category with this address already exists.",
        ),
    ],
)
def test_what_categories_cannot_do(served: Served, path: str, values: dict[str, str], says: str) -> None:
    admin = served.who("admin")
    if "version" in values:
        values = {**values, "version": hidden(admin.get(path.rpartition("/")[0]), "version")}
    answer = admin.send(path, **{"form": "" if path.endswith("/delete") else "main", **values})
    assert answer.status_code == 409
    assert problems_of(answer) == [says]


def test_a_stale_rename_is_shown_as_such(served: Served) -> None:
    admin = served.who("admin")
    form = {"name": "Mine", "slug": "travel", "version": hidden(admin.get("/categories/travel/edit"), "version")}
    assert admin.send("/categories/travel/edit", **{**form, "name": "Theirs"}).status_code == 303
    page = admin.send("/categories/travel/edit", **form)
    assert page.status_code == 412
    assert "This was changed in the meantime." in page.text
    assert "Theirs" in page.text
    assert 'value="Mine"' in page.text
    again = admin.send("/categories/travel/edit", **{**form, "version": hidden(page, "version")})
    assert again.status_code == 303


def test_a_change_of_role_holds_at_once(served: Served) -> None:
    store = served.site.running.store
    author = served.who("author")
    assert "/users" not in author.get("/").text
    user = store.run(store.design.user("anna"))
    assert isinstance(user, User)
    user.role = "admin"
    store.run(update(user))
    assert "/wavyblog/users" in author.get("/").text


def test_long_lists_of_users_have_pages(served: Served) -> None:
    store = served.site.running.store
    anna = store.run(store.design.user("anna"))
    for number in range(60):
        name = f"user_{number:03}"
        store.run(create(User(username=name, email=f"{name}@example.org", password_hash=anna.password_hash)))
    admin = served.who("admin")
    first = admin.get("/users").text
    following = re.search(r'rel="next" href="([^"]+)"', first)
    assert following
    second = admin.get(unescape(following[1])).text
    assert first.count("@example.org") + second.count("@example.org") == 63


def test_an_upload_that_is_canceled_no_longer_counts(tmp_path: Path) -> None:
    with blog(settings_in(tmp_path, upload_pending=1)) as served:
        author, other = served.who("author"), served.who("other")
        asked = author.send("/images/new", content_type="image/png")
        upload = {"upload_id": hidden(asked, "upload_id"), "to": hidden(asked, "to")}
        assert 'form="cancel-upload">Cancel</button>' in asked.text
        assert other.send("/cancel-upload", **upload).status_code == 303
        assert author.send("/images/new", content_type="image/png").status_code == 409, "it isn't theirs"
        canceled = author.send("/cancel-upload", **upload)
        assert notice_of(author.follow(canceled)) == "Upload canceled"
        assert canceled.headers["location"] == "/wavyblog/images"
        assert author.send("/images/add", upload_id=upload["upload_id"]).status_code == 404
        assert author.send("/images/new", content_type="image/png").status_code == 200


@pytest.mark.parametrize("path", ["/sign-in", "/register"])
def test_whoever_signs_in_too_often_finds_the_way_back(tmp_path: Path, path: str) -> None:
    """The form is shown again for some time, and then a page without it, which costs nothing."""
    with blog(settings_in(tmp_path, rate_address=100)) as served:
        visitor = served.visitor()
        form = {"csrf": visitor.token(path), "form": "main", "user": "anna", "username": "anna", "password": "x" * 9}
        pages = [visitor.post(path, {**form}) for _ in range(125)]  # in two minutes, if one ends meanwhile
        busy = [each for each in pages if each.status_code == 429]
    assert 'name="password"' in busy[0].text
    assert f'<a class="button" href="/wavyblog{path}">Try again</a>' in busy[-1].text


def test_the_page_says_what_to_do_over_the_quota(tmp_path: Path) -> None:
    with blog(settings_in(tmp_path, upload_pending=1)) as served:
        author = served.who("author")
        assert author.send("/images/new", content_type="image/png").status_code == 200
        refused = author.send("/images/new", content_type="image/png")
        assert refused.status_code == 409
    sentence = re.search(r"</h1>\s*<p>([^<]*)</p>", refused.text)  # where the script that uploads looks for it
    assert sentence
    assert sentence[1].startswith("You have 1 unfinished upload. Finish one of them, or try again in ")
