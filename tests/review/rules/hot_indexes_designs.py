"""Designs whose indexes cost more than they give, and designs whose indexes don't."""

from keyplan.design import (
    KEYS_ONLY,
    Design,
    Entity,
    Follow,
    Id,
    ItemCount,
    ListOp,
    Query,
    Rewrite,
    Table,
    count,
    follow,
    include,
    index,
    job,
    key,
    pattern,
    query,
    ref,
    rewrite,
)
from tests.review.rules.cases import Cases

CASES = Cases()
notes = Table(
    "Notes",
    key("PK", "SK"),
    indexes={
        "ByTag": key("tag", "PK"),
        "ByAuthor": index(key("author", "PK"), include("title", "Text")),
        "ByTitle": index(key("title", "PK"), KEYS_ONLY),
    },
)


class Note(Entity, table=notes):
    note_id: Id
    author: Id
    tag: Id
    title: Id
    text: str
    primary = key("NOTE#{note_id}", "NOTE")
    by_author = notes.ByAuthor("{author}")
    by_tag = notes.ByTag("{tag}")
    by_title = notes.ByTitle("{title}")


class Marked(Entity, table=notes):
    note_id: Id
    tag: Id
    color: Id
    primary = key("MARK#{note_id}", "TAG#{tag}")
    by_tag = notes.ByTag("{tag}")


@CASES.finds("KP413", "Note.by_tag")
@CASES.finds("KP414", "Notes.ByAuthor")
@CASES.finds("KP415", "Marked.by_tag")
def indexes_with_more_than_is_read() -> type[Design]:
    class Notes(Design):
        tables = (notes,)
        entities = (Note, Marked)

        @pattern("Titles of the notes with a tag")
        def titles(self, tag: str) -> ListOp[str]:
            return query(Note.by_tag, tag=tag).only(lambda note: note.title)

        @pattern("Number of notes with a tag")
        def number(self, tag: str) -> ItemCount:
            return count(query(Note.by_tag, tag=tag))

        @pattern("Notes by title")
        def by_title(self, title: str) -> Follow[Note]:
            return follow(query(Note.by_title, title=title), lambda note: ref(Note, note_id=note.note_id), Note)

        @pattern("Notes of an author")
        def by_author(self, author: str) -> Query[Note]:
            return query(Note.by_author, author=author)

    return Notes


@CASES.finds_nothing("KP413", "KP414", "KP415")
def indexes_with_what_is_read() -> type[Design]:
    class Text(Entity, table=notes):
        note_id: Id
        author: Id
        tag: Id
        title: Id
        primary = key("NOTE#{note_id}", "NOTE")
        by_tag = notes.ByTag("{tag}")
        by_title = notes.ByTitle("{title}")

    class Notes(Design):
        tables = (notes,)
        entities = (Text, Marked)

        @pattern("Notes with a tag")
        def tagged(self, tag: str) -> Query[Text]:
            return query(Text.by_tag, tag=tag)

        @pattern("Marks with a tag")
        def marked(self, tag: str) -> Query[Marked]:
            return query(Marked.by_tag, tag=tag)

        @pattern("Notes by title")
        def by_title(self, title: str) -> Follow[Text]:
            return follow(query(Text.by_title, title=title), lambda note: ref(Text, note_id=note.note_id), Text)

    return Notes


class Word(Entity, table=notes):
    note_id: Id
    tag: Id
    title: Id
    primary = key("NOTE#{note_id}", "NOTE")
    by_tag = notes.ByTag("{tag}")
    by_title = notes.ByTitle("{title}")


@CASES.finds_nothing("KP413", "KP415")
def an_index_that_a_job_reads() -> type[Design]:
    class Notes(Design):
        tables = (notes,)
        entities = (Word, Marked)

        @pattern("Marks with a tag")
        def marked(self, tag: str) -> Query[Marked]:
            return query(Marked.by_tag, tag=tag)

        @job
        def rename_tag(self, tag: str, to: str) -> Rewrite[Word]:
            return rewrite(query(Word.by_tag, tag=tag), lambda word: setattr(word, "tag", to))

    return Notes


@CASES.finds_nothing("KP401", "KP415")
def an_index_that_a_job_may_read() -> type[Design]:
    class Notes(Design):
        tables = (notes,)
        entities = (Word,)

        @job
        def rename(self, number: int) -> Rewrite[Word]:
            return rewrite(query(Word.by_tag, tag="abc"[number]), lambda word: setattr(word, "tag", "d"))

    return Notes
