"""Pytest fixtures for projects that use DynamoDB; available once keyplan is installed.

`dynamodb` is a new engine in memory. `dynamodb_endpoint` is the URL of a new endpoint for everything that uses HTTP:
`boto3.client("dynamodb", endpoint_url=dynamodb_endpoint)`.

If another plugin has fixtures with these names, pytest takes one of the two. The settings `keyplan_dynamodb_fixture`
and `keyplan_endpoint_fixture` give ours other names; an empty name leaves the fixture out.

`pytest --keyplan-patterns FILE` writes which access patterns the tests run, for `keyplan review --tests FILE`. The
stores write them, in this process and in those that tests start; an environment variable tells them to.
"""

import os
from collections.abc import Callable, Iterator
from keyword import iskeyword
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from keyplan.engine import Engine

# The fixtures import the engine, so that test runs that don't use them aren't slowed down.


def _dynamodb() -> "Iterator[Engine]":
    """A new DynamoDB in memory, with the methods of boto3's client."""
    from keyplan.engine import Engine

    with Engine() as engine:
        yield engine


def _dynamodb_endpoint() -> Iterator[str]:
    """The URL of a new DynamoDB endpoint on a free port of the loopback interface."""
    from keyplan.engine import Database
    from keyplan.engine.wire import serve_in_thread

    database = Database()
    try:
        with serve_in_thread(database) as url:
            yield url
    finally:
        database.close()


_FIXTURES: dict[str, tuple[str, Callable[[], Iterator[Any]], str]] = {
    "keyplan_dynamodb_fixture": ("dynamodb", _dynamodb, "name of the fixture with a new DynamoDB in memory"),
    "keyplan_endpoint_fixture": ("dynamodb_endpoint", _dynamodb_endpoint, "name of the fixture with an endpoint's URL"),
}


_OPTION, _VARIABLE = "--keyplan-patterns", "KEYPLAN_PATTERNS"


def pytest_addoption(parser: pytest.Parser) -> None:
    for setting, (name, _, help_text) in _FIXTURES.items():
        parser.addini(setting, f"{help_text} (default: {name}; empty: none)", default=name)
    help_text = "write the access patterns that tests run into a file, for keyplan review --tests FILE"
    parser.getgroup("keyplan").addoption(_OPTION, metavar="FILE", help=help_text)


def pytest_configure(config: pytest.Config) -> None:
    """Register the fixtures by the names that the project gives them."""
    fixtures = ModuleType("keyplan_fixtures")
    for setting, (_, function, _) in _FIXTURES.items():
        if name := config.getini(setting).strip():
            if not name.isidentifier() or iskeyword(name) or name == "request" or hasattr(fixtures, name):
                raise pytest.UsageError(
                    f"{setting} = {name}: use a name that can be a test's argument and that no other fixture has."
                )
            setattr(fixtures, name, pytest.fixture(function, name=name))
    config.pluginmanager.register(fixtures, "keyplan-fixtures")
    if file := config.getoption(_OPTION):
        _record_patterns(config, Path(file).absolute())


def _record_patterns(config: pytest.Config, file: Path) -> None:
    """Begin a record of the patterns that tests run. The workers of pytest-xdist go on with it."""
    if not hasattr(config, "workerinput"):
        try:
            file.write_text("", "utf-8")
        except OSError as error:
            raise pytest.UsageError(f"{_OPTION}: can't write {file}: {error.strerror or error}") from None
    before = os.environ.get(_VARIABLE)
    os.environ[_VARIABLE] = str(file)

    def restore() -> None:
        os.environ.pop(_VARIABLE)
        if before is not None:
            os.environ[_VARIABLE] = before

    config.add_cleanup(restore)
