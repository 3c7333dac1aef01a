"""The events as an iCalendar file (RFC 5545)."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime

from keyplan.apps.vcm.entities import Event
from keyplan.apps.vcm.richtext import plain_text

_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f]")


def calendar_of(events: Sequence[Event], *, name: str, host: str, page: str) -> bytes:
    """The calendar. `page` is the address of an event's page, with {slug} in it."""
    lines = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//Keyplan//vcm//DE", "CALSCALE:GREGORIAN"]
    lines.append(f"X-WR-CALNAME:{_text(name)}")
    for event in events:
        lines += _event(event, host, page)
    return "".join(f"{_folded(line)}\r\n" for line in [*lines, "END:VCALENDAR"]).encode()


def _event(event: Event, host: str, page: str) -> list[str]:
    # A UID stays the same whatever else changes, or calendars would show the event twice.
    lines = ["BEGIN:VEVENT", f"UID:{_text(event.id)}@{host}", f"DTSTAMP:{_time(event.updated_at)}"]
    lines += [f"LAST-MODIFIED:{_time(event.updated_at)}", f"DTSTART:{_time(event.start_date)}"]
    # The end must be later than the start, so an event that lasts less than a second has none.
    if event.end_date is not None and _time(event.end_date) > _time(event.start_date):
        lines.append(f"DTEND:{_time(event.end_date)}")
    lines.append(f"SUMMARY:{_text(event.title)}")
    if event.description and (words := plain_text(event.description)):
        lines.append(f"DESCRIPTION:{_text(words)}")
    if event.address is not None:
        town = " ".join(filter(None, [event.address.postalCode, event.address.city]))
        if place := ", ".join(filter(None, [event.address.name, event.address.street, town])):
            lines.append(f"LOCATION:{_text(place)}")
    return [*lines, f"URL:{page.format(slug=event.slug)}", "END:VEVENT"]


def _time(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y%m%dT%H%M%SZ}"


def _text(value: str) -> str:
    """A text with what would mean something escaped."""
    plain = _CONTROL.sub(" ", value.replace("\r\n", "\n"))
    return plain.replace("\\", "\\\\").replace(";", "\\;").replace(",", "\\,").replace("\n", "\\n")


def _folded(line: str) -> str:
    """A line in pieces of 75 bytes at most, none of which cuts a character in two."""
    pieces, piece, size = [], "", 0
    for letter in line:
        length = len(letter.encode("utf-8", "replace"))
        if size + length > 75:
            pieces.append(piece)
            piece, size = "", 1
        piece += letter
        size += length
    return "\r\n ".join([*pieces, piece])
