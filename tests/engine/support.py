"""Helpers for the tests of operations: tables in one line, exact errors, a clock that tests set, nested values."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from typing import TYPE_CHECKING, Any, cast

import pytest
from botocore.exceptions import ClientError

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient as Client
else:
    Client = object

_numbers = count(1)

DETECTED = "1 validation error detected: "
"""How PutItem, UpdateItem and DeleteItem begin errors in their requests: see `validation/wording.py`."""

Attribute = str
"""A key attribute as the tests write it: "name" for a string, "name:N" or "name:B" for the other two types."""


def make_table(
    client: Client,
    hash: Attribute = "pk",
    range: Attribute | None = None,
    *,
    name: str | None = None,
    gsis: Sequence[dict[str, Any]] = (),
    lsis: Sequence[dict[str, Any]] = (),
    **settings: Any,
) -> str:
    """Create a table with a name of its own and return the name.

    The indexes are made with `index`; `settings` are further parameters of CreateTable.
    """
    name = name or f"table-{next(_numbers)}"
    schema = _schema([hash], [range] if range else [])
    request: dict[str, Any] = {"TableName": name, "KeySchema": schema, "BillingMode": "PAY_PER_REQUEST", **settings}
    attributes = [hash, *([range] if range else [])]
    for member, indexes in (("GlobalSecondaryIndexes", gsis), ("LocalSecondaryIndexes", lsis)):
        if indexes:
            request[member] = [{key: value for key, value in made.items() if key != "attributes"} for made in indexes]
            attributes += [attribute for made in indexes for attribute in made["attributes"]]
    types = {attribute.partition(":")[0]: attribute.partition(":")[2] or "S" for attribute in attributes}
    request["AttributeDefinitions"] = [{"AttributeName": key, "AttributeType": kind} for key, kind in types.items()]
    client.create_table(**request)
    return name


def index(
    name: str,
    hash: Attribute | Sequence[Attribute],
    range: Attribute | Sequence[Attribute] = (),
    *,
    projection: str | Sequence[str] = "ALL",
) -> dict[str, Any]:
    """An index for `make_table`; a projection that is a list of names means INCLUDE."""
    hashes = [hash] if isinstance(hash, str) else list(hash)
    ranges = [range] if isinstance(range, str) else list(range)
    if isinstance(projection, str):
        projected: dict[str, Any] = {"ProjectionType": projection}
    else:
        projected = {"ProjectionType": "INCLUDE", "NonKeyAttributes": list(projection)}
    return {
        "IndexName": name,
        "KeySchema": _schema(hashes, ranges),
        "Projection": projected,
        "attributes": hashes + ranges,
    }


def _schema(hashes: Sequence[Attribute], ranges: Sequence[Attribute]) -> list[dict[str, str]]:
    return [
        {"AttributeName": attribute.partition(":")[0], "KeyType": kind}
        for kind, attributes in (("HASH", hashes), ("RANGE", ranges))
        for attribute in attributes
    ]


class Clock:
    """A time that stands still until the test moves it."""

    def __init__(self, now: float = 1_700_000_000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


def nested(levels: int, kind: str) -> dict[str, Any]:
    """A string inside so many maps ("M") or lists ("L")."""
    value: dict[str, Any] = {"S": "x"}
    for _ in range(levels):
        value = {"M": {"m": value}} if kind == "M" else {"L": [value]}
    return value


@contextmanager
def refused(message: str, code: str = "ValidationException") -> Iterator[dict[str, Any]]:
    """Expect exactly this error in the block; gives the error's response after the block."""
    answer: dict[str, Any] = {}
    with pytest.raises(ClientError) as caught:
        yield answer
    answer.update(cast(dict[str, Any], caught.value.response))
    found = (answer["Error"]["Code"], answer["Error"]["Message"])
    assert found == (code, message), found
