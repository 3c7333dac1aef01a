"""Sorted pages of lists that no index keeps in order, and reading a list page by page."""

import pytest

from keyplan.data import BadCursor
from keyplan.web import Listing, Paging, all_of, turn
from keyplan.web.models.paging import Turn, page_of

pytestmark = pytest.mark.usefixtures("both_ways")


def place(number: int) -> str:
    return f"{number:04}"


def pages(limit: int, items: list[int], *, newest_first: bool = False) -> list[list[int]]:
    """All pages of a list, following their cursors."""
    found, cursor = [], None
    while True:
        page = page_of("numbers", items, Paging(limit=limit, cursor=cursor), place, newest_first=newest_first)
        found.append(page.items)
        cursor = page.next
        if cursor is None:
            return found


def test_a_list_is_sorted_and_split_into_pages() -> None:
    assert pages(2, [5, 1, 4, 2, 3]) == [[1, 2], [3, 4], [5]]
    assert pages(5, [5, 1, 4, 2, 3]) == [[1, 2, 3, 4, 5]]
    assert pages(5, []) == [[]]


def test_the_newest_can_come_first() -> None:
    assert pages(2, [5, 1, 4, 2, 3], newest_first=True) == [[5, 4], [3, 2], [1]]
    first = page_of("numbers", [1, 2, 3, 4], Paging(limit=2), place, newest_first=True)
    after = Paging(limit=2, cursor=first.next)
    assert page_of("numbers", [1, 2, 4, 5], after, place, newest_first=True).items == [2, 1]


def test_a_cursor_is_a_position_and_not_a_number_of_items() -> None:
    """Items added or deleted before it don't change what comes after it."""
    first = page_of("numbers", [1, 2, 3, 4], Paging(limit=2), place)
    assert page_of("numbers", [0, 1, 3, 4], Paging(limit=2, cursor=first.next), place).items == [3, 4]


@pytest.mark.parametrize("cursor", ["", "forged", "é", "====", "AAAAAAAAAAA"])
def test_an_invalid_cursor_is_refused(cursor: str) -> None:
    with pytest.raises(BadCursor):
        page_of("numbers", [1, 2], Paging(limit=1, cursor=cursor), place)


def test_a_cursor_of_another_list_is_refused() -> None:
    cursor = page_of("numbers", [1, 2], Paging(limit=1), place).next
    with pytest.raises(BadCursor):
        page_of("others", [1, 2], Paging(limit=1, cursor=cursor), place)


def test_a_whole_list_is_read_page_by_page() -> None:
    numbers = list(range(250))
    assert all_of(lambda page: page_of("numbers", numbers, page, place)) == numbers
    assert all_of(lambda page: Listing[int](items=[])) == []


def test_the_number_of_items_that_are_read_is_limited() -> None:
    assert len(all_of(lambda page: page_of("numbers", range(1500), page, place))) == 1000


def test_a_page_links_to_the_first_and_the_next_page() -> None:
    assert turn("/posts", None, None) == Turn(None, None)
    assert turn("/posts", None, "a b&c") == Turn(None, "/posts?cursor=a+b%26c")
    assert turn("/posts?stars=5", "x", "y") == Turn("/posts?stars=5", "/posts?stars=5&cursor=y")
    assert turn("/posts", "x", None) == Turn("/posts", None)
