"""Times, as callers get them."""

from datetime import datetime
from typing import Annotated, TypeAlias

from pydantic import PlainSerializer, WithJsonSchema

from keyplan.design import timestamp_text


def _in_milliseconds(value: datetime) -> str:
    return timestamp_text(value, "milliseconds")


Time: TypeAlias = Annotated[
    datetime,
    PlainSerializer(_in_milliseconds, return_type=str, when_used="json"),
    WithJsonSchema(
        {
            "type": "string",
            "format": "date-time",
            "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$",
            "examples": ["2026-01-31T12:00:00.000Z"],
        }
    ),
]
"""A time that callers get, as tables have it: UTC, with milliseconds. Pages get the time itself."""
TimeText: TypeAlias = Annotated[str, WithJsonSchema({"type": "string", "format": "date-time"})]
"""A time that is written already, where its width is not the same in every system."""
