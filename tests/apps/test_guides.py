"""The guides to the systems: every command in them is run against a server, and prints what the guide shows."""

import re
from pathlib import Path

import pytest

from keyplan.cli.opening import system_names
from tests.apps.guides import guide, run_commands, served

GUIDES = [name for name in system_names() if name != "hacktracker"]
"""Hacktracker's is one script, and has a test of its own."""
CONSOLE = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)


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
    return "\n".join(f"{command}\necho '<<<end {n}>>>'" for n, (command, _) in enumerate(wanted))


@pytest.mark.parametrize("system", GUIDES)
def test_the_commands_do_what_the_guide_says(system: str, tmp_path: Path) -> None:
    wanted = commands(guide(system))
    assert len(wanted) > 3
    with served(system, tmp_path) as url:
        done = run_commands(script(wanted), url, tmp_path, "-o", "pipefail")
    got = re.split(r"<<<end \d+>>>\n", done.stdout)
    for (command_line, output), text in zip(wanted, got, strict=False):
        assert text == output, f"{command_line}\n{done.stderr}"
    assert len(got) == len(wanted) + 1
