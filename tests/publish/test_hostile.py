"""Nothing in a design can break out of a document: its texts are shown as they are, in every form."""

import re
from html.parser import HTMLParser
from typing import Annotated, Literal

import pytest
from markdown_it import MarkdownIt

from keyplan.design import (
    Design,
    Entity,
    Id,
    Query,
    Ref,
    Refusal,
    Table,
    about,
    belongs_to,
    departure,
    index,
    key,
    mirror,
    pattern,
    query,
    ref,
    stored,
    unique,
)
from keyplan.engine import Engine
from keyplan.publish.document import Document, Remark, document_of, markdown, page

EVIL = (
    "<script>alert(1)</script> \"double\" 'single' `tick` ``two`` | pipe --> *star* _under_ [a](javascript:b) "
    "<!-- %% ]]>"
)
FENCED = "```\n</details>\n# Not a heading\n```"

shelf = Table(
    "shelf",
    key("PK", "SK"),
    indexes={"GSI1": index(key("GSI1PK", "GSI1SK"), why=EVIL)},
    why=EVIL,
    tags={"owner": "a/b"},
)


class Author(Entity, table=shelf, exists=Refusal("taken", EVIL)):
    primary = key("<b>'\"`|-->AUTHOR#{name}", "]]>%%;end")
    by_mood = shelf.GSI1("<i>`|MOOD#{mood}", '"]-->#{name}')
    guard = unique('<u>`|"#{pen_name}', refusal=Refusal("x", EVIL))

    name: Id
    pen_name: Annotated[str, stored("<s>`|name")] = about(EVIL, EVIL, example='<img src=x onerror="alert(1)">`|')
    mood: Literal["<b>", "`|`", '"'] = "<b>"

    @mirror
    def twin(self) -> "Copy":
        """<script>alert(2)</script> | `"""
        return Copy(name=self.name)


Author.__doc__ = f"{EVIL}\n\n{FENCED}"


class Copy(Entity, table=shelf):
    name: Id
    primary = key("COPY#{name}", "COPY")


class Book(Entity, table=shelf):
    name: Id
    title: Id
    primary = key("AUTHOR#{name}", "BOOK#{title}")

    @belongs_to(on_delete="cascade")
    def author(self) -> Ref[Author]:
        return ref(Author, name=self.name)


class Evil(Design):
    tables = (shelf,)
    entities = (Author, Copy, Book)
    departures = (departure(EVIL, FENCED, f"{EVIL}\n| a | b |"),)

    @pattern(EVIL, decides=EVIL)
    def by_mood(self, mood: Literal["<b>", "`|`", '"']) -> Query[Author]:
        return query(Author.by_mood, mood=mood, filter=lambda author: author.pen_name != "</code>`|")


Evil.__doc__ = Evil.purpose = f"{EVIL}\n\n{FENCED}\n\n- {EVIL}\n- # two"
Evil.patterns["by_mood"].__doc__ = FENCED


@pytest.fixture(scope="module")
def evil() -> Document:
    remarks = [Remark("KP000", "error", EVIL, EVIL, FENCED), Remark("KP001", "info", EVIL, EVIL, EVIL, accepted=EVIL)]
    with Engine() as engine:
        return document_of(Evil(), engine, title=EVIL, remarks=remarks)


class Elements(HTMLParser):
    """The elements of a page, with their attributes, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.names: set[str] = set()
        self.attributes: set[str] = set()
        self.text = ""
        self.comments: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)
        self.attributes.update(name for name, _ in attrs)
        if tag not in ("meta", "br", "img", "hr"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)
        self.attributes.update(name for name, _ in attrs)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data

    def handle_comment(self, data: str) -> None:
        self.comments.append(data)


SVG = {"svg", "title", "desc", "rect", "text", "path", "polygon"}
HTML = {"h1", "h2", "h3", "h4", "p", "ul", "li", "a", "table", "thead", "tbody", "tr", "th", "td", "br", "code", "pre"}
FRAME = {"html", "head", "meta", "style", "body", "main", "nav", "div", "figure", "figcaption", "details", "summary"}
PLACES = {"x", "y", "rx", "d", "points", "width", "height", "viewbox", "font-size", "class", "id", "href", "role"}
OTHERS = {"lang", "charset", "name", "content", "scope", "tabindex", "aria-label", "aria-labelledby"}


def test_html_has_only_its_own_elements(evil: Document) -> None:
    found = Elements(page(evil))
    assert found.names <= SVG | HTML | FRAME
    assert found.attributes <= PLACES | OTHERS
    assert found.open == []
    assert found.comments == []
    assert EVIL.replace("`", "") in found.text.replace("`", "")
    assert "javascript:" not in re.findall(r'href="([^"]*)"', page(evil))


def test_svg_files_have_only_their_own_elements(evil: Document) -> None:
    for drawing in evil.drawings:
        found = Elements(drawing.svg)
        assert found.names <= {*SVG, "style"}
        assert found.attributes <= PLACES | {"xmlns"}
        assert found.open == []
        assert found.comments == []


@pytest.mark.parametrize("pictures", [None, "pictures"])
def test_markdown_stays_what_it_is(evil: Document, pictures: str | None) -> None:
    """As GitHub renders it: with HTML and tables."""
    shown = MarkdownIt("gfm-like", {"linkify": False}).render(markdown(evil, pictures))
    found = Elements(shown)
    assert found.names <= HTML | {"details", "summary", "img"}
    assert found.attributes <= {"class", "href", "src", "alt"}
    assert found.open == []
    assert found.comments == []
    assert all(link.startswith("#") for link in re.findall(r'href="([^"]*)"', shown))
    headings = re.findall(r"<h[1-4]>(.*?)</h[1-4]>", shown)
    assert not any("Not a heading" in heading for heading in headings)
    assert EVIL.replace("`", "") in found.text.replace("`", "")


def test_every_row_of_a_markdown_table_has_all_cells(evil: Document) -> None:
    text = re.sub(r"(```+).*?\1", "", markdown(evil), flags=re.DOTALL)
    for table in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        widths = {len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}
        assert len(widths) == 1, table


def test_mermaid_has_no_syntax_in_texts(evil: Document) -> None:
    for drawing in evil.drawings:
        for line in drawing.mermaid.splitlines():
            for text in re.findall(r'"([^"]*)"', line):
                assert not re.search(r"[<>`]|%%", text), line
            assert line.count('"') % 2 == 0
            outside = re.sub(r'"[^"]*"', "", line)
            assert re.fullmatch(r"[\w \[\]{}|.o-]*>?[\w \[\]{}|:]*", outside), line
