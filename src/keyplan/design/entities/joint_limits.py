"""Limits on several fields together, such as a season that can't end before it starts:

    class SeasonFields(Fields):
        starts_on: date
        ends_on: date

        @limits("starts_on", "ends_on")
        def ends_after_start(self) -> Refusal | None:
            if self.ends_on < self.starts_on:
                return Refusal("ends-before-start", "The last day can't be before the first.", field="ends_on")
            return None

Like the limits of one field, they are checked on every write. An update checks those with a field that it changes.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from types import FunctionType, SimpleNamespace
from typing import Any, TypeVar

from pydantic import BaseModel

from keyplan.design.entities.refusals import Refusal
from keyplan.design.errors import DesignError, InvalidValue

Check = TypeVar("Check", bound=Callable[[Any], Refusal | None])


def limits(*fields: str) -> Callable[[Check], Check]:
    """Declare a limit on these fields together, or one with a code of its own. The method sees no other fields.

    It returns the refusal that callers get, or None if the values are within the limit.
    """

    def declare(check: Check) -> Check:
        check.limited_fields = fields  # type: ignore[attr-defined]  # read by joint_limits_of
        return check

    return declare


@dataclass(frozen=True)
class JointLimit:
    """A limit on several fields of an entity."""

    name: str
    fields: frozenset[str]
    check: Callable[[Any], Refusal | None]

    def broken(self, place: str, values: Mapping[str, object]) -> Iterator[InvalidValue]:
        """The error, if the values break the limit. If one of them isn't known, nothing is checked."""
        if all(name in values for name in self.fields):
            refusal = self.check(SimpleNamespace(**{name: values[name] for name in self.fields}))
            if refusal is not None:
                where = f"{place}.{refusal.field or self.name}"
                problem = refusal.detail or "The values don't go together."
                yield InvalidValue(refusal.code, where, problem, field=refusal.field, is_joint=True)


def joint_limits_of(entity: type[BaseModel], fields: Collection[str]) -> list[JointLimit]:
    """The joint limits that a class and its bases declare. A class overrides its bases."""
    found = {name: value for base in reversed(entity.__mro__) for name, value in vars(base).items()}
    checks = [each for each in found.values() if isinstance(each, FunctionType) and hasattr(each, "limited_fields")]
    limited = [JointLimit(check.__name__, frozenset(check.limited_fields), check) for check in checks]
    for each in limited:
        for unknown in sorted(each.fields.difference(fields)):
            raise DesignError(
                "unknown-field", f"{entity.__name__}.{each.name}", f"there is no field {unknown}", "Name its fields."
            )
    return limited
