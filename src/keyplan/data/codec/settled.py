"""What an entity holds after a write: the values that are read back differently than they were written."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from keyplan.data.codec.decoding import timed_fields
from keyplan.data.codec.entities import EntityCodec
from keyplan.data.codec.times import as_stored, times_in
from keyplan.data.codec.values import Item, ttl_codec


def settled(codec: EntityCodec[Any], values: Mapping[str, object], item: Item) -> dict[str, object]:
    """The values of fields that are read back differently than they were written: times, cut and in UTC."""
    found: dict[str, object] = {}
    times = codec.spec.table.times
    if ttl := codec.spec.by_kind.get("ttl"):
        time = values[ttl.name]
        if isinstance(time, datetime) and as_stored(time, "seconds") is not time:
            found[ttl.name] = ttl_codec().decode(codec.encode_value(ttl.name, time) or {})
    for name in timed_fields(codec.spec):
        value = values[name]
        if isinstance(value, datetime):
            if (stored := as_stored(value, times)) is not value:
                found[name] = stored
        elif any(as_stored(time, times) is not time for time in times_in(value)):
            found[name] = codec.decode(item).__dict__[name]
    return found
