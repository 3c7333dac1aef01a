"""Sends the same requests to the engine and to another server, and collects where their answers differ.

A difference in what is stored would cause others. So after each write, the items that it was about are compared, and
the other server gets those of the engine.
"""

import json
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import orjson
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from keyplan.engine.database import Database
from keyplan.engine.protocol import CONTENT_TYPE, respond
from tests.engines.random_requests import CREATE_TABLE, GSI, PARTITIONS, SORTS, TABLE, Call, Request, Requests
from tests.engines.servers import Server, started

KEYS: list[Request] = [{"pk": {"S": pk}, "sk": {"N": sk}} for pk in PARTITIONS for sk in SORTS]
ACCEPTED = "accepted: "
_SECONDS_TO_CREATE = 20.0
WRITES = frozenset({"PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "TransactWriteItems"})


@dataclass(frozen=True)
class Difference:
    """One request with two outcomes: `<code>: <message>`, `accepted: <answer>` or `stored: <item>`."""

    server: str
    operation: str
    request: Request
    ours: str
    theirs: str

    @property
    def group(self) -> tuple[str, str, str, str]:
        """What is alike in all differences of one kind: outcomes without what they quote."""
        return self.server, self.operation, _outline(self.ours), _outline(self.theirs)


# What messages quote: tokens, paths and lists, maps, placeholders, numbers.
_QUOTED = re.compile(r'"[^"]*"|\[[^]]*\]|{[^}]*}|:v?[0-9a-z]+|[0-9]+')


def _outline(outcome: str) -> str:
    return outcome.partition(":")[0] if outcome.startswith(("accepted", "stored")) else _QUOTED.sub("*", outcome)


class Other:
    """Another server, with the table of the test."""

    def __init__(self, server: Server, url: str) -> None:
        self.name = server.name
        self._host = urlsplit(url).netloc
        self._connection = HTTPConnection(self._host, timeout=20)
        self._signer = SigV4Auth(Credentials(server.access_key, server.secret_key), "dynamodb", "us-east-1")

    def ask(self, operation: str, request: Request) -> tuple[int, Any]:
        """Return status and content of the answer."""
        body = json.dumps(request).encode()
        headers = {"Host": self._host, "Content-Type": CONTENT_TYPE, "X-Amz-Target": f"DynamoDB_20120810.{operation}"}
        signed = AWSRequest("POST", f"http://{self._host}/", headers, body)
        self._signer.add_auth(signed)
        self._connection.request("POST", "/", body, dict(signed.headers.items()))
        response = self._connection.getresponse()
        content = response.read()
        return response.status, json.loads(content) if content else {}

    def close(self) -> None:
        self._connection.close()


class Ours:
    """The engine, asked like a server."""

    def __init__(self) -> None:
        self.database = Database()

    def ask(self, operation: str, request: Request) -> tuple[int, Any]:
        status, content = respond(self.database, operation, json.dumps(request).encode())
        return status, orjson.loads(content) if content else {}


def outcome(operation: str, request: Request, answer: tuple[int, Any]) -> str:
    """The answer without what may differ: the order of sets, of scanned items and of members, and request ids."""
    status, content = answer
    if status != 200:
        message = content.get("message") or content.get("Message") or ""
        reasons = content.get("CancellationReasons")
        if reasons is not None:
            message = "; ".join(f"{reason.get('Code')} {reason.get('Message', '')}".strip() for reason in reasons)
        return f"{content['__type'].rpartition('#')[2]}: {message}"
    if operation in ("Scan", "BatchGetItem") or (operation == "Query" and "IndexName" in request):
        found = content.get("Items") or content.get("Responses", {}).get(TABLE, [])
        items = sorted(_text(item) for item in found)
        return f"{ACCEPTED}{content.get('Count')} {content.get('ScannedCount')} {items}"
    kept = {name: content[name] for name in ("Item", "Attributes", "Items", "Responses", "Count") if name in content}
    return ACCEPTED + _text({name: value for name, value in kept.items() if value not in ({}, [])})


def _text(value: Any) -> str:
    return json.dumps(_ordered(value), sort_keys=True)


def _ordered(value: Any) -> Any:
    if isinstance(value, list):
        return [_ordered(member) for member in value]
    if isinstance(value, dict):
        return {
            name: sorted(member) if name in ("SS", "NS", "BS") else _ordered(member) for name, member in value.items()
        }
    return value


@dataclass
class Comparison:
    """The engine and another server, with the differences so far."""

    other: Other
    ours: Ours = field(default_factory=Ours)
    differences: list[Difference] = field(default_factory=list)

    def prepare(self) -> None:
        for asked in (self.ours, self.other):
            status, content = asked.ask("CreateTable", CREATE_TABLE)
            assert status == 200, content
        end = time.monotonic() + _SECONDS_TO_CREATE
        while self.other.ask("DescribeTable", {"TableName": TABLE})[1]["Table"]["TableStatus"] != "ACTIVE":
            assert time.monotonic() < end, "the table isn't created"
            time.sleep(0.05)

    def run(self, requests: Requests, count: int) -> None:
        for _ in range(count):
            self.step(*requests.next())

    def step(self, operation: str, request: Request) -> None:
        """Send one request to both."""
        ours = outcome(operation, request, self.ours.ask(operation, request))
        theirs = outcome(operation, request, self.other.ask(operation, request))
        accepted = ours.startswith(ACCEPTED) and theirs.startswith(ACCEPTED)
        # A global index may not have everything yet, as on AWS.
        if ours != theirs and not (accepted and request.get("IndexName") == GSI):
            self.differences.append(Difference(self.other.name, operation, request, ours, theirs))
        if operation in WRITES:
            self._compare_items(operation, request, accepted)

    def _compare_items(self, operation: str, request: Request, accepted: bool) -> None:
        """Note different items of a write that both accepted, and make them equal."""
        mine, other = (_items(asked) for asked in (self.ours, self.other))
        for key in KEYS:
            item, other_item = mine.get(_text(key)), other.get(_text(key))
            if _text(item) == _text(other_item):
                continue
            if accepted:
                stored = f"stored: {_text(item)}", f"stored: {_text(other_item)}"
                self.differences.append(Difference(self.other.name, operation, request, *stored))
            repair: Call = ("DeleteItem", {"TableName": TABLE, "Key": key})
            if item is not None:
                repair = ("PutItem", {"TableName": TABLE, "Item": item})
            status, content = self.other.ask(*repair)
            assert status == 200, (repair, content)


def _items(asked: "Ours | Other") -> dict[str, Request]:
    """All items, by their keys."""
    read = {"RequestItems": {TABLE: {"Keys": KEYS, "ConsistentRead": True}}}
    status, content = asked.ask("BatchGetItem", read)
    assert status == 200, content
    return {_text(_key(item)): item for item in content["Responses"].get(TABLE, [])}


def _key(item: Request) -> Request:
    return {"pk": item["pk"], "sk": item["sk"]}


@contextmanager
def compared_with(server: Server, folder: Path) -> Iterator[Comparison]:
    """A comparison with a new server, which ends with the block."""
    with started(server, folder) as url:
        other = Other(server, url)
        comparison = Comparison(other)
        try:
            comparison.prepare()
            yield comparison
        finally:
            other.close()
            comparison.ours.database.close()
