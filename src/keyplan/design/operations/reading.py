"""The base of all read operations: `Op`, its forms for one item and for lists, and `Page`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, Self, TypeAlias, TypeVar, cast, overload

from keyplan.design.errors import DesignError

T_co = TypeVar("T_co", covariant=True)

PAGE = 50
"""The number of items in a page, unless a limit is given."""
BUDGET = 1000
"""The number of items that a page may read before it returns what it has found."""

OnUnreadable: TypeAlias = Literal["raise", "skip", "raw"]
"""What happens to an item that doesn't fit its entity."""


def check_choice(choice: object, *choices: OnUnreadable) -> None:
    """Refuse what an operation can't do with items that don't fit their entity."""
    if choice not in choices:
        remedy = f"Use one of: {', '.join(choices)}."
        raise DesignError("on-unreadable", "on_unreadable", f"{choice!r} isn't a choice here", remedy)


@dataclass(frozen=True)
class Unreadable:
    """A stored item that doesn't fit its entity, and why."""

    item: Mapping[str, Any]
    """The item, in DynamoDB's form."""
    error: Exception


@dataclass(frozen=True)
class Page(Generic[T_co]):
    """Some items, and the cursors around them."""

    items: Sequence[T_co]
    next: str | None = None
    """The cursor of the next page, for `after`; None on the last page."""
    previous: str | None = None
    """The cursor of the previous page, for `before`; None on the first page. Known with `with_cursors` or `before`."""
    cursors: Sequence[str] = ()
    """The cursor of each item, if `with_cursors` asked for them."""
    unreadable: Sequence[Unreadable] = ()
    """The items that `on_unreadable("skip")` left out."""


@dataclass(frozen=True)
class Op(Generic[T_co]):
    """A read operation."""

    pattern: str | None = field(default=None, kw_only=True)
    """The access pattern that made it. Cursors are bound to the pattern and its arguments."""
    arguments: Mapping[str, object] = field(default_factory=dict, kw_only=True)

    @classmethod
    def made(cls, **fields: object) -> Self:
        """An operation with these fields, and defaults for the others.

        Every read makes one. A frozen data class sets its fields one by one, which takes several times as long.
        """
        op = object.__new__(cls)
        op.__dict__.update(fields)
        op.__dict__["arguments"] = {}
        return op

    def changed(self, **changes: object) -> Self:
        """A copy with these changes. Every read needs one, and this is faster than `dataclasses.replace`."""
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__, **changes)
        return other


@dataclass(frozen=True)
class ItemOp(Op[T_co]):
    """A read of one item by its key, which can be part of `transact_get`."""


@dataclass(frozen=True)
class BatchOp(Op[list[T_co]]):
    """A read of many items by their keys, which can be part of `together`."""


@dataclass(frozen=True)
class ListOp(Op[Page[T_co]]):
    """A read of a list, page by page."""

    def set_in_list(self, **changes: object) -> Self:
        """A copy with these settings of the list."""
        return self.changed(**changes)

    def limit(self, size: int) -> Self:
        """Return at most this many items per page."""
        return self.set_in_list(size=size)

    def after(self, cursor: str | None) -> Self:
        """Return the page after the item or the page with this cursor; the first page for None."""
        return self.set_in_list(cursor=cursor)

    def with_cursors(self) -> Self:
        """Return a cursor for each item, too: `page.cursors`."""
        return self.set_in_list(cursors=True)

    @overload
    def on_unreadable(self, choice: Literal["raise", "skip"]) -> Self: ...
    @overload
    def on_unreadable(self, choice: Literal["raw"]) -> "ListOp[T_co | Unreadable]": ...
    def on_unreadable(self, choice: OnUnreadable) -> "ListOp[T_co | Unreadable]":
        """What happens to items that don't fit their entity: `raise` (the default) ends the list with an error, `skip`
        leaves them out and reports them in `page.unreadable`, and `raw` returns each in its place as `Unreadable`."""
        check_choice(choice, "raise", "skip", "raw")
        return cast("ListOp[T_co | Unreadable]", self.set_in_list(unreadable=choice))


@dataclass(frozen=True)
class OrderedList(ListOp[T_co]):
    """A list with an order, which can be read in both directions."""

    def before(self, cursor: str) -> Self:
        """Return the page before the item or the page with this cursor, in the order of the list."""
        return self.set_in_list(cursor=cursor, backward=True)

    def after(self, cursor: str | None) -> Self:
        """Return the page after the item or the page with this cursor; the first page for None."""
        return self.set_in_list(cursor=cursor, backward=False)
