"""Lists: pages, cursors, filters, merged queries, counts."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any, cast

import pytest

from keyplan.data import BadCursor, Store, create, delete, put_all, update
from keyplan.design import (
    KEYS_ONLY,
    Count,
    Design,
    Entity,
    Id,
    InvalidValue,
    Query,
    Ref,
    Table,
    at_least,
    at_most,
    belongs_to,
    count,
    get,
    include,
    index,
    key,
    less_than,
    more_than,
    query,
    ref,
    scan,
    starting,
    within,
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


def test_all_pages_together_are_the_list(filled: Store[Club]) -> None:
    op = filled.design.articles_of("ann")
    for size in (1, 2, 3, 7, 50):
        pages = list(walk(filled, op.limit(size)))
        assert [a.slug for page in pages for a in page] == [f"s{n}" for n in range(6, -1, -1)]
        assert all(len(page) == size for page in pages[:-1] if page is not pages[-1])
        assert [a.slug for a in filled.each(op.limit(size))] == [f"s{n}" for n in range(6, -1, -1)]


def test_a_cursor_is_opaque_and_works_for_one_list_only(filled: Store[Club]) -> None:
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


def test_nothing_is_sent_for_a_forged_cursor(filled: Store[Club], sent: Recorder) -> None:
    sent.taken()
    with pytest.raises(BadCursor):
        filled.run(filled.design.articles_of("ann").after("forged"))
    assert sent.taken() == []


def test_a_cursor_works_in_every_store_on_the_same_tables(filled: Store[Club], raw: Any) -> None:
    one, two = Store(Club(), raw), Store(Club(), raw)
    op = one.design.articles_of("ann").limit(2)
    cursor = one.run(op).next
    assert slugs(two.run(op.after(cursor))) == ["s4", "s3"]
    with pytest.raises(BadCursor):
        Store(Club(), raw, secret=b"another").run(op.after(cursor))
    assert slugs(Store(Club(), raw, secret=b"s").run(op.after(Store(Club(), raw, secret=b"s").run(op).next)))
    assert one.verify() == []


def test_the_time_of_the_first_page_is_kept(filled: Store[Club]) -> None:
    design = filled.design
    first = filled.run(design.articles_until("ann", NOW + timedelta(hours=4)).limit(2))
    assert slugs(first) == ["s4", "s3"]
    later = filled.run(design.articles_until("ann", NOW + timedelta(hours=9)).limit(9).after(first.next))
    assert slugs(later) == ["s2", "s1", "s0"]


def test_a_page_with_a_filter_is_filled_up(filled: Store[Club], sent: Recorder) -> None:
    sent.taken()
    page = filled.run(filled.design.starred("f").limit(3))
    assert [note.rank for note in page.items] == [0, 10, 20]
    rest = filled.run(filled.design.starred("f").limit(3).after(page.next))
    assert [note.rank for note in rest.items] == [30, 40, 50]
    assert len(sent.taken()) == 4


def limits(sent: Recorder) -> list[int]:
    return [request["Limit"] for name, request in sent.taken() if name == "query"]


def test_a_page_reads_in_proportion_to_what_it_returns(filled: Store[Club], sent: Recorder) -> None:
    """Every fifth of the 30 notes in the folder has a star."""
    sent.taken()
    for size, expected in ((1, [2]), (2, [4, 8]), (3, [6, 12]), (6, [12, 24])):
        page = filled.run(filled.design.starred("f").limit(size))
        assert len(page.items) == size
        assert limits(sent) == expected
    many = query(Note.by_folder, folder="f", filter=lambda note: note.stars == 0)
    assert len(filled.run(many.limit(10)).items) == 10
    assert limits(sent) == [20]  # reading twice as many is enough if the filter keeps most
    none = query(Note.by_folder, folder="f", filter=lambda note: note.stars > 5)
    assert filled.run(none.limit(1)).items == []
    assert limits(sent) == [2, 4, 12, 36]
    for size in (1, 7, 30):
        filled.run(query(Note.by_folder, folder="f").limit(size))
        assert limits(sent) == [size]


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
def test_a_limit_is_respected_whatever_the_budget(filled: Store[Club], size: int) -> None:
    op = replace(query(Note.by_folder, folder="f"), budget=2).limit(size)
    assert len(filled.run(op).items) == min(size, 30)


@pytest.mark.parametrize("size", [0, -1])
def test_an_invalid_limit_is_refused(filled: Store[Club], sent: Recorder, size: int) -> None:
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
    assert ranks(at_least(56)) == [56, 58]
    assert ranks(at_most(2)) == [0, 2]
    assert ranks(within(4, 7)) == [4, 6]
    assert ranks(54) == [54]


@pytest.mark.parametrize(
    "bound",
    [within(7, 4), at_least(None), more_than("many"), less_than(10_000), within(1, None), starting("x")],
    ids=str,
)
def test_an_invalid_range_is_refused(filled: Store[Club], sent: Recorder, bound: object) -> None:
    sent.taken()
    with pytest.raises(InvalidValue) as caught:
        filled.run(query(Note.by_folder, folder="f", rank=bound))
    assert caught.value.field == "rank"
    assert sent.taken() == []


things = Table("Things", key("h", "r"), indexes={"ByNumber": key("h", "number:N"), "ByBytes": key("h", "code:B")})


class Thing(Entity, table=things):
    shop: Id
    name: str
    number: int = 0
    code: bytes = b"-"

    primary = key("{shop}", "{name.lower}")
    by_number = things.ByNumber("{shop}", "{number}")
    by_code = things.ByBytes("{shop}", "{code}")


class Shop(Design):
    tables = (things,)
    entities = (Thing,)


@pytest.fixture
def shop(sent: Recorder) -> Store[Shop]:
    store = Store(Shop(), sent)
    store.create_tables()
    for n, name in enumerate(["Anna", "Anton", "Berta"]):
        store.run(create(Thing(shop="s", name=name, number=10 - n, code=name.encode())))
    sent.taken()
    return store


def test_ranges_of_text_numbers_and_bytes(shop: Store[Shop]) -> None:
    def names(op: Query[Thing]) -> list[str]:
        return [thing.name for thing in shop.each(op)]

    assert names(query(Thing.primary, shop="s", name=starting("AN"))) == ["Anna", "Anton"]
    assert names(query(Thing.primary, shop="s", name=more_than("ANNA"))) == ["Anton", "Berta"]
    assert names(query(Thing.by_number, shop="s", number=within(8, 9))) == ["Berta", "Anton"]
    assert names(query(Thing.by_number, shop="s", number=less_than(10))) == ["Berta", "Anton"]
    assert names(query(Thing.by_code, shop="s", code=starting(b"An"))) == ["Anna", "Anton"]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("op", "field"),
    [
        (query(Thing.by_number, shop="s", number=at_least(float("nan"))), "number"),
        (query(Thing.by_number, shop="s", number=at_least(None)), "number"),
        (query(Thing.by_number, shop="s", number=within(2, 1)), "number"),
        (query(Thing.by_code, shop="s", code=at_most(b"")), "code"),
        (query(Thing.primary, shop="s", name=starting("")), "name"),
        (query(Thing.primary, shop="s", name=starting("x" * 1025)), "name"),
        (query(Thing.primary, shop="s", name=at_least("é" * 513)), "name"),
        (query(Thing.primary, shop="s#t", name="x"), "shop"),
    ],
    ids=map(str, range(8)),
)
def test_a_value_that_no_key_can_be_compared_with_is_refused(
    shop: Store[Shop], sent: Recorder, op: Query[Thing], field: str
) -> None:
    with pytest.raises(InvalidValue) as caught:
        shop.run(op)
    assert caught.value.field == field
    assert sent.taken() == []


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


def test_counts_load_no_items_and_stop_at_a_limit(filled: Store[Club], sent: Recorder) -> None:
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
    sent.taken()
    assert filled.run(count(filled.design.starred("f").limit(2))) == 2
    assert limits(sent) == [4, 8]
    assert filled.run(count(query(Note.by_folder, folder="f", rank=more_than(50)))) == 4


def test_a_count_includes_only_the_entity(store: Store[Club]) -> None:
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


def test_a_page_skips_items_of_another_entity_and_is_filled_up() -> None:
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
        # A cascade deletes only the boxes of its own shelf, though all are in one partition.
        shelf_b = store.run(get(Shelf, room="r", shelf="b"))
        assert shelf_b is not None
        store.run(delete(shelf_b))
        assert [box.shelf for box in store.each(query(Box.primary, room="r"))] == list("aaaccc")
        assert store.verify() == []


slim = Table(
    "Slim",
    key("pk", "sk"),
    indexes={"KeysOnly": index(key("kind", "at"), KEYS_ONLY), "Some": index(key("colour"), include("title"))},
    type_attribute="type",
)


class Album(Entity, table=slim, type="ALBUM"):
    album: Id
    title: str = ""
    kind: Id = "k"
    at: int = 0
    colour: Id | None = None
    pictures: Count = 0

    primary = key("{album}", "ALBUM")
    by_kind = slim.KeysOnly("{kind}", "{at:03}")
    by_colour = slim.Some("{colour}")


class Picture(Entity, table=slim, type="PICTURE"):
    album: Id
    number: int
    title: str = ""
    kind: Id = "k"
    at: int = 0

    primary = key("{album}", "PICTURE#{number:03}")
    by_kind = slim.KeysOnly("{kind}", "{at:03}")

    @belongs_to(on_delete="cascade", count="pictures")
    def of(self) -> Ref[Album]:
        return ref(Album, album=self.album)


class Gallery(Design):
    tables = (slim,)
    entities = (Album, Picture)


def test_items_of_a_keys_only_index_are_completed_from_the_table(sent: Recorder) -> None:
    store = Store(Gallery(), sent, secret=b"of the tests")
    store.create_tables()
    for n in range(5):
        store.run(create(Album(album=f"a{n}", title=f"T{n}", at=n, colour="red")))
        store.run(create(Picture(album=f"a{n}", number=1, title=f"P{n}", at=n)))
    sent.taken()
    page = store.run(query(Album.by_kind, kind="k", newest_first=True).limit(2))
    assert [(album.title, album.pictures) for album in page.items] == [("T4", 1), ("T3", 1)]
    assert {name for name, _ in sent.taken()} == {"query", "batch_get_item"}
    assert [p.title for p in store.each(query(Picture.by_kind, kind="k").limit(2))] == [f"P{n}" for n in range(5)]
    assert {a.title for a in store.each(query(Album.by_colour, colour="red"))} == {f"T{n}" for n in range(5)}
    assert store.run(count(query(Album.by_kind, kind="k"))) == 5
    assert store.run(count(query(Album.by_kind, kind="k").limit(3))) == 3
    assert store.run(query(Album.by_colour, colour="red", filter=lambda album: album.title == "T3")).items[0].at == 3


def test_an_item_that_has_left_the_index_is_not_completed(sent: Recorder) -> None:
    client: Any = sent.client
    store = Store(Gallery(), sent)
    store.create_tables()
    first, second = (store.run(create(Album(album=name, kind="k"))) for name in "ab")

    class Behind:
        """Returns the index as it was a moment ago."""

        def __getattr__(self, name: str) -> Any:
            return getattr(client, name)

        def query(self, **request: Any) -> Any:
            answer = client.query(**request)
            first.kind = "other"
            store.run(update(first))
            store.run(delete(second))
            return answer

    assert Store(Gallery(), Behind()).run(query(Album.by_kind, kind="k")).items == []
