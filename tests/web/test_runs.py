"""The log says which access pattern or write a call is for, by names alone."""

from collections.abc import Iterator

import pytest

from keyplan.data import AlreadyExists, create, delete, delete_all, patch, put, put_all, update, upsert
from keyplan.design import Design, Entity, Get, Id, Page, Query, Table, get, key, pattern, query, ref, scan
from keyplan.engine import Engine
from keyplan.web.system.observe import ObservedClient, Trace, current
from keyplan.web.system.runs import ObservedStore, current_run, name_of

table = Table("Shelf", key("pk", "sk"))


class Book(Entity, table=table):
    name: Id
    title: str = ""
    primary = key("BOOKS", "{name}")


class Shelf(Design):
    tables, entities = (table,), (Book,)

    @pattern("Get book")
    def book(self, name: str) -> Get[Book]:
        return get(Book, name=name)

    @pattern("List books")
    def books(self) -> Query[Book]:
        return query(Book.primary)


DUNE, EMMA = Book(name="dune"), Book(name="emma")


@pytest.mark.parametrize(
    ("op", "name"),
    [
        (Shelf().book("dune"), "book"),
        (Shelf().books().limit(3), "books"),
        (get(Book, name="dune"), "Book.get"),
        (scan(Book), "Book.scan"),
        (create(DUNE), "Book.create"),
        (put(DUNE), "Book.put"),
        (update(DUNE), "Book.update"),
        (delete(DUNE), "Book.delete"),
        (delete(ref(Book, name="dune")), "Book.delete"),
        (patch(ref(Book, name="dune"), title="x"), "Book.patch"),
        (upsert(ref(Book, name="dune"), title="x"), "Book.upsert"),
        (put_all([DUNE, EMMA]), "Book.put"),
        (delete_all([ref(Book, name="dune")]), "Book.delete"),
    ],
)
def test_operations_have_names(op: object, name: str) -> None:
    assert name_of(op) == name


@pytest.fixture
def store() -> Iterator[ObservedStore[Shelf]]:
    with Engine(ttl_interval=None) as engine:
        store = ObservedStore(Shelf(), ObservedClient(engine))
        store.create_tables()
        yield store


def test_calls_belong_to_what_the_store_was_asked_for(store: ObservedStore[Shelf]) -> None:
    trace = Trace("1", "127.0.0.1")
    token = current.set(trace)
    try:
        store.transact(create(Book(name="dune")), create(Book(name="emma")))
        page: Page[Book] = store.run(store.design.books())
        assert len(page.items) == 2
        assert store.run(store.design.book("none")) is None
        with pytest.raises(AlreadyExists):
            store.run(create(Book(name="dune")))
    finally:
        current.reset(token)
    assert current_run.get() is None
    assert [run.shown() for run in trace.runs] == [
        {"design": "Shelf", "by": ["Book.create", "Book.create"]},
        {"design": "Shelf", "by": ["books"], "items": 2},
        {"design": "Shelf", "by": ["book"], "items": 0},
        {"design": "Shelf", "by": ["Book.create"], "refused": True},
    ]
    entries = [entry for call in trace.calls for entry in call.shown()]
    assert [(entry["by"], entry["run"], entry["units"]) for entry in entries] == [
        ("Book.create, Book.create", 0, 4.0),
        ("books", 1, 0.5),
        ("book", 2, 0.5),
        ("Book.create", 3, 0.0),  # DynamoDB doesn't say what a refused write consumed
    ]
