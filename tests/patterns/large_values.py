# pyright: strict
"""# Large values

A text of a megabyte, where an item holds 400 KB. It is compressed and cut into parts, which are items of the same
partition, written in one transaction. Lists read the head only.

Use it for documents, transcripts, rendered pages, JSON from other systems, up to about 4 MB compressed.

**Not for** pictures and videos, or anything larger: put the file into S3 and its name into the item.
"""

import zlib

from keyplan.data import Store, create
from keyplan.design import Design, Entity, Get, Id, Query, Ref, Table, belongs_to, get, key, pattern, query, ref

docs = Table("Documents", key("PK", "SK"), indexes={"ByOwner": key("owner_key", "title_key")})

PART = 300_000


class Document(Entity, table=docs):
    document_id: Id
    owner: Id
    title: str

    primary = key("DOCUMENT#{document_id}", "HEAD")
    by_owner = docs.ByOwner("OWNER#{owner}", "{title}")


class Part(Entity, table=docs):
    document_id: Id
    number: int
    content: bytes

    primary = key("DOCUMENT#{document_id}", "PART#{number:03}")

    @belongs_to(on_delete="cascade")
    def document(self) -> Ref[Document]:
        return ref(Document, document_id=self.document_id)


class Documents(Design):
    tables = (docs,)
    entities = (Document, Part)

    @pattern("Get the head of a document")
    def head(self, document_id: str) -> Get[Document]:
        return get(Document, document_id=document_id)

    @pattern("List the parts of a document")
    def parts(self, document_id: str) -> Query[Part]:
        return query(Part.primary, document_id=document_id, consistent=True)

    @pattern("List documents of an owner by title")
    def documents_of(self, owner: str) -> Query[Document]:
        return query(Document.by_owner, owner=owner)


def save(store: Store[Documents], document: Document, text: str) -> None:
    """Create the document and the parts of its text."""
    packed = zlib.compress(text.encode())
    cut = [packed[start : start + PART] for start in range(0, len(packed), PART)]
    parts = [Part(document_id=document.document_id, number=n, content=each) for n, each in enumerate(cut)]
    store.transact(create(document), *map(create, parts))


def text_of(store: Store[Documents], document_id: str) -> str:
    parts = store.each(store.design.parts(document_id))
    return zlib.decompress(b"".join(part.content for part in parts)).decode()


def use(store: Store[Documents]) -> None:
    """Deleting the document deletes its parts."""
    text = "".join(f"{n * n} " for n in range(90_000))
    save(store, Document(document_id="d1", owner="ada", title="Squares"), text)
    assert [each.title for each in store.run(store.design.documents_of("ada")).items] == ["Squares"]
    assert text_of(store, "d1") == text
