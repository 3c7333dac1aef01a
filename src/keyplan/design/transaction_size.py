"""How many items one write can touch, as far as the declaration tells.

A transaction of DynamoDB holds 100 actions. Lists with a `max_length` bound what follows from an item, so that a design
whose largest change would be rejected can be refused at import; where a list has no bound, a store checks each write
before it is sent.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, get_args, get_origin

from keyplan.design.entity import EntitySpec
from keyplan.design.errors import DesignError

MOST_ACTIONS = 100


def check_transaction(spec: EntitySpec) -> None:
    """Refuse an entity of which a change can touch more items than a transaction holds."""
    # One change may replace all that follows: everything once to take it away and once to put it there.
    following: dict[tuple[str, frozenset[str]], int] = {}
    for kind, name, method in _effects(spec):
        lists = frozenset(_lists_read(spec, method))
        # Numbers and parents over one list are on the same items; what is derived are items of its own.
        following["counted" if kind == "counted" else name, lists] = _longest(spec, lists)
    most = 1 + 2 * (len(spec.uniques) + sum(following.values()))
    if most > MOST_ACTIONS:
        lists_read = sorted({name for _, lists in following for name in lists})
        raise DesignError(
            "transaction-size",
            f"{spec.name}.{', '.join(lists_read)}",
            f"a change can touch {most} items, and a transaction holds {MOST_ACTIONS}",
            "Give the lists a smaller max_length.",
        )


def _effects(spec: EntitySpec) -> Iterator[tuple[str, str, Callable[[Any], object]]]:
    for derived in spec.derived:
        yield "items", derived.name, derived.method
    for counter in spec.counters:
        yield "counted", counter.name, counter.target
    for parent in spec.parents:
        yield "counted", parent.name, parent.parent


def _lists_read(spec: EntitySpec, method: Callable[[Any], object]) -> set[str]:
    """The lists that a method looks at before a stand-in no longer does for a value."""
    reading = _Reading(spec)
    with suppress(Exception):  # the method is the designer's, and a stand-in may fail it anywhere
        method(reading)
    return {name for name in reading.seen if _is_list(spec.fields[name].annotation)}


def _is_list(annotation: object) -> bool:
    return get_origin(annotation) in (list, tuple, set, frozenset)


def _longest(spec: EntitySpec, lists: frozenset[str]) -> int:
    """The items for these lists at their longest; as if there were none for a list of any length."""
    lengths = [_length(spec, name) for name in lists]
    return 0 if None in lengths else sum(length or 0 for length in lengths)


def _length(spec: EntitySpec, name: str) -> int | None:
    annotation = spec.fields[name].annotation
    arguments = get_args(annotation)
    if get_origin(annotation) is tuple and Ellipsis not in arguments:
        return len(arguments)
    metadata = spec.entity.declared_fields[name].metadata
    return next((each.max_length for each in metadata if hasattr(each, "max_length")), None)


class _Reading:
    """Stands for an entity while one of its methods is read, and remembers what it looks at."""

    def __init__(self, spec: EntitySpec) -> None:
        self._spec = spec
        self.seen: set[str] = set()

    def __getattr__(self, name: str) -> object:
        if name in self._spec.fields:
            self.seen.add(name)
            return ("",)
        raise AttributeError(name)
