"""Times in answers: their format, and what the OpenAPI document says about it."""

import re
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from pydantic import AwareDatetime, TypeAdapter
from pydantic_core import PydanticSerializationError, to_json

from keyplan.design import Fields, Ttl
from keyplan.web import Out, Time
from keyplan.web.pages.reference import example

pytestmark = pytest.mark.usefixtures("both_ways")

EAST = timezone(timedelta(hours=5, minutes=45))


class Loan(Out):
    """A model with two times."""

    lent_at: Time
    returned_at: Time | None = None


class LoanFields(Fields):
    """Times of several kinds."""

    due_at: Ttl
    renewed_at: Ttl | None = None
    reminders: list[datetime]


class DeclaredLoan(LoanFields, Out):
    """A model that takes its times from a declaration."""


@pytest.mark.parametrize(
    ("moment", "text"),
    [
        (datetime(2026, 1, 31, 12, tzinfo=UTC), "2026-01-31T12:00:00.000Z"),
        (datetime(2026, 1, 31, 12, 0, 37, 360_000, UTC), "2026-01-31T12:00:37.360Z"),
        (datetime(2025, 12, 31, 23, 59, 59, 999_999, UTC), "2025-12-31T23:59:59.999Z"),
        (datetime(2026, 1, 1, 0, 15, 0, 1, EAST), "2025-12-31T18:30:00.000Z"),
        (datetime(33, 4, 3, 15, tzinfo=UTC), "0033-04-03T15:00:00.000Z"),
    ],
)
def test_times_are_utc_with_milliseconds(moment: datetime, text: str) -> None:
    loan = Loan(lent_at=moment, returned_at=moment)
    assert to_json(loan, by_alias=True).decode() == f'{{"lent_at":"{text}","returned_at":"{text}"}}'
    assert to_json(Loan(lent_at=moment)).decode() == f'{{"lent_at":"{text}","returned_at":null}}'
    assert loan.model_dump() == {"lent_at": moment, "returned_at": moment}, "pages get the time itself"
    sent_back = TypeAdapter(AwareDatetime).validate_json(f'"{text}"', strict=True)
    assert timedelta() <= moment - sent_back < timedelta(milliseconds=1)


def test_a_time_without_a_zone_is_refused() -> None:
    with pytest.raises(PydanticSerializationError, match="no time zone"):
        to_json(Loan(lent_at=datetime.fromisoformat("2026-01-31T12:00:00")))


@pytest.mark.parametrize("mode", ["serialization", "validation"])
def test_the_document_describes_the_format(mode: Any) -> None:
    schema = Loan.model_json_schema(mode=mode)["properties"]["lent_at"]
    assert (schema["type"], schema["format"]) == ("string", "date-time")
    shown = str(example(schema, {}))
    assert re.fullmatch(schema["pattern"], shown)
    loan = Loan(lent_at=datetime.fromisoformat(shown))
    assert to_json(loan, exclude_none=True).decode() == f'{{"lent_at":"{shown}"}}'


def test_declared_times_of_every_kind_have_the_same_format() -> None:
    moment, text = datetime(2026, 1, 31, 12, tzinfo=UTC), "2026-01-31T12:00:00.000Z"
    loan = DeclaredLoan(due_at=moment, renewed_at=moment, reminders=[moment])
    assert to_json(loan).decode() == f'{{"due_at":"{text}","renewed_at":"{text}","reminders":["{text}"]}}'
