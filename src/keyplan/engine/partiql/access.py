"""How a WHERE clause finds its items: by their keys, by the partitions that it names, or not at all.

A condition on keys is found by the shape of the tree, before the values are known: what is found is kept for each
statement and key schema. Partition keys may be joined by OR, or be listed with IN; the conditions on the sort key are
those that are joined to them by AND.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from keyplan.engine.errors import validation_error
from keyplan.engine.expressions.condition import Condition, bind_condition
from keyplan.engine.expressions.grammar import CACHE_SIZE
from keyplan.engine.expressions.key_condition import MIRRORED, KeyCondition
from keyplan.engine.expressions.nodes import Leaf, ParsedCondition, PathNode, ValueNode
from keyplan.engine.expressions.paths import resolve
from keyplan.engine.partiql.where import Junction, Placeholders, Tree, steps
from keyplan.engine.values.attribute_values import Item

MAXIMUM_PARTITIONS = 50


@dataclass(frozen=True, slots=True, eq=False)
class Where:
    """A WHERE clause, shared by all requests with the statement. It is compared by identity, so that it can be cached.

    `kind` is the kind of expression that it is reported as.
    """

    kind: str
    tree: Tree
    placeholders: Placeholders

    def parsed(self, tree: Tree | None) -> ParsedCondition | None:
        """Return a part of the clause as the condition that it is."""
        marks = self.placeholders
        return None if tree is None else ParsedCondition(self.kind, marks.name_marks, marks.value_marks, steps(tree))

    def bound(self, parsed: ParsedCondition | None, values: Item) -> Condition | None:
        """Return a part of the clause with its values."""
        return None if parsed is None else bind_condition(parsed, self.placeholders.names, values)


class _Part(NamedTuple):
    """A condition on one attribute, with the placeholders of its values."""

    attribute: str
    operator: str
    values: tuple[str, ...]
    leaf: Leaf


class Branch(NamedTuple):
    """A partition, by the placeholders of its key, and the conditions on the sort key.

    All conditions but those on the last attribute are equalities; there may be several on the last one.
    """

    hash: tuple[str, ...]
    equal: tuple[str, ...]
    last: tuple[tuple[str, tuple[str, ...]], ...]

    def key_conditions(self, values: Item) -> list[KeyCondition]:
        """Return the conditions that an item in this branch meets, all of them together."""
        hash_values = [values[mark] for mark in self.hash]
        equal = [("=", (values[mark],)) for mark in self.equal]
        if not self.last:
            return [KeyCondition(hash_values, [*equal])]
        return [
            KeyCondition(hash_values, [*equal, (operator, tuple([values[mark] for mark in marks]))])
            for operator, marks in self.last
        ]


class Access(NamedTuple):
    """The partitions that a clause names, or None if all of them have to be searched; and what is left to filter."""

    branches: tuple[Branch, ...] | None
    filter: ParsedCondition | None


class ExactKey(NamedTuple):
    """The attributes of a complete key with their placeholders; and what is left as a condition."""

    marks: dict[str, str]
    condition: ParsedCondition | None

    def key(self, values: Item) -> Item:
        """Return the key with the values of one request."""
        return {name: values[mark] for name, mark in self.marks.items()}


@lru_cache(maxsize=CACHE_SIZE)
def access_of(where: Where, hashes: tuple[str, ...], ranges: tuple[str, ...]) -> Access:
    """Return how to find the items that a clause describes, by the key with these attributes."""
    search = _Search(where, hashes, ranges)
    branches = search.branches(where.tree)
    if branches is None:
        return Access(None, where.parsed(where.tree))
    if len(branches) > MAXIMUM_PARTITIONS:
        raise validation_error(
            f"The IN operator is provided with too many hash key values; number of values: {len(branches)}"
        )
    # With one partition, the conditions on its key are met by everything that is read.
    rest = _without(where.tree, search.used) if len(branches) == 1 else where.tree
    return Access(tuple(branches), where.parsed(rest))


@lru_cache(maxsize=CACHE_SIZE)
def exact_key(where: Where, names: tuple[str, ...]) -> ExactKey | None:
    """Return the key that a clause sets equal to values, if it has all of these attributes; otherwise None."""
    parts = [part for part in _parts(_leaves(where.tree), where) if part.operator == "="]
    first = {part.attribute: part for part in reversed(parts)}
    if not all(name in first for name in names):
        return None
    rest = _without(where.tree, [first[name].leaf for name in names])
    return ExactKey({name: first[name].values[0] for name in names}, where.parsed(rest))


class _Search:
    """Looks for the partitions in a tree."""

    def __init__(self, where: Where, hashes: tuple[str, ...], ranges: tuple[str, ...]) -> None:
        self._where = where
        self._hashes = hashes
        self._ranges = ranges
        self.used: list[Leaf] = []
        """The leaves that the found branches stand for."""

    def branches(self, tree: Tree) -> list[Branch] | None:
        return self._search(_leaves(tree), _alternatives(tree))

    def _search(self, leaves: Sequence[Leaf], alternatives: Sequence[Junction]) -> list[Branch] | None:
        """The branches of conditions that are joined by AND, of which some are alternatives."""
        found = self._from_leaves(leaves)
        if found is not None:
            return found
        for junction in alternatives:
            result: list[Branch] = []
            for member in junction.members:
                part = self._search([*leaves, *_leaves(member)], _alternatives(member))
                if part is None:
                    break
                result += part
            else:
                return result
        return None

    def _from_leaves(self, leaves: Sequence[Leaf]) -> list[Branch] | None:
        parts = _parts(leaves, self._where)
        equal = {part.attribute: part for part in reversed(parts) if part.operator == "="}
        if all(name in equal for name in self._hashes):
            self.used += [equal[name].leaf for name in self._hashes]
            keys = [tuple([equal[name].values[0] for name in self._hashes])]
        elif len(self._hashes) == 1:
            listed = next((part for part in parts if part.operator == "IN" and part.attribute in self._hashes), None)
            if listed is None:
                return None
            keys = [(value,) for value in listed.values]
        else:
            return None
        sort_equal, last = self._sort_conditions(parts, equal)
        return [Branch(key, sort_equal, last) for key in keys]

    def _sort_conditions(
        self, parts: Sequence[_Part], equal: dict[str, _Part]
    ) -> tuple[tuple[str, ...], tuple[tuple[str, tuple[str, ...]], ...]]:
        """The equalities on the first attributes of the sort key, and the conditions on the next one."""
        values: list[str] = []
        for name in self._ranges:
            if name in equal:
                self.used.append(equal[name].leaf)
                values.append(equal[name].values[0])
                continue
            last = [part for part in parts if part.attribute == name and part.operator != "IN"]
            self.used += [part.leaf for part in last]
            return tuple(values), tuple([(part.operator, part.values) for part in last])
        return tuple(values), ()


def _leaves(tree: Tree) -> list[Leaf]:
    """The conditions of a tree that are joined only by AND."""
    if not isinstance(tree, Junction):
        return [tree]
    return [member for member in tree.members if not isinstance(member, Junction)] if tree.operator == "AND" else []


def _alternatives(tree: Tree) -> list[Junction]:
    """The conditions with OR of a tree that are joined only by AND."""
    if not isinstance(tree, Junction):
        return []
    members: Sequence[Tree] = tree.members if tree.operator == "AND" else [tree]
    return [member for member in members if isinstance(member, Junction) and member.operator == "OR"]


def _parts(leaves: Iterable[Leaf], where: Where) -> list[_Part]:
    """The conditions that compare one attribute with values."""
    marks = where.placeholders
    names = dict(zip(marks.name_marks, marks.names, strict=True))
    return [part for leaf in leaves if (part := _part(leaf, names)) is not None]


def _part(leaf: Leaf, names: dict[str, str]) -> _Part | None:
    operator, operands = leaf
    if operator in MIRRORED and isinstance(operands[0], ValueNode):
        operator, operands = MIRRORED[operator], operands[::-1]
    elif operator not in MIRRORED and operator not in ("BETWEEN", "IN", "begins_with"):
        return None
    subject, *rest = operands
    values = [operand.name for operand in rest if isinstance(operand, ValueNode)]
    if not isinstance(subject, PathNode) or len(subject.path) > 1 or len(values) < len(rest):
        return None
    return _Part(str(resolve(subject.path, names)[0]), operator, tuple(values), leaf)


def _without(tree: Tree, used: Sequence[Leaf]) -> Tree | None:
    """What is left of a tree without some of the conditions that are joined by AND."""
    if not isinstance(tree, Junction):
        return None if any(tree is leaf for leaf in used) else tree
    left = [member for member in tree.members if not any(member is leaf for leaf in used)]
    if tree.operator != "AND" or len(left) == len(tree.members):
        return tree
    return (Junction("AND", tuple(left)) if len(left) > 1 else left[0]) if left else None
