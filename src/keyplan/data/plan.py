"""A write as a set of actions, one for each item, and the requests that carry it out.

Whatever a write does to one item becomes one action: conditions are joined, numbers added up, a check of an item that
is being written anyway is left to the write. One action is sent as a plain conditional write, several as a
transaction.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from keyplan.data.codec import AttributeValue, Item
from keyplan.data.consequences import Address
from keyplan.data.errors import ConditionFailed, DataError, Refused, TooLarge
from keyplan.data.expressions import Expression, Requirement, all_of
from keyplan.data.sizes import MAXIMUM_ACTIONS, MAXIMUM_TRANSACTION, item_size
from keyplan.design.conditions import Node


@dataclass
class Action:
    """What happens to one item. At most one of put, delete and a change; with none of them it is a check."""

    address: Address
    put: Item | None = None
    delete: bool = False
    sets: dict[str, AttributeValue] = field(default_factory=dict)
    removes: set[str] = field(default_factory=set)
    adds: dict[str, int] = field(default_factory=dict)
    requirements: list[Requirement] = field(default_factory=list)
    where: Node | None = None
    """The caller's own condition."""
    refused: Callable[[Item | None], Refused] | None = None
    """The error for the caller's own condition."""

    @property
    def changes(self) -> bool:
        return bool(self.sets or self.removes or self.adds)

    def explain(self, stored: Item | None) -> Refused:
        """The error that says why this action was refused, given the item as it is."""
        for requirement in self.requirements:
            if requirement.violated(stored):
                return requirement.error(stored)
        if self.refused is not None:
            return self.refused(stored)
        if self.requirements:
            # The item was changed again since; what was asked of it first is the likeliest.
            return self.requirements[0].error(stored)
        return ConditionFailed(self.address.table, "condition", {}, stored)

    def condition(self) -> Node | None:
        """All conditions of the action."""
        nodes = [requirement.node for requirement in self.requirements]
        return all_of([*nodes, self.where] if self.where is not None else nodes)


class Plan:
    """The actions of one write, by item."""

    def __init__(self) -> None:
        self.actions: dict[Address, Action] = {}

    def _at(self, address: Address) -> Action:
        return self.actions.setdefault(address, Action(address))

    def put(self, address: Address, item: Item, *requirements: Requirement) -> Action:
        action = self._at(address)
        if action.put is not None or action.sets or action.removes:
            raise DataError(f"two writes of one item in a transaction: {address}")
        # An item that is deleted and written again in one go is written under the conditions of both.
        action.delete = False
        action.put = dict(item)
        for attribute, amount in action.adds.items():
            action.put[attribute] = _added(action.put.get(attribute), amount)
        action.adds = {}
        action.requirements = [*action.requirements, *requirements]
        return action

    def remove(self, address: Address, *requirements: Requirement) -> Action:
        action = self._at(address)
        if action.put is None:
            action.delete = True
            action.sets, action.removes, action.adds = {}, set(), {}
        action.requirements += requirements
        return action

    def change(
        self, address: Address, sets: dict[str, AttributeValue], removes: set[str], *requirements: Requirement
    ) -> Action:
        action = self._at(address)
        if action.put is not None or action.delete:
            raise DataError(f"two writes of one item in a transaction: {address}")
        action.sets |= sets
        action.removes |= removes
        action.requirements += requirements
        return action

    def add(self, address: Address, attribute: str, amount: int, *requirements: Requirement) -> None:
        """Add to a number. On an item that is put or deleted in the same write the conditions are met by it."""
        action = self._at(address)
        if action.delete:
            return
        if action.put is not None:
            action.put[attribute] = _added(action.put.get(attribute), amount)
            return
        action.adds[attribute] = action.adds.get(attribute, 0) + amount
        action.requirements += requirements

    def check(self, address: Address, *requirements: Requirement) -> None:
        """Conditions on an item that need not be written; met where it is put in the same write."""
        action = self._at(address)
        if action.put is None and not action.delete:
            action.requirements += requirements

    def requests(self, name_of: Callable[[str], str], token: str) -> list[tuple[str, dict[str, Any]]]:
        """The one request that carries the plan out, or none where there is nothing to do."""
        actions = [action for action in self.actions.values() if _does_something(action)]
        if not actions:
            return []
        if len(actions) == 1 and (actions[0].put is not None or actions[0].delete or actions[0].changes):
            kind, members = _action_request(actions[0], name_of)
            operation = {"Put": "put_item", "Delete": "delete_item", "Update": "update_item"}[kind]
            return [(operation, members)]
        self._check_size(actions)
        items = [{kind: members} for kind, members in (_action_request(action, name_of) for action in actions)]
        return [("transact_write_items", {"TransactItems": items, "ClientRequestToken": token})]

    def sent(self) -> list[Action]:
        """The actions in the order in which `requests` has them, to tell whose condition failed."""
        return [action for action in self.actions.values() if _does_something(action)]

    def _check_size(self, actions: list[Action]) -> None:
        if len(actions) > MAXIMUM_ACTIONS:
            raise TooLarge(f"the write touches {len(actions)} items; a transaction holds {MAXIMUM_ACTIONS}")
        size = sum(item_size(action.put or action.sets) for action in actions)
        if size > MAXIMUM_TRANSACTION:
            raise TooLarge(f"the write has {size} bytes; a transaction holds {MAXIMUM_TRANSACTION}")


def _does_something(action: Action) -> bool:
    return bool(action.put is not None or action.delete or action.changes or action.requirements or action.where)


def _added(value: AttributeValue | None, amount: int) -> AttributeValue:
    return {"N": str(int(value["N"] if value else "0") + amount)}


def _action_request(action: Action, name_of: Callable[[str], str]) -> tuple[str, dict[str, Any]]:
    """The action as a member of a transaction, which is also the request of a plain write."""
    expression = Expression()
    members: dict[str, Any] = {"TableName": name_of(action.address.table)}
    kind = "ConditionCheck"
    if action.put is not None:
        kind = "Put"
        members["Item"] = action.put
    else:
        members["Key"] = action.address.item
        if action.delete:
            kind = "Delete"
        elif action.changes:
            kind = "Update"
            members["UpdateExpression"] = _update_text(action, expression)
    condition = action.condition()
    if condition is not None:
        members["ConditionExpression"] = expression.condition(condition)
        members["ReturnValuesOnConditionCheckFailure"] = "ALL_OLD"
    return kind, members | expression.parameters()


def _update_text(action: Action, expression: Expression) -> str:
    sections = []
    if action.sets:
        pairs = (f"{expression.name(name)} = {expression.value(value)}" for name, value in action.sets.items())
        sections.append("SET " + ", ".join(pairs))
    if action.removes:
        sections.append("REMOVE " + ", ".join(expression.name(name) for name in sorted(action.removes)))
    if action.adds:
        pairs = (
            f"{expression.name(name)} {expression.value({'N': str(amount)})}" for name, amount in action.adds.items()
        )
        sections.append("ADD " + ", ".join(pairs))
    return " ".join(sections)
