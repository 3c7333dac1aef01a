"""Update terms: what an update expression does at one path, as text and as DynamoDB computes it.

Each rule is stated once, as the term that is sent. `updated` gives the same result in Python, for items that were read.
"""

from collections.abc import Sequence
from copy import deepcopy
from decimal import Context, Decimal
from typing import Any, Literal, NamedTuple, TypeAlias

from keyplan.data.codec.values import AttributeValue, Item, number_text
from keyplan.data.expressions.evaluation import same_value, stored_value
from keyplan.data.expressions.texts import Expression
from keyplan.design.operations.conditions import FieldPath

TermForm: TypeAlias = Literal["set", "default", "plus", "append", "prepend", "remove", "add", "delete"]

_TEXTS: dict[TermForm, str] = {
    "set": "{path} = {0}",
    "default": "{path} = if_not_exists({path}, {0})",
    "plus": "{path} = if_not_exists({path}, {0}) + {1}",
    "append": "{path} = list_append(if_not_exists({path}, {0}), {1})",
    "prepend": "{path} = list_append({1}, if_not_exists({path}, {0}))",
    "remove": "{path}",
    "add": "{path} {0}",
    "delete": "{path} {0}",
}
_VALUES: dict[TermForm, int] = {"plus": 2, "append": 2, "prepend": 2, "remove": 0}
_SECTIONS: dict[TermForm, str] = {"remove": "REMOVE", "add": "ADD", "delete": "DELETE"}
EXACT = Context(prec=400)
"""Arithmetic without rounding: the default context would round to 28 digits."""

TermShape: TypeAlias = tuple[TermForm, tuple[str | int, ...]]
"""A term without its values."""


class UpdateTerm(NamedTuple):
    """What happens at one path: a form of the update expression, with the values it needs.

    `plus`, `append` and `prepend` have two values; the first counts if there is nothing at the path.
    """

    form: TermForm
    names: tuple[str | int, ...]
    values: tuple[AttributeValue, ...] = ()

    @property
    def shape(self) -> TermShape:
        return self.form, self.names


class NothingThere(LookupError):
    """There is nothing at a path that a term needs."""

    def __init__(self, names: tuple[str | int, ...]) -> None:
        super().__init__(names)
        self.names = names


def term_texts(shapes: Sequence[TermShape], expression: Expression) -> list[tuple[str, str]]:
    """The section of the update expression and the text of each term. Values get their placeholders in order."""
    texts = []
    for form, names in shapes:
        values = [expression.value({}) for _ in range(_VALUES.get(form, 1))]
        text = _TEXTS[form].format(*values, path=expression.path(names))
        texts.append((_SECTIONS.get(form, "SET"), text))
    return texts


def updated(item: Item, terms: Sequence[UpdateTerm]) -> Item:
    """The item after the terms, all of which see the old one. Raises `NothingThere` for a path that doesn't exist."""
    results = [(term.names, _result(term, stored_value(FieldPath(term.names), item))) for term in terms]
    new: Any = {"M": deepcopy(item)}
    for names, result in sorted(results, key=_removals_last):
        _write(new, names, result)
    changed: Item = new["M"]
    return changed


def _removals_last(written: tuple[tuple[str | int, ...], object]) -> tuple[bool, int]:
    """Elements are removed after all else and from the end, since indexes are those of the old list."""
    names, result = written
    return result is None, -names[-1] if isinstance(names[-1], int) else 0


def _write(value: Any, names: tuple[str | int, ...], result: AttributeValue | None) -> None:  # noqa: ANN401 - a tree
    for name in names[:-1]:
        value = _within(value, name, names)
    last = names[-1]
    inside = value.get("M" if isinstance(last, str) else "L")
    if inside is None or (isinstance(last, int) and last >= len(inside)):
        raise NothingThere(names)
    if result is not None:
        inside[last] = result
    elif isinstance(last, int):
        del inside[last]
    else:
        inside.pop(last, None)


def _within(value: Any, name: str | int, names: tuple[str | int, ...]) -> Any:  # noqa: ANN401 - a tree of values
    try:
        return value["M" if isinstance(name, str) else "L"][name]
    except (KeyError, IndexError):
        raise NothingThere(names) from None


def _result(term: UpdateTerm, old: AttributeValue | None) -> AttributeValue | None:
    match term.form:
        case "remove":
            return None
        case "set":
            return term.values[0]
        case "default":
            return term.values[0] if old is None else old
        case "plus":
            return _sum(term.values[0] if old is None else old, term.values[1])
        case "append" | "prepend":
            before, more = (term.values[0] if old is None else old)["L"], term.values[1]["L"]
            return {"L": [*before, *more] if term.form == "append" else [*more, *before]}
    (value,) = term.values
    if "N" in value:
        return _sum(old or {"N": "0"}, value)
    ((tag, given),) = value.items()
    members = (old or {}).get(tag, [])
    others = [each for each in members if not _is_in(tag, each, given)]
    left = sorted([*others, *given]) if term.form == "add" else others
    return {tag: left} if left else None


def _sum(one: AttributeValue, other: AttributeValue) -> AttributeValue:
    return {"N": number_text(EXACT.add(Decimal(one["N"]), Decimal(other["N"])))}


def _is_in(tag: str, member: object, members: Sequence[object]) -> bool:
    return any(same_value({tag[0]: member}, {tag[0]: each}) for each in members)
