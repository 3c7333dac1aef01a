"""Two processes on one file; the active one is killed repeatedly, in the middle of its records."""

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

from keyplan.data import Store, create, update
from keyplan.data.streams.shard_checkpoints import checkpoints_of
from keyplan.engine import Engine
from tests.data.press import Article, Press

ARTICLES, VERSIONS = 20, 10
LEASE_SECONDS = 1.0


class Line(NamedTuple):
    """A record, as a handler saw it."""

    slug: str
    version: int
    sequence: int
    process: int


def lines_of(log: Path) -> list[Line]:
    if not log.exists():
        return []
    whole = [line.split() for line in log.read_text("utf-8").splitlines()]
    return [Line(slug, int(version), int(sequence), int(process)) for slug, version, sequence, process in whole]


@contextmanager
def worker(path: Path, log: Path) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "tests.data.press_worker", str(path), str(log), str(LEASE_SECONDS)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            yield process
        finally:
            process.kill()


def wait_for(log: Path, records: int) -> list[Line]:
    until = time.monotonic() + 30
    while True:
        found = lines_of(log)
        if len({line.sequence for line in found}) >= records:
            return found
        assert time.monotonic() < until, f"{len(found)} lines of {records}"
        time.sleep(0.005)


def write(store: Store[Press]) -> None:
    """200 changes of 20 articles, in mixed order."""
    made = [store.run(create(Article(slug=f"a{number}", title="0"))) for number in range(ARTICLES)]
    for version in range(1, VERSIONS):
        for article in made:
            article.title = str(version)
            store.run(update(article))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "press.db"


def test_another_process_continues_when_one_is_killed(path: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    with Engine(str(path)) as engine:
        store = Store(Press(), engine)
        store.create_tables()
        with worker(path, log) as first, worker(path, log) as second:
            write(store)
            kill_the_one_at_work(first, second, wait_for(log, 40))
            kill_the_one_at_work(first, second, wait_for(log, 90))
        assert len(lines_of(log)) < ARTICLES * VERSIONS
        with worker(path, log):
            wait_for(log, ARTICLES * VERSIONS)
            wait_for_position(store, lines_of(log)[-1].sequence)
    check(lines_of(log))


def kill_the_one_at_work(first: subprocess.Popen[str], second: subprocess.Popen[str], lines: list[Line]) -> None:
    at_work = first if lines[-1].process == first.pid else second
    assert at_work.poll() is None
    at_work.kill()
    at_work.wait()


def wait_for_position(store: Store[Press], sequence: int) -> None:
    """Wait until the checkpoint is at the last record."""
    until = time.monotonic() + 10
    while _position(store) != sequence:
        assert time.monotonic() < until, f"the checkpoint is at {_position(store)}"
        time.sleep(0.01)


def _position(store: Store[Press]) -> int:
    (checkpoint,) = checkpoints_of(store, "Articles").values()
    return int(checkpoint.sequence or 0)


def check(lines: list[Line]) -> None:
    assert len({line.process for line in lines}) == 3
    # The stream has one shard, so records arrive in order; only what was being handled at a kill arrives again.
    numbers = [line.sequence for line in lines]
    assert numbers == sorted(numbers)
    assert len(set(numbers)) == ARTICLES * VERSIONS
    assert len(numbers) - len(set(numbers)) <= 2
    for slug in {line.slug for line in lines}:
        versions = list(dict.fromkeys(line.version for line in lines if line.slug == slug))
        assert versions == sorted(versions)
        assert len(versions) == VERSIONS
