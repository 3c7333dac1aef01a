"""Markdown for those who write without the editor: to rich text, and back.

It is CommonMark with ~~strike~~, and with __two underscores__ for what is underlined. A picture is
`![description](media:ID)`, on a line of its own. HTML in it is text.
"""

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple, cast

from markdown_it import MarkdownIt
from markdown_it.token import Token
from pydantic import JsonValue

from keyplan.apps.vcm.richtext import Node, nodes_in

_MEDIA = "media:"
_MARKDOWN = MarkdownIt("commonmark", {"html": False}).enable("strikethrough")
# Pictures have an id instead of an address here; the check of the schema refuses other links.
_MARKDOWN.validateLink = lambda url: True  # type: ignore[method-assign]  # the library's own way to change it
_normal = _MARKDOWN.normalizeLink
_MARKDOWN.normalizeLink = lambda url: url if url.startswith(_MEDIA) else _normal(url)  # type: ignore[method-assign]  # too
_BLOCKS = {
    "paragraph": "paragraph",
    "bullet_list": "bulletList",
    "ordered_list": "orderedList",
    "list_item": "listItem",
    "blockquote": "blockquote",
    "heading": "heading",
}
_MARKS = {"em": "italic", "s": "strike", "link": "link"}


def from_markdown(text: str) -> Node:
    """The document that a text in Markdown is; still to be checked."""
    root: Node = {"type": "doc", "content": []}
    stack: list[Node] = [root]
    for token in _MARKDOWN.parse(text):
        if token.type == "inline":
            _add_inline(stack, token.children or [])
        elif token.nesting == 1:
            node = _opened(token)
            _inside(stack[-1]).append(node)
            stack.append(node)
        elif token.nesting == -1:
            _close(stack)
        else:
            _inside(stack[-1]).append(_leaf(token))
    return _tidy(root)


def _inside(node: Node) -> list[JsonValue]:
    return cast("list[JsonValue]", node.setdefault("content", []))


def _opened(token: Token) -> Node:
    node: Node = {"type": _BLOCKS[token.type.removesuffix("_open")]}
    if token.type == "heading_open":
        node["attrs"] = {"level": int(token.tag[1:])}
    if token.type == "ordered_list_open" and token.attrs.get("start", 1) != 1:
        node["attrs"] = {"start": int(token.attrs["start"])}
    return node


def _close(stack: list[Node]) -> None:
    node = stack.pop()
    if node["type"] == "listItem" and not node.get("content"):
        node["content"] = [{"type": "paragraph"}]
    if node["type"] == "blockquote" and not node.get("content"):
        node["content"] = [{"type": "paragraph"}]


def _leaf(token: Token) -> Node:
    if token.type == "hr":
        return {"type": "horizontalRule"}
    code = token.content.removesuffix("\n")
    node: Node = {"type": "codeBlock"}
    if token.info.strip():
        node["attrs"] = {"language": token.info.split()[0]}
    if code:
        node["content"] = [{"type": "text", "text": code}]
    return node


def _add_inline(stack: list[Node], tokens: Sequence[Token]) -> None:
    """Texts into the open paragraph. A picture ends it: pictures stand between paragraphs."""
    marks: list[Node] = []
    for token in tokens:
        if token.type == "image":
            _add_image(stack, token)
        elif token.nesting == 1:
            marks.append(_mark(token))
        elif token.nesting == -1:
            marks.pop()
        elif token.type == "hardbreak":
            _inside(stack[-1]).append({"type": "hardBreak"})
        else:
            text = " " if token.type == "softbreak" else token.content
            code: list[Node] = [{"type": "code"}] if token.type == "code_inline" else []
            if text:
                _add_text(stack[-1], text, [*marks, *code])


def _add_text(node: Node, text: str, marks: Sequence[Node]) -> None:
    made: Node = {"type": "text", "text": text}
    if marks:
        made["marks"] = cast("JsonValue", list(marks))
    _inside(node).append(made)


def _mark(token: Token) -> Node:
    name = token.type.removesuffix("_open")
    if name == "strong":
        return {"type": "underline" if token.markup == "__" else "bold"}
    node: Node = {"type": _MARKS[name]}
    if name == "link":
        node["attrs"] = {"href": str(token.attrs["href"])}
    return node


def _add_image(stack: list[Node], token: Token) -> None:
    attrs: Node = {"mediaId": str(token.attrs["src"]).removeprefix(_MEDIA)}
    if alt := "".join(" " if each.type == "softbreak" else each.content for each in token.children or ()):
        attrs["alt"] = alt
    if token.attrs.get("title"):
        attrs["title"] = str(token.attrs["title"])
    paragraph = stack.pop()
    around = _inside(stack[-1])
    _strip(paragraph, -1)
    if not paragraph.get("content"):
        around.pop()
    around.append({"type": "image", "attrs": attrs})
    fresh: Node = {"type": str(paragraph["type"])}
    if "attrs" in paragraph:
        fresh["attrs"] = paragraph["attrs"]
    around.append(fresh)
    stack.append(fresh)


def _strip(paragraph: Node, end: int) -> None:
    """Take the blanks away that stood between a picture and the text at this end of a paragraph."""
    content = _inside(paragraph)
    if content and isinstance(edge := content[end], dict) and edge["type"] == "text":
        text = str(edge["text"])
        edge["text"] = text.lstrip(" ") if end == 0 else text.rstrip(" ")
        if not edge["text"]:
            content.pop(end)


def _tidy(document: Node) -> Node:
    """The document without paragraphs that pictures left empty."""
    for node in nodes_in(document):
        content = node.get("content")
        if not isinstance(content, list):
            continue
        texts = [each for each in content if isinstance(each, dict)]
        for before, behind in pairwise(texts):
            if before["type"] == "image" and behind["type"] == "paragraph":
                _strip(behind, 0)
        if any(each["type"] == "image" for each in texts):
            node["content"] = [each for each in texts if each["type"] != "paragraph" or each.get("content")]
    return document


# And back

_SPECIAL = re.compile(r"([\\`*_\[\]<~]|&(?=[#\w]|$))")
"""What means something wherever it stands."""
_BEGINS_BLOCK = re.compile(r"^(\s*)(?:([#>+=-])|(\d{1,9})([.)]))", re.MULTILINE)
"""What means something at the beginning of a line."""
_ENDS_HEADING = re.compile(r"(?<!\\)#$")
_IN_BRACKETS = re.compile(r"([\\<>&])")
_ESCAPE = r"\\\1"
_PLAIN_MEDIA = re.compile(rf"{_MEDIA}[A-Za-z0-9._-]+")
_FENCE = re.compile(r"`+")
_BREAK = "\\\n"
_WRAPS = {"bold": "**", "italic": "*", "strike": "~~", "underline": "__"}


def to_markdown(document: Mapping[str, JsonValue] | None) -> str:
    """A stored document as Markdown."""
    return "\n\n".join(_blocks(document)) if document else ""


def _blocks(node: Mapping[str, JsonValue]) -> list[str]:
    content = node.get("content")
    made: list[str] = []
    last, turn = "", 0
    for each in content if isinstance(content, list) else ():
        if not isinstance(each, dict):
            continue
        name = str(each["type"])
        # Two lists in a row with the same bullets would be one list.
        turn = turn + 1 if name == last else 0
        made.append(_block(each, other=turn % 2 == 1))
        last = name
    return made


def _block(node: Mapping[str, JsonValue], *, other: bool = False) -> str:
    attrs = node.get("attrs")
    attrs = attrs if isinstance(attrs, dict) else {}
    match str(node["type"]):
        case "heading":
            # It has one line only.
            line = _ENDS_HEADING.sub(r"\\#", _inline(node).replace(_BREAK, " "))
            return f"{'#' * int(str(attrs['level']))} {line}".rstrip()
        case "bulletList":
            return "\n".join(_item(each, "* " if other else "- ") for each in _children(node))
        case "orderedList":
            start = int(str(attrs.get("start", 1)))
            dot = ")" if other else "."
            return "\n".join(_item(each, f"{start + number}{dot} ") for number, each in enumerate(_children(node)))
        case "blockquote":
            return "\n".join(f"> {line}".rstrip() for line in "\n\n".join(_blocks(node)).split("\n"))
        case "codeBlock":
            code = "".join(str(each["text"]) for each in _children(node))
            fence = "`" * max(3, 1 + max((len(found[0]) for found in _FENCE.finditer(code)), default=0))
            return f"{fence}{attrs.get('language', '')}\n{code}\n{fence}"
        case "horizontalRule":
            return "***"
        case "image":
            title = f' "{_quoted(str(attrs["title"]))}"' if attrs.get("title") else ""
            source = _target(f"{_MEDIA}{attrs['mediaId']}")
            return f"![{_escaped(str(attrs.get('alt') or ''))}]({source}{title})"
    return _inline(node)


def _children(node: Mapping[str, JsonValue]) -> list[Node]:
    content = node.get("content")
    return [each for each in (content if isinstance(content, list) else ()) if isinstance(each, dict)]


def _item(node: Mapping[str, JsonValue], bullet: str) -> str:
    lines = "\n\n".join(_blocks(node)).split("\n")
    rest = [f"{' ' * len(bullet)}{line}".rstrip() for line in lines[1:]]
    return "\n".join([f"{bullet}{lines[0]}".rstrip(), *rest])


# Texts with marks


class _Piece(NamedTuple):
    """A word, or the blanks between two, with the marks that hold there."""

    written: str
    marks: tuple[str, ...]
    links_to: str | None


def _inline(node: Mapping[str, JsonValue]) -> str:
    """The texts of a block, in the plainest way of those that are read as they are meant."""
    nodes = _children(node)
    pieces = _pieces(nodes)
    made = _wrapped(pieces, "*", careful=False)
    if any(each.marks for each in pieces):
        meant = _letters(nodes)
        for italic in "*_":
            if _letters(_read(made)) != meant:
                made = _wrapped(pieces, italic, careful=True)
    return made


def _read(made: str) -> list[Node]:
    return [each for block in _children(from_markdown(made)) for each in _children(block)]


def _letters(nodes: Sequence[Node]) -> list[tuple[str, frozenset[str]]]:
    """Every letter with its marks; those of blanks can't be seen."""
    return [
        (letter, frozenset(_marks(each))) for each in nodes for letter in "".join(str(each.get("text", "")).split())
    ]


def _marks(node: Node) -> dict[str, Node]:
    marks = node.get("marks")
    return {str(each["type"]): each for each in (marks if isinstance(marks, list) else ()) if isinstance(each, dict)}


def _pieces(nodes: Sequence[Node]) -> list[_Piece]:
    """What a block is made of. Blanks stand by themselves: beside them inside, Markdown would not see a mark."""
    found: list[_Piece] = []
    for node in nodes:
        if node["type"] == "hardBreak":
            found.append(_Piece(_BREAK, (), None))
            continue
        marks = _marks(node)
        attrs = marks["link"].get("attrs") if "link" in marks else None
        href = str(attrs["href"]) if isinstance(attrs, dict) else None
        kept = tuple(name for name in ("link", *_WRAPS) if name in marks)
        text = str(node["text"]).replace("\n", " ")
        core = text.strip()
        before, behind = text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :] if core else ""
        written = _code(core) if "code" in marks and core else _escaped(core)
        found += [_Piece(each, kept, href) for each in (before, written, behind) if each]
    while found and (found[-1].written == _BREAK or found[-1].written.isspace()):
        found.pop()  # at the end they mean nothing, or something else
    return [_seen(found, at) if each.written.isspace() else each for at, each in enumerate(found)]


def _seen(pieces: Sequence[_Piece], at: int) -> _Piece:
    """Blanks with those of their marks that hold on both sides of them."""
    here = pieces[at]
    words = [
        next((pieces[near] for near in side if not pieces[near].written.isspace()), None)
        for side in (range(at - 1, -1, -1), range(at + 1, len(pieces)))
    ]
    around = [each for each in words if each is not None and each.links_to == here.links_to]
    marks = tuple(name for name in here.marks if len(around) == 2 and all(name in each.marks for each in around))
    return _Piece(here.written, marks, here.links_to if "link" in marks else None)


def _wrapped(pieces: Sequence[_Piece], italic: str, *, careful: bool) -> str:
    """The pieces with what opens and closes their marks; each is opened once for all that it holds for.

    Beside a letter a mark is not always seen. With care, the letter is written as its number, beside which it is.
    """
    made, opened, wraps = "", list[str](), {**_WRAPS, "italic": italic}
    for at, piece in enumerate(pieces):
        last = pieces[at - 1] if at else None
        closing = ""
        while opened and (set(opened) - set(piece.marks) or ("link" in opened and _other_link(last, piece))):
            closing += _end(opened.pop(), last, wraps)
        fresh = [name for name in piece.marks if name not in opened and not piece.written.isspace()]
        lasting = sorted(fresh, key=lambda name: _lasts(pieces, at, name), reverse=True)
        opening = "".join("[" if name == "link" else wraps[name] for name in lasting)
        opened += lasting
        if careful and opening and not closing and made[-1:].isalnum():
            made = f"{made[:-1]}&#{ord(made[-1])};"
        if opening.startswith("[") and made.endswith("!"):
            made = f"{made[:-1]}\\!"  # it is no picture
        written = piece.written
        if careful and closing and not opening and written[:1].isalnum():
            written = f"&#{ord(written[0])};{written[1:]}"
        made += f"{closing}{opening}{written}"
    made += "".join(_end(name, pieces[-1], wraps) for name in reversed(opened))
    return _BEGINS_BLOCK.sub(_no_block, made.strip(" \t"))  # they would mean something


def _no_block(found: re.Match[str]) -> str:
    before, mark, number, dot = found.groups()
    return f"{before}\\{mark}" if mark else f"{before}{number}\\{dot}"


def _other_link(last: _Piece | None, piece: _Piece) -> bool:
    return last is not None and last.links_to != piece.links_to


def _lasts(pieces: Sequence[_Piece], at: int, name: str) -> int:
    """For how many pieces a mark holds on."""
    here, end = pieces[at], at
    while end < len(pieces) and name in pieces[end].marks and (name != "link" or pieces[end].links_to == here.links_to):
        end += 1
    return end - at


def _end(name: str, last: _Piece | None, wraps: Mapping[str, str]) -> str:
    return wraps[name] if name != "link" else f"]({_target((last.links_to if last else None) or '')})"


def _code(text: str) -> str:
    fence = "`" * (1 + max((len(each[0]) for each in _FENCE.finditer(text)), default=0))
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{pad}{text}{pad}{fence}"


def _target(url: str) -> str:
    """What a link or a picture leads to; in brackets where it could be taken for something else."""
    return url if _PLAIN_MEDIA.fullmatch(url) else f"<{_IN_BRACKETS.sub(_ESCAPE, url)}>"


def _escaped(text: str) -> str:
    return _SPECIAL.sub(_ESCAPE, text.replace("\n", " "))


def _quoted(text: str) -> str:
    return _escaped(text).replace('"', '\\"')
