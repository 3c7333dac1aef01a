"""Stand-ins for items, with which the design calls methods once to learn which other items they refer to."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import combinations
from typing import Any

from keyplan.design.entities.effects import Ref, Refs, named_by
from keyplan.design.entities.entity_spec import EntitySpec
from keyplan.design.entities.specs import StandIn
from keyplan.design.errors import DesignError

_MOST_UNSET = 2
"""How many fields are tried without a value at the same time."""


class FieldName(StandIn):
    """Stands in for a field's value, or for anything inside it. It knows the field, but no value."""

    def __init__(self, name: str, *, true: bool, equal: bool) -> None:
        self.name = name
        self._true = true
        self._equal = equal

    def __getitem__(self, index: object) -> "FieldName":
        return self

    def __getattr__(self, name: str) -> "FieldName":
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __iter__(self) -> "Iterator[FieldName]":
        yield self

    def __bool__(self) -> bool:
        return self._true

    def __eq__(self, other: object) -> bool:
        return self is other or self._equal

    def __hash__(self) -> int:
        return hash(self.name)

    def __int__(self) -> int:
        """For `adding(int(self.owner))`."""
        return int(self._true)

    def _compared(self, other: object) -> bool:
        """The answer to `self.quantity > 0`: the same as to any other comparison."""
        return self._equal

    __lt__ = __le__ = __gt__ = __ge__ = _compared

    def _computed(self, *others: object) -> "FieldName":
        """A value computed from the field, as in `adding(-self.quantity)` or `self.name.startswith("a")`."""
        return self

    __call__ = __neg__ = __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _computed


class _Reader:
    """Stands in for an entity. The `unset` fields have no value. All others equal everything, or nothing."""

    def __init__(self, spec: EntitySpec, seen: dict[str, None], unset: Sequence[str], *, equal: bool) -> None:
        self._spec = spec
        self._seen = seen
        self._unset = unset
        self._equal = equal

    def __getattr__(self, name: str) -> FieldName | None:
        field = self._spec.fields.get(name)
        if field is None:
            raise DesignError(
                "no-such-field", f"{self._spec.name}.{name}", "no such field", "Use a field of the entity."
            )
        self._seen[name] = None
        if name in self._unset and field.optional:
            return None
        return FieldName(name, true=name not in self._unset, equal=self._equal)


def read_refs(spec: EntitySpec, method: Callable[[Any], Refs]) -> Sequence[Ref[Any]]:
    """The items that a method returns, or none if it returns none for any of the values tried.

    It may return items only for some values (`None if self.removed_at else ref(...)`). So it is called with fields that
    have a value and with fields that have none, each time with values that equal everything and that equal nothing.
    """
    seen: dict[str, None] = {}
    try:
        refs = named_by(method(_Reader(spec, seen, (), equal=False)))
    except DesignError as error:
        error.add_note(f"in {spec.name}.{getattr(method, '__name__', method)}")
        raise
    for number in range(_MOST_UNSET + 1):
        for unset in combinations(tuple(seen), number):
            for equal in (False, True):
                if refs:
                    return refs
                with suppress(Exception):  # the method isn't ours, and may not accept a stand-in
                    refs = named_by(method(_Reader(spec, seen, unset, equal=equal)))
    return refs
