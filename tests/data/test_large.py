"""Large values: every form, and every write that knows about them."""

import asyncio
import copy
import pickle
import threading
import zlib
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import StringConstraints, TypeAdapter

from keyplan.data import (
    AlreadyExists,
    AsyncStore,
    DataError,
    FolderStorage,
    ItemChanged,
    StaleVersion,
    Store,
    StoredDataError,
    TooLarge,
    at,
    clean_up_expired,
    codec_of,
    create,
    delete,
    delete_all,
    import_all,
    move,
    patch,
    put,
    put_all,
    stored_item,
    touch,
    update,
    upsert,
)
from keyplan.data.codec.large import MOST_PARTS, PART_BYTES
from keyplan.data.streams import ItemChange, deliver, on
from keyplan.design import (
    Aggregate,
    Design,
    DesignError,
    Entity,
    Id,
    InvalidValue,
    NotLoaded,
    Table,
    aggregate,
    batch_get,
    follow,
    get,
    key,
    large,
    merge,
    query,
    ref,
    scan,
    transact_get,
)
from keyplan.engine import Engine
from tests.data.archive import Archive, Film, Folder, Page, archive_store, noise, text
from tests.data.press import records_of
from tests.data.support import NOW, Recorder, shape


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[tuple[Store[Archive], Recorder]]:
    with archive_store(tmp_path) as both:
        both[0].run(create(Folder(folder="f")))
        both[1].taken()
        yield both


@pytest.fixture
def store(opened: tuple[Store[Archive], Recorder]) -> Store[Archive]:
    return opened[0]


@pytest.fixture
def sent(opened: tuple[Store[Archive], Recorder]) -> Recorder:
    return opened[1]


def page(number: str = "1", body: str = "", **more: Any) -> Page:
    return Page(folder="f", page=number, body=body, **more)


def read(store: Store[Archive], number: str = "1") -> Page:
    found = store.run(store.design.page("f", number))
    assert found is not None
    return found


def listed(store: Store[Archive]) -> Page:
    (found,) = store.run(store.design.pages("f")).items
    return found


def items(sent: Recorder) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    request: dict[str, Any] = {"TableName": "Archive"}
    client: Any = sent.client
    while True:
        answer = client.scan(**request)
        found += answer["Items"]
        if "LastEvaluatedKey" not in answer:
            return found
        request["ExclusiveStartKey"] = answer["LastEvaluatedKey"]


def parts(sent: Recorder) -> list[dict[str, Any]]:
    return [item for item in items(sent) if item["SK"]["S"].startswith("~PART#")]


def stored_form(entity: Page, name: str = "body") -> str:
    attribute = (stored_item(entity) or {})[name]
    ((tag, content),) = attribute.items()
    return tag if tag != "M" else next(each for each in ("content", "parts", "object") if each in content)


# Forms


@pytest.mark.parametrize(
    ("value", "form", "number"),
    [
        ("", "S", 0),
        ("short", "S", 0),
        ("x" * 1_024, "S", 0),
        ("x" * 1_025, "content", 0),
        (text(4_000), "content", 0),
        (text(6_000), "parts", 1),
        (text(900_000), "parts", 2),
        (text(4_000_000), "parts", 9),
        ("ä" * 20_000_000, "parts", 1),
    ],
    ids=[
        "empty",
        "short",
        "at-1-KB",
        "over-1-KB",
        "compressed",
        "one-part",
        "two-parts",
        "nine-parts",
        "very-compressible",
    ],
)
def test_a_value_is_stored_in_the_smallest_form(
    store: Store[Archive], sent: Recorder, value: str, form: str, number: int
) -> None:
    made = store.run(create(page(body=value)))
    assert stored_form(made) == form
    assert len(parts(sent)) == number
    found = read(store)
    assert found.body == value
    assert found == made
    assert store.verify() == []


def test_bytes_that_cannot_be_compressed_are_stored_as_they_are(store: Store[Archive], sent: Recorder) -> None:
    made = store.run(create(page(scan=noise(16_384))))
    assert stored_form(made, "scan") == "B"
    made.scan = noise(16_385)
    store.run(update(made))
    assert stored_form(made, "scan") == "parts"
    assert read(store).scan == noise(16_385)
    made.scan = None
    store.run(update(made))
    assert (read(store).scan, parts(sent)) == (None, [])


def test_a_value_at_the_limit_fits_and_one_over_it_is_refused(store: Store[Archive], sent: Recorder) -> None:
    most = MOST_PARTS * PART_BYTES
    store.run(create(page(scan=noise(most))))
    assert len(parts(sent)) == MOST_PARTS
    sent.taken()
    with pytest.raises(TooLarge, match="would take 11 parts of 376832 bytes, and an item can have 10"):
        store.run(create(page("2", scan=noise(most + 1))))
    with pytest.raises(TooLarge, match="can have 67108864"):
        store.run(create(page("2", scan=b"x" * 67_108_865)))
    with pytest.raises(InvalidValue, match="at most 30000000 characters"):  # before it is compressed
        store.run(create(page("2", body="x" * 30_000_001)))
    assert sent.taken() == []
    store.run(delete(read(store)))
    assert parts(sent) == []


def test_the_parts_of_all_values_of_an_item_fit_into_one_transaction(store: Store[Archive]) -> None:
    """Otherwise the item couldn't be deleted any more."""
    made = store.run(create(page(scan=noise(6 * PART_BYTES))))
    made.body = text(3_000_000)
    with pytest.raises(TooLarge, match="would take 13 parts"):
        store.run(update(made))


def test_a_move_needs_room_for_both(store: Store[Archive]) -> None:
    made = store.run(create(page(scan=noise(6 * PART_BYTES))))
    with pytest.raises(TooLarge, match="a transaction can have 4194304"):
        store.run(move(made, page="2"))


def test_values_that_were_stored_inline_before_are_read(store: Store[Archive], sent: Recorder) -> None:
    """Also larger ones than the limit. Only a change of the value writes it in another form."""
    old = codec_of(Page).encode(page(version=1)) | {"body": {"S": text(200_000)}}
    client: Any = sent.client
    client.put_item(TableName="Archive", Item=old)
    client.put_item(TableName="Archive", Item={"PK": {"S": "TITLE#t#1"}, "SK": {"S": "TITLE#t#1"}})
    found = listed(store)
    assert found.body == text(200_000)
    assert store.verify() == []
    found.title = "x"
    store.run(update(found))
    assert (stored_form(found), parts(sent)) == ("S", [])
    found.body += "!"
    store.run(update(found))
    assert (stored_form(found), len(parts(sent))) == ("parts", 1)
    assert read(store).body == text(200_000) + "!"
    assert store.verify() == []


def test_limits_and_unicode_are_checked_before_anything_is_sent(store: Store[Archive], sent: Recorder) -> None:
    for wrong, code in (("x" * 30_000_001, "string-too-long"), ("\ud800" * 2_000, "string-unicode")):
        with pytest.raises(InvalidValue) as caught:
            store.run(create(page(body=wrong)))
        assert (caught.value.code, caught.value.field) == (code, "body")
    with pytest.raises(InvalidValue) as caught:
        store.run(create(Folder(folder="g", about="\ud800" * 2_000)))  # a field without limits
    assert (caught.value.code, caught.value.field) == ("invalid", "about")
    assert sent.taken() == []


@settings(deadline=None, max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_sequence_of_values_is_read_back(tmp_path: Path, data: st.DataObject) -> None:
    """Values around every limit, one after the other: nothing of an older value is left."""
    sizes = st.sampled_from([0, 1, 1_023, 1_024, 1_025, 4_096, 5_120, 5_200, 20_000, PART_BYTES, 3 * PART_BYTES])
    texts = st.one_of(st.text(max_size=2_000), st.builds(lambda n, seed: text(n, seed), sizes, st.integers(0, 3)))
    content = st.builds(
        lambda n, more, seed: noise(max(0, n + more), seed), sizes, st.integers(-1, 1), st.integers(0, 3)
    )
    with archive_store(tmp_path) as (store, sent):
        store.run(create(Folder(folder="f")))
        entity = store.run(create(page(body=data.draw(texts))))
        for _ in range(data.draw(st.integers(1, 4))):
            entity.body = data.draw(texts)
            entity.scan = data.draw(st.none() | content)
            store.run(update(entity))
            found = read(store)
            assert (found.body, found.scan) == (entity.body, entity.scan)
            assert store.verify() == []
            entity = found if data.draw(st.booleans()) else entity
        store.run(delete(entity))
        assert parts(sent) == []


# Lists


def test_a_list_reads_no_parts_and_says_so(store: Store[Archive], sent: Recorder) -> None:
    store.run(create(page(body=text(1_000_000))))
    sent.taken()
    found = listed(store)
    (call,) = sent.taken()
    assert call[0] == "query"
    with pytest.raises(NotLoaded, match=r"Read it with get\(Page, folder='f', page='1'\)") as caught:
        _ = found.body
    assert (caught.value.entity, caught.value.field, caught.value.code) == ("Page", "body", "not-loaded")
    assert "body=Unread(size=" in repr(found)
    with pytest.raises(ValueError, match="was not read"):
        found.model_dump()
    assert found.model_dump(exclude={"body"})["page"] == "1"
    for other in (copy.copy(found), copy.deepcopy(found), pickle.loads(pickle.dumps(found)), found.model_copy()):
        with pytest.raises(NotLoaded):
            _ = other.body
    for op in (store.design.titled("t"), scan(Page), store.design.whole("f")):
        assert len([each for each in store.run(op).items if isinstance(each, Page)]) == 1
    assert [each and each.page for each in store.run(batch_get(Page, [{"folder": "f", "page": "1"}]))] == ["1"]


class WithPages(Aggregate):
    folder: Folder
    pages: list[Page]


def test_only_get_and_lookup_read_large_values(store: Store[Archive]) -> None:
    store.run(create(page(body=text(100_000))))
    by_key = ref(Page, folder="f", page="1")
    folders = query(Page.by_title, title="t")
    whole = store.run(aggregate(WithPages, folder="f"))
    assert whole is not None
    found: dict[str, Any] = {
        "batch_get": store.run(batch_get(Page, [by_key.values]))[0],
        "transact_get": store.run(transact_get(store.design.page("f", "1")))[0],
        "query": store.run(store.design.pages("f")).items[0],
        "scan": store.run(scan(Page)).items[0],
        "merge": store.run(merge([folders], lambda each: each.title)).items[0],
        "follow": store.run(follow(folders, lambda each: by_key, Page)).items[0],
        "collection": store.run(store.design.whole("f")).items[1],
        "aggregate": whole.pages[0],
        "patch": store.run(patch(by_key, title="t", returning="new")),
    }
    for name, entity in found.items():
        with pytest.raises(NotLoaded, match="only get and lookup read that"):
            print(name, entity.body)
        with pytest.raises(ValueError, match="was not read"):
            entity.model_dump_json()
    for chosen in (store.design.page("f", "1"), folders):
        with pytest.raises(DesignError, match="Get the whole entity"):
            chosen.only(lambda each: each.body)
    assert read(store).body == text(100_000)


class Threads:
    """Notes in which threads zlib works."""

    def __init__(self) -> None:
        self.seen: list[bool] = []

    def compress(self, content: bytes) -> bytes:
        self.seen.append(threading.current_thread() is threading.main_thread())
        return zlib.compress(content)

    def decompressobj(self) -> Any:
        self.seen.append(threading.current_thread() is threading.main_thread())
        return zlib.decompressobj()

    def __getattr__(self, name: str) -> Any:
        return getattr(zlib, name)


@pytest.mark.parametrize(("size", "on_the_loop"), [(20_000, [True]), (400_000, [False, False])])
def test_an_event_loop_does_not_wait_for_compression(
    store: Store[Archive], monkeypatch: pytest.MonkeyPatch, size: int, on_the_loop: list[bool], tmp_path: Path
) -> None:
    threads = Threads()
    monkeypatch.setattr("keyplan.data.codec.large.zlib", threads)
    later = AsyncStore(Archive(), store.client, objects=FolderStorage(tmp_path))
    made = page(body="a" * 10 + text(size), scan=None)

    async def body() -> None:
        await later.run(create(made))
        assert threads.seen == on_the_loop[:1]
        found = await later.run(get(Page, folder="f", page="1"))
        assert found is not None
        assert found.body == made.body

    asyncio.run(body())
    assert threads.seen[:1] == on_the_loop[:1]
    if len(on_the_loop) > 1:
        assert threads.seen[1:] == on_the_loop[1:]
    threads.seen.clear()
    result = asyncio.run(later.run(import_all([page("2", body=text(400_000)), page("3", body="x" * 30_000_001)])))
    assert (len(result.written), [refusal.code for _, refusal in result.refused]) == (1, ["invalid-item"])
    assert set(threads.seen) == {False}
    assert asyncio.run(later.verify()) == []


def test_a_collection_reads_no_parts(store: Store[Archive], sent: Recorder) -> None:
    store.run(create(page(body=text(1_000_000))))
    sent.taken()
    assert len(store.run(store.design.whole("f")).items) == 2
    ((name, request),) = sent.taken()
    assert (name, request["ExpressionAttributeValues"][":1"]) == ("query", {"S": "~PART#"})
    client: Any = sent.client
    assert client.query(**request)["ScannedCount"] == 2


def test_an_update_of_another_field_leaves_the_value_alone(store: Store[Archive], sent: Recorder) -> None:
    store.run(create(page(body=text(1_000_000))))
    found = listed(store)
    before = parts(sent)
    found.version = found.version
    found.expires = None
    found.title = "t"
    sent.taken()
    store.run(update(found))
    assert sent.taken() == []
    store.run(patch(ref(Page, folder="f", page="1"), expires=NOW + timedelta(days=3)))
    assert len(parts(sent)) == len(before)
    whole = read(store)
    whole.title = "new"
    sent.taken()
    store.run(update(whole))
    assert all("PART" not in each for each in shape(sent.taken()))
    assert read(store).body == text(1_000_000)


def test_the_same_value_is_not_written_again(store: Store[Archive], sent: Recorder) -> None:
    store.run(create(page(body=text(1_000_000))))
    found = listed(store)
    found.body = text(1_000_000)
    sent.taken()
    store.run(update(found))
    assert sent.taken() == []


# Writes


def test_a_create_is_one_transaction(store: Store[Archive], sent: Recorder) -> None:
    store.run(create(page(body=text(900_000))))
    (sentence,) = shape(sent.taken())
    assert sentence.startswith("transact: Put FOLDER#f/PAGE#1, Put TITLE#t#1/TITLE#t#1")
    assert sentence.count("Put FOLDER#f/~PART#") == 2
    with pytest.raises(AlreadyExists):
        store.run(create(page(body=text(500_000, 2))))
    assert read(store).body == text(900_000)


def test_a_shorter_value_removes_the_parts_that_are_left(store: Store[Archive], sent: Recorder) -> None:
    made = store.run(create(page(body=text(900_000))))
    made.body = text(300_000)
    sent.taken()
    store.run(update(made))
    (sentence,) = shape(sent.taken())
    assert (sentence.count("Put FOLDER#f/~PART#"), sentence.count("Delete FOLDER#f/~PART#")) == (1, 1)
    assert store.verify() == []


def test_a_stale_entity_cannot_replace_parts(store: Store[Archive], sent: Recorder) -> None:
    store.run(create(page(body=text(300_000))))
    first, second = read(store), listed(store)
    first.body = text(500_000, 2)
    store.run(update(first))
    second.body = text(600_000, 3)
    for write in (update(second), delete(second), move(second, page="2")):
        with pytest.raises(StaleVersion):
            store.run(write)
    assert read(store).body == text(500_000, 2)
    store.run(delete(first))
    store.run(create(page(body=text(300_000))))
    with pytest.raises(StaleVersion):  # created again, with the same version and value
        store.run(delete(second))
    assert len(parts(sent)) == 1


def test_an_entity_without_a_version_is_compared_by_its_values(store: Store[Archive], sent: Recorder) -> None:
    first, second = store.run(get(Folder, folder="f")), store.run(get(Folder, folder="f"))
    assert first
    assert second
    first.about, second.about = text(300_000), text(600_000)
    store.run(update(first))
    with pytest.raises(ItemChanged):
        store.run(update(second))
    (listed,) = [each for each in store.run(store.design.whole("f")).items if isinstance(each, Folder)]
    first.about = text(300_000, 2)
    store.run(update(first))
    with pytest.raises(ItemChanged) as caught:
        store.run(move(listed, folder="g"))
    assert not isinstance(caught.value, StaleVersion)
    assert store.verify() == []


def test_a_patch_of_a_large_value_reads_its_item_and_no_parts(store: Store[Archive], sent: Recorder) -> None:
    store.run(create(page(body=text(300_000))))
    sent.taken()
    store.run(patch(ref(Page, folder="f", page="1"), body=text(600_000)))
    assert [name for name, _ in sent.taken()] == ["get_item", "transact_write_items"]
    assert read(store).body == text(600_000)
    with pytest.raises(InvalidValue):
        store.run(touch(ref(Page, folder="f", page="1"), body="x"))
    assert store.verify() == []


def test_clauses_write_large_values_too(store: Store[Archive], sent: Recorder) -> None:
    target = ref(Page, folder="f", page="1")
    made = store.run(upsert(target, body=text(300_000), title="t", returning="new"))
    assert made.body == text(300_000)
    change = patch(target, lambda each: (at(each.body).set(text(600_000)), at(each.title).set("u")), returning="old")
    old = store.run(change)
    assert old.title == "t"
    with pytest.raises(NotLoaded):
        _ = old.body
    store.run(upsert(target, body=text(400_000), title="t"))
    assert read(store).body == text(400_000)
    assert store.verify() == []
    store.run(delete(target))
    assert parts(sent) == []


def test_a_large_value_is_set_where_there_is_none(store: Store[Archive], sent: Recorder) -> None:
    target = ref(Page, folder="f", page="1")
    first, second = noise(300_000), noise(200_000)
    for expected, write in (
        (first, upsert(target, lambda each: at(each.scan).set_default(first), body="x")),  # a new item
        (first, patch(target, lambda each: at(each.scan).set_default(second))),
        (None, patch(target, lambda each: at(each.scan).remove())),
        (second, patch(target, lambda each: at(each.scan).set_default(second))),
    ):
        store.run(write)
        assert read(store).scan == expected
        assert store.verify() == []
    store.run(delete(target))
    assert parts(sent) == []


def test_a_delete_removes_the_parts_of_an_item_that_was_only_listed(store: Store[Archive], sent: Recorder) -> None:
    store.run(create(page(body=text(300_000), scan=noise(500_000))))
    store.run(delete(listed(store)))
    assert parts(sent) == []
    assert store.verify() == []


def test_a_move_takes_the_parts_along(store: Store[Archive], sent: Recorder) -> None:
    store.run(create(Folder(folder="g")))
    store.run(create(page(body=text(300_000), scan=noise(500_000))))
    moved = store.run(move(listed(store), folder="g", page="2"))
    assert (moved.body, moved.scan) == (text(300_000), noise(500_000))
    assert {item["PK"]["S"] for item in parts(sent)} == {"FOLDER#g"}
    found = store.run(store.design.page("g", "2"))
    assert found
    assert (found.body, found.scan) == (moved.body, moved.scan)
    assert store.verify() == []


def test_a_put_replaces_the_value(store: Store[Archive], sent: Recorder) -> None:
    store.run(put(page(body=text(600_000))))
    store.run(put(page(body=text(300_000, 2))))
    assert read(store).body == text(300_000, 2)
    assert len(parts(sent)) == 1
    assert store.verify() == []


def test_an_unread_value_is_never_written_elsewhere(store: Store[Archive]) -> None:
    store.run(create(page(body=text(300_000))))
    found = listed(store)
    second = found.model_copy(update={"page": "2"})
    for op in (create(second), put(second), import_all([second])):
        with pytest.raises(NotLoaded):
            store.run(op)
    whole = read(store)
    whole.body = text(400_000, 2)
    store.run(update(whole))
    with pytest.raises(NotLoaded):  # not the value that is stored now
        store.run(put(found))
    assert store.verify() == []


def test_batches_without_conditions_refuse_large_values(store: Store[Archive]) -> None:
    for work in (put_all([Folder(folder="x")]), delete_all([ref(Folder, folder="x")])):
        with pytest.raises(DataError, match="use create"):
            store.run(work)


def test_an_import_writes_parts_before_items_and_can_be_repeated(store: Store[Archive], sent: Recorder) -> None:
    def entities() -> list[Page]:
        return [page(str(n), text(300_000, n)) for n in range(3)]

    too_large = page("x", scan=noise(MOST_PARTS * PART_BYTES + 1))
    result = store.run(import_all([*entities(), too_large]))
    assert (len(result.written), len(result.refused)) == (3, 1)
    assert "would take 11 parts" in str(result.refused[0][1])
    written = [
        request["PutRequest"]["Item"]["SK"]["S"]
        for name, members in sent.taken()
        if name == "batch_write_item"
        for request in members["RequestItems"]["Archive"]
    ]
    assert [key[:5] for key in written] == ["~PART"] * 3 + ["PAGE#"] * 3 + ["TITLE"] * 3
    again = store.run(import_all(entities()))
    assert (len(again.written), len(again.unchanged)) == (0, 3)
    assert [name for name, _ in sent.taken() if name == "batch_write_item"] == []
    assert store.verify() == []


def test_a_cascade_deletes_the_parts_of_parent_and_children(store: Store[Archive], sent: Recorder) -> None:
    folder = store.run(create(Folder(folder="g", about=text(300_000))))
    for n in range(3):
        store.run(create(Page(folder="g", page=str(n), body=text(300_000))))
    store.run(delete(folder))
    assert parts(sent) == []
    assert store.verify() == []


def test_a_rewrite_changes_items_without_reading_their_parts(store: Store[Archive], sent: Recorder) -> None:
    for n in range(3):
        store.run(create(page(str(n), text(300_000, n), title="old")))
    sent.taken()
    assert store.run(store.design.rename("f", "old", "new")) == 3
    assert "batch_get_item" not in {name for name, _ in sent.taken()}
    assert read(store, "2").body == text(300_000, 2)
    assert store.verify() == []


def test_parts_expire_with_their_item(store: Store[Archive], sent: Recorder) -> None:
    expires = NOW + timedelta(days=3)
    made = store.run(create(page(body=text(600_000), expires=expires)))
    assert {item["expires"]["N"] for item in parts(sent)} == {str(int(expires.timestamp()))}
    found = listed(store)
    found.expires = NOW + timedelta(days=4)
    store.run(update(found))  # without reading the parts
    assert {item["expires"]["N"] for item in parts(sent)} == {str(int((NOW + timedelta(days=4)).timestamp()))}
    assert store.verify() == []
    found.expires = None
    store.run(update(found))
    assert all("expires" not in item for item in parts(sent))
    assert store.verify() == []
    assert read(store).body == made.body


def test_cleaning_up_after_an_expired_item_removes_its_parts(store: Store[Archive], sent: Recorder) -> None:
    store.run(create(page(body=text(600_000), expires=NOW + timedelta(days=3))))
    last = listed(store)
    client: Any = sent.client
    client.delete_item(TableName="Archive", Key={"PK": {"S": "FOLDER#f"}, "SK": {"S": "PAGE#1"}})
    assert store.run(clean_up_expired(last))
    assert parts(sent) == []


def test_parts_of_an_expired_item_do_not_prevent_a_new_one(store: Store[Archive], sent: Recorder) -> None:
    """DynamoDB deletes the item and its parts in any order."""
    store.run(create(page(body=text(600_000))))
    client: Any = sent.client
    for hash_, range_ in (("FOLDER#f", "PAGE#1"), ("TITLE#t#1", "TITLE#t#1")):
        client.delete_item(TableName="Archive", Key={"PK": {"S": hash_}, "SK": {"S": range_}})
    store.run(create(page(body=text(600_000, 2))))
    assert read(store).body == text(600_000, 2)


def test_an_expired_item_can_be_read_without_its_parts(store: Store[Archive], sent: Recorder) -> None:
    store.run(create(page(body=text(600_000), expires=NOW - timedelta(days=3))))
    op = get(Page, folder="f", page="1", expired=True)
    whole = store.run(op)
    assert whole is not None
    assert whole.body == text(600_000)
    client: Any = sent.client
    client.delete_item(TableName="Archive", Key=part_key(sent))
    found = store.run(op)
    assert found is not None
    assert found.page == "1"
    with pytest.raises(NotLoaded):
        _ = found.body
    assert store.run(get(Page, folder="f", page="1")) is None


# Verify


def part_key(sent: Recorder) -> dict[str, Any]:
    first = parts(sent)[0]
    return {"PK": first["PK"], "SK": first["SK"]}


def test_verify_finds_a_missing_part(store: Store[Archive], sent: Recorder) -> None:
    store.run(create(page(body=text(600_000))))
    client: Any = sent.client
    client.delete_item(TableName="Archive", Key=part_key(sent))
    (finding,) = store.verify()
    assert (finding.kind, finding.repairable) == ("missing", False)
    assert "a part of Page.body is missing" in finding.problem
    with pytest.raises(StoredDataError, match="parts are missing"):
        read(store)
    found = listed(store)
    found.body = "written again"
    store.run(update(found))
    assert store.verify() == []


@pytest.mark.parametrize("attribute", ["keyplanContent", "keyplanDigest"])
def test_verify_finds_a_part_with_another_content(store: Store[Archive], sent: Recorder, attribute: str) -> None:
    store.run(create(page(body=text(600_000))))
    client: Any = sent.client
    client.update_item(
        TableName="Archive",
        Key=part_key(sent),
        UpdateExpression=f"SET {attribute} = :x",
        ExpressionAttributeValues={":x": {"B": noise(32)}},
    )
    (finding,) = store.verify()
    assert (finding.kind, finding.repairable) == ("wrong", False)
    with pytest.raises(StoredDataError):
        read(store)


def test_verify_finds_a_part_of_no_item_and_repair_deletes_it(store: Store[Archive], sent: Recorder) -> None:
    store.run(create(page(body=text(300_000))))
    client: Any = sent.client
    lost = {**parts(sent)[0], "SK": {"S": "~PART#0000#body#00"}}
    client.put_item(TableName="Archive", Item=lost)
    (finding,) = store.verify()
    assert (finding.kind, finding.repairable) == ("orphan", True)
    assert store.repair([finding]) == 1
    assert store.verify() == []
    assert len(parts(sent)) == 1


def test_verify_finds_a_part_that_would_expire_alone(store: Store[Archive], sent: Recorder) -> None:
    store.run(create(page(body=text(300_000), expires=NOW + timedelta(days=3))))
    client: Any = sent.client
    for expression in ("SET expires = :x", "REMOVE expires"):
        values = {"ExpressionAttributeValues": {":x": {"N": "4102444800"}}} if "SET" in expression else {}
        client.update_item(TableName="Archive", Key=part_key(sent), UpdateExpression=expression, **values)
        (finding,) = store.verify()
        assert (finding.kind, finding.repairable) == ("wrong", True)
        assert store.repair([finding]) == 1
        assert store.verify() == []


def test_a_lying_size_does_not_decompress_more_than_it_says(store: Store[Archive], sent: Recorder) -> None:
    store.run(create(page(body="x" * 500_000)))
    client: Any = sent.client
    client.update_item(
        TableName="Archive",
        Key={"PK": {"S": "FOLDER#f"}, "SK": {"S": "PAGE#1"}},
        UpdateExpression="SET body.#b = :x",
        ExpressionAttributeNames={"#b": "bytes"},
        ExpressionAttributeValues={":x": {"N": "5"}},
    )
    with pytest.raises(StoredDataError, match="body"):
        listed(store)
    assert "unreadable" in {finding.kind for finding in store.verify()}


def test_objects_are_only_needed_by_values_that_are_kept_there(store: Store[Archive]) -> None:
    other = Store(store.design, store.client)
    other.run(create(Film(film="small", reel=b"x")))
    with pytest.raises(DataError, match=r"give it one with objects=\.\.\."):
        other.run(create(Film(film="large", reel=noise(5_000))))
    assert other.run(get(Film, film="large")) is None


def test_a_scan_is_sent_no_parts(store: Store[Archive], sent: Recorder) -> None:
    for n in range(5):
        store.run(create(page(str(n), text(300_000, n))))
    sent.taken()
    assert len(store.run(scan(Page).limit(5)).items) == 5
    assert len(store.run(scan(Page, filter=lambda each: each.title == "t").limit(5)).items) == 5
    for name, request in sent.taken():
        client: Any = sent.client
        assert all("keyplanContent" not in item for item in getattr(client, name)(**request)["Items"])


def test_a_stream_shows_items_and_no_parts() -> None:
    streamed = Table("Streamed", key("PK", "SK"), stream="NEW_AND_OLD_IMAGES")

    class Sheet(Entity, table=streamed):
        sheet: Id
        body: Annotated[str, large()]
        primary = key("SHEET#{sheet}", "SHEET")

    class Sheets(Design):
        tables, entities = (streamed,), (Sheet,)

    seen: list[ItemChange[Sheet]] = []

    @on(Sheet, "INSERT", "MODIFY", "REMOVE")
    def see(change: ItemChange[Sheet], context: list[ItemChange[Sheet]]) -> None:
        context.append(change)

    with Engine() as engine:
        store = Store(Sheets(), engine)
        store.create_tables()
        sheet = store.run(create(Sheet(sheet="1", body=text(60_000))))
        sheet.body = "short"
        store.run(update(sheet))
        called = [deliver([see], streamed, record, seen) for record in records_of(engine, "Streamed")]
    assert (called.count(1), called.count(0)) == (2, 2)
    first, second = seen
    assert (first.kind, second.kind) == ("INSERT", "MODIFY")
    assert second.after is not None
    assert second.after.body == "short"
    assert first.after is not None
    with pytest.raises(NotLoaded):
        _ = first.after.body


def test_an_older_form_can_become_a_large_value(tmp_path: Path) -> None:
    """What `evolve` converts is written with its parts, even by an update of another field."""
    notes = Table("Notes", key("PK", "SK"))

    class Note(Entity, table=notes):
        note: Id
        title: str = ""
        body: Annotated[str, large()]
        primary = key("NOTE#{note}", "NOTE")

        @classmethod
        def evolve(cls, item: dict[str, Any]) -> dict[str, Any]:
            if "text" in item:
                item["body"] = item.pop("text")
            return item

    class Notes(Design):
        tables, entities = (notes,), (Note,)

    with Engine() as engine:
        store = Store(Notes(), engine)
        store.create_tables()
        old = {"PK": {"S": "NOTE#1"}, "SK": {"S": "NOTE"}, "note": {"S": "1"}, "text": {"S": text(100_000)}}
        engine.put_item(TableName="Notes", Item=old)
        found = store.run(get(Note, note="1"))
        assert found is not None
        found.title = "x"
        store.run(update(found))
        again = store.run(get(Note, note="1"))
        assert again is not None
        assert (again.body, again.title) == (text(100_000), "x")
        assert len(engine.scan(TableName="Notes")["Items"]) == 2
        assert store.verify() == []


def test_a_schema_for_callers_is_that_of_the_type() -> None:
    adapter = TypeAdapter(Annotated[str, StringConstraints(max_length=5), large()])
    assert adapter.json_schema(mode="validation") == {"maxLength": 5, "type": "string"}
    assert adapter.json_schema(mode="serialization") == {"maxLength": 5, "type": "string"}
