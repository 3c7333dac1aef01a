"""Lists in both directions, with a cursor for each item."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from keyplan.data import BadCursor, Store, create, put_all
from keyplan.design import Page, follow, query, ref, scan
from keyplan.engine import Engine
from tests.data.club import Club, Note
from tests.data.support import NOW
from tests.data.ways import WAYS, store_in


def notes(count: int) -> list[Note]:
    return [Note(note_id=f"n{n:02}", folder="f", rank=n, stars=n % 3) for n in range(count)]


@pytest.fixture(params=WAYS)
def store(request: pytest.FixtureRequest) -> Any:
    with store_in(request.param, Club(), lambda: NOW) as (made, _):
        for note in notes(7):
            made.run(create(note))
        yield made


def ids(page: Page[Note]) -> str:
    return "".join(each.note_id[-1] for each in page.items)


LIST = query(Note.by_folder, folder="f")


def test_a_page_before_a_cursor_is_in_the_order_of_the_list(store: Any) -> None:
    first = store.run(LIST.limit(3).with_cursors())
    assert (ids(first), first.previous) == ("012", None)
    second = store.run(LIST.limit(3).with_cursors().after(first.next))
    assert ids(second) == "345"
    back = store.run(LIST.limit(3).before(second.previous))
    assert ids(back) == "012"
    assert ids(store.run(LIST.limit(3).after(back.next))) == "345"
    part = store.run(LIST.limit(2).before(second.previous))
    assert ids(part) == "12"
    start = store.run(LIST.limit(2).before(part.previous))
    assert (ids(start), start.previous) == ("0", None)


def test_every_item_has_a_cursor(store: Any) -> None:
    page = store.run(LIST.with_cursors())
    assert len(page.cursors) == 7
    for number, cursor in enumerate(page.cursors):
        assert ids(store.run(LIST.after(cursor))) == "0123456"[number + 1 :]
        assert ids(store.run(LIST.before(cursor))) == "0123456"[:number]
    assert store.run(LIST).cursors == ()


def test_newest_first_and_filters(store: Any) -> None:
    op = query(Note.by_folder, folder="f", newest_first=True, filter=lambda note: note.stars >= 1).with_cursors()
    whole = store.run(op)
    assert ids(whole) == "5421"
    assert ids(store.run(op.limit(2).before(whole.cursors[3]))) == "42"
    assert ids(store.run(op.before(whole.cursors[0]))) == ""


def test_scans_merges_and_followed_lists_have_cursors(store: Any) -> None:
    page = store.run(scan(Note).with_cursors())
    rest = store.run(scan(Note).after(page.cursors[2]))
    assert [note.note_id for note in rest.items] == [note.note_id for note in page.items[3:]]
    merged = Club().two_folders("f", "g").with_cursors()
    page = store.run(merged)
    assert ids(store.run(merged.after(page.cursors[1]))) == "23456"
    followed = follow(LIST, lambda note: ref(Note, note_id=f"n{7 - (note.rank or 0):02}"), Note)
    page = store.run(followed.with_cursors())
    assert ids(page) == "654321"  # the first points to nothing
    assert ids(store.run(followed.limit(2).before(page.cursors[4]))) == "43"
    assert ids(store.run(followed.limit(3).after(page.cursors[1]))) == "432"


def test_a_cursor_of_another_list_is_refused(store: Any) -> None:
    page = store.run(LIST.limit(2).with_cursors())
    with pytest.raises(BadCursor):
        store.run(query(Note.by_folder, folder="g").before(page.cursors[0]))


def test_what_was_chosen_has_cursors_too(store: Any) -> None:
    op = LIST.only(lambda note: note.rank).with_cursors()
    page = store.run(op.limit(3))
    assert page.items == [0, 1, 2]
    assert store.run(op.before(page.cursors[2])).items == [0, 1]


@settings(deadline=None, max_examples=50, suppress_health_check=[HealthCheck.too_slow])
@given(
    count=st.integers(0, 12),
    backwards=st.booleans(),
    least=st.integers(0, 3),
    steps=st.lists(st.tuples(st.booleans(), st.integers(1, 5)), max_size=12),
)
def test_any_walk_gives_the_same_order_and_no_item_twice(
    count: int, backwards: bool, least: int, steps: list[tuple[bool, int]]
) -> None:
    with Engine() as engine:
        store = Store(Club(), engine, secret=b"x")
        store.create_tables()
        store.run(put_all(notes(count)))
        op = query(Note.by_folder, folder="f", newest_first=backwards, filter=lambda note: note.stars >= least)
        whole = [note.note_id for note in store.each(op)]
        low = high = 0  # what the last page showed, as positions in the list
        page: Page[Note] | None = None
        for forward, size in steps:
            if page is None or not page.items:
                page = store.run(op.with_cursors().limit(size))
                low, high = 0, min(size, len(whole))
            elif forward:
                page = store.run(op.with_cursors().limit(size).after(page.cursors[-1]))
                low, high = high, min(high + size, len(whole))
            else:
                page = store.run(op.with_cursors().limit(size).before(page.cursors[0]))
                low, high = max(0, low - size), low
            assert [note.note_id for note in page.items] == whole[low:high]
            assert len(page.cursors) == len(page.items)
