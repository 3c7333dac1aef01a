"""Runs a command of the set-up: shows how far it is, and keeps its output out of the way, in a log.

`python tools/progress.py [--count PATTERN --total FILE:PATTERN] --log FILE TITLE COMMAND...`

With `--count`, lines of the output that match are steps, of as many as there are such lines in a file. If the command
fails, the end of its output is shown. It runs before anything is installed, so it needs nothing but Python.
"""

import argparse
import os
import re
import subprocess
import sys
import threading
import time
from pathlib import Path

_SHOWN_LINES = 40
_EVERY = 0.2
_BAR = 24


class Progress:
    """A line in a terminal that changes; elsewhere one when it begins and one when it ends."""

    def __init__(self, title: str, total: int) -> None:
        self.title = title
        self.total = total
        self.done = 0
        self._began = time.monotonic()
        self._in_terminal = sys.stderr.isatty()
        self._ended = threading.Event()
        self._drawing = threading.Thread(target=self._draw_often, daemon=True)

    def start(self) -> None:
        if self._in_terminal:
            self._drawing.start()
        else:
            print(f"{self.title} ...", file=sys.stderr, flush=True)

    def end(self, word: str) -> None:
        self._ended.set()
        if self._in_terminal:
            self._drawing.join()
        took = f"{time.monotonic() - self._began:.0f} s"
        print(f"{self._clear()}{self.title}: {word} ({took})", file=sys.stderr, flush=True)

    def _clear(self) -> str:
        return "\r\x1b[K" if self._in_terminal else ""

    def _draw_often(self) -> None:
        while not self._ended.wait(_EVERY):
            print(f"{self._clear()}{self.line()}", end="", file=sys.stderr, flush=True)

    def line(self) -> str:
        """How far it is."""
        took = f"{time.monotonic() - self._began:.0f} s"
        if not self.total:
            return f"{self.title} ... {took}"
        done = min(self.done, self.total)
        filled = _BAR * done // self.total
        return f"{self.title} [{'#' * filled}{'.' * (_BAR - filled)}] {done} of {self.total}, {took}"


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", default="")
    parser.add_argument("--total", default="")
    parser.add_argument("--log", type=Path, required=True)
    parser.add_argument("title")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    given = parser.parse_args()
    progress = Progress(given.title, _lines_of(given.total) if given.total else 0)
    progress.start()
    lines, code = [], 1
    try:
        process = subprocess.Popen(
            given.command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            text=True,
            errors="replace",
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )
        assert process.stdout is not None
        for line in process.stdout:
            lines.append(line)
            progress.done += bool(given.count and re.match(given.count, line))
        code = process.wait()
    except OSError as error:
        lines.append(f"{error}\n")
    progress.end("failed" if code else "done")
    if given.log.parent.is_dir():
        with given.log.open("a", encoding="utf-8") as log:
            log.writelines([f"$ {' '.join(given.command)}\n", *lines])
    if code:
        sys.stderr.writelines(lines[-_SHOWN_LINES:])
    return code


def _lines_of(counted: str) -> int:
    file, _, pattern = counted.partition(":")
    return len(re.findall(pattern, Path(file).read_text("utf-8"), re.MULTILINE))


if __name__ == "__main__":
    sys.exit(main())
