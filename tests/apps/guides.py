"""Runs the commands of a guide to a system, as its reader does: in a shell, against a server with the demo data."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.engines.servers import INDEX_LAG, endpoint
from tests.web.command import environment, keyplan, serve

ROOT = Path(__file__).parent.parent.parent
ADDRESS = "http://127.0.0.1:8080"
"""Where the server is in a guide."""
_UNHURRIED = f"trap 'sleep {INDEX_LAG}' DEBUG"
"""Waits before each command, as a reader does who types."""


def guide(system: str) -> str:
    """The text of the guide to a system."""
    return (ROOT / "docs" / f"{system}.md").read_text("utf-8")


def place() -> dict[str, str]:
    """The setting that chooses an endpoint instead of a file, if a test runs on one."""
    url = endpoint()
    return {} if url is None else {"KEYPLAN_ENDPOINT_URL": url}


@contextmanager
def served(system: str, folder: Path) -> Iterator[str]:
    """The address of `keyplan serve` with the demo data, as the guides start it. Afterwards, its data must be right."""
    given = place()
    if given:
        created = keyplan(folder, "tables", system, "--create", **given)
        assert created.returncode == 0, created.stderr
    with serve(folder, "--demo", "--dev", systems=[system], KEYPLAN_LOG_LEVEL="error", **given) as server:
        yield server.url
        errors = [line for line in server.log.read_text().splitlines() if line.startswith("{")]  # others are progress
        assert not errors, errors
    checked = keyplan(folder, "verify", system, **given)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def run_commands(script: str, url: str, folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Run commands of a guide against the server at this address."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    lines = [_UNHURRIED] if endpoint() else []
    done = subprocess.run(
        ["bash", *options, "-c", "\n".join([*lines, script.replace(ADDRESS, url)])],
        cwd=folder,
        env=environment({**place(), "KEYPLAN_LOG_LEVEL": "error", "PATH": path}),
        capture_output=True,
        text=True,
        timeout=150,
    )
    done.stdout = done.stdout.replace(url, ADDRESS)
    return done
