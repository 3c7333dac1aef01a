"""What a document is written with: headings, paragraphs, tables, code and pictures. Every form renders these."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from keyplan.publish.diagrams import Drawing


@dataclass(frozen=True)
class Code:
    """A piece of text that is code."""

    text: str


@dataclass(frozen=True)
class Break:
    """The end of a line."""


@dataclass(frozen=True)
class Jump:
    """A link to a heading of the document."""

    text: str
    anchor: str


Span: TypeAlias = str | Code | Break | Jump
Text: TypeAlias = Sequence[Span]


@dataclass(frozen=True)
class Heading:
    """A heading. `anchor` is its name in links of a page."""

    level: int
    text: Text
    anchor: str


@dataclass(frozen=True)
class Paragraph:
    """A paragraph."""

    text: Text


@dataclass(frozen=True)
class Bullets:
    """A list."""

    items: Sequence[Text]


@dataclass(frozen=True)
class Rows:
    """A table."""

    head: Sequence[str]
    rows: Sequence[Sequence[Text]]


@dataclass(frozen=True)
class Listing:
    """Code of a language."""

    language: str
    text: str


@dataclass(frozen=True)
class Figure:
    """A picture."""

    drawing: Drawing


@dataclass(frozen=True)
class Fold:
    """Blocks that are shown when the reader asks for them."""

    summary: str
    blocks: "Sequence[Block]"


Block: TypeAlias = Heading | Paragraph | Bullets | Rows | Listing | Figure | Fold


def marked(text: str) -> list[Span]:
    """Text that people wrote, in which backticks mark code."""
    pieces = text.split("`")
    if len(pieces) % 2 == 0:  # a backtick without another one is only a character
        return [text]
    return [Code(piece) if number % 2 else piece for number, piece in enumerate(pieces) if piece]


def lines(texts: Iterable[Text]) -> list[Span]:
    """Texts below each other."""
    found: list[Span] = []
    for text in texts:
        found += [Break(), *text] if found else text
    return found


def code(text: str) -> list[Span]:
    """A text that is code, with its line breaks; nothing for an empty one."""
    return lines([Code(line)] for line in text.split("\n")) if text else []
