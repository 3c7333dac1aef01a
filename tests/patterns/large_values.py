# pyright: strict
"""# Large values

A text of a megabyte, where an item holds 400 KB. It is compressed and split over items of the same partition, which are
written in one transaction. Lists read items only; `get` reads the whole text.

Use it for documents, transcripts, rendered pages, JSON from other systems, up to 3.6 MB compressed.

**Not for** pictures and videos, or anything larger: `large(kept_in="objects")` puts them into object storage.
"""

from typing import Annotated

import pytest

from keyplan.data import Store, create, update
from keyplan.design import Design, Entity, Get, Id, NotLoaded, Query, Table, get, key, large, pattern, query

docs = Table("Documents", key("PK", "SK"), indexes={"ByOwner": key("owner_key", "title_key")})


class Document(Entity, table=docs):
    document_id: Id
    owner: Id
    title: str
    text: Annotated[str, large()]

    primary = key("DOCUMENT#{document_id}", "HEAD")
    by_owner = docs.ByOwner("OWNER#{owner}", "{title}")


class Documents(Design):
    tables = (docs,)
    entities = (Document,)

    @pattern("Get document with its text")
    def document(self, document_id: str) -> Get[Document]:
        return get(Document, document_id=document_id)

    @pattern("List documents of an owner by title")
    def documents_of(self, owner: str) -> Query[Document]:
        return query(Document.by_owner, owner=owner)


def use(store: Store[Documents]) -> None:
    """A list shows the titles and can change them. The text stays where it is."""
    text = "".join(f"{n * n} " for n in range(30_000))
    store.run(create(Document(document_id="d1", owner="ada", title="Squares", text=text)))
    (listed,) = store.run(store.design.documents_of("ada")).items
    with pytest.raises(NotLoaded, match="Read it with get"):
        print(listed.text)
    listed.title = "Square numbers"
    store.run(update(listed))
    found = store.run(store.design.document("d1"))
    assert found is not None
    assert (found.title, found.text) == ("Square numbers", text)
