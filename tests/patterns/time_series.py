# pyright: strict
"""# Time series

Measurements of a device, read by day or by hour. Each day is a partition, so no partition grows without end, and old
days disappear by themselves.

Use it for metrics, sensor data, page views, chat logs, activity feeds.

**Not for** sums over long times or over all devices: DynamoDB doesn't aggregate. Keep totals as you write (`ADD`, see
[leaderboard](leaderboard.md)), or export to an analytics store.
"""

from datetime import datetime, timedelta
from decimal import Decimal

from keyplan.data import Store, put_all
from keyplan.design import Design, Entity, Id, Query, Table, Ttl, key, pattern, query, within

sensors = Table("Sensors", key("PK", "SK"), ttl="expires", times="seconds")

KEPT = timedelta(days=10 * 365)


class Reading(Entity, table=sensors):
    sensor_id: Id
    at: datetime
    celsius: Decimal
    expires: Ttl

    primary = key("SENSOR#{sensor_id}#{at:%Y-%m-%d}", "{at}")


def reading(sensor_id: str, at: datetime, celsius: str) -> Reading:
    """A reading. The time at which it is deleted follows from its time, and so does the day in its key."""
    return Reading(sensor_id=sensor_id, at=at, celsius=Decimal(celsius), expires=at + KEPT)


class Sensors(Design):
    tables = (sensors,)
    entities = (Reading,)

    @pattern("List readings of a day, newest first")
    def on_day(self, sensor_id: str, day: datetime) -> Query[Reading]:
        return query(Reading.primary, sensor_id=sensor_id, at=day, newest_first=True)

    @pattern("List readings of some time, which may be on several days")
    def between(self, sensor_id: str, start: datetime, end: datetime) -> Query[Reading]:
        return query(Reading.primary, sensor_id=sensor_id, at=within(start, end))


def use(store: Store[Sensors]) -> None:
    """Readings are written in batches of 25. A list over several days reads one day after the other."""
    night = store.clock().replace(hour=22, minute=0, second=0, microsecond=0)
    store.run(put_all([reading("attic", night + timedelta(hours=n), f"{10 + n}.5") for n in range(4)]))

    assert [each.celsius for each in store.run(store.design.on_day("attic", night)).items] == [
        Decimal("11.5"),
        Decimal("10.5"),
    ]
    late = store.design.between("attic", night + timedelta(minutes=30), night + timedelta(hours=2))
    assert [each.at.hour for each in store.run(late).items] == [23, 0]
    both = store.run(store.design.between("attic", night, night + timedelta(days=1)).limit(3))
    assert [each.at.hour for each in both.items] == [22, 23, 0]
    assert both.next is not None
