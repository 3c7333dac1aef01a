"""Rich text as HTML: only what the schema knows, and every text escaped."""

from collections.abc import Mapping

from markupsafe import Markup, escape
from pydantic import JsonValue

from keyplan.apps.vcm.richtext import MARK_ORDER
from keyplan.web import Headings

_BLOCKS = {"paragraph": "p", "bulletList": "ul", "listItem": "li", "blockquote": "blockquote"}
_MARKS = {"bold": "strong", "italic": "em", "strike": "s", "underline": "u", "code": "code"}


def html_of(document: Mapping[str, JsonValue] | None, sources: Mapping[str, str]) -> str:
    """A stored document as HTML; `sources` are the addresses of its images, and one that has none is left out."""
    return str(_inside(document, sources, Headings())) if document else ""


def _inside(node: Mapping[str, JsonValue], sources: Mapping[str, str], headings: Headings) -> Markup:
    content = node.get("content")
    each = content if isinstance(content, list) else []
    return Markup().join(_shown(inner, sources, headings) for inner in each if isinstance(inner, dict))


def _shown(node: Mapping[str, JsonValue], sources: Mapping[str, str], headings: Headings) -> Markup:
    name, attrs = str(node.get("type")), node.get("attrs")
    attrs = attrs if isinstance(attrs, dict) else {}
    match name:
        case "text":
            return _text(node)
        case "hardBreak":
            return Markup("<br>")
        case "horizontalRule":
            return Markup("<hr>")
        case "image":
            return _image(attrs, sources)
        case "heading":
            tag = headings.tag(int(str(attrs["level"])))
            return Markup("<{0}>{1}</{0}>").format(Markup(tag), _inside(node, sources, headings))
        case "orderedList":
            start = attrs.get("start", 1)
            opening = Markup("<ol>") if start == 1 else Markup('<ol start="{}">').format(start)
            return opening + _inside(node, sources, headings) + Markup("</ol>")
        case "codeBlock":
            return Markup("<pre><code>{}</code></pre>").format(_inside(node, sources, headings))
    tag = _BLOCKS[name]
    return Markup("<{0}>{1}</{0}>").format(Markup(tag), _inside(node, sources, headings))


def _image(attrs: Mapping[str, JsonValue], sources: Mapping[str, str]) -> Markup:
    source = sources.get(str(attrs.get("mediaId")))
    if source is None:
        return Markup()
    made = Markup('<img src="{}" alt="{}" loading="lazy">').format(source, attrs.get("alt") or "")
    if title := attrs.get("title"):
        return Markup("<figure>{}<figcaption>{}</figcaption></figure>").format(made, title)
    return Markup("<figure>{}</figure>").format(made)


def _text(node: Mapping[str, JsonValue]) -> Markup:
    made = escape(str(node["text"]))
    marks = node.get("marks")
    found = {str(each["type"]): each for each in (marks if isinstance(marks, list) else ()) if isinstance(each, dict)}
    for name in reversed(MARK_ORDER):
        if name not in found:
            continue
        if name == "link":
            attrs = found[name].get("attrs")
            href = attrs["href"] if isinstance(attrs, dict) else ""
            made = Markup('<a href="{}" rel="nofollow noopener">{}</a>').format(href, made)
        else:
            made = Markup("<{0}>{1}</{0}>").format(Markup(_MARKS[name]), made)
    return made
