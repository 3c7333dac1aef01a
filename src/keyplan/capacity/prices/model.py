"""`Price` and `Prices`, and what can have a price."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final, Literal, NamedTuple, TypeAlias

Item: TypeAlias = Literal[
    "write request",
    "read request",
    "write capacity",
    "read capacity",
    "reserved write 1 year",
    "reserved read 1 year",
    "reserved write 1 year upfront",
    "reserved read 1 year upfront",
    "reserved write 3 years",
    "reserved read 3 years",
    "reserved write 3 years upfront",
    "reserved read 3 years upfront",
    "storage",
    "vector write",
    "vector search",
    "stream read",
    "Kinesis",
    "recovery",
    "backup",
    "cold backup",
    "restore",
    "export",
    "import",
]
"""What AWS charges for."""

ITEMS: Mapping[Item, str] = {
    "write request": "write request unit",
    "read request": "read request unit",
    "write capacity": "write unit-hour",
    "read capacity": "read unit-hour",
    "reserved write 1 year": "write unit-hour",
    "reserved read 1 year": "read unit-hour",
    "reserved write 1 year upfront": "write unit",
    "reserved read 1 year upfront": "read unit",
    "reserved write 3 years": "write unit-hour",
    "reserved read 3 years": "read unit-hour",
    "reserved write 3 years upfront": "write unit",
    "reserved read 3 years upfront": "read unit",
    "storage": "GB-month",
    "vector write": "GB",
    "vector search": "GB",
    "stream read": "GetRecords request",
    "Kinesis": "change data capture unit",
    "recovery": "GB-month",
    "backup": "GB-month",
    "cold backup": "GB-month",
    "restore": "GB",
    "export": "GB",
    "import": "GB",
}
"""What a price is for: one of these."""

OLD: Final = timedelta(days=365)
"""The age from which prices are warned about."""


class PriceError(Exception):
    """A file with prices, or a region, that can't be used: what is wrong and what to do. `code` is stable."""

    def __init__(self, code: str, place: str, problem: str, remedy: str) -> None:
        super().__init__(f"{place}: {problem}. {remedy} [{code}]")
        self.code = code


class Charge(NamedTuple):
    """What is charged for, in a table class."""

    item: Item
    infrequent: bool = False
    """Whether the table has the class Standard-IA."""

    def __str__(self) -> str:
        return f"{self.item} (Standard-IA)" if self.infrequent else self.item


@dataclass(frozen=True)
class Price:
    """What one unit costs, in US dollars."""

    usd: float
    date: date
    """When the source said so."""
    source: str
    free: float = 0.0
    """How many units of each month are free in an account."""


@dataclass(frozen=True)
class Prices:
    """The prices of a region."""

    region: str
    by_charge: Mapping[Charge, Price]

    def find(self, charge: Charge) -> Price | None:
        """The price of something; None if it isn't known."""
        return self.by_charge.get(charge)

    def old(self, today: date) -> Iterator[tuple[Charge, Price]]:
        """The prices that are older than a year."""
        yield from ((charge, price) for charge, price in self.by_charge.items() if today - price.date > OLD)
