"""The effects of an item are computed once for each state of the item."""

from collections import Counter
from collections.abc import Iterator

import pytest

from keyplan.data import Store, create, delete, update
from keyplan.design import Count, Design, Entity, Id, Ref, Table, belongs_to, counts, derived, key, ref, unique
from keyplan.engine import Engine

shelves = Table("Shelves", key("PK", "SK"), indexes={"GSI1": key("GSI1PK", "GSI1SK")})
asked: Counter[str] = Counter()


class Shelf(Entity, table=shelves):
    shelf_id: Id
    book_count: Count = 0
    page_count: Count = 0

    primary = key("SHELF#{shelf_id}", "SHELF")


class Entry(Entity, table=shelves):
    word: Id
    isbn: Id

    primary = key("WORD#{word}", "{isbn}")


class Book(Entity, table=shelves):
    isbn: Id
    shelf_id: Id
    title: str
    slug: str | None = None
    pages: int = 1

    primary = key("BOOK#{isbn}", "BOOK")
    by_title = shelves.GSI1("TITLES", "{title}#{isbn}")
    slug_guard = unique("SLUG#{slug}")

    @belongs_to(on_delete="refuse", count="book_count")
    def on_shelf(self) -> Ref[Shelf]:
        asked["parent"] += 1
        return ref(Shelf, shelf_id=self.shelf_id)

    @counts("page_count")
    def paged(self) -> Ref[Shelf]:
        asked["counter"] += 1
        return ref(Shelf, shelf_id=self.shelf_id).adding(self.pages)

    @derived
    def entries(self) -> list[Entry]:
        asked["derived"] += 1
        return [Entry(word=word, isbn=self.isbn) for word in self.title.split()]


class Library(Design):
    tables = (shelves,)
    entities = (Shelf, Entry, Book)


@pytest.fixture
def store() -> Iterator[Store[Library]]:
    with Engine() as engine:
        made = Store(Library(), engine, secret=b"of the tests")
        made.create_tables()
        made.run(create(Shelf(shelf_id="a")))
        made.run(create(Shelf(shelf_id="b")))
        asked.clear()
        yield made


def once_each(times: int) -> dict[str, int]:
    return dict.fromkeys(("parent", "counter", "derived"), times)


def test_each_rule_is_called_once_for_each_state_of_an_item(store: Store[Library]) -> None:
    book = store.run(create(Book(isbn="1", shelf_id="a", title="one book", slug="one", pages=3)))
    assert asked == once_each(1)
    asked.clear()
    book.title, book.shelf_id, book.slug, book.pages = "another book", "b", "other", 5
    store.run(update(book))
    assert asked == once_each(2)
    asked.clear()
    store.run(delete(book))
    assert asked == once_each(1)
    assert store.verify() == []


def test_an_update_does_not_write_guards_that_stay_the_same(store: Store[Library]) -> None:
    book = store.run(create(Book(isbn="1", shelf_id="a", title="one", slug="one")))
    book.pages = 7
    ((operation, request),) = store.requests(update(book))
    assert operation == "transact_write_items"
    keys = [
        action.get("Key", action.get("Item"))["PK"]["S"]
        for part in request["TransactItems"]
        for action in part.values()
    ]
    assert keys == ["BOOK#1", "SHELF#a"]


def test_a_guard_is_created_and_deleted_with_its_value(store: Store[Library]) -> None:
    book = store.run(create(Book(isbn="1", shelf_id="a", title="one")))
    book.slug = "first"
    store.run(update(book))
    assert store.verify() == []
    book.slug = None
    store.run(update(book))
    assert store.verify() == []
    other = store.run(create(Book(isbn="2", shelf_id="a", title="two", slug="first")))
    assert other.slug == "first"
