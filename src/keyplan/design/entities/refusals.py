"""Refusals: the errors that callers get when a rule of the design refuses a write.

By default, the message is made from the names in the design. A `Refusal` replaces it:

    email_guard = unique("USEREMAIL#{email.address}", refusal=Refusal("email-taken", "This e-mail address is in use."))
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from keyplan.design.entities.entity import Entity
    from keyplan.design.entities.entity_spec import EntitySpec

RuleKind: TypeAlias = Literal["taken", "exists", "parent-missing", "in-use", "floor"]
"""The rules that can refuse a write: a unique value is taken, the item already exists, a parent is missing, other items
refer to the item, a number is at its floor."""


@dataclass(frozen=True)
class Refusal:
    """A stable code for programs and a message for people. Without a message, the default one is used.

    Use the code `not-found` if the parent is part of the URL: `missing=Refusal("not-found")`.
    """

    code: str
    detail: str | None = None
    field: str | None = None
    """The field that caused it, to which the error points."""


def declared_refusal(
    entities: "Iterable[type[Entity]]", entity: "type[Entity]", rule: RuleKind, constraint: str
) -> Refusal | None:
    """The refusal that a design declares for a rule of an entity, or None.

    `constraint` is the name of the rule. For children that refer to an item, it is the name of their entity.
    """
    return next(_candidates(entities, entity.spec, rule, constraint), None)


def _candidates(
    entities: "Iterable[type[Entity]]", spec: "EntitySpec", rule: RuleKind, constraint: str
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
