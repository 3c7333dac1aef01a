"""The guides to the systems: every command in them is run against a server, and prints what the guide shows."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from keyplan.cli.opening import system_names

ROOT = Path(__file__).parent.parent.parent
GUIDES = [name for name in system_names() if name != "hacktracker"]
"""Hacktracker's is one script, and has a test of its own."""
CONSOLE = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ADDRESS = "http://127.0.0.1:8080"


def commands(page: str) -> list[tuple[str, str]]:
    """The commands of a guide, each with its output."""
    found: list[tuple[str, str]] = []
    for line in "".join(CONSOLE.findall(page)).splitlines():
        if line.startswith("$ "):
            found.append((line[2:], ""))
        else:
            command, output = found.pop()
            found.append((command, f"{output}{line}\n"))
    return found


def script(wanted: list[tuple[str, str]]) -> str:
    """Run all commands in one shell, so that they share variables; a marker follows each."""
    return "\n".join(
        ["set -o pipefail", *(f"{command}\necho '<<<end {n}>>>'" for n, (command, _) in enumerate(wanted))]
    )


@pytest.mark.parametrize("system", GUIDES)
def test_the_commands_do_what_the_guide_says(system: str, tmp_path: Path) -> None:
    wanted = commands((ROOT / "docs" / f"{system}.md").read_text("utf-8"))
    assert len(wanted) > 3
    command = [sys.executable, "-m", "keyplan.cli", "serve", "--demo", "--dev", "--port", "0", "--system", system]
    environment = {
        **os.environ,
        "KEYPLAN_LOG_LEVEL": "error",
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
    }
    with subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            address = server.stdout.readline().split()[2]
            done = subprocess.run(
                ["bash", "-c", script(wanted).replace(ADDRESS, address)],
                cwd=tmp_path,
                env=environment,
                capture_output=True,
                text=True,
                timeout=120,
            )
        finally:
            server.send_signal(signal.SIGTERM)
    got = re.split(r"<<<end \d+>>>\n", done.stdout)
    for (command_line, output), text in zip(wanted, got, strict=False):
        assert text.replace(address, ADDRESS) == output, f"{command_line}\n{done.stderr}"
    assert len(got) == len(wanted) + 1
