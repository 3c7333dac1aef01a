"""`Picture`: shapes with their places, which `svg` writes."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from keyplan.publish.diagrams.text import BOLD, MONO, width


@dataclass(frozen=True)
class Box:
    """A rectangle."""

    x: float
    y: float
    width: float
    height: float
    look: str
    radius: float = 6


@dataclass(frozen=True)
class Label:
    """A line of text, which begins at `x` and stands on `y`."""

    x: float
    y: float
    text: str
    look: str
    size: float = 12
    bold: bool = False

    @property
    def width(self) -> float:
        """How wide it is at most."""
        return width(self.text, self.size, BOLD if self.bold else MONO)


@dataclass(frozen=True)
class Line:
    """A line with curves, in SVG's notation of paths."""

    path: str
    look: str


@dataclass(frozen=True)
class Arrow:
    """The head of an arrow with its point at a place; it points to the left or to the right."""

    x: float
    y: float
    look: str
    left: bool


Shape: TypeAlias = Box | Label | Line | Arrow


@dataclass
class Picture:
    """Shapes on an area of this size."""

    width: float = 0
    height: float = 0
    shapes: list[Shape] = field(default_factory=list)

    def add(self, *shapes: Shape) -> None:
        """Add shapes, in front of those before."""
        self.shapes += shapes

    def box(self, x: float, y: float, width: float, height: float, look: str, radius: float = 6) -> None:
        """Add a rectangle."""
        self.shapes.append(Box(x, y, width, height, look, radius))

    def text(self, x: float, y: float, text: str, look: str = "t", size: float = 12, *, bold: bool = False) -> Label:
        """Add a line of text."""
        label = Label(x, y, text, look, size, bold)
        self.shapes.append(label)
        return label

    def lines(self, x: float, y: float, lines: Sequence[str], look: str = "t", size: float = 12) -> None:
        """Add lines of text below each other."""
        for number, each in enumerate(lines):
            self.text(x, y + number * (size + 4), each, look, size)
