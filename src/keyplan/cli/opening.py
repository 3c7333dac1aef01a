"""What commands share: which DynamoDB to open, by the same options and variables, and which systems exist."""

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
    import traceback

    from keyplan.connection import Connection
    from keyplan.design import Design
    from keyplan.engine import Database
    from keyplan.web import Settings, System

C = TypeVar("C", bound="Connection")

DEFAULT_FILE = Path("keyplan.db")
_AWS_ENDPOINT_VARIABLES = ("AWS_ENDPOINT_URL_DYNAMODB", "AWS_ENDPOINT_URL")
"""Where AWS's own tools look for an endpoint, in this order."""

# A design, the same for every command that takes one.
DesignName = Annotated[
    str,
    typer.Argument(
        help="Name of a system, or module:NAME of a design or a system. The module is imported, which runs it.",
        metavar="DESIGN",
        show_default=False,
    ),
]
# The options that choose a DynamoDB, the same for every command that opens one.
DataFile = Annotated[
    Path | None,
    typer.Option(
        "--path",
        help=f"Database file. The default is KEYPLAN_PATH or {DEFAULT_FILE} in the current folder.",
        metavar="FILE",
    ),
]
EndpointUrl = Annotated[
    str | None,
    typer.Option(
        "--endpoint-url",
        help="DynamoDB endpoint to use instead of a file. The default is KEYPLAN_ENDPOINT_URL, "
        "AWS_ENDPOINT_URL_DYNAMODB or AWS_ENDPOINT_URL.",
        metavar="URL",
    ),
]
OnAws = Annotated[
    bool | None,
    typer.Option(
        "--aws",
        help="Use DynamoDB on AWS instead of a file, configured as for the AWS CLI. The default is KEYPLAN_AWS.",
    ),
]


def fail(message: str, code: int = 2) -> NoReturn:
    """Print a message and exit with this code."""
    typer.echo(f"keyplan: {message}", err=True)
    raise typer.Exit(code)


def connection_from(flags: Mapping[str, object]) -> Connection:
    """The DynamoDB to open, from options (None: not given), the environment and `.env`."""
    from keyplan.connection import Connection

    return _settings(Connection, flags)


_EXTRA_MODULES = frozenset(
    "bcrypt fastapi jinja2 jwt markdown_it markupsafe multipart nh3 PIL prometheus_client python_multipart starlette "
    "uvicorn".split()
)
"""Modules that are installed by the extras `web` and `systems`."""


def is_missing_extra(error: Exception) -> bool:
    """Whether an import failed because an extra isn't installed."""
    return isinstance(error, ModuleNotFoundError) and (error.name or "").partition(".")[0] in _EXTRA_MODULES


def settings_from(flags: Mapping[str, object]) -> Settings:
    """All settings of a server, from options (None: not given), the environment and `.env`."""
    from keyplan.web import Settings

    return _settings(Settings, flags)


def _settings(kind: type[C], flags: Mapping[str, object]) -> C:
    """The settings. Ends the command with a message if they are invalid."""
    from pydantic import ValidationError
    from pydantic_settings import SettingsError

    given: dict[str, Any] = _overriding_variables({name: value for name, value in flags.items() if value is not None})
    try:
        settings = kind(**given)
        endpoint = next(filter(None, map(os.environ.get, _AWS_ENDPOINT_VARIABLES)), None)
        if endpoint and settings.embedded and "path" not in settings.model_fields_set:  # an explicit file wins
            settings = kind(**{**given, "endpoint_url": endpoint})
        return settings
    except ValidationError as error:
        fail("; ".join(_wrong_setting(each["loc"], each["msg"]) for each in error.errors()))
    except SettingsError as error:  # invalid JSON
        fail(f"{str(error)[0].upper()}{str(error)[1:]}")


def _overriding_variables(given: dict[str, object]) -> dict[str, object]:
    """The options. One that chooses a DynamoDB overrides variables that choose another."""
    overridden: dict[str, dict[str, object]] = {
        "path": {"endpoint_url": None, "aws": False},
        "endpoint_url": {"aws": False},
        "aws": {"endpoint_url": None},
    }
    named = [name for name in overridden if name in given]
    if len(named) > 1:
        flags = [f"--{name.replace('_', '-')}" for name in named]
        raise typer.BadParameter(f"{', '.join(flags[:-1])} and {flags[-1]} can't be used together.")
    if given.get("endpoint_url") == "":  # boto3 would take it for AWS
        raise typer.BadParameter("--endpoint-url is empty.")
    return {**(overridden[named[0]] if named else {}), **given}


def _wrong_setting(where: tuple[int | str, ...], problem: str) -> str:
    name = ".".join(map(str, where))
    return f"{name}: {problem}" if name else problem.removeprefix("Value error, ")


@dataclass(frozen=True)
class Clients:
    """Clients for DynamoDB and its streams, with the methods of boto3's."""

    dynamodb: object
    streams: object


@contextmanager
def opened(settings: Connection, *, create: bool = False) -> Iterator[Clients]:
    """Clients for DynamoDB in a file, at an endpoint, or on AWS. `create`: create the file if it doesn't exist."""
    with ExitStack() as stack:
        if settings.embedded:
            engine = stack.enter_context(_engine(settings.path, create, settings.durability))
            yield Clients(engine, engine)
        else:
            from keyplan.cli.clients import clients

            try:
                made = clients(settings.endpoint_url, settings.dynamodb_timeout)
            except ValueError as error:
                fail(f"Can't use {place(settings)}: {error}")
            for each in made:
                stack.callback(each.close)
            yield Clients(*made)


def media_folder(file: Path) -> Path | None:
    """The folder of uploaded files that belongs to a database file; None if they are in S3."""
    from keyplan.connection import Connection

    class Uploads(Connection):
        media_path: Path | None = None
        media_bucket: str | None = None

    settings = _settings(Uploads, {"path": file})
    return None if settings.media_bucket else settings.media_path or file.with_name(f"{file.name}.media")


def place(settings: Connection) -> str:
    """Which DynamoDB the settings choose, as shown to users."""
    return "AWS" if settings.aws else settings.endpoint_url or f"file {settings.path}"


def create_tables_command(system: str, settings: Connection, environment: Sequence[str] | None = None) -> str:
    """The command that creates the tables of a system there."""
    where = ["--path", str(settings.path)] if settings.embedded else ["--endpoint-url", str(settings.endpoint_url)]
    named = [word for each in environment or () for word in ("--environment", each)]
    return shlex.join(["keyplan", "tables", system, "--create", *(["--aws"] if settings.aws else where), *named])


@contextmanager
def _engine(file: Path, create: bool, durability: Literal["normal", "full"]) -> Iterator[object]:
    if not create and not file.is_file():
        fail(f"Can't open {file}: file not found")
    check_usable(file)

    from keyplan.engine import Engine

    with _explained(file):
        engine = Engine(str(file), durability=durability, ttl_interval=60)
    with engine:
        yield engine


def check_s3(setting: str | None) -> None:
    """End the command if what stands for S3 is neither the URL of an endpoint nor a folder that exists."""
    if setting and not setting.startswith(("http://", "https://")) and not Path(setting).is_dir():
        fail(f"Can't use {setting} as S3: folder not found")


@contextmanager
def database_in(file: Path, durability: Literal["normal", "full"], s3: str | None) -> Iterator[Database]:
    """The database in a file, which this or another process may have open too."""
    check_usable(file)
    check_s3(s3)

    from keyplan.engine import Database

    with _explained(file):
        database = Database(str(file), durability=durability, ttl_interval=None, s3=s3 or None)
    try:
        yield database
    finally:
        database.close()


@contextmanager
def _explained(file: Path) -> Iterator[None]:
    """Ends the command with a message if a file can't be opened."""
    import apsw

    from keyplan.engine import DamagedFile

    try:
        yield
    except (DamagedFile, apsw.Error, OSError, ValueError) as error:  # ValueError: a setting of storage/limits.py
        fail(f"Can't open {file}: {error}")


def check_usable(file: Path) -> None:
    """Ends the command with a clearer message than SQLite's if a file can't be opened."""
    folder = file.absolute().parent
    if not folder.is_dir():
        fail(f"Can't open {file}: folder {folder} not found")
    if file.is_dir():
        fail(f"Can't open {file}: it is a folder")
    if not os.access(file if file.exists() else folder, os.W_OK):
        fail(f"Can't open {file}: no write permission")


def credentials(access_key: str | None, secret_key: str | None, file: Path | None) -> tuple[str, str] | None:
    """The access key and the secret key of an endpoint, or None if there are none. The secret may be in a file."""
    if secret_key and file is not None:
        fail("The secret key is given twice: as a file and in KEYPLAN_DYNAMODB_SECRET_KEY. Keep one of them.")
    secret = secret_key if file is None else _secret_in(file)
    if not access_key and not secret:
        return None
    if not access_key:
        fail("There is a secret key, but no access key. Set KEYPLAN_DYNAMODB_ACCESS_KEY.")
    if not secret:
        fail(
            "There is an access key, but no secret key. Set KEYPLAN_DYNAMODB_SECRET_KEY_FILE or "
            "KEYPLAN_DYNAMODB_SECRET_KEY."
        )
    return access_key, secret


def _secret_in(file: Path) -> str:
    try:
        secret = file.read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        fail(f"Can't read the secret key in {file}: {getattr(error, 'strerror', None) or error}")
    if not secret:
        fail(f"Can't read the secret key in {file}: the file is empty")
    return secret


def system_names() -> list[str]:
    """The names of all systems."""
    import pkgutil

    from keyplan import apps

    return sorted(found.name for found in pkgutil.iter_modules(apps.__path__) if found.ispkg)


def unknown_system(name: str) -> str:
    """The message for a system that doesn't exist."""
    systems = f"Unknown system: {name}. The systems are: {', '.join(system_names())}."
    return f"{systems} For a design of your own, name its module and the design in it: module:NAME."


def served_systems(names: list[str] | None = None) -> list[System[Any]]:
    """All systems that can be served, or those with these names. `module:NAME` names a system of your own."""
    from importlib.util import find_spec

    known = [name for name in system_names() if find_spec(f"keyplan.apps.{name}.api")]
    unknown = [name for name in names or () if name not in known and ":" not in name]
    if unknown:
        fail(unknown_system(", ".join(unknown)))
    return [import_system(name if ":" in name else f"keyplan.apps.{name}.api:SYSTEM") for name in names or known]


def design_of(system: str) -> type[Design]:
    """The design of the system with this name. In `module:NAME`, NAME can be a system or a design.

    Ends the command with a message if the design has errors.
    """
    from keyplan.design import DesignError

    try:
        return declared_design(system)
    except DesignError as error:
        listed = f"To see all errors of the design: {shlex.join(['keyplan', 'review', system])}"
        fail(f"Can't import {system}: {_place_of(error)}{error}\n{listed}")


def declared_design(system: str) -> type[Design]:
    """The design of the system with this name, as `design_of` does it. Raises `DesignError` if it has errors."""
    from keyplan.design import Design, Table

    if ":" not in system and system not in system_names():
        raise typer.BadParameter(unknown_system(system))
    found = import_name(system if ":" in system else f"keyplan.apps.{system}.design:DESIGN")
    design: object = found if isinstance(found, Table) else getattr(found, "design", found)  # tables have indexes
    if not (isinstance(design, type) and issubclass(design, Design)):
        fail(f"{system} is neither a system nor a design. Name a System, or a class that inherits from Design.")
    return design


def import_system(path: str) -> System[Any]:
    """Import the system at `module:NAME`."""
    from keyplan.web import System

    found = import_name(path)
    if not isinstance(found, System):
        fail(f"{path} is not a system. Name a System, such as guests:SYSTEM.")
    return found


def import_name(path: str) -> Any:  # noqa: ANN401 - an object of any type
    """Import `module:NAME`. The module may be in the current folder.

    Ends the command with a message if that fails, except with a `DesignError`, which says what is wrong with a design.
    """
    import sys
    from importlib import import_module

    from keyplan.design import DesignError

    module, _, name = path.partition(":")
    if module.endswith(".py"):
        dotted = module.removesuffix(".py").replace("/", ".")
        fail(f"Can't import {path}: name the module, not its file: {dotted}:{name}")
    if "" not in sys.path and str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    try:
        return getattr(import_module(module), name)
    except DesignError:
        raise
    except (Exception, SystemExit) as error:  # whatever the module does
        if isinstance(error, ImportError) and is_missing_extra(error):
            raise
        fail(f"Can't import {path}: {_wrong_in_module(error)}")


def _wrong_in_module(error: BaseException) -> str:
    """What ended the import of a module, in one line, with the place in the module or in one that it imports."""

    problem = " ".join(str(error).split())
    if isinstance(error, SyntaxError):
        return f"{error.filename}, line {error.lineno}: {error.msg}"
    if isinstance(error, ModuleNotFoundError | AttributeError) and not _code_in(error):
        return problem
    if isinstance(error, AttributeError) and isinstance(error.obj, type) and problem == error.name:
        problem = f"{error.obj.__name__} has no {problem}.{_meant(problem, dir(error.obj))}"
    kind = "the module ends the program" if isinstance(error, SystemExit) else type(error).__name__
    return f"{_place_of(error)}{kind}{f': {problem}' if problem else ''}"


def _place_of(error: BaseException) -> str:
    """The file and the line in which an error was raised, if that is known."""
    frames = _code_in(error)
    return f"{frames[-1].filename}, line {frames[-1].lineno}: " if frames else ""


def _meant(name: str, known: list[str]) -> str:
    from difflib import get_close_matches

    found = get_close_matches(name, [each for each in known if not each.startswith("_")], 1)
    return f" Did you mean {found[0]}?" if found else ""


def _code_in(error: BaseException) -> list[traceback.FrameSummary]:
    """Where an error was raised: the code of users, or else of libraries, without Python's import and this module."""
    import traceback

    ours = ("<frozen", "<string>", "importlib")  # <string>: what dataclasses generate
    libraries = ("site-packages", str(Path("keyplan", "design")))
    frames = traceback.extract_tb(error.__traceback__)
    found = [each for each in frames if each.filename != __file__ and not any(name in each.filename for name in ours)]
    return [each for each in found if not any(name in each.filename for name in libraries)] or found
