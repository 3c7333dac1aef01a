"""Pages over real HTTP: what they show and refuse, forms, sessions, headers."""

import hashlib
import re
from base64 import b64encode
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from html import unescape
from io import BytesIO
from pathlib import Path
from typing import Annotated, Literal

import httpx
import pytest
from pydantic import BeforeValidator, Field, StringConstraints
from starlette.datastructures import FormData, UploadFile
from starlette.responses import Response
from starlette.testclient import TestClient

from keyplan.design import query
from keyplan.web import Caller, In, OfVersion, Pages, Stale, View
from keyplan.web.identity.sessions import BrowserSession, Sessions, form_token, is_form_token
from keyplan.web.models.problems import Forbidden, Invalid, Unauthorized, Unprocessable
from keyplan.web.pages.forms import Form, Forms, Sent
from keyplan.web.pages.reading import read_form, typed_in
from keyplan.web.pages.rendering import filled, folder_of, page_headers
from keyplan.web.server import ReadyPage, application
from keyplan.web.settings import Settings
from tests.web.library import Librarian
from tests.web.library_pages import WITH_PAGES
from tests.web.page_forms import send, sign_in, token_in
from tests.web.site import Site, changed, site


@pytest.fixture
def started(settings: Settings) -> Iterator[Site]:
    with site(WITH_PAGES, settings) as running:
        yield running


@pytest.fixture
def visitor(started: Site) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=f"{started.url}/library", timeout=30) as client:
        yield client


@pytest.fixture
def alice(visitor: httpx.Client) -> httpx.Client:
    assert sign_in(visitor, "alice").status_code == 303
    return visitor


def put_up(client: httpx.Client, name: str) -> str:
    answer = send(client, "/shelves/new", "/shelves/new", name=name)
    assert answer.status_code == 303, answer.text
    return answer.headers["location"].removeprefix("/library")


# Reading


def test_a_page_is_html_with_security_headers(visitor: httpx.Client) -> None:
    page = visitor.get("/")
    assert page.status_code == 200
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert page.headers["x-content-type-options"] == "nosniff"
    assert page.headers["referrer-policy"] == "same-origin"
    assert page.headers["cache-control"] == "no-cache"
    policy = page.headers["content-security-policy"]
    assert "default-src 'self'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "form-action 'self'" in policy
    assert "unsafe" not in policy
    assert not re.search(r"<style|style=|<script(?! type=\"module\" src=)| on\w+=", page.text)
    assert "set-cookie" not in page.headers  # reading sets no cookie


def test_lists_are_split_into_pages(alice: httpx.Client) -> None:
    for name in "ABC":
        put_up(alice, f"Shelf {name}")
    alice.get("/")  # shows the notice
    first = alice.get("/?limit=2")
    assert re.findall(r"Shelf [A-C]", first.text) == ["Shelf A", "Shelf B"]
    found = re.search(r'rel="next" href="([^"]+)"', first.text)
    assert found
    second = alice.get(unescape(found[1]).removeprefix("/library"))
    assert re.findall(r"Shelf [A-C]", second.text) == ["Shelf C"]
    assert 'rel="next"' not in second.text


def test_user_text_is_escaped(alice: httpx.Client) -> None:
    page = alice.get(put_up(alice, "<script>alert(1)</script>"))
    assert "<script>alert" not in page.text
    assert "&lt;script&gt;alert(1)" in page.text


def test_head_has_no_body(visitor: httpx.Client) -> None:
    answer = visitor.head("/")
    assert answer.status_code == 200
    assert answer.content == b""


# Problems


@pytest.mark.parametrize(
    ("path", "status", "says"),
    [
        ("/nowhere", 404, "Page not found."),
        ("/shelves/none", 404, "Not found."),
        ("/shelves/NOT-AN-ID", 404, "Not found."),
        ("/?limit=1000", 422, "Enter 100 or less"),
        ("/?cursor=bad", 400, "valid for this list. Start without one."),
        ("/crash", 500, "Something went wrong on our side."),
    ],
)
def test_problems_are_html_pages(visitor: httpx.Client, path: str, status: int, says: str) -> None:
    page = visitor.get(path)
    assert page.status_code == status
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert "content-security-policy" in page.headers
    assert says in page.text
    assert page.headers["x-request-id"] in page.text
    assert "SHELF#" not in page.text
    assert "Traceback" not in page.text


def test_values_for_every_page_are_on_problem_pages_too(settings: Settings) -> None:
    """If they can't be determined, the problem is shown without them."""
    told = Pages("tests.web", title="The Library")
    broken = False

    @told.on_every_page
    def known(view: View[Librarian]) -> dict[str, object]:
        if broken:
            raise Unprocessable("broken", "SHELF#secret")
        return {"notice": f"Told to {view.caller.sub if view.caller else 'a visitor'}."}

    @told.get("/")
    def front(view: View[Librarian]) -> Response:
        return view.render("new_shelf.html")

    @told.get("/refused")
    def refused(view: View[Librarian]) -> Response:
        raise Forbidden

    with site(replace(WITH_PAGES, pages=told), settings) as started:
        paths = {"": 200, "refused": 403, "nothing": 404, "sign-in": 200}
        for path, status in paths.items():
            page = httpx.get(f"{started.url}/library/{path}")
            assert page.status_code == status
            assert "Told to a visitor." in page.text
        broken = True
        for path, status in {**paths, "": 422, "sign-in": 422}.items():
            page = httpx.get(f"{started.url}/library/{path}")
            assert page.status_code == status
            assert "Told to" not in page.text
            assert "<h1>" in page.text


def test_a_wrong_method_is_answered_with_the_allowed_ones(visitor: httpx.Client) -> None:
    page = visitor.delete("/shelves/new")
    assert page.status_code == 405
    assert page.headers["allow"] == "GET, HEAD, POST"
    assert "<h1>" in page.text


def test_the_address_of_a_form_leads_to_its_page(alice: httpx.Client) -> None:
    """A browser shows it while the form asks or is refused, and a phone may open it again."""
    path = put_up(alice, "Poetry")
    for at, expected in ((f"{path}/books", path), (f"{path}/delete", path), ("/unsent-form", "/"), ("/sign-out", "/")):
        opened = alice.get(at)
        assert (opened.status_code, opened.headers["location"]) == (303, f"/library{expected}")
        assert alice.head(at).status_code == 405
    assert alice.get("/shelves").status_code == 404


def test_a_visitor_signs_in_and_returns_to_the_page(visitor: httpx.Client) -> None:
    refused = visitor.get("/shelves/new?from=here")
    assert refused.status_code == 303
    assert refused.headers["location"] == "/library/sign-in?to=%2Flibrary%2Fshelves%2Fnew%3Ffrom%3Dhere"
    page = visitor.get(refused.headers["location"].removeprefix("/library"))
    assert 'value="/library/shelves/new?from=here"' in page.text
    back = visitor.post("/sign-in", data={"csrf": token_in(page), "sub": "bob", "to": "/library/shelves/new?from=here"})
    assert back.headers["location"] == "/library/shelves/new?from=here"
    assert visitor.get("/shelves/new").status_code == 200


def test_a_user_without_permission_is_refused(alice: httpx.Client) -> None:
    page = alice.get("/gone")
    assert page.status_code == 403
    assert "You don't have permission to do this." in unescape(page.text)
    assert "Alice Archer" in page.text


def test_a_session_that_is_no_longer_valid_ends(settings: Settings) -> None:
    """On any request: the user is told once, and is then a visitor. Other 401 errors don't end the session."""
    pages = Pages("tests.web", title="The Library")

    @pages.on_every_page
    def known(view: View[Librarian]) -> dict[str, object]:
        return {"notice": f"Told to {view.caller.sub if view.caller else 'a visitor'}."}

    @pages.get("/")
    def front(view: View[Librarian], code: str = "") -> Response:
        if code and view.caller is not None:
            raise Unauthorized(code, "This account is gone.")
        return view.render("new_shelf.html")

    @pages.post("/")
    def gone(view: View[Librarian]) -> Response:
        raise Unauthorized("bad-token", "This account is gone.")

    with site(replace(WITH_PAGES, pages=pages), settings) as started:
        for verb, path in (("GET", "/?code=bad-token"), ("POST", "/")):
            with httpx.Client(base_url=f"{started.url}/library", timeout=30) as client:
                sign_in(client, "alice")
                other = client.get("/?code=wrong-credentials")
                assert (other.status_code, "<h1>Sign in to continue</h1>" in other.text) == (401, True)
                front_page = client.get("/")
                assert "Told to alice." in front_page.text
                page = client.request(verb, path, data={"csrf": token_in(front_page)} if verb == "POST" else None)
                assert page.status_code == 401
                assert "<h1>Your session has expired</h1>" in page.text
                assert "<p>This account is gone.</p>" in page.text
                assert '<a class="button" href="/library/sign-in">Sign in</a>' in page.text
                assert "Told to a visitor." in page.text
                assert "keyplan-session" not in client.cookies
                assert "Told to a visitor." in client.get("/?code=bad-token").text
        sessions = started.running.store.run(query(BrowserSession.primary, owner=_owner("alice"))).items
        assert sessions == []


def _owner(sub: str) -> str:
    return hashlib.sha256(sub.encode()).hexdigest()


def test_a_body_that_is_too_long_is_answered_with_a_page(alice: httpx.Client) -> None:
    page = alice.post("/shelves/new", data={"name": "x" * 2_000_000})
    assert page.status_code == 413


# Forms


def test_a_submitted_form_shows_a_notice_once(alice: httpx.Client) -> None:
    alice.get("/")  # shows the notice about signing in
    path = put_up(alice, "Poetry")
    page = alice.get(path)
    assert 'role="status">“Poetry” is up.</p>' in page.text
    assert 'role="status"' not in alice.get(path).text


def test_a_refused_form_keeps_what_was_typed(alice: httpx.Client) -> None:
    path = put_up(alice, "Poetry")
    page = send(alice, path, f"{path}/books", title="Odes & more", isbn="12", pages="many")
    assert page.status_code == 422
    assert 'value="Odes &amp; more"' in page.text
    assert 'value="12"' in page.text
    assert "Enter a whole number." in page.text
    assert re.search(
        r'id="field-isbn" name="isbn" aria-invalid="true" aria-describedby="hint-isbn error-isbn"', page.text
    )
    assert '<a href="#field-pages">' in page.text
    assert "aria-invalid" not in page.text.partition('id="field-title"')[2].partition(">")[0]


def test_a_refused_rule_is_shown_at_its_field(alice: httpx.Client) -> None:
    path = put_up(alice, "Poetry")
    page = send(alice, path, f"{path}/books", title="Forbidden", isbn="1234567890", pages="3")
    assert page.status_code == 422
    assert re.search(r'class="error" id="error-title">There is no such book', page.text)


def test_a_conflict_is_shown_in_the_form(alice: httpx.Client) -> None:
    put_up(alice, "Poetry")
    page = send(alice, "/shelves/new", "/shelves/new", name="poetry")
    assert page.status_code == 409
    assert "Another shelf already uses this" in page.text
    assert 'value="poetry"' in page.text


def test_an_unknown_field_is_refused(alice: httpx.Client) -> None:
    page = send(alice, "/shelves/new", "/shelves/new", name="Poetry", owner="bob")
    assert page.status_code == 422
    assert "Unknown field." in page.text


def test_a_stale_form_without_its_own_page_is_a_problem_page(alice: httpx.Client) -> None:
    path = put_up(alice, "Poetry")
    page = send(alice, path, f"{path}/delete", version="7")
    assert page.status_code == 412
    assert "This was changed in the meantime" in page.text
    assert send(alice, path, f"{path}/delete", version="1").status_code == 303
    assert alice.get(path).status_code == 404


# Form tokens


def test_a_form_without_a_token_is_refused(alice: httpx.Client) -> None:
    page = alice.post("/shelves/new", data={"name": "Poetry"})
    assert page.status_code == 403
    assert "This form has expired" in page.text
    assert "Poetry" not in alice.get("/").text


@pytest.mark.parametrize(
    "token", ["", ".", "x", "x.y", form_token("another")], ids=["empty", "dot", "short", "wrong", "another's"]
)
def test_a_wrong_token_is_refused(alice: httpx.Client, token: str) -> None:
    assert alice.post("/shelves/new", data={"name": "Poetry", "csrf": token}).status_code == 403


def test_a_token_is_valid_only_in_its_own_session(started: Site, alice: httpx.Client) -> None:
    token = token_in(alice.get("/shelves/new"))
    with httpx.Client(base_url=f"{started.url}/library", timeout=30) as other:
        sign_in(other, "bob")
        assert other.post("/shelves/new", data={"name": "Poetry", "csrf": token}).status_code == 403
    assert alice.post("/shelves/new", data={"name": "Poetry", "csrf": token}).status_code == 303


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_a_form_from_another_site_is_refused_even_with_a_valid_token(
    alice: httpx.Client, headers: dict[str, str]
) -> None:
    token = token_in(alice.get("/shelves/new"))
    page = alice.post("/shelves/new", data={"name": "Poetry", "csrf": token}, headers=headers)
    assert page.status_code == 403
    assert "another site" in page.text


def test_a_form_from_our_own_origin_is_accepted(started: Site, alice: httpx.Client) -> None:
    token = token_in(alice.get("/shelves/new"))
    headers = {"Origin": started.url, "Sec-Fetch-Site": "same-origin"}
    assert alice.post("/shelves/new", data={"name": "Poetry", "csrf": token}, headers=headers).status_code == 303


def test_tokens_differ_and_are_all_valid() -> None:
    first, second = form_token("secret"), form_token("secret")
    assert first != second
    assert is_form_token("secret", first)
    assert is_form_token("secret", second)
    assert not is_form_token("secret", first[:-1])
    assert not is_form_token("other", first)


# Sessions


def session_cookie(client: httpx.Client) -> str:
    return next(cookie.value or "" for cookie in client.cookies.jar if cookie.name == "keyplan-session")


def test_the_session_cookie_is_limited_to_the_system(visitor: httpx.Client) -> None:
    answer = sign_in(visitor, "alice")
    cookie = next(each for each in answer.headers.get_list("set-cookie") if each.startswith("keyplan-session="))
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie
    assert "Path=/library/" in cookie
    assert "Secure" not in cookie  # loopback without TLS
    assert len(session_cookie(visitor).partition(".")[2]) >= 43  # 256 bits


def test_cookies_require_tls_except_on_localhost(settings: Settings) -> None:
    with site(WITH_PAGES, settings.model_copy(update={"base_url": "https://books.example"})) as started:
        page = httpx.get(f"{started.url}/library/sign-in")
        cookie = page.headers["set-cookie"]
        assert cookie.startswith("__Secure-keyplan-visitor=")
        assert "Secure" in cookie.partition(";")[2]


def test_only_the_hash_of_a_session_is_stored(started: Site, alice: httpx.Client) -> None:
    token = session_cookie(alice).partition(".")[2]
    stored = str(started.engine.scan(TableName="Library-keyplan")["Items"])
    assert "SESSION#" in stored
    assert token not in stored


def test_signing_in_again_replaces_the_session(started: Site, alice: httpx.Client) -> None:
    before = session_cookie(alice)
    sign_in(alice, "root")
    after = session_cookie(alice)
    assert before != after
    sessions = Sessions(started.running.store)
    assert sessions.find(before) is None
    found = sessions.find(after)
    assert found == Caller("root", frozenset({"admin"}), {"name": "Rita Root"})


def test_signing_out_ends_the_session(started: Site, alice: httpx.Client) -> None:
    proof = session_cookie(alice)
    answer = send(alice, "/shelves/new", "/sign-out")
    assert answer.status_code == 303
    assert Sessions(started.running.store).find(proof) is None
    assert alice.get("/shelves/new").status_code == 303
    assert "Signed out" in alice.get("/").text


def test_an_expired_session_is_invalid_even_while_it_is_stored(started: Site, alice: httpx.Client) -> None:
    store = started.running.store
    sessions = Sessions(store)
    proof = sessions.open(Caller("alice"), timedelta(seconds=-1))
    assert sessions.find(proof) is None
    alice.cookies.set("keyplan-session", proof, domain="127.0.0.1", path="/library/")
    assert alice.get("/shelves/new").status_code == 303


def test_all_sessions_of_a_user_can_be_ended(started: Site) -> None:
    sessions = Sessions(started.running.store)
    mine = [sessions.open(Caller("alice")) for _ in range(3)]
    other = sessions.open(Caller("bob"))
    sessions.close_all("alice")
    assert [sessions.find(each) for each in mine] == [None, None, None]
    assert sessions.find(other) == Caller("bob")
    sessions.close(mine[0])  # already closed, which is not an error


@pytest.mark.parametrize("proof", ["", ".", "x.y", "a" * 64, f"{'a' * 64}.", f"{'#' * 64}.x", f"{'a' * 64}.x"])
def test_an_invalid_session_cookie_belongs_to_nobody(started: Site, proof: str) -> None:
    assert Sessions(started.running.store).find(proof) is None


def test_a_session_has_a_time_to_live(started: Site) -> None:
    spec = BrowserSession.spec
    assert [name for name, each in spec.fields.items() if each.kind == "ttl"] == ["expires_at"]


def test_a_systems_own_login_opens_and_closes_sessions(settings: Settings) -> None:
    own = Pages("tests.web", sign_in="/login")

    @own.get("/")
    def front(view: View[Librarian]) -> Response:
        return view.render("new_shelf.html", form=Form())

    @own.get("/login")
    def login(view: View[Librarian]) -> Response:
        return view.render("new_shelf.html")

    class Login(In):
        name: str

    @own.post("/login")
    def let_in(view: View[Librarian], login: Login) -> Response:
        if login.name != "alice":
            raise Unprocessable("wrong-name", "Nobody has this name.", pointer="/name")
        view.sign_in(Caller(login.name), timedelta(days=14))
        assert view.service.me.sub == "alice"
        return view.redirect("/")

    with (
        site(replace(WITH_PAGES, pages=own), settings) as started,
        httpx.Client(base_url=f"{started.url}/library") as client,
    ):
        assert 'href="/library/login?to=%2Flibrary%2F"' in client.get("/").text
        assert client.get("/sign-in").status_code == 404  # the system's own login is the only one
        assert send(client, "/login", "/login", name="bob").status_code == 422
        answer = send(client, "/login", "/login", name="alice")
        assert "Max-Age=1209600" in answer.headers["set-cookie"]
        assert "alice" in client.get("/").text
        assert send(client, "/", "/sign-out").status_code == 303
        assert "keyplan-session" not in client.cookies


# Limits


def test_requests_for_pages_are_limited_too(settings: Settings) -> None:
    with site(WITH_PAGES, settings.model_copy(update={"rate_address": 3})) as started:
        answers = [httpx.get(f"{started.url}/library/") for _ in range(8)]
    assert (
        3 <= [each.status_code for each in answers].count(200) <= 6
    )  # twice as many if a new minute starts in between
    assert answers[-1].headers["retry-after"]
    assert "Too many requests" in answers[-1].text


# Declarations


def test_a_path_parameter_that_the_function_does_not_take_is_refused() -> None:
    pages = Pages("tests.web")

    def shelf(view: View[Librarian], shelf_id: str) -> Response:
        return view.render("shelf.html", shelf=shelf_id)

    for declare, verb in ((pages.get, "GET"), (pages.post, "POST")):
        with pytest.raises(
            TypeError, match=rf"{verb} /shelves/{{id}}: .*shelf doesn't take id\..* it takes: shelf_id\."
        ):
            declare("/shelves/{id}")(shelf)


def test_templates_are_found_in_a_package_or_next_to_a_module() -> None:
    assert folder_of("tests.web") == Path(__file__).parent
    assert folder_of(__name__) == Path(__file__).parent
    with pytest.raises(ValueError, match=r"^Package not found: nothing\.$"):
        folder_of("nothing")


def test_a_form_that_cannot_be_shown_again_is_refused_when_it_is_declared() -> None:
    pages = Pages("tests.web")

    @pages.get("/shelves/{shelf_id}")
    def shelf(view: View[Librarian], shelf_id: str) -> Response:
        return view.render("shelf.html")

    with pytest.raises(TypeError, match="POST /shelves/new: save can't be shown again by shelf, which needs shelf_id"):

        @pages.post("/shelves/new", again=shelf)
        def save(view: View[Librarian]) -> Response:
            return view.redirect("/")


def test_paths_are_filled_and_quoted() -> None:
    assert filled("/posts/{slug}", {"slug": "a/b c?"}) == "/posts/a%2Fb%20c%3F"
    assert filled("/files/{path:path}", {"path": "a/b"}) == "/files/a/b"
    assert filled("/posts", {"cursor": "x=", "limit": None, "tag": ["a", "b"]}) == "/posts?cursor=x%3D&tag=a&tag=b"
    with pytest.raises(KeyError, match="slug"):
        filled("/posts/{slug}", {})


@pytest.mark.parametrize(
    ("files", "sources"),
    [
        ({}, "'self'"),
        ({"base_url": "https://blog.example"}, "'self' https://blog.example"),
        (
            {"media_bucket": "pictures", "media_endpoint_url": "https://bucket.example:9000"},
            "'self' https://bucket.example:9000",
        ),
    ],
)
def test_a_page_that_uploads_files_may_send_them_to_the_store(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, files: dict[str, str], sources: str
) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    sending = Pages("tests.web")

    @sending.get("/")
    def upload(view: View[Librarian]) -> Response:
        return view.render("new_shelf.html", sends_files=True)

    @sending.get("/other")
    def other(view: View[Librarian]) -> Response:
        return view.render("new_shelf.html")

    with site(replace(WITH_PAGES, pages=sending), changed(settings, **files)) as started:
        policy, others = (
            httpx.get(f"{started.url}/library/{path}").headers["content-security-policy"] for path in ("", "other")
        )
    assert f"connect-src {sources};" in policy
    assert f"form-action {sources};" in policy
    assert "connect-src 'self';" in others


def test_image_hosts_are_in_the_content_security_policy() -> None:
    assert "img-src 'self' data: https:;" in page_headers(images=["https:"])["Content-Security-Policy"]


# Reading forms


class Everything(In):
    text: str = ""
    maybe: str | None = None
    number: Annotated[int, Field(ge=1)] = 5
    needed: float
    yes: bool = False
    kind: Literal["a", "b"] = "a"
    third: Literal[1, 2, 3] | None = None
    tags: Annotated[list[str], Field(max_length=2)] = []  # noqa: RUF012 - pydantic copies it
    when: datetime | None = None


def typed(**values: str | list[str]) -> dict[str, list[str]]:
    return {name: value if isinstance(value, list) else [value] for name, value in values.items()}


def test_a_form_becomes_a_model() -> None:
    read = read_form(
        Everything,
        typed(
            text=" two\nlines ",
            maybe="",
            number="",
            needed="1.5",
            yes="on",
            kind="b",
            third="2",
            tags=["x", "", "y"],
            when="",
            csrf="z",
        ),
    )
    assert read == Everything(text="two\nlines", needed=1.5, yes=True, kind="b", third=2, tags=["x", "y"])
    assert read_form(Everything, typed(needed="2")) == Everything(needed=2)


def test_each_invalid_field_of_a_form_has_its_own_error() -> None:
    with pytest.raises(Invalid) as caught:
        read_form(
            Everything,
            typed(number="0", needed="", yes="perhaps", kind="c", third="4", tags=["1", "2", "3"], when="soon", x="1"),
        )
    said = {each.pointer: each.detail for each in caught.value.errors}
    assert said.keys() == {"/number", "/needed", "/yes", "/kind", "/third", "/tags", "/when", "/x"}
    assert said["/needed"] == "Required."
    assert said["/number"] == "Enter 1 or more."
    form = Form(Sent("main", typed(number="0"), Everything, caught.value))
    assert form.errors("number") == [said["/number"]]
    assert form.value("number") == "0"
    assert form.value("text") == ""


def test_line_breaks_are_normalized_and_files_are_ignored() -> None:
    sent = FormData([("text", "a\r\nb"), ("tags", "1"), ("tags", "2"), ("file", UploadFile(BytesIO(b"x")))])
    assert typed_in(sent) == {"text": ["a\nb"], "tags": ["1", "2"]}


def test_a_form_starts_from_the_current_values() -> None:
    form = Form().starting_from(Everything(text="x", needed=1, yes=True, tags=["p", "q"]))
    assert [form.value("text"), form.value("maybe"), form.value("yes")] == ["x", "", "true"]
    assert form.values("tags") == ["p", "q"]
    assert Form(Sent("main", {"text": ["typed"]})).starting_from({"text": "before"}).value("text") == "typed"
    assert Form(Sent("main", {})).starting_from({"yes": True}).value("yes") == ""  # it was unchecked


def test_each_form_of_a_page_has_its_own_state() -> None:
    before = {"text": "as stored", "number": 7}
    sent = Sent("b", {"version": ["2"], "text": ["typed"]}, Everything, Unprocessable("no", "No.", pointer="/text"))
    forms = Forms(sent)
    one, other = (forms(name).asking(Everything).starting_from(before) for name in "ab")
    assert (one.value("text"), one.value("number"), one.typed, one.errors("text")) == ("as stored", "7", False, [])
    assert (other.value("text"), other.value("number"), other.typed) == ("typed", "", True)
    assert other.errors("text") == ["No."]
    assert one.refused is other.refused is forms("b")
    assert one.id("field", "text") != other.id("field", "text") != forms().id("field", "text") == "field-text"


def test_a_button_leaves_the_forms_of_its_page_as_they_are() -> None:
    forms = Forms(Sent(None, {"version": ["2"]}, OfVersion, Stale()))
    form = forms().starting_from({"text": "as stored", "version": 3})
    assert (form.value("text"), form.typed, form.is_outdated) == ("as stored", False, False)
    assert form.refused is not None
    [message] = form.refused.messages
    assert message.text.startswith("This was changed in the meantime. Check what it is now")


def test_rows_of_a_page_have_forms_of_the_same_name() -> None:
    name = Forms()("role", "a#b ü").name
    forms = Forms(Sent(name, {"role": ["admin"]}))
    assert forms("role", "a#b ü").value("role") == "admin"
    assert forms("role", "a").starting_from({"role": "viewer"}).value("role") == "viewer"
    assert name is not None
    assert name.removeprefix("role-").isalnum()


def test_a_form_for_an_older_version_is_outdated() -> None:
    assert not Form().starting_from({"version": 3}).is_outdated
    assert not Form(Sent("main", {"version": ["3"]})).starting_from({"version": 3}).is_outdated
    assert Form(Sent("main", {"version": ["2"]})).starting_from({"version": 3}).is_outdated
    assert not Form(Sent("main", {})).starting_from({"version": 3}).is_outdated, "a new item has no version yet"


class Limited(In):
    name: Annotated[str, StringConstraints(min_length=3, max_length=20)]
    address: Annotated[str, StringConstraints(min_length=1, pattern=r"^[a-z0-9-]+$")]
    code: Annotated[str, StringConstraints(pattern=r"^[A-Z]{2}[0-9]{1,3}$")] | None = None
    anything: Annotated[str, StringConstraints(pattern=r"^[^/]+$")] = "x"
    number: Annotated[int, Field(ge=1, le=9)] = 1


@pytest.mark.parametrize(
    ("name", "attributes"),
    [
        ("name", {"required": True, "minlength": 3, "maxlength": 20}),
        ("address", {"required": True, "pattern": r"[a-z0-9\-]+"}),  # browsers reject an unescaped hyphen
        ("code", {"pattern": "[A-Z]{2}[0-9]{1,3}"}),
        ("anything", {}),  # browsers don't allow / there either, so such patterns are left to the server
        ("number", {"min": 1, "max": 9}),
    ],
)
def test_limits_become_html_attributes(name: str, attributes: dict[str, object]) -> None:
    assert Form().asking(Limited).attributes(name) == attributes


# Static files and the index


def test_static_files_can_be_cached_forever(started: Site) -> None:
    page = httpx.get(f"{started.url}/library/")
    found = re.search(r'href="(/static/style\.css\?v=\w+)"', page.text)
    assert found
    style = httpx.get(started.url + found[1])
    assert style.headers["content-type"].startswith("text/css")
    assert style.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert style.headers["x-content-type-options"] == "nosniff"
    assert httpx.get(f"{started.url}/static/style.css").headers["cache-control"] == "no-cache"
    assert httpx.get(f"{started.url}/static/style.css?v=0").headers["cache-control"] == "no-cache"
    assert httpx.get(f"{started.url}/static/../pages.py").status_code == 404


def test_lengths_of_text_and_lists_have_different_messages() -> None:
    """pydantic uses the same error for both if the value was converted."""

    class Tagged(In):
        tags: Annotated[
            list[Annotated[str, BeforeValidator(str.strip), StringConstraints(min_length=1, max_length=3)]],
            Field(max_length=2),
        ]

    for typed, text in (
        (["long"], "Use at most 3 characters."),
        ([" "], "Required."),
        (["a", "b", "c"], "Choose at most 2."),
    ):
        with pytest.raises(Invalid) as refused:
            read_form(Tagged, {"tags": typed})
        assert [each.detail for each in refused.value.errors] == [text]


@pytest.mark.parametrize("path", ["/static/style.css", "/library/static/library.css"])
def test_static_files_are_read_only(started: Site, path: str) -> None:
    answer = httpx.delete(started.url + path)
    assert (answer.status_code, answer.headers["allow"]) == (405, "GET, HEAD")
    assert httpx.head(started.url + path).status_code == 200


def test_a_system_has_its_own_static_files(started: Site) -> None:
    page = httpx.get(f"{started.url}/library/")
    found = re.search(r'href="(/library/static/library\.css\?v=\w+)"', page.text)
    assert found
    assert httpx.get(started.url + found[1]).headers["cache-control"].endswith("immutable")


def test_the_index_lists_the_systems(started: Site) -> None:
    page = httpx.get(started.url)
    assert page.status_code == 200
    assert "content-security-policy" in page.headers
    assert "Shelves and books." in page.text
    for address in ("/library/", "/api/library/docs", "/api/library/openapi.json"):
        assert f'href="{address}"' in page.text
    assert "/designs/" not in page.text


def test_a_ready_page_is_made_once_and_may_use_its_style(started: Site) -> None:
    made: list[int] = []

    def make() -> ReadyPage:
        made.append(1)
        return ReadyPage("<!doctype html><style>p{color:red}</style><p>Plan", "p{color:red}", '{"plan": 1}')

    app = application([started.running], started.running.settings, designs={"library": make})
    with TestClient(app) as client:
        index = client.get("/").text
        assert not made
        for part in ("", "#entities", "#findings"):
            assert f'href="/designs/library{part}"' in index
        page = client.get("/designs/library")
        assert client.get("/designs/library").text == page.text
        assert client.get("/designs/library.json").json() == {"plan": 1}
        assert client.get("/designs/none").status_code == 404
    assert made == [1]
    digest = b64encode(hashlib.sha256(b"p{color:red}").digest()).decode()
    policy = page.headers["content-security-policy"]
    assert f"style-src 'self' 'sha256-{digest}'" in policy
    assert "default-src 'self'" in policy
    assert "unsafe" not in policy
