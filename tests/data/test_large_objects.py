"""Large values in object storage: a folder, S3, and what is left when a process is lost."""

import asyncio
import re
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any

import boto3
import pytest
from moto.server import ThreadedMotoServer

from keyplan.data import (
    AsyncStore,
    FolderStorage,
    ObjectStorage,
    Store,
    StoredDataError,
    create,
    delete,
    import_all,
    move,
    patch,
    put,
    stored_item,
    update,
    upsert,
)
from keyplan.design import Design, Entity, Id, NotLoaded, Table, Ttl, get, key, large, ref, scan
from keyplan.engine import Engine
from tests.data.archive import Archive, Film, noise
from tests.data.support import NOW, Clock, Failing, Killed, Mortal, failure


class LoggedStorage:
    """Passes calls on and logs them; kills the process at one of them."""

    def __init__(self, inner: ObjectStorage) -> None:
        self.inner = inner
        self.calls: list[str] = []
        self.kill: tuple[str, bool] | None = None
        """The method at which the process is lost, and whether it is after the call."""

    def _call(self, method: str, *arguments: object) -> Any:
        self.calls.append(method)
        if self.kill == (method, False):
            raise Killed
        found = getattr(self.inner, method)(*arguments)
        if self.kill == (method, True):
            raise Killed
        return found

    def put(self, name: str, content: bytes, /) -> None:
        self._call("put", name, content)

    def get(self, name: str, /) -> bytes | None:
        found: bytes | None = self._call("get", name)
        return found

    def delete(self, name: str, /) -> None:
        self._call("delete", name)

    def names(self, prefix: str, /) -> list[str]:
        return list(self._call("names", prefix))


class AioStorage:
    """The same with coroutines."""

    def __init__(self, inner: FolderStorage) -> None:
        self.inner = inner

    async def put(self, name: str, content: bytes, /) -> None:
        self.inner.put(name, content)

    async def get(self, name: str, /) -> bytes | None:
        return self.inner.get(name)

    async def delete(self, name: str, /) -> None:
        self.inner.delete(name)

    async def names(self, prefix: str, /) -> list[str]:
        return list(self.inner.names(prefix))


def documented_storage() -> Callable[..., ObjectStorage]:
    """The class for S3 in the documentation."""
    page = (Path(__file__).parents[2] / "docs" / "data.md").read_text("utf-8")
    (block,) = [each for each in re.findall(r"```python\n(.*?)```", page, re.DOTALL) if "class S3Storage" in each]
    names: dict[str, Any] = {}
    exec(block, names)
    made: Callable[..., ObjectStorage] = names["S3Storage"]
    return made


@pytest.fixture(scope="module")
def bucket() -> Iterator[Any]:
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    client = boto3.client(
        "s3",
        endpoint_url=f"http://{host}:{port}",
        region_name="us-east-1",
        aws_access_key_id="any",
        aws_secret_access_key="any",
    )
    client.create_bucket(Bucket="films")
    yield client
    server.stop()


@pytest.fixture(params=["folder", "s3"])
def objects(request: pytest.FixtureRequest, tmp_path: Path) -> LoggedStorage:
    if request.param == "folder":
        return LoggedStorage(FolderStorage(tmp_path / "objects"))
    client = request.getfixturevalue("bucket")
    for each in client.list_objects_v2(Bucket="films").get("Contents", []):
        client.delete_object(Bucket="films", Key=each["Key"])
    return LoggedStorage(documented_storage()(client, "films"))


@pytest.fixture
def store(objects: LoggedStorage) -> Iterator[Store[Archive]]:
    with Engine() as engine:
        store = Store(Archive(), engine, clock=Clock(), objects=objects)
        store.create_tables()
        yield store


def names(objects: LoggedStorage) -> list[str]:
    return sorted(objects.inner.names("Archive/"))  # type: ignore[arg-type]  # a list


def read(store: Store[Archive], film: str = "a") -> Film:
    found = store.run(get(Film, film=film))
    assert found is not None
    return found


def listed(store: Store[Archive]) -> Film:
    (found,) = store.run(scan(Film)).items
    return found


def test_a_value_is_written_before_its_item_and_read_by_get(store: Store[Archive], objects: LoggedStorage) -> None:
    made = store.run(create(Film(film="a", reel=noise(9_000_000))))
    assert made.reel == noise(9_000_000)
    (name,) = names(objects)
    assert re.fullmatch(r"Archive/Film/20260301T1200\d\dZ-[0-9a-f]{32}", name)
    assert (stored_item(made) or {})["reel"]["M"]["object"] == {"S": name}
    assert read(store).reel == noise(9_000_000)
    with pytest.raises(NotLoaded):
        _ = listed(store).reel
    assert store.verify() == []


def test_an_update_writes_an_object_only_for_a_new_value(store: Store[Archive], objects: LoggedStorage) -> None:
    made = store.run(create(Film(film="a", reel=noise(5_000))))
    made.note = "created"
    store.run(update(made))
    whole = read(store)
    whole.note = "read"
    store.run(update(whole))
    item = listed(store)
    item.note = "listed"
    store.run(update(item))
    assert len(names(objects)) == 1
    whole = read(store)
    whole.reel = noise(5_000)
    store.run(update(whole))
    assert len(names(objects)) == 1
    whole.reel = noise(6_000)
    store.run(update(whole))
    store.run(patch(ref(Film, film="a"), reel=noise(7_000)))
    store.run(put(Film(film="a", reel=noise(8_000))))
    assert len(names(objects)) == 4
    written = store.run(upsert(ref(Film, film="b"), reel=noise(9_000), returning="new"))
    assert (written.reel, read(store, "b").reel) == (noise(9_000), noise(9_000))
    store.run(delete(ref(Film, film="b")))
    assert read(store).reel == noise(8_000)
    small = read(store)
    small.reel = b"small"
    store.run(update(small))
    assert store.sweep_objects(timedelta(0)) == 5
    assert read(store).reel == b"small"
    assert store.verify() == []


def test_a_moved_item_has_an_object_of_its_own(store: Store[Archive], objects: LoggedStorage) -> None:
    """A sweep that reads the table while an item moves would not find it under either key."""
    store.run(create(Film(film="a", reel=noise(5_000))))
    (before,) = names(objects)
    moved = store.run(move(listed(store), film="b"))
    assert moved.reel == noise(5_000)
    assert len(names(objects)) == 2
    assert store.sweep_objects(timedelta(0)) == 1
    assert before not in names(objects)
    assert read(store, "b").reel == noise(5_000)


def test_a_created_copy_has_an_object_of_its_own(store: Store[Archive], objects: LoggedStorage) -> None:
    store.run(create(Film(film="a", reel=noise(5_000))))
    store.run(create(read(store).model_copy(update={"film": "b"})))
    assert len(names(objects)) == 2
    store.transact(put(read(store).model_copy(update={"film": "c"})))
    store.run(delete(read(store)))
    assert store.sweep_objects(timedelta(0)) == 1
    assert read(store, "b").reel == read(store, "c").reel == noise(5_000)
    assert store.verify() == []


def test_an_import_writes_objects(store: Store[Archive], objects: LoggedStorage) -> None:
    films = [Film(film=str(n), reel=noise(5_000, n)) for n in range(3)]
    assert len(store.run(import_all(films)).written) == 3
    assert [film.reel for film in films] == [noise(5_000, n) for n in range(3)]
    assert [read(store, str(n)).reel for n in range(3)] == [noise(5_000, n) for n in range(3)]
    assert len(store.run(import_all(films)).unchanged) == 3
    assert store.sweep_objects(timedelta(0)) == 3
    assert store.verify() == []


def test_what_no_item_names_is_swept_after_a_while(store: Store[Archive], objects: LoggedStorage) -> None:
    store.run(create(Film(film="a", reel=noise(5_000))))
    kept = store.run(create(Film(film="b", reel=noise(5_000))))
    store.run(delete(listed_film(store, "a")))
    objects.put("Archive/other", b"not one of ours")
    objects.put("Elsewhere/Film/20200101T000000Z-0", b"of another store")
    assert store.sweep_objects() == 0
    assert store.sweep_objects(timedelta(0)) == 1
    assert store.sweep_objects(timedelta(0)) == 0
    assert read(store, "b").reel == kept.reel
    assert "Archive/other" in names(objects)


def listed_film(store: Store[Archive], film: str) -> Film:
    return next(each for each in store.run(scan(Film)).items if each.film == film)


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_a_process_that_is_lost_at_the_object_leaves_the_old_value(
    store: Store[Archive], objects: LoggedStorage, *, after: bool
) -> None:
    film = store.run(create(Film(film="a", reel=noise(5_000))))
    objects.kill = ("put", after)
    film.reel = noise(6_000)
    with pytest.raises(Killed):
        store.run(update(film))
    with pytest.raises(Killed):
        store.run(create(Film(film="b", reel=noise(7_000))))
    objects.kill = None
    assert read(store).reel == noise(5_000)
    assert store.run(get(Film, film="b")) is None
    assert store.verify() == []
    assert store.sweep_objects(timedelta(0)) == (2 if after else 0)
    assert read(store).reel == noise(5_000)


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_a_process_that_is_lost_at_the_item_leaves_the_old_or_the_new_value(
    store: Store[Archive], objects: LoggedStorage, *, after: bool
) -> None:
    film = store.run(create(Film(film="a", reel=noise(5_000))))
    film.reel = noise(6_000)
    dying = Store(store.design, Mortal(store.client, 0, after=after), clock=Clock(), objects=objects)
    with pytest.raises(Killed):
        dying.run(update(film))
    assert len(names(objects)) == 2
    assert read(store).reel == noise(6_000 if after else 5_000)
    assert store.verify() == []
    assert store.sweep_objects(timedelta(0)) == 1
    assert read(store).reel == noise(6_000 if after else 5_000)


def test_a_failed_write_leaves_an_object_that_is_swept(store: Store[Archive], objects: LoggedStorage) -> None:
    film = store.run(create(Film(film="a", reel=noise(5_000))))
    film.reel = noise(6_000)
    failing = Store(store.design, Failing(store.client, [failure("AccessDeniedException")]), objects=objects)
    with pytest.raises(Exception, match="AccessDenied"):
        failing.run(update(film))
    assert read(store).reel == noise(5_000)
    assert film.reel == noise(6_000)
    store.run(update(film))
    assert read(store).reel == noise(6_000)
    assert store.sweep_objects(timedelta(0)) >= 1


def test_a_reader_never_sees_a_swept_object(store: Store[Archive], objects: LoggedStorage) -> None:
    """The item is read again when its object doesn't exist: by then, it names another one."""
    film = store.run(create(Film(film="a", reel=noise(5_000))))
    film.reel = noise(6_000)

    class Between(LoggedStorage):
        def get(self, name: str, /) -> bytes | None:
            if not self.calls:
                store.run(update(film))
                assert store.sweep_objects(timedelta(0)) == 1
            return super().get(name)

    other = Store(store.design, store.client, objects=Between(objects))
    found = other.run(get(Film, film="a"))
    assert found is not None
    assert found.reel == noise(6_000)


def test_verify_finds_an_object_that_is_missing(store: Store[Archive], objects: LoggedStorage) -> None:
    store.run(create(Film(film="a", reel=noise(5_000))))
    (name,) = names(objects)
    objects.delete(name)
    (finding,) = store.verify()
    assert (finding.kind, finding.repairable) == ("missing", False)
    assert name in finding.problem
    assert Store(store.design, store.client).verify() == []  # without object storage, it isn't looked at
    with pytest.raises(StoredDataError, match="its object doesn't exist or was changed"):
        read(store)


def test_a_changed_object_is_not_taken_for_the_value(store: Store[Archive], objects: LoggedStorage) -> None:
    store.run(create(Film(film="a", reel=b"x" * 9_000_000)))
    (name,) = names(objects)
    objects.put(name, noise(100))
    with pytest.raises(StoredDataError):
        read(store)


def test_a_request_is_shown_without_writing_the_object(store: Store[Archive], objects: LoggedStorage) -> None:
    ((operation, _),) = store.requests(create(Film(film="a", reel=noise(5_000))))
    assert operation == "put_item"
    assert objects.calls == []


@pytest.mark.parametrize("wrap", [lambda objects: objects, AioStorage], ids=["threads", "coroutines"])
def test_an_async_store_uses_both_kinds_of_storage(
    tmp_path: Path, wrap: Callable[[FolderStorage], ObjectStorage]
) -> None:
    async def work(engine: Engine) -> None:
        store = AsyncStore(Archive(), engine, objects=wrap(FolderStorage(tmp_path)))
        await store.create_tables()
        film = await store.run(create(Film(film="a", reel=noise(5_000))))
        film.reel = noise(6_000)
        await store.run(update(film))
        found = await store.run(get(Film, film="a"))
        assert found is not None
        assert found.reel == noise(6_000)
        assert await store.verify() == []
        assert await store.sweep_objects(timedelta(seconds=-5)) == 1

    with Engine() as engine:
        asyncio.run(work(engine))


def test_a_folder_keeps_its_objects_inside(tmp_path: Path) -> None:
    folder = FolderStorage(tmp_path / "objects")
    assert list(folder.names("")) == []
    folder.put("a/b", b"1")
    assert (folder.get("a/b"), folder.get("a/c"), list(folder.names("a/"))) == (b"1", None, ["a/b"])
    folder.delete("a/b")
    folder.delete("a/b")
    for outside in ("../secret", "/etc/passwd"):
        with pytest.raises(ValueError, match="isn't a name in the folder"):
            folder.get(outside)


tapes = Table("Tapes", key("PK", "SK"), ttl="expires")


class Tape(Entity, table=tapes):
    tape: Id
    sound: Annotated[bytes, large(inline=2_048, kept_in="objects")]
    expires: Ttl

    primary = key("TAPE#{tape}", "TAPE")


class Tapes(Design):
    tables, entities = (tapes,), (Tape,)


@pytest.mark.parametrize("way", ["create", "put", "upsert", "transact"])
def test_an_expired_item_is_replaced_with_its_object(tmp_path: Path, way: str) -> None:
    start = NOW
    with Engine() as engine:
        clock = [start]
        store = Store(Tapes(), engine, clock=lambda: clock[0], objects=FolderStorage(tmp_path))
        store.create_tables()
        store.run(create(Tape(tape="t", sound=noise(5_000, 1), expires=start + timedelta(seconds=5))))
        clock[0] = start + timedelta(seconds=9)
        fresh = Tape(tape="t", sound=noise(6_000, 2), expires=start + timedelta(days=1))
        if way == "create":
            store.run(create(fresh))
        elif way == "put":
            store.run(put(fresh))
        elif way == "upsert":
            store.run(upsert(ref(Tape, tape="t"), sound=fresh.sound, expires=fresh.expires))
        else:
            store.transact(put(fresh), create(Tape(tape="u", sound=b"", expires=fresh.expires)))
        found = store.run(get(Tape, tape="t"))
        assert found is not None
        assert found.sound == noise(6_000, 2)
        assert store.verify() == []
        left = 2 if way == "create" else 1  # a create meets the expired item after it has written its object
        assert store.sweep_objects(older_than=timedelta(seconds=-1)) == left
