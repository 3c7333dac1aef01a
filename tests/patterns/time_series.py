# pyright: strict
"""# Time series

Measurements of a device, read by day or by hour. Each day is a partition, so no partition grows without end, and old
days disappear by themselves.

Use it for metrics, sensor data, page views, chat logs, activity feeds.

**Not for** sums over long times or over all devices: DynamoDB doesn't aggregate. Keep totals as you write (`ADD`, see
[leaderboard](leaderboard.md)), or export to an analytics store.
"""

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

from keyplan.data import Store, put_all
from keyplan.design import Design, Entity, Id, Merge, Query, Table, Ttl, key, merge, pattern, query, within

sensors = Table("Sensors", key("PK", "SK"), ttl="expires", times="seconds")

KEPT = timedelta(days=90)


class Reading(Entity, table=sensors):
    sensor_id: Id
    day: date
    at: datetime
    celsius: Decimal
    expires: Ttl

    primary = key("SENSOR#{sensor_id}#{day}", "{at}")


def reading(sensor_id: str, at: datetime, celsius: str) -> Reading:
    """A reading. Its day and the time at which it is deleted follow from its time."""
    return Reading(sensor_id=sensor_id, day=at.date(), at=at, celsius=Decimal(celsius), expires=at + KEPT)


class Sensors(Design):
    tables = (sensors,)
    entities = (Reading,)

    @pattern("List readings of a day, newest first")
    def on_day(self, sensor_id: str, day: date) -> Query[Reading]:
        return query(Reading.primary, sensor_id=sensor_id, day=day, newest_first=True)

    @pattern("List readings of a part of a day")
    def between(self, sensor_id: str, day: date, start: datetime, end: datetime) -> Query[Reading]:
        return query(Reading.primary, sensor_id=sensor_id, day=day, at=within(start, end))

    @pattern("List readings of two days, as one list")
    def on_two_days(self, sensor_id: str, first: date, second: date) -> Merge[Reading]:
        days = [query(Reading.primary, sensor_id=sensor_id, day=day) for day in (first, second)]
        return merge(days, lambda each: each.at)


def use(store: Store[Sensors]) -> None:
    """Readings are written in batches of 25. Times in keys are in UTC and of one width, so they sort by time."""
    night = datetime(2026, 3, 1, 22, tzinfo=UTC)
    store.run(put_all([reading("attic", night + timedelta(hours=n), f"{10 + n}.5") for n in range(4)]))

    first, second = night.date(), night.date() + timedelta(days=1)
    assert [each.celsius for each in store.run(store.design.on_day("attic", first)).items] == [
        Decimal("11.5"),
        Decimal("10.5"),
    ]
    late = store.run(store.design.between("attic", first, night + timedelta(minutes=30), night + timedelta(hours=3)))
    assert len(late.items) == 1
    both = store.run(store.design.on_two_days("attic", first, second).limit(3))
    assert [each.at.hour for each in both.items] == [22, 23, 0]
    assert both.next is not None
