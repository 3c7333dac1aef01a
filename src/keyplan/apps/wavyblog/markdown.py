"""Markdown to HTML that can not hurt whoever reads it."""

import re
from collections.abc import Callable
from functools import lru_cache
from urllib.parse import urljoin

import nh3
from markdown_it import MarkdownIt

from keyplan.web import takes_long

_MARKDOWN = MarkdownIt("commonmark", {"html": False, "linkify": False}).enable(["table", "strikethrough"])
_TAGS = {
    "a", "blockquote", "br", "code", "em", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "img", "li", "ol", "p", "pre",
    "s", "strong", "table", "tbody", "td", "th", "thead", "tr", "ul",
}  # fmt: skip
_ATTRIBUTES = {"a": {"href", "title"}, "img": {"src", "alt", "title"}, "code": {"class"}, "ol": {"start"}}
_SCHEMES = {"http", "https", "mailto"}
LONG = 16_000
"""The length from which on a text takes long to become HTML."""
_NO_SENTENCE = re.compile(r"#|\||```|~~~|!\[|[-*_=]{3,}$")
"""How lines begin that are headings, tables, fences, images and rules."""
_ENTRY = re.compile(r"(?:[-*+]|\d+[.)])\s")
"""How the entries of a list begin."""
_NAMED = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_MARKS = re.compile(r"[*`~]+|\b_|_\b|(?<!\S)(?:>|[-+]|\d+\.)(?=\s)|\\(?=\W)")
"""Emphasis, code, quotes, the marks of lists, and what only escapes."""


def safe_html(markdown: str) -> str:
    """The markdown as HTML. Raw HTML in it is text, and links lead to the web or to a mailbox only."""
    # What is read often is made once. Of what is long only a little is kept: all of it stays below some 50 MB.
    if len(markdown) <= LONG:
        return _kept_html(markdown)
    takes_long()  # seconds, where somebody means ill
    return _kept_long_html(markdown)


def _rendered(markdown: str) -> str:
    return _clean(_MARKDOWN.render(markdown))


_kept_html = lru_cache(512)(_rendered)
_kept_long_html = lru_cache(24)(_rendered)


def absolute(html: str, base: str) -> str:
    """Safe HTML for readers who have it from elsewhere: what its links and images name stands behind `base`."""

    def named(tag: str, attribute: str, value: str) -> str | None:
        try:
            return urljoin(base, value) if attribute in ("href", "src") else value
        except ValueError:  # such as http://[: it leads nowhere
            return None

    return _clean(html, named)


def _clean(html: str, named: Callable[[str, str, str], str | None] | None = None) -> str:
    return nh3.clean(
        html,
        tags=_TAGS,
        attributes=_ATTRIBUTES,
        attribute_filter=named,
        url_schemes=_SCHEMES,
        link_rel="nofollow noopener ugc",
    )


def excerpt(markdown: str, length: int = 240) -> str:
    """The beginning of the text, without markup."""
    # No more of it than can matter: a post may have 300 KB, and a list a hundred posts.
    return _kept_excerpt(markdown[: length * 6], length)


@lru_cache(4096)
def _kept_excerpt(markdown: str, length: int) -> str:
    lines = (line.strip() for line in markdown.splitlines())
    said = [line for line in lines if line and not _NO_SENTENCE.match(line)]
    text = " ".join([line for line in said if not _ENTRY.match(line)] or said)
    words = " ".join(_MARKS.sub("", _NAMED.sub(r"\1", text)).split())
    return words if len(words) <= length else f"{words[:length].rsplit(' ', 1)[0]} …"
