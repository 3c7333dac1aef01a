"""WavyBlog's forms over real HTTP: accounts and writing."""

import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import httpx
import pytest

from keyplan.apps.wavyblog.entities import Post
from keyplan.data import create
from tests.apps.blog_passwords import while_a_password_is_checked
from tests.apps.wavyblog_pages_support import (
    DRAFT,
    PASSWORD,
    POST,
    Served,
    blog,
    hidden,
    notice_of,
    problems_of,
    settings_in,
)


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    with blog(settings_in(tmp_path)) as started:
        yield started


# Fields


@pytest.mark.parametrize(
    ("who", "path", "name", "label", "attributes"),
    [
        (
            "other",
            "/register",
            "username",
            "Username",
            {'required="True"', 'maxlength="128"', 'pattern="[a-z0-9_]{3,32}"'},  # the length of any id
        ),
        ("other", "/register", "email", "E-mail address", {'required="True"', 'maxlength="254"'}),
        ("author", "/write", "title", "Title", {'required="True"', 'maxlength="200"'}),
        ("author", "/write", "content", "Text", set()),  # a draft may be empty
        ("admin", "/new-category", "name", "Name", {'required="True"', 'maxlength="80"'}),
        ("admin", "/new-category", "slug", "Address", {'maxlength="128"', 'pattern="[a-z0-9\\-]+"'}),
    ],
)
def test_labels_and_limits_of_fields_are_the_declared_ones(
    served: Served, who: str, path: str, name: str, label: str, attributes: set[str]
) -> None:
    page = served.who(who).get(path).text
    assert f'<label for="field-{name}">{label}</label>' in page
    element = re.search(f'<(?:input|textarea)[^>]* id="field-{name}"[^>]*>', page)
    assert element is not None
    limits = r'\b(?:required|minlength|maxlength|pattern)="[^"]*"'
    assert set(re.findall(limits, element[0])) == attributes


# Accounts


def test_registering_signs_in_and_goes_on(served: Served) -> None:
    reader = served.visitor()
    page = reader.get("/register?to=/wavyblog/write")
    answer = reader.post(
        "/register",
        {
            "csrf": hidden(page, "csrf"),
            "form": "main",
            "to": hidden(page, "to"),
            "username": "nele",
            "email": "Nele@Example.org",
            "password": "12345678",
        },
    )
    assert answer.headers["location"] == "/wavyblog/write"
    cookie = next(each for each in answer.headers.get_list("set-cookie") if each.startswith("keyplan-session="))
    assert "Max-Age=1209600" in cookie
    assert "HttpOnly" in cookie
    assert notice_of(reader.follow(answer)) == "Welcome, nele"
    assert "Nele@Example.org" in reader.get("/account").text
    store = served.site.running.store
    assert not list(store.each(store.design.refresh_tokens("nele")))  # a browser doesn't need one


@pytest.mark.parametrize(
    ("values", "status", "says"),
    [
        ({"username": "anna", "email": "new@example.org"}, 409, "This username is already in use."),
        ({"username": "nele", "email": "ANNA@example.org"}, 409, "An account with this e-mail address already exists."),
        ({"username": "N!", "email": "new@example.org"}, 422, "Enter a valid username."),
        ({"username": "nele", "email": "nowhere"}, 422, "Enter a valid e-mail address."),
        (
            {"username": "nele", "email": "n@e.org", "password": "short"},
            422,
            "Use 8 to 72 characters. Accented letters and emoji count as two or more.",
        ),
    ],
)
def test_a_refused_registration_says_why_and_keeps_what_was_typed(
    served: Served, values: dict[str, str], status: int, says: str
) -> None:
    answer = served.visitor().send("/register", **{"password": PASSWORD, **values})
    assert answer.status_code == status
    assert problems_of(answer) == [says]
    assert f'value="{values["username"]}"' in answer.text
    assert f'value="{values["email"]}"' in answer.text
    assert PASSWORD not in answer.text


@pytest.mark.parametrize("name", ["anna", "anna@example.org", "ANNA@EXAMPLE.ORG"])
def test_signing_in_and_out(served: Served, name: str) -> None:
    reader = served.visitor()
    refused = reader.get("/my-posts")
    page = reader.follow(refused)
    answer = reader.send("/sign-in", user=name, password=PASSWORD, to=hidden(page, "to"))
    assert answer.headers["location"] == "/wavyblog/my-posts"
    assert notice_of(reader.follow(answer)) == "Signed in as anna"
    assert notice_of(reader.follow(reader.send("/sign-out"))) == "Signed out"
    assert reader.get("/my-posts").status_code == 303


@pytest.mark.parametrize(("user", "password"), [("anna", "wrong"), ("nobody", PASSWORD), ("größe", PASSWORD)])
def test_a_wrong_sign_in_says_nothing_about_who_there_is(served: Served, user: str, password: str) -> None:
    answer = served.visitor().send("/sign-in", user=user, password=password, to="")
    assert answer.status_code == 401
    assert problems_of(answer) == ["Wrong username or password."]
    assert f'value="{user}"' in answer.text
    assert password not in re.sub(r"<script.*", "", answer.text)


def test_a_password_that_changes_while_it_is_checked_opens_no_session(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    author = served.who("author")
    while_a_password_is_checked(
        monkeypatch, lambda: author.send("/account/password", password=PASSWORD, new_password="another one")
    )
    reader = served.visitor()
    answer = reader.send("/sign-in", user="anna", password=PASSWORD)
    assert answer.status_code == 401
    assert problems_of(answer) == ["Wrong username or password."]
    assert reader.get("/account").status_code == 303
    assert reader.send("/sign-in", user="anna", password="another one").status_code == 303


def test_who_signs_in_on_a_further_page_of_a_list_comes_back_to_the_list(served: Served) -> None:
    for number in range(14):
        served.site.running.store.run(
            create(Post(slug=f"more-{number}", title="More", content="x", author_id="anna", is_published=True))
        )
    reader = served.visitor()
    following = re.search(r'rel="next" href="([^"]*)"', reader.get("/authors/anna").text)
    assert following is not None
    link = re.search(r'href="([^"]*sign-in[^"]*)"', reader.get(unescape(following[1])).text)
    assert link is not None
    to = hidden(reader.get(unescape(link[1])), "to")
    shown = reader.follow(reader.send("/sign-in", user="anna", password=PASSWORD, to=to))
    assert shown.status_code == 200
    assert "Posts by anna" in shown.text


@pytest.mark.parametrize("to", ["https://evil.example/", "//evil.example/", "/other/", "/wavyblog\\evil", "/wavyblog"])
def test_nobody_is_sent_elsewhere(served: Served, to: str) -> None:
    answer = served.visitor().send("/sign-in", user="anna", password=PASSWORD, to=to)
    assert answer.headers["location"] == "/wavyblog/"


def test_guessing_is_slowed(served: Served) -> None:
    reader = served.visitor()
    token = reader.token()
    answers = [reader.post("/sign-in", {"csrf": token, "user": "anna", "password": "wrong"}) for _ in range(22)]
    slowed = [each for each in answers if each.status_code == 429]  # ten a minute, and a new one may have begun
    assert len(slowed) >= 2
    assert "Try again in" in problems_of(slowed[0])[0]


def test_another_password_ends_every_other_session(served: Served) -> None:
    here, elsewhere = served.who("author"), served.who("author")
    wrong = here.send("/account/password", password="wrong", new_password="another one")
    assert wrong.status_code == 422
    assert problems_of(wrong) == ["The password is wrong."]
    assert elsewhere.get("/account").status_code == 200
    answer = here.send("/account/password", password=PASSWORD, new_password="another one")
    assert notice_of(here.follow(answer)) == "Password changed. You were signed out everywhere else."
    assert elsewhere.get("/account").status_code == 303
    assert served.visitor().send("/sign-in", user="anna", password=PASSWORD).status_code == 401
    assert served.visitor().send("/sign-in", user="anna", password="another one").status_code == 303


def test_another_e_mail_address(served: Served) -> None:
    author = served.who("author")
    assert 'value="anna@example.org"' in author.get("/account/email").text
    taken = author.send("/account/email", password=PASSWORD, email="Otto@example.org")
    assert taken.status_code == 409
    assert 'value="Otto@example.org"' in taken.text
    answer = author.send("/account/email", password=PASSWORD, email="a@example.net")
    assert "a@example.net" in author.follow(answer).text
    assert served.visitor().send("/sign-in", user="a@example.net", password=PASSWORD).status_code == 303


# Writing

NEW = {"title": "A day at sea", "content": "Waves, *waves*.", "category": "travel", "thumbnail_url": ""}


def edited(page: httpx.Response, **values: str) -> dict[str, str]:
    """The form of a page that edits a post, with other values."""
    content = re.search(r'<textarea rows="18"[^>]*>\n(.*?)</textarea>', page.text, re.DOTALL)
    title = re.search(r'name="title"[^>]* value="([^"]*)"', page.text)
    assert content
    assert title
    before = {"title": unescape(title[1]), "content": unescape(content[1]), "category": "travel", "thumbnail_url": ""}
    return {**before, "version": hidden(page, "version"), **values}


def test_a_draft_is_written_and_published(served: Served) -> None:
    author, visitor = served.who("author"), served.visitor()
    answer = author.send("/write", **NEW)
    assert answer.headers["location"] == "/wavyblog/posts/a-day-at-sea"
    page = author.follow(answer)
    assert notice_of(page) == "Draft saved"
    assert visitor.get("/posts/a-day-at-sea").status_code == 404
    assert "A day at sea" not in visitor.get("/feed.atom").text
    answer = author.send("/posts/a-day-at-sea/publish", version=hidden(page, "version"))
    page = author.follow(answer)
    assert notice_of(page) == "Post published"
    assert "<em>waves</em>" in visitor.get("/posts/a-day-at-sea").text
    assert "A day at sea" in visitor.get("/").text
    assert "A day at sea" in visitor.get("/feed.atom").text
    answer = author.send("/posts/a-day-at-sea/unpublish", version=hidden(page, "version"))
    assert notice_of(author.follow(answer)) == "Post unpublished. It is a draft again."
    assert "A day at sea" not in visitor.get("/").text
    assert "A day at sea" not in visitor.get("/feed.atom").text


def test_a_post_is_published_at_once(served: Served) -> None:
    answer = served.who("author").send("/write", publish="true", **NEW)
    assert "Waves, <em>waves</em>" in served.visitor().get(answer.headers["location"]).text


def test_a_preview_saves_nothing_and_keeps_what_was_typed(served: Served) -> None:
    author = served.who("author")
    page = author.send("/write/preview", **{**NEW, "title": "", "thumbnail_url": "not yet"})
    assert page.status_code == 200
    assert '<div class="text"><p>Waves, <em>waves</em>.</p>' in page.text
    assert "Waves, *waves*.</textarea>" in page.text
    assert 'value="not yet"' in page.text
    assert '<option value="travel" selected>' in page.text
    assert "A day at sea" not in author.get("/my-posts").text
    assert author.get("/write/preview").headers["location"] == "/wavyblog/write"


def test_a_preview_of_a_change(served: Served) -> None:
    author = served.who("author")
    form = edited(author.get(f"/posts/{POST}/edit"), content="## Quite different")
    page = author.send(f"/posts/{POST}/edit/preview", **form)
    assert "<h2>Quite different</h2>" in page.text
    assert hidden(page, "version") == form["version"]
    assert f'action="/wavyblog/posts/{POST}/edit"' in page.text
    assert "changed in the meantime" not in page.text
    assert "Quite different" not in served.visitor().get(f"/posts/{POST}").text


def test_a_refused_post_keeps_what_was_typed(served: Served) -> None:
    page = served.who("author").send("/write", **{**NEW, "title": " ", "thumbnail_url": "javascript:x"})
    assert page.status_code == 422
    assert "Required." in problems_of(page)
    assert "Waves, *waves*.</textarea>" in page.text
    assert 'value="javascript:x"' in page.text


def test_a_category_that_is_gone_is_told_and_not_replaced(served: Served) -> None:
    page = served.who("author").send("/write", **{**NEW, "category": "gone"})
    assert page.status_code == 422
    assert problems_of(page) == ["Category not found."]
    assert '<option value="gone" selected>' in page.text


def test_a_long_text_is_refused_and_kept(served: Served) -> None:
    content = "word " * 65_000
    for path in ("/write", "/write/preview"):
        page = served.who("author").send(path, **{**NEW, "content": content})
        assert page.status_code == 422
        assert content.strip() in page.text


def test_another_title_gives_another_address(served: Served) -> None:
    author = served.who("author")
    form = edited(author.get(f"/posts/{POST}/edit"), title="Last words")
    assert author.send(f"/posts/{POST}/edit", **form).headers["location"] == "/wavyblog/posts/last-words"
    assert author.get(f"/posts/{POST}").status_code == 404


def test_a_draft_is_changed_and_published_in_one(served: Served) -> None:
    author = served.who("author")
    form = edited(author.get(f"/posts/{DRAFT}/edit"), title="All done", publish="true")
    page = author.follow(author.send(f"/posts/{DRAFT}/edit", **form))
    assert notice_of(page) == "Post saved and published"
    assert served.visitor().get("/posts/all-done").status_code == 200


def test_a_stale_change_is_shown_as_such_and_loses_nothing(served: Served) -> None:
    author, admin = served.who("author"), served.who("admin")
    mine = edited(author.get(f"/posts/{POST}/edit"), content="What I typed.")
    theirs = edited(admin.get(f"/posts/{POST}/edit"), content="What the admin typed.")
    assert admin.send(f"/posts/{POST}/edit", **theirs).status_code == 303
    page = author.send(f"/posts/{POST}/edit", **mine)
    assert page.status_code == 412
    assert "This was changed in the meantime. What you entered isn&#39;t saved yet." in page.text
    assert "What I typed.</textarea>" in page.text
    assert "<strong>What the admin typed.</strong>" in page.text
    assert "What the admin typed." in served.visitor().get(f"/posts/{POST}").text
    assert author.send(f"/posts/{POST}/edit", **edited(page)).status_code == 303
    assert "What I typed." in served.visitor().get(f"/posts/{POST}").text


def test_a_change_of_a_post_that_has_moved_loses_nothing(served: Served) -> None:
    author, admin = served.who("author"), served.who("admin")
    mine = edited(author.get(f"/posts/{POST}/edit"), content="What I typed.")
    theirs = edited(admin.get(f"/posts/{POST}/edit"), title="Elsewhere")
    assert admin.send(f"/posts/{POST}/edit", **theirs).status_code == 303
    for values in (mine, {**mine, "title": ""}):
        page = author.send(f"/posts/{POST}/edit", **values)
        assert page.status_code in (404, 422)
        assert "This post was deleted or moved in the meantime." in page.text
        assert "What I typed.</textarea>" in page.text
        assert 'action="/wavyblog/write"' in page.text
    # Its session ends before it is sent as a new one.
    session = dict(author.client.cookies)
    token = hidden(page, "csrf")
    author.client.cookies.clear()
    new = {"csrf": token, "form": "main", "title": "Mine", "content": "What I typed.", "category": "travel"}
    referer = {"Referer": f"{served.site.url}/wavyblog/posts/{POST}/edit"}
    ended = author.client.post("/write", data=new, headers=referer)
    author.client.cookies.update(session)
    restored = author.get(f"/write?kept={re.findall('kept%3D([0-9a-f]+)', ended.text)[0]}")
    assert restored.status_code == 200
    assert "What I typed.</textarea>" in restored.text


@pytest.mark.parametrize("what", ["publish", "unpublish", "delete"])
def test_a_stale_button_does_nothing(served: Served, what: str) -> None:
    author = served.who("author")
    page = author.send(f"/posts/{POST}/{what}", form="", version="99")
    assert page.status_code == 412
    assert "First words" in page.text
    says = "This was changed in the meantime. Check what it is now, and try again if you still want to."
    assert problems_of(page) == [says]
    assert served.visitor().get(f"/posts/{POST}").status_code == 200


def test_a_post_is_deleted(served: Served) -> None:
    author = served.who("author")
    page = author.get(f"/posts/{POST}")
    answer = author.send(f"/posts/{POST}/delete", version=hidden(page, "version"))
    assert notice_of(author.follow(answer)) == "Post deleted"
    assert author.get(f"/posts/{POST}").status_code == 404


def test_several_posts_are_deleted_together_or_not_at_all(served: Served) -> None:
    author = served.who("author")
    none = author.send("/my-posts/delete")
    assert none.status_code == 422
    assert problems_of(none) == ["Select the posts to delete."]
    for number in range(24):
        category = "travel" if number % 2 else "uncategorized"
        author.send("/write", title=f"Post {number}", content="x", category=category)
    slugs = re.findall(r'name="slugs" value="([^"]+)"', author.get("/my-posts").text)
    assert len(slugs) == 25
    assert author.send("/my-posts/delete", slugs=[*slugs, "none"]).status_code == 404
    answer = author.send("/my-posts/delete", slugs=slugs)
    assert notice_of(author.follow(answer)) == "25 posts deleted"


def test_one_s_own_list_has_drafts_and_nobody_else_s(served: Served) -> None:
    assert "First words" in served.who("author").get("/my-posts").text
    assert "Half done" in served.who("author").get("/my-posts").text
    assert "You have no posts yet." in served.who("other").get("/my-posts").text
    assert "Half done" in served.who("admin").get("/all-posts").text
