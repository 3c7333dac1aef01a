"""The one-time key of a form: a form that is sent again takes effect once, and leads to the same page."""

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from urllib.parse import quote

import httpx
import pytest
from starlette.responses import Response

from keyplan.web import In, Pages, View
from keyplan.web.routes import once
from keyplan.web.settings import Settings
from tests.web.library import SYSTEM, Librarian, NewShelf
from tests.web.library_pages import WITH_PAGES
from tests.web.page_forms import hidden_in, shelf_of, sign_in, token_in
from tests.web.site import Site, site

BOOK = {"title": "Emma", "isbn": "1234567890", "pages": "100"}


@pytest.fixture
def started(settings: Settings) -> Iterator[Site]:
    with site(WITH_PAGES, settings) as running:
        yield running


@pytest.fixture
def alice(started: Site) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=f"{started.url}/library", timeout=30) as client:
        sign_in(client, "alice")
        yield client


def books(alice: httpx.Client, shelf: str) -> list[str]:
    return re.findall(r"<tr><td>([^<]+)</td>", alice.get(shelf).text)


def notice_of(page: httpx.Response) -> str:
    found = re.search(r'role="status">([^<]*)</p>', page.text)
    return found[1] if found else ""


def test_a_form_that_is_sent_again_takes_effect_once_and_leads_to_the_same_page(alice: httpx.Client) -> None:
    shelf = shelf_of(alice)
    form = {**hidden_in(alice, shelf), **BOOK}
    answers = [alice.post(f"{shelf}/books", data=form) for _ in range(3)]
    assert {(answer.status_code, answer.headers["location"]) for answer in answers} == {(303, f"/library{shelf}")}
    assert notice_of(alice.get(shelf)) == "The book is there."
    assert notice_of(alice.get(shelf)) == ""
    alice.post(f"{shelf}/books", data=form)
    assert notice_of(alice.get(shelf)) == "The book is there.", "the first result, with its notice"
    assert books(alice, shelf) == ["Emma"]


def test_the_same_key_with_other_values_is_another_form(alice: httpx.Client) -> None:
    """Somebody goes back, changes something, and sends it."""
    shelf = shelf_of(alice)
    form = {**hidden_in(alice, shelf), **BOOK}
    alice.post(f"{shelf}/books", data=form)
    alice.post(f"{shelf}/books", data={**form, "title": "Persuasion", "isbn": "1234567891"})
    assert sorted(books(alice, shelf)) == ["Emma", "Persuasion"]


def test_every_page_has_other_keys(alice: httpx.Client) -> None:
    shelf = shelf_of(alice)
    keys = {hidden_in(alice, shelf)["idempotency_key"] for _ in range(3)}
    assert len(keys) == 3
    answers = [alice.post(f"{shelf}/books", data={**hidden_in(alice, shelf), **BOOK}) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [303, 409], "the second is another book with this ISBN"


def test_a_refused_form_can_be_sent_again_with_its_key(started: Site, alice: httpx.Client) -> None:
    form = {**hidden_in(alice, "/shelves/new"), "name": "Novels"}
    taken = started.as_("bob").post("/shelves", json={"name": "novels"}).json()
    assert alice.post("/shelves/new", data=form).status_code == 409
    started.as_("bob").delete(f"/shelves/{taken['shelf_id']}", headers={"If-Match": "*"})
    assert alice.post("/shelves/new", data=form).status_code == 303


@pytest.mark.parametrize("where", ["field", "header"])
def test_a_client_can_choose_the_key(alice: httpx.Client, where: str) -> None:
    shelf = shelf_of(alice)
    for _ in range(2):
        hidden = hidden_in(alice, shelf)
        del hidden["idempotency_key"]
        key = {"idempotency_key": "mine"} if where == "field" else {}
        headers = {"Idempotency-Key": "mine"} if where == "header" else {}
        assert alice.post(f"{shelf}/books", data={**hidden, **key, **BOOK}, headers=headers).status_code == 303
    assert books(alice, shelf) == ["Emma"]
    refused = alice.post(f"{shelf}/books", data={**hidden, "idempotency_key": "k" * 256, **BOOK})
    assert refused.status_code == 400
    assert "at most 255 characters" in refused.text


def test_a_key_belongs_to_one_person_and_holds_in_a_new_session(started: Site, alice: httpx.Client) -> None:
    shelf = shelf_of(alice)
    form = {**BOOK, "idempotency_key": "k", "form": "main"}
    alice.post(f"{shelf}/books", data={**form, "csrf": token_in(alice.get(shelf))})
    for sub, groups, status in (("alice", "", 303), ("root", "admin", 409)):
        with httpx.Client(base_url=f"{started.url}/library") as other:
            sign_in(other, sub, groups)
            sent = other.post(f"{shelf}/books", data={**form, "csrf": token_in(other.get(shelf))})
            assert sent.status_code == status, "to root's form it is another book with this ISBN"
    assert books(alice, shelf) == ["Emma"]


def test_forms_that_are_sent_at_the_same_time_take_effect_once(alice: httpx.Client) -> None:
    shelf = shelf_of(alice)
    form = {**hidden_in(alice, shelf), **BOOK}
    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(lambda _: alice.post(f"{shelf}/books", data=form), range(12)))
    assert {(answer.status_code, answer.headers["location"]) for answer in answers} == {(303, f"/library{shelf}")}
    assert books(alice, shelf) == ["Emma"]


def test_neither_a_page_nor_a_cookie_is_kept(started: Site, alice: httpx.Client) -> None:
    shelf_of(alice)
    records = [
        item
        for item in started.engine.scan(TableName="Library-keyplan")["Items"]
        if item["pk"]["S"].startswith("ONCE#")
    ]
    [record] = records
    assert "body" not in record
    assert record["headers"]["M"].keys() == {"location", "notice"}
    assert "alice" not in str(record)


def test_a_choice_that_only_a_cookie_keeps_is_made_each_time(alice: httpx.Client) -> None:
    """The answer that set the cookie may be the one that was lost."""
    hidden = hidden_in(alice, "/time-zone")
    for zone in ("Europe/Berlin", "Asia/Tokyo", "Europe/Berlin"):
        chosen = alice.post("/time-zone", data={**hidden, "zone": zone})
        assert zone in notice_of(alice.get("/time-zone"))
        assert quote(zone, safe="") in chosen.headers["set-cookie"]


def test_forms_that_sign_in_or_out_have_no_key(alice: httpx.Client) -> None:
    text = alice.get("/sign-in").text
    assert text.count("<form") == text.count('name="csrf"') > 2
    assert "idempotency_key" not in text
    assert alice.get("/").text.count("idempotency_key") == 0, "the front page has only the form that signs out"


def test_a_person_has_a_bounded_number_of_records(
    started: Site, alice: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(once, "_MOST", 3)
    monkeypatch.setattr(once, "_COUNTED", 1)
    shelf = shelf_of(alice)
    form = {**hidden_in(alice, shelf), **BOOK}
    for number in range(8):
        alice.post(f"{shelf}/books", data={**form, "title": f"Book {number}", "isbn": f"123456789{number}"})
    items = started.engine.scan(TableName="Library-keyplan")["Items"]
    assert sum(item["pk"]["S"].startswith("ONCE#") for item in items) <= 4
    again = [
        alice.post(f"{shelf}/books", data={**form, "title": f"Book {number}", "isbn": f"123456789{number}"}).status_code
        for number in (7, 0)
    ]
    assert again == [303, 409], "the latest is still known, the oldest is not"


# What shows its result on a page


class Nameless(In):
    """A button."""


def test_a_result_that_is_shown_only_once_is_not_made_twice(settings: Settings) -> None:
    """The first time it is a page, which is not kept. To make it again would write something else."""
    pages, made = Pages("tests.web"), iter(range(100))

    @pages.get("/")
    def front(view: View[Librarian]) -> Response:
        return view.render("new_shelf.html")

    @pages.post("/", again=front)
    def make(view: View[Librarian], pressed: Nameless) -> Response:
        shelf = view.service.create_shelf(NewShelf(name=f"Shelf {next(made)}"))
        return Response(f"the secret of {shelf.name}")

    with site(replace(SYSTEM, pages=pages), settings) as running:
        with httpx.Client(base_url=f"{running.url}/library") as client:
            sign_in(client, "alice")
            form = hidden_in(client, "/")
            assert client.post("/", data=form).text == "the secret of Shelf 0"
            again = client.post("/", data=form)
            assert again.status_code == 409
            assert "Its result is shown only once" in again.text
            assert client.post("/", data=hidden_in(client, "/")).status_code == 200
        names = [each["name"] for each in running.as_().get("/shelves").json()["items"]]
        assert len(names) == 2
