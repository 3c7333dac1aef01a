"""What the benchmark needs beside the project, kept in `.bench/`: the load client and the installed peers."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / ".bench"
INSTALL_SECONDS = 300


class Unavailable(Exception):
    """A peer can't be had here; the message says why."""


def prepare() -> None:
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / ".gitignore").write_text("*\n")


def load_client() -> Path:
    """The compiled load client, built again when its source is newer."""
    sources = [Path(__file__).with_name(name) for name in ("client.c", "sha256.h")]
    source, binary = sources[0], FOLDER / "client"
    if binary.exists() and binary.stat().st_mtime > max(each.stat().st_mtime for each in sources):
        return binary
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        raise Unavailable("no C compiler (cc, gcc or clang) for the load client")
    subprocess.run([compiler, "-O2", "-Wall", "-Wextra", "-o", str(binary), str(source)], check=True)
    return binary


def scratch(name: str) -> Path:
    """An empty folder for a run's data."""
    folder = FOLDER / "data" / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def clear_scratch() -> None:
    shutil.rmtree(FOLDER / "data", ignore_errors=True)


def python_peer(name: str, *requirements: str) -> Path:
    """The `bin` folder of a virtual environment with these packages, away from the project's own."""
    folder = FOLDER / name

    def install() -> None:
        _run([sys.executable, "-m", "venv", str(folder)])
        _run([str(folder / "bin" / "pip"), "install", "--quiet", "--disable-pip-version-check", *requirements])

    _once(folder, " ".join(requirements), install)
    return folder / "bin"


def node_peer(name: str, *packages: str) -> Path:
    """The `node_modules` folder with these npm packages."""
    folder = FOLDER / name
    npm = shutil.which("npm")
    if npm is None or shutil.which("node") is None:
        raise Unavailable("node and npm are not installed")

    def install() -> None:
        folder.mkdir(parents=True)
        (folder / "package.json").write_text('{"private": true}\n')
        _run([npm, "install", "--prefix", str(folder), "--no-audit", "--no-fund", "--silent", *packages])

    _once(folder, " ".join(packages), install)
    return folder / "node_modules"


def _once(folder: Path, wanted: str, install: Callable[[], None]) -> None:
    """Installs unless the very same was installed before; what failed halfway is begun anew."""
    stamp = folder / ".installed"
    if stamp.exists() and stamp.read_text() == wanted:
        return
    shutil.rmtree(folder, ignore_errors=True)
    print(f"installing {wanted} into {folder.relative_to(ROOT)} ...", file=sys.stderr, flush=True)
    install()
    stamp.write_text(wanted)


def _run(command: list[str]) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=INSTALL_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Unavailable(f"{command[0]}: {error}") from error
    if done.returncode != 0:
        lines = (done.stderr or done.stdout).strip().splitlines()
        raise Unavailable(f"{' '.join(command[-2:])}: {lines[-1] if lines else 'failed'}")
