"""Times and sizes, as callers get them."""

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
"""A time in a response, as in the tables: UTC, with milliseconds. Pages get the datetime itself."""
TimeText: TypeAlias = Annotated[str, WithJsonSchema({"type": "string", "format": "date-time"})]
"""A time that is already text, because its precision differs between systems."""


def size_text(size: int) -> str:
    """A number of bytes for people: `1.5 MB`."""
    for unit, bytes_ in (("GB", 1024**3), ("MB", 1024**2), ("KB", 1024)):
        if size >= bytes_:
            return f"{size / bytes_:.4g} {unit}"
    return f"{size} bytes"
