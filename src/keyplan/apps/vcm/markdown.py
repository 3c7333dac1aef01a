"""Markdown for those who write without the editor: to rich text, and back.

It is CommonMark with ~~strike~~, and with __two underscores__ for what is underlined. A picture is
`![description](media:ID)`, on a line of its own. HTML in it is text.
"""

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import cast

from markdown_it import MarkdownIt
from markdown_it.token import Token
from pydantic import JsonValue

from keyplan.apps.vcm.richtext import Node, nodes_in

_MARKDOWN = MarkdownIt("commonmark", {"html": False}).enable("strikethrough")
# Here pictures have no address but an id, and whatever else a link says is told by the check of the schema.
_MARKDOWN.validateLink = lambda url: True  # type: ignore[method-assign]  # the library's own way to change it
_BLOCKS = {
    "paragraph": "paragraph",
    "bullet_list": "bulletList",
    "ordered_list": "orderedList",
    "list_item": "listItem",
    "blockquote": "blockquote",
    "heading": "heading",
}
_MARKS = {"em": "italic", "s": "strike", "link": "link"}
_MEDIA = "media:"


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
    if token.content:
        attrs["alt"] = token.content
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

_SPECIAL = re.compile(r"([\\`*_\[\]<>&~!#+=|(){}.:-])")
_FENCE = re.compile(r"`+")
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
            return f"{'#' * int(str(attrs['level']))} {_inline(node)}".rstrip()
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
            return f"![{_escaped(str(attrs.get('alt') or ''))}]({_MEDIA}{attrs['mediaId']}{title})"
    return _inline(node)


def _children(node: Mapping[str, JsonValue]) -> list[Node]:
    content = node.get("content")
    return [each for each in (content if isinstance(content, list) else ()) if isinstance(each, dict)]


def _item(node: Mapping[str, JsonValue], bullet: str) -> str:
    lines = "\n\n".join(_blocks(node)).split("\n")
    rest = [f"{' ' * len(bullet)}{line}".rstrip() for line in lines[1:]]
    return "\n".join([f"{bullet}{lines[0]}".rstrip(), *rest])


def _inline(node: Mapping[str, JsonValue]) -> str:
    made = ""
    for each in _children(node):
        made += "\\\n" if each["type"] == "hardBreak" else _text(each)
    return made


def _text(node: Mapping[str, JsonValue]) -> str:
    text = str(node["text"]).replace("\n", " ")
    marks = node.get("marks")
    found = {str(each["type"]): each for each in (marks if isinstance(marks, list) else ()) if isinstance(each, dict)}
    if "code" in found:
        fence = "`" * (1 + max((len(each[0]) for each in _FENCE.finditer(text)), default=0))
        pad = " " if text.startswith("`") or text.endswith("`") or text.strip() != text else ""
        made = f"{fence}{pad}{text}{pad}{fence}"
    else:
        made = _escaped(text)
    # Blanks at the ends belong outside of the marks, or Markdown would not see these.
    inner = made.strip(" ")
    if not inner:
        return made
    before, after = made[: len(made) - len(made.lstrip(" "))], made[len(made.rstrip(" ")) :]
    for name, wrap in _WRAPS.items():
        if name in found:
            inner = f"{wrap}{inner}{wrap}"
    if "link" in found:
        attrs = found["link"].get("attrs")
        href = str(attrs["href"]) if isinstance(attrs, dict) else ""
        inner = f"[{inner}](<{href.replace('<', '%3C').replace('>', '%3E')}>)"
    return f"{before}{inner}{after}"


def _escaped(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", text)


def _quoted(text: str) -> str:
    return _escaped(text).replace('"', '\\"')
