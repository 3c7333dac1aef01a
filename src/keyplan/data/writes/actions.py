"""Actions: all that one write does to one item, and what it requires of it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from keyplan.data.codec.addresses import Address
from keyplan.data.codec.entities import DELETING
from keyplan.data.codec.values import AttributeValue, Item, integer_of
from keyplan.data.errors import ConditionFailed, Refused
from keyplan.data.expressions.conditions import at_least, attribute_exists, equals
from keyplan.data.expressions.evaluation import holds
from keyplan.data.expressions.requirements import Requirement
from keyplan.data.expressions.updates import UpdateTerm
from keyplan.design import InvalidValue
from keyplan.design.operations.conditions import Node


@dataclass(frozen=True)
class Floor:
    """The smallest value that a number may have, and the error for a smaller one."""

    least: int
    error: Callable[[Item | None], Refused]


@dataclass(slots=True)
class Action:
    """What happens to one item: a put, a delete or an update; none of them for a check."""

    address: Address
    put: Item | None = None
    delete: bool = False
    sets: dict[str, AttributeValue] = field(default_factory=dict)
    removes: set[str] = field(default_factory=set)
    adds: dict[str, int] = field(default_factory=dict)
    terms: Sequence[UpdateTerm] = ()
    """What an update does besides setting and removing attributes and adding to numbers."""
    requirements: tuple[Requirement, ...] = ()
    """What the write of the item itself relies on, such as its version."""
    presence: tuple[Requirement, ...] = ()
    """What children and counted items require of it; not checked if the same write puts or deletes it."""
    absence: tuple[Requirement, ...] = ()
    """What a put requires: that no item exists; not checked if the same write deletes the existing one."""
    floors: dict[str, Floor] = field(default_factory=dict)
    counts_more: bool = False
    """Whether an item counts on it that didn't before, or with a larger amount."""
    replaces: bool = False
    """Whether the put replaces an item that the same write deletes."""
    where: Requirement | None = None
    """The caller's own condition."""
    leaves: Item | None = None
    """The item after the update, if it is known."""
    returns: str | None = None
    """Which attributes DynamoDB returns, if this is the only action: its `ReturnValues`."""
    unstorable: Callable[[str], Refused | InvalidValue | None] | None = None
    """The error for a result that DynamoDB can't store, given what DynamoDB says about it."""
    frees: int = 0
    """About how many bytes it deletes, if that is much: a transaction counts them too."""

    @property
    def changes(self) -> bool:
        return bool(self.sets or self.removes or self.adds or self.terms)

    @property
    def writes(self) -> bool:
        """Whether it writes the item; otherwise it only checks it."""
        return self.put is not None or self.delete or self.changes

    @property
    def only_counts_less(self) -> bool:
        """Whether it only takes back what items counted, which doesn't matter if the item no longer exists."""
        written = self.sets or self.removes or self.terms or self.requirements
        return not written and bool(self.adds) and not self.counts_more

    def is_carried_out_on(self, stored: Item | None) -> bool:
        """Whether the stored item is what the action leaves; False if that isn't known."""
        if self.delete:
            return not stored
        whole = self.put or self.leaves
        if whole is None or not stored or self.adds or self.terms:
            return False
        return whole.keys() == stored.keys() and all(
            holds(equals(name, value), stored) for name, value in whole.items()
        )

    def required(self) -> list[Requirement]:
        """All that is required of the item, in the order in which a refusal is explained."""
        required = list(self.requirements)
        if self.put is not None:
            required += () if self.replaces else self.absence
        elif not self.delete:
            required += self.presence
            if self.floors:
                falling = [(name, each) for name, each in self.floors.items() if self.adds.get(name, 0) < 0]
                required += [self._floor(name, each) for name, each in falling]
        if self.where is not None:
            required.append(self.where)
        return required

    def conditions(self) -> list[Node]:
        """The conditions on the item, each once."""
        nodes = [node for requirement in self.required() for node in requirement.conditions]
        if not (self.presence or self.absence or self.floors):
            return nodes  # without these there are no duplicates
        once: list[Node] = []
        for node in nodes:
            if node not in once:
                once.append(node)
        return once

    def _floor(self, attribute: str, floor: Floor) -> Requirement:
        """The number stays at its floor or above; this doesn't matter if the item is being deleted."""
        needed = floor.least - self.adds[attribute]
        return Requirement((at_least(attribute, needed) | attribute_exists(DELETING),), floor.error)

    def explain(self, stored: Item | None) -> Refused | InvalidValue:
        """The error for a refused action, given the stored item."""
        required = self.required()
        for each in required:
            if not each.is_met_by(stored):
                return each.error(stored)
        if self.where is not None:
            return self.where.error(stored)
        if required:
            # Every condition holds on this item, so it is not the one that was refused; the first is the likeliest.
            return required[0].error(stored)
        return ConditionFailed(self.address.table, "condition", {}, stored)


def incremented(value: AttributeValue | None, amount: int) -> AttributeValue:
    """A number plus an amount; absent counts as 0."""
    return {"N": str(integer_of(value) + amount)}
