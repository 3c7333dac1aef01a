"""Designs whose sort keys don't sort as their values do, and designs whose sort keys do."""

from datetime import date, datetime
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from keyplan.design import Created, Design, Entity, Id, Query, Table, created, key, new_id, pattern, query, unique
from tests.review.rules.cases import Cases

CASES = Cases()
table = Table("Things", key("PK", "SK"), indexes={"GSI1": key("GSI1PK", "GSI1SK")})
by_second = Table("Seconds", key("PK", "SK"), indexes={"GSI1": key("GSI1PK", "GSI1SK")}, times="seconds")


@CASES.finds("KP305", "Team.by_name", "Team.email_guard")
def names_in_capital_and_small_letters() -> type[Design]:
    class Team(Entity, table=table):
        team_id: Id
        name: str
        email: str
        primary = key("TEAM#{team_id}", "TEAM")
        by_name = table.GSI1("TEAMS", "{name}#{team_id}")
        email_guard = unique("EMAIL#{email}")

    class Teams(Design):
        tables = (table,)
        entities = (Team,)

        @pattern("Teams by name")
        def teams(self) -> Query[Team]:
            return query(Team.by_name)

    return Teams


@CASES.finds("KP305", "Tagged.by_tag")
def tags_that_are_looked_up_as_they_are() -> type[Design]:
    class Tagged(Entity, table=table):
        thing_id: Id
        tag: str
        primary = key("THING#{thing_id}", "TAG#{tag}")
        by_tag = table.GSI1("{tag}", "{thing_id}")

    class Tags(Design):
        tables = (table,)
        entities = (Tagged,)

        @pattern("Things with a tag")
        def things(self, tag: str) -> Query[Tagged]:
            return query(Tagged.by_tag, tag=tag)

    return Tags


@CASES.finds_nothing("KP305")
def names_in_one_case() -> type[Design]:
    class Team(Entity, table=table):
        team_id: Id
        name: str
        email: str
        slug: Annotated[str, StringConstraints(pattern="^[a-z-]+$")]
        code: Annotated[str, StringConstraints(to_lower=True)]
        primary = key("TEAM#{team_id}", "TEAM")
        by_name = table.GSI1("TEAMS#{code}", "{name.lower}#{team_id}")
        email_guard = unique("EMAIL#{email.address}")
        slug_guard = unique("SLUG#{slug}")

    class Teams(Design):
        tables = (table,)
        entities = (Team,)

        @pattern("Teams with a code, by name")
        def teams(self, code: str) -> Query[Team]:
            return query(Team.by_name, code=code)

    return Teams


@CASES.finds("KP306", "Event.by_day")
def a_time_that_is_any_text() -> type[Design]:
    class Event(Entity, table=table):
        event_id: Id
        starts_at: str
        primary = key("EVENT#{event_id}", "EVENT")
        by_day = table.GSI1("EVENTS", "{starts_at}#{event_id}")

    class Events(Design):
        tables = (table,)
        entities = (Event,)

    return Events


@CASES.finds_nothing("KP306")
def a_time_of_one_form() -> type[Design]:
    class Event(Entity, table=table):
        event_id: Id
        starts_at: datetime
        opens_at: Annotated[str, StringConstraints(pattern=r"^[0-2][0-9]:[0-5][0-9]$")]
        format: str
        primary = key("EVENT#{event_id}", "{format}")
        by_day = table.GSI1("EVENTS", "{starts_at}#{opens_at}#{event_id}")

    class Events(Design):
        tables = (table,)
        entities = (Event,)

    return Events


@CASES.finds("KP307", "Score.primary")
def levels_as_texts_of_different_widths() -> type[Design]:
    class Score(Entity, table=table):
        user_id: Id
        level: Literal["1", "2", "10"]
        primary = key("USER#{user_id}", "LEVEL#{level}")

    class Scores(Design):
        tables = (table,)
        entities = (Score,)

    return Scores


@CASES.finds_nothing("KP307")
def levels_of_one_width() -> type[Design]:
    class Score(Entity, table=table):
        user_id: Id
        level: Literal["01", "02", "10"]
        size: Literal["small", "large"]
        third: Literal[1, 2, 3]
        primary = key("USER#{user_id}", "LEVEL#{level}#{size}#{third}")

    class Scores(Design):
        tables = (table,)
        entities = (Score,)

    return Scores


@CASES.finds("KP308", "Order.primary", "Balance.primary")
def numbers_that_do_not_fit() -> type[Design]:
    class Order(Entity, table=table):
        number: Annotated[int, Field(ge=1, le=99_999)]
        primary = key("ORDER#{number:04}", "ORDER")

    class Balance(Entity, table=table):
        user_id: Id
        cents: Annotated[int, Field(gt=-100, lt=100)]
        primary = key("USER#{user_id}", "{cents:04}")

    class Orders(Design):
        tables = (table,)
        entities = (Order, Balance)

    return Orders


@CASES.finds_nothing("KP308")
def numbers_that_fit() -> type[Design]:
    class Order(Entity, table=table):
        number: Annotated[int, Field(ge=1, lt=100_000)]
        line: int
        primary = key("ORDER#{number:05}", "{line:03}")

    class Balance(Entity, table=table):
        user_id: Id
        cents: Annotated[int, Field(gt=-100, lt=100)]
        primary = key("USER#{user_id}", "{cents:+04}")

    class Orders(Design):
        tables = (table,)
        entities = (Order, Balance)

    return Orders


@CASES.finds("KP309", "Blog.latest")
def the_newest_by_slug() -> type[Design]:
    class Post(Entity, table=table):
        slug: Id
        created_at: Created = created()
        primary = key("POST#{slug}", "POST")
        all = table.GSI1("POSTS", "POST#{slug}")

    class Blog(Design):
        tables = (table,)
        entities = (Post,)

        @pattern("Latest posts")
        def latest(self) -> Query[Post]:
            return query(Post.all, newest_first=True)

    return Blog


@CASES.finds_nothing("KP309", "KP310")
def the_newest_by_time_or_id_or_number() -> type[Design]:
    class Post(Entity, table=table):
        post_id: Id = new_id()
        created_at: Created = created()
        primary = key("POST#{post_id}", "POST")
        all = table.GSI1("POSTS", "POST#{created_at}#{post_id}")

    class Comment(Entity, table=table):
        post_id: Id
        number: int
        primary = key("POST#{post_id}", "COMMENT#{number:06}")
        by_post = table.GSI1("COMMENTS", "{post_id}#{number:06}")

    class Blog(Design):
        tables = (table,)
        entities = (Post, Comment)

        @pattern("Latest posts")
        def latest(self) -> Query[Post]:
            return query(Post.all, newest_first=True)

        @pattern("Latest comments of a post")
        def comments(self, post_id: str) -> Query[Comment]:
            return query(Comment.primary, post_id=post_id, newest_first=True)

        @pattern("Comments on the latest posts")
        def all_comments(self) -> Query[Comment]:
            return query(Comment.by_post, newest_first=True)

    return Blog


@CASES.finds("KP310", "Sale.by_shop", "Visit.by_shop")
def sales_of_the_same_second() -> type[Design]:
    class Sale(Entity, table=by_second):
        sale_id: Id
        shop: Id
        at: datetime
        primary = key("SALE#{sale_id}", "SALE")
        by_shop = by_second.GSI1("SHOP#{shop}", "SALE#{at}")

    class Visit(Entity, table=by_second):
        visit_id: Id
        shop: Id
        day: date
        primary = key("VISIT#{visit_id}", "VISIT")
        by_shop = by_second.GSI1("SHOP#{shop}", "VISIT#{day}")

    class Shops(Design):
        tables = (by_second,)
        entities = (Sale, Visit)

        @pattern("Sales of a shop, newest first")
        def sales(self, shop: str) -> Query[Sale]:
            return query(Sale.by_shop, shop=shop, newest_first=True)

        @pattern("Visits of a shop")
        def visits(self, shop: str) -> Query[Visit]:
            return query(Visit.by_shop, shop=shop)

    return Shops


@CASES.finds_nothing("KP310")
def orders_without_ties() -> type[Design]:
    class Sale(Entity, table=table):
        sale_id: Id
        shop: Id
        receipt: Id
        at: datetime
        primary = key("SALE#{sale_id}", "SALE")
        by_shop = table.GSI1("SHOP#{shop}", "SALE#{at}#{receipt}")
        receipt_guard = unique("RECEIPT#{receipt}")

    class Shops(Design):
        tables = (table,)
        entities = (Sale,)

        @pattern("Sales of a shop, newest first")
        def sales(self, shop: str) -> Query[Sale]:
            return query(Sale.by_shop, shop=shop, newest_first=True)

    return Shops
