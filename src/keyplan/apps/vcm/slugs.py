"""Slugs: a title or name as a part of an address."""

from collections.abc import Iterator
from itertools import count

from keyplan import web

LONGEST = 80


def slug_of(text: str) -> str:
    """The slug of a text: a-z, 0-9 and hyphens; empty if none of it can be in one. Umlauts are written as in German."""
    return web.slug_of(text, LONGEST, german=True)


def numbered(slug: str) -> Iterator[str]:
    """Slugs for what is called the same: the slug itself, then with -2, -3 ..."""
    yield slug
    yield from (f"{slug}-{number}" for number in count(2))
