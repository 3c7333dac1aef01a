"""Indexes in memory: never older than the file, within the budget, dropped first, and the same results without."""

import random
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from keyplan.engine import Engine
from keyplan.engine.storage import transaction
from keyplan.engine.vectors import memory, reading
from keyplan.engine.vectors.memory import VectorMemory
from keyplan.engine.vectors.pressure import free_bytes
from tests.engine.vectors.support import create, found, put, scored, search, vector_index

MIB = 2**20


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "vectors.db")


@pytest.fixture
def opened(path: str) -> Iterator[Engine]:
    with Engine(path) as engine:
        create(engine, vector_index(partition="tenant", filters=["kind"]))
        yield engine


def memory_of(engine: Engine) -> VectorMemory:
    return engine.database._vectors


def fill(engine: Engine, count: int, **more: Any) -> None:
    for number in range(count):
        put(engine, f"{number:05}", number, 1, 0, tenant="t", kind=f"k{number % 3}", **more)


EQUAL = {"tenant": "t"}


def nearest(engine: Engine, *values: float, **more: Any) -> list[str]:
    return found(engine, *values, **{"equal": EQUAL, **more})


def test_a_search_sees_the_commits_of_other_connections(opened: Engine, path: str) -> None:
    fill(opened, 20)
    with Engine(path) as other:
        assert nearest(opened, 0, 1, 0, TopK=2) == nearest(other, 0, 1, 0, TopK=2) == ["00000", "00001"]
        put(other, "new", 0.4, 1, 0, tenant="t")
        other.delete_item(TableName="Things", Key={"pk": {"S": "00000"}})
        assert nearest(opened, 0, 1, 0, TopK=2) == ["new", "00001"]
        put(opened, "new", 0.4, 1, 0, tenant="u")
        assert nearest(other, 0, 1, 0, TopK=2) == ["00001", "00002"]


def test_a_search_sees_the_commits_of_other_processes(opened: Engine, path: str) -> None:
    fill(opened, 5)
    assert nearest(opened, 0, 1, 0, TopK=1) == ["00000"]
    program = (
        "import sys\n"
        "from keyplan.engine import Engine\n"
        "from tests.engine.vectors.support import found, put\n"
        "with Engine(sys.argv[1]) as engine:\n"
        "    put(engine, 'theirs', -1, 1, 0, tenant='t')\n"
        "    assert found(engine, -1, 1, 0, equal={'tenant': 't'}, TopK=1) == ['theirs']\n"
    )
    subprocess.run([sys.executable, "-c", program, path], check=True)
    assert nearest(opened, -1, 1, 0, TopK=1) == ["theirs"]


def test_an_index_is_found_again_after_the_file_was_closed(opened: Engine, path: str) -> None:
    fill(opened, 20)
    before = scored(opened, 3, 3, 3, equal=EQUAL)
    opened.close()
    with Engine(path) as engine:
        assert scored(engine, 3, 3, 3, equal=EQUAL) == before


def test_only_changed_entries_are_read_again(opened: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(opened, 30)
    nearest(opened, 0, 0, 0)
    read: list[int] = []
    entries = transaction.Transaction.vectors

    def counted(self: Any, index: Any, numbers: Any) -> Any:
        read.extend(numbers)
        return entries(self, index, numbers)

    monkeypatch.setattr(transaction.Transaction, "vectors", counted)
    monkeypatch.setattr(reading, "read_matrix", lambda *_: pytest.fail("all entries were read again"))
    put(opened, "00007", 0, 0, 0, tenant="t")
    put(opened, "00007", 0, 0, 0.5, tenant="t")
    opened.delete_item(TableName="Things", Key={"pk": {"S": "00009"}})
    assert nearest(opened, 0, 0, 0, TopK=1) == ["00007"]
    assert len(read) == 3  # two that have changed, and the one that was found
    read.clear()
    assert nearest(opened, 0, 0, 0, TopK=1) == ["00007"]
    assert len(read) == 1


def test_an_index_that_missed_more_than_the_log_remembers_is_read_again(
    opened: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transaction, "VECTOR_LOG", 10)
    monkeypatch.setattr(memory, "VECTOR_LOG", 10)
    monkeypatch.setattr(transaction, "_TRIM_LOG_EVERY", 5)
    fill(opened, 10)
    nearest(opened, 0, 0, 0)
    for number in range(40):
        put(opened, f"{number % 10:05}", 100 + number, 1, 0, tenant="t")
    opened.delete_item(TableName="Things", Key={"pk": {"S": "00000"}})
    logged = opened.database._storage.read(
        lambda each: each.vectors_logged(each.catalog.tables["Things"].vector_indexes[0])
    )
    assert logged[1] - logged[0] < 20
    assert nearest(opened, 0, 1, 0, TopK=2) == ["00001", "00002"]


def test_what_exceeds_the_budget_is_searched_in_the_file(opened: Engine, path: str) -> None:
    fill(opened, 300)
    opened.database._vectors = VectorMemory(0)
    with Engine(path) as other:
        for values in ((0, 0, 0), (150.2, 1, 0), (1000, 0, 0)):
            for equal in (EQUAL, {**EQUAL, "kind": "k1"}, {**EQUAL, "kind": "never"}):
                assert scored(opened, *values, equal=equal) == scored(other, *values, equal=equal)
        assert memory_of(opened).held_bytes == 0 < memory_of(other).held_bytes


def test_large_indexes_are_read_in_several_reads(opened: Engine, path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "READ_BYTES", 1)
    monkeypatch.setattr(reading, "_LEAST_ROWS", 7)
    fill(opened, 100)
    put(opened, "elsewhere", 50, 1, 0, tenant="tt")
    opened.database._vectors = VectorMemory(0)
    with Engine(path) as other:
        assert nearest(opened, 50, 1, 0, TopK=5) == nearest(other, 50, 1, 0, TopK=5)
        assert nearest(opened, 50, 1, 0, TopK=2) == ["00050", "00049"]


def test_the_index_that_was_used_longest_ago_makes_room(engine: Engine) -> None:
    names = ["One", "Two", "Three"]
    create(engine, *(vector_index(name) for name in names))
    fill(engine, 10)
    for name in names:
        found(engine, 0, 0, 0, IndexName=name)
    each = memory_of(engine).held_bytes // 3
    engine.database._vectors = held = VectorMemory(2 * each)
    rows = {index.name: index.rows for index in tables(engine)["Things"].vector_indexes}

    def in_memory() -> set[str]:
        return {name for name in names if rows[name] in held._indexes and held._indexes[rows[name]].matrix is not None}

    assert found(engine, 0, 0, 0, IndexName="One", TopK=1) == ["00000"]
    assert found(engine, 0, 0, 0, IndexName="Two", TopK=1) == ["00000"]
    assert in_memory() == {"One", "Two"}
    assert found(engine, 0, 0, 0, IndexName="One", TopK=1) == ["00000"]
    assert found(engine, 0, 0, 0, IndexName="Three", TopK=1) == ["00000"]
    assert in_memory() == {"One", "Three"}
    assert held.held_bytes <= held.budget


def tables(engine: Engine) -> Any:
    return engine.database._storage.read(lambda each: each.catalog.tables)


def test_an_index_that_outgrows_the_budget_is_dropped(engine: Engine) -> None:
    create(engine, vector_index(dimensions=3))
    put(engine, "a", 1, 2, 3)
    found(engine, 1, 2, 3)
    engine.database._vectors = held = VectorMemory(memory_of(engine).held_bytes + 500)
    assert found(engine, 1, 2, 3) == ["a"]
    assert held.held_bytes > 0
    fill(engine, 10)
    assert found(engine, 1, 2, 3, TopK=1) == ["a"]
    assert held.held_bytes == 0


def test_matrices_are_dropped_when_memory_runs_out(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    free = 10**12
    monkeypatch.setattr(memory, "CHECK_SECONDS", 0.0)
    engine.database._vectors = held = VectorMemory(10**9, lambda: free)
    create(engine, vector_index())
    fill(engine, 10)
    assert found(engine, 0, 0, 0, TopK=1) == ["00000"]
    assert held.held_bytes > 0
    free = 100 * MIB
    assert found(engine, 0, 0, 0, TopK=1) == ["00000"]
    assert held.held_bytes == 0
    free = 10**12
    assert found(engine, 0, 0, 0, TopK=1) == ["00000"]
    assert held.held_bytes > 0


def test_free_memory_is_that_of_the_machine_or_of_the_container(tmp_path: Path) -> None:
    machine, groups = tmp_path / "meminfo", tmp_path / "cgroup"
    (groups / "memory").mkdir(parents=True)
    assert free_bytes(machine, groups) is None
    machine.write_text("MemTotal: 9000 kB\nMemAvailable:    8000 kB\n")
    assert free_bytes(machine, groups) == 8000 * 1024
    (groups / "memory.max").write_text("max\n")
    (groups / "memory.current").write_text("100\n")
    (groups / "memory.stat").write_text("anon 50\ninactive_file 30\n")
    assert free_bytes(machine, groups) == 8000 * 1024
    (groups / "memory.max").write_text("1000\n")
    assert free_bytes(machine, groups) == 1000 - 100 + 30
    (groups / "memory" / "memory.limit_in_bytes").write_text("500\n")
    (groups / "memory" / "memory.usage_in_bytes").write_text("600\n")
    (groups / "memory" / "memory.stat").write_text("total_inactive_file 10\n")
    assert free_bytes(machine, groups) == 0


def test_memory_of_deleted_tables_and_indexes_is_given_back(engine: Engine) -> None:
    create(engine, vector_index(), vector_index("Other"))
    fill(engine, 10)
    found(engine, 0, 0, 0)
    found(engine, 0, 0, 0, IndexName="Other")
    held = memory_of(engine)
    both = held.held_bytes
    engine.update_table(TableName="Things", VectorIndexUpdates=[{"Delete": {"IndexName": "Other"}}])
    assert held.held_bytes == both // 2
    engine.delete_table(TableName="Things")
    assert held.held_bytes == 0


def test_threads_search_and_write_at_the_same_time(opened: Engine) -> None:
    fill(opened, 50)
    stop, wrong = threading.Event(), []
    done: list[int] = []

    def write() -> None:
        chance = random.Random(1)
        while not stop.is_set():
            number = chance.randrange(10, 50)
            put(opened, f"{number:05}", number + chance.random() / 2, 1, 0, tenant="t")

    def read() -> None:
        for number in range(60):
            # These items aren't changed, so they must be found, with their own scores.
            wanted = [(f"{number % 10:05}", 0.0)]
            results = scored(opened, number % 10, 1, 0, equal=EQUAL, TopK=1)
            if results != wanted:
                wrong.append(results)
        done.append(60)

    writer = threading.Thread(target=write)
    readers = [threading.Thread(target=read) for _ in range(6)]
    for thread in [writer, *readers]:
        thread.start()
    for thread in readers:
        thread.join()
    stop.set()
    writer.join()
    assert (wrong, sum(done)) == ([], 360)


def test_an_item_that_changes_during_its_search_is_returned_as_it_is(
    opened: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(opened, 10)
    nearest(opened, 0, 1, 0)
    before = reading.items_found
    changes: list[int] = []

    def changed(*arguments: Any, **named: Any) -> Any:
        changes.append(len(changes))
        put(opened, "00000", 100 + len(changes), 1, 0, tenant="t")
        put(opened, "00001", 0.5, 1, 0, tenant="u")
        return before(*arguments, **named)

    monkeypatch.setattr(reading, "items_found", changed)
    # The first time, both have changed since; then the search is right at once, since these are no longer found.
    assert scored(opened, 0, 1, 0, equal=EQUAL, TopK=2) == [("00002", 2.0), ("00003", 3.0)]
    assert len(changes) == 2
    # With the item that changes all the time among the results, it is returned with its present score.
    (*_, last) = scored(opened, 0, 1, 0, equal=EQUAL, TopK=9)
    assert last == ("00000", 100.0 + len(changes))
    assert len(changes) == 2 + memory.TRIES


def test_searches_that_wait_are_computed_together(opened: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    from keyplan.engine.vectors.matrix import Matrix

    fill(opened, 10)
    nearest(opened, 0, 1, 0)
    together: list[int] = []
    compute, entered, go_on = Matrix.search, threading.Event(), threading.Event()

    def slow(self: Matrix, queries: Any) -> Any:
        together.append(len(queries))
        if len(together) == 1:
            entered.set()
            assert go_on.wait(10)
        return compute(self, queries)

    monkeypatch.setattr(Matrix, "search", slow)
    results: dict[int, list[str]] = {}

    def ask(number: int) -> None:
        results[number] = nearest(opened, number, 1, 0, TopK=1)

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(6)]
    threads[0].start()
    assert entered.wait(10)
    for thread in threads[1:]:
        thread.start()
    waiting = next(iter(memory_of(opened)._indexes.values())).waiting
    for _ in range(1000):
        if len(waiting) == 5:
            break
        threading.Event().wait(0.005)
    go_on.set()
    for thread in threads:
        thread.join()
    assert results == {number: [f"{number:05}"] for number in range(6)}
    assert together[:2] == [1, 5]


def test_a_search_of_an_index_that_is_deleted_meanwhile(opened: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    from tests.engine.support import refused

    fill(opened, 10)
    before = reading.items_found

    def deleted(*arguments: Any, **named: Any) -> Any:
        opened.delete_table(TableName="Things")
        create(opened, vector_index(partition="tenant", filters=["kind"]))
        return before(*arguments, **named)

    monkeypatch.setattr(reading, "items_found", deleted)
    with refused("The table does not have the specified index: ByVector"):
        search(opened, 0, 0, 0, equal=EQUAL)
