"""Markdown as safe HTML, and as plain excerpts."""

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from urllib.parse import urljoin

import nh3
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict
from markupsafe import Markup, escape

from keyplan.web import Headings, takes_long
from keyplan.web.media import PictureHosts

_TAGS = {
    "a", "blockquote", "br", "code", "em", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "img", "li", "ol", "p", "pre",
    "s", "strong", "table", "tbody", "td", "th", "thead", "tr", "ul",
}  # fmt: skip
_ATTRIBUTES = {"a": {"href", "title"}, "img": {"src", "alt", "title"}, "code": {"class"}, "ol": {"start"}}
_SCHEMES = {"http", "https", "mailto"}
LONG = 16_000
"""Texts longer than this take long to render."""
_NOT_PROSE = re.compile(r"#|\||```|~~~|!\[|[-*_=]{3,}$")
"""The beginning of a heading, table, fence, image or rule."""
_LIST_ITEM = re.compile(r"(?:[-*+]|\d+[.)])\s")
"""The beginning of a list item."""
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_MARKS = re.compile(r"[*`~]+|\b_|_\b|(?<!\S)(?:>|[-+]|\d+\.)(?=\s)|\\(?=\W)")
"""Emphasis, code, quotes, list markers, and escapes."""


def safe_html(markdown: str, hosts: PictureHosts) -> str:
    """The Markdown as HTML. Raw HTML is shown as text; links are http, https or mailto.

    A picture of a host that isn't listed is a link to it, or its description inside of another link.
    """
    # Cached, since posts are read often. Few long texts are kept, so that the cache stays below about 50 MB.
    if len(markdown) <= LONG:
        return _kept_html(markdown, hosts)
    takes_long()  # up to seconds for malicious input
    return _kept_long_html(markdown, hosts)


class _Renderer(RendererHTML):
    """Renders pictures of other hosts as links."""

    def image(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        """A picture."""
        token, hosts = tokens[idx], env["hosts"]
        address = str(token.attrs["src"])
        if hosts.shows(address):
            return super().image(tokens, idx, options, env)
        words = escape(self.renderInlineAsText(token.children, options, env) or address)
        return words if token.meta.get("linked") else Markup('<a href="{}">{}</a>').format(address, words)


_MARKDOWN = MarkdownIt("commonmark", {"html": False, "linkify": False}, renderer_cls=_Renderer)
_MARKDOWN.enable(["table", "strikethrough"])


def _rendered(markdown: str, hosts: PictureHosts) -> str:
    environment: dict[str, object] = {"hosts": hosts}
    tokens = _MARKDOWN.parse(markdown, environment)
    headings, tag = Headings(), ""
    for token in tokens:
        if token.type == "heading_open":
            tag = token.tag = headings.tag(int(token.tag[1:]))
        elif token.type == "heading_close":
            token.tag = tag
        elif token.type == "inline":
            _mark_linked(token.children or [])
    return _clean(_MARKDOWN.renderer.render(tokens, _MARKDOWN.options, environment))


def _mark_linked(tokens: Sequence[Token]) -> None:
    """Mark the pictures that are inside of a link, where no other link can be."""
    linked = False
    for token in tokens:
        if token.type in ("link_open", "link_close"):
            linked = token.type == "link_open"
        elif token.type == "image" and linked:
            token.meta["linked"] = True


_kept_html = lru_cache(512)(_rendered)
_kept_long_html = lru_cache(24)(_rendered)


def absolute(html: str, base: str) -> str:
    """Safe HTML with the addresses of links and images made absolute, for feed readers."""

    def resolved(tag: str, attribute: str, value: str) -> str | None:
        try:
            return urljoin(base, value) if attribute in ("href", "src") else value
        except ValueError:  # not a valid address, such as http://[
            return None

    return _clean(html, resolved)


def _clean(html: str, attribute_filter: Callable[[str, str, str], str | None] | None = None) -> str:
    return nh3.clean(
        html,
        tags=_TAGS,
        attributes=_ATTRIBUTES,
        attribute_filter=attribute_filter,
        url_schemes=_SCHEMES,
        link_rel="nofollow noopener ugc",
    )


def excerpt(markdown: str, length: int = 240) -> str:
    """The beginning of the text, without markup."""
    # Only the beginning matters: a post may have 300 KB, and a list 100 posts.
    return _kept_excerpt(markdown[: length * 6], length)


@lru_cache(4096)
def _kept_excerpt(markdown: str, length: int) -> str:
    lines = (line.strip() for line in markdown.splitlines())
    prose = [line for line in lines if line and not _NOT_PROSE.match(line)]
    text = " ".join([line for line in prose if not _LIST_ITEM.match(line)] or prose)
    words = " ".join(_MARKS.sub("", _LINK.sub(r"\1", text)).split())
    return words if len(words) <= length else f"{words[:length].rsplit(' ', 1)[0]} …"
