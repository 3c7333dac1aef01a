"""What `make setup` shows: how far it is, and nothing of what its steps say unless one fails."""

import os
import pty
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
PROGRESS = [sys.executable, str(ROOT / "tools" / "progress.py")]
STEPS = "import time\nfor n in range(4): print('Collecting', n); print('WARNING: noise'); time.sleep(0.15)"


def test_a_step_shows_how_far_it_is_in_a_terminal(tmp_path: Path) -> None:
    (tmp_path / "lock").write_text("a==1\nb==2\nc==3\nd==4\n    --hash\n")
    command = ["--count", "Collecting", "--total", "lock:==", "--log", "log", "Installing", sys.executable, "-c", STEPS]
    master, slave = pty.openpty()
    with subprocess.Popen([*PROGRESS, *command], cwd=tmp_path, stdout=slave, stderr=slave) as process:
        os.close(slave)
        shown = b""
        try:
            while part := os.read(master, 65536):
                shown += part
        except OSError:  # how Linux says that it is closed
            pass
        os.close(master)
    text = shown.decode()
    assert process.returncode == 0
    assert "Installing [" in text
    assert " of 4, " in text
    assert "Installing: done (" in text
    assert "WARNING" not in text
    assert "WARNING: noise" in (tmp_path / "log").read_text()


def test_a_step_that_fails_shows_what_it_said(tmp_path: Path) -> None:
    failing = "import sys; print('WARNING: noise'); print('no network', file=sys.stderr); sys.exit(3)"
    command = [*PROGRESS, "--log", "log", "Installing", sys.executable, "-c", failing]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 3
    assert done.stdout == ""
    assert done.stderr.startswith("Installing ...\nInstalling: failed (")
    assert "no network\n" in done.stderr


def test_a_command_that_does_not_exist_is_reported(tmp_path: Path) -> None:
    command = [*PROGRESS, "--log", "log", "Building", "no-such-command"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "no-such-command" in done.stderr
