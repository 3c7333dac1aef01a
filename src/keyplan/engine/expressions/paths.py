"""Document paths, and trees of paths.

A path is a tuple of names and list indexes. The paths of an update or a projection must not overlap, so they form a
tree whose leaves are the paths' positions; reading or writing along the tree visits every map and list once.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from typing import TypeAlias, cast

from keyplan.engine.errors import DynamoError
from keyplan.engine.expressions.expression_errors import invalid
from keyplan.engine.values.attribute_values import AttributeValue, Item

Path: TypeAlias = tuple[str | int, ...]
Tree: TypeAlias = "dict[str | int, int | Tree]"
Getter: TypeAlias = Callable[[Item], AttributeValue | None]

MAXIMUM_DEPTH = 32
MAXIMUM_INDEX = 2**32 - 2


def resolve(path: Path, names: Mapping[str, str]) -> Path:
    """Return the path with attribute names in place of placeholders."""
    return tuple([names[part] if isinstance(part, str) and part[0] == "#" else part for part in path])


def show(path: Path) -> str:
    """Return the path as in AWS's messages: `[a, [0], b]`."""
    return f"[{', '.join(f'[{part}]' if isinstance(part, int) else part for part in path)}]"


def top_level(paths: Iterable[Path]) -> frozenset[str]:
    """Return the attributes of the item that the paths start with."""
    return frozenset([cast(str, path[0]) for path in paths])


def getter(path: Path) -> Getter:
    """Return a function from an item to the value at the path, or None."""
    name = cast(str, path[0])
    if len(path) == 1:
        return lambda item: item.get(name)
    rest = path[1:]

    def get(item: Item) -> AttributeValue | None:
        value = item.get(name)
        for part in rest:
            if value is None:
                return None
            value = _member(value, part)
        return value

    return get


def _member(value: AttributeValue, part: str | int) -> AttributeValue | None:
    if isinstance(part, str):
        members = value.get("M")
        return None if members is None else members.get(part)
    elements = value.get("L")
    return None if elements is None or part >= len(elements) else elements[part]


def tree(kind: str, paths: Sequence[Path]) -> Tree:
    """Return the tree of the paths; raise AWS's error if two of them overlap or conflict."""
    root: Tree = {}
    for position, path in enumerate(paths):
        _insert(kind, root, paths, position, path)
    return _in_order(root)


def _insert(kind: str, root: Tree, paths: Sequence[Path], position: int, path: Path) -> None:
    node = root
    last = len(path) - 1
    for depth, part in enumerate(path):
        if node and type(next(iter(node))) is not type(part):
            raise _paths_error(kind, "conflict", paths[_first_leaf(node)], path)
        child = node.get(part)
        if isinstance(child, int) or (depth == last and child is not None):
            raise _paths_error(kind, "overlap", paths[_first_leaf(child)], path)
        if depth == last:
            node[part] = position
        elif child is None:
            node[part] = node = {}
        else:
            node = child


def _first_leaf(node: "int | Tree") -> int:
    while not isinstance(node, int):
        node = next(iter(node.values()))
    return node


def _paths_error(kind: str, verb: str, one: Path, two: Path) -> DynamoError:
    return invalid(
        kind,
        f"Two document paths {verb} with each other; must remove or rewrite one of these paths; "
        f"path one: {show(one)}, path two: {show(two)}",
    )


def _in_order(node: Tree) -> Tree:
    """The tree with list indexes in ascending order, because lists are read and written from the front."""
    parts = list(node)
    if parts and isinstance(parts[0], int):
        parts.sort()
    return {part: child if isinstance(child := node[part], int) else _in_order(child) for part in parts}


def without(node: Tree, removed: Set[int]) -> Tree:
    """Return the tree without the leaves at these positions, and without what then has no leaves."""
    left: Tree = {}
    for part, child in node.items():
        if isinstance(child, int):
            if child not in removed:
                left[part] = child
        elif inner := without(child, removed):
            left[part] = inner
    return left


def pick(item: Item, wanted: Tree) -> Item:
    """Return the parts of the item at the leaves of the tree, inside their maps and lists; list elements move up."""
    result: Item = {}
    for name, child in wanted.items():
        value = item.get(cast(str, name))
        if value is None:
            continue
        part = value if isinstance(child, int) else _pick_value(value, child)
        if part is not None:
            result[cast(str, name)] = part
    return result


def _pick_value(value: AttributeValue, wanted: Tree) -> AttributeValue | None:
    if isinstance(next(iter(wanted)), str):
        members = value.get("M")
        picked = None if members is None else pick(members, wanted)
        return {"M": picked} if picked else None
    elements = value.get("L", [])
    found: list[AttributeValue] = []
    for index, child in wanted.items():
        if cast(int, index) >= len(elements):
            break
        element = elements[cast(int, index)]
        part = element if isinstance(child, int) else _pick_value(element, child)
        if part is not None:
            found.append(part)
    return {"L": found} if found else None
