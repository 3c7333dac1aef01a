"""Handlers without a runner: which changes they get, and in which form."""

from datetime import UTC, datetime
from typing import Any

import pytest

from keyplan.data import Store, create, delete, update
from keyplan.data.streams import Handler, ItemChange, deliver, from_event, on
from keyplan.data.streams.records import packed, unpacked
from keyplan.design import HOUSEKEEPING, DesignError, Entity, Id, Table, key
from keyplan.engine import Engine
from tests.data.press import Article, Comment, Mark, Press, Times, articles, marks, records_of

Seen = list[ItemChange[Any]]


@on(Article, "INSERT", "MODIFY", "REMOVE")
def see_articles(change: ItemChange[Article], seen: Seen) -> None:
    seen.append(change)


@on(Comment, "REMOVE")
def see_comments_go(change: ItemChange[Comment], seen: Seen) -> None:
    seen.append(change)


@on(Mark, "INSERT", "REMOVE")
def see_marks(change: ItemChange[Mark], seen: Seen) -> None:
    seen.append(change)


HANDLERS: tuple[Handler[Seen], ...] = (see_articles, see_comments_go, see_marks)


@pytest.fixture
def times() -> Times:
    return Times()


@pytest.fixture
def engine(times: Times) -> Any:
    with Engine(clock=times.seconds) as made:
        yield made


@pytest.fixture
def store(engine: Engine, times: Times) -> Store[Press]:
    made = Store(Press(), engine, clock=times, secret=b"of the tests")
    made.create_tables()
    return made


def seen_in(engine: Engine, table: Table) -> Seen:
    seen: Seen = []
    for record in records_of(engine, table.name):
        deliver(HANDLERS, table, record, seen)
    return seen


def test_a_change_shows_the_item_before_and_after(store: Store[Press], engine: Engine, times: Times) -> None:
    article = store.run(create(Article(slug="a", title="One")))
    article.title = "Two"
    store.run(update(article))
    first, second = seen_in(engine, articles)
    assert (first.kind, first.before, first.after) == ("INSERT", None, Article(slug="a", title="One", version=1))
    assert (second.kind, second.before, second.after) == ("MODIFY", first.after, article)
    assert first.keys == {"slug": "a"}
    assert first.time == times.now
    assert int(first.sequence) < int(second.sequence)
    assert first.event
    assert first.event != second.event
    assert not first.expired


def test_an_expired_item_is_distinguished_from_a_deleted_one(store: Store[Press], engine: Engine, times: Times) -> None:
    store.run(create(Article(slug="a", title="One", expires=times.now)))
    article = store.run(create(Article(slug="b", title="Two")))
    store.run(delete(article))
    times.pass_(10)
    assert engine.sweep_expired() == 1
    gone = [change for change in seen_in(engine, articles) if change.kind == "REMOVE"]
    assert [(change.keys["slug"], change.expired) for change in gone] == [("b", False), ("a", True)]


def test_a_cascade_shows_deletions_and_not_its_marks(store: Store[Press], engine: Engine) -> None:
    article = store.run(create(Article(slug="a", title="One")))
    for number in (1, 2):
        store.run(create(Comment(slug="a", number=number)))
    store.run(delete(article))
    assert [(type(c.after or c.before).__name__, c.kind) for c in seen_in(engine, articles)] == [
        ("Article", "INSERT"),
        ("Comment", "REMOVE"),
        ("Comment", "REMOVE"),
        ("Article", "REMOVE"),
    ]


def test_an_entity_can_be_read_from_its_key_alone(store: Store[Press], engine: Engine) -> None:
    mark = Mark(subject="a", kind="star", number=7)
    store.run(delete(store.run(create(mark))))
    made, gone = seen_in(engine, marks)
    assert (made.after, gone.before) == (mark, mark)
    assert (made.before, gone.after) == (None, None)
    assert gone.keys == {"subject": "a", "kind": "star", "number": 7}


def test_handlers_get_only_records_of_their_own_table(store: Store[Press], engine: Engine) -> None:
    store.run(create(Article(slug="a", title="One")))
    (record,) = records_of(engine, "Articles")
    seen: Seen = []
    assert deliver([see_marks], articles, record, seen) == 0
    assert deliver(HANDLERS, articles, record, seen) == 1


def test_a_handler_is_still_a_function(store: Store[Press], engine: Engine) -> None:
    store.run(create(Article(slug="a", title="One")))
    (change,) = seen_in(engine, articles)
    seen: Seen = []
    see_articles(change, seen)
    assert seen == [change]
    assert see_articles.name == "see_articles"


def test_a_record_is_stored_unchanged(store: Store[Press], engine: Engine) -> None:
    store.run(create(Article(slug="a", title="Ö", picture=b"\x00\xff", pictures=frozenset({b"1", b"\x80"}))))
    (record,) = records_of(engine, "Articles")
    again = unpacked(packed(record))
    assert again["dynamodb"]["NewImage"] == record["dynamodb"]["NewImage"]
    first: Seen = []
    second: Seen = []
    deliver(HANDLERS, articles, record, first)
    deliver(HANDLERS, articles, again, second)
    assert first == second


def test_a_lambda_event_can_be_handled() -> None:
    event = {
        "eventID": "1",
        "eventName": "REMOVE",
        "eventSource": "aws:dynamodb",
        "userIdentity": {"type": "Service", "principalId": "dynamodb.amazonaws.com"},
        "dynamodb": {
            "ApproximateCreationDateTime": 1772366400.0,
            "Keys": {"PK": {"S": "ARTICLE#a"}, "SK": {"S": "ARTICLE"}},
            "OldImage": {
                "PK": {"S": "ARTICLE#a"},
                "SK": {"S": "ARTICLE"},
                "slug": {"S": "a"},
                "title": {"S": "One"},
                "picture": {"B": "AP8="},
                "pictures": {"BS": ["AP8="]},
                "other": {"M": {"list": {"L": [{"B": "AP8="}]}}},
            },
            "SequenceNumber": "4421584500000000017450439091",
            "StreamViewType": "NEW_AND_OLD_IMAGES",
        },
    }
    record = from_event(event)
    assert record["dynamodb"]["OldImage"]["other"] == {"M": {"list": {"L": [{"B": b"\x00\xff"}]}}}
    seen: Seen = []
    assert deliver(HANDLERS, articles, record, seen) == 1
    assert seen[0].before == Article(slug="a", title="One", picture=b"\x00\xff", pictures=frozenset({b"\x00\xff"}))
    assert seen[0].expired
    assert seen[0].time == datetime(2026, 3, 1, 12, tzinfo=UTC)


typed = Table("Typed", key("PK"), type_attribute="type", stream="KEYS_ONLY")


class Typed(Entity, table=typed, type="TYPED"):
    name: Id
    primary = key("{name}")


class Streamless(Entity, table=HOUSEKEEPING):
    name: Id
    primary = key("STREAMLESS#{name}", "STREAMLESS")


@pytest.mark.parametrize(
    ("entity", "kind", "code"),
    [(Streamless, "INSERT", "no-stream"), (Typed, "REMOVE", "stream-view"), (Article, "UPDATE", "stream-kind")],
)
def test_a_handler_that_could_not_work_is_refused(entity: type[Entity], kind: Any, code: str) -> None:
    with pytest.raises(DesignError) as refused:
        on(entity, kind)
    assert refused.value.code == code
