"""How values are written in keys: as text that sorts like the values and can be read back.

The format depends on the field's type and on what follows the colon in the template: `{n:04}` is an integer of four
digits, `{n:+04}` one that may be negative, and `{price:+6.2}` a decimal with six digits before the point and two after
it. `{name.lower}` converts to lowercase, and `{email.address}` to the form in which e-mail addresses are compared (see
`emails`). `{start|9999}` gives the text for a missing value. Timestamps and dates
always have the same width.

`{created_at.desc}` and `{score.desc:06}` sort in reverse: each digit d of the text becomes 9 - d. `{created_at:%Y-%m}`
is a date bucket (see `buckets`), and `{shard(user_id, 16)}` a shard (see `shards`). These two are computed: the value
can't be read back from them.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from decimal import Context, Decimal
from enum import Enum
from functools import cached_property
from typing import Any, Literal, TypeAlias, get_origin
from uuid import UUID

from keyplan.design.errors import DesignError, InvalidValue
from keyplan.design.keys.buckets import Bucket, parse_bucket
from keyplan.design.keys.shards import Shards, shard_width
from keyplan.design.values.emails import address_key

TimePrecision: TypeAlias = Literal["seconds", "milliseconds"]
Fold: TypeAlias = Literal["lower", "address"]
"""A way to write different values as the same text: in lower case, or as an e-mail address."""

_REVERSED = str.maketrans("0123456789", "9876543210")
_INTEGER = re.compile(r"(\+?)0([1-9][0-9]?)\Z")
_EXACT = Context(prec=200)
_DECIMAL = re.compile(r"(\+?)([1-9][0-9]?)\.([1-9][0-9]?)\Z")


class Letters(Enum):
    """A class of characters: one or more of any, one or more of any but the separator, or a given number of digits."""

    ANY = 1
    NO_SEPARATOR = 2
    DIGITS = 3


Element: TypeAlias = str | Letters | tuple[Letters, int]
"""A part of a key's shape: a literal, a class of characters, or a number of digits."""
Shape: TypeAlias = tuple[Element, ...]

ANY, NO_SEPARATOR, DIGITS = Letters.ANY, Letters.NO_SEPARATOR, Letters.DIGITS
BARE: tuple[Shape, ...] = ((NO_SEPARATOR,),)
"""The shape of text without the separator."""


@dataclass(frozen=True)
class Format:
    """One way to write values as text.

    `shapes` describe all text that it can write, to tell keys apart.
    """

    write: Callable[[object], str]
    read: Callable[[str], object]
    shapes: tuple[Shape, ...]
    folds: bool = False
    """Whether different values can give the same text (`.lower`, `.address`)."""

    kinds: tuple[type, ...] = ()
    """The classes of values that `write` surely takes; it refuses some of other classes."""

    as_is: bool = False
    """Whether text is written unchanged."""

    inverted: bool = False
    """Whether the text sorts in reverse (`.desc`)."""

    bucket: Bucket | None = None
    """For a date bucket: which one."""

    shards: Shards | None = None
    """For a shard: of how many."""

    former: Callable[[object], str] | None = None
    """For a shard whose number was changed: the shard that a value was in before."""

    @cached_property
    def computed(self) -> bool:
        """Whether the value can't be read back from the text at all: for buckets and shards."""
        return self.bucket is not None or self.shards is not None

    @cached_property
    def bare(self) -> bool:
        """Whether the text never contains the separator."""
        return self.shapes == BARE


def timestamp_text(value: datetime, precision: TimePrecision) -> str:
    """A timestamp as text: ISO 8601, in UTC, with a fixed width."""
    return utc(value).isoformat(timespec=precision).removesuffix("+00:00") + "Z"


def utc(value: datetime) -> datetime:
    """The same time in UTC. Refused without a time zone, or if it is before year 1 or after 9999 in UTC."""
    if value.tzinfo is None:
        raise InvalidValue("naive-time", "time", f"{value!r} has no time zone")
    try:
        return value.astimezone(UTC)
    except OverflowError:
        raise InvalidValue("time-range", "time", f"{value!r} is out of range in UTC") from None


def timestamp_value(text: str) -> datetime:
    """The time that a timestamp stands for."""
    return datetime.fromisoformat(text)


def format_of(
    annotation: object, spec: str, place: str, precision: TimePrecision, *, fold: Fold | None, bare: bool
) -> Format:
    """The format for a field of this type. `bare`: the type doesn't allow the separator, as in an `Id`."""
    if "%" in spec:
        return _bucketed(annotation, spec, place)
    if spec:
        return _numeric(annotation, spec, place)
    if annotation is int or annotation is Decimal or annotation is float:
        raise DesignError(
            "unpadded-number",
            place,
            "a number without a width sorts 10 before 9",
            "Give it a width, such as {n:04}, {n:+04} if it may be negative, or {n:+6.2} for a decimal.",
        )
    if annotation is datetime:
        return _timestamp(precision)
    if annotation is date:
        return Format(_date_text, date.fromisoformat, (_pattern("0000-00-00"),))
    if annotation is UUID:
        return Format(_uuid_text, UUID, ((NO_SEPARATOR,),))
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return choices({member.value: member for member in annotation}, place)
    if annotation is not str:
        raise DesignError(
            "no-format",
            place,
            f"a {getattr(annotation, '__name__', annotation)} can't be part of a key",
            "Keys can contain text, numbers, times, dates, UUIDs, enums and literals.",
        )
    if fold is not None:
        folded = str.lower if fold == "lower" else address_key
        return Format(lambda v: folded(_text(v)), str, ((NO_SEPARATOR if bare else ANY,),), folds=True)
    return Format(_text, str, ((NO_SEPARATOR if bare else ANY,),), as_is=True)


def check_invertible(annotation: object, place: str) -> None:
    """Refuse a field that can't be written in reverse order."""
    if annotation not in (int, float, Decimal, datetime, date):
        raise DesignError(
            "not-invertible",
            place,
            f"a {getattr(annotation, '__name__', annotation)} can't be written in reverse order",
            "Use .desc with numbers, times and dates.",
        )


def inverted(chosen: Format) -> Format:
    """The format that sorts in reverse: each digit d becomes 9 - d."""
    return replace(
        chosen,
        write=lambda value: chosen.write(value).translate(_REVERSED),
        read=lambda text: chosen.read(text.translate(_REVERSED)),
        inverted=True,
    )


def sharded(annotation: object, shards: Shards, place: str, precision: TimePrecision) -> Format:
    """The format for the shard of a field."""
    shards.check(place)
    if annotation in (Decimal, float):
        raise DesignError(
            "no-format",
            place,
            "a decimal has several texts (1.5 and 1.50), which would be in different shards",
            "Shard by text, whole numbers, times, dates, UUIDs, enums or literals.",
        )
    text = _shard_text(annotation, place, precision)
    was = shards.was
    return Format(
        lambda value: shards.text(text(value), shards.count),
        str,
        tuple(((DIGITS, shard_width(count)), f"/{count}") for count in shards.counts),
        shards=shards,
        former=None if was is None else lambda value: shards.text(text(value), was),
    )


def _shard_text(annotation: object, place: str, precision: TimePrecision) -> Callable[[object], str]:
    """The function for the text of a value that its shard is computed of."""
    if annotation is int:
        return _whole_text
    if get_origin(annotation) is Literal or (isinstance(annotation, type) and issubclass(annotation, Enum)):
        return _choice_text
    return format_of(annotation, "", place, precision, fold=None, bare=False).write


def _bucketed(annotation: object, spec: str, place: str) -> Format:
    """The format for a date bucket."""
    if annotation not in (datetime, date):
        raise DesignError(
            "unknown-format", place, f"{spec!r} is a format for times and dates", "Remove it, or use such a field."
        )
    bucket = parse_bucket(spec, place, of_dates=annotation is date)
    shape = tuple((DIGITS, part) if isinstance(part, int) else part for part in bucket.shape)
    return Format(lambda value: bucket.text(bucket_time(value, annotation)), str, (shape,), bucket=bucket)


def bucket_time(value: object, annotation: object) -> date:
    """A value of a bucketed field as the date, or the time in UTC, that its bucket is computed of."""
    if annotation is datetime:
        if not isinstance(value, datetime):
            raise _wrong(value, "a datetime")
        return utc(value)
    if not isinstance(value, date) or isinstance(value, datetime):
        raise _wrong(value, "a date")
    return value


def choices(values: Mapping[Any, object], place: str) -> Format:
    """The format for one of several values, given with the text for each of them in the key."""
    members = {str(chosen): value for chosen, value in values.items()}
    numbers = [chosen for chosen in values if isinstance(chosen, int | float) and not isinstance(chosen, bool)]
    texts = list(map(str, sorted(numbers)))
    if len(members) < len(values) or texts != sorted(texts):
        raise DesignError(
            "unpadded-number",
            place,
            "the values don't sort or differ as text the way they do as values",
            "Use text of one width, or a number with a width, such as {n:04}.",
        )
    kinds = {type(chosen) for chosen in values}

    def write(value: object) -> str:
        if type(value.value if isinstance(value, Enum) else value) not in kinds:
            raise _wrong(value, f"one of {', '.join(map(repr, values))}")
        return _choice_text(value)

    return Format(write, members.__getitem__, tuple((text,) for text in members))


def _wrong(value: object, wanted: str) -> InvalidValue:
    return InvalidValue("wrong-type", "key", f"{value!r} isn't {wanted}")


def _date_text(value: object) -> str:
    if not isinstance(value, date) or isinstance(value, datetime):
        raise _wrong(value, "a date")
    return value.isoformat()


def _uuid_text(value: object) -> str:
    if not isinstance(value, UUID):
        raise _wrong(value, "a UUID")
    return str(value)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise _wrong(value, "text")
    return value


def _choice_text(value: object) -> str:
    return str(value.value) if isinstance(value, Enum) else str(value)


def _pattern(text: str) -> Shape:
    """The shape of text in which every run of zeros stands for digits."""
    return tuple((DIGITS, len(piece)) if piece[0] == "0" else piece for piece in re.findall(r"0+|[^0]+", text))


def _timestamp(precision: TimePrecision) -> Format:
    shape = _pattern("0000-00-00T00:00:00Z" if precision == "seconds" else "0000-00-00T00:00:00.000Z")

    def write(value: object) -> str:
        if not isinstance(value, datetime):
            raise _wrong(value, "a datetime")
        return timestamp_text(value, precision)

    return Format(write, timestamp_value, (shape,))


def _numeric(annotation: object, spec: str, place: str) -> Format:
    if annotation not in (int, Decimal, float):
        raise DesignError(
            "unknown-format", place, f"{spec!r} is a format for numbers", "Remove it, or use a numeric field."
        )
    if match := _INTEGER.match(spec):
        return _integer(int(match[2]), signed=bool(match[1]))
    if match := _DECIMAL.match(spec):
        return _decimal(int(match[2]), int(match[3]), signed=bool(match[1]))
    raise DesignError("unknown-format", place, f"{spec!r} isn't a format", "Use {n:04}, {n:+04}, {n:6.2} or {n:+6.2}.")


def _whole_text(value: object) -> str:
    if not isinstance(value, int) or isinstance(value, bool):
        raise _wrong(value, "a whole number")
    return str(int(value))


def _integer(width: int, *, signed: bool) -> Format:
    def write(value: object) -> str:
        if not isinstance(value, int) or isinstance(value, bool):
            raise _wrong(value, "a whole number")
        return _scaled_text(value, width, signed=signed, value=value)

    def read(text: str) -> object:
        return _scaled_value(text, width, signed=signed)

    return Format(write, read, (((DIGITS, width + signed),),))


def _decimal(whole: int, places: int, *, signed: bool) -> Format:
    width, scale = whole + places, Decimal(10) ** places

    def write(value: object) -> str:
        if not isinstance(value, int | float | Decimal) or isinstance(value, bool):
            raise _wrong(value, "a number")
        scaled = _EXACT.multiply(Decimal(str(value)), scale)
        if not scaled.is_finite() or scaled != scaled.to_integral_value():
            raise InvalidValue("inexact-number", "key", f"{value} has more than {places} decimal places")
        return _scaled_text(int(scaled), width, signed=signed, value=value)

    def read(text: str) -> object:
        return _EXACT.divide(Decimal(_scaled_value(text, width, signed=signed)), scale)

    return Format(write, read, (((DIGITS, width + signed),),))


def _scaled_text(number: int, width: int, *, signed: bool, value: object) -> str:
    """A number with a fixed width. If signed, 1 or 0 comes first, and the complement follows 0: -5 sorts before -4."""
    limit = 10**width
    if not (-limit if signed else 0) <= number < limit:
        raise InvalidValue("number-out-of-width", "key", f"{value} doesn't fit into the key's {width} digits")
    if not signed:
        return f"{number:0{width}d}"
    return f"1{number:0{width}d}" if number >= 0 else f"0{number + limit:0{width}d}"


def _scaled_value(text: str, width: int, *, signed: bool) -> int:
    if not signed:
        return int(text)
    return int(text[1:]) if text[0] == "1" else int(text[1:]) - 10**width
