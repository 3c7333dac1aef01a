"""Values that many systems take and show: links, times, the ids of users."""

import re
from datetime import datetime
from typing import Annotated, TypeAlias

from pydantic import Field, PlainSerializer, StringConstraints, WithJsonSchema

from keyplan.design import NoSeparator, limit, timestamp_text

_TEXT = r"[^\x00-\x20\x7f\\]"
_HOST = r"[^\x00-\x20\x7f\\/?#@:\[\]]+"
LINK = rf"^(https?://{_HOST}(:[0-9]{{1,5}})?([/?#]{_TEXT}*)?|mailto:{_TEXT}*@{_TEXT}*|/media/{_TEXT}*)$"
"""What a link looks like. There is no name before the host: it would pass for one."""


def _is_link(text: str) -> None:
    if not re.fullmatch(LINK, text):
        raise ValueError("a link begins with https://, http:// or mailto:")


Link: TypeAlias = Annotated[str, StringConstraints(max_length=2048), limit(_is_link, pattern=LINK)]
"""A link that a caller gives: to the web, to a mailbox, or to a file of ours. It is never fetched."""


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


UserId: TypeAlias = Annotated[
    str,
    NoSeparator(),
    StringConstraints(strip_whitespace=False, min_length=1, max_length=128, pattern=r"^[^#]+$"),
    Field(description="The subject of a user's token, as it is."),
]
