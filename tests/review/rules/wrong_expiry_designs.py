"""Designs whose items don't expire or leave something behind, and designs whose items do."""

from typing import Annotated

from keyplan.design import (
    Count,
    Design,
    Entity,
    Id,
    Ref,
    Table,
    Ttl,
    belongs_to,
    counts,
    key,
    mirror,
    ref,
    stored,
    unique,
)
from tests.review.rules.cases import Cases

CASES = Cases()
sessions = Table("Sessions", key("PK", "SK"), ttl="expires")
streamed = Table("Streamed", key("PK", "SK"), ttl="expires", stream="NEW_AND_OLD_IMAGES")


@CASES.finds("KP313", "Sessions")
def sessions_that_never_expire() -> type[Design]:
    class Session(Entity, table=sessions):
        token: Id
        expires_in: int
        primary = key("SESSION#{token}", "SESSION")

    class Sessions(Design):
        tables = (sessions,)
        entities = (Session,)

    return Sessions


@CASES.finds_nothing("KP313", "KP314")
def sessions_that_expire() -> type[Design]:
    class Session(Entity, table=sessions):
        token: Id
        user: Id
        until: Annotated[Ttl, stored("expires")]
        primary = key("SESSION#{token}", "SESSION")
        one_each = unique("USER#{user}", carries="until")
        named = unique("NAMED#{user}", carries="token")

    class Sessions(Design):
        tables = (sessions,)
        entities = (Session,)

    return Sessions


@CASES.finds("KP314", "Loan", "Visit")
def loans_that_leave_something_behind() -> type[Design]:
    class Reader(Entity, table=sessions):
        name: Id
        loans: Count = 0
        visits: Count = 0
        primary = key("READER#{name}", "READER")

    class Shelf(Entity, table=sessions):
        shelf: Id
        book: Id
        primary = key("SHELF#{shelf}", "LOAN#{book}")

    class Loan(Entity, table=sessions):
        book: Id
        reader: Id
        expires: Ttl
        primary = key("LOAN#{book}", "LOAN")
        reader_guard = unique("ONE#{reader}")

        @mirror
        def on_shelf(self) -> Shelf:
            return Shelf(shelf="1", book=self.book)

        @counts("loans")
        def counted(self) -> Ref[Reader]:
            return ref(Reader, name=self.reader)

    class Visit(Entity, table=sessions):
        visit: Id
        reader: Id
        expires: Ttl
        primary = key("VISIT#{visit}", "VISIT")

        @belongs_to(on_delete="refuse", count="visits")
        def of(self) -> Ref[Reader]:
            return ref(Reader, name=self.reader)

    class Library(Design):
        tables = (sessions,)
        entities = (Reader, Shelf, Loan, Visit)

    return Library


@CASES.finds_nothing("KP313", "KP314")
def loans_that_a_reader_of_the_stream_cleans_up() -> type[Design]:
    class Loan(Entity, table=streamed):
        book: Id
        reader: Id
        expires: Ttl
        primary = key("LOAN#{book}", "LOAN")
        reader_guard = unique("ONE#{reader}")

    class Library(Design):
        tables = (streamed,)
        entities = (Loan,)

    return Library
