"""A small system that uses every feature of the HTTP kit, for its tests: a library with shelves and books."""

from typing import Annotated

from pydantic import Field, StringConstraints

from keyplan.data import create, delete, update
from keyplan.data.streams import ItemChange, on
from keyplan.design import (
    Count,
    Created,
    Design,
    Entity,
    Get,
    Id,
    Lookup,
    Query,
    Ref,
    Table,
    Version,
    belongs_to,
    created,
    get,
    key,
    lookup,
    mirror,
    new_id,
    pattern,
    query,
    ref,
    unique,
)
from keyplan.web import (
    ANYONE,
    SIGNED_IN,
    Api,
    IfMatch,
    In,
    Listing,
    MayMatch,
    Missing,
    Out,
    Paging,
    Running,
    Service,
    System,
    Unprocessable,
    allow,
)

shelves = Table(
    "Library", key("PK", "SK"), indexes={"GSI1": key("GSI1PK", "GSI1SK")}, case="pascal", stream="NEW_AND_OLD_IMAGES"
)


class Shelf(Entity, table=shelves):
    """A shelf, which one person owns."""

    shelf_id: Id = new_id("shelf_")
    name: str
    owner: Id
    book_count: Count = 0
    created_at: Created = created()
    version: Version = 0

    primary = key("SHELF#{shelf_id}", "SHELF")
    by_name = shelves.GSI1("SHELVES", "{name}#{shelf_id}")
    name_guard = unique("SHELFNAME#{name.lower}", carries="shelf_id")


class Title(Entity, table=shelves):
    """The place of a book, by its ISBN."""

    isbn: Id
    shelf_id: Id
    book_id: Id

    primary = key("ISBN#{isbn}", "TITLE")


class Book(Entity, table=shelves):
    """A book on a shelf."""

    book_id: Id = new_id("book_")
    shelf_id: Id
    isbn: Id
    title: str
    secret_note: str = ""
    created_at: Created = created()
    version: Version = 0

    primary = key("SHELF#{shelf_id}", "BOOK#{book_id}")

    @mirror
    def by_isbn(self) -> Title:
        return Title(isbn=self.isbn, shelf_id=self.shelf_id, book_id=self.book_id)

    @belongs_to(on_delete="cascade", count="book_count")
    def shelf(self) -> Ref[Shelf]:
        return ref(Shelf, shelf_id=self.shelf_id)


class Gone(Entity, table=shelves):
    """A note that a book was deleted, written by a stream handler."""

    book_id: Id
    title: str

    primary = key("GONE#{book_id}", "GONE")
    listed = shelves.GSI1("GONE", "{book_id}")


class Library(Design):
    """Shelves and books."""

    tables = (shelves,)
    entities = (Shelf, Title, Book, Gone)

    @pattern("Get shelf by id")
    def shelf(self, shelf_id: str) -> Get[Shelf]:
        return get(Shelf, shelf_id=shelf_id)

    @pattern("Get all shelves by name")
    def shelves(self) -> Query[Shelf]:
        return query(Shelf.by_name)

    @pattern("Get books of a shelf")
    def books(self, shelf_id: str) -> Query[Book]:
        return query(Book.primary, shelf_id=shelf_id)

    @pattern("Get book by shelf and id")
    def book(self, shelf_id: str, book_id: str) -> Get[Book]:
        return get(Book, shelf_id=shelf_id, book_id=book_id)

    @pattern("Get title by ISBN")
    def title(self, isbn: str) -> Get[Title]:
        return get(Title, isbn=isbn)

    @pattern("Get shelf by name")
    def shelf_by_name(self, name: str) -> Lookup[Shelf]:
        return lookup(Shelf.name_guard, name=name)

    @pattern("Books that are gone")
    def gone(self) -> Query[Gone]:
        return query(Gone.listed)


Name = Annotated[str, StringConstraints(min_length=1, max_length=80, pattern=r"^[^#]+$")]
Isbn = Annotated[str, StringConstraints(pattern=r"^[0-9]{10,13}$")]
ShelfId = Annotated[str, StringConstraints(min_length=1, max_length=64, pattern=r"^[a-z0-9_-]+$")]


class NewShelf(In):
    name: Name


class NewBook(In):
    isbn: Isbn
    title: Name
    pages: Annotated[int, Field(ge=1, le=10_000)] = 1


class Renaming(In):
    name: Name


class ShelfOut(Out):
    shelf_id: str
    name: str
    book_count: int
    version: int


class BookOut(Out):
    book_id: str
    shelf_id: str
    isbn: str
    title: str
    version: int


class Librarian(Service[Library]):
    """The library's rules."""

    all_roles = (ANYONE, SIGNED_IN, "admin")

    @allow(ANYONE)
    def shelves(self, page: Paging) -> Listing[ShelfOut]:
        """All shelves, by name."""
        return self.listed(self.design.shelves(), page, ShelfOut.model_validate)

    @allow(ANYONE)
    def shelf(self, shelf_id: ShelfId) -> ShelfOut:
        """One shelf."""
        return ShelfOut.model_validate(self._shelf(shelf_id))

    @allow(ANYONE)
    def books(self, shelf_id: ShelfId, page: Paging) -> Listing[BookOut]:
        """The books of a shelf."""
        self._shelf(shelf_id)
        return self.listed(self.design.books(shelf_id), page, BookOut.model_validate)

    @allow(SIGNED_IN)
    def create_shelf(self, new: NewShelf) -> ShelfOut:
        """Create a shelf."""
        return ShelfOut.model_validate(self.store.run(create(Shelf(name=new.name, owner=self.me.sub))))

    @allow(SIGNED_IN, also="it is your shelf, or you are an admin")
    def rename_shelf(self, shelf_id: ShelfId, change: Renaming, version: IfMatch) -> ShelfOut:
        """Rename a shelf."""
        shelf = self._mine(shelf_id)
        self.current(shelf, version)
        shelf.name = change.name
        return ShelfOut.model_validate(self.store.run(update(shelf)))

    @allow(SIGNED_IN, also="it is your shelf, or you are an admin")
    def delete_shelf(self, shelf_id: ShelfId, version: IfMatch) -> None:
        """Delete a shelf with its books."""
        shelf = self._mine(shelf_id)
        self.current(shelf, version)
        self.store.run(delete(shelf))

    @allow(SIGNED_IN, also="it is your shelf, or you are an admin")
    def add_book(self, shelf_id: ShelfId, new: NewBook, version: MayMatch) -> BookOut:
        """Add a book to a shelf."""
        shelf = self._mine(shelf_id)
        self.current(shelf, version)
        if new.title.lower() == "forbidden":
            raise Unprocessable("forbidden-title", "There is no such book.", pointer="/title")
        return BookOut.model_validate(self.store.run(create(Book(shelf_id=shelf_id, isbn=new.isbn, title=new.title))))

    @allow("admin")
    def gone(self, page: Paging) -> Listing[str]:
        """The titles of deleted books."""
        return self.listed(self.design.gone(), page, lambda gone: gone.title)

    @allow("admin")
    def crash(self) -> None:
        """Crash."""
        raise ZeroDivisionError("SHELF#secret")

    @allow(SIGNED_IN, also="nothing that is ever decided")
    def forgetful(self) -> None:
        """Write without checking the caller's permission."""
        self.store.run(create(Shelf(name="forgotten", owner=self.me.sub)))

    def _shelf(self, shelf_id: str) -> Shelf:
        shelf = self.store.run(self.design.shelf(shelf_id))
        if shelf is None:
            raise Missing
        return shelf

    def _mine(self, shelf_id: str) -> Shelf:
        shelf = self._shelf(shelf_id)
        self.permit(shelf.owner == self.me.sub or "admin" in self.my_roles)
        return shelf


api = Api(Librarian)
api.get("/shelves", Librarian.shelves)
api.post("/shelves", Librarian.create_shelf)
api.get("/shelves/{shelf_id}", Librarian.shelf)
api.patch("/shelves/{shelf_id}", Librarian.rename_shelf)
api.delete("/shelves/{shelf_id}", Librarian.delete_shelf)
api.get("/shelves/{shelf_id}/books", Librarian.books)
api.post("/shelves/{shelf_id}/books", Librarian.add_book)
api.get("/gone", Librarian.gone)
api.post("/crash", Librarian.crash, once=False)
api.post("/forgetful", Librarian.forgetful, once=False, rate=5)


@on(Book, "REMOVE")
def note_deleted_book(change: ItemChange[Book], library: Running[Library]) -> None:
    """Note each deleted book once, even if its record arrives several times."""
    assert change.before is not None
    gone = Gone(book_id=change.before.book_id, title=change.before.title)
    if library.store.run(get(Gone, book_id=gone.book_id)) is None:
        library.store.run(create(gone))


SYSTEM = System(
    name="library",
    title="Library",
    summary="Shelves and books.",
    design=Library,
    api=api,
    handlers=(note_deleted_book,),
)
