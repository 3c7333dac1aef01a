"""The largest number of items that one write can affect, as far as it is declared.

A DynamoDB transaction can have 100 actions. Lists with a `max_length` limit the effects of an item, so a design whose
largest change would be rejected is refused at import. If a list has no limit, the store checks each write before it is
sent.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, get_args, get_origin

from keyplan.design.entities.entity_spec import EntitySpec
from keyplan.design.errors import DesignError

MOST_ACTIONS = 100


def check_transaction(spec: EntitySpec) -> None:
    """Refuse an entity if changing it can affect more items than a transaction can have."""
    most = most_actions(spec)
    if most > MOST_ACTIONS:
        raise DesignError(
            "transaction-size",
            f"{spec.name}.{', '.join(sorted(lists_followed(spec)))}",
            f"a change can affect {most} items, and a transaction can have {MOST_ACTIONS}",
            "Give the lists a smaller max_length.",
        )


def most_actions(spec: EntitySpec) -> int:
    """The most items that a change of one can affect, as far as it is declared: lists without a limit don't count."""
    # One change can replace all affected items: one action to remove each and one to add it.
    affected: dict[tuple[str, frozenset[str]], int] = {}
    for kind, name, method in _effects(spec):
        lists = frozenset(_lists_read(spec, method))
        # Counters and parents from the same list affect the same items. Derived items are separate items.
        affected["counted" if kind == "counted" else name, lists] = _longest(spec, lists)
    return 1 + 2 * (len(spec.uniques) + sum(affected.values()))


def lists_followed(spec: EntitySpec) -> frozenset[str]:
    """The lists whose members have effects on other items."""
    return frozenset(name for _, _, method in _effects(spec) for name in _lists_read(spec, method))


def _effects(spec: EntitySpec) -> Iterator[tuple[str, str, Callable[[Any], object]]]:
    for derived in spec.derived:
        yield "items", derived.name, derived.method
    for counter in spec.counters:
        yield "counted", counter.name, counter.target
    for parent in spec.parents:
        yield "counted", parent.name, parent.parent


def _lists_read(spec: EntitySpec, method: Callable[[Any], object]) -> set[str]:
    """The lists that a method reads, as far as it gets with a stand-in for the entity."""
    reading = _Reading(spec)
    with suppress(Exception):  # the method isn't ours, and may fail with a stand-in
        method(reading)
    return {name for name in reading.seen if is_list(spec.fields[name].annotation)}


def is_list(annotation: object) -> bool:
    """Whether values of a type are lists, sets or tuples."""
    return get_origin(annotation) in (list, tuple, set, frozenset)


def _longest(spec: EntitySpec, lists: frozenset[str]) -> int:
    """The largest number of items in these lists, or 0 if one of them has no limit."""
    lengths = [length_limit(spec, name) for name in lists]
    return 0 if None in lengths else sum(length or 0 for length in lengths)


def length_limit(spec: EntitySpec, name: str) -> int | None:
    """The most members that a list can have, or None if it has no limit."""
    annotation = spec.fields[name].annotation
    arguments = get_args(annotation)
    if get_origin(annotation) is tuple and Ellipsis not in arguments:
        return len(arguments)
    metadata = spec.entity.declared_fields[name].metadata
    return next((each.max_length for each in metadata if hasattr(each, "max_length")), None)


class _Reading:
    """Stands in for an entity and records the fields that a method reads."""

    def __init__(self, spec: EntitySpec) -> None:
        self._spec = spec
        self.seen: set[str] = set()

    def __getattr__(self, name: str) -> object:
        if name in self._spec.fields:
            self.seen.add(name)
            return ("",)
        raise AttributeError(name)
