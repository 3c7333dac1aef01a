"""Designs whose writes cost too much, and designs whose writes don't."""

from typing import Annotated, Literal

from pydantic import Field

from keyplan.design import (
    KEYS_ONLY,
    Count,
    Design,
    Entity,
    Id,
    Ref,
    Table,
    belongs_to,
    counts,
    derived,
    expect,
    index,
    key,
    mirror,
    ref,
)
from tests.review.rules.cases import Cases

CASES = Cases()
table = Table(
    "Matches",
    key("PK", "SK"),
    indexes={
        "GSI1": key("GSI1PK", "GSI1SK"),
        "GSI2": key("GSI2PK", "GSI2SK"),
        "Names": index(key("name", "PK"), KEYS_ONLY),
    },
)


class Player(Entity, table=table):
    player_id: Id
    name: Id
    matches: Count = 0
    primary = key("PLAYER#{player_id}", "PLAYER")
    by_name = table.GSI1("PLAYERS", "{name}")


class Listed(Entity, table=table):
    player_id: Id
    name: Id
    matches: Count = 0
    primary = key("LISTED#{player_id}", "PLAYER")
    by_name = table.Names("{name}")


class Played(Entity, table=table):
    player_id: Id
    match_id: Id
    primary = key("PLAYER#{player_id}", "MATCH#{match_id}")
    by_match = table.GSI1("MATCH#{match_id}", "{player_id}")


@CASES.finds("KP411", "Match")
def a_match_that_is_written_to_17_places() -> type[Design]:
    class Match(Entity, table=table):
        match_id: Id
        day: Id
        a: Id
        b: Id
        c: Id
        d: Id
        primary = key("MATCH#{match_id}", "MATCH")
        by_day = table.GSI1("DAY#{day}", "{match_id}")

        @derived
        def played(self) -> list[Played]:
            return [Played(player_id=each, match_id=self.match_id) for each in (self.a, self.b, self.c, self.d)]

        @belongs_to(on_delete="refuse", count="matches")
        def players(self) -> list[Ref[Player]]:
            return [ref(Player, player_id=each) for each in (self.a, self.b, self.c, self.d)]

    class Matches(Design):
        tables = (table,)
        entities = (Player, Played, Match)

    return Matches


@CASES.finds_nothing("KP411", "KP412", "KP418")
def a_match_that_is_written_to_6_places() -> type[Design]:
    class Match(Entity, table=table):
        match_id: Id
        day: Id
        a: Id
        b: Id
        primary = key("MATCH#{match_id}", "MATCH")
        by_day = table.GSI1("DAY#{day}", "{match_id}")

        @belongs_to(on_delete="refuse", count="matches")
        def players(self) -> list[Ref[Listed]]:
            return [ref(Listed, player_id=each) for each in (self.a, self.b)]

    class Matches(Design):
        tables = (table,)
        entities = (Listed, Match)

    return Matches


class Picture(Entity, table=table, expected=expect(size=390_000)):
    picture_id: Id
    data: bytes = b""
    primary = key("PICTURE#{picture_id}", "PICTURE")


@CASES.finds("KP412", "Album", "Book")
def albums_that_nearly_fill_a_transaction() -> type[Design]:
    class Shown(Entity, table=table):
        album_id: Id
        picture: Id
        primary = key("SHOWN#{picture}", "{album_id}")

    class Album(Entity, table=table):
        album_id: Id
        pictures: Annotated[list[Id], Field(max_length=45)] = Field(default_factory=list)
        primary = key("ALBUM#{album_id}", "ALBUM")

        @derived
        def shown(self) -> list[Shown]:
            return [Shown(album_id=self.album_id, picture=each) for each in self.pictures]

    class Page(Entity, table=table):
        book_id: Id
        page: int
        primary = key("PAGES#{book_id}", "{page:02}")

    class Book(Entity, table=table, expected=expect(size=390_000)):
        book_id: Id
        primary = key("BOOK#{book_id}", "BOOK")

        @mirror
        def page1(self) -> Page:
            return Page(book_id=self.book_id, page=1)

        @mirror
        def page2(self) -> Page:
            return Page(book_id=self.book_id, page=2)

        @mirror
        def page3(self) -> Page:
            return Page(book_id=self.book_id, page=3)

        @mirror
        def page4(self) -> Page:
            return Page(book_id=self.book_id, page=4)

        @mirror
        def page5(self) -> Page:
            return Page(book_id=self.book_id, page=5)

        @mirror
        def page6(self) -> Page:
            return Page(book_id=self.book_id, page=6)

        @mirror
        def page7(self) -> Page:
            return Page(book_id=self.book_id, page=7)

        @mirror
        def page8(self) -> Page:
            return Page(book_id=self.book_id, page=8)

    class Albums(Design):
        tables = (table,)
        entities = (Shown, Album, Page, Book)

    return Albums


@CASES.finds_nothing("KP412")
def albums_that_are_far_from_it() -> type[Design]:
    class Albums(Design):
        tables = (table,)
        entities = (Picture,)

    return Albums


class Totals(Entity, table=table):
    users: Count = 0
    admins: Count = 0
    primary = key("TOTALS", "TOTALS")


@CASES.finds("KP418", "User.counted")
def users_that_are_all_counted_on_one_item() -> type[Design]:
    class User(Entity, table=table):
        user_id: Id
        admin: bool = False
        team: Literal["red", "blue"] = "red"
        primary = key("USER#{user_id}", "USER")

        @counts("users")
        def counted(self) -> Ref[Totals]:
            return ref(Totals)

        @counts("admins", floor=1)
        def administers(self) -> Ref[Totals]:
            return ref(Totals).adding(int(self.admin))

    class Users(Design):
        tables = (table,)
        entities = (Totals, User)

    return Users


@CASES.finds_nothing("KP418")
def users_that_are_counted_by_team() -> type[Design]:
    class Team(Entity, table=table):
        team_id: Id
        users: Count = 0
        primary = key("TEAM#{team_id}", "TEAM")

    class User(Entity, table=table):
        user_id: Id
        team_id: Id
        primary = key("USER#{user_id}", "USER")

        @counts("users")
        def counted(self) -> Ref[Team]:
            return ref(Team, team_id=self.team_id)

    class Users(Design):
        tables = (table,)
        entities = (Team, User)

    return Users
