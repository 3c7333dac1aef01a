"""A value of another type than its field's, given for a key, is refused where the read or the reference is made."""

from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from enum import Enum
from typing import Any, Literal
from uuid import UUID

import pytest

from keyplan.design import (
    Design,
    Entity,
    Get,
    Id,
    InvalidValue,
    Table,
    Ttl,
    at_least,
    batch_get,
    count,
    get,
    key,
    lookup,
    pattern,
    query,
    ref,
    starting,
    taken,
    there,
    unique,
    within,
)

events = Table(
    "Events",
    key("PK", "SK"),
    indexes={
        "ByKind": key("kindKey", "at"),
        "BySize": key("kind", "size:N"),
        "ByDigest": key("digest:B"),
        "ByExpiry": key("kind", "expires:N"),
        "ByDay": key("day", "id"),
    },
    ttl="expires",
)
NOW = datetime(2026, 1, 31, tzinfo=UTC)


class Color(Enum):
    RED = "red"


class Event(Entity, table=events):
    event_id: Id
    kind: Literal["in", "out"]
    color: Color
    at: datetime
    day: date
    id: UUID
    size: int
    price: Decimal
    digest: bytes
    expires: Ttl

    primary = key("EVENT#{event_id}", "EVENT")
    by_kind = events.ByKind("{kind}#{color}#{price:4.2}", "{at}")
    by_size = events.BySize("{kind}", "{size}")
    by_digest = events.ByDigest("{digest}")
    by_expiry = events.ByExpiry("{kind}", "{expires}")
    by_day = events.ByDay("{day}", "{id}")
    guard = unique("NAME#{event_id.lower}", carries="event_id")


WRONG: list[tuple[Callable[[], Any], str]] = [
    (lambda: get(Event, event_id=3), "Event.primary.event_id: 3 isn't text [wrong-type]"),
    (lambda: there(Event, event_id=b"3"), "Event.primary.event_id: b'3' isn't text [wrong-type]"),
    (lambda: ref(Event, event_id=3), "Event.primary.event_id: 3 isn't text [wrong-type]"),
    (lambda: batch_get(Event, ["3", 3]), "Event.primary.event_id: 3 isn't text [wrong-type]"),
    (lambda: lookup(Event.guard, event_id=3), "Event.guard.event_id: 3 isn't text [wrong-type]"),
    (lambda: taken(Event.guard, event_id=3), "Event.guard.event_id: 3 isn't text [wrong-type]"),
    (lambda: query(Event.primary, event_id=3), "Event.primary.event_id: 3 isn't text [wrong-type]"),
    (lambda: count(query(Event.primary, event_id=3)), "Event.primary.event_id: 3 isn't text [wrong-type]"),
    (
        lambda: query(Event.by_kind, kind=1, color=Color.RED, price=1),
        "Event.by_kind.kind: 1 isn't one of 'in', 'out' [wrong-type]",
    ),
    (
        lambda: query(Event.by_kind, kind="in", color=1, price=1),
        "Event.by_kind.color: 1 isn't one of 'red' [wrong-type]",
    ),
    (
        lambda: query(Event.by_kind, kind="in", color=Color.RED, price="1"),
        "Event.by_kind.price: '1' isn't a number [wrong-type]",
    ),
    (
        lambda: query(Event.by_kind, kind="in", color=Color.RED, price=1, at=at_least("2026")),
        "Event.by_kind.at: '2026' isn't a datetime [wrong-type]",
    ),
    (
        lambda: query(Event.by_size, kind="in", size=within(1, "many")),
        "Event.by_size.size: 'many' isn't of type int or Decimal or float [wrong-type]",
    ),
    (
        lambda: query(Event.by_size, kind="in", size=True),
        "Event.by_size.size: True isn't of type int or Decimal or float [wrong-type]",
    ),
    (lambda: query(Event.by_digest, digest="x"), "Event.by_digest.digest: 'x' isn't of type bytes [wrong-type]"),
    (
        lambda: query(Event.by_expiry, kind="in", expires=at_least(3)),
        "Event.by_expiry.expires: 3 isn't of type datetime [wrong-type]",
    ),
    (lambda: query(Event.by_day, day=NOW), f"Event.by_day.day: {NOW!r} isn't a date [wrong-type]"),
    (lambda: query(Event.by_day, day=NOW.date(), id="1"), "Event.by_day.id: '1' isn't a UUID [wrong-type]"),
]


@pytest.mark.parametrize(("made", "message"), WRONG)
def test_a_value_of_another_type_is_refused(made: Callable[[], Any], message: str) -> None:
    with pytest.raises(InvalidValue) as caught:
        made()
    assert str(caught.value) == message
    assert caught.value.field is not None


def test_values_that_are_as_good_are_taken() -> None:
    class Name(str):
        """Text of a class of one's own."""

    get(Event, event_id=Name("a"))
    query(Event.by_kind, kind="in", color="red", price=1, at=at_least(NOW))  # an enum's value, and an int as a decimal
    query(Event.by_size, kind="in", size=Decimal(3))
    query(Event.by_kind, kind=starting("i").low, color=Color.RED, price=1.5)
    query(Event.by_expiry, kind="in", expires=at_least(NOW))


def test_parameters_of_a_pattern_have_any_type() -> None:
    class Agenda(Design):
        tables, entities = (events,), (Event,)

        @pattern("Get event")
        def event(self, event_id: str) -> Get[Event]:
            return get(Event, event_id=event_id)

    with pytest.raises(InvalidValue, match=r"^Event\.primary\.event_id: 3 isn't text \[wrong-type\]$"):
        Agenda().event(3)  # type: ignore[arg-type]  # what is refused here
