"""The result of the parser: small immutable nodes, in which placeholders aren't resolved yet."""

from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from keyplan.engine.expressions.paths import Path


class PathNode(NamedTuple):
    """A document path; a part that begins with `#` is a placeholder for a name."""

    path: Path


class ValueNode(NamedTuple):
    """The placeholder of a value, including the colon."""

    name: str


class CallNode(NamedTuple):
    """A function call."""

    function: str
    arguments: "tuple[Operand, ...]"


Operand: TypeAlias = PathNode | ValueNode | CallNode


class Comparison(NamedTuple):
    """`left = right` and its like, `operand BETWEEN low AND high`, or `operand IN (...)`."""

    operator: str
    operands: tuple[Operand, ...]


Leaf: TypeAlias = Comparison | CallNode
Step: TypeAlias = Leaf | str
"""A leaf, or "AND", "OR", "NOT" for the steps before it: a condition in postfix order needs no recursion."""


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
    """A parsed text, shared by all requests that use it, with its placeholders in the order of the text.

    It is compared by identity, so that what is derived from it can be cached.
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
