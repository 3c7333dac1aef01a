"""What the parser makes of a text: small immutable nodes, placeholders still in them."""

from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from keyplan.engine.expressions.paths import Path


class PathNode(NamedTuple):
    """A document path; a part that begins with `#` stands for a name yet to be looked up."""

    path: Path


class ValueNode(NamedTuple):
    """A value's placeholder, colon included."""

    name: str


class CallNode(NamedTuple):
    """A function and what it is called with."""

    function: str
    arguments: "tuple[Operand, ...]"


Operand: TypeAlias = PathNode | ValueNode | CallNode


class Comparison(NamedTuple):
    """`left = right` and its like, `operand BETWEEN low AND high`, or `operand IN (...)`."""

    operator: str
    operands: tuple[Operand, ...]


Leaf: TypeAlias = Comparison | CallNode
Step: TypeAlias = Leaf | str
"""A leaf, or "AND", "OR", "NOT" for what stands before it: a condition in postfix order needs no recursion."""


class Arithmetic(NamedTuple):
    """`left + right` or `left - right` in a SET."""

    operator: str
    left: Operand
    right: Operand


class Action(NamedTuple):
    """One action of an update expression; REMOVE has no operand."""

    section: str
    path: Path
    operand: Operand | Arithmetic | None


@dataclass(frozen=True, slots=True, eq=False)
class Parsed:
    """A text of one kind, parsed once and shared: which placeholders it uses, in the order of their appearance.

    Compared by identity, so that what is worked out from it can be cached under it.
    """

    kind: str
    names: tuple[str, ...]
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class ParsedCondition(Parsed):
    """A condition, filter or key condition."""

    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True, eq=False)
class ParsedProjection(Parsed):
    """A projection."""

    paths: tuple[Path, ...]


@dataclass(frozen=True, slots=True, eq=False)
class ParsedUpdate(Parsed):
    """An update."""

    actions: tuple[Action, ...]
