"""Lists: pages, cursors, filters, merged queries, counts."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any, cast

import pytest

from keyplan.data import BadCursor, Store, create, delete, put_all
from keyplan.design import (
    Count,
    Design,
    Entity,
    Id,
    InvalidValue,
    Query,
    Ref,
    Table,
    belongs_to,
    count,
    get,
    key,
    less_than,
    more_than,
    query,
    ref,
    scan,
)
from keyplan.engine import Engine
from tests.data.club import Article, Club, Member, Note, Team, User
from tests.data.support import NOW, Recorder


@pytest.fixture
def filled(store: Store[Club]) -> Store[Club]:
    store.run(create(User(username="ann", email="a")))
    for n in range(7):
        at = NOW + timedelta(hours=n)
        store.run(create(Article(slug=f"s{n}", number=n, title=f"T{n}", author="ann", created_at=at)))
    notes = [Note(note_id=f"n{n:03}", folder="fg"[n % 2], rank=n, stars=int(n % 10 == 0)) for n in range(60)]
    store.run(put_all(notes))
    return store


def slugs(page: Any) -> list[str]:
    return [each.slug for each in page.items]


def walk(store: Store[Club], op: Any) -> Iterator[list[Any]]:
    cursor = None
    while True:
        page: Any = store.run(op.after(cursor))
        yield list(page.items)
        cursor = page.next
        if cursor is None:
            return


def test_pages_are_one_list(filled: Store[Club]) -> None:
    op = filled.design.articles_of("ann")
    for size in (1, 2, 3, 7, 50):
        pages = list(walk(filled, op.limit(size)))
        assert [a.slug for page in pages for a in page] == [f"s{n}" for n in range(6, -1, -1)]
        assert all(len(page) == size for page in pages[:-1] if page is not pages[-1])
        assert [a.slug for a in filled.each(op.limit(size))] == [f"s{n}" for n in range(6, -1, -1)]


def test_a_cursor_says_nothing_and_fits_one_list_only(filled: Store[Club]) -> None:
    design = filled.design
    cursor = filled.run(design.articles_of("ann").limit(2)).next
    assert cursor is not None
    assert "ann" not in cursor
    assert slugs(filled.run(design.articles_of("ann").limit(3).after(cursor))) == ["s4", "s3", "s2"]
    forged = ("A" if cursor[5] != "A" else "B").join((cursor[:5], cursor[6:]))
    for op in (
        design.articles_of("joe").after(cursor),
        design.articles_until("ann", NOW).after(cursor),
        design.starred("ann").after(cursor),
        query(Article.by_author, author="ann", newest_first=True).after(cursor),
        *(design.articles_of("ann").after(bad) for bad in (forged, cursor[:-4], "", "x", "é", "=" * 40)),
    ):
        with pytest.raises(BadCursor):
            filled.run(cast(Query[Article], op))


def test_a_forged_cursor_sends_nothing(filled: Store[Club], sent: Recorder) -> None:
    sent.taken()
    with pytest.raises(BadCursor):
        filled.run(filled.design.articles_of("ann").after("forged"))
    assert sent.taken() == []


def test_a_cursor_is_good_in_every_store_on_the_same_tables(filled: Store[Club], raw: Any) -> None:
    one, two = Store(Club(), raw), Store(Club(), raw)
    op = one.design.articles_of("ann").limit(2)
    cursor = one.run(op).next
    assert slugs(two.run(op.after(cursor))) == ["s4", "s3"]
    with pytest.raises(BadCursor):
        Store(Club(), raw, secret=b"another").run(op.after(cursor))
    assert slugs(Store(Club(), raw, secret=b"s").run(op.after(Store(Club(), raw, secret=b"s").run(op).next)))
    assert one.verify() == []


def test_the_moment_of_the_first_page_is_frozen(filled: Store[Club]) -> None:
    design = filled.design
    first = filled.run(design.articles_until("ann", NOW + timedelta(hours=4)).limit(2))
    assert slugs(first) == ["s4", "s3"]
    later = filled.run(design.articles_until("ann", NOW + timedelta(hours=9)).limit(9).after(first.next))
    assert slugs(later) == ["s2", "s1", "s0"]


def test_a_page_that_a_filter_cuts_short_is_filled_up(filled: Store[Club], sent: Recorder) -> None:
    sent.taken()
    page = filled.run(filled.design.starred("f").limit(3))
    assert [note.rank for note in page.items] == [0, 10, 20]
    rest = filled.run(filled.design.starred("f").limit(3).after(page.next))
    assert [note.rank for note in rest.items] == [30, 40, 50]
    assert len(sent.taken()) <= 4


def test_a_page_reads_no_more_than_its_budget(filled: Store[Club], sent: Recorder) -> None:
    none = query(Note.by_folder, folder="f", filter=lambda note: note.stars > 5)
    sent.taken()
    page = filled.run(replace(none, budget=10))
    assert list(page.items) == []
    assert page.next is not None
    assert [request["Limit"] for _, request in sent.taken()] == [10]
    assert list(filled.each(replace(none, budget=10))) == []
    assert len(list(filled.each(replace(query(Note.by_folder, folder="f"), budget=7)))) == 30


@pytest.mark.parametrize("size", [1, 5, 29, 30, 31])
def test_a_limit_is_honoured_whatever_the_budget(filled: Store[Club], size: int) -> None:
    op = replace(query(Note.by_folder, folder="f"), budget=2).limit(size)
    assert len(filled.run(op).items) == min(size, 30)


@pytest.mark.parametrize("size", [0, -1])
def test_a_senseless_limit_is_refused(filled: Store[Club], sent: Recorder, size: int) -> None:
    sent.taken()
    for op in (
        filled.design.starred("f").limit(size),
        filled.design.two_folders("f", "g").limit(size),
        scan(Note).limit(size),
        count(query(Note.by_folder, folder="f").limit(size)),
    ):
        with pytest.raises(InvalidValue, match="limit"):
            filled.run(cast(Query[Article], op))
    assert sent.taken() == []


def test_ranges(filled: Store[Club]) -> None:
    def ranks(bound: object) -> list[int | None]:
        return [note.rank for note in filled.each(query(Note.by_folder, folder="f", rank=bound))]

    assert ranks(more_than(54)) == [56, 58]
    assert ranks(less_than(4)) == [0, 2]
    assert ranks(54) == [54]


@pytest.mark.parametrize("size", [1, 2, 7, 60])
def test_merged_queries_are_one_list(filled: Store[Club], size: int) -> None:
    op = filled.design.two_folders("f", "g").limit(size)
    pages = list(walk(filled, op))
    assert [note.rank for page in pages for note in page] == list(range(60))
    assert all(len(page) == size for page in pages[:-1])
    assert [note.rank for note in filled.each(op)] == list(range(60))


def test_merged_queries_with_a_filter_and_a_small_budget(filled: Store[Club]) -> None:
    op = filled.design.two_folders("f", "g")
    starred = tuple(replace(query(Note.by_folder, folder=f, filter=lambda n: n.stars == 1), budget=3) for f in "fg")
    found = [note.rank for note in filled.each(replace(op, queries=starred, pattern=None).limit(2))]
    assert found == [0, 10, 20, 30, 40, 50]


def test_a_cursor_of_other_merged_queries_is_refused(filled: Store[Club]) -> None:
    cursor = filled.run(filled.design.two_folders("f", "g").limit(2)).next
    with pytest.raises(BadCursor):
        filled.run(filled.design.two_folders("g", "f").after(cursor))


def test_counts_do_not_load_and_stop_at_a_limit(filled: Store[Club], sent: Recorder) -> None:
    sent.taken()
    everything = query(Note.by_folder, folder="f")
    assert filled.run(count(everything)) == 30
    ((_, request),) = sent.taken()
    assert request["Select"] == "COUNT"
    assert filled.run(count(everything.limit(7))) == 7
    ((_, request),) = sent.taken()
    assert request["Limit"] == 7
    assert filled.run(count(everything.limit(100))) == 30
    assert filled.run(count(filled.design.starred("f"))) == 6
    assert filled.run(count(filled.design.starred("f").limit(2))) == 2
    assert filled.run(count(query(Note.by_folder, folder="f", rank=more_than(50)))) == 4


def test_a_count_is_of_the_entity_alone(store: Store[Club]) -> None:
    store.run(create(User(username="ann", email="a")))
    store.run(create(Team(team_id="t", name="T")))
    store.run(create(Member(team_id="t", username="ann")))
    assert store.run(count(query(Member.primary, team_id="t"))) == 1
    assert store.run(count(query(Team.primary, team_id="t"))) == 1
    assert store.run(count(store.design.team_page("t"))) == 2


boxes = Table("Boxes", key("pk", "sk"))


class Shelf(Entity, table=boxes):
    room: Id
    shelf: Id
    boxes: Count = 0

    primary = key("{room}", "{shelf}")


class Box(Entity, table=boxes):
    room: Id
    shelf: Id
    box: Id

    primary = key("{room}", "{shelf}#{box}")

    @belongs_to(on_delete="cascade", count="boxes")
    def on(self) -> Ref[Shelf]:
        return ref(Shelf, room=self.room, shelf=self.shelf)


class Storehouse(Design):
    tables = (boxes,)
    entities = (Shelf, Box)

    def all_shelves(self, room: str) -> Query[Shelf]:
        return query(Shelf.primary, room=room)


def test_items_of_another_shape_between_are_left_out_and_made_up_for() -> None:
    with Engine() as engine:
        store = Store(Storehouse(), engine)
        store.create_tables()
        for shelf in "abc":
            store.run(create(Shelf(room="r", shelf=shelf)))
            for box in "123":
                store.run(create(Box(room="r", shelf=shelf, box=box)))
        page = store.run(store.design.all_shelves("r").limit(2))
        assert [shelf.shelf for shelf in page.items] == ["a", "b"]
        assert store.run(count(store.design.all_shelves("r"))) == 3
        assert store.run(count(store.design.all_shelves("r").limit(2))) == 2
        # A cascade takes the boxes of its own shelf, though all stand in one partition.
        shelf_b = store.run(get(Shelf, room="r", shelf="b"))
        assert shelf_b is not None
        store.run(delete(shelf_b))
        assert [box.shelf for box in store.each(query(Box.primary, room="r"))] == list("aaaccc")
        assert store.verify() == []
