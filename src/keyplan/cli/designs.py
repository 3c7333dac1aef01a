"""`keyplan tables`, `patterns` and `verify`: show a system's design, and check its data against it."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    TypeAlias,
)

import typer

from keyplan.cli.opening import (
    DataFile,
    DesignName,
    EndpointUrl,
    OnAws,
    connection_from,
    create_tables_command,
    design_of,
    fail,
    opened,
    place,
)

if TYPE_CHECKING:
    from keyplan.connection import Connection
    from keyplan.data import VerifyFinding
    from keyplan.design import Design, Pattern

DEFAULT_ENVIRONMENT = "dev"
_ENVIRONMENT = re.compile(r"\{([a-z_]+)(?:=[^{}]*)?\}")
_WITHOUT_DEFAULT = re.compile(r"\{([a-z_]+)\}")
_PASSES = 5
"""How often to verify and repair at most. A repair can uncover another problem, so the tables are read again."""

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Environment = Annotated[
    list[str] | None,
    typer.Option(
        "--environment",
        metavar="NAME=VALUE",
        help=f"Value for a {{name}} in table names. The default is {DEFAULT_ENVIRONMENT}. Can be repeated.",
    ),
]
Request: TypeAlias = dict[str, Any]


def tables(
    system: DesignName,
    as_json: AsJson = False,
    environment: Environment = None,
    create: Annotated[bool, typer.Option("--create", help="Create the tables that don't exist.")] = False,
    path: DataFile = None,
    endpoint_url: EndpointUrl = None,
    aws: OnAws = None,
) -> None:
    """Show the tables of a system's design: the requests that create them and set their time to live.

    With --create, create them in the DynamoDB that `keyplan serve` would use with the same options and variables.
    """
    settings = connection_from({"path": path, "endpoint_url": endpoint_url, "aws": aws})
    design = design_named(system, environment, settings)
    if create:
        _create(system, design, settings)
        return
    from keyplan.data import create_table_requests

    requests = list(create_table_requests(design))
    if as_json:
        _write([{"CreateTable": table, **({"UpdateTimeToLive": ttl} if ttl else {})} for table, ttl in requests])
        return
    rows = [_table_row(table, ttl) for table, ttl in requests]
    show(f"Tables of {system}", ("Table", "Key", "Indexes", "Billing", "Stream", "Time to live"), rows)


def _create(system: str, design: Design, settings: Connection) -> None:
    from keyplan.data import DataError, Store, Unsupported

    lacking: Unsupported | None = None
    with opened(settings, create=True) as clients:
        store = Store(design, clients.dynamodb, timeout=settings.dynamodb_timeout)
        try:
            before = store.tables_exist()
            store.create_tables()
        except DataError as error:
            if not (isinstance(error, Unsupported) and error.operation.endswith("time_to_live")):
                fail(f"Can't create the tables of {system}: {error}")
            lacking = error  # which is found out when all tables have been created
    for name, existed in before.items():
        typer.echo(f"{name}: {'already exists' if existed else 'created'}")
    if lacking:
        fail(f"Can't turn on time to live: {lacking}")


def _table_row(create: Request, ttl: Request | None) -> list[str]:
    indexes = [*create.get("LocalSecondaryIndexes", []), *create.get("GlobalSecondaryIndexes", [])]
    types = {each["AttributeName"]: each["AttributeType"] for each in create["AttributeDefinitions"]}
    return [
        create["TableName"],
        _key_text(create["KeySchema"], types),
        "\n".join(f"{each['IndexName']}: {_index_text(each, types)}" for each in indexes),
        create["BillingMode"],
        create.get("StreamSpecification", {}).get("StreamViewType", ""),
        ttl["TimeToLiveSpecification"]["AttributeName"] if ttl else "",
    ]


def _index_text(index: Request, types: Mapping[str, str]) -> str:
    projection = index["Projection"]
    held = projection.get("NonKeyAttributes") or ([] if projection["ProjectionType"] == "ALL" else ["keys only"])
    return _key_text(index["KeySchema"], types) + (f", {', '.join(held)}" if held else "")


def _key_text(schema: Sequence[Mapping[str, str]], types: Mapping[str, str]) -> str:
    return " + ".join(f"{each['AttributeName']} ({types[each['AttributeName']]})" for each in schema)


def patterns(system: DesignName, as_json: AsJson = False, environment: Environment = None) -> None:
    """List every access pattern of a system's design, each with an example of its first request."""
    summaries = list(_summaries(design_named(system, environment, connection_from({}))))
    if as_json:
        _write([each.as_json() for each in summaries])
        return
    rows = [each.row() for each in summaries]
    show(f"Access patterns of {system}", ("Access pattern", "Call", "Operation", "Table", "Index", "Scans"), rows)
    for each in summaries:
        typer.echo(f"{each.call}\n    {each.action} {json.dumps(each.request, default=_jsonable, ensure_ascii=False)}")


@dataclass(frozen=True)
class PatternSummary:
    """An access pattern as `keyplan patterns` shows it."""

    name: str
    wording: str
    call: str
    operation: str
    table: str
    index: str | None
    scans: bool
    requests: int
    """How many requests it begins with: several if it is spread over shards, or merges lists."""
    action: str
    request: Request

    def row(self) -> list[str]:
        scans = "yes" if self.scans else "no"
        several = f", {self.requests} requests" if self.requests > 1 else ""
        return [self.wording, self.call, f"{self.operation}{several}", self.table, self.index or "", scans]

    def as_json(self) -> dict[str, object]:
        return {
            "name": self.name,
            "wording": self.wording,
            "operation": self.operation,
            "table": self.table,
            "index": self.index,
            "scans": self.scans,
            "requests": self.requests,
            "example": {"call": self.call, "action": self.action, "request": self.request},
        }


def _summaries(design: Design) -> Iterator[PatternSummary]:
    from keyplan.data import Store
    from keyplan.design import DesignError, InvalidValue
    from keyplan.design.examples import example_arguments
    from keyplan.publish.document import operation_name

    # Nothing is sent, so no client is needed, and nobody has to open the cursors: any secret will do.
    store = Store(design, None, secret=b"example")
    for name, pattern in design.patterns.items():
        try:
            arguments = example_arguments(pattern, design=design)
            op = getattr(design, name)(**arguments)
            requests = store.requests(op)
        except (DesignError, InvalidValue) as error:
            fail(f"Can't make an example of {name}: {error}. Annotate its parameters with the types of the fields.")
        method, request = requests[0]
        table, index = _place(request)
        call = f"{name}({', '.join(f'{each}={_shown(value)}' for each, value in arguments.items())})"
        scans = method == "scan"
        action = "".join(word.capitalize() for word in method.split("_"))
        words = (_wording(pattern), call, operation_name(op))
        yield PatternSummary(name, *words, table, index, scans, len(requests), action, request)


def _wording(pattern: Pattern[..., Any]) -> str:
    return " ".join(pattern.wording.split())


def _place(request: Request) -> tuple[str, str | None]:
    """The table and index that a request reads."""
    if "RequestItems" in request:
        return ", ".join(request["RequestItems"]), None
    if "TransactItems" in request:
        return ", ".join(sorted({each["Get"]["TableName"] for each in request["TransactItems"]})), None
    return request["TableName"], request.get("IndexName")


def _shown(value: object) -> str:
    return value.isoformat() if isinstance(value, date) else json.dumps(value, default=str)


def verify(
    system: DesignName,
    path: DataFile = None,
    endpoint_url: EndpointUrl = None,
    aws: OnAws = None,
    repair: Annotated[bool, typer.Option("--repair", help="Repair what can be repaired.")] = False,
    as_json: AsJson = False,
    environment: Environment = None,
) -> None:
    """Read a system's tables and list the items that don't match its design. Exits with 1 if any remain."""
    settings = connection_from({"path": path, "endpoint_url": endpoint_url, "aws": aws})
    design = design_named(system, environment, settings)

    from keyplan.data import DataError, MissingTable, Store

    with opened(settings) as clients:
        store = Store(design, clients.dynamodb, timeout=settings.dynamodb_timeout)
        try:
            findings = store.verify()
            found = len(findings)
            for _ in range(_PASSES if repair else 0):
                if not findings or not store.repair(findings):
                    break
                findings = store.verify()
        except MissingTable as error:
            missing = f"{place(settings)} has no table {', '.join(error.tables)}"
            command = create_tables_command(system, settings, environment)
            fail(f"Can't verify {system}: {missing}. Create the tables with: {command}")
        except DataError as error:
            fail(f"Can't verify {system}: {error}")
    if as_json:
        _write({"found": found, "left": [_finding(each) for each in findings]})
    elif findings:
        rows = [
            [each.kind, each.table, _item_key(each), each.problem, "yes" if each.repairable else "no"]
            for each in findings
        ]
        show(f"Findings in {system}", ("Kind", "Table", "Key", "Problem", "Repairable"), rows)
    if not as_json:
        typer.echo(f"{system}: {found} found, {len(findings)} left.")
    if findings:
        raise typer.Exit(1)


def _finding(finding: VerifyFinding) -> dict[str, object]:
    return {
        "kind": finding.kind,
        "table": finding.table,
        "key": finding.key,
        "problem": finding.problem,
        "repairable": finding.repairable,
    }


def _item_key(finding: VerifyFinding) -> str:
    return "\n".join(f"{name} = {next(iter(value.values()))}" for name, value in finding.key.items())


def design_named(system: str, environment: Sequence[str] | None, settings: Connection) -> Design:
    """The design of a system, with a value for each {name} in its table names."""
    kind = design_of(system)
    given = dict(_pair(each) for each in environment or ())
    names = {name for table in kind.tables for name in _ENVIRONMENT.findall(table.name)}
    unknown = [name for name in given if name not in names]
    if unknown:
        known = ", ".join(f"{{{name}}}" for name in sorted(names)) or "no names in braces"
        raise typer.BadParameter(f"The table names of {system} have {known}, not {', '.join(unknown)}.")
    return kind({**dict.fromkeys(open_names(kind), DEFAULT_ENVIRONMENT), **settings.table_environment(), **given})


def open_names(design: type[Design]) -> set[str]:
    """The names in the table names of a design that have no default."""
    return {name for table in design.tables for name in _WITHOUT_DEFAULT.findall(table.name)}


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name or not value:
        raise typer.BadParameter(f"{text!r} isn't of the form NAME=VALUE.")
    return name, value


def show(title: str, heading: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    shown = Table(title=title, title_justify="left")
    for name in heading:
        shown.add_column(name, overflow="fold")
    for row in rows:
        shown.add_row(*map(Text, row))
    # A pipe has no width, and a table folded into 80 columns is hard to read.
    Console(file=sys.stdout, width=None if sys.stdout.isatty() else 200).print(shown)


def _write(value: object) -> None:
    typer.echo(json.dumps(value, indent=2, ensure_ascii=False, default=_jsonable))


def _jsonable(value: object) -> object:
    if isinstance(value, bytes):
        import base64

        return base64.b64encode(value).decode()
    raise TypeError(f"{value!r} has no JSON form")
