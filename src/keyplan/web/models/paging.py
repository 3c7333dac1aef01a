"""Lists, page by page: `limit` and `cursor` in, `items` and `next` out, and a `Link` header."""

import operator
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Annotated, Generic, TypeAlias, TypeVar
from urllib.parse import parse_qsl, quote, urlencode

from pydantic import BaseModel, ConfigDict, Field
from starlette.types import Scope

from keyplan.data import Store
from keyplan.design import Design

T = TypeVar("T")
D = TypeVar("D", bound=Design)
MAX_CURSOR = 4096

Cursor: TypeAlias = Annotated[
    str | None,
    Field(max_length=MAX_CURSOR, description="`next` of the previous page. Leave it out for the first page."),
]


class Paging(BaseModel):
    """The requested page of a list."""

    model_config = ConfigDict(extra="ignore")

    limit: Annotated[int, Field(ge=1, le=100, description="The maximum number of items.")] = 50
    cursor: Cursor = None


class Listing(BaseModel, Generic[T]):
    """One page of a list."""

    items: list[T]
    next: Annotated[str | None, Field(description="The cursor of the next page; null on the last page.")] = None


def all_of(listing: Callable[[Paging], Listing[T]], most: int = 1000) -> list[T]:
    """All items of a list that is small by nature."""
    found: list[T] = []
    page = Paging(limit=100)
    while len(found) < most:
        part = listing(page)
        found += part.items
        if part.next is None:
            break
        page = Paging(limit=100, cursor=part.next)
    return found


@dataclass(frozen=True)
class Turn:
    """How a list is sorted, and the links to its other pages: the first one, unless this is it, those around it."""

    order: str | None = None
    first: str | None = None
    previous: str | None = None
    next: str | None = None


@dataclass(frozen=True)
class ShownPage(Generic[T]):
    """A page of a list as a page of the system shows it."""

    items: list[T]
    turn: Turn = Turn()

    @property
    def is_first(self) -> bool:
        """Whether it is the first page of the list."""
        return self.turn.first is None


BACK = "back"
"""The parameter of a page's URL with the cursors of the pages before it; see docs/decisions/pages.md."""
_BETWEEN, _FORGOTTEN = ",", "~"
_LONGEST_WAY = 3000


def turn(address: str, cursor: str | None, back: str | None, following: str | None, order: str | None = None) -> Turn:
    """The links to other pages. `address` is that of the first page, `back` the way that led to this one."""
    if cursor is None:
        return Turn(order, next=following and _at(address, following, []))
    # Somebody may have the cursor only, which says nothing about the pages before it.
    way = [_FORGOTTEN] if back is None else [each for each in back.split(_BETWEEN) if each]
    before = None if way == [_FORGOTTEN] else _at(address, way[-1], way[:-1]) if way else address
    return Turn(order, address, before, following and _at(address, following, [*way, cursor]))


def _at(address: str, cursor: str, way: list[str]) -> str:
    while len(_BETWEEN.join(way)) > _LONGEST_WAY:
        way = [_FORGOTTEN, *way[2 if way[0] == _FORGOTTEN else 1 :]]
    query = urlencode({"cursor": cursor, BACK: _BETWEEN.join(way)}, safe=_BETWEEN + _FORGOTTEN)
    return f"{address}{'&' if '?' in address else '?'}{query}"


def page_of(
    store: Store[D],
    name: str,
    items: Iterable[T],
    paging: Paging,
    place: Callable[[T], str],
    *,
    newest_first: bool = False,
) -> Listing[T]:
    """A page of a bounded list that was read completely, because no key has its order.

    `place` is the text that an item is sorted by, different for each item. With `newest_first`, the greatest comes
    first. A cursor contains the place where its page ended, sealed with the store's secret like the cursors of access
    patterns, and is valid for the list with this name only.
    """
    # No access pattern's list has a subject with a colon.
    subject = f"{type(store.design).__name__}: {name}"
    after: str | None = None
    if paging.cursor is not None:
        after, _ = store.cursors().open(subject, {}, paging.cursor)
    follows = operator.lt if newest_first else operator.gt
    placed = sorted(((place(item), item) for item in items), key=lambda each: each[0], reverse=newest_first)
    left = [each for each in placed if after is None or follows(each[0], after)]
    shown = left[: paging.limit]
    following = store.cursors().seal(subject, {}, shown[-1][0]) if len(left) > len(shown) else None
    return Listing[T](items=[item for _, item in shown], next=following)


def link_to_next(scope: Scope, listing: Listing[object]) -> str | None:
    """The value of the `Link` header; None on the last page."""
    if listing.next is None:
        return None
    asked = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
    query = urlencode([*((name, value) for name, value in asked if name != "cursor"), ("cursor", listing.next)])
    return f'<{quote(scope["path"])}?{query}>; rel="next"'
