"""Times: an entity holds what was stored, and a time without a zone that somebody else wrote is an error on reading."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta, timezone
from typing import Annotated, Any

import pytest
from pydantic import AfterValidator, BaseModel, Field

from keyplan.data import Store, StoredDataError, create, import_all, move, put, put_all, update
from keyplan.design import Created, Design, Entity, Id, InvalidValue, Table, Ttl, Version, created, get, key, scan
from keyplan.engine import Engine

times = Table("Times", key("PK", "SK"), indexes={"GSI1": key("GSI1PK", "GSI1SK")}, ttl="until")
whole = Table("Whole", key("pk"), times="seconds")
packed = Table("Packed", key("pk"), envelope="data")

FINE = datetime(2026, 3, 1, 12, 0, 0, 123456, tzinfo=timezone(timedelta(hours=2)))
CUT = datetime(2026, 3, 1, 10, 0, 0, 123000, tzinfo=UTC)


class Span(BaseModel):
    start: datetime
    end: datetime | None = None


def in_utc(time: datetime) -> datetime:
    return time.replace(tzinfo=UTC) if time.tzinfo is None else time


class Event(Entity, table=times):
    event_id: Id
    at: datetime
    ends: datetime | None = None
    spans: list[Span] = Field(default_factory=list)
    days: dict[str, datetime] = Field(default_factory=dict)
    ruled: Annotated[datetime, AfterValidator(in_utc)] = CUT
    until: Ttl | None = None
    name: str = ""
    version: Version = 0

    primary = key("EVENT#{event_id}", "EVENT")
    by_time = times.GSI1("EVENTS", "{at}#{event_id}")


class Moment(Entity, table=whole):
    moment_id: Id
    at: datetime
    made: Created = created()

    primary = key("{moment_id}")


class Parcel(Entity, table=packed):
    parcel_id: Id
    at: datetime
    spans: list[Span] = Field(default_factory=list)

    primary = key("{parcel_id}")


class Calendar(Design):
    tables = (times, whole, packed)
    entities = (Event, Moment, Parcel)


@pytest.fixture
def engine() -> Iterator[Engine]:
    with Engine() as engine:
        yield engine


@pytest.fixture
def calendar(engine: Engine) -> Store[Calendar]:
    store = Store(Calendar(), engine, clock=lambda: FINE)
    store.create_tables()
    return store


def fine_event() -> Event:
    spans = [Span(start=FINE, end=FINE)]
    return Event(event_id="e", at=FINE, ends=FINE, spans=spans, days={"a": FINE}, until=FINE)


def exact(entity: Any) -> str:
    """All values of an entity, with their zones and microseconds."""
    return str(entity.model_dump_json())


def test_after_a_write_the_entity_holds_what_was_stored(calendar: Store[Calendar]) -> None:
    event = calendar.run(create(fine_event()))
    assert event.at == CUT
    assert event.at.tzinfo is UTC
    assert exact(event) == exact(calendar.run(get(Event, event_id="e")))
    event.ends, event.spans = FINE + timedelta(days=1), [Span(start=FINE)]
    calendar.run(update(event))
    assert exact(event) == exact(calendar.run(get(Event, event_id="e")))
    event.at = FINE + timedelta(days=2)
    calendar.run(move(event, event_id="f"))
    assert exact(event) == exact(calendar.run(get(Event, event_id="f")))
    calendar.run(update(event))
    assert event.version == 3  # nothing has changed since
    event.at += timedelta(microseconds=5)
    calendar.run(update(event))  # less than is stored, so nothing is sent
    assert event.version == 3
    assert exact(event) == exact(calendar.run(get(Event, event_id="f")))


@pytest.mark.parametrize("kind", [Moment, Parcel])
def test_every_way_to_write_leaves_what_was_stored(calendar: Store[Calendar], kind: Any) -> None:
    def made(name: str) -> Any:
        values = (
            {"moment_id": name, "made": FINE} if kind is Moment else {"parcel_id": name, "spans": [Span(start=FINE)]}
        )
        return kind(at=FINE, **values)

    ways: list[Callable[[Any], Any]] = [create, put, lambda each: put_all([each]), lambda each: import_all([each])]
    for number, way in enumerate(ways):
        entity = made(f"m{number}")
        calendar.run(way(entity))
        stored = calendar.run(get(kind, **entity.key_values))
        assert exact(entity) == exact(stored)
        assert entity.at.microsecond == (0 if kind is Moment else 123000)


NAIVE = {"S": "2026-03-01T12:00:00"}
ITEM = {"PK": {"S": "EVENT#n"}, "SK": {"S": "EVENT"}, "event_id": {"S": "n"}, "at": {"S": "2026-03-01T12:00:00.000Z"}}


@pytest.mark.parametrize(
    ("attribute", "value"),
    [
        ("at", NAIVE),
        ("ends", NAIVE),
        ("spans", {"L": [{"M": {"start": NAIVE}}]}),
        ("days", {"M": {"a": NAIVE}}),
    ],
)
def test_a_time_without_a_zone_is_an_error_on_reading(
    calendar: Store[Calendar], engine: Engine, attribute: str, value: Any
) -> None:
    names = {name: field.stored for name, field in Event.spec.fields.items()}
    engine.put_item(TableName="Times", Item={**ITEM, names[attribute]: value})
    for read in (get(Event, event_id="n"), scan(Event)):
        with pytest.raises(StoredDataError, match="has no time zone") as unreadable:
            calendar.run(read)
        assert unreadable.value.attribute == names[attribute]


def test_a_rule_of_the_field_can_give_it_a_zone(calendar: Store[Calendar], engine: Engine) -> None:
    engine.put_item(TableName="Times", Item={**ITEM, "ruled": NAIVE})
    event = calendar.run(get(Event, event_id="n"))
    assert event is not None
    assert event.ruled == datetime(2026, 3, 1, 12, tzinfo=UTC)
    event.name = "named"
    calendar.run(update(event))
    assert engine.scan(TableName="Times")["Items"][0]["ruled"] == NAIVE  # it wasn't changed


def test_a_time_without_a_zone_is_not_written(calendar: Store[Calendar]) -> None:
    with pytest.raises(InvalidValue) as refused:
        calendar.run(create(Event(event_id="e", at=FINE.replace(tzinfo=None))))
    assert (refused.value.field, refused.value.code) == ("at", "naive-time")
