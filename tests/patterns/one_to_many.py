# pyright: strict
"""# One-to-many

An author has many books, and the usual question is "the books of this author, in order".

Use it for everything that belongs to something else and is listed by it: orders of a customer, comments of a post,
devices of a user.

**Not for** children that always change and are read together with their parent, and are few: a list of models in the
parent's item costs one write and one read. Not for items that have several parents: see
[many-to-many](many_to_many.md).
"""

import pytest

from keyplan.data import InUse, ParentMissing, Store, create, delete
from keyplan.design import (
    Count,
    Design,
    Entity,
    Get,
    Id,
    Query,
    Ref,
    Table,
    at_least,
    belongs_to,
    get,
    key,
    pattern,
    query,
    ref,
)

library = Table("Library", key("PK", "SK"), indexes={"GSI1": key("GSI1PK", "GSI1SK")})


class Author(Entity, table=library):
    author_id: Id
    name: str
    books: Count = 0

    primary = key("AUTHOR#{author_id}", "AUTHOR")


class Book(Entity, table=library):
    isbn: Id
    title: str
    author_id: Id
    year: int

    primary = key("BOOK#{isbn}", "BOOK")
    by_author = library.GSI1("AUTHOR#{author_id}", "{year:04}#{isbn}")

    @belongs_to(on_delete="refuse", count="books")
    def author(self) -> Ref[Author]:
        return ref(Author, author_id=self.author_id)


class Library(Design):
    tables = (library,)
    entities = (Author, Book)

    @pattern("Get book by ISBN")
    def book(self, isbn: str) -> Get[Book]:
        return get(Book, isbn=isbn)

    @pattern("List books of an author, oldest first")
    def books_of(self, author_id: str) -> Query[Book]:
        return query(Book.by_author, author_id=author_id)

    @pattern("List books of an author since a year")
    def books_since(self, author_id: str, year: int) -> Query[Book]:
        return query(Book.by_author, author_id=author_id, year=at_least(year))


def use(store: Store[Library]) -> None:
    """`belongs_to` checks that the author exists, counts the books, and refuses to delete an author who has some
    (`on_delete="cascade"` would delete them too). The list is one query of the index."""
    ada = store.run(create(Author(author_id="ada", name="Ada Lovelace")))
    store.run(create(Book(isbn="1", title="Notes", author_id="ada", year=1843)))
    store.run(create(Book(isbn="2", title="Letters", author_id="ada", year=1832)))

    assert [book.title for book in store.run(store.design.books_of("ada")).items] == ["Letters", "Notes"]
    assert [book.title for book in store.run(store.design.books_since("ada", 1840)).items] == ["Notes"]

    with pytest.raises(ParentMissing):
        store.run(create(Book(isbn="3", title="Dune", author_id="frank", year=1965)))
    with pytest.raises(InUse, match="2 Book items refer to it"):
        store.run(delete(ada))
