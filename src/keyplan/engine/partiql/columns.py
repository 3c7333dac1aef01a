"""The columns of a SELECT. Unlike in a projection expression, a nested value is returned by its own name."""

from collections.abc import Sequence

from keyplan.engine.expressions.paths import Path, getter, top_level
from keyplan.engine.partiql.nodes import CallNode, Node, OperationNode, PathNode
from keyplan.engine.partiql.statement_errors import unsupported
from keyplan.engine.values.attribute_values import Item


class Columns:
    """The attributes and nested values that a SELECT returns of an item."""

    __slots__ = ("_getters", "attributes")

    def __init__(self, paths: Sequence[Path]) -> None:
        self.attributes = top_level(paths)
        """The top-level attributes that the paths start with."""
        self._getters = [(_name(path), getter(path)) for path in paths]

    def apply(self, item: Item) -> Item:
        """Return the values of the columns that an item has."""
        return {name: value for name, get in self._getters if (value := get(item)) is not None}


def columns(nodes: Sequence[Node]) -> Columns:
    """Return the columns of a SELECT; raise AWS's error for anything but paths."""
    return Columns([_path(node) for node in nodes])


def _path(node: Node) -> Path:
    match node:
        case PathNode(path):
            return path
        case CallNode(function, _, span):
            raise unsupported("function", function, span)
        case OperationNode(operator, _, span):
            raise unsupported("operator", operator.upper(), span)
    raise unsupported("column", "an attribute is needed", node.span)


def _name(path: Path) -> str:
    """The last name of a path with the indexes after it: `b[0]` for `a.b[0]`."""
    last = max(position for position, part in enumerate(path) if isinstance(part, str))
    return f"{path[last]}{''.join([f'[{index}]' for index in path[last + 1 :]])}"
