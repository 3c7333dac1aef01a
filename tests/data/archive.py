"""A design with large values: in parts, in object storage, optional, with a time to live and with a version."""

import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

from pydantic import StringConstraints

from keyplan.data import FolderStorage, Store
from keyplan.design import (
    Created,
    Design,
    Entity,
    Get,
    Id,
    Query,
    Ref,
    Rewrite,
    Table,
    Ttl,
    Version,
    belongs_to,
    collection,
    created,
    get,
    job,
    key,
    large,
    pattern,
    query,
    ref,
    rewrite,
    unique,
)
from keyplan.engine import Engine
from tests.data.support import Clock, Recorder

archive = Table("Archive", key("PK", "SK"), indexes={"GSI1": key("GSI1PK", "GSI1SK")}, ttl="expires")


class Folder(Entity, table=archive):
    folder: Id
    about: Annotated[str, large()] = ""

    primary = key("FOLDER#{folder}", "FOLDER")


class Page(Entity, table=archive):
    folder: Id
    page: Id
    title: Id = "t"
    body: Annotated[str, StringConstraints(max_length=30_000_000), large(inline=4_096)]
    scan: Annotated[bytes | None, large()] = None
    expires: Ttl | None = None
    created_at: Created = created()
    version: Version = 0

    primary = key("FOLDER#{folder}", "PAGE#{page}")
    by_title = archive.GSI1("TITLES", "{title}#{page}")
    title_guard = unique("TITLE#{title}#{page}")

    @belongs_to(on_delete="cascade")
    def inside(self) -> Ref[Folder]:
        return ref(Folder, folder=self.folder)


class Film(Entity, table=archive):
    film: Id
    note: str = ""
    reel: Annotated[bytes, large(inline=2_048, kept_in="objects")]

    primary = key("FILM#{film}", "FILM")


class Archive(Design):
    tables, entities = (archive,), (Folder, Page, Film)

    @pattern("Get page")
    def page(self, folder: str, page: str) -> Get[Page]:
        return get(Page, folder=folder, page=page)

    @pattern("List pages of a folder")
    def pages(self, folder: str) -> Query[Page]:
        return query(Page.primary, folder=folder)

    @pattern("List pages by title")
    def titled(self, title: str) -> Query[Page]:
        return query(Page.by_title, title=title)

    @pattern("Folder with its pages")
    def whole(self, folder: str) -> Query[Folder | Page]:
        return collection(Folder, Page, folder=folder)

    @job
    def rename(self, folder: str, old: str, new: str) -> Rewrite[Page]:
        return rewrite(self.titled(old), lambda page: setattr(page, "title", new))


def text(size: int, seed: int = 1) -> str:
    """A text of this many characters that zlib makes about a fifth smaller."""
    letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789äöü€ ."
    return "".join(random.Random(seed).choices(letters, k=size))


def noise(size: int, seed: int = 1) -> bytes:
    """Bytes that can't be compressed."""
    return random.Random(seed).randbytes(size)


@contextmanager
def archive_store(folder: Path, client: object | None = None) -> Iterator[tuple[Store[Archive], Recorder]]:
    """A store on a new engine, with objects in a folder, and the recorder of its calls."""
    with Engine() as engine:
        recorder = Recorder(client or engine)
        store = Store(Archive(), recorder, clock=Clock(), secret=b"of the tests", objects=FolderStorage(folder))
        store.create_tables()
        recorder.taken()
        yield store, recorder
