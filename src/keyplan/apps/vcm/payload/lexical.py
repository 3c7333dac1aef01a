"""Lexical's rich text, as Payload stores it, to Tiptap's.

What the club's schema does not know is listed and left out; the words stay.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias, cast

from pydantic import JsonValue

from keyplan.apps.vcm.richtext import MARK_ORDER, BadDocument, Node, checked, depth_of, is_link

Lexical: TypeAlias = Mapping[str, JsonValue]

_FORMATS = {1: "bold", 2: "italic", 4: "strike", 8: "underline", 16: "code"}
_LOST_FORMATS = {32: "subscript", 64: "superscript", 128: "highlight"}
_DEEPEST = 200
"""Far more levels than can be stored, and few enough to look at."""
_INLINE = {"text", "linebreak", "tab", "link", "autolink"}


@dataclass
class Conversion:
    """A document that is being converted."""

    is_media: Callable[[str], bool]
    lost: list[str] = field(default_factory=list)
    """What could not be converted, each once."""

    def document(self, lexical: object) -> Node:
        """The document; `BadDocument` if it isn't one, or can't be stored."""
        root = lexical.get("root") if isinstance(lexical, dict) else None
        if not isinstance(root, dict) or root.get("type") != "root":
            raise BadDocument("The rich text has no root.")
        if depth_of(root) > _DEEPEST:
            raise BadDocument(f"The rich text is nested more than {_DEEPEST} levels deep.", code="too-deep")
        return checked({"type": "doc", "content": cast("JsonValue", self._blocks(_children(root)))})

    def _lose(self, what: str) -> None:
        if what not in self.lost:
            self.lost.append(what)

    # Blocks

    def _blocks(self, nodes: Sequence[Lexical]) -> list[Node]:
        """Blocks; what stands inline among them is put into paragraphs."""
        made: list[Node] = []
        line: list[Lexical] = []
        for node in nodes:
            if node.get("type") in _INLINE:
                line.append(node)
                continue
            made += self._paragraph(line, "paragraph") if line else []
            line = []
            made += self._block(node)
        return made + (self._paragraph(line, "paragraph") if line else [])

    def _block(self, node: Lexical) -> list[Node]:
        match node.get("type"):
            case "paragraph":
                return self._paragraph(_children(node), "paragraph")
            case "heading":
                tag = str(node.get("tag"))
                level = int(tag[1:]) if tag in ("h1", "h2", "h3", "h4", "h5", "h6") else 2
                return self._paragraph(_children(node), "heading", {"level": level})
            case "quote":
                return [{"type": "blockquote", "content": cast("JsonValue", self._inside(node))}]
            case "list":
                return self._list(node)
            case "horizontalrule":
                return [{"type": "horizontalRule"}]
            case "upload":
                return self._upload(node)
            case "code":
                return [self._code(node)]
        self._lose(f"a node of type {node.get('type')!r}")
        return self._blocks(_children(node))

    def _inside(self, node: Lexical) -> list[Node]:
        return self._blocks(_children(node)) or [{"type": "paragraph"}]

    def _paragraph(self, nodes: Sequence[Lexical], name: str, attrs: Node | None = None) -> list[Node]:
        """A paragraph or heading; pictures in it stand behind it."""
        node: Node = {"type": name}
        if attrs:
            node["attrs"] = attrs
        pictures = [each for each in nodes if each.get("type") == "upload"]
        texts = self._inline([each for each in nodes if each.get("type") != "upload"], [])
        if texts:
            node["content"] = cast("JsonValue", texts)
        behind = [made for each in pictures for made in self._upload(each)]
        return behind if behind and not texts else [node, *behind]

    def _list(self, node: Lexical) -> list[Node]:
        items: list[Node] = []
        for each in _children(node):
            children = _children(each)
            nested = [child for child in children if child.get("type") == "list"]
            if nested and len(nested) == len(children) and items:
                # Lexical puts a list into an item of its own; Tiptap into the item before.
                inner = [made for child in nested for made in self._list(child)]
                cast("list[Node]", items[-1]["content"]).extend(inner)
            else:
                content = self._inside(each)
                if content[0]["type"] in ("bulletList", "orderedList"):
                    content.insert(0, {"type": "paragraph"})
                items.append({"type": "listItem", "content": cast("JsonValue", content)})
        if node.get("listType") == "check":
            self._lose("the ticks of a checklist")
        if not items:
            return []
        made: Node = {"type": "orderedList" if node.get("listType") == "number" else "bulletList"}
        start = node.get("start")
        if made["type"] == "orderedList" and isinstance(start, int) and start > 1:
            made["attrs"] = {"start": start}
        made["content"] = cast("JsonValue", items)
        return [made]

    def _upload(self, node: Lexical) -> list[Node]:
        value = node.get("value")
        id = str(value.get("id") if isinstance(value, dict) else value)
        if node.get("relationTo", "media") != "media" or not self.is_media(id):
            self._lose(f"a picture that is missing: {id}")
            return []
        attrs: Node = {"mediaId": id}
        fields = node.get("fields")
        given = {**(value if isinstance(value, dict) else {}), **(fields if isinstance(fields, dict) else {})}
        if isinstance(given.get("alt"), str) and given["alt"]:
            attrs["alt"] = given["alt"][:500] if isinstance(given["alt"], str) else None
        if isinstance(given.get("caption"), str) and given["caption"]:
            attrs["title"] = str(given["caption"])[:500]
        return [{"type": "image", "attrs": attrs}]

    def _code(self, node: Lexical) -> Node:
        lines = "".join(
            "\n" if each.get("type") == "linebreak" else str(each.get("text", "")) for each in _children(node)
        )
        made: Node = {"type": "codeBlock"}
        if lines:
            made["content"] = [{"type": "text", "text": lines}]
        return made

    # Inline

    def _inline(self, nodes: Sequence[Lexical], marks: Sequence[Node]) -> list[Node]:
        made: list[Node] = []
        for node in nodes:
            match node.get("type"):
                case "text":
                    made += self._text(node, marks)
                case "linebreak":
                    made.append({"type": "hardBreak"})
                case "tab":
                    made.append({"type": "text", "text": "\t"})
                case "link" | "autolink":
                    made += self._inline(_children(node), [*marks, *self._link(node)])
                case other:
                    self._lose(f"a node of type {other!r}")
                    made += self._inline(_children(node), marks)
        return made

    def _text(self, node: Lexical, marks: Sequence[Node]) -> list[Node]:
        text, bits = node.get("text"), node.get("format", 0)
        if not isinstance(text, str) or not text:
            return []
        bits = bits if isinstance(bits, int) else 0
        for bit, name in _LOST_FORMATS.items():
            if bits & bit:
                self._lose(f"the format {name}")
        found = {str(each["type"]): each for each in marks}
        found |= {name: {"type": name} for bit, name in _FORMATS.items() if bits & bit}
        made: Node = {"type": "text", "text": text}
        if found:
            made["marks"] = [found[name] for name in MARK_ORDER if name in found]
        return [made]

    def _link(self, node: Lexical) -> list[Node]:
        fields = node.get("fields")
        fields = fields if isinstance(fields, dict) else {}
        if fields.get("linkType") == "internal":
            self._lose("a link to another record")
            return []
        href = str(fields.get("url") or node.get("url") or "").strip()
        mark: Node = {"type": "link", "attrs": {"href": href}}
        if not is_link(href):
            self._lose(f"a link to {href!r}")
            return []
        return [mark]


def _children(node: Lexical) -> list[Lexical]:
    children = node.get("children")
    return [each for each in (children if isinstance(children, list) else ()) if isinstance(each, dict)]
