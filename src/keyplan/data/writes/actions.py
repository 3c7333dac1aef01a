"""Actions: all that one write does to one item, and why it may be refused."""

from collections.abc import Callable
from dataclasses import dataclass, field

from keyplan.data.codec.addresses import Address
from keyplan.data.codec.entities import DELETING
from keyplan.data.codec.values import AttributeValue, Item, integer_of
from keyplan.data.errors import ConditionFailed, Refused
from keyplan.data.expressions.conditions import all_of, at_least_number, exists
from keyplan.data.expressions.requirements import Requirement
from keyplan.design.conditions import Node


@dataclass(frozen=True)
class Floor:
    """What a number must not fall below, and the error that says so."""

    least: int
    error: Callable[[Item | None], Refused]


@dataclass(slots=True)
class Action:
    """What happens to one item. At most one of put, delete and a change; with none of them it is a check."""

    address: Address
    put: Item | None = None
    delete: bool = False
    sets: dict[str, AttributeValue] = field(default_factory=dict)
    removes: set[str] = field(default_factory=set)
    adds: dict[str, int] = field(default_factory=dict)
    requirements: list[Requirement] = field(default_factory=list)
    """What the write of the item itself relies on."""
    presence: list[Requirement] = field(default_factory=list)
    """What others ask of it that count on it or belong to it; met where it is put or deleted in the same write."""
    absence: list[Requirement] = field(default_factory=list)
    """What a put asks: that nothing is there; not where the same write takes away what is."""
    floors: dict[str, Floor] = field(default_factory=dict)
    replaces: bool = False
    """Whether the put is in place of an item that the same write takes away."""
    where: Node | None = None
    """The caller's own condition."""
    refused: Callable[[Item | None], Refused] | None = None
    """The error for the caller's own condition."""
    leaves: Item | None = None
    """The item that a change leaves behind, where it is known."""

    @property
    def changes(self) -> bool:
        return bool(self.sets or self.removes or self.adds)

    @property
    def only_counts_down(self) -> bool:
        """Whether nothing is lost if the item is not there, and nobody asked for it to be."""
        written = self.sets or self.removes or self.requirements
        return not written and bool(self.adds) and all(n < 0 for n in self.adds.values())

    def conditions(self) -> list[Requirement]:
        """What is asked of the item, each once."""
        asked = list(self.requirements)
        if not (self.presence or self.absence or self.floors):
            return asked  # what the write itself relies on, it asks once
        if self.put is not None:
            asked += () if self.replaces else self.absence
        elif not self.delete:
            asked += self.presence
            asked += (self._floor(name, floor) for name, floor in self.floors.items() if self.adds.get(name, 0) < 0)
        nodes: list[Node] = []
        once = []
        for each in asked:
            if each.node not in nodes:
                nodes.append(each.node)
                once.append(each)
        return once

    def _floor(self, attribute: str, floor: Floor) -> Requirement:
        """The number stays at its floor or above; of an item that is being deleted it no longer matters."""
        needed = floor.least - self.adds[attribute]

        def below(stored: Item | None) -> bool:
            return stored is not None and DELETING not in stored and integer_of(stored.get(attribute)) < needed

        return Requirement(
            Node("OR", (at_least_number(attribute, needed), exists(DELETING))),
            below,
            lambda stored: floor.error(stored),
        )

    def explain(self, stored: Item | None) -> Refused:
        """The error that says why this action was refused, given the item as it is."""
        asked = self.conditions()
        for requirement in asked:
            if requirement.violated(stored):
                return requirement.error(stored)
        if self.refused is not None:
            return self.refused(stored)
        if asked:
            # The item was changed again since; what was asked of it first is the likeliest.
            return asked[0].error(stored)
        return ConditionFailed(self.address.table, "condition", {}, stored)

    def condition(self) -> Node | None:
        """All conditions of the action."""
        nodes = [requirement.node for requirement in self.conditions()]
        return all_of([*nodes, self.where] if self.where is not None else nodes)


def incremented(value: AttributeValue | None, amount: int) -> AttributeValue:
    """A number that was added to; absent counts as 0."""
    return {"N": str(integer_of(value) + amount)}
