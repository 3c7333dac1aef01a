"""Large values under concurrency, over the wire, and with processes that are lost: no reader ever sees a mixture."""

import asyncio
import random
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.config import Config

from keyplan.data import (
    AsyncStore,
    Conflict,
    NotFound,
    Refused,
    StaleVersion,
    Store,
    create,
    delete,
    import_all,
    move,
    put,
    update,
)
from keyplan.design import get
from keyplan.engine import Database, Engine
from keyplan.engine.wire import serve_in_thread
from tests.data.archive import Archive, Folder, Page, archive_store, noise, text
from tests.data.support import Aio, Killed, Mortal


@contextmanager
def over_the_wire() -> Iterator[Any]:
    """boto3's client of an endpoint."""
    database = Database()
    try:
        with serve_in_thread(database) as url:
            yield boto3.client(
                "dynamodb",
                endpoint_url=url,
                region_name="us-east-1",
                aws_access_key_id="any",
                aws_secret_access_key="any",
                config=Config(max_pool_connections=20),
            )
    finally:
        database.close()


@contextmanager
def in_process() -> Iterator[Any]:
    with Engine() as engine:
        yield engine


CLIENTS = pytest.mark.parametrize("opened", [in_process, over_the_wire], ids=["engine", "wire"])


@CLIENTS
def test_every_form_over_every_client(opened: Callable[[], Any]) -> None:
    with opened() as client:
        store = Store(Archive(), client)
        store.create_tables()
        store.run(create(Folder(folder="f")))
        for number, size in enumerate((10, 2_000, 30_000, 900_000, 3_000_000)):
            value, content = text(size), noise(size // 4)
            made = store.run(create(Page(folder="f", page=str(number), body=value, scan=content)))
            found = store.run(get(Page, folder="f", page=str(number)))
            assert found == made
            assert found is not None
            found.body = value[: size // 2]
            store.run(update(found))
            again = store.run(get(Page, folder="f", page=str(number), consistent=True))
            assert again is not None
            assert (again.body, again.scan) == (value[: size // 2], content)
        assert store.verify() == []
        for page in store.run(store.design.pages("f")).items:
            store.run(delete(page))
        folder = store.run(get(Folder, folder="f"))
        assert folder is not None
        store.run(delete(folder))
        assert client.scan(TableName="Archive")["Items"] == []


@pytest.mark.parametrize("wrap", [lambda client: client, Aio], ids=["threads", "coroutines"])
def test_an_async_store_does_the_same(wrap: Callable[[object], object]) -> None:
    async def work(engine: Engine) -> None:
        store = AsyncStore(Archive(), wrap(engine))
        await store.create_tables()
        await store.run(create(Folder(folder="f")))
        page = await store.run(create(Page(folder="f", page="1", body=text(900_000))))
        page.body = text(500_000, 2)
        await store.run(update(page))
        found = await store.run(get(Page, folder="f", page="1"))
        assert found is not None
        assert found.body == text(500_000, 2)
        await store.run(move(found, page="2"))
        assert await store.verify() == []
        await store.run(delete(found))

    with Engine() as engine:
        asyncio.run(work(engine))


def signed(writer: int, number: int) -> str:
    """A text of random size whose first line is the digest of the rest, so that a mixture of two is noticed."""
    rest = text(random.Random(writer * 1_000 + number).choice([500, 6_000, 500_000, 900_000, 1_300_000]), number)
    rest = f"{writer}/{number}\n{rest}"
    return f"{sha256(rest.encode()).hexdigest()}\n{rest}"


def is_whole(body: str) -> bool:
    digest, _, rest = body.partition("\n")
    return digest == sha256(rest.encode()).hexdigest()


@CLIENTS
def test_no_reader_ever_sees_parts_of_two_values(opened: Callable[[], Any]) -> None:
    """Three writers replace, delete and create one value while three readers read it."""
    with opened() as client:
        store = Store(Archive(), client)
        store.create_tables()
        store.run(create(Folder(folder="f")))
        store.run(create(Page(folder="f", page="1", body=signed(0, 0))))
        ended = threading.Event()

        def write(writer: int) -> int:
            written = 0
            for number in range(12):
                try:
                    if number % 6 == 5:
                        found = store.run(get(Page, folder="f", page="1"))
                        if found is not None:
                            store.run(delete(found))
                    else:
                        store.run(put(Page(folder="f", page="1", body=signed(writer, number))))
                    written += 1
                except (Refused, Conflict):
                    pass  # another writer was faster
            return written

        def check() -> int:
            seen = 0
            while not ended.is_set():
                found = store.run(get(Page, folder="f", page="1", consistent=bool(seen % 2)))
                if found is not None:
                    assert is_whole(found.body)
                    seen += 1
            return seen

        with ThreadPoolExecutor(6) as threads:
            readers = [threads.submit(check) for _ in range(3)]
            writers = [threads.submit(write, n + 1) for n in range(3)]
            try:
                assert sum(each.result() for each in writers) > 10
            finally:
                ended.set()
            assert sum(each.result() for each in readers) > 5
        assert store.verify() == []


def test_a_value_that_is_replaced_while_it_is_read_is_read_again(tmp_path: Path) -> None:
    """Between the item and its parts, exactly then."""
    with archive_store(tmp_path) as (store, sent):
        store.run(create(Folder(folder="f")))
        page = store.run(create(Page(folder="f", page="1", body=text(900_000))))
        changes = [text(500_000, 2), text(1_200_000, 3), "short"]

        class Between:
            def __getattr__(self, name: str) -> Callable[..., Any]:
                def call(**request: Any) -> Any:
                    if name == "batch_get_item" and changes:
                        page.body = changes.pop(0)
                        store.run(update(page))
                    return getattr(sent.client, name)(**request)

                return call

        found = Store(store.design, Between()).run(get(Page, folder="f", page="1"))
        assert found is not None
        assert (found.body, changes) == ("short", [])

        page.body = text(900_000)
        store.run(update(page))

        class Deleted:
            def __getattr__(self, name: str) -> Callable[..., Any]:
                def call(**request: Any) -> Any:
                    if name == "batch_get_item":
                        with suppress(NotFound):
                            store.run(delete(page))
                    return getattr(sent.client, name)(**request)

                return call

        assert Store(store.design, Deleted()).run(get(Page, folder="f", page="1")) is None


def test_a_value_that_is_replaced_all_the_time_is_a_conflict(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("keyplan.data.reads.large.ATTEMPTS", 6)
    with archive_store(tmp_path) as (store, sent):
        store.run(create(Folder(folder="f")))
        page = store.run(create(Page(folder="f", page="1", body=text(20_000))))

        class Restless:
            number = 0

            def __getattr__(self, name: str) -> Callable[..., Any]:
                def call(**request: Any) -> Any:
                    answer = getattr(sent.client, name)(**request)
                    if name == "batch_get_item":
                        # Its parts are already those of the next value.
                        Restless.number += 1
                        page.body = text(20_000, Restless.number)
                        store.run(update(page))
                        parts = [item for item in answer["Responses"]["Archive"] if "keyplanDigest" in item]
                        for part in parts:
                            part["keyplanDigest"] = {"B": noise(32)}
                    return answer

                return call

        with pytest.raises(Conflict, match=r"others kept replacing Page\.body"):
            Store(store.design, Restless()).run(get(Page, folder="f", page="1"))


def test_a_move_of_a_value_that_was_replaced_is_stale(tmp_path: Path) -> None:
    with archive_store(tmp_path) as (store, _):
        store.run(create(Folder(folder="f")))
        page = store.run(create(Page(folder="f", page="1", body=text(20_000))))
        (listed,) = store.run(store.design.pages("f")).items
        page.body = text(20_000, 2)
        store.run(update(page))
        with pytest.raises(StaleVersion):
            store.run(move(listed, page="2"))
        assert store.verify() == []


def replaced(store: Store[Archive]) -> None:
    page = store.run(get(Page, folder="f", page="1"))
    assert page is not None
    page.body = text(1_300_000, 2)
    store.run(update(page))


def moved(store: Store[Archive]) -> None:
    page = store.run(get(Page, folder="f", page="1"))
    assert page is not None
    store.run(move(page, page="2"))


def deleted(store: Store[Archive]) -> None:
    page = store.run(get(Page, folder="f", page="1"))
    assert page is not None
    store.run(delete(page))


def imported(store: Store[Archive]) -> None:
    store.run(import_all([Page(folder="f", page=str(n), body=text(300_000, n)) for n in range(5, 8)]))


@pytest.mark.parametrize("work", [replaced, moved, deleted, imported])
@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_a_process_can_be_lost_at_any_call(
    tmp_path: Path, work: Callable[[Store[Archive]], None], *, after: bool
) -> None:
    """Every value is the old or the new one. What a lost import leaves behind is found and repaired."""
    for calls in range(20):
        with archive_store(tmp_path / str(calls)) as (store, sent):
            store.run(create(Folder(folder="f")))
            store.run(create(Page(folder="f", page="1", body=text(900_000))))
            try:
                work(Store(store.design, Mortal(sent.client, calls, after=after)))
            except Killed:
                pass
            else:
                return
            for page in store.run(store.design.pages("f")).items:
                found = store.run(get(Page, folder="f", page=page.page))
                assert found is not None
                known = [text(900_000), text(1_300_000, 2), *(text(300_000, n) for n in range(5, 8))]
                assert found.body in known
            findings = store.verify()
            assert work is imported or findings == []
            if work is imported:
                imported(store)
                store.repair(store.verify())
            assert store.verify() == []
    pytest.fail("it never ends")
