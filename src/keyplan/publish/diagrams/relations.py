"""Draws entities and how they depend on each other: boxes in columns, each to the right of what it depends on."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from keyplan.publish.diagrams.layers import Layers, layers_of
from keyplan.publish.diagrams.picture import Arrow, Line, Picture
from keyplan.publish.diagrams.subjects import Edge, EdgeKind, Node, Relations
from keyplan.publish.diagrams.text import BOLD, MONO, cells, shortened, wrapped

_SIZE = 11.0
_STEP = 15.0
_PAD = 10.0
_COLUMNS = 38
_NARROW_COLUMNS = 30
"""How wide boxes are at most in pictures with many columns."""
_MANY = 4
_BETWEEN_ROWS = 20.0
_BETWEEN_COLUMNS = 56.0
_POINT = 8.0
_LEGEND: dict[EdgeKind, str] = {
    "cascade": "belongs to, and is deleted with it",
    "refuse": "belongs to, which can't be deleted while this exists",
    "keep": "belongs to, and stays when that is deleted",
    "copy": "is copied or made into",
    "count": "counts on",
}
_MOST_IN_A_ROW = 3


@dataclass
class _Placed:
    """A box, or a point of a line, with its place."""

    x: float
    y: float
    width: float
    height: float

    @property
    def middle(self) -> float:
        return self.y + self.height / 2


def draw_relations(subject: Relations) -> Picture:
    """A box for each entity with its keys, and a line for each dependence."""
    edges = [(edge.source, edge.target) for edge in subject.edges if edge.source != edge.target]
    joined = {name for edge in edges for name in edge}
    layers = layers_of([node.name for node in subject.nodes if node.name in joined], edges)
    columns = _COLUMNS if len(layers.columns) <= _MANY else _NARROW_COLUMNS
    texts = {node.name: _texts(node, columns) for node in subject.nodes}
    sizes = {node.name: _size(node, texts[node.name]) for node in subject.nodes}
    places = _places(layers, sizes)
    bottom = max((each.y + each.height for each in places.values()), default=0)
    alone = [node.name for node in subject.nodes if node.name not in joined]
    _place_alone(places, alone, sizes, bottom + (2 * _BETWEEN_ROWS if joined else 0))
    picture = Picture()
    _draw_edges(picture, subject.edges, layers, places)
    for node in subject.nodes:
        _draw_node(picture, node, texts[node.name], places[node.name])
    picture.width = max(each.x + each.width for each in places.values()) + 24
    bottom = max(each.y + each.height for each in places.values())
    picture.height = _draw_legend(picture, subject.edges, bottom + 30)
    return picture


def _texts(node: Node, columns: int) -> list[tuple[str, str]]:
    """The lines of a box, each with what it is where that changes."""
    found = []
    for what, text in node.lines:
        parts = [line for part in text.split(" / ") for line in wrapped(part, columns - _indent(node), most=3)]
        found += [(what if not number else "", part) for number, part in enumerate(parts)]
    return found


def _indent(node: Node) -> int:
    return max((cells(what) for what, _ in node.lines), default=0) + 1


def _size(node: Node, texts: Sequence[tuple[str, str]]) -> tuple[float, float]:
    longest = max((_indent(node) + cells(text) for _, text in texts), default=0)
    wide = max(longest * _SIZE * MONO, cells(shortened(node.name, 34)) * 13 * BOLD, 90) + 2 * _PAD
    return wide, 30 + len(texts) * _STEP + 6


def _places(layers: Layers, sizes: Mapping[str, tuple[float, float]]) -> dict[str, _Placed]:
    """Where boxes and points are: in columns, near what they are joined to, without overlaps."""
    places: dict[str, _Placed] = {}
    x = 12.0
    for column in layers.columns:
        wide = max((sizes[name][0] for name in column if name not in layers.points), default=40)
        y = 12.0
        for name in column:
            own_width, high = (wide, _POINT) if name in layers.points else sizes[name]
            places[name] = _Placed(x, y, own_width, high)
            y += high + _BETWEEN_ROWS
        x += wide + _BETWEEN_COLUMNS
    for turn in range(12):
        for number in range(len(layers.columns)) if turn % 2 else reversed(range(len(layers.columns))):
            _settle(layers, number, places)
    top = min((each.y for each in places.values()), default=12.0)
    for each in places.values():
        each.y += 12.0 - top
    return places


def _settle(layers: Layers, number: int, places: Mapping[str, _Placed]) -> None:
    """Move the nodes of a column toward what they are joined to, and apart again."""
    column = layers.columns[number]
    wanted = {}
    for name in column:
        beside = [
            places[other].middle
            for path in layers.paths.values()
            for one, other in (*pairwise(path), *pairwise(path[::-1]))
            if one == name
        ]
        at = places[name]
        wanted[name] = (sum(beside) / len(beside) if beside else at.middle) - at.height / 2
    down = up = 0.0
    tops: list[float] = []
    for name in column:
        down = max(wanted[name], down) if tops else wanted[name]
        tops.append(down)
        down += places[name].height + _BETWEEN_ROWS
    bottoms: list[float] = []
    for name in reversed(column):
        end = wanted[name] + places[name].height
        up = min(end, up) if bottoms else end
        bottoms.append(up - places[name].height)
        up -= places[name].height + _BETWEEN_ROWS
    middles = [(one + other) / 2 for one, other in zip(tops, reversed(bottoms), strict=True)]
    for name, top in zip(column, middles, strict=True):
        places[name].y = top


def _place_alone(
    places: dict[str, _Placed], alone: Sequence[str], sizes: Mapping[str, tuple[float, float]], top: float
) -> None:
    """Nodes without lines, in rows below the others."""
    right = max((each.x + each.width for each in places.values()), default=760.0)
    x, y, high = 12.0, max(top, 12.0), 0.0
    for name in alone:
        wide, own = sizes[name]
        if x > 12.0 and x + wide > max(right, 760.0):
            x, y, high = 12.0, y + high + _BETWEEN_ROWS, 0.0
        places[name] = _Placed(x, y, wide, own)
        x, high = x + wide + _BETWEEN_ROWS, max(high, own)


def _draw_node(picture: Picture, node: Node, texts: Sequence[tuple[str, str]], at: _Placed) -> None:
    picture.box(at.x, at.y, at.width, at.height, "card")
    picture.text(at.x + _PAD, at.y + 20, shortened(node.name, 34), "t", 13, bold=True)
    inset = _indent(node) * _SIZE * MONO
    for number, (what, text) in enumerate(texts):
        y = at.y + 38 + number * _STEP
        picture.text(at.x + _PAD, y, what, "m", _SIZE)
        picture.text(at.x + _PAD + inset, y, text, "t", _SIZE)


# Lines


def _draw_edges(picture: Picture, edges: Sequence[Edge], layers: Layers, places: Mapping[str, _Placed]) -> None:
    drawn = [edge for edge in edges if edge.source != edge.target]
    ports = _ports(drawn, layers, places)
    for number, edge in enumerate(drawn):
        path = layers.paths[edge.source, edge.target]
        start, end = ports[number]
        line = _curve([places[name] for name in path], start, end)
        picture.add(Line(line, edge.kind))
        forward = edge.kind == "copy"
        turned = path[0] != edge.target
        first, last = places[path[0]], places[path[-1]]
        if forward != turned:
            picture.add(Arrow(last.x, end, edge.kind, left=False))
        else:
            picture.add(Arrow(first.x + first.width, start, edge.kind, left=True))
    for edge in edges:
        if edge.source == edge.target and edge.source in places:
            _draw_loop(picture, edge, places[edge.source])


def _draw_loop(picture: Picture, edge: Edge, at: _Placed) -> None:
    x, y = at.x + at.width, at.y + at.height - 20
    picture.add(Line(f"M{x:.1f} {y:.1f}c20 0 20 14 0 14", edge.kind), Arrow(x, y, edge.kind, left=True))


def _ports(edges: Sequence[Edge], layers: Layers, places: Mapping[str, _Placed]) -> list[tuple[float, float]]:
    """Where each line leaves its left box and reaches its right box, in the order of the boxes at the other end."""
    ends: dict[tuple[str, bool], list[tuple[float, int]]] = {}
    for number, edge in enumerate(edges):
        path = layers.paths[edge.source, edge.target]
        ends.setdefault((path[0], True), []).append((places[path[1]].middle, number))
        ends.setdefault((path[-1], False), []).append((places[path[-2]].middle, number))
    found: list[list[float]] = [[0.0, 0.0] for _ in edges]
    for (name, leaves), others in ends.items():
        at = places[name]
        for position, (_, number) in enumerate(sorted(others)):
            found[number][0 if leaves else 1] = at.y + at.height * (position + 1) / (len(others) + 1)
    return [(start, end) for start, end in found]


def _curve(stops: Sequence[_Placed], start: float, end: float) -> str:
    x, y = stops[0].x + stops[0].width, start
    path = f"M{x:.1f} {y:.1f}"
    for number, stop in enumerate(stops[1:], 1):
        to = end if number == len(stops) - 1 else stop.middle
        half = max((stop.x - x) / 2, 10)
        path += f"C{x + half:.1f} {y:.1f} {stop.x - half:.1f} {to:.1f} {stop.x:.1f} {to:.1f}"
        x, y = stop.x, to
        if number < len(stops) - 1:
            path += f"h{stop.width:.1f}"
            x += stop.width
    return path


def _draw_legend(picture: Picture, edges: Sequence[Edge], y: float) -> float:
    """What the kinds of lines mean, as far as they occur; returns where it ends."""
    for kind, text in _LEGEND.items():
        if any(edge.kind == kind for edge in edges):
            picture.add(Line(f"M12 {y - 4:.1f}h44", kind))
            forward = kind == "copy"
            picture.add(Arrow(58 if forward else 10, y - 4, kind, left=not forward))
            label = picture.text(70, y, text, "m", _SIZE)
            picture.width = max(picture.width, 70 + label.width + 12)
            y += 18
    return y
