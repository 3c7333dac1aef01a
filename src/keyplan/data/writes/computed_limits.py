"""Limits on values that DynamoDB computes: conditions on the old value under which the new one is within its limits.

| limit | of a clause that | condition on the old value |
| --- | --- | --- |
| `ge`, `gt`, `le`, `lt` | adds an amount | the same comparison with the bound minus the amount |
| `min_length`, `max_length` | appends or prepends values | `size` compared with the length minus their number |
| `min_length`, `max_length` | adds or deletes one member | the set contains it, or not; or `size` leaves room for one |

Other limits, such as a multiple of a number or a function, can't be checked so: the item is read.
"""

from collections.abc import Callable
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from operator import ge, gt, le, lt
from typing import Any

from annotated_types import Ge, Gt, Interval, Le, Len, Lt, MaxLen, MinLen

from keyplan.data.codec.value_paths import PathType, marks_of
from keyplan.data.codec.values import AttributeValue, number_text
from keyplan.data.expressions.updates import EXACT, UpdateTerm
from keyplan.design.operations.conditions import FieldPath, Node
from keyplan.design.values.relaxed import is_limit, relaxed_field

_BOUNDS: tuple[tuple[type, str, str], ...] = (
    (Ge, ">=", "ge"),
    (Gt, ">", "gt"),
    (Le, "<=", "le"),
    (Lt, "<", "lt"),
    (MinLen, ">=", "min_length"),
    (MaxLen, "<=", "max_length"),
)
_DOWN, _UP = Context(prec=38, rounding=ROUND_FLOOR), Context(prec=38, rounding=ROUND_CEILING)
_ROUNDED = {">=": _UP, ">": _DOWN, "<=": _DOWN, "<": _UP}
"""How a bound is rounded to the digits of a number, so that it still divides the numbers that can be stored."""
_COMPARE: dict[str, Callable[[Any, Any], bool]] = {">=": ge, ">": gt, "<=": le, "<": lt}


def can_be_conditions(kind: PathType, verb: str, number: int) -> bool:
    """Whether the limits of a value can be checked by conditions, if a clause with so many values changes it."""
    bounds = _bounds(kind)
    return not bounds or (bounds != [None] and (verb not in ("add_members", "delete_members") or number == 1))


def limit_conditions(kind: PathType, term: UpdateTerm) -> list[Node]:
    """The conditions under which the result of a term is within the limits of its value."""
    bounds = _bounds(kind)
    if not bounds:
        return []
    path = FieldPath(term.names)
    return [_condition(term, path, operator, bound) for operator, bound in filter(None, bounds)]


def _condition(term: UpdateTerm, path: FieldPath, operator: str, bound: Decimal) -> Node:
    given = term.values[-1]
    absent = Node("attribute_not_exists", (path,))
    if "N" in given:
        amount = Decimal(given["N"])
        base = Decimal(term.values[0]["N"]) if term.form == "plus" else Decimal(0)
        fits = Node(operator, (path, _number(_ROUNDED[operator].subtract(bound, amount))))
        return fits | absent if _COMPARE[operator](EXACT.add(base, amount), bound) else fits
    size = Node("size", (path,))
    if term.form in ("append", "prepend"):
        more, before = len(given["L"]), len(term.values[0]["L"])
        fits = Node(operator, (size, _number(bound - more)))
        return fits | absent if _COMPARE[operator](before + more, bound) else fits
    return _of_set(term, path, size, operator, bound)


def _of_set(term: UpdateTerm, path: FieldPath, size: Node, operator: str, bound: Decimal) -> Node:
    """One member more or less; a set that has it already, or doesn't have it, stays as it is."""
    ((tag, (member,)),) = term.values[0].items()
    has = Node("contains", (path, {tag[0]: member}))
    absent = Node("attribute_not_exists", (path,))
    same, step = (has, 1) if term.form == "add" else (~has, -1)
    stays = same & Node(operator, (size, _number(bound)))
    changes = ~same & Node(operator, (size, _number(bound - step)))
    after = 1 if term.form == "add" else 0
    return stays | changes | absent if _COMPARE[operator](after, bound) else stays | changes


def _number(value: Decimal) -> AttributeValue:
    return {"N": number_text(value)}


def _bounds(kind: PathType) -> list[tuple[str, Decimal] | None]:
    """The bounds on the value itself; None alone if it has other limits too."""
    info = kind.info
    if info is None or relaxed_field(info) is info:
        return []
    found: list[tuple[str, Decimal] | None] = []
    for mark in marks_of(info):
        bounds = _bounds_of(mark)
        if bounds is None:
            return [None]
        found += bounds
    return found


def _bounds_of(mark: object) -> list[tuple[str, Decimal]] | None:
    """The bounds of a marker; none for one that isn't a limit, None for a limit of another kind."""
    if isinstance(mark, Interval):
        bounds = ((">=", mark.ge), (">", mark.gt), ("<=", mark.le), ("<", mark.lt))
        return [(operator, Decimal(str(bound))) for operator, bound in bounds if bound is not None]
    if isinstance(mark, Len):
        longest = [] if mark.max_length is None else [("<=", Decimal(mark.max_length))]
        return [(">=", Decimal(mark.min_length)), *longest]
    for kind, operator, name in _BOUNDS:
        if isinstance(mark, kind):
            return [(operator, Decimal(str(getattr(mark, name))))]
    return None if is_limit(mark) else []
