"""A document as one HTML page, with its style sheet and pictures inside and no script. Everything is escaped."""

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from html import escape
from importlib.resources import files

from keyplan.publish.diagrams import STYLE, Drawing
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


@cache
def page_style() -> str:
    """The style sheet of a page, as it is between the tags. Content security policies name its hash."""
    return (files(__package__) / "style.css").read_text("utf-8") + STYLE


def page(document: Document, *, home: tuple[str, str] | None = None, icon: str = "", language: str = "en") -> str:
    """The document as an HTML page. `home` is a link at its top: the text and the address; `icon` an address, too."""
    blocks = list(content_of(document))
    first = next((number for number, block in enumerate(blocks) if isinstance(block, Heading) and number), len(blocks))
    bar = f'<header class="bar"><a href="{escape(home[1])}">{escape(home[0])}</a></header>' if home else ""
    parts = [
        f'<!doctype html>\n<html lang="{escape(language)}">\n<head>\n<meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        *([f'<link rel="icon" href="{escape(icon)}">'] if icon else []),
        f"<title>{escape(document.title)}: design</title>\n<style>{page_style()}</style>\n</head>\n<body>",
        f'<a class="skip" href="#content">Skip to the document</a>\n{bar}<main>\n<div class="intro">',
        *_blocks(blocks[:first]),
        f'</div>\n<div class="frame">\n<nav aria-label="Contents">{_contents(blocks[first:])}</nav>',
        '<div id="content">',
        *_blocks(blocks[first:]),
        "</div>\n</div>\n</main>\n</body>\n</html>\n",
    ]
    return "\n".join(parts)


def _contents(blocks: Iterable[Block]) -> str:
    """The headings of the second and third level, the latter folded."""
    sections: list[tuple[Heading, list[Heading]]] = []
    for block in blocks:
        if isinstance(block, Heading) and block.level == 2:
            sections.append((block, []))
        elif isinstance(block, Heading) and block.level == 3 and sections:
            sections[-1][1].append(block)
    return f"<ul>{''.join(f'<li>{_section(*each)}</li>' for each in sections)}</ul>"


def _section(heading: Heading, inner: Sequence[Heading]) -> str:
    if not inner:
        return _link(heading)
    rows = "".join(f"<li>{_link(each)}</li>" for each in inner)
    overview = f'<li><a href="#{escape(heading.anchor)}">Overview</a></li>'
    title = f"{_plain(heading.text)} ({len(inner)})"
    return f"<details><summary>{escape(title)}</summary><ul>{overview}{rows}</ul></details>"


def _link(heading: Heading) -> str:
    return f'<a href="#{escape(heading.anchor)}">{escape(_plain(heading.text))}</a>'


def _plain(text: Text) -> str:
    return "".join(span if isinstance(span, str) else "" if isinstance(span, Break) else span.text for span in text)


def _blocks(blocks: Iterable[Block]) -> Iterator[str]:
    for block in blocks:
        match block:
            case Heading():
                level = f"h{block.level}"
                yield f'<{level} id="{escape(block.anchor)}">{_text(block.text)}</{level}>'
            case Paragraph():
                yield f"<p>{_text(block.text)}</p>"
            case Bullets():
                if not all(isinstance(span, Jump) for item in block.items for span in item):  # the page has contents
                    yield f"<ul>{''.join(f'<li>{_text(item)}</li>' for item in block.items)}</ul>"
            case Rows():
                yield _scrolling(_rows(block), "Table")
            case Listing():
                yield _scrolling(f"<pre><code>{escape(block.text)}</code></pre>", "Code")
            case Figure():
                yield _figure(block.drawing)
            case Fold():
                inner = "\n".join(_blocks(block.blocks))
                yield f"<details><summary>{escape(block.summary)}</summary>\n{inner}</details>"


def _scrolling(inner: str, label: str) -> str:
    """What may be wider than the screen scrolls by itself, and can be scrolled with the keyboard."""
    return f'<div class="scroll" tabindex="0" role="group" aria-label="{escape(label)}">{inner}</div>'


def _rows(block: Rows) -> str:
    if not any(block.head):
        rows = (f'<tr><th scope="row">{_text(row[0])}</th>{_cells(row[1:])}</tr>' for row in block.rows)
        return f"<table><tbody>{''.join(rows)}</tbody></table>"
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in block.head)
    body = "".join(f"<tr>{_cells(row)}</tr>" for row in block.rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cells(cells: Sequence[Text]) -> str:
    return "".join(f"<td>{_text(cell)}</td>" for cell in cells)


def _figure(drawing: Drawing) -> str:
    picture = _scrolling(drawing.inline, drawing.title)
    return f"<figure>{picture}<figcaption>{escape(drawing.title)}</figcaption></figure>"


def _text(text: Text) -> str:
    return "".join(map(_span, text))


def _span(span: Span) -> str:
    match span:
        case Code():
            return f"<code>{escape(span.text)}</code>"
        case Break():
            return "<br>"
        case Jump():
            return f'<a href="#{escape(span.anchor)}">{escape(span.text)}</a>'
    return escape(span)
