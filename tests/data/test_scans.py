"""Scans: consistent, in segments at the same time, and counted. Several items at one moment."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from keyplan.data import AsyncStore, ScanProgress, Store, create, put_all, update
from keyplan.design import DesignError, InvalidValue, batch_get, count, get, query, scan, transact_get
from keyplan.engine import Engine
from tests.data.club import Club, Note, Team, User
from tests.data.support import NOW, Aio, Recorder
from tests.data.ways import WAYS, store_in


@pytest.fixture(params=WAYS)
def opened(request: pytest.FixtureRequest) -> Iterator[tuple[Any, Recorder]]:
    with store_in(request.param, Club(), lambda: NOW) as both:
        both[0].run(create(User(username="ann", email="a@x.org")))
        both[0].run(create(Team(team_id="t", name="T")))
        both[0].run(put_all([Note(note_id=f"n{n:02}", stars=n % 2) for n in range(20)]))
        both[1].taken()
        yield both


@pytest.fixture
def store(opened: tuple[Any, Recorder]) -> Any:
    return opened[0]


@pytest.fixture
def sent(opened: tuple[Any, Recorder]) -> Recorder:
    return opened[1]


def test_a_consistent_scan(store: Any, sent: Recorder) -> None:
    assert len(store.run(scan(Note, consistent=True)).items) == 20
    assert sent.taken()[0][1]["ConsistentRead"]


def test_segments_are_read_once_each_and_report_progress(store: Any, sent: Recorder) -> None:
    reports: list[ScanProgress] = []
    found = list(store.each(scan(Note), segments=3, progress=reports.append))
    assert sorted(note.note_id for note in found) == [f"n{n:02}" for n in range(20)]
    requests = [request for name, request in sent.taken() if name == "scan"]
    assert {(each["Segment"], each["TotalSegments"]) for each in requests} == {(0, 3), (1, 3), (2, 3)}
    last = {each.segment: each for each in reports}
    assert sum(each.items for each in last.values()) == 20
    assert all(each.ended for each in last.values())


def test_progress_of_one_list(store: Any) -> None:
    reports: list[ScanProgress] = []
    assert len(list(store.each(scan(Note).limit(8), progress=reports.append))) == 20
    assert [each.items for each in reports] == [8, 16, 20]
    assert [each.ended for each in reports] == [False, False, True]


def test_a_scan_in_segments_can_be_left(store: Any) -> None:
    if isinstance(store, Store):
        assert next(iter(store.each(scan(Note).limit(1), segments=4))).note_id.startswith("n")


def test_only_scans_have_segments(store: Any) -> None:
    for op, segments in ((query(Note.by_folder, folder="f"), 2), (scan(Note), 0), (scan(Note).after("x"), 2)):
        with pytest.raises(InvalidValue, match="segments"):
            list(store.each(op, segments=segments))


def test_counts_of_scans(store: Any, sent: Recorder) -> None:
    assert store.run(count(scan(Note))) == 20
    assert store.run(count(scan(Note, filter=lambda note: note.stars == 1))) == 10
    assert store.run(count(scan(Note).limit(3))) == 3
    assert store.run(count(scan(User))) == 1
    assert all("ProjectionExpression" in request for _, request in sent.taken())


def test_several_items_at_one_moment(store: Any, sent: Recorder) -> None:
    user, note, none, again, title = store.run(
        transact_get(
            get(User, username="ann"),
            get(Note, note_id="n01"),
            get(Note, note_id="none"),
            get(User, username="ann"),
            get(Note, note_id="n02").only(lambda each: (each.note_id, each.stars)),
        )
    )
    assert (user.email, note.stars, none, again, title) == ("a@x.org", 1, None, user, ("n02", 0))
    ((name, request),) = sent.taken()
    assert name == "transact_get_items"
    assert len(request["TransactItems"]) == 4  # an item is read once
    user.email = "b@x.org"
    store.run(update(user))


def test_a_transaction_reads_gets_only_and_up_to_100() -> None:
    for wrong in ([], [get(Note, note_id=str(n)) for n in range(101)], [batch_get(Note, ["n"])]):
        with pytest.raises(DesignError, match="transact-get"):
            transact_get(*wrong)


def test_segments_with_an_asyncio_client() -> None:
    async def read(client: Aio) -> list[str]:
        later = AsyncStore(Club(), client, clock=lambda: NOW, secret=b"x")
        await later.run(put_all([Note(note_id=f"n{n}") for n in range(9)]))
        return [note.note_id async for note in later.each(scan(Note).limit(2), segments=4)]

    with Engine() as engine:
        Store(Club(), engine).create_tables()
        assert sorted(asyncio.run(read(Aio(engine)))) == [f"n{n}" for n in range(9)]


@settings(deadline=None, max_examples=30, suppress_health_check=[HealthCheck.too_slow])
@given(
    number=st.integers(0, 40), segments=st.integers(1, 9), size=st.none() | st.integers(1, 7), least=st.integers(0, 2)
)
def test_any_number_of_segments_finds_every_item_once(number: int, segments: int, size: int | None, least: int) -> None:
    with Engine() as engine:
        store = Store(Club(), engine, secret=b"x")
        store.create_tables()
        store.run(put_all([Note(note_id=f"n{n}", stars=n % 3) for n in range(number)]))
        op = scan(Note, filter=lambda note: note.stars >= least)
        found = [note.note_id for note in store.each(op if size is None else op.limit(size), segments=segments)]
        assert sorted(found) == sorted(f"n{n}" for n in range(number) if n % 3 >= least)
        assert store.run(count(op)) == len(found)
