"""Fields of Payload's records: their values as the tables have them."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from unicodedata import normalize
from zoneinfo import ZoneInfo

from pydantic import JsonValue

from keyplan.apps.vcm.payload.export import Record

BERLIN = ZoneInfo("Europe/Berlin")
_TIME = re.compile("([01][0-9]|2[0-3]):[0-5][0-9]")
DAYS = "sunday monday tuesday wednesday thursday friday saturday".split()
"""As JavaScript counts them."""
GERMAN_DAYS = "sonntag montag dienstag mittwoch donnerstag freitag samstag".split()


class Unusable(Exception):
    """A record can't be converted."""


def id_in(record: Mapping[str, JsonValue]) -> str | None:
    """The id of a record, where it can be one here."""
    id = record.get("id")
    text = str(id) if isinstance(id, str | int) and not isinstance(id, bool) else ""
    return text if 0 < len(text) <= 128 and "#" not in text else None


def id_of(value: JsonValue) -> str | None:
    """The id of what a relationship names: by itself, as the whole record, or with its collection."""
    if isinstance(value, dict):
        return id_of(value["value"]) if "relationTo" in value and "value" in value else id_in(value)
    return id_in({"id": value})


def text_in(record: Mapping[str, JsonValue], name: str) -> str:
    """A text that has to be there."""
    value = record.get(name)
    if not isinstance(value, str) or not value.strip():
        raise Unusable(f"it has no {name}")
    return normalize("NFC", value.strip())


def optional_in(record: Mapping[str, JsonValue], name: str) -> str | None:
    """A text that may be there."""
    value = record.get(name)
    if value is not None and not isinstance(value, str):
        raise Unusable(f"{name} is not a text")
    return normalize("NFC", value.strip()) or None if value else None


def time_in(record: Mapping[str, JsonValue], name: str) -> datetime | None:
    """A time that may be there, to the millisecond."""
    value = record.get(name)
    if value in (None, ""):
        return None
    try:
        moment = datetime.fromisoformat(str(value))
        moment = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise Unusable(f"{name} {value!r} is not a time") from error
    return moment.replace(microsecond=moment.microsecond // 1000 * 1000)


def published_in(record: Record) -> datetime:
    """When an article may be read; where that is not said, since it was written."""
    moment = time_in(record, "publishedDate") or time_in(record, "createdAt")
    if moment is None:
        raise Unusable("it has no publishedDate")
    return moment


def to_seconds(moment: datetime | None) -> datetime | None:
    """A time to the second, as a time to live is kept."""
    return None if moment is None else moment.replace(microsecond=0)


def stamps_of(record: Record, *names: str) -> dict[str, Any]:
    """When a record was made and changed, as far as it says."""
    given = {"created_at": time_in(record, "createdAt"), "updated_at": time_in(record, "updatedAt")}
    return {name: at for name, at in given.items() if at is not None and (not names or name in names)}


def address_of(value: JsonValue) -> dict[str, str | None] | None:
    """An address, unless nothing of it is there."""
    given = value if isinstance(value, dict) else {}
    made = {name: optional_in(given, name) for name in ("name", "street", "postalCode", "city")}
    return made if any(made.values()) else None


def days_of(value: JsonValue) -> list[int]:
    """Days of the week, by their numbers or names."""
    made = []
    for each in value if isinstance(value, list) else [value]:
        name = str(each).strip().lower()
        if name in DAYS:
            made.append(DAYS.index(name))
        elif name in GERMAN_DAYS:
            made.append(GERMAN_DAYS.index(name))
        elif name in "0123456" and len(name) == 1:
            made.append(int(name))
        else:
            raise Unusable(f"{each!r} is not a day of the week")
    return sorted(set(made))


def wall_time_in(given: Mapping[str, JsonValue], name: str) -> str:
    """A time of day: as it is, or the one in Berlin of a moment, which is how Payload keeps times of day."""
    value = given.get(name)
    if isinstance(value, str) and _TIME.fullmatch(value):
        return value
    moment = time_in(given, name)
    if moment is None:
        raise Unusable(f"a training has no {name}")
    return f"{moment.astimezone(BERLIN):%H:%M}"
