"""Counts how much of Keyplan four typical requests walk through: `python -m tools.walks` prints a Markdown table.

PutItem   boto3 sends an item to the endpoint over a socket; the table has a partition key and no index
get       `store.run(get(...))` reads an item by its key through the data layer, on the engine in the same process
update    `store.run(update(...))` changes an item that was read before, under a condition: the keys of an index, a
          guard, and the parent that counts the item; same process
POST      somebody who signed in with a password creates a post in WavyBlog; the ASGI application is called without a
          socket, and requests are not limited

What is counted: entries into Python functions whose code is in a file of the package `keyplan`, in all threads, as
`sys.setprofile` reports them (a generator counts each time it is resumed), and the files that they are in. Functions
that are made while the program runs (dataclasses, generated codecs) have no file and do not count; neither do other
libraries. A walk is repeated, so that everything that is made once is there; the figure is the median of the last runs.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from statistics import median_low
from types import FrameType
from typing import Any

import boto3
import httpx

import keyplan
from keyplan.data import Store, create, update
from keyplan.design import (
    Count,
    Created,
    Design,
    Entity,
    Id,
    Ref,
    Table,
    Updated,
    Version,
    belongs_to,
    created,
    get,
    key,
    ref,
    unique,
    updated,
)
from keyplan.engine import Engine
from keyplan.engine.wire import serve_in_thread
from keyplan.web.server import application
from tools.capture import started

_PACKAGE = str(Path(keyplan.__file__).parent)
_WARM, _MEASURED = 3, 5


@dataclass(frozen=True)
class Walk:
    """What one request walked through."""

    name: str
    calls: int
    modules: int


class Counting:
    """Counts entries into Keyplan's functions while it is on, in this thread and in those started later."""

    def __init__(self) -> None:
        self.files: list[str] = []
        self._on = False

    @contextmanager
    def installed(self) -> Iterator[None]:
        """Watch, within the block."""
        before = sys.getprofile(), threading.getprofile()
        threading.setprofile(self._entered)
        sys.setprofile(self._entered)
        try:
            yield
        finally:
            sys.setprofile(before[0])
            threading.setprofile(before[1])

    @contextmanager
    def on(self) -> Iterator[None]:
        """Count from nothing, within the block."""
        self.files, self._on = [], True
        try:
            yield
        finally:
            self._on = False

    def _entered(self, frame: FrameType, event: str, argument: object) -> None:
        if self._on and event == "call" and frame.f_code.co_filename.startswith(_PACKAGE):
            self.files.append(frame.f_code.co_filename)


def _walked(name: str, counting: Counting, act: Callable[[], object]) -> Walk:
    runs: list[tuple[int, int]] = []
    for _ in range(_WARM + _MEASURED):
        with counting.on():
            act()
        runs.append((len(counting.files), len(set(counting.files))))
    return Walk(name, *median_low(runs[_WARM:]))


# A design of its own: the keys of a book's index, its guard and its author can change.

library = Table("Library", key("PK", "SK"), case="camel", indexes={"GSI1": key("GSI1PK", "GSI1SK")})


class Author(Entity, table=library):
    """Counts books."""

    author_id: Id
    books: Count = 0

    primary = key("AUTHOR#{author_id}", "AUTHOR")


class Book(Entity, table=library):
    """Has an index, a guard and a parent."""

    book_id: Id
    isbn: str
    author_id: Id
    year: int
    created_at: Created = created()
    updated_at: Updated = updated()
    version: Version = 0

    primary = key("BOOK#{book_id}", "BOOK")
    by_author = library.GSI1("AUTHOR#{author_id}", "{year:04}#{book_id}")
    isbn_guard = unique("ISBN#{isbn.lower}", carries="book_id")

    @belongs_to(on_delete="refuse", count="books")
    def author(self) -> Ref[Author]:
        """Whose book it is."""
        return ref(Author, author_id=self.author_id)


class Library(Design):
    """Both."""

    tables = (library,)
    entities = (Author, Book)


def put_item(counting: Counting) -> Walk:
    """PutItem over the wire."""
    with Engine() as engine, serve_in_thread(engine.database) as url:
        engine.create_table(
            TableName="Notes",
            KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
            AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
            BillingMode="PAY_PER_REQUEST",
        )
        session = boto3.Session(aws_access_key_id="any", aws_secret_access_key="any", region_name="us-east-1")
        client = session.client("dynamodb", endpoint_url=url)
        item: Any = {"id": {"S": "1"}, "text": {"S": "Note G"}}
        try:
            return _walked("PutItem over the wire", counting, lambda: client.put_item(TableName="Notes", Item=item))
        finally:
            client.close()


@contextmanager
def _books() -> Iterator[Store[Library]]:
    with Engine() as engine:
        store = Store(Library(), engine, secret=b"of walks")
        store.create_tables()
        for author_id in ("ada", "bea"):
            store.run(create(Author(author_id=author_id)))
        store.run(create(Book(book_id="1", isbn="0-1", author_id="ada", year=1843)))
        yield store


def get_by_key(counting: Counting) -> Walk:
    """A get in the data layer."""
    with _books() as store:
        return _walked("get in the data layer", counting, lambda: store.run(get(Book, book_id="1")))


def update_with_guard(counting: Counting) -> Walk:
    """An update in the data layer that changes an index key and a guard."""
    with _books() as store:
        book = store.run(get(Book, book_id="1"))
        assert book is not None

        def change() -> None:
            book.author_id = "bea" if book.author_id == "ada" else "ada"
            book.year += 1
            book.isbn = f"0-{book.year}"
            store.run(update(book, where=lambda stored: stored.version == book.version))

        return _walked("update of an index key and a guard", counting, change)


def post_a_post(counting: Counting) -> Walk:
    """POST of a post in WavyBlog."""
    with Engine() as engine, tempfile.TemporaryDirectory() as folder, asyncio.Runner() as runner:
        system = started("wavyblog", engine, Path(folder), lambda: datetime.now(UTC))
        transport = httpx.ASGITransport(application([system], system.settings))
        client = httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8080/api/wavyblog")
        person = {"username": "ada", "email": "ada@example.org", "password": "correct horse"}
        signed_in = runner.run(client.post("/register", json=person)).json()
        headers = {"Authorization": f"Bearer {signed_in['access_token']}"}
        numbers = count()

        def post() -> None:
            body = {"title": f"Title {next(numbers)}", "content": "Some *text*."}
            answer = runner.run(client.post("/posts", json=body, headers=headers))
            assert answer.status_code == 201, answer.text

        walk = _walked("POST a post", counting, post)
        runner.run(client.aclose())
        return walk


def walks() -> list[Walk]:
    """All four."""
    counting = Counting()
    with counting.installed():
        return [make(counting) for make in (put_item, get_by_key, update_with_guard, post_a_post)]


if __name__ == "__main__":
    print("| walk | calls | modules |\n| --- | ---: | ---: |")
    for each in walks():
        print(f"| {each.name} | {each.calls:,} | {each.modules} |")
