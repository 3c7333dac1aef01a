"""Rich text as HTML: only what the schema knows, and every text escaped."""

from collections.abc import Mapping
from dataclasses import dataclass

from markupsafe import Markup, escape
from pydantic import JsonValue

from keyplan.apps.vcm.richtext import MARK_ORDER
from keyplan.web import Headings
from keyplan.web.media import PictureHosts

_BLOCKS = {"paragraph": "p", "bulletList": "ul", "listItem": "li", "blockquote": "blockquote"}
_MARKS = {"bold": "strong", "italic": "em", "strike": "s", "underline": "u", "code": "code"}


@dataclass(frozen=True)
class _Page:
    """What is around a text: where its images are, by the ids of media items, whose are shown, and its headings."""

    addresses: Mapping[str, str]
    hosts: PictureHosts
    headings: Headings


def html_of(document: Mapping[str, JsonValue] | None, addresses: Mapping[str, str], hosts: PictureHosts) -> str:
    """A stored document as HTML, with images at these addresses; one that has none is left out.

    An image on a host that isn't listed is a link to it.
    """
    return str(_inside(document, _Page(addresses, hosts, Headings()))) if document else ""


def _inside(node: Mapping[str, JsonValue], page: _Page) -> Markup:
    content = node.get("content")
    each = content if isinstance(content, list) else []
    return Markup().join(_shown(inner, page) for inner in each if isinstance(inner, dict))


def _shown(node: Mapping[str, JsonValue], page: _Page) -> Markup:
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
            return _image(attrs, page)
        case "heading":
            tag = page.headings.tag(int(str(attrs["level"])))
            return Markup("<{0}>{1}</{0}>").format(Markup(tag), _inside(node, page))
        case "orderedList":
            start = attrs.get("start", 1)
            opening = Markup("<ol>") if start == 1 else Markup('<ol start="{}">').format(start)
            return opening + _inside(node, page) + Markup("</ol>")
        case "codeBlock":
            return Markup("<pre><code>{}</code></pre>").format(_inside(node, page))
    tag = _BLOCKS[name]
    return Markup("<{0}>{1}</{0}>").format(Markup(tag), _inside(node, page))


def _image(attrs: Mapping[str, JsonValue], page: _Page) -> Markup:
    source = page.addresses.get(str(attrs.get("mediaId")))
    if source is None:
        return Markup()
    if page.hosts.shows(source):
        made = Markup('<img src="{}" alt="{}" loading="lazy">').format(source, attrs.get("alt") or "")
    else:
        made = Markup('<a href="{}" rel="nofollow noopener">{}</a>').format(source, attrs.get("alt") or source)
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
