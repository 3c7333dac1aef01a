"""Forms that call a method of the service, and pages of lists, over real HTTP."""

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from html import unescape
from typing import Annotated
from urllib.parse import urlsplit

import httpx
import pytest
from starlette.responses import Response

from keyplan.design import CREATE_ONLY, Fields, about
from keyplan.web import SIGNED_IN, Change, IfMatch, MayMatch, Pages, System, View, allow, form_of
from keyplan.web.models.problems import Invalid
from keyplan.web.pages.forms import Form
from keyplan.web.pages.reading import read_form
from keyplan.web.settings import Settings
from tests.web.library import SYSTEM, Librarian, Library, NewBook, NewShelf, ShelfId
from tests.web.page_forms import send, sign_in
from tests.web.site import site

pages = Pages("tests.web")
SHELF = "/shelves/{shelf_id}"


@pages.get("/")
def home(view: View[Librarian]) -> Response:
    shown = view.page(view.service.shelves, "In the order added", 2)
    response = view.render("new_shelf.html")
    response.headers["X-Names"] = ",".join(each.name for each in shown.items)
    response.headers["Link"] = f"{shown.turn.first} {shown.turn.next}"
    return response


@pages.get(SHELF)
def shelf(view: View[Librarian], shelf_id: ShelfId) -> Response:
    view.form.asking(NewBook)
    listed = view.page(lambda page: view.service.books(shelf_id, page), "In the order added", 1)
    response = view.render("shelf.html", shelf=view.service.shelf(shelf_id), books=listed)
    response.headers["Link"] = f"{listed.turn.first} {listed.turn.next}"
    return response


pages.form("/shelves/new", Librarian.create_shelf, to=SHELF, notice="“{name}” is up", again=home)
pages.form(f"{SHELF}/rename", Librarian.rename_shelf, to=SHELF, notice=lambda made: made.name.upper(), again=shelf)
pages.form(f"{SHELF}/books", Librarian.add_book, to=f"{SHELF}?added={{book_id}}", notice="{title} added", again=shelf)
pages.form(f"{SHELF}/delete", Librarian.delete_shelf, to="/", notice="{name} is down", before=Librarian.shelf)

WITH_FORMS: System[Library] = replace(SYSTEM, pages=pages)


@pytest.fixture
def alice(settings: Settings) -> Iterator[httpx.Client]:
    with (
        site(WITH_FORMS, settings) as started,
        httpx.Client(base_url=f"{started.url}/library", timeout=30) as client,
    ):
        assert sign_in(client, "alice").status_code == 303
        yield client


def path_after(answer: httpx.Response) -> str:
    """The page that a form leads to."""
    assert answer.status_code == 303, answer.text
    return str(answer.headers["location"]).removeprefix("/library")


def notice_at(client: httpx.Client, path: str) -> str:
    found = re.search(r'class="notice"[^>]*>([^<]*)<', client.get(path).text)
    assert found is not None
    return unescape(found[1])


def created(client: httpx.Client, name: str) -> str:
    """Create a shelf, and return its path."""
    return path_after(send(client, "/", "/shelves/new", name=name))


def test_a_form_leads_to_what_the_method_returned(alice: httpx.Client) -> None:
    at = created(alice, "Poetry {slug}")
    assert notice_at(alice, at) == "“Poetry {slug}” is up"
    added = path_after(send(alice, at, f"{at}/books", isbn="0123456789", title="Odes & more"))
    assert re.fullmatch(rf"{re.escape(at)}\?added=[\w-]+", added)
    assert notice_at(alice, added) == "Odes & more added"
    assert path_after(send(alice, at, f"{at}/rename", name="Prose", version="1")) == at
    assert notice_at(alice, at) == "PROSE"


def test_a_name_in_a_notice_does_not_turn_the_sentence(alice: httpx.Client) -> None:
    at = created(alice, "ספרים")
    assert '<p class="notice" role="status">“<bdi>ספרים</bdi>” is up</p>' in alice.get(at).text


def test_what_is_deleted_can_be_named_afterwards(alice: httpx.Client) -> None:
    at = created(alice, "Atlases")
    assert path_after(send(alice, at, f"{at}/delete", version="1")) == "/"
    assert notice_at(alice, "/") == "Atlases is down"


def test_a_form_sends_the_version_that_was_seen(alice: httpx.Client) -> None:
    at = created(alice, "Poetry")
    assert send(alice, at, f"{at}/rename", name="Prose").status_code == 422
    assert send(alice, at, f"{at}/rename", name="Prose", version="7").status_code == 412
    assert "Prose" not in alice.get(at).text
    # Where If-Match is optional, the form may leave it out.
    assert send(alice, at, f"{at}/books", isbn="0123456789", title="Odes", version="7").status_code == 412


def test_a_refused_form_is_shown_again(alice: httpx.Client) -> None:
    at = created(alice, "Poetry")
    refused = send(alice, at, f"{at}/books", isbn="12", title="")
    assert refused.status_code == 422
    assert "Required." in refused.text
    assert 'value="12"' in refused.text
    assert send(alice, at, f"{at}/books", isbn="0123456789", title="Odes", owner="eve").status_code == 422


def test_a_page_of_a_list_has_links_to_the_first_and_the_next(alice: httpx.Client) -> None:
    for name in ("A", "B", "C", "D", "E"):
        created(alice, name)
    first = alice.get("/?sort=name&empty=")
    assert first.headers["X-Names"] == "A,B"
    start, following = first.headers["Link"].split(" ")
    assert start == "None"
    assert following.startswith("/library/?sort=name&cursor=")
    second = alice.get(following.removeprefix("/library"))
    assert second.headers["X-Names"] == "C,D"
    start, following = second.headers["Link"].split(" ")
    assert start == "/library/?sort=name"
    last = alice.get(following.removeprefix("/library"))
    assert (last.headers["X-Names"], last.headers["Link"]) == ("E", "/library/?sort=name None")


def test_a_list_that_is_shown_again_below_a_refused_form_leads_on_to_its_own_pages(alice: httpx.Client) -> None:
    at = created(alice, "Poetry")
    for isbn in ("0123456789", "0123456790"):
        path_after(send(alice, at, f"{at}/books", isbn=isbn, title=isbn))
    refused = send(alice, at, f"{at}/books", isbn="12", title="Odes")
    following = refused.headers["Link"].split(" ")[1]
    assert urlsplit(following).path == f"/library{at}"
    assert "0123456790" in alice.get(following.removeprefix("/library")).text


@pytest.mark.parametrize("cursor", ["nonsense", "x" * 4097])
def test_a_cursor_of_something_else_is_refused(alice: httpx.Client, cursor: str) -> None:
    assert alice.get("/", params={"cursor": cursor}).status_code == 400


# What a form asks for


class EventFields(Fields):
    title: Annotated[str, about("Title")]
    seats: int
    starts: Annotated[datetime | None, about("Start")] = None
    open: bool = False
    code: Annotated[str, CREATE_ONLY] = ""


class EventChange(Change[EventFields]):
    """What to change of an event."""


class Planner(Librarian):
    @allow(SIGNED_IN)
    def change_event(self, event_id: str, change: EventChange, version: IfMatch) -> None:
        """Change an event."""

    @allow(SIGNED_IN)
    def invite(self, event_id: str, guest: str, seats: int = 1, version: MayMatch = None) -> None:
        """Invite somebody."""


def test_a_change_is_asked_for_as_a_whole() -> None:
    form = form_of(Planner.change_event)
    assert issubclass(form, EventChange)
    assert [*form.model_fields] == ["title", "seats", "starts", "open", "version"]
    with pytest.raises(Invalid) as refused:
        read_form(form, {"title": ["Fair"], "seats": [""], "version": ["1"]})
    assert [each.pointer for each in refused.value.errors] == ["/seats"]
    shown = Form().asking(form)
    assert shown.attributes("seats") == {"required": True}
    assert shown.attributes("starts") == {}


def test_times_are_in_utc() -> None:
    form = form_of(Planner.change_event)
    typed = {"title": ["Fair"], "seats": ["3"], "starts": ["2026-05-01T18:00"], "version": ["1"]}
    assert read_form(form, typed).model_dump()["starts"] == datetime(2026, 5, 1, 18, tzinfo=UTC)
    shown = Form().asking(form).starting_from({"starts": datetime(2026, 5, 1, 18, 30, tzinfo=UTC)})
    assert (shown.label("starts"), shown.value("starts")) == ("Start", "2026-05-01T18:30")
    with pytest.raises(Invalid) as refused:
        read_form(form, {**typed, "starts": ["tomorrow"]})
    assert [each.pointer for each in refused.value.errors] == ["/starts"]


def test_a_parameter_that_is_not_in_the_path_is_asked_for() -> None:
    form = form_of(Planner.invite, "guest", "seats")
    read = read_form(form, {"guest": ["ada"], "seats": [""], "version": [""]})
    assert read.model_dump() == {"version": None, "guest": "ada", "seats": 1}


def test_a_body_without_anything_else_is_the_form() -> None:
    assert form_of(Librarian.create_shelf) is NewShelf


def test_a_name_that_nothing_has_is_refused_when_it_is_declared() -> None:
    with pytest.raises(TypeError, match="there is no author in the path, in the form, or in what the method returns"):
        Pages("tests.web").form("/shelves/new", Librarian.create_shelf, to="/", notice="{author} put it up")
    with pytest.raises(TypeError, match="doesn't take shelf"):
        Pages("tests.web").form("/shelves/{shelf}/delete", Librarian.delete_shelf, to="/")
