"""Designs whose indexes lack items or have secrets, and designs whose indexes don't."""

from datetime import datetime
from typing import Annotated

from keyplan.design import Design, Entity, Id, Query, Secret, Table, include, index, key, pattern, query, stored
from tests.review.rules.cases import Cases

CASES = Cases()
news = Table("News", key("id"), indexes={"ByDate": key("status", "published_date"), "ByAuthor": key("author")})
users = Table("Users", key("id"), indexes={"ByTeam": key("team"), "ByName": index(key("name"), include("team"))})


class Article(Entity, table=news):
    id: Id
    status: Id
    author: Id | None = None
    published_date: datetime | None = None
    primary = key("{id}")
    by_date = news.ByDate("{status}", "{published_date}")
    by_author = news.ByAuthor("{author}")


class Draft(Entity, table=news):
    draft_id: Annotated[Id, stored("id")]
    status: Id | None = None
    primary = key("{draft_id}")


@CASES.finds("KP312", "Article.by_date")
def articles_that_need_not_have_a_date() -> type[Design]:
    class News(Design):
        tables = (news,)
        entities = (Article,)

        @pattern("List articles")
        def articles(self, status: str) -> Query[Article]:
            return query(Article.by_date, status=status)

        @pattern("List articles of an author")
        def of_author(self, author: str) -> Query[Article]:
            return query(Article.by_author, author=author)

    return News


@CASES.finds("KP312", "Draft.status")
def a_field_that_happens_to_be_an_index_key() -> type[Design]:
    class News(Design):
        tables = (news,)
        entities = (Draft,)

    return News


@CASES.finds_nothing("KP312")
def articles_that_are_all_in_the_list() -> type[Design]:
    class Dated(Entity, table=news):
        id: Id
        status: Id
        published_date: datetime | None = None
        primary = key("{id}")
        by_date = news.ByDate("{status}", "{published_date|9999}")

    class News(Design):
        tables = (news,)
        entities = (Dated,)

        @pattern("List articles")
        def articles(self, status: str) -> Query[Dated]:
            return query(Dated.by_date, status=status)

    return News


@CASES.finds("KP323", "Copied")
def drafts_that_are_in_the_lists_of_articles() -> type[Design]:
    class Copied(Entity, table=news):
        draft_id: Annotated[Id, stored("id")]
        status: Id
        date: Annotated[Id, stored("published_date")]
        primary = key("{draft_id}")

    class News(Design):
        tables = (news,)
        entities = (Copied,)

    return News


@CASES.finds_nothing("KP323")
def drafts_that_are_in_no_list_of_articles() -> type[Design]:
    class Copied(Entity, table=news):
        draft_id: Annotated[Id, stored("id")]
        status: Id
        date: Id
        primary = key("{draft_id}")

    class News(Design):
        tables = (news,)
        entities = (Copied,)

    return News


class User(Entity, table=users):
    id: Id
    team: Id
    name: Id
    password_hash: Secret[str]
    primary = key("{id}")
    by_team = users.ByTeam("{team}")
    by_name = users.ByName("{name}")


@CASES.finds("KP321", "User.by_team")
def password_hashes_in_an_index() -> type[Design]:
    class Users(Design):
        tables = (users,)
        entities = (User,)

    return Users


@CASES.finds_nothing("KP321")
def password_hashes_in_the_table_only() -> type[Design]:
    class Named(Entity, table=users):
        id: Id
        name: Id
        password_hash: Secret[str]
        primary = key("{id}")
        by_name = users.ByName("{name}")

    class Users(Design):
        tables = (users,)
        entities = (Named,)

    return Users
