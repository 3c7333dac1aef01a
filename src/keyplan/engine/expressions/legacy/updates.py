"""AttributeUpdates: top-level attributes, each with the action PUT, ADD or DELETE and a value."""

from collections.abc import Mapping
from functools import lru_cache
from typing import TypedDict

from keyplan.engine.errors import invalid_parameter, validation_error
from keyplan.engine.expressions.grammar import CACHE_SIZE
from keyplan.engine.expressions.legacy.conditions import MOST_KEPT
from keyplan.engine.expressions.nodes import Action, CallNode, ParsedUpdate, PathNode, ValueNode
from keyplan.engine.expressions.update import Update, bind_update
from keyplan.engine.expressions.update_operands import SET_TYPES, IncorrectType
from keyplan.engine.values.attribute_values import AttributeValue, Item, type_of
from keyplan.engine.values.normal_form import normalize

# Beside the sections of an update expression: ADD to a list appends, which expressions write as a function.
_APPEND = "APPEND"
_EMPTY = ":empty"
_ADDED_TYPES = SET_TYPES | {"N", "L"}


class AttributeUpdate(TypedDict, total=False):
    """What to do with one attribute."""

    Action: str
    Value: AttributeValue


class _LegacyUpdate(Update):
    """An update with its own message for an attribute that has another type than its action needs."""

    __slots__ = ()

    def apply(self, item: Item) -> Item:
        try:
            return super().apply(item)
        except IncorrectType:
            raise validation_error("Type mismatch for attribute to update") from None


def attribute_updates(updates: Mapping[str, AttributeUpdate]) -> Update | None:
    """Return the update; None if there are no actions."""
    if not updates:
        return None
    values: Item = {}
    sections: list[str] = []
    for given in updates.values():
        section, value = _checked(given.get("Action", "PUT"), given.get("Value"))
        if value is not None:
            values[f":{len(sections)}"] = value
        sections.append(section)
    if _APPEND in sections:
        values[_EMPTY] = {"L": []}
    keep = len(sections) <= MOST_KEPT
    parsed = (_parsed if keep else _parsed.__wrapped__)(tuple(sections))
    return bind_update(parsed, tuple(updates), values, _LegacyUpdate, keep_plan=keep)


def _checked(action: str, given: AttributeValue | None) -> tuple[str, AttributeValue | None]:
    """The section of an update expression that has the action, and the value; raises AWS's error for a wrong value."""
    if given is None:
        if action != "DELETE":
            raise invalid_parameter("Only DELETE action is allowed when no attribute value is specified")
        return "REMOVE", None
    value = normalize(given)
    kind = type_of(value)
    if action == "PUT":
        return "SET", value
    if action == "DELETE":
        if kind not in SET_TYPES:
            raise invalid_parameter(f"DELETE action with value is not supported for the type {kind}")
        return action, value
    if kind not in _ADDED_TYPES:
        raise invalid_parameter(f"ADD action is not supported for the type {kind}")
    return _APPEND if kind == "L" else action, value


@lru_cache(maxsize=CACHE_SIZE)
def _parsed(sections: tuple[str, ...]) -> ParsedUpdate:
    """The nodes of an update with these actions."""
    actions = [_action(section, f"#{position}", f":{position}") for position, section in enumerate(sections)]
    names = [f"#{position}" for position in range(len(sections))]
    values = [f":{position}" for position, section in enumerate(sections) if section != "REMOVE"]
    return ParsedUpdate("AttributeUpdates", tuple(names), tuple(values), tuple(actions))


def _action(section: str, name: str, value: str) -> Action:
    if section == "REMOVE":
        return Action(section, (name,), None)
    if section != _APPEND:
        return Action(section, (name,), ValueNode(value))
    old = CallNode("if_not_exists", (PathNode((name,)), ValueNode(_EMPTY)))
    return Action("SET", (name,), CallNode("list_append", (old, ValueNode(value))))
