"""DynamoDB JSON: one JSON object with an `Item` in each line."""

from typing import cast

import orjson

from keyplan.engine.formats.lines import BadRecord


def item_line(stored: bytes) -> bytes:
    """Return the line of an item that is given as its stored JSON."""
    return b'{"Item":' + stored + b"}\n"


def read_record(line: bytes) -> dict[str, object]:
    """Return the object of a line, which has an `Item`."""
    try:
        record = orjson.loads(line)
    except orjson.JSONDecodeError:
        raise BadRecord("The line is not JSON") from None
    if not isinstance(record, dict) or not isinstance(record.get("Item"), dict):
        raise BadRecord("The line is not an object with an Item")
    return cast("dict[str, object]", record)
