"""Captures what the five systems do, so that a later version can be shown to do the same.

    python -m tools.capture [SYSTEM ...]

writes `tests/fixtures/unchanged/<system>.json.xz` (`xzcat` shows one). `tests/test_unchanged.py` captures again and
compares. A capture has these parts:

openapi   the OpenAPI document, without texts for people (`description`, `summary`, `title`, `example`, `examples`)
tables    the requests that create the tables, by table
patterns  each access pattern with made-up arguments: the first request that it sends, by pattern
items     everything that is stored after filling the system with demo data, by table and primary key
calls     the HTTP calls of `tools/scripts/<system>.txt` on that data: DynamoDB requests and answer, by call

The clock, the ids and the source of secrets are fixed. What may still differ from run to run is replaced by a label: in
`items` password hashes, names of files and binary values; in `calls` everything that `tools.calls.RANDOM` lists.
"""

from __future__ import annotations

import json
import lzma
import random
import re
import secrets
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, date, datetime
from importlib import import_module
from pathlib import Path
from typing import Any
from unittest.mock import patch

from typer.testing import CliRunner

from keyplan.cli import main
from keyplan.cli.designs import DEFAULT_ENVIRONMENT
from keyplan.data import Store
from keyplan.design import Design, ids_from
from keyplan.engine import Engine
from keyplan.web import Running, System
from keyplan.web.identity import dev_issuer
from keyplan.web.media import media_of
from keyplan.web.server import application, running
from keyplan.web.settings import Settings
from tools.calls import PASSWORD_HASH, UUID_TEXT, Clock, Ids, Labels, Recorder, Session, inlined, read_script

FIXTURES = Path(__file__).parent.parent / "tests" / "fixtures" / "unchanged"
SYSTEMS = ("funkedupshift", "hacktracker", "threefc", "vcm", "wavyblog")
BEGAN = datetime(2026, 1, 31, 12, tzinfo=UTC)
"""The time while the demo data is made."""

_TEXTS = {"description", "summary", "title", "example", "examples"}
_NAMED = {"properties", "patternProperties", "$defs", "schemas", "headers", "responses", "content", "paths"}
"""Members of an OpenAPI document whose keys are names that somebody chose: a property may be called `title`."""
_ARGUMENT = re.compile(r'(\w+)=("[^"]*"|\[[^\]]*\]|[^,)]+)')
_RANDOM_IN_ITEMS = {"password hash": PASSWORD_HASH, "file": rf"{UUID_TEXT}(?=\.[a-z]{{3,4}}$)"}


def capture(name: str, asked: Mapping[str, str] | None = None) -> dict[str, Any]:
    """What a system does, part by part; nothing but JSON.

    `asked` has calls of patterns, by pattern: these are made instead of the examples that `keyplan patterns` makes up.
    """
    tables = {each["CreateTable"]["TableName"]: each for each in _command("tables", name)}
    clock = Clock(BEGAN)
    with ids_from(Ids(BEGAN)), fixed_secrets(), Engine() as engine, tempfile.TemporaryDirectory() as folder:
        recorder = Recorder(engine)
        system = started(name, recorder, Path(folder), clock)
        fill(system)
        items = stored_items(engine, tables)
        document, calls = _session(system).run(read_script(name), recorder, clock)
    captured = {
        "openapi": compared_document(document),
        "tables": tables,
        "patterns": _patterns(name, asked or {}),
        "items": items,
        "calls": calls,
    }
    plain: dict[str, Any] = json.loads(json.dumps(captured))  # so that it can be compared with a fixture
    return plain


@contextmanager
def fixed_secrets() -> Iterator[None]:
    """Within the block, `secrets` makes the same tokens each time: items are stored in the order of their hashes.

    Tokens of each length have a sequence of their own, so that one that is made once per process (what unknown users'
    passwords are compared with) changes no other.
    """
    made: defaultdict[int, random.Random] = defaultdict(lambda: random.Random(1848))

    def token_bytes(size: int | None = None) -> bytes:
        length = size or secrets.DEFAULT_ENTROPY
        return made[length].randbytes(length)

    with patch("secrets.token_bytes", token_bytes):
        yield


def _command(*arguments: str) -> list[dict[str, Any]]:
    """What a command of `keyplan` writes as JSON."""
    done = CliRunner().invoke(main, [*arguments, "--json"], catch_exceptions=False)
    if done.exit_code:
        raise RuntimeError(f"keyplan {' '.join(arguments)}: {done.output}")
    answer: list[dict[str, Any]] = json.loads(done.stdout)
    return answer


def started(name: str, client: object, folder: Path, clock: Callable[[], datetime]) -> Running[Any]:
    """A system at work on a client, with its tables, its files in a folder, and without limits on requests."""
    system: System[Any] = import_module(f"keyplan.apps.{name}.api").SYSTEM
    made: Any = Settings  # its parameters that begin with an underscore are not in its signature
    settings = made(
        _env_file=None,
        path=folder / "keyplan.db",
        media_path=folder / "media",
        dev=True,
        rate_identity=0,
        rate_address=0,
        request_seconds=60,
    )
    found = running(system, settings, client)
    found.store.clock = clock
    found.media = media_of(name, settings, found.store)  # which took the clock that the store had before
    found.store.create_tables()
    if system.prepare is not None:
        system.prepare(found)
    return found


def fill(system: Running[Any]) -> None:
    """Fill a system with its demo data."""
    demo = system.system.demo
    if demo is None:
        raise RuntimeError(f"{system.system.name} has no demo data")
    demo(system, lambda done, total: None)


def _session(system: Running[Any]) -> Session:
    name = system.system.name
    issuer = dev_issuer(system.settings)
    return Session(
        application([system], system.settings),
        f"http://127.0.0.1:8080/api/{name}",
        lambda sub, groups: issuer.token(name, sub, groups=groups),
    )


# Patterns


def _patterns(name: str, asked: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    """The first request of each pattern, with the call that it is made by."""
    kind: type[Design] = import_module(f"keyplan.apps.{name}.design").DESIGN
    names = re.findall(r"\{([a-z_]+)\}", " ".join(table.name for table in kind.tables))
    design = kind(dict.fromkeys(names, DEFAULT_ENVIRONMENT))
    made: dict[str, dict[str, Any]] = {}
    for example in (each["example"] for each in _command("patterns", name)):
        pattern = example["call"].partition("(")[0]
        arguments = _arguments(asked.get(pattern, ""))
        if pattern in asked and arguments.keys() == set(design.patterns[pattern].parameters):
            made[pattern] = {"call": asked[pattern], **_requested(design, pattern, arguments)}
        else:
            made[pattern] = {"call": example["call"], example["action"]: inlined(example["request"])}
    return made


def _requested(design: Design, pattern: str, arguments: Mapping[str, object]) -> dict[str, Any]:
    method, request = Store(design, None, secret=b"example").requests(getattr(design, pattern)(**arguments))[0]
    return {"".join(word.capitalize() for word in method.split("_")): inlined(request)}


def _arguments(call: str) -> dict[str, object]:
    return {name: _argument(text) for name, text in _ARGUMENT.findall(call.partition("(")[2])}


def _argument(text: str) -> object:
    """An argument as `keyplan patterns` shows it: JSON, a time or a date."""
    if re.match(r"\d{4}-", text):
        return datetime.fromisoformat(text) if "T" in text else date.fromisoformat(text)
    found: object = json.loads(text)
    return found


# Stored items


def stored_items(client: object, tables: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """All items of some tables, by table and primary key; `tables` are the requests that create them."""
    labels = Labels(_RANDOM_IN_ITEMS)
    return {table: labels.applied_at(table, _stored(client, table, made)) for table, made in tables.items()}


def _stored(client: Any, table: str, made: Mapping[str, Any]) -> dict[str, Any]:  # noqa: ANN401 - boto3's methods
    """All items of a table by their primary keys."""
    names = [each["AttributeName"] for each in made["CreateTable"]["KeySchema"]]
    found = {" | ".join(str(*item[name].values()) for name in names): item for item in _scanned(client, table)}
    return dict(sorted(found.items()))


def _scanned(client: Any, table: str) -> Iterator[dict[str, Any]]:  # noqa: ANN401 - boto3's methods
    start: dict[str, Any] = {}
    while True:
        page = client.scan(TableName=table, **start)
        yield from page["Items"]
        if "LastEvaluatedKey" not in page:
            return
        start = {"ExclusiveStartKey": page["LastEvaluatedKey"]}


# OpenAPI


def compared_document(document: Any) -> Any:  # noqa: ANN401 - JSON
    """An OpenAPI document without what is written for people, and without an order where order means nothing."""
    if isinstance(document, list):
        return [compared_document(each) for each in document]
    if not isinstance(document, dict):
        return document
    return {name: _compared_member(name, each) for name, each in document.items() if name not in _TEXTS}


def _compared_member(name: str, value: Any) -> Any:  # noqa: ANN401 - JSON
    if name in _NAMED and isinstance(value, dict):
        return {each: compared_document(inner) for each, inner in value.items()}
    if name == "parameters":
        return {f"{each['in']} {each['name']}": compared_document(each) for each in value}
    return sorted(value) if name == "required" and isinstance(value, list) else compared_document(value)


# Fixtures


def fixture(name: str) -> dict[str, Any]:
    """The capture of a system that was written down."""
    found: dict[str, Any] = json.loads(lzma.decompress((FIXTURES / f"{name}.json.xz").read_bytes()))
    return found


def write(name: str) -> None:
    """Write down the capture of a system."""
    text = json.dumps(capture(name), indent=1, sort_keys=True, ensure_ascii=False)
    FIXTURES.mkdir(parents=True, exist_ok=True)
    (FIXTURES / f"{name}.json.xz").write_bytes(lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME))


if __name__ == "__main__":
    for each in sys.argv[1:] or SYSTEMS:
        write(each)
