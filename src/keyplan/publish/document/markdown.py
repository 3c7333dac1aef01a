"""A document as Markdown, as GitHub shows it. Everything that comes from a design is escaped."""

import re
from collections.abc import Iterable, Iterator, Sequence

from keyplan.publish.diagrams import Drawing
from keyplan.publish.document.blocks import (
    Block,
    Break,
    Bullets,
    Code,
    Figure,
    Fold,
    Heading,
    Jump,
    Listing,
    Paragraph,
    Rows,
    Span,
    Text,
)
from keyplan.publish.document.content import content_of
from keyplan.publish.document.model import Document

_SPECIAL = re.compile(r"[\\`*\[\]|~]|(?<!\w)_|_(?!\w)|:(?=//)")
_START = re.compile(r"^(\s*)([#>+=-]|\d+[.)])")
_TICKS = re.compile(r"`+")


def markdown(document: Document, pictures: str | None = None) -> str:
    """The document as Markdown. `pictures` is the folder of the SVG files; without one, pictures are Mermaid."""
    return "\n\n".join(_blocks(content_of(document), pictures)) + "\n"


def escaped(text: str) -> str:
    """Text in which nothing is Markdown or HTML."""
    line = " ".join(text.split(" ")).replace("\n", " ").replace("\r", " ")
    line = line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _SPECIAL.sub(lambda match: "\\" + match[0], line)


def code_span(text: str, *, in_table: bool = False) -> str:
    """Text as code on a line, between as many backticks as it needs."""
    line = " ".join(text.splitlines())
    if not line.strip():
        return escaped(line)
    longest = max((len(run) for run in _TICKS.findall(line)), default=0)
    ticks = "`" * (longest + 1)
    pad = " " if line.startswith("`") or line.endswith("`") else ""
    inside = line.replace("|", "\\|") if in_table else line
    return f"{ticks}{pad}{inside}{pad}{ticks}"


def fenced(language: str, text: str) -> str:
    """Code of a language, between fences that it doesn't contain."""
    longest = max((len(run) for run in _TICKS.findall(text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def _text(text: Text, *, in_table: bool = False) -> str:
    return "".join(_span(span, in_table) for span in text)


def _span(span: Span, in_table: bool) -> str:
    match span:
        case Code():
            return code_span(span.text, in_table=in_table)
        case Break():
            return "<br>"
        case Jump():
            return escaped(span.text)
    return escaped(span)


def _blocks(blocks: Iterable[Block], pictures: str | None) -> Iterator[str]:
    for block in blocks:
        match block:
            case Heading():
                yield f"{'#' * block.level} {_text(block.text)}"
            case Paragraph():
                yield _START.sub(r"\1\\\2", _text(block.text))
            case Bullets():
                yield _bullets(block)
            case Rows():
                yield _rows(block)
            case Listing():
                yield fenced(block.language, block.text)
            case Figure():
                yield from _figure(block.drawing, pictures)
            case Fold():
                inner = "\n\n".join(_blocks(block.blocks, pictures))
                yield f"<details>\n<summary>{escaped(block.summary)}</summary>\n\n{inner}\n\n</details>"


def _bullets(block: Bullets) -> str:
    if all(len(item) == 1 and isinstance(item[0], Jump) for item in block.items):  # the contents
        return "\n".join(
            f"- [{escaped(each.text)}](#{each.anchor})" for (each,) in block.items if isinstance(each, Jump)
        )
    return "\n".join(f"- {_text(item)}" for item in block.items)


def _rows(block: Rows) -> str:
    head = f"| {' | '.join(block.head)} |"
    return "\n".join([head, f"|{' --- |' * len(block.head)}", *map(_row, block.rows)])


def _row(cells: Sequence[Text]) -> str:
    return f"| {' | '.join(_text(cell, in_table=True) for cell in cells)} |"


def _figure(drawing: Drawing, pictures: str | None) -> Iterator[str]:
    mermaid = fenced("mermaid", drawing.mermaid)
    if pictures is None:
        yield mermaid
        return
    yield f"![{escaped(drawing.title)}]({pictures}/{drawing.name}.svg)"
    yield f"<details>\n<summary>As Mermaid</summary>\n\n{mermaid}\n\n</details>"
