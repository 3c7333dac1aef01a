"""Savings: what would be cheaper is changed in memory and metered again."""

from dataclasses import replace

import pytest

from keyplan.capacity.consumed import TableOrIndex
from keyplan.capacity.cost import cost_of
from keyplan.capacity.metering import Altered, MeteredDesign, meter
from keyplan.capacity.prices import known_prices
from keyplan.capacity.quantities import Rate
from keyplan.capacity.savings import Saving, find_savings
from keyplan.capacity.traffic.model import ItemTraffic, PatternTraffic, TableUse, Traffic, WriteTraffic
from keyplan.design import (
    Design,
    Entity,
    Get,
    Id,
    ItemCount,
    OrderedList,
    Query,
    Table,
    count,
    get,
    index,
    key,
    pattern,
    query,
)
from keyplan.engine import Engine

table = Table(
    "Books",
    key("pk", "sk"),
    indexes={
        "ByAuthor": key("author_pk", "author_sk"),
        "ByYear": key("year_pk", "sk"),
        "Titles": key("first_pk", "first_sk"),
        "Unread": index(key("unread_pk", "sk"), why="no pattern reads it"),
    },
)


class Book(Entity, table=table):
    isbn: Id
    author: str
    year: int
    title: str
    text: str = ""
    primary = key("BOOK#{isbn}", "BOOK")
    by_author = table.ByAuthor("{author}", "{isbn}")
    by_year = table.ByYear("{year:04}")
    unread = table.Unread("{title}")
    titles = table.Titles("TITLES", "{title}")


class Books(Design):
    tables, entities = (table,), (Book,)

    @pattern("Get book, up to date")
    def book(self, isbn: str) -> Get[Book]:
        return get(Book, isbn=isbn, consistent=True)

    @pattern("Get book before it is lent", decides="whether the book may be lent")
    def for_lending(self, isbn: str) -> Get[Book]:
        return get(Book, isbn=isbn, consistent=True)

    @pattern("List books of an author")
    def of_author(self, author: str) -> Query[Book]:
        return query(Book.by_author, author=author)

    @pattern("Count books of a year")
    def number_in(self, year: int) -> ItemCount:
        return count(query(Book.by_year, year=year))

    @pattern("List titles")
    def titles(self) -> OrderedList[str]:
        return query(Book.titles).only(lambda book: book.title)


MUCH = Rate(20, "second")
TRAFFIC = Traffic(
    "traffic.yaml",
    patterns={name: PatternTraffic(MUCH) for name in Books.patterns},
    writes={("Book", "create"): WriteTraffic(MUCH)},
    items={"Book": ItemTraffic(100_000, size=2100)},
)
PRICES = known_prices("us-east-1")


def metered(traffic: Traffic, altered: Altered) -> MeteredDesign:
    with Engine(ttl_interval=None) as engine:
        return meter(Books, engine, traffic, altered=altered)


def savings(traffic: Traffic) -> list[Saving]:
    return find_savings(Books, metered(traffic, Altered()), traffic, PRICES, metered)


def find(found: list[Saving], text: str) -> Saving | None:
    return next((each for each in found if text in each.change), None)


@pytest.fixture(scope="module")
def found() -> list[Saving]:
    return savings(TRAFFIC)


def by_hand(traffic: Traffic, altered: Altered = Altered()) -> float:  # noqa: B008 - it is frozen
    return cost_of(Books, metered(traffic, altered), traffic, PRICES).total


def test_what_saves_most_is_first(found: list[Saving]) -> None:
    assert found == sorted(found, key=lambda each: -each.usd)
    assert all(each.usd > 0 for each in found)


def test_an_eventually_consistent_read_costs_half(found: list[Saving]) -> None:
    each = find(found, "let book read eventually consistently")
    assert each is not None
    assert each.usd == pytest.approx(by_hand(TRAFFIC) - by_hand(TRAFFIC, Altered(eventual=frozenset({"book"}))))
    assert each.by_line.keys() == {"book"}
    assert find(found, "let for_lending") is None  # it decides something


def test_an_index_that_no_pattern_reads_can_go(found: list[Saving]) -> None:
    each = find(found, "drop the index Unread")
    assert each is not None
    dropped = Altered(dropped=frozenset({TableOrIndex("Books", "Unread")}))
    assert each.usd == pytest.approx(by_hand(TRAFFIC) - by_hand(TRAFFIC, dropped))
    assert each.by_line["Book.create"] > 0
    assert each.by_line["Books: storage"] > 0
    assert find(found, "ByAuthor of Books, which") is None


def test_an_index_can_hold_only_what_is_read_from_it(found: list[Saving]) -> None:
    each = find(found, "let the index ByYear of Books hold only what patterns read from it (keys only)")
    assert each is not None
    # Three units for the entry of 2.1 KB, and one for keys only.
    assert each.by_line["Book.create"] == pytest.approx(20 * 730 * 3600 * 2 * 0.625e-6)
    assert find(found, "the index Titles of Books hold only what patterns read from it (title)") is not None
    assert find(found, "the index ByAuthor") is None  # whole books are read from it


def test_items_slightly_above_a_step_can_be_smaller(found: list[Saving]) -> None:
    each = find(found, "make items of Book smaller by 52 bytes, so that they have 2,048")
    assert each is not None
    smaller = replace(TRAFFIC, items={"Book": ItemTraffic(100_000, size=2048)})
    assert each.usd == pytest.approx(by_hand(TRAFFIC) - by_hand(smaller))
    assert find(savings(smaller), "make items") is None


def test_another_table_class_pays_if_storage_is_what_costs() -> None:
    stored = replace(TRAFFIC, patterns={}, writes={}, items={"Book": ItemTraffic(100_000_000, size=2000)})
    each = find(savings(stored), "give Books the table class Standard-IA")
    assert each is not None
    assert each.usd == pytest.approx(0.6 * by_hand(stored))  # 0.10 instead of 0.25 USD
    assert find(savings(TRAFFIC), "Standard-IA") is None


def test_another_capacity_mode_pays_if_the_load_is_even() -> None:
    even = find(savings(TRAFFIC), "provisioned capacity for Books, with auto scaling at 70%")
    assert even is not None
    provisioned = replace(TRAFFIC, tables={"Books": TableUse("provisioned")})
    assert even.usd == pytest.approx(by_hand(TRAFFIC) - by_hand(provisioned))
    assert find(savings(TRAFFIC), "reserved") is None  # its price isn't known in this region
    little = replace(provisioned, patterns={"book": PatternTraffic(Rate(1, "hour"))}, writes={})
    on_demand = find(savings(little), "pay Books on demand")
    assert on_demand is not None
    assert on_demand.usd == pytest.approx(by_hand(little) - by_hand(replace(little, tables={})))


def test_reserved_capacity_is_said_only_where_there_is_some() -> None:
    prices = known_prices("us-east-2")

    def reserved(rate: Rate) -> Saving | None:
        items = {"Book": ItemTraffic(1000, size=500)}
        traffic = Traffic("t", writes={("Book", "create"): WriteTraffic(rate)}, items=items)
        return find(find_savings(Books, metered(traffic, Altered()), traffic, prices, metered), "reserved for a year")

    assert reserved(Rate(1, "second")) is None  # it takes 100 units at all hours
    assert reserved(Rate(200, "second")) is not None
