"""A write as a set of actions, one for each item, and the requests that carry it out.

Whatever a write does to one item becomes one action: conditions are joined, numbers added up, a check of an item that
is being written anyway is left to the write. One action is sent as a plain conditional write, several as a
transaction.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple
from uuid import uuid4

from keyplan.data.codec import AttributeValue, Item, whole_number
from keyplan.data.consequences import Address
from keyplan.data.errors import ConditionFailed, DataError, Refused, TooLarge
from keyplan.data.expressions import (
    Expression,
    Requirement,
    Shape,
    all_of,
    at_least_number,
    exists,
    of_shape,
    shape_of,
)
from keyplan.data.items import DELETING
from keyplan.data.sizes import MAXIMUM_ACTIONS, MAXIMUM_TRANSACTION, item_size
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
            return stored is not None and DELETING not in stored and whole_number(stored.get(attribute)) < needed

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


class Plan:
    """The actions of one write, by item."""

    def __init__(self) -> None:
        self.actions: dict[Address, Action] = {}

    def _at(self, address: Address) -> Action:
        return self.actions.setdefault(address, Action(address))

    def put(self, address: Address, item: Item, *absence: Requirement) -> Action:
        """Write an item where there is none, or in place of one that the same write takes away."""
        action = self._at(address)
        if action.put is not None or action.sets or action.removes:
            raise _twice(address)
        action.put = dict(item)
        for attribute, amount in action.adds.items():
            action.put[attribute] = added(action.put.get(attribute), amount)
        action.adds = {}
        action.replaces, action.delete = action.delete, False
        action.absence += absence
        return action

    def remove(self, address: Address, *requirements: Requirement) -> Action:
        """Take an item away, unless the same write puts another in its place."""
        action = self._at(address)
        if requirements and action.requirements:  # what followed from the item would go twice
            raise _twice(address)
        if action.put is None:
            action.delete = True
            action.sets, action.removes, action.adds = {}, set(), {}
        else:
            action.replaces = True
        action.requirements += requirements
        return action

    def change(
        self, address: Address, sets: dict[str, AttributeValue], removes: set[str], *requirements: Requirement
    ) -> Action:
        action = self._at(address)
        if action.put is not None or action.delete or action.sets or action.removes or action.requirements:
            raise _twice(address)
        action.sets |= sets
        action.removes |= removes
        action.requirements += requirements
        return action

    def add(
        self, address: Address, attribute: str, amount: int, *presence: Requirement, floor: Floor | None = None
    ) -> None:
        """Add to a number. On an item that is put or deleted in the same write the conditions are met by it."""
        action = self._at(address)
        if action.put is not None:
            action.put[attribute] = added(action.put.get(attribute), amount)
        elif not action.delete:
            total = action.adds.pop(attribute, 0) + amount
            if total:
                action.adds[attribute] = total
        action.presence += presence
        if floor is not None:
            action.floors[attribute] = floor

    def check(self, address: Address, *presence: Requirement) -> None:
        """Conditions on an item that need not be written; met where it is put in the same write."""
        self._at(address).presence += presence

    def requests(self, names: Mapping[str, str]) -> list[tuple[str, dict[str, Any]]]:
        """The one request that carries the plan out, or none where there is nothing to do; to tables of these names."""
        actions = self.sent()
        if not actions:
            return []
        if len(actions) == 1 and (actions[0].put is not None or actions[0].delete or actions[0].changes):
            kind, members = _action_request(actions[0], names)
            operation = {"Put": "put_item", "Delete": "delete_item", "Update": "update_item"}[kind]
            return [(operation, members)]
        self._check_size(actions)
        items = [{kind: members} for kind, members in (_action_request(action, names) for action in actions)]
        return [("transact_write_items", {"TransactItems": items, "ClientRequestToken": uuid4().hex})]

    def sent(self) -> list[Action]:
        """The actions in the order in which `requests` has them, to tell whose condition failed."""
        return [action for action in self.actions.values() if _does_something(action)]

    def _check_size(self, actions: list[Action]) -> None:
        if len(actions) > MAXIMUM_ACTIONS:
            raise TooLarge(f"the write touches {len(actions)} items; a transaction holds {MAXIMUM_ACTIONS}")
        size = sum(item_size(action.leaves or action.put or action.sets) for action in actions)
        if size > MAXIMUM_TRANSACTION:
            raise TooLarge(f"the write has {size} bytes; a transaction holds {MAXIMUM_TRANSACTION}")


def _twice(address: Address) -> DataError:
    key = ", ".join(f"{name}={content!r}" for name, _, content in address.key)
    return DataError(f"two writes of one item in a transaction ({address.table} {key}): make them one")


def _does_something(action: Action) -> bool:
    return bool(action.put is not None or action.delete or action.changes or action.conditions() or action.where)


def added(value: AttributeValue | None, amount: int) -> AttributeValue:
    """A number that was added to; absent counts as 0."""
    return {"N": str(whole_number(value) + amount)}


def _action_request(action: Action, names: Mapping[str, str]) -> tuple[str, dict[str, Any]]:
    """The action as a member of a transaction, which is also the request of a plain write."""
    members: dict[str, Any] = {"TableName": names[action.address.table]}
    sets, removes, adds = action.sets, action.removes, action.adds
    kind = "ConditionCheck"
    if action.put is not None:
        kind = "Put"
        members["Item"] = action.put
        sets, removes, adds = {}, set(), {}
    else:
        members["Key"] = action.address.item
        if action.delete:
            kind = "Delete"
        elif action.changes:
            kind = "Update"
    values = [*sets.values(), *({"N": str(amount)} for amount in adds.values())]
    condition = action.condition()
    shape = None if condition is None else shape_of(condition, values)
    texts = _texts(tuple(sets), tuple(sorted(removes)), tuple(adds), shape)
    members |= texts.members
    if texts.names:
        members["ExpressionAttributeNames"] = dict(texts.names)
    if values:
        members["ExpressionAttributeValues"] = dict(zip(texts.placeholders, values, strict=True))
    return kind, members


class _Texts(NamedTuple):
    """The expressions of a request, and what stands for names and values in them."""

    members: dict[str, str]
    names: dict[str, str]
    placeholders: tuple[str, ...]


@lru_cache(maxsize=4096)
def _texts(sets: tuple[str, ...], removes: tuple[str, ...], adds: tuple[str, ...], shape: Shape | None) -> _Texts:
    """An application writes the same few things again and again; only the values are others."""
    expression = Expression()
    members = {}
    if sets or removes or adds:
        members["UpdateExpression"] = _update_text(sets, removes, adds, expression)
    if shape is not None:
        members["ConditionExpression"] = expression.condition(of_shape(shape))
        members["ReturnValuesOnConditionCheckFailure"] = "ALL_OLD"
    names = {placeholder: attribute for attribute, placeholder in expression.names.items()}
    return _Texts(members, names, tuple(expression.values))


def _update_text(sets: Sequence[str], removes: Sequence[str], adds: Sequence[str], expression: Expression) -> str:
    sections = []
    if sets:
        sections.append("SET " + ", ".join(f"{expression.name(name)} = {expression.value({})}" for name in sets))
    if removes:
        sections.append("REMOVE " + ", ".join(map(expression.name, removes)))
    if adds:
        sections.append("ADD " + ", ".join(f"{expression.name(name)} {expression.value({})}" for name in adds))
    return " ".join(sections)
