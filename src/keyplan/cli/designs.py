"""`keyplan tables`, `patterns` and `verify`: what the design of a system says, and whether its data agrees."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from enum import Enum
from types import UnionType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Literal,
    TypeAlias,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)
from uuid import UUID

import typer

from keyplan.cli.opening import (
    DataFile,
    EndpointUrl,
    OnAws,
    connection_from,
    design_of,
    fail,
    making_tables,
    opened,
    place,
)

if TYPE_CHECKING:
    from keyplan.connection import Connection
    from keyplan.data import VerifyFinding
    from keyplan.design import Design, Op, Pattern

DEFAULT_ENVIRONMENT = "dev"
_ENVIRONMENT = re.compile(r"\{([a-z_]+)(?:=[^{}]*)?\}")
_WITHOUT_DEFAULT = re.compile(r"\{([a-z_]+)\}")
_PASSES = 5
"""A repair may bring to light what it hid, so the tables are walked again; not for ever."""

System = Annotated[
    str, typer.Argument(help="The name of a system, or module:NAME of a design.", metavar="SYSTEM", show_default=False)
]
AsJson = Annotated[bool, typer.Option("--json", help="Write JSON, for programs.")]
Environment = Annotated[
    list[str] | None,
    typer.Option(
        "--environment",
        metavar="NAME=VALUE",
        help=f"What a name in braces in a table's name stands for; else {DEFAULT_ENVIRONMENT}. May be repeated.",
    ),
]
Request: TypeAlias = dict[str, Any]


def tables(
    system: System,
    as_json: AsJson = False,
    environment: Environment = None,
    make: Annotated[bool, typer.Option("--create", help="Make the tables that are not there.")] = False,
    path: DataFile = None,
    endpoint_url: EndpointUrl = None,
    aws: OnAws = None,
) -> None:
    """Show the tables of a system's design: the requests that make them and set their time to live.

    With --create, make them in the DynamoDB that `keyplan serve` would use with the same flags and variables.
    """
    settings = connection_from({"path": path, "endpoint_url": endpoint_url, "aws": aws})
    design = _design(system, environment, settings)
    if make:
        _create(system, design, settings)
        return
    from keyplan.data import create_table_requests

    requests = list(create_table_requests(design))
    if as_json:
        _write([{"CreateTable": create, **({"UpdateTimeToLive": ttl} if ttl else {})} for create, ttl in requests])
        return
    rows = [_table_row(create, ttl) for create, ttl in requests]
    show(f"Tables of {system}", ("Table", "Key", "Indexes", "Billing", "Stream", "Time to live"), rows)


def _create(system: str, design: Design, settings: Connection) -> None:
    from keyplan.data import DataError, Store

    with opened(settings, make=True) as clients:
        store = Store(design, clients.dynamodb)
        try:
            before = store.tables_exist()
            store.create_tables()
        except DataError as error:
            fail(f"Can not make the tables of {system}: {error}")
    for name, was_there in before.items():
        typer.echo(f"{name}: {'was there' if was_there else 'made'}")


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


def patterns(system: System, as_json: AsJson = False, environment: Environment = None) -> None:
    """List every access pattern of a system's design, with an example of the request that it sends first."""
    described = list(_described(_design(system, environment, connection_from({}))))
    if as_json:
        _write([each.as_json() for each in described])
        return
    rows = [each.row() for each in described]
    show(f"Access patterns of {system}", ("Access pattern", "Call", "Operation", "Table", "Index", "Scans"), rows)
    for each in described:
        typer.echo(f"{each.call}\n    {each.action} {json.dumps(each.request, default=_jsonable, ensure_ascii=False)}")


@dataclass(frozen=True)
class Described:
    """An access pattern, as it is shown."""

    name: str
    wording: str
    call: str
    operation: str
    table: str
    index: str | None
    scans: bool
    action: str
    request: Request

    def row(self) -> list[str]:
        scans = "yes" if self.scans else "no"
        return [self.wording, self.call, self.operation, self.table, self.index or "", scans]

    def as_json(self) -> dict[str, object]:
        return {
            "name": self.name,
            "wording": self.wording,
            "operation": self.operation,
            "table": self.table,
            "index": self.index,
            "scans": self.scans,
            "example": {"call": self.call, "action": self.action, "request": self.request},
        }


def _described(design: Design) -> Iterator[Described]:
    from keyplan.data import Store
    from keyplan.design import DesignError, InvalidValue

    # Nothing is sent, so there is no client; and no cursor that somebody would have to open.
    store = Store(design, None, secret=b"example")
    for name, pattern in design.patterns.items():
        arguments = _examples(pattern)
        try:
            op = getattr(design, name)(**arguments)
            ((method, request),) = store.requests(op)
        except (DesignError, InvalidValue) as error:
            fail(f"{name} has no example: {error}. Annotate its parameters with the types of the fields.")
        table, index = _place(request)
        call = f"{name}({', '.join(f'{each}={_shown(value)}' for each, value in arguments.items())})"
        scans = method == "scan"
        action = "".join(word.capitalize() for word in method.split("_"))
        yield Described(name, _wording(pattern), call, operation_name(op), table, index, scans, action, request)


def _examples(pattern: Pattern[..., Any]) -> dict[str, object]:
    """Made-up arguments for a pattern, by the types of its parameters."""
    hints = get_type_hints(pattern._build)
    keys = _keys(pattern)
    return {name: keys.get(name) or example(name, hints.get(name, str)) for name in pattern.parameters}


def _keys(pattern: Pattern[..., Any]) -> dict[str, object]:
    """Made-up keys for the parameters that are lists of them: what they are made of is known from the entity."""
    from keyplan.design import BatchGet, Parameter, Together

    op = pattern.symbolic
    gets = op.gets if isinstance(op, Together) else (op,)
    asked = [
        (each.keys.name, each.entity.spec)
        for each in gets
        if isinstance(each, BatchGet) and isinstance(each.keys, Parameter)
    ]
    return {
        name: [{field: example(field, spec.fields[field].annotation) for field in spec.primary.fields}]
        for name, spec in asked
        if len(spec.primary.fields) > 1
    }


def example(name: str, annotation: object) -> object:
    """A made-up value of a type, for the parameter of this name."""
    simple: dict[object, object] = {
        bool: True,
        int: 1,
        float: 1.5,
        Decimal: Decimal("1.5"),
        bytes: b"example",
        datetime: datetime(2026, 1, 31, 12, tzinfo=UTC),
        date: date(2026, 1, 31),
        UUID: UUID(int=1),
    }
    if annotation in simple:
        return simple[annotation]
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return next(iter(annotation))
    arguments = get_args(annotation)
    match get_origin(annotation):
        case origin if origin is Literal:
            return arguments[0]
        case origin if origin in (Union, UnionType):
            return example(name, arguments[0])
        case origin if origin is tuple and Ellipsis not in arguments:
            return tuple(example(f"{name}-{number}", each) for number, each in enumerate(arguments, 1))
        case origin if origin in (list, tuple, Sequence, Iterable):
            return [example(name.removesuffix("s"), arguments[0])]
        case origin if origin in (set, frozenset):
            return {example(name.removesuffix("s"), arguments[0])}
    return f"{name.replace('_', '-')}-1"


def _wording(pattern: Pattern[..., Any]) -> str:
    return " ".join(pattern.wording.split())


def operation_name(op: Op[object]) -> str:
    """What an operation is called in the design language."""
    from keyplan import design as known
    from keyplan.design import Guard

    match op:
        case known.Query(entities=entities) if len(entities) > 1:
            return "collection"
        case known.Follow():
            return "follow: query, then batch get"
        case known.Merge(queries=queries):
            return f"merge of {len(queries)} queries"
        case known.Lookup(way=way):
            return f"lookup: {'guard' if isinstance(way, Guard) else 'mirror'}, then get"
        case known.ItemCount(source=source):
            return f"count of a {operation_name(source)}"
        case known.GuardTaken():
            return "taken: guard"
        case known.BatchGet():
            return "batch get"
        case known.Together(gets=gets):
            return f"batch get of {len(gets)} entities"
    return type(op).__name__.lower()


def _place(request: Request) -> tuple[str, str | None]:
    """The table and the index that a request reads."""
    if "RequestItems" in request:
        return ", ".join(request["RequestItems"]), None
    return request["TableName"], request.get("IndexName")


def _shown(value: object) -> str:
    return value.isoformat() if isinstance(value, date) else json.dumps(value, default=str)


def verify(
    system: System,
    path: DataFile = None,
    endpoint_url: EndpointUrl = None,
    aws: OnAws = None,
    repair: Annotated[bool, typer.Option("--repair", help="Put right what can be.")] = False,
    as_json: AsJson = False,
    environment: Environment = None,
) -> None:
    """Walk a system's tables and list what does not agree with its design. Exit code 1: something is left."""
    settings = connection_from({"path": path, "endpoint_url": endpoint_url, "aws": aws})
    design = _design(system, environment, settings)

    from keyplan.data import DataError, MissingTable, Store

    with opened(settings) as clients:
        store = Store(design, clients.dynamodb)
        try:
            findings = store.verify()
            found = len(findings)
            for _ in range(_PASSES if repair else 0):
                if not findings or not store.repair(findings):
                    break
                findings = store.verify()
        except MissingTable as error:
            missing = f"there is no table {', '.join(error.tables)} in {place(settings)}"
            fail(f"Can not verify {system}: {missing}. Make its tables: {making_tables(system, settings, environment)}")
        except DataError as error:
            fail(f"Can not verify {system}: {error}")
    if as_json:
        _write({"found": found, "left": [_finding(each) for each in findings]})
    elif findings:
        rows = [
            [each.kind, each.table, _item_key(each), each.problem, "yes" if each.repairable else "no"]
            for each in findings
        ]
        show(f"Findings in {system}", ("Kind", "Table", "Key", "Problem", "Can be repaired"), rows)
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


def _design(system: str, environment: Sequence[str] | None, settings: Connection) -> Design:
    """The design of a system, with a value for everything that its tables' names leave open."""
    kind = design_of(system)
    given = dict(_pair(each) for each in environment or ())
    names = {name for table in kind.tables for name in _ENVIRONMENT.findall(table.name)}
    unknown = [name for name in given if name not in names]
    if unknown:
        there = ", ".join(sorted(names)) or "nothing"
        raise typer.BadParameter(f"The names of {system}'s tables leave open {there}, not {', '.join(unknown)}.")
    open_names = {name for table in kind.tables for name in _WITHOUT_DEFAULT.findall(table.name)}
    return kind({**dict.fromkeys(open_names, DEFAULT_ENVIRONMENT), **settings.table_environment(), **given})


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name or not value:
        raise typer.BadParameter(f"{text!r} is not of the form NAME=VALUE.")
    return name, value


def show(title: str, heading: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    shown = Table(title=title, title_justify="left")
    for name in heading:
        shown.add_column(name, overflow="fold")
    for row in rows:
        shown.add_row(*map(Text, row))
    # A pipe has no width; a table folded into 80 columns would be of no use to whoever reads it.
    Console(file=sys.stdout, width=None if sys.stdout.isatty() else 200).print(shown)


def _write(value: object) -> None:
    typer.echo(json.dumps(value, indent=2, ensure_ascii=False, default=_jsonable))


def _jsonable(value: object) -> object:
    if isinstance(value, bytes):
        import base64

        return base64.b64encode(value).decode()
    raise TypeError(f"{value!r} has no JSON form")
