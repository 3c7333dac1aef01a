"""Plans: a write as a set of actions, one for each item, and its one request.

All that a write does to one item becomes one action: conditions are combined, numbers are added up, and a check of an
item that is also written becomes a condition of that write. One action is sent as a conditional write, several as a
transaction.
"""

from collections.abc import Mapping
from typing import Any
from uuid import uuid4

from keyplan.data.codec.addresses import Address
from keyplan.data.codec.sizes import MAXIMUM_ACTIONS, MAXIMUM_ITEM, MAXIMUM_TRANSACTION, item_size
from keyplan.data.codec.values import AttributeValue, Item
from keyplan.data.errors import DataError, TooLarge, UniqueViolation
from keyplan.data.expressions.requirements import Requirement
from keyplan.data.steps import Answer
from keyplan.data.writes.actions import Action, Floor, incremented
from keyplan.data.writes.requests import action_request
from keyplan.design.operations.conditions import Node

_OPERATIONS = {"Put": "put_item", "Delete": "delete_item", "Update": "update_item"}


class Plan:
    """The actions of one write, by item."""

    def __init__(self) -> None:
        self.actions: dict[Address, Action] = {}
        self.answer: Answer | None = None
        """What DynamoDB answered, once the plan was carried out."""

    def _at(self, address: Address) -> Action:
        action = self.actions.get(address)
        if action is None:
            action = self.actions[address] = Action(address)
        return action

    def put(self, address: Address, item: Item, *absence: Requirement) -> Action:
        """Put an item where none exists, or in place of one that the same write deletes."""
        action = self._at(address)
        if action.put is not None or action.sets or action.removes or action.terms:
            raise _taken(action.put, absence) or _twice(address)
        action.put = dict(item)
        for attribute, amount in action.adds.items():
            action.put[attribute] = incremented(action.put.get(attribute), amount)
        action.adds = {}
        action.replaces, action.delete = action.delete, False
        action.absence += absence
        return action

    def remove(self, address: Address, *requirements: Requirement) -> Action:
        """Delete an item, unless the same write puts another in its place."""
        action = self._at(address)
        if requirements and action.requirements:  # its effects would be deleted twice
            raise _twice(address)
        if action.put is None:
            action.delete = True
            action.sets, action.removes, action.adds, action.terms = {}, set(), {}, ()
        else:
            action.replaces = True
        action.requirements += requirements
        return action

    def change(
        self, address: Address, sets: dict[str, AttributeValue], removes: set[str], *requirements: Requirement
    ) -> Action:
        action = self.actions.get(address)
        if action is None:
            action = self.actions[address] = Action(address, sets=sets, removes=removes, requirements=requirements)
            return action
        written = action.put is not None or action.delete or action.sets or action.removes or action.terms
        if written or action.requirements:
            raise _twice(address)
        action.sets, action.removes, action.requirements = sets, removes, requirements
        return action

    def add(
        self,
        address: Address,
        attribute: str,
        amount: int,
        *presence: Requirement,
        floor: Floor | None = None,
        more: bool = True,
    ) -> None:
        """Add to a number; `more` is False if that takes back what an item counted before.

        The requirements aren't checked on an item that the same write puts or deletes.
        """
        action = self._at(address)
        action.counts_more |= more
        if action.put is not None:
            action.put[attribute] = incremented(action.put.get(attribute), amount)
        elif not action.delete:
            total = action.adds.pop(attribute, 0) + amount
            if total:
                action.adds[attribute] = total
        action.presence += presence
        if floor is not None:
            action.floors[attribute] = floor

    def check(self, address: Address, *presence: Requirement) -> None:
        """Require conditions of an item; not checked if the same write puts it."""
        self._at(address).presence += presence

    def request(self, names: Mapping[str, str], token: str | None = None) -> tuple[str, dict[str, Any]] | None:
        """The operation and request of the plan, to tables of these names; None if there is nothing to do.

        With a `token`, even a single write is a transaction: only these have one.
        """
        if len(self.actions) == 1 and token is None:
            (action,) = self.actions.values()
            if action.writes:
                return _alone(action, action.conditions(), names)
        sent = self._with_conditions()
        if not sent:
            return None
        if len(sent) == 1 and sent[0][0].writes and token is None:
            return _alone(*sent[0], names)
        self._check_size([action for action, _ in sent])
        requests = [action_request(action, conditions, names) for action, conditions in sent]
        items = [{kind: members} for kind, members in requests]
        return "transact_write_items", {"TransactItems": items, "ClientRequestToken": token or uuid4().hex}

    def sent(self) -> list[Action]:
        """The actions in the order of the request, to tell whose condition failed."""
        return [action for action, _ in self._with_conditions()]

    def _with_conditions(self) -> list[tuple[Action, list[Node]]]:
        """The actions that write or check something, with their conditions."""
        actions = [(action, action.conditions()) for action in self.actions.values()]
        return [(action, conditions) for action, conditions in actions if conditions or action.writes]

    def _check_size(self, actions: list[Action]) -> None:
        if len(actions) > MAXIMUM_ACTIONS:
            raise TooLarge(f"the write touches {len(actions)} items, and a transaction can have {MAXIMUM_ACTIONS}")
        if len(actions) * MAXIMUM_ITEM <= MAXIMUM_TRANSACTION:
            return  # even with items of the maximum size
        size = sum(max(action.frees, item_size(action.leaves or action.put or action.sets)) for action in actions)
        if size > MAXIMUM_TRANSACTION:
            raise TooLarge(f"the write has {size} bytes, and a transaction can have {MAXIMUM_TRANSACTION}")


def _alone(action: Action, conditions: list[Node], names: Mapping[str, str]) -> tuple[str, dict[str, Any]]:
    """The operation and request of a write that is one action."""
    kind, members = action_request(action, conditions, names)
    if action.returns is not None:
        members["ReturnValues"] = action.returns
    return _OPERATIONS[kind], members


def _taken(put: Item | None, absence: tuple[Requirement, ...]) -> UniqueViolation | None:
    """The error for a unique value that another part of the same write takes."""
    errors = [requirement.error(put) for requirement in absence] if put is not None else []
    return next((error for error in errors if isinstance(error, UniqueViolation)), None)


def _twice(address: Address) -> DataError:
    key = ", ".join(f"{name}={content!r}" for name, _, content in address.key)
    return DataError(f"two writes of the same item in one transaction ({address.table} {key}): make them one")
