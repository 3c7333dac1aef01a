"""Draws items by partition, as a table or an index has them: the aggregate view."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from keyplan.publish.diagrams.picture import Line, Picture
from keyplan.publish.diagrams.subjects import Collections, ItemGroup, Row
from keyplan.publish.diagrams.svg import HUES
from keyplan.publish.diagrams.text import MONO, cells, shortened, wrapped

_SIZE = 12.0
_STEP = 17.0
_PAD = 10.0
_KEY_COLUMNS = 34
_ATTRIBUTE_COLUMNS = 76
_VALUE_COLUMNS = 26
_MOST_ATTRIBUTES = 16
_CHARACTER = _SIZE * MONO


@dataclass
class _Cell:
    """A row with its text broken into lines."""

    sort: list[str]
    what: str
    attributes: list[list[tuple[str, str]]]

    @property
    def height(self) -> float:
        return max(len(self.sort) + 1.3, len(self.attributes), 1) * _STEP + _PAD + 4


def draw_collections(subject: Collections) -> Picture:
    """A row for each item, with its sort key and attributes, next to the partition key that it is under."""
    whats = list(dict.fromkeys(row.what for group in subject.groups for row in group.rows))
    hues = {what: f"h{number % HUES}" for number, what in enumerate(sorted(whats))}
    cells_ = [[_cell(row) for row in group.rows] for group in subject.groups]
    first = _column([wrapped(group.partition, _KEY_COLUMNS) for group in subject.groups], subject.partition_name)
    sorts = [cell.sort for group in cells_ for cell in group] + [[f"{what}  "] for what in whats]
    second = _column(sorts, subject.sort_name)
    lines = [sum(cells(n) + cells(v) + 4 for n, v in line) for g in cells_ for c in g for line in c.attributes]
    third = max(lines, default=0) * _CHARACTER + 2 * _PAD
    third = max(third, _CHARACTER * 12 + 2 * _PAD)
    columns = (first, second, third)
    picture = Picture(sum(columns) + 2, 0)
    y = _heading(picture, subject, columns)
    for group, rows in zip(subject.groups, cells_, strict=True):
        y = _group(picture, group, rows, columns, y, hues) + 10
    picture.height = y - 8
    return picture


def _column(texts: Sequence[Sequence[str]], name: str) -> float:
    longest = max((cells(line) for text in texts for line in text), default=0)
    return max(longest, cells(name) + 16, 12) * _CHARACTER + 2 * _PAD


def _heading(picture: Picture, subject: Collections, columns: tuple[float, float, float]) -> float:
    names = ((subject.partition_name, "partition key"), (subject.sort_name, "sort key"), ("Attributes", ""))
    x = 1.0
    for (name, role), wide in zip(names, columns, strict=True):
        label = picture.text(x + _PAD, 18, name, "t", _SIZE)
        if role and name:
            picture.text(x + _PAD + label.width + 8, 18, role, "m", 11)
        x += wide
    return 28


def _group(
    picture: Picture,
    group: ItemGroup,
    rows: Sequence[_Cell],
    columns: tuple[float, float, float],
    y: float,
    hues: dict[str, str],
) -> float:
    """Draw a partition; returns where it ends."""
    first, second, third = columns
    partition = wrapped(group.partition, _KEY_COLUMNS)
    height = max(sum(row.height for row in rows), len(partition) * _STEP + 2 * _PAD)
    picture.box(1, y, sum(columns), height, "card")
    picture.box(1, y, first, height, "soft")
    picture.lines(1 + _PAD, y + _PAD + _SIZE, partition, "t", _SIZE)
    top = y
    for number, row in enumerate(rows):
        if number:
            picture.add(_rule(1 + first, top, second + third))
        _row(picture, row, 1 + first, 1 + first + second, top, hues[row.what])
        top += row.height
    return y + height


def _rule(x: float, y: float, wide: float) -> Line:
    return Line(f"M{x:g} {y:g}h{wide:g}", "rule")


def _row(picture: Picture, row: _Cell, sort_x: float, attributes_x: float, y: float, hue: str) -> None:
    wide = cells(row.what) * 11 * MONO + 12
    picture.box(sort_x + _PAD, y + 7, wide, 17, hue, 4)
    picture.text(sort_x + _PAD + 6, y + 19.5, row.what, "t", 11)
    picture.lines(sort_x + _PAD, y + 7 + 17 + _SIZE + 3, row.sort, "t", _SIZE)
    for number, line in enumerate(row.attributes):
        x = attributes_x + _PAD
        for name, value in line:
            at = y + _PAD + _SIZE + number * _STEP
            picture.text(x, at, name, "m", _SIZE)
            picture.text(x + (cells(name) + 1) * _CHARACTER, at, value, "t", _SIZE)
            x += (cells(name) + cells(value) + 4) * _CHARACTER


def _cell(row: Row) -> _Cell:
    return _Cell(wrapped(row.sort, _KEY_COLUMNS), shortened(row.what, 30), list(_flowed(row.attributes)))


def _flowed(attributes: Sequence[tuple[str, str]]) -> Iterator[list[tuple[str, str]]]:
    """Attributes with their values, as many in a line as fit."""
    line: list[tuple[str, str]] = []
    taken = 0
    shown = [(shortened(name, 30), shortened(value, _VALUE_COLUMNS)) for name, value in attributes[:_MOST_ATTRIBUTES]]
    if len(attributes) > _MOST_ATTRIBUTES:
        shown.append((f"and {len(attributes) - _MOST_ATTRIBUTES} more", ""))
    for name, value in shown:
        needed = cells(name) + cells(value) + 4
        if line and taken + needed > _ATTRIBUTE_COLUMNS:
            yield line
            line, taken = [], 0
        line.append((name, value))
        taken += needed
    if line:
        yield line
