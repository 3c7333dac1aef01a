"""Pages of the example system: a list, a form, a form below a list, and pages that fail."""

from dataclasses import replace

from starlette.responses import Response

from keyplan.web import Confirm, OfVersion, Pages, Paging, Person, System, View
from tests.web.library import SYSTEM, Librarian, Library, NewBook, NewShelf, ShelfId

PEOPLE = (
    Person("alice", "Alice Archer", about="has shelves", claims={"email": "alice@example.org"}),
    Person("root", "Rita Root", ("admin",), "runs the library"),
)
pages = Pages("tests.web", title="The Library", people=PEOPLE)

LibraryView = View[Librarian]


@pages.get("/")
def shelves(view: LibraryView, page: Paging) -> Response:
    return view.render("shelves.html", shelves=view.service.shelves(page), limit=page.limit)


@pages.get("/shelves/new")
def new_shelf(view: LibraryView) -> Response:
    _ = view.service.me
    return view.render("new_shelf.html")


@pages.post("/shelves/new")
def put_up(view: LibraryView, new: NewShelf) -> Response:
    made = view.service.create_shelf(new)
    return view.redirect("/shelves/{shelf_id}", shelf_id=made.shelf_id, notice=f"“{made.name}” is up.")


@pages.get("/shelves/{shelf_id}")
def shelf(view: LibraryView, shelf_id: ShelfId) -> Response:
    found = view.service.shelf(shelf_id)
    view.form.starting_from({"pages": 100})
    return view.render("shelf.html", shelf=found, books=view.service.books(shelf_id, Paging()))


@pages.post("/shelves/{shelf_id}/books", again=shelf)
def add_book(view: LibraryView, shelf_id: ShelfId, new: NewBook) -> Response:
    view.service.add_book(shelf_id, new, None)
    return view.redirect("/shelves/{shelf_id}", shelf_id=shelf_id, notice="The book is there.")


@pages.post("/shelves/{shelf_id}/delete", confirm=Confirm("Take down “{name}”?", "Take it down", about=Librarian.shelf))
def delete_shelf(view: LibraryView, shelf_id: ShelfId, which: OfVersion) -> Response:
    view.service.delete_shelf(shelf_id, which.seen)
    return view.redirect("/", notice="It is gone.")


@pages.get("/gone")
def gone(view: LibraryView) -> Response:
    view.service.gone(Paging())
    return view.redirect("/")


@pages.get("/crash")
def crash(view: LibraryView) -> Response:
    raise ZeroDivisionError("SHELF#secret")


WITH_PAGES: System[Library] = replace(SYSTEM, pages=pages)
