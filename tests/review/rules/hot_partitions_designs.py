"""Designs that put too much into one partition, and designs that don't."""

from datetime import date, datetime
from typing import Annotated, Literal

from pydantic import Field

from keyplan.design import Created, Design, Entity, Id, Query, Table, created, expect, key, new_id, pattern, query
from keyplan.review import Reviewed
from tests.review.rules.cases import Cases

CASES = Cases()
table = Table("Things", key("PK", "SK"), indexes={"GSI1": key("GSI1PK", "GSI1SK"), "Stars": key("stars:N", "SK")})


def of(*kinds: type[Entity]) -> type[Design]:
    class Things(Design):
        tables = (table,)
        entities = kinds

    return Things


@CASES.finds("KP402", "User.all")
def a_list_of_everything() -> type[Design]:
    class User(Entity, table=table):
        user_id: Id
        primary = key("USER#{user_id}", "USER")
        all = table.GSI1("USERS", "{user_id}")

    class Settings(Entity, table=table):
        theme: Id = "dark"
        primary = key("SETTINGS", "SETTINGS")

    return of(User, Settings)


@CASES.finds_nothing("KP402", "KP403", "KP404", "KP405")
def a_list_of_a_few_thousand() -> type[Design]:
    class User(Entity, table=table, expected=expect(items=5_000, growth=100)):
        user_id: Id
        primary = key("USER#{user_id}", "USER")
        all = table.GSI1("USERS", "{user_id}")

    class Post(Entity, table=table, expected=expect(items=2_000)):
        post_id: Id = new_id()
        status: Literal["draft", "published"] = "draft"
        created_at: Created = created()
        primary = key("POST#{post_id}", "POST")
        all = table.GSI1("STATUS#{status}", "{created_at}#{post_id}")

    class Visit(Entity, table=table, expected=expect(growth=30_000)):
        visit_id: Id
        day: date
        primary = key("VISIT#{visit_id}", "VISIT")
        by_day = table.GSI1("DAY#{day}", "{visit_id}")

    return of(User, Post, Visit)


@CASES.finds_nothing("KP402", "KP403", "KP404", "KP405")
def lists_that_are_spread() -> type[Design]:
    class User(Entity, table=table, expected=expect(items=5_000_000)):
        user_id: Id
        country: Id
        primary = key("USER#{user_id}", "USER")
        all = table.GSI1("COUNTRY#{country}", "{user_id}")

    class Reading(Entity, table=table, expected=expect(items=500_000_000, growth=500_000_000)):
        device: Id
        at: datetime
        primary = key("DEVICE#{device}#{at:%Y-%m-%d}", "{at}")
        everywhere = table.GSI1("{at:%Y-%m-%d}#{shard(device, 16)}", "{at}#{device}")

    return of(User, Reading)


@CASES.finds("KP403", "Order.by_status", "Rating.by_stars", "Flag.primary")
def statuses_and_stars() -> type[Design]:
    class Order(Entity, table=table, expected=expect(items=1_000_000)):
        order_id: Id
        status: Literal["placed", "paid", "shipped"] = "placed"
        primary = key("ORDER#{order_id}", "ORDER")
        by_status = table.GSI1("STATUS#{status}", "{order_id}")

    class Rating(Entity, table=table):
        site: Id
        user: Id
        stars: Annotated[int, Field(ge=1, le=5)]
        primary = key("SITE#{site}", "RATING#{user}")
        by_stars = table.Stars("{stars}")

    class Flag(Entity, table=table):
        on: bool
        name: Id
        primary = key("FLAG#{theme}", "{name}")
        theme: Literal["light", "dark"] = "light"

    return of(Order, Rating, Flag)


@CASES.finds("KP404", "Post.published", "Event.by_kind")
def posts_that_all_come_to_the_same_end() -> type[Design]:
    class Post(Entity, table=table):
        post_id: Id = new_id()
        is_published: bool = False
        created_at: Created = created()
        primary = key("POST#{post_id}", "POST")
        published = table.GSI1("PUBLISHED", "{created_at}#{post_id}", when="is_published")

    class Event(Entity, table=table):
        event_id: Id = new_id()
        kind: Literal["login", "logout"]
        primary = key("EVENT#{event_id}", "EVENT")
        by_kind = table.GSI1("KIND#{kind}", "{event_id}")

    return of(Post, Event)


@CASES.finds("KP405", "Event.primary", "Match.by_day")
def a_partition_for_each_day() -> type[Design]:
    class Event(Entity, table=table, expected=expect(growth=200_000_000)):
        event_id: Id
        at: datetime
        primary = key("EVENTS#{at:%Y-%m-%d}", "{at}#{event_id}")

    class Match(Entity, table=table):
        match_id: Id
        day: date
        primary = key("MATCH#{match_id}", "MATCH")
        by_day = table.GSI1("{day}", "{match_id}")

    return of(Event, Match)


class Listed(Entity, table=table):
    user_id: Id
    primary = key("USER#{user_id}", "USER")
    all = table.GSI1("USERS", "{user_id}")


class Booked(Entity, table=table):
    day: date
    visit_id: Id
    primary = key("{day}", "{visit_id}")


@CASES.finds_nothing("KP404")
def many_items_of_which_few_are_new() -> type[Design]:
    class Note(Entity, table=table, expected=expect(items=3_000_000, growth=50_000)):
        note_id: Id = new_id()
        primary = key("NOTE#{note_id}", "NOTE")
        latest = table.GSI1("NOTES", "{note_id}")

    return of(Note)


class Ticket(Entity, table=table):
    ticket_id: Id
    status: Literal["open", "waiting", "solved", "closed"]
    primary = key("TICKET#{ticket_id}", "TICKET")
    by_status = table.GSI1("TICKETS#{status}", "{ticket_id}")


class Tickets(Design):
    tables, entities = (table,), (Ticket,)

    @pattern("Open tickets")
    def open(self) -> Query[Ticket]:
        return query(Ticket.by_status, status="open")

    @pattern("Tickets in a state")
    def in_state(self, status: Literal["open", "waiting", "solved", "closed"]) -> Query[Ticket]:
        return query(Ticket.by_status, status=status)


@CASES.finds("KP403", "Ticket.by_status")
def reads_of_one_of_four_partitions() -> Reviewed:
    return Reviewed(Tickets, rates={"open": 700})


@CASES.finds_nothing("KP403")
def as_many_reads_of_all_four_partitions() -> Reviewed:
    return Reviewed(Tickets, rates={"in_state": 700})


class Users(Design):
    tables = (table,)
    entities = (Listed, Booked)

    @pattern("All users")
    def users(self) -> Query[Listed]:
        return query(Listed.all)


@CASES.finds("KP402", "Listed.all")
@CASES.finds("KP405", "Booked.primary")
def traffic_that_is_too_much_for_a_partition() -> Reviewed:
    return Reviewed(Users, rates={"Listed.create": 20, "users": 700, "Booked.create": 1_500})


@CASES.finds_nothing("KP402", "KP405")
def traffic_that_is_far_below_the_limits() -> Reviewed:
    return Reviewed(Users, rates={"Listed.create": 20, "users": 50})
