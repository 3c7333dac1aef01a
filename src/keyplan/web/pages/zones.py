"""Time zones of pages: times are stored in UTC, as in the API; people see and enter them as their clocks show them.

Every page is made in one zone: that of what it shows (`view.show_times_in(team.time_zone)`), else that of its system
(`Pages(zone="Europe/Berlin")`), else the viewer's. The viewer's is the one that was chosen on the page /time-zone, else
the one that the browser's script told, else UTC. Both are kept in cookies. The zone is a context variable of the
request, so that filters and macros of templates know it too.

A form names the zone beside each time, and sends it along: what was typed in one zone is never read in another. Clocks
that are put forward skip some times, which are refused. Of a time that they show twice the first is taken, and the page
after it says so.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from functools import cache
from typing import TypeVar
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from markupsafe import Markup

from keyplan.web.system.language import ENGLISH, Language

CHOSEN, TOLD = "keyplan-zone", "keyplan-browser-zone"
"""The cookies: the zone that somebody chose on the page about it, and the one that the browser has."""
DEFAULT = ZoneInfo("UTC")
_AREAS = ("Africa", "America", "Antarctica", "Arctic", "Asia", "Atlantic", "Australia", "Europe", "Indian", "Pacific")
_MAX_NAME = 64
SKIPPED = "There is no {time} on {day} in {zone}: clocks go from {first} to {last}. Enter another time."
OUTSIDE = "Enter a date between the years 2 and 9998."
TWICE = "Clocks show {time} twice on {day} in {zone}. The first one ({first}, not {second}) was saved."


class NoSuchTime(ValueError):
    """Clocks never show this time."""


@dataclass
class Clock:
    """The zone of a request, and what is to be said about times that were entered in it."""

    zone: ZoneInfo = DEFAULT
    is_of_page: bool = False
    """Whether the page has named the zone: that of a team or a league."""
    remarks: list[str] = field(default_factory=list)
    language: Language = ENGLISH


_CLOCK: ContextVar[Clock] = ContextVar("keyplan_clock")


def clock() -> Clock:
    """The clock of this request."""
    return _CLOCK.get(Clock())


@contextmanager
def at_clock(zone: ZoneInfo, language: Language = ENGLISH) -> Iterator[Clock]:
    """Read and show times in a zone, and days in a language, within the block."""
    token = _CLOCK.set(Clock(zone, language=language))
    try:
        yield _CLOCK.get()
    finally:
        _CLOCK.reset(token)


def zone_named(name: str | None) -> ZoneInfo | None:
    """The zone of this name; None if there is none, on this machine at least."""
    if not name or len(name) > _MAX_NAME:
        return None
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):  # not a name but a path, or a folder
        return None


@cache
def zone_names() -> tuple[str, ...]:
    """The names to choose from, without aliases such as `US/Eastern`."""
    return ("UTC", *sorted(each for each in available_timezones() if each.partition("/")[0] in _AREAS))


# Showing times


D = TypeVar("D", bound=date)


def local_time(value: D) -> D:
    """A time as clocks in the zone of the page show it; a day is the same everywhere."""
    return value.astimezone(clock().zone) if isinstance(value, datetime) else value


def moment(value: datetime) -> Markup:
    """A time for people, with its zone, and its machine-readable form."""
    shown = local_time(value)
    return Markup('<time datetime="{}">{}</time>').format(
        value.isoformat(), f"{clock().language.day(shown)}, {shown:%H:%M} {short(shown)}"
    )


def hour(value: datetime) -> Markup:
    """A time of day for people, with its zone, and its machine-readable form."""
    shown = local_time(value)
    return Markup('<time datetime="{}">{}</time>').format(value.isoformat(), f"{shown:%H:%M} {short(shown)}")


def day(value: date) -> Markup:
    """A day for people, with its machine-readable form; of a time, the day in the zone of the page."""
    return Markup('<time datetime="{}">{}</time>').format(value.isoformat(), clock().language.day(local_time(value)))


def short(shown: datetime) -> str:
    """The abbreviation of a time's zone at this time, such as CET, or its distance from UTC where it has none."""
    name, distance = shown.tzname() or "", f"{shown:%z}"
    return name if name.isalpha() else f"UTC{distance[:3]}:{distance[3:5]}"


def is_shown_twice(shown: datetime) -> bool:
    """Whether clocks show this time twice, because they are put back."""
    return shown.replace(fold=0).utcoffset() != shown.replace(fold=1).utcoffset() and not _is_skipped(shown)


# Entering times


def as_typed(value: datetime, zone: ZoneInfo | None = None) -> str:
    """A time as an HTML element for times takes it."""
    return f"{value.astimezone(zone or clock().zone):%Y-%m-%dT%H:%M}"


def read_time(text: str, zone_name: str | None, before: str | None) -> str:
    """What was typed, as a time with its zone. What isn't a time stays as it is, for the form to refuse.

    `before` is the time that the form showed. If the same minute is typed, that time stays: its seconds, and which of
    two equal times it was.
    """
    typed, known = _parsed(text), _parsed(before or "")
    if typed is None or typed.tzinfo is not None:
        return text
    zone = zone_named(zone_name) or clock().zone
    try:
        if before and known is not None and known.tzinfo and as_typed(known, zone) == f"{typed:%Y-%m-%dT%H:%M}":
            return before
        return _instant(typed.replace(tzinfo=zone), zone).isoformat()
    except OverflowError as error:  # in the first or the last year that there is
        raise NoSuchTime(OUTSIDE) from error


def _instant(shown: datetime, zone: ZoneInfo) -> datetime:
    if _is_skipped(shown):
        raise NoSuchTime(_about_skipped(shown, zone))
    if is_shown_twice(shown):
        clock().remarks.append(_about_twice(shown, zone))
    return shown.astimezone(UTC)


def _parsed(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None


def _is_skipped(shown: datetime) -> bool:
    there_and_back = shown.replace(fold=0).astimezone(UTC).astimezone(shown.tzinfo)
    return there_and_back.replace(tzinfo=None) != shown.replace(tzinfo=None)


def _about_skipped(shown: datetime, zone: ZoneInfo) -> str:
    before, after = (shown.replace(fold=fold).utcoffset() or timedelta() for fold in (0, 1))
    # Clocks are put forward at one second between the two readings of the time that they skip.
    wall = shown.replace(tzinfo=None)
    early, late = wall - after, wall - before
    while late - early > timedelta(seconds=1):
        middle = early + (late - early) / 2
        changed = middle.replace(tzinfo=UTC).astimezone(zone).utcoffset() == after
        early, late = (early, middle) if changed else (middle, late)
    change = late.replace(microsecond=0)
    return SKIPPED.format(
        time=f"{shown:%H:%M}",
        day=clock().language.day(shown),
        zone=zone.key,
        first=f"{change + before:%H:%M}",
        last=f"{change + after:%H:%M}",
    )


def _about_twice(shown: datetime, zone: ZoneInfo) -> str:
    first, second = short(shown), short(shown.replace(fold=1))
    return TWICE.format(
        time=f"{shown:%H:%M}", day=clock().language.day(shown), zone=zone.key, first=first, second=second
    )
