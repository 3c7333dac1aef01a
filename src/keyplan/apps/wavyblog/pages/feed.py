"""The Atom feed (RFC 4287) of the latest posts."""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import format_datetime
from uuid import NAMESPACE_URL, uuid5
from xml.etree.ElementTree import Element, SubElement, tostring

from keyplan.apps.wavyblog.markdown import absolute
from keyplan.apps.wavyblog.models import FeedPost
from keyplan.web import Site

_ATOM = "http://www.w3.org/2005/Atom"
_NEVER = datetime(2025, 1, 1, tzinfo=UTC)
"""The time of change of a feed without posts. A feed must have one, and it should stay the same."""
_NOT_IN_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True)
class Feed:
    """The feed as a response."""

    body: bytes
    updated: datetime

    @property
    def etag(self) -> str:
        """Its entity tag."""
        return f'"{hashlib.sha256(self.body).hexdigest()[:32]}"'

    @property
    def last_modified(self) -> str:
        """When it was changed, in the format of HTTP."""
        return format_datetime(self.updated, usegmt=True)


def feed_of(site: Site, base: str, posts: Sequence[FeedPost]) -> Feed:
    """The feed of these posts; `base` is the public address of the server."""
    updated = max((post.updated_at for post in posts), default=_NEVER)
    root = Element("feed", {"xmlns": _ATOM, "xml:lang": "en"})
    _text(root, "title", site.title)
    _text(root, "id", base + site.url("/"))
    _text(root, "updated", _time(updated))
    _link(root, base + site.url("/feed.atom"), rel="self", type="application/atom+xml")
    _link(root, base + site.url("/"), rel="alternate", type="text/html")
    for post in posts:
        _entry(root, site, base, post)
    return Feed(tostring(root, encoding="utf-8", xml_declaration=True), updated)


def _entry(root: Element, site: Site, base: str, post: FeedPost) -> None:
    address = base + site.url("/posts/{slug}", slug=post.slug)
    entry = SubElement(root, "entry")
    _text(entry, "title", post.title)
    # Not the address, which changes with the title: feed readers would show the post again.
    _text(entry, "id", uuid5(NAMESPACE_URL, f"wavyblog/{post.post_id}").urn)
    _text(entry, "published", _time(post.created_at))
    _text(entry, "updated", _time(post.updated_at))
    _link(entry, address, rel="alternate", type="text/html")
    author = SubElement(entry, "author")
    _text(author, "name", post.author_id)
    _text(author, "uri", base + site.url("/authors/{username}", username=post.author_id))
    SubElement(entry, "category", {"term": post.category})
    if post.html is None:
        _text(entry, "summary", post.excerpt)
    else:
        _text(entry, "content", absolute(post.html, address), type="html")


def _text(parent: Element, name: str, text: str, **attributes: str) -> None:
    SubElement(parent, name, attributes).text = _NOT_IN_XML.sub("�", text)


def _link(parent: Element, address: str, **attributes: str) -> None:
    SubElement(parent, "link", {**attributes, "href": address})


def _time(value: datetime) -> str:
    return f"{value.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"
