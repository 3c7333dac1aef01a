"""Background work: interrupted jobs, sweeps and stream handlers, in one of several processes; and `keyplan work`."""

import json
import logging
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from keyplan.cli import main
from keyplan.data import Store, create, delete
from keyplan.data.streams import ItemChange, StreamRunner, on, set_aside
from keyplan.engine import Engine
from keyplan.web.server.application import running
from keyplan.web.server.work import Worker
from keyplan.web.settings import Settings
from keyplan.web.system.running import Running, System
from tests.data.support import Failing, Killed, Mortal, failure
from tests.web.library import SYSTEM, Book, Library, Shelf, shelves


@pytest.fixture
def engine(settings: Settings) -> Iterator[Engine]:
    with Engine(str(settings.path)) as made:
        yield made


@pytest.fixture
def start(settings: Settings, engine: Engine) -> Callable[..., Running[Library]]:
    """Start a system, as a process does."""

    def started(system: System[Library] = SYSTEM) -> Running[Library]:
        made = running(system, settings, engine)
        made.store.create_tables()
        return made

    return started


Start = Callable[..., Running[Library]]


def fill(store: Store[Library], books: int = 3) -> Shelf:
    shelf = store.run(create(Shelf(shelf_id="s", name="S", owner="ann")))
    for number in range(books):
        store.run(create(Book(book_id=f"b{number}", shelf_id="s", isbn=f"{number:010}", title=f"T{number}")))
    found = store.run(store.design.shelf("s"))
    assert found is not None
    assert found.name == shelf.name
    return found


def titles_gone(store: Store[Library]) -> list[str]:
    return sorted(each.title for each in store.run(store.design.gone()).items)


def wait_until(holds: Callable[[], bool], seconds: float = 15) -> None:
    until = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < until
        time.sleep(0.02)


def work_off(worker: Worker) -> None:
    while worker.run_once():
        pass


# The work


def test_handlers_get_the_running_system(start: Start, engine: Engine) -> None:
    library = start()
    library.store.run(delete(fill(library.store)))
    work_off(Worker([library], engine))
    assert titles_gone(library.store) == ["T0", "T1", "T2"]
    assert library.store.verify() == []


def test_an_interrupted_job_is_finished(start: Start, engine: Engine) -> None:
    library = start()
    shelf = fill(library.store)
    with pytest.raises(Killed):
        Store(library.design, Mortal(engine, 4, after=True)).run(delete(shelf))
    assert [each.kind for each in library.store.verify()] == ["unfinished"]
    work_off(Worker([library], engine))
    assert library.store.verify() == []
    assert titles_gone(library.store) == ["T0", "T1", "T2"]


def test_unconfirmed_uploads_are_swept(start: Start, engine: Engine) -> None:
    library = start()
    ticket = library.media.ask("image/png", owner="ada", purpose="cover", max_bytes=1000)
    worker = Worker([library], engine)
    assert worker.run_once() == 0
    now = library.store.clock
    library.store.clock = lambda: now() + timedelta(days=2)
    assert worker.run_once() > 0
    assert ticket.upload_id
    assert worker.run_once() == 0


def test_a_failing_duty_does_not_block_others(
    start: Start, engine: Engine, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    swept: list[str] = []
    library = start(replace(SYSTEM, sweep=lambda system: swept.append(system.system.name)))
    monkeypatch.setattr(library.media, "sweep", _refuse)
    library.store.run(delete(fill(library.store)))
    with caplog.at_level(logging.ERROR, "keyplan.work"):
        work_off(Worker([library], engine))
    assert set(swept) == {"library"}
    assert len(titles_gone(library.store)) == 3
    assert {vars(record)["fields"]["work"] for record in caplog.records} == {"sweep of uploads of library"}


def _refuse() -> int:
    raise OSError("no such folder")


# One process among several


def test_only_one_of_two_workers_works(start: Start, engine: Engine) -> None:
    swept: list[int] = []

    def sweeping(number: int) -> Running[Library]:
        return start(replace(SYSTEM, sweep=lambda system: swept.append(number)))

    one, two = sweeping(1), sweeping(2)
    first, second = Worker([one], engine), Worker([two], engine)
    for _ in range(3):
        first.run_once()
        second.run_once()
    assert swept == [1, 1, 1]
    first.stop()
    one.store.run(delete(fill(one.store)))
    work_off(second)
    assert 2 in swept
    assert len(titles_gone(one.store)) == 3


def test_long_work_is_not_done_twice(start: Start, engine: Engine) -> None:
    begun, swept = threading.Event(), threading.Event()

    def sweep_slowly(system: Running[Library]) -> None:
        begun.set()
        time.sleep(2)
        swept.set()

    worker = Worker([start(replace(SYSTEM, sweep=sweep_slowly))], engine, lease_seconds=0.6)
    worker.start()
    try:
        assert begun.wait(10)
        seen: list[bool] = []
        other = Worker([start(replace(SYSTEM, sweep=lambda system: seen.append(True)))], engine, lease_seconds=0.6)
        while not swept.is_set():
            other.run_once()
            time.sleep(0.05)
        assert seen == []
    finally:
        worker.stop()


def test_it_works_in_threads_until_it_is_stopped(start: Start, engine: Engine) -> None:
    library = start()
    worker = Worker([library], engine)
    worker.start()
    try:
        library.store.run(delete(fill(library.store)))
        wait_until(lambda: len(titles_gone(library.store)) == 3)
    finally:
        worker.stop()
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("keyplan stream")]
    # Its leases are released immediately.
    library.store.run(create(Shelf(shelf_id="s", name="S", owner="ann")))
    library.store.run(create(Book(book_id="x", shelf_id="s", isbn="0123456789", title="X")))
    shelf = library.store.run(library.design.shelf("s"))
    assert shelf is not None
    library.store.run(delete(shelf))
    work_off(Worker([start()], engine))
    assert "X" in titles_gone(library.store)


def test_an_error_does_not_stop_the_worker(start: Start, engine: Engine, caplog: pytest.LogCaptureFixture) -> None:
    library = start()
    streams = Failing(engine, [failure("InternalServerError"), ZeroDivisionError()], only="get_records")
    worker = Worker([library], streams)
    library.store.run(delete(fill(library.store)))
    worker.start()
    try:
        wait_until(lambda: len(titles_gone(library.store)) == 3)
    finally:
        worker.stop()
    assert len([record for record in caplog.records if record.message == "background work failed"]) == 2


# keyplan work


class Switch:
    """Whether the tests' handler works."""

    on = False


@on(Book, "REMOVE")
def needs_a_switch(change: ItemChange[Book], library: Running[Library]) -> None:
    if not Switch.on:
        raise ConnectionError("nobody there")


SWITCHED = replace(SYSTEM, handlers=(needs_a_switch,))


@pytest.fixture
def keyplan(monkeypatch: pytest.MonkeyPatch, settings: Settings) -> Callable[..., Any]:
    """Run `keyplan work` on the test's file, with the example as its only system."""
    # Found in sys.modules, because in its package this name is the command.
    monkeypatch.setattr(sys.modules["keyplan.cli.serve"], "served_systems", lambda names=None: [SWITCHED])
    monkeypatch.setattr(Switch, "on", False)
    monkeypatch.setenv("KEYPLAN_PATH", str(settings.path))

    def run(*arguments: str) -> Any:
        return CliRunner().invoke(main, ["work", *arguments])

    return run


@pytest.fixture
def aside_id(start: Start, engine: Engine) -> str:
    """The ID of a record that was set aside in the test's file."""
    library = start(SWITCHED)
    library.store.run(delete(fill(library.store, books=1)))
    runner = StreamRunner(library.store, shelves, SWITCHED.handlers, library, engine, tries=1)
    while runner.run_once():
        pass
    (aside,) = set_aside(library.store)
    return aside.aside_id


def test_failed_records_are_listed(keyplan: Callable[..., Any], aside_id: str) -> None:
    shown = keyplan("--set-aside", "library")
    assert shown.exit_code == 0
    assert aside_id in shown.output
    assert "needs_a_switch, 1 tries: ConnectionError: nobody there" in shown.output
    (described,) = json.loads(keyplan("--set-aside", "library", "--json").output)
    assert (described["aside_id"], described["entity"], described["kind"]) == (aside_id, "Book", "REMOVE")
    assert "content" not in described


def test_a_failed_record_is_retried(keyplan: Callable[..., Any], aside_id: str) -> None:
    failed = keyplan("--set-aside", "library", "--retry", aside_id)
    assert failed.exit_code == 1
    assert "needs_a_switch failed again: ConnectionError: nobody there" in failed.output
    Switch.on = True
    assert keyplan("--set-aside", "library", "--retry", aside_id).exit_code == 0
    assert "No records are set aside." in keyplan("--set-aside", "library").output


def test_a_failed_record_is_discarded(keyplan: Callable[..., Any], aside_id: str) -> None:
    assert keyplan("--set-aside", "library", "--discard", aside_id).exit_code == 0
    again = keyplan("--set-aside", "library", "--discard", aside_id)
    assert again.exit_code == 1
    assert f"No record {aside_id} is set aside." in again.output


@pytest.mark.parametrize(
    "arguments", [("--retry", "x"), ("--discard", "x"), ("--set-aside", "library", "--retry", "x", "--discard", "x")]
)
def test_wrong_arguments_are_refused(keyplan: Callable[..., Any], arguments: tuple[str, ...]) -> None:
    assert keyplan(*arguments).exit_code == 2


COMMAND = """
import sys
from keyplan.cli import main
from tests.web.library import SYSTEM
sys.modules["keyplan.cli.serve"].served_systems = lambda names=None: [SYSTEM]
main()
"""


def test_the_command_runs_until_it_is_stopped(start: Start, settings: Settings) -> None:
    library = start()
    fill(library.store)
    command = [sys.executable, "-c", COMMAND, "work", "--path", str(settings.path)]
    environment = {**os.environ, "KEYPLAN_DEV": "true"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment, cwd=Path.cwd()) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "Working for library\n"
            shelf = library.store.run(library.design.shelf("s"))
            assert shelf is not None
            library.store.run(delete(shelf))
            wait_until(lambda: len(titles_gone(library.store)) == 3)
            process.send_signal(signal.SIGTERM)
            assert process.wait(15) == 0
        finally:
            process.kill()
