"""docs/launch.md is a path that leads somewhere: its files and commands, in their order, do what the page shows."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

PAGE = (Path(__file__).parent.parent / "docs" / "launch.md").read_text("utf-8")
_STEP = re.compile(
    r"(?:<!-- file (?P<file>\S+) -->\n\n)?^```(?P<kind>\w+)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL
)


def keyplan(command: str, folder: Path) -> str:
    """What a command prints, whatever its exit code says; a crash fails."""
    arguments = shlex.split(command)[1:]
    done = subprocess.run(
        [sys.executable, "-m", "keyplan.cli", *arguments], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode in (0, 1), done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout


def commands_in(block: str) -> list[tuple[str, str]]:
    """The commands of a block, each with the output that is shown."""
    parts = re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]
    return [(command, output) for command, _, output in (part.partition("\n") for part in parts)]


def test_the_path_leads_where_the_page_says(tmp_path: Path) -> None:
    ran = []
    for step in _STEP.finditer(PAGE):
        if step["file"]:
            file = tmp_path / step["file"]
            if file.name == "polls.py" and file.exists():
                file.rename(tmp_path / "before.py")
            file.write_text(step["text"], "utf-8")
        elif step["kind"] == "console":
            for command, shown in commands_in(step["text"]):
                # "..." stands for any lines, also for none at the end.
                expected = "".join(
                    r"(?:.*\n)*?" if line == "..." else f"{re.escape(line)}\n" for line in shown.splitlines()
                )
                printed = keyplan(command, tmp_path)
                assert re.fullmatch(expected, printed), f"$ {command}\n{printed}"
                ran.append(shlex.split(command)[1])
    assert {"review", "diff", "cost", "forecast", "docs", "infra"} <= {*ran}
    assert (tmp_path / "design" / "polls.html").read_text("utf-8").startswith("<!doctype html>")
    assert (tmp_path / "infra" / "main.tf").is_file()
