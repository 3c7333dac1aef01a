"""Editors: pages made from the methods of a service, and the kinds of input fields."""

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import date, datetime
from html import unescape
from types import SimpleNamespace
from typing import Annotated, Literal

import httpx
import pytest
from pydantic import Field, StringConstraints

from keyplan.design import CREATE_ONLY, Fields, about
from keyplan.web import SIGNED_IN, Api, Change, Editor, IfMatch, In, Language, Line, Pages, System, allow
from keyplan.web.pages.editors import SENTENCES
from keyplan.web.pages.inputs import Choice, Choices, Day, Input, LongText, Number, WallTime, YesNo, input_for
from keyplan.web.settings import Settings
from tests.web.library import SYSTEM, Librarian, Library, NewShelf, Renaming, ShelfId, ShelfOut
from tests.web.page_forms import send, sign_in
from tests.web.site import Site, site

GERMAN = Language("de", {"{Noun} created": "{Noun} angelegt", "shelf": "Regal", "Shelves": "Regale", "Name": "Name"})


def with_editor(language: Language | None = None) -> System[Library]:
    """The library with pages for editing its shelves."""
    pages = Pages("tests.web", language=language or Language())
    Editor(
        path="/shelves",
        noun="shelf",
        plural="Shelves",
        listed=Librarian.shelves,
        one=Librarian.shelf,
        create=Librarian.create_shelf,
        change=Librarian.rename_shelf,
        delete=Librarian.delete_shelf,
        inputs={"name": Line(autocomplete="off")},
    ).add_to(pages)
    return replace(SYSTEM, pages=pages)


@pytest.fixture
def started(settings: Settings) -> Iterator[Site]:
    with site(with_editor(), settings) as running:
        yield running


@pytest.fixture
def alice(started: Site) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=f"{started.url}/library", timeout=30) as client:
        assert sign_in(client, "alice").status_code == 303
        yield client


def text_of(page: httpx.Response) -> str:
    return unescape(re.sub(r"<[^>]+>", " ", page.text))


def added(client: httpx.Client, name: str) -> str:
    """Create a shelf, and return the path of its form."""
    answer = send(client, "/shelves/new", "/shelves/new", name=name)
    assert (answer.status_code, answer.headers["location"]) == (303, "/library/shelves"), answer.text
    found = re.search(rf'href="/library(/shelves/[^"]+)">{name}<', client.get("/shelves").text)
    assert found is not None
    return found[1]


def test_an_item_is_added_listed_changed_and_deleted(alice: httpx.Client) -> None:
    assert "Nothing here yet." in text_of(alice.get("/shelves"))
    path = added(alice, "Poetry")
    form = alice.get(path).text
    assert 'value="Poetry"' in form
    assert 'maxlength="80"' in form
    assert 'autocomplete="off"' in form
    assert "Edit Poetry" in form
    assert send(alice, path, path, name="Prose", version="1").status_code == 303
    assert "Shelf saved" in text_of(alice.get("/shelves"))
    assert send(alice, path, f"{path}/delete", version="2").status_code == 303
    page = text_of(alice.get("/shelves"))
    assert "Shelf deleted" in page
    assert "Prose" not in page


def test_a_refused_form_is_shown_again_with_what_was_typed(alice: httpx.Client) -> None:
    answer = send(alice, "/shelves/new", "/shelves/new", name="")
    assert (answer.status_code, "Name: Required." in text_of(answer)) == (422, True)
    answer = send(alice, "/shelves/new", "/shelves/new", name="a#b")
    assert 'value="a#b"' in answer.text
    assert answer.status_code == 422


def test_an_outdated_form_changes_nothing_and_says_so(alice: httpx.Client) -> None:
    path = added(alice, "Poetry")
    send(alice, path, path, name="Prose", version="1")
    stale = send(alice, path, path, name="Plays", version="1")
    assert stale.status_code == 412
    assert "This was changed in the meantime." in text_of(stale)
    assert 'value="Plays"' in stale.text
    assert send(alice, path, f"{path}/delete", version="1").status_code == 412
    assert 'value="Prose"' in alice.get(path).text


class Fixed(Fields):
    """Fields of a shelf whose name can't be changed."""

    name: Annotated[str, CREATE_ONLY, StringConstraints(max_length=80)]
    color: str = "Oak"
    height: Annotated[int | None, Field(ge=0)] = 0
    glass: bool = True
    notes: list[Literal["new", "old"]] = Field(default_factory=list)


class NewFixed(Fixed, In): ...


class FixedChange(Change[Fixed]): ...


class Painted(ShelfOut):
    color: str = ""
    height: int | None = None
    glass: bool = False
    notes: list[Literal["new", "old"]] = Field(default_factory=list)


class Painter(Librarian):
    """Manages shelves, and renames a shelf to its new color."""

    @allow(SIGNED_IN)
    def painted(self, shelf_id: ShelfId) -> Painted:
        return Painted.from_fields(self.shelf(shelf_id))

    @allow(SIGNED_IN)
    def create_fixed(self, new: NewFixed) -> ShelfOut:
        return self.create_shelf(NewShelf(name=new.name))

    @allow(SIGNED_IN)
    def paint(self, shelf_id: ShelfId, change: FixedChange, version: IfMatch) -> ShelfOut:
        return self.rename_shelf(shelf_id, Renaming(name=change.get(lambda shelf: shelf.color, "")), version)


def painter(**others: object) -> Editor[Painter, NewFixed, FixedChange]:
    editor = Editor(
        path="/shelves",
        noun="shelf",
        plural="Shelves",
        listed=Painter.shelves,
        one=Painter.painted,
        create=Painter.create_fixed,
        change=Painter.paint,
        delete=Painter.delete_shelf,
    )
    return replace(editor, **others)  # type: ignore[arg-type]  # of any field


def test_a_field_that_is_set_on_create_is_not_in_later_forms(settings: Settings) -> None:
    pages = Pages("tests.web")
    painter().add_to(pages)
    system = replace(SYSTEM, api=Api(Painter), pages=pages)
    with (
        site(system, settings) as running,
        httpx.Client(base_url=f"{running.url}/library", timeout=30) as client,
    ):
        sign_in(client, "alice")
        new = client.get("/shelves/new").text
        assert 'name="name"' in new
        # A new one begins with the declared defaults, but what was typed stays.
        assert re.search(r'name="color"[^>]* value="Oak"', new)
        assert re.search(r'name="height"[^>]* value="0"', new)
        assert re.search(r'name="glass"[^>]* checked', new)
        refused = send(client, "/shelves/new", "/shelves/new", name="x" * 81, color="Pine")
        assert re.search(r'name="color"[^>]* value="Pine"', refused.text)
        assert not re.search(r'name="glass"[^>]* checked', refused.text)
        path = added(client, "Poetry")
        form = client.get(path).text
        assert ('name="name"' in form, 'name="color"' in form) == (False, True)
        assert send(client, path, path, color="Red", version="1").status_code == 303
        assert send(client, path, path, name="Mine", color="Blue", version="2").status_code == 422
        assert ">Red<" in client.get("/shelves").text


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (
            {"fields": ["nmae"]},
            r"^Editor /shelves: NewFixed has no field nmae\. Its fields are: name, color, ",
        ),
        (
            {"inputs": {"nmae": Line()}},
            r"^Editor /shelves: NewFixed has no field nmae\. Its fields are: name, color, ",
        ),
        ({"name": "title"}, r"^Editor /shelves: Painted has no field title\. Give name= the field that says"),
    ],
)
def test_an_unknown_field_is_refused(wrong: dict[str, object], told: str) -> None:
    with pytest.raises(TypeError, match=told):
        painter(**wrong).add_to(Pages("tests.web"))


def test_only_users_who_may_add_items_get_the_pages(started: Site, alice: httpx.Client) -> None:
    path = added(alice, "Poetry")
    with httpx.Client(base_url=f"{started.url}/library", timeout=30) as visitor:
        for page in ("/shelves", "/shelves/new", path):
            assert visitor.get(page).headers["location"].startswith("/library/sign-in")
        sign_in(visitor, "bob")
        assert send(visitor, path, path, name="Mine", version="1").status_code == 403
        assert send(visitor, path, f"{path}/delete", version="1").status_code == 403
    assert 'value="Poetry"' in alice.get(path).text


def test_pages_are_in_the_language_of_the_system(settings: Settings) -> None:
    with (
        site(with_editor(GERMAN), settings) as running,
        httpx.Client(base_url=f"{running.url}/library", timeout=30) as client,
    ):
        sign_in(client, "alice")
        send(client, "/shelves/new", "/shelves/new", name="Lyrik")
        page = text_of(client.get("/shelves"))
        assert "Regal angelegt" in page
        assert "Regale" in page


def test_every_message_uses_only_the_values_it_is_given() -> None:
    assert {name for each in SENTENCES for name in re.findall(r"{(\w+)}", each)} == {"noun", "Noun", "name"}


# Kinds of input fields


class Everything(In):
    """A body with a field of each type."""

    title: Annotated[str, StringConstraints(max_length=200), about("Title", "Shown in lists.")]
    text: Annotated[str, StringConstraints(max_length=10_000)] = ""
    note: Annotated[str, StringConstraints(max_length=1000)] | None = None
    pages: Annotated[int, Field(ge=1)] = 1
    price: float | None = None
    day: date | None = None
    at: datetime
    lent: bool = False
    size: Literal["small", "very_large"]
    color: Literal["red"] | None = None
    tags: list[Literal["old", "new"]] = Field(default_factory=list)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("title", Line), ("text", LongText), ("note", LongText), ("pages", Number), ("price", Number), ("day", Day),
        ("at", WallTime), ("lent", YesNo), ("size", Choice), ("color", Choice), ("tags", Choices),
    ],
)  # fmt: skip
def test_the_kind_of_an_input_follows_from_the_type(name: str, kind: type[Input]) -> None:
    assert type(input_for(name, Everything.model_fields[name])) is kind


def test_choices_are_those_of_the_type() -> None:
    view = SimpleNamespace()
    given = {name: input_for(name, Everything.model_fields[name]).options(view) for name in ("size", "color", "tags")}  # type: ignore[arg-type]  # not looked at
    assert given == {
        "size": [("small", "Small"), ("very_large", "Very large")],
        "color": [("", "–"), ("red", "Red")],
        "tags": [("old", "Old"), ("new", "New")],
    }


def test_a_type_without_an_input_is_refused_with_what_to_do() -> None:
    class Odd(In):
        parts: list[str]

    with pytest.raises(TypeError, match=r"parts.*inputs={'parts': \.\.\.}"):
        input_for("parts", Odd.model_fields["parts"])
