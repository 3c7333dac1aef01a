"""Date buckets: the year, month, day, hour or week of a time, as text that sorts by time: `{created_at:%Y-%m}`.

The format is written with `strftime`'s directives. It begins with the year and leaves out no larger unit. So a bucket
is one stretch of time, and the texts of buckets sort like their times. Times are in UTC.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from keyplan.design.errors import DesignError

_CALENDAR = "YmdHMS"
_WEEKS = "GV"
_DIRECTIVE = re.compile(r"%(.?)", re.DOTALL)
_STEPS = {
    "m": timedelta(days=31),
    "d": timedelta(days=1),
    "H": timedelta(hours=1),
    "M": timedelta(minutes=1),
    "S": timedelta(seconds=1),
    "V": timedelta(weeks=1),
    "Y": timedelta(days=366),
}
"""From the start of a bucket to some time in the next one, by its smallest unit."""
_REMEDY = "Use %Y, %Y-%m, %Y-%m-%d and so on down to %S, or %G-W%V for weeks."


@dataclass(frozen=True)
class Bucket:
    """A way to divide time into buckets, each with a text."""

    parts: tuple[str, ...]
    """The texts around the directives at even places, and the directives, without the percent sign, at odd ones."""

    @property
    def _unit(self) -> str:
        """The directive of the smallest unit."""
        return self.parts[-2]

    @property
    def shape(self) -> tuple[str | int, ...]:
        """The literals of a bucket's text, and the number of digits between them."""
        return tuple(_width(part) if n % 2 else part for n, part in enumerate(self.parts) if part)

    def text(self, value: date) -> str:
        """The bucket of a date, or of a time in UTC."""
        return "".join([_digits(value, part) if n % 2 else part for n, part in enumerate(self.parts)])

    def start(self, value: date) -> date:
        """The first moment of a value's bucket."""
        unit = self._unit
        if unit == "V":
            day = date.fromordinal(value.toordinal() - value.weekday())
        else:
            day = date(value.year, 1 if unit == "Y" else value.month, 1 if unit in "Ym" else value.day)
        if not isinstance(value, datetime):
            return day
        hour, minute, second = [
            number if place <= "HMS".find(unit) else 0
            for place, number in enumerate((value.hour, value.minute, value.second))
        ]
        return datetime(day.year, day.month, day.day, hour, minute, second, tzinfo=value.tzinfo)

    def starts(self, low: date, high: date) -> Iterator[date]:
        """The first moments of all buckets from the one of `low` to the one of `high`."""
        start = self.start(low)
        while start <= high:
            yield start
            try:
                start = self.start(start + _STEPS[self._unit])
            except OverflowError:  # after year 9999
                return


def _width(directive: str) -> int:
    return 4 if directive in "YG" else 2


def _digits(value: date, directive: str) -> str:
    match directive:
        case "Y":
            number = value.year
        case "m":
            number = value.month
        case "d":
            number = value.day
        case "G" | "V":
            number = value.isocalendar()["GV".index(directive)]
        case _:
            assert isinstance(value, datetime)
            number = (value.hour, value.minute, value.second)["HMS".index(directive)]
    return f"{number:0{_width(directive)}d}"


def parse_bucket(spec: str, place: str, *, of_dates: bool) -> Bucket:
    """The bucket that a format such as `%Y-%m` stands for. `of_dates`: the field is a date, without a time of day."""
    parts = tuple(_DIRECTIVE.split(spec))
    directives = "".join(parts[1::2])
    unknown = [each for each in parts[1::2] if not each or each not in _CALENDAR + _WEEKS]
    if unknown:
        raise DesignError("bucket-format", place, f"'%{unknown[0]}' isn't a unit of a date bucket", _REMEDY)
    if directives != _WEEKS and not _CALENDAR.startswith(directives):
        problem = f"{spec!r} is ambiguous or doesn't sort by time: the year comes first, and each larger unit"
        raise DesignError("bucket-order", place, problem, _REMEDY)
    if of_dates and any(each in "HMS" for each in directives):
        raise DesignError(
            "bucket-format", place, f"{spec!r} has a time of day, and the field is a date", "Use %Y, %Y-%m or %Y-%m-%d."
        )
    if any(character.isdigit() for text in parts[::2] for character in text):
        raise DesignError(
            "bucket-format", place, f"{spec!r} contains digits of its own", "Separate the units by other characters."
        )
    return Bucket(parts)
