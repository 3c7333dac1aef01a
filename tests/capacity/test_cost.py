"""Costs: traffic times metered capacity times prices, by hand."""

from dataclasses import replace
from datetime import date

import pytest

from keyplan.capacity.consumed import TableOrIndex, Units
from keyplan.capacity.cost import GB, Cost, CostLine, cost_of
from keyplan.capacity.cost.provisioned import day_of
from keyplan.capacity.metering import Metered, MeteredDesign, StoredPart, meter
from keyplan.capacity.prices import Charge, Price, Prices, known_prices
from keyplan.capacity.quantities import HOURS_OF_MONTH, Rate
from keyplan.capacity.report import json_report, markdown_report, text_report, units_text, usd
from keyplan.capacity.traffic import traffic_of
from keyplan.capacity.traffic.model import ItemTraffic, PatternTraffic, TableUse, Traffic, WriteTraffic
from keyplan.design import Design, Entity, Id, Nearest, Query, Table, key, local, pattern, query
from keyplan.engine import Engine
from tests.all_designs import design

SECONDS = HOURS_OF_MONTH * 3600
table = Table("Notes", key("pk", "sk"), indexes={"ByTag": key("tag", "sk"), "Local": local("at")})
declared = Table("Fixed", key("pk", "sk"), billing="PROVISIONED", capacity=(10, 5))


class Note(Entity, table=table):
    note_id: Id
    tag: str
    primary = key("NOTE#{note_id}", "NOTE")
    by_tag = table.ByTag("{tag}")


class Mark(Entity, table=declared):
    mark_id: Id
    primary = key("MARK#{mark_id}", "MARK")


class Notes(Design):
    tables, entities = (table, declared), (Note, Mark)

    @pattern("List notes with a tag")
    def tagged(self, tag: str) -> Query[Note]:
        return query(Note.by_tag, tag=tag)


NOTES, TAGS, LOCAL, FIXED = (
    TableOrIndex("Notes"),
    TableOrIndex("Notes", "ByTag"),
    TableOrIndex("Notes", "Local"),
    TableOrIndex("Fixed"),
)
METERED = MeteredDesign(
    patterns={"tagged": Metered({TAGS: Units(reads=4)}, 1, 20)},
    missing={"tagged": Metered({TAGS: Units(reads=0.5)}, 1, 0)},
    writes={
        ("Note", "create"): Metered({NOTES: Units(writes=2, changes=2), TAGS: Units(writes=1)}, 1, 1),
        ("Mark", "create"): Metered({FIXED: Units(writes=1, changes=1)}, 1, 1),
    },
    stored={"Note": {NOTES: StoredPart(2, 1900), TAGS: StoredPart(1, 900), LOCAL: StoredPart(1, 400)}},
    sizes={"Note": 1500},
)
PRICES = known_prices("us-east-1")
TEN, ONE = Rate(10, "second"), Rate(1, "second")


def cost(traffic: Traffic, prices: Prices = PRICES, *, free_tier: bool = False) -> Cost:
    return cost_of(Notes, METERED, traffic, prices, free_tier=free_tier)


def line(found: Cost, name: str) -> CostLine:
    return next(each for each in found.lines if each.name == name)


def traffic(**fields: object) -> Traffic:
    return replace(Traffic("traffic.yaml"), **fields)  # type: ignore[arg-type]  # its fields


ON_DEMAND = {"Fixed": TableUse("on-demand")}
"""Without the capacity that the design declares for one of its tables."""
READS = traffic(patterns={"tagged": PatternTraffic(TEN)})
WRITES = traffic(writes={("Note", "create"): WriteTraffic(ONE)})


def test_requests_are_paid_by_unit() -> None:
    assert line(cost(READS), "tagged").usd == pytest.approx(10 * SECONDS * 4 * 0.125e-6)
    assert line(cost(WRITES), "Note.create").usd == pytest.approx(SECONDS * 3 * 0.625e-6)


def test_what_finds_nothing_is_refused_or_repeated_counts() -> None:
    found = cost(traffic(patterns={"tagged": PatternTraffic(TEN, missing=0.25, retries=0.1)}))
    assert line(found, "tagged").usd == pytest.approx(11 * SECONDS * (0.75 * 4 + 0.25 * 0.5) * 0.125e-6)
    found = cost(traffic(writes={("Note", "create"): WriteTraffic(ONE, refused=0.5, retries=1)}))
    # A refused write consumes as much of the table, and nothing of the index.
    assert line(found, "Note.create").usd == pytest.approx(2 * SECONDS * (2 + 0.5 * 1) * 0.625e-6)


def test_storage_counts_items_and_index_entries_with_their_overhead() -> None:
    found = cost(traffic(items={"Note": ItemTraffic(10_000_000, growth=Rate(1, "second"))}))
    bytes_each = (1900 + 200) + (900 + 100) + (400 + 100)
    assert line(found, "Notes: storage").usd == pytest.approx(10_000_000 * bytes_each / GB * 0.25)
    assert found.growth == pytest.approx(SECONDS * bytes_each / GB * 0.25)
    free = cost(traffic(items={"Note": ItemTraffic(10_000_000)}, tables=ON_DEMAND), free_tier=True)
    assert free.total == pytest.approx(line(found, "Notes: storage").usd - 25 * 0.25)


def test_what_is_done_with_the_data_has_its_price() -> None:
    use = TableUse(
        recovery=True,
        backups=2,
        exports=Rate(3, "month"),
        restores=Rate(1, "month"),
        stream_reads=Rate(10, "second"),
        kinesis=True,
    )
    found = cost(replace(WRITES, items={"Note": ItemTraffic(1_000_000)}, tables={"Notes": use}))
    backed_up = 1_000_000 * (1900 + 400) / GB  # with the local index
    assert line(found, "Notes: point-in-time recovery").usd == pytest.approx(backed_up * 0.2)
    assert line(found, "Notes: backups").usd == pytest.approx(2 * backed_up * 0.1)
    assert line(found, "Notes: exports").usd == pytest.approx(3 * backed_up * 0.1)
    assert line(found, "Notes: restores").usd == pytest.approx(1_000_000 * (1900 + 400 + 900) / GB * 0.15)
    assert line(found, "Notes: reads of the stream").usd == pytest.approx(10 * SECONDS * 0.2e-6)
    kinesis = sum(part.usd or 0 for part in line(found, "Note.create").parts if part.charge.item == "Kinesis")
    assert kinesis == pytest.approx(SECONDS * 2 * 0.1e-6)


def test_standard_ia_has_prices_of_its_own() -> None:
    found = cost(replace(WRITES, items={"Note": ItemTraffic(1_000_000)}, tables={"Notes": TableUse(infrequent=True)}))
    assert line(found, "Note.create").usd == pytest.approx(SECONDS * 3 * 0.78e-6)
    assert {part.charge for part in line(found, "Notes: storage").parts} == {Charge("storage", True)}


@pytest.mark.parametrize("peak", [1, 1.5, 3, 10])
def test_a_day_has_its_average_and_its_peak(peak: float) -> None:
    day = day_of(peak)
    assert sum(day) / 24 == pytest.approx(1)
    assert max(day) == pytest.approx(peak)
    assert len(day) == 24


def test_auto_scaling_provisions_for_every_hour() -> None:
    even = cost(replace(WRITES, tables={**ON_DEMAND, "Notes": TableUse("provisioned", utilization=0.5)}))
    # 2 units a second in the table and 1 in the index, at 50 %: 4 and 2 units at all hours.
    assert line(even, "Note.create").usd == pytest.approx((4 + 2) * HOURS_OF_MONTH * 0.00065)
    unused = sum(each.usd for each in even.lines if each.kind == "capacity")
    assert unused == pytest.approx(2 * HOURS_OF_MONTH * 0.00013)  # one read unit each in table and index
    many = replace(WRITES, writes={("Note", "create"): WriteTraffic(Rate(1000, "second"))}, peak=3)
    busy = cost(replace(many, tables={"Notes": TableUse("provisioned", utilization=0.7)}))
    assert line(busy, "Note.create").usd == pytest.approx(3000 / 0.7 * HOURS_OF_MONTH * 0.00065, rel=0.01)


def test_reserved_capacity_is_what_every_hour_needs() -> None:
    prices = known_prices("us-east-2")  # where the price of reserved capacity is known
    many = replace(WRITES, writes={("Note", "create"): WriteTraffic(Rate(100, "second"))})
    use = TableUse("provisioned", utilization=0.5, reserved="1 year")
    found = cost(replace(many, tables={"Notes": use}), prices)
    # 600 units are provisioned at all hours, and all of them are reserved.
    assert line(found, "Note.create").usd == pytest.approx(600 * (HOURS_OF_MONTH * 0.000128 + 1.5 / 12))
    assert any("no read capacity is reserved" in note for note in found.notes)
    without = cost(replace(many, tables={"Notes": use}))
    assert Charge("reserved write 1 year") in without.missing
    assert not line(without, "Note.create").is_complete


def test_declared_capacity_is_paid_whether_it_is_used_or_not() -> None:
    found = cost(traffic())
    assert found.total == pytest.approx(HOURS_OF_MONTH * (10 * 0.00013 + 5 * 0.00065))
    busy = cost(traffic(writes={("Mark", "create"): WriteTraffic(TEN)}))
    assert line(busy, "Mark.create").usd == pytest.approx(5 * HOURS_OF_MONTH * 0.00065)
    assert any("needs 10.0 write units a second, and 5 are declared" in note for note in busy.notes)


def test_a_price_that_is_missing_is_named_and_left_out() -> None:
    prices = Prices("nowhere", {Charge("read request"): Price(1e-6, date(2026, 1, 1), "a test")})
    found = cost(replace(READS, writes=WRITES.writes, tables=ON_DEMAND), prices)
    assert found.missing == (Charge("write request"),)
    assert found.total == pytest.approx(10 * SECONDS * 4e-6)
    report = text_report("notes", found, [], date(2027, 6, 1))
    assert "no price is known in nowhere: write request" in report
    assert "$0.00 + ?" in report
    assert "Warning: the price of read request is from 2026-01-01, which is more than a year ago." in report


def test_what_cannot_be_metered_is_named() -> None:
    broken = replace(METERED, writes={}, failures={"Note.create": "no such item"})
    found = cost_of(Notes, broken, replace(WRITES, items={"Note": ItemTraffic(1)}), PRICES)
    assert found.unmetered == {"Note.create": "no such item", "the storage of Note": "no such item"}
    assert "Note.create couldn't be metered. no such item" in text_report("notes", found, [], date(2026, 11, 19))


def test_items_that_cannot_be_as_small_as_said_are_named() -> None:
    for size, said in (("10 bytes", ["its fields take that much"]), ("32 bytes", [])):
        told = traffic_of(
            f"writes: {{Mark: {{create: 1 per day}}}}\nitems: {{Mark: {{count: 5, size: {size}}}}}", Notes
        )
        with Engine(ttl_interval=None) as engine:
            found = cost_of(Notes, meter(Notes, engine, told), told, PRICES)
        assert [note.partition(": ")[2].rstrip(".") for note in found.notes] == said


def test_the_bill_on_the_pricing_page_of_aws() -> None:
    """The example of "Amazon DynamoDB pricing" for on-demand capacity in US East (N. Virginia), without requests. The
    table has 27 GB on average and 29 GB at the end of the month, which has 42,177,000 writes of 1 KB."""

    def bill(gigabytes: float, **use: object) -> Cost:
        whole = {"Note": {NOTES: StoredPart(1, gigabytes * GB - 100)}}
        write = Metered({NOTES: Units(writes=1, changes=1)}, 1, 1)
        metered = MeteredDesign({}, {}, {("Note", "create"): write}, whole, {})
        load = traffic(
            writes={("Note", "create"): WriteTraffic(Rate(42_177_000, "month"))},
            items={"Note": ItemTraffic(1)},
            tables={**ON_DEMAND, "Notes": TableUse(**use)},  # type: ignore[arg-type]  # its fields
        )
        return cost_of(Notes, metered, load, PRICES, free_tier=True)

    average = bill(27, recovery=True, kinesis=True, stream_reads=Rate(2_592_000, "month"))
    storage = line(average, "Notes: storage").usd
    stream = line(average, "Notes: reads of the stream").usd
    kinesis = sum(part.usd or 0 for part in line(average, "Note.create").parts if part.charge.item == "Kinesis")
    assert average.free is not None
    assert round(storage + stream - average.free, 2) == 0.50 + 0.02  # the first 25 GB and 2,500,000 reads are free
    assert round(line(average, "Notes: point-in-time recovery").usd, 2) == 5.40
    assert round(kinesis, 2) == 4.22
    end = bill(29, restores=Rate(1, "month"), exports=Rate(1, "month"))
    assert round(line(end, "Notes: restores").usd, 2) == 4.35
    assert round(line(end, "Notes: exports").usd, 2) == 2.90
    assert round(line(bill(30, backups=2), "Notes: backups").usd, 2) == 6.00


def test_vector_indexes_are_paid_by_byte() -> None:
    kind = design("recipes/semantic_search")
    name = next(each for each in kind.patterns if isinstance(kind.patterns[each].symbolic, Nearest))
    (entity,) = kind.entities
    much = traffic(
        patterns={name: PatternTraffic(TEN)},
        writes={(entity.__name__, "create"): WriteTraffic(ONE)},
        items={entity.__name__: ItemTraffic(1000)},
    )
    with Engine(ttl_interval=None) as engine:
        metered = meter(kind, engine, much)
    found = cost_of(kind, metered, much, PRICES)
    searched, written = metered.patterns[name].total.searched, metered.writes[entity.__name__, "create"].total.vectors
    assert searched >= 1024
    assert written >= 1024
    by_item = {part.charge.item: part.usd for each in found.lines for part in each.parts}
    assert by_item["vector search"] == pytest.approx(10 * SECONDS * searched / GB * 0.002)
    assert by_item["vector write"] == pytest.approx(SECONDS * written / GB * 0.52)
    assert any(
        part.place.index in kind.tables[0].vectors for part in line(found, f"{kind.tables[0].name}: storage").parts
    )
    provisioned = replace(much, tables={kind.tables[0].name: TableUse("provisioned")})
    notes = cost_of(kind, metered, provisioned, PRICES).notes
    assert any("a table with vector indexes can't have provisioned capacity" in note for note in notes)


def test_a_cost_is_divided_by_users_and_requests() -> None:
    found = cost(replace(READS, users=1000, requests=Rate(10, "day", each_user=True)))
    assert found.per_user == pytest.approx(found.total / 1000)
    assert found.per_request == pytest.approx(found.total / (10_000 * HOURS_OF_MONTH / 24))


def test_the_most_expensive_is_first_in_all_forms() -> None:
    both = cost(replace(READS, writes=WRITES.writes, tables=ON_DEMAND))
    assert [each.name for each in both.lines] == ["tagged", "Note.create"]
    today = date(2026, 11, 19)
    text = text_report("notes", both, [], today)
    assert "26,280,000 times, each 4 read units (ByTag)" in text
    assert text.index("pattern tagged") < text.index("write Note.create")
    assert "| write Note.create |" in markdown_report("notes", both, [], today)
    document = json_report("notes", both, [], today)
    assert document["total"] == both.total
    assert document["lines"][0]["units"] == [{"table": "Notes", "index": "ByTag", "reads": 4}]
    assert {each["source"] for each in document["prices"]} == {"AWS price list (AmazonDynamoDB), as quoted"}


def test_an_index_is_named_with_its_table_where_there_are_several() -> None:
    one = {NOTES: Units(writes=2), TAGS: Units(writes=1)}
    assert units_text(one) == "3 write units (2 Notes, 1 ByTag)"
    assert units_text(one | {FIXED: Units(reads=1)}) == "3 write units (2 Notes, 1 Notes.ByTag), 1 read unit (Fixed)"
    assert units_text({}) == "nothing"


@pytest.mark.parametrize(
    ("amount", "text"),
    [
        (0, "$0.00"),
        (12.345, "$12.35"),
        (1234.5, "$1,234.50"),
        (0.0000041, "$0.0000041"),
        (0.0098, "$0.0098"),
        (-2, "-$2.00"),
    ],
)
def test_small_amounts_keep_two_digits(amount: float, text: str) -> None:
    assert usd(amount) == text
