"""Sorted pages of lists that no index keeps in order, and reading a list page by page."""

import hashlib
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from urllib.parse import parse_qsl

import pytest

from keyplan.data import BadCursor, Store
from keyplan.engine import Engine
from keyplan.web import Listing, Paging, all_of
from keyplan.web.models.paging import Turn, page_of, turn
from tests.web.library import Library

pytestmark = pytest.mark.usefixtures("both_ways")


@pytest.fixture
def store() -> Iterator[Store[Library]]:
    """A store whose secret is in its tables."""
    with Engine() as engine:
        made = Store(Library(), engine)
        made.create_tables()
        yield made


def place(number: int) -> str:
    return f"{number:04}"


def pages(store: Store[Library], limit: int, items: list[int], *, newest_first: bool = False) -> list[list[int]]:
    """All pages of a list, following their cursors."""
    found, cursor = [], None
    while True:
        page = page_of(store, "numbers", items, Paging(limit=limit, cursor=cursor), place, newest_first=newest_first)
        found.append(page.items)
        cursor = page.next
        if cursor is None:
            return found


def test_a_list_is_sorted_and_split_into_pages(store: Store[Library]) -> None:
    assert pages(store, 2, [5, 1, 4, 2, 3]) == [[1, 2], [3, 4], [5]]
    assert pages(store, 5, [5, 1, 4, 2, 3]) == [[1, 2, 3, 4, 5]]
    assert pages(store, 5, []) == [[]]


def test_the_newest_can_come_first(store: Store[Library]) -> None:
    assert pages(store, 2, [5, 1, 4, 2, 3], newest_first=True) == [[5, 4], [3, 2], [1]]
    first = page_of(store, "numbers", [1, 2, 3, 4], Paging(limit=2), place, newest_first=True)
    after = Paging(limit=2, cursor=first.next)
    assert page_of(store, "numbers", [1, 2, 4, 5], after, place, newest_first=True).items == [2, 1]


def test_a_cursor_is_a_position_and_not_a_number_of_items(store: Store[Library]) -> None:
    """Items added or deleted before it don't change what comes after it."""
    first = page_of(store, "numbers", [1, 2, 3, 4], Paging(limit=2), place)
    assert page_of(store, "numbers", [0, 1, 3, 4], Paging(limit=2, cursor=first.next), place).items == [3, 4]


@pytest.mark.parametrize("cursor", ["", "forged", "é", "====", "AAAAAAAAAAA"])
def test_an_invalid_cursor_is_refused(store: Store[Library], cursor: str) -> None:
    with pytest.raises(BadCursor):
        page_of(store, "numbers", [1, 2], Paging(limit=1, cursor=cursor), place)


def test_a_cursor_of_another_list_is_refused(store: Store[Library]) -> None:
    cursor = page_of(store, "numbers", [1, 2], Paging(limit=1), place).next
    with pytest.raises(BadCursor):
        page_of(store, "others", [1, 2], Paging(limit=1, cursor=cursor), place)


def test_a_cursor_made_without_the_secret_is_refused(store: Store[Library]) -> None:
    """As everybody could make them, and as they were once made: with a key that follows from the list's name."""
    guessed = Store(Library(), store.client, secret=b"guessed")
    forged = page_of(guessed, "numbers", [1, 2], Paging(limit=1), place).next
    for content in (b"0001", b"\xff\xfe"):
        mark = hashlib.blake2b(content, digest_size=8, key=hashlib.sha256(b"numbers").digest()).digest()
        for cursor in (forged, urlsafe_b64encode(mark + content).decode().rstrip("=")):
            with pytest.raises(BadCursor):
                page_of(store, "numbers", [1, 2], Paging(limit=1, cursor=cursor), place)


def test_processes_on_the_same_tables_accept_each_others_cursors(store: Store[Library]) -> None:
    cursor = page_of(store, "numbers", [1, 2], Paging(limit=1), place).next
    other = Store(Library(), store.client)
    assert page_of(other, "numbers", [1, 2], Paging(limit=1, cursor=cursor), place).items == [2]


def test_a_whole_list_is_read_page_by_page(store: Store[Library]) -> None:
    numbers = list(range(250))
    assert all_of(lambda page: page_of(store, "numbers", numbers, page, place)) == numbers
    assert all_of(lambda page: Listing[int](items=[])) == []


def test_the_number_of_items_that_are_read_is_limited(store: Store[Library]) -> None:
    assert len(all_of(lambda page: page_of(store, "numbers", range(1500), page, place))) == 1000


def test_links_to_other_pages() -> None:
    assert turn("/posts", None, None, None) == Turn()
    assert turn("/posts", None, None, "a b&c", "Newest first") == Turn(
        "Newest first", next="/posts?cursor=a+b%26c&back="
    )
    first, onward = "/posts?stars=5", "/posts?stars=5&cursor=z&back=x,y"
    assert turn(first, "y", "x", "z") == Turn(None, first, f"{first}&cursor=x&back=", onward)
    assert turn("/posts", "x", "", None) == Turn(None, "/posts", "/posts", None)


def test_the_way_back_is_forgotten_where_it_began() -> None:
    """A URL has limits: people get to the first page from there."""
    address: str | None = turn("/posts", None, None, "c" * 500).next
    for number in range(20):
        asked = dict(parse_qsl(str(address).partition("?")[2], keep_blank_values=True))
        address = turn("/posts", asked["cursor"], asked["back"], f"{number:0500}").next
        assert address
        assert len(address) < 4000
    back = 0
    while address and address != "/posts":
        asked = dict(parse_qsl(address.partition("?")[2], keep_blank_values=True))
        around = turn("/posts", asked["cursor"], asked["back"], None)
        assert around.first == "/posts"
        address, back = around.previous, back + 1
    assert back == 6
    assert turn("/posts", "only", None, None) == Turn(None, "/posts", None, None)  # a cursor without a way
