"""Refusals: what callers are told when a rule of the design refuses a write.

Without one, a general sentence is made of the names in the design. With one, the rule says it in its own words:

    email_guard = unique("USEREMAIL#{email.lower}", refusal=Refusal("email-taken", "This e-mail address is in use."))
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from keyplan.design.entity import Entity, EntitySpec

Rule: TypeAlias = Literal["taken", "exists", "parent-missing", "in-use", "floor"]
"""What can refuse a write: a unique value, an item that exists already, a parent that is missing, children that refer
to the item, a number at its floor."""


@dataclass(frozen=True)
class Refusal:
    """A stable code for programs, and a sentence for people; without one, a general sentence is made.

    The code `not-found` is for a parent that the address names: `missing=Refusal("not-found")`.
    """

    code: str
    detail: str | None = None
    field: str | None = None
    """The field whose value is the cause; the caller is pointed to it."""


def declared_refusal(
    entities: "Iterable[type[Entity]]", entity: "type[Entity]", rule: Rule, constraint: str
) -> Refusal | None:
    """What a design says when this rule of an entity refuses a write; None where it leaves that to the reader.

    `constraint` is the name of the rule; of children that refer to an item, the name of their entity.
    """
    return next(_candidates(entities, entity.spec, rule, constraint), None)


def _candidates(
    entities: "Iterable[type[Entity]]", spec: "EntitySpec", rule: Rule, constraint: str
) -> "Iterator[Refusal]":
    found: Iterator[Refusal | None]
    if rule == "taken":
        found = (each.refusal for each in spec.uniques if each.name == constraint)
    elif rule == "exists":
        found = iter([spec.refusal])
    elif rule == "parent-missing":
        found = (each.missing for each in spec.parents if each.name == constraint)
    elif rule == "floor":
        found = (each.refusal for each in spec.counters if each.name == constraint)
    else:
        children = (each.spec for each in entities if each.__name__ == constraint)
        found = (parent.in_use for child in children for parent in child.parents if parent.entity is spec.entity)
    return (each for each in found if each is not None)
