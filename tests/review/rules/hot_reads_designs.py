"""Designs whose reads cost too much, and designs whose reads don't."""

from keyplan.design import (
    KEYS_ONLY,
    Aggregate,
    Aggregated,
    Design,
    Entity,
    Get,
    Id,
    ItemCount,
    Query,
    Scan,
    Table,
    aggregate,
    count,
    derived,
    exists,
    expect,
    get,
    index,
    key,
    more_than,
    pattern,
    query,
    scan,
)
from tests.review.rules.cases import Cases

CASES = Cases()
mixed = Table("Mixed", key("PK", "SK"))
orders = Table(
    "Orders", key("PK", "SK"), indexes={"ByDay": key("day", "PK"), "Names": index(key("day", "SK"), KEYS_ONLY)}
)
matches = Table("Matches", key("PK", "SK"), indexes={"ByDay": key("day")})
roles = Table("Roles", key("id"))
articles = Table("Articles", key("id"))
people = Table("People", key("id"))


class Role(Entity, table=roles, expected=expect(items=20, size=200)):
    id: Id
    primary = key("{id}")


class Article(Entity, table=articles, expected=expect(items=200, size=90_000)):
    id: Id
    primary = key("{id}")


class Person(Entity, table=people):
    id: Id
    primary = key("{id}")


class User(Entity, table=mixed, expected=expect(items=10)):
    user_id: Id
    primary = key("USER#{user_id}", "USER")


class Team(Entity, table=mixed):
    team_id: Id
    primary = key("TEAM#{team_id}", "TEAM")


@CASES.finds("KP406", "Scans.articles", "Scans.people", "Scans.users")
def scans_of_large_and_of_shared_tables() -> type[Design]:
    class Scans(Design):
        tables = (roles, articles, people, mixed)
        entities = (Role, Article, Person, User, Team)

        @pattern("List all roles")
        def roles(self) -> Scan[Role]:
            return scan(Role)

        @pattern("List all articles")
        def articles(self) -> Scan[Article]:
            return scan(Article)

        @pattern("List all people")
        def people(self) -> Scan[Person]:
            return scan(Person)

        @pattern("List all users")
        def users(self) -> Scan[User]:
            return scan(User)

    return Scans


@CASES.finds_nothing("KP406", "KP417")
def a_scan_of_a_small_table() -> type[Design]:
    class Roles(Design):
        tables = (roles,)
        entities = (Role,)

        @pattern("List all roles")
        def roles(self) -> Scan[Role]:
            return scan(Role)

    return Roles


class Order(Entity, table=orders, expected=expect(items=1_000_000, size=2_000)):
    order_id: Id
    primary = key("ORDER#{order_id}", "ORDER")


class Line(Entity, table=orders, expected=expect(partition=30)):
    order_id: Id
    number: int
    shipped: bool = False
    primary = key("ORDER#{order_id}", "LINE#{number:06}")


class Reading(Entity, table=orders, expected=expect(partition=50_000, size=20_000)):
    order_id: Id
    number: int
    failed: bool = False
    day: Id
    primary = key("ORDER#{order_id}", "READING#{number:06}")
    by_day = orders.ByDay("{day}")
    names = orders.Names("{day}")


class Unknown(Entity, table=orders):
    order_id: Id
    number: int
    failed: bool = False
    primary = key("ORDER#{order_id}", "UNKNOWN#{number:06}")


class OrderWithLines(Aggregate):
    order: Order
    lines: list[Line]


class OrderWithReadings(Aggregate):
    order: Order
    readings: list[Reading]


class OrderWithUnknown(Aggregate):
    order: Order
    unknown: list[Unknown]


@CASES.finds("KP407", "Orders.failed")
@CASES.finds("KP408", "Orders.measured", "Orders.number")
@CASES.finds("KP417", "Orders.failed", "Orders.by_day", "Orders.measured")
def an_order_with_a_hundred_thousand_readings() -> type[Design]:
    class Orders(Design):
        tables = (orders,)
        entities = (Order, Reading)

        @pattern("Failed readings", returns=3)
        def failed(self, order_id: str) -> Query[Reading]:
            return query(Reading.primary, order_id=order_id, filter=lambda reading: reading.failed)

        @pattern("Readings of a day")
        def by_day(self, day: str) -> Query[Reading]:
            return query(Reading.by_day, day=day)

        @pattern("Names of readings of a day")
        def names(self, day: str) -> Query[Reading]:
            return query(Reading.names, day=day)

        @pattern("An order with its readings")
        def measured(self, order_id: str) -> Aggregated[OrderWithReadings]:
            return aggregate(OrderWithReadings, order_id=order_id)

        @pattern("The number of readings")
        def number(self, order_id: str) -> ItemCount:
            return count(query(Reading.primary, order_id=order_id))

    return Orders


class Seat(Entity, table=matches):
    player: Id
    match_id: Id
    played_on: Id
    primary = key("PLAYER#{player}", "MATCH#{match_id}")
    by_day = matches.ByDay("{played_on}")


class Match(Entity, table=matches):
    match_id: Id
    date: Id
    winner: Id
    primary = key("MATCH#{match_id}", "MATCH")
    by_day = matches.ByDay("{date}")

    @derived
    def seats(self) -> list[Seat]:
        return [Seat(player=each, match_id=self.match_id, played_on=self.date) for each in ("a", "b", "c", "d")]


@CASES.finds("KP407", "Matches.on_day")
def a_list_in_which_four_of_five_items_are_thrown_away() -> type[Design]:
    class Matches(Design):
        tables = (matches,)
        entities = (Match, Seat)

        @pattern("Matches of a day")
        def on_day(self, date: str) -> Query[Match]:
            return query(Match.by_day, date=date, filter=lambda match: exists(match.winner))

        @pattern("Seats of a player")
        def seats(self, player: str) -> Query[Seat]:
            return query(Seat.primary, player=player, filter=lambda seat: seat.played_on == "today")

    return Matches


@CASES.finds_nothing("KP407", "KP408")
def an_order_with_thirty_lines() -> type[Design]:
    class Orders(Design):
        tables = (orders,)
        entities = (Order, Line, Reading)

        @pattern("Shipped lines", returns=20)
        def shipped(self, order_id: str) -> Query[Line]:
            return query(Line.primary, order_id=order_id, filter=lambda line: line.shipped)

        @pattern("An order with its lines")
        def order(self, order_id: str) -> Aggregated[OrderWithLines]:
            return aggregate(OrderWithLines, order_id=order_id)

        @pattern("The number of readings, up to 100")
        def number(self, order_id: str) -> ItemCount:
            return count(query(Reading.primary, order_id=order_id).limit(100))

        @pattern("The number of new readings", returns=5)
        def new(self, order_id: str, since: int) -> ItemCount:
            return count(query(Reading.primary, order_id=order_id, number=more_than(since)))

    return Orders


@CASES.cannot_judge("KP407", "Orders.failed")
@CASES.cannot_judge("KP407", "Orders.passed")
@CASES.cannot_judge("KP408", "Orders.order")
@CASES.cannot_judge("KP417", "Orders.failed")
def an_order_with_an_unknown_number_of_readings() -> type[Design]:
    class Orders(Design):
        tables = (orders,)
        entities = (Order, Unknown)

        @pattern("Failed readings")
        def failed(self, order_id: str) -> Query[Unknown]:
            return query(Unknown.primary, order_id=order_id, filter=lambda reading: reading.failed)

        @pattern("Readings without a failure", returns=5)
        def passed(self, order_id: str) -> Query[Unknown]:
            return query(Unknown.primary, order_id=order_id, filter=lambda reading: reading.failed == False)  # noqa: E712

        @pattern("An order with its readings")
        def order(self, order_id: str) -> Aggregated[OrderWithUnknown]:
            return aggregate(OrderWithUnknown, order_id=order_id)

    return Orders


@CASES.finds("KP416", "Teams.team")
def a_consistent_read_for_nothing() -> type[Design]:
    class Teams(Design):
        tables = (mixed,)
        entities = (Team, User)

        @pattern("Get user", decides="what the user may do")
        def user(self, user_id: str) -> Get[User]:
            return get(User, user_id=user_id, consistent=True)

        @pattern("Get team")
        def team(self, team_id: str) -> Get[Team]:
            return get(Team, team_id=team_id, consistent=True)

    return Teams


@CASES.finds_nothing("KP416")
def consistent_reads_that_decide() -> type[Design]:
    class Teams(Design):
        tables = (mixed,)
        entities = (Team, User)

        @pattern("Get user", decides="what the user may do")
        def user(self, user_id: str) -> Get[User]:
            return get(User, user_id=user_id, consistent=True)

        @pattern("Get team")
        def team(self, team_id: str) -> Get[Team]:
            return get(Team, team_id=team_id)

    return Teams


@CASES.cannot_judge("KP416", "Teams.team")
def a_consistent_read_of_which_nothing_is_said() -> type[Design]:
    class Teams(Design):
        tables = (mixed,)
        entities = (Team,)

        @pattern("Get team")
        def team(self, team_id: str) -> Get[Team]:
            return get(Team, team_id=team_id, consistent=True)

    return Teams


@CASES.finds("KP419", "Sensors.readings")
def a_list_of_64_shards() -> type[Design]:
    class Sensor(Entity, table=orders):
        sensor_id: Id
        primary = key("SENSOR#{sensor_id}", "SENSOR")
        by_day = orders.ByDay("SENSORS#{shard(sensor_id, 64)}")

    class Sensors(Design):
        tables = (orders,)
        entities = (Sensor,)

        @pattern("All sensors")
        def readings(self) -> Query[Sensor]:
            return query(Sensor.by_day)

    return Sensors


@CASES.finds_nothing("KP419")
def a_list_of_4_shards() -> type[Design]:
    class Sensor(Entity, table=orders):
        sensor_id: Id
        primary = key("SENSOR#{sensor_id}", "SENSOR")
        by_day = orders.ByDay("SENSORS#{shard(sensor_id, 4)}")

    class Sensors(Design):
        tables = (orders,)
        entities = (Sensor,)

        @pattern("All sensors")
        def readings(self) -> Query[Sensor]:
            return query(Sensor.by_day)

    return Sensors
