"""What commands open: the DynamoDB that flags and settings name, by one rule for all; and the systems there are."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NoReturn, TypeVar

import typer

if TYPE_CHECKING:
    from boto3 import Session

    from keyplan.connection import Connection
    from keyplan.design import Design
    from keyplan.engine import Database
    from keyplan.web import Settings, System

C = TypeVar("C", bound="Connection")

DEFAULT_FILE = Path("keyplan.db")
_USUAL = ("AWS_ENDPOINT_URL_DYNAMODB", "AWS_ENDPOINT_URL")
"""Where AWS's own tools look for an endpoint, in this order."""

# The flags that name a DynamoDB, the same for every command that opens one.
DataFile = Annotated[
    Path | None,
    typer.Option("--path", help=f"File with the data; else KEYPLAN_PATH, else {DEFAULT_FILE} here.", metavar="FILE"),
]
EndpointUrl = Annotated[
    str | None,
    typer.Option(
        "--endpoint-url",
        help="DynamoDB endpoint to use instead of a file; else KEYPLAN_ENDPOINT_URL, else AWS_ENDPOINT_URL.",
        metavar="URL",
    ),
]
OnAws = Annotated[
    bool | None,
    typer.Option("--aws", help="Use DynamoDB on AWS, by AWS's usual variables, instead of a file; else KEYPLAN_AWS."),
]


def fail(message: str, code: int = 2) -> NoReturn:
    """End the command with a message."""
    typer.echo(f"keyplan: {message}", err=True)
    raise typer.Exit(code)


def connection_from(flags: Mapping[str, object]) -> Connection:
    """The DynamoDB to open, by the command line (None: nothing said), the environment and `.env`."""
    from keyplan.connection import Connection

    return _settings(Connection, flags)


_OF_EXTRAS = frozenset(
    "bcrypt fastapi jinja2 jwt markupsafe nh3 prometheus_client python_multipart starlette uvicorn".split()
)
"""Modules of the packages that come with the extras `web` and `systems`."""


def is_missing_extra(error: Exception) -> bool:
    """Whether a module is missing that comes with an extra."""
    return isinstance(error, ModuleNotFoundError) and (error.name or "").partition(".")[0] in _OF_EXTRAS


def settings_from(flags: Mapping[str, object]) -> Settings:
    """All settings of a server, with what the command line says (None: nothing)."""
    from keyplan.web import Settings

    return _settings(Settings, flags)


def _settings(kind: type[C], flags: Mapping[str, object]) -> C:
    """The settings. What is wrong with them ends the command."""
    from pydantic import ValidationError
    from pydantic_settings import SettingsError

    given: dict[str, Any] = _one_dynamodb({name: value for name, value in flags.items() if value is not None})
    try:
        settings = kind(**given)
        usual = next(filter(None, map(os.environ.get, _USUAL)), None)
        if usual and settings.embedded and "path" not in settings.model_fields_set:  # a file that is named is meant
            settings = kind(**{**given, "endpoint_url": usual})
        return settings
    except ValidationError as error:
        fail("; ".join(_wrong_setting(each["loc"], each["msg"]) for each in error.errors()))
    except SettingsError as error:  # what should be JSON is not
        fail(f"{str(error)[0].upper()}{str(error)[1:]}")


def _one_dynamodb(given: dict[str, object]) -> dict[str, object]:
    """The flags; where one of them names a DynamoDB, what variables say of another does not count."""
    overruled: dict[str, dict[str, object]] = {
        "path": {"endpoint_url": None, "aws": False},
        "endpoint_url": {"aws": False},
        "aws": {"endpoint_url": None},
    }
    named = [name for name in overruled if name in given]
    if len(named) > 1:
        flags = [f"--{name.replace('_', '-')}" for name in named]
        raise typer.BadParameter(f"{', '.join(flags[:-1])} and {flags[-1]} exclude each other.")
    if given.get("endpoint_url") == "":  # to boto3 that would be AWS
        raise typer.BadParameter("--endpoint-url is empty.")
    return {**(overruled[named[0]] if named else {}), **given}


def _wrong_setting(where: tuple[int | str, ...], problem: str) -> str:
    name = ".".join(map(str, where))
    return f"{name}: {problem}" if name else problem.removeprefix("Value error, ")


@dataclass(frozen=True)
class Clients:
    """What answers requests: DynamoDB and its streams, in the shape of boto3's clients."""

    dynamodb: object
    streams: object


@contextmanager
def opened(settings: Connection, *, make: bool = False) -> Iterator[Clients]:
    """DynamoDB in a file, at an endpoint, or on AWS. `make`: a file that is not there is made."""
    with ExitStack() as stack:
        if settings.embedded:
            engine = stack.enter_context(_engine(settings.path, make, settings.durability))
            yield Clients(engine, engine)
        else:
            url = settings.endpoint_url
            session = _session(anybody=url is not None)
            yield Clients(*(stack.enter_context(_boto3(session, name, url)) for name in _SERVICES))


def place(settings: Connection) -> str:
    """Which DynamoDB it is, for people."""
    return "AWS" if settings.aws else settings.endpoint_url or f"file {settings.path}"


def making_tables(system: str, settings: Connection, environment: Sequence[str] | None = None) -> str:
    """The command that makes the tables of a system there."""
    where = ["--path", str(settings.path)] if settings.embedded else ["--endpoint-url", str(settings.endpoint_url)]
    named = [word for each in environment or () for word in ("--environment", each)]
    return shlex.join(["keyplan", "tables", system, "--create", *(["--aws"] if settings.aws else where), *named])


_SERVICES = ("dynamodb", "dynamodbstreams")


@contextmanager
def _engine(file: Path, make: bool, durability: Literal["normal", "full"]) -> Iterator[object]:
    if not make and not file.is_file():
        fail(f"Can not open {file}: there is no such file")
    check_usable(file)

    from keyplan.engine import Engine

    with _explained(file):
        engine = Engine(str(file), durability=durability, ttl_interval=60)
    with engine:
        yield engine


@contextmanager
def database_in(file: Path, durability: Literal["normal", "full"]) -> Iterator[Database]:
    """A file that another process, or another part of this one, may have open as well."""
    check_usable(file)

    from keyplan.engine import Database

    with _explained(file):
        database = Database(str(file), durability=durability, ttl_interval=None)
    try:
        yield database
    finally:
        database.close()


@contextmanager
def _explained(file: Path) -> Iterator[None]:
    """Say why a file can not be opened."""
    import apsw

    from keyplan.engine import DamagedFile

    try:
        yield
    except (DamagedFile, apsw.Error, OSError) as error:
        fail(f"Can not open {file}: {error}")


def _session(*, anybody: bool) -> Session:
    import boto3

    session = boto3.Session()
    # An endpoint on this machine takes any credentials, and boto3 sends nothing without some.
    if anybody and session.get_credentials() is None:
        session = boto3.Session(aws_access_key_id="keyplan", aws_secret_access_key="keyplan")
    return session


@contextmanager
def _boto3(session: Session, service: Any, endpoint_url: str | None) -> Iterator[object]:  # noqa: ANN401 - a literal
    from botocore.exceptions import BotoCoreError

    region = session.region_name or ("us-east-1" if endpoint_url else None)
    try:
        client: Any = session.client(service, endpoint_url=endpoint_url, region_name=region)
    except (ValueError, BotoCoreError) as error:
        fail(f"Can not use {endpoint_url or 'AWS'}: {error}")
    try:
        yield client
    finally:
        client.close()


def check_usable(file: Path) -> None:
    """Refuse what SQLite would refuse less clearly."""
    folder = file.absolute().parent
    if not folder.is_dir():
        fail(f"Can not open {file}: there is no folder {folder}")
    if file.is_dir():
        fail(f"Can not open {file}: it is a folder")
    if not os.access(file if file.exists() else folder, os.W_OK):
        fail(f"Can not open {file}: no permission to write")


def system_names() -> list[str]:
    """The names of the systems that there are."""
    import pkgutil

    from keyplan import apps

    return sorted(found.name for found in pkgutil.iter_modules(apps.__path__) if found.ispkg)


def served_systems(names: list[str] | None = None) -> list[System[Any]]:
    """The systems that can be served, or those of these names; `module:NAME` is one of somebody's own."""
    from importlib.util import find_spec

    known = [name for name in system_names() if find_spec(f"keyplan.apps.{name}.api")]
    unknown = [name for name in names or () if name not in known and ":" not in name]
    if unknown:
        fail(f"There is no system {', '.join(unknown)}; there are: {', '.join(known)}.")
    return [named(name if ":" in name else f"keyplan.apps.{name}.api:SYSTEM") for name in names or known]


def design_of(system: str) -> type[Design]:
    """The design of a system by its name; or by `module:NAME`, where NAME is a system or a design."""
    known = system_names()
    if ":" not in system and system not in known:
        raise typer.BadParameter(f"{system!r} is none of the systems: {', '.join(known)}.")
    found = named(system if ":" in system else f"keyplan.apps.{system}.design:DESIGN")
    design: type[Design] = getattr(found, "design", found)
    return design


def named(place: str) -> Any:  # noqa: ANN401 - whatever has that name
    """What a module has under a name, given as `module:NAME`; modules in this folder can be named, too."""
    import sys
    from importlib import import_module

    module, _, name = place.partition(":")
    if "" not in sys.path and str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    try:
        return getattr(import_module(module), name)
    except (ImportError, AttributeError) as error:
        if is_missing_extra(error):
            raise
        fail(f"There is no {name or 'name'} in {module}: {error}")
