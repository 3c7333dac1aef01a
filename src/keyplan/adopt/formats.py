"""In which formats the values of an attribute are in keys: as they are, in lower case, padded, as dates."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal, InvalidOperation
from typing import Literal, TypeAlias

from keyplan.data import AttributeValue
from keyplan.design import address_key, timestamp_text

Times: TypeAlias = Literal["seconds", "milliseconds"]
Values: TypeAlias = Sequence[AttributeValue | None]
Write: TypeAlias = Callable[[str], str | None]

_DIGITS = re.compile(r"[0-9]+")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{3})?Z")
_BUCKETS = ("%Y", "%Y-%m", "%Y-%m-%d", "%Y-%m-%dT%H", "%G-W%V", "%Y%m", "%Y%m%d")
_REVERSED = str.maketrans("0123456789", "9876543210")
_MOST_PLACES = 4


@dataclass(frozen=True)
class TextFormat:
    """A way in which values are written in keys: what follows the name in the template, and the function."""

    suffix: str
    write: Write
    rank: int
    """Simpler ones first: what is as it is, before what is padded or folded."""


def is_time(text: str, times: Times) -> bool:
    """Whether a text is a time exactly as the data layer would write it."""
    if not _TIME.fullmatch(text):
        return False
    try:
        return timestamp_text(datetime.fromisoformat(text), times) == text
    except ValueError:
        return False


def is_date(text: str) -> bool:
    """Whether a text is a date, as ISO 8601 has it."""
    if not _DATE.fullmatch(text):
        return False
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def precision_of(items: Sequence[Mapping[str, AttributeValue]]) -> Times:
    """The precision of most times in a table."""
    seconds = milliseconds = 0
    for item in items:
        for value in item.values():
            for text in re.findall(_TIME.pattern.replace("(", "(?:"), str(value.get("S", ""))):
                seconds, milliseconds = seconds + ("." not in text), milliseconds + ("." in text)
    return "seconds" if seconds > milliseconds else "milliseconds"


def formats_for(values: Values, rests: Sequence[str], times: Times) -> Iterator[TextFormat]:
    """The formats in which these values could be at the beginning of these texts."""
    present = [(value, rest) for value, rest in zip(values, rests, strict=True) if value is not None]
    kinds = {tag for value, _ in present for tag in value}
    if kinds == {"S"}:
        texts = [value["S"] for value, _ in present]
        yield TextFormat("", _same, 0)
        yield TextFormat(".lower", str.lower, 2)
        if all("@" in text for text in texts):
            yield TextFormat(".address", address_key, 3)
        if all(is_date(text) or is_time(text, times) for text in texts):
            of_dates = all(map(is_date, texts))
            if of_dates or not any(map(is_date, texts)):
                yield TextFormat(".desc", lambda text: text.translate(_REVERSED), 4)
                for bucket in _BUCKETS[:3] if of_dates else _BUCKETS:
                    yield TextFormat(f":{bucket}", _bucket(bucket), 5)
    elif kinds == {"N"}:
        widths = {len(match[0]) for _, rest in present if (match := _DIGITS.match(rest))}
        if len(widths) == 1 and all(_DIGITS.match(rest) for _, rest in present):
            yield from _padded([value["N"] for value, _ in present], widths.pop())


def _same(text: str) -> str:
    return text


def _bucket(pattern: str) -> Write:
    def write(text: str) -> str:
        time = datetime.fromisoformat(text)
        return (time.astimezone(UTC) if time.tzinfo else time).strftime(pattern)

    return write


def _padded(texts: Sequence[str], width: int) -> Iterator[TextFormat]:
    """The formats of numbers with this many digits."""
    try:
        numbers = [Decimal(text) for text in texts]
    except InvalidOperation:
        return
    if all(number == number.to_integral_value() for number in numbers):
        yield TextFormat(f":0{width}", _scaled(width, 0), 1)
        yield TextFormat(f".desc:0{width}", lambda text: _turned(_scaled(width, 0)(text)), 4)
        yield TextFormat(f":+0{width - 1}", _signed(width - 1, 0), 5)
    for places in range(1, min(_MOST_PLACES, width - 1) + 1):
        yield TextFormat(f":{width - places}.{places}", _scaled(width, places), 5 + places)


def _turned(text: str | None) -> str | None:
    return None if text is None else text.translate(_REVERSED)


def _scaled(width: int, places: int) -> Write:
    def write(text: str) -> str | None:
        number = Decimal(text).scaleb(places)
        if number < 0 or number != number.to_integral_value():
            return None
        return f"{int(number):0{width}d}"

    return write


def _signed(width: int, places: int) -> Write:
    def write(text: str) -> str:
        number = int(Decimal(text).scaleb(places))
        return f"1{number:0{width}d}" if number >= 0 else f"0{number + 10**width:0{width}d}"

    return write
