"""Quantities as people write them in a traffic file: `20 per second`, `1.5 per user and day`, `5%`, `3 KB`, `10M`."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, get_args

HOURS_OF_MONTH: Final = 730
"""The hours of a month, as AWS counts them."""

Period: TypeAlias = Literal["second", "minute", "hour", "day", "week", "month"]
_SECONDS: Mapping[Period, int] = {
    "second": 1,
    "minute": 60,
    "hour": 3600,
    "day": 86_400,
    "week": 7 * 86_400,
    "month": HOURS_OF_MONTH * 3600,
}
_NUMBER = r"(?P<number>-?[0-9][0-9_,]*(?:\.[0-9]+)?(?:[eE][0-9]+)?|-?\.[0-9]+)\s*"
_LARGE = {"": 1, "k": 1_000, "m": 1_000_000, "b": 1_000_000_000}
_COUNT = re.compile(rf"{_NUMBER}(?P<unit>[kKmMbB]?)")
_RATE = re.compile(rf"{_NUMBER}(?P<unit>[kKmMbB]?)(?:\s+per\s+(?P<per>.*))?")
_SHARE = re.compile(rf"{_NUMBER}(?P<unit>%?)")
_SIZE = re.compile(rf"{_NUMBER}(?P<unit>bytes?|[kKmM]?[bB])")
_SIZES = {"b": 1, "byte": 1, "bytes": 1, "kb": 1024, "mb": 1024 * 1024}


class QuantityError(ValueError):
    """A text that isn't the quantity that was wanted."""

    def __init__(self, code: str, problem: str, remedy: str) -> None:
        super().__init__(f"{problem}. {remedy}")
        self.code = code
        self.problem = problem
        self.remedy = remedy


@dataclass(frozen=True)
class Rate:
    """How often something happens: so many times in a period, for each user or each request, or in all."""

    amount: float
    period: Period | None = None
    """None: for each request."""
    each_user: bool = False

    def per_second(self, users: float, requests: float = 0) -> float:
        """How often it happens in a second, with so many users, and so many requests a second."""
        if self.period is None:
            return self.amount * requests
        return self.amount * (users if self.each_user else 1) / _SECONDS[self.period]

    def per_month(self, users: float, requests: float = 0) -> float:
        """How often it happens in a month, with so many users, and so many requests a second."""
        return self.per_second(users, requests) * _SECONDS["month"]

    def __str__(self) -> str:
        of = "request" if self.period is None else f"user and {self.period}" if self.each_user else self.period
        return f"{self.amount:g} per {of}"


_RATE_REMEDY = "Write a rate such as 20 per second, 1.5 per user and day, or 0.1 per request."


def rate(text: str) -> Rate:
    """The rate in a text: `20 per second`, `3 per user and day`, `0.1 per request`."""
    found = _RATE.fullmatch(text.strip())
    if found is None:
        raise QuantityError("not-a-rate", f"{text!r} isn't a rate", _RATE_REMEDY)
    amount = _amount(found)
    if amount < 0:
        raise QuantityError("negative-rate", f"the rate {text!r} is below 0", _RATE_REMEDY)
    words = [word for word in re.split(r"[\s,]+|\band\b", (found["per"] or "").strip().lower()) if word]
    if not words:
        raise QuantityError("missing-unit", f"the rate {text!r} has no unit", _RATE_REMEDY)
    if words == ["request"]:
        return Rate(amount)
    periods = [period for period in get_args(Period) if period in words]
    if len(periods) == 1 and {*words} - {*periods} <= {"user"}:
        return Rate(amount, periods[0], "user" in words)
    problem = f"the unit of {text!r} is unknown"
    if words == ["user"]:
        problem = f"the rate {text!r} doesn't say in which time"
    raise QuantityError("unknown-unit", problem, f"The units are {', '.join(get_args(Period))}. {_RATE_REMEDY}")


def parse_count(text: str) -> int:
    """The whole number in a text: `50_000`, `50,000`, `50k`, `10M`."""
    found = _COUNT.fullmatch(text.strip())
    if found is None or _amount(found) != int(_amount(found)):
        raise QuantityError("not-a-number", f"{text!r} isn't a whole number", "Write a number such as 50_000 or 10M.")
    if _amount(found) < 0:
        raise QuantityError("negative-number", f"{text!r} is below 0", "Write a number such as 50_000 or 10M.")
    return int(_amount(found))


def number(text: str) -> float:
    """The number in a text."""
    found = _COUNT.fullmatch(text.strip())
    if found is None or _amount(found) < 0:
        raise QuantityError("not-a-number", f"{text!r} isn't a number from 0 on", "Write a number such as 3 or 1.5.")
    return _amount(found)


def share(text: str) -> float:
    """The share in a text, from 0 to 1: `5%`, `0.05`."""
    found = _SHARE.fullmatch(text.strip())
    value = -1.0 if found is None else float(_digits(found)) / (100 if found["unit"] else 1)
    if not 0 <= value <= 1:
        raise QuantityError("not-a-share", f"{text!r} isn't a share", "Write a share such as 5% or 0.05.")
    return value


def size(text: str) -> int:
    """The number of bytes in a text: `800 bytes`, `3 KB`, `0.5 MB`."""
    found = _SIZE.fullmatch(text.strip())
    if found is None or float(_digits(found)) < 0:
        raise QuantityError("not-a-size", f"{text!r} isn't a size", "Write a size such as 800 bytes or 3 KB.")
    return round(float(_digits(found)) * _SIZES[found["unit"].lower()])


def _amount(found: re.Match[str]) -> float:
    return float(_digits(found)) * _LARGE[found["unit"].lower()]


def _digits(found: re.Match[str]) -> str:
    return found["number"].replace("_", "").replace(",", "")
