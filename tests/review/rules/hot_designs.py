"""Designs that run hot or cost too much, and designs that don't."""

from keyplan.design import Design, Entity, Id, Query, Table, key, pattern, query
from tests.review.rules.cases import Cases

CASES = Cases()
notes = Table("Notes", key("PK", "SK"), indexes={"GSI1": key("GSI1PK"), "GSI2": key("GSI2PK")})


class Note(Entity, table=notes):
    note_id: Id
    author: Id
    tag: Id

    primary = key("NOTE#{note_id}", "NOTE")
    by_author = notes.GSI1("{author}")
    by_tag = notes.GSI2("{tag}")


@CASES.finds("KP401", "Notes.GSI2")
def an_index_that_nobody_reads() -> type[Design]:
    class Notes(Design):
        tables = (notes,)
        entities = (Note,)

        @pattern("Notes of an author")
        def by_author(self, author: str) -> Query[Note]:
            return query(Note.by_author, author=author)

    return Notes


@CASES.finds_nothing("KP401")
def indexes_that_are_read() -> type[Design]:
    class Notes(Design):
        tables = (notes,)
        entities = (Note,)

        @pattern("Notes of an author")
        def by_author(self, author: str) -> Query[Note]:
            return query(Note.by_author, author=author)

        @pattern("Notes with a tag")
        def by_tag(self, tag: str) -> Query[Note]:
            return query(Note.by_tag, tag=tag)

    return Notes
