"""Records of streams, and how they are stored.

A record is what GetRecords returns for a change of an item. Events for Lambda have the same records as JSON, with
binary values in base64 and times in seconds. Records that were set aside are stored in that form.
"""

import json
import zlib
from base64 import b64decode, b64encode
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, TypeAlias

from keyplan.data.codec.values import AttributeValue, Item

Record: TypeAlias = Mapping[str, Any]
"""A record of a stream, as GetRecords returns it."""

_IMAGES = ("Keys", "NewImage", "OldImage")


def sequence_of(record: Record) -> str:
    """The sequence number of a record."""
    number: str = record["dynamodb"]["SequenceNumber"]
    return number


def time_of(record: Record) -> datetime:
    """The approximate time of the change."""
    time = record["dynamodb"]["ApproximateCreationDateTime"]
    return time.astimezone(UTC) if isinstance(time, datetime) else datetime.fromtimestamp(time, UTC)


def by_time_to_live(record: Record) -> bool:
    """Whether DynamoDB's time to live deleted the item."""
    identity = {str(name).lower(): value for name, value in (record.get("userIdentity") or {}).items()}
    return identity.get("type") == "Service" and identity.get("principalid") == "dynamodb.amazonaws.com"


def packed(record: Record) -> bytes:
    """A record as bytes, to store it."""
    return zlib.compress(json.dumps(record, default=_as_json, ensure_ascii=False).encode())


def unpacked(content: bytes) -> Record:
    """The record of packed bytes."""
    return from_event(json.loads(zlib.decompress(content)))


def _as_json(value: object) -> object:
    if isinstance(value, datetime):
        return value.timestamp()
    if isinstance(value, bytes | bytearray):
        return b64encode(value).decode()
    raise TypeError(f"a record of a stream can't contain a {type(value).__name__}")


def from_event(record: Record) -> Record:
    """A record of an event for Lambda, as GetRecords would return it."""
    change = {
        name: _item(value) if name in _IMAGES and value is not None else value
        for name, value in record["dynamodb"].items()
    }
    return {**record, "dynamodb": change}


def _item(image: Mapping[str, Any]) -> Item:
    return {name: _value(value) for name, value in image.items()}


def _value(value: Mapping[str, Any]) -> AttributeValue:
    ((tag, content),) = value.items()
    match tag:
        case "B":
            return {"B": _bytes(content)}
        case "BS":
            return {"BS": [_bytes(each) for each in content]}
        case "L":
            return {"L": [_value(each) for each in content]}
        case "M":
            return {"M": _item(content)}
    return value


def _bytes(content: str | bytes) -> bytes:
    return b64decode(content) if isinstance(content, str) else content
