"""Times as they are stored: in UTC, cut to the table's precision, never without a zone."""

from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime
from decimal import Decimal
from enum import Enum
from types import NoneType
from typing import Literal, get_args, get_origin
from uuid import UUID

from pydantic import BaseModel

from keyplan.design.keys.formats import TimePrecision

_WITHOUT_TIMES = (str, int, float, Decimal, bool, bytes, date, UUID, NoneType)


def moment(time: datetime, times: TimePrecision) -> datetime:
    """The time with the precision that is stored."""
    return time.replace(microsecond=0 if times == "seconds" else time.microsecond // 1000 * 1000)


def as_stored(time: datetime, times: TimePrecision) -> datetime:
    """The time as it is read back: the same object if nothing is lost by storing it."""
    if time.microsecond and time.microsecond % (1_000_000 if times == "seconds" else 1000):
        time = moment(time, times)
    return time.astimezone(UTC) if time.utcoffset() else time


def may_hold_times(annotation: object, within: tuple[object, ...] = ()) -> bool:
    """Whether values of a type can be or contain times; `within` are the models around it."""
    while hasattr(annotation, "__metadata__"):
        annotation = get_args(annotation)[0]
    if annotation in _WITHOUT_TIMES or annotation in within or get_origin(annotation) is Literal:
        return False
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return False
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        fields = annotation.model_fields.values()
        return any(may_hold_times(each.annotation, (*within, annotation)) for each in fields)
    arguments = [each for each in get_args(annotation) if each is not Ellipsis]
    return any(may_hold_times(each, within) for each in arguments) if arguments else True


def times_in(value: object) -> Iterator[datetime]:
    """All times in a value."""
    match value:
        case datetime():
            yield value
        case str() | bytes():
            return
        case BaseModel():
            yield from times_in(value.__dict__)
        case Mapping():
            for each in value.values():
                yield from times_in(each)
        case list() | tuple() | set() | frozenset():
            for each in value:
                yield from times_in(each)


def check_zones(value: object) -> None:
    """Raise `ValueError` if a time in a value has no time zone."""
    if any(time.tzinfo is None for time in times_in(value)):
        raise ValueError("a time without a time zone")
