"""Sends the scripted HTTP calls of a system and records what each of them does.

`tools/scripts/<system>.txt` is the script, one call a line:

    WHO METHOD PATH [Header:value ...] [JSON body] [-> NAME]

WHO is the subject of a development token, with groups after plus signs (`anja+Admin`), or `-` for a caller without a
token. With `-> NAME` the answer is kept, and later lines use it: `$NAME.items.0.slug`. PATCH, PUT and DELETE send
`If-Match: *` unless the line gives another value. `WHO UPLOAD $NAME` sends a picture with the form that `$NAME` holds;
`$picture.size` is its size in bytes.

A record has the DynamoDB requests of the call in order and the answer. What differs from run to run (ids, tokens,
hashes, signatures, cursors) is replaced by numbered labels, by order of first appearance, so that two records are equal
exactly when the system did the same. In a request, attribute names and values stand in the expressions themselves, so
that it does not matter how placeholders are numbered. Sentences for people are left out.
"""

from __future__ import annotations

import asyncio
import json
import re
from base64 import b64decode
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
from starlette.types import ASGIApp

SCRIPTS = Path(__file__).parent / "scripts"
PICTURE = b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGOwqdgCAAJcAWlLf+oUAAAAAElFTkSuQmCC")
"""A PNG of one pixel."""
_LINE = re.compile(
    r"(?P<who>\S+) (?P<method>[A-Z]+) (?P<path>\S+)(?P<headers>(?: [A-Z][\w-]*:\S+)*)"
    r"(?: (?P<body>[{\[].*[}\]]))?(?: -> (?P<name>\w+))?"
)
_REFERENCE = re.compile(r"\$(\w+(?:\.\w+)*)")
_ANSWER_HEADERS = ("etag", "location", "retry-after")
_LEFT_OUT = {"title", "detail", "request_id"}
"""Members of a problem that are written for people, or differ from request to request."""
_NOT_COMPARED = {"ReturnConsumedCapacity", "ClientRequestToken"}

Token = Callable[[str, list[str]], str]
"""Makes a bearer token for a subject and groups."""


@dataclass(frozen=True)
class Line:
    """One call of a script."""

    text: str
    who: str
    method: str
    path: str
    headers: Mapping[str, str]
    body: str | None
    name: str | None


def read_script(system: str) -> list[Line]:
    """The calls of a system's script."""
    lines = (SCRIPTS / f"{system}.txt").read_text("utf-8").splitlines()
    return [_parsed(line) for line in lines if line and not line.startswith("#")]


def _parsed(text: str) -> Line:
    match = _LINE.fullmatch(text)
    if match is None:
        raise ValueError(f"not a call: {text}")
    headers = dict(each.split(":", 1) for each in match["headers"].split())
    if match["method"] in ("PATCH", "PUT", "DELETE"):
        headers.setdefault("If-Match", "*")
    return Line(text, match["who"], match["method"], match["path"], headers, match["body"], match["name"])


class Recorder:
    """A DynamoDB client that passes every call on and remembers it."""

    def __init__(self, client: object) -> None:
        self._client = client
        self._sent: list[tuple[str, dict[str, Any]]] = []

    def __getattr__(self, name: str) -> Callable[..., Any]:
        method: Callable[..., Any] = getattr(self._client, name)

        def call(**request: Any) -> Any:  # noqa: ANN401 - boto3's own shape
            self._sent.append((name, request))
            return method(**request)

        return call

    def taken(self) -> list[tuple[str, dict[str, Any]]]:
        """What was sent since this was asked last."""
        sent, self._sent = self._sent, []
        return sent


class Ids:
    """Makes UUIDs of version 7, always the same ones: for `keyplan.design.ids_from`."""

    def __init__(self, began: datetime) -> None:
        self._milliseconds = int(began.timestamp() * 1000)

    def __call__(self) -> str:
        self._milliseconds += 1
        return str(UUID(int=self._milliseconds << 80 | 0x7 << 76 | 0b10 << 62))


@dataclass
class Clock:
    """A clock that moves only when told to: one minute at each call."""

    now: datetime

    def __call__(self) -> datetime:
        return self.now

    def tick(self) -> None:
        self.now += timedelta(minutes=1)


PASSWORD_HASH = r"\$2[aby]\$\d\d\$[./A-Za-z0-9]{53}"
UUID_TEXT = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
BYTES = "<bytes>"
RANDOM = {
    "jwt": r"eyJ[\w-]+\.[\w-]+\.[\w-]+",
    "password hash": PASSWORD_HASH,
    "uuid": UUID_TEXT,
    "hex": r"(?<![0-9a-f])[0-9a-f]{16,}(?![0-9a-f])",
    "etag": r"(?<=[0-9]-)[0-9a-f]{8}(?=\\*\")",  # after the version
    "ulid": r"(?<![\w-])[0-9A-HJKMNP-TV-Z]{26}(?![\w-])",
    "token": r"(?<![\w-])[A-Za-z0-9_-]{43}(?![\w-])",
    # Longer than any slug or word: the policy of an upload.
    "coded": r"(?<![\w-])[A-Za-z0-9_-]{100,}={0,2}(?![\w-])",
}
"""What differs from run to run in requests and answers."""


class Labels:
    """Replaces texts that match a pattern by labels, and bytes.

    A label says in which place its text appeared first, and as which of its kind. So the same text has the same label
    everywhere, and what is new in one place does not change the labels of other places.
    """

    def __init__(self, patterns: Mapping[str, str]) -> None:
        self._kinds = list(patterns)
        self._pattern = re.compile("|".join(f"({each})" for each in patterns.values()))
        self._labels: dict[str, str] = {}
        self._place = ""
        self._counts: Counter[str] = Counter()

    def applied_at(self, place: str, value: object) -> Any:  # noqa: ANN401 - JSON
        """The value with labels in it, at the next place."""
        self._place = place
        self._counts.clear()
        return self._applied(value)

    def _applied(self, value: object) -> Any:  # noqa: ANN401 - JSON
        match value:
            case str():
                return self._pattern.sub(self._label, value)
            case bytes():
                return BYTES
            case Mapping():
                return {name: self._applied(each) for name, each in value.items()}
            case list() | tuple():
                return [self._applied(each) for each in value]
        return value

    def _label(self, match: re.Match[str]) -> str:
        if match[0] not in self._labels:
            kind = self._kinds[(match.lastindex or 1) - 1]
            self._counts[kind] += 1
            self._labels[match[0]] = f"<{kind} {self._counts[kind]} of {self._place}>"
        return self._labels[match[0]]


def shown_requests(sent: Iterable[tuple[str, Mapping[str, Any]]]) -> list[dict[str, Any]]:
    """Requests as they are compared.

    Several BatchWriteItem in a row are one here, its entries sorted: their order means nothing, and nobody fixes it.
    """
    shown: list[dict[str, Any]] = []
    for operation, group in groupby(sent, key=itemgetter(0)):
        requests = [inlined(request) for _, request in group]
        if operation == "batch_write_item":
            requests = [_one_batch(requests)]
        shown += [{operation: each} for each in requests]
    return shown


def _one_batch(requests: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    entries: dict[str, list[Any]] = {}
    for request in requests:
        for table, each in request["RequestItems"].items():
            entries.setdefault(table, []).extend(each)
    in_order = {
        table: sorted(each, key=lambda entry: json.dumps(entry, default=str)) for table, each in entries.items()
    }
    return {"RequestItems": in_order, "Batches": len(requests)}


def inlined(value: Any) -> Any:  # noqa: ANN401 - JSON
    """A request with attribute names and values in its expressions, instead of placeholders for them."""
    if isinstance(value, list):
        return [inlined(each) for each in value]
    if not isinstance(value, dict):
        return value
    names = value.get("ExpressionAttributeNames", {})
    values = value.get("ExpressionAttributeValues", {})

    def resolved(match: re.Match[str]) -> str:
        mark = match[0]
        return names[mark] if mark in names else json.dumps(values[mark], sort_keys=True, default=lambda _: BYTES)

    return {
        name: _in_order(each, lambda clause: re.sub(r"[#:]\w+", resolved, clause))
        if name.endswith("Expression")
        else inlined(each)
        for name, each in value.items()
        if not name.startswith("ExpressionAttribute") and name not in _NOT_COMPARED
    }


def _in_order(expression: str, resolved: Callable[[str], str]) -> str:
    """A resolved expression with sorted clauses, where their order means nothing: in an update, and around AND.

    They are sorted as resolved: placeholders are numbered in the order of an entity's fields, which is no matter.
    """
    sections = re.split(r"\b(SET|REMOVE|ADD|DELETE) ", expression)
    if len(sections) > 1:
        clauses = [", ".join(sorted(map(resolved, _split(each, ", ")))) for each in sections[2::2]]
        return " ".join(f"{word} {each}" for word, each in sorted(zip(sections[1::2], clauses, strict=True)))
    if re.search(r"\b(OR|BETWEEN)\b", expression):
        return resolved(expression)
    return " AND ".join(sorted(map(resolved, _split(expression, " AND "))))


def _split(text: str, separator: str) -> list[str]:
    """The parts between separators that are not in parentheses."""
    parts = [""]
    for each in text.strip().split(separator):
        inside = parts[-1].count("(") > parts[-1].count(")")
        parts = [*parts[:-1], parts[-1] + separator + each] if inside else [*parts, each]
    return parts[1:]


def shown_answer(answer: httpx.Response) -> dict[str, Any]:
    """An answer as it is compared: status, headers that programs read, and the body without sentences for people."""
    shown: dict[str, Any] = {"status": answer.status_code}
    shown |= {name: answer.headers[name] for name in _ANSWER_HEADERS if name in answer.headers}
    kind = answer.headers.get("content-type", "")
    if kind.startswith("application/problem+json"):
        problem = {name: each for name, each in answer.json().items() if name not in _LEFT_OUT}
        if "errors" in problem:
            problem["errors"] = [{key: each[key] for key in ("pointer", "code")} for each in problem["errors"]]
        shown["problem"] = problem
    elif kind.startswith("application/json"):
        shown["body"] = body = answer.json()
        if isinstance(body, dict) and body.get("next"):
            body["next"] = "<cursor>"
    elif answer.content:
        shown["body"] = f"{len(answer.content)} bytes of {kind}"
    return shown


@dataclass
class Session:
    """Callers of one application, and the answers that they keep."""

    app: ASGIApp
    base_url: str
    token: Token
    kept: dict[str, Any] = field(default_factory=lambda: {"picture": {"size": len(PICTURE)}})
    _clients: dict[str, httpx.AsyncClient] = field(default_factory=dict)

    def run(self, lines: list[Line], recorder: Recorder, clock: Clock) -> tuple[dict[str, Any], dict[str, Any]]:
        """The system's OpenAPI document; and what each call of a script does, by its line."""

        async def run_all() -> tuple[dict[str, Any], dict[str, Any]]:
            document = (await self._client("-").get(f"{self.base_url}/openapi.json")).json()
            labels = Labels(RANDOM)
            records = {
                f"{number:03} {line.text}": labels.applied_at(
                    f"call {number}", await self._record(line, recorder, clock)
                )
                for number, line in enumerate(lines, 1)
            }
            for client in self._clients.values():
                await client.aclose()
            return document, records

        return asyncio.run(run_all())

    async def _record(self, line: Line, recorder: Recorder, clock: Clock) -> dict[str, Any]:
        clock.tick()
        recorder.taken()
        answer = await self._send(line)
        return {"requests": shown_requests(recorder.taken()), "answer": shown_answer(answer)}

    async def _send(self, line: Line) -> httpx.Response:
        client = self._client(line.who)
        if line.method == "UPLOAD":
            ticket = self._kept(line.path[1:])
            files = {"file": ("picture.png", PICTURE, "image/png")}
            return await client.post(httpx.URL(self.base_url).join(ticket["url"]), data=ticket["fields"], files=files)
        body = None if line.body is None else json.loads(self._filled(line.body))
        path = self._filled(line.path)
        headers = {name: self._filled(value) for name, value in line.headers.items()}
        answer = await client.request(line.method, path, headers=headers, json=body)
        if line.name:
            self.kept[line.name] = answer.json()
        return answer

    def _client(self, who: str) -> httpx.AsyncClient:
        if who not in self._clients:
            sub, *groups = who.split("+")
            headers = {} if who == "-" else {"Authorization": f"Bearer {self.token(sub, groups)}"}
            transport = httpx.ASGITransport(self.app)
            self._clients[who] = httpx.AsyncClient(transport=transport, base_url=self.base_url, headers=headers)
        return self._clients[who]

    def _filled(self, text: str) -> str:
        return _REFERENCE.sub(lambda match: str(self._kept(match[1])), text)

    def _kept(self, place: str) -> Any:  # noqa: ANN401 - JSON
        value: Any = self.kept
        for step in place.split("."):
            try:
                value = value[int(step) if isinstance(value, list) else step]
            except (KeyError, IndexError) as error:
                raise ValueError(f"${place}: there is no {step} in {value}") from error
        return value
