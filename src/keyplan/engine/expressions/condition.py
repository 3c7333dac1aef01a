"""Condition and filter expressions: a text and its placeholders become a function from an item to a bool.

There are three steps, each done as rarely as possible: the text is parsed once; paths are resolved and checked once
for each set of names; the values of each request are checked and built into closures.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple, TypeAlias, cast

from keyplan.engine.expressions import operators
from keyplan.engine.expressions.expression_errors import invalid, wrong_type
from keyplan.engine.expressions.functions import TYPE_NAMES
from keyplan.engine.expressions.grammar import CACHE_SIZE, parse_condition
from keyplan.engine.expressions.nodes import CallNode, Comparison, Leaf, Operand, ParsedCondition, PathNode, ValueNode
from keyplan.engine.expressions.operators import Bound, Matcher
from keyplan.engine.expressions.paths import Path, getter, resolve, show, top_level
from keyplan.engine.expressions.placeholders import Placeholders
from keyplan.engine.values.attribute_values import AttributeValue, Item, type_of

_OperandBinder: TypeAlias = Callable[[Item], Bound]
_LeafBinder: TypeAlias = Callable[[Item], Matcher]

ORDERED_TYPES = frozenset({"S", "N", "B"})
PREFIX_TYPES = frozenset({"S", "B"})
_CONTAINER_TYPES = frozenset({"S", "B", "SS", "NS", "BS", "L"})
_SIZED_TYPES = _CONTAINER_TYPES | {"M"}
# How AWS writes the type of an operand that depends on the item.
_ANY_TYPE = "{NS,SS,L,BS,N,M,B,BOOL,NULL,S}"


class Condition:
    """A condition that can be evaluated on any number of items."""

    __slots__ = ("_match", "attributes")

    def __init__(self, match: Matcher, attributes: frozenset[str]) -> None:
        self._match = match
        self.attributes = attributes
        """The top-level attributes that the condition uses."""

    def matches(self, item: Item | None) -> bool:
        """Return whether the condition is met; None stands for an item that doesn't exist."""
        return self._match({} if item is None else item)


class _Plan(NamedTuple):
    steps: tuple[_LeafBinder | str, ...]
    conjunction: tuple[_LeafBinder, ...] | None
    """The leaves if they are joined only by AND, as in most conditions; these are bound faster."""
    attributes: frozenset[str]
    constant: Condition | None
    """The condition itself if it has no values: then it is the same for all requests."""


def condition(kind: str, text: str, placeholders: Placeholders) -> Condition:
    """Return the condition in the request's member `kind` ("ConditionExpression" or "FilterExpression")."""
    parsed = parse_condition(kind, text)
    return bind_condition(parsed, placeholders.use(parsed), placeholders.values)


def bind_condition(
    parsed: ParsedCondition, names: tuple[str, ...], values: Item, *, keep_plan: bool = True
) -> Condition:
    """Return the condition with these names in place of `parsed.names`, and these values by placeholder.

    With `keep_plan`, the next condition with the same nodes and names takes less time.
    """
    plan = _plan(parsed, names) if keep_plan else _plan.__wrapped__(parsed, names)
    if plan.constant is not None:
        return plan.constant
    return _bound(plan, values)


def _bound(plan: _Plan, values: Item) -> Condition:
    if plan.conjunction is not None:
        return Condition(_joined("AND", [bind(values) for bind in plan.conjunction]), plan.attributes)
    return Condition(_bind(plan.steps, values), plan.attributes)


def _bind(steps: Sequence[_LeafBinder | str], values: Item) -> Matcher:
    """Run the postfix steps over a stack; chains of AND or OR stay flat."""
    stack: list[tuple[str, list[Matcher]]] = []
    for step in steps:
        if not isinstance(step, str):
            stack.append(("", [step(values)]))
        elif step == "NOT":
            stack.append(("", [operators.negated(_joined(*stack.pop()))]))
        else:
            right, left = stack.pop(), stack.pop()
            members = _members(step, left)
            members += _members(step, right)
            stack.append((step, members))
    return _joined(*stack.pop())


def _members(symbol: str, group: tuple[str, list[Matcher]]) -> list[Matcher]:
    return group[1] if group[0] == symbol else [_joined(*group)]


def _joined(symbol: str, matchers: list[Matcher]) -> Matcher:
    if len(matchers) == 1:
        return matchers[0]
    return operators.all_of(matchers) if symbol == "AND" else operators.any_of(matchers)


@lru_cache(maxsize=CACHE_SIZE)
def _plan(parsed: ParsedCondition, names: tuple[str, ...]) -> _Plan:
    found = dict(zip(parsed.names, names, strict=True))
    steps: list[_LeafBinder | str] = []
    paths: list[Path] = []
    for step in parsed.steps:
        if isinstance(step, str):
            steps.append(step)
        else:
            leaf = _Leaf(parsed.kind, step, found)
            steps.append(leaf.binder())
            paths.extend(leaf.paths)
    leaves = tuple([step for step in steps if not isinstance(step, str)])
    joined_by_and = all(step == "AND" for step in steps if isinstance(step, str))
    plan = _Plan(tuple(steps), leaves if joined_by_and else None, top_level(paths), None)
    return plan if parsed.values else plan._replace(constant=_bound(plan, {}))


class _Leaf:
    """One comparison or function with resolved paths; `binder` returns the function that takes the values."""

    def __init__(self, kind: str, leaf: Leaf, names: Mapping[str, str]) -> None:
        self.kind = kind
        self.names = names
        self.paths: list[Path] = []
        self.symbol, operands = leaf
        self.nodes = [self._resolved(operand) for operand in operands]
        check_distinct(kind, self.symbol, self.nodes)
        self.build = _COMPARISONS[self.symbol] if isinstance(leaf, Comparison) else _FUNCTIONS[self.symbol]

    def _resolved(self, node: Operand) -> Operand:
        if isinstance(node, PathNode):
            node = PathNode(resolve(node.path, self.names))
            self.paths.append(node.path)
        elif isinstance(node, CallNode):
            # Only size() can be an operand; it is a number, which has no size.
            if isinstance(node.arguments[0], CallNode):
                raise wrong_type(self.kind, node.function, "N")
            node = CallNode(node.function, (self._resolved(node.arguments[0]),))
        return node

    def binder(self) -> _LeafBinder:
        """Return the function from a request's values to the matcher."""
        if self.symbol == "=" and isinstance(self.nodes[0], PathNode) and isinstance(self.nodes[1], ValueNode):
            return _path_equals(self.nodes[0].path, self.nodes[1].name)
        operands = [self._operand(node) for node in self.nodes]
        if all(isinstance(node, PathNode) for node in self.nodes):
            return self._without_values(operands)
        build, kind, symbol = self.build, self.kind, self.symbol
        return lambda values: build(kind, symbol, [operand(values) for operand in operands])

    def _without_values(self, operands: Sequence[_OperandBinder]) -> _LeafBinder:
        """A leaf with only paths, such as attribute_exists, needs no values."""
        match = self.build(self.kind, self.symbol, [operand({}) for operand in operands])
        return lambda values: match

    def _operand(self, node: Operand) -> _OperandBinder:
        if isinstance(node, PathNode):
            bound = Bound(getter(node.path), None, None)
            return lambda values: bound
        if isinstance(node, ValueNode):
            name = node.name
            return lambda values: _constant(values[name])
        return _size_operand(self.kind, self._operand(node.arguments[0]))


def _path_equals(path: Path, name: str) -> _LeafBinder:
    """The most frequent condition, with as few calls as possible."""
    if len(path) == 1:
        attribute = cast(str, path[0])

        def bind(values: Item) -> Matcher:
            value = values[name]
            return lambda item: item.get(attribute) == value

        return bind
    get = getter(path)

    def bind_nested(values: Item) -> Matcher:
        value = values[name]
        return lambda item: get(item) == value

    return bind_nested


def _constant(value: AttributeValue) -> Bound:
    return Bound(lambda item: value, type_of(value), value)


def _size_operand(kind: str, operand: _OperandBinder) -> _OperandBinder:
    def bind(values: Item) -> Bound:
        bound = operand(values)
        _check_types(kind, "size", [bound], _SIZED_TYPES)
        return operators.size(bound)

    return bind


def check_distinct(kind: str, symbol: str, operands: Sequence[Operand]) -> None:
    """Refuse a path that is compared with itself."""
    first = operands[0]
    if isinstance(first, PathNode) and first in operands[1:]:
        raise invalid(
            kind,
            "The first operand must be distinct from the remaining operands for this operator or function; "
            f"operator: {symbol}, first operand: {show(first.path)}",
        )


def _check_types(kind: str, symbol: str, operands: Sequence[Bound], allowed: frozenset[str]) -> None:
    for operand in operands:
        if operand.type is not None and operand.type not in allowed:
            raise wrong_type(kind, symbol, operand.type)


def check_bounds(kind: str, low: AttributeValue, high: AttributeValue) -> None:
    """Refuse bounds of BETWEEN that have different types or are in the wrong order."""
    if low.keys() != high.keys():
        rule = "requires same data type for lower and upper bounds"
    elif operators.rank(low) > operators.rank(high):
        rule = "requires upper bound to be greater than or equal to lower bound"
    else:
        return
    shown = f"lower bound operand: {_show_value(low)}, upper bound operand: {_show_value(high)}"
    raise invalid(kind, f"The BETWEEN operator {rule}; {shown}")


def _show_value(value: AttributeValue) -> str:
    ((kind, content),) = value.items()
    return f"AttributeValue: {{{kind}:{content}}}"


def _equal(kind: str, symbol: str, operands: list[Bound]) -> Matcher:
    return operators.equal(*operands)


def _not_equal(kind: str, symbol: str, operands: list[Bound]) -> Matcher:
    return operators.not_equal(*operands)


def _ordered(kind: str, symbol: str, operands: list[Bound]) -> Matcher:
    _check_types(kind, symbol, operands, ORDERED_TYPES)
    return operators.ordered(symbol, *operands)


def _between(kind: str, symbol: str, operands: list[Bound]) -> Matcher:
    _check_types(kind, symbol, operands, ORDERED_TYPES)
    _, low, high = operands
    if low.constant is not None and high.constant is not None:
        check_bounds(kind, low.constant, high.constant)
    return operators.between(*operands)


def _one_of(kind: str, symbol: str, operands: list[Bound]) -> Matcher:
    return operators.one_of(operands[0], operands[1:])


def _begins_with(kind: str, symbol: str, operands: list[Bound]) -> Matcher:
    _check_types(kind, symbol, operands, PREFIX_TYPES)
    return operators.begins_with(*operands)


def _contains(kind: str, symbol: str, operands: list[Bound]) -> Matcher:
    _check_types(kind, symbol, operands[:1], _CONTAINER_TYPES)
    return operators.contains(*operands)


def _exists(kind: str, symbol: str, operands: list[Bound]) -> Matcher:
    return operators.exists(*operands)


def _not_exists(kind: str, symbol: str, operands: list[Bound]) -> Matcher:
    return operators.not_exists(*operands)


def _has_type(kind: str, symbol: str, operands: list[Bound]) -> Matcher:
    wanted = operands[1]
    if wanted.constant is None or wanted.type != "S":
        raise wrong_type(kind, symbol, wanted.type or _ANY_TYPE)
    name = wanted.constant["S"]
    if name not in TYPE_NAMES:
        raise invalid(kind, f"Invalid attribute type name found; type: {name}, valid types: {{{','.join(TYPE_NAMES)}}}")
    return operators.has_type(operands[0], name)


_Builder: TypeAlias = Callable[[str, str, list[Bound]], Matcher]

_COMPARISONS: dict[str, _Builder] = {
    "=": _equal,
    "<>": _not_equal,
    "<": _ordered,
    "<=": _ordered,
    ">": _ordered,
    ">=": _ordered,
    "BETWEEN": _between,
    "IN": _one_of,
}

_FUNCTIONS: dict[str, _Builder] = {
    "attribute_exists": _exists,
    "attribute_not_exists": _not_exists,
    "attribute_type": _has_type,
    "begins_with": _begins_with,
    "contains": _contains,
}
