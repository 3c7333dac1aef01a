"""Queries over date buckets and shards: several partitions as one list, with any page size and from any place."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keyplan.data import AsyncStore, BadCursor, RequestFailed, Store, codec_of, create, delete, patch, update
from keyplan.design import (
    KEYS_ONLY,
    Design,
    DesignError,
    Entity,
    Follow,
    Id,
    InvalidValue,
    Query,
    Ref,
    Rewrite,
    Table,
    Version,
    at_least,
    belongs_to,
    collection,
    count,
    follow,
    get,
    index,
    job,
    key,
    less_than,
    merge,
    more_than,
    pattern,
    query,
    ref,
    rekey,
    starting,
    unique,
    within,
)
from keyplan.engine import Engine
from tests.data.support import Killed, Mortal, Recorder, failure

log = Table(
    "Log",
    key("PK", "SK"),
    indexes={
        "GSI1": key("GSI1PK", "GSI1SK"),
        "GSI2": key("GSI2PK", "GSI2SK"),
        "GSI3": key("GSI3PK", "level:N"),
        "GSI4": index(key("GSI4PK", "GSI4SK"), KEYS_ONLY),
        "GSI5": key("GSI5PK"),
    },
)
START = datetime(2026, 1, 1, tzinfo=UTC)


class Source(Entity, table=log):
    name: Id

    primary = key("SOURCE#{name}", "SOURCE")


class Event(Entity, table=log):
    id: Id
    source: Id
    at: datetime
    level: int = 0
    text: str = ""

    primary = key("EVENT#{id}", "EVENT")
    by_month = log.GSI1("EVENTS#{at:%Y-%m}", "{at}#{id}")
    recent = log.GSI2("{source}#{shard(id, 5)}", "{at.desc}")
    by_level = log.GSI3("LEVELS#{shard(id, 3)}", "{level}")
    by_day = log.GSI4("{at:%Y-%m-%d}#{shard(id, 2)}", "{at.desc}#{id}")
    anywhere = log.GSI5("ALL#{shard(id, 3)}")
    one_a_second = unique("SECOND#{source}#{at:%Y-%m-%dT%H:%M:%S}")

    @belongs_to(on_delete="cascade", via="recent")
    def origin(self) -> Ref[Source]:
        return ref(Source, name=self.source)


class Vote(Entity, table=log):
    poll: Id
    voter: Id
    choice: str = ""

    primary = key("POLL#{poll}#{shard(voter, 4)}", "VOTE#{voter}")


class Log(Design):
    tables = (log,)
    entities = (Source, Event, Vote)

    @pattern("Events of some time")
    def events(self, first: datetime, last: datetime) -> Query[Event]:
        return query(Event.by_month, at=within(first, last))

    @pattern("Newest events of a source")
    def recent(self, source: str) -> Query[Event]:
        return query(Event.recent, source=source)

    @pattern("Votes of a poll")
    def votes(self, poll: str) -> Query[Vote]:
        return query(Vote.primary, poll=poll)


@contextmanager
def opened() -> Iterator[tuple[Store[Log], Recorder]]:
    with Engine() as engine:
        recorder = Recorder(engine)
        store = Store(Log(), recorder, secret=b"secret")
        store.create_tables()
        store.run(create(Source(name="web")))
        yield store, recorder


@pytest.fixture
def both() -> Iterator[tuple[Store[Log], Recorder]]:
    with opened() as found:
        yield found


@pytest.fixture
def store(both: tuple[Store[Log], Recorder]) -> Store[Log]:
    return both[0]


def fill(store: Store[Log], seconds: list[int], levels: list[int] | None = None) -> list[Event]:
    events = []
    for number, second in enumerate(seconds):
        level = levels[number] if levels else 0
        event = Event(id=f"e{number:03}", source="web", at=START + timedelta(seconds=second), level=level)
        events.append(store.run(create(event)))
    return events


def pages(store: Store[Any], op: Query[Any], size: int) -> Iterator[list[Any]]:
    cursor = None
    while True:
        page = store.run(op.limit(size).after(cursor))
        assert len(page.items) <= size
        yield list(page.items)
        cursor = page.next
        if cursor is None:
            return


def listed(store: Store[Log], op: Query[Any], size: int) -> list[Any]:
    found = list(pages(store, op, size))
    assert all(len(page) == size for page in found[:-1]) or op.filter is not None
    return [each for page in found for each in page]


MONTH = 86400 * 30
LISTS: dict[str, tuple[Callable[[], Query[Event]], Callable[[Event], object]]] = {
    "buckets": (lambda: query(Event.by_month, at=within(START, START + timedelta(days=400))), lambda e: (e.at, e.id)),
    "buckets backward": (
        lambda: query(Event.by_month, at=within(START, START + timedelta(days=400)), newest_first=True),
        lambda e: (e.at, e.id),
    ),
    "shards in reverse": (lambda: query(Event.recent, source="web"), lambda e: e.at),
    "shards of equal numbers": (lambda: query(Event.by_level), lambda e: e.level),
    "shards of numbers backward": (lambda: query(Event.by_level, newest_first=True), lambda e: e.level),
    "shards from a number": (lambda: query(Event.by_level, level=more_than(1)), lambda e: e.level),
    "shards below a number, backward": (
        lambda: query(Event.by_level, level=less_than(3), newest_first=True),
        lambda e: e.level,
    ),
    "buckets of shards": (
        lambda: query(Event.by_day, at=within(START + timedelta(hours=30), START + timedelta(days=90))),
        lambda e: (e.at, [-ord(c) for c in e.id]),
    ),
}


def expected(name: str, event: Event) -> bool:
    match name:
        case "shards from a number":
            return event.level > 1
        case "shards below a number, backward":
            return event.level < 3
        case "buckets of shards":
            return START + timedelta(hours=30) <= event.at <= START + timedelta(days=90)
    return True


@settings(max_examples=25)
@given(
    st.lists(st.tuples(st.integers(0, 12 * MONTH), st.integers(-1, 4)), max_size=30, unique_by=lambda each: each[0]),
    st.integers(1, 9),
)
def test_several_partitions_are_one_list_in_order(rows: list[tuple[int, int]], size: int) -> None:
    with opened() as (store, _):
        events = fill(store, [second for second, _ in rows], [level for _, level in rows])
        for name, (build, order) in LISTS.items():
            backward = "backward" in name or name in ("shards in reverse", "buckets of shards")
            wanted = sorted((e for e in events if expected(name, e)), key=order, reverse=backward)  # type: ignore[arg-type]  # comparable
            found = listed(store, build(), size)
            assert [order(each) for each in found] == [order(each) for each in wanted], name
            assert sorted(each.id for each in found) == sorted(each.id for each in wanted), name
            assert store.run(count(build())) == len(wanted)
            assert store.run(count(build().limit(size))) == min(size, len(wanted))
            assert [each.id for each in store.each(build().limit(size))] == [each.id for each in found]


def test_a_filter_that_finds_little_still_makes_progress(store: Store[Log]) -> None:
    fill(store, list(range(60)))
    for number in (7, 31, 59):
        event = store.run(get(Event, id=f"e{number:03}"))
        assert event is not None
        event.text = "found"
        store.run(update(event))
    op = query(Event.recent, source="web", filter=lambda e: e.text == "found").changed(budget=3)
    found = list(pages(store, op, 2))
    assert len(found) > 5  # pages without items, too
    assert [event.id for page in found for event in page] == ["e059", "e031", "e007"]


def test_a_page_of_shards_reads_little_more_than_its_items(both: tuple[Store[Log], Recorder]) -> None:
    store, sent = both
    fill(store, list(range(100)))
    sent.taken()
    page = store.run(store.design.recent("web").limit(20))
    limits = [request["Limit"] for _, request in sent.taken()]
    assert len(page.items) == 20
    assert sum(limits) <= 2 * 20 + 5
    assert page.next is not None
    assert len(page.next) < 300  # the place of one item, however many shards there are


def test_buckets_are_read_one_after_the_other(both: tuple[Store[Log], Recorder]) -> None:
    store, sent = both
    fill(store, [MONTH * number for number in range(12)])
    sent.taken()
    page = store.run(store.design.events(START, START + timedelta(days=364)).limit(2))
    read = [request["ExpressionAttributeValues"][":0"]["S"] for _, request in sent.taken()]
    assert [event.id for event in page.items] == ["e000", "e001"]
    assert read == ["EVENTS#2026-01"]


def test_a_value_stands_for_its_bucket(both: tuple[Store[Log], Recorder]) -> None:
    store, sent = both
    fill(store, [5, 6, MONTH * 2])
    sent.taken()
    found = store.run(query(Event.by_month, at=START + timedelta(days=9)))
    assert [event.id for event in found.items] == ["e000", "e001"]
    ((operation, request),) = sent.taken()
    assert operation == "query"
    assert request["ExpressionAttributeValues"] == {":0": {"S": "EVENTS#2026-01"}}
    exact = query(Event.by_month, at=within(START + timedelta(seconds=5), START + timedelta(seconds=5)))
    assert [event.id for event in store.run(exact).items] == ["e000"]


def test_a_range_has_a_limited_number_of_buckets(store: Store[Log]) -> None:
    for wrong, code in [
        (within(START, START + timedelta(days=31 * 257)), "too-many-buckets"),
        (within(START, START - timedelta(seconds=1)), "empty-range"),
        (within(START, 5), "wrong-type"),
        (within(None, START), "empty-key-value"),
    ]:
        with pytest.raises(InvalidValue) as caught:
            store.run(query(Event.by_month, at=wrong))
        assert (caught.value.code, caught.value.field) == (code, "at")
    assert store.run(query(Event.by_month, at=within(START, START + timedelta(days=30 * 255)))).items == []
    with pytest.raises(InvalidValue):
        store.run(query(Event.by_month, at="January"))


def test_the_field_of_a_shard_leads_to_one_partition(both: tuple[Store[Log], Recorder]) -> None:
    store, sent = both
    for number in range(20):
        store.run(create(Vote(poll="best", voter=f"v{number:02}", choice="a")))
    sent.taken()
    assert store.run(get(Vote, poll="best", voter="v07")) is not None
    assert [vote.voter for vote in store.run(query(Vote.primary, poll="best", voter="v07")).items] == ["v07"]
    assert [name for name, _ in sent.taken()] == ["get_item", "query"]
    assert [v.voter for v in listed(store, store.design.votes("best"), 3)] == [f"v{n:02}" for n in range(20)]
    late = query(Vote.primary, poll="best", voter=at_least("v15"), newest_first=True, consistent=True)
    assert [v.voter for v in listed(store, late, 2)] == ["v19", "v18", "v17", "v16", "v15"]
    assert len(store.run(query(Vote.primary, poll="best", voter=starting("v1"))).items) == 10
    vote = store.run(get(Vote, poll="best", voter="v07"))
    assert vote is not None
    store.run(delete(vote))
    assert store.run(count(store.design.votes("best"))) == 19
    assert store.verify() == []


def test_shards_without_a_sort_key_follow_one_another(store: Store[Log]) -> None:
    fill(store, list(range(12)))
    found = listed(store, query(Event.anywhere), 5)
    assert sorted(event.id for event in found) == [f"e{number:03}" for number in range(12)]


def test_children_in_all_shards_are_deleted(store: Store[Log]) -> None:
    fill(store, list(range(30)))
    web = store.run(get(Source, name="web"))
    assert web is not None
    store.run(delete(web))
    assert store.run(count(query(Event.by_level))) == 0
    assert store.verify() == []


def test_spread_queries_can_be_followed_and_merged(store: Store[Log]) -> None:
    fill(store, list(range(9)))
    op: Follow[Source] = follow(query(Event.recent, source="web"), lambda e: ref(Source, name=e.source), Source)
    assert [each.name for each in store.run(op.limit(4)).items] == ["web"] * 4
    store.run(create(Source(name="mail")))
    store.run(create(Event(id="m", source="mail", at=START + timedelta(seconds=4, milliseconds=1))))
    both = merge([store.design.recent("web"), store.design.recent("mail")], lambda e: e.at, newest_first=True)
    assert [e.id for e in store.each(both.limit(2))] == [
        *("e008", "e007", "e006", "e005", "m", "e004", "e003", "e002", "e001", "e000")
    ]


def test_entities_in_the_same_shards_are_a_collection() -> None:
    table = Table("Shared", key("PK", "SK"))

    class Room(Entity, table=table):
        room: Id
        primary = key("ROOM#{room}#{shard(room, 4)}", "ROOM")

    class Seat(Entity, table=table):
        room: Id
        seat: Id
        primary = key("ROOM#{room}#{shard(room, 4)}", "SEAT#{seat}")

    class Rooms(Design):
        tables = (table,)
        entities = (Room, Seat)

    with Engine() as engine:
        store = Store(Rooms(), engine)
        store.create_tables()
        for item in (Room(room="a"), Seat(room="a", seat="1"), Seat(room="b", seat="2")):
            store.run(create(item))
        found = store.run(collection(Room, Seat, room="a"))
        assert [type(each).__name__ for each in found.items] == ["Room", "Seat"]


def test_a_cursor_of_other_shards_is_refused(store: Store[Log]) -> None:
    fill(store, list(range(9)))
    page = store.run(query(Event.by_month, at=within(START, START + timedelta(days=40))).limit(2))
    with pytest.raises(BadCursor):
        store.run(query(Event.by_month, at=within(START, START + timedelta(days=41))).limit(2).after(page.next))


def test_a_key_that_does_not_fit_its_fields_is_found_and_repaired(both: tuple[Store[Log], Recorder]) -> None:
    store, sent = both
    (event,) = fill(store, [1])
    values = {":wrong": {"S": "EVENTS#2025-01"}, ":other": {"S": "web#9/9"}}
    sent.client.update_item(  # type: ignore[attr-defined]  # the engine
        TableName="Log",
        Key={"PK": {"S": "EVENT#e000"}, "SK": {"S": "EVENT"}},
        UpdateExpression="SET GSI1PK = :wrong, GSI2PK = :other",
        ExpressionAttributeValues=values,
    )
    findings = store.verify()
    assert [(found.kind, found.problem) for found in findings] == [
        ("stale-index-key", "GSI1PK, GSI2PK doesn't match the item's fields")
    ]
    assert store.repair(findings) == 1
    assert store.verify() == []
    assert store.run(store.design.recent("web")).items == [event]


def test_a_bucket_can_be_unique(store: Store[Log]) -> None:
    fill(store, [1])
    with pytest.raises(Exception, match="one_a_second"):
        store.run(create(Event(id="x", source="web", at=START + timedelta(seconds=1, milliseconds=5))))


def test_a_changed_field_moves_the_item_to_its_bucket(store: Store[Log]) -> None:
    (event,) = fill(store, [1])
    event.at = START + timedelta(days=40)
    store.run(update(event))
    assert store.run(query(Event.by_month, at=START)).items == []
    assert store.run(query(Event.by_month, at=event.at)).items == [event]
    assert store.verify() == []


def test_a_query_needs_the_field_of_its_bucket() -> None:
    with pytest.raises(DesignError, match="no value for at"):
        query(Event.by_month)


# Changing the number of shards


class PostBase(Entity, abstract=True):
    id: Id
    at: int
    version: Version = 0

    primary = key("POST#{id}")


class PostDesign(Design):
    post: ClassVar[type[PostBase]]

    def listed(self) -> Query[PostBase]:
        return query(self.post.by_time)  # type: ignore[attr-defined]  # of the entities that post_design makes


def post_design(shards: str) -> PostDesign:
    """The same entity with other shards, as it is before and after a deployment."""
    table = Table("Posts", key("PK"), indexes={"GSI1": key("GSI1PK", "GSI1SK")})

    class Post(PostBase, table=table):
        by_time = table.GSI1(f"POSTS#{{shard(id, {shards})}}", "{at:03}#{id}")

    class Posts(PostDesign):
        tables = (table,)
        entities = (Post,)
        post = Post

        @job
        def reshard(self) -> Rewrite[Post]:
            return rekey(Post)

    return Posts()


def test_the_number_of_shards_can_be_changed_while_lists_are_read() -> None:
    with Engine() as engine:
        designs = [post_design(shards) for shards in ("4", "4, was=10", "10, was=4", "10")]
        stores = [Store(design, engine, secret=b"secret") for design in designs]
        stores[0].create_tables()
        for number, store in enumerate(stores[:3]):
            for at in range(number, 60, 3):
                store.run(create(store.design.post(id=f"p{at:02}", at=at)))
        wanted = [f"p{at:02}" for at in range(60)]

        def ids(store: Store[PostDesign]) -> list[str]:
            found = [each.id for page in pages(store, store.design.listed(), 7) for each in page]
            assert store.run(count(store.design.listed())) == len(found)
            return found

        store = stores[2]
        assert ids(stores[1]) == ids(store) == wanted
        page = store.run(store.design.listed().limit(30))
        assert len(store.verify()) == 40
        assert store.run(rekey(store.design.post)) == 40
        assert store.run(rekey(store.design.post)) == 0
        assert store.verify() == stores[3].verify() == []
        assert ids(store) == ids(stores[3]) == wanted
        rest = store.run(store.design.listed().limit(60).after(page.next))
        assert [each.id for each in (*page.items, *rest.items)] == wanted
        assert {each.version for each in store.each(store.design.listed())} == {1}


def test_a_job_that_gives_new_keys_is_finished_after_an_interruption() -> None:
    with Engine() as engine:
        before = Store(post_design("4"), engine)
        before.create_tables()
        for at in range(9):
            before.run(create(before.design.post(id=f"p{at}", at=at)))
        after = Store(post_design("5, was=4"), engine)
        with pytest.raises(Killed):
            Store(after.design, Mortal(engine, 6, after=True)).run(after.design.reshard())  # type: ignore[attr-defined]  # see post_design
        assert 0 < len(after.verify()) < 9
        assert after.resume() == 1
        assert after.verify() == []


def test_an_item_that_changes_meanwhile_gets_the_keys_of_its_new_values() -> None:
    with Engine() as engine:
        before, after = Store(post_design("4"), engine), Store(post_design("5, was=4"), engine)
        before.create_tables()
        post = before.run(create(before.design.post(id="p", at=1)))

        class Slow:
            """Changes the item before the first write arrives."""

            changed = False

            def __getattr__(self, name: str) -> object:
                if name == "update_item" and not self.changed:
                    self.changed = True
                    post.at = 2
                    before.run(update(post))
                return getattr(engine, name)

        assert Store(after.design, Slow()).run(rekey(after.design.post)) == 1
        assert after.verify() == []
        assert [each.at for each in after.run(after.design.listed()).items] == [2]


@settings(max_examples=40)
@given(st.data())
def test_a_list_finds_each_item_once_while_it_is_resharded(data: st.DataObject) -> None:
    with Engine() as engine:
        first, second = (Store(post_design(shards), engine, secret=b"s") for shards in ("2", "5, was=2"))
        first.create_tables()
        times = data.draw(st.lists(st.integers(0, 5), min_size=1, max_size=20))
        for number, at in enumerate(times):
            first.run(create(first.design.post(id=f"p{number}", at=at)))
        moving = data.draw(st.permutations(range(len(times))))
        found, cursor = [], None
        while True:
            page = second.run(second.design.listed().limit(data.draw(st.integers(1, 4))).after(cursor))
            found += [(each.at, each.id) for each in page.items]
            cursor = page.next
            if cursor is None:
                break
            if moving:  # one more item gets its new shard
                item = second.run(get(second.design.post, id=f"p{moving.pop()}"))
                assert item is not None
                engine.update_item(
                    TableName="Posts",
                    Key={"PK": {"S": f"POST#{item.id}"}},
                    UpdateExpression="SET GSI1PK = :new",
                    ExpressionAttributeValues={":new": codec_of(second.design.post).encode(item)["GSI1PK"]},
                )
        assert found == sorted((at, f"p{number}") for number, at in enumerate(times))


# Hierarchies


class Place(Entity, table=log):
    id: Id
    country: str
    state: str | None = None
    city: str
    number: int = 0

    primary = key("PLACE#{id}", "PLACE")
    by_place = log.GSI1("PLACES", "{country}#{state|none}#{city}#{number:03}")


class Places(Design):
    tables = (log,)
    entities = (Place,)


names = st.text("ab#", min_size=1, max_size=3)


@settings(max_examples=25)
@given(
    st.lists(st.tuples(names, names | st.none(), names, st.integers(0, 2)), max_size=8),
    st.tuples(names, names | st.none(), names),
)
def test_a_hierarchy_is_queried_at_any_depth(
    rows: list[tuple[str, str | None, str, int]], wanted: tuple[str, str | None, str]
) -> None:
    with Engine() as engine:
        store = Store(Places(), engine, secret=b"secret")
        store.create_tables()
        places = []
        for n, (country, state, city, number) in enumerate(rows):
            place = Place(id=f"p{n}", country=country, state=state, city=city, number=number)
            try:
                places.append(store.run(create(place)))
            except InvalidValue as error:
                assert error.code == "ambiguous-key"  # noqa: PT017 - the others are stored
        for depth in range(4):
            known: dict[str, Any] = dict(list(zip(("country", "state", "city"), wanted, strict=True))[:depth])
            expected = {place.id for place in places if all(getattr(place, n) == v for n, v in known.items())}
            op = query(Place.by_place, **known)
            assert {place.id for place in store.each(op.limit(2))} == expected
            assert store.run(count(op)) == len(expected)
        above = query(Place.by_place, **known, number=at_least(1))
        assert {p.id for p in store.each(above)} == {p.id for p in places if p.id in expected and p.number >= 1}


def test_a_level_without_a_text_for_none_is_refused() -> None:
    with Engine() as engine:
        store = Store(Places(), engine)
        store.create_tables()
        with pytest.raises(InvalidValue) as caught:
            store.run(query(Place.by_place, country=None))
        assert (caught.value.code, caught.value.field) == ("empty-key-value", "country")


def test_patches_of_spread_keys_keep_them_right(store: Store[Log]) -> None:
    fill(store, [1])
    store.run(patch(ref(Event, id="e000"), at=START + timedelta(days=40)))
    store.run(patch(ref(Event, id="e000"), level=3))
    assert store.verify() == []
    assert [event.level for event in store.run(query(Event.by_month, at=START + timedelta(days=40))).items] == [3]


@pytest.mark.parametrize("name", LISTS)
def test_several_partitions_are_read_backward_and_from_any_item(store: Store[Log], name: str) -> None:
    fill(store, [n * 3 * 86400 for n in range(24)], [n % 4 for n in range(24)])
    op = LISTS[name][0]().with_cursors()
    whole = store.run(op.limit(100))
    ids = [event.id for event in whole.items]
    for place, cursor in enumerate(whole.cursors):
        after = [event.id for event in store.run(op.limit(4).after(cursor)).items]
        before = [event.id for event in store.run(op.limit(4).before(cursor)).items]
        assert after == ids[place + 1 : place + 5]
        assert before == ids[max(0, place - 4) : place]
    assert store.run(op.only(lambda event: event.id).limit(5)).items == ids[:5]


class Crowd:
    """A client for asyncio that notes how many requests are under way, and can let one of them fail."""

    def __init__(self, client: object, failing: int = 0) -> None:
        self.client, self.failing = client, failing
        self.now = self.most = self.asked = 0

    def __getattr__(self, name: str) -> Callable[..., Any]:
        async def answer(**request: Any) -> Any:
            self.asked += 1
            mine = self.asked
            self.now += 1
            self.most = max(self.most, self.now)
            try:
                await asyncio.sleep(0.01)
                if mine == self.failing:
                    raise failure("ValidationException")
                return getattr(self.client, name)(**request)
            finally:
                self.now -= 1

        return lambda **request: answer(**request)


def test_an_asynchronous_store_asks_all_shards_at_the_same_time(store: Store[Log]) -> None:
    fill(store, list(range(12)))
    crowd = Crowd(store.client)
    later = AsyncStore(Log(), crowd, secret=b"secret")

    async def body() -> None:
        await later.run(get(Source, name="web"))  # so that it knows that the client is for asyncio
        page = await later.run(later.design.recent("web"))
        assert [event.id for event in page.items] == [event.id for event in store.run(store.design.recent("web")).items]
        assert crowd.most == 5
        crowd.most = 0
        assert await later.run(count(query(Event.anywhere))) == 12
        assert crowd.most == 3
        crowd.most = 0
        two = merge([query(Vote.primary, poll=each) for each in "ab"], lambda vote: vote.voter)
        assert (await later.run(two)).items == []
        assert crowd.most == 8  # four shards of each of two polls

    asyncio.run(body())


def test_if_one_of_several_requests_fails_the_others_are_ended(store: Store[Log]) -> None:
    crowd = Crowd(store.client, failing=3)
    later = AsyncStore(Log(), crowd, secret=b"secret")

    async def body() -> None:
        await later.run(get(Source, name="web"))
        with pytest.raises(RequestFailed):
            await later.run(later.design.recent("web"))
        assert crowd.now == 0

    asyncio.run(body())


def test_all_first_requests_of_a_spread_query_are_shown(store: Store[Log]) -> None:
    shown = store.requests(store.design.recent("web"))
    assert [name for name, _ in shown] == ["query"] * 5
    keys = [next(iter(request["ExpressionAttributeValues"].values()))["S"] for _, request in shown]
    assert keys == [f"web#{shard}/5" for shard in range(5)]
