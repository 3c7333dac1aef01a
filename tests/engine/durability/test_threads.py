"""Many threads on one engine, in memory and on a file."""

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from keyplan.engine import Engine
from keyplan.engine.storage import wal_checkpoints
from keyplan.engine.storage.transaction import Transaction
from keyplan.engine.storage.turns import Turns, _Place
from tests.engine.durability.support import GSI, TABLE, definition

THREADS = 8
TIMES = 60


@pytest.fixture(params=["memory", "file"])
def engine(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    """On a file, the log is copied into it all the time."""
    monkeypatch.setattr(wal_checkpoints, "CHECKPOINT_PAGES", 20)
    monkeypatch.setattr(wal_checkpoints, "MAXIMUM_FACTOR", 1)
    with Engine(":memory:" if request.param == "memory" else str(tmp_path / "data.db")) as made:
        made.create_table(**definition())  # type: ignore[arg-type]
        yield made


def together(work: Callable[[int], None]) -> None:
    """Run it in all threads at once; any exception is raised here."""
    barrier = threading.Barrier(THREADS)

    def run(number: int) -> None:
        barrier.wait()
        work(number)

    with ThreadPoolExecutor(THREADS) as pool:
        for done in [pool.submit(run, number) for number in range(THREADS)]:
            done.result()


def test_writes_and_reads_of_all_kinds(engine: Engine) -> None:
    shared = {"pk": {"S": "shared"}, "sk": {"N": "0"}}

    def work(number: int) -> None:
        for step in range(TIMES):
            engine.update_item(
                TableName=TABLE,
                Key=shared,
                UpdateExpression="ADD n :one",
                ExpressionAttributeValues={":one": {"N": "1"}},
            )
            own = {"pk": {"S": f"own-{number}"}, "sk": {"N": str(step)}}
            engine.put_item(TableName=TABLE, Item={**own, "colour": {"S": "red"}, "weight": {"N": str(number)}})
            assert engine.get_item(TableName=TABLE, Key=own)["Item"]["weight"] == {"N": str(number)}
            if step % 10 == 0:
                counted = engine.query(
                    TableName=TABLE,
                    KeyConditionExpression="pk = :p",
                    ExpressionAttributeValues={":p": own["pk"]},
                )
                assert counted["Count"] == step + 1
                # Items and index of one moment agree.
                page = engine.query(
                    TableName=TABLE,
                    IndexName=GSI,
                    KeyConditionExpression="colour = :c",
                    ExpressionAttributeValues={":c": {"S": "red"}},
                )
                assert page["Count"] == len(page["Items"]) >= step

    together(work)
    assert engine.get_item(TableName=TABLE, Key=shared)["Item"]["n"] == {"N": str(THREADS * TIMES)}
    assert engine.scan(TableName=TABLE)["Count"] == THREADS * TIMES + 1
    assert engine.scan(TableName=TABLE, IndexName=GSI)["Count"] == THREADS * TIMES


def test_transactions_are_seen_whole(engine: Engine) -> None:
    """Two items have the same number in every reader's view."""
    keys = [{"pk": {"S": "pair"}, "sk": {"N": str(sk)}} for sk in (0, 1)]

    def work(number: int) -> None:
        for step in range(TIMES // 2):
            if number % 2:
                engine.transact_write_items(
                    TransactItems=[
                        {"Put": {"TableName": TABLE, "Item": {**key, "n": {"S": f"{number}-{step}"}}}} for key in keys
                    ]
                )
            else:
                found = engine.transact_get_items(
                    TransactItems=[{"Get": {"TableName": TABLE, "Key": key}} for key in keys]
                )["Responses"]
                assert found[0].get("Item", {}).get("n") == found[1].get("Item", {}).get("n")
                page = engine.query(
                    TableName=TABLE, KeyConditionExpression="pk = :p", ExpressionAttributeValues={":p": {"S": "pair"}}
                )["Items"]
                assert len({item["n"]["S"] for item in page}) <= 1

    together(work)


def test_tables_come_and_go(engine: Engine) -> None:
    def work(number: int) -> None:
        for step in range(5):
            name = f"table-{number}-{step}"
            engine.create_table(**definition(name))  # type: ignore[arg-type]
            engine.put_item(TableName=name, Item={"pk": {"S": "a"}, "sk": {"N": "1"}, "colour": {"S": "red"}})
            assert engine.describe_table(TableName=name)["Table"]["ItemCount"] == 1
            assert engine.scan(TableName=name, IndexName=GSI)["Count"] == 0
            if step % 2:
                engine.delete_table(TableName=name)

    together(work)
    assert len(engine.list_tables()["TableNames"]) == 1 + THREADS * 3


def test_conditional_writes_have_one_winner(engine: Engine) -> None:
    won: list[int] = []

    def work(number: int) -> None:
        for step in range(TIMES):
            try:
                engine.put_item(
                    TableName=TABLE,
                    Item={"pk": {"S": "race"}, "sk": {"N": str(step)}},
                    ConditionExpression="attribute_not_exists(pk)",
                )
                won.append(step)
            except engine.exceptions.ConditionalCheckFailedException:
                pass

    together(work)
    assert sorted(won) == list(range(TIMES))


def test_reads_while_a_write_is_under_way(tmp_path: Path) -> None:
    """On a file, readers don't wait for a writer; they see the state before its transaction."""
    with Engine(str(tmp_path / "data.db")) as engine:
        engine.create_table(**definition())  # type: ignore[arg-type]
        writing, read = threading.Event(), threading.Event()

        def write(transaction: Transaction) -> None:
            transaction.sql("UPDATE meta SET version = version + 1")
            writing.set()
            assert read.wait(20)

        thread = threading.Thread(target=engine.database._storage.write, args=(write,))
        thread.start()
        assert writing.wait(10)
        together(lambda number: _read_often(engine))
        read.set()
        thread.join()


def _read_often(engine: Engine) -> None:
    for _ in range(10):
        assert engine.scan(TableName=TABLE)["Count"] == 0
        assert engine.list_tables()["TableNames"] == [TABLE]


def test_many_short_threads_need_few_connections(tmp_path: Path) -> None:
    with Engine(str(tmp_path / "data.db")) as engine:
        engine.create_table(**definition())  # type: ignore[arg-type]
        for _ in range(10):
            together(lambda number: _read_often(engine))
        assert len(engine.database._storage._readers) <= THREADS


def test_close_while_others_work(engine: Engine) -> None:
    """Running requests finish, and later ones are refused."""
    closing = threading.Event()
    refusals: list[str] = []

    def work(number: int) -> None:
        try:
            for step in range(10_000):
                engine.put_item(TableName=TABLE, Item={"pk": {"S": f"{number}"}, "sk": {"N": str(step)}})
                engine.scan(TableName=TABLE, Limit=1)
                if step == 5 and number == 0:
                    closing.set()
        except RuntimeError as error:
            refusals.append(str(error))

    def close() -> None:
        closing.wait()
        engine.close()

    closer = threading.Thread(target=close)
    closer.start()
    together(work)
    closer.join()
    assert refusals == ["The engine is closed"] * THREADS


def test_a_read_does_not_wait_for_a_long_one(tmp_path: Path) -> None:
    """Only the first one waits until it sees that the request of the other thread takes long."""
    with Engine(str(tmp_path / "data.db")) as engine:
        engine.create_table(**definition())  # type: ignore[arg-type]
        reading, enough = threading.Event(), threading.Event()

        def read(_: Transaction) -> None:
            reading.set()
            assert enough.wait(20)

        thread = threading.Thread(target=engine.database._storage.read, args=(read,))
        thread.start()
        assert reading.wait(10)
        waits: list[float] = []
        turns = engine.database._storage._turns
        wait = turns._wait

        def waited(place: _Place, pause: float, *, whatever_it_takes: bool) -> bool:
            began = time.perf_counter()
            try:
                return wait(place, pause, whatever_it_takes=whatever_it_takes)
            finally:
                waits.append(time.perf_counter() - began)

        turns._wait = waited  # type: ignore[method-assign]
        for _ in range(200):
            engine.list_tables()
        enough.set()
        thread.join()
        assert len(waits) == 1


def test_threads_take_turns() -> None:
    """Nobody has it while another one has it, and nobody is passed over for long."""
    turns = Turns()
    held = 0
    counts = [0] * THREADS
    ends = time.monotonic() + 0.3

    def work(number: int) -> None:
        nonlocal held
        while time.monotonic() < ends:
            if not turns.take(whatever_it_takes=number % 2 == 0):
                counts[number] += 1
                time.sleep(0.002)  # as long as it takes with another connection
                continue
            held += 1
            assert held == 1
            counts[number] += 1
            if counts[number] % 50 == 0:
                time.sleep(0.002)  # a request that takes long
            held -= 1
            turns.release()

    together(work)
    assert min(counts) > 5, counts
    assert turns.take_now()


def test_a_thread_that_is_interrupted_leaves_the_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether it was its turn at that moment or not."""
    turns = Turns()
    for granted in (False, True):
        assert turns.take_now()

        def interrupted(place: _Place, pause: float, *, whatever_it_takes: bool, granted: bool = granted) -> bool:
            if granted:
                turns.release()
            raise KeyboardInterrupt

        monkeypatch.setattr(turns, "_wait", interrupted)
        with pytest.raises(KeyboardInterrupt):
            turns.take()
        assert turns.take_now() == granted
        turns.release()
    assert turns.take_now()
