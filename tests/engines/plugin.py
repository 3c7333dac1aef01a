"""The pytest plugin of `make test-engines`: runs each test on every other server, and expects what is known to fail."""

import re
from collections import Counter
from collections.abc import Generator, Iterator

import pytest

from tests.engines.known_failures import KNOWN_FAILURES, KnownFailure
from tests.engines.servers import ENDPOINT, SERVERS, Server, started

_SERVER = re.compile(rf"\[({'|'.join(server.name for server in SERVERS)})-?")
_KNOWN = pytest.StashKey[KnownFailure]()


@pytest.fixture(autouse=True, params=SERVERS, ids=lambda server: server.name)
def other_server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    """A new server for each test."""
    server: Server = request.param
    with started(server, tmp_path_factory.mktemp(server.name)) as url:
        for name, value in {ENDPOINT: url, **server.environment}.items():
            monkeypatch.setenv(name, value)
        yield


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out stores in the same process, and mark what is known to fail."""
    in_process = [item for item in items if item.name.endswith("engine]")]
    config.hook.pytest_deselected(items=in_process)
    items[:] = [item for item in items if item not in in_process]
    for known in KNOWN_FAILURES:
        for name in known.tests:
            failing = [item for item in items if _named(item, known, name)]
            if not failing and any(item.nodeid.startswith(name.partition("::")[0]) for item in items):
                raise pytest.UsageError(f"tests/engines/known_failures.py: {name} is not a test. Remove it.")
            for item in failing:
                item.stash[_KNOWN] = known


def _server(test: str) -> str:
    found = _SERVER.search(test)
    assert found is not None, test
    return found[1]


def _named(item: pytest.Item, known: KnownFailure, name: str) -> bool:
    """Whether a test is the one with this name, on the server of a known failure."""
    without_server = _SERVER.sub("[", item.nodeid).removesuffix("[]")
    pattern = ".*".join(map(re.escape, name.split("*")))
    return _server(item.nodeid) == known.server and re.fullmatch(pattern, without_server) is not None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Expect the failures that are known, with their error, and nothing else."""
    report = yield
    known = item.stash.get(_KNOWN, None)
    if known is None or report.when != "call":
        return report
    if report.passed:
        report.outcome = "failed"
        report.longrepr = "This no longer fails. Remove it from tests/engines/known_failures.py, and run `make docs`."
    elif call.excinfo is not None and known.error in str(call.excinfo.value):
        report.outcome = "skipped"
        report.wasxfail = known.what
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say how many tests pass on each server."""
    count = Counter(
        (_server(report.nodeid), outcome)
        for outcome in ("passed", "xfailed", "failed", "error")
        for report in terminalreporter.stats.get(outcome, [])
    )
    for server in SERVERS:
        passed, known = count[server.name, "passed"], count[server.name, "xfailed"]
        total = sum(number for (name, _), number in count.items() if name == server.name)
        explained = f"; {known} fail as docs/servers.md explains" if known else ""
        terminalreporter.write_line(f"{server.name} {server.version}: {passed} of {total} tests pass{explained}")
