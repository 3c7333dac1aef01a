"""Actions as requests: keys, update expressions and condition expressions."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from keyplan.data.expressions.conditions import all_of
from keyplan.data.expressions.texts import Expression, Shape, node_of, shapes_of
from keyplan.data.expressions.updates import TermShape, term_texts
from keyplan.data.writes.actions import Action
from keyplan.design.operations.conditions import Node


def action_request(action: Action, conditions: Sequence[Node], names: Mapping[str, str]) -> tuple[str, dict[str, Any]]:
    """The kind and members of an action: an element of a transaction, or the request of a single write."""
    members: dict[str, Any] = {"TableName": names[action.address.table]}
    sets, removes, adds, terms = action.sets, action.removes, action.adds, action.terms
    kind = "ConditionCheck"
    if action.put is not None:
        kind = "Put"
        members["Item"] = action.put
        sets, removes, adds, terms = {}, set(), {}, ()
    else:
        members["Key"] = action.address.item
        if action.delete:
            kind = "Delete"
        elif action.changes:
            kind = "Update"
    values = [*sets.values(), *({"N": str(amount)} for amount in adds.values())]
    shapes: tuple[TermShape, ...] = ()
    if terms:
        shapes = tuple([term.shape for term in terms])
        values += [value for term in terms for value in term.values]
    texts = _texts(tuple(sets), tuple(sorted(removes)), tuple(adds), shapes, shapes_of(conditions, values))
    members |= texts.members
    if texts.names:
        members["ExpressionAttributeNames"] = dict(texts.names)
    if values:
        members["ExpressionAttributeValues"] = dict(zip(texts.placeholders, values, strict=True))
    return kind, members


class _Texts(NamedTuple):
    """The expressions of a request, and their placeholders for names and values."""

    members: dict[str, str]
    names: dict[str, str]
    placeholders: tuple[str, ...]


@lru_cache(maxsize=4096)
def _texts(
    sets: tuple[str, ...],
    removes: tuple[str, ...],
    adds: tuple[str, ...],
    terms: tuple[TermShape, ...],
    shapes: tuple[Shape, ...],
) -> _Texts:
    """The expressions for these names and shapes. Cached, since an application sends the same few with other values."""
    expression = Expression()
    members = {}
    if sets or removes or adds or terms:
        members["UpdateExpression"] = _update_text(sets, removes, adds, terms, expression)
    condition = all_of([node_of(shape) for shape in shapes])
    if condition is not None:
        members["ConditionExpression"] = expression.condition(condition)
        members["ReturnValuesOnConditionCheckFailure"] = "ALL_OLD"
    names = {placeholder: attribute for attribute, placeholder in expression.names.items()}
    return _Texts(members, names, tuple(expression.values))


def _update_text(
    sets: Sequence[str],
    removes: Sequence[str],
    adds: Sequence[str],
    terms: Sequence[TermShape],
    expression: Expression,
) -> str:
    sections: dict[str, list[str]] = {
        "SET": [f"{expression.name(name)} = {expression.value({})}" for name in sets],
        "REMOVE": [expression.name(name) for name in removes],
        "ADD": [f"{expression.name(name)} {expression.value({})}" for name in adds],
        "DELETE": [],
    }
    for section, text in term_texts(terms, expression):
        sections[section].append(text)
    return " ".join(f"{section} {', '.join(texts)}" for section, texts in sections.items() if texts)
