"""Puts the nodes of a graph into columns and in an order in which few lines cross, always the same way.

A node is to the right of all that it points to. A line over several columns passes through a point in each of them.
Nodes without lines go into columns of their own below.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

_SWEEPS = 8


@dataclass
class Layers:
    """Columns of nodes, and for each edge the nodes and points that it passes through, from left to right."""

    columns: list[list[str]]
    paths: dict[tuple[str, str], list[str]]
    points: set[str] = field(default_factory=set)
    """The names in columns that are points of a line, not nodes."""


def layers_of(nodes: Sequence[str], edges: Sequence[tuple[str, str]]) -> Layers:
    """The columns for these nodes; an edge leads from a node to one that stands to the left of it."""
    kept = _without_circles(nodes, dict.fromkeys((a, b) for a, b in edges if a != b))
    rank = _ranks(nodes, kept)
    columns: list[list[str]] = [[] for _ in range(max(rank.values(), default=0) + 1)]
    for node in nodes:
        columns[rank[node]].append(node)
    made = Layers(columns, {})
    for edge, (right, left) in kept.items():
        points = [f"{left}>{right}>{column}" for column in range(rank[left] + 1, rank[right])]
        for column, point in enumerate(points, rank[left] + 1):
            columns[column].append(point)
            made.points.add(point)
        made.paths[edge] = [left, *points, right]
    _sort(columns, made.paths.values())
    return made


def _without_circles(
    nodes: Sequence[str], edges: Mapping[tuple[str, str], None]
) -> dict[tuple[str, str], tuple[str, str]]:
    """Each edge with its right and its left node; those that would close a circle are turned around."""
    targets: dict[str, list[str]] = {node: [] for node in nodes}
    for source, target in edges:
        targets[source].append(target)
    state: dict[str, int] = {}
    kept: dict[tuple[str, str], tuple[str, str]] = {}

    def visit(node: str) -> None:
        state[node] = 1
        for target in targets[node]:
            turned = state.get(target) == 1
            kept[node, target] = (target, node) if turned else (node, target)
            if target not in state:
                visit(target)
        state[node] = 2

    for node in nodes:
        if node not in state:
            visit(node)
    return {edge: kept[edge] for edge in edges}


def _ranks(nodes: Sequence[str], kept: Mapping[tuple[str, str], tuple[str, str]]) -> dict[str, int]:
    """The column of each node: one more than that of the rightmost node that it points to."""
    rank = dict.fromkeys(nodes, 0)
    for _ in nodes:
        moved = False
        for right, left in kept.values():
            if rank[right] <= rank[left]:
                rank[right], moved = rank[left] + 1, True
        if not moved:
            break
    return rank


def _sort(columns: list[list[str]], paths: Iterable[list[str]]) -> None:
    """Put the nodes of each column where those that they are joined to are on average."""
    neighbors: dict[str, list[str]] = {}
    for path in paths:
        for one, other in pairwise(path):
            neighbors.setdefault(one, []).append(other)
            neighbors.setdefault(other, []).append(one)
    for sweep in range(_SWEEPS):
        for number in range(len(columns)) if sweep % 2 else reversed(range(len(columns))):
            _arrange(columns[number], neighbors, _beside(columns, number))


def _beside(columns: Sequence[Sequence[str]], number: int) -> dict[str, float]:
    """Where the nodes of the columns beside one are, from 0 to 1."""
    return {
        name: (position + 0.5) / len(columns[other])
        for other in (number - 1, number + 1)
        if 0 <= other < len(columns)
        for position, name in enumerate(columns[other])
    }


def _arrange(column: list[str], neighbors: Mapping[str, Sequence[str]], at: Mapping[str, float]) -> None:
    before = {name: position for position, name in enumerate(column)}

    def average(name: str) -> float:
        found = [at[each] for each in neighbors.get(name, ()) if each in at]
        return sum(found) / len(found) if found else (before[name] + 0.5) / len(column)

    column.sort(key=lambda name: (round(average(name), 6), before[name]))
