"""Pages that are declared as a template with values, over real HTTP."""

import re
from collections.abc import Iterator
from dataclasses import replace

import httpx
import pytest

from keyplan.web import Forbidden, Listed, Pages, System
from keyplan.web.models.signatures import signature_of
from keyplan.web.settings import Settings
from tests.web.library import SYSTEM, Librarian, Library, NewBook, ShelfId, ShelfOut
from tests.web.page_forms import hidden_in, send, sign_in
from tests.web.site import site

SHELF = "/shelves/{shelf_id}"


def title_of(service: Librarian, shelf: ShelfOut) -> str:
    return shelf.name.upper()


def not_secret(service: Librarian, title: str) -> None:
    if title == "SECRET":
        raise Forbidden


pages = Pages("tests.web")
home = pages.show("/", "declared.html", shelves=Listed(Librarian.shelves, "In the order added", 1), title="Library")
shelf = pages.show(
    SHELF,
    "declared.html",
    asks=NewBook,
    requires=not_secret,
    title=title_of,  # of the shelf, which comes later
    shelf=Librarian.shelf,
    books=Listed(Librarian.books, "In the order added", 1),
)
pages.form("/shelves/new", Librarian.create_shelf, to=SHELF, notice="“{name}” is up", again=home)
pages.show(f"{SHELF}/edit", "declared.html", asks=Librarian.rename_shelf, starts_from="shelf", shelf=Librarian.shelf)
pages.form(f"{SHELF}/edit", Librarian.rename_shelf, to=SHELF, notice="Saved")
pages.delete(f"{SHELF}/delete", Librarian.delete_shelf, "shelf", one=Librarian.shelf, to="/", again=shelf)
DECLARED: System[Library] = replace(SYSTEM, pages=pages)


@pytest.fixture
def alice(settings: Settings) -> Iterator[httpx.Client]:
    with (
        site(DECLARED, settings) as started,
        httpx.Client(base_url=f"{started.url}/library", timeout=30) as client,
    ):
        assert sign_in(client, "alice").status_code == 303
        yield client


def created(client: httpx.Client, name: str) -> str:
    answer = send(client, "/", "/shelves/new", name=name)
    assert answer.status_code == 303, answer.text
    return str(answer.headers["location"]).removeprefix("/library")


def test_a_page_shows_what_the_service_reads(alice: httpx.Client) -> None:
    at = created(alice, "Novels")
    page = alice.get(at).text
    assert "<h1>NOVELS</h1>" in page
    assert alice.get("/shelves/none").status_code == 404


def test_a_page_of_a_list_has_links_to_the_others(alice: httpx.Client) -> None:
    created(alice, "One")
    created(alice, "Two")
    first = alice.get("/").text
    assert "<li>One</li>" in first
    assert "<li>Two</li>" not in first
    following = re.search(r'href="/library(/\?cursor=[^"]+)"', first)
    assert following is not None
    assert "<li>Two</li>" in alice.get(following[1].replace("&amp;", "&")).text


def test_a_form_starts_from_a_value_and_changes_it(alice: httpx.Client) -> None:
    at = created(alice, "Novels")
    assert 'value="Novels"' in alice.get(f"{at}/edit").text
    answer = alice.post(f"{at}/edit", data={**hidden_in(alice, f"{at}/edit"), "name": "Poems", "version": "1"})
    assert (answer.status_code, answer.headers["location"]) == (303, f"/library{at}")
    assert "<h1>POEMS</h1>" in alice.get(at).text
    refused = alice.post(f"{at}/edit", data={**hidden_in(alice, f"{at}/edit"), "name": "", "version": "2"})
    assert refused.status_code == 422


def test_what_is_deleted_is_asked_for_by_its_name(alice: httpx.Client) -> None:
    at = created(alice, "Novels")
    token = hidden_in(alice, at)["csrf"]
    asked = alice.post(f"{at}/delete", data={"csrf": token, "version": "1"})
    assert "<h1>Delete the shelf Novels?</h1>" in asked.text
    answer = alice.post(f"{at}/delete", data={"csrf": token, "version": "1", "confirmed": "yes"})
    assert answer.headers["location"] == "/library/"
    assert alice.get(at).status_code == 404


def test_a_page_can_require_something(alice: httpx.Client) -> None:
    assert alice.get(created(alice, "Secret")).status_code == 403


def test_a_name_that_nothing_has_is_refused_when_it_is_declared() -> None:
    with pytest.raises(TypeError, match=r"GET /x: title_of takes shelf, which is neither"):
        Pages("tests.web").show("/x", "declared.html", title=title_of)
    with pytest.raises(TypeError, match=r"GET /x: Librarian.shelf takes shelf_id"):
        Pages("tests.web").show("/x", "declared.html", shelf=Librarian.shelf)


def test_only_people_who_may_call_a_method_get_a_page_that_leads_to_it(settings: Settings) -> None:
    closed = Pages("tests.web")
    closed.show("/closed", "declared.html", requires=Librarian.create_shelf)
    with (
        site(replace(SYSTEM, pages=closed), settings) as started,
        httpx.Client(base_url=f"{started.url}/library", timeout=30) as visitor,
    ):
        assert visitor.get("/closed").status_code in (303, 401)


def test_path_parameters_have_the_types_of_the_methods() -> None:
    assert [(each.name, each.hint) for each in signature_of(shelf).parameters] == [("shelf_id", ShelfId)]
